/* SPDX-License-Identifier: MIT */
/** A joint refinement: some variables are common to all pictures, the others are each picture's own. */
#ifndef NB_REFINE_JOINT_H
#define NB_REFINE_JOINT_H

#include "crew.h"
#include "fit.h"
#include "joint_solve.h"
#include "lines.h"

/** Consecutive chosen pixels of a picture. */
typedef struct nb_joint_run {
    size_t at, n;
} nb_joint_run;

/** A point of a picture's variables, and its equations there.  The common ones are first. */
typedef struct nb_joint_point {
    double *x, *G, *M; /* [n], [n], [n][n] */
    double loss;
} nb_joint_point;

/** What stays in memory of a picture: no plane. */
typedef struct nb_joint_picture {
    int used;         /* 0: left out */
    double misset[3]; /* deg; the variables' rotation is on top of it */
    double sigma;     /* read-out, photons */
    double *knots;    /* [extra], 1/A, of a radial background */
    nb_joint_point now, tried;
    double *Y;     /* [own][common + 1], of the last elimination */
    double *block; /* owned: all of the above */
    size_t n_runs;
    nb_joint_run *runs; /* owned */
    float *photons;     /* owned; of the runs, one behind the other */
    float *background;  /* owned; the same of one that stays, or NULL */
} nb_joint_picture;

typedef struct nb_joint {
    const nb_refine_frames *frames;
    nb_refine_options options;
    nb_crew crew;
    nb_lines lines;
    nb_fit_list list;        /* restraints of each picture's own parameters */
    nb_fit_list restraints;  /* of the common ones */
    int common[NB_FIT_MOST]; /* of a parameter: is it common? */
    nb_fit_space space;
    nb_arrow arrow;
    int n; /* variables of a picture */
    int place[NB_FIT_MOST +
              NB_FIT_KNOTS_MAX]; /* of variable v of the space among the common and the own ones */
    const char *names[NB_FIT_MOST + 3]; /* of the active parameters, then the misset angles */
    nb_joint_picture *pictures;         /* owned; [count] */
    double *shares;                     /* owned; [count][share] */
    double *numbers;                    /* owned; [count], one of each picture for sums */
    double *edges; /* owned; [count][9], a, b, c of each crystal, m, in the lab; of a picture that is left out 0 */
    double *beams; /* owned; [count][4], as in nb_expt_list; of a picture that is left out 0 */
    double *deviance; /* owned; [count][2], its sum over pixels, and their number */
    double *C;        /* owned; [common][common], covariance at the end */
    int try;          /* nb_joint_evaluate: at `tried` */
    double x[NB_FIT_MOST]; /* of the common variables: at the start, then after the first steps */
    int again; /* these are over: pictures that were not like their model are tried once more */
    int first; /* the first picture that is used, of all processes */
    void (*stage)(void *user, const nb_refine_stage *stage);
    int converged, evaluations;
    double loss;
    char status[200];
} nb_joint;

/* --- tasks of nb_crew_each (user: the nb_joint) --- */

/** Fit a picture by itself from its start, with the common parameters held, and keep it.  A picture whose file or fit fails, or
 * that the model is not like, is not used; it is left out for good when that happens `again`. */
nb_status nb_joint_prepare(void *joint, nb_sim *sim, int picture, nb_error *err);
/** Loss and equations at the point.  A point that is not possible has an infinite loss. */
nb_status nb_joint_evaluate(void *joint, nb_sim *sim, int picture, nb_error *err);
/** Choose the pixels again where the picture is now; its rotation goes into the orientation.  Prepare one that is not used. */
nb_status nb_joint_choose(void *joint, nb_sim *sim, int picture, nb_error *err);
/** Tell the result.  All of nb_joint must be known. */
nb_status nb_joint_finish(void *joint, nb_sim *sim, int picture, nb_error *err);

void nb_joint_picture_free(nb_joint_picture *picture);

/** Give sim the values of a point of a picture. */
nb_status nb_joint_place(const nb_joint *joint, nb_sim *sim, int picture,
                         const nb_joint_point *point, nb_error *err);

/** The value of a parameter that a point has, and its slope by the variable; i: among the active ones of the space. */
double nb_joint_value(const nb_joint *joint, const nb_joint_point *point, int i,
                      double *slope);

/** Refine jointly; as nb_refine_series. */
nb_status nb_refine_joint(const nb_config *cfg, const nb_refine_frames *frames,
                          const nb_refine_options *options, const nb_hooks *hooks,
                          nb_error *err);

#endif
