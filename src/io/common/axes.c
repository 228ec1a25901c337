/* SPDX-License-Identifier: MIT */
#include "panel_spec.h"

#include <math.h>
#include <string.h>

#include "../../base/text.h"
#include "../../model/crystal.h"

double nb_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void nb_cross3(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void normalise(double v[3])
{
    double length = sqrt(nb_dot3(v, v));
    for (int i = 0; i < 3; i++)
        v[i] /= length > 0 ? length : 1;
}

/** Make axes: with sign 1, z is along the beam and x against the fast axis; with sign -1,
 * both are reversed. */
static nb_axes axes_of(const double fast[3], const double slow[3], const double beam[3],
                       int sign)
{
    nb_axes f;
    double along = nb_dot3(fast, beam);
    const double *axis = fast;
    if (fabs(along) > 0.999) { /* the beam runs along the fast axis */
        axis = slow;
        along = nb_dot3(axis, beam);
    }
    for (int i = 0; i < 3; i++) {
        f.z[i] = sign * beam[i];
        f.x[i] = sign * (along * beam[i] - axis[i]);
    }
    normalise(f.x);
    nb_cross3(f.z, f.x, f.y);
    return f;
}

nb_axes nb_dials_axes(const nb_image_meta *m)
{
    return axes_of(m->fast_axis, m->slow_axis, m->beam, -1);
}

nb_axes nb_nexus_axes(const double fast[3], const double slow[3], const double beam[3])
{
    return axes_of(fast, slow, beam, 1);
}

static void turn(const nb_axes *f, const double v[3], double least, double out[3])
{
    out[0] = nb_dot3(f->x, v);
    out[1] = nb_dot3(f->y, v);
    out[2] = nb_dot3(f->z, v);
    for (int i = 0; i < 3; i++)
        out[i] = fabs(out[i]) < least ? 0 : out[i];
}

void nb_dials_turn(const nb_axes *f, const double v[3], double out[3])
{
    turn(f, v, 1e-12, out);
}

void nb_nexus_turn(const nb_axes *f, const double v[3], double out[3])
{
    turn(f, v, 1e-15, out);
}

static int differs(const nb_axes *f, const double v[3], double x, double y)
{
    const double far = 1e-6;
    double is[3];
    nb_dials_turn(f, v, is);
    return fabs(is[0] - x) > far || fabs(is[1] - y) > far || fabs(is[2]) > far;
}

int nb_simple_header_loses(const nb_image_meta *m)
{
    nb_axes f = nb_dials_axes(m);
    int lost = 0;
    if (differs(&f, m->fast_axis, 1, 0) || differs(&f, m->slow_axis, 0, -1))
        lost |= NB_LOST_TILT;
    if (m->osc_deg > 0 && differs(&f, m->spindle, 1, 0))
        lost |= NB_LOST_SPINDLE;
    return lost;
}

void nb_dials_polarization(const nb_image_meta *m, double *fraction, double normal[3])
{
    nb_axes f = nb_dials_axes(m);
    double n[3];
    int last = 0;
    nb_cross3(m->polar_axis, m->beam, n);
    normalise(n);
    nb_dials_turn(&f, n, normal);
    /* choose n or -n, so that the last component other than 0 is positive */
    for (int i = 0; i < 3; i++)
        last = fabs(normal[i]) > 1e-9 ? i : last;
    for (int i = 0; i < 3; i++)
        normal[i] = normal[i] == 0 ? 0 : normal[last] < 0 ? -normal[i] : normal[i];
    *fraction = (1 + m->polarization) / 2;
}

static void column(const double A[9], int c, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = A[3 * i + c];
}

void nb_axes_split(const double A[9], double U[9], double B[9])
{
    double v[3][3], e[3][3] = {{0}}, length;
    for (int c = 0; c < 3; c++) {
        column(A, c, v[c]);
        memcpy(e[c], v[c], sizeof e[c]);
        /* orthogonalize by the method of Gram and Schmidt */
        for (int k = 0; k < c; k++) {
            double along = nb_dot3(e[k], e[c]);
            for (int i = 0; i < 3; i++)
                e[c][i] -= along * e[k][i];
        }
        length = sqrt(nb_dot3(e[c], e[c]));
        for (int i = 0; i < 3; i++)
            e[c][i] /= length;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            U[3 * r + c] = e[c][r];
            B[3 * r + c] = r <= c ? nb_dot3(e[r], v[c]) : 0;
        }
}

void nb_axes_cell(const double A[9], double cell[6])
{
    double star[3][3], real[3][3], across[3], volume;
    for (int c = 0; c < 3; c++)
        column(A, c, star[c]);
    for (int c = 0; c < 3; c++)
        nb_cross3(star[(c + 1) % 3], star[(c + 2) % 3], real[c]);
    volume = fabs(nb_dot3(star[0], real[0]));
    for (int c = 0; c < 3; c++) {
        const double *p = real[(c + 1) % 3], *q = real[(c + 2) % 3];
        nb_cross3(p, q, across);
        cell[c] = nb_typeable(sqrt(nb_dot3(real[c], real[c])) / volume);
        cell[3 + c] =
            nb_typeable(atan2(sqrt(nb_dot3(across, across)), nb_dot3(p, q)) / NB_DEG);
    }
}

void nb_axes_misset(const double A[9], double misset[3])
{
    double B[9], across[3], axes[3][3];
    nb_mat3 U;
    nb_axes_split(A, U.m, B);
    for (int c = 0; c < 3; c++)
        column(U.m, c, axes[c]);
    nb_cross3(axes[0], axes[1], across);
    nb_rotation_angles(&U, misset);
    for (int i = 0; i < 3; i++)
        misset[i] = nb_dot3(across, axes[2]) > 0 ? misset[i] / NB_DEG : NAN;
}
