/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../../model/crystal.h"

enum {
    MOST_NUMBERS = 10,
    MOST_BLOCKS = 10000,
    MOST_LINES = 1000000,
    LARGEST = 1000000 /* deg */
};

/** What the lines say. */
typedef struct list {
    nb_mat3 *rotation; /* owned */
    double *weight;    /* owned */
    int n, room;
    int numbers; /* of a line */
} list;

static void free_list(list *l)
{
    nb_free(l->rotation);
    nb_free(l->weight);
}

static nb_status grow(list *l, nb_error *err)
{
    const size_t room = l->room ? 2 * (size_t)l->room : 64, used = (size_t)l->n;
    nb_mat3 *rotation = nb_alloc(room, sizeof *rotation, "mosaic blocks", err);
    double *weight = nb_alloc(room, sizeof *weight, "mosaic blocks", err);
    if (!rotation || !weight) {
        nb_free(rotation);
        nb_free(weight);
        return NB_ERR_NOMEM;
    }
    if (used) {
        memcpy(rotation, l->rotation, used * sizeof *rotation);
        memcpy(weight, l->weight, used * sizeof *weight);
    }
    free_list(l);
    l->rotation = rotation;
    l->weight = weight;
    l->room = (int)room;
    return NB_OK;
}

/** Numbers of a line; -1: other text, or too many. */
static int numbers_of(const char *p, const char *end, double v[MOST_NUMBERS])
{
    int n = 0;
    for (;;) {
        while (p < end && (nb_text_blank(*p) || *p == ','))
            p++;
        if (p == end || *p == '#')
            return n;
        if (n == MOST_NUMBERS || !(p = nb_text_double(p, end, &v[n])) || !isfinite(v[n]))
            return -1;
        n++;
    }
}

int nb_is_rotation(const double m[9])
{
    const nb_vec3 x = nb_v3(m[0], m[1], m[2]), y = nb_v3(m[3], m[4], m[5]),
                  z = nb_v3(m[6], m[7], m[8]);
    return fabs(nb_norm(x) - 1) < 1e-4 && fabs(nb_norm(y) - 1) < 1e-4 &&
           fabs(nb_dot(x, y)) < 1e-4 && nb_norm(nb_sub(nb_cross(x, y), z)) < 1e-4;
}

/** A line of 3, 4, 9 or 10 numbers. */
static const char *take(const double *v, int n, nb_mat3 *rotation, double *weight)
{
    nb_vec3 w;
    double angle;
    *weight = n == 4 || n == 10 ? v[n - 1] : 1;
    if (!(*weight >= 0 && *weight < 1e100))
        return "has a weight below 0";
    if (n >= 9) {
        memcpy(rotation->m, v, sizeof rotation->m);
        return nb_is_rotation(v) ? NULL : "has nine numbers that are no rotation matrix";
    }
    if (fabs(v[0]) + fabs(v[1]) + fabs(v[2]) > LARGEST)
        return "has an angle of more than a million degrees";
    w = nb_scale(NB_DEG, nb_v3(v[0], v[1], v[2]));
    angle = nb_norm(w);
    *rotation = nb_axis_rotation(angle > 1e-100 ? nb_unit(w) : nb_v3(0, 0, 1), angle);
    return NULL;
}

static nb_status add_line(const char *p, const char *end, const char *path, int number,
                          list *l, nb_error *err)
{
    double v[MOST_NUMBERS];
    const int n = numbers_of(p, end, v);
    const char *why = NULL;
    if (n == 0)
        return NB_OK;
    if (n != 3 && n != 4 && n != 9 && n != 10)
        why =
            "must have a rotation vector (3 numbers) or matrix (9), and a weight or none";
    else if (l->n && n != l->numbers)
        why = "has another number of columns than the lines before";
    else if (l->n == MOST_LINES)
        why = "is one of too many";
    if (!why && l->n == l->room && grow(l, err))
        return NB_ERR_NOMEM;
    if (!why)
        why = take(v, n, &l->rotation[l->n], &l->weight[l->n]);
    if (why)
        return nb_fail_at(err, NB_ERR_INPUT, path, number, "-mosaic_blocks: the line %s",
                          why);
    l->numbers = n;
    l->n++;
    return NB_OK;
}

/** How often each line stands among n blocks: differences of rounded sums. */
static void count(const list *l, double sum, int n, int *times)
{
    double before = 0;
    for (int i = 0; i < l->n; i++) {
        const double next = before + l->weight[i] / sum * n;
        times[i] = (int)(floor(next + 0.5) - floor(before + 0.5));
        before = next;
    }
}

/** Have n blocks these weights? */
static int is_exact(const list *l, double sum, int n)
{
    for (int i = 0; i < l->n; i++) {
        const double times = l->weight[i] / sum * n;
        if (fabs(times - floor(times + 0.5)) > 1e-6)
            return 0;
    }
    return 1;
}

static nb_status choose(const list *l, const char *path, int wanted, int *n, nb_error *err)
{
    double sum = 0;
    int lines = 0; /* that have a weight */
    for (int i = 0; i < l->n; i++) {
        sum += l->weight[i];
        lines += l->weight[i] > 0;
    }
    if (!(sum > 0))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0, "-mosaic_blocks: %s",
                          l->n ? "all weights are 0" : "no line with a rotation");
    *n = wanted;
    if (wanted)
        return NB_OK;
    for (*n = lines; *n == lines || *n <= MOST_BLOCKS; ++*n)
        if (is_exact(l, sum, *n))
            return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "-mosaic_blocks: no %d blocks have these weights exactly; type "
                      "-mosaic_dom n, the number of blocks that have them to one",
                      MOST_BLOCKS);
}

static nb_status spread(const list *l, int n, nb_blocks *out, nb_error *err)
{
    int *times = nb_alloc((size_t)l->n, sizeof *times, "mosaic blocks", err);
    double sum = 0, squares = 0;
    out->rotation = nb_alloc((size_t)n, sizeof *out->rotation, "mosaic blocks", err);
    if (!times || !out->rotation) {
        nb_free(times);
        return NB_ERR_NOMEM;
    }
    for (int i = 0; i < l->n; i++)
        sum += l->weight[i];
    count(l, sum, n, times);
    for (int i = 0; i < l->n; i++) {
        const double *m = l->rotation[i].m;
        const double angle = acos(fmax(-1, fmin(1, (m[0] + m[4] + m[8] - 1) / 2)));
        for (int k = 0; k < times[i] && out->n < n; k++)
            out->rotation[out->n++] = l->rotation[i];
        squares += times[i] * angle * angle;
    }
    out->angle = out->n ? sqrt(squares / out->n) : 0;
    nb_free(times);
    return out->n ? NB_OK : nb_fail(err, NB_ERR_INTERNAL, "no mosaic block is left");
}

nb_status nb_blocks_parse(const char *data, size_t bytes, const char *path, int wanted,
                          nb_blocks *out, nb_error *err)
{
    list l = {0};
    int number = 0, n = 0;
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    for (const char *end = data + bytes, *p = nb_text_body(data, end), *next;
         p < end && !st; p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        next = next ? next : end;
        st = add_line(p, next, path, ++number, &l, err);
    }
    NB_TRY(choose(&l, path, wanted, &n, err));
    NB_TRY(spread(&l, n, out, err));
    free_list(&l);
    if (st)
        nb_blocks_free(out);
    return st;
}

void nb_blocks_free(nb_blocks *blocks)
{
    nb_free(blocks->rotation);
    memset(blocks, 0, sizeof *blocks);
}
