/* SPDX-License-Identifier: MIT */
/* Read images from files, and the geometry from their headers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/store.h"
#include "../io/image/image_read.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"
#include "load.h"

/** True if pixel size and distance (or pix0_vector) of the detector are known. */
static int is_located(const nb_config *c)
{
    return (NB_GIVEN(c, distance_mm) || NB_GIVEN(c, close_distance_mm) || c->pix0_m.set) &&
           NB_GIVEN(c, pixel_mm);
}

/** Set the defaults: if the header of an image of nanobragg lacks these values, the image
 * was made with the defaults. */
static void fill_defaults(nb_config *c)
{
    c->lambda_A = nb_beam_wavelength(NB_RESOLVED(c));
    c->energy_eV = NAN;
    c->pixel_mm = NB_VALUE(c, pixel_mm);
    if (!NB_GIVEN(c, close_distance_mm))
        c->distance_mm = NB_VALUE(c, distance_mm);
}

/** Open an image: read an HDF5 frame into *out, or the bytes of another file. */
static nb_status open_image(nb_opened_image *in, const char *path, const char *flag,
                            nb_image *out, nb_error *err)
{
    int frame = -1;
    nb_status st;
    memset(in, 0, sizeof *in);
    in->file.name = path;
    in->format = NB_FORMAT_HDF5;
    if (nb_hdf5_frame_of(path, in->name, &frame))
        in->file.name = in->name;
    if (frame >= 0) {
        const nb_hdf5_wanted wanted = {in->name, frame, 1, &in->said, NULL};
        return nb_hdf5_read_image(&wanted, out, err);
    }
    st = nb_read_file(path, flag, 0, &in->data, &in->file.bytes, err);
    in->file.data = in->data;
    if (!st)
        in->format = nb_image_format_of(&in->file);
    return st;
}

static nb_status locate(const nb_opened_image *in, const nb_config *typed,
                        nb_image *image, nb_error *err)
{
    nb_config *cfg = nb_configs_new(1, err);
    nb_geometry g;
    nb_header_found found;
    nb_status st;
    NB_FORWARD(cfg ? NB_OK : NB_ERR_NOMEM);
    if (typed)
        nb_config_copy(cfg, typed);
    st = nb_header_apply(in, "image", NULL, cfg, &found, err);
    image->pedestal = found.pedestal;
    if (!st && found.own)
        fill_defaults(cfg);
    cfg->detpixels[0] = image->fast;
    cfg->detpixels[1] = image->slow;
    if (!st && is_located(cfg) && !(st = nb_geometry_build(NB_RESOLVED(cfg), &g, err))) {
        image->centre[0] = g.Fbeam / g.pixel;
        image->centre[1] = g.Sbeam / g.pixel;
        image->geometry = cfg;
        cfg = NULL;
    }
    nb_config_free(cfg);
    return st;
}

/** Set the typed size of a headerless image, or check that the image is a square. */
static nb_status set_float_size(nb_opened_image *in, const nb_config *cfg, nb_error *err)
{
    double side = floor(sqrt((double)(in->file.bytes / sizeof(float))) + 0.5);
    double pixels = (double)cfg->detpixels[0] * cfg->detpixels[1];
    if (pixels > 0) {
        in->file.fast = cfg->detpixels[0];
        in->file.slow = cfg->detpixels[1];
    }
    if (in->file.bytes &&
        (pixels > 0 ? pixels : side * side) * sizeof(float) == (double)in->file.bytes)
        return NB_OK;
    if (pixels > 0)
        return nb_fail_at(
            err, NB_ERR_INPUT, in->file.name, 0,
            "not an " NB_READ_FORMATS " image, and its %zu bytes are "
            "not %d x %d floats, the size that is given (-detpixels, or -size)",
            in->file.bytes, cfg->detpixels[0], cfg->detpixels[1]);
    return nb_fail_at(err, NB_ERR_INPUT, in->file.name, 0,
                      "not an " NB_READ_FORMATS " image, and its %zu bytes are "
                      "no square image of floats; type its size (-detpixels, or -size)",
                      in->file.bytes);
}

/** Use the size of an image, unless it is SMV, for the detector along axes without a
 * typed size. */
static void take_size(const int size[2], nb_config *cfg)
{
    int typed[NB_SMV_GROUPS];
    nb_smv_typed_groups(cfg, typed);
    if (!typed[NB_SMV_FAST])
        cfg->detpixels[0] = size[0];
    if (!typed[NB_SMV_SLOW])
        cfg->detpixels[1] = size[1];
}

/** Notes on guesses, and on values of -img that are not used. */
static void tell(const nb_opened_image *in, const int size[2], int is_mask,
                 const char *flag, const nb_hooks *hooks, const nb_config *cfg)
{
    const char *name = in->file.name;
    int plain = nb_image_format_is_plain(nb_image_format_name(in->format));
    if (in->format == NB_FORMAT_FLOAT && !in->file.fast)
        nb_notice(hooks, "%s %s has no known header: it is read as %d x %d floats", flag,
                  name, size[0], size[1]);
    else if (plain && !is_mask)
        nb_notice(hooks, "%s %s is a %s image: only its size is used", flag, name,
                  nb_image_format_name(in->format));
    else if (!plain && !is_mask && in->format != NB_FORMAT_SMV &&
             nb_header_loses_centre(cfg))
        nb_notice(hooks,
                  "%s %s: its beam centre is not used, because you "
                  "typed a convention or a beam centre",
                  flag, name);
}

/** Open an image and read its size and, with_pixels, its pixels. */
static nb_status parse_image(nb_opened_image *in, const char *path, const char *flag,
                             const nb_config *cfg, int with_pixels, nb_image *image,
                             nb_error *err)
{
    nb_status st = open_image(in, path, flag, image, err);
    if (!st && in->format == NB_FORMAT_FLOAT)
        st = set_float_size(in, cfg, err);
    if (!st && in->data && (with_pixels || in->format != NB_FORMAT_SMV))
        st = nb_image_parse(&in->file, image, err);
    return st;
}

/** Complete cfg from the header of an opened image. */
static nb_status apply_header(const nb_opened_image *in, const int size[2], int is_mask,
                              const char *flag, const nb_hooks *hooks, nb_config *cfg,
                              nb_header_found *found, nb_error *err)
{
    nb_status st;
    tell(in, size, is_mask, flag, hooks, cfg);
    st = nb_header_apply(in, flag, hooks, cfg, found, err);
    if (!st && in->format != NB_FORMAT_SMV)
        take_size(size, cfg);
    return st;
}

/** True for a mask with only 0 and 65535, where 65535 means a used pixel, not a marked
 * one. */
static int is_two_grey(const nb_image *mask)
{
    for (size_t i = 0, n = (size_t)mask->fast * (size_t)mask->slow; i < n; i++)
        if (mask->left_out[i] ? mask->pixels[i] != 65535 : mask->pixels[i] != 0)
            return 0;
    return 1;
}

/** Set marked pixels to 0. As a mask they are then masked, as an addition they add
 * nothing, and as a factor they let nothing through. */
static void clear_marked(nb_image *image, const char *flag, const char *name,
                         const nb_hooks *hooks)
{
    char why[240];
    const int is_mask = strcmp(flag, "-mask") == 0;
    const long long marked = nb_image_left_out(image, why, sizeof why);
    if (!marked || (is_mask && is_two_grey(image)))
        return;
    for (size_t i = 0, n = (size_t)image->fast * (size_t)image->slow; i < n; i++)
        image->pixels[i] = image->left_out[i] ? 0 : image->pixels[i];
    if (!is_mask)
        nb_notice(hooks, "%s %s: %lld of %lld pixels left out: %s", flag, name, marked,
                  (long long)image->fast * image->slow, why);
}

nb_status nb_image_load(const char *path, const char *flag, const nb_hooks *hooks,
                        nb_config *cfg, nb_image *pixels, unsigned *fields, nb_error *err)
{
    nb_image image = {0};
    nb_opened_image in;
    nb_header_found found = {0};
    nb_status st = parse_image(&in, path, flag, cfg, 1, &image, err);
    if (!st)
        clear_marked(&image, flag, in.file.name, hooks);
    NB_TRY(apply_header(&in, (int[2]){image.fast, image.slow}, 1, flag, hooks, cfg,
                        &found, err));
    image.pedestal = found.pedestal;
    if (!st && fields)
        *fields |= found.fields;
    nb_free(in.data);
    if (st)
        nb_image_free(&image);
    else
        *pixels = image;
    return st;
}

nb_status nb_image_take_header(const char *path, const char *flag, nb_config *cfg,
                               nb_error *err)
{
    nb_opened_image in = {.file.name = path};
    nb_header_found found;
    nb_status st = nb_read_file(path, flag, 0, &in.data, &in.file.bytes, err);
    in.file.data = in.data;
    if (!st)
        in.format = nb_image_format_of(&in.file);
    NB_TRY(nb_header_apply(&in, flag, NULL, cfg, &found, err));
    nb_free(in.data);
    return st;
}

/** An opened image that the store keeps for its header. */
typedef struct kept_header {
    nb_opened_image in; /* in.data is owned */
    char path[NB_PATH_MAX];
    int size[2];
} kept_header;

static void free_header(void *object)
{
    nb_free(((kept_header *)object)->in.data);
}

typedef struct header_request {
    const char *path, *flag;
    const nb_config *cfg;
} header_request;

static nb_status make_header(void *user, void **object, size_t *bytes, nb_error *err)
{
    const header_request *r = user;
    kept_header *h = nb_shared_new(sizeof *h, free_header, "header of an image", err);
    nb_image image = {0};
    nb_status st;
    if (!(*object = h))
        return NB_ERR_NOMEM;
    snprintf(h->path, sizeof h->path, "%s", r->path);
    st = parse_image(&h->in, h->path, r->flag, r->cfg, 0, &image, err);
    h->size[0] = image.fast;
    h->size[1] = image.slow;
    *bytes = sizeof *h + h->in.file.bytes;
    nb_image_free(&image);
    return st;
}

nb_status nb_image_apply_header(nb_store *store, const char *path, const char *flag,
                                int is_mask, const nb_hooks *hooks, nb_config *cfg,
                                unsigned *fields, nb_error *err)
{
    header_request r = {path, flag, cfg};
    nb_key key = nb_key_of("header");
    nb_header_found found = {0};
    void *object;
    const kept_header *h;
    nb_status st;
    nb_key_file(&key, store, path);
    /* the file has no header, so its size is that of the detector */
    nb_key_add(&key, cfg->detpixels, sizeof cfg->detpixels);
    NB_FORWARD(nb_store_take(store, &key, make_header, &r, &object, err));
    h = object;
    st = apply_header(&h->in, h->size, is_mask, flag, hooks, cfg, &found, err);
    *fields |= found.fields;
    nb_shared_drop(object);
    return st;
}

nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(path && out);
    nb_image panels = {0}; /* only the detector is used */
    nb_opened_image in;
    nb_status st;
    memset(out, 0, sizeof *out);
    if (fast < 0 || slow < 0)
        return nb_fail(err, NB_ERR_INPUT, "a headerless image of %d x %d pixels", fast,
                       slow);
    if (typed && ((st = nb_config_check_fields(typed, err)) ||
                  (st = nb_image_find_panels(NULL, typed, &panels, err))))
        return st;
    st = open_image(&in, path, "image", out, err);
    in.file.fast = fast;
    in.file.slow = slow;
    if (!fast && panels.detector)
        nb_stack_size(panels.detector, &in.file.fast, &in.file.slow);
    if (!st && in.data)
        st = nb_image_parse(&in.file, out, err);
    if (!st && in.data)
        /* the size of a headerless image is now known */
        in.format = nb_image_format_of(&in.file);
    NB_TRY(locate(&in, typed, out, err));
    if (!st && in.format == NB_FORMAT_HDF5 && !panels.detector)
        st = nb_image_find_panels(in.name, NULL, &panels, err);
    out->detector = panels.detector;
    nb_free(in.data);
    if (st)
        nb_image_free(out);
    return st;
}

void nb_image_free(nb_image *image)
{
    if (!image)
        return;
    nb_free(image->pixels);
    nb_free(image->left_out);
    nb_config_free((nb_config *)(uintptr_t)image->geometry);
    if (image->detector)
        nb_detector_spec_free(image->detector);
    nb_free(image->detector);
    memset(image, 0, sizeof *image);
}

nb_status nb_image_leave_out(nb_image *image, const nb_image *mask, const char *name,
                             nb_error *err)
{
    NB_REFUSE_NULL(image && image->pixels && mask && mask->pixels && name);
    const uint8_t *marks;
    if (mask->fast != image->fast || mask->slow != image->slow)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "-mask has %d x %d pixels, but the image has %d x %d",
                          mask->fast, mask->slow, image->fast, image->slow);
    if (!nb_left_out_of(image, err))
        return NB_ERR_NOMEM;
    marks = mask->left_out && !is_two_grey(mask) ? mask->left_out : NULL;
    for (size_t i = 0, n = (size_t)image->fast * (size_t)image->slow; i < n; i++)
        if (!(mask->pixels[i] > 0) || (marks && marks[i]))
            image->left_out[i] = NB_LEFT_TYPED;
    return NB_OK;
}

int64_t nb_image_left_out(const nb_image *image, char *text, size_t size)
{
    int64_t counts[NB_LEFT_KINDS] = {0}, sum = 0;
    if (text && size)
        text[0] = '\0';
    if (!image || !image->left_out)
        return 0;
    for (size_t i = 0, n = (size_t)image->fast * (size_t)image->slow; i < n; i++)
        counts[image->left_out[i]]++;
    for (int k = NB_LEFT_MASK; k < NB_LEFT_KINDS; k++)
        sum += counts[k];
    if (text && size)
        nb_left_out_words(counts, "the file", text, size);
    return sum;
}
