/* SPDX-License-Identifier: MIT */
/* Transmission of spheres and boxes. */
#include "light.h"

#include <math.h>

#include "../physics/hostdevice.h"

enum { MAX_NODES = 96 }; /* limit of the number of nodes of a rule */

/** Nodes x[n] and weights w[n] of Gauss-Legendre integration over (0, 1). */
static void gauss(int n, double *x, double *w)
{
    for (int i = 0; i < n; i++) {
        double t = cos(NB_PI * (i + 0.75) / (n + 0.5)), slope = 1;
        for (int turn = 0; turn < 50; turn++) {
            double p = 1, before = 0, step;
            for (int k = 1; k <= n; k++) {
                const double next = ((2 * k - 1) * t * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = n * (t * p - before) / (t * t - 1);
            step = p / slope;
            t -= step;
            if (fabs(step) < 1e-15)
                break;
        }
        x[i] = 0.5 * (1 - t);
        w[i] = 1 / ((1 - t * t) * slope * slope);
    }
}

/** Number of nodes that integrate a disc of radius z to 1e-5. */
static int nodes_of(double z)
{
    return z < 1 ? 8 : z < 4 ? 12 : z < 16 ? 24 : z < 64 ? 48 : MAX_NODES;
}

/** An integration rule with n nodes. It is made again when n changes. */
typedef struct disc_rule {
    double x[MAX_NODES], w[MAX_NODES];
    int n;
} disc_rule;

static const disc_rule *rule_of(disc_rule *r, int n)
{
    if (r->n != n)
        gauss(r->n = n, r->x, r->w);
    return r;
}

/** Integral of exp(-z (p_in + p_out)) along the chord at the angle phi of a disc of
 * radius 1. The scattered ray leaves along (c, s). */
static double chord(double z, double phi, double c, double s, const disc_rule *r)
{
    const double half = cos(phi), b = sin(phi);
    double sum = 0;
    for (int k = 0; k < r->n; k++) {
        /* nodes are denser at both ends of the chord, where the length of the way out
         * changes like a square root */
        const double x = r->x[k], u = x * x * (3 - 2 * x), way = 2 * half * u;
        const double a = -half + way, along = a * c + b * s;
        const double root = 1 - (a * a + b * b) + along * along;
        sum += r->w[k] * 6 * x * (1 - x) * exp(-z * (way - along + sqrt(fmax(0, root))));
    }
    return 2 * half * sum;
}

/** Integral over a disc parallel to both rays, in parts that meet at the phi where
 * chord() bends. */
static double disc(double z, double two_theta, const disc_rule *r)
{
    const double c = cos(two_theta), s = sin(two_theta),
                 bend = fabs(0.5 * NB_PI - two_theta);
    const double cut[4] = {-0.5 * NB_PI, -bend, bend, 0.5 * NB_PI};
    double sum = 0;
    for (int part = 0; part < 3; part++) {
        const double wide = cut[part + 1] - cut[part];
        for (int i = 0; i < r->n; i++) {
            const double phi = cut[part] + wide * r->x[i];
            sum += r->w[i] * wide * cos(phi) * chord(z, phi, c, s, r);
        }
    }
    return sum;
}

double nb_sphere_transmission(double z, double two_theta)
{
    disc_rule over = {.n = 0}, in = {.n = 0};
    double sum = 0;
    rule_of(&over, z < 1 ? 8 : z < 10 ? 16 : z < 30 ? 24 : 48);
    for (int i = 0; i < over.n; i++) { /* discs parallel to the plane of both rays */
        const double r = cos(0.5 * NB_PI * over.x[i]);
        sum +=
            over.w[i] * r * r * r * disc(z * r, two_theta, rule_of(&in, nodes_of(z * r)));
    }
    return 0.75 * sum;
}

/* --- box --- */

/* Points farther than s from the faces of entry and t from the faces of exit, along the
 * rays, fill a box of volume G(s, t), so the integral of exp(-mu (p_in + p_out)) is
 *   G(0, 0) - mu int exp(-mu s) G(s, 0) - mu int exp(-mu t) G(0, t) + mu^2 int int exp(-mu (s + t)) G(s, t). */

/** An edge of the body (m), and the direction cosines of both rays along it. */
typedef struct box_edge {
    double width, in, out;
    int one_side; /* 1: both rays go through the same face */
} box_edge;

/** Integration rule on (0, 1); exp(-mu x) is negligible for x > end (m). */
typedef struct box_rule {
    double mu, end, x[MAX_NODES], w[MAX_NODES];
    int n;
} box_rule;

static double volume_left(const box_edge *e, double s, double t)
{
    double volume = 1;
    for (int j = 0; j < 3; j++) {
        const double in = e[j].in * s, out = e[j].out * t;
        volume *= fmax(0, e[j].width - (e[j].one_side ? fmax(in, out) : in + out));
    }
    return volume;
}

/** Sort the cuts between cut[0] and cut[1] and remove the others. Returns the number
 * left. */
static int order_cuts(double *cut, int n)
{
    const double end = cut[1];
    int left = 1;
    for (int i = 2; i < n; i++) {
        int k = left;
        const double at = cut[i];
        if (!(at > 0 && at < end))
            continue;
        for (; k > 1 && cut[k - 1] > at; k--)
            cut[k] = cut[k - 1];
        cut[k] = at;
        left++;
    }
    cut[left] = end;
    return left + 1;
}

/** mu times the integral of exp(-mu t) G(s, t) over t. */
static double over_out(const box_rule *r, const box_edge *e, double s)
{
    double cut[5] = {0, r->end}, sum = 0;
    int cuts = 2;
    for (int j = 0; j < 3; j++) {
        if (e[j].out < 1e-12)
            continue;
        cut[1] = fmin(cut[1], (e[j].width - (e[j].one_side ? 0 : e[j].in * s)) / e[j].out);
        if (e[j].one_side)
            cut[cuts++] = e[j].in * s / e[j].out;
    }
    if (!(cut[1] > 0))
        return 0;
    cuts = order_cuts(cut, cuts);
    for (int i = 1; i < cuts; i++)
        for (int k = 0; k < r->n; k++) {
            const double part = cut[i] - cut[i - 1], t = cut[i - 1] + part * r->x[k];
            sum += part * r->w[k] * exp(-r->mu * t) * volume_left(e, s, t);
        }
    return r->mu * sum;
}

/** Find the s where over_out bends, because the end of its integral moves to another edge
 * or meets a bend of G. */
static int cuts_of(const box_edge *e, double *cut)
{
    int cuts = 2;
    for (int j = 0; j < 3; j++) {
        if (e[j].in > 0)
            cut[1] = fmin(cut[1], e[j].width / e[j].in);
        for (int k = 0; k < 3 && e[j].out >= 1e-12; k++) {
            const double slope = e[j].in / e[j].out;
            const double ends = e[k].one_side ? 0 : e[k].in;
            if (e[k].out < 1e-12)
                continue;
            if (e[j].one_side)
                cut[cuts++] = e[k].width / (slope * e[k].out + ends);
            if (k < j)
                cut[cuts++] = (e[j].width / e[j].out - e[k].width / e[k].out) /
                              ((e[j].one_side ? 0 : slope) - ends / e[k].out);
        }
    }
    return cuts;
}

/** Number of nodes for a body with the widest edge z = mu L (tested against more
 * nodes). */
static int box_nodes(double z, int fine)
{
    static const struct {
        double z;
        int fine, rough; /* numbers of points for errors of 1e-9 and of 1e-5 */
    } rule[] = {{0.5, 6, 3}, {1, 6, 4},    {2, 10, 5},   {4, 10, 6},
                {8, 16, 8},  {12, 16, 10}, {20, 28, 12}, {50, 28, 20}};
    for (size_t i = 0; i < sizeof rule / sizeof *rule; i++)
        if (z < rule[i].z)
            return fine ? rule[i].fine : rule[i].rough;
    return 28;
}

double nb_box_transmission(double mu, const double half[3], nb_vec3 beam, nb_vec3 to,
                           int fine)
{
    const double in[3] = {beam.x, beam.y, beam.z}, out[3] = {to.x, to.y, to.z};
    box_rule r = {.mu = mu, .end = 40 / mu};
    box_edge e[3];
    double cut[16] = {0, r.end}, whole = 1, sum, z = 0;
    int cuts;
    for (int j = 0; j < 3; j++) {
        e[j] = (box_edge){2 * half[j], fabs(in[j]), fabs(out[j]), in[j] * out[j] < 0};
        whole *= e[j].width;
        z = fmax(z, mu * e[j].width);
    }
    r.n = box_nodes(z, fine);
    gauss(r.n, r.x, r.w);
    cuts = order_cuts(cut, cuts_of(e, cut));
    sum = whole - over_out(&r, e, 0);
    for (int i = 1; i < cuts; i++)
        for (int k = 0; k < r.n; k++) {
            const double part = cut[i] - cut[i - 1], s = cut[i - 1] + part * r.x[k];
            sum += mu * part * r.w[k] * exp(-mu * s) *
                   (over_out(&r, e, s) - volume_left(e, s, 0));
        }
    return fmax(0, sum / whole);
}
