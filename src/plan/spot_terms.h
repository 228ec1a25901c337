/* SPDX-License-Identifier: MIT */
/** The terms that a reflection of an orientation adds to a ray, in double, for host and device.  What
 * a ray gets depends on its own tests alone. */
#ifndef NB_PLAN_SPOT_TERMS_H
#define NB_PLAN_SPOT_TERMS_H

#include <string.h>

#include "../base/coefficients.h"
#include "../physics/pixel.h"
#include "spot_tests.h"

/** exp(-2 R^2/width) is 2 to the power of this times R^2. */
#define NB_SPOT_FALL (-2.0 / NB_GAUSS_WIDTH * NB_LOG2_E)

/* ln(2)^k/k!: 2^x for |x| <= 1/2 to 2e-10 of it, a hundredth of a float's rounding. */
#define NB_SPOT_LN2 (NB_LN2_HIGH + NB_LN2_LOW)
#define NB_SPOT_EXP_2 (NB_SPOT_LN2 * NB_SPOT_LN2 / 2)
#define NB_SPOT_EXP_3 (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 6)
#define NB_SPOT_EXP_4 (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 24)
#define NB_SPOT_LN2_5                                                                    \
    (NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2)
#define NB_SPOT_EXP_5 (NB_SPOT_LN2_5 / 120)
#define NB_SPOT_EXP_6 (NB_SPOT_LN2_5 * NB_SPOT_LN2 / 720)
#define NB_SPOT_EXP_7 (NB_SPOT_LN2_5 * NB_SPOT_LN2 * NB_SPOT_LN2 / 5040)
#define NB_SPOT_EXP_8 (NB_SPOT_LN2_5 * NB_SPOT_LN2 * NB_SPOT_LN2 * NB_SPOT_LN2 / 40320)

/** A reflection of an orientation, as the sources of a run see it. */
typedef struct nb_spot_pair {
    const nb_spot *spot;
    const nb_spot_run *run;
    int m; /* orientation */
    double A[3][3], Lh[3];
    double F2;   /* F^2 (Na Nb Nc)^2 */
    double most; /* R^2 of what is looked at */
    const double *offset, *weight, *below;
    const nb_spot_step *steps;
} nb_spot_pair;

/** The ray to a sub-pixel of a panel, for the reference's own arithmetic. */
typedef struct nb_spot_ray {
    const nb_scene *scene;
    const nb_panel *panel;
    const nb_sensor *sensor;
    const int *sources; /* of nb_spots */
    int u, v, layer;    /* sub-pixel of the panel */
    int exact;          /* Gaussian terms in double */
} nb_spot_ray;

/** Line of R^2 against kappa of one ray: across2 + slope2 (offset + shift)^2. */
typedef struct nb_spot_line {
    double across2, slope2, shift, last; /* last: largest offset, beyond it -dmin culls */
    double inverse2;                     /* 1/slope2 */
} nb_spot_line;

/** g of a reflection in an orientation, 1/m. */
NB_HD void nb_spot_point(const nb_spot_cell *cell, const int32_t h[3], double g[3])
{
    for (int x = 0; x < 3; x++)
        g[x] = h[0] * cell->b[0][x] + h[1] * cell->b[1][x] + h[2] * cell->b[2][x];
}

/** What a pair has of its spot, orientation and run, with F by the run's table. */
NB_HD nb_spot_pair nb_spot_pair_of(const nb_spots *sp, const nb_factor_table *table,
                                   const nb_spot *spot, int m, const nb_spot_run *run)
{
    const int32_t *h = spot->h;
    const double F = nb_F_nearest(table, run->table, h[0], h[1], h[2]);
    nb_spot_pair pair;
    pair.spot = spot;
    pair.run = run;
    pair.m = m;
    pair.F2 = F * F * sp->cells2;
    pair.most = spot->reach2 * (1 + NB_SPOT_ROOM);
    pair.offset = sp->offset + run->first;
    pair.weight = sp->weight + run->first;
    pair.below = sp->below + run->first;
    pair.steps = sp->steps + run->first;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++)
            pair.A[i][k] = sp->cells[m].A[i][k];
        pair.Lh[i] = sp->L[i][0] * h[0] + sp->L[i][1] * h[1] + sp->L[i][2] * h[2];
    }
    return pair;
}

/** The panel is flat. */
NB_HD nb_ray nb_spot_ray_of(const nb_spot_ray *at)
{
    const int os = at->scene->oversample;
    nb_panel panel = *at->panel;
    panel.curved = 0; /* for the compiler */
    return nb_ray_to(&panel, at->sensor, nb_edge_point(panel.pixel_fast / os, 1, at->u, 0),
                     nb_edge_point(panel.pixel_slow / os, 1, at->v, 0), at->layer);
}

/** Is the reflection of a top hat the lit one of a ray, by the reference's own arithmetic? */
NB_HD_CALL int nb_spot_is_lit(const nb_spot_ray *at, const int32_t h[3], int m, int source)
{
    const nb_scene *sc = at->scene;
    const nb_source *from = &sc->beam.sources[source];
    const nb_ray ray = nb_spot_ray_of(at);
    const nb_vec3 q = nb_scattering_vector(from, ray.direction);
    nb_lattice lattice = sc->lattice;
    lattice.shape = NB_LATTICE_TOPHAT; /* for the compiler */
    const nb_sample p = nb_sample_at(&lattice, &sc->factors.table, from->table,
                                     &sc->lattice.orientations[m], q);
    return p.F_latt != 0 && p.h0 == h[0] && p.k0 == h[1] && p.l0 == h[2];
}

/** Is the source's step lit?  The reference decides where rounding could. */
NB_HD int nb_spot_tophat_lit(const nb_spot_pair *pair, const nb_spot_ray *at, int entry,
                             double R2)
{
    if (fabs(R2 - pair->spot->reach2) > 0.1 * NB_SPOT_ROOM)
        return R2 < pair->spot->reach2;
    return nb_spot_is_lit(at, pair->spot->h, pair->m,
                          at->sources[pair->run->first + (size_t)entry]);
}

/** First entry whose offset is at least x. */
NB_HD int nb_spot_entry(const nb_spot_pair *pair, double x)
{
    const int n = pair->run->n;
    const double *offset = pair->offset;
    double guess = (x - offset[0]) * pair->run->per;
    int a = guess > 0 ? guess < n ? (int)guess : n : 0; /* NaN: 0 */
    while (a > 0 && offset[a - 1] >= x)
        a--;
    while (offset[a] < x)
        a++;
    return a;
}

/** Is entry i of a top hat lit, and not culled? */
NB_HD int nb_spot_entry_lit(const nb_spot_pair *pair, const nb_spot_ray *at,
                            const nb_spot_line *line, int i)
{
    const double off = pair->offset[i] + line->shift;
    return pair->offset[i] <= line->last &&
           nb_spot_tophat_lit(pair, at, i, line->across2 + line->slope2 * off * off);
}

/** Weights of the lit sources of a top hat. */
NB_HD double nb_spot_tophat_weights(const nb_spot_pair *pair, const nb_spot_ray *at,
                                    const nb_spot_line *line)
{
    const int n = pair->run->n;
    double reach = sqrt(fmax(0.0, (pair->spot->reach2 - line->across2) / line->slope2));
    int a = nb_spot_entry(pair, -line->shift - reach), b = a;
    while (b < n && pair->offset[b] <= -line->shift + reach)
        b++;
    while (b > a && !nb_spot_entry_lit(pair, at, line, b - 1))
        b--;
    while (a < b && !nb_spot_entry_lit(pair, at, line, a))
        a++;
    while (b < n && nb_spot_entry_lit(pair, at, line, b))
        b++;
    while (a > 0 && a < b && nb_spot_entry_lit(pair, at, line, a - 1))
        a--;
    if (a == b && a > 0 && nb_spot_entry_lit(pair, at, line, a - 1))
        a--;
    return pair->below[b] - pair->below[a];
}

/** 2^x for -1000 < x <= 0. */
NB_HD double nb_spot_exp2(double x)
{
    const double shifted = x + NB_ROUND_DOUBLE, f = x - (shifted - NB_ROUND_DOUBLE);
    int64_t bits, one = (int64_t)NB_ONE_BITS;
    double sum = NB_SPOT_EXP_8, power;
    sum = fma(sum, f, NB_SPOT_EXP_7);
    sum = fma(sum, f, NB_SPOT_EXP_6);
    sum = fma(sum, f, NB_SPOT_EXP_5);
    sum = fma(sum, f, NB_SPOT_EXP_4);
    sum = fma(sum, f, NB_SPOT_EXP_3);
    sum = fma(sum, f, NB_SPOT_EXP_2);
    sum = fma(sum, f, NB_SPOT_LN2);
    sum = fma(sum, f, 1.0);
    memcpy(&bits, &shifted, sizeof bits);
    bits = one + (int64_t)(int32_t)bits * ((int64_t)1 << 52); /* the exponent */
    memcpy(&power, &bits, sizeof power);
    return x > -1000 ? sum * power : 0;
}

/** Sum of weight exp(-2 R^2/width) over the sources within reach. */
NB_HD double nb_spot_gauss_weights(const nb_spot_pair *pair, const nb_spot_line *line)
{
    const double reach =
        sqrt(fmax(0.0, (pair->spot->reach2 - line->across2) * line->inverse2));
    const double high = fmin(-line->shift + reach, line->last);
    const double slope = line->slope2 * NB_SPOT_FALL,
                 across = line->across2 * NB_SPOT_FALL;
    double sum = 0;
    for (int a = nb_spot_entry(pair, -line->shift - reach); pair->offset[a] <= high; a++) {
        const double k = pair->offset[a] + line->shift;
        sum = fma(nb_spot_exp2(fma(k * k, slope, across)), pair->weight[a], sum);
    }
    return sum;
}

/** The same with each term in float: wrong by 2e-7 R^2/0.3 of it. */
NB_HD double nb_spot_gauss_floats(const nb_spot_pair *pair, const nb_spot_line *line)
{
    enum { RUN = 32 }; /* terms that are added as floats */
    const double reach =
        sqrt(fmax(0.0, (pair->spot->reach2 - line->across2) * line->inverse2));
    const double middle = -line->shift, end = fmin(reach, line->last - middle);
    const float high = (float)middle, low = (float)(middle - high), most = (float)end;
    const float slope = (float)(line->slope2 * NB_SPOT_FALL),
                across = (float)(line->across2 * NB_SPOT_FALL);
    double total = 0;
    for (int a = nb_spot_entry(pair, middle - reach); a < pair->run->n;) {
        float sum = 0;
        for (int i = 0; i < RUN && a < pair->run->n; i++, a++) {
            const nb_spot_step step = pair->steps[a];
            const float k = (step.high - high) + (step.low - low);
            if (k > most)
                return total + sum;
            sum = fmaf(exp2f(fmaf(k * k, slope, across)), step.weight, sum);
        }
        total += sum;
    }
    return total;
}

/** Largest offset that -dmin leaves; q: d - i. */
NB_HD double nb_spot_last_offset(const nb_spot_pair *pair, double dmin, nb_vec3 q)
{
    const double q2 = nb_dot(q, q), none = 1e100;
    return dmin > 0 && q2 > 0 ? 1 / dmin / sqrt(q2) - pair->run->middle : none;
}

/** Weighted F_latt^2/cells^2 of the ray along d; a run of one source. */
NB_HD double nb_spot_one_term(const nb_spot_pair *pair, const nb_spot_ray *at, int shape,
                              double R2, double last)
{
    if (!(R2 <= pair->most) || !(last >= pair->offset[0]))
        return 0;
    if (shape == NB_LATTICE_TOPHAT)
        return nb_spot_tophat_lit(pair, at, 0, R2) ? pair->weight[0] : 0;
    return R2 <= pair->spot->reach2 ? nb_spot_exp2(R2 * NB_SPOT_FALL) * pair->weight[0]
                                    : 0;
}

/** Weighted F_latt^2/cells^2 that a pair adds to the ray along d; shape: that of the lattice. */
NB_HD double nb_spot_terms(const nb_spot_pair *pair, const nb_spot_ray *at, int shape,
                           nb_vec3 d)
{
    const nb_vec3 q = nb_sub(d, pair->run->incident);
    const double kappa = pair->run->middle,
                 last = nb_spot_last_offset(pair, at->scene->factors.dmin, q);
    double G[3], U[3], GG;
    nb_spot_line line;
    for (int i = 0; i < 3; i++) {
        const double *A = pair->A[i];
        G[i] = fma(q.x, A[0], fma(q.y, A[1], q.z * A[2]));
        U[i] = fma(G[i], kappa, -pair->Lh[i]);
    }
    if (pair->run->n == 1)
        return nb_spot_one_term(pair, at, shape,
                                fma(U[0], U[0], fma(U[1], U[1], U[2] * U[2])), last);
    GG = fma(G[0], G[0], fma(G[1], G[1], fma(G[2], G[2], 1e-60)));
    line.inverse2 = 1 / GG;
    line.shift = fma(U[0], G[0], fma(U[1], G[1], U[2] * G[2])) * line.inverse2;
    for (int i = 0; i < 3; i++) /* across the line: small, and exact to its own digits */
        U[i] = fma(-line.shift, G[i], U[i]);
    line.across2 = fma(U[0], U[0], fma(U[1], U[1], U[2] * U[2]));
    line.slope2 = GG;
    line.last = last;
    if (!(line.across2 <= pair->most))
        return 0;
    return shape == NB_LATTICE_TOPHAT ? nb_spot_tophat_weights(pair, at, &line)
           : at->exact                ? nb_spot_gauss_weights(pair, &line)
                                      : nb_spot_gauss_floats(pair, &line);
}

#endif
