/* SPDX-License-Identifier: MIT */
/* Pictures as files: of simulations, of image files, of differences. */
#include "picture.h"
#include "../inputs/load.h"

#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../io/image/writer.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../picture/picture.h"
#include "../sim/sim.h"

nb_status nb_picture_view(const nb_picture_job *job, nb_image_view *view, void **pixels,
                          nb_error *err)
{
    nb_status st = nb_picture_draw(job, pixels, err);
    view->fast = job->fast;
    view->slow = job->slow;
    view->type = nb_picture_is_grey(job) ? NB_PIXEL_U8 : NB_PIXEL_RGB;
    view->pixels = *pixels;
    return st;
}

/** Make the counts of a noise image as floats to draw; 0 for pixels that are not
 * rendered.  Free *shown with nb_free. */
static nb_status noise_of(const nb_sim *sim, const float *image, float **shown,
                          nb_error *err)
{
    int fast, slow;
    size_t n;
    uint16_t *counts;
    nb_status st;
    nb_sim_size(sim, &fast, &slow);
    n = (size_t)fast * (size_t)slow;
    *shown = NULL;
    counts = nb_alloc_raw(n, sizeof *counts, "noise of a picture", err);
    st = counts ? nb_sim_noise(sim, image, counts, NULL, err) : NB_ERR_NOMEM;
    if (!st && !(*shown = nb_alloc_raw(n, sizeof **shown, "picture", err)))
        st = NB_ERR_NOMEM;
    for (size_t i = 0; !st && i < n; i++)
        (*shown)[i] = counts[i];
    nb_free(counts);
    return st;
}

/** Replace the image of the job by the assembled detector. */
static nb_status assemble(const nb_detector_spec *d, const nb_image *image,
                          nb_picture_job *job, nb_assembly *all, nb_error *err)
{
    nb_panel_pixels *where = nb_alloc((size_t)d->n_panels, sizeof *where, "panels", err);
    nb_status st = NB_ERR_NOMEM;
    if (where && !nb_panels_in_image(d, image, where))
        st = nb_fail(err, NB_ERR_INPUT,
                     "the image has %d x %d pixels, which are not those of the %d panels",
                     image->fast, image->slow, d->n_panels);
    else if (where)
        st = nb_assemble(d, where, (float)job->pedestal, all, err);
    nb_free(where);
    if (st)
        return st;
    job->image = all->pixels;
    job->fast = all->fast;
    job->slow = all->slow;
    job->panel = &all->panel;
    return NB_OK;
}

/** Assemble the detector of a simulation in memory that the job borrows. */
static nb_status assemble_sim(const nb_sim *sim, nb_picture_job *job, nb_picture_own *own,
                              nb_error *err)
{
    const nb_image stack = {.fast = job->fast,
                            .slow = job->slow,
                            .pixels = (float *)job->image,
                            .format = "float"};
    nb_assembly all;
    nb_status st;
    NB_FORWARD(assemble(sim->cfg.detector, &stack, job, &all, err));
    own->panel = all.panel;
    own->assembled = all.pixels;
    job->panel = &own->panel;
    return NB_OK;
}

nb_status nb_picture_of_sim(const nb_sim *sim, const float *image, nb_picture_job *job,
                            nb_picture_own *own, nb_error *err)
{
    const nb_config *cfg = &sim->cfg;
    nb_status st = NB_OK;
    *own = (nb_picture_own){0};
    *job = (nb_picture_job){.image = image,
                            .options = &cfg->png,
                            .panel = sim->model.scene.panels,
                            .wavelength = sim->model.wavelength_A * 1e-10,
                            .pedestal = cfg->png.show ? cfg->adc_offset : 0};
    nb_sim_size(sim, &job->fast, &job->slow);
    if (cfg->png.show == NB_PNG_NOISE)
        st = noise_of(sim, image, &own->noise, err);
    if (own->noise)
        job->image = own->noise;
    if (!st && sim->model.scene.n_panels > 1)
        st = assemble_sim(sim, job, own, err);
    NB_TRY(nb_shrink(job, &own->blocks, &own->shrunk, err));
    if (!st && own->noise)
        st = nb_flatten(job, &own->levels, &own->flat, err);
    return st;
}

void nb_picture_own_free(nb_picture_own *own)
{
    nb_free(own->noise);
    nb_free(own->assembled);
    nb_free(own->shrunk);
    nb_free(own->flat);
    *own = (nb_picture_own){0};
}

nb_status nb_canvas_write(const nb_canvas *canvas, const char *path, nb_error *err)
{
    const nb_image_meta meta = {0};
    const nb_image_view view = {.fast = canvas->width,
                                .slow = canvas->height,
                                .type = NB_PIXEL_RGB,
                                .pixels = canvas->pixels};
    return nb_write_image(&nb_writer_png_rgb, path, &view, &meta, err);
}

const nb_writer *nb_picture_writer(const nb_picture_job *job)
{
    return nb_picture_is_grey(job) ? &nb_writer_png : &nb_writer_png_rgb;
}

/** Make the detector of an image with known geometry. */
static nb_status detector_of(const nb_config *cfg, nb_detector *det, double *wavelength,
                             nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    const double wavelength_A = nb_beam_wavelength(all);
    nb_geometry g;
    nb_status st = nb_geometry_build(all, &g, err);
    *wavelength = wavelength_A * NB_ANGSTROM;
    return st ? st : nb_detector_build(all, &g, wavelength_A, NULL, det, err);
}

/** Copy an image to draw, left-out pixels as NaN.  Free its pixels with nb_free. */
static nb_status mark_left_out(const nb_image *image, nb_image *marked, nb_error *err)
{
    const size_t n = (size_t)image->fast * (size_t)image->slow;
    float *pixels = nb_alloc_large(n, sizeof *pixels, "picture", err);
    *marked = *image;
    marked->pixels = pixels;
    for (size_t i = 0; pixels && i < n; i++)
        pixels[i] = image->left_out[i] ? NAN : image->pixels[i];
    return pixels ? NB_OK : NB_ERR_NOMEM;
}

/** Draw a job and write it. */
static nb_status write_job(const nb_picture_job *job, const char *path, nb_error *err)
{
    nb_image_meta meta = {0};
    nb_image_view view = {0};
    void *pixels = NULL;
    nb_status st = nb_picture_view(job, &view, &pixels, err);
    NB_TRY(nb_write_image(nb_picture_writer(job), path, &view, &meta, err));
    nb_free(pixels);
    return st;
}

/** Show an image: panels assembled, left-out pixels NaN, geometry if wanted and known. */
static nb_status show(const nb_image *image, const nb_png_options *options, int geometry,
                      nb_shown_image *shown, nb_error *err)
{
    const nb_config *cfg = image->geometry;
    nb_picture_job *job = &shown->job;
    nb_image marked = *image;
    nb_status st = NB_OK;
    if (image->left_out) {
        st = mark_left_out(image, &marked, err);
        shown->marked = marked.pixels;
    }
    *job = (nb_picture_job){.image = marked.pixels,
                            .fast = image->fast,
                            .slow = image->slow,
                            .options = options,
                            .pedestal = image->pedestal,
                            .marked = image->left_out != NULL};
    if (st)
        return st;
    if (image->detector && image->detector->n_panels > 1) {
        st = assemble(image->detector, &marked, job, &shown->assembly, err);
        job->wavelength = image->detector->wavelength_A * NB_ANGSTROM;
    } else if (cfg && geometry) {
        st = detector_of(cfg, &shown->detector, &job->wavelength, err);
        job->panel = shown->detector.panels;
    }
    return st;
}

/** True if the image has the size of the only panel of a geometry file. */
static int is_of_panel(const nb_image *image)
{
    const nb_detector_spec *d = image->detector;
    return d && d->n_panels == 1 && d->panels[0].size[0] == image->fast &&
           d->panels[0].size[1] == image->slow;
}

static nb_vec3 vector(const double v[3])
{
    return nb_v3(v[0], v[1], v[2]);
}

nb_panel nb_panel_of_spec(const nb_detector_spec *d, int k)
{
    const nb_panel_spec *p = &d->panels[k];
    return (nb_panel){.columns = p->size[0],
                      .rows = p->size[1],
                      .pix0 = vector(p->origin),
                      .fast = vector(p->fast),
                      .slow = vector(p->slow),
                      .beam = d->beam.set ? vector(d->beam.v) : nb_v3(0, 0, 1),
                      .pixel_fast = p->pixel[0],
                      .pixel_slow = p->pixel[1]};
}

nb_status nb_show_image(const nb_image *image, nb_shown_image *shown, nb_error *err)
{
    const nb_config *cfg = image->geometry;
    nb_status st;
    memset(shown, 0, sizeof *shown);
    st = show(image, NULL, 1, shown, err);
    if (is_of_panel(image)) {
        shown->assembly.panel = nb_panel_of_spec(image->detector, 0);
        shown->job.panel = &shown->assembly.panel;
        shown->job.wavelength = image->detector->wavelength_A * NB_ANGSTROM;
    } else if (!shown->assembly.pixels &&
               !(cfg && (NB_GIVEN(cfg, lambda_A) || NB_GIVEN(cfg, energy_eV)))) {
        shown->job.wavelength = 0;
    }
    return st;
}

void nb_shown_free(nb_shown_image *shown)
{
    nb_detector_free(&shown->detector);
    nb_free(shown->assembly.pixels);
    nb_free(shown->marked);
    memset(shown, 0, sizeof *shown);
}

nb_status nb_image_picture(const nb_image *image, const nb_png_options *options,
                           const char *path, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(image && image->pixels && path);
    static const nb_png_options standard;
    const nb_config *cfg = image->geometry;
    nb_shown_image shown = {0};
    nb_panel blocks;
    nb_png_options levels;
    float *shrunk = NULL, *flat = NULL;
    nb_status st;
    options = options ? options : &standard;
    NB_FORWARD(nb_png_check(options, err));
    NB_FORWARD(nb_png_check_name("the picture", path, err));
    st = show(image, options,
              options->rings && cfg &&
                  (NB_GIVEN(cfg, lambda_A) || NB_GIVEN(cfg, energy_eV)),
              &shown, err);
    if (!isfinite(shown.job.wavelength))
        shown.job.panel = NULL;
    NB_TRY(nb_shrink(&shown.job, &blocks, &shrunk, err));
    NB_TRY(nb_flatten(&shown.job, &levels, &flat, err));
    NB_TRY(write_job(&shown.job, path, err));
    nb_free(flat);
    nb_free(shrunk);
    nb_shown_free(&shown);
    return st;
}

/** Write a pair of images and their difference as a file. */
static nb_status write_sheet(const nb_pair *pair, const nb_png_options *colours,
                             double pedestal, const char *path, nb_error *err)
{
    const size_t first = (size_t)pair->roi[2] * (size_t)pair->fast + (size_t)pair->roi[0];
    const nb_sheet sheet = {pair->a + first,
                            pair->b + first,
                            pair->fast,
                            pair->roi[1] - pair->roi[0] + 1,
                            pair->roi[3] - pair->roi[2] + 1,
                            colours,
                            pedestal};
    nb_canvas canvas;
    nb_status st;
    NB_FORWARD(nb_draw_sheet(&sheet, &canvas, err));
    st = nb_canvas_write(&canvas, path, err);
    nb_free(canvas.pixels);
    return st;
}

/** Assemble both images, if their panels are known and no region is typed. The pair then
 * refers to the assembled images. The caller frees both. */
static nb_status assemble_pair(const nb_image *a, const nb_image *b, nb_pair *pair,
                               nb_assembly all[2], nb_error *err)
{
    const nb_detector_spec *d = b->detector ? b->detector : a->detector;
    const nb_image *const images[] = {a, b};
    nb_status st = NB_OK;
    if (!d || d->n_panels < 2)
        return NB_OK;
    for (int i = 0; i < 2 && !st; i++) {
        nb_picture_job job = {.pedestal = fmin(a->pedestal, b->pedestal)};
        st = assemble(d, images[i], &job, &all[i], err);
    }
    if (st)
        return st;
    *pair = (nb_pair){all[0].pixels,
                      all[1].pixels,
                      all[0].fast,
                      all[0].slow,
                      {0, all[0].fast - 1, 0, all[0].slow - 1},
                      {NULL, NULL}};
    return NB_OK;
}

/** Draw both images and their difference; pixels without a value are NaN. */
static nb_status draw_pair(const nb_image images[2], const nb_compare_options *options,
                           const nb_png_options *colours, const char *path, nb_error *err)
{
    const nb_image *a = &images[0], *b = &images[1];
    nb_assembly all[2] = {{0}};
    nb_pair pair;
    nb_status st = nb_pair_of(a, b, options, &pair, err);
    if (!st && !options->roi_set)
        st = assemble_pair(a, b, &pair, all, err);
    NB_TRY(write_sheet(&pair, colours, fmin(a->pedestal, b->pedestal), path, err));
    nb_free(all[0].pixels);
    nb_free(all[1].pixels);
    return st;
}

nb_status nb_difference_picture(const nb_image *a, const nb_image *b,
                                const nb_compare_options *options,
                                const nb_png_options *colours, const char *path,
                                nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(a && b && path);
    nb_image shown[2] = {*a, *b};
    nb_compare_options standard;
    nb_pair pair;
    nb_status st;
    nb_compare_defaults(&standard);
    if (!options)
        options = &standard;
    if ((colours && (st = nb_png_check(colours, err))) ||
        (st = nb_pair_of(a, b, options, &pair, err)))
        return st;
    if (a->left_out)
        st = mark_left_out(a, &shown[0], err);
    if (b->left_out && !st)
        st = mark_left_out(b, &shown[1], err);
    NB_TRY(draw_pair(shown, options, colours, path, err));
    for (int i = 0; i < 2; i++)
        if (shown[i].pixels != (i ? b : a)->pixels)
            nb_free(shown[i].pixels);
    return st;
}
