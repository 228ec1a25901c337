/* SPDX-License-Identifier: MIT */
/** The beam: wavelength, fluence, and the sources that sample its divergence and spectrum. */
#ifndef NB_MODEL_BEAM_H
#define NB_MODEL_BEAM_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/hostdevice.h"
#include "../physics/scene.h"
#include "detector.h"

/** One line of a source list. */
typedef struct nb_source_line {
    /* position of the source seen from the sample, lab frame; only its direction
     * counts */
    double x, y, z;
    double intensity; /* relative intensity */
    double lambda;    /* m */
} nb_source_line;

/** Convert A to m exactly, by moving the decimal point: a product would round. */
double nb_metres_of(double angstrom);

/** Central wavelength in A. */
double nb_beam_wavelength(const nb_settings *cfg);

/** Photons/m^2 before the attenuator. */
double nb_beam_incident(const nb_settings *cfg);
/** Photons/m^2 on the sample. */
double nb_beam_fluence(const nb_settings *cfg);

struct nb_spectrum;

/** Make sources from the divergence and a spectrum, or from the dispersion if the
 * spectrum is NULL. The wavelength changes fastest in the list. Free *sources with
 * nb_free. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_beam_grid(const nb_settings *cfg, const nb_geometry *geometry,
                       const struct nb_spectrum *spectrum, nb_source **sources,
                       int *count, nb_error *err);

/** True if these intensities can be scaled to a mean of 1. *sum: their sum. */
int nb_beam_has_mean(const nb_source_line *lines, size_t count, double *sum);

/** Make sources from a list; -compat ignores intensities. Free *sources with nb_free. */
nb_status nb_beam_from_list(const nb_source_line *lines, int count, int compat,
                            nb_source **sources, nb_error *err);

/** Set turns[n_sources]: change of direction of a source of nb_beam_grid per rad of the
 * range along axis 0 (horizontal) or 1 (vertical), for fixed counts. NB_ERR_INPUT. */
nb_status nb_beam_turns(const nb_settings *cfg, const nb_geometry *geometry,
                        const nb_beam *beam, int axis, nb_vec3 *turns, nb_error *err);

/* Spectra of -spectrum: wavelengths and weights of each part. docs/physics.md, 23. */

typedef enum nb_spectrum_law {
    NB_SPECTRUM_FLAT,    /* the same density at every energy of the part */
    NB_SPECTRUM_SMOOTH,  /* a normal density */
    NB_SPECTRUM_CHAOTIC, /* a filtered complex noise, new in each shot */
    NB_SPECTRUM_TYPED    /* straight lines through points of a file */
} nb_spectrum_law;

/** A point of a file: photon energy, eV, and photons per eV. */
typedef struct nb_spectrum_point {
    double eV, density;
} nb_spectrum_point;

typedef struct nb_spectrum_part {
    nb_spectrum_law law;
    double photons;         /* mean fraction of the spectrum's photons, 0 to 1 */
    double centre_eV, fwhm; /* eV; fwhm: full width of a flat part or a file */
    double range;           /* width that the wavelengths cover about the centre, eV */
    double coherence;       /* chaotic: r.m.s. width of a spike's field, eV */
    double modes; /* chaotic: M, the r.m.s. width of the part over the coherence */
} nb_spectrum_part;

enum { NB_SPECTRUM_PARTS = 2 };

/** A spectrum of one shot. Each part has equal, increasing steps of photon energy, with
 * wavelengths at their middles. Members A, weight and factor are rounded to twelve
 * digits, so that a user can type them. */
typedef struct nb_spectrum {
    const char *kind; /* static; "file" for a file */
    int parts, each;  /* wavelengths in each part */
    nb_spectrum_part part[NB_SPECTRUM_PARTS];
    int n;              /* parts * each */
    double *A, *weight; /* owned, [n]; wavelengths (A), and weights with mean 1 */
    double *mean;       /* owned, [n]; mean weights of all shots */
    /* W: ratio of the photons of this shot to the mean of all shots */
    double factor;
    int is_chaotic; /* 1: differs from shot to shot */
} nb_spectrum;

/** Inputs of a spectrum. */
typedef struct nb_spectrum_use {
    const nb_spectrum_point *points; /* points of a file, or NULL */
    int n_points;
    double centre_A; /* central wavelength */
    double length_A; /* L, longest edge N_i a_i of the crystal, A; 0 with -wavelengths */
    double dmin_A;   /* smallest d on the detector */
    int64_t seed;    /* seed of the frame */
} nb_spectrum_use;

/** nb_spectrum_is_set: true if -spectrum is given. The other function: true if `name` is
 * a file's name. */
int nb_spectrum_is_set(const nb_settings *cfg);
int nb_spectrum_is_file(const char *name);
/** Write the built-in kinds, with blanks between, into text[size]. Returns text. */
const char *nb_spectrum_kinds(char *text, size_t size);

/** Check -spectrum and its flags against each other and other flags. NB_ERR_INPUT. */
nb_status nb_spectrum_check(const nb_settings *cfg, nb_error *err);

/** Make the spectrum. The caller frees *out, which is all zero after an error.
 * NB_ERR_INPUT: pulse too short for its bandwidth, over 20,000 modes or 10,000
 * wavelengths, energy 0. NB_ERR_NOMEM. */
nb_status nb_spectrum_make(const nb_settings *cfg, const nb_spectrum_use *use,
                           nb_spectrum *out, nb_error *err);
void nb_spectrum_free(nb_spectrum *spectrum); /* The spectrum may be all zero. */

struct nb_philox_words;

/** Normal deviate, mean 0 and variance 1 (Box and Muller 1958). *other: a second
 * deviate. */
double nb_normal52(struct nb_philox_words p, double *other);

#endif
