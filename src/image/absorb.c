/* SPDX-License-Identifier: MIT */
#include "light.h"

#include <math.h>

#include "../base/memory.h"
#include "../base/threads.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../physics/structure_factor.h"

enum { ANGLES = 128 }; /* points of the table of a sphere */
#define BENT 0.03      /* rad; largest size of a patch in which the transmission bends */
#define FAINT 1e-9     /* a smaller transmission may be inexact */

typedef struct absorbing {
    const nb_absorber *body;
    const nb_scene *scene;
    /* transmission of a sphere; the first entry is one step below 0 */
    double table[ANGLES + 1];
    float *plane;
} absorbing;

/* Points are equally spaced in sqrt(sin(two-theta/2)): the transmission of thick spheres
 * bends near 0. */

/** Fractional index in the table for the cosine of the scattering angle. */
static double place_of(double c)
{
    return sqrt(sqrt(fmax(0.5 * (1 - c), 0))) * (ANGLES - 1);
}

/** Least cosine of the scattering angle of all pixels, or -1 if another point than a
 * corner of a panel may have it. */
static double least_cosine(const absorbing *job)
{
    double least = 1;
    for (int k = 0; k < job->scene->n_panels; k++) {
        const nb_panel *p = &job->scene->panels[k];
        for (int i = 0; i < 4; i++)
            least = fmin(least, nb_dot(job->body->beam,
                                       nb_unit(nb_panel_point(
                                           p, (i & 1 ? p->columns : 0) * p->pixel_fast,
                                           (i & 2 ? p->rows : 0) * p->pixel_slow, 0))));
        if (p->curved || least < 0.1)
            return -1;
    }
    return least;
}

/** Make the table up to the largest scattering angle of a pixel. */
static void make_table(absorbing *job)
{
    const int last = (int)place_of(least_cosine(job)) + 3;
    for (int i = 0; i < ANGLES && i <= last; i++) {
        const double root = i / (ANGLES - 1.0);
        job->table[i + 1] = nb_sphere_transmission(job->body->mu * job->body->half[0],
                                                   2 * asin(root * root));
    }
    job->table[0] = job->table[2]; /* the transmission is an even function of the angle */
}

/** Transmission for the cosine of the scattering angle. */
static double look_up(const absorbing *job, double c)
{
    const double at = place_of(c);
    const int first = at < ANGLES - 2 ? (int)at : ANGLES - 3;
    double w[4], sum = 0;
    nb_cubic_weights(at - first, w);
    for (int k = 0; k < 4; k++)
        sum += w[k] * job->table[first + k];
    return sum;
}

static double towards(const absorbing *job, nb_vec3 d)
{
    const nb_absorber *b = job->body;
    double sum = 0;
    if (!b->box)
        return look_up(job, nb_dot(d, b->beam));
    for (int k = 0; k < b->turns; k++) {
        const nb_vec3 *e = b->axis[k];
        sum += nb_box_transmission(
            b->mu, b->half,
            nb_v3(nb_dot(b->beam, e[0]), nb_dot(b->beam, e[1]), nb_dot(b->beam, e[2])),
            nb_v3(nb_dot(d, e[0]), nb_dot(d, e[1]), nb_dot(d, e[2])), 0);
    }
    return sum / b->turns;
}

static nb_vec3 pixel_direction(const nb_panel *panel, double f, double s)
{
    return nb_unit(nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                  (s + 0.5) * panel->pixel_slow, 0));
}

static double at_pixel(const absorbing *job, const nb_panel *panel, double f, double s)
{
    return towards(job, pixel_direction(panel, f, s));
}

/** Bits that give, for each plane along two edges of the box, the side on which the pixel
 * is. The transmission bends at these planes. */
static unsigned sides_of(const absorbing *job, const nb_panel *panel, double f, double s)
{
    const nb_vec3 d = pixel_direction(panel, f, s);
    unsigned sides = 0;
    for (int k = 0; job->body->box && k < job->body->turns; k++)
        for (int j = 0; j < 3; j++)
            sides |= (nb_dot(d, job->body->axis[k][j]) > 0) << (3 * k + j);
    return sides;
}

/** Number of pixels between directions that are `angle` apart, rad. */
static int pixels_in(const nb_panel *panel, double angle)
{
    const double edge = fmax(panel->pixel_fast, panel->pixel_slow);
    const double pixels = angle * fabs(panel->close_distance) / edge;
    return pixels > 256 ? 256 : pixels > 2 ? (int)pixels : 2;
}

/** A rectangle of pixels, ends included. Parabolas go through 3 x 3 points of it. */
typedef struct patch {
    double f, s, wide, high, at[3][3];
} patch;

static double on_patch(const patch *p, double u, double v)
{
    const double wu[3] = {(1 - u) * (1 - 2 * u), 4 * u * (1 - u), u * (2 * u - 1)},
                 wv[3] = {(1 - v) * (1 - 2 * v), 4 * v * (1 - v), v * (2 * v - 1)};
    double sum = 0;
    for (int j = 0; j < 3; j++)
        sum += wv[j] * (wu[0] * p->at[j][0] + wu[1] * p->at[j][1] + wu[2] * p->at[j][2]);
    return sum;
}

/** True if corners of the patch are on different sides of a plane of sides_of. */
static int is_bent(const absorbing *job, const nb_panel *panel, const patch *p)
{
    const unsigned side = sides_of(job, panel, p->f, p->s);
    return sides_of(job, panel, p->f + p->wide, p->s) != side ||
           sides_of(job, panel, p->f, p->s + p->high) != side ||
           sides_of(job, panel, p->f + p->wide, p->s + p->high) != side;
}

/** True if parabolas are wrong at the points where their error is largest, or if the
 * transmission bends in a large patch. */
static int is_off(const absorbing *job, const nb_panel *panel, const patch *p)
{
    static const double place[6][2] = {{0.25, 0.5}, {0.5, 0.25},  {0.75, 0.5},
                                       {0.5, 0.75}, {0.25, 0.75}, {0.75, 0.25}};
    /* the documented errors are 1e-3 and 1e-4 */
    const double allowed = job->body->box ? 3e-4 : 3e-5;
    const int bent = is_bent(job, panel, p);
    if (bent && fmax(p->wide, p->high) > pixels_in(panel, BENT))
        return 1;
    for (int i = 0; i < (bent ? 6 : 2); i++) {
        const double *at = place[i], want = at_pixel(job, panel, p->f + at[0] * p->wide,
                                                     p->s + at[1] * p->high);
        if (fabs(on_patch(p, at[0], at[1]) - want) > allowed * (want + FAINT))
            return 1;
    }
    return 0;
}

static void fill_pixels(const absorbing *job, const nb_panel *panel, const patch *p)
{
    const int first = (int)ceil(p->f), last = (int)floor(p->f + p->wide);
    const double wide = p->wide > 0 ? p->wide : 1;
    for (int s = (int)ceil(p->s); s <= p->s + p->high; s++) {
        const double v = p->high > 0 ? (s - p->s) / p->high : 0;
        const double left = on_patch(p, 0, v), mid = on_patch(p, 0.5, v),
                     right = on_patch(p, 1, v);
        const double slope = 4 * mid - 3 * left - right,
                     bend = 2 * (left + right) - 4 * mid;
        float *row = job->plane + nb_panel_pixel(panel, 0, s);
#pragma omp simd
        for (int f = first; f <= last; f++) {
            const double u = (f - p->f) / wide;
            row[f] = (float)(left + u * (slope + u * bend));
        }
    }
}

static void fill_each(const absorbing *job, const nb_panel *panel, const patch *p)
{
    for (int s = (int)ceil(p->s); s <= p->s + p->high; s++)
        for (int f = (int)ceil(p->f); f <= p->f + p->wide; f++)
            job->plane[nb_panel_pixel(panel, f, s)] = (float)at_pixel(job, panel, f, s);
}

/** Fill a rectangle of pixels from its corners, in four parts if parabolas do not fit. */
static void fill(const absorbing *job, const nb_panel *panel, double f, double s,
                 double wide, double high, const double corner[4])
{
    patch p = {
        f, s, wide, high, {{corner[0], 0, corner[1]}, {0}, {corner[2], 0, corner[3]}}};
    if (fmax(wide, high) <= 2) {
        fill_each(job, panel, &p);
        return;
    }
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            if (i == 1 || j == 1)
                p.at[j][i] = at_pixel(job, panel, f + 0.5 * i * wide, s + 0.5 * j * high);
    if (!is_off(job, panel, &p)) {
        fill_pixels(job, panel, &p);
        return;
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            fill(job, panel, f + 0.5 * i * wide, s + 0.5 * j * high, 0.5 * wide,
                 0.5 * high,
                 (const double[4]){p.at[j][i], p.at[j][i + 1], p.at[j + 1][i],
                                   p.at[j + 1][i + 1]});
}

static void fill_panel(const absorbing *job, const nb_panel *panel, int threads)
{
    const int apart = pixels_in(panel, 0.1);
    const int down = (panel->rows + apart - 1) / apart;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int j = 0; j < down; j++) {
        const int s = j * apart,
                  s_end = s + apart < panel->rows ? s + apart : panel->rows - 1;
        double left[2] = {at_pixel(job, panel, 0, s), at_pixel(job, panel, 0, s_end)};
        for (int f = 0, end; f < panel->columns - (f > 0); f = end) {
            double right[2];
            end = f + apart < panel->columns ? f + apart : panel->columns - 1;
            right[0] = at_pixel(job, panel, end, s);
            right[1] = at_pixel(job, panel, end, s_end);
            fill(job, panel, f, s, end - f, s_end - s,
                 (const double[4]){left[0], right[0], left[1], right[1]});
            left[0] = right[0];
            left[1] = right[1];
            if (end == f)
                break;
        }
    }
    (void)threads;
}

/** Find the least and the largest of n numbers from 0 to 1. */
static void measure(const float *plane, size_t n, double range[2])
{
    float least = 1, largest = 0;
#pragma omp simd reduction(min : least) reduction(max : largest)
    for (size_t i = 0; i < n; i++) {
        least = plane[i] < least ? plane[i] : least;
        largest = plane[i] > largest ? plane[i] : largest;
    }
    range[0] = least;
    range[1] = largest;
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
    if (!body->box)
        make_table(job);
    for (int k = 0; k < scene->n_panels; k++)
        fill_panel(job, &scene->panels[k], use);
    measure(plane, scene->raster.pixels, range);
    nb_free(job);
    return NB_OK;
}
