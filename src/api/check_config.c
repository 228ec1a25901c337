/* SPDX-License-Identifier: MIT */
/* Every number, count, word and text of a configuration: what the program's option table refuses
 * when it is typed is refused here when it comes from a caller. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../base/error.h"
#include "sim.h"

/** A number or an array of them; NaN is allowed where it means unset. */
typedef struct number_rule {
    const char *flag;
    size_t offset;
    int count, may_be_unset;
    double low, high;
} number_rule;

/** An int or an array of them, or an enumeration. */
typedef struct whole_rule {
    const char *flag;
    size_t offset;
    int count, low, high;
} whole_rule;

typedef struct text_rule {
    const char *flag;
    size_t offset, size;
} text_rule;

#define AT(member) offsetof(nb_config, member)
#define TEXT(flag, member)                                                               \
    {                                                                                    \
        flag, AT(member), sizeof((nb_config *)0)->member                                 \
    }
#define TINY 1e-300
#define LARGE 1e300
#define ANY -DBL_MAX, DBL_MAX

/* clang-format off */
static const number_rule numbers[] = {
    {"-default_F", AT(default_F), 1, 1, 0, 1e150},
    {"-samplesize", AT(xtal_size_mm), 3, 1, 0, LARGE},
    {"-fudge", AT(fudge), 1, 0, TINY, LARGE},
    {"-misset", AT(misset_deg), 3, 0, ANY},
    {"-mosaic", AT(mosaic_spread_deg), 1, 1, 0, 180},
    {"-lambda", AT(lambda_A), 1, 1, 1e-6, 1e6},
    {"-energy", AT(energy_eV), 1, 1, 1e-2, 1e10},
    {"-fluence", AT(fluence), 1, 1, 0, LARGE},
    {"-flux", AT(flux), 1, 0, 0, LARGE},
    {"-exposure", AT(exposure_s), 1, 0, 0, LARGE},
    {"-beamsize", AT(beamsize_mm), 1, 1, TINY, LARGE},
    {"-polar", AT(polarization), 1, 0, -1, 1},
    {"-hdivrange", AT(hdiv_range_mrad), 1, 1, 0, LARGE},
    {"-vdivrange", AT(vdiv_range_mrad), 1, 1, 0, LARGE},
    {"-hdivstep", AT(hdiv_step_mrad), 1, 1, 0, LARGE},
    {"-vdivstep", AT(vdiv_step_mrad), 1, 1, 0, LARGE},
    {"-dispersion", AT(dispersion_pct), 1, 1, 0, 199},
    {"-dispstep", AT(dispersion_step_pct), 1, 1, 0, 200},
    {"-phi", AT(phi_deg), 1, 1, ANY},
    {"-osc", AT(osc_deg), 1, 1, 0, 1e6},
    {"-phistep", AT(phistep_deg), 1, 1, 0, 1e6},
    {"-detsize", AT(detsize_mm), 2, 1, TINY, 1e12},
    {"-pixel", AT(pixel_mm), 1, 1, TINY, 1e6},
    {"-distance", AT(distance_mm), 1, 1, TINY, 1e12},
    {"-close_distance", AT(close_distance_mm), 1, 1, TINY, 1e12},
    {"-Xbeam", AT(Xbeam_mm), 1, 1, ANY}, {"-Ybeam", AT(Ybeam_mm), 1, 1, ANY},
    {"-Xclose", AT(Xclose_mm), 1, 1, ANY}, {"-Yclose", AT(Yclose_mm), 1, 1, ANY},
    {"-ORGX", AT(orgx), 1, 1, ANY}, {"-ORGY", AT(orgy), 1, 1, ANY},
    {"-detector_rot", AT(rot_deg), 3, 1, ANY},
    {"-twotheta", AT(twotheta_deg), 1, 1, ANY},
    {"two-theta of -close_distance", AT(close_twotheta_deg), 1, 1, ANY},
    {"-max_read", AT(max_read_MB), 1, 0, 0, 1e9},
    {"-detector_thick", AT(thick_um), 1, 1, 0, 1e9},
    {"-detector_abs", AT(abs_um), 1, 1, 0, INFINITY},
    {"-blocks", AT(blocks), 1, 1, TINY, LARGE},
    {"-crystal_volume", AT(crystal_volume_um3), 1, 1, TINY, LARGE},
    {"-water", AT(water_um), 1, 0, 0, 1e9},
    {"-dmin", AT(dmin_A), 1, 0, 0, LARGE},
    {"-adc", AT(adc_offset), 1, 0, 0, 65535},
    {"-scale", AT(scale), 1, 0, 0, LARGE},
    {"-pgmscale", AT(pgm_scale), 1, 0, 0, LARGE},
    {"-truth_min", AT(truth_min), 1, 0, 0, LARGE},
};

static const whole_rule wholes[] = {
    {"-cell: number of values", AT(cell_count), 1, 0, 6},
    {"-N", AT(N), 3, 0, 1000000000},
    {"crystal shape", AT(shape), 1, NB_SHAPE_SQUARE, NB_SHAPE_TOPHAT},
    {"-misset: mode", AT(misset_mode), 1, NB_MISSET_NONE, NB_MISSET_RANDOM},
    {"-mosaic_dom", AT(mosaic_domains), 1, 0, 1000000000},
    {"-interpolate", AT(interpolate), 1, NB_AUTO, NB_ON},
    {"-mosaic_model", AT(mosaic_model), 1, NB_MOSAIC_NANOBRAGG, NB_MOSAIC_GAUSS},
    {"-curved_omega", AT(curved_omega), 1, NB_OMEGA_UNSET, NB_OMEGA_EXACT},
    {"-layer_depth", AT(layer_depth), 1, NB_LAYER_UNSET, NB_LAYER_FRONT},
    {"-pngshow", AT(png.show), 1, NB_PNG_EXPECTED, NB_PNG_NOISE},
    {"-hdivsteps", AT(hdiv_steps), 1, 0, 1000000000},
    {"-vdivsteps", AT(vdiv_steps), 1, 0, 1000000000},
    {"-dispsteps", AT(dispersion_steps), 1, 0, 1000000000},
    {"-phisteps", AT(phi_steps), 1, 0, 1000000000},
    {"-detpixels", AT(detpixels), 2, 0, 1000000},
    {"convention", AT(convention), 1, NB_CONV_UNSET, NB_CONV_CUSTOM},
    {"-pivot", AT(pivot), 1, NB_PIVOT_UNSET, NB_PIVOT_SAMPLE},
    {"pivot_implied", AT(pivot_implied), 1, NB_PIVOT_UNSET, NB_PIVOT_SAMPLE},
    {"-detector_thicksteps", AT(thick_steps), 1, 0, 100000},
    {"-oversample", AT(oversample), 1, 0, 10000},
    {"-tiffbits", AT(tiff_bits), 1, 16, 32},
    {"-truth", AT(truth), 1, NB_TRUTH_NONE, NB_TRUTH_SPOTS},
    {"-threads", AT(threads), 1, 0, 4096},
    {"-isa", AT(isa), 1, NB_ISA_AUTO, NB_ISA_NEON},
    {"-precision", AT(precision), 1, NB_PRECISION_MIXED, NB_PRECISION_DOUBLE},
};

static const text_rule texts[] = {
    TEXT("-mat", mat_file), TEXT("-hkl", hkl_file), TEXT("-dump", dump_file),
    TEXT("-sourcefile", source_file), TEXT("-mask", mask_file), TEXT("-img", img_file),
    TEXT("-floatfile", float_file), TEXT("-intfile", int_file), TEXT("-pgmfile", pgm_file),
    TEXT("-noisefile", noise_file), TEXT("-pngfile", png_file),
    TEXT("-tifffile", tiff_file), TEXT("-truthfile", truth_file), TEXT("-report", report_file), TEXT("-device", device),
    TEXT("command line", command_line),
};
/* clang-format on */

enum {
    NUMBERS = sizeof numbers / sizeof *numbers,
    WHOLES = sizeof wholes / sizeof *wholes,
    TEXTS = sizeof texts / sizeof *texts
};
/* an enumeration is read as an int */
_Static_assert(sizeof(nb_shape) == sizeof(int) && sizeof(nb_tristate) == sizeof(int),
               "enum size");

static nb_status check_number(const char *flag, double value, double low, double high,
                              nb_error *err)
{
    if (value >= low && value <= high)
        return NB_OK;
    if (!(value >= low) && !(value < low))
        return nb_fail(err, NB_ERR_INPUT, "%s: not a number (NaN)", flag);
    if (high == DBL_MAX)
        return nb_fail(err, NB_ERR_INPUT, "%s %g: must be finite", flag, value);
    return nb_fail(err, NB_ERR_INPUT, "%s %g: must be between %g and %g", flag, value,
                   low, high);
}

static nb_status check_whole(const char *flag, int value, int low, int high, nb_error *err)
{
    if (value >= low && value <= high)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s %d: must be between %d and %d", flag, value,
                   low, high);
}

static nb_status check_numbers(const nb_config *cfg, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < NUMBERS && !st; i++) {
        const number_rule *r = &numbers[i];
        for (int j = 0; j < r->count && !st; j++) {
            double v;
            memcpy(&v, (const char *)cfg + r->offset + (size_t)j * sizeof v, sizeof v);
            if (!isnan(v) || !r->may_be_unset)
                st = check_number(r->flag, v, r->low, r->high, err);
        }
    }
    for (int i = 0; i < cfg->cell_count && !st; i++)
        if (cfg->cell[i] != 0) /* unset */
            st = check_number("-cell", cfg->cell[i], i < 3 ? 1e-30 : TINY,
                              i < 3 ? 1e30 : 180, err);
    return st;
}

static nb_status check_wholes(const nb_config *cfg, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < WHOLES && !st; i++) {
        const whole_rule *r = &wholes[i];
        for (int j = 0; j < r->count && !st; j++) {
            int v;
            memcpy(&v, (const char *)cfg + r->offset + (size_t)j * sizeof v, sizeof v);
            st = check_whole(r->flag, v, r->low, r->high, err);
        }
    }
    if (!st && cfg->tiff_bits != 16 && cfg->tiff_bits != 32)
        st = nb_fail(err, NB_ERR_INPUT, "-tiffbits %d: must be 16 or 32", cfg->tiff_bits);
    return st;
}

static nb_status check_three(const char *flag, const nb_opt3 *v, double low, double high,
                             nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; v->set && i < 3 && !st; i++)
        st = check_number(flag, v->v[i], low, high, err);
    return st;
}

static nb_status check_vector(const char *flag, const nb_opt3 *v, nb_error *err)
{
    return check_three(flag, v, -1e100, 1e100, err);
}

static nb_status check_vectors(const nb_config *cfg, nb_error *err)
{
    nb_status st;
    if ((st = check_vector("-fdet_vector", &cfg->fdet_vector, err)) ||
        (st = check_vector("-sdet_vector", &cfg->sdet_vector, err)) ||
        (st = check_vector("-odet_vector", &cfg->odet_vector, err)) ||
        (st = check_vector("-beam_vector", &cfg->beam_vector, err)) ||
        (st = check_vector("-polar_vector", &cfg->polar_vector, err)) ||
        (st = check_vector("-spindle_axis", &cfg->spindle_axis, err)) ||
        (st = check_vector("-twotheta_axis", &cfg->twotheta_axis, err)) ||
        (st = check_three("-mosaic_aniso", &cfg->mosaic_aniso_deg, 0, 180, err)))
        return st;
    return check_vector("-pix0_vector", &cfg->pix0_m, err);
}

static nb_status check_texts(const nb_config *cfg, nb_error *err)
{
    for (int i = 0; i < TEXTS; i++)
        if (!memchr((const char *)cfg + texts[i].offset, 0, texts[i].size))
            return nb_fail(err, NB_ERR_INPUT,
                           "%s: the text has no end (a NUL within %zu bytes)",
                           texts[i].flag, texts[i].size);
    return NB_OK;
}

nb_status nb_check_png(const nb_png_options *o, nb_error *err)
{
    nb_status st;
    if ((st = check_whole("-colormap", (int)o->colormap, NB_MAP_GREY, NB_MAP_HEAT, err)) ||
        (st = check_whole("-pngscale", (int)o->scale, NB_PNG_AUTO, NB_PNG_RANGE, err)) ||
        (st = check_whole("-pngrings: number of rings", o->rings, 0, NB_RINGS_MAX, err)))
        return st;
    if (o->gamma != 0 && (st = check_number("-pnggamma", o->gamma, 0.01, 100, err)))
        return st;
    if (o->scale == NB_PNG_PERCENTILE &&
        (st = check_number("-pngscale", o->percentile, TINY, 100, err)))
        return st;
    if (o->scale == NB_PNG_RANGE && ((st = check_number("-pngscale", o->low, ANY, err)) ||
                                     (st = check_number("-pngscale", o->high, ANY, err))))
        return st;
    for (int i = 0; i < o->rings && !st; i++)
        st = check_number("-pngrings", o->ring_A[i], TINY, LARGE, err);
    return st;
}

nb_status nb_check_config(const nb_config *cfg, nb_error *err)
{
    nb_status st;
    if (!isnan(cfg->blocks) && !isnan(cfg->crystal_volume_um3))
        return nb_fail(err, NB_ERR_INPUT,
                       "-blocks %g and -crystal_volume %g: both set the "
                       "number of blocks; give one of them",
                       cfg->blocks, cfg->crystal_volume_um3);
    if ((st = check_texts(cfg, err)) || (st = check_wholes(cfg, err)) ||
        (st = check_numbers(cfg, err)) || (st = check_vectors(cfg, err)) ||
        (st = nb_device_check(cfg->device, err)))
        return st;
    return nb_check_png(&cfg->png, err);
}

/** Numbers that are fine alone and too large together. */
nb_status nb_check_model(const nb_config *cfg, const nb_model *m, nb_error *err)
{
    const nb_geometry *g = &m->geometry;
    const nb_crystal *x = &m->crystal;
    double place = nb_norm(g->pix0) + fabs(g->distance) + fabs(g->close_distance);
    if (!isfinite(m->fluence) && cfg->flux != 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-flux %g x -exposure %g over -beamsize %g squared overflows",
                       cfg->flux, cfg->exposure_s, cfg->beamsize_mm);
    if (!isfinite(m->scene.intensity_scale) || !isfinite(m->scene.background))
        return nb_fail(err, NB_ERR_INPUT,
                       "-fluence %g x %g blocks of the crystal overflows", m->fluence,
                       m->blocks);
    if (!isfinite(place + g->Fbeam + g->Sbeam))
        return nb_fail(err, NB_ERR_INPUT,
                       "the detector position is not finite: check -pixel, -distance, "
                       "the beam centre and -pix0_vector");
    if (!isfinite(nb_norm(x->a) + nb_norm(x->b) + nb_norm(x->c)) || !(x->volume > 0) ||
        !isfinite(x->volume))
        return nb_fail(err, NB_ERR_INPUT,
                       "the unit cell has no finite volume: check -cell and -mat");
    return NB_OK;
}
