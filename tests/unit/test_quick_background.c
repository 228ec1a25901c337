/* SPDX-License-Identifier: MIT */
/* Check, on the host, the GPU's quick sum over materials (cuda/steps/quick_background.h)
 * against nb_pixel_background, and the float cells of F (src/terms/materials.h) against
 * the tables. */
#include "../support/check.h"

#include <unistd.h>

#include "../../src/terms/materials.h"
#include "../../cuda/steps/quick_background.h"
#include "../support/picture.h"
#include "sim/sim.h"
#include "physics/pixel.h"

enum { SCENES = 60, EDGE = 20 };

static nb_config a_scene(int n)
{
    static const char *const materials[] = {"water:0.01", "water:0.5,air:20", "ice:0.3",
                                            "nanoice:0.2,water:0.1,air:3"};
    nb_config cfg = nb_suite_config(1, 3, EDGE);
    cfg.pixel_mm = 8;
    cfg.distance_mm = 60;
    cfg.lambda_A = 0.8 + 0.01 * n;
    cfg.oversample = 1 + n % 3;
    cfg.oversample_polar = n % 5 == 0;
    cfg.oversample_omega = n % 7 == 0;
    cfg.curved = n % 4 == 3;
    if (n % 2) {
        cfg.dispersion_pct = 3;
        cfg.dispersion_steps = 7;
    }
    if (n % 6 == 1) {
        cfg.thick_um = 300;
        cfg.abs_um = 200;
        cfg.thick_steps = 3;
        cfg.layer_depth = n % 12 == 1 ? NB_LAYER_MEAN : NB_LAYER_FRONT;
    }
    if (n % 5 == 2) {
        cfg.polarization = 0.7;
        cfg.polar_set = 1;
    }
    if (n % 3 == 1) { /* a pixel in the direct beam */
        cfg.convention = NB_CONV_XDS;
        cfg.orgx = cfg.orgy = EDGE / 2 + 0.5;
    }
    nb_put_text(&cfg.background, "%s", materials[n % 4]);
    return cfg;
}

UNIT_TEST(the_quick_sum_is_the_sum)
{
    for (int n = 0; n < SCENES; n++) {
        const nb_config cfg = a_scene(n);
        nb_sim *sim;
        nb_error err = {0};
        if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK)
            fail_msg("%s", err.message);
        const nb_scene *sc = &sim->model.scene;
        assert_non_null(sc->amorphous);
        for (int i = 0; i < EDGE * EDGE; i++) {
            const int f = i % EDGE, s = i / EDGE;
            const double truth =
                nb_pixel_background(sc, sc->amorphous, sc->panels, sc->sensors, f, s);
            const double quick = nb_quick_background(sc, sc->panels, sc->sensors, f, s);
            assert_true(fabs(quick - truth) <= 1e-11 * truth);
        }
        nb_sim_free(sim);
    }
}

/** F at x from a cell; NaN if no cubic fits the cell, so that a piece is used. */
static double by_cells(const nb_cells *of, const nb_cell *cells, double x)
{
    const double t = fma(x, of->per, of->shift), n = (t + NB_CELL_MAGIC) - NB_CELL_MAGIC;
    const int i = n < 0 ? 0 : n > of->last ? of->last : (int)n;
    return isnan(cells[i].c[0]) ? NAN : nb_cell_F(cells[i].c, (float)(t - n) + 0.5f);
}

/** Largest relative error of F from cells. *quick: fraction of the angles whose cell has
 * a cubic, of all angles up to 1.2 times the end of the table. */
static double check_cells(const nb_amorphous *a, int k, double *quick)
{
    const nb_scatterer *m = &a->materials[k];
    const int n = nb_cells_count(a, m), probes = 20000;
    nb_cell *cells = calloc((size_t)n, sizeof *cells);
    assert_non_null(cells);
    const nb_cells of = nb_cells_fill(a, k, 0, cells);
    const double end = n > 2 ? 1.2 * (n - 1 - of.shift) / of.per : 1e10;
    const double zero = 0.1; /* electrons, added to |F|, which can be 0 */
    double worst = 0;
    int found = 0;
    assert_int_equal(of.last, n - 1);
    for (int i = 1; i <= probes; i++) {
        const double x = end * i / probes, F = by_cells(&of, cells, x),
                     truth = nb_piece_F(nb_piece_of(a, m, x), x);
        if (isnan(F))
            continue;
        found++;
        worst = fmax(worst, fabs(F - truth) / (fabs(truth) + zero));
    }
    free(cells);
    *quick = (double)found / probes;
    return worst;
}

/** Checks every material of a configuration. */
static void check_materials(const nb_config *cfg, double max_off, double least_quick)
{
    nb_sim *sim;
    nb_error err = {0};
    if (nb_sim_create(cfg, NULL, &sim, &err) != NB_OK)
        fail_msg("%s", err.message);
    const nb_amorphous *a = sim->model.scene.amorphous;
    for (int k = 0; k < a->n; k++) {
        double quick, off = check_cells(a, k, &quick);
        if (!(off <= max_off) || quick < least_quick)
            fail_msg("material %d of %s%s: %.1e off, cells have %.3f", k, cfg->background,
                     cfg->stol_file, off, quick);
    }
    nb_sim_free(sim);
}

UNIT_TEST(cells_hold_the_tables)
{
    nb_config cfg = a_scene(0);
    nb_put_text(&cfg.background, "water:1,air:1,ice:1,nanoice:1,vitreous:1");
    check_materials(&cfg, 2e-7, 1);
}

/** Typed tables: noise, uneven steps, change of sign, one point, far first point. */
UNIT_TEST(cells_hold_any_table)
{
    static const char *const tables[] = {
        "0.05 3\n0.1 9\n0.15 2\n0.2 8\n0.25 8\n0.3 1\n0.35 7\n",
        "0 5\n0.1 4\n0.1037 3.5\n0.4 1\n0.41 2\n0.9 1.5\n",
        "0 5\n0.1 -3\n0.2 2\n0.3 -1\n", "0.3 2.5\n", "0.499 2\n0.5 3\n"};
    const double quick[] = {0.8, 0.3, 0.2, 1, 0.8};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char path[] = "/tmp/nb_cells_XXXXXX";
        const int fd = mkstemp(path);
        FILE *file = fdopen(fd, "w");
        nb_config cfg = a_scene(0);
        assert_non_null(file);
        fputs(tables[i], file);
        fclose(file);
        cfg.background = nb_no_text;
        nb_put_text(&cfg.stol_file, "%s", path);
        check_materials(&cfg, 1e-6, quick[i]);
        unlink(path);
    }
}
