/* SPDX-License-Identifier: MIT */
#include "fit.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"

/* Values nearer to a bound than this part of the way between both count as at it. */
#define AT_BOUND 1e-5

void nb_fit_space_make(const nb_fit_list *list, const int marked[NB_FIT_MOST], int extra,
                       nb_fit_space *s)
{
    int variable_of[NB_FIT_MOST];
    memset(s, 0, sizeof *s);
    s->list = list;
    s->extra = extra;
    for (int i = 0; i < list->count; i++) {
        const nb_fit_parameter *p = &list->p[i];
        variable_of[i] = -1;
        if (!marked[i] || p->fixed)
            continue;
        if (p->tied == i) {
            variable_of[i] = s->n_free;
            s->lead[s->n_free++] = i;
        } else {
            variable_of[i] = variable_of[p->tied];
        }
        if (variable_of[i] < 0)
            continue;
        s->variable[s->n_active] = variable_of[i];
        s->active[s->n_active++] = i;
    }
}

int nb_fit_space_variables(const nb_fit_space *s)
{
    return s->n_free + s->extra;
}

int nb_fit_space_values(const nb_fit_space *s)
{
    return s->n_active + s->extra;
}

static double variable_of(const nb_fit_parameter *p)
{
    switch (p->map) {
    case NB_MAP_LOG:
        return log(p->value);
    case NB_MAP_LOG_CELLS:
        return log(p->value - 1);
    case NB_MAP_BOUNDED:
        return asin(fmax(-1, fmin(1, 2 * (p->value - p->low) / (p->high - p->low) - 1)));
    case NB_MAP_LINEAR:
        break;
    }
    return p->value;
}

static double value_of(const nb_fit_parameter *p, double t)
{
    switch (p->map) {
    case NB_MAP_LOG:
        return exp(t);
    case NB_MAP_LOG_CELLS:
        return 1 + exp(t);
    case NB_MAP_BOUNDED:
        return p->low + (p->high - p->low) * (1 + sin(t)) / 2;
    case NB_MAP_LINEAR:
        break;
    }
    return t;
}

double nb_fit_slope(const nb_fit_parameter *p, double t)
{
    switch (p->map) {
    case NB_MAP_LOG:
    case NB_MAP_LOG_CELLS:
        return exp(t);
    case NB_MAP_BOUNDED:
        return (p->high - p->low) * cos(t) / 2;
    case NB_MAP_LINEAR:
        break;
    }
    return 1;
}

void nb_fit_space_start(const nb_fit_space *s, const double *extras, double *x)
{
    for (int v = 0; v < s->n_free; v++)
        x[v] = variable_of(&s->list->p[s->lead[v]]);
    for (int k = 0; k < s->extra; k++)
        x[s->n_free + k] = log(extras[k]);
}

void nb_fit_space_values_of(const nb_fit_space *s, const double *x, double *values)
{
    for (int i = 0; i < s->n_active; i++) {
        int v = s->variable[i];
        values[i] = value_of(&s->list->p[s->lead[v]], x[v]);
    }
    for (int k = 0; k < s->extra; k++)
        values[s->n_active + k] = exp(x[s->n_free + k]);
}

/** The variable that moves value i; *slope: of the value by that variable. */
static int variable_at(const nb_fit_space *s, const double *x, const double *values,
                       int i, double *slope)
{
    int v = i < s->n_active ? s->variable[i] : s->n_free + i - s->n_active;
    *slope = i < s->n_active ? nb_fit_slope(&s->list->p[s->lead[v]], x[v]) : values[i];
    return v;
}

void nb_fit_space_chain(const nb_fit_space *s, const double *x, const double *values,
                        double *loss, double *g, double *F, double *G, double *M)
{
    int values_n = nb_fit_space_values(s), n = nb_fit_space_variables(s);
    for (int i = 0; i < s->n_active; i++) {
        const nb_fit_parameter *p = &s->list->p[s->active[i]];
        double off = p->width > 0 ? (values[i] - p->restraint) / p->width : 0;
        if (!(p->width > 0))
            continue;
        *loss += off * off / 2;
        g[i] += off / p->width;
        F[i * values_n + i] += 1 / (p->width * p->width);
    }
    memset(G, 0, (size_t)n * sizeof *G);
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    for (int i = 0; i < values_n; i++) {
        double a, b;
        int v = variable_at(s, x, values, i, &a);
        G[v] += g[i] * a;
        for (int j = 0; j < values_n; j++) {
            int w = variable_at(s, x, values, j, &b);
            M[v * n + w] += F[i * values_n + j] * a * b;
        }
    }
}

/** From a bound the sine has no slope: begin a little inside. */
static nb_status check_bounds(nb_fit_parameter *p, nb_error *err)
{
    const double inside = 1e-3 * (p->high - p->low);
    if (!(p->value >= p->low && p->value <= p->high))
        return nb_fail(err, NB_ERR_INPUT,
                       "-bound %s=%g:%g: the start %g is outside; type a start inside",
                       p->name, p->low, p->high, p->value);
    p->value = fmin(p->high - inside, fmax(p->low + inside, p->value));
    return NB_OK;
}

nb_status nb_fit_check_start(nb_fit_parameter *p, nb_error *err)
{
    if (p->fixed)
        return NB_OK;
    if (p->map == NB_MAP_BOUNDED)
        return check_bounds(p, err);
    if (p->map == NB_MAP_LOG && !(p->value > 0))
        return nb_fail(
            err, NB_ERR_INPUT,
            "-refine %s: its start is %g, and its logarithm is refined; type a "
            "start above 0",
            p->name, p->value);
    if (p->map == NB_MAP_LOG_CELLS && !(p->value > 1))
        return nb_fail(err, NB_ERR_INPUT,
                       "-refine %s: one cell cannot be refined; type a start above 1",
                       p->name);
    return NB_OK;
}

int nb_fit_at_bound(const nb_fit_parameter *p)
{
    double near = AT_BOUND * (p->high - p->low);
    return p->map == NB_MAP_BOUNDED && !p->fixed &&
           (p->value - p->low < near || p->high - p->value < near);
}
