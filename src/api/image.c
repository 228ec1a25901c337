/* SPDX-License-Identifier: MIT */
/* Images from files, and what their headers say of the geometry. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/image_read.h"
#include "../io/smv_keys.h"
#include "../io/smv_read.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/units.h"

/** Do we know where the detector stands? */
static int is_located(const nb_config *c)
{
    return (!isnan(c->distance_mm) || !isnan(c->close_distance_mm) || c->pix0_m.set) &&
           !isnan(c->pixel_mm);
}

/** Our own files leave out what was not typed: the defaults hold then. */
static void fill_defaults(nb_config *c)
{
    c->lambda_A = nb_beam_wavelength(c);
    c->energy_eV = NAN;
    c->pixel_mm = nb_or(c->pixel_mm, 0.1);
    if (isnan(c->close_distance_mm))
        c->distance_mm = nb_or(c->distance_mm, 100);
}

static nb_status apply_header(const nb_image_file *file, nb_config *cfg, nb_error *err)
{
    nb_smv_header header = {0};
    nb_status st = nb_smv_parse(file->data, file->bytes, file->name, &header, err);
    if (!st)
        st = nb_smv_apply_header(&header, cfg, err);
    if (!st && nb_smv_find(&header, NB_SMV_MARK))
        fill_defaults(cfg);
    nb_smv_header_free(&header);
    return st;
}

static nb_status locate(const nb_image_file *file, const nb_config *typed,
                        nb_image *image, nb_error *err)
{
    nb_config *cfg = nb_alloc(1, sizeof *cfg, "geometry of an image", err);
    nb_geometry g;
    nb_status st = cfg ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    if (typed)
        *cfg = *typed;
    else
        nb_config_defaults(cfg);
    if (nb_image_format_of(file) == NB_FORMAT_SMV)
        st = apply_header(file, cfg, err);
    cfg->detpixels[0] = image->fast;
    cfg->detpixels[1] = image->slow;
    if (!st && is_located(cfg) && !(st = nb_geometry_build(cfg, &g, err))) {
        image->centre[0] = g.Fbeam / g.pixel;
        image->centre[1] = g.Sbeam / g.pixel;
        image->geometry = cfg;
        cfg = NULL;
    }
    nb_free(cfg);
    return st;
}

nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err)
{
    nb_image_file file = {NULL, 0, path, fast, slow};
    char *data = NULL;
    nb_status st;
    memset(out, 0, sizeof *out);
    st = nb_read_file(path, "image", 0, &data, &file.bytes, err);
    file.data = data;
    if (!st)
        st = nb_image_parse(&file, out, err);
    if (!st)
        st = locate(&file, typed, out, err);
    nb_free(data);
    if (st)
        nb_image_free(out);
    return st;
}

void nb_image_free(nb_image *image)
{
    if (!image)
        return;
    nb_free(image->pixels);
    nb_free(image->geometry);
    memset(image, 0, sizeof *image);
}
