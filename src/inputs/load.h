/* SPDX-License-Identifier: MIT */
/** Read the files of a simulation. */
#ifndef NB_INPUTS_LOAD_H
#define NB_INPUTS_LOAD_H

#include "../picture/picture.h"
#include "../io/detector/expt.h"
#include "../io/hdf5/hdf5_read.h"
#include "../io/image/image_read.h"
#include "../io/structure/gemmi.h"
#include "../io/table/hkl.h"
#include "../model/detector.h"
#include "../nanobragg.h"
#include "files.h"
#include "inputs.h"

/* --- reading the files of a configuration through the store of *in; call in this order --- */

/** Complete cfg from the detector's file, -img and -mask; *spec: shared (nb_shared_drop),
 * or NULL. */
nb_status nb_load_headers(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                          nb_detector_spec **spec, nb_error *err);
/** Read the files of detector and materials into in->files; spec: that of
 * nb_load_headers. */
nb_status nb_load_files(const nb_config *cfg, nb_inputs *in, const nb_detector_spec *spec,
                        const nb_hooks *hooks, nb_error *err);
nb_status nb_load_sources(const nb_config *cfg, nb_inputs *in, nb_error *err);
/** Load the matrix and F, and complete the cell of cfg. given: matrix of a frame, or
 * NULL. old: inputs from which tables and sums of the same files are taken, or NULL. */
nb_status nb_load_crystal(nb_config *cfg, nb_inputs *in, const nb_inputs *old,
                          const nb_matrix *given, int64_t seed, const nb_hooks *hooks,
                          nb_error *err);

/** Read models and reflection files into in->factors; complete the cell of cfg. */
nb_status nb_load_factors(nb_config *cfg, nb_inputs *in, int64_t seed,
                          const nb_hooks *hooks, nb_error *err);

/** Load gain and largest trusted value of each panel of a file. */
nb_status nb_load_panel_noise(nb_files *files, nb_error *err);

/* --- a detector from a file, in a simulation --- */

/** Find the detector of cfg->detector or of the file that cfg names; complete cfg. If it
 * has several panels, refuse typed output files that can hold only one panel, and switch
 * such default files off. *spec: as for nb_load_headers. */
nb_status nb_load_detector(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                           nb_detector_spec **spec, nb_error *err);

/** Mask the panels in files->spec that the list of -panel does not name. */
nb_status nb_choose_panels(const char *list, nb_files *files, nb_error *err);

/** Fill *matrix from the crystal of a detector's file (nb_detector_spec.crystal). */
void nb_matrix_of_file(nb_convention convention, const double A[9], nb_matrix *matrix);
/** Take the crystal of the detector's file if no other crystal is typed. */
void nb_load_file_crystal(const nb_config *cfg, nb_matrix *matrix);

/* --- a detector by name --- */

/** Complete cfg from -detector, after the headers.  Errors: as nb_detector_named. */
nb_status nb_load_named_detector(nb_config *cfg, nb_error *err);

/** Mask the gaps of -detector in *mask. If *mask is NULL, the function makes it. Errors:
 * NB_ERR_NOMEM. */
nb_status nb_mask_named_detector(const nb_config *cfg, uint8_t **mask, nb_error *err);

/* --- the detector that a geometry file describes --- */

/** Read the geometry file that cfg names; without one, *out has no panels. The caller
 * frees *out, after an error too (nb_detector_spec_free). Errors: as
 * nb_config_load_geometry. */
nb_status nb_read_geometry(const nb_config *cfg, const nb_hooks *hooks,
                           nb_detector_spec *out, nb_error *err);
/** The typed values that the geometry depends on. */
nb_geometry_typed nb_geometry_typed_of(const nb_config *cfg);
/** Note fields that the geometry file leaves open; NB_ERR_INPUT without a wavelength. */
nb_status nb_say_open_geometry(const nb_config *cfg, const nb_detector_spec *spec,
                               const nb_hooks *hooks, nb_error *err);

/** Complete cfg from the experiment of an image; values of `typed` have precedence. True
 * if *matrix was set. */
int nb_use_start(const nb_config *typed, const nb_expt_start *start, nb_config *cfg,
                 nb_matrix *matrix);
/** Read the experiments of -expt, which give start values for images. Errors: as
 * nb_expt_starts, NB_ERR_IO. */
nb_status nb_read_starts(const nb_config *cfg, const nb_expt_names *of,
                         nb_expt_start *out, nb_error *err);

/* --- image files as inputs of a simulation --- */

/** Read an image of any format of nb_image_read, once. Its header completes cfg, as -img
 * does. Its pixels go to *pixels (nb_image_free), without geometry and centre; marked
 * pixels are 0. A headerless float image is square or has cfg's detpixels. flag: the
 * option in messages. hooks (or NULL) get notes on guesses and unused values.
 * nb_header_found.fields is added to *fields (or NULL). Errors: as nb_image_read. */
nb_status nb_image_load(const char *path, const char *flag, const nb_hooks *hooks,
                        nb_config *cfg, nb_image *pixels, unsigned *fields, nb_error *err);

/** Complete cfg, but for the size, from the header of a file that is not HDF5. */
nb_status nb_image_take_header(const char *path, const char *flag, nb_config *cfg,
                               nb_error *err);

/** Complete cfg from the header alone, which the store keeps.  is_mask: 1 for -mask. */
nb_status nb_image_apply_header(nb_store *store, const char *path, const char *flag,
                                int is_mask, const nb_hooks *hooks, nb_config *cfg,
                                unsigned *fields, nb_error *err);

/* --- geometry from the header of an image --- */

/** A file that is being read. */
typedef struct nb_opened_image {
    nb_image_file file;
    char name[NB_PATH_MAX];
    nb_image_format format;
    char *data;            /* owned; NULL for HDF5 */
    nb_hdf5_geometry said; /* geometry of an HDF5 file */
} nb_opened_image;

/** True if a convention or a beam centre was typed. */
int nb_header_loses_centre(const nb_config *cfg);

/** Fields that a header may leave open, as bits. */
typedef enum nb_header_field {
    NB_OPEN_DISTANCE = 1,
    NB_OPEN_PIXEL = 2,
    NB_OPEN_CENTRE = 4,
    NB_OPEN_WAVELENGTH = 8,
    NB_OPEN_TWOTHETA = 16,
    NB_OPEN_START = 32,
    NB_OPEN_WIDTH = 64,
    NB_OPEN_SENSOR = 128,
    NB_OPEN_POLARIZATION = 256,
    NB_OPEN_BEAM = 512
} nb_header_field;

/** Facts about a file other than its geometry. */
typedef struct nb_header_found {
    int own;         /* 1: nanobragg wrote this SMV file */
    double pedestal; /* pedestal of an SMV file */
    /* NB_OPEN_* fields of files of this kind, without the fields that this file has but
     * cfg cannot hold. 0 for a file of nanobragg, which has all typed values */
    unsigned fields;
} nb_header_found;

/** Complete cfg from the file.  hooks (or NULL) get notes on values that are not taken.
 * Errors: as nb_smv_apply_header. */
nb_status nb_header_apply(const nb_opened_image *in, const char *flag,
                          const nb_hooks *hooks, nb_config *cfg, nb_header_found *found,
                          nb_error *err);

/** Fields that cfg leaves open, without NB_OPEN_BEAM. */
unsigned nb_header_open(const nb_config *cfg);

/** Note which of `fields` cfg leaves open, with the values that are assumed instead. */
void nb_header_say_open(const nb_config *cfg, unsigned fields, const char *flag,
                        const char *name, const nb_hooks *hooks);

/* --- the tables of an amorphous background --- */

/** True if the configuration has a material. */
int nb_config_has_background(const nb_config *cfg);

/** Read the table of -stol, -4stol or -Q, and find the tables of -background. */
nb_status nb_load_background(const nb_config *cfg, nb_amorphous_set *set, nb_error *err);

/** Note an image that exceeds its background table, and flags that need such a table. */
void nb_advise_background(const nb_model *model, const nb_amorphous_set *set,
                          const nb_hooks *hooks);

/** Range of sin(theta)/lambda (1/m) of source 0 on a grid in the rendered region. */
void nb_scene_stol(const nb_scene *scene, double range[2]);

/** Estimate the photons of water and materials, to some percent, from 101 pixels. */
double nb_background_about(const nb_model *model);

/** Describe the materials for HDF5 masters; "" without materials.  Returns text. */
const char *nb_background_words(const nb_settings *all, char *text, size_t size);

/* --- kinds of files of structure factors, for messages --- */

/** Name of a kind, as "an MTZ file", or NULL. *flag: the flags that read this kind, or
 * NULL. */
const char *nb_content_means(nb_content kind, const char *data, size_t n,
                             const char **flag);

/** Load the rows of -hkl, a file or an array; its bytes continue *hash. Free *list with
 * nb_hkl_list_free; its name is static or belongs to cfg. Errors: NB_ERR_INPUT, _IO,
 * _NOMEM. */
nb_status nb_hkl_load(const nb_config *cfg, nb_hkl_list *list, uint64_t *hash,
                      nb_error *err);

/* --- panels in an image of the stack or of a canvas --- */

/** Find the panels in an image: as a stack in a headerless file, otherwise in the layout
 * that has the size of the image. out[n_panels]. Returns 0 if it is not an image of this
 * detector. */
int nb_panels_in_image(const nb_detector_spec *detector, const nb_image *image,
                       nb_panel_pixels *out);

/** Size of a rectangle with as many pixels as the stack; it is as wide as panel 0 if
 * possible. */
void nb_stack_size(const nb_detector_spec *detector, int *fast, int *slow);

/** Panel of pixel (fast, slow) of the image, or -1; at: index of the pixel in the
 * panel. */
int nb_panel_in_image(const nb_image *image, int fast, int slow, int at[2]);

/** Set image->detector from the geometry file in typed (or NULL), or from the HDF5 file
 * (or NULL) if it has several panels.  Errors: those of the geometry file. */
nb_status nb_image_find_panels(const char *hdf5, const nb_config *typed, nb_image *image,
                               nb_error *err);

/* --- the crystals of an image (crystal_lines.c) --- */

/** Count the crystals in the image of cfg.  Errors: NB_ERR_INPUT. */
nb_status nb_crystals_count(const nb_inputs *in, const nb_config *cfg, int *n,
                            nb_error *err);

/** Read the lines of -crystals; *lines is shared (nb_shared_drop), or NULL if -crystals
 * is a number. */
nb_status nb_crystals_lines(const nb_inputs *in, const nb_config *cfg,
                            nb_crystal_lines **lines, nb_error *err);
/** Read -crystals, and refuse flags that an image of several crystals cannot have. */
nb_status nb_crystals_check(const nb_inputs *in, const nb_config *cfg, nb_error *err);

/** Give cfg a random orientation for crystal m > 0, from the misset seed, or without one
 * from `seed`. The angles are rounded so that a user can type them. Crystal 0 is
 * unchanged. Errors: as nb_misset_random. */
nb_status nb_crystal_place(int m, int64_t seed, nb_config *cfg, nb_error *err);

/** Change cfg by the line of crystal m in the list or the file of -crystals.  Errors: as
 * nb_crystal_lines_apply. */
nb_status nb_crystal_line(const nb_inputs *in, int m, nb_config *cfg, nb_error *err);

/** Name of crystal m of cfg for messages: "c.jsonl:2", or "crystal 2". */
void nb_crystal_name(const nb_inputs *in, const nb_config *cfg, int m, char *name,
                     size_t size);

#endif
