/* SPDX-License-Identifier: MIT */
/* Note typed flags that have no effect.  Each flag of the geometry is changed in turn; if
 * the detector stays in place, the flag has no effect. */
#include "advice.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../model/detector.h"
#include "../params/params.h"

unsigned nb_typed_place(const nb_config *cfg)
{
    unsigned typed = 0, bit = 1;
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_PLACES)); bit <<= 1)
        typed |= nb_param_is_set(p, cfg) ? bit : 0;
    return typed;
}

/** Change the value of a number, a direction or the pivot. */
static void change(const nb_param *p, nb_config *cfg)
{
    void *field = (char *)cfg + p->offset;
    double x;
    nb_opt3 v;
    if (p->kind == NB_KIND_NUMBER) {
        memcpy(&x, field, sizeof x);
        x += 1 + fabs(x) / 8;
        memcpy(field, &x, sizeof x);
    } else if (p->kind == NB_KIND_VECTOR) {
        memcpy(&v, field, sizeof v);
        v = (nb_opt3){1, {v.v[1] + 0.3, v.v[2] - 0.4, v.v[0] + 0.5}};
        memcpy(field, &v, sizeof v);
    } else {
        cfg->pivot = cfg->pivot == NB_PIVOT_BEAM ? NB_PIVOT_SAMPLE : NB_PIVOT_BEAM;
    }
}

static int same(nb_vec3 a, nb_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/** True if position of the detector, beam and axes are the same in both. */
static int stays(const nb_geometry *a, const nb_geometry *b)
{
    return same(a->pix0, b->pix0) && same(a->fast, b->fast) && same(a->slow, b->slow) &&
           same(a->normal, b->normal) && same(a->beam, b->beam) &&
           same(a->polar, b->polar) && same(a->spindle, b->spindle) &&
           a->fpixels == b->fpixels && a->spixels == b->spixels && a->pivot == b->pivot;
}

/** Reason why a flag does not move the detector, for a note. */
static const char *reason(const nb_config *cfg, const nb_geometry *g, const nb_param *p)
{
    if (NB_IS(p, twotheta_axis) && cfg->convention == NB_CONV_CUSTOM)
        return "there is no -twotheta";
    if (p->kind == NB_KIND_VECTOR)
        return "the convention that is typed after it has its own axes";
    if (NB_IS(p, detsize_mm[0]) || NB_IS(p, detsize_mm[1]))
        return "-detpixels says how large the detector is";
    if (cfg->pix0_m.set)
        return "-pix0_vector says where the detector is";
    if (NB_IS(p, distance_mm))
        return "-close_distance says where the detector is";
    if ((NB_IS(p, orgx) || NB_IS(p, orgy)) && g->convention == NB_CONV_CUSTOM)
        return "with typed axes -Xbeam -Ybeam are the beam centre";
    if (g->pivot == NB_PIVOT_SAMPLE)
        return "the pivot is the sample: type -ORGX -ORGY, or -pivot beam";
    return "the pivot is the beam: type -Xbeam -Ybeam, or -pivot sample";
}

/** True if the detector of this configuration is placed as before. */
static int is_placed_as(const nb_config *cfg, const nb_geometry *before)
{
    nb_geometry now;
    nb_error err;
    return !nb_geometry_build(NB_RESOLVED(cfg), &now, &err) && stays(before, &now);
}

/** Note the flags of `typed` that move nothing. */
static void say_place(const nb_config *cfg, unsigned typed, const nb_hooks *hooks)
{
    nb_config other; /* shares its texts with cfg, and is only read */
    nb_geometry now;
    nb_error err;
    if (!typed || nb_geometry_build(NB_RESOLVED(cfg), &now, &err))
        return;
    for (const nb_param *p = NULL; (p = nb_param_next(p, NB_PARAM_PLACES)); typed >>= 1) {
        if (!(typed & 1) || (cfg->detector && NB_IS(p, distance_mm)))
            continue; /* the distance had its effect when the file was read */
        other = *cfg;
        change(p, &other);
        if (is_placed_as(&other, &now))
            nb_notice(hooks, "-%s has no effect: %s", p->name, reason(cfg, &now, p));
    }
    if (cfg->pix0_m.set && cfg->pivot)
        nb_notice(hooks, "-pivot has no effect: -pix0_vector says where the detector is");
}

/** Note flags of a sensor, of panels and of steps without an effect. */
static void say_rest(const nb_config *cfg, const nb_scene *sc, const nb_hooks *hooks)
{
    const int sensor = nb_scene_absorbs(sc), off = cfg->abs_um == 0 || isinf(cfg->abs_um);
    const int removed = off && (cfg->thick_um > 0 || cfg->detector);
    const struct {
        const nb_param *row;
        int acts;
        const char *needs;
    } rest[] = {
        {NB_ROW(thick_um), sensor || off || !(cfg->thick_um > 0),
         ": the file says that nothing is absorbed; type -detector_abs"},
        {NB_ROW(abs_um), sensor || removed, " without -detector_thick"},
        {NB_ROW(thick_steps), sensor, " without a sensor (-detector_thick)"},
        {NB_ROW(layer_depth), sensor, " without a sensor (-detector_thick)"},
        {NB_ROW(curved_omega), !cfg->detector, " on panels of a file, which are flat"},
        {NB_ROW(layout), cfg->detector != NULL, " without -geom, -expt or -nxmx"},
        {NB_ROW(phistep_deg), cfg->phi_steps <= 0 || cfg->compat, " beside -phisteps"},
    };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (!rest[i].acts && nb_param_is_set(rest[i].row, cfg))
            nb_notice(hooks, "-%s has no effect%s", rest[i].row->name, rest[i].needs);
}

/** Note flags of beam directions and wavelengths that a file of sources replaces. */
static void say_beam(const nb_config *cfg, const nb_hooks *hooks)
{
    const double typed[] = {cfg->hdiv_range_mrad, cfg->vdiv_range_mrad,
                            cfg->hdiv_step_mrad,  cfg->vdiv_step_mrad,
                            cfg->dispersion_pct,  cfg->dispersion_step_pct};
    int some = 0;
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        some |= typed[i] > 0; /* a value that is not set is NaN */
    if (some && cfg->source_file[0])
        nb_notice(hooks,
                  "-divergence and -dispersion have no effect beside -sourcefile, which "
                  "lists all sources");
}

void nb_say_idle_flags(const nb_config *cfg, unsigned typed, const nb_scene *sc,
                       const nb_hooks *hooks)
{
    if (!hooks || !hooks->notice)
        return;
    say_place(cfg, typed, hooks);
    say_rest(cfg, sc, hooks);
    say_beam(cfg, hooks);
}
