/* SPDX-License-Identifier: MIT */
/* Images as a page for a browser: src/tools/page.html, with their pixels and geometry in its place for data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/embed.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/stop.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../picture/packed.h"
#include "picture.h"
#include "report.h"

/* The page is in the program, so that no folder must be found. */
NB_EMBED(nb_page_html, "src/tools/page.html");

#define PLACE "<!--NB-DATA-->"

/** A page being made. */
typedef struct page {
    const nb_page_job *job;
    nb_shown_image first; /* owned */
    nb_json root, images; /* members of the page, and the list of images in them */
    nb_report_text text;  /* owned: elements */
    char part[16];        /* behind their names: the number of a part, or "" */
    size_t most;          /* bytes of an image's text, about */
} page;

static void put_place(nb_json to, const nb_panel_spec *p)
{
    nb_json_numbers(to, "origin", p->origin, 3);
    nb_json_numbers(to, "fast", p->fast, 3);
    nb_json_numbers(to, "slow", p->slow, 3);
    nb_json_numbers(to, "pixel", p->pixel, 2);
}

static void put_panels(nb_json root, const nb_detector_spec *d)
{
    nb_json list = nb_json_array(root, "panels");
    for (int k = 0; k < d->n_panels; k++) {
        const nb_panel_spec *p = &d->panels[k];
        const double size[] = {p->size[0], p->size[1]};
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "name", p->name);
        put_place(one, p);
        nb_json_numbers(one, "size", size, 2);
    }
}

/** The plane of the picture, m: of a detector of one panel, or (only NULL) as it is shown. */
static void put_plane(nb_json root, const nb_detector_spec *only, const nb_panel *shown)
{
    static const double along[] = {0, 0, 1};
    nb_json plane = nb_json_object(root, "plane");
    if (only) {
        put_place(plane, &only->panels[0]);
        nb_json_numbers(plane, "beam", only->beam.set ? only->beam.v : along, 3);
        return;
    }
    const double pixel[] = {shown->pixel_fast, shown->pixel_slow};
    nb_json_vector(plane, "origin", 1, shown->pix0);
    nb_json_vector(plane, "fast", 1, shown->fast);
    nb_json_vector(plane, "slow", 1, shown->slow);
    nb_json_vector(plane, "beam", 1, shown->beam);
    nb_json_numbers(plane, "pixel", pixel, 2);
    nb_json_flag(plane, "curved", shown->curved);
}

/** Image i and what a page says of it. */
static void put_image(page *p, int i, const nb_picture_job *shown, const nb_packed *packed)
{
    const nb_image *image = &p->job->images[i];
    const size_t n = (size_t)image->fast * (size_t)image->slow;
    const double size[] = {image->fast, image->slow};
    nb_json one = nb_json_add_object(p->images);
    double sum = 0, most = -INFINITY;
    char why[240];
    for (size_t k = 0; k < n; k++)
        if ((!image->left_out || !image->left_out[k]) && isfinite(image->pixels[k])) {
            sum += image->pixels[k];
            most = fmax(most, image->pixels[k]);
        }
    nb_json_text(one, "name", p->job->names[i]);
    nb_json_text(one, "format", image->format);
    nb_json_numbers(one, "size", size, 2);
    nb_json_number(one, "sum", sum);
    nb_json_number(one, "largest", most);
    nb_json_text(one, "leftOut", nb_image_left_out(image, why, sizeof why) ? why : "");
    nb_json_number(one, "pedestal", image->pedestal);
    nb_json_number(one, "fast", shown->fast);
    nb_json_number(one, "slow", shown->slow);
    nb_json_number(one, "planes", packed->planes);
    nb_json_flag(one, "delta", packed->delta);
    nb_json_number(one, "step", packed->step);
    nb_json_number(one, "unit", packed->unit);
}

/** An element with data: bytes of image i, or JSON in which no name ends the script, since "<" is its number. */
static void put_element(page *p, const char *name, int i, const char *data)
{
    const int is_json = i < 0;
    nb_report_put(&p->text, "<script type=\"%s\" id=\"%s%s",
                  is_json ? "application/json" : "text/plain", name, p->part);
    nb_report_put(&p->text, is_json ? "\">" : "%d\">", i);
    for (const char *end; *data; data = end + (*end == '<')) {
        end = data + strcspn(data, "<");
        nb_draft_bytes(&p->text, data, (size_t)(end - data));
        if (*end)
            nb_report_put(&p->text, "\\u003c");
    }
    nb_report_put(&p->text, "</script>\n");
}

/** Image i; a stack of another image's panels gets that image's detector. */
static nb_image image_of(const nb_page_job *job, int i)
{
    nb_image image = job->images[i];
    for (int k = 0; k < job->n && !image.detector; k++)
        if (job->images[k].fast == image.fast && job->images[k].slow == image.slow)
            image.detector = job->images[k].detector;
    return image;
}

static nb_status add_image(page *p, int i, nb_error *err)
{
    const nb_page_job *job = p->job;
    const nb_image image = image_of(job, i);
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
                          p->most, &packed, err));
    if (!st) {
        put_image(p, i, shown, &packed);
        put_element(p, "pixels", i, packed.pixels);
        if (packed.mask)
            put_element(p, "mask", i, packed.mask);
    }
    nb_packed_free(&packed);
    nb_shown_free(&other);
    return st;
}

static void put_spots(nb_json root, const nb_page_job *job)
{
    nb_json list = nb_json_array(root, "spots");
    for (int i = 0; i < job->n_spots; i++) {
        const nb_reflection *r = &job->spots[i];
        const double row[] = {r->h,         r->k,     r->l, r->fast, r->slow,
                              r->intensity, r->panel, r->F, r->d};
        nb_json_add_numbers(list, row, 9);
    }
}

/** What is told of all images. */
static void put_geometry(const page *p)
{
    const nb_page_job *job = p->job;
    const nb_detector_spec *only = job->detector, *d = job->images[0].detector;
    const double m = p->first.job.wavelength, A = m > 0 ? m / NB_ANGSTROM : NAN;
    nb_json_flag(p->root, "series", job->is_series);
    if (only || p->first.job.panel)
        put_plane(p->root, only, p->first.job.panel);
    nb_json_number(p->root, "wavelength", only ? only->wavelength_A : A);
    if (d)
        put_panels(p->root, d);
    if (job->n_spots)
        put_spots(p->root, job);
    if (job->options && job->options->rings)
        nb_json_numbers(p->root, "rings", job->options->ring_A, job->options->rings);
}

nb_status nb_page_text(const nb_page_job *job, nb_json root, int number, size_t most,
                       char **text, nb_error *err)
{
    NB_IN_C_LOCALE;
    const char *const place = strstr(nb_page_html, PLACE), *behind = place + strlen(PLACE);
    char *json = NULL;
    page p = {.job = job, .root = root, .most = most / (size_t)job->n};
    nb_status st = NB_OK;
    *text = NULL;
    p.images = nb_json_array(root, "images");
    if (number >= 0)
        snprintf(p.part, sizeof p.part, "%d_", number);
    else
        nb_draft_bytes(&p.text, nb_page_html, (size_t)(place - nb_page_html));
    for (int i = 0; i < job->n && !st; i++)
        st = add_image(&p, i, err);
    if (!st) {
        put_geometry(&p);
        st = nb_json_print(root, "a page", &json, err);
    } else {
        cJSON_Delete(root.json);
    }
    if (!st) {
        put_element(&p, "meta", -1, json);
        nb_draft_bytes(&p.text, behind, number >= 0 ? 0 : strlen(behind));
        st = nb_report_end(&p.text, text, err);
    } else {
        nb_free(p.text.data);
    }
    nb_free(json);
    nb_shown_free(&p.first);
    return st;
}

nb_status nb_page_write(const nb_page_job *job, nb_json root, const char *path,
                        nb_error *err)
{
    char *text;
    nb_status st = nb_page_text(job, root, -1, NB_PAGE_BYTES, &text, err);
    NB_TRY(nb_outfile_put(path, text, strlen(text), err));
    nb_free(text);
    return st;
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
    return nb_page_write(job, root, path, err);
}
