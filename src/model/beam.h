/* SPDX-License-Identifier: MIT */
/** The beam: wavelength, fluence, and the sources that sample its divergence and spectrum. */
#ifndef NB_MODEL_BEAM_H
#define NB_MODEL_BEAM_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "detector.h"

/** One line of a source list. */
typedef struct nb_source_line {
    double x, y, z;   /* m, lab; position seen from the sample, any length > 0 */
    double intensity; /* relative */
    double lambda;    /* m */
} nb_source_line;

/** A length in A in metres, exactly: the decimal point moves.  A product of doubles is not exact. */
double nb_metres_of(double angstrom);

/** Central wavelength in A. */
double nb_beam_wavelength(const nb_settings *cfg);

/** Photons/m^2 on the sample. */
double nb_beam_fluence(const nb_settings *cfg);

struct nb_spectrum;

/** Sources from divergence and a spectrum (NULL: dispersion), wavelength innermost. Free *sources with
 * nb_free. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_beam_grid(const nb_settings *cfg, const nb_geometry *geometry,
                       const struct nb_spectrum *spectrum, nb_source **sources,
                       int *count, nb_error *err);

/** Can these intensities be scaled to a mean of 1?  *sum: what they add up to. */
int nb_beam_has_mean(const nb_source_line *lines, size_t count, double *sum);

/** Sources from a list; -compat ignores the intensities. Free *sources with nb_free. */
nb_status nb_beam_from_list(const nb_source_line *lines, int count, int compat,
                            nb_source **sources, nb_error *err);

/** How the direction of each source of nb_beam_grid moves, per rad of the range along an axis (0: horizontal, 1: vertical), the number
 * of directions held: turns[n_sources].  Errors: NB_ERR_INPUT. */
nb_status nb_beam_turns(const nb_settings *cfg, const nb_geometry *geometry,
                        const nb_beam *beam, int axis, nb_vec3 *turns, nb_error *err);

#endif
