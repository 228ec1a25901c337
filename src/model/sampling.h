/* SPDX-License-Identifier: MIT */
/** Number of sample points of a range: the selection tables of nanoBragg's options. */
#ifndef NB_MODEL_SAMPLING_H
#define NB_MODEL_SAMPLING_H

#include "../nanobragg.h"

/** A sampled range: `count` points at a distance of `step` represent `range`. */
typedef struct nb_sampling {
    int count;
    double range, step;
} nb_sampling;

/** Divergence along one direction; inputs NaN or 0 when unset, any unit.  A count without a
 * range is an error that names `range_flag`. */
nb_status nb_sample_divergence(double range, double step, int count,
                               const char *range_flag, nb_sampling *out, nb_error *err);
/** Dispersion: range and step as fractions, NaN unset; count 0 unset. */
nb_sampling nb_sample_dispersion(double range, double step, int count);
/** Sensor layers: thickness 0 = none; count 0 unset. */
nb_sampling nb_sample_layers(double thickness, int count);
/** Spindle rotation [rad]. Without a range or step, or with a range of 0, it is a still:
 * `count` steps at the same angle. A step of 0 counts as unset. With -compat it uses a
 * typed step as the distance of the points. */
nb_sampling nb_sample_phi(double range, double step, int count, int compat);
/** The number of spindle steps is left open: a range without step and count. */
int nb_phi_open(double range, double step, int count, int compat);
/** Mosaic domains for a spread [rad, NaN unset]. */
int nb_mosaic_domains(double spread, int count);

#endif
