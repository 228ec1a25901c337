/* SPDX-License-Identifier: MIT */
#include "audit.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"

enum {
    PEAKS = 1000, /* samples near a peak that make a picture's planes large */
    LOOKS = 4,    /* pixels that are compared */
    BRIGHT = 64   /* the brightest pixel over those that are mended */
};

/* less than half of what a plane may be off, of its largest value, with up to MANY cells along an axis and with more */
#define LIMIT 2e-6
#define LIMIT_MANY 8e-6
#define MANY 100.0

int nb_slope_audit_wanted(const nb_slope_job *job)
{
    const nb_scene *sc = job->scene;
    const double *N = sc->lattice.N;
    int layers = 1;
    double samples;
    for (int k = 0; k < sc->n_panels; k++) {
        const int own = sc->sensors[sc->panels[k].sensor].layers;
        layers = own > layers ? own : layers;
    }
    samples = (double)nb_rendered_pixels(sc) * sc->oversample * sc->oversample * layers *
              sc->beam.n_sources * sc->lattice.n_orientations;
    return job->count > 0 && samples < PEAKS * N[0] * N[1] * N[2];
}

nb_status nb_slope_audit_open(const nb_slope_job *job, int stripes, nb_slope_audit *out,
                              nb_error *err)
{
    static const char what[] = "the brightest pixels";
    const size_t n = (size_t)stripes, planes = (size_t)job->count + 1;
    *out = (nb_slope_audit){.stripes = stripes, .planes = job->count + 1};
    out->most = nb_alloc(n * planes, sizeof *out->most, what, err);
    out->bright = nb_alloc(n * planes, sizeof *out->bright, what, err);
    out->at = nb_alloc(n, sizeof *out->at, what, err);
    return out->most && out->bright && out->at ? NB_OK : NB_ERR_NOMEM;
}

void nb_slope_audit_close(nb_slope_audit *audit)
{
    nb_free(audit->most);
    nb_free(audit->bright);
    nb_free(audit->at);
    memset(audit, 0, sizeof *audit);
}

static double largest(const double *x, int n, double most)
{
    for (int i = 0; i < n; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    return most;
}

void nb_slope_audit_take(nb_slope_audit *audit, const nb_slope_values *piece)
{
    const size_t from = (size_t)piece->stripe * (size_t)audit->planes;
    double *most = audit->most + from;
    nb_span *at = &audit->at[piece->stripe];
    int n = 0, best = -1;
    for (size_t i = 0; i < piece->n; n += piece->spans[i++].n)
        for (int k = 0; k < piece->spans[i].n; k++)
            if (at->n == 0 || piece->values[n + k] > audit->bright[from]) {
                *at = piece->spans[i];
                at->fast += k;
                at->at += (size_t)k;
                at->n = 1;
                best = n + k;
                audit->bright[from] = piece->values[best];
            }
    for (size_t p = 0; p < (size_t)audit->planes; p++) {
        const double *values = piece->values + p * piece->stride;
        most[p] = largest(values, n, most[p]);
        if (best >= 0)
            audit->bright[from + p] = values[best];
    }
}

/** The stripe with the brightest pixel that is not seen yet; -1: none. */
static int next_bright(const nb_slope_audit *audit, const int *seen, int n)
{
    int best = -1;
    for (int s = 0; s < audit->stripes; s++) {
        int is_new = audit->at[s].n > 0;
        for (int i = 0; i < n; i++)
            is_new &= seen[i] != s;
        if (is_new && (best < 0 || audit->bright[(size_t)s * (size_t)audit->planes] >
                                       audit->bright[(size_t)best * (size_t)audit->planes]))
            best = s;
    }
    return best;
}

/** Are a stripe's values in its brightest pixel near enough to the reference's? */
static int is_near(const nb_slope_audit *audit, const nb_slope_job *job, int stripe)
{
    const nb_lattice *lattice = &job->scene->lattice;
    const double *N = lattice->N, cells = fmax(N[0], fmax(N[1], N[2]));
    const double limit = cells > MANY ? LIMIT_MANY : LIMIT;
    const size_t planes = (size_t)audit->planes;
    double truth[1 + NB_VARIABLES_MAX];
    nb_slope_scalar.row(job, NULL, &audit->at[stripe], 1, truth, 1);
    for (size_t p = 0; p < planes; p++) {
        double most = 0;
        for (size_t s = 0; s < (size_t)audit->stripes; s++)
            most = fmax(most, audit->most[s * planes + p]);
        if (!(fabs(audit->bright[(size_t)stripe * planes + p] - truth[p]) <= limit * most))
            return 0;
    }
    return 1;
}

double nb_slope_audit_bright(const nb_slope_audit *audit, const nb_slope_job *job)
{
    int seen[LOOKS], n;
    for (n = 0; n < LOOKS; n++) {
        const int stripe = next_bright(audit, seen, n);
        if (stripe < 0)
            break;
        seen[n] = stripe;
        if (!is_near(audit, job, stripe))
            return audit->bright[(size_t)seen[0] * (size_t)audit->planes] / BRIGHT;
    }
    return INFINITY;
}

void nb_slope_audit_mend(const nb_slope_job *job, double bright,
                         const nb_slope_values *piece, double *values)
{
    for (size_t i = 0; i < piece->n; values += piece->spans[i++].n)
        for (int k = 0; k < piece->spans[i].n; k++)
            if (values[k] >= bright) {
                nb_span pixel = piece->spans[i];
                pixel.fast += k;
                pixel.at += (size_t)k;
                pixel.n = 1;
                nb_slope_scalar.row(job, NULL, &pixel, 1, values + k, piece->stride);
            }
}
