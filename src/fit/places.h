/* SPDX-License-Identifier: MIT */
/** The scattering vectors and reflections of pixels, and the photons of a picture. */
#ifndef NB_FIT_PLACES_H
#define NB_FIT_PLACES_H

#include "../nanobragg.h"
#include "../sim/sim.h"

/** The scattering vector of a place of a panel, pixels, at the mean wavelength, 1/m. */
nb_vec3 nb_place_q(const nb_sim *sim, const nb_panel *panel, double fast, double slow);
/** The reflection that one of the crystal's orientations brings nearest to q. */
void nb_place_hkl(const nb_lattice *lattice, nb_vec3 q, int hkl[3]);
/** sin theta/lambda of the middle of a pixel, 1/A. */
double nb_place_stol(const nb_sim *sim, const nb_panel *panel, int fast, int slow);

/** Why a pixel within the resolution limits is not used. */
enum { NB_PLACE_USED = 0, NB_PLACE_FILE, NB_PLACE_SATURATED };

/** A picture in photons, [stack] each, the caller's. */
typedef struct nb_seen {
    float *photons; /* NaN: not observed */
    float *full; /* photons that a saturated pixel has at least; NaN: it is not saturated */
    float *stol;     /* sin theta/lambda, 1/A; 0 outside of the region */
    uint8_t *masked; /* NB_PLACE_... */
    double sigma;    /* out: read-out noise */
} nb_seen;

/** Photons = (ADU - adc)/gain by the flags of the simulation, between d of dmin and dmax (A; 0: off).  The picture is the
 * stack, or has the panels where their file places them.  Errors: NB_ERR_INPUT (size), NB_ERR_NOMEM. */
nb_status nb_place_photons(const nb_sim *sim, const nb_image *picture, double dmin,
                           double dmax, nb_seen *out, nb_error *err);

/** Chosen pixels under which planes are wanted. */
typedef struct nb_plane_job {
    const float *photons, *chosen; /* [stack], NaN: not there */
    const uint8_t *spots;          /* [stack], 1: near a spot */
    double sigma;                  /* read-out noise, photons */
    int half;                      /* pixels around a pixel without spot */
} nb_plane_job;

/** A plane for each group of spots' pixels, and for each other chosen pixel, from the pixels around them: background[stack].
 * Errors: NB_ERR_NOMEM. */
nb_status nb_place_planes(const nb_sim *sim, const nb_plane_job *job, float *background,
                          nb_error *err);

#endif
