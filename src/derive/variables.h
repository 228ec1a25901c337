/* SPDX-License-Identifier: MIT */
/** The parameters that an image can be differentiated by: their names, and their values. */
#ifndef NB_DERIVE_VARIABLES_H
#define NB_DERIVE_VARIABLES_H

#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../params/params.h"
#include "../render/sums.h"

/** What a name stands for; `axis` of nb_variable_name tells x, y, z or a, b, c. */
typedef enum nb_variable_kind {
    NB_VAR_MISSET,
    NB_VAR_ROT,
    NB_VAR_CELL,
    NB_VAR_CELLS,
    NB_VAR_MOSAIC,
    NB_VAR_PHI,
    NB_VAR_OSC,
    NB_VAR_LAMBDA,
    NB_VAR_DISPERSION,
    NB_VAR_DIVERGENCE, /* horizontal, vertical */
    NB_VAR_FOOTPRINT,  /* a, b, angle */
    NB_VAR_DISTANCE,
    NB_VAR_CLOSE_DISTANCE,
    NB_VAR_CENTRE, /* Xbeam, Ybeam, ORGX, ORGY */
    NB_VAR_TILT,   /* detector_rotx, y, z; twotheta */
    NB_VAR_SHIFT,
    NB_VAR_SHIFT_ALONG,
    NB_VAR_TURN,
    NB_VAR_THICK,
    NB_VAR_ABS,
    NB_VAR_POLAR,
    NB_VAR_FUDGE,
    NB_VAR_FLUENCE,
    NB_VAR_WATER,
    NB_VAR_DEFAULT_F,
    NB_VAR_F,    /* one entry */
    NB_VAR_ALL_F /* F: of a pullback */
} nb_variable_kind;

/** A name, taken apart. */
typedef struct nb_variable_name {
    nb_variable_kind kind;
    int axis;
    int panel; /* -1: all */
    int hkl[3];
    const char *unit, *flag, *moves;
    unsigned sums;               /* NB_SLOPE_* */
    size_t member;               /* of its flag in nb_config; without a flag not used */
    char name[NB_VARIABLE_NAME]; /* as nb_variable has it */
} nb_variable_name;

/** The simulation that is differentiated. */
typedef struct nb_subject {
    const nb_settings *cfg;
    const nb_model *model;
    const nb_displacement *moved; /* never NULL */
    const nb_factor_table *F;     /* the file's, before twin parts are summed */
    double wavelength_A;          /* central, of a list the mean */
    int has_matrix, has_sources;  /* -mat or a crystal from a file; -sourcefile */
} nb_subject;

/** Names of a list with groups and synonyms, each once.  *names: nb_free.  Errors: NB_ERR_INPUT,
 * NB_ERR_NOMEM. */
nb_status nb_variables_open(const nb_subject *of, const char *list,
                            char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err);

/** Errors: NB_ERR_INPUT for an unknown name, with the nearest one. */
nb_status nb_variable_parse(const nb_subject *of, const char *name, nb_variable_name *out,
                            nb_error *err);

/** The flag that sets a parameter of this name; "": none. */
const char *nb_variable_flag(const char *name);

/** Can the scene be differentiated by it?  Errors: NB_ERR_INPUT, and why not. */
nb_status nb_variable_check(const nb_subject *of, const nb_variable_name *v,
                            nb_error *err);

/** Its value, in its unit. */
double nb_variable_value(const nb_subject *of, const nb_variable_name *v);

/** Does the pair of beam centre flags move the detector?  axis as in NB_VAR_CENTRE.  Rates of Fbeam,
 * Sbeam, Fclose, Sclose (m) per unit of the flag. */
typedef struct nb_centre_rate {
    double Fbeam, Sbeam, Fclose, Sclose;
} nb_centre_rate;
nb_centre_rate nb_centre_rate_of(const nb_subject *of, int axis);
/** Has any of those a part in the pivot that is used? */
int nb_centre_moves(const nb_subject *of, int axis);

/* How parameters move the scene (docs/physics.md, section 26): the tangents of a job. */

/** The job of these parameters; of->model must outlive it.  Free it with nb_slope_job_free, after an
 * error too.  Errors: NB_ERR_INPUT (nb_variable_check), NB_ERR_NOMEM. */
nb_status nb_slope_job_build(const nb_subject *of, const nb_variable_name *names,
                             int count, nb_slope_job *job, nb_error *err);
void nb_slope_job_free(nb_slope_job *job); /* zeroed is fine */

/** Why a parameter moves no pixel; NULL: it may. */
const char *nb_variable_stands_still(const nb_subject *of, const nb_variable_name *v);

/** The crystal's part of a tangent. */
void nb_crystal_tangent(const nb_subject *of, const nb_variable_name *v, nb_tangent *t);

/** The part of a tangent that moves panel k. */
nb_panel_slope nb_panel_tangent(const nb_subject *of, const nb_variable_name *v, int k);

#endif
