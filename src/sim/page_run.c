/* SPDX-License-Identifier: MIT */
/* -report page.html: the image of a run as a page, with what the report says. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/table/reflections_write.h"
#include "../model/units.h"
#include "../params/params.h"
#include "notes.h"
#include "report.h"
#include "sim.h"

enum { SHELLS = 30 };

nb_status nb_page_geometry_give(const nb_sim *sim, nb_page_geometry *g, nb_image *images,
                                nb_page_job *job, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    const int panels = cfg->detector ? cfg->detector->n_panels : 0;
    int fast, slow;
    if (!(g->cfg = nb_alloc(1, sizeof *g->cfg, "configuration", err)))
        return NB_ERR_NOMEM;
    *g->cfg = *cfg;
    if (!NB_TYPED(&sim->model.settings, lambda_A) &&
        !NB_TYPED(&sim->model.settings, energy_eV))
        g->cfg->lambda_A = sim->model.wavelength_A;
    if (panels) {
        g->detector = *cfg->detector;
        g->detector.wavelength_A = sim->model.wavelength_A;
    }
    nb_sim_size(sim, &fast, &slow);
    for (int i = 0; i < job->n; i++)
        if (!images[i].detector && images[i].fast == fast && images[i].slow == slow) {
            images[i].geometry = panels ? NULL : g->cfg;
            images[i].detector = panels > 1 ? &g->detector : NULL;
        }
    job->images = images;
    job->detector = panels == 1 && !images[0].detector ? &g->detector : NULL;
    job->options = &cfg->png;
    return NB_OK;
}

/** An empty curve; its list of points. */
static nb_json add_plot(nb_json plots, const char *title, const char *under,
                        const char *beside)
{
    nb_json one = nb_json_add_object(plots);
    nb_json_text(one, "title", title);
    nb_json_text(one, "under", under);
    nb_json_text(one, "beside", beside);
    return nb_json_array(one, "points");
}

static int by_energy(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/** The wavelengths of the sources, each once, where there are several. */
static nb_status put_lights(const nb_beam *beam, nb_json plots, nb_error *err)
{
    double(*lights)[2] = nb_alloc((size_t)beam->n_sources, sizeof *lights, "page", err);
    int n = 0;
    if (!lights)
        return NB_ERR_NOMEM;
    for (int i = 0; i < beam->n_sources; i++) {
        lights[i][0] = NB_HC_EV_ANGSTROM / (beam->sources[i].lambda / NB_ANGSTROM);
        lights[i][1] = beam->sources[i].weight;
    }
    qsort(lights, (size_t)beam->n_sources, sizeof *lights, by_energy);
    for (int i = 0; i < beam->n_sources; i++)
        if (n && lights[n - 1][0] == lights[i][0])
            lights[n - 1][1] += lights[i][1];
        else
            memmove(lights[n++], lights[i], sizeof *lights);
    if (n > 1) {
        nb_json points = add_plot(plots, "Spectrum", "photon energy, eV", "weight");
        for (int i = 0; i < n; i++)
            nb_json_add_numbers(points, lights[i], 2);
    }
    nb_free(lights);
    return NB_OK;
}

/** 1/d^2 of point i of the table, 1/A^2; 0: it has no F of its own. */
static double square_at(const nb_crystal *x, const nb_factor_table *t, size_t i)
{
    const size_t nl = (size_t)t->nl, nk = (size_t)t->nk;
    const nb_vec3 a = nb_scale(t->hmin + (double)(i / (nk * nl)), x->astar);
    const nb_vec3 b = nb_scale(t->kmin + (double)(i / nl % nk), x->bstar);
    const nb_vec3 c = nb_scale(t->lmin + (double)(i % nl), x->cstar);
    const nb_vec3 q = nb_add(nb_add(a, b), c);
    return t->F[i] == 0 || t->F[i] == t->default_F ? 0 : nb_dot(q, q);
}

/** Mean F^2 in shells of equal steps of 1/d^2, of the whole table (of several wavelengths the first). */
static void put_shells(const nb_sim *sim, nb_json plots)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_factor_table *t = &sim->model.scene.factors.table;
    const size_t n = (size_t)t->nh * (size_t)t->nk * (size_t)t->nl;
    double far = 0, sum[SHELLS] = {0}, count[SHELLS] = {0};
    nb_json points;
    for (size_t i = 0; i < n; i++)
        far = fmax(far, square_at(x, t, i));
    for (size_t i = 0; i < n && far > 0; i++) {
        const double square = square_at(x, t, i);
        const int k = (int)fmin(SHELLS - 1, square / far * SHELLS);
        if (square > 0) {
            sum[k] += t->F[i] * t->F[i];
            count[k]++;
        }
    }
    if (!(far > 0))
        return;
    points = add_plot(plots, "F²: whole table", "1/d², 1/Å²", "log10 F², e²");
    for (int k = 0; k < SHELLS; k++) {
        const double mean = count[k] > 0 ? log10(sum[k] / count[k]) : NAN;
        nb_json_add_numbers(points, (double[]){(k + 0.5) * far / SHELLS, mean}, 2);
    }
}

/** The brightest reflections into *all (nb_reflections_free) and the job. */
static nb_status list_spots(const nb_sim *sim, const float *image, nb_reflections *all,
                            nb_page_job *job, nb_error *err)
{
    nb_status st = nb_sim_reflections(sim, image, all, err);
    if (st || !all->count)
        return st;
    qsort(all->list, all->count, sizeof *all->list, nb_reflections_by_photons);
    for (size_t i = 0; i < all->count && all->panels == 1; i++)
        all->list[i].panel = -1;
    job->spots = all->list;
    job->n_spots = all->count < NB_PAGE_SPOTS ? (int)all->count : NB_PAGE_SPOTS;
    return NB_OK;
}

/** *out (nb_free): noisy counts of the image. */
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

nb_status nb_page_report_end(nb_draft *text, const nb_sim *sim, int64_t seed,
                             const char *backend, nb_json root, nb_error *err)
{
    char *report;
    nb_status st;
    nb_report_put(text, "seed      %lld\nbackend   %.400s\n", (long long)seed, backend);
    for (int i = 0; sim->notes && i < sim->notes->n; i++)
        nb_report_put(text, "%-9s %.490s\n", i ? "" : "notes", sim->notes->line[i]);
    NB_FORWARD(nb_report_end(text, &report, err));
    nb_json_text(root, "report", report);
    nb_free(report);
    return NB_OK;
}

/** The printed report, and the lines that a run adds to it. */
static nb_status put_report(const nb_sim *sim, const nb_stats *stats, nb_json root,
                            nb_error *err)
{
    nb_file_use files[NB_FILES_MOST];
    const int n = nb_config_files(&sim->cfg, files);
    nb_report_text text = {0};
    char *first = NULL;
    nb_status st;
    NB_FORWARD(nb_sim_report(sim, &first, err));
    nb_draft_bytes(&text, first, strlen(first));
    nb_free(first);
    for (const nb_fact *f = nb_stats_facts(); f->name; f++)
        if (sim->model.scene.n_panels > 1 || !f->of_panels)
            nb_report_put(&text, "%-9s %s %.9g %s\n", f == nb_stats_facts() ? "image" : "",
                          f->name, nb_fact_number(f, stats), f->unit);
    for (int i = 0; i < n && files[i].written; i++)
        nb_report_put(&text, "%-9s %.450s\n", i ? "" : "files", files[i].path);
    return nb_page_report_end(&text, sim, sim->seed, sim->engine.line, root, err);
}

nb_status nb_sim_page(const nb_sim *sim, const float *image, const nb_stats *stats,
                      nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    const int noisy = cfg->png.show == NB_PNG_NOISE;
    const char *const name = noisy ? "counts" : "photons";
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    const nb_json plots = nb_json_array(root, "plots");
    nb_page_geometry geometry = {0};
    nb_image shown = {.pixels = (float *)image, .format = "float"};
    nb_page_job job = {.names = &name, .n = 1};
    nb_reflections spots = {0};
    float *counts = NULL;
    nb_status st = put_report(sim, stats, root, err);
    nb_json_text(root, "title", noisy ? "Simulated counts" : "Simulated photons");
    nb_json_text(root, "unit", name);
    nb_json_text(root, "command", cfg->command_line);
    put_shells(sim, plots);
    NB_TRY(put_lights(&sim->model.scene.beam, plots, err));
    if (cfg->truth == NB_TRUTH_SPOTS)
        NB_TRY(list_spots(sim, image, &spots, &job, err));
    if (!st && noisy && !(st = make_counts(sim, image, &counts, err)))
        shown.pixels = counts;
    nb_sim_size(sim, &shown.fast, &shown.slow);
    NB_TRY(nb_page_geometry_give(sim, &geometry, &shown, &job, err));
    if (!st)
        st = nb_page_write(&job, root, cfg->report_file, err);
    else
        cJSON_Delete(root.json);
    nb_reflections_free(&spots);
    nb_free(geometry.cfg);
    nb_free(counts);
    return st;
}
