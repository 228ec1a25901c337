/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"

#define COLUMNS 5
#define SHORTEST_WAVE 1e-16 /* m; as for -lambda */
#define LONGEST_WAVE 1e-6   /* m; a larger number was probably meant in angstroms */
/* m; limit of coordinates, so that their squares are finite */
#define FARTHEST 1e100

nb_status nb_source_line_check(const nb_source_line *s, const char *name, long line,
                               nb_error *err)
{
    double longest = fmax(fmax(fabs(s->x), fabs(s->y)), fabs(s->z));
    if (!(longest > 1 / FARTHEST && longest < FARTHEST && isfinite(s->x + s->y + s->z)))
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "X Y Z = %g %g %g gives no direction", s->x, s->y, s->z);
    if (!(s->intensity >= 0 && isfinite(s->intensity)))
        return nb_fail_at(err, NB_ERR_INPUT, name, line, "intensity %g is %s",
                          s->intensity, s->intensity < 0 ? "negative" : "not finite");
    if (s->lambda >= SHORTEST_WAVE && s->lambda < LONGEST_WAVE)
        return NB_OK;
    if (line > 0)
        return nb_fail_at(
            err, NB_ERR_INPUT, name, line,
            "wavelength %g m must be from %g to %g m (column 5 is in metres)", s->lambda,
            SHORTEST_WAVE, LONGEST_WAVE);
    return nb_fail_at(err, NB_ERR_INPUT, name, line,
                      "wavelength %g A must be from %g to %g A%s", s->lambda * 1e10,
                      SHORTEST_WAVE * 1e10, LONGEST_WAVE * 1e10,
                      s->lambda >= LONGEST_WAVE ? ": is it an energy?"
                      : s->lambda > 0           ? ": is it in metres?"
                                                : "");
}

nb_status nb_source_list_check(const nb_source_list *list, const char *name, long line,
                               nb_error *err)
{
    double sum;
    if (list->count == 0)
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "no source in the file (X Y Z I lambda)");
    if (!nb_beam_has_mean(list->rows, (size_t)list->count, &sum))
        return nb_fail_at(err, NB_ERR_INPUT, name, line,
                          "the intensities (column 4) add up to %g", sum);
    return NB_OK;
}

nb_status nb_sources_parse(const char *data, size_t n, const char *name,
                           const nb_source_defaults *defaults, nb_source_list *out,
                           nb_error *err)
{
    const double *d = defaults->position;
    nb_lines l = nb_lines_of(data, n, name, "X Y Z I lambda", err);
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    l.between = ",;:!";
    out->rows = nb_alloc_raw(nb_text_lines(data, n), sizeof *out->rows, "sources", err);
    NB_NEED(out->rows);
    while (!st && nb_lines_next(&l)) {
        double v[COLUMNS] = {d[0], d[1], d[2], 1, defaults->lambda};
        const int columns = nb_lines_numbers(&l, COLUMNS, v);
        nb_source_line *row = &out->rows[out->count];
        *row = (nb_source_line){v[0], v[1], v[2], v[3], v[4]};
        out->count += columns > 0;
        if (columns)
            st = columns < 0 ? NB_ERR_INPUT : nb_source_line_check(row, name, l.line, err);
    }
    NB_TRY(nb_source_list_check(out, name, l.line, err));
    if (st)
        nb_source_list_free(out);
    return st;
}

void nb_source_list_free(nb_source_list *list)
{
    if (list) {
        nb_free(list->rows);
        memset(list, 0, sizeof *list);
    }
}

/* SHORTEST_WAVE and LONGEST_WAVE in A */
#define SHORTEST_A 1e-6
#define LONGEST_A 1e4

/** Read the next wavelength and weight; *there is 0 at the end of the line. */
static nb_status next_pair(nb_lines *l, nb_vec3 position, nb_source_line *out, int *there)
{
    double v[2]; /* wavelength in A, and weight */
    const int got = nb_lines_numbers(l, 2, v);
    *there = got > 0;
    if (got < 0)
        return NB_ERR_INPUT;
    if (got == 0)
        return NB_OK;
    if (!(v[0] >= SHORTEST_A && v[0] < LONGEST_A))
        return nb_lines_fail(l, "wavelength %g A must be from %g to %g", v[0], SHORTEST_A,
                             LONGEST_A);
    if (got == 1)
        return nb_lines_fail(l, "the wavelength %g has no weight", v[0]);
    if (!(v[1] >= 0))
        return nb_lines_fail(l, "weight %g is negative", v[1]);
    *out = (nb_source_line){position.x, position.y, position.z, v[1], nb_metres_of(v[0])};
    return NB_OK;
}

/** Append the pairs of one line after the first *used entries of s->lines. */
static nb_status read_line(nb_lines *l, nb_vec3 position, nb_spectra *s, size_t *used)
{
    double sum;
    size_t begin = *used;
    int there;
    nb_status st;
    while (!(st = next_pair(l, position, &s->lines[*used], &there)) && there)
        ++*used;
    if (st || *used == begin)
        return st;
    if (!nb_beam_has_mean(s->lines + begin, *used - begin, &sum))
        return nb_lines_fail(l, "the weights add up to %g", sum);
    s->first[++s->count] = *used;
    return NB_OK;
}

static nb_status too_few(size_t count, const char *name, int needed, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "%zu spectra for %d stills; each still needs one", count, needed);
}

/** Allocate `needed` spectra of `lines` wavelengths in all. The caller frees *s. */
static nb_status make_room(nb_spectra *s, size_t lines, int needed, nb_error *err)
{
    memset(s, 0, sizeof *s);
    s->lines = nb_alloc_raw(lines, sizeof *s->lines, "spectra", err);
    s->first = nb_alloc((size_t)needed + 1, sizeof *s->first, "spectra", err);
    return s->lines && s->first ? NB_OK : NB_ERR_NOMEM;
}

nb_status nb_spectra_parse(const char *data, size_t n, const char *name, nb_vec3 position,
                           int needed, nb_spectra *out, nb_error *err)
{
    nb_lines l =
        nb_lines_of(data, n, name, "wavelength weight wavelength weight ...", err);
    size_t used = 0;
    /* 4 bytes is the shortest pair, "1 1 " */
    nb_status st = make_room(out, n / 4 + 1, needed, err);
    l.between = ",;:";
    while (!st && out->count < needed && nb_lines_next(&l))
        st = read_line(&l, position, out, &used);
    if (!st && out->count < needed)
        st = too_few((size_t)out->count, name, needed, err);
    while (!st && !out->more && nb_lines_next(&l))
        out->more = nb_lines_word(&l);
    if (st)
        nb_spectra_free(out);
    return st;
}

/** Number of columns of a row up to the last weight above 0. */
static size_t row_length(const nb_spectra_table *t, size_t row)
{
    size_t n = t->columns;
    while (n > 0 && t->weight[row * t->columns + n - 1] == 0)
        n--;
    return n;
}

static nb_status add_row(const nb_spectra_table *t, size_t row, const char *name,
                         nb_vec3 position, nb_spectra *s, nb_error *err)
{
    const double *A = t->A + (t->one_axis ? 0 : row * t->columns);
    const double *weight = t->weight + row * t->columns;
    size_t used = s->first[s->count], n = row_length(t, row);
    double sum;
    for (size_t i = 0; i < n; i++, used++) {
        if (!(A[i] >= SHORTEST_A && A[i] < LONGEST_A) || !(weight[i] >= 0))
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "spectrum %zu: wavelength %g A, weight %g", row, A[i],
                              weight[i]);
        s->lines[used] = (nb_source_line){position.x, position.y, position.z, weight[i],
                                          nb_metres_of(A[i])};
    }
    if (!nb_beam_has_mean(s->lines + used - n, n, &sum))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "spectrum %zu: the weights add up to %g", row, sum);
    s->first[++s->count] = used;
    return NB_OK;
}

nb_status nb_spectra_from_table(const nb_spectra_table *table, const char *name,
                                nb_vec3 position, int needed, nb_spectra *out,
                                nb_error *err)
{
    nb_status st;
    memset(out, 0, sizeof *out);
    if (table->rows < (size_t)needed)
        return too_few(table->rows, name, needed, err);
    st = make_room(out, (size_t)needed * table->columns, needed, err);
    for (int row = 0; !st && row < needed; row++)
        st = add_row(table, (size_t)row, name, position, out, err);
    if (st)
        nb_spectra_free(out);
    return st;
}

void nb_spectra_say_odd(const nb_spectra *s, const char *name, const nb_hooks *hooks)
{
    if (s->more && s->count && s->first[s->count] == (size_t)s->count)
        nb_notice(hooks,
                  "-spectra %s: each line is a spectrum, and here it is one wavelength; "
                  "further lines are not read.  One spectrum stands in one line, "
                  "wavelength weight wavelength weight ...",
                  name);
}

void nb_spectra_free(nb_spectra *spectra)
{
    if (!spectra)
        return;
    nb_free(spectra->lines);
    nb_free(spectra->first);
    memset(spectra, 0, sizeof *spectra);
}

/** Read the point of a line, if any, and add 1 to *n. */
static nb_status read_point(nb_lines *l, nb_spectrum_point *points, int *n)
{
    double v[3];
    const int got = nb_lines_numbers(l, 3, v);
    if (got <= 0)
        return got ? NB_ERR_INPUT : NB_OK;
    if (got != 2)
        return nb_lines_fail(l, "a line has two numbers: %s", l->columns);
    if (!(v[0] > 0 && v[0] < 1e9) || (*n > 0 && !(v[0] > points[*n - 1].eV)))
        return nb_lines_fail(
            l, "photon energy %g eV: must be above 0 and increase from line to line",
            v[0]);
    if (!(v[1] >= 0 && v[1] < 1e100))
        return nb_lines_fail(l, "%g photons per eV: must be 0 or more", v[1]);
    points[(*n)++] = (nb_spectrum_point){v[0], v[1]};
    return NB_OK;
}

nb_status nb_spectrum_parse(const char *data, size_t bytes, const char *name,
                            nb_spectrum_point **points, int *n, nb_error *err)
{
    nb_lines l =
        nb_lines_of(data, bytes, name, "photon energy in eV, photons per eV", err);
    nb_spectrum_point *p =
        nb_alloc_raw(nb_text_lines(data, bytes), sizeof *p, "spectrum", err);
    double sum = 0;
    nb_status st = p ? NB_OK : NB_ERR_NOMEM;
    *points = p;
    *n = 0;
    l.between = ",;:";
    while (!st && nb_lines_next(&l))
        st = read_point(&l, p, n);
    for (int i = 0; !st && i < *n; i++)
        sum += p[i].density;
    if (!st && (*n < 2 || !(sum > 0)))
        st = nb_lines_fail(
            &l, "%d points and no photons between them; a spectrum needs two (%s)", *n,
            l.columns);
    if (st) {
        nb_free(p);
        *points = NULL;
    }
    return st;
}
