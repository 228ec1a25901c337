/* SPDX-License-Identifier: MIT */
/* Images as a page for a browser: src/tools/page.html with pixels and geometry. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/embed.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/stop.h"
#include "../model/units.h"
#include "../picture/picture.h"
#include "picture.h"
#include "report.h"

/* The program contains the page, so that it needs no folder of files. */
NB_EMBED(nb_page_html, "src/tools/page.html");

#define PLACE "<!--NB-DATA-->"

/** A page being made. */
typedef struct page {
    const nb_page_job *job;
    const nb_sim *sim;    /* simulation with the images' geometry, or NULL */
    nb_shown_image first; /* owned */
    nb_json root, images; /* members of the page; list of images in the page */
    size_t limit;         /* approximate limit of the bytes of an image's text */
} page;

static void put_panel(nb_json to, const nb_panel *p)
{
    nb_json_vector(to, "origin", 1, p->pix0);
    nb_json_vector(to, "fast", 1, p->fast);
    nb_json_vector(to, "slow", 1, p->slow);
    nb_json_vector(to, "beam", 1, p->beam);
    nb_json_numbers(to, "pixel", (double[]){p->pixel_fast, p->pixel_slow}, 2);
    nb_json_numbers(to, "size", (double[]){p->columns, p->rows}, 2);
    nb_json_flag(to, "curved", p->curved);
}

/** Put image i and its facts. */
static void put_image(const page *p, int i, const nb_picture_job *shown,
                      const nb_packed *packed)
{
    const nb_image *image = &p->job->images[i];
    const size_t n = (size_t)image->fast * (size_t)image->slow;
    nb_json one = nb_json_add_object(p->images);
    double sum = 0, max = -INFINITY;
    char why[240];
    for (size_t k = 0; k < n; k++)
        if ((!image->left_out || !image->left_out[k]) && isfinite(image->pixels[k])) {
            sum += image->pixels[k];
            max = fmax(max, image->pixels[k]);
        }
    nb_json_text(one, "name", p->job->names[i]);
    nb_json_text(one, "format", image->format);
    nb_json_numbers(one, "size", (double[]){image->fast, image->slow}, 2);
    nb_json_number(one, "sum", sum);
    nb_json_number(one, "largest", max);
    nb_json_text(one, "leftOut", nb_image_left_out(image, why, sizeof why) ? why : "");
    nb_json_number(one, "pedestal", image->pedestal);
    nb_json_number(one, "fast", shown->fast);
    nb_json_number(one, "slow", shown->slow);
    nb_json_number(one, "planes", packed->planes);
    nb_json_flag(one, "delta", packed->delta);
    nb_json_number(one, "step", packed->step);
    nb_json_number(one, "unit", packed->unit);
    nb_json_text(one, "pixels", packed->pixels);
    if (packed->mask)
        nb_json_text(one, "mask", packed->mask);
}

/** Image i with a detector: that of sim, or of its file, or of an image of the same
 * size. */
static nb_image image_of(const page *p, int i)
{
    const nb_page_job *job = p->job;
    nb_image image = job->images[i];
    if (p->sim)
        image.detector = (nb_detector_spec *)p->sim->cfg.detector;
    for (int k = 0; k < job->n && !image.detector; k++)
        if (job->images[k].fast == image.fast && job->images[k].slow == image.slow)
            image.detector = job->images[k].detector;
    return image;
}

static nb_status add_image(page *p, int i, nb_error *err)
{
    const nb_page_job *job = p->job;
    const nb_image image = image_of(p, i);
    nb_shown_image other = {0}, *as = i ? &other : &p->first;
    const nb_picture_job *first = &p->first.job, *shown = &as->job;
    nb_packed packed = {0};
    nb_status st = nb_show_image(&image, as, err);
    if (shown->fast != first->fast || shown->slow != first->slow)
        NB_TRY(nb_fail(err, NB_ERR_INPUT,
                       "%s has %d x %d pixels and %s %d x %d: a page compares images of "
                       "one size",
                       job->names[0], first->fast, first->slow, job->names[i],
                       shown->fast, shown->slow));
    NB_TRY(nb_stop_check(err));
    NB_TRY(nb_pack_pixels(shown->image, (size_t)shown->fast * (size_t)shown->slow,
                          p->limit, &packed, err));
    if (!st)
        put_image(p, i, shown, &packed);
    nb_packed_free(&packed);
    nb_shown_free(&other);
    return st;
}

static void put_spots(nb_json list, const nb_reflection *spots, int n)
{
    for (const nb_reflection *r = spots; r < spots + n; r++)
        nb_json_add_numbers(list,
                            (double[]){r->h, r->k, r->l, r->fast, r->slow, r->intensity,
                                       r->panel, r->F, r->d},
                            9);
}

/** Put facts of all images. */
static void put_geometry(const page *p)
{
    const nb_png_options *options = p->job->options;
    const nb_model *m = p->sim ? &p->sim->model : NULL;
    const nb_detector_spec *d = image_of(p, 0).detector;
    const nb_panel *plane =
        m && m->scene.n_panels == 1 ? m->scene.panels : p->first.job.panel;
    const double A = m ? m->wavelength_A : p->first.job.wavelength / NB_ANGSTROM;
    const nb_json list = nb_json_array(p->root, "panels");
    if (plane)
        put_panel(nb_json_object(p->root, "plane"), plane);
    for (int k = 0; d && d->n_panels > 1 && k < d->n_panels; k++) {
        const nb_json one = nb_json_add_object(list);
        const nb_panel panel = nb_panel_of_spec(d, k);
        nb_json_text(one, "name", d->panels[k].name);
        put_panel(one, &panel);
    }
    nb_json_number(p->root, "wavelength", A > 0 ? A : NAN);
    if (options && options->rings)
        nb_json_numbers(p->root, "rings", options->ring_A, options->rings);
}

nb_status nb_page_json(const nb_page_job *job, const nb_sim *sim, nb_json root,
                       size_t limit, char **text, nb_error *err)
{
    NB_IN_C_LOCALE;
    nb_draft safe = {0};
    char *json = NULL;
    page p = {.job = job, .sim = sim, .root = root, .limit = limit / (size_t)job->n};
    nb_status st = NB_OK;
    *text = NULL;
    p.images = nb_json_array(root, "images");
    for (int i = 0; i < job->n && !st; i++)
        st = add_image(&p, i, err);
    if (!st)
        put_geometry(&p);
    if (job->n_spots)
        put_spots(nb_json_array(root, "spots"), job->spots, job->n_spots);
    nb_json_flag(root, "series", job->is_series);
    nb_shown_free(&p.first);
    if (st)
        return cJSON_Delete(root.json), st;
    NB_FORWARD(nb_json_print(root, "a page", &json, err));
    for (const char *at = json, *end; *at; at = end + (*end == '<')) {
        end = at + strcspn(at, "<");
        nb_draft_bytes(&safe, at, (size_t)(end - at));
        if (*end)
            nb_draft_put(&safe, "\\u003c");
    }
    nb_free(json);
    return nb_report_end(&safe, text, err);
}

nb_status nb_page_write(const nb_page_job *job, const nb_sim *sim, nb_json root,
                        const char *path, nb_error *err)
{
    const char *const place = strstr(nb_page_html, PLACE), *behind = place + strlen(PLACE);
    nb_draft whole = {0};
    char *json;
    nb_status st;
    NB_FORWARD(nb_page_json(job, sim, root, NB_PAGE_BYTES, &json, err));
    nb_draft_bytes(&whole, nb_page_html, (size_t)(place - nb_page_html));
    nb_draft_put(&whole, "<script type=\"application/json\" id=\"meta\">");
    nb_draft_bytes(&whole, json, strlen(json));
    nb_draft_put(&whole, "</script>");
    nb_draft_bytes(&whole, behind, strlen(behind));
    nb_free(json);
    return nb_draft_write(&whole, path, "the page", st, err);
}

int nb_is_page(const char *path)
{
    const size_t n = path ? strlen(path) : 0;
    return n > 5 && strcmp(path + n - 5, ".html") == 0;
}

nb_status nb_image_page(const nb_page_job *job, const char *path, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(job && job->images && job->names && path && job->n > 0 &&
                   job->n <= (job->is_series ? NB_PAGE_FRAMES : NB_PAGE_IMAGES));
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    if (job->title)
        nb_json_text(root, "title", job->title);
    if (job->report)
        nb_json_text(root, "report", job->report);
    return nb_page_write(job, NULL, root, path, err);
}
