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

/** What a page borrows. */
typedef struct run_page {
    nb_page_geometry geometry;
    nb_page_spot *spots; /* owned */
    int n_spots;
    double (*lights)[2]; /* owned */
    int n_lights;
    double shells[SHELLS][2]; /* 1/d^2 (1/A^2), log10 of the mean F^2 (e^2) there */
    int has_shells;
    float *counts; /* owned; NULL: expected photons are shown */
    char *report;  /* owned */
} run_page;

nb_status nb_page_geometry_open(const nb_sim *sim, nb_page_geometry *g, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    *g = (nb_page_geometry){.cfg = nb_alloc(1, sizeof *g->cfg, "configuration", err)};
    if (!g->cfg)
        return NB_ERR_NOMEM;
    *g->cfg = *cfg;
    if (!NB_TYPED(&sim->model.settings, lambda_A) &&
        !NB_TYPED(&sim->model.settings, energy_eV))
        g->cfg->lambda_A = sim->model.wavelength_A;
    if (cfg->detector) {
        g->detector = *cfg->detector;
        g->detector.wavelength_A = sim->model.wavelength_A;
    }
    return NB_OK;
}

nb_image nb_page_image(const nb_sim *sim, nb_page_geometry *g, const float *pixels)
{
    const int panels = g->detector.n_panels;
    nb_image image = {.pixels = (float *)pixels,
                      .format = "float",
                      .centre = {NAN, NAN},
                      .geometry = panels ? NULL : g->cfg,
                      .detector = panels > 1 ? &g->detector : NULL};
    nb_sim_size(sim, &image.fast, &image.slow);
    return image;
}

const nb_detector_spec *nb_page_panel(const nb_page_geometry *g)
{
    return g->detector.n_panels == 1 ? &g->detector : NULL;
}

static nb_status list_spots(const nb_sim *sim, const float *image, run_page *p,
                            nb_error *err)
{
    nb_reflections all;
    nb_status st = nb_sim_reflections(sim, image, &all, err);
    if (!st && all.count &&
        !(p->spots = nb_alloc(all.count, sizeof *p->spots, "page", err)))
        st = NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < all.count; i++) {
        const nb_reflection *r = &all.list[i];
        p->spots[i] = (nb_page_spot){{r->h, r->k, r->l},
                                     all.panels > 1 ? r->panel : -1,
                                     r->fast,
                                     r->slow,
                                     r->intensity,
                                     r->F,
                                     r->d};
    }
    if (!st && all.count)
        qsort(p->spots, all.count, sizeof *p->spots, nb_page_spot_by_photons);
    p->n_spots = all.count < NB_PAGE_SPOTS ? (int)all.count : NB_PAGE_SPOTS;
    nb_reflections_free(&all);
    return st;
}

static int by_energy(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

/** The wavelengths of the sources, each once. */
static nb_status list_lights(const nb_beam *beam, run_page *p, nb_error *err)
{
    int n = 0;
    p->lights = nb_alloc((size_t)beam->n_sources, sizeof *p->lights, "page", err);
    if (!p->lights)
        return NB_ERR_NOMEM;
    for (int i = 0; i < beam->n_sources; i++) {
        p->lights[i][0] = NB_HC_EV_ANGSTROM / (beam->sources[i].lambda / NB_ANGSTROM);
        p->lights[i][1] = beam->sources[i].weight;
    }
    qsort(p->lights, (size_t)beam->n_sources, sizeof *p->lights, by_energy);
    for (int i = 0; i < beam->n_sources; i++) {
        if (n && p->lights[n - 1][0] == p->lights[i][0]) {
            p->lights[n - 1][1] += p->lights[i][1];
            continue;
        }
        memcpy(p->lights[n++], p->lights[i], sizeof *p->lights);
    }
    p->n_lights = n > 1 ? n : 0;
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
static void list_shells(const nb_sim *sim, run_page *p)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_factor_table *t = &sim->model.scene.factors.table;
    const size_t n = (size_t)t->nh * (size_t)t->nk * (size_t)t->nl;
    double far = 0, sum[SHELLS] = {0}, count[SHELLS] = {0};
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
    p->has_shells = far > 0;
    for (int k = 0; k < SHELLS; k++) {
        p->shells[k][0] = (k + 0.5) * far / SHELLS;
        p->shells[k][1] = count[k] > 0 ? log10(sum[k] / count[k]) : NAN;
    }
}

static nb_status show_counts(const nb_sim *sim, const float *image, run_page *p,
                             nb_error *err)
{
    const size_t n = sim->model.flat.raster.pixels;
    int32_t *counts = nb_alloc_large(n, sizeof *counts, "page", err);
    nb_status st =
        counts ? nb_sim_noise_counts(sim, image, counts, NULL, err) : NB_ERR_NOMEM;
    if (!st && !(p->counts = nb_alloc_large(n, sizeof *p->counts, "page", err)))
        st = NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        p->counts[i] = (float)counts[i];
    nb_free(counts);
    return st;
}

/** The printed report, and the lines that a run adds to it. */
static nb_status make_report(const nb_sim *sim, const nb_stats *stats, run_page *p,
                             nb_error *err)
{
    nb_file_use files[NB_FILES_MOST];
    const int n = nb_config_files(&sim->cfg, files);
    nb_report_text text = {0};
    char *first = NULL;
    nb_status st = nb_sim_report(sim, &first, err);
    if (st)
        return st;
    nb_draft_bytes(&text, first, strlen(first));
    nb_free(first);
    for (const nb_fact *f = nb_stats_facts(); f->name; f++)
        if (sim->model.scene.n_panels > 1 || !f->of_panels)
            nb_report_put(&text, "%-9s %s %.9g %s\n", f == nb_stats_facts() ? "image" : "",
                          f->name, nb_fact_number(f, stats), f->unit);
    for (int i = 0; i < n && files[i].written; i++)
        nb_report_put(&text, "%-9s %.450s\n", i ? "" : "files", files[i].path);
    nb_report_put(&text, "seed      %lld\nbackend   %.400s\n", (long long)sim->seed,
                  sim->engine.line);
    for (int i = 0; sim->notes && i < sim->notes->n; i++)
        nb_report_put(&text, "%-9s %.490s\n", i ? "" : "notes", sim->notes->line[i]);
    return nb_report_end(&text, &p->report, err);
}

static nb_status prepare(const nb_sim *sim, const float *image, const nb_stats *stats,
                         run_page *p, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_status st = make_report(sim, stats, p, err);
    if (!st)
        st = list_lights(&sim->model.scene.beam, p, err);
    if (!st)
        list_shells(sim, p);
    if (!st && cfg->truth == NB_TRUTH_SPOTS)
        st = list_spots(sim, image, p, err);
    if (!st && cfg->png.show == NB_PNG_NOISE)
        st = show_counts(sim, image, p, err);
    return st ? st : nb_page_geometry_open(sim, &p->geometry, err);
}

static nb_status write_page(const nb_sim *sim, const float *pixels, run_page *p,
                            nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    const char *const name = p->counts ? "counts" : "photons";
    const nb_image image =
        nb_page_image(sim, &p->geometry, p->counts ? p->counts : pixels);
    const nb_page_plot plots[] = {{"Spectrum", "photon energy, eV", "weight",
                                   (const double(*)[2])p->lights, p->n_lights},
                                  {"F²: whole table", "1/d², 1/Å²", "log10 F², e²",
                                   (const double(*)[2])p->shells, SHELLS}};
    const int lights = p->n_lights > 0;
    const nb_page_job job = {.images = &image,
                             .names = &name,
                             .n = 1,
                             .detector = nb_page_panel(&p->geometry),
                             .options = cfg->png.rings ? &cfg->png : NULL,
                             .spots = p->spots,
                             .n_spots = p->n_spots,
                             .title = p->counts ? "Simulated counts" : "Simulated photons",
                             .unit = p->counts ? "counts" : "photons",
                             .report = p->report,
                             .command = cfg->command_line,
                             .plots = plots + !lights,
                             .n_plots = lights + p->has_shells};
    return nb_image_page(&job, cfg->report_file, err);
}

nb_status nb_sim_page(const nb_sim *sim, const float *image, const nb_stats *stats,
                      nb_error *err)
{
    run_page p = {0};
    nb_status st = prepare(sim, image, stats, &p, err);
    if (!st)
        st = write_page(sim, image, &p, err);
    nb_free(p.geometry.cfg);
    nb_free(p.spots);
    nb_free(p.lights);
    nb_free(p.counts);
    nb_free(p.report);
    return st;
}
