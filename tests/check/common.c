/* SPDX-License-Identifier: MIT */
#include "common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics/panels.h"

enum { GUARD = 64 };

/* docs/physics.md, section 21. `double`: rounds to float, and sums in another order */
const check_tolerances check_allowed[CHECK_PRECISIONS] = {
    {"mixed", 1e-6, 1e-4, 1e-6, 1e-11}, {"double", 2e-7, 1e-5, 1e-6, 1e-12}};

int check_parse(check_settings *o, int argc, char **argv, int with_isa)
{
    o->count = getenv("NB_BIG") ? 2000 : getenv("NB_REDUCED") ? 30 : 200;
    o->seed = 1;
    o->only = -1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "-v") == 0)
            o->verbose = 1;
        else if (strcmp(argv[i], "--seed") == 0 && ++i)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && ++i)
            o->count = atoi(value);
        else if (strcmp(argv[i], "--only") == 0 && ++i)
            o->only = atoi(value);
        else if (with_isa && strcmp(argv[i], "--isa") == 0 && ++i)
            o->isa = value;
        else if (strcmp(argv[i], "--precision") == 0 && ++i)
            o->precision = value;
        else
            return 0;
    }
    return 1;
}

int check_wanted(const char *filter, const char *name)
{
    return !filter || strcmp(filter, name) == 0;
}

size_t check_pixels(const nb_scene *sc)
{
    return sc->raster.pixels;
}

int check_rendered(const nb_scene *sc, size_t i)
{
    const nb_panel *panel = &sc->panels[nb_panel_of_pixel(sc, i)];
    const nb_region r = nb_panel_region(sc, panel);
    const size_t at = i - panel->first_pixel, columns = (size_t)panel->columns;
    const int f = (int)(at % columns), s = (int)(at / columns);
    return f >= r.fmin && f <= r.fmax && s >= r.smin && s <= r.smax &&
           (!sc->raster.mask || sc->raster.mask[i]);
}

/* the guard words are a NaN with a known pattern */
static const uint32_t guard_word = 0x7fc0dead;

check_image check_image_new(size_t n)
{
    check_image g = {NULL, NULL, n};
    g.memory = malloc((n + 2 * GUARD) * sizeof *g.memory);
    if (!g.memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (size_t i = 0; i < n + 2 * GUARD; i++)
        memcpy(&g.memory[i], &guard_word, sizeof guard_word);
    g.image = g.memory + GUARD;
    return g;
}

int check_guards_intact(const check_image *g)
{
    for (size_t i = 0; i < GUARD; i++)
        if (memcmp(&g->memory[i], &guard_word, 4) != 0 ||
            memcmp(&g->memory[GUARD + g->n + i], &guard_word, 4) != 0)
            return 0;
    return 1;
}

long check_squeeze(const nb_scene *sc, float *image)
{
    size_t total = check_pixels(sc);
    long n = 0;
    for (size_t i = 0; i < total; i++)
        if (check_rendered(sc, i))
            image[n++] = image[i];
        else if (image[i] != 0)
            return -1;
    return n;
}

/** True if an image varies more than by rounding errors: a correlation is then useful. */
static int varies(const float *b, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += b[i];
    for (size_t i = 0; i < n; i++)
        squares += (b[i] - sum / (double)n) * (b[i] - sum / (double)n);
    return n > 1 && squares > 0.01 * sum * sum / (double)n;
}

const char *check_judge(const float *a, const float *b, size_t n, const nb_scene *sc,
                        nb_precision p, nb_comparison *c)
{
    const check_tolerances *t = &check_allowed[p];
    double N = fmax(sc->lattice.N[0], fmax(sc->lattice.N[1], sc->lattice.N[2])), max = 0;
    for (size_t i = 0; i < n; i++)
        max = b[i] > max ? b[i] : max;
    memset(c, 0, sizeof *c);
    if (max == 0)
        return n == 0 || memcmp(a, b, n * sizeof *a) == 0 ? NULL : "not black";
    *c = nb_compare(a, b, n, N >= 300 && p != NB_PRECISION_DOUBLE ? 1e-4 : 1e-6);
    if (!varies(b, n) && c->maxrel == c->maxrel)
        c->corr = 0;
    if (!(c->maxrel <= t->maxrel))
        return "maxrel";
    if (!(c->rel6 <= t->rel6))
        return "rel6";
    if (!(c->sum <= t->sum))
        return "sum";
    return c->corr <= t->corr ? NULL : "correlation";
}

void check_remember_worst(nb_comparison *worst, const nb_comparison *c)
{
    worst->maxrel = fmax(worst->maxrel, c->maxrel);
    worst->rel6 = fmax(worst->rel6, c->rel6);
    worst->sum = fmax(worst->sum, c->sum);
    worst->corr = fmax(worst->corr, c->corr);
}

void check_shrink(nb_scene *sc, double limit)
{
    nb_region *roi = &sc->raster.roi;
    double a_pixel = (double)sc->samples * sc->sensors->layers *
                     (sc->factors.table.interpolate ? 5 : 1);
    int rows;
    if (limit <= 0)
        return;
    if ((roi->fmax - roi->fmin + 1) * a_pixel > limit)
        roi->fmax = roi->fmin + (int)fmin(limit / a_pixel, roi->fmax - roi->fmin);
    rows = (int)fmax(1, limit / a_pixel / (roi->fmax - roi->fmin + 1));
    if (roi->smax - roi->smin + 1 > rows)
        roi->smax = roi->smin + rows - 1;
}
