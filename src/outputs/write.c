/* SPDX-License-Identifier: MIT */
/* Write the output files of a run. */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/stop.h"
#include "../base/outfile.h"
#include "../image/image.h"
#include "../base/threads.h"
#include "../io/table/hkl.h"
#include "../io/image/writer.h"
#include "../params/params.h"
#include "../picture/picture.h"
#include "../sim/derive.h"
#include "write.h"
#include "../sim/noise.h"
#include "picture.h"
#include "report.h"
#include "../sim/sim.h"

enum { NB_JOBS = 8 }; /* limit of image files, above the number of their kinds */

/** Data for writing all files of a run. */
typedef struct outputs {
    nb_sim *sim;
    nb_photons *photons; /* photons of the simulation, or `given` */
    nb_photons given;    /* image of the caller */
    nb_image_meta meta, noise_meta;
    double int_scale, pgm_scale;
    nb_preview_levels preview;
    const float *shown; /* pixels of the PNG: the image, or noise */
    int shown_fast;     /* width of `shown` */
    nb_picture_own own; /* data of the PNG */
    void *picture;      /* owned; colours of the PNG, or NULL */
    nb_write_job jobs[NB_JOBS];
    int n;
    int noise_job;                /* number of the noise file in jobs, or -1 */
    nb_product products[NB_JOBS]; /* products of all jobs except the PNG */
    int n_products;
    pthread_t closer; /* shuts the device down while files are completed */
    int closing;
} outputs;

static nb_status png_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    const outputs *o = user;
    size_t fast = (size_t)o->shown_fast;
    (void)err;
    nb_preview_apply(&o->preview, o->shown + (size_t)first * fast, (size_t)rows * fast,
                     out);
    return NB_OK;
}

/** Add the job of a file; returns the view of its image. */
static nb_image_view *add_job(outputs *o, const nb_writer *writer, const char *path,
                              double scale)
{
    nb_write_job *job = &o->jobs[o->n++];
    job->writer = writer;
    job->path = path;
    job->meta = &o->meta;
    job->view.fast = o->meta.fast;
    job->view.slow = o->meta.slow;
    job->view.type = writer->pixel;
    job->view.scale = scale;
    return &job->view;
}

/** Make the view's writer call for the rows of a product when it needs them. */
static void make_rows_of(outputs *o, nb_image_view *view, nb_product product)
{
    o->products[o->n_products] = product;
    view->make_rows = nb_product_rows;
    view->user = &o->products[o->n_products++];
}

/** Add a file of the photons. */
static void add_product(outputs *o, const nb_writer *writer, const char *path)
{
    const double scale = writer->pixel == NB_PIXEL_U16  ? o->int_scale
                         : writer->pixel == NB_PIXEL_U8 ? o->pgm_scale
                                                        : 1;
    nb_product product = {.type = writer->pixel, .scale = scale};
    if (writer->pixel == NB_PIXEL_U16)
        product.adc_offset = o->sim->cfg.adc_offset;
    make_rows_of(o, add_job(o, writer, path, scale), product);
}

/** Add a file with noise. */
static void add_noise(outputs *o, const nb_writer *writer, const char *path)
{
    nb_image_view *view = add_job(o, writer, path, 1);
    o->jobs[o->n - 1].meta = &o->noise_meta;
    if (writer->pixel == NB_PIXEL_U16)
        o->noise_job = o->n - 1;
    make_rows_of(o, view,
                 nb_sim_noise_product(o->sim, writer->pixel, o->sim->cfg.adc_offset));
}

/** Add the PNG: grey row by row; colours and rings need the whole picture. */
static nb_status add_png(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    nb_preview_options preview;
    nb_picture_job job;
    nb_image_view *view;
    int grey;
    nb_status st;
    NB_FORWARD(nb_picture_of_sim(o->sim, o->photons->pixels, &job, &o->own, err));
    o->shown = job.image;
    o->shown_fast = job.fast;
    preview = nb_preview_of(job.options);
    preview.pedestal = job.pedestal;
    grey = nb_picture_is_grey(&job);
    NB_FORWARD(grey ? nb_preview_choose(o->shown, (size_t)job.fast * (size_t)job.slow,
                                        &preview, &o->preview, err)
                    : nb_picture_draw(&job, &o->picture, err));
    view = add_job(o, nb_picture_writer(&job), cfg->png_file, 0);
    view->fast = job.fast;
    view->slow = job.slow;
    view->pixels = o->picture;
    if (grey) {
        view->make_rows = png_rows;
        view->user = o;
    }
    return NB_OK;
}

/** Refuse -noisefloat if the brightest pixel plus ten deviations exceeds a float. */
static nb_status check_noise_floats(const nb_config *cfg, const nb_stats *stats,
                                    nb_error *err)
{
    const double gain = cfg->gain, readout = cfg->readout_noise;
    const double spread = 1 + 10 * cfg->flicker + 10 * cfg->calibration;
    const double largest = gain * (spread * stats->max + 10 * sqrt(fmax(stats->max, 1))) +
                           10 * readout + cfg->adc_offset;
    if (!cfg->noise_float_file[0] || largest < FLT_MAX)
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-noisefloat overflows: a pixel may have %.3g ADU; type a smaller -gain (%g) or "
        "-readout_noise (%g)",
        largest, gain, readout);
}

static nb_status list_files(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    const int panels = o->sim->model.scene.n_panels;
    nb_status st = NB_OK;
    if (o->sim->in.left_out)
        nb_notice(
            &o->sim->hooks,
            "SMV and PGM hold one panel, so these files are not written; -hdf5 FILE "
            "-stills 1 writes all %d",
            panels);
    for (const nb_output *f = nb_output_next(NULL); f && !st; f = nb_output_next(f)) {
        const char *path = nb_output_path(f, cfg);
        const nb_writer *writer = nb_output_writer(f, cfg);
        if (!writer || !path[0] || (f->one_panel && panels > 1))
            continue;
        if (f->of == NB_OUTPUT_PICTURE)
            st = add_png(o, err);
        else if (f->of == NB_OUTPUT_NOISE)
            add_noise(o, writer, path);
        else
            add_product(o, writer, path);
    }
    return st;
}

static nb_status make_products(outputs *o, nb_error *err)
{
    nb_stage stages[NB_STAGES_MAX];
    nb_status st = nb_image_make(o->photons, stages, nb_sim_stages(o->sim, stages),
                                 o->products, o->n_products, err);
    for (int i = 0; i < o->n && !st; i++) {
        nb_image_view *view = &o->jobs[i].view;
        if (view->type == NB_PIXEL_F32 && o->jobs[i].meta != &o->noise_meta)
            view->pixels = o->photons->pixels; /* NULL if the image is on the device */
        if (i == o->noise_job)
            view->in_order = nb_product_in_order(view->user);
    }
    return st;
}

/* --- from the device --- */

static int is_from_device(const outputs *o)
{
    int some = 0;
    for (int i = 0; i < o->n_products; i++)
        some |= o->products[i].place >= 0 ||
                (o->products[i].type == NB_PIXEL_F32 && !o->photons->pixels);
    return some;
}

static void *take_piece(void *user, size_t bytes)
{
    const outputs *o = user;
    return o->photons->device->take(o->photons->state, bytes);
}

static void give_piece(void *user, void *memory)
{
    const outputs *o = user;
    o->photons->device->give(o->photons->state, memory);
}

static void *close_device(void *user)
{
    nb_sim *sim = user;
    sim->engine.backend->close(sim->engine.state);
    return NULL;
}

/** True if the device is closed during writing. Closing takes 0.1 s and shortens the exit
 * by 0.05 s, so that it pays only while large files are written. */
static int is_worth_closing(const outputs *o)
{
    const size_t large = (size_t)48 << 20;
    size_t bytes = 0;
    for (int i = 0; i < o->n; i++)
        bytes += nb_pixel_bytes(o->jobs[i].view.type) * (size_t)o->meta.fast *
                 (size_t)o->meta.slow;
    return o->sim->cfg.device_alone && bytes >= large;
}

static void all_made(void *user)
{
    outputs *o = user;
    nb_sim *sim = o->sim;
    if (!is_worth_closing(o))
        return;
    nb_sim_times(sim, &sim->times);
    o->closing = !pthread_create(&o->closer, NULL, close_device, sim);
    if (o->closing)
        o->photons->device = NULL;
}

static nb_status write_files(outputs *o, int threads, nb_error *err)
{
    const nb_write_memory memory = {o, take_piece, give_piece, all_made};
    nb_status st;
    NB_FORWARD(make_products(o, err));
    st = nb_write_images(o->jobs, o->n, threads, is_from_device(o) ? &memory : NULL, err);
    if (o->closing) {
        pthread_join(o->closer, NULL);
        o->sim->engine.state = NULL;
    }
    return st;
}

/** Find the photons. Pictures, pages and lists need them in memory; otherwise they may
 * stay on a device. */
static nb_status find_image(outputs *o, const float *image, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    int here =
        cfg->png_file[0] || cfg->truth == NB_TRUTH_SPOTS || nb_is_page(cfg->report_file);
    o->given = nb_sim_photons(o->sim, image);
    o->photons = image ? &o->given : &o->sim->engine.photons;
    return here || !o->photons->device ? nb_photons_fetch(o->photons, err) : NB_OK;
}

/** Write the list of reflections. */
static nb_status write_spots(const nb_sim *sim, const float *image, nb_error *err)
{
    nb_reflections list;
    nb_status st = nb_sim_reflections(sim, image, &list, err);
    NB_TRY(nb_reflections_write(sim->cfg.truth_file, &list, err));
    NB_TRY(nb_sim_write_stream(sim, &list, err));
    nb_reflections_free(&list);
    return st;
}

static void count_clipped(const outputs *o)
{
    nb_sim *sim = o->sim;
    sim->clipped_noise = sim->clipped_int = 0;
    for (int i = 0; i < o->n_products; i++) {
        const nb_product *p = &o->products[i];
        if (p->stages && p->type == NB_PIXEL_U16)
            sim->clipped_noise = p->overloads;
        else if (!p->stages && p->type == NB_PIXEL_U16)
            sim->clipped_int = p->overloads;
    }
}

void nb_sim_clipped(const nb_sim *sim, int64_t *integer, int64_t *noise)
{
    if (integer)
        *integer = sim ? sim->clipped_int : 0;
    if (noise)
        *noise = sim ? sim->clipped_noise : 0;
}

/** Divide the seconds wall - truth between noise and writing, in the ratio of the
 * threads' times. */
static void divide_time(outputs *o, double wall, double truth)
{
    double noise = 0, all = 0;
    for (int i = 0; i < o->n; i++) {
        all += o->jobs[i].make_seconds + o->jobs[i].write_seconds;
        if (i == o->noise_job)
            noise = o->jobs[i].make_seconds;
    }
    wall -= truth;
    noise = all > 0 ? wall * noise / all : 0;
    o->sim->times.truth += truth;
    o->sim->times.noise += noise;
    o->sim->times.write += wall - noise;
}

nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats,
                       nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && stats);
    NB_ASKS(&sim->hooks, 1);
    const nb_config *cfg = &sim->cfg;
    double start = nb_monotonic_seconds(), truth;
    outputs o = {0};
    nb_status st = nb_check_files(cfg, NULL, 0, err);
    if (!st && cfg->write_noise)
        st = nb_saturation_check(cfg, 65534, "-noisefile", err);
    NB_TRY(check_noise_floats(&sim->model.settings.value, stats, err));
    o.sim = sim;
    o.meta = nb_sim_describe(sim);
    o.noise_meta = nb_sim_describe_noise(sim, o.meta, NB_NOISE_U16);
    o.int_scale = nb_int_scale(cfg->scale, stats);
    o.pgm_scale = nb_pgm_scale(cfg->pgm_scale, stats, o.int_scale);
    o.noise_job = -1;
    if (!st && sim->model.scene.n_panels == 1 && (cfg->write_int || cfg->write_noise))
        nb_notice_lost(sim, &sim->hooks, NB_HEADER_SIMPLE);
    if (!st)
        nb_notice_readout(&sim->model.settings, &sim->hooks, cfg->adc_offset);
    NB_TRY(nb_sim_write_dumps(sim, 1, err));
    NB_TRY(find_image(&o, image, err));
    NB_TRY(list_files(&o, err));
    NB_TRY(write_files(
        &o, nb_image_threads(sim->engine.options.threads, stats->roi_pixels), err));
    NB_TRY(nb_sim_write_detector(sim, NULL, 1, err));
    NB_TRY(nb_sim_write_spectrum(sim, err));
    NB_TRY(nb_sim_write_derivatives(sim, err));
    truth = nb_monotonic_seconds();
    if (!st && cfg->truth == NB_TRUTH_SPOTS)
        st = write_spots(sim, o.photons->pixels, err);
    truth = nb_monotonic_seconds() - truth;
    count_clipped(&o);
    nb_products_free(o.products, o.n_products);
    nb_free(o.picture);
    nb_picture_own_free(&o.own);
    divide_time(&o, nb_monotonic_seconds() - start, truth);
    return st ? st : nb_report_write(sim, o.photons->pixels, stats, err);
}
