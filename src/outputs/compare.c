/* SPDX-License-Identifier: MIT */
/* Compare two images, and describe the kind of difference in words. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../analysis/analysis.h"
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../io/image/image_read.h"
#include "picture.h"
#include "../inputs/load.h"

void nb_compare_defaults(nb_compare_options *o)
{
    if (!o)
        return;
    memset(o, 0, sizeof *o);
    o->floor = 1e-6;
    o->peak_percentile = 99;
    o->peak_exclusion = 3;
    o->peak_count = 100;
    o->gate_px = 2;
    o->centre[0] = o->centre[1] = NAN;
}

nb_status nb_pair_of(const nb_image *a, const nb_image *b, const nb_compare_options *o,
                     nb_pair *pair, nb_error *err)
{
    const int *r = o->roi;
    nb_pair p = {a->pixels,
                 b->pixels,
                 b->fast,
                 b->slow,
                 {0, b->fast - 1, 0, b->slow - 1},
                 {a->left_out, b->left_out}};
    NB_REFUSE_NULL(a->pixels && b->pixels);
    if (a->fast != b->fast || a->slow != b->slow)
        return nb_fail(err, NB_ERR_INPUT,
                       "the images differ in size: %d x %d and %d x %d%s", a->fast,
                       a->slow, b->fast, b->slow,
                       a->fast == b->slow && a->slow == b->fast ? " (axes swapped?)" : "");
    if (o->roi_set && (r[0] < 0 || r[0] > r[1] || r[1] >= b->fast || r[2] < 0 ||
                       r[2] > r[3] || r[3] >= b->slow))
        return nb_fail(err, NB_ERR_INPUT,
                       "-roi %d %d %d %d: must be min <= max, inside 0 %d 0 %d", r[0],
                       r[1], r[2], r[3], b->fast - 1, b->slow - 1);
    if (o->roi_set)
        memcpy(p.roi, r, sizeof p.roi);
    *pair = p;
    return NB_OK;
}

static nb_status check(const nb_compare_options *o, nb_error *err)
{
    if (!(o->floor >= 0 && o->floor < 1))
        return nb_fail(err, NB_ERR_INPUT, "floor %g: must be at least 0 and below 1",
                       o->floor);
    if (!(o->peak_percentile >= 0 && o->peak_percentile <= 100) ||
        o->peak_exclusion < 0 || o->peak_exclusion > 1000 || o->peak_count < 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "peaks: percentile %g must be 0 to 100, exclusion %d 0 to 1000, "
                       "count %d not negative",
                       o->peak_percentile, o->peak_exclusion, o->peak_count);
    if (!(o->gate_px >= 0 && o->gate_px <= 1000))
        return nb_fail(err, NB_ERR_INPUT, "gate %g: must be 0 to 1000 pixels", o->gate_px);
    return NB_OK;
}

/** Use the typed centre, or else the beam centre of an image, or else the middle of the
 * image. */
static void choose_centre(const nb_image *a, const nb_image *b,
                          const nb_compare_options *o, double centre[2])
{
    for (int i = 0; i < 2; i++) {
        double middle = (i ? b->slow : b->fast) / 2.0;
        centre[i] = !isnan(o->centre[i])   ? o->centre[i]
                    : !isnan(b->centre[i]) ? b->centre[i]
                    : !isnan(a->centre[i]) ? a->centre[i]
                                           : middle;
    }
}

static int is_shifted(const nb_difference *d)
{
    double x = d->peaks_mean_shift[0], y = d->peaks_mean_shift[1];
    double rms = d->peaks_rms_shift, mean = hypot(x, y);
    return d->peaks_fraction >= 0.5 && d->peaks_matched > 0 && mean > 0.3 &&
           rms * rms - mean * mean < 0.1;
}

/** Write the first verdict that fits. */
static void judge(nb_difference *d)
{
    char *text = d->verdict;
    size_t size = sizeof d->verdict;
    if (d->nonfinite_a || d->nonfinite_b)
        snprintf(
            text, size,
            "not finite (NaN or infinite): %lld pixels of A, %lld of B, the first at "
            "%d %d",
            (long long)d->nonfinite_a, (long long)d->nonfinite_b, d->nonfinite_fast,
            d->nonfinite_slow);
    else if (d->max_difference == 0)
        snprintf(text, size, "the images are equal");
    else if (d->transposed_correlation > 0.9 &&
             !(d->correlation > d->transposed_correlation))
        snprintf(text, size,
                 "A looks like B with its axes swapped (the correlation is then %.6f)",
                 d->transposed_correlation);
    else if (is_shifted(d))
        snprintf(text, size,
                 "A looks like B shifted by %.2f %.2f pixels along fast and slow",
                 d->peaks_mean_shift[0], d->peaks_mean_shift[1]);
    else if (d->correlation > 0.999 && d->scaled_rmse < 0.3 * d->rmse)
        snprintf(text, size, "A looks like B times %.6g", d->scale);
}

static void nothing_measured(nb_difference *d)
{
    d->peaks_fraction = d->peaks_rms_shift = NAN;
    d->peaks_mean_shift[0] = d->peaks_mean_shift[1] = NAN;
    d->radial_difference = d->radial_worst = d->radial_worst_radius = NAN;
}

/** Name the panel of the worst pixel, if one of the images has panels. */
static void name_panel(const nb_image *a, const nb_image *b, nb_difference *d)
{
    const nb_image *with = b->detector ? b : a;
    int at[2] = {0, 0};
    d->max_panel = nb_panel_in_image(with, d->max_fast, d->max_slow, at);
    if (d->max_panel < 0)
        return;
    d->max_panel_fast = at[0];
    d->max_panel_slow = at[1];
    snprintf(d->max_panel_name, sizeof d->max_panel_name, "%s",
             with->detector->panels[d->max_panel].name);
}

/** Count the region's left-out pixels by reason: A's, or B's if A uses the pixel. */
static void count_left_out(const nb_pair *p, nb_difference *d)
{
    static const char *const names[] = {"A", "B"};
    int64_t counts[2][NB_LEFT_KINDS] = {{0}};
    for (int s = p->roi[2]; s <= p->roi[3]; s++)
        for (int f = p->roi[0]; f <= p->roi[1]; f++) {
            const size_t at = (size_t)s * (size_t)p->fast + (size_t)f;
            const int b = !(p->out[0] && p->out[0][at]);
            if (!nb_pair_leaves_out(p, at))
                continue;
            counts[b][p->out[b][at]]++;
            d->left_out++;
        }
    for (int i = 0; i < 2; i++)
        nb_left_out_words(counts[i], names[i], d->left_out_why, sizeof d->left_out_why);
}

nb_status nb_image_compare(const nb_image *a, const nb_image *b,
                           const nb_compare_options *options, nb_difference *d,
                           nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(a && b && d);
    nb_compare_options standard;
    nb_pair pair;
    nb_status st;
    memset(d, 0, sizeof *d);
    if (!options) {
        nb_compare_defaults(&standard);
        options = &standard;
    }
    if ((st = check(options, err)) || (st = nb_pair_of(a, b, options, &pair, err)))
        return st;
    d->fast = pair.fast;
    d->slow = pair.slow;
    memcpy(d->roi, pair.roi, sizeof d->roi);
    choose_centre(a, b, options, d->radial_centre);
    if (pair.out[0] || pair.out[1])
        count_left_out(&pair, d);
    st = nb_compare_pixels(&pair, options->floor, d, err);
    if (!st && (d->nonfinite_a || d->nonfinite_b))
        nothing_measured(d);
    else if (!st && !(st = nb_compare_peaks(&pair, options, d, err)))
        st = nb_compare_radial(&pair, d->radial_centre, d, err);
    if (!st)
        judge(d);
    name_panel(a, b, d);
    return st;
}
