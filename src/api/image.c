/* SPDX-License-Identifier: MIT */
/* Images from files, and what their headers say of the geometry. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/cbf_read.h"
#include "../io/hdf5_read.h"
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

/** What SMV headers say: ours has IMAGE_PEDESTAL, as ADSC's detectors do. */
static double pedestal_of(const nb_smv_header *header)
{
    double value = 0;
    if (nb_smv_number(header, "IMAGE_PEDESTAL", &value) != 1)
        return 0;
    return value;
}

static nb_status apply_header(const nb_image_file *file, nb_config *cfg, double *pedestal,
                              nb_error *err)
{
    nb_smv_header header = {0};
    nb_status st = nb_smv_parse(file->data, file->bytes, file->name, &header, err);
    *pedestal = st ? 0 : pedestal_of(&header);
    if (!st)
        st = nb_smv_apply_header(&header, cfg, err);
    if (!st && nb_smv_find(&header, NB_SMV_MARK))
        fill_defaults(cfg);
    nb_smv_header_free(&header);
    return st;
}

/** What a file says of pixel, wavelength, distance and beam centre (pixels from the outer corner of
 * the first, fast and slow), where nothing was typed.  The DENZO convention has no half pixel. */
static void complete(nb_config *cfg, double pixel_mm, double wavelength_A,
                     double distance_mm, const double beam_px[2])
{
    cfg->pixel_mm = nb_or(cfg->pixel_mm, pixel_mm);
    if (isnan(cfg->energy_eV))
        cfg->lambda_A = nb_or(cfg->lambda_A, wavelength_A);
    if (isnan(cfg->close_distance_mm))
        cfg->distance_mm = nb_or(cfg->distance_mm, distance_mm);
    if (cfg->convention == NB_CONV_UNSET && isnan(cfg->Xbeam_mm) &&
        isnan(cfg->Ybeam_mm) && !isnan(beam_px[0] + beam_px[1] + cfg->pixel_mm)) {
        cfg->convention = NB_CONV_DENZO;
        cfg->Xbeam_mm = beam_px[1] * cfg->pixel_mm;
        cfg->Ybeam_mm = beam_px[0] * cfg->pixel_mm;
    }
}

static void apply_cbf(const nb_image_file *file, nb_config *cfg)
{
    nb_cbf_header h;
    nb_cbf_read_header(file, &h);
    complete(cfg, h.pixel_m * 1e3, h.wavelength_A, h.distance_m * 1e3, h.beam_px);
}

static nb_status locate(const nb_image_file *file, const nb_hdf5_geometry *said,
                        const nb_config *typed, nb_image *image, nb_error *err)
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
    if (said)
        complete(cfg, said->pixel_mm, said->wavelength_A, said->distance_mm,
                 said->beam_px);
    else if (nb_image_format_of(file) == NB_FORMAT_CBF)
        apply_cbf(file, cfg);
    else if (nb_image_format_of(file) == NB_FORMAT_SMV)
        st = apply_header(file, cfg, &image->pedestal, err);
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

static nb_status read_bytes(nb_image_file *file, const nb_config *typed, nb_image *out,
                            nb_error *err)
{
    char *data = NULL;
    nb_status st = nb_read_file(file->name, "image", 0, &data, &file->bytes, err);
    file->data = data;
    if (!st)
        st = nb_image_parse(file, out, err);
    if (!st)
        st = locate(file, NULL, typed, out, err);
    nb_free(data);
    return st;
}

static nb_status read_frame(const nb_image_file *file, int frame, const nb_config *typed,
                            nb_image *out, nb_error *err)
{
    nb_hdf5_geometry said;
    nb_status st = nb_hdf5_read_image(file->name, frame, out, &said, err);
    return st ? st : locate(file, &said, typed, out, err);
}

nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err)
{
    nb_image_file file = {NULL, 0, path, fast, slow};
    char name[NB_PATH_MAX];
    int frame = -1;
    nb_status st;
    memset(out, 0, sizeof *out);
    if (nb_hdf5_frame_of(path, name, &frame))
        file.name = name;
    st = frame >= 0 ? read_frame(&file, frame, typed, out, err)
                    : read_bytes(&file, typed, out, err);
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
