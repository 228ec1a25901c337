/* SPDX-License-Identifier: MIT */
#include "axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/** 1200000 as "1.2M": three digits and a prefix. */
static void plain_text(double value, char *text, size_t size)
{
    if (value >= 1e9)
        snprintf(text, size, "%.4gG", value / 1e9);
    else if (value >= 1e6)
        snprintf(text, size, "%.4gM", value / 1e6);
    else
        snprintf(text, size, value >= 10000 ? "%.0f" : "%.4g", value);
}

static void tick_text(double value, nb_axis_unit unit, char *text, size_t size)
{
    if (unit == NB_UNIT_PLAIN)
        plain_text(value, text, size);
    else if (unit == NB_UNIT_TIMES)
        snprintf(text, size, value >= 1000 ? "%.0f\xc3\x97" : "%.4g\xc3\x97", value);
    else if (value < 0.9995e-3)
        snprintf(text, size, "%.4g \xc2\xb5s", value * 1e6);
    else if (value < 0.9995)
        snprintf(text, size, "%.4g ms", value * 1e3);
    else
        snprintf(text, size, "%.4g s", value);
}

static void add_tick(nb_axis *a, double value, nb_axis_unit unit)
{
    if (a->count == NB_AXIS_TICKS_MAX)
        return;
    a->tick[a->count] = value;
    tick_text(value, unit, a->label[a->count], sizeof a->label[0]);
    a->count++;
}

/** The nearest of 1, 2, 5 times a power of ten at or beyond value; up 0: at or below it. */
static double round_to_125(double value, int up)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(value) + 1e-12));
    double rest = value / power;
    if (up) {
        for (int i = 0; i < 4; i++)
            if (rest <= steps[i] * (1 + 1e-9))
                return power * steps[i];
        return power * 10;
    }
    for (int i = 3; i > 0; i--)
        if (rest >= steps[i] * (1 - 1e-9))
            return power * steps[i];
    return power;
}

void nb_axis_span(nb_axis *a, double low, double high, nb_axis_unit unit)
{
    double first, powers;
    memset(a, 0, sizeof *a);
    a->low = round_to_125(low, 0);
    a->high = round_to_125(high, 1);
    if (a->high <= a->low * 1.001) {
        a->low /= 2;
        a->high *= 2;
    }
    powers = log10(a->high / a->low);
    first = pow(10, floor(log10(a->low) + 1e-9));
    for (double p = first; p <= a->high * 1.001; p *= 10)
        for (int k = 1; k < 10; k++) {
            double value = p * k;
            int labelled = k == 1 || (powers < 3.3 && (k == 2 || k == 5));
            if (value < a->low * 0.999 || value > a->high * 1.001)
                continue;
            if (labelled)
                add_tick(a, value, unit);
            else if (a->minor_count < NB_AXIS_TICKS_MAX * 9)
                a->minor[a->minor_count++] = value;
        }
}

void nb_axis_at(nb_axis *a, const double *values, int count, nb_axis_unit unit)
{
    double room;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < count; i++)
        add_tick(a, values[i], unit);
    if (!count) {
        a->low = 1;
        a->high = 10;
        return;
    }
    room = count > 1 ? pow(values[count - 1] / values[0], 0.05) : 2;
    a->low = values[0] / room;
    a->high = values[count - 1] * room;
}

double nb_axis_place(const nb_axis *a, double value)
{
    return log(value / a->low) / log(a->high / a->low);
}
