/* SPDX-License-Identifier: MIT */
/* Images as a page for a browser: src/tools/page.html, with their pixels and geometry in its place for data. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
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
extern const char nb_page_text[];
__asm__(".pushsection .rodata\n.global nb_page_text\nnb_page_text:\n.incbin "
        "\"src/tools/page.html\"\n.byte 0\n.popsection\n");

#define PLACE "<!--NB-DATA-->"
#define JSON_HEAD "<script type=\"application/json\" "

/** What one page is made of. */
typedef struct page {
    const nb_page_job *job;
    nb_shown_image shown[NB_PAGE_FRAMES];
    nb_packed packed[NB_PAGE_FRAMES];
    char *meta; /* JSON, for an element */
} page;

static void put_vector(nb_json to, const char *key, nb_vec3 v)
{
    const double xyz[] = {v.x, v.y, v.z};
    nb_json_numbers(to, key, xyz, 3);
}

static void put_place(nb_json to, const nb_panel_spec *p)
{
    nb_json_numbers(to, "origin", p->origin, 3);
    nb_json_numbers(to, "fast", p->fast, 3);
    nb_json_numbers(to, "slow", p->slow, 3);
    nb_json_numbers(to, "pixel", p->pixel, 2);
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
    put_vector(plane, "origin", shown->pix0);
    put_vector(plane, "fast", shown->fast);
    put_vector(plane, "slow", shown->slow);
    put_vector(plane, "beam", shown->beam);
    nb_json_numbers(plane, "pixel", pixel, 2);
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

static void put_rings(nb_json root, const nb_png_options *options)
{
    static const double usual[] = {20, 10, 7, 5, 4, 3, 2.5, 2, 1.7, 1.5, 1.3, 1.1, 1};
    const int typed = options ? options->rings : 0;
    nb_json_numbers(root, "rings", typed ? options->ring_A : usual,
                    typed ? typed : (int)(sizeof usual / sizeof *usual));
    nb_json_flag(root, "ringsOn", typed > 0);
}

static void put_fact(nb_json facts, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void put_fact(nb_json facts, const char *name, const char *format, ...)
{
    nb_json pair = {cJSON_CreateArray(), facts.failed};
    char text[NB_PATH_MAX + 64];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    nb_json_add_text(pair, name);
    nb_json_add_text(pair, text);
    if (!pair.json || !cJSON_AddItemToArray(facts.json, pair.json))
        *facts.failed = 1;
}

static void put_image_facts(nb_json one, const nb_image *image, const char *name,
                            double step)
{
    const size_t n = (size_t)image->fast * (size_t)image->slow;
    char why[240];
    double sum = 0, most = -INFINITY;
    nb_json facts = nb_json_array(one, "facts");
    for (size_t i = 0; i < n; i++)
        if ((!image->left_out || !image->left_out[i]) && isfinite(image->pixels[i])) {
            sum += image->pixels[i];
            most = fmax(most, image->pixels[i]);
        }
    put_fact(facts, "image", "%s", name);
    put_fact(facts, "format", "%s, %d x %d pixels", image->format, image->fast,
             image->slow);
    put_fact(facts, "sum, largest", "%.8g, %.8g", sum, most);
    if (nb_image_left_out(image, why, sizeof why))
        put_fact(facts, "left out", "%s", why);
    if (image->pedestal != 0)
        put_fact(facts, "pedestal", "%g", image->pedestal);
    if (step > 0)
        put_fact(facts, "values of this page", "to %g %%", 50 * step);
}

/** NaN: not known. */
static double wavelength_A(const page *p)
{
    const double known = p->shown[0].job.wavelength;
    if (p->job->detector)
        return p->job->detector->wavelength_A;
    return known > 0 ? known / NB_ANGSTROM : NAN;
}

static void put_geometry_facts(nb_json facts, const page *made)
{
    const nb_panel *p = made->shown[0].job.panel;
    const nb_detector_spec *d = made->job->images[0].detector;
    const double A = wavelength_A(made);
    if (d)
        put_fact(facts, "panels", "%d", d->n_panels);
    if (A > 0)
        put_fact(facts, "wavelength", "%.8g A", A);
    if (!p)
        return;
    put_fact(facts, "distance along the beam", "%.6g mm", p->distance / NB_MM);
    put_fact(facts, "pixel", "%.6g x %.6g mm", p->pixel_fast / NB_MM,
             p->pixel_slow / NB_MM);
}

/** Of a file, without its folder. */
static const char *short_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

static void put_images(nb_json root, const page *p)
{
    nb_json list = nb_json_array(root, "images");
    for (int i = 0; i < p->job->n; i++) {
        const nb_packed *packed = &p->packed[i];
        nb_json one = nb_json_add_object(list);
        nb_json_text(one, "name", short_name(p->job->names[i]));
        nb_json_number(one, "fast", p->shown[i].job.fast);
        nb_json_number(one, "slow", p->shown[i].job.slow);
        nb_json_number(one, "planes", packed->planes);
        nb_json_flag(one, "delta", packed->delta);
        nb_json_number(one, "step", packed->step);
        nb_json_number(one, "unit", packed->unit);
        nb_json_flag(one, "masked", packed->mask != NULL);
        put_image_facts(one, &p->job->images[i], p->job->names[i], packed->step);
    }
}

/** Reflections of the list: h k l, fast, slow, photons, the number of the panel (-1: of the picture), F, d. */
static void put_spots(nb_json root, const nb_page_job *job)
{
    nb_json list = nb_json_array(root, "spots");
    for (int i = 0; i < job->n_spots; i++) {
        const nb_page_spot *s = &job->spots[i];
        const double row[] = {s->hkl[0],  s->hkl[1], s->hkl[2], s->fast, s->slow,
                              s->photons, s->panel,  s->F,      s->d_A};
        nb_json_add_numbers(list, row, 9);
    }
}

static void put_title(nb_json root, const nb_page_job *job)
{
    char title[2 * NB_PATH_MAX + 32];
    snprintf(title, sizeof title, job->n > 1 ? "%s and %s" : "%s",
             short_name(job->names[0]), short_name(job->names[job->n - 1]));
    nb_json_text(root, "title", job->title ? job->title : title);
    nb_json_text(root, "unit", job->unit ? job->unit : "value of a pixel");
}

/** What is told of the images beside their pixels. */
static void put_words(nb_json root, const nb_page_job *job)
{
    nb_json_text(root, "report", job->report ? job->report : "");
    nb_json_text(root, "command", job->command ? job->command : "");
    nb_json_text(root, "flags", job->flags ? job->flags : "");
}

static void put_plots(nb_json root, const nb_page_job *job)
{
    nb_json list = nb_json_array(root, "plots");
    for (int k = 0; k < job->n_plots; k++) {
        const nb_page_plot *p = &job->plots[k];
        nb_json one = nb_json_add_object(list), points;
        nb_json_text(one, "title", p->title);
        nb_json_text(one, "under", p->under);
        nb_json_text(one, "beside", p->beside);
        points = nb_json_array(one, "points");
        for (int i = 0; i < p->n; i++)
            nb_json_add_numbers(points, p->points[i], 2);
    }
}

static nb_status make_meta(const page *p, char **json, nb_error *err)
{
    const nb_page_job *job = p->job;
    const nb_detector_spec *d = job->images[0].detector;
    const nb_shown_image *first = &p->shown[0];
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed}, facts;
    put_title(root, job);
    nb_json_flag(root, "series", job->is_series);
    put_words(root, job);
    put_plots(root, job);
    put_images(root, p);
    if (job->detector || (first->job.panel && !first->job.panel->curved))
        put_plane(root, job->detector, first->job.panel);
    nb_json_number(root, "wavelength", wavelength_A(p));
    if (d)
        put_panels(root, d);
    put_rings(root, job->options);
    facts = nb_json_array(root, "facts");
    put_geometry_facts(facts, p);
    put_spots(root, job);
    return nb_json_print(root, "a page", json, err);
}

/** In a page a name must not end the script: "<" becomes its number.  *text is another one, of the caller. */
static nb_status escape(const char *json, char **text, nb_error *err)
{
    size_t n = strlen(json), marks = 0;
    char *to;
    for (const char *at = json; (at = strchr(at, '<')); at++)
        marks++;
    if (!(*text = to = nb_alloc_raw(n + 5 * marks + 1, 1, "text of a page", err)))
        return NB_ERR_NOMEM;
    for (; *json; json++)
        if (*json == '<')
            to = stpcpy(to, "\\u003c");
        else
            *to++ = *json;
    *to = '\0';
    return NB_OK;
}

enum { MOST_PIECES = 4 * NB_PAGE_FRAMES + 8, HEAD = 80 };

/** Texts of a page, one behind the other. */
typedef struct pieces {
    const char *at[MOST_PIECES];
    int n;
    char meta[HEAD], pixels[2 * NB_PAGE_FRAMES][HEAD]; /* the beginnings of elements */
} pieces;

static void add_element(pieces *p, const char *head, const char *text)
{
    p->at[p->n++] = head;
    p->at[p->n++] = text;
    p->at[p->n++] = "</script>\n";
}

/** number: of a part, -1: of a page by itself.  The texts stay the page's. */
static void list_pieces(const page *made, int number, pieces *p)
{
    char part[16] = "";
    if (number >= 0) {
        snprintf(part, sizeof part, "%d_", number);
        snprintf(p->meta, HEAD, JSON_HEAD "id=\"part%d\">", number);
    } else {
        snprintf(p->meta, HEAD, JSON_HEAD "id=\"meta\">");
    }
    add_element(p, p->meta, made->meta);
    for (int i = 0; i < made->job->n; i++) {
        const nb_packed *packed = &made->packed[i];
        char *head = p->pixels[2 * i], *mask = p->pixels[2 * i + 1];
        snprintf(head, HEAD, "<script type=\"text/plain\" id=\"pixels%s%d\">", part, i);
        snprintf(mask, HEAD, "<script type=\"text/plain\" id=\"mask%s%d\">", part, i);
        add_element(p, head, packed->pixels);
        if (packed->mask)
            add_element(p, mask, packed->mask);
    }
}

/** All of them as one text, of the caller. */
static nb_status join(const pieces *p, char **text, nb_error *err)
{
    size_t n = 1;
    char *to;
    for (int i = 0; i < p->n; i++)
        n += strlen(p->at[i]);
    if (!(*text = to = nb_alloc_raw(n, 1, "text of a page", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < p->n; i++)
        to = stpcpy(to, p->at[i]);
    return NB_OK;
}

const char *nb_page_before(size_t *bytes)
{
    *bytes = (size_t)(strstr(nb_page_text, PLACE) - nb_page_text);
    return nb_page_text;
}

const char *nb_page_behind(void)
{
    return strstr(nb_page_text, PLACE) + strlen(PLACE);
}

static nb_status write_page(const page *made, const char *path, nb_error *err)
{
    pieces p = {0};
    nb_outfile out;
    size_t n;
    const char *before = nb_page_before(&n);
    nb_status st = nb_outfile_open(&out, path, err);
    if (st)
        return st;
    list_pieces(made, -1, &p);
    p.at[p.n++] = nb_page_behind();
    st = nb_outfile_write(&out, before, n, err);
    for (int i = 0; i < p.n && !st; i++)
        st = nb_outfile_write(&out, p.at[i], strlen(p.at[i]), err);
    if (!st)
        st = nb_outfile_commit(&out, err);
    nb_outfile_abort(&out);
    return st;
}

int nb_is_page(const char *path)
{
    const size_t n = path ? strlen(path) : 0;
    return n > 5 && strcmp(path + n - 5, ".html") == 0;
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

/** The images as they are shown, packed, and what is told of them. */
static nb_status make(page *p, size_t most, nb_error *err)
{
    const nb_page_job *job = p->job;
    char *json = NULL;
    nb_status st = NB_OK;
    for (int i = 0; i < job->n && !st; i++) {
        const nb_picture_job *first = &p->shown[0].job, *shown = &p->shown[i].job;
        const nb_image image = image_of(job, i);
        st = nb_show_image(&image, &p->shown[i], err);
        if (!st && i > 0 && (shown->fast != first->fast || shown->slow != first->slow))
            st =
                nb_fail(err, NB_ERR_INPUT,
                        "%s has %d x %d pixels and %s %d x %d: a page compares images of "
                        "one size",
                        job->names[0], first->fast, first->slow, job->names[i],
                        shown->fast, shown->slow);
        if (!st)
            st = nb_stop_check(err);
        if (!st)
            st = nb_pack_pixels(shown->image, (size_t)shown->fast * (size_t)shown->slow,
                                most / (size_t)job->n, &p->packed[i], err);
    }
    if (!st)
        st = make_meta(p, &json, err);
    if (!st)
        st = escape(json, &p->meta, err);
    nb_free(json);
    return st;
}

static void release(page *p)
{
    for (int i = 0; i < p->job->n; i++) {
        nb_shown_free(&p->shown[i]);
        nb_packed_free(&p->packed[i]);
    }
    nb_free(p->meta);
}

static int is_job(const nb_page_job *job)
{
    return job && job->images && job->n > 0 &&
           job->n <= (job->is_series ? NB_PAGE_FRAMES : NB_PAGE_IMAGES);
}

nb_status nb_image_page(const nb_page_job *job, const char *path, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(is_job(job) && path);
    page p = {.job = job};
    nb_status st = make(&p, NB_PAGE_BYTES, err);
    if (!st)
        st = write_page(&p, path, err);
    release(&p);
    return st;
}

nb_status nb_page_part(const nb_page_job *job, int number, size_t most, char **text,
                       nb_error *err)
{
    NB_REFUSE_NULL(is_job(job) && text);
    page p = {.job = job};
    pieces all = {0};
    nb_status st = make(&p, most, err);
    *text = NULL;
    if (!st) {
        list_pieces(&p, number, &all);
        st = join(&all, text, err);
    }
    release(&p);
    return st;
}
