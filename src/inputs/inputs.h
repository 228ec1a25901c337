/* SPDX-License-Identifier: MIT */
/** What files, or arrays in their place, gave a simulation.  Simulations share it: a copy by nb_inputs_hold costs
 * nothing, and the last holder of each part frees it. */
#ifndef NB_INPUTS_INPUTS_H
#define NB_INPUTS_INPUTS_H

#include "../base/store.h"
#include "../image/fibre.h"
#include "../io/table/sources.h"
#include "../io/table/factor_file.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../physics/limits.h"
#include "factors.h"

/** The arrays one by one. */
typedef enum nb_array_kind {
    NB_ARRAY_HKL = 1,
    NB_ARRAY_MASK = 2,
    NB_ARRAY_SOURCES = 4,
    NB_ARRAY_MATRIX = 8,
    NB_ARRAY_TRANSMISSION = 16,
    NB_ARRAY_ADD = 32,
    NB_ARRAY_BLOCKS = 64,
    NB_ARRAY_A = 128
} nb_array_kind;
enum { NB_ARRAY_KINDS = 8 };
#define NB_ARRAYS_ALL 255

void nb_free_detector(void *object); /* of nb_shared_new: an nb_detector_spec */
void nb_arrays_hold(const nb_arrays *arrays);
void nb_arrays_drop(const nb_arrays *arrays, unsigned kinds);

/** A number for each pixel of the stack. */
typedef struct nb_plane {
    float *pixel;  /* owned */
    uint64_t hash; /* of the pixels */
} nb_plane;

/** Files that are read together: those of the detector and of materials in the beam. */
typedef struct nb_files {
    nb_key key;
    nb_detector_spec spec; /* owned; no panels without a file */
    uint8_t *mask; /* owned; [pixels] of the stack, 0 = masked; NULL: none is masked */
    const nb_plane *gainmap; /* shared; -gainmap; NULL: none */
    const nb_plane *transmission; /* shared; -transmission, as nb_mix_factor reads it; NULL: none */
    const nb_plane *add;  /* shared; -add; NULL: none */
    uint64_t planes_hash; /* of the contents of both; 0: none */
    double *panel_gains; /* owned; [panels] and then their largest trusted values, 0 for none; NULL
                              without a file */
    nb_fibres *fibres;          /* owned; transforms of the point spread */
    nb_amorphous_set amorphous; /* owned; tables of materials; none: zero */
    nb_spectrum_point *points; /* owned; [n_points], of a file of -spectrum; NULL: none */
    int n_points;
    int trace_panel;  /* first of -panel */
    nb_blocks blocks; /* owned; of -mosaic_blocks; none: empty */
} nb_files;

/** The crystal of a matrix file. */
typedef struct nb_matrix {
    double at[9];    /* a* b* c* in columns, row by row, in units of 1/lambda_A */
    double lambda_A; /* 0: the beam's */
    int given;
    int of_detector; /* of the file that gave the detector, along whose scan it may change */
    int has_ends;    /* it changes along a frame: */
    double ends[2][9]; /* its begin and end, as at times these */
} nb_matrix;

/** What the crystal changes along, at its points, which `ends` may hold; NULL: nothing changes it. */
const nb_scan_points *nb_matrix_scan(const nb_matrix *matrix,
                                     const nb_detector_spec *detector,
                                     nb_scan_points *ends);

/** What the crystal of cfg is built from. */
nb_crystal_inputs nb_crystal_inputs_of(const nb_settings *cfg, const nb_matrix *matrix,
                                       int64_t seed);

/** Tables of F: of a file, or made for the wavelengths of a beam. */
typedef struct nb_tables {
    nb_factor_file *file; /* shared; the box, and F of all tables; NULL without one */
    nb_factor_table box; /* the same for a scene, without default_F; nh = 0 without one */
    int *of_source;      /* shared; [n_of_source], as in nb_model_inputs; NULL: all 0 */
    int n_of_source;
    nb_waves *waves; /* shared; their wavelengths, without of_source; NULL: of a file */
    nb_factor_stats stats;  /* of the first of them */
    double dmin, default_F; /* with which they were made */
    nb_factor_weight weight;
    int typed_F; /* F are those of nb_sim_set_factors */
    size_t *listed; /* shared; [n_listed] where nb_sim_factors' reflections are in the table, or NULL */
    size_t n_listed;
} nb_tables;

/** An empty file for tables.  Errors: NB_ERR_NOMEM. */
nb_status nb_tables_new(nb_tables *tables, nb_error *err);
/** Describe the n tables of the file to scenes; extent: their extremes, or NULL, which searches them once. */
void nb_tables_describe(nb_tables *tables, int n, const nb_table_run *extent);
/** Where the reflections of typed F (no file: none) are in a table, it has these F.  Of several tables they are gone, with a
 * note.  Errors: NB_ERR_NOMEM. */
nb_status nb_tables_put_typed(nb_tables *tables, const nb_tables *typed,
                              const nb_hooks *hooks, nb_error *err);
/** Another F of the same box, which the tables own; freed after an error.  Errors: NB_ERR_NOMEM. */
nb_status nb_tables_replace_F(nb_tables *tables, double *F, nb_error *err);
/** Their wavelengths; *waves keeps of_source.  Errors: NB_ERR_NOMEM; *waves is as before then. */
nb_status nb_tables_take_waves(nb_tables *tables, nb_waves *waves, nb_error *err);
/** Give a single table a hash too, once, also where it is shown to a scene: for devices, which are not sent a
 * table that they have. */
void nb_tables_sign(nb_tables *tables, nb_factor_table *shown);
nb_tables nb_tables_hold(const nb_tables *tables);
void nb_tables_drop(nb_tables *tables); /* *tables is zero afterwards */

typedef struct nb_shade_kept nb_shade_kept; /* shade.h */

/** How far the sums of structure factors go. */
typedef enum nb_limit {
    NB_LIMIT_OWN,    /* as far as the image sees: the same for the same record */
    NB_LIMIT_ENOUGH, /* at least so far: of values by nb_sim_set_parameters */
    NB_LIMIT_KEPT /* a frame: sums of the series (of_series) stay, others go as far as the image sees */
} nb_limit;

/** What a frame has beside the rows of its record. */
typedef struct nb_frame_extra {
    const nb_source_line *lines; /* another's; its spectrum, NULL: none */
    int n_lines;
    const nb_matrix *matrix; /* its crystal, NULL: none */
} nb_frame_extra;

typedef struct nb_inputs {
    nb_store *store;  /* shared; files that were read, and what was made of them */
    nb_arrays arrays; /* shared copies; cfg.arrays points here, or is NULL */
    uint64_t array_id[NB_ARRAY_KINDS]; /* generation of each kind of array */
    nb_detector_spec
        detector; /* of the files below, which own it; cfg.detector points here, or is NULL */
    nb_detector_spec *panels; /* shared; the detector that a caller gave, or NULL */
    uint64_t panels_id;
    nb_key spec_key;   /* of the detector's file */
    nb_key header_key; /* of all files that complete the configuration */
    int left_out;      /* files of one panel that are on by default, of several panels */
    nb_files *files;   /* shared */
    uint8_t *marked; /* shared; [pixels], in place of the mask of the files; NULL: that one */
    nb_matrix matrix;
    const nb_source_line *lines; /* NULL: the beam is that of the flags */
    int n_lines;
    nb_source_list *sources; /* shared; whose the lines are; NULL: another's */
    int has_spectrum;        /* the lines are the spectrum of one frame */
    nb_factor_files *factors; /* shared; behind tables that are made; NULL: -hkl or a cache */
    nb_factor_sums *sums;     /* shared; of these files; NULL: nothing is made yet */
    int light_threads; /* that make a table of diffuse light, if a simulation has fewer: others wait for it */
    int table_from_hkl; /* read from -hkl, or -dump is typed: the cache is written */
    nb_limit limit;
    int of_series;      /* sums and tables are in the store for all frames of a series */
    nb_key factors_key; /* of `factors`, or of the file of `tables` */
    nb_tables tables;
    nb_tables typed; /* F of nb_sim_set_factors, which reflections of `tables` have; no file: none */
    struct nb_absorb_kept *absorb; /* shared; what the crystal lets through; NULL: all */
    nb_shade_kept *shade; /* shared; the factors of the model's pixels; NULL: all 1 */
} nb_inputs;

/** Empty, with a store.  Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_new(nb_inputs *in, nb_error *err);
/** What every record of the same store shares, without files. */
nb_inputs nb_inputs_share(const nb_inputs *old);
/** Copy the arrays and panels that a caller gives with `typed`, where they are others than before; typed then points to
 * the copies.  Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_take_callers(nb_inputs *in, nb_config *typed, nb_error *err);
/** Empty files, shared.  Errors: NULL. */
nb_files *nb_files_new(nb_error *err);

/** Add a file, or the array that its name stands for. */
void nb_inputs_key_file(nb_key *key, const nb_inputs *in, const char *name,
                        nb_array_kind kind);
/** Keep sums and tables in the store: all frames of a series have them (NB_LIMIT_KEPT).  Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_keep_tables(const nb_inputs *in, nb_error *err);
/** |q| (1/A) that a model sees; with diffuse light that of the whole detector. */
double nb_model_reach(const nb_model *model);
/** Sums and tables of in->factors: those of `old` (may be NULL), where it has the same files, or those of the series. */
void nb_inputs_find_tables(nb_inputs *in, const nb_inputs *old);

/** The mask of the stack, [pixels]; NULL: none is masked. */
const uint8_t *nb_inputs_mask(const nb_inputs *in);

/** A copy that shares everything; nb_inputs_drop. */
nb_inputs nb_inputs_hold(const nb_inputs *in);
void nb_inputs_drop(nb_inputs *in); /* *in is zero afterwards */

/** Let cfg, resolved, point to the detector and the arrays of *in, where it has some; `typed`, a record, to the caller's
 * detector. */
void nb_inputs_show(const nb_inputs *in, nb_config *cfg);
void nb_inputs_show_typed(const nb_inputs *in, nb_config *typed);

/** A shared list of these sources, which it owns, also after an error.  Errors: NB_ERR_NOMEM. */
nb_status nb_source_list_share(nb_source_list *list, nb_source_list **out, nb_error *err);
/** These sources (NULL: none) in the place of the old ones; the list is the inputs' afterwards. */
void nb_inputs_take_sources(nb_inputs *in, nb_source_list *list);

/** The spectrum of a frame, which another owns, in the place of the sources. */
void nb_inputs_give_spectrum(nb_inputs *in, const nb_source_line *lines, int n);

/** A configuration and its inputs from what was typed, for which nothing but `typed` and files count: the same record
 * gives the same *cfg.  typed: with the line of its crystal; its arrays and detector are those of `old`.  old: whose store,
 * arrays, and tables of the same files are shared.  extra: NULL without.  *in is the caller's; zero after an error.
 * Errors: as nb_sim_create. */
nb_status nb_resolve_record(const nb_inputs *old, const nb_config *typed, int64_t seed,
                            const nb_frame_extra *extra, const nb_hooks *hooks,
                            nb_config *cfg, nb_inputs *in, nb_error *err);

/** Make the structure factors of these files to dmin (A), or (0) as far as in->limit says; then the tables for the model's
 * wavelengths, and give them to it.  On an error the old ones stay.  Without such files it does nothing. */
nb_status nb_inputs_make_factors(nb_inputs *in, nb_model *model, double dmin,
                                 const nb_hooks *hooks, nb_error *err);

/** Processor threads as asked for, or all. */
int nb_threads_of(const nb_config *cfg);

#endif
