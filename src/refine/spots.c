/* SPDX-License-Identifier: MIT */
/* The spots of a refined model and their reflections. */
#include <math.h>
#include <stdlib.h>

#include "../sim/sim.h"
#include "../base/memory.h"
#include "../physics/amorphous.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "fit.h"

enum { BOX = 3, MOST = 1000 }; /* pixels to each side; spots */

/** Is the model's pixel the brightest of its box?  *chi2: the sum of squared residuals there. */
static int is_peak(const nb_refinement *r, size_t at, double *chi2)
{
    int x = (int)(at % (size_t)r->fast), y = (int)(at / (size_t)r->fast);
    *chi2 = 0;
    for (int s = y - BOX; s <= y + BOX; s++)
        for (int f = x - BOX; f <= x + BOX; f++) {
            size_t i = (size_t)s * (size_t)r->fast + (size_t)f;
            if (s < 0 || f < 0 || s >= r->slow || f >= r->fast)
                continue;
            if (r->model[i] > r->model[at] || (i < at && r->model[i] == r->model[at]))
                return 0;
            if (isfinite(r->residual[i]))
                *chi2 += (double)r->residual[i] * r->residual[i];
        }
    return 1;
}

static const nb_panel *panel_of(const nb_scene *sc, size_t at)
{
    const nb_panel *p = sc->panels;
    while (p + 1 < sc->panels + sc->n_panels && (p + 1)->first_pixel <= at)
        p++;
    return p;
}

/** q of a pixel's middle, at the mean wavelength, 1/m. */
static nb_vec3 q_of(const nb_sim *sim, size_t at)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *p = panel_of(sc, at);
    const size_t in = at - p->first_pixel;
    const double f = (double)(in % (size_t)p->columns) + 0.5;
    const double s = (double)(in / (size_t)p->columns) + 0.5;
    const nb_source source = {.incident = sim->model.geometry.beam,
                              .lambda = nb_sim_wavelength(sim) * 1e-10};
    const nb_ray ray =
        nb_ray_along(nb_panel_point(p, f * p->pixel_fast, s * p->pixel_slow, 0));
    return nb_scattering_vector(&source, ray.direction);
}

/** The reflection that one of the crystal's orientations brings nearest to q. */
static void index_of(const nb_lattice *lattice, nb_vec3 q, int hkl[3])
{
    double nearest = INFINITY;
    for (int i = 0; i < lattice->n_orientations; i++) {
        const nb_orientation *o = &lattice->orientations[i];
        const double h[3] = {nb_dot(o->a, q), nb_dot(o->b, q), nb_dot(o->c, q)};
        double off = 0;
        for (int k = 0; k < 3; k++)
            off += pow(h[k] - round(h[k]), 2);
        if (off >= nearest)
            continue;
        nearest = off;
        for (int k = 0; k < 3; k++)
            hkl[k] = (int)fmax(-1e9, fmin(1e9, round(h[k])));
    }
}

static int brightest_first(const void *a, const void *b)
{
    const nb_refined_spot *x = a, *y = b;
    if (x->model != y->model)
        return x->model < y->model ? 1 : -1;
    return x->pixel[1] != y->pixel[1] ? x->pixel[1] - y->pixel[1]
                                      : x->pixel[0] - y->pixel[0];
}

static nb_refined_spot spot_at(const nb_refinement *r, size_t at, double chi2)
{
    return (nb_refined_spot){
        .pixel = {(int)(at % (size_t)r->fast), (int)(at / (size_t)r->fast)},
        .model = r->model[at],
        .observed = r->observed[at],
        .chi2 = chi2};
}

nb_status nb_fit_list_spots(const nb_fit *fit, nb_error *err)
{
    nb_refinement *r = fit->out;
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        int n = 0;
        for (size_t i = 0; i < fit->pixels; i++) {
            double chi2;
            if (!r->used[i] || !isfinite(r->model[i]) || !is_peak(r, i, &chi2))
                continue;
            if (pass)
                r->spots[n] = spot_at(r, i, chi2);
            n++;
        }
        if (!pass && !(r->spots = nb_alloc((size_t)n + 1, sizeof *r->spots, "spots", err)))
            return NB_ERR_NOMEM;
        found = n;
    }
    qsort(r->spots, (size_t)found, sizeof *r->spots, brightest_first);
    r->n_spots = found < MOST ? found : MOST;
    for (int i = 0; i < r->n_spots; i++) {
        nb_refined_spot *s = &r->spots[i];
        const size_t at = (size_t)s->pixel[1] * (size_t)r->fast + (size_t)s->pixel[0];
        index_of(&fit->sim->model.scene.lattice, q_of(fit->sim, at), s->hkl);
    }
    return NB_OK;
}
