/* SPDX-License-Identifier: MIT */
#include "hkl.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"

#define MAX_COLUMNS 6
#define SHORTEST_LINE 8 /* "0 0 0 1\n" */

#define COLUMNS "h k l F [sigma [phase]]"

static int token_ends(const nb_lines *l, const char *p)
{
    return p && (p == l->end || nb_text_blank(*p));
}

static nb_status bad_token(const nb_lines *l, const char *expected)
{
    char token[NB_TEXT_QUOTE];
    if (l->p == l->end)
        return nb_lines_fail(l, "the line needs %s (" COLUMNS ")", expected);
    nb_text_quote(l->p, l->end, token);
    return nb_lines_fail(l, "'%s' is not %s (" COLUMNS ")", token, expected);
}

/* Skip sigma and phase; *sigma_is_0 is 1 if sigma exists and is 0. */
static nb_status extra_columns(nb_lines *l, int *sigma_is_0)
{
    double sigma;
    *sigma_is_0 = 0;
    for (int columns = 4; nb_lines_word(l); columns++) {
        if (columns == 4)
            *sigma_is_0 = nb_text_double(l->p, l->end, &sigma) && sigma == 0;
        if (columns == MAX_COLUMNS)
            return nb_lines_fail(l, "more than %d columns (" COLUMNS ")", MAX_COLUMNS);
        while (!token_ends(l, l->p))
            l->p++;
    }
    return NB_OK;
}

/* Read a line; *is_end is 1 for 0 0 0 0 0, the end of a SHELX list. */
static nb_status read_reflection(nb_lines *l, nb_hkl_row *out, int *is_end)
{
    static const char *const letters[] = {"a whole number for h", "a whole number for k",
                                          "a whole number for l"};
    const char *after;
    nb_status st;
    *is_end = 0;
    for (int i = 0; i < 3; i++) {
        int index;
        (void)nb_lines_word(l);
        after = nb_text_int(l->p, l->end, &index);
        if (!token_ends(l, after))
            return bad_token(l, letters[i]);
        if (index < -NB_SF_MAX_INDEX || index > NB_SF_MAX_INDEX)
            return nb_lines_fail(l, "Miller index %d is beyond +-%d", index,
                                 NB_SF_MAX_INDEX);
        out->index[i] = (int16_t)index;
        l->p = after;
    }
    (void)nb_lines_word(l);
    after = nb_text_double(l->p, l->end, &out->F);
    if (!token_ends(l, after))
        return bad_token(l, "a finite number for F");
    if (fabs(out->F) > NB_SF_MAX_F)
        return nb_lines_fail(l, "F = %g is beyond %g electrons", out->F, NB_SF_MAX_F);
    l->p = after;
    st = extra_columns(l, is_end);
    *is_end &= !out->index[0] && !out->index[1] && !out->index[2] && out->F == 0;
    return st;
}

static size_t max_reflections(const char *data, size_t n)
{
    const size_t lines = nb_text_lines(data, n);
    return lines < n / SHORTEST_LINE + 1 ? lines : n / SHORTEST_LINE + 1;
}

static nb_status read_list(nb_lines *l, nb_hkl_list *list)
{
    nb_status st = NB_OK;
    int is_end = 0;
    while (!st && nb_lines_next(l)) {
        const int was_end = is_end;
        if (nb_lines_word(l))
            st = read_reflection(l, &list->rows[list->count++], &is_end);
        if (st)
            is_end = was_end; /* SHELX ignores lines after the end */
    }
    if (is_end && list->count > 1)
        return nb_fail_at(l->err, NB_ERR_INPUT, l->file, 0,
                          "0 0 0 0 0 ends it as a SHELX list, whose fourth column is "
                          "F squared (HKLF 4) or F (HKLF 3): convert it to MTZ or CIF "
                          "(-mtz), or, if it is F, remove that line");
    if (!st && list->count == 0)
        return nb_fail_at(l->err, NB_ERR_INPUT, l->file, 0,
                          "no reflections (" COLUMNS ")");
    return st;
}

static void find_limits(const nb_hkl_row *list, size_t n, nb_factor_file *t)
{
    int *min[3] = {&t->hmin, &t->kmin, &t->lmin};
    int *max[3] = {&t->hmax, &t->kmax, &t->lmax};
    for (int axis = 0; axis < 3; axis++) {
        int low = list[0].index[axis], high = low;
        for (size_t i = 1; i < n; i++) {
            int v = list[i].index[axis];
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        *min[axis] = low;
        *max[axis] = high;
    }
}

static void fill_box(const nb_hkl_row *list, size_t n, double default_F, nb_factor_file *t)
{
    int64_t voxels = nb_factor_file_voxels(t);
    for (int64_t i = 0; i < voxels; i++)
        t->F[i] = default_F;
    for (size_t i = 0; i < n; i++) {
        const int16_t *h = list[i].index;
        t->F[nb_factor_file_at(t, h[0], h[1], h[2])] = list[i].F;
    }
    t->reflections = (int64_t)n;
}

int nb_hkl_is_xds(const char *data, size_t n)
{
    static const char *const first[] = {"!FORMAT=XDS_ASCII", "!OUTPUT_FILE="};
    const char *p = nb_text_body(data, data + n), *end = data + n;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if ((size_t)(end - p) > strlen(first[i]) && !memcmp(p, first[i], strlen(first[i])))
            return 1;
    return 0;
}

nb_status nb_hkl_list_parse(const char *data, size_t n, const char *name,
                            nb_hkl_list *out, nb_error *err)
{
    nb_lines l = nb_lines_of(data, n, name, COLUMNS, err);
    nb_status st;
    memset(out, 0, sizeof *out);
    if (nb_hkl_is_xds(data, n))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "it is " NB_HKL_XDS "; " NB_HKL_XDS_MEND);
    out->rows =
        nb_alloc_raw(max_reflections(data, n), sizeof *out->rows, "reflections", err);
    NB_NEED(out->rows);
    out->name = name;
    l.between = "";
    l.comment = "#!";
    st = read_list(&l, out);
    if (st)
        nb_hkl_list_free(out);
    return st;
}

void nb_hkl_list_free(nb_hkl_list *list)
{
    nb_free(list->rows);
    memset(list, 0, sizeof *list);
}

nb_status nb_hkl_box(const nb_hkl_list *list, double default_F, nb_factor_file *out,
                     nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    find_limits(list->rows, list->count, out);
    st = nb_factor_file_alloc(out, list->name, err);
    if (!st)
        fill_box(list->rows, list->count, default_F, out);
    else
        memset(out, 0, sizeof *out);
    return st;
}

/* --- notes --- */

/** F at sign x (h, k, l) in the box; default_F outside. */
static double value_at(const nb_factor_file *t, const int16_t hkl[3], int sign,
                       double default_F)
{
    const int h = sign * hkl[0], k = sign * hkl[1], l = sign * hkl[2];
    if (h < t->hmin || h > t->hmax || k < t->kmin || k > t->kmax || l < t->lmin ||
        l > t->lmax)
        return default_F;
    return t->F[nb_factor_file_at(t, h, k, l)];
}

/** True if no reflection (except 0 0 0) has its Friedel mate in the list. */
static int lacks_mates(const nb_hkl_list *list, const nb_factor_file *box,
                       double default_F)
{
    enum { FEW = 20 }; /* shorter lists are not checked */
    if (list->count < FEW)
        return 0;
    for (size_t i = 0; i < list->count; i++) {
        const int16_t *h = list->rows[i].index;
        if ((h[0] || h[1] || h[2]) && value_at(box, h, -1, default_F) != default_F)
            return 0;
    }
    return 1;
}

void nb_hkl_say(const nb_hkl_list *list, const nb_factor_file *box, double default_F,
                const nb_hooks *hooks)
{
    const double differs = 0.01; /* relative; the same as for files with a space group */
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const double F = value_at(box, list->rows[i].index, 1, default_F);
        n += fabs(F - list->rows[i].F) > differs * fabs(F);
    }
    if (n)
        nb_notice(hooks, NB_REPLACED_F, list->name, n);
    if (lacks_mates(list, box, default_F))
        nb_notice(
            hooks,
            "%s names no space group: P 1 is used, and no reflection has its Friedel "
            "mate -h -k -l; if this is an asymmetric unit, give the space group (-sg)",
            list->name);
}
