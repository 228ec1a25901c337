/* SPDX-License-Identifier: MIT */
/* A fit as a page for a browser: the picture, the model before and after. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "../sim/crystals.h"
#include "../sim/report.h"
#include "../sim/sim.h"
#include "fit.h"

enum { SHELLS = 30, PLOTS = 3 };

/** What a page has beside the pictures; all is owned. */
typedef struct fit_page {
    nb_page_geometry geometry;
    nb_page_spot *spots;
    char *report, *flags;
    double (*loss)[2], shells[2][SHELLS][2];
} fit_page;

static nb_status list_spots(const nb_sim *sim, const nb_refinement *r, fit_page *p,
                            nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    if (!(p->spots = nb_alloc((size_t)r->n_spots + 1, sizeof *p->spots, "page", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < r->n_spots; i++) {
        const nb_refined_spot *s = &r->spots[i];
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

static void put_parameters(nb_report_text *to, const nb_refinement *r)
{
    nb_report_put(to, "parameter\tstart\tvalue\tsigma\tunit\n");
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *p = &r->parameters[i];
        char sigma[24] = "";
        if (!isnan(p->sigma))
            snprintf(sigma, sizeof sigma, "%.2g", p->sigma);
        nb_report_put(to, "%s\t%.8g\t%.9g\t%s\t%s\n", p->name, p->start, p->value,
                      p->at_bound ? "at its bound" : sigma, p->unit);
    }
    for (int i = 0; i < 3 && r->rotated; i++)
        nb_report_put(to, "misset_%c\t\t%.5f\t%.2g\tdeg\n", "xyz"[i], r -> misset_deg[i],
                      r -> rotation_sigma_deg[i]);
}

static nb_status make_report(const nb_refinement *r, fit_page *p, nb_error *err)
{
    nb_report_text to = {0};
    nb_report_put(&to, "result     %s\n", r->status);
    nb_report_put(&to, "deviance   %.4f per pixel over %lld pixels\n",
                  r->deviance_per_pixel, (long long)r->pixels);
    nb_report_put(&to, "correlation  %.4f\n", r->picture_correlation);
    if (r->F_sigma > 0)
        nb_report_put(&to,
                      "scales     of reflections: F are right to %.2g; correlation "
                      "without them %.4f\n",
                      r->F_sigma, r->given_F_correlation);
    nb_report_put(&to,
                  "spots      %d in the picture; the lattice indexes %.0f %% of them "
                  "beyond chance (%.0f %% before)\n",
                  r->peaks, 100 * r->agreement, 100 * r->start_agreement);
    nb_report_put(&to, "work       %d evaluations, %d images, %.2f s\n", r->evaluations,
                  r->images, r->seconds);
    put_parameters(&to, r);
    nb_report_put(&to, "stage\tpixels\tevaluations\tloss\tseconds\n");
    for (int i = 0; i < r->n_stages; i++)
        nb_report_put(&to, "%s%s\t%lld\t%d\t%.6g\t%.3f\n", r->stages[i].name,
                      r->stages[i].converged ? "" : " (still falling)",
                      (long long)r->stages[i].pixels, r->stages[i].evaluations,
                      r->stages[i].loss, r->stages[i].seconds);
    return nb_report_end(&to, &p->report, err);
}

static int is_cell(const char *name)
{
    return !strncmp(name, "cell_", 5);
}

/** Flags that start a simulation with the result.  Values without a flag are named. */
static nb_status make_flags(const nb_sim *sim, const nb_refinement *r, fit_page *p,
                            nb_error *err)
{
    nb_report_text to = {0}, other = {0};
    double cell[6];
    int cells = 0;
    nb_status st;
    char *rest = NULL;
    nb_sim_cell(sim, cell);
    for (int i = 0; i < r->n_parameters; i++) {
        const nb_refined *one = &r->parameters[i];
        if (is_cell(one->name)) {
            if (!cells++)
                nb_report_put(&to, "-cell %.9g %.9g %.9g %.9g %.9g %.9g ", cell[0],
                              cell[1], cell[2], cell[3], cell[4], cell[5]);
        } else if (nb_param_find(one->name)) {
            nb_report_put(&to, "-%s %.9g ", one->name, one->value);
        } else {
            nb_report_put(&other, " %s", one->name);
        }
    }
    if (r->rotated)
        nb_report_put(&to, "-misset %.6f %.6f %.6f ", r->misset_deg[0], r->misset_deg[1],
                      r->misset_deg[2]);
    if (other.used && !nb_report_end(&other, &rest, err))
        nb_report_put(&to, "# without a flag, see -exptout:%.400s", rest);
    else
        nb_report_put(&to, "%s", "");
    st = nb_report_end(&to, &p->flags, err);
    nb_free(rest);
    return st;
}

static nb_status list_loss(const nb_refinement *r, fit_page *p, nb_error *err)
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
static void make_shells(const nb_refinement *r, const float *model,
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

static nb_status write_page(const nb_sim *sim, const nb_refinement *r, fit_page *p,
                            const char *command, const char *path, nb_error *err)
{
    const char *const names[] = {"measured", "before", "after"};
    const char *const under = "1/d, 1/Å", *const beside = "rms residual";
    const float *const pixels[] = {r->observed, r->before, r->model};
    const nb_page_plot plots[] = {{"Loss of all stages", "evaluation", "log10 loss/pixel",
                                   (const double(*)[2])p->loss, r->n_history},
                                  {"Residuals by resolution: after", under, beside,
                                   (const double(*)[2])p->shells[0], SHELLS},
                                  {"Residuals by resolution: before", under, beside,
                                   (const double(*)[2])p->shells[1], SHELLS}};
    nb_image images[3];
    const nb_page_job job = {.images = images,
                             .names = names,
                             .n = 3,
                             .detector = nb_page_panel(&p->geometry),
                             .options = sim->cfg.png.rings ? &sim->cfg.png : NULL,
                             .spots = p->spots,
                             .n_spots = r->n_spots,
                             .title = r->picture ? r->picture : "A fit",
                             .unit = "photons",
                             .report = p->report,
                             .command = command,
                             .flags = p->flags,
                             .plots = plots,
                             .n_plots = PLOTS};
    for (int i = 0; i < 3; i++)
        images[i] = nb_page_image(sim, &p->geometry, pixels[i]);
    return nb_image_page(&job, path, err);
}

nb_status nb_refinement_page(const nb_sim *sim, const nb_refinement *r,
                             const char *command, const char *path, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && r && r->model && r->before && path);
    fit_page p = {0};
    nb_status st = nb_page_geometry_open(sim, &p.geometry, err);
    if (!st)
        st = list_spots(sim, r, &p, err);
    if (!st)
        st = make_report(r, &p, err);
    if (!st)
        st = make_flags(sim, r, &p, err);
    if (!st)
        st = list_loss(r, &p, err);
    if (!st) {
        make_shells(r, r->model, p.shells[0]);
        make_shells(r, r->before, p.shells[1]);
        st = write_page(sim, r, &p, command, path, err);
    }
    nb_free(p.geometry.cfg);
    nb_free(p.spots);
    nb_free(p.report);
    nb_free(p.flags);
    nb_free(p.loss);
    return st;
}
