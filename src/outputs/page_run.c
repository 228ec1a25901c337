/* SPDX-License-Identifier: MIT */
/* -report page.html: image and report of a run as a page. */
#include <math.h>
#include <stdlib.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/table/hkl.h"
#include "../model/units.h"
#include "report.h"
#include "../sim/sim.h"

enum { SHELLS = 30 };

/** Put photon energy (eV) and weight of each source. */
static void put_lights(const nb_beam *beam, nb_json root)
{
    nb_json list = nb_json_array(root, "lights");
    for (int i = 0; i < beam->n_sources; i++) {
        const double A = beam->sources[i].lambda / NB_ANGSTROM;
        nb_json_add_numbers(
            list, (double[]){NB_HC_EV_ANGSTROM / A, beam->sources[i].weight}, 2);
    }
}

/** 1/d^2 of point i of the table, 1/A^2; 0 if F is 0 or default_F. */
static double square_at(const nb_crystal *x, const nb_factor_table *t, size_t i)
{
    const size_t nl = (size_t)t->nl, nk = (size_t)t->nk;
    const nb_vec3 a = nb_scale(t->hmin + (double)(i / (nk * nl)), x->astar);
    const nb_vec3 b = nb_scale(t->kmin + (double)(i / nl % nk), x->bstar);
    const nb_vec3 c = nb_scale(t->lmin + (double)(i % nl), x->cstar);
    const nb_vec3 q = nb_add(nb_add(a, b), c);
    return t->F[i] == 0 || t->F[i] == t->default_F ? 0 : nb_dot(q, q);
}

/** Put shells of equal width in 1/d^2.  Each has 1/d^2 of its middle (1/A^2), the sum of
 * F^2 in the first table, and the number of reflections. */
static void put_shells(const nb_sim *sim, nb_json root)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_factor_table *t = &sim->model.scene.factors.table;
    const size_t n = (size_t)t->nh * (size_t)t->nk * (size_t)t->nl;
    const nb_json list = nb_json_array(root, "shells");
    double far = 0, shells[SHELLS][3] = {{0}};
    for (size_t i = 0; i < n; i++)
        far = fmax(far, square_at(x, t, i));
    for (size_t i = 0; i < n; i++) {
        const double square = square_at(x, t, i);
        double *shell =
            shells[square > 0 ? (int)fmin(SHELLS - 1, square / far * SHELLS) : 0];
        shell[1] += square > 0 ? t->F[i] * t->F[i] : 0;
        shell[2] += square > 0;
    }
    for (int k = 0; k < SHELLS && far > 0; k++) {
        shells[k][0] = (k + 0.5) * far / SHELLS;
        nb_json_add_numbers(list, shells[k], 3);
    }
}

/** List the brightest reflections in *all (nb_reflections_free) and in the job. */
static nb_status list_spots(const nb_sim *sim, const float *image, nb_reflections *all,
                            nb_page_job *job, nb_error *err)
{
    nb_status st = nb_sim_reflections(sim, image, all, err);
    if (st || !all->count)
        return st;
    qsort(all->list, all->count, sizeof *all->list, nb_reflections_by_photons);
    job->spots = all->list;
    job->n_spots = all->count < NB_PAGE_SPOTS ? (int)all->count : NB_PAGE_SPOTS;
    return NB_OK;
}

/** Make *out[pixels] (nb_free): counts of the image with noise. */
static nb_status make_counts(const nb_sim *sim, const float *image, float **out,
                             nb_error *err)
{
    const size_t n = sim->model.flat.raster.pixels;
    int32_t *counts = nb_alloc_large(n, sizeof *counts, "page", err);
    nb_status st =
        counts ? nb_sim_noise_counts(sim, image, counts, NULL, err) : NB_ERR_NOMEM;
    if (!st && !(*out = nb_alloc_large(n, sizeof **out, "page", err)))
        st = NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        (*out)[i] = (float)counts[i];
    nb_free(counts);
    return st;
}

nb_status nb_sim_page(const nb_sim *sim, const float *image, nb_json root, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    const int noisy = cfg->png.show == NB_PNG_NOISE;
    const char *const name = noisy ? "counts" : "photons";
    nb_image shown = {.pixels = (float *)image, .format = "float"};
    nb_page_job job = {.images = &shown, .names = &name, .n = 1, .options = &cfg->png};
    nb_reflections spots = {0};
    float *counts = NULL;
    char *report = NULL;
    nb_status st = nb_sim_report(sim, &report, err);
    if (!st)
        nb_json_text(root, "report", report);
    nb_json_text(root, "title", noisy ? "Simulated counts" : "Simulated photons");
    nb_json_text(root, "unit", name);
    put_shells(sim, root);
    put_lights(&sim->model.scene.beam, root);
    if (cfg->truth == NB_TRUTH_SPOTS)
        NB_TRY(list_spots(sim, image, &spots, &job, err));
    if (!st && noisy && !(st = make_counts(sim, image, &counts, err)))
        shown.pixels = counts;
    nb_sim_size(sim, &shown.fast, &shown.slow);
    if (!st)
        st = nb_page_write(&job, sim, root, cfg->report_file, err);
    else
        cJSON_Delete(root.json);
    nb_reflections_free(&spots);
    nb_free(counts);
    nb_free(report);
    return st;
}
