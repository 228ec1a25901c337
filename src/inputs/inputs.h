/* SPDX-License-Identifier: MIT */
/** Inputs of a simulation, from files or arrays.  Simulations share them: nb_inputs_hold
 * makes a cheap copy, and the last holder of each part frees it. */
#ifndef NB_INPUTS_INPUTS_H
#define NB_INPUTS_INPUTS_H

#include "../base/store.h"
#include "../image/fibre.h"
#include "../io/table/sources.h"
#include "../io/table/factor_file.h"
#include "../light/diffuse_table.h"
#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../physics/limits.h"
#include "factors.h"

/** Kinds of arrays, a bit each: row i of nb_array_rows has bit 1 << i. */
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
enum { NB_ARRAY_KINDS = 8, NB_ARRAY_PARTS = 3 };
#define NB_ARRAYS_ALL 255

/** Arrays that replace one file. A kind is used if its first array is set. */
typedef struct nb_array_row {
    const char *name, *memory; /* keyword in Python; text in place of the file name */
    size_t file;               /* offset of the file name in nb_config */
    struct {
        size_t at, bytes; /* offset of the pointer in nb_arrays; bytes of an item */
    } part[NB_ARRAY_PARTS];
    size_t fast, slow;  /* offsets of the sides of a plane, or 0 */
    size_t count, wide; /* offset and bytes of the number of items, or 0 */
    size_t items;       /* items in an array, times the number; 0: any number */
} nb_array_row;

extern const nb_array_row nb_array_rows[NB_ARRAY_KINDS];
/** Number of items in each array of a row. */
size_t nb_array_items(const nb_array_row *row, const nb_arrays *arrays);

/* Free an nb_detector_spec that nb_shared_new made. */
void nb_free_detector(void *object);
void nb_arrays_hold(const nb_arrays *arrays);
void nb_arrays_drop(const nb_arrays *arrays, unsigned kinds);

/** A number for each pixel of the stack. */
typedef struct nb_plane {
    float *pixel;  /* owned */
    uint64_t hash; /* hash of the pixels */
} nb_plane;

/** Files that are read together: those of the detector and of materials in the beam. */
typedef struct nb_files {
    nb_key key;
    nb_detector_spec spec;        /* owned; n_panels is 0 without a file */
    uint8_t *mask;                /* owned; [pixels] of the stack, 0 = masked; or NULL */
    const nb_plane *gainmap;      /* shared; -gainmap, or NULL */
    const nb_plane *transmission; /* shared; -transmission for nb_mix_factor, or NULL */
    const nb_plane *add;          /* shared; -add, or NULL */
    uint64_t planes_hash;         /* hash of transmission and add; 0 without both */
    /* owned; [panels] gains, then [panels] largest trusted values; 0 means unknown. NULL
     * without a file */
    double *panel_gains;
    nb_fibres *fibres;          /* owned; transforms of the point spread */
    nb_amorphous_set amorphous; /* owned; tables of materials, or zero */
    nb_spectrum_point *points;  /* owned; [n_points] of a -spectrum file, or NULL */
    int n_points;
    int trace_panel;  /* number of the first panel that -panel names */
    nb_blocks blocks; /* owned; rotations of -mosaic_blocks, or empty */
} nb_files;

/** The crystal of a matrix file. */
typedef struct nb_matrix {
    /* matrix with the columns a* b* c*, row by row, in units of 1/lambda_A */
    double at[9];
    double lambda_A; /* A; 0: use the wavelength of the beam */
    int given;
    /* 1: the matrix is from the detector's file, whose scan may change the crystal */
    int of_detector;
    int has_ends; /* 1: the crystal changes along a frame */
    /* matrices M at begin and end of a frame: the crystal there has the matrix `at` times
     * M */
    double ends[2][9];
} nb_matrix;

/** Scan points between which the crystal changes, or NULL if it does not change. ends:
 * memory for two points. */
const nb_scan_points *nb_matrix_scan(const nb_matrix *matrix,
                                     const nb_detector_spec *detector,
                                     nb_scan_points *ends);

/** Inputs from which the crystal of cfg is built. */
nb_crystal_inputs nb_crystal_inputs_of(const nb_settings *cfg, const nb_matrix *matrix,
                                       int64_t seed);

/** Tables of F: of a file, or made for the wavelengths of a beam. */
typedef struct nb_tables {
    nb_factor_file *file; /* shared; box and F of all tables; NULL without tables */
    nb_factor_table box;  /* view of `file` for a scene, without default_F; nh 0: empty */
    int *of_source;       /* shared; [n_of_source], as in nb_model_inputs; NULL: all 0 */
    int n_of_source;
    /* shared; wavelengths, without their of_source; NULL: tables of a file */
    nb_waves *waves;
    nb_factor_stats stats;  /* statistics of the first table */
    double dmin, default_F; /* values when the tables were made */
    nb_factor_weight weight;
    int typed_F; /* 1: F are those of nb_sim_set_factors */
    /* shared; [n_listed] indices in the table of the rows of nb_sim_factors, or NULL */
    size_t *listed;
    size_t n_listed;
} nb_tables;

/** Make an empty file of tables.  Errors: NB_ERR_NOMEM. */
nb_status nb_tables_new(nb_tables *tables, nb_error *err);
/** Fill the box for n tables of the file. extent: least and largest F, or NULL to search
 * them. */
void nb_tables_describe(nb_tables *tables, int n, const nb_table_run *extent);
/** Put F of the listed reflections of `typed` (may be empty) into a single table.  With
 * several tables, note that these F are lost.  Errors: NB_ERR_NOMEM. */
nb_status nb_tables_put_typed(nb_tables *tables, const nb_tables *typed,
                              const nb_hooks *hooks, nb_error *err);
/** Replace F in the same box; the function takes F, also if it fails. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_tables_replace_F(nb_tables *tables, double *F, nb_error *err);
/** Take the wavelengths of *waves, but not of_source. After NB_ERR_NOMEM *waves is
 * unchanged. */
nb_status nb_tables_take_waves(nb_tables *tables, nb_waves *waves, nb_error *err);
/** Give a single table and `shown`, its copy in a scene, a hash, so that each device
 * receives the table only once. */
void nb_tables_sign(nb_tables *tables, nb_factor_table *shown);
nb_tables nb_tables_hold(const nb_tables *tables);
void nb_tables_drop(nb_tables *tables); /* *tables is zero afterwards */

typedef struct nb_shade_kept nb_shade_kept; /* defined in shade.c */

/** How far the sums of structure factors go. */
typedef enum nb_limit {
    /* as far as the image needs, so that a record always gives the same F */
    NB_LIMIT_OWN,
    /* at least as far as the image needs, while nb_sim_set_parameters moves values */
    NB_LIMIT_ENOUGH,
    /* for a frame of a series: use the sums of the series; otherwise as NB_LIMIT_OWN */
    NB_LIMIT_KEPT
} nb_limit;

/** Inputs of a frame other than the rows of its record. */
typedef struct nb_frame_extra {
    const nb_source_line *lines; /* borrowed; spectrum of the frame, or NULL */
    int n_lines;
    const nb_matrix *matrix; /* crystal of the frame, or NULL */
} nb_frame_extra;

typedef struct nb_inputs {
    nb_store *store;  /* shared; files, and objects that were made from files */
    nb_arrays arrays; /* shared copies of arrays; cfg.arrays points here, or is NULL */
    uint64_t array_id[NB_ARRAY_KINDS]; /* generation of each kind of array */
    nb_detector_spec detector; /* borrowed from `files`; cfg.detector is this or NULL */
    nb_detector_spec *panels;  /* shared; the detector that a caller gave, or NULL */
    uint64_t panels_id;
    nb_key spec_key;   /* key of the detector's file */
    nb_key header_key; /* key of all files that complete the configuration */
    int left_out;      /* 1: the noise file, for one panel only, was switched off */
    nb_files *files;   /* shared */
    uint8_t *marked;   /* shared; [pixels], replaces the mask of the files; or NULL */
    nb_matrix matrix;
    const nb_source_line *lines; /* sources, or NULL if flags describe the beam */
    int n_lines;
    nb_source_list *sources; /* shared; owner of the lines; NULL: they are borrowed */
    int has_spectrum;        /* the lines are the spectrum of one frame */
    /* shared; files from which F are made; NULL: the tables are used as read */
    nb_factor_files *factors;
    nb_factor_sums *sums; /* shared; sums of `factors`; NULL at first */
    /* least number of threads for a table of diffuse light, since other frames wait for
     * it */
    int light_threads;
    /* 1: write the cache, because F are from -hkl or -dump is typed */
    int table_from_hkl;
    nb_limit limit;
    int of_series;      /* 1: all frames of a series share sums and tables of the store */
    nb_key factors_key; /* key of `factors`, or of the file of `tables` */
    nb_tables tables;
    nb_tables typed; /* F of nb_sim_set_factors to put into `tables`, or empty */
    /* shared; fraction of light that the crystal lets pass, for each pixel, or NULL */
    struct nb_absorb_kept *absorb;
    nb_shade_kept *shade; /* shared; the factors of the model's pixels; NULL: all 1 */
} nb_inputs;

/** Make empty inputs with a store.  Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_new(nb_inputs *in, nb_error *err);
/** Share all parts that the records of a store have in common, except the files. */
nb_inputs nb_inputs_share(const nb_inputs *old);
/** Copy changed arrays and panels of the caller, to which `typed` points. Then `typed`
 * points to the copies. Errors: NB_ERR_NOMEM. */
nb_status nb_inputs_take_callers(nb_inputs *in, nb_config *typed, nb_error *err);
/** Make empty shared files, or return NULL on error. */
nb_files *nb_files_new(nb_error *err);

/** Add a file, or the array that its name stands for, to the key. */
void nb_inputs_key_file(nb_key *key, const nb_inputs *in, const char *name,
                        nb_array_kind kind);
/** Keep sums and tables in the store for a series (NB_LIMIT_KEPT; NB_ERR_NOMEM). */
nb_status nb_inputs_keep_tables(const nb_inputs *in, nb_error *err);
/** Largest |q| (1/A) in the region, or with diffuse light or a footprint on the whole
 * detector. */
double nb_model_reach(const nb_model *model);
/** Take sums and tables of in->factors from `old` (may be NULL) or from the series. */
void nb_inputs_find_tables(nb_inputs *in, const nb_inputs *old);

/** Mask of the stack, [pixels], or NULL without a mask. */
const uint8_t *nb_inputs_mask(const nb_inputs *in);

/** A copy that shares everything. The caller drops it (nb_inputs_drop). */
nb_inputs nb_inputs_hold(const nb_inputs *in);
void nb_inputs_drop(nb_inputs *in); /* *in is zero afterwards */

/** Let a resolved cfg, if it has a detector or arrays, point to those of *in. The second
 * function does the same for a record, with the caller's detector. */
void nb_inputs_show(const nb_inputs *in, nb_config *cfg);
void nb_inputs_show_typed(const nb_inputs *in, nb_config *typed);

/** Move *list into a shared list. The function takes *list, also after an error
 * (NB_ERR_NOMEM). */
nb_status nb_source_list_share(nb_source_list *list, nb_source_list **out, nb_error *err);
/** Replace the sources by a list (or NULL), which the inputs then hold. */
void nb_inputs_take_sources(nb_inputs *in, nb_source_list *list);

/** Replace the sources by the spectrum of a frame, which the inputs borrow. */
void nb_inputs_give_spectrum(nb_inputs *in, const nb_source_line *lines, int n);

/** Make a configuration and its inputs from a record; the same record and files give the
 * same *cfg. `typed` already has the line of its crystal, and arrays and detector of
 * `old`. Store, arrays, and tables of the same files are shared with `old`. extra may be
 * NULL. The caller owns *in, which is zero after an error. Errors: as nb_sim_create. */
nb_status nb_resolve_record(const nb_inputs *old, const nb_config *typed, int64_t seed,
                            const nb_frame_extra *extra, const nb_hooks *hooks,
                            nb_config *cfg, nb_inputs *in, nb_error *err);

/** Make F to dmin (A; 0: to the limit of the model, -1: of whole lists) and tables for
 * the model's wavelengths, and give the tables to the model. After an error the old
 * tables are unchanged. No effect without files of F. */
nb_status nb_inputs_make_factors(nb_inputs *in, nb_model *model, double dmin,
                                 const nb_hooks *hooks, nb_error *err);

/** Number of threads in cfg, or of all processors. */
int nb_threads_of(const nb_config *cfg);

/* --- tables of diffuse light, shared by simulations of the same files (light_factors.c) --- */

/** Take the table of a source from the store, or make it. The caller holds *table
 * (nb_shared_drop). Errors: as nb_diffuse_table_new. */
nb_status nb_light_table_take(const nb_inputs *in, const nb_diffuse_source *source,
                              const nb_diffuse_table **table, nb_error *err);

/** Limit |q| (1/A) of F for diffuse light of a crystal: a little more than the detector
 * sees and -dmin allows, rounded so that frames share tables. */
double nb_light_reach(const nb_model *crystal);

/** Clip F of a source to |q| <= its reach, so that all frames of a series have equal F.
 * The source then uses the table *room with *F (nb_free). lattice: cell of the indices,
 * A, deg; if lattice[0] is 0, nothing is clipped and *F is NULL. Errors: NB_ERR_NOMEM. */
nb_status nb_light_clip(nb_diffuse_source *source, const double lattice[6],
                        nb_factor_table *room, double **F, nb_error *err);

#endif
