/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/matrix.h"
#include "../base/text.h"

/* --- reading --- */

enum { LARGEST = 1000 /* numbers of a row, together */ };

static const char *blanks(const char *p)
{
    while (nb_text_blank(*p))
        p++;
    return p;
}

/** "1/2" or "0.5" before a letter; without a number 1.  NULL: it is none. */
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

/** A row of a law, "-h+1/2k", up to a comma or colon. */
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

/** Transposed inverse. */
static nb_mat3 cofactors(const nb_mat3 *a)
{
    const double *m = a->m, d = nb_determinant(m);
    nb_mat3 out = {{(m[4] * m[8] - m[5] * m[7]) / d, (m[5] * m[6] - m[3] * m[8]) / d,
                    (m[3] * m[7] - m[4] * m[6]) / d, (m[2] * m[7] - m[1] * m[8]) / d,
                    (m[0] * m[8] - m[2] * m[6]) / d, (m[1] * m[6] - m[0] * m[7]) / d,
                    (m[1] * m[5] - m[2] * m[4]) / d, (m[2] * m[3] - m[0] * m[5]) / d,
                    (m[0] * m[4] - m[1] * m[3]) / d}};
    return out;
}

/** Its inverse. */
static nb_mat3 inverse_of(const nb_mat3 *a)
{
    const nb_mat3 t = cofactors(a);
    return (nb_mat3){
        {t.m[0], t.m[3], t.m[6], t.m[1], t.m[4], t.m[7], t.m[2], t.m[5], t.m[8]}};
}

/** "law:x" at p; returns its end, NULL: it is none. */
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
    nb_mat3 back;
    memset(out, 0, sizeof *out);
    for (int laws = 0; *p; laws++) {
        if (!(p = read_law(p, end, T, &x)) || (*p && *p != ';') || (*p && !p[1]) ||
            laws == NB_TWIN_MOST)
            return nb_fail(
                err, NB_ERR_INPUT,
                "-twin %.80s: type law:x, as k,h,-l:0.3, with ; between at most "
                "%d of them",
                text, NB_TWIN_MOST);
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
            memcpy(back.m, T, sizeof T);
            back = inverse_of(&back);
            memcpy(out->T[out->n], back.m, sizeof back.m);
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

static nb_mat3 product(const nb_mat3 *a, const nb_mat3 *b)
{
    nb_mat3 out = *a;
    nb_multiply(a->m, b->m, out.m);
    return out;
}

/** The orthogonal matrix nearest to m (N. J. Higham, SIAM J. Sci. Stat. Comput. 7, 1160 (1986)): Newton's steps
 * (X + X^-T)/2. */
static nb_mat3 nearest_orthogonal(nb_mat3 X)
{
    for (int step = 0; step < 50; step++) {
        const nb_mat3 other = cofactors(&X);
        double change = 0;
        for (int i = 0; i < 9; i++) {
            const double next = 0.5 * (X.m[i] + other.m[i]);
            change = fmax(change, fabs(next - X.m[i]));
            X.m[i] = next;
        }
        if (change < 1e-15)
            break;
    }
    return X;
}

static nb_mat3 columns_of(const nb_crystal *x)
{
    const nb_vec3 a = x->astar, b = x->bstar, c = x->cstar;
    return (nb_mat3){{a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z}};
}

/** The largest angle by which a symmetric matrix turns a direction: sin = (u - v)/(u + v), u and v its extreme
 * eigenvalues (in closed form: O. K. Smith, Commun. ACM 4, 168 (1961)). */
static double largest_turn(const nb_mat3 *P)
{
    const double *m = P->m, mean = (m[0] + m[4] + m[8]) / 3;
    nb_mat3 B = *P;
    double size = 0, angle, u, v;
    for (int i = 0; i < 3; i++)
        B.m[4 * i] -= mean;
    for (int i = 0; i < 9; i++)
        size += B.m[i] * B.m[i] / 6;
    size = sqrt(size);
    if (!(size > 0))
        return 0;
    angle = acos(fmax(-1, fmin(1, nb_determinant(B.m) / (2 * size * size * size)))) / 3;
    u = mean + 2 * size * cos(angle);
    v = mean + 2 * size * cos(angle + 2 * NB_PI / 3);
    return asin((u - v) / (u + v));
}

double nb_twin_turn(const nb_twin *twin, int i, nb_crystal *x)
{
    nb_vec3 *const all[] = {&x->a, &x->b, &x->c, &x->astar, &x->bstar, &x->cstar};
    const nb_mat3 A = columns_of(x), inverse = inverse_of(&A);
    nb_mat3 S, Q, back;
    if (i == 0)
        return 0;
    x->placed = 1;
    memcpy(S.m, twin->T[i - 1], sizeof S.m);
    S = product(&A, &S);
    S = product(&S, &inverse);
    Q = nearest_orthogonal(S);
    for (int k = 0; k < 6; k++)
        *all[k] = nb_apply(&Q, *all[k]);
    back = inverse_of(&Q);
    S = product(&back, &S);
    return largest_turn(&S);
}
