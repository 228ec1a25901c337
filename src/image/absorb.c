/* SPDX-License-Identifier: MIT */
#include "absorb.h"

#include <math.h>

#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/hostdevice.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../physics/structure_factor.h"

enum {
    ANGLES = 46,    /* of a sphere's table, 0 to 180 deg */
    MOST_NODES = 96 /* of a rule */
};

/** Rule of Gauss and Legendre on (0, 1). */
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

/** The integral of exp(-z (p_in + p_out)) over a disc of radius 1, in whose plane both rays are. */
static double disc(double z, double c, double s, int n, const double *x, const double *w)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double phi = NB_PI * (x[i] - 0.5), half = cos(phi), b = sin(phi);
        double row = 0;
        for (int k = 0; k < n; k++) {
            /* denser at both ends of the chord, where the way out has its roots */
            const double u = x[k] * x[k] * (3 - 2 * x[k]), way = 2 * half * u;
            const double a = -half + way, along = a * c + b * s;
            const double root = 1 - (a * a + b * b) + along * along;
            row += w[k] * 6 * x[k] * (1 - x[k]) *
                   exp(-z * (way - along + sqrt(fmax(0, root))));
        }
        sum += w[i] * NB_PI * half * 2 * half * row;
    }
    return sum;
}

double nb_sphere_transmission(double z, double two_theta)
{
    const int n = z < 1 ? 16 : z < 6 ? 32 : MOST_NODES;
    double x[MOST_NODES], w[MOST_NODES], sum = 0;
    gauss(n, x, w);
    for (int i = 0; i < n; i++) { /* discs across the plane of both rays */
        const double r = cos(0.5 * NB_PI * x[i]);
        sum += w[i] * r * r * r * disc(z * r, cos(two_theta), sin(two_theta), n, x, w);
    }
    return 0.75 * sum;
}

/* --- box --- */

/* What lies farther than s from the faces of entry and farther than t from those of exit, along the rays, is
 * a box again, of the volume G(s, t), so the integral of exp(-mu (p_in + p_out)) is
 *   G(0, 0) - mu int exp(-mu s) G(s, 0) - mu int exp(-mu t) G(0, t) + mu^2 int int exp(-mu (s + t)) G(s, t). */

/** An edge of the body, and how fast both ways use it up. */
typedef struct box_edge {
    double width, in, out;
    int one_side; /* both ways go through one face */
} box_edge;

/** A rule, and where the exponential ends. */
typedef struct box_rule {
    double mu, end, x[MOST_NODES], w[MOST_NODES];
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

/** Sort the cuts and leave out those that are not between the first two; returns how many are left. */
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

/** mu times the integral of exp(-mu t) G(s, t). */
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

/** Where over_out has bends: its end changes from one edge to another, or a bend of G comes to it. */
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

double nb_box_transmission(double mu, const double half[3], nb_vec3 beam, nb_vec3 to)
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
    r.n = z < 1 ? 6 : z < 4 ? 10 : z < 12 ? 16 : 28;
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

/* --- planes --- */

typedef struct absorbing {
    const nb_absorber *body;
    const nb_scene *scene;
    double table[ANGLES + 3]; /* of a sphere; from one step below 0 */
    float *plane;
} absorbing;

static double towards(const absorbing *job, nb_vec3 d)
{
    const nb_absorber *b = job->body;
    const double c = nb_dot(d, b->beam), angle = acos(fmin(fmax(c, -1), 1));
    double w[4], sum = 0;
    for (int k = 0; b->box && k < b->turns; k++) {
        const nb_vec3 *e = b->axis[k];
        sum +=
            nb_box_transmission(
                b->mu, b->half,
                nb_v3(nb_dot(b->beam, e[0]), nb_dot(b->beam, e[1]), nb_dot(b->beam, e[2])),
                nb_v3(nb_dot(d, e[0]), nb_dot(d, e[1]), nb_dot(d, e[2]))) /
            b->turns;
    }
    if (!b->box) {
        const double at = angle / NB_PI * (ANGLES - 1);
        const int first = at < ANGLES - 1 ? (int)at : ANGLES - 2;
        nb_cubic_weights(at - first, w);
        for (int k = 0; k < 4; k++)
            sum += w[k] * job->table[first + k];
    }
    return sum;
}

static double at_pixel(const absorbing *job, const nb_panel *panel, int f, int s)
{
    return towards(job, nb_unit(nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                               (s + 0.5) * panel->pixel_slow, 0)));
}

/** The planes through the body's edges: where a ray changes its side the transmission has a bend.  A bit for each. */
static unsigned sides_of(const absorbing *job, const nb_panel *panel, int f, int s)
{
    const nb_vec3 d = nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                     (s + 0.5) * panel->pixel_slow, 0);
    unsigned sides = 0;
    for (int k = 0; job->body->box && k < job->body->turns; k++)
        for (int j = 0; j < 3; j++)
            sides |= (nb_dot(d, job->body->axis[k][j]) > 0) << (3 * k + j);
    return sides;
}

/** Pixels of a panel between directions that are so far apart, rad. */
static int pixels_in(const nb_panel *panel, double angle)
{
    const double edge = fmax(panel->pixel_fast, panel->pixel_slow);
    const double pixels = angle * fabs(panel->close_distance) / edge;
    return pixels > 128 ? 128 : pixels > 1 ? (int)pixels : 1;
}

/** A rectangle of pixels, both ends inclusive, between its corners; smaller ones where the corners are on several sides
 * of the body. */
static void fill(const absorbing *job, const nb_panel *panel, const int r[4],
                 const double corner[4])
{
    const int wide = r[1] - r[0], high = r[3] - r[2], least = pixels_in(panel, 0.01);
    const unsigned side = sides_of(job, panel, r[0], r[2]);
    if ((wide > least || high > least) && (sides_of(job, panel, r[1], r[2]) != side ||
                                           sides_of(job, panel, r[0], r[3]) != side ||
                                           sides_of(job, panel, r[1], r[3]) != side)) {
        const int f = r[0] + wide / 2, s = r[2] + high / 2;
        const double mid[5] = {at_pixel(job, panel, f, r[2]),
                               at_pixel(job, panel, r[0], s), at_pixel(job, panel, f, s),
                               at_pixel(job, panel, r[1], s),
                               at_pixel(job, panel, f, r[3])};
        fill(job, panel, (const int[4]){r[0], f, r[2], s},
             (const double[4]){corner[0], mid[0], mid[1], mid[2]});
        fill(job, panel, (const int[4]){f, r[1], r[2], s},
             (const double[4]){mid[0], corner[1], mid[2], mid[3]});
        fill(job, panel, (const int[4]){r[0], f, s, r[3]},
             (const double[4]){mid[1], mid[2], corner[2], mid[4]});
        fill(job, panel, (const int[4]){f, r[1], s, r[3]},
             (const double[4]){mid[2], mid[3], mid[4], corner[3]});
        return;
    }
    for (int s = r[2]; s <= r[3]; s++) {
        const double v = high ? (double)(s - r[2]) / high : 0;
        const double left = corner[0] + v * (corner[2] - corner[0]),
                     right = corner[1] + v * (corner[3] - corner[1]);
        const double step = wide ? (right - left) / wide : 0;
        float *row = job->plane + nb_panel_pixel(panel, r[0], s);
        for (int f = 0; f <= wide; f++)
            row[f] = (float)(left + f * step);
    }
}

static void fill_panel(const absorbing *job, const nb_panel *panel, int threads)
{
    const int apart = pixels_in(panel, job->body->box ? 0.05 : 0.02);
    const int down = (panel->rows + apart - 1) / apart;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
#endif
    for (int j = 0; j < down; j++) {
        const int s = j * apart,
                  s_end = s + apart < panel->rows ? s + apart : panel->rows - 1;
        double left[2] = {at_pixel(job, panel, 0, s), at_pixel(job, panel, 0, s_end)};
        for (int f = 0, end; f < panel->columns - (f > 0); f = end) {
            double right[2];
            end = f + apart < panel->columns ? f + apart : panel->columns - 1;
            right[0] = at_pixel(job, panel, end, s);
            right[1] = at_pixel(job, panel, end, s_end);
            fill(job, panel, (const int[4]){f, end, s, s_end},
                 (const double[4]){left[0], right[0], left[1], right[1]});
            left[0] = right[0];
            left[1] = right[1];
            if (end == f)
                break;
        }
    }
    (void)threads;
}

nb_status nb_absorb_plane(const nb_absorber *body, const nb_scene *scene, int threads,
                          float *plane, double range[2], nb_error *err)
{
    absorbing *job = nb_alloc(1, sizeof *job, "absorption", err);
    const int use = nb_image_threads(threads, (int64_t)scene->raster.pixels);
    if (!job)
        return NB_ERR_NOMEM;
    job->body = body;
    job->scene = scene;
    job->plane = plane;
    for (int i = 0; !body->box && i < ANGLES; i++)
        job->table[i + 1] =
            nb_sphere_transmission(body->mu * body->half[0], NB_PI * i / (ANGLES - 1));
    job->table[0] = job->table[2]; /* it is even about both ends */
    job->table[ANGLES + 1] = job->table[ANGLES + 2] = job->table[ANGLES - 1];
    for (int k = 0; k < scene->n_panels; k++)
        fill_panel(job, &scene->panels[k], use);
    range[0] = 1;
    range[1] = 0;
    for (size_t i = 0; i < scene->raster.pixels; i++) {
        range[0] = plane[i] < range[0] ? plane[i] : range[0];
        range[1] = plane[i] > range[1] ? plane[i] : range[1];
    }
    nb_free(job);
    return NB_OK;
}
