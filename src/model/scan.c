/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>

#include "../base/error.h"
#include "../base/matrix.h"
#include "detector.h"

/* tolerance in units of a frame, because typed angles have twelve digits */
#define EDGE 1e-6

static double end_deg(const nb_scan_points *scan)
{
    return scan->phi_deg + (scan->n - 1) * scan->osc_deg;
}

/** Whole turns (deg) to subtract so that an angle is nearest to the scan's middle. */
static double whole_turns(const nb_scan_points *scan, double deg)
{
    return 360 * round((deg - 0.5 * (scan->phi_deg + end_deg(scan))) / 360);
}

int nb_scan_holds(const nb_scan_points *scan, double phi_deg, double osc_deg,
                  double *from, double *to)
{
    const double turns = whole_turns(scan, phi_deg + osc_deg / 2);
    const double room = EDGE * scan->osc_deg;
    *from = phi_deg;
    *to = phi_deg + osc_deg;
    return !(scan->osc_deg > 0) ||
           (*from - turns >= scan->phi_deg - room && *to - turns <= end_deg(scan) + room);
}

nb_status nb_scan_check(const nb_scan_points *scan, const nb_settings *cfg, nb_error *err)
{
    double from, to;
    if (!scan || scan->n < 1 || !(scan->measured || nb_scan_changes(scan)) ||
        nb_scan_holds(scan, cfg->value.phi_deg, NB_TYPED_OR(cfg, osc_deg, 0), &from, &to))
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-phi %.10g: the frame from %.10g to %.10g deg is outside of the scan "
        "of -expt %.200s, %.10g to %.10g deg; type -phi and -osc within it, or "
        "the crystal (-mat)",
        from, from, to, cfg->value.expt_file, scan->phi_deg, end_deg(scan));
}

int nb_scan_changes(const nb_scan_points *scan)
{
    return scan && scan->n > 1 && (scan->change || scan->setting);
}

/** Interpolate between points with `width` numbers each; x: 0 to n - 1. */
static void between(const double *points, int n, int width, double x, double *out)
{
    const int i = (int)fmax(0, fmin(floor(x), n - 2));
    const double t = fmax(0, fmin(1, x - i));
    const double *a = points + (size_t)i * (size_t)width, *b = a + width;
    for (int j = 0; j < width; j++)
        out[j] = (1 - t) * a[j] + t * b[j];
}

/** Position of an angle (rad) among the points of the scan: 0 to n - 1, with a
 * fraction. */
static double place_of(const nb_scan_points *scan, const nb_scan_frame *f, double phi)
{
    const double middle = (f->phi + f->range / 2) / NB_DEG;
    if (scan->osc_deg > 0)
        return (phi / NB_DEG - whole_turns(scan, middle) - scan->phi_deg) / scan->osc_deg;
    return f->range > 0 ? (phi - f->phi) / f->range * (scan->n - 1) : 0.5 * (scan->n - 1);
}

/** Matrix of a rotation about the spindle axis by phi, rad. */
static void rotation(nb_vec3 axis, double phi, double m[9])
{
    nb_put_columns(nb_rotate_about(nb_v3(1, 0, 0), axis, phi),
                   nb_rotate_about(nb_v3(0, 1, 0), axis, phi),
                   nb_rotate_about(nb_v3(0, 0, 1), axis, phi), m);
}

/** Convert a matrix for vectors in the NeXus frame to a matrix for lab vectors. */
static void lab_of(nb_convention convention, const double m[9], double out[9])
{
    static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double axes[9], back[9];
    nb_put_columns(nb_lab_of_nexus(convention, unit[0]),
                   nb_lab_of_nexus(convention, unit[1]),
                   nb_lab_of_nexus(convention, unit[2]), axes);
    nb_transpose(axes, back);
    nb_multiply(axes, m, out);
    nb_multiply(out, back, out);
}

static void change_at(const nb_scan_points *scan, double x, double out[9])
{
    if (scan->change)
        between(scan->change[0], scan->n, 9, x, out);
    else
        nb_identity(out);
}

/** Setting of the goniometer as a rotation before the spindle, R^-1 G R. */
static nb_mat3 turn_at(const nb_scan_points *scan, const nb_scan_frame *f, double phi)
{
    double G[9], R[9], back[9];
    nb_mat3 out = {{0}};
    nb_identity(out.m);
    if (!scan->setting)
        return out;
    between(scan->setting[0], scan->n, 9, place_of(scan, f, phi), G);
    lab_of(f->convention, G, G);
    rotation(f->spindle, phi, R);
    nb_transpose(R, back);
    nb_multiply(back, G, out.m);
    nb_multiply(out.m, R, out.m);
    return out;
}

static nb_scan_middle at(const nb_scan_points *scan, const nb_scan_frame *f, double phi)
{
    nb_scan_middle out = {.turn = turn_at(scan, f, phi)};
    change_at(scan, place_of(scan, f, phi), out.change);
    return out;
}

nb_scan_middle nb_scan_middle_of(const nb_scan_points *scan, const nb_scan_frame *f)
{
    return at(scan, f, f->phi + f->range / 2);
}

void nb_scan_at(const nb_scan_points *scan, const nb_scan_frame *f, double phi,
                const double reference[9], double out[9])
{
    const nb_scan_middle there = at(scan, f, phi);
    nb_scan_to_middle(&there, reference, out);
}

void nb_scan_to_middle(const nb_scan_middle *middle, const double reference[9],
                       double out[9])
{
    double A[9];
    nb_multiply(reference, middle->change, A);
    nb_multiply(middle->turn.m, A, out);
}

void nb_scan_to_reference(const nb_scan_middle *middle, const double A[9], double out[9])
{
    double back[9], to[9];
    nb_invert(middle->turn.m, back);
    nb_multiply(back, A, to);
    nb_invert(middle->change, back);
    nb_multiply(to, back, out);
}

nb_scan_step nb_scan_step_of(const nb_scan_points *scan, const nb_scan_frame *f,
                             const nb_scan_middle *middle, double phi)
{
    double change[9], back[9];
    nb_scan_step step;
    change_at(scan, place_of(scan, f, phi), change);
    nb_invert(change, back);
    nb_multiply(back, middle->change, step.mix);
    step.turn = turn_at(scan, f, phi);
    nb_transpose(middle->turn.m, back);
    nb_multiply(step.turn.m, back, step.turn.m);
    return step;
}

nb_orientation nb_scan_mix(const nb_scan_step *step, nb_orientation u)
{
    nb_vec3 row[3];
    for (int i = 0; i < 3; i++)
        row[i] = nb_add(nb_scale(step->mix[3 * i], u.a),
                        nb_add(nb_scale(step->mix[3 * i + 1], u.b),
                               nb_scale(step->mix[3 * i + 2], u.c)));
    return (nb_orientation){row[0], row[1], row[2]};
}

nb_opt3 nb_scan_beam(const nb_scan_points *scan, double phi_deg, double osc_deg)
{
    const nb_scan_frame f = {.phi = phi_deg * NB_DEG, .range = osc_deg * NB_DEG};
    nb_opt3 out = {0};
    nb_vec3 v;
    if (!scan->beam)
        return out;
    between(scan->beam[0], scan->n, 3, place_of(scan, &f, f.phi + f.range / 2), out.v);
    v = nb_unit(nb_v3(out.v[0], out.v[1], out.v[2]));
    return (nb_opt3){1, {v.x, v.y, v.z}};
}
