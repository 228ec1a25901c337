/* SPDX-License-Identifier: MIT */
/* Checks of flags that contradict or need each other. */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "../physics/shapes.h"
#include "params.h"

/** Two flags of which only one may be set. */
static const struct pair {
    const char *a, *b, *why;
} pairs[] = {
    {"detpixels_f", "detsize_f", "both set the detector's size"},
    {"detpixels_s", "detsize_s", "both set the detector's size"},
    {"Na", "sample_x", "both set the crystal's size"},
    {"Nb", "sample_y", "both set the crystal's size"},
    {"Nc", "sample_z", "both set the crystal's size"},
    {"crystal_volume", "blocks", "both set the number of blocks"},
    {"mosaic_tensor", "mosaic", "both set the spread of the domains"},
    {"mosaic_tensor", "mosaic_aniso", "both set the spread of the domains"},
    {"mosaic_tensor", "mosaic_blocks", "the file has all rotations"},
    {"distance", "close_distance", "both set the detector's position"},
    {"fluence", "flux", "both set the fluence"},
    {"sensor", "detector_abs", "both set the sensor's attenuation"},
    {"stol", "4stol", "both name the table of a background"},
    {"stol", "Q", "both name the table of a background"},
    {"4stol", "Q", "both name the table of a background"},
    {"molecules", "amorphous_thick", "both say how much of the material the beam meets"},
    {"molecules", "density", "both say how much of the material the beam meets"},
    {"molecules", "MW", "both say how much of the material the beam meets"},
    {"geomout", "adxv", "such a file holds no mirrored frame"},
    {"geomout", "curved_det", "such a file holds flat panels"},
    {"exptout", "adxv", "such a file holds no mirrored frame"},
    {"exptout", "curved_det", "such a file holds flat panels"},
    {"pnggamma", "pnglog", "both set how values become colours"},
    {"footprint", "compat", "the old program has none"},
    {"beamstop", "compat", "the old program has none"},
    {"transmission", "compat", "the old program has none"},
    {"add", "compat", "the old program has none"},
    {"absorb", "compat", "the old program has none"},
    {"dose", "compat", "the old program has none"},
    {"diffuse_sigma", "compat", "the old program has no diffuse scattering"},
};

#define OF_TABLE "a table to write: add -stolout FILE"
#define OF_MATERIAL                                                                      \
    "a table: add -stol, -4stol or -Q FILE; the path in water, air or ice stands in "    \
    "-background"
/** A flag that needs one of several other flags. */
static const struct need {
    const char *flag, *of[4], *what;
} needs_of[] = {
    {"amorphous_thick", {"stol", "4stol", "Q", "stolout"}, OF_MATERIAL},
    {"molecules", {"stol", "4stol", "Q", "stolout"}, OF_MATERIAL},
    {"stolrings",
     {"stolsmooth"},
     "a smooth table, of which it keeps rings of ice: add -stolsmooth w"},
    {"stolout", {"stolimage", "img"}, "an image: add -stolimage FILE or -img FILE"},
    {"stolimage", {"stolout"}, OF_TABLE},
    {"stolstep", {"stolout"}, OF_TABLE},
    {"stolsmooth", {"stolout"}, OF_TABLE},
    {"psf_fwhm", {"psf"}, "a point spread: add -psf gauss or -psf fibre"},
    {"calib_seed", {"calibration"}, "the r.m.s. error of the gain: add -calibration s"},
    {"absorb", {"absorb_mu"}, "-absorb_mu, 1/mm or formula:density"},
    {"absorb_mu", {"absorb"}, "-absorb"},
    {"dose_material", {"dose"}, "-dose auto"},
    {"damage_B", {"dose"}, "-dose"},
    {"damage_cell", {"dose"}, "-dose"},
    {"damage_half", {"dose"}, "-dose"},
    {"diffuse_gamma", {"diffuse_sigma"}, "-diffuse_sigma s"},
    {"diffuse_halo", {"diffuse_sigma"}, "-diffuse_sigma s"},
    {"diffuse_F", {"diffuse_sigma"}, "-diffuse_sigma s"},
    {"diffuse_only", {"diffuse_sigma"}, "-diffuse_sigma s"},
    {"diffuse_sigma",
     {"diffuse_gamma"},
     "-diffuse_gamma g, the length in A over which the displacements are correlated"},
    {"pullback", {"gradfile"}, "-gradfile FILE"},
    {"gradfile", {"pullback"}, "-pullback FILE"},
    {"derivatives",
     {"derivfile", "pullback"},
     "-derivfile FILE, or -pullback and -gradfile"},
    {"pullback", {"derivatives"}, "-derivatives list"},
    {"derivfile", {"derivatives"}, "-derivatives list"},
    {"gradhkl", {"derivatives"}, "-derivatives list"},
    {"mosaic_frame", {"mosaic_tensor"}, "-mosaic_tensor xx yy zz xy xz yz"},
    {"expt_number", {"expt"}, "-expt FILE"},
    {"expt_image", {"expt"}, "-expt FILE"},
};

enum { SHOWN = 64 };

/** Write "-flag value" (a switch: "-flag") into text. Returns text. */
static const char *as_typed(const nb_param *p, const nb_config *cfg,
                            char text[NB_PARAM_LABEL + SHOWN])
{
    size_t n = strlen(nb_param_label(p, text));
    if (p->kind != NB_KIND_SWITCH && p->kind != NB_KIND_PRESET) {
        text[n++] = ' ';
        nb_param_get(p, cfg, " ", text + n, SHOWN, NULL);
    }
    return text;
}

static nb_status needs(const nb_config *cfg, const nb_param *p, const char *what,
                       nb_error *err)
{
    char typed[NB_PARAM_LABEL + SHOWN];
    return nb_fail(err, NB_ERR_INPUT, "%s needs %s", as_typed(p, cfg, typed), what);
}

static int is_set(const char *name, const nb_config *cfg)
{
    return name && nb_param_is_set(nb_param_find(name), cfg);
}

static nb_status check_pair(const nb_config *cfg, const struct pair *pair, nb_error *err)
{
    char a[NB_PARAM_LABEL + SHOWN], b[NB_PARAM_LABEL + SHOWN];
    if (!is_set(pair->a, cfg) || !is_set(pair->b, cfg))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s contradicts %s: %s; give one of them",
                   as_typed(nb_param_find(pair->a), cfg, a),
                   as_typed(nb_param_find(pair->b), cfg, b), pair->why);
}

static nb_status check_need(const nb_config *cfg, const struct need *n, nb_error *err)
{
    if (!is_set(n->flag, cfg))
        return NB_OK;
    for (int i = 0; i < 4; i++)
        if (is_set(n->of[i], cfg))
            return NB_OK;
    return needs(cfg, nb_param_find(n->flag), n->what, err);
}

static nb_status check_dose(const nb_config *cfg, nb_error *err)
{
    if (cfg->dose_MGy != NB_DOSE_AUTO)
        return cfg->dose_material[0] ? needs(cfg, NB_ROW(dose_material), "-dose auto", err)
                                     : NB_OK;
    if (NB_GIVEN(cfg, fluence) || NB_GIVEN(cfg, flux))
        return NB_OK;
    return needs(cfg, NB_ROW(dose_MGy), "the photons of a frame: -fluence, or -flux", err);
}

static nb_status check_diffuse(const nb_config *cfg, nb_error *err)
{
    const double *sigma = cfg->diffuse_sigma_A;
    if (!cfg->derivatives[0] || !(sigma[0] > 0 || sigma[1] > 0 || sigma[2] > 0))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "-derivatives: not with -diffuse_sigma above 0, whose light has "
                   "none; leave one of them out");
}

/** Refuse -fudge darwin except for Gaussians, because only their integral depends on
 * fudge alone. */
static nb_status check_fudge(const nb_config *cfg, nb_error *err)
{
    if (cfg->fudge != NB_FUDGE_DARWIN || nb_shape_law((int)cfg->shape) == NB_LAW_DECAY)
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-fudge darwin is for -gauss_xtal, and the crystal is %s: type a number, or "
        "-gauss_xtal",
        nb_param_choice("shape", (int)cfg->shape));
}

/** Refuse a tolerance where no fast path can use it. */
static nb_status check_tolerance(const nb_config *cfg, nb_error *err)
{
    const char *flag = cfg->tolerance > 0           ? "-tolerance"
                       : cfg->tolerance_photons > 0 ? "-tolerance_photons"
                                                    : NULL;
    if (flag && cfg->precision == NB_PRECISION_DOUBLE)
        return nb_fail(
            err, NB_ERR_INPUT,
            "%s contradicts -precision double, which calculates every step; give "
            "one of them",
            flag);
    if (flag && cfg->tolerance == 0)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-tolerance 0 contradicts %s: 0 calculates every step; give one of "
            "them",
            flag);
    return NB_OK;
}

const char *nb_config_stol_flag(const nb_config *cfg)
{
    return cfg->stol_file[0]    ? "-stol"
           : cfg->stol4_file[0] ? "-4stol"
           : cfg->q_file[0]     ? "-Q"
                                : NULL;
}

/* Structure factors. Only the content of the file of -cif shows whether it is a model or
 * reflections. So it counts as both here, and src/inputs checks the flags again after
 * reading. */

static nb_status refuse(const char *a, const char *b, const char *why, nb_error *err)
{
    return nb_fail(err, NB_ERR_INPUT, "%s contradicts %s: %s", a, b, why);
}

/** Allow at most one model and one file of reflections. */
static nb_status check_sources(const nb_config *cfg, nb_error *err)
{
    const char *pdb = cfg->pdb_file[0] ? "-pdb" : NULL;
    const char *cif = cfg->cif_file[0] ? "-cif" : NULL;
    const char *mtz = cfg->mtz_file[0] ? "-mtz" : NULL;
    const char *first = pdb ? pdb : cif ? cif : mtz;
    const char *second = pdb && cif ? cif : mtz;
    int uses_both = cfg->fill == NB_FILL_MODEL || cfg->F_scale == NB_FSCALE_MODEL;
    if (cfg->hkl_file[0] && first)
        return refuse("-hkl", first, "both give the structure factors; give one of them",
                      err);
    if (pdb && cif && mtz)
        return nb_fail(err, NB_ERR_INPUT,
                       "-pdb, -cif and -mtz contradict each other: at most one model and "
                       "one file of reflections can be used");
    if (second && second != first && !uses_both)
        return refuse(first, second,
                      "both give the structure factors; give one of them, or add -fill "
                      "model or -Fscale model, which use a model and reflections",
                      err);
    return NB_OK;
}

int nb_config_has_F000_alone(const nb_config *cfg)
{
    return cfg->F000 >= 0 && !isnan(cfg->default_F) && !nb_config_has_factor_file(cfg) &&
           !cfg->hkl_file[0] && !cfg->dump_file[0];
}

/** The first set row that acts on any source of structure factors, or NULL. */
static const nb_param *changes_factors(const nb_config *cfg)
{
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_ON_F));)
        if (nb_param_is_set(p, cfg) && !(NB_IS(p, F000) && nb_config_has_F000_alone(cfg)))
            return p;
    return NULL;
}

int nb_list_is_changed(const nb_settings *all)
{
    int n = nb_config_has_factor_file(&all->value);
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_ON_F));)
        n += nb_is_typed(all, p->offset);
    return n > 0;
}

int nb_config_has_factor_file(const nb_config *cfg)
{
    return cfg->pdb_file[0] || cfg->cif_file[0] || cfg->mtz_file[0];
}

int nb_config_makes_factors(const nb_config *cfg)
{
    return nb_config_has_factor_file(cfg) || changes_factors(cfg) != NULL ||
           (cfg->expand_list && cfg->hkl_file[0]);
}

/** Refuse a flag that needs a model, a list of reflections, both or any F, if missing. */
static nb_status check_uses(const nb_config *cfg, nb_error *err)
{
    const int list = cfg->mtz_file[0] || cfg->cif_file[0];
    const nb_param *any = changes_factors(cfg),
                   *of_model = nb_param_first_set(NB_PARAM_MODEL, cfg),
                   *of_list = cfg->mtz_label[0] ? NB_ROW(mtz_label) : NULL,
                   *both = cfg->fill == NB_FILL_MODEL        ? NB_ROW(fill)
                           : cfg->F_scale == NB_FSCALE_MODEL ? NB_ROW(F_scale)
                                                             : NULL;
    of_list = of_list ? of_list : both;
    of_model = of_model ? of_model : cfg->F000 == NB_F000_CALC ? NB_ROW(F000) : both;
    if (of_model && !cfg->pdb_file[0] && !cfg->cif_file[0])
        return needs(cfg, of_model, "a model: add -pdb FILE or -cif FILE", err);
    if (of_list && !list)
        return needs(cfg, of_list, "a file of reflections: add -mtz FILE or -cif FILE",
                     err);
    if (cfg->fill == NB_FILL_SHELL && !list && !cfg->hkl_file[0])
        return needs(cfg, NB_ROW(fill),
                     "a file of reflections: add -mtz FILE, -cif FILE or -hkl FILE", err);
    if (any && !nb_config_has_factor_file(cfg) && !cfg->hkl_file[0])
        return needs(cfg, any, "structure factors: add -pdb, -cif, -mtz or -hkl FILE",
                     err);
    return NB_OK;
}

nb_status nb_config_check_factors(const nb_config *cfg, nb_error *err)
{
    nb_status st = check_sources(cfg, err);
    return st ? st : check_uses(cfg, err);
}

/* A detector from a file. */

/** Refuse flags that place or size a detector from a file (-detpixels is allowed if it is
 * equal). */
static nb_status check_replaced(const nb_config *cfg, const char *file, nb_error *err)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_REPLACED, cfg);
    if (p && NB_IS(p, detsize_mm[0]) && cfg->detsize_mm[0] == cfg->detsize_mm[1])
        p = NB_ROW(detsize_mm); /* -detsize was typed: it sets both sides */
    if (p)
        return nb_fail(err, NB_ERR_INPUT,
                       "-%s contradicts -%s: the file says where the detector is and "
                       "how large; leave one of them out",
                       p->name, file);
    if (!cfg->geom_file[0] && NB_GIVEN(cfg, distance_mm))
        return nb_fail(err, NB_ERR_INPUT,
                       "-distance contradicts -%s: the file says where the detector is; "
                       "leave one of them out",
                       file);
    return NB_OK;
}

const char *nb_config_geometry_flag(const nb_config *cfg)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_GEOMETRY, cfg);
    return p ? p->name : NULL;
}

nb_status nb_config_check_geometry(const nb_config *cfg, nb_error *err)
{
    const char *first = nb_config_geometry_flag(cfg);
    const nb_known_detector *named;
    int binning;
    nb_status st;
    NB_FORWARD(nb_detector_named(cfg, &named, &binning, err));
    if (named && (first || cfg->detector))
        return nb_fail(err, NB_ERR_INPUT,
                       "-detector %.60s contradicts %s%s: both describe the detector; "
                       "give one of them",
                       cfg->detector_name, first ? "-" : "",
                       first ? first : "the given panels");
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_GEOMETRY));)
        if (p->name != first && nb_param_is_set(p, cfg))
            return nb_fail(err, NB_ERR_INPUT,
                           "-%s contradicts -%s: both describe the detector; give one of "
                           "them",
                           p->name, first);
    return first ? check_replaced(cfg, first, err) : NB_OK;
}

/* The noise of source and detector. */

int nb_noise_chain(const nb_settings *all)
{
    const nb_config *cfg = &all->value;
    int typed = 0;
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_NOISE));)
        typed += nb_is_typed(all, p->offset);
    for (int k = 0; cfg->detector && !cfg->compat && k < cfg->detector->n_panels; k++)
        if (cfg->detector->panels[k].gain != 1 ||
            !isnan(cfg->detector->panels[k].saturation))
            return typed + 1;
    return typed;
}

static nb_status check_noise(const nb_config *cfg, nb_error *err)
{
    const nb_param *p = nb_param_first_set(NB_PARAM_NOISE, cfg);
    char label[NB_PARAM_LABEL];
    if (p && cfg->compat)
        return refuse(nb_param_label(p, label), "-compat",
                      "the old program's noise has only counts and an offset; leave one "
                      "of them out",
                      err);
    return NB_OK;
}

nb_status nb_saturation_check(const nb_config *cfg, double limit, const char *where,
                              nb_error *err)
{
    char text[NB_TEXT_NUMBER];
    if (!(cfg->saturation > limit) || nb_detector_says_saturation(cfg))
        return NB_OK;
    nb_text_format(cfg->saturation, text);
    return nb_fail(err, NB_ERR_INPUT,
                   "-saturation %s contradicts %s: its largest trusted value is %.0f, at "
                   "most",
                   text, where, limit);
}

nb_status nb_config_check_rules(const nb_config *cfg, nb_error *err)
{
    nb_footprint_words footprint;
    nb_beamstop_words stops[NB_BEAMSTOP_MAX];
    nb_absorb_words absorb;
    int n;
    nb_status st = nb_config_check_fields(cfg, err);
    NB_TRY(nb_png_check_name("-pngfile", cfg->png_file, err));
    NB_TRY(nb_footprint_read(cfg->footprint, &footprint, err));
    NB_TRY(nb_beamstop_read(cfg->beamstop, stops, &n, err));
    NB_TRY(nb_absorb_read(cfg->absorb, &absorb, err));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        NB_TRY(check_pair(cfg, &pairs[i], err));
    for (size_t i = 0; i < sizeof needs_of / sizeof *needs_of; i++)
        NB_TRY(check_need(cfg, &needs_of[i], err));
    NB_TRY(check_tolerance(cfg, err));
    NB_TRY(check_fudge(cfg, err));
    NB_TRY(check_noise(cfg, err));
    NB_TRY(check_dose(cfg, err));
    NB_TRY(check_diffuse(cfg, err));
    NB_TRY(nb_config_check_geometry(cfg, err));
    NB_TRY(nb_config_check_factors(cfg, err));
    return st;
}
