/* SPDX-License-Identifier: MIT */
/** Parameters in users' units, and the variables that a fit moves: logarithms, bounds, ties. */
#ifndef NB_REFINE_VARIABLES_H
#define NB_REFINE_VARIABLES_H

#include "../nanobragg.h"
#include "../nanobragg/derivatives.h"

typedef enum nb_fit_map {
    NB_MAP_LINEAR = 0,
    NB_MAP_LOG,       /* p = exp(t) */
    NB_MAP_LOG_CELLS, /* p = 1 + exp(t) */
    NB_MAP_BOUNDED    /* p = low + (high - low)(1 + sin t)/2 */
} nb_fit_map;

typedef struct nb_fit_parameter {
    char name[NB_VARIABLE_NAME];
    const char *unit; /* static */
    double start, value;
    nb_fit_map map;
    double low, high; /* BOUNDED */
    int tied;         /* to the parameter before it of this number; its own: free */
    int fixed;        /* moves in no stage */
    double restraint,
        width;    /* adds ((p - restraint)/width)^2/2 to the loss; width 0: none */
    double sigma; /* NaN: none */
} nb_fit_parameter;

#define NB_FIT_MOST 64 /* parameters of one fit */

typedef struct nb_fit_list {
    int count;
    nb_fit_parameter p[NB_FIT_MOST];
} nb_fit_list;

/** The variables of one stage: those of the parameters that are active, then logarithms of `extra` more. */
typedef struct nb_fit_space {
    const nb_fit_list *list;
    int n_active, active[NB_FIT_MOST]; /* parameters, tied ones too */
    int variable[NB_FIT_MOST];         /* of active parameter i */
    int n_free;                        /* variables of parameters */
    int lead[NB_FIT_MOST];             /* the parameter whose map variable v has */
    int extra;                         /* values behind them */
} nb_fit_space;

/** The space of the parameters that are marked. */
void nb_fit_space_make(const nb_fit_list *list, const int marked[NB_FIT_MOST], int extra,
                       nb_fit_space *space);

/** Numbers of variables (x) and of values (active parameters and extras). */
int nb_fit_space_variables(const nb_fit_space *space);
int nb_fit_space_values(const nb_fit_space *space);

/** dp/dt at t. */
double nb_fit_slope(const nb_fit_parameter *p, double t);

/** x of the values of the list and of extras[extra]. */
void nb_fit_space_start(const nb_fit_space *space, const double *extras, double *x);
/** values[n_active + extra] of x. */
void nb_fit_space_values_of(const nb_fit_space *space, const double *x, double *values);

/** The loss with restraints, and gradient and Fisher matrix by x, from those by the values (g, F). */
void nb_fit_space_chain(const nb_fit_space *space, const double *x, const double *values,
                        double *loss, double *g, double *F, double *G, double *M);

/** Refuse a value that its map cannot have.  Errors: NB_ERR_INPUT. */
nb_status nb_fit_check_start(nb_fit_parameter *p, nb_error *err);

/** Is a bounded value at its bound? */
int nb_fit_at_bound(const nb_fit_parameter *p);

#endif
