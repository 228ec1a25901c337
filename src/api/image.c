/* SPDX-License-Identifier: MIT */
/* Images from files, and what their headers say of the geometry. */
#include <math.h>
#include <string.h>

#include "../base/c_locale.h"
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
#include "../params/params.h"
#include "image.h"
#include "stack.h"
#include "sim.h"

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

/** *own: it is a file of ours. */
static nb_status apply_smv(const nb_image_file *file, nb_config *cfg, int *own,
                           double *pedestal, nb_error *err)
{
    nb_smv_header header = {0};
    nb_status st = nb_smv_parse(file->data, file->bytes, file->name, &header, err);
    *pedestal = st ? 0 : pedestal_of(&header);
    if (!st)
        st = nb_smv_apply_header(&header, cfg, err);
    *own = !st && nb_smv_find(&header, NB_SMV_MARK);
    nb_smv_header_free(&header);
    return st;
}

static int has_centre(const nb_config *c)
{
    return !isnan(c->Xbeam_mm) || !isnan(c->Ybeam_mm) || !isnan(c->Xclose_mm) ||
           !isnan(c->Yclose_mm) || !isnan(c->orgx) || !isnan(c->orgy) || c->pix0_m.set;
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
    if (cfg->convention == NB_CONV_UNSET && !has_centre(cfg) &&
        !isnan(beam_px[0] + beam_px[1] + cfg->pixel_mm)) {
        cfg->convention = NB_CONV_DENZO;
        cfg->Xbeam_mm = beam_px[1] * cfg->pixel_mm;
        cfg->Ybeam_mm = beam_px[0] * cfg->pixel_mm;
    }
}

/** Was nothing typed that says where the detector stands? */
static int is_unplaced(const nb_config *c)
{
    const double typed[] = {
        c->distance_mm, c->close_distance_mm, c->Xbeam_mm,   c->Ybeam_mm,
        c->Xclose_mm,   c->Yclose_mm,         c->orgx,       c->orgy,
        c->rot_deg[0],  c->rot_deg[1],        c->rot_deg[2], c->twotheta_deg,
        c->pixel_mm};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        if (!isnan(typed[i]))
            return 0;
    return c->convention == NB_CONV_UNSET && !c->pix0_m.set;
}

static nb_opt3 vector(const double v[3], double scale)
{
    return (nb_opt3){1, {v[0] * scale, v[1] * scale, v[2] * scale}};
}

/** Masters of ours say the place in vectors, which hold a tilt too; of others there is distance and
 * beam centre. */
static void apply_hdf5(const nb_hdf5_geometry *said, nb_config *cfg)
{
    const double *f = said->fast_axis, *s = said->slow_axis;
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += said->pix0_mm[i] + f[i] + s[i] + said->beam[i] + said->spindle[i];
    if (is_unplaced(cfg) && isfinite(sum)) {
        const double normal[3] = {f[1] * s[2] - f[2] * s[1], f[2] * s[0] - f[0] * s[2],
                                  f[0] * s[1] - f[1] * s[0]};
        cfg->convention = NB_CONV_CUSTOM;
        cfg->pix0_m = vector(said->pix0_mm, 1e-3);
        cfg->fdet_vector = vector(f, 1);
        cfg->sdet_vector = vector(s, 1);
        cfg->odet_vector = vector(normal, 1);
        cfg->beam_vector = vector(said->beam, 1);
        cfg->spindle_axis = vector(said->spindle, 1);
        if (isfinite(said->polar_axis[0]))
            cfg->polar_vector = vector(said->polar_axis, 1);
    }
    complete(cfg, said->pixel_mm, said->wavelength_A,
             cfg->pix0_m.set ? NAN : said->distance_mm, said->beam_px);
}

static void apply_cbf(const nb_image_file *file, nb_config *cfg)
{
    nb_cbf_header h;
    nb_cbf_read_header(file, &h);
    complete(cfg, h.pixel_m * 1e3, h.wavelength_A, h.distance_m * 1e3, h.beam_px);
}

/** A file that is being read. */
typedef struct opened {
    nb_image_file file;
    char name[NB_PATH_MAX];
    nb_image_format format;
    char *data;            /* owned; NULL: HDF5 */
    nb_hdf5_geometry said; /* by HDF5 */
} opened;

/** Read it once: an HDF5 frame into *out, of other formats the bytes.  most_MB: -max_read. */
static nb_status open_image(opened *in, const char *path, const char *flag,
                            double most_MB, nb_image *out, nb_error *err)
{
    int frame = -1;
    nb_status st;
    memset(in, 0, sizeof *in);
    in->file.name = path;
    in->file.most_MB = most_MB;
    in->format = NB_FORMAT_HDF5;
    if (nb_hdf5_frame_of(path, in->name, &frame))
        in->file.name = in->name;
    if (frame >= 0)
        return nb_hdf5_read_image(in->name, frame, most_MB, out, &in->said, err);
    st = nb_read_file(path, flag, 0, &in->data, &in->file.bytes, err);
    in->file.data = in->data;
    if (!st)
        in->format = nb_image_format_of(&in->file);
    return st;
}

/** What the file says of the geometry; own and pedestal as above. */
static nb_status apply(const opened *in, nb_config *cfg, int *own, double *pedestal,
                       nb_error *err)
{
    *own = 0;
    if (in->format == NB_FORMAT_SMV)
        return apply_smv(&in->file, cfg, own, pedestal, err);
    if (in->format == NB_FORMAT_HDF5)
        apply_hdf5(&in->said, cfg);
    else if (in->format == NB_FORMAT_CBF)
        apply_cbf(&in->file, cfg);
    return NB_OK;
}

static nb_status locate(const opened *in, const nb_config *typed, nb_image *image,
                        nb_error *err)
{
    nb_config *cfg = nb_alloc(1, sizeof *cfg, "geometry of an image", err);
    nb_geometry g;
    int own;
    nb_status st = cfg ? NB_OK : NB_ERR_NOMEM;
    if (st)
        return st;
    if (typed)
        *cfg = *typed;
    else
        nb_config_defaults(cfg);
    st = apply(in, cfg, &own, &image->pedestal, err);
    if (!st && own)
        fill_defaults(cfg);
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

/** The size of a headerless image: what was typed, else the parser takes a square. */
static nb_status set_float_size(opened *in, const nb_config *cfg, nb_error *err)
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
    return nb_fail_at(err, NB_ERR_INPUT, in->file.name, 0,
                      "not an SMV, CBF, TIFF, PGM or HDF5 image, and its %zu bytes are "
                      "neither a square image of floats nor an image of -detpixels",
                      in->file.bytes);
}

/** Its size is the detector's, as far as none was typed (SMV has done that). */
static void take_size(const nb_image *image, nb_config *cfg)
{
    int typed[NB_SMV_GROUPS];
    nb_smv_typed_groups(cfg, typed);
    if (!typed[NB_SMV_FAST])
        cfg->detpixels[0] = image->fast;
    if (!typed[NB_SMV_SLOW])
        cfg->detpixels[1] = image->slow;
}

/** What was guessed, and what a user of -img would expect and does not get. */
static void tell(const opened *in, const nb_image *image, int is_mask, const char *flag,
                 const nb_hooks *hooks, const nb_config *cfg)
{
    const char *name = in->file.name;
    int plain = in->format == NB_FORMAT_TIFF || in->format == NB_FORMAT_PGM ||
                in->format == NB_FORMAT_FLOAT;
    if (in->format == NB_FORMAT_FLOAT && !in->file.fast)
        nb_notice(hooks, "%s %s has no known header: it is read as %d x %d floats", flag,
                  name, image->fast, image->slow);
    else if (plain && !is_mask)
        nb_notice(hooks, "%s %s is a %s image: only its size is used", flag, name,
                  nb_image_format_name(in->format));
    else if (!plain && !is_mask && in->format != NB_FORMAT_SMV &&
             (cfg->convention || has_centre(cfg)))
        nb_notice(hooks,
                  "%s %s: its beam centre is not used, because you "
                  "typed a convention or a beam centre",
                  flag, name);
}

nb_status nb_image_load(const char *path, const char *flag, const nb_hooks *hooks,
                        nb_config *cfg, nb_image *pixels, nb_error *err)
{
    nb_image image = {0};
    opened in;
    int own;
    nb_status st = open_image(&in, path, flag, cfg->max_read_MB, &image, err);
    if (!st && in.format == NB_FORMAT_FLOAT)
        st = set_float_size(&in, cfg, err);
    if (!st && in.data && (pixels || in.format != NB_FORMAT_SMV))
        st = nb_image_parse(&in.file, &image, err);
    if (!st)
        tell(&in, &image, pixels != NULL, flag, hooks, cfg);
    if (!st)
        st = apply(&in, cfg, &own, &image.pedestal, err);
    if (!st && in.format != NB_FORMAT_SMV)
        take_size(&image, cfg);
    nb_free(in.data);
    if (!st && pixels)
        *pixels = image;
    else
        nb_image_free(&image);
    return st;
}

nb_status nb_image_read(const char *path, int fast, int slow, const nb_config *typed,
                        nb_image *out, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(path && out);
    nb_image panels = {0}; /* its detector alone */
    opened in;
    nb_status st;
    memset(out, 0, sizeof *out);
    if (fast < 0 || slow < 0)
        return nb_fail(err, NB_ERR_INPUT, "a headerless image of %d x %d pixels", fast,
                       slow);
    if (typed && ((st = nb_config_check_fields(typed, err)) ||
                  (st = nb_image_find_panels(NULL, typed, &panels, err))))
        return st;
    st = open_image(&in, path, "image", typed ? typed->max_read_MB : 0, out, err);
    in.file.fast = fast;
    in.file.slow = slow;
    if (!fast && panels.detector)
        nb_stack_size(panels.detector, &in.file.fast, &in.file.slow);
    if (!st && in.data)
        st = nb_image_parse(&in.file, out, err);
    if (!st && in.data)
        in.format = nb_image_format_of(&in.file); /* the size tells a headerless one */
    if (!st)
        st = locate(&in, typed, out, err);
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
    nb_free(image->geometry);
    if (image->detector)
        nb_detector_spec_free(image->detector);
    nb_free(image->detector);
    memset(image, 0, sizeof *image);
}
