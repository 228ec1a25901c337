/* SPDX-License-Identifier: MIT */
/** Make the scene of a renderer from a configuration and loaded files. */
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
    double F;    /* F of a molecule, electrons; with sign */
} nb_stol_point;

/** A material and its amount in the beam. */
typedef struct nb_amorphous_source {
    /* points in the order of increasing stol; the caller owns them */
    const nb_stol_point *points;
    int n; /* at least 1 */
    /* molecules/m^2; NaN: use the amount of the configuration (-stol) */
    double per_area;
} nb_amorphous_source;

/** Materials whose tables are cut into pieces. */
typedef struct nb_amorphous_set {
    nb_amorphous tables; /* n materials, without numbers of molecules */
    double *per_area;    /* owned, [n], as in nb_amorphous_source */
    double first, last;  /* range of sin(theta)/lambda that all tables cover, 1/m */
    size_t pieces;       /* number of pieces of all materials */
    /* 1: the first material has a piece before its first point, which is above 0 */
    int leads;
    int negative; /* 1: some F is below 0 */
} nb_amorphous_set;

/** Build a set of n > 0 materials. The caller frees *set, which is all zero after an
 * error. NB_ERR_NOMEM. */
nb_status nb_amorphous_build(const nb_amorphous_source *list, int n,
                             nb_amorphous_set *set, nb_error *err);
void nb_amorphous_set_free(nb_amorphous_set *set); /* The set may be all zero. */

/** Molecules of a material on one square metre. */
double nb_molecules_per_area(double path_mm, double density, double mass);

/** Molecules of the -stol table in the beam: -molecules, or path, density and mass. */
double nb_table_molecules(const nb_settings *cfg);

/** Materials of a model with this number of blocks. They share the tables of the set, and
 * have numbers of molecules. The caller frees *amorphous (nb_free). NB_ERR_NOMEM. */
nb_status nb_amorphous_of(const nb_settings *cfg, const nb_amorphous_set *set,
                          double blocks, nb_amorphous **amorphous, nb_error *err);

/* --- The body of -absorb in the lab frame --- */

/** Rotation of a frame, rad. */
typedef struct nb_frame_turn {
    double first, range;
    int steps;
} nb_frame_turn;

/** Make the body of -absorb (or mu 0). NB_ERR_INPUT, NB_ERR_UNSUPPORTED (no xraylib). */
nb_status nb_absorber_of(const nb_settings *cfg, const nb_geometry *geometry,
                         const nb_crystal *crystal, const nb_frame_turn *turn,
                         double wavelength_A, nb_absorber *out, nb_error *err);

/* --- Range of diffuse light --- */

/** Largest |q| (1/A) for which an image needs diffuse light and F. The image sees |q| <=
 * `seen` and d >= dmin_A (0: any d). The result is a little larger and rounded up, so
 * that frames share tables. */
double nb_diffuse_reach(double seen, double dmin_A, double gamma_A);

/* A crystal and a beam that change along a scan, as in DIALS' scan-varying models. */

/** Change of the cell from the middle of the frame (the crystal) to a spindle step: a, b,
 * c are mix x (a, b, c), row by row. First the domain rotates the crystal, then `turn`,
 * then the spindle. */
typedef struct nb_scan_step {
    double mix[9];
    nb_mat3 turn;
} nb_scan_step;

/** Conversion of the matrix A of the scan's reference to A in mid-frame: A = turn x
 * reference x change. */
typedef struct nb_scan_middle {
    double change[9];
    nb_mat3 turn;
} nb_scan_middle;

/** The angles of a frame, and its axis of rotation. */
typedef struct nb_scan_frame {
    double phi, range; /* rad */
    nb_vec3 spindle;
    nb_convention convention;
} nb_scan_frame;

/** True if the frame is in the scan, or the scan has no width. *from, *to: ends of the
 * scan, deg. */
int nb_scan_holds(const nb_scan_points *scan, double phi_deg, double osc_deg,
                  double *from, double *to);

/** Check nb_scan_holds for a frame of this configuration. Errors: NB_ERR_INPUT. */
nb_status nb_scan_check(const nb_scan_points *scan, const nb_settings *cfg, nb_error *err);

/** True if the crystal changes along the scan. */
int nb_scan_changes(const nb_scan_points *scan);

nb_scan_middle nb_scan_middle_of(const nb_scan_points *scan, const nb_scan_frame *frame);
/** Convert A (nine numbers, columns a* b* c*) of the reference to A in mid-frame; the
 * second function is the inverse. */
void nb_scan_to_middle(const nb_scan_middle *middle, const double reference[9],
                       double out[9]);
void nb_scan_to_reference(const nb_scan_middle *middle, const double A[9], double out[9]);

/** Calculate A at this angle [rad] of the frame from A of the reference. */
void nb_scan_at(const nb_scan_points *scan, const nb_scan_frame *frame, double phi,
                const double reference[9], double out[9]);

/** Spindle step at this angle [rad]. */
nb_scan_step nb_scan_step_of(const nb_scan_points *scan, const nb_scan_frame *frame,
                             const nb_scan_middle *middle, double phi);

/** Cell axes a, b, c of a step. */
nb_orientation nb_scan_mix(const nb_scan_step *step, nb_orientation crystal);

/** Direction of the beam in mid-frame, in the NeXus frame. Member `set` is 0 if the beam
 * is constant. */
nb_opt3 nb_scan_beam(const nb_scan_points *scan, double phi_deg, double osc_deg);

/** Loaded files; the caller keeps them alive as long as the model. */
typedef struct nb_model_inputs {
    const double *matrix;   /* 9 numbers of -mat, or NULL */
    double matrix_lambda_A; /* the unit of the matrix is 1/matrix_lambda_A; 0: 1/lambda */
    /* scan to which `matrix` belongs, or NULL. If its width is 0, its points are the ends
     * of the frame */
    const nb_scan_points *scan;
    const nb_source_line *sources; /* NULL without -sourcefile */
    int n_sources;
    const uint8_t *mask;        /* [slow][fast], or NULL without -mask */
    nb_factor_table table;      /* nh = 0: constant default_F */
    const int *table_of_source; /* [n_of_source], table of each source, in the order of
                                    nb_beam_grid or `sources`; NULL: table 0 */
    int n_of_source;
    const nb_displacement *moved;      /* displacement of crystal and detector, or NULL */
    const nb_amorphous_set *amorphous; /* materials without order, or NULL */
    const nb_spectrum_point *points;   /* points of a file of -spectrum, or NULL */
    int n_points;
    const int8_t (
        *rotations)[9]; /* [n_rotations] of the space group (diffuse.h); NULL: the identity */
    int n_rotations;
    int64_t default_seed; /* used if -seed or -misset_seed is unset */
    /* [n_blocks], rotations of the domains about a*, c x a*, c; NULL: draw them */
    const nb_mat3 *blocks;
    int n_blocks;
    /* lattice of -twin: 0 is the first lattice, another number that of law twin_part -
     * 1 */
    int twin_part;
    int check_only; /* 1: only count the orientations; the scene cannot be rendered */
} nb_model_inputs;

/** Tables after a dose. Crystals of one image with equal tables and damage share them. */
typedef struct nb_damaged {
    nb_factor_table table; /* its F is owned */
    const double *from;    /* F without the dose */
    double B, fall;        /* values of nb_damage */
    double cell[6];        /* cell of F */
} nb_damaged;

/** The scene, and the values that reports and headers need. */
typedef struct nb_model {
    nb_settings settings; /* settings of the configuration */
    nb_scene scene;       /* points into the arrays below and into the inputs */
    nb_scene flat;        /* scene with all pixels in one rectangle; src/sim fills it */
    nb_geometry geometry;
    nb_crystal crystal;  /* the crystal; in a changing scan, in the middle of the frame */
    nb_scan_step *steps; /* owned, [n_phi], steps of a changing scan, or NULL */
    nb_scan_middle middle; /* middle of a changing scan */
    double wavelength_A;   /* central wavelength */
    double fluence;        /* photons/m^2 of this shot */
    nb_damage damage;      /* damage by the dose */
    nb_damaged *damaged;   /* shared; tables of the scene after a dose, or NULL */
    nb_absorber absorber;  /* body of the crystal; mu = 0: no absorption */
    nb_spectrum spectrum;  /* owned; -spectrum, or zero */
    double blocks;         /* blocks of the crystal, in all parts of a twin */
    double twin_share;   /* fraction of the blocks with this lattice; 1 without a twin */
    double obliquity;    /* obliquity of this lattice, rad */
    int auto_oversample; /* sub-pixels that resolve the fringes of the crystal */
    /* automatic number of phi steps; 0 if the number is typed or follows from other
     * flags */
    int auto_phi_steps;
    double phi0, phi_range, phi_step; /* rad */
    nb_mosaic mosaic;
    nb_footprint footprint;       /* footprint of the Bragg light */
    nb_diffuse diffuse;           /* diffuse light of -diffuse_sigma */
    nb_factor_table at_rest;      /* F before the motions of -diffuse_sigma weaken it */
    int is_mixed;                 /* 1: the scene has mixed F of a twin (twin_mix.h) */
    nb_factor_table alone;        /* F of the first part, if is_mixed */
    struct nb_twin_mixed *mixed;  /* shared; F of the scene if is_mixed, else NULL */
    double *weakened;             /* owned; weakened F of the scene, or NULL */
    nb_amorphous *amorphous;      /* owned; shares the tables of the inputs */
    nb_detector *detector;        /* owned */
    nb_source *sources;           /* owned */
    nb_orientation *orientations; /* owned, [phi][domain] */
} nb_model;

/** Build the model. Free it with nb_model_free after success; an error leaves nothing
 * allocated. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_model_build(const nb_config *cfg, const nb_model_inputs *inputs,
                         const nb_hooks *hooks, nb_model *model, nb_error *err);
/** Give a built model other tables. of_source: table of each source of the beam. */
void nb_model_set_tables(const nb_factor_table *table, const int *of_source,
                         nb_model *model);
/** Apply the dose of a model to its tables. cell: cell of the tables (A, deg), or NULL
 * for the cell of the crystal. like: a model whose damaged tables are used if their
 * inputs are equal, or NULL. NB_ERR_NOMEM. */
nb_status nb_model_damage_tables(const double *cell, const nb_model *like,
                                 nb_model *model, nb_error *err);
/** Make the diffuse light of a built model with tables, and weaken the Bragg light.
 * Errors: NB_ERR_NOMEM, NB_ERR_INPUT (the motions are too large for the detector). */
nb_status nb_model_move(const nb_model_inputs *inputs, nb_model *model, nb_error *err);
void nb_model_free(nb_model *model); /* The model may be all zero. */

/** The scene without its crystal: one orientation, all F are 0, and the same
 * background. */
nb_scene nb_scene_without_crystal(const nb_scene *scene);

/** Largest |q| of a rendered pixel for any source, 1/A: at the rims of the rendered parts
 * of panels, on both faces of the sensor. */
double nb_scene_reach(const nb_scene *scene);

/** Solid angle of all rendered pixels, sr: the exact angle of the whole area of a flat
 * detector without mask, otherwise the sum over the centres of the pixels. */
double nb_scene_solid_angle(const nb_scene *scene);

/* Number of sample points of a range: the selection tables of nanoBragg's options. */

/** A sampled range: `count` points, `step` apart, represent `range`. */
typedef struct nb_sampling {
    int count;
    double range, step;
} nb_sampling;

/** Sample the divergence along one direction; inputs that are not set are NaN or 0. A
 * count without a range is an error that names `range_flag`. */
nb_status nb_sample_divergence(double range, double step, int count,
                               const char *range_flag, nb_sampling *out, nb_error *err);
/** Sample the dispersion; range and step are fractions, or NaN if not set; count is 0 if
 * not set. */
nb_sampling nb_sample_dispersion(double range, double step, int count);
/** Sample the layers of a sensor; thickness is 0 without a sensor; count is 0 if not
 * set. */
nb_sampling nb_sample_layers(double thickness, int count);
/** Sample the spindle rotation [rad]. Range 0, or no range and no step: `count` steps at
 * one angle (a still). A step of 0 means that the step is not set. With -compat a typed
 * step is the distance of points. */
nb_sampling nb_sample_phi(double range, double step, int count, int compat);
/** True if a range is set without step and count, so that the number of spindle steps is
 * automatic. */
int nb_phi_open(double range, double step, int count, int compat);
/** Number of mosaic domains for a spread in rad (NaN if not set); count is 0 if not
 * set. */
int nb_mosaic_domains(double spread, int count);

/** Quantity that is sampled by steps: rotation, list of sources, mosaic domains. */
typedef enum nb_steps_axis {
    NB_STEPS_PHI,
    NB_STEPS_SOURCES,
    NB_STEPS_DOMAINS
} nb_steps_axis;

typedef struct nb_steps {
    nb_steps_axis axis;
    int count;
    double range;    /* range of the rotation, rad */
    nb_vec3 spindle; /* unit */
} nb_steps;

/** Relative r.m.s. error of a typical reflection's photons for these steps along one axis
 * (nb_steps_axis). The other axes contribute their spread; sources are taken as
 * continuous. Takes a few ms. */
double nb_steps_error(const nb_scene *scene, const nb_steps *by);

/** Least number of steps, from by.count to 100000, with an error up to `limit`. */
int nb_steps_enough(const nb_scene *scene, nb_steps by, double limit);

/** Spindle steps that resolve the rocking curves of a rotation by `range` (rad), at least
 * 2: twice the number for an error of 0.05, because the ends of the rotation cut
 * reflections. The scene has the domains at the middle of the rotation as orientations
 * (n_phi 1). */
int nb_phi_steps_enough(const nb_scene *scene, double range, nb_vec3 spindle);

/* --- The shadows of -beamstop in the lab --- */

/** Make the shadows of -beamstop; n = 0 without it. Errors: NB_ERR_INPUT. */
nb_status nb_shadow_of(const nb_settings *cfg, const nb_geometry *geometry,
                       nb_shadow *out, nb_error *err);

/* --- The cross-section of -footprint in the lab --- */

/** Unit vectors of axes a and b: at right angles to the beam; a has this angle from the
 * horizontal. */
void nb_footprint_axes(const nb_geometry *geometry, double angle_deg, nb_vec3 *a,
                       nb_vec3 *b);

/** Length of a or b, m, for a width of 1 mm: the standard deviation, or the edge of a
 * box. */
double nb_footprint_unit(int box);

/** Make the footprint; it is a point without -footprint or if the widths are 0.
 * NB_ERR_INPUT. */
nb_status nb_footprint_of(const nb_settings *cfg, const nb_geometry *geometry,
                          nb_footprint *out, nb_error *err);

/* Twins: crystals whose parts have turned lattices. docs/physics.md, section 8. */

enum { NB_TWIN_MAX = 8 /* limit of the number of laws */ };

/** The laws of -twin, except laws that change nothing and laws without a part. */
typedef struct nb_twin {
    int n;
    /* inverse of each law, a matrix for columns h k l, row by row */
    double T[NB_TWIN_MAX][9];
    double x[NB_TWIN_MAX]; /* part of the crystal with this law, above 0 */
} nb_twin;

/** Read "law:x[;law:x]", as "k,h,-l:0.3"; "" has no law. Errors: NB_ERR_INPUT (wrong law,
 * |det| not 1, parts that add up to 1 or more). */
nb_status nb_twin_read(const char *text, nb_twin *out, nb_error *err);

/** Part of the crystal with lattice i: lattice 0 is the first, lattice i > 0 that of law
 * i - 1. */
double nb_twin_share(const nb_twin *twin, int i);

/** Turn the crystal to lattice i, by the orthogonal matrix nearest to T. Returns the
 * obliquity: the largest angle (rad) between a direction turned by this matrix and the
 * same direction turned by T. */
double nb_twin_turn(const nb_twin *twin, int i, nb_crystal *crystal);

/* Twins with coinciding lattices: one scene with the mean F^2. docs/physics.md, 8. */

/** Mixed F of several parts of a twin; frames and crystals with the same F share them. */
typedef struct nb_twin_mixed {
    nb_factor_table table; /* its F is owned */
    uint64_t key;          /* key of the inputs; 0: unknown */
} nb_twin_mixed;

/** True if the part has the same lattice as the first part, so that its points are at
 * T^-1 h and its peaks are equal. T: 9 numbers, row by row. */
int nb_twin_coincides(const nb_model *first, const nb_model *part, const double T[9]);

/** Give the first scene a table with the F^2 of both parts, weighted by their shares;
 * nb_model_free frees the table. first->alone keeps the old table. *kept: an earlier
 * result, or NULL. It is used if its inputs are equal; otherwise it is replaced if the
 * tables have a hash. The caller frees *kept with nb_shared_drop. NB_ERR_NOMEM. */
nb_status nb_twin_mix(nb_model *first, const nb_model *part, const double T[9],
                      nb_twin_mixed **kept, nb_error *err);

/** Give the first scene its old F again. */
void nb_twin_part(nb_model *first);

/* --- Mean orientation of the drawn mosaic domains --- */

/** a*, b*, c* [1/A, lab] of the mean of drawn domains at phi 0: the crystal, turned by
 * the rotation nearest to their mean rotation. phi: first spindle step, rad. Returns the
 * angle of that rotation, rad. All are NaN if domains spread too far. */
double nb_model_drawn(const nb_model *m, double phi, nb_vec3 reciprocal[3]);

#endif
