/* SPDX-License-Identifier: MIT */
#include "chain_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/products.h"
#include "image/fibre.h"
#include "image/poisson.h"
#include "image/stages.h"

enum { KINDS = 4, MAX_PANELS = 3 };

static const struct {
    nb_pixel_type type;
    const char *name;
} kinds[KINDS] = {{NB_PIXEL_F32, "floats"},
                  {NB_PIXEL_U16, "uint16"},
                  {NB_PIXEL_I32, "int32"},
                  {NB_PIXEL_I16, "int16"}};

/** A chain of noise stages, and the data to which the stages point. */
typedef struct chain {
    nb_stage stages[NB_STAGES_MAX];
    int n, fibre;
    float *map;
    nb_fibres *fibres;
    double gains[MAX_PANELS], trusted[MAX_PANELS];
    /* the scene, or the same pixels cut into panels */
    nb_scene scene;
    nb_panel panels[MAX_PANELS];
    nb_product products[KINDS];
} chain;

static double power(check_rng *rng, double low, double high)
{
    return pow(10, check_uniform(rng, low, high));
}

static void add(chain *c, chain_tally *tally, nb_stage stage)
{
    tally->stages[stage.kind]++;
    c->stages[c->n++] = stage;
}

/** Cuts a single panel, if large enough, into 1 to MAX_PANELS panels of whole rows. */
static void cut(chain *c, const nb_scene *sc, check_rng *rng)
{
    const nb_panel *whole = sc->panels;
    int n = 1 + check_below(rng, MAX_PANELS), row = 0;
    c->scene = *sc;
    if (n == 1 || sc->n_panels > 1 || whole->rows < 2 * n ||
        sc->raster.roi.smax != sc->raster.rows - 1)
        return;
    for (int k = 0; k < n; k++) {
        nb_panel *panel = &c->panels[k];
        *panel = *whole;
        panel->first_row = row;
        panel->first_pixel = (size_t)row * (size_t)whole->columns;
        panel->rows = k < n - 1 ? whole->rows / n + k : whole->rows - row;
        panel->pixel_fast *= 1 + 0.25 * k;
        row += panel->rows;
    }
    c->scene.panels = c->panels;
    c->scene.n_panels = n;
}

static void choose_spread(chain *c, check_rng *rng, chain_tally *tally)
{
    nb_stage spread = {.kind = NB_STAGE_SPREAD, .shape = NB_PSF_GAUSS};
    spread.amount = c->scene.panels->pixel_slow * power(rng, -1, 1.3);
    c->fibre = !tally->no_fibres && !check_below(rng, 3) &&
               nb_fibres_new(&c->fibres, NULL) == NB_OK;
    if (c->fibre) {
        spread.shape = NB_PSF_FIBRE;
        spread.fibres = c->fibres;
    }
    add(c, tally, spread);
}

static void choose_stages(chain *c, check_rng *rng, double brightest, chain_tally *tally)
{
    const int64_t seed = check_below(rng, 1 << 30);
    const uint32_t frame = (uint32_t)check_below(rng, 3);
    const size_t pixels = (size_t)c->scene.raster.columns * (size_t)c->scene.raster.rows;
    if (check_below(rng, 2))
        add(c, tally,
            (nb_stage){.kind = NB_STAGE_FLICKER, .amount = check_uniform(rng, 0, 2)});
    if (check_below(rng, 2))
        add(c, tally,
            (nb_stage){.kind = NB_STAGE_DEADTIME, .amount = power(rng, -4, 1) / brightest});
    if (check_below(rng, 4))
        add(c, tally, (nb_stage){.kind = NB_STAGE_POISSON, .seed = seed, .frame = frame});
    if (check_below(rng, 2))
        choose_spread(c, rng, tally);
    if (check_below(rng, 2))
        add(c, tally,
            (nb_stage){.kind = NB_STAGE_CALIBRATION,
                       .seed = 5,
                       .amount = check_uniform(rng, 0, check_below(rng, 4) ? 0.1 : 2)});
    if (check_below(rng, 2)) {
        c->map = malloc(pixels * sizeof *c->map + 1);
        for (size_t i = 0; i < pixels; i++)
            c->map[i] = (float)check_uniform(rng, 0.5, 1.5);
        add(c, tally, (nb_stage){.kind = NB_STAGE_GAINMAP, .map = c->map});
    }
    add(c, tally,
        (nb_stage){.kind = NB_STAGE_GAIN,
                   .amount = power(rng, -2, 2),
                   .of_panels = check_below(rng, 2) ? c->gains : NULL});
    if (check_below(rng, 2))
        add(c, tally,
            (nb_stage){.kind = NB_STAGE_READOUT,
                       .seed = seed,
                       .frame = frame,
                       .amount = power(rng, -1, 2)});
}

static void choose_products(chain *c, check_rng *rng)
{
    for (int k = 0; k < KINDS; k++) {
        nb_product *p = &c->products[k];
        *p = (nb_product){.type = kinds[k].type,
                          .stages = c->n,
                          .scale = 1,
                          .adc_offset = check_below(rng, 3) ? 0 : power(rng, 0, 5)};
        if (check_below(rng, 3) == 0)
            p->trusted = floor(power(rng, 1, 6));
        else if (check_below(rng, 3) == 0)
            p->trusted_of = c->trusted;
        memcpy(p->chain, c->stages, sizeof c->stages);
    }
}

static void choose(chain *c, const nb_scene *sc, double brightest, check_rng *rng,
                   chain_tally *tally)
{
    memset(c, 0, sizeof *c);
    cut(c, sc, rng);
    for (int k = 0; k < MAX_PANELS; k++) {
        c->gains[k] = power(rng, -1, 1);
        c->trusted[k] = k == 1 ? 0 : floor(power(rng, 1, 6)) + 0.5;
    }
    choose_stages(c, rng, brightest, tally);
    choose_products(c, rng);
}

/** Value of a pixel of a product. */
static double number_at(nb_pixel_type type, const void *pixels, size_t i)
{
    switch (type) {
    case NB_PIXEL_F32:
        return ((const float *)pixels)[i];
    case NB_PIXEL_U16:
        return ((const uint16_t *)pixels)[i];
    case NB_PIXEL_I16:
        return ((const int16_t *)pixels)[i];
    default:
        return ((const int32_t *)pixels)[i];
    }
}

/** True if pixels of product k agree, except for the rounding of two FFT libraries. */
static int is_near(const chain *c, int k, const char *ours, const char *want, size_t n,
                   chain_tally *tally)
{
    const nb_pixel_type type = c->products[k].type;
    double largest = 0, off = 0;
    for (size_t i = 0; i < n; i++) {
        double a = number_at(type, ours, i), b = number_at(type, want, i);
        largest = fmax(largest, fabs(b));
        off = fmax(off, fabs(a - b));
        tally->fibre_off += type != NB_PIXEL_F32 && a != b;
    }
    if (type == NB_PIXEL_F32) {
        if (largest > 0)
            tally->fibre_error = fmax(tally->fibre_error, off / largest);
        /* 2e-7 is about the distance of neighbouring floats */
        return off <= 2e-7 * largest;
    }
    tally->fibre_pixels += (int64_t)n;
    return off <= 1;
}

static void compare(const nb_backend *backend, nb_backend_state *state, const chain *c,
                    const nb_product *cpu, const int64_t *overloads, chain_tally *tally,
                    char *why, size_t why_size)
{
    const nb_raster *raster = &c->scene.raster;
    const size_t n = (size_t)raster->columns * (size_t)raster->rows;
    char *ours = malloc(4 * n + 1);
    nb_error err = {0};
    for (int k = 0; k < KINDS && !why[0]; k++) {
        const nb_product *p = &c->products[k];
        const size_t bytes = n * nb_pixel_bytes(p->type);
        if (backend->device->image.fetch(state, k, 0, raster->rows, ours, &err) != NB_OK)
            snprintf(why, why_size, "%s", err.message);
        else if (c->fibre ? !is_near(c, k, ours, cpu[k].pixels, n, tally)
                          : memcmp(ours, cpu[k].pixels, bytes) != 0)
            snprintf(why, why_size, "%s behind stages", kinds[k].name);
        else if (!c->fibre && overloads[k] != cpu[k].overloads)
            snprintf(why, why_size, "overloads of %s behind stages: %lld, not %lld",
                     kinds[k].name, (long long)overloads[k], (long long)cpu[k].overloads);
        tally->images++;
        tally->pixels += (int64_t)n;
    }
    free(ours);
}

/** Names the stages, for the report of a difference. */
static void name_stages(const chain *c, char *why, size_t why_size)
{
    static const char *const names[] = {"counts",   "compat", "flicker",
                                        "deadtime", "spread", "calibration",
                                        "gain map", "gain",   "read-out"};
    for (int i = 0; i < c->n; i++) {
        size_t used = strlen(why);
        snprintf(why + used, why_size - used, "%s%s %g", i ? ", " : ": ",
                 names[c->stages[i].kind], c->stages[i].amount);
    }
}

void check_chain(const nb_backend *backend, nb_backend_state *state, const nb_scene *sc,
                 const float *image, check_rng *rng, chain_tally *tally, char *why,
                 size_t why_size)
{
    static chain c;
    nb_product *at[KINDS], cpu[KINDS];
    int64_t overloads[KINDS] = {0};
    const size_t n = (size_t)sc->raster.columns * (size_t)sc->raster.rows;
    nb_photons photons;
    double brightest = 1e-300;
    nb_error err = {0};
    nb_status st;
    why[0] = '\0';
    for (size_t i = 0; i < n; i++)
        brightest = image[i] > brightest ? image[i] : brightest;
    choose(&c, sc, brightest, rng, tally);
    for (int k = 0; k < KINDS; k++) {
        at[k] = &c.products[k];
        cpu[k] = c.products[k];
        cpu[k].pixels = malloc(4 * n + 1);
    }
    st = backend->device->image.make(state, &c.scene, at, KINDS, &err);
    for (int k = 0; k < KINDS; k++)
        overloads[k] = c.products[k].overloads;
    photons = photons_of(image, &c.scene, 0);
    if (st && c.fibre && !backend->device->image.makes(state, at[0])) {
        printf("# without the fibres' point spread: %s\n", err.message);
        tally->no_fibres = 1;
    } else if (st || (st = nb_image_make(&photons, c.stages, c.n, cpu, KINDS, &err))) {
        snprintf(why, why_size, "%s", err.message);
    } else {
        compare(backend, state, &c, cpu, overloads, tally, why, why_size);
        tally->fibre_images += c.fibre ? KINDS : 0;
        nb_products_free(cpu, KINDS);
    }
    if (why[0]) {
        tally->wrong++;
        name_stages(&c, why, why_size);
    }
    for (int k = 0; k < KINDS; k++)
        free(cpu[k].pixels);
    free(c.map);
    nb_fibres_free(c.fibres);
}
