/* SPDX-License-Identifier: MIT */
#include "symmetry.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "factors.h"

#define FIT 1e-9 /* relative, of s^2: as the limit of a list */

int nb_is_absent(const nb_symmetry *sg, const int h[3])
{
    for (int i = 0; i < sg->count; i++) {
        int g[3];
        if (nb_ht(&sg->ops[i], h) == 0)
            continue;
        nb_hR(&sg->ops[i], h, g);
        if (g[0] == h[0] && g[1] == h[1] && g[2] == h[2])
            return 1;
    }
    return 0;
}

/** The rotation parts, each once; the identity for a group without operators. */
typedef struct rotations {
    int count;
    nb_symop ops[NB_SYMOPS_MOST];
} rotations;

/** sign R is the rotation part of one of these. */
static int has_rotation(const nb_symop *ops, int count, int sign, const int8_t R[9])
{
    for (int i = 0; i < count; i++) {
        int same = 1;
        for (int j = 0; j < 9; j++)
            same &= ops[i].R[j] == sign * R[j];
        if (same)
            return 1;
    }
    return 0;
}

static const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

static void find_rotations(const nb_symmetry *sg, int fits, rotations *out)
{
    out->count = 1;
    out->ops[0] = identity;
    for (int i = 0; fits && i < sg->count; i++)
        if (!has_rotation(out->ops, out->count, 1, sg->ops[i].R))
            out->ops[out->count++] = sg->ops[i];
}

int nb_group_fits(const nb_symmetry *sg, const double G[6])
{
    static const int index[6][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                    {1, 1, 0}, {1, 0, 1}, {0, 1, 1}};
    for (int i = 0; i < sg->count; i++)
        for (int j = 0; j < 6; j++) {
            const int *h = index[j];
            int g[3];
            double s2 = nb_s_squared(G, h[0], h[1], h[2]);
            nb_hR(&sg->ops[i], h, g);
            if (!(fabs(nb_s_squared(G, g[0], g[1], g[2]) - s2) <= FIT * s2))
                return 0;
        }
    return 1;
}

/** The sign of a - b in the order of h, then k, then l. */
static int order(const int a[3], const int b[3])
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/** h stands for its orbit: none of its images, nor their inverses, comes after it. */
static int is_last(const rotations *r, const int h[3])
{
    for (int i = 0; i < r->count; i++) {
        int g[3], minus[3];
        nb_hR(&r->ops[i], h, g);
        for (int j = 0; j < 3; j++)
            minus[j] = -g[j];
        if (order(g, h) > 0 || order(minus, h) > 0)
            return 0;
    }
    return 1;
}

/** A list that grows. */
typedef struct list {
    int (*hkl)[3];
    size_t count, room;
} list;

static nb_status append(list *l, const int h[3], nb_error *err)
{
    if (l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 4096;
        int(*more)[3] = nb_alloc_raw(room, sizeof *more, "reflections", err);
        if (!more)
            return NB_ERR_NOMEM;
        if (l->count)
            memcpy(more, l->hkl, l->count * sizeof *more);
        nb_free(l->hkl);
        l->hkl = more;
        l->room = room;
    }
    memcpy(l->hkl[l->count++], h, sizeof *l->hkl);
    return NB_OK;
}

nb_status nb_unique_reflections(const nb_symmetry *sg, const double cell[6], double dmin,
                                int with_000, int (**hkl)[3], size_t *count, nb_error *err)
{
    double G[6], limit = nb_s_squared_limit(dmin);
    int H[3], h[3], last;
    rotations r;
    list found = {0};
    nb_reciprocal_metric(cell, G);
    nb_index_limits(cell, dmin, H);
    find_rotations(sg, nb_group_fits(sg, G), &r);
    *hkl = NULL;
    *count = 0;
    for (h[0] = 0; h[0] <= H[0]; h[0]++)
        for (h[1] = -H[1]; h[1] <= H[1]; h[1]++) {
            if (!nb_row_of_l(G, limit, h[0], h[1], H[2], &h[2], &last))
                continue;
            for (; h[2] <= last; h[2]++) {
                if (!(h[0] || h[1] || h[2]) && !with_000)
                    continue;
                if (!is_last(&r, h) || nb_is_absent(sg, h))
                    continue;
                if (append(&found, h, err) != NB_OK) {
                    nb_free(found.hkl);
                    return NB_ERR_NOMEM;
                }
            }
        }
    *hkl = found.hkl;
    *count = found.count;
    return NB_OK;
}
