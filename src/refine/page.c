/* SPDX-License-Identifier: MIT */
/* Fits as a page for a browser: the picture, the model before and after; of several pictures by a slider. */
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
#include "pages.h"

enum { SHELLS = 30, PLOTS = 3 };

/** What a page has beside the pictures; all is owned, but what is borrowed. */
typedef struct fit_page {
    nb_page_geometry geometry;
    nb_page_spot *spots;
    char *report, *flags;
    double (*loss)[2], shells[2][SHELLS][2];
    const nb_refined *common; /* borrowed; [n_common], of all pictures */
    int n_common;
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

static void put_result(nb_report_text *to, const nb_refinement *r)
{
    nb_report_put(to, "result     %s\n", r->status);
    nb_report_put(to, "deviance   %.4f per pixel over %lld pixels\n",
                  r->deviance_per_pixel, (long long)r->pixels);
}

static void put_work(nb_report_text *to, const nb_refinement *r)
{
    nb_report_put(to, "work       %d evaluations, ", r->evaluations);
    if (r->images)
        nb_report_put(to, "%d images, ", r->images);
    nb_report_put(to, "%.2f s\n", r->seconds);
}

static nb_status make_report(const nb_refinement *r, fit_page *p, nb_error *err)
{
    nb_report_text to = {0};
    put_result(&to, r);
    nb_report_put(&to, "correlation  %.4f\n", r->picture_correlation);
    if (r->F_sigma > 0)
        nb_report_put(&to,
                      "scales     of reflections: F are right to %.2g; correlation "
                      "without them %.4f\n",
                      r->F_sigma, r->given_F_correlation);
    if (r->n_stages) { /* not of a picture of a joint fit */
        nb_report_put(&to,
                      "spots      %d in the picture; the lattice indexes %.0f %% of them "
                      "beyond chance (%.0f %% before)\n",
                      r->peaks, 100 * r->agreement, 100 * r->start_agreement);
        put_work(&to, r);
    }
    put_parameters(&to, r);
    if (r->n_stages)
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
    for (int i = 0; i < p->n_common + r->n_parameters; i++) {
        const nb_refined *one =
            i < p->n_common ? &p->common[i] : &r->parameters[i - p->n_common];
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
    if (other.n && !nb_report_end(&other, &rest, err))
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

/** What is shown of a fit: to a file, or as a part of a page. */
typedef struct fit_job {
    nb_image images[NB_FIT_VIEWS];
    nb_page_plot plots[PLOTS];
    nb_page_job job;
} fit_job;

static void make_job(const nb_sim *sim, const nb_refinement *r, fit_page *p, fit_job *out)
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
    for (int i = 0; i < NB_FIT_VIEWS; i++)
        out->images[i] = nb_page_image(sim, &p->geometry, pixels[i]);
    out->job = (nb_page_job){.images = out->images,
                             .names = names,
                             .n = NB_FIT_VIEWS,
                             .detector = nb_page_panel(&p->geometry),
                             .options = sim->cfg.png.rings ? &sim->cfg.png : NULL,
                             .spots = p->spots,
                             .n_spots = r->n_spots,
                             .title = r->picture ? r->picture : "A fit",
                             .unit = "photons",
                             .report = p->report,
                             .flags = p->flags,
                             .plots = out->plots + no_loss,
                             .n_plots = PLOTS - no_loss};
}

static nb_status open_page(const nb_sim *sim, const nb_refinement *r, fit_page *p,
                           fit_job *out, nb_error *err)
{
    nb_status st = nb_page_geometry_open(sim, &p->geometry, err);
    if (!st)
        st = list_spots(sim, r, p, err);
    if (!st)
        st = make_report(r, p, err);
    if (!st)
        st = make_flags(sim, r, p, err);
    if (!st)
        st = list_loss(r, p, err);
    if (st)
        return st;
    make_shells(r, r->model, p->shells[0]);
    make_shells(r, r->before, p->shells[1]);
    make_job(sim, r, p, out);
    return NB_OK;
}

static void close_page(fit_page *p)
{
    nb_free(p->geometry.cfg);
    nb_free(p->spots);
    nb_free(p->report);
    nb_free(p->flags);
    nb_free(p->loss);
}

nb_status nb_refinement_page(const nb_sim *sim, const nb_refinement *r,
                             const char *command, const char *path, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && r && r->model && r->before && path);
    fit_page p = {0};
    fit_job of;
    nb_status st = open_page(sim, r, &p, &of, err);
    of.job.command = command;
    if (!st)
        st = nb_image_page(&of.job, path, err);
    close_page(&p);
    return st;
}

/* --- several pictures: each is a line of the report --- */

enum { USUAL = 16 /* pictures of a page */ };

/** So many pictures of this size are on a page at most. */
static int most_pictures(double pixels)
{
    return (int)fmin(NB_PAGE_FRAMES, fmax(1, NB_PAGE_PIXELS / NB_FIT_VIEWS / pixels));
}

static double pixels_of(const nb_sim *sim)
{
    int fast, slow;
    nb_sim_size(sim, &fast, &slow);
    return (double)fast * slow;
}

nb_status nb_fit_pages_check(const nb_refine_frames *f, const nb_sim *sim, nb_error *err)
{
    const int n = f->page_count, most = most_pictures(pixels_of(sim));
    if (!n || (f->page_first >= 0 && n > 0 && n <= most && f->page_first <= f->count - n))
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-page_frames %d-%d: the pictures are 0 to %d, and %d of this size fit "
        "on a page",
        f->page_first, f->page_first + n - 1, f->count - 1, most);
}

/** How many pictures are on the page. */
static int count_shown(const nb_refine_frames *f, const nb_sim *sim)
{
    const int most = most_pictures(pixels_of(sim)), usual = most < USUAL ? most : USUAL;
    if (f->page_count)
        return f->page_count;
    return f->count < usual ? f->count : usual;
}

int nb_fit_on_page(const nb_refine_frames *f, const nb_sim *sim, int k)
{
    const int n = count_shown(f, sim);
    if (!nb_is_page(f->report))
        return 0;
    if (f->page_count)
        return k >= f->page_first && k < f->page_first + n;
    for (int i = 0; i < n; i++)
        if (k == (n > 1 ? (int)((double)i * (f->count - 1) / (n - 1)) : 0))
            return 1;
    return 0;
}

/** The angle between two orientations, rad; the angles of each are about x, then y, then z. */
static double turn_of(const double from[3], const double to[3])
{
    static const nb_vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double square = 0;
    for (int i = 0; i < 3; i++) {
        const nb_vec3 off = nb_sub(nb_rotate_xyz(axes[i], to[0], to[1], to[2]),
                                   nb_rotate_xyz(axes[i], from[0], from[1], from[2]));
        square += nb_dot(off, off);
    }
    return 2 * asin(fmin(1, sqrt(square / 8)));
}

/** Name, place in the list, what became of it: {"number":, "name":, "on_page":, "status":, "values":[deviance, turn, correlation]}. */
static nb_status make_entry(const nb_fit_told *told, char **text, nb_error *err)
{
    const nb_refinement *r = told->result;
    const char *name = told->frames->images[told->number], *slash = strrchr(name, '/');
    const char *why = told->why ? strstr(told->why, ": ") : NULL; /* behind the name */
    const double values[] = {
        r ? r->deviance_per_pixel : NAN,
        r && r->rotated ? turn_of(told->misset, told->sim->model.crystal.misset) / NB_DEG
                        : NAN,
        r ? r->picture_correlation : NAN};
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed};
    nb_json_number(root, "number", told->number);
    nb_json_text(root, "name", slash ? slash + 1 : name);
    nb_json_flag(root, "on_page", r && r->before);
    nb_json_text(root, "status", r ? r->status : why ? why + 2 : "");
    nb_json_numbers(root, "values", values, 3);
    return nb_page_json(root, "class=\"fitted\"", text, err);
}

/** The elements of a picture that is shown. */
static nb_status make_part(const nb_fit_told *told, char **text, nb_error *err)
{
    fit_page p = {.common = told->common, .n_common = told->n_common};
    fit_job of;
    const int n = count_shown(told->frames, told->sim);
    nb_status st = open_page(told->sim, told->result, &p, &of, err);
    if (!st)
        st = nb_page_part(&of.job, told->number, NB_PAGE_BYTES / (size_t)n, text, err);
    close_page(&p);
    return st;
}

nb_status nb_fit_told_line(const nb_fit_told *told, char **line, nb_error *err)
{
    char *entry = NULL, *part = NULL;
    nb_status st = NB_OK;
    *line = NULL;
    if (!told->frames->report)
        return NB_OK;
    if (!nb_is_page(told->frames->report))
        return told->result ? nb_refinement_json(told->result, line, err) : NB_OK;
    st = make_entry(told, &entry, err);
    if (!st && told->result && told->result->before)
        st = make_part(told, &part, err);
    if (!st && !(*line = nb_alloc_raw(strlen(entry) + (part ? strlen(part) : 0) + 1, 1,
                                      "page", err)))
        st = NB_ERR_NOMEM;
    if (!st)
        strcat(strcpy(*line, entry), part ? part : "");
    nb_free(entry);
    nb_free(part);
    return st;
}

/** The lines about all pictures. */
static nb_status report_all(const nb_refine_frames *f, const nb_sim *sim,
                            const nb_refinement *common, char **text, nb_error *err)
{
    nb_report_text to = {0};
    const int n = count_shown(f, sim);
    if (common) {
        put_result(&to, common);
        nb_report_put(&to, "pictures   %d, and %d left out\n", common->pictures,
                      common->left_out);
        put_work(&to, common);
    } else {
        nb_report_put(&to, "pictures   %d, each by itself\n", f->count);
    }
    if (n < f->count)
        nb_report_put(&to,
                      "page       %d of %d pictures; -page_frames a-b chooses others\n",
                      n, f->count);
    if (common)
        put_parameters(&to, common);
    return nb_report_end(&to, text, err);
}

nb_status nb_fit_page_end(const nb_refine_frames *f, const nb_sim *sim,
                          const nb_refinement *common, char **line, nb_error *err)
{
    char *report = NULL;
    int failed = 0;
    nb_json root;
    nb_status st = report_all(f, sim, common, &report, err);
    *line = NULL;
    if (st)
        return st;
    root = (nb_json){cJSON_CreateObject(), &failed};
    nb_json_text(root, "title", common ? "A joint fit of pictures" : "Fits of pictures");
    nb_json_text(root, "unit", "photons");
    nb_json_text(root, "report", report);
    nb_json_text(root, "command", f->command ? f->command : "");
    nb_free(report);
    return nb_page_json(root, "id=\"meta\"", line, err);
}
