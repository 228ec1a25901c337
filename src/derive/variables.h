/* SPDX-License-Identifier: MIT */
/** Names and values of the parameters by which an image can be differentiated. */
#ifndef NB_DERIVE_VARIABLES_H
#define NB_DERIVE_VARIABLES_H

#include "../model/scene_build.h"
#include "../nanobragg.h"
#include "../params/params.h"
#include "../render/sums.h"

/** Kind of a parameter. `axis` of nb_variable_name counts x, y, z or a, b, c. */
typedef enum nb_variable_kind {
    NB_VAR_MISSET,
    NB_VAR_ROT,
    NB_VAR_CELL,
    NB_VAR_CELLS,
    NB_VAR_MOSAIC,
    NB_VAR_TENSOR, /* xx, yy, zz, xy, xz, yz */
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
    NB_VAR_F,     /* one entry of the table */
    NB_VAR_ALL_F, /* "F": every entry, for a pullback */
    /* a parameter of another crystal of the image, which has no effect on this crystal */
    NB_VAR_OTHER
} nb_variable_kind;

/** A parsed name. */
typedef struct nb_variable_name {
    nb_variable_kind kind;
    int axis;
    int panel; /* -1 for all panels */
    int hkl[3];
    const char *unit, *flag, *moves;
    unsigned sums;               /* bits NB_SLOPE_*: sums that the parameter needs */
    size_t member;               /* offset of the flag in nb_config, if it has a flag */
    char name[NB_VARIABLE_NAME]; /* name as in nb_variable */
} nb_variable_name;

/** True for parameters of the beam and the detector, which move all crystals. */
static inline int nb_variable_is_of_frame(const nb_variable_name *v)
{
    return v->kind >= NB_VAR_PHI && v->kind < NB_VAR_DEFAULT_F && v->kind != NB_VAR_FUDGE;
}

/** Simulation that is differentiated. */
typedef struct nb_subject {
    const nb_settings *cfg;
    const nb_model *model;
    const nb_displacement *moved; /* never NULL */
    const nb_factor_table *F;     /* table of the file, before twin parts are summed */
    double wavelength_A;          /* central wavelength, or mean of a list */
    int has_matrix, has_sources;  /* -mat or a crystal from a file; -sourcefile */
    const nb_crystal *crystal;    /* the crystal before a law of -twin turned it */
    int twin;                     /* the model's part of the twin; 0: the first */
} nb_subject;

/** List the names in a list with groups and synonyms, each once. The caller frees *names
 * (nb_free). Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_variables_open(const nb_subject *of, const char *list,
                            char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err);

/** Parse a name. Errors: NB_ERR_INPUT (unknown; the message gives the nearest name). */
nb_status nb_variable_parse(const nb_subject *of, const char *name, nb_variable_name *out,
                            nb_error *err);

/** Flag that sets a parameter of this name, or "". */
const char *nb_variable_flag(const char *name);

/** Check that the scene can be differentiated by v. Errors: NB_ERR_INPUT (the reason). */
nb_status nb_variable_check(const nb_subject *of, const nb_variable_name *v,
                            nb_error *err);

/** Value of a parameter, in the unit v->unit. */
double nb_variable_value(const nb_subject *of, const nb_variable_name *v);

/** Rates of Fbeam, Sbeam, Fclose, Sclose (m) per unit of a beam centre flag. axis: see
 * NB_VAR_CENTRE. */
typedef struct nb_centre_rate {
    double Fbeam, Sbeam, Fclose, Sclose;
} nb_centre_rate;
nb_centre_rate nb_centre_rate_of(const nb_subject *of, int axis);
/** True if a beam centre flag moves the detector with the pivot in use. */
int nb_centre_moves(const nb_subject *of, int axis);

/* How parameters move the scene (docs/physics.md, section 26): the tangents of a job. */

/** Make the job of some parameters. of->model must outlive *job. The caller frees *job,
 * also after an error. Errors: NB_ERR_INPUT (nb_variable_check), NB_ERR_NOMEM. */
nb_status nb_slope_job_build(const nb_subject *of, const nb_variable_name *names,
                             int count, nb_slope_job *job, nb_error *err);
void nb_slope_job_free(nb_slope_job *job); /* The job may be all zero. */

/** Reason why a parameter moves no pixel, or NULL. */
const char *nb_variable_stands_still(const nb_subject *of, const nb_variable_name *v);

/** Set the part of a tangent that moves the crystal. */
void nb_crystal_tangent(const nb_subject *of, const nb_variable_name *v, nb_tangent *t);

/** Part of a tangent that moves panel k. */
nb_panel_slope nb_panel_tangent(const nb_subject *of, const nb_variable_name *v, int k);

#endif
