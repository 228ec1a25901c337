/* SPDX-License-Identifier: MIT */
/** Make the scene of a renderer from a configuration and its loaded files. */
#ifndef NB_MODEL_SCENE_BUILD_H
#define NB_MODEL_SCENE_BUILD_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/scene.h"
#include "amorphous.h"
#include "beam.h"
#include "absorb.h"
#include "crystal.h"
#include "damage.h"
#include "diffuse.h"
#include "detector.h"
#include "../physics/footprint.h"
#include "mosaic.h"
#include "scan.h"
#include "spectrum.h"

/** Loaded files; the caller keeps them alive as long as the model. */
typedef struct nb_model_inputs {
    const double *matrix;   /* 9 numbers, NULL without -mat */
    double matrix_lambda_A; /* the matrix is in units of 1/this; 0: the beam's */
    const nb_scan_points *
        scan; /* of the crystal of `matrix`; a width of 0: the points are the ends of the frame; NULL: none */
    const nb_source_line *sources; /* NULL without -sourcefile */
    int n_sources;
    const uint8_t *mask;   /* [slow][fast], NULL without -mask */
    nb_factor_table table; /* nh = 0: constant default_F */
    const int *table_of_source; /* [n_of_source]: of each source of the beam, in its order (nb_beam_grid,
                                     or that of `sources`); NULL: all have table 0 */
    int n_of_source;
    const nb_displacement *moved;      /* NULL: nothing is displaced */
    const nb_amorphous_set *amorphous; /* NULL: no material */
    const nb_spectrum_point *points;   /* of a file of -spectrum; NULL without one */
    int n_points;
    const int8_t (
        *rotations)[9]; /* [n_rotations] of the space group (diffuse.h); NULL: the identity */
    int n_rotations;
    int64_t default_seed; /* where -seed or -misset_seed is unset */
    const nb_mat3 *blocks; /* [n_blocks] of the mosaic domains, about a*, c x a*, c; NULL: they are drawn */
    int n_blocks;
    int twin_part; /* the lattice of -twin: 0 the first, else that of law twin_part - 1 */
    int check_only; /* orientations are counted, not made: the scene cannot be rendered */
} nb_model_inputs;

/** Tables after a dose; shared by the crystals of an image whose tables and damage are alike. */
typedef struct nb_damaged {
    nb_factor_table table; /* its F is owned */
    const double *from;    /* F without the dose */
    double B, fall;        /* nb_damage */
    double cell[6];        /* of F */
} nb_damaged;

/** The scene, and the values behind it that reports and headers need. */
typedef struct nb_model {
    nb_settings settings; /* of the configuration that it was built from */
    nb_scene scene;       /* points into the arrays below and into the inputs */
    nb_scene flat; /* the same with the stack as a rectangle, for what is made of its image; src/sim fills it */
    nb_geometry geometry;
    nb_crystal crystal; /* of a scan along which it changes: in the middle of the frame */
    nb_scan_step *steps;   /* owned, [n_phi] of such a scan; else NULL */
    nb_scan_middle middle; /* of such a scan */
    double wavelength_A;   /* central */
    double fluence;        /* photons/m^2 of this shot */
    nb_damage damage;      /* by a dose */
    nb_damaged *damaged; /* shared; of the scene's F, where a dose changes them; else NULL */
    nb_absorber absorber; /* the crystal's body; mu = 0: nothing is absorbed */
    nb_scene rest; /* the background alone, where there is absorption; src/sim fills it */
    nb_spectrum spectrum; /* owned; of -spectrum, without it zero */
    double blocks;        /* of the crystal; of a twin, all parts together */
    double twin_share;    /* of them that have this lattice; 1 without a twin */
    double obliquity;     /* rad; of that lattice */
    int auto_oversample;  /* sub-pixels that resolve the crystal's fringes */
    int auto_phi_steps; /* that resolve the rocking curves; 0: their number is typed, or a rule's */
    double phi0, phi_range, phi_step; /* rad */
    nb_mosaic mosaic;
    nb_footprint footprint;  /* of the Bragg light */
    nb_diffuse diffuse;      /* of -diffuse_sigma */
    nb_factor_table at_rest; /* F that it takes, without what it weakens in the scene's */
    int is_mixed;            /* the scene has F of several parts of a twin (twin_mix.h) */
    nb_factor_table alone;   /* F of the first part then */
    struct nb_twin_mixed *mixed;  /* shared; F of the scene then, or NULL */
    double *weakened;             /* owned; F of the scene then, or NULL */
    nb_amorphous *amorphous;      /* owned; its tables are the inputs' */
    nb_detector *detector;        /* owned */
    nb_source *sources;           /* owned */
    nb_orientation *orientations; /* owned, [phi][domain] */
} nb_model;

/** Build the model. Free it with nb_model_free after success; after an error nothing is
 * allocated. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_model_build(const nb_config *cfg, const nb_model_inputs *inputs,
                         const nb_hooks *hooks, nb_model *model, nb_error *err);
/** Give a built model other tables; of_source: [sources of the beam], which table each has. */
void nb_model_set_tables(const nb_factor_table *table, const int *of_source,
                         nb_model *model);
/** Let the dose of a model act on its tables.  cell: of their F (A, deg), or NULL: the crystal's.  like: a model whose tables
 * are taken where they are the same, or NULL.  Errors: NB_ERR_NOMEM. */
nb_status nb_model_damage_tables(const double *cell, const nb_model *like,
                                 nb_model *model, nb_error *err);
/** After its tables are set: the diffuse light of a built model, and the Bragg light that it leaves.  Errors: NB_ERR_NOMEM,
 * NB_ERR_INPUT (no table of F). */
nb_status nb_model_move(const nb_model_inputs *inputs, nb_model *model, nb_error *err);
void nb_model_free(nb_model *model); /* zeroed or built */

/** The scene without its crystal: one orientation, whose every F is 0.  Its background is the same. */
nb_scene nb_scene_without_crystal(const nb_scene *scene);

/** Largest |q| that a rendered pixel sees of any source, 1/A: the corners of its panels' parts, at both faces of the
 * sensor. */
double nb_scene_reach(const nb_scene *scene);

/** Solid angle of all pixels that are rendered, sr: of their area as a whole on a flat detector
 * without mask, else the sum of the pixels' own at their centres. */
double nb_scene_solid_angle(const nb_scene *scene);

#endif
