/* SPDX-License-Identifier: MIT */
#include "dials_frame.h"

#include <math.h>
#include <string.h>

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void normalise(double v[3])
{
    double length = sqrt(dot(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length > 0 ? length : 1;
}

nb_dials_frame nb_dials_frame_of(const nb_image_meta *m)
{
    nb_dials_frame f;
    double along = dot(m->fast_axis, m->beam);
    const double *axis = m->fast_axis;
    if (fabs(along) > 0.999) { /* a detector seen from its edge */
        axis = m->slow_axis;
        along = dot(axis, m->beam);
    }
    for (int i = 0; i < 3; i++) {
        f.z[i] = -m->beam[i];
        f.x[i] = axis[i] - along * m->beam[i];
    }
    normalise(f.x);
    cross(f.z, f.x, f.y);
    return f;
}

void nb_dials_turn(const nb_dials_frame *f, const double v[3], double out[3])
{
    out[0] = dot(f->x, v);
    out[1] = dot(f->y, v);
    out[2] = dot(f->z, v);
    for (int i = 0; i < 3; i++)
        out[i] = fabs(out[i]) < 1e-12 ? 0 : out[i];
}

static int differs(const nb_dials_frame *f, const double v[3], double x, double y)
{
    const double far = 1e-6;
    double is[3];
    nb_dials_turn(f, v, is);
    return fabs(is[0] - x) > far || fabs(is[1] - y) > far || fabs(is[2]) > far;
}

int nb_simple_header_loses(const nb_image_meta *m)
{
    nb_dials_frame f = nb_dials_frame_of(m);
    int lost = 0;
    if (differs(&f, m->fast_axis, 1, 0) || differs(&f, m->slow_axis, 0, -1))
        lost |= NB_LOST_TILT;
    if (m->osc_deg > 0 && differs(&f, m->spindle, 1, 0))
        lost |= NB_LOST_SPINDLE;
    return lost;
}

void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3])
{
    nb_dials_frame f = nb_dials_frame_of(m);
    double n[3];
    int last = 0;
    cross(m->polar_axis, m->beam, n);
    normalise(n);
    nb_dials_turn(&f, n, normal);
    for (int i = 0; i < 3; i++) /* both signs are the same plane: the last is positive */
        last = fabs(normal[i]) > 1e-9 ? i : last;
    for (int i = 0; i < 3; i++)
        normal[i] = normal[i] == 0 ? 0 : normal[last] < 0 ? -normal[i] : normal[i];
    *fraction = (1 + m->polarization) / 2;
}
