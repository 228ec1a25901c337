/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/matrix.h"
#include "../base/text.h"

/* --- reading --- */

enum { LARGEST = 1000 /* limit of the sum of |numbers| of a row */ };

static const char *blanks(const char *p)
{
    while (nb_text_blank(*p))
        p++;
    return p;
}

/** Read the factor before a letter, as "1/2" or "0.5"; it is 1 without a number. Returns
 * NULL if the text is wrong. */
static const char *read_factor(const char *p, const char *end, double *factor)
{
    double below;
    *factor = 1;
    if ((*p < '0' || *p > '9') && *p != '.')
        return p;
    if (!(p = nb_text_double(p, end, factor)))
        return NULL;
    p = blanks(p);
    if (*p == '/') {
        if (!(p = nb_text_double(blanks(p + 1), end, &below)) || below == 0)
            return NULL;
        *factor /= below;
    }
    p = blanks(p);
    return *p == '*' ? blanks(p + 1) : p;
}

/** Read a row of a law, "-h+1/2k", up to a comma or colon. */
static const char *read_row(const char *p, const char *end, double row[3])
{
    static const char letters[] = "hkl";
    int terms = 0;
    row[0] = row[1] = row[2] = 0;
    for (p = blanks(p); *p && *p != ',' && *p != ':'; p = blanks(p), terms++) {
        const int sign = *p == '-' ? -1 : 1, signed_ = *p == '-' || *p == '+';
        const char *letter;
        double factor;
        if (terms > 0 && !signed_)
            return NULL;
        if (!(p = read_factor(blanks(p + signed_), end, &factor)) || !*p ||
            !(letter = strchr(letters, *p)))
            return NULL;
        row[letter - letters] += sign * factor;
        p++;
    }
    return terms && fabs(row[0]) + fabs(row[1]) + fabs(row[2]) <= LARGEST ? p : NULL;
}

/** Read "law:x" at p. Returns its end, or NULL if the text is wrong. */
static const char *read_law(const char *p, const char *end, double T[9], double *x)
{
    for (int i = 0; i < 3; i++) {
        if (!(p = read_row(p, end, T + 3 * i)) || *p != (i < 2 ? ',' : ':'))
            return NULL;
        p++;
    }
    p = nb_text_double(blanks(p), end, x);
    return p ? blanks(p) : NULL;
}

static int is_identity(const double T[9])
{
    for (int i = 0; i < 9; i++)
        if (T[i] != (i % 4 == 0))
            return 0;
    return 1;
}

nb_status nb_twin_read(const char *text, nb_twin *out, nb_error *err)
{
    const char *end = text + strlen(text), *p = text;
    double sum = 0, x, T[9];
    memset(out, 0, sizeof *out);
    for (int laws = 0; *p; laws++) {
        if (!(p = read_law(p, end, T, &x)) || (*p && *p != ';') || (*p && !p[1]) ||
            laws == NB_TWIN_MAX)
            return nb_fail(
                err, NB_ERR_INPUT,
                "-twin %.80s: type law:x, as k,h,-l:0.3, with ; between at most "
                "%d of them",
                text, NB_TWIN_MAX);
        if (!(fabs(fabs(nb_determinant(T)) - 1) < 1e-9))
            return nb_fail(
                err, NB_ERR_INPUT,
                "-twin %.80s: the determinant of a law must be 1 or -1, not %g", text,
                nb_determinant(T));
        if (!(x >= 0) || !((sum += x) < 1))
            return nb_fail(
                err, NB_ERR_INPUT,
                "-twin %.80s: parts must be 0 or more, and less than 1 together", text);
        if (x > 0 && !is_identity(T)) {
            nb_invert(T, out->T[out->n]);
            out->x[out->n++] = x;
        }
        p += *p == ';';
    }
    return NB_OK;
}

double nb_twin_share(const nb_twin *twin, int i)
{
    double rest = 1;
    if (i > 0)
        return twin->x[i - 1];
    for (int k = 0; k < twin->n; k++)
        rest -= twin->x[k];
    return rest;
}

/* --- turning --- */

/** Replace X by the nearest orthogonal matrix (N. J. Higham, SIAM J. Sci. Stat. Comput.
 * 7, 1160 (1986)), by Newton's steps (X + X^-T)/2. */
static void make_orthogonal(double X[9])
{
    for (int step = 0; step < 50; step++) {
        double inverse[9], change = 0;
        nb_invert(X, inverse);
        for (int i = 0; i < 9; i++) {
            const double next = 0.5 * (X[i] + inverse[i % 3 * 3 + i / 3]);
            change = fmax(change, fabs(next - X[i]));
            X[i] = next;
        }
        if (change < 1e-15)
            break;
    }
}

/** Largest angle by which a symmetric matrix turns a direction: sin = (u - v)/(u + v),
 * with extreme eigenvalues u, v (closed form: O. K. Smith, Commun. ACM 4, 168 (1961)). */
static double largest_turn(const double m[9])
{
    const double mean = (m[0] + m[4] + m[8]) / 3;
    double B[9], size = 0, angle, u, v;
    for (int i = 0; i < 9; i++) {
        B[i] = i % 4 ? m[i] : m[i] - mean;
        size += B[i] * B[i] / 6;
    }
    size = sqrt(size);
    if (!(size > 0))
        return 0;
    angle = acos(fmax(-1, fmin(1, nb_determinant(B) / (2 * size * size * size)))) / 3;
    u = mean + 2 * size * cos(angle);
    v = mean + 2 * size * cos(angle + 2 * NB_PI / 3);
    return asin((u - v) / (u + v));
}

double nb_twin_turn(const nb_twin *twin, int i, nb_crystal *x)
{
    nb_vec3 *const all[] = {&x->a, &x->b, &x->c, &x->astar, &x->bstar, &x->cstar};
    double A[9], S[9], inverse[9];
    nb_mat3 Q;
    if (i == 0)
        return 0;
    x->placed = 1;
    nb_put_columns(x->astar, x->bstar, x->cstar, A);
    nb_invert(A, inverse);
    nb_multiply(A, twin->T[i - 1], S);
    nb_multiply(S, inverse, S);
    memcpy(Q.m, S, sizeof S);
    make_orthogonal(Q.m);
    for (int k = 0; k < 6; k++)
        *all[k] = nb_apply(&Q, *all[k]);
    nb_invert(Q.m, inverse);
    nb_multiply(inverse, S, S);
    return largest_turn(S);
}
