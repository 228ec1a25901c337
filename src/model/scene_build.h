/* SPDX-License-Identifier: MIT */
/** Make the scene of a renderer from a configuration and its loaded files. */
#ifndef NB_MODEL_SCENE_BUILD_H
#define NB_MODEL_SCENE_BUILD_H

#include "../nanobragg.h"
#include "../params/params.h"
#include "../physics/shadow.h"
#include "../physics/diffuse.h"
#include "../physics/footprint.h"
#include "../physics/scene.h"
#include "beam.h"
#include "crystal.h"
#include "detector.h"

/* --- Tables of materials without order, as the renderers read them --- */

/** A point of a table. */
typedef struct nb_stol_point {
    double stol; /* sin(theta)/lambda, 1/A */
    double F;    /* of a molecule, electrons; with its sign */
} nb_stol_point;

/** A material and how much of it the beam meets. */
typedef struct nb_amorphous_source {
    const nb_stol_point *points; /* increasing; the caller's */
    int n;                       /* 1 at least */
    double per_area; /* molecules/m^2; NaN: as the configuration says, of the table of -stol */
} nb_amorphous_source;

/** Materials with their tables cut into pieces. */
typedef struct nb_amorphous_set {
    nb_amorphous tables; /* of n materials; their molecules are not filled */
    double *per_area; /* owned, as the arrays of tables; [n], as in nb_amorphous_source */
    double first, last; /* sin(theta)/lambda that every table covers, 1/m */
    size_t pieces;      /* in all */
    int leads;          /* the first material has a piece before its first point */
    int negative;       /* some F is below 0 */
} nb_amorphous_set;

/** n > 0.  *set is the caller's (nb_amorphous_set_free), zero on error.  Errors: NB_ERR_NOMEM. */
nb_status nb_amorphous_build(const nb_amorphous_source *list, int n,
                             nb_amorphous_set *set, nb_error *err);
void nb_amorphous_set_free(nb_amorphous_set *set); /* zero or built */

/** Molecules of a material on one square metre. */
double nb_molecules_per_area(double path_mm, double density, double mass);

/** Molecules of the table of -stol in the beam, by -molecules or path, density and mass. */
double nb_table_molecules(const nb_settings *cfg);

/** The materials of a model with so many blocks: the set's, with their molecules.  Its tables are those
 * of the set; the caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_amorphous_of(const nb_settings *cfg, const nb_amorphous_set *set,
                          double blocks, nb_amorphous **amorphous, nb_error *err);

/* --- The body of -absorb in the lab --- */

/** The rotation of a frame, rad. */
typedef struct nb_frame_turn {
    double first, range;
    int steps;
} nb_frame_turn;

/** mu = 0 without -absorb.  Errors: NB_ERR_INPUT, NB_ERR_UNSUPPORTED (no xraylib). */
nb_status nb_absorber_of(const nb_settings *cfg, const nb_geometry *geometry,
                         const nb_crystal *crystal, const nb_frame_turn *turn,
                         double wavelength_A, nb_absorber *out, nb_error *err);

/* --- How far diffuse light reaches --- */

/** |q| (1/A) to which diffuse light is made of an image that sees `seen`, and to which its F go where they have a limit: a
 * little more than is seen and -dmin (A; 0: none) leaves, rounded so that frames share tables. */
double nb_diffuse_reach(double seen, double dmin_A, double gamma_A);

/* A crystal and a beam that change along a scan, as DIALS' scan-varying models do. */

/** How the cell of a spindle step differs from the crystal, which is that in the middle of the frame: its a, b, c are
 * mix x (a, b, c), row by row; after the mosaic domain's rotation it is turned, and then by the spindle. */
typedef struct nb_scan_step {
    double mix[9];
    nb_mat3 turn;
} nb_scan_step;

/** The frame's middle against the reference of the scan: A = turn x reference x change. */
typedef struct nb_scan_middle {
    double change[9];
    nb_mat3 turn;
} nb_scan_middle;

/** The angles of a frame, and the axis that it turns about. */
typedef struct nb_scan_frame {
    double phi, range; /* rad */
    nb_vec3 spindle;
    nb_convention convention;
} nb_scan_frame;

/** Is the frame within a scan that must hold it?  *from and *to: its ends, deg.  A scan without a width is the frame. */
int nb_scan_holds(const nb_scan_points *scan, double phi_deg, double osc_deg,
                  double *from, double *to);

/** The same as an error, of a frame of this configuration. */
nb_status nb_scan_check(const nb_scan_points *scan, const nb_settings *cfg, nb_error *err);

/** Does the crystal change? */
int nb_scan_changes(const nb_scan_points *scan);

nb_scan_middle nb_scan_middle_of(const nb_scan_points *scan, const nb_scan_frame *frame);
/** From A (nine numbers, columns a* b* c*) of the scan's reference to that of the middle, and back. */
void nb_scan_to_middle(const nb_scan_middle *middle, const double reference[9],
                       double out[9]);
void nb_scan_to_reference(const nb_scan_middle *middle, const double A[9], double out[9]);

/** A at this angle [rad] of the frame, of the reference's. */
void nb_scan_at(const nb_scan_points *scan, const nb_scan_frame *frame, double phi,
                const double reference[9], double out[9]);

/** The step at this angle [rad]. */
nb_scan_step nb_scan_step_of(const nb_scan_points *scan, const nb_scan_frame *frame,
                             const nb_scan_middle *middle, double phi);

/** a, b, c of a step. */
nb_orientation nb_scan_mix(const nb_scan_step *step, nb_orientation crystal);

/** The beam's direction in the middle of a frame, in the frame of NeXus; set 0: it does not change. */
nb_opt3 nb_scan_beam(const nb_scan_points *scan, double phi_deg, double osc_deg);

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

/* Number of sample points of a range: the selection tables of nanoBragg's options. */

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

/* The error of a spot's photons with too few sub-pixels (docs/physics.md, section 7). */

/** Relative error (root mean square) of a typical reflection's photons with this number of
 * sub-pixels along the edge of a pixel, with orientations and sources; 0 if the sum is
 * exact. Takes milliseconds. */
double nb_sampling_error(const nb_scene *scene, int oversample);

/** What is sampled by steps: the rotation, the list of sources, the mosaic domains. */
typedef enum nb_steps_axis {
    NB_STEPS_PHI,
    NB_STEPS_SOURCES,
    NB_STEPS_DOMAINS
} nb_steps_axis;

typedef struct nb_steps {
    nb_steps_axis axis;
    int count;
    double range;    /* of the rotation, rad */
    nb_vec3 spindle; /* unit */
} nb_steps;

/** Relative error (root mean square) of a typical reflection's photons with this number of steps along one
 * axis, with the spread of the others; sources as a continuous spectrum.  Takes milliseconds. */
double nb_steps_error(const nb_scene *scene, const nb_steps *by);

/** The least number of steps, from by.count, with an error up to `most`; no more than 100000. */
int nb_steps_enough(const nb_scene *scene, nb_steps by, double most);

/** Spindle steps that resolve the rocking curves of a rotation by `range` (rad), at least 2: those of
 * an error of 0.05, twice, for the reflections that the ends of the rotation cut. The scene's
 * orientations are the domains at the middle of the rotation (n_phi 1). */
int nb_phi_steps_enough(const nb_scene *scene, double range, nb_vec3 spindle);

/* --- The shadows of -beamstop in the lab --- */

/** n = 0 without -beamstop.  Errors: NB_ERR_INPUT. */
nb_status nb_shadow_of(const nb_settings *cfg, const nb_geometry *geometry,
                       nb_shadow *out, nb_error *err);

/* --- The cross-section of -footprint in the lab --- */

/** Unit vectors of the axes of a and b: perpendicular to the beam, a's turned by the angle from the horizontal. */
void nb_footprint_axes(const nb_geometry *geometry, double angle_deg, nb_vec3 *a,
                       nb_vec3 *b);

/** The lengths of a and b for a width of 1 mm, m: a standard deviation, or an edge. */
double nb_footprint_unit(int box);

/** A point without -footprint, and where both widths are 0.  Errors: NB_ERR_INPUT. */
nb_status nb_footprint_of(const nb_settings *cfg, const nb_geometry *geometry,
                          nb_footprint *out, nb_error *err);

/* Twins: a crystal whose parts have turned lattices.  docs/physics.md, section 8. */

enum { NB_TWIN_MOST = 8 /* laws */ };

/** -twin, taken apart: laws that change nothing, and those of no part, are left out. */
typedef struct nb_twin {
    int n;
    double T[NB_TWIN_MOST][9]; /* inverse of each law, on columns h k l, row by row */
    double x[NB_TWIN_MOST];    /* part of the crystal, above 0 */
} nb_twin;

/** Read "law:x[;law:x]", as "k,h,-l:0.3"; "": no law.  Errors: NB_ERR_INPUT (no law, |det| not 1, parts that add to 1
 * or more). */
nb_status nb_twin_read(const char *text, nb_twin *out, nb_error *err);

/** The part of the crystal that has lattice i: 0 the first, else that of law i - 1. */
double nb_twin_share(const nb_twin *twin, int i);

/** Give the crystal lattice i: by the orthogonal matrix nearest to that of T.  Returns the largest angle (rad) between a
 * turned direction and that of T: its obliquity. */
double nb_twin_turn(const nb_twin *twin, int i, nb_crystal *crystal);

/* Parts of a twin whose lattices coincide: one scene whose F^2 is the mean of theirs.  docs/physics.md, section 8. */

/** F^2 of several parts of a twin together.  Shared: frames and crystals of the same F have the same. */
typedef struct nb_twin_mixed {
    nb_factor_table table; /* its F is owned */
    uint64_t key;          /* of what it was made of; 0: unknown */
} nb_twin_mixed;

/** Has the part the lattice of the first one, its points at T^-1 h, and the same peaks about them?  T: 9 numbers, row by
 * row. */
int nb_twin_coincides(const nb_model *first, const nb_model *part, const double T[9]);

/** Let the first scene have F^2 of itself and of the part, each by its share; nb_model_free frees it.  What it had alone is
 * first->alone.  *kept: what an earlier call made, or NULL; taken where it is the same, else replaced, if both tables have
 * a hash.  The caller's: nb_shared_drop.  Errors: NB_ERR_NOMEM. */
nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_twin_mixed **kept, nb_error *err);

/** Let the first scene have its own F alone again. */
void nb_twin_part(nb_model *first);

/* --- The mean orientation of the mosaic domains that were drawn --- */

/** a*, b*, c* [1/A, lab] of the mean of the drawn domains at phi 0: those of the crystal, turned by the rotation that
 * is nearest to the mean of the domains' rotations.  phi: of the first spindle step, rad.  Returns that rotation's angle,
 * rad.  All are NaN where domains are so spread that they have no mean. */
double nb_model_drawn(const nb_model *m, double phi, nb_vec3 reciprocal[3]);

#endif
