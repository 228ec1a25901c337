/* SPDX-License-Identifier: MIT */
#include "nx_scan.h"

#ifdef NB_HAVE_HDF5
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/memory.h"
#include "nx_fields.h"
#include "../common/panel_spec.h"

enum { PATH = NB_H5_NAME + 32 };

/** How an axis turns: not at all, during each frame, or from frame to frame. */
typedef enum motion { RESTS, TURNS, VARIES } motion;

/** Do its values differ?  *n: their number. */
static int differs(const nb_h5_input *in, const char *path, hsize_t *n)
{
    nb_h5_set set;
    double *values = NULL;
    int yes = 0;
    *n = 0;
    if (!nb_h5_set_open(in, path, -1, &set))
        return 0;
    if (!nb_h5_set_doubles(&set, &values, NULL)) {
        *n = set.dims[0] * set.dims[1] * set.dims[2];
        for (hsize_t i = 1; i < *n && !yes; i++)
            yes = values[i] != values[0];
    }
    nb_h5_set_close(&set);
    nb_free(values);
    return yes;
}

/** Number `at` of the set NAME + suffix, deg; its unit is that of the axis where it has none. */
static double beside(const nb_h5_input *in, const char *axis, const char *suffix,
                     long long at)
{
    char path[PATH];
    double scale, value;
    if (snprintf(path, PATH, "%s%s", axis, suffix) >= PATH || !nb_h5_there(in, path))
        return NAN;
    scale = nb_nx_scale(in, path, "units", NB_NX_DEGREES);
    if (scale == 0)
        scale = nb_nx_scale(in, axis, "units", NB_NX_DEGREES);
    value = nb_h5_get_number(in, path, at, 1);
    return value * (scale == 0 ? 1 : scale);
}

/** Start and width of a frame. */
static motion look_at(const nb_h5_input *in, const char *path, long long frame,
                      double *start, double *width)
{
    static const char *const steps[] = {"_increment_set", "_increment", "_range_average"};
    hsize_t n;
    int varies = differs(in, path, &n);
    *start = nb_nx_number(in, path, NB_NX_DEGREES, frame);
    *width = beside(in, path, "_end", frame) - *start;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !isfinite(*width); i++)
        *width = beside(in, path, steps[i], frame);
    if (!isfinite(*width) && varies) {
        long long other = frame + 1 < (long long)n ? frame + 1 : frame - 1;
        *width = (nb_nx_number(in, path, NB_NX_DEGREES, other) - *start) *
                 (double)(other - frame);
    }
    return varies ? VARIES : isfinite(*width) && *width != 0 ? TURNS : RESTS;
}

static nb_status scan_of_chain(const nb_h5_input *in, const char *start, long long frame,
                               nb_nx_chain *chain, nb_nx_scan *out, nb_error *err)
{
    char next[NB_H5_NAME];
    motion best = RESTS;
    int at = -1;
    nb_status st;
    if (!nb_h5_there(in, start) || !nb_h5_get_string(in, start, NULL, next, sizeof next))
        return NB_OK;
    if ((st = nb_nx_chain_read(in, start, next, chain, err)))
        return st;
    for (int i = 0; i < chain->n; i++) {
        double phi, osc;
        motion how = chain->axes[i].rotates
                         ? look_at(in, chain->axes[i].path, frame, &phi, &osc)
                         : RESTS;
        if (!chain->axes[i].rotates || (at >= 0 && how <= best))
            continue;
        at = i;
        best = how;
        out->phi_deg = phi;
        out->osc_deg = osc;
    }
    if (at < 0)
        return NB_OK;
    memcpy(out->spindle.v, chain->axes[at].vector, sizeof out->spindle.v);
    nb_unit3(out->spindle.v);
    nb_nx_turn(chain, at + 1, out->spindle.v);
    out->spindle.set = 1;
    return NB_OK;
}

/** Angles without axes. */
static void scan_of_goniometer(const nb_h5_input *in, const char *sample, long long frame,
                               nb_nx_scan *out)
{
    static const char *const groups[] = {"goniometer", "transformations"};
    static const char *const names[] = {"omega", "phi", "chi", "kappa"};
    motion best = RESTS;
    for (int i = 0; i < 8; i++) {
        char path[PATH];
        double phi, osc;
        motion how;
        if (snprintf(path, PATH, "%s/%s/%s", sample, groups[i / 4], names[i % 4]) >= PATH ||
            !nb_h5_there(in, path))
            continue;
        how = look_at(in, path, frame, &phi, &osc);
        if (!isnan(out->phi_deg) && how <= best)
            continue;
        best = how;
        out->phi_deg = phi;
        out->osc_deg = osc;
    }
}

nb_status nb_nx_scan_read(const nb_h5_input *in, const char *entry, long long frame,
                          nb_nx_chain *chain, nb_nx_scan *out, nb_error *err)
{
    char sample[NB_H5_NAME], start[PATH];
    nb_status st;
    *out = (nb_nx_scan){.phi_deg = NAN, .osc_deg = NAN};
    nb_nx_find_group(in, entry, "NXsample", "sample", sample);
    snprintf(start, sizeof start, "%s/depends_on", sample);
    st = scan_of_chain(in, start, frame, chain, out, err);
    if (!st && !nb_h5_there(in, start))
        scan_of_goniometer(in, sample, frame, out);
    return st;
}
#else
typedef int nb_nx_scan_is_absent; /* a file must not be empty */
#endif
