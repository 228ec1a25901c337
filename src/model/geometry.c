/* SPDX-License-Identifier: MIT */
/* Conventions, pivots and rotations of the detector (docs/physics.md, "Detector geometry"). */
#include "detector.h"

#include <float.h>
#include <string.h>

#include "../base/error.h"
#include "../params/params.h"
#include "../physics/panels.h"
#include "scene_build.h"
#include "units.h"

/** Axes of one convention before any rotation. */
typedef struct frame {
    double beam[3], fast[3], slow[3], normal[3], twotheta[3], polar[3], spindle[3];
    nb_pivot pivot;
} frame;

/* Columns: beam, fast, slow, normal, twotheta, polar, spindle, pivot. */
/* clang-format off */
static const frame frames[] = {
    [NB_CONV_MOSFLM] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0},
        {0, 0, -1}, {0, 0, 1}, {0, 0, 1}, NB_PIVOT_BEAM},
    [NB_CONV_XDS] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
        {1, 0, 0}, {1, 0, 0}, {1, 0, 0}, NB_PIVOT_SAMPLE},
    [NB_CONV_ADXV] = {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}, {0, 0, 1},
        {-1, 0, 0}, {1, 0, 0}, {1, 0, 0}, NB_PIVOT_BEAM},
    [NB_CONV_DENZO] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0},
        {0, 0, -1}, {0, 0, 1}, {0, 0, 1}, NB_PIVOT_BEAM},
    [NB_CONV_DIALS] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
        {0, 1, 0}, {0, 1, 0}, {0, 1, 0}, NB_PIVOT_SAMPLE},
    [NB_CONV_CUSTOM] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}, {1, 0, 0},
        {0, 1, 0}, {0, 0, 1}, {0, 0, 1}, NB_PIVOT_UNSET},
};
/* clang-format on */

static nb_vec3 from_array(const double v[3])
{
    return nb_v3(v[0], v[1], v[2]);
}

/** Set `out` to a direction of the geometry file, converted to the lab frame, or if the
 * file has none to that of the convention. */
static void standard_of(const nb_opt3 *said, const double convention[3],
                        const nb_geometry *g, double out[3])
{
    nb_vec3 v = nb_lab_of_nexus(g->convention, said->v);
    const double lab[3] = {v.x, v.y, v.z};
    memcpy(out, said->set ? lab : convention, sizeof lab);
}

/** Frame of the convention, with beam, polarization and spindle of a geometry file. */
static frame frame_of(const nb_settings *cfg, const nb_geometry *g)
{
    frame fr = frames[g->convention];
    const nb_detector_spec *d = cfg->value.detector;
    if (d) {
        const nb_opt3 moving =
            nb_scan_beam(&d->scan, cfg->value.phi_deg, NB_TYPED_OR(cfg, osc_deg, 0));
        standard_of(moving.set ? &moving : &d->beam, frames[g->convention].beam, g,
                    fr.beam);
        standard_of(&d->polar_axis, frames[g->convention].polar, g, fr.polar);
        standard_of(&d->spindle, frames[g->convention].spindle, g, fr.spindle);
    }
    for (int i = 0; i < 3 && cfg->value.spindle_back; i++)
        fr.spindle[i] = 0 - fr.spindle[i]; /* the difference changes -0 to 0 */
    return fr;
}

/** Set unit axes: typed vectors in CUSTOM, else axes of the convention. */
static nb_status set_axes(const nb_settings *cfg, const frame *fr, nb_geometry *g,
                          nb_error *err)
{
    const nb_config *c = &cfg->value;
    const struct {
        const nb_opt3 *typed;
        const double *standard;
        const char *flag;
        nb_vec3 *out;
    } axes[] = {{&c->beam_vector, fr->beam, "-beam_vector", &g->beam},
                {&c->fdet_vector, fr->fast, "-fdet_vector", &g->fast},
                {&c->sdet_vector, fr->slow, "-sdet_vector", &g->slow},
                {&c->odet_vector, fr->normal, "-odet_vector", &g->normal},
                {&c->polar_vector, fr->polar, "-polar_vector", &g->polar},
                {&c->spindle_axis, fr->spindle, "-spindle_axis", &g->spindle},
                {&c->twotheta_axis, fr->twotheta, "-twotheta_axis", &g->twotheta_axis}};
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        const int custom = c->convention == NB_CONV_CUSTOM && axes[i].typed->set;
        const nb_vec3 v = from_array(custom ? axes[i].typed->v : axes[i].standard);
        if (!(nb_norm(v) > 0) || !isfinite(nb_norm(v)))
            return nb_fail(err, NB_ERR_INPUT, "%s %g %g %g: a direction cannot be zero",
                           axes[i].flag, v.x, v.y, v.z);
        *axes[i].out = nb_unit(v);
    }
    if (nb_norm(nb_cross(g->fast, g->slow)) < 1e-9)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-fdet_vector and -sdet_vector are parallel: the detector has no plane");
    g->vertical = nb_cross(g->beam, g->polar);
    if (nb_norm(g->vertical) < 1e-9)
        return nb_fail(err, NB_ERR_INPUT,
                       "-polar_vector is along the beam; it must be across the beam");
    g->vertical = nb_unit(g->vertical);
    return NB_OK;
}

static nb_status set_size(const nb_settings *cfg, nb_geometry *g, nb_error *err)
{
    double size[2], pixels[2];
    g->pixel = cfg->value.pixel_mm * NB_MM;
    for (int i = 0; i < 2; i++) {
        size[i] = cfg->value.detpixels[i] > 0 ? g->pixel * cfg->value.detpixels[i]
                                              : cfg->value.detsize_mm[i] * NB_MM;
        pixels[i] = ceil(size[i] / g->pixel - 0.5);
        if (!(pixels[i] >= 1 && pixels[i] <= 1000000))
            return nb_fail(
                err, NB_ERR_INPUT,
                "detector of %g mm with pixels of %g mm has %.0f pixels: change "
                "-detpixels, -detsize or -pixel (1 to 1000000 pixels per edge)",
                size[i] / NB_MM, g->pixel / NB_MM, pixels[i]);
    }
    g->pixel_slow = g->pixel;
    g->detsize_f = size[0];
    g->detsize_s = size[1];
    g->fpixels = (int)pixels[0];
    g->spixels = (int)pixels[1];
    return NB_OK;
}

void nb_geometry_centre(const nb_settings *cfg, nb_geometry *g)
{
    double p = g->pixel, F = g->detsize_f, S = g->detsize_s, x0, y0;
    double orgF = NB_TYPED(cfg, orgx) ? (cfg->value.orgx - 0.5) * p : F / 2;
    double orgS = NB_TYPED(cfg, orgy) ? (cfg->value.orgy - 0.5) * p : S / 2;
    double Xclose = NB_TYPED(cfg, Xclose_mm) ? cfg->value.Xclose_mm * NB_MM : orgF;
    double Yclose = NB_TYPED(cfg, Yclose_mm) ? cfg->value.Yclose_mm * NB_MM : orgS;
    nb_convention c = g->convention;
    x0 = Xclose;
    y0 = Yclose;
    if (c == NB_CONV_ADXV) {
        x0 = (F + p) / 2;
        y0 = (S - p) / 2;
    } else if (c == NB_CONV_MOSFLM || c == NB_CONV_DENZO) {
        x0 = (S + p) / 2;
        y0 = (F + p) / 2;
    }
    g->Xbeam = NB_TYPED(cfg, Xbeam_mm) ? cfg->value.Xbeam_mm * NB_MM : x0;
    g->Ybeam = NB_TYPED(cfg, Ybeam_mm) ? cfg->value.Ybeam_mm * NB_MM : y0;
    g->Fclose = orgF;
    g->Sclose = orgS;
    g->Fbeam = g->Xbeam;
    g->Sbeam = g->Ybeam;
    if (c == NB_CONV_ADXV) {
        g->Sbeam = S - g->Ybeam;
    } else if (c == NB_CONV_MOSFLM) {
        g->Fbeam = g->Ybeam + p / 2;
        g->Sbeam = g->Xbeam + p / 2;
    } else if (c == NB_CONV_DENZO) {
        g->Fbeam = g->Ybeam;
        g->Sbeam = g->Xbeam;
    } else if (c == NB_CONV_CUSTOM) {
        g->Fclose = g->Xbeam;
        g->Sclose = g->Ybeam;
    }
}

/** Set the beam centre Xbeam, Ybeam from the point that the beam hits. */
static void beam_centre_from_plane(nb_geometry *g)
{
    double p = g->pixel;
    g->Xbeam = g->Fbeam;
    g->Ybeam = g->Sbeam;
    if (g->convention == NB_CONV_ADXV) {
        g->Ybeam = g->detsize_s - g->Sbeam;
    } else if (g->convention == NB_CONV_MOSFLM) {
        g->Xbeam = g->Sbeam - p / 2;
        g->Ybeam = g->Fbeam - p / 2;
    } else if (g->convention == NB_CONV_DENZO) {
        g->Xbeam = g->Sbeam;
        g->Ybeam = g->Fbeam;
    }
}

static nb_vec3 swing(const nb_geometry *g, nb_vec3 v)
{
    v = nb_rotate_xyz(v, g->rotx, g->roty, g->rotz);
    return nb_rotate_about(v, g->twotheta_axis, g->twotheta);
}

/** Ratio of the detector's close distance to its distance at this two-theta [rad]. */
static double obliquity(const nb_geometry *g, double twotheta)
{
    nb_vec3 normal = nb_rotate_xyz(g->normal, g->rotx, g->roty, g->rotz);
    double ratio = nb_dot(g->beam, nb_rotate_about(normal, g->twotheta_axis, twotheta));
    return ratio == 0 ? DBL_MIN : ratio;
}

/** Set distances, rotations and origin from beam centre and pivot. Typed distances are
 * measured before the two-theta swing, the close distance of a header at the header's
 * two-theta. */
static void place(const nb_settings *cfg, nb_geometry *g)
{
    double typed = cfg->value.distance_mm * NB_MM;
    double ratio = obliquity(g, cfg->value.close_twotheta_deg * NB_DEG);
    nb_vec3 corner;
    g->close_distance = NB_TYPED(cfg, close_distance_mm)
                            ? cfg->value.close_distance_mm * NB_MM
                            : fabs(ratio * typed);
    g->distance = g->close_distance / ratio;
    g->placed = (nb_placement){g->normal, ratio,    g->close_distance, g->distance,
                               g->Fbeam,  g->Sbeam, g->Fclose,         g->Sclose};
    corner = nb_add(
        nb_scale(-g->Fclose, g->fast),
        nb_add(nb_scale(-g->Sclose, g->slow), nb_scale(g->close_distance, g->normal)));
    g->pix0 = swing(g, corner);
    g->fast = swing(g, g->fast);
    g->slow = swing(g, g->slow);
    g->normal = swing(g, g->normal);
    if (g->pivot == NB_PIVOT_BEAM)
        g->pix0 =
            nb_add(nb_scale(-g->Fbeam, g->fast),
                   nb_add(nb_scale(-g->Sbeam, g->slow), nb_scale(g->distance, g->beam)));
    if (cfg->value.pix0_m.set)
        g->pix0 = from_array(cfg->value.pix0_m.v);
}

/** Displace the detector's only panel, which flags describe. */
static void displace(nb_geometry *g)
{
    nb_body place = {g->pix0, {g->fast, g->slow, g->normal}};
    g->body = place;
    if (!g->moved)
        return;
    nb_displace(g->moved, 0, &g->body, &g->body, &place);
    g->pix0 = place.origin;
    g->fast = place.axis[0];
    g->slow = place.axis[1];
    g->normal = place.axis[2];
}

/** Measure the final plane: nearest point, distance along the beam, point that the beam
 * hits. */
static nb_status measure(nb_geometry *g, nb_error *err)
{
    double ratio;
    nb_vec3 R;
    g->close_distance = nb_dot(g->pix0, g->normal);
    nb_panel_place_of(g->fast, g->slow, nb_scale(-1, g->pix0), &g->Fclose, &g->Sclose);
    if (g->close_distance < 0) {
        g->close_distance = -g->close_distance;
        g->normal = nb_scale(-1, g->normal);
    }
    if (!(g->close_distance > 0) || !isfinite(g->close_distance))
        return nb_fail(err, NB_ERR_INPUT,
                       "the detector plane goes through the sample; change -distance, "
                       "-close_distance, -pix0_vector or the detector rotations");
    ratio = nb_dot(g->beam, g->normal);
    if (ratio == 0)
        ratio = DBL_MIN;
    g->distance = g->close_distance / ratio;
    if (!isfinite(g->distance)) /* the beam is parallel to the plane */
        g->distance = g->close_distance;
    R = nb_sub(nb_scale(g->distance, g->beam), g->pix0);
    nb_panel_place_of(g->fast, g->slow, R, &g->Fbeam, &g->Sbeam);
    g->orgx = g->Fclose / g->pixel + 0.5;
    g->orgy = g->Sclose / g->pixel_slow + 0.5;
    return NB_OK;
}

/** Build the geometry of a detector from a file. */
static nb_status build_of_file(const nb_settings *cfg, const nb_displacement *moved,
                               nb_geometry *g, nb_error *err)
{
    nb_status st;
    NB_FORWARD(nb_geometry_frame(cfg, g, err));
    nb_geometry_take_panel(cfg->value.detector, moved, g);
    NB_FORWARD(measure(g, err));
    beam_centre_from_plane(g);
    return NB_OK;
}

nb_status nb_geometry_build(const nb_settings *cfg, nb_geometry *g, nb_error *err)
{
    return nb_geometry_build_moved(cfg, NULL, g, err);
}

nb_status nb_geometry_build_moved(const nb_settings *cfg, const nb_displacement *moved,
                                  nb_geometry *g, nb_error *err)
{
    frame fr;
    nb_status st;
    memset(g, 0, sizeof *g);
    g->convention = cfg->value.convention;
    fr = frame_of(cfg, g);
    g->pivot = cfg->value.pivot ? cfg->value.pivot
               : fr.pivot       ? fr.pivot
                                : cfg->value.pivot_implied;
    if (g->pivot == NB_PIVOT_UNSET)
        g->pivot = NB_PIVOT_BEAM;
    if ((!cfg->value.detector && (st = set_size(cfg, g, err))) ||
        (st = set_axes(cfg, &fr, g, err)))
        return st;
    if (cfg->value.detector)
        return build_of_file(cfg, moved, g, err);
    g->moved = moved;
    g->rotx = cfg->value.rot_deg[0] * NB_DEG;
    g->roty = cfg->value.rot_deg[1] * NB_DEG;
    g->rotz = cfg->value.rot_deg[2] * NB_DEG;
    g->twotheta = cfg->value.twotheta_deg * NB_DEG;
    nb_geometry_centre(cfg, g);
    place(cfg, g);
    displace(g);
    NB_FORWARD(measure(g, err));
    if (cfg->value.pix0_m.set)
        beam_centre_from_plane(g);
    return NB_OK;
}
