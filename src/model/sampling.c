/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <limits.h>

#include "../base/error.h"
#include "units.h"

static int count_of(double ratio)
{
    double n = nb_ceil_ratio(ratio);
    return n > INT_MAX - 1 ? INT_MAX - 1 : n < 1 ? 1 : (int)n;
}

static int at_least_two(int n)
{
    return n < 2 ? 2 : n;
}

static const nb_sampling single = {1, 0, 0};

nb_status nb_sample_divergence(double range, double step, int count,
                               const char *range_flag, nb_sampling *out, nb_error *err)
{
    int has_range = !isnan(range), has_step = !isnan(step);
    nb_sampling s = {count, range, step};
    *out = single;
    if (count > 0 && !has_range)
        return nb_fail(
            err, NB_ERR_INPUT,
            "%d divergence steps need a range: add %s (mrad) or remove the count", count,
            range_flag);
    if (!has_range && !has_step)
        return NB_OK;
    if (!has_range) {
        s.range = step;
        s.count = 2;
    } else if (count <= 0) {
        s.step = has_step ? step : range;
        s.count = has_step ? (step > 0 ? count_of(range / step) : 0) : 2;
    } else if (!has_step) {
        s.count = at_least_two(count);
        s.step = range / (s.count - 1);
    }
    if (s.range > 0 && s.step > 0 && s.count > 0)
        *out = s;
    return NB_OK;
}

nb_sampling nb_sample_dispersion(double range, double step, int count)
{
    if (isnan(range) || range <= 0)
        return single;
    if (count <= 0 && step > 0)
        count = count_of(range / step) + 1;
    count = at_least_two(count);
    return (nb_sampling){count, range, range / (count - 1)};
}

nb_sampling nb_sample_layers(double thickness, int count)
{
    const int n = count > 0 ? count : 2;
    return thickness > 0 ? (nb_sampling){n, thickness, thickness / n} : single;
}

nb_sampling nb_sample_phi(double range, double step, int count, int compat)
{
    int has_range = !isnan(range), has_step = step > 0;
    nb_sampling s = {count, range, step};
    if (has_range ? !(range > 0) : !has_step) /* a still: all steps have the same angle */
        return (nb_sampling){count > 0 ? count : 1, 0, 0};
    if (!has_range) {
        s.range = step;
        s.count = 2;
    } else if (count <= 0) {
        s.count = has_step ? count_of(range / step) : 2;
        s.step = has_step ? step : range / s.count;
    } else if (!has_step) {
        s.step = range / count;
    }
    /* the middles of the steps, so that the steps fill the rotation */
    if (!compat && s.range > 0)
        s.step = s.range / s.count;
    return s;
}

int nb_phi_open(double range, double step, int count, int compat)
{
    return range > 0 && !(step > 0) && count <= 0 && !compat;
}

int nb_mosaic_domains(double spread, int count)
{
    if (isnan(spread) || spread <= 0)
        return 1;
    return count > 0 ? count : 10;
}
