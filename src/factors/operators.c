/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "symmetry.h"

static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/** The first of these with the rotation part sign R, or NULL. */
static const nb_symop *with_rotation(const nb_symop *ops, int count, int sign,
                                     const int8_t R[9])
{
    for (int i = 0; i < count; i++) {
        int same = 1;
        for (int j = 0; j < 9; j++)
            same &= ops[i].R[j] == sign * R[j];
        if (same)
            return &ops[i];
    }
    return NULL;
}

/** Least n > 0 with n t/24 whole. */
static int turns_to_whole(int t)
{
    int n = 1;
    while (n * t % 24 != 0)
        n++;
    return n;
}

static int least_common_multiple(int a, int b)
{
    int m = a;
    while (m % b != 0)
        m += a;
    return m;
}

void nb_sum_operators_of(const nb_symmetry *sg, nb_sum_operators *out)
{
    const nb_symop *inversion = with_rotation(sg->ops, sg->count, -1, identity.R);
    memset(out, 0, sizeof *out);
    out->l_step = 1;
    out->has_inversion = inversion != NULL;
    if (inversion)
        out->inversion = *inversion;
    if (sg->count == 0)
        out->ops[out->count++] = identity;
    for (int i = 0; i < sg->count; i++) {
        const nb_symop *op = &sg->ops[i];
        if (with_rotation(&identity, 1, 1, op->R)) {
            out->times++;
            out->l_step = least_common_multiple(out->l_step, turns_to_whole(op->t[2]));
        }
        if (!with_rotation(out->ops, out->count, 1, op->R) &&
            !(inversion && with_rotation(out->ops, out->count, -1, op->R)))
            out->ops[out->count++] = *op;
    }
    if (out->times == 0)
        out->times = 1;
}

void nb_complete_sums(const nb_sum_operators *operators, const int (*hkl)[3], size_t n,
                      double *P)
{
    for (size_t i = 0; i < n; i++) {
        double re = P[2 * i], im = P[2 * i + 1];
        if (operators->has_inversion) {
            double turn = 2 * M_PI / 24 * nb_ht(&operators->inversion, hkl[i]);
            double c = cos(turn), s = sin(turn);
            P[2 * i] += c * re + s * im;
            P[2 * i + 1] += s * re - c * im;
        }
        P[2 * i] *= operators->times;
        P[2 * i + 1] *= operators->times;
    }
}

/** The translation of a product, in 24ths, and whether it is that of `c`. */
static int is_product(const nb_symop *a, const nb_symop *b, const nb_symop *c)
{
    for (int i = 0; i < 3; i++) {
        int t = a->t[i] - c->t[i];
        for (int j = 0; j < 3; j++) {
            int R = 0;
            for (int k = 0; k < 3; k++)
                R += a->R[3 * i + k] * b->R[3 * k + j];
            if (R != c->R[3 * i + j])
                return 0;
            t += a->R[3 * i + j] * b->t[j];
        }
        if (t % 24 != 0)
            return 0;
    }
    return 1;
}

int nb_is_group(const nb_symmetry *sg)
{
    for (int i = 0; i < sg->count; i++)
        for (int j = 0; j < sg->count; j++) {
            int found = 0;
            for (int k = 0; k < sg->count && !found; k++)
                found = is_product(&sg->ops[i], &sg->ops[j], &sg->ops[k]);
            if (!found)
                return 0;
        }
    return 1;
}
