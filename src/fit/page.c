/* SPDX-License-Identifier: MIT */
/* A fit as a page for a browser: the picture, the model before and after. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/memory.h"
#include "../physics/panels.h"
#include "../sim/report.h"
#include "../sim/sim.h"
#include "shown.h"

enum { SHELLS = 30, PLOTS = 3, VIEWS = 3 };

/** What a page has beside the pictures. */
typedef struct fit_page {
    nb_page_geometry geometry; /* owned */
    nb_page_spot *spots;       /* owned */
    double (*loss)[2];         /* owned */
    double shells[2][SHELLS][2];
} fit_page;

/** What is shown of a fit: to a file, or as a part of a page. */
typedef struct fit_job {
    nb_image images[VIEWS];
    nb_page_plot plots[PLOTS];
    nb_page_job job;
} fit_job;

static nb_status list_spots(const nb_sim *sim, const nb_shown_fit *r, fit_page *p,
                            nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    if (!(p->spots = nb_alloc((size_t)r->n_spots + 1, sizeof *p->spots, "page", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < r->n_spots; i++) {
        const nb_shown_spot *s = &r->spots[i];
        const size_t at = (size_t)s->pixel[1] * (size_t)r->fast + (size_t)s->pixel[0];
        const int k = nb_panel_of_pixel(sc, at);
        const size_t in = at - sc->panels[k].first_pixel;
        const size_t columns = (size_t)sc->panels[k].columns;
        p->spots[i] = (nb_page_spot){{s->hkl[0], s->hkl[1], s->hkl[2]},
                                     sc->n_panels > 1 ? k : -1,
                                     (double)(in % columns) + 0.5,
                                     (double)(in / columns) + 0.5,
                                     s->observed,
                                     NAN,
                                     0.5 / r->stol[at]};
    }
    return NB_OK;
}

static nb_status list_loss(const nb_shown_fit *r, fit_page *p, nb_error *err)
{
    if (!(p->loss = nb_alloc((size_t)r->n_history + 1, sizeof *p->loss, "page", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < r->n_history; i++) {
        p->loss[i][0] = i + 1;
        p->loss[i][1] = log10(fmax(r->history[i], 1e-9));
    }
    return NB_OK;
}

/** Root mean square of (observed - model)/sqrt(model) of the pixels of the fit, in shells of 1/d (1/A). */
static void make_shells(const nb_shown_fit *r, const float *model,
                        double shells[SHELLS][2])
{
    const size_t pixels = (size_t)r->fast * (size_t)r->slow;
    double sum[SHELLS] = {0}, n[SHELLS] = {0}, far = 0;
    for (size_t i = 0; i < pixels; i++)
        if (r->used[i])
            far = fmax(far, 2 * r->stol[i]);
    for (size_t i = 0; i < pixels; i++) {
        const int k = (int)fmin(SHELLS - 1, 2 * r->stol[i] / far * SHELLS);
        const double off = r->observed[i] - model[i];
        if (r->used[i] && isfinite(off) && model[i] > 0) {
            sum[k] += off * off / model[i];
            n[k]++;
        }
    }
    for (int k = 0; k < SHELLS; k++) {
        shells[k][0] = (k + 0.5) * far / SHELLS;
        shells[k][1] = n[k] > 0 ? sqrt(sum[k] / n[k]) : NAN;
    }
}

static void make_job(const nb_sim *sim, const nb_shown_fit *r,
                     const nb_shown_texts *texts, fit_page *p, fit_job *out)
{
    static const char *const names[] = {"measured", "before", "after"};
    const char *const under = "1/d, 1/Å", *const beside = "rms residual";
    const float *const pixels[] = {r->observed, r->before, r->model};
    const int no_loss = !r->n_history;
    const nb_page_plot plots[PLOTS] = {{"Loss of all stages", "evaluation",
                                        "log10 loss/pixel", (const double(*)[2])p->loss,
                                        r->n_history},
                                       {"Residuals by resolution: after", under, beside,
                                        (const double(*)[2])p->shells[0], SHELLS},
                                       {"Residuals by resolution: before", under, beside,
                                        (const double(*)[2])p->shells[1], SHELLS}};
    memcpy(out->plots, plots, sizeof plots);
    for (int i = 0; i < VIEWS; i++)
        out->images[i] = nb_page_image(sim, &p->geometry, pixels[i]);
    out->job = (nb_page_job){.images = out->images,
                             .names = names,
                             .n = VIEWS,
                             .detector = nb_page_panel(&p->geometry),
                             .options = sim->cfg.png.rings ? &sim->cfg.png : NULL,
                             .spots = p->spots,
                             .n_spots = r->n_spots,
                             .title = texts->title,
                             .unit = "photons",
                             .report = texts->report,
                             .flags = texts->flags,
                             .command = texts->command,
                             .plots = out->plots + no_loss,
                             .n_plots = PLOTS - no_loss};
}

nb_status nb_fit_page(const nb_sim *sim, const nb_shown_fit *r,
                      const nb_shown_texts *texts, const nb_shown_place *place,
                      nb_error *err)
{
    NB_IN_C_LOCALE;
    fit_page p = {0};
    fit_job of;
    nb_status st = nb_page_geometry_open(sim, &p.geometry, err);
    if (!st)
        st = list_spots(sim, r, &p, err);
    if (!st)
        st = list_loss(r, &p, err);
    if (!st) {
        make_shells(r, r->model, p.shells[0]);
        make_shells(r, r->before, p.shells[1]);
        make_job(sim, r, texts, &p, &of);
        st = place->path
                 ? nb_image_page(&of.job, place->path, err)
                 : nb_page_part(&of.job, place->number, place->bytes, place->part, err);
    }
    nb_free(p.geometry.cfg);
    nb_free(p.spots);
    nb_free(p.loss);
    return st;
}
