/* SPDX-License-Identifier: MIT */
/* The output files of a run. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../image/adu.h"
#include "../image/noise.h"
#include "../image/poisson.h"
#include "../image/quantize.h"
#include "../image/threads.h"
#include "../io/fdump.h"
#include "../io/reflections_write.h"
#include "../io/writer.h"
#include "../picture/preview.h"
#include "picture.h"
#include "report_json.h"
#include "sim.h"

enum { NB_JOBS = 8 }; /* more than there are kinds of output */

nb_status nb_sim_digitize(const nb_sim *sim, const float *image, const nb_stats *stats,
                          uint16_t *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    (void)err;
    nb_quantize_u16(image, &sim->model.scene, nb_int_scale(sim->cfg.scale, stats),
                    sim->cfg.adc_offset, out);
    return NB_OK;
}

nb_noise_options nb_sim_noise_options(const nb_sim *sim)
{
    const nb_config *cfg = &sim->cfg;
    int mixed = cfg->precision == NB_PRECISION_MIXED && !cfg->compat;
    return (nb_noise_options){sim->seed, 0, cfg->adc_offset, cfg->threads,
                              mixed ? NB_NOISE_ERROR : 0};
}

nb_status nb_sim_noise(const nb_sim *sim, const float *image, uint16_t *out,
                       int64_t *overloads, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && out);
    const nb_noise_options options = nb_sim_noise_options(sim);
    if (sim->cfg.compat)
        return nb_noise_compat(image, &sim->model.scene, &options, out, overloads, err);
    return nb_noise(image, &sim->model.scene, &options, out, overloads, err);
}

struct outputs;

/** A file whose rows come from the device: of made image `made`, or -1 the floats. */
typedef struct device_file {
    struct outputs *o;
    int made;
} device_file;

/** Everything that the files of one run are made from.  Its rows are made by several threads. */
typedef struct outputs {
    nb_sim *sim;
    const float *image; /* NULL: on the device */
    nb_image_meta meta;
    nb_int_levels levels; /* of the integer image */
    double pgm_scale;
    nb_preview_levels preview;
    const float *shown; /* what the PNG shows: the image, or noise */
    float *noise_shown; /* owned; NULL without */
    void *picture;      /* owned; colours of the PNG, else NULL */
    nb_noise_options noise;
    nb_compat_noise *legacy; /* owned; -compat's noise, else NULL */
    _Atomic int64_t clipped_noise;
    int64_t clipped_int;
    nb_write_job jobs[NB_JOBS];
    int n;
    int noise_job;                   /* its place in jobs, or -1 */
    const nb_backend_device *device; /* NULL: all is made here */
    nb_product made[NB_PRODUCTS_MOST];
    device_file from_device[NB_JOBS];
    int n_made;
    pthread_t closer; /* shuts the device down while files are completed */
    int closing;
} outputs;

static nb_status int_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    const outputs *o = user;
    (void)err;
    nb_quantize_u16_rows(o->image, &o->sim->model.scene, &o->levels, first, rows, out);
    return NB_OK;
}

static nb_status noise_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    outputs *o = user;
    const nb_scene *scene = &o->sim->model.scene;
    (void)err;
    o->clipped_noise +=
        o->legacy ? nb_noise_compat_rows(o->legacy, o->image, scene, first, rows, out)
                  : nb_noise_rows(o->image, scene, &o->noise, first, rows, out);
    return NB_OK;
}

static nb_status pgm_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    const outputs *o = user;
    size_t fast = (size_t)o->meta.fast;
    (void)err;
    nb_quantize_u8(o->image + (size_t)first * fast, (size_t)rows * fast, o->pgm_scale,
                   out);
    return NB_OK;
}

static nb_status png_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    const outputs *o = user;
    size_t fast = (size_t)o->meta.fast;
    (void)err;
    nb_preview_apply(&o->preview, o->shown + (size_t)first * fast, (size_t)rows * fast,
                     out);
    return NB_OK;
}

/** One more file; returns its image, which has the float pixels until a function is set. */
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
    job->view.user = o;
    if (writer->pixel == NB_PIXEL_F32)
        job->view.pixels = o->image;
    return &job->view;
}

static nb_status add_noise(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    nb_image_view *view;
    nb_status st = cfg->compat ? NB_OK : nb_noise_check(err);
    if (st)
        return st;
    if (cfg->compat && !(o->legacy = nb_noise_compat_start(&o->noise, err)))
        return NB_ERR_NOMEM;
    o->noise_job = o->n;
    view = add_job(o, &nb_writer_smv, cfg->noise_file, 1);
    view->make_rows = noise_rows;
    view->in_order = cfg->compat;
    return NB_OK;
}

/** Greys row by row; colours and rings need the whole picture. */
static nb_status add_png(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    const nb_model *m = &o->sim->model;
    nb_picture_job job = {o->image,
                          o->meta.fast,
                          o->meta.slow,
                          &cfg->png,
                          m->scene.panels,
                          m->wavelength_A * 1e-10,
                          cfg->png.show ? cfg->adc_offset : 0};
    nb_preview_options preview = nb_preview_of(&cfg->png);
    nb_status st = NB_OK;
    if (cfg->png.show == NB_PNG_NOISE)
        st = nb_picture_noise(o->sim, o->image, &o->noise_shown, err);
    if (st)
        return st;
    o->shown = job.image = o->noise_shown ? o->noise_shown : o->image;
    preview.pedestal = job.pedestal;
    if (nb_picture_is_grey(&cfg->png)) {
        st = nb_preview_choose(o->shown, (size_t)job.fast * (size_t)job.slow, &preview,
                               &o->preview, err);
        if (!st)
            add_job(o, &nb_writer_png, cfg->png_file, 0)->make_rows = png_rows;
        return st;
    }
    st = nb_picture_draw(&job, &o->picture, err);
    if (!st)
        add_job(o, &nb_writer_png_rgb, cfg->png_file, 0)->pixels = o->picture;
    return st;
}

static nb_status list_files(outputs *o, nb_error *err)
{
    const nb_config *cfg = &o->sim->cfg;
    nb_status st = NB_OK;
    if (cfg->write_float)
        add_job(o, &nb_writer_float, cfg->float_file, 1);
    if (cfg->tiff_file[0] && cfg->tiff_bits == 32)
        add_job(o, &nb_writer_tiff_f32, cfg->tiff_file, 1);
    if (cfg->write_int)
        add_job(o, &nb_writer_smv, cfg->int_file, o->levels.scale)->make_rows = int_rows;
    if (cfg->tiff_file[0] && cfg->tiff_bits == 16)
        add_job(o, &nb_writer_tiff_u16, cfg->tiff_file, o->levels.scale)->make_rows =
            int_rows;
    if (cfg->write_noise)
        st = add_noise(o, err);
    if (cfg->write_pgm)
        add_job(o, &nb_writer_pgm, cfg->pgm_file, o->pgm_scale)->make_rows = pgm_rows;
    if (!st && cfg->png_file[0])
        st = add_png(o, err);
    return st;
}

/* --- from the device --- */

static nb_status device_rows(void *user, int first, int rows, void *out, nb_error *err)
{
    const device_file *f = user;
    return f->o->device->fetch(f->o->sim->state, f->made, first, rows, out, err);
}

/** What the device has to make for a file: its number, a new one if it is the first of its
 * kind. */
static int number_of(outputs *o, nb_product_kind kind, double scale)
{
    const nb_product made = {
        kind,           scale, o->noise.adc_offset, o->noise.seed, o->noise.frame,
        o->noise.error, 0};
    int i = 0;
    while (i < o->n_made && o->made[i].kind != kind)
        i++;
    if (i == o->n_made)
        o->made[o->n_made++] = made;
    return i;
}

/** Take the rows of every file that can be had there from the device. */
static nb_status use_device(outputs *o, nb_error *err)
{
    for (int i = 0; i < o->n; i++) {
        nb_image_view *view = &o->jobs[i].view;
        device_file *f = &o->from_device[i];
        f->o = o;
        if (view->make_rows == int_rows)
            f->made = number_of(o, NB_PRODUCT_INT_U16, o->levels.scale);
        else if (view->make_rows == pgm_rows)
            f->made = number_of(o, NB_PRODUCT_GREY_U8, o->pgm_scale);
        else if (view->make_rows == noise_rows && !o->legacy)
            f->made = number_of(o, NB_PRODUCT_NOISE_U16, 1);
        else if (!view->pixels && !view->make_rows)
            f->made = -1;
        else
            continue;
        view->make_rows = device_rows;
        view->user = f;
    }
    return o->device->make(o->sim->state, &o->sim->model.scene, o->made, o->n_made, err);
}

static void *take_piece(void *user, size_t bytes)
{
    const outputs *o = user;
    return o->device->take(o->sim->state, bytes);
}

static void give_piece(void *user, void *memory)
{
    const outputs *o = user;
    o->device->give(o->sim->state, memory);
}

static void *close_device(void *user)
{
    nb_sim *sim = user;
    sim->backend->close(sim->state);
    return NULL;
}

/** Shutting a device down takes 0.1 s, of which the exit of the process saves half: that is hidden
 * only behind large files. */
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
        sim->device_has = 0;
}

/** The device could not make them (its memory is full): the floats come down, all else is made
 * here.  The list is written anew. */
static nb_status do_without_device(outputs *o, nb_error *err)
{
    nb_status st;
    nb_notice(&o->sim->hooks, "%s; integers are made on the CPU", err->message);
    nb_free(o->legacy);
    nb_free(o->picture);
    nb_free(o->noise_shown);
    o->legacy = NULL;
    o->picture = NULL;
    o->noise_shown = NULL;
    o->device = NULL;
    o->n = o->n_made = 0;
    o->noise_job = -1;
    st = nb_sim_image(o->sim, &o->image, err);
    return st ? st : list_files(o, err);
}

static nb_status write_files(outputs *o, int threads, nb_error *err)
{
    const nb_write_memory memory = {o, take_piece, give_piece, all_made};
    nb_error local = {0};
    nb_error *say = err ? err : &local;
    nb_status st = o->device ? use_device(o, say) : NB_OK;
    if (st == NB_ERR_DEVICE)
        st = do_without_device(o, say);
    if (st)
        return st;
    st = nb_write_images(o->jobs, o->n, threads, o->device ? &memory : NULL, err);
    for (int i = 0; i < o->n_made; i++)
        if (o->made[i].kind == NB_PRODUCT_NOISE_U16)
            o->clipped_noise += o->made[i].overloads;
        else if (o->made[i].kind == NB_PRODUCT_INT_U16)
            o->clipped_int = o->made[i].overloads;
    if (o->closing) {
        pthread_join(o->closer, NULL);
        o->sim->state = NULL;
    }
    return st;
}

/** The floats, or NULL when they can stay on the device. */
static nb_status find_image(outputs *o, const float *image, nb_error *err)
{
    nb_sim *sim = o->sim;
    const nb_config *cfg = &sim->cfg;
    int here = cfg->png_file[0] || (cfg->compat && cfg->write_noise) ||
               cfg->truth == NB_TRUTH_SPOTS;
    o->image = image;
    if (image)
        return NB_OK;
    o->device = sim->device_has ? sim->backend->device : NULL;
    if (o->device && !here && !sim->own_has)
        return NB_OK;
    return nb_sim_image(sim, &o->image, err);
}

static nb_status dump_sink(void *user, const void *data, size_t bytes, nb_error *err)
{
    return nb_outfile_write(user, data, bytes, err);
}

/** The cache of structure factors, for the next run without -hkl. */
nb_status nb_sim_write_dump(const nb_sim *sim, nb_error *err)
{
    nb_outfile out;
    nb_status st = nb_outfile_open(&out, nb_dump_name(&sim->cfg), err);
    if (!st)
        st = nb_fdump_write(&sim->table, dump_sink, &out, err);
    if (!st)
        st = nb_outfile_commit(&out, err);
    if (st)
        nb_outfile_abort(&out);
    return st;
}

/** The list of reflections. */
static nb_status write_spots(const nb_sim *sim, const float *image, nb_error *err)
{
    nb_reflections list;
    nb_status st = nb_sim_reflections(sim, image, &list, err);
    if (!st)
        st = nb_reflections_write(sim->cfg.truth_file, &list, err);
    nb_reflections_free(&list);
    return st;
}

/** Of the integer image, when it was made here and is bright enough to need a look. */
static void count_clipped(outputs *o, const nb_stats *stats)
{
    const nb_config *cfg = &o->sim->cfg;
    int wanted = cfg->write_int || (cfg->tiff_file[0] && cfg->tiff_bits == 16);
    if (wanted && !o->device &&
        nb_int_clips((float)stats->max, o->levels.scale, o->levels.adc_offset))
        o->clipped_int = nb_count_clipped(o->image, &o->sim->model.scene, &o->levels);
}

void nb_sim_clipped(const nb_sim *sim, int64_t *integer, int64_t *noise)
{
    if (integer)
        *integer = sim ? sim->clipped_int : 0;
    if (noise)
        *noise = sim ? sim->clipped_noise : 0;
}

/** The wall time of the files, divided as their threads' time was. */
static void divide_time(outputs *o, double wall)
{
    double noise = 0, all = 0;
    for (int i = 0; i < o->n; i++) {
        all += o->jobs[i].make_seconds + o->jobs[i].write_seconds;
        if (i == o->noise_job)
            noise = o->jobs[i].make_seconds;
    }
    noise = all > 0 ? wall * noise / all : 0;
    o->sim->times.noise += noise;
    o->sim->times.write += wall - noise;
}

nb_status nb_sim_write(nb_sim *sim, const float *image, const nb_stats *stats,
                       nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && stats);
    const nb_config *cfg = &sim->cfg;
    double start = nb_monotonic_seconds();
    outputs o = {0};
    nb_status st = nb_check_files(cfg, NULL, 0, err);
    o.sim = sim;
    o.meta = nb_sim_describe(sim);
    o.levels = (nb_int_levels){nb_int_scale(cfg->scale, stats), cfg->adc_offset};
    o.pgm_scale = nb_pgm_scale(cfg->pgm_scale, stats, o.levels.scale);
    o.noise = nb_sim_noise_options(sim);
    o.noise_job = -1;
    if (!st && (cfg->write_int || cfg->write_noise))
        nb_notice_lost(sim, &sim->hooks, 0);
    if (!st && sim->table_from_hkl)
        st = nb_sim_write_dump(sim, err);
    if (!st)
        st = find_image(&o, image, err);
    if (!st)
        st = list_files(&o, err);
    if (!st)
        st = write_files(&o, nb_image_threads(cfg->threads, stats->roi_pixels), err);
    if (!st)
        count_clipped(&o, stats);
    if (!st && cfg->truth == NB_TRUTH_SPOTS)
        st = write_spots(sim, o.image, err);
    sim->clipped_noise = o.clipped_noise;
    sim->clipped_int = o.clipped_int;
    nb_free(o.legacy);
    nb_free(o.picture);
    nb_free(o.noise_shown);
    divide_time(&o, nb_monotonic_seconds() - start);
    return st ? st : nb_report_write(sim, stats, err);
}
