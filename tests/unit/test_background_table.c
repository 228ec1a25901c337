/* SPDX-License-Identifier: MIT */
/* Backgrounds from curves over the scattering angle and from smooth tiles agree with the
 * sum over all rays, for any spectrum, divergence, sensor and sampling, and for tables
 * of F with kinks and changes of sign. */
#include "../support/check.h"

#include <string.h>
#include <unistd.h>

#include "../support/picture.h"
#include "sim/sim.h"
#include "base/threads.h"
#include "image/background.h"

enum { SCENES = 20, EVEN = 12, EDGE = 448, MANY_ROWS = 112, ROWS = 40, SOME = 3 };

/* Pixels below this fraction of the largest pixel may differ by as much as this. */
#define DIM 1e-7
/* Limit of the error from curves, polynomials and rounding to float. */
#define LIMIT 1e-6

static void sample(nb_config *cfg, int n)
{
    cfg->oversample = 1 + n % 3;
    cfg->oversample_polar = n % 5 == 0;
    cfg->oversample_omega = n % 7 == 0;
    cfg->curved = n % 9 == 8;
    if (n % 3) {
        cfg->dispersion_pct = n % 2 ? 0.5 : 3;
        cfg->dispersion_steps = 4;
    }
    if (n % 8 == 5) {
        cfg->hdiv_range_mrad = 5;
        cfg->hdiv_steps = 3;
    }
    if (n % 4 == 1) {
        cfg->thick_um = 450;
        cfg->abs_um = 300;
        cfg->thick_steps = 2;
        cfg->layer_depth = n % 8 == 1 ? NB_LAYER_MEAN : NB_LAYER_FRONT;
    }
    if (n % 5 == 2) {
        cfg->polarization = 0.9;
        cfg->polar_set = 1;
    }
}

/** Sets sub-pixels, tilts and sensors. One wavelength: kinks of a table stay sharp. */
static void sample_kinks(nb_config *cfg, int n)
{
    cfg->oversample = 2 + n % 4;
    cfg->oversample_polar = n % 5 == 0;
    cfg->oversample_omega = n % 7 == 0;
    cfg->twotheta_deg = n % 4 == 3 ? 25 : 0;
    cfg->rot_deg[1] = n % 4 == 1 ? 15 : 0;
    if (n % 3) {
        cfg->thick_um = 450;
        cfg->abs_um = 300;
        cfg->thick_steps = 1 + n % 4;
        cfg->layer_depth = n % 2 ? NB_LAYER_MEAN : NB_LAYER_FRONT;
    }
}

/** A scene of background without a crystal; table: path of a file. */
static nb_config a_scene(int n, const char *table)
{
    static const char *const materials[] = {"water:0.01", "water:0.5,air:20", "ice:0.3",
                                            "nanoice:0.2,water:0.1,air:3"};
    nb_config cfg = nb_suite_config(1, 3, EDGE);
    cfg.default_F = 0;
    cfg.pixel_mm = n % 2 ? 0.172 : 0.3;
    cfg.distance_mm = 60 + 20 * (n % 7);
    cfg.lambda_A = 0.8 + 0.05 * (n % 11);
    if (n < EVEN)
        sample(&cfg, n);
    else
        sample_kinks(&cfg, n);
    if (n % 6 == 3)
        nb_put_text(&cfg.stol_file, "%s", table);
    else
        nb_put_text(&cfg.background, "%s", materials[n % 4]);
    return cfg;
}

static nb_picture render(const nb_config *cfg, nb_isa isa, int threads)
{
    nb_config as = *cfg;
    nb_picture p;
    nb_error err = {0};
    as.isa = isa;
    as.precision = NB_PRECISION_MIXED;
    as.threads = threads;
    if (nb_picture_render(&as, &p, &err) != NB_OK)
        fail_msg("%s", err.message);
    return p;
}

/** Largest relative error of a pixel against the scalar renderer. */
static double worst_of(const nb_picture *truth, const nb_picture *quick)
{
    double worst = 0;
    for (size_t i = 0; i < truth->n; i++) {
        const double a = truth->pixels[i], b = quick->pixels[i];
        if (fabs(a) > DIM * truth->stats.max)
            worst = fmax(worst, fabs(a - b) / fabs(a));
        else if (!(fabs(a - b) <= DIM * truth->stats.max))
            worst = INFINITY;
    }
    return worst;
}

/** Part of the pixels of panel 0 that are summed ray by ray. */
static double summed_part(const nb_scene *sc)
{
    const nb_panel *p = sc->panels;
    float row[EDGE];
    nb_background *b;
    nb_isa isa;
    int n = 0;
    assert_int_equal(nb_cpu_choose(NB_ISA_AUTO, &isa, NULL), NB_OK);
    assert_int_equal(nb_background_make(sc, nb_image_kernels_of(isa), 2, &b, NULL), NB_OK);
    for (int s = 0; s < p->rows; s++)
        n += nb_background_add(b, sc, 0, 0, s, p->columns, row);
    nb_background_free(b);
    return n / ((double)p->rows * p->columns);
}

static void write_table(char path[NB_PATH_MAX])
{
    const char *text = "0 5\n0.05 -3\n0.1 2\n0.11 9\n0.2 3\n0.35 3.5\n0.5 1\n";
    nb_scratch_path(path, "kinks.stol");
    assert_true(nb_scratch_write(path, text, strlen(text)));
}

UNIT_TEST(the_table_is_the_sum_over_sources)
{
    char path[NB_PATH_MAX];
    const int rows = nb_of_form(MANY_ROWS, ROWS, ROWS);
    int smooth = 0;
    write_table(path);
    for (int n = 0; n < SCENES; n += nb_of_form(1, 1, 3)) {
        nb_config cfg = a_scene(n, path);
        const int first = n * (EDGE - rows) / (SCENES - 1);
        cfg.roi_set = 1; /* the scalar renderer is slow */
        memcpy(cfg.roi, (const int[]){0, EDGE - 1, first, first + rows - 1},
               sizeof cfg.roi);
        nb_picture truth = render(&cfg, NB_ISA_SCALAR, 2);
        nb_picture quick = render(&cfg, NB_ISA_AUTO, 2);
        const double worst = worst_of(&truth, &quick);
        if (!(worst <= LIMIT))
            fail_msg("scene %d (%s%s): %.2e off", n, cfg.background, cfg.stol_file, worst);
        quick.sim->model.scene.raster.roi = (nb_region){0, EDGE - 1, 0, EDGE - 1};
        smooth += summed_part(&quick.sim->model.scene) < 0.25;
        nb_picture_free(&truth);
        nb_picture_free(&quick);
    }
    assert_true(smooth >= SCENES / nb_of_form(2, 2, 6));
    unlink(path);
}

/** With one wavelength, sub-pixels and layers, less than 2 % of the pixels are summed ray
 * by ray. */
UNIT_TEST(kinks_of_water_take_no_rays)
{
    nb_config cfg = nb_suite_config(1, 3, EDGE);
    nb_picture p;
    cfg.default_F = 0;
    cfg.oversample = 8;
    cfg.pixel_mm = 0.075;
    cfg.distance_mm = 200;
    cfg.thick_um = 450;
    cfg.abs_um = 300;
    cfg.thick_steps = 2;
    cfg.layer_depth = NB_LAYER_MEAN;
    nb_put_text(&cfg.background, "water:0.1");
    p = render(&cfg, NB_ISA_AUTO, 2);
    const double summed = summed_part(&p.sim->model.scene);
    if (summed > 0.02)
        fail_msg("%.3f of the pixels are summed", summed);
    nb_picture_free(&p);
}

/** Any number of threads and any region give the same bytes. */
UNIT_TEST(a_region_has_the_same_bytes)
{
    char path[NB_PATH_MAX];
    write_table(path);
    for (int n = 0; n < SCENES; n += SOME) {
        nb_config cfg = a_scene(n, path);
        nb_picture whole = render(&cfg, NB_ISA_AUTO, 1), part;
        cfg.roi_set = 1;
        memcpy(cfg.roi, (const int[]){37, 300, 101, 203}, sizeof cfg.roi);
        part = render(&cfg, NB_ISA_AUTO, 2);
        for (int s = 101; s <= 203; s++)
            assert_memory_equal(part.pixels + s * EDGE + 37, whole.pixels + s * EDGE + 37,
                                (300 - 37 + 1) * sizeof(float));
        nb_picture_free(&whole);
        nb_picture_free(&part);
    }
    unlink(path);
}
