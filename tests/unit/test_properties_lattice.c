/* SPDX-License-Identifier: MIT */
/* Square crystals against the coherent sum over their lattice points, |sum exp(2 pi i q.r)|^2,
 * from the typed cell to the pixel. */
#include "../support/check.h"

#include <complex.h>

#include "sim/sim.h"
#include "model/misset.h"

/** |sum over the cells of exp(2 pi i q.r)|^2 for real-space vectors a, b, c. */
static double coherent_sum(const nb_vec3 cell[3], const double N[3], nb_vec3 q)
{
    double complex sum = 0;
    for (int i = 0; i < N[0]; i++)
        for (int j = 0; j < N[1]; j++)
            for (int k = 0; k < N[2]; k++) {
                nb_vec3 r = nb_add(nb_scale(i, cell[0]),
                                   nb_add(nb_scale(j, cell[1]), nb_scale(k, cell[2])));
                sum += cexp(2 * NB_PI * I * nb_dot(q, r));
            }
    return creal(sum) * creal(sum) + cimag(sum) * cimag(sum);
}

/** Real-space vectors of a cell by another way than the library's: a* along x, b* in the xy
 * plane means c along z, b in the yz plane. */
static void cell_vectors(const double cell[6], nb_vec3 out[3])
{
    double ca = cos(cell[3] * NB_DEG), cb = cos(cell[4] * NB_DEG),
           cg = cos(cell[5] * NB_DEG);
    double sa = sin(cell[3] * NB_DEG), ay;
    out[2] = nb_v3(0, 0, cell[2]);
    out[1] = nb_v3(0, cell[1] * sa, cell[1] * ca);
    ay = (cg - ca * cb) / sa;
    out[0] = nb_v3(cell[0] * sqrt(1 - cb * cb - ay * ay), cell[0] * ay, cell[0] * cb);
}

/** Every pixel of cfg (oversample 1, one source and orientation) against the sum. */
static void check_image(const nb_config *cfg, const nb_vec3 cell[3])
{
    nb_picture p = rendered(cfg);
    const nb_geometry *g = &p.sim->model.geometry;
    double lambda = cfg->lambda_A, worst = 0;
    for (size_t i = 0; i < p.n; i++) {
        nb_vec3 x = nb_add(
            g->pix0,
            nb_add(nb_scale(((double)(i % (size_t)p.fast) + 0.5) * g->pixel, g->fast),
                   nb_scale(((double)(i / (size_t)p.fast) + 0.5) * g->pixel, g->slow)));
        double R = nb_norm(x),
               omega = g->pixel * g->pixel * fabs(nb_dot(x, g->normal)) / pow(R, 3);
        nb_vec3 q = nb_scale(1 / lambda, nb_sub(nb_scale(1 / R, x), g->beam));
        double c = nb_dot(x, g->beam) / R;
        double truth = cfg->default_F * cfg->default_F * coherent_sum(cell, cfg->N, q) *
                       omega * 0.5 * (1 + c * c);
        worst = fmax(worst, fabs(p.pixels[i] - truth));
    }
    check_below(worst, 3e-7 * p.stats.max);
    nb_picture_free(&p);
}

UNIT_TEST(still_crystals)
{
    static const double cells[][6] = {
        {100, 100, 100, 90, 90, 90}, {30, 40, 50, 90, 100, 90},
        {60, 60, 60, 60, 60, 60},    {70, 80, 90, 75, 85, 95},
        {40, 40, 70, 90, 90, 120},   {25, 35, 45, 110, 95, 70}};
    static const double Ns[][3] = {{5, 5, 5}, {3, 4, 2}, {4, 4, 4},
                                   {1, 6, 3}, {2, 2, 7}, {5, 1, 1}};
    for (int i = 0; i < 6; i++) {
        nb_config cfg = nb_suite_config(1.3, 1, 48);
        nb_vec3 vectors[3];
        memcpy(cfg.cell, cells[i], sizeof cfg.cell);
        memcpy(cfg.N, Ns[i], sizeof cfg.N);
        cfg.pixel_mm = 0.9;
        cfg.distance_mm = 60;
        nb_set_rotations(&cfg, 5, 10, -15);
        cell_vectors(cells[i], vectors);
        check_image(&cfg, vectors);
        nb_set_misset(&cfg, 40, -50, 60);
        for (int k = 0; k < 3; k++)
            vectors[k] = nb_rotate_xyz(vectors[k], 40 * NB_DEG, -50 * NB_DEG, 60 * NB_DEG);
        check_image(&cfg, vectors);
        cfg.phi_deg = 25; /* about z in this convention */
        for (int k = 0; k < 3; k++)
            vectors[k] = nb_rotate_about(vectors[k], nb_v3(0, 0, 1), 25 * NB_DEG);
        check_image(&cfg, vectors);
    }
}

/* Mosaic domains turn with the crystal: R_phi U a, the sum of both and not the other order. */
UNIT_TEST(mosaic_domains_turn_with_phi)
{
    nb_config cfg = nb_suite_config(1.3, 3, 32);
    const nb_panel *panel;
    nb_vec3 start[3];
    nb_mat3 U[4];
    double worst[2] = {0};
    nb_picture p;
    nb_set_cell(&cfg, 30, 35, 40, 80, 95, 100);
    cfg.pixel_mm = 1;
    cfg.nopolar = cfg.point_pixel = 1;
    cfg.phi_deg = 50;
    cfg.mosaic_spread_deg = 5;
    cfg.mosaic_domains = 4;
    cfg.mosaic_seed = (nb_seed){1, 4711};
    p = rendered(&cfg);
    panel = p.sim->model.scene.panels;
    cell_vectors(cfg.cell, start);
    nb_mosaic_rotations(5 * NB_DEG, 4711, 4, U);
    for (int i = 0; i < 32 * 32; i++) {
        nb_vec3 x =
            nb_add(panel->pix0, nb_add(nb_scale((i % 32 + 0.5) * 1e-3, panel->fast),
                                       nb_scale((i / 32 + 0.5) * 1e-3, panel->slow)));
        nb_vec3 q = nb_scale(1 / 1.3, nb_sub(nb_unit(x), panel->beam));
        for (int order = 0; order < 2; order++) {
            double sum = 0;
            for (int d = 0; d < 4; d++) {
                nb_vec3 cell[3];
                for (int k = 0; k < 3; k++) {
                    cell[k] = order ? start[k] : nb_apply(&U[d], start[k]);
                    cell[k] = nb_rotate_about(cell[k], nb_v3(0, 0, 1), 50 * NB_DEG);
                    cell[k] = order ? nb_apply(&U[d], cell[k]) : cell[k];
                }
                sum += coherent_sum(cell, cfg.N, q) / 4;
            }
            sum *= 1e4 * 1e-6 / nb_dot(x, x);
            worst[order] = fmax(worst[order], fabs(p.pixels[i] - sum) / p.stats.max);
        }
    }
    check_below(worst[0], 1e-6);
    check_above(worst[1], 1e-2);
    nb_picture_free(&p);
}

/* An axis of one cell contributes a factor of exactly one. */
UNIT_TEST(one_cell_along_an_axis)
{
    for (int axis = 0; axis < 3; axis++) {
        nb_config cfg = nb_suite_config(1.3, 4, 32), other;
        nb_picture p, q;
        cfg.N[axis] = 1;
        cfg.pixel_mm = 0.8;
        p = rendered(&cfg);
        other = cfg; /* its period does not matter then: stretch it */
        other.cell[axis] = 137;
        q = rendered(&other);
        check_same(q, p, 1e-6);
        nb_picture_free(&p);
        nb_picture_free(&q);
    }
}
