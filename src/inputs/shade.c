/* SPDX-License-Identifier: MIT */
#include "shade.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/store.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../image/light.h"
#include "../io/table/arrays.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/scene_build.h"
#include "load.h"

/* --- files --- */

/** A file or array with a number for each pixel. */
typedef struct plane_file {
    const char *flag, *path;
    double least, top;  /* allowed range of the numbers */
    nb_array_kind kind; /* 0 if only a headerless file is allowed */
    const float *array; /* NULL: read the file `path` */
    int fast, slow;     /* size of the array */
    const nb_hooks *hooks;
} plane_file;

/** Copy the pixels of the panels from their positions in the image to out[stack]. */
static nb_status take_canvas(const plane_file *f, const nb_config *cfg,
                             const nb_geometry *g, const nb_files *files,
                             const nb_image *image, float *out, nb_error *err)
{
    const nb_detector_spec *d = &files->spec;
    const int n = d->n_panels ? d->n_panels : 1;
    int(*place)[2] = nb_alloc((size_t)n, sizeof *place, "layout", err);
    nb_panel_canvas canvas = {{g->fpixels, g->spixels}, 0};
    nb_status st = place ? NB_OK : NB_ERR_NOMEM;
    if (!st && d->n_panels)
        canvas = nb_layout_panels(d, cfg->layout, place);
    if (!st && (image->fast != canvas.size[0] || image->slow != canvas.size[1]))
        st = nb_fail_at(err, NB_ERR_INPUT, f->path, 0,
                        "%s has %d x %d pixels, but the detector has %d x %d", f->flag,
                        image->fast, image->slow, canvas.size[0], canvas.size[1]);
    for (int k = 0; !st && k < n; k++) {
        const int columns = d->n_panels ? d->panels[k].size[0] : g->fpixels,
                  rows = d->n_panels ? d->panels[k].size[1] : g->spixels;
        for (int j = 0; j < rows; j++, out += columns)
            memcpy(out,
                   image->pixels + (size_t)(place[k][1] + j) * (size_t)image->fast +
                       place[k][0],
                   (size_t)columns * sizeof *out);
    }
    nb_free(place);
    return st;
}

static void say_marked(const plane_file *f, const nb_image *image)
{
    char why[240];
    const long long n = nb_image_left_out(image, why, sizeof why);
    if (n)
        nb_notice(f->hooks, "%s %s: %lld of %lld pixels left out: %s", f->flag, f->path,
                  n, (long long)image->fast * image->slow, why);
}

/** Read an image without its geometry; subtract the pedestal (not for -mask). */
static nb_status read_image(const plane_file *f, const nb_config *cfg,
                            const nb_geometry *g, const nb_files *files, float *out,
                            nb_error *err)
{
    NB_OWN_CONFIG scratch = {0};
    nb_image image = {0};
    nb_status st;
    nb_config_defaults(&scratch);
    scratch.detpixels[0] = files->spec.n_panels ? 0 : g->fpixels;
    scratch.detpixels[1] = files->spec.n_panels ? 0 : g->spixels;
    st = nb_image_load(f->path, f->flag, NULL, &scratch, &image, NULL, err);
    if (f->kind == NB_ARRAY_MASK)
        image.pedestal = 0;
    for (size_t i = 0; !st && i < (size_t)image.fast * (size_t)image.slow; i++)
        if (!image.left_out || !image.left_out[i])
            image.pixels[i] -= (float)image.pedestal;
    if (!st) {
        say_marked(f, &image);
        st = take_canvas(f, cfg, g, files, &image, out, err);
    }
    nb_image_free(&image);
    return st;
}

nb_status nb_load_mask(const nb_config *cfg, const nb_geometry *g, const nb_files *files,
                       size_t pixels, uint8_t *mask, nb_error *err)
{
    const plane_file f = {.flag = "-mask", .path = cfg->mask_file, .kind = NB_ARRAY_MASK};
    float *values = nb_alloc_large(pixels, sizeof *values, "mask", err);
    nb_image image = {0};
    nb_status st = values ? NB_OK : NB_ERR_NOMEM;
    if (!st && !nb_in_memory(cfg, f.path, NB_MEMORY_MASK))
        st = read_image(&f, cfg, g, files, values, err);
    else if (!st && !(st = nb_arrays_mask(cfg->arrays, &image, err)))
        st = take_canvas(&f, cfg, g, files, &image, values, err);
    for (size_t i = 0; i < pixels && !st; i++)
        mask[i] = mask[i] && values[i] > 0;
    nb_image_free(&image);
    nb_free(values);
    return st;
}

/** True if a number is out of the range of the file, or NaN. */
static int is_bad(const plane_file *f, float value)
{
    return !(value >= f->least && value <= f->top);
}

static nb_status check_values(const plane_file *f, const float *v, size_t n, nb_error *err)
{
    float least = v[0], top = v[0];
    int nan = 0;
#pragma omp simd reduction(min : least) reduction(max : top) reduction(| : nan)
    for (size_t i = 0; i < n; i++) {
        least = v[i] < least ? v[i] : least;
        top = v[i] > top ? v[i] : top;
        nan |= v[i] != v[i];
    }
    if (!nan && !is_bad(f, least) && !is_bad(f, top))
        return NB_OK;
    for (size_t i = 0; i < n; i++)
        if (is_bad(f, v[i]))
            return nb_fail_at(err, NB_ERR_INPUT, f->path, 0,
                              "%s: pixel %zu is %g; it must be %g to %g", f->flag, i,
                              v[i], f->least, f->top);
    return NB_OK;
}

/** Replace factors of 0 by the number that nb_mix_factor reads as 0. */
static void write_zeros(float *factors, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        factors[i] = factors[i] == 0 ? -1 : factors[i];
}

/** Arguments of make_plane. */
typedef struct plane_request {
    const plane_file *file;
    const nb_config *cfg;
    const nb_geometry *geometry;
    const nb_files *files;
    size_t pixels;
} plane_request;

static nb_status read_plane(const plane_request *r, float *out, nb_error *err)
{
    const plane_file *f = r->file;
    const size_t bytes = r->pixels * sizeof *out;
    const nb_image image = {
        .pixels = (float *)(uintptr_t)f->array, .fast = f->fast, .slow = f->slow};
    char *data = NULL;
    size_t n = 0;
    nb_status st = NB_OK;
    if (f->array) {
        st = take_canvas(f, r->cfg, r->geometry, r->files, &image, out, err);
        return st ? st : check_values(f, out, r->pixels, err);
    }
    NB_FORWARD(nb_read_file(f->path, f->flag, 0, &data, &n, err));
    if (n == bytes)
        memcpy(out, data, bytes);
    else if (!f->kind)
        st = nb_fail_at(
            err, NB_ERR_INPUT, f->path, 0,
            "%s has %zu bytes, but the detector has %zu pixels, which are %zu bytes of "
            "32-bit floats",
            f->flag, n, r->pixels, bytes);
    else
        st = read_image(f, r->cfg, r->geometry, r->files, out, err);
    nb_free(data);
    return st ? st : check_values(f, out, r->pixels, err);
}

static void free_plane(void *object)
{
    nb_free(((nb_plane *)object)->pixel);
}

static nb_status make_plane(void *user, void **object, size_t *bytes, nb_error *err)
{
    const plane_request *r = user;
    nb_plane *plane = nb_shared_new(sizeof *plane, free_plane, "image to mix", err);
    nb_status st = NB_ERR_NOMEM;
    if (plane &&
        (plane->pixel = nb_alloc_large(r->pixels, sizeof(float), "image to mix", err)))
        st = read_plane(r, plane->pixel, err);
    if (!st && r->file->least >= 0)
        write_zeros(plane->pixel, r->pixels);
    if (!st)
        plane->hash =
            nb_hash_bytes(NB_HASH_START, plane->pixel, r->pixels * sizeof(float));
    *bytes = r->pixels * sizeof(float);
    *object = plane;
    return st;
}

static nb_status load_plane(const nb_inputs *in, const plane_request *r,
                            const nb_plane **out, nb_error *err)
{
    nb_key key = nb_key_of(r->file->flag);
    void *object = NULL;
    nb_status st = NB_OK;
    nb_inputs_key_file(&key, in, r->file->path, r->file->kind);
    nb_key_add(&key, &r->pixels, sizeof r->pixels);
    nb_key_add(&key, (const int[]){r->geometry->fpixels, (int)r->cfg->layout},
               2 * sizeof(int));
    nb_key_add(&key, &r->files->key, sizeof r->files->key * (r->files->spec.n_panels > 0));
    if (r->file->path[0])
        st = nb_store_take(in->store, &key, make_plane, (void *)(uintptr_t)r, &object,
                           err);
    *out = object;
    return st;
}

/** Hash of both planes' contents, since the address of a freed plane may return. */
static uint64_t hash_planes(const nb_files *files)
{
    const uint64_t both[2] = {files->transmission ? files->transmission->hash : 0,
                              files->add ? files->add->hash : 0};
    return both[0] || both[1] ? nb_hash_bytes(NB_HASH_START, both, sizeof both) : 0;
}

nb_status nb_load_planes(const nb_inputs *in, const nb_config *cfg, const nb_geometry *g,
                         size_t pixels, nb_files *files, const nb_hooks *hooks,
                         nb_error *err)
{
    const nb_arrays none = {0}, *a = cfg->arrays ? cfg->arrays : &none;
    const plane_file factors = {.flag = "-transmission",
                                .path = cfg->transmission_file,
                                .top = 1e6,
                                .kind = NB_ARRAY_TRANSMISSION,
                                .array = nb_in_memory(cfg, cfg->transmission_file,
                                                      NB_MEMORY_TRANSMISSION)
                                             ? a->transmission
                                             : NULL,
                                .fast = a->transmission_fast,
                                .slow = a->transmission_slow,
                                .hooks = hooks},
                     light = {.flag = "-add",
                              .path = cfg->add_file,
                              .least = -1e30,
                              .top = 1e30,
                              .kind = NB_ARRAY_ADD,
                              .array = nb_in_memory(cfg, cfg->add_file, NB_MEMORY_ADD)
                                           ? a->add
                                           : NULL,
                              .fast = a->add_fast,
                              .slow = a->add_slow,
                              .hooks = hooks};
    const plane_file gains = {
        .flag = "-gainmap", .path = cfg->gainmap_file, .least = -FLT_MAX, .top = FLT_MAX};
    plane_request r = {&gains, cfg, g, files, pixels};
    nb_status st;
    st = load_plane(in, &r, &files->gainmap, err);
    r.file = &factors;
    NB_TRY(load_plane(in, &r, &files->transmission, err));
    r.file = &light;
    NB_TRY(load_plane(in, &r, &files->add, err));
    if (st)
        return st;
    files->planes_hash = hash_planes(files);
    return NB_OK;
}

/* --- factors of a model --- */

static const float *transmission_of(const nb_files *files)
{
    return files->transmission ? files->transmission->pixel : NULL;
}

/** Factors, shared by simulations with the same shadows. */
struct nb_shade_kept {
    nb_shade shade;
    uint64_t planes; /* hash of the sources of factors and added light */
    uint64_t key;    /* hash of `planes` and the mask */
};

static void clear(void *object)
{
    nb_shade_free(&((nb_shade_kept *)object)->shade);
}

/** Hash of everything that the factors depend on, without the mask. */
static uint64_t planes_of(const nb_inputs *in, const nb_shadow *shadow, const nb_scene *sc)
{
    uint64_t key = NB_HASH_START;
    key = nb_hash_bytes(key, shadow->items, (size_t)shadow->n * sizeof *shadow->items);
    key = nb_hash_bytes(key, &shadow->beam, 3 * sizeof shadow->beam);
    key = nb_hash_bytes(key, &shadow->distance, sizeof shadow->distance);
    key = nb_hash_bytes(key, sc->panels, (size_t)sc->n_panels * sizeof *sc->panels);
    key = nb_hash_bytes(key, &sc->raster.roi, sizeof sc->raster.roi);
    return nb_hash_bytes(key, &in->files->planes_hash, sizeof in->files->planes_hash);
}

nb_status nb_inputs_make_shade(nb_inputs *in, const nb_model *model, int threads,
                               nb_error *err)
{
    nb_shadow shadow = {0};
    nb_shade_kept *own;
    uint64_t planes, key;
    nb_status st;
    NB_FORWARD(nb_shadow_of(&model->settings, &model->geometry, &shadow, err));
    planes = planes_of(in, &shadow, &model->scene);
    key = nb_hash_bytes(planes, &in->files->key, sizeof in->files->key);
    key = nb_hash_bytes(key, &in->marked, sizeof in->marked);
    if (in->shade && in->shade->key == key)
        return NB_OK;
    nb_shared_drop(in->shade);
    in->shade = NULL;
    if (!shadow.n && !in->files->transmission)
        return NB_OK;
    if (!(own = nb_shared_new(sizeof *own, clear, "shadow", err)))
        return NB_ERR_NOMEM;
    in->shade = own;
    own->planes = planes;
    own->key = key;
    return nb_shade_make(&shadow, transmission_of(in->files), &model->scene, threads,
                         &own->shade, err);
}

/* --- absorption --- */

/** Absorption, shared by simulations with the same crystal. */
struct nb_absorb_kept {
    float *plane; /* owned; [pixels] */
    double range[2];
    uint64_t key;
};

static void clear_absorb(void *object)
{
    nb_free(((struct nb_absorb_kept *)object)->plane);
}

nb_status nb_inputs_make_absorb(nb_inputs *in, nb_model *model, int threads, nb_error *err)
{
    const nb_absorber *body = &model->absorber;
    const nb_scene *sc = &model->scene;
    struct nb_absorb_kept *own;
    uint64_t key = nb_hash_bytes(NB_HASH_START, body, sizeof *body);
    key = nb_hash_bytes(key, sc->panels, (size_t)sc->n_panels * sizeof *sc->panels);
    if (in->absorb && in->absorb->key == key)
        return NB_OK;
    nb_shared_drop(in->absorb);
    in->absorb = NULL;
    if (!(body->mu > 0))
        return NB_OK;
    if (!(own = nb_shared_new(sizeof *own, clear_absorb, "absorption", err)))
        return NB_ERR_NOMEM;
    in->absorb = own;
    own->key = key;
    own->plane = nb_alloc_large(sc->raster.pixels, sizeof *own->plane, "absorption", err);
    return own->plane ? nb_absorb_plane(body, sc, threads, own->plane, own->range, err)
                      : NB_ERR_NOMEM;
}

const double *nb_inputs_absorbed(const nb_inputs *in)
{
    static const double all[2] = {1, 1};
    return in->absorb ? in->absorb->range : all;
}

void nb_inputs_shade(const nb_inputs *in, const nb_model *model, nb_mix *mix)
{
    const double typed = model->settings.value.add_fluence,
                 of = typed > 0 ? typed : nb_beam_fluence(&model->settings);
    mix->add = in->files->add ? in->files->add->pixel : NULL;
    mix->absorb = in->absorb ? in->absorb->plane : NULL;
    mix->absorb_hash = in->absorb ? in->absorb->key : 0;
    mix->add_scale = of > 0 ? model->fluence / of : 1;
    mix->max = 1;
    mix->hash = in->files->planes_hash;
    if (!in->shade)
        return;
    mix->transmission = in->shade->shade.transmission ? in->shade->shade.transmission
                                                      : transmission_of(in->files);
    mix->acts = mix->add ? NULL : in->shade->shade.acts;
    mix->lit = in->shade->shade.lit;
    mix->max = in->shade->shade.max;
    mix->hash = in->shade->planes;
}

const nb_shade *nb_inputs_shades(const nb_inputs *in)
{
    return in->shade ? &in->shade->shade : NULL;
}
