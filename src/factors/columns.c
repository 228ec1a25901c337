/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "model.h"
#include "factors.h"

/* --- Choice of the columns of a reflection file with structure factors --- */

enum { LIST = 320, LABEL = sizeof((nb_column *)0)->label };

static const char *const preferred_F[] = {"FP",        "F",      "FOBS",  "F-obs",
                                          "F_meas_au", "F_meas", "FMEAN", NULL};
static const char *const preferred_J[] = {"IMEAN", "I", "intensity_meas",
                                          "F_squared_meas", NULL};

/** True for the labels of map coefficients. Their column type is that of amplitudes. */
static int is_map(const char *label)
{
    static const char *const whole[] = {"FWT", "DELFWT", "FDM", "ANOM"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(label, whole[i]))
            return 1;
    return !strncmp(label, "2FOFCWT", 7) || !strncmp(label, "FOFCWT", 6);
}

/** Selects columns of a type. label NULL takes every label except map coefficients. */
typedef struct filter {
    char type; /* 0 selects every column */
    const char *label;
} filter;

static int passes(const nb_column *c, filter f)
{
    return !f.type || (c->type == f.type &&
                       (f.label ? !strcmp(c->label, f.label) : !is_map(c->label)));
}

/** Write labels and types, such as "F (F), SIGF (Q)". A long list ends in dots. */
static const char *list_columns(const nb_reflection_file *file, filter f, char text[LIST])
{
    size_t used = 0;
    snprintf(text, LIST, "none");
    for (int i = 0; i < file->n_columns; i++) {
        const nb_column *c = &file->columns[i];
        if (!passes(c, f))
            continue;
        if (used + LABEL + 12 > LIST) {
            snprintf(text + used, LIST - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, LIST - used, "%s%s (%c)", used ? ", " : "",
                                 c->label, c->type);
    }
    return text;
}

__attribute__((format(printf, 4, 5))) static nb_status fail_columns(
    const nb_reflection_file *file, const char *name, nb_error *err, const char *problem,
    ...)
{
    char text[240], columns[LIST];
    va_list args;
    va_start(args, problem);
    vsnprintf(text, sizeof text, problem, args);
    va_end(args);
    return nb_fail_at(err, NB_ERR_INPUT, name, 0, "%s; its columns: %s", text,
                      list_columns(file, (filter){0, NULL}, columns));
}

/* --- choice without labels --- */

static int next_of_type(const nb_reflection_file *file, char type, int from)
{
    for (int i = from; i < file->n_columns; i++)
        if (file->columns[i].type == type)
            return i;
    return -1;
}

/** Copy a label without the sign of the mate. *sign is '+', '-', or 0 without a sign. */
static void stem_of(const char *label, char stem[LABEL], char *sign)
{
    static const struct {
        const char *mark;
        char sign;
    } marks[] = {{"(+)", '+'},  {"(-)", '-'},   {"plus", '+'}, {"minus", '-'},
                 {"PLUS", '+'}, {"MINUS", '-'}, {"+", '+'},    {"-", '-'}};
    *sign = 0;
    snprintf(stem, LABEL, "%s", label);
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !*sign; i++) {
        char *at = strstr(stem, marks[i].mark);
        if (at) {
            size_t n = strlen(marks[i].mark);
            memmove(at, at + n, strlen(at + n) + 1);
            *sign = marks[i].sign;
        }
    }
}

/** Find the first pair of a type: columns whose labels differ only in the sign, or else
 * the first two columns of the type. Returns 0 without a pair. */
static int find_pair(const nb_reflection_file *file, char type, nb_column_choice *out)
{
    int first = next_of_type(file, type, 0), mate = -1, i;
    char stem[LABEL], other[LABEL], sign, other_sign;
    if (first < 0 || (i = next_of_type(file, type, first + 1)) < 0)
        return 0;
    stem_of(file->columns[first].label, stem, &sign);
    for (int j = i; sign && j >= 0 && mate < 0; j = next_of_type(file, type, j + 1)) {
        stem_of(file->columns[j].label, other, &other_sign);
        if (other_sign && other_sign != sign && !strcmp(stem, other))
            mate = j;
    }
    mate = mate < 0 ? i : mate;
    out->plus = sign == '-' ? mate : first;
    out->minus = sign == '-' ? first : mate;
    return 1;
}

static nb_status fail_several(const nb_reflection_file *file, const char *name,
                              filter candidates, nb_error *err)
{
    char text[LIST];
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "several columns may be meant: %s; name one with -mtzlabel",
                      list_columns(file, candidates, text));
}

/** Set *out to the column of a type that has the earliest label of the list of preferred
 * labels (it ends in NULL), or else to the only column without map coefficients. If no
 * column fits, *out is unchanged. */
static nb_status find_single(const nb_reflection_file *file, char type,
                             const char *const *preferred, const char *name, int *out,
                             nb_error *err)
{
    filter f = {type, NULL};
    int found = 0;
    do {
        f.label = *preferred;
        for (int i = 0; i < file->n_columns; i++)
            if (passes(&file->columns[i], f)) {
                *out = i;
                found++;
            }
    } while (!found && *preferred++);
    return found > 1 ? fail_several(file, name, f, err) : NB_OK;
}

/** True if column i has a value in a row in which neither column of the pair has one. */
static int has_more(const nb_reflection_file *file, const nb_column_choice *pair, int i)
{
    const nb_column *c = file->columns;
    for (size_t row = 0; row < file->count; row++)
        if (isnan(c[pair->plus].value[row]) && isnan(c[pair->minus].value[row]) &&
            !isnan(c[i].value[row]))
            return 1;
    return 0;
}

/** Index of the column of means that completes a pair with missing values, or -1. */
static int find_mean(const nb_reflection_file *file, const nb_column_choice *pair)
{
    const char *const *label = pair->intensities ? preferred_J : preferred_F;
    for (; *label; label++)
        for (int i = 0; i < file->n_columns; i++)
            if (passes(&file->columns[i], (filter){pair->intensities ? 'J' : 'F', *label}))
                return has_more(file, pair, i) ? i : -1;
    return -1;
}

static nb_status choose_best(const nb_reflection_file *file, const char *name,
                             nb_column_choice *out, nb_error *err)
{
    nb_status st;
    const int pair = find_pair(file, 'G', out);
    if (pair || find_pair(file, 'K', out)) {
        out->intensities = !pair;
        out->mean = find_mean(file, out);
        return NB_OK;
    }
    st = find_single(file, 'F', preferred_F, name, &out->plus, err);
    if (st || out->plus >= 0)
        return st;
    NB_FORWARD(find_single(file, 'J', preferred_J, name, &out->plus, err));
    out->intensities = 1;
    if (out->plus < 0)
        return fail_columns(file, name, err,
                            "no column of amplitudes (F, G) or intensities (J, K) can be "
                            "chosen; name one with -mtzlabel");
    return NB_OK;
}

/* --- choice by labels --- */

static nb_status find_label(const nb_reflection_file *file, const char *label, size_t n,
                            const char *name, int *out, nb_error *err)
{
    int found = 0;
    for (int i = 0; i < file->n_columns; i++)
        if (strlen(file->columns[i].label) == n &&
            !memcmp(file->columns[i].label, label, n)) {
            *out = i;
            found++;
        }
    if (found == 1)
        return NB_OK;
    return fail_columns(file, name, err,
                        found ? "several columns have the label '%.*s' (-mtzlabel)"
                              : "it has no column '%.*s' (-mtzlabel)",
                        (int)(n < 2 * LABEL ? n : 2 * LABEL), label);
}

static nb_status take_one(const nb_reflection_file *file, int a, const char *name,
                          nb_column_choice *out, nb_error *err)
{
    const nb_column *c = &file->columns[a];
    out->plus = a;
    out->intensities = c->type == 'J' || c->type == 'K';
    if (out->intensities || c->type == 'F' || c->type == 'G')
        return NB_OK;
    return fail_columns(
        file, name, err,
        "column %s has type %c, which is neither an amplitude (F, G) nor an "
        "intensity (J, K) (-mtzlabel)",
        c->label, c->type);
}

static nb_status take_two(const nb_reflection_file *file, int a, int b, const char *name,
                          nb_column_choice *out, nb_error *err)
{
    char A = file->columns[a].type, B = file->columns[b].type;
    out->plus = a;
    if (a != b && A == B && (A == 'G' || A == 'K')) {
        out->minus = b;
        out->intensities = A == 'K';
        return NB_OK;
    }
    if (A == 'F' && (B == 'D' || B == 'P')) {
        *(B == 'D' ? &out->difference : &out->phase) = b;
        return NB_OK;
    }
    return fail_columns(
        file, name, err,
        "columns %s (%c) and %s (%c) do not go together (-mtzlabel: G,G or K,K of "
        "the two mates, F,D amplitude and difference, F,P amplitude and phase)",
        file->columns[a].label, A, file->columns[b].label, B);
}

static nb_status choose_labels(const nb_reflection_file *file, const char *labels,
                               const char *name, nb_column_choice *out, nb_error *err)
{
    const char *comma = strchr(labels, ',');
    int a, b;
    nb_status st;
    if (comma && strchr(comma + 1, ','))
        return fail_columns(file, name, err, "-mtzlabel takes one label or two");
    NB_FORWARD(find_label(file, labels, strcspn(labels, ","), name, &a, err));
    if (comma)
        NB_FORWARD(find_label(file, comma + 1, strlen(comma + 1), name, &b, err));
    return comma ? take_two(file, a, b, name, out, err)
                 : take_one(file, a, name, out, err);
}

nb_status nb_columns_choose(const nb_reflection_file *file, const char *labels,
                            const char *name, nb_column_choice *out, nb_error *err)
{
    *out = (nb_column_choice){
        .plus = -1, .minus = -1, .difference = -1, .phase = -1, .mean = -1};
    if (file->is_unmerged)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the reflections are not merged: merge the file first");
    return labels[0] ? choose_labels(file, labels, name, out, err)
                     : choose_best(file, name, out, err);
}

void nb_columns_describe(const nb_reflection_file *file, const nb_column_choice *choice,
                         char *text, size_t size)
{
    int second = choice->minus >= 0        ? choice->minus
                 : choice->difference >= 0 ? choice->difference
                                           : choice->phase;
    const char *mean = choice->mean >= 0 ? file->columns[choice->mean].label : NULL;
    snprintf(text, size, second < 0 ? "%s%s%s%s" : "%s and %s%s%s",
             file->columns[choice->plus].label,
             second < 0 ? "" : file->columns[second].label,
             mean ? ", and where they have no value " : "", mean ? mean : "");
}

/** An operator. The image of h k l is voxel zero + h step0 + k step1 + l step2, and the
 * Friedel mate of the image is the voxel with the opposite steps. */
typedef struct image {
    nb_symop op;
    ptrdiff_t step[3];
} image;

/** Data of one combination. */
typedef struct combining {
    const nb_partials *partials;
    const nb_anomalous *f;
    double B_add, scale;
    nb_factor_grid *grid;
    ptrdiff_t zero; /* voxel of 0 0 0 */
    int is_roomy;   /* 1 if the box contains every image, even with a rounded s^2 */
    int count;
    image images[NB_SYMOPS_MAX]; /* images of a unique reflection, by operator */
} combining;

/** Voxel of an image of h, counted from 0 0 0. Returns 0 outside of the grid. */
static int find_image(const combining *c, const image *m, const int h[3], ptrdiff_t *at)
{
    int g[3];
    *at = h[0] * m->step[0] + h[1] * m->step[1] + h[2] * m->step[2];
    if (c->is_roomy)
        return 1;
    nb_hR(&m->op, h, g);
    return abs(g[0]) <= c->grid->H[0] && abs(g[1]) <= c->grid->H[1] &&
           abs(g[2]) <= c->grid->H[2];
}

/** Find the l of row h, k with d >= dmin. Returns 0 if the row lies outside. */
static int row_in_sphere(const combining *c, int h, int k, int *first, int *last)
{
    const nb_partials *p = c->partials;
    return nb_row_of_l(p->G, nb_s_squared_limit(p->dmin), h, k, c->grid->H[2], first,
                       last);
}

/** Set a row of the sphere to 0. put_orbit overwrites all reflections except absences. */
static void clear_row(const combining *c, int h, int k)
{
    int first, last;
    size_t at;
    if (!row_in_sphere(c, h, k, &first, &last))
        return;
    at = nb_factor_grid_at(c->grid, h, k, 0);
    for (int l = first; l <= last; l++) {
        if (!(h || k || l))
            continue;
        c->grid->F[at + (size_t)l] = 0;
        if (c->grid->phase)
            c->grid->phase[at + (size_t)l] = 0;
    }
}

/** F of reflection i and of the Friedel mate: re, im, re, im. */
static void make_pair(const combining *c, size_t i, double F[4])
{
    const nb_partials *p = c->partials;
    const int *h = p->hkl[i];
    double re = p->steady[2 * i], im = p->steady[2 * i + 1], x = 0, y = 0, k = c->scale;
    for (int e = 0; e < p->n_elements; e++) {
        const double *P = p->elements[e].P + 2 * i;
        re += c->f[e].f1 * P[0];
        im += c->f[e].f1 * P[1];
        x += c->f[e].f2 * P[0];
        y += c->f[e].f2 * P[1];
    }
    if (c->B_add != 0)
        k *= exp(-c->B_add * nb_s_squared(p->G, h[0], h[1], h[2]) / 4);
    F[0] = k * (re - y);
    F[1] = k * (im + x);
    F[2] = k * (re + y); /* F(-h) uses the complex conjugates of P and M */
    F[3] = k * (x - im);
}

static double length_of(const double z[2])
{
    return sqrt(z[0] * z[0] + z[1] * z[1]);
}

/** Reduce a phase to -pi..pi. */
static float in_turn(double phase)
{
    return (float)(phase - 2 * M_PI * nearbyint(phase / (2 * M_PI)));
}

/** Write F(h R) = F(h) exp(-2 pi i h t), and F(-h R) = F(-h) exp(2 pi i h t). */
static void put_orbit(const combining *c, size_t i)
{
    const int *h = c->partials->hkl[i];
    const int is_000 = !(h[0] || h[1] || h[2]);
    double F[4], plus, minus;
    ptrdiff_t at;
    make_pair(c, i, F);
    plus = length_of(F);
    minus = is_000 ? plus : length_of(F + 2);
    for (int j = 0; j < c->count; j++) {
        if (!find_image(c, &c->images[j], h, &at))
            continue;
        c->grid->F[c->zero + at] = plus;
        c->grid->F[c->zero - at] = minus;
    }
    if (!c->grid->phase)
        return;
    plus = atan2(F[1], F[0]);
    minus = is_000 ? plus : atan2(F[3], F[2]);
    for (int j = 0; j < c->count; j++) {
        const double turn = 2 * M_PI / 24 * nb_ht(&c->images[j].op, h);
        if (!find_image(c, &c->images[j], h, &at))
            continue;
        c->grid->phase[c->zero + at] = in_turn(plus - turn);
        c->grid->phase[c->zero - at] = in_turn(minus + turn);
    }
}

static void add_image(combining *c, const nb_symop *op)
{
    const nb_factor_grid *g = c->grid;
    const ptrdiff_t n2 = 2 * g->H[2] + 1, n1 = 2 * g->H[1] + 1;
    image *m = &c->images[c->count++];
    m->op = *op;
    for (int i = 0; i < 3; i++) /* row i of R is the image of the unit index i */
        m->step[i] = (op->R[3 * i] * n1 + op->R[3 * i + 1]) * n2 + op->R[3 * i + 2];
}

/** Find the images, with each rotation once, because centring translations give no new
 * images. */
static void find_images(combining *c)
{
    const nb_symmetry *sg = &c->partials->symmetry;
    nb_symop ops[NB_SYMOPS_MAX];
    int n = nb_rotations_of(sg, nb_group_fits(sg, c->partials->G), ops), room[3];
    for (int i = 0; i < n; i++)
        add_image(c, &ops[i]);
    c->zero = (ptrdiff_t)nb_factor_grid_at(c->grid, 0, 0, 0);
    nb_index_limits(c->partials->cell, c->partials->dmin * (1 - 1e-6), room);
    c->is_roomy = 1;
    for (int i = 0; i < 3; i++)
        c->is_roomy &= c->grid->H[i] >= room[i];
}

/** Set the limits of the indices that are in both the sphere and the grid. */
static void inner_box(const combining *c, int H[3])
{
    nb_index_limits(c->partials->cell, c->partials->dmin, H);
    for (int i = 0; i < 3; i++)
        H[i] = H[i] < c->grid->H[i] ? H[i] : c->grid->H[i];
}

void nb_partials_combine(const nb_partials *partials, const nb_anomalous *f, double B_add,
                         double scale, int threads, nb_factor_grid *grid)
{
    combining c = {
        .partials = partials, .f = f, .B_add = B_add, .scale = scale, .grid = grid};
    int H[3];
    find_images(&c);
    inner_box(&c, H);
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int h = -H[0]; h <= H[0]; h++)
            for (int k = -H[1]; k <= H[1]; k++)
                clear_row(&c, h, k);
#pragma omp for schedule(static)
        for (size_t i = 0; i < partials->n; i++)
            put_orbit(&c, i);
    }
}

/* --- for many wavelengths: each voxel stores the index of an amplitude --- */

/** Indices in nb_orbit_map.F of the F of absences, and of the F of missing voxels. */
static uint32_t absent_of(const nb_partials *p)
{
    return (uint32_t)(2 * p->n);
}
static uint32_t missing_of(const nb_partials *p)
{
    return (uint32_t)(2 * p->n + 1);
}

/** Write the indices in the order of put_orbit, where a later image wins. */
static void point_orbit(const combining *c, size_t i, uint32_t *from)
{
    const int *h = c->partials->hkl[i];
    ptrdiff_t at;
    for (int j = 0; j < c->count; j++) {
        if (!find_image(c, &c->images[j], h, &at))
            continue;
        from[c->zero + at] = (uint32_t)(2 * i);
        from[c->zero - at] = (uint32_t)(2 * i + 1);
    }
}

static void point_voxels(const combining *c, size_t voxels, uint32_t *from)
{
    int H[3], first, last;
    for (size_t i = 0; i < voxels; i++)
        from[i] = missing_of(c->partials);
    inner_box(c, H);
    for (int h = -H[0]; h <= H[0]; h++)
        for (int k = -H[1]; k <= H[1]; k++)
            if (row_in_sphere(c, h, k, &first, &last))
                for (int l = first; l <= last; l++)
                    from[nb_factor_grid_at(c->grid, h, k, l)] = absent_of(c->partials);
    from[c->zero] = missing_of(c->partials);
    for (size_t i = 0; i < c->partials->n; i++)
        point_orbit(c, i, from);
}

nb_status nb_orbit_map_make(const nb_partials *partials, const int H[3], double B_add,
                            double scale, nb_orbit_map *out, nb_error *err)
{
    nb_factor_grid grid = {.H = {H[0], H[1], H[2]}};
    combining c = {.partials = partials, .grid = &grid};
    const size_t voxels = nb_factor_grid_voxels(&grid);
    *out = (nb_orbit_map){.partials = partials, .B_add = B_add, .scale = scale};
    if (partials->n >= UINT32_MAX / 2)
        return nb_fail(err, NB_ERR_INPUT, "too many reflections: give a larger -dmin");
    out->from = nb_alloc_raw(voxels, sizeof *out->from, "structure factors", err);
    out->F = nb_alloc_raw(2 * partials->n + 2, sizeof *out->F, "structure factors", err);
    if (!out->from || !out->F) {
        nb_orbit_map_free(out);
        return NB_ERR_NOMEM;
    }
    find_images(&c);
    point_voxels(&c, voxels, out->from);
    return NB_OK;
}

void nb_orbit_map_free(nb_orbit_map *map)
{
    nb_free(map->from);
    nb_free(map->F);
    memset(map, 0, sizeof *map);
}

void nb_orbit_map_combine(nb_orbit_map *map, const nb_anomalous *f, double missing,
                          int threads)
{
    const nb_partials *p = map->partials;
    const combining c = {.partials = p, .f = f, .B_add = map->B_add, .scale = map->scale};
    map->F[absent_of(p)] = 0;
    map->F[missing_of(p)] = missing;
    (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t i = 0; i < p->n; i++) {
        const int *h = p->hkl[i];
        double F[4];
        make_pair(&c, i, F);
        map->F[2 * i] = length_of(F);
        map->F[2 * i + 1] = h[0] || h[1] || h[2] ? length_of(F + 2) : map->F[2 * i];
    }
}

void nb_orbit_map_write(const nb_orbit_map *map, size_t first, size_t n, double *F)
{
    const uint32_t *from = map->from + first;
    for (size_t i = 0; i < n; i++)
        F[i] = map->F[from[i]];
}
