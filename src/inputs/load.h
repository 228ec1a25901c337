/* SPDX-License-Identifier: MIT */
/** Reading the files of a simulation. */
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
#include "inputs.h"

/* --- reading the files of a configuration through the store of *in; call in this order --- */

/** Complete cfg from the detector's file, -img and -mask; *spec: the file's detector (held), or NULL. */
nb_status nb_load_headers(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                          nb_detector_spec **spec, nb_error *err);
/** Read the files of detector and materials into in->files; spec: as above. */
nb_status nb_load_files(const nb_config *cfg, nb_inputs *in, const nb_detector_spec *spec,
                        const nb_hooks *hooks, nb_error *err);
nb_status nb_load_sources(const nb_config *cfg, nb_inputs *in, nb_error *err);
/** Load the crystal's matrix (given: that of a frame, or NULL) and structure factors; complete the cell of cfg.  old: inputs
 * whose tables and sums of the same files are used, or NULL. */
nb_status nb_load_crystal(nb_config *cfg, nb_inputs *in, const nb_inputs *old,
                          const nb_matrix *given, int64_t seed, const nb_hooks *hooks,
                          nb_error *err);

/** Read models and reflection files into in->factors; complete the cell of cfg. */
nb_status nb_load_factors(nb_config *cfg, nb_inputs *in, int64_t seed,
                          const nb_hooks *hooks, nb_error *err);

/** The gain and the largest trusted value of each panel of a file. */
nb_status nb_load_panel_noise(nb_files *files, nb_error *err);

/* --- a detector from a file, in a simulation --- */

/** Find the detector of cfg->detector or of the file that cfg names, and complete cfg from it.  Files of one panel are
 * refused or switched off for several panels.  *spec is held, or NULL. */
nb_status nb_load_detector(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                           nb_detector_spec **spec, nb_error *err);

/** Mask the panels in files->spec that the list of -panel does not name. */
nb_status nb_choose_panels(const char *list, nb_files *files, nb_error *err);

/** A crystal as files of detectors have it (nb_detector_spec.crystal). */
void nb_matrix_of_file(nb_convention convention, const double A[9], nb_matrix *matrix);
/** The crystal of the detector's file, where no other is typed. */
void nb_load_file_crystal(const nb_config *cfg, nb_matrix *matrix);

/* --- a detector by name --- */

/** Complete cfg from the detector of -detector, after the headers of files.  Errors: those of nb_detector_named. */
nb_status nb_load_named_detector(nb_config *cfg, nb_error *err);

/** Mask its gaps in a mask of so many pixels, which is made where there is none.  Errors: NB_ERR_NOMEM. */
nb_status nb_mask_named_detector(const nb_config *cfg, uint8_t **mask, nb_error *err);

/* --- the detector that a geometry file describes --- */

/** Read the geometry file that cfg names; *out has no panels without one.  Free it with
 * nb_detector_spec_free, after an error too.  Errors: those of nb_config_load_geometry. */
nb_status nb_read_geometry(const nb_config *cfg, const nb_hooks *hooks,
                           nb_detector_spec *out, nb_error *err);
/** The typed values that the geometry depends on. */
nb_geometry_typed nb_geometry_typed_of(const nb_config *cfg);
/** Print a note about what the geometry file leaves open.  Errors: NB_ERR_INPUT, if no wavelength is known. */
nb_status nb_say_open_geometry(const nb_config *cfg, const nb_detector_spec *spec,
                               const nb_hooks *hooks, nb_error *err);

/** Give cfg what the experiment of an image says and `typed` does not.  Returns whether *matrix is the crystal. */
int nb_use_start(const nb_config *typed, const nb_expt_start *start, nb_config *cfg,
                 nb_matrix *matrix);
/** What the experiments of -expt say of images.  Errors: those of nb_expt_starts, NB_ERR_IO. */
nb_status nb_read_starts(const nb_config *cfg, const nb_expt_names *of,
                         nb_expt_start *out, nb_error *err);

/* --- image files as inputs of a simulation --- */

/** Read an image of any format that nb_image_read knows, once: what its header says completes cfg,
 * as -img does, and its pixels go to *pixels (nb_image_free; no geometry, no centre); those that the file marks are 0.  A headerless float image is square or has cfg's detpixels.
 * flag names the option in messages.  hooks (may be NULL) hear what was guessed or cannot be used.
 * *fields (may be NULL) gets the NB_OPEN_* that such a file has, besides its own.
 * Errors: those of nb_image_read. */
nb_status nb_image_load(const char *path, const char *flag, const nb_hooks *hooks,
                        nb_config *cfg, nb_image *pixels, unsigned *fields, nb_error *err);

/** Complete cfg from the header alone, which the store keeps.  is_mask: 1 for -mask. */
nb_status nb_image_apply_header(nb_store *store, const char *path, const char *flag,
                                int is_mask, const nb_hooks *hooks, nb_config *cfg,
                                unsigned *fields, nb_error *err);

/* --- what an image's header says of the geometry, as settings --- */

/** A file that is being read. */
typedef struct nb_opened_image {
    nb_image_file file;
    char name[NB_PATH_MAX];
    nb_image_format format;
    char *data;            /* owned; NULL: HDF5 */
    nb_hdf5_geometry said; /* by HDF5 */
} nb_opened_image;

/** Was a convention or a beam centre typed? */
int nb_header_loses_centre(const nb_config *cfg);

/** What a header may leave open, as a sum. */
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

/** What is known of a file besides its geometry. */
typedef struct nb_header_found {
    int own;         /* nanobragg wrote this SMV file */
    double pedestal; /* of SMV */
    unsigned fields; /* NB_OPEN_* that such a file has, without those that it gives and cfg need not show.
                        A file of nanobragg has what was typed: it leaves none open. */
} nb_header_found;

/** Fill what cfg leaves open from the file.  hooks (may be NULL) hear what the file says and is not taken.
 * Errors: those of nb_smv_apply_header. */
nb_status nb_header_apply(const nb_opened_image *in, const char *flag,
                          const nb_hooks *hooks, nb_config *cfg, nb_header_found *found,
                          nb_error *err);

/** The fields, of all, that cfg leaves open; NB_OPEN_BEAM is never among them. */
unsigned nb_header_open(const nb_config *cfg);

/** Of these fields those that cfg leaves open: one note with what is assumed, or none. */
void nb_header_say_open(const nb_config *cfg, unsigned fields, const char *flag,
                        const char *name, const nb_hooks *hooks);

/* --- the tables of an amorphous background --- */

/** Does the configuration have a material? */
int nb_config_has_background(const nb_config *cfg);

/** Read the table of -stol, -4stol or -Q, and find those of -background. */
nb_status nb_load_background(const nb_config *cfg, nb_amorphous_set *set, nb_error *err);

/** For a new simulation: an image that goes beyond its table, and flags without one. */
void nb_advise_background(const nb_model *model, const nb_amorphous_set *set,
                          const nb_hooks *hooks);

/** The smallest and largest sin(theta)/lambda (1/m) of the first source on a net of points over the rendered region. */
void nb_scene_stol(const nb_scene *scene, double range[2]);

/** Photons of water and materials in the image, from the middles of some of its pixels: right to some percent. */
double nb_background_about(const nb_model *model);

/** The materials in words, "" without any: for masters.  Returns text. */
const char *nb_background_words(const nb_settings *all, char *text, size_t size);

/* --- kinds of files of structure factors, for messages --- */

/** "an MTZ file", and in *flag which flags take it (NULL: none); NULL: nothing that is known. */
const char *nb_content_means(nb_content kind, const char *data, size_t n,
                             const char **flag);

/** The rows of -hkl, a file or an array.  Its bytes go on with *hash.  *list is the caller's
 * (nb_hkl_list_free); its name is static or cfg's.  Errors: NB_ERR_INPUT, NB_ERR_IO, NB_ERR_NOMEM. */
nb_status nb_hkl_load(const nb_config *cfg, nb_hkl_list *list, uint64_t *hash,
                      nb_error *err);

/* --- panels in an image of the stack or of a canvas --- */

/** Where the panels' pixels lie in an image: of a headerless file the stack, else the array of the
 * layout whose size it has.  out[n_panels].  0: it is no image of this detector. */
int nb_panels_in_image(const nb_detector_spec *detector, const nb_image *image,
                       nb_panel_pixels *out);

/** A rectangle of as many pixels as the stack has: as wide as the first panel, if that fits. */
void nb_stack_size(const nb_detector_spec *detector, int *fast, int *slow);

/** The panel that holds the pixel (fast, slow) of the image, and *at: the pixel in it; -1: none. */
int nb_panel_in_image(const nb_image *image, int fast, int slow, int at[2]);

/** The detector of an image file: that of the geometry file in typed (may be NULL), or of the HDF5 file (may be NULL), if it has
 * several panels.  Sets image->detector.  Errors: those of the geometry file. */
nb_status nb_image_find_panels(const char *hdf5, const nb_config *typed, nb_image *image,
                               nb_error *err);

#endif
