/* SPDX-License-Identifier: MIT */
/* Crystal, beam and goniometer that change along a scan: n + 1 points for n images. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/matrix.h"
#include "../../base/memory.h"
#include "../common/panel_spec.h"
#include "../table/sources.h"
#include "expt_parts.h"

enum { MAX_POINTS = 10000000 };

/** Read both numbers of image_range; returns 0 without valid numbers. */
static int image_range(const nb_node *scan, int range[2])
{
    double v[2];
    if (nb_node_member_numbers(scan, "image_range", 2, v, NULL) || fabs(v[0]) > 1e9 ||
        fabs(v[1]) > 1e9 || v[1] < v[0])
        return 0;
    range[0] = (int)v[0];
    range[1] = (int)v[1];
    return 1;
}

int nb_expt_first_image(const nb_node *scan)
{
    int range[2];
    return image_range(scan, range) ? range[0] : 1;
}

int nb_expt_images(const nb_node *scan)
{
    int range[2];
    return image_range(scan, range) && range[1] - range[0] < MAX_POINTS
               ? range[1] - range[0] + 1
               : 0;
}

/** Read [n][width] numbers. *out is NULL if `key` is missing or, as in DIALS, the array
 * has another n. */
static nb_status read_points(const nb_node *model, const char *key, int n, int width,
                             const nb_hooks *hooks, double **out, nb_error *err)
{
    nb_node list = nb_node_member(model, key);
    const int points = nb_node_count(&list);
    const cJSON *item;
    nb_status st = NB_OK;
    int i = 0;
    *out = NULL;
    if (!list.json)
        return NB_OK;
    if (points != n) {
        nb_notice(hooks,
                  "%s: %s: %d scan points, but the scan has %d images, which need %d: "
                  "the values of the whole scan are used, as DIALS does",
                  list.file, list.pointer, points < 0 ? 0 : points, n > 0 ? n - 1 : 0, n);
        return NB_OK;
    }
    *out = nb_alloc((size_t)n * (size_t)width, sizeof **out, "scan points", err);
    NB_NEED(*out);
    cJSON_ArrayForEach(item, list.json)
    {
        nb_node one = nb_node_item(&list, item, i);
        NB_TRY(nb_node_numbers(&one, width, *out + (size_t)i * (size_t)width, err));
        i++;
    }
    if (st) {
        nb_free(*out);
        *out = NULL;
    }
    return st;
}

/** Invert m; returns 0 if m is singular. */
static int invert(const double m[9], double out[9])
{
    nb_invert(m, out);
    for (int i = 0; i < 9; i++)
        if (!isfinite(out[i]))
            return 0;
    return 1;
}

/** Set A to the matrix at mid-scan, and scan->change to A^-1 times the matrix of each
 * point. */
static nb_status crystal_points(const nb_expt_varying *of, nb_scan_points *scan,
                                double A[9], nb_error *err)
{
    const nb_node list = nb_node_member(&of->crystal, "A_at_scan_points");
    double inverse[9], *at;
    nb_status st =
        read_points(&of->crystal, "A_at_scan_points", scan->n, 9, of->hooks, &at, err);
    if (st || !at)
        return st;
    scan->change = (double(*)[9])at;
    memcpy(A, scan->change[scan->n / 2], 9 * sizeof *A);
    if (!invert(A, inverse))
        return nb_node_fail(&list, "the matrix in the middle of the scan is singular",
                            err);
    for (int i = 0; i < scan->n; i++) {
        double back[9];
        nb_multiply(inverse, scan->change[i], scan->change[i]);
        if (invert(scan->change[i], back))
            continue;
        const nb_node one = nb_node_element(&list, i);
        return nb_node_fail(&one, "the matrix is singular", err);
    }
    return NB_OK;
}

/** Set scan->setting to the setting rotation of each point times S^-1, in the frame of
 * NeXus. */
static nb_status setting_points(const nb_expt_varying *of, nb_scan_points *scan,
                                nb_error *err)
{
    static const char key[] = "setting_rotation_at_scan_points";
    const nb_node list = nb_node_member(&of->goniometer, key);
    const double sign[3] = {-1, 1, -1}; /* the signs of nb_turn_dxtbx */
    double back[9], *at;
    nb_status st = read_points(&of->goniometer, key, scan->n, 9, of->hooks, &at, err);
    if (st || !at)
        return st;
    scan->setting = (double(*)[9])at;
    nb_transpose(of->S, back);
    for (int i = 0; i < scan->n; i++) {
        if (!nb_is_rotation(scan->setting[i])) {
            const nb_node one = nb_node_element(&list, i);
            return nb_node_fail(&one, "must be a rotation", err);
        }
        nb_multiply(scan->setting[i], back, scan->setting[i]);
        for (int j = 0; j < 9; j++)
            scan->setting[i][j] *= sign[j / 3] * sign[j % 3];
    }
    return NB_OK;
}

static nb_status beam_points(const nb_expt_varying *of, nb_scan_points *scan,
                             nb_error *err)
{
    const nb_node list = nb_node_member(&of->beam, "s0_at_scan_points");
    double least = INFINITY, longest = 0, *at;
    nb_status st =
        read_points(&of->beam, "s0_at_scan_points", scan->n, 3, of->hooks, &at, err);
    if (st || !at)
        return st;
    scan->beam = (double(*)[3])at;
    for (int i = 0; i < scan->n; i++) {
        const double length = nb_length3(scan->beam[i]);
        least = fmin(least, length);
        longest = fmax(longest, length);
        if (!(length > 0)) {
            const nb_node one = nb_node_element(&list, i);
            return nb_node_fail(&one, "the direction is zero", err);
        }
        nb_unit3(scan->beam[i]);
        nb_turn_dxtbx(scan->beam[i]);
    }
    if (longest > least * (1 + 1e-6))
        nb_notice(of->hooks,
                  "%s: %s: the wavelength changes by %.2g of it along the scan; that of "
                  "the beam is used throughout",
                  list.file, list.pointer, longest / least - 1);
    return NB_OK;
}

static void say_mosaicity(const nb_expt_varying *of)
{
    nb_node mosaicity = nb_node_member(&of->crystal, "mosaicity");
    double degrees;
    if (mosaicity.json && !nb_node_number(&mosaicity, &degrees, NULL) && degrees > 0)
        nb_notice(of->hooks, "%s: %s: %g deg is not used; type -mosaic", mosaicity.file,
                  mosaicity.pointer, degrees);
}

nb_status nb_expt_scan_points(const nb_expt_varying *of, nb_detector_spec *out,
                              double A[9], nb_error *err)
{
    nb_scan_points *scan = &out->scan;
    const int images = nb_expt_images(&of->scan);
    nb_status st;
    scan->n = out->osc_deg > 0 && !isnan(out->phi_deg) && images > 0 ? images + 1 : 0;
    scan->phi_deg = out->phi_deg;
    scan->osc_deg = out->osc_deg;
    NB_FORWARD(crystal_points(of, scan, A, err));
    NB_FORWARD(setting_points(of, scan, err));
    NB_FORWARD(beam_points(of, scan, err));
    say_mosaicity(of);
    return NB_OK;
}
