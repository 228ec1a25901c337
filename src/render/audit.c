/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <string.h>

#include "../base/memory.h"
#include "../physics/panels.h"

enum {
    /* if an image has fewer samples near peaks, one pixel may dominate the plane */
    PEAKS = 32,
    LOOKS = 4, /* number of pixels that are compared with the reference */
    /* pixels of at least 1/STRONG of the strongest pixel's strength are replaced */
    STRONG = 64
};

/* Largest accepted error, as a part of the plane's largest value: half the tolerance of
 * tests. LIMIT holds up to MANY cells along an axis, LIMIT_MANY for more cells. */
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
        const int of_panel = sc->sensors[sc->panels[k].sensor].layers;
        layers = of_panel > layers ? of_panel : layers;
    }
    samples = (double)nb_rendered_pixels(sc) * sc->oversample * sc->oversample * layers *
              sc->beam.n_sources * sc->lattice.n_orientations;
    return job->count > 0 && samples < PEAKS * N[0] * N[1] * N[2];
}

/** Factor that scales a parameter's plane of slopes to the size of the photons. It is 0
 * if the parameter also changes the materials, as the wavelength does. */
static double weight_of(const nb_scene *sc, const nb_tangent *t)
{
    const double *N = sc->lattice.N,
                 /* a typical h: a relative change x of the cell changes terms by N h x */
        slope = 10;
    double size = fabs(t->phi) + fabs(t->osc);
    for (int i = 0; i < NB_TURNS; i++)
        size += fabs(t->mosaic[i]);
    size *= slope * fmax(N[0], fmax(N[1], N[2]));
    for (int i = 0; i < 9; i++)
        size += slope * N[i / 3] * fabs(t->index[i]);
    for (int i = 0; i < 3; i++)
        size += fabs(t->cells[i]) / N[i];
    return size > 0 && t->image == 0 ? 1 / size : 0;
}

nb_status nb_slope_audit_open(const nb_slope_job *job, int stripes, nb_slope_audit *out,
                              nb_error *err)
{
    static const char what[] = "the strongest pixels";
    const size_t n = (size_t)stripes, planes = (size_t)job->count + 1;
    double sum = 0;
    *out = (nb_slope_audit){.job = job, .stripes = stripes, .planes = job->count + 1};
    out->weight = nb_alloc(planes, sizeof *out->weight, what, err);
    out->peak = nb_alloc(n * planes, sizeof *out->peak, what, err);
    out->values = nb_alloc(n * planes, sizeof *out->values, what, err);
    out->strength = nb_alloc(n, sizeof *out->strength, what, err);
    out->at = nb_alloc(n, sizeof *out->at, what, err);
    if (!out->weight || !out->peak || !out->values || !out->strength || !out->at)
        return NB_ERR_NOMEM;
    for (int i = 0; i < job->count; i++)
        sum += out->weight[i + 1] = weight_of(job->scene, &job->tangents[i]);
    if (sum == 0)
        out->weight[0] = 1;
    return NB_OK;
}

void nb_slope_audit_close(nb_slope_audit *audit)
{
    nb_free(audit->weight);
    nb_free(audit->peak);
    nb_free(audit->values);
    nb_free(audit->strength);
    nb_free(audit->at);
    memset(audit, 0, sizeof *audit);
}

static int pixels_of(const nb_slope_values *piece)
{
    int n = 0;
    for (size_t i = 0; i < piece->n; i++)
        n += piece->spans[i].n;
    return n;
}

/** Set strength[NB_PASS_PIECE] of the pixels of a piece. Raise peak[planes] (or NULL) to
 * their largest values. */
static void measure(const nb_slope_audit *audit, const nb_slope_values *piece,
                    double *strength, double *peak)
{
    const int n = pixels_of(piece);
    memset(strength, 0, (size_t)n * sizeof *strength);
    for (size_t p = 0; p < (size_t)audit->planes; p++) {
        const double *values = piece->values + p * piece->stride, w = audit->weight[p];
        double top = 0;
        for (int i = 0; i < n; i++) {
            const double x = fabs(values[i]);
            top = x > top ? x : top;
            strength[i] += w * x;
        }
        if (peak && top > peak[p])
            peak[p] = top;
    }
}

/** Pixel k of a piece. */
static nb_span pixel_of(const nb_slope_values *piece, int k)
{
    const nb_span *span = piece->spans;
    nb_span pixel;
    for (; k >= span->n; span++)
        k -= span->n;
    pixel = *span;
    pixel.fast += k;
    pixel.at += (size_t)k;
    pixel.n = 1;
    return pixel;
}

void nb_slope_audit_take(nb_slope_audit *audit, const nb_slope_values *piece)
{
    const size_t stripe = (size_t)piece->stripe, planes = (size_t)audit->planes;
    double strength[NB_PASS_PIECE], *to = audit->values + stripe * planes;
    const int n = pixels_of(piece);
    int best = 0;
    measure(audit, piece, strength, audit->peak + stripe * planes);
    for (int i = 1; i < n; i++)
        best = strength[i] > strength[best] ? i : best;
    if (n == 0 || (audit->at[stripe].n > 0 && !(strength[best] > audit->strength[stripe])))
        return;
    audit->strength[stripe] = strength[best];
    audit->at[stripe] = pixel_of(piece, best);
    for (size_t p = 0; p < planes; p++)
        to[p] = piece->values[p * piece->stride + (size_t)best];
}

/** Find the stripe with the strongest pixel, except stripes seen[n]. Returns it or -1. */
static int next_strong(const nb_slope_audit *audit, const int *seen, int n)
{
    int best = -1;
    for (int s = 0; s < audit->stripes; s++) {
        int is_new = audit->at[s].n > 0;
        for (int i = 0; i < n; i++)
            is_new &= seen[i] != s;
        if (is_new && (best < 0 || audit->strength[s] > audit->strength[best]))
            best = s;
    }
    return best;
}

/** Largest value of each plane in all stripes: peak[planes]. */
static void largest(const nb_slope_audit *audit, double *peak)
{
    const size_t planes = (size_t)audit->planes;
    memcpy(peak, audit->peak, planes * sizeof *peak);
    for (size_t s = 1; s < (size_t)audit->stripes; s++)
        for (size_t p = 0; p < planes && audit->at[s].n > 0; p++)
            peak[p] = fmax(peak[p], audit->peak[s * planes + p]);
}

/** True if the values of a stripe's strongest pixel are near enough to values of the
 * reference. */
static int is_near(const nb_slope_audit *audit, const double *peak, int stripe)
{
    const double *N = audit->job->scene->lattice.N;
    const double limit = fmax(N[0], fmax(N[1], N[2])) > MANY ? LIMIT_MANY : LIMIT;
    const double *values = audit->values + (size_t)stripe * (size_t)audit->planes;
    double truth[1 + NB_VARIABLES_MAX];
    nb_slopes_reference(audit->job, &audit->at[stripe], 1, truth, 1);
    for (int p = 0; p < audit->planes; p++)
        if (!(fabs(values[p] - truth[p]) <= limit * peak[p]))
            return 0;
    return 1;
}

double nb_slope_audit_limit(const nb_slope_audit *audit)
{
    double peak[1 + NB_VARIABLES_MAX];
    int seen[LOOKS];
    largest(audit, peak);
    for (int n = 0; n < LOOKS; n++) {
        const int stripe = next_strong(audit, seen, n);
        if (stripe < 0)
            break;
        seen[n] = stripe;
        if (!is_near(audit, peak, stripe))
            return audit->strength[seen[0]] / STRONG;
    }
    return INFINITY;
}

void nb_slope_audit_mend(const nb_slope_audit *audit, double limit,
                         const nb_slope_values *piece, double *values)
{
    const int n = pixels_of(piece);
    double strength[NB_PASS_PIECE];
    measure(audit, piece, strength, NULL);
    for (int i = 0; i < n; i++)
        if (strength[i] >= limit) {
            const nb_span pixel = pixel_of(piece, i);
            nb_slopes_reference(audit->job, &pixel, 1, values + i, piece->stride);
        }
}

/** Read n numbers of an array, from number `at` on. */
static void read_numbers(nb_real_type type, const void *array, size_t at, int n,
                         double *to)
{
    for (int i = 0; i < n; i++)
        to[i] = type == NB_REAL_FLOAT32 ? ((const float *)array)[at + (size_t)i]
                                        : ((const double *)array)[at + (size_t)i];
}

/** Audit a span in pieces; values[1 + count][NB_PASS_PIECE] is scratch memory. */
static void take_span(nb_slope_audit *audit, const nb_span *all, int stripe,
                      const nb_slope_planes_out *out, double *values)
{
    const size_t pixels = audit->job->scene->raster.pixels;
    for (int from = 0; from < all->n; from += NB_PASS_PIECE) {
        const int left = all->n - from;
        nb_span span = *all;
        const nb_slope_values piece = {&span, 1, values, NULL, NB_PASS_PIECE, stripe};
        span.fast += from;
        span.at += (size_t)from;
        span.n = left < NB_PASS_PIECE ? left : NB_PASS_PIECE;
        read_numbers(NB_REAL_FLOAT32, out->image, span.at, span.n, values);
        for (size_t p = 0; p + 1 < (size_t)audit->planes; p++)
            read_numbers(out->type, out->planes, p * pixels + span.at, span.n,
                         values + (p + 1) * NB_PASS_PIECE);
        nb_slope_audit_take(audit, &piece);
    }
}

nb_status nb_slope_audit_planes(const nb_slope_job *job, const nb_span *spans, size_t n,
                                const nb_slope_planes_out *out, int *weak, nb_error *err)
{
    nb_slope_audit audit;
    nb_status st = nb_slope_audit_open(job, NB_PASS_STRIPES, &audit, err);
    double *values = nb_alloc_raw((size_t)job->count + 1, NB_PASS_PIECE * sizeof *values,
                                  "slopes of rows", err);
    if (!values)
        st = NB_ERR_NOMEM;
    for (size_t i = 0; i < n && !st; i++)
        take_span(&audit, &spans[i], (int)(i * NB_PASS_STRIPES / n), out, values);
    *weak = !st && isfinite(nb_slope_audit_limit(&audit));
    nb_slope_audit_close(&audit);
    nb_free(values);
    return st;
}
