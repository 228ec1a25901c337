/* SPDX-License-Identifier: MIT */
/** Pixels of a row of a flat panel. Points x are linear along the row, so the index of a
 * ray with one term costs two multiply-adds. F is the distance along the row from the
 * point nearest to the sample: |x|^2 = square + F^2. Plain C, like slope_terms.h. */
#ifndef NB_CUDA_SLOPE_PLAIN_H
#define NB_CUDA_SLOPE_PLAIN_H

#include "../../src/render/sums.h"
#include "slope_terms.h"

/** A panel. Numbers that are linear in the coordinates S (slow) and F (fast), m, have
 * three coefficients [3]: value at pix0, slope by S, slope by F. */
typedef struct nb_plain_panel {
    nb_vec3 point[3];   /* m */
    double index[3][3]; /* -h times the distance, m, if a ray has one term */
    /* F of the point of a row that is nearest to the sample: value at pix0, slope by S */
    double nearest[2];
    double middle[2];  /* F and S of the middle of the wanted pixels */
    double square[3];  /* |x|^2 at F = 0: coefficients of 1, S, S^2 */
    double pixel[2];   /* edges of a pixel, fast and slow, m */
    double kahn[3][3]; /* nb_plain_frame.along . x, m */
    /* factor of the solid angle, times the close distance except for point pixels: m^3 or
     * m^2 */
    float area;
    int is_point, unused[2];
} nb_plain_panel;

/** A row of pixels. Numbers with [2] have a value at F = 0 and a slope by F. */
typedef struct nb_strip {
    nb_vec3 start, fast; /* x = start + F fast, m */
    double index[3][2];  /* nb_plain_panel.index in this row */
    double square, nearest, pixel;
    double middle[2]; /* F of nb_plain_panel.middle in this row; S relative to it */
    double kahn[3][2];
    float area;
    int point;
} nb_strip;

/** A point of a row of pixels. */
typedef struct nb_strip_point {
    double exact_F, exact_r; /* F in m, and r = 1/distance in 1/m */
    float r;                 /* r as float */
} nb_strip_point;

/** The row of number `slow`. */
NB_TERM nb_strip nb_strip_of(const nb_plain_panel *panel, int slow)
{
    const double S = fma(panel->pixel[1], (double)slow, 0.5 * panel->pixel[1]),
                 F = fma(S, panel->nearest[1], panel->nearest[0]);
    const nb_vec3 *x = panel->point;
    nb_strip row;
    int i;
    row.start.x = fma(F, x[2].x, fma(S, x[1].x, x[0].x));
    row.start.y = fma(F, x[2].y, fma(S, x[1].y, x[0].y));
    row.start.z = fma(F, x[2].z, fma(S, x[1].z, x[0].z));
    row.fast = x[2];
    row.square =
        fma(-F, F, fma(S, fma(S, panel->square[2], panel->square[1]), panel->square[0]));
    row.nearest = F;
    row.middle[0] = panel->middle[0] - F;
    row.middle[1] = S - panel->middle[1];
    row.pixel = panel->pixel[0];
    row.area = panel->area;
    row.point = panel->is_point;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        const double *line = panel->index[i];
        const double *kahn = panel->kahn[i];
        row.index[i][0] = fma(F, line[2], fma(S, line[1], line[0]));
        row.index[i][1] = line[2];
        row.kahn[i][0] = fma(F, kahn[2], fma(S, kahn[1], kahn[0]));
        row.kahn[i][1] = kahn[2];
    }
    return row;
}

/** The point at f, which is the number of the pixel's column plus 0.5. */
NB_TERM nb_strip_point nb_strip_point_of(const nb_strip *row, double f)
{
    nb_strip_point at;
    at.exact_F = fma(f, row->pixel, -row->nearest);
    at.exact_r = nb_term_inverse_root(fma(at.exact_F, at.exact_F, row->square));
    at.r = (float)at.exact_r;
    return at;
}

NB_TERM nb_vec3 nb_strip_direction(const nb_strip *row, const nb_strip_point *at)
{
    nb_vec3 d;
    d.x = fma(at->exact_F, row->fast.x, row->start.x) * at->exact_r;
    d.y = fma(at->exact_F, row->fast.y, row->start.y) * at->exact_r;
    d.z = fma(at->exact_F, row->fast.z, row->start.z) * at->exact_r;
    return d;
}

/* Plain jobs: pixels have one ray with few terms, on flat panels that stop every photon,
 * so that all sums stay in registers. Parameters contract the sums in single precision.
 * Parameters that move the detector contract them in double, because the terms of a turn
 * about the sample nearly cancel. Plain C, like slope_terms.h. */

/** Numbers of a pixel, in groups of four (quads). */
enum {
    NB_PLAIN_IMAGE,
    NB_PLAIN_ONE, /* factor of the water */
    NB_PLAIN_POLAR,
    NB_PLAIN_FUDGE,
    NB_PLAIN_CELLS, /* three numbers, and one for the spectrum */
    NB_PLAIN_SPECTRUM = NB_PLAIN_CELLS + 3,
    /* three rows of three numbers; after each row comes MOSAIC, PHI or OSC */
    NB_PLAIN_INDEX,
    NB_PLAIN_MOSAIC = NB_PLAIN_INDEX + 3,
    NB_PLAIN_PHI = NB_PLAIN_MOSAIC + 4,
    NB_PLAIN_OSC = NB_PLAIN_PHI + 4,
    NB_PLAIN_TOTALS,
    NB_PLAIN_QUADS = NB_PLAIN_TOTALS / 4,
    NB_PLAIN_PLACE = NB_PLAIN_QUADS, /* bit of the detector's motion in masks */
    NB_PLAIN_MOVES = 10 /* weights of the motion: pix0, fast, slow, close_distance */
};

/** Numbers that a pullback sums over the pixels: the numbers of a pixel, then numbers for
 * the detector's motion. A pullback is the gradient of a loss: sum of dloss times slopes. */
enum {
    NB_PULL_CRYSTAL = 15, /* number of sums without those that only NB_TERMS_ALL has */
    NB_PULL_MOVES = NB_PLAIN_TOTALS,
    NB_PULL_ALL = NB_PULL_MOVES + NB_PLAIN_MOVES
};

/** Rows of the matrix in slope_gram.cu: numbers of a pullback, slope of the loss, zeros. */
enum { NB_GRAM_CRYSTAL = 16, NB_GRAM_ALL = 32 };

/** X(kind of plane, bits of the groups that a plane of this kind needs). Each kind has
 * separate code; planes are sorted by kind. */
#define NB_PLAIN_KINDS(X)                                                                \
    X(0, 1)                                                                              \
    X(1, 2)                                                                              \
    X(2, 4) X(3, 8) X(4, 16) X(5, 4 + 8) X(6, 4 + 8 + 16) X(7, 31) X(8, 32) X(9, 63)
enum { NB_PLAIN_KINDS_COUNT = 10 };

/** The weights (a row) of each plane, sorted by the kinds of planes. */
typedef struct nb_plain_rows {
    int planes;                          /* 0: the job is not plain */
    int first[NB_PLAIN_KINDS_COUNT + 1]; /* first plane of each kind */
    int *order;  /* [planes]: numbers of planes; owned, like all arrays below */
    float *rows; /* [planes][NB_PLAIN_TOTALS], in the order of `order` */
    /* [panels][planes][NB_PLAIN_MOVES]; F and S are relative to nb_plain_panel.middle */
    double *moves;
    nb_plain_panel *panels; /* [panels] */
} nb_plain_rows;

/** Data that all pixels of a job share. */
typedef struct nb_plain_frame {
    int polar; /* 1: polarization; 0: -nopolar */
    float K;
    nb_vec3 along[3];   /* the first source's direction, B and E of nb_polarization */
    double unit, slope; /* units of `image` and of gradients by direction, electrons^2 */
    double background;  /* electrons^2 */
    /* for rays with one term: */
    float weight, cell[9]; /* nb_term_source; a, b, c times nb_term_tables.lift */
    int table;
    double wavenumber;
} nb_plain_frame;

/** A pixel: its numbers, times polarization and solid angle, and numbers for the
 * detector's motion. */
typedef struct nb_plain_pixel {
    float sum[NB_PLAIN_TOTALS];
    nb_vec3 X; /* slope by the pixel's point x */
    /* relative to nb_plain_panel.middle; close: by log of close_distance */
    double F, S, close;
} nb_plain_pixel;

/** Factors of the terms of a pixel. */
typedef struct nb_plain_factor {
    float omega, P;    /* solid angle and polarization factor */
    float by[3], by_K; /* the slope of P by the direction is the sum of by[i] along[i] */
} nb_plain_factor;

/** True if the factor multiplies each term; otherwise it multiplies the sums. */
NB_TERM int nb_plain_weighs_terms(const nb_term_case how)
{
    return how.one && how.level < NB_TERMS_ALL;
}

/** Sum all terms of a ray, up to NB_TERM_RUN, into a run that is 0 before. */
NB_TERM void nb_plain_sums(const nb_term_tables *t, nb_vec3 direction, nb_term_run *run,
                           const nb_term_case how)
{
    nb_ray ray;
    int g, m;
    ray.direction = direction;
    for (g = 0; g < t->n_groups; g++) {
        const nb_term_group *group = &t->groups[g];
        nb_term_ray_group aim;
        nb_term_aim(t, &ray, group, &aim, how);
        for (m = 0; m < t->n_orientations; m++) {
            double D[3];
            nb_term_gradient G = {{0, 0, 0}, {0, 0, 0}};
            nb_term_index(t, m, &aim, D);
            nb_term_sources(t, D, group->first, group->end, aim.reach, 1, run, &G, how);
            nb_term_contract(t, m, &aim, D, &G, run, how);
        }
    }
}

/** Returns the fraction of -h of the only term on an axis. *all: -h in single precision,
 * with a small relative error also near the beam. */
NB_TERM int nb_plain_fraction(double t, float *all, const nb_term_case how)
{
    const int w = how.table ? nb_low_word(t) ^ INT_MIN : nb_low_word(t),
              up = how.table ? 0 : (int)((uint32_t)w >> 31);
    *all = fmaf((float)w, (float)NB_FIXED_STEP,
                (float)(nb_high_word(t) - NB_FIXED_HIGH + up));
    return w;
}

/** True if -dmin removes the ray's only term. */
NB_TERM int nb_plain_is_beyond(const nb_plain_frame *p, const nb_term_tables *t,
                               nb_vec3 direction)
{
    return t->dmin * p->wavenumber * nb_norm(nb_sub(direction, p->along[0])) > 1;
}

/** Add the only term of a ray, times the factor if nb_plain_weighs_terms, to a zeroed
 * run. run->index: gradients times -h, without nb_term_tables.lift; planes' weights
 * include turns. */
NB_TERM void nb_plain_term(const nb_term_tables *t, const nb_plain_frame *p,
                           const nb_strip *row, const nb_strip_point *at,
                           const nb_plain_factor *factor, nb_term_run *run,
                           const nb_term_case how)
{
    float F2 = nb_plain_weighs_terms(how) ? p->weight * (factor->P * factor->omega)
                                          : p->weight,
          h[3], g[3] = {0, 0, 0};
    int w[3], i, place = t->offset + p->table;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        const double x = fma(fma(at->exact_F, row->index[i][1], row->index[i][0]),
                             at->exact_r, t->constant[i]);
        w[i] = nb_plain_fraction(x, &h[i], how);
        if (how.table)
            place = (int)((uint32_t)place +
                          (uint32_t)nb_high_word(x) * (uint32_t)t->stride[i]);
    }
    if ((how.gauss || how.general) && t->dmin > 0 &&
        nb_plain_is_beyond(p, t, nb_strip_direction(row, at)))
        F2 = 0;
    if (how.table)
        F2 *= nb_term_load(t->F2 + place);
    if (how.gauss)
        nb_term_gauss(t, w, F2, run, g, how);
    else
        nb_term_square(t, w, F2, run, g, how);
    NB_TERM_EACH
    for (i = 0; i < 9; i++)
        run->index[i] = g[i / 3] * h[i % 3];
    if (how.level < NB_TERMS_ALL)
        return;
    NB_TERM_EACH
    for (i = 0; i < 3; i++)
        run->ray[i] =
            fmaf(g[0], p->cell[i], fmaf(g[1], p->cell[3 + i], g[2] * p->cell[6 + i]));
}

/** The factors at the middle of the pixel. */
NB_TERM nb_plain_factor nb_plain_factor_of(const nb_plain_frame *p, const nb_strip *row,
                                           const nb_strip_point *at,
                                           const nb_term_case how)
{
    const float r = at->r;
    nb_plain_factor to = {row->area * (r * r), 1, {0, 0, 0}, 0};
    double x[3] = {0, 0, 0};
    int i;
    if (!row->point)
        to.omega *= r;
    if (!p->polar)
        return to;
    NB_TERM_EACH
    for (i = 0; i < 3; i++)
        if (i == 0 || how.level >= NB_TERMS_ALL || p->K != 0)
            x[i] = at->exact_r * fma(at->exact_F, row->kahn[i][1], row->kahn[i][0]);
    to.by[0] = (float)x[0];
    to.by[1] = p->K * (float)x[1];
    to.by[2] = -p->K * (float)x[2];
    to.by_K = (float)(-0.5 * ((x[2] - x[1]) * (x[2] + x[1])));
    to.P = fmaf(p->K, to.by_K, fmaf(0.5f * to.by[0], to.by[0], 0.5f));
    return to;
}

/** Set the numbers for the detector's motion: nb_panel_pull for a flat panel. */
NB_TERM void nb_plain_move(const nb_plain_frame *p, const nb_strip *row, const nb_vec3 d,
                           double inverse, const nb_plain_factor *factor,
                           const nb_term_run *run, nb_plain_pixel *to)
{
    const double image = fma(p->unit, (double)run->image, p->background),
                 all = image * factor->omega,
                 slope = p->slope * (double)(factor->P * factor->omega);
    nb_vec3 v, X;
    double radial = (row->point ? -2.0 : -3.0) * all * factor->P;
    int i;
    v = nb_v3(slope * run->ray[0], slope * run->ray[1], slope * run->ray[2]);
    NB_TERM_EACH
    for (i = 0; i < 3 && p->polar; i++) {
        const double k = all * factor->by[i];
        v.x = fma(k, p->along[i].x, v.x);
        v.y = fma(k, p->along[i].y, v.y);
        v.z = fma(k, p->along[i].z, v.z);
    }
    radial -= nb_dot(v, d);
    X.x = inverse * fma(radial, d.x, v.x);
    X.y = inverse * fma(radial, d.y, v.y);
    X.z = inverse * fma(radial, d.z, v.z);
    to->X = X;
    to->close = row->point ? 0 : all * factor->P;
}

/** Set the numbers of a pixel from the sums of its terms. */
NB_TERM void nb_plain_finish(const nb_plain_frame *p, const nb_strip *row,
                             const nb_strip_point *at, const nb_plain_factor *by,
                             const nb_term_run *run, nb_plain_pixel *to,
                             const nb_term_case how)
{
    const float one = by->P * by->omega, factor = nb_plain_weighs_terms(how) ? 1 : one;
    float *s = to->sum;
    int i;
    s[NB_PLAIN_IMAGE] = factor * run->image;
    s[NB_PLAIN_ONE] = one;
    NB_TERM_EACH
    for (i = 0; i < 3; i++)
        s[NB_PLAIN_CELLS + i] = factor * run->cells[i];
    NB_TERM_EACH
    for (i = 0; i < 9; i++)
        s[NB_PLAIN_INDEX + i / 3 * 4 + i % 3] = factor * run->index[i];
    s[NB_PLAIN_FUDGE] = how.gauss ? factor * run->fudge : 0;
    if (how.level < NB_TERMS_ALL)
        return;
    s[NB_PLAIN_POLAR] =
        by->omega * by->by_K * (float)fma(p->unit, (double)run->image, p->background);
    s[NB_PLAIN_SPECTRUM] = factor * run->spectrum;
    s[NB_PLAIN_MOSAIC] = factor * run->mosaic;
    s[NB_PLAIN_PHI] = factor * run->phi;
    s[NB_PLAIN_OSC] = factor * run->osc;
    to->F = at->exact_F - row->middle[0];
    to->S = row->middle[1];
    nb_plain_move(p, row, nb_strip_direction(row, at), at->exact_r, by, run, to);
}

/** Set the numbers of a pixel. f: number of the pixel's column plus 0.5. */
NB_TERM void nb_plain_pixel_of(const nb_term_tables *t, const nb_plain_frame *p,
                               const nb_strip *row, double f, nb_plain_pixel *to,
                               const nb_term_case how)
{
    const nb_strip_point at = nb_strip_point_of(row, f);
    const nb_plain_factor factor = nb_plain_factor_of(p, row, &at, how);
    nb_term_run run;
    memset(&run, 0, sizeof run);
    if (how.one)
        nb_plain_term(t, p, row, &at, &factor, &run, how);
    else
        nb_plain_sums(t, nb_strip_direction(row, &at), &run, how);
    nb_plain_finish(p, row, &at, &factor, &run, to, how);
}

/** True if number i of a pixel is used in this case. */
NB_TERM int nb_plain_uses(int i, const nb_term_case how)
{
    if (i == NB_PLAIN_FUDGE)
        return how.gauss;
    if (how.one && (i == NB_PLAIN_SPECTRUM || i == NB_PLAIN_MOSAIC || i == NB_PLAIN_PHI ||
                    i == NB_PLAIN_OSC))
        /* 0, because the gradients of the only term, times h, contain these numbers */
        return 0;
    return how.level >= NB_TERMS_ALL || (i != NB_PLAIN_POLAR && (i < 4 || i % 4 < 3));
}

/** Add a group of four numbers times the weights w[4] to a plane's sum. */
NB_TERM float nb_plain_quad(const nb_plain_pixel *x, int quad, const float w[4],
                            float sum, const nb_term_case how)
{
    int i;
    NB_TERM_EACH
    for (i = 0; i < 4; i++)
        if (nb_plain_uses(4 * quad + i, how))
            sum = fmaf(w[i], x->sum[4 * quad + i], sum);
    return sum;
}

/** Slope of a pixel by a parameter that moves the panel; w[NB_PLAIN_MOVES]: weights. */
NB_TERM double nb_plain_moved(const nb_plain_pixel *x, const double *w)
{
    const double X[3] = {x->X.x, x->X.y, x->X.z};
    double sum = w[9] * x->close;
    int i;
    NB_TERM_EACH
    for (i = 0; i < 3; i++)
        sum = fma(fma(x->S, w[6 + i], fma(x->F, w[3 + i], w[i])), X[i], sum);
    return sum;
}

/** Index in nb_plain_pixel.sum of number i of a pullback. */
NB_TERM int nb_pull_number(int i, int level)
{
    if (level >= NB_TERMS_ALL)
        return i;
    return i < NB_PLAIN_POLAR ? i : i == NB_PLAIN_POLAR ? NB_PLAIN_FUDGE : i + i / 3;
}

/** Add the pixel's numbers times dloss to the sums, in single precision. */
NB_TERM void nb_pull_single(const nb_plain_pixel *x, float dloss, float *sums,
                            const nb_term_case how)
{
    const int n = how.level >= NB_TERMS_ALL ? (int)NB_PLAIN_TOTALS : (int)NB_PULL_CRYSTAL;
    int i;
    NB_TERM_EACH
    for (i = 0; i < n; i++)
        if (nb_plain_uses(nb_pull_number(i, how.level), how))
            sums[i] = fmaf(dloss, x->sum[nb_pull_number(i, how.level)], sums[i]);
}

/** nb_pull_single in double precision. */
NB_TERM void nb_pull_double(const nb_plain_pixel *x, double dloss, double *sums,
                            const nb_term_case how)
{
    const int n = how.level >= NB_TERMS_ALL ? (int)NB_PLAIN_TOTALS : (int)NB_PULL_CRYSTAL;
    int i;
    NB_TERM_EACH
    for (i = 0; i < n; i++)
        if (nb_plain_uses(nb_pull_number(i, how.level), how))
            sums[i] = fma(dloss, (double)x->sum[nb_pull_number(i, how.level)], sums[i]);
}

/** Add the pixel's numbers for the detector's motion times dloss (nb_plain_moved). */
NB_TERM void nb_pull_moves(const nb_plain_pixel *x, double dloss, double *sums)
{
    const double X[3] = {dloss * x->X.x, dloss * x->X.y, dloss * x->X.z};
    int i;
    NB_TERM_EACH
    for (i = 0; i < 3; i++) {
        sums[i] += X[i];
        sums[3 + i] = fma(x->F, X[i], sums[3 + i]);
        sums[6 + i] = fma(x->S, X[i], sums[6 + i]);
    }
    sums[9] = fma(dloss, x->close, sums[9]);
}

#endif
