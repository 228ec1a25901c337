/* SPDX-License-Identifier: MIT */
#include "sources.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../model/crystal.h"
#include "../common/lines.h"

enum {
    MAX_NUMBERS = 11, /* one more than the numbers that a line may have */
    MAX_BLOCKS = 10000,
    MAX_LINES = 1000000,
    LARGEST = 1000000 /* limit of a rotation angle, deg */
};

/** A line of the file. */
typedef struct block {
    nb_mat3 rotation;
    double weight;
} block;

typedef struct list {
    block *lines; /* owned */
    size_t room;
    int n;
    int numbers;  /* count of numbers in every line */
    double sum;   /* sum of the weights */
    int weighted; /* number of lines with a weight above 0 */
} list;

int nb_is_rotation(const double m[9])
{
    const nb_vec3 x = nb_v3(m[0], m[1], m[2]), y = nb_v3(m[3], m[4], m[5]),
                  z = nb_v3(m[6], m[7], m[8]);
    return fabs(nb_norm(x) - 1) < 1e-4 && fabs(nb_norm(y) - 1) < 1e-4 &&
           fabs(nb_dot(x, y)) < 1e-4 && nb_norm(nb_sub(nb_cross(x, y), z)) < 1e-4;
}

/** Take a line of n = 3, 4, 9 or 10 numbers; returns NULL or the fault of the line. */
static const char *take(const double *v, int n, block *out)
{
    nb_vec3 w;
    double angle;
    out->weight = n == 4 || n == 10 ? v[n - 1] : 1;
    if (!(out->weight >= 0 && out->weight < 1e100))
        return "has a weight below 0";
    if (n >= 9) {
        memcpy(out->rotation.m, v, sizeof out->rotation.m);
        return nb_is_rotation(v) ? NULL : "has nine numbers that are no rotation matrix";
    }
    if (fabs(v[0]) + fabs(v[1]) + fabs(v[2]) > LARGEST)
        return "has an angle of more than a million degrees";
    w = nb_scale(NB_DEG, nb_v3(v[0], v[1], v[2]));
    angle = nb_norm(w);
    out->rotation = nb_axis_rotation(angle > 1e-100 ? nb_unit(w) : nb_v3(0, 0, 1), angle);
    return NULL;
}

static nb_status add_line(nb_lines *line, list *l)
{
    double v[MAX_NUMBERS];
    const int n = nb_lines_numbers(line, MAX_NUMBERS, v);
    const char *why = NULL;
    if (n <= 0)
        return n ? NB_ERR_INPUT : NB_OK;
    if (n != 3 && n != 4 && n != 9 && n != 10)
        why =
            "must have a rotation vector (3 numbers) or matrix (9), and a weight or none";
    else if (l->n && n != l->numbers)
        why = "has another number of columns than the lines before";
    else if (l->n == MAX_LINES)
        why = "is one of too many";
    else if (nb_reserve(&l->lines, (size_t)l->n, &l->room, sizeof *l->lines,
                        "mosaic blocks", line->err))
        return NB_ERR_NOMEM;
    if (!why)
        why = take(v, n, &l->lines[l->n]);
    if (why)
        return nb_lines_fail(line, "-mosaic_blocks: the line %s", why);
    l->numbers = n;
    l->sum += l->lines[l->n].weight;
    l->weighted += l->lines[l->n++].weight > 0;
    return NB_OK;
}

/** True if n blocks give each line its exact weight by a whole number of copies. */
static int is_exact(const list *l, int n)
{
    for (int i = 0; i < l->n; i++) {
        const double times = l->lines[i].weight / l->sum * n;
        if (fabs(times - floor(times + 0.5)) > 1e-6)
            return 0;
    }
    return 1;
}

static nb_status choose(const list *l, const char *path, int wanted, int *n, nb_error *err)
{
    if (!(l->sum > 0))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0, "-mosaic_blocks: %s",
                          l->n ? "all weights are 0" : "no line with a rotation");
    *n = wanted;
    if (wanted)
        return NB_OK;
    for (*n = l->weighted; *n == l->weighted || *n <= MAX_BLOCKS; ++*n)
        if (is_exact(l, *n))
            return NB_OK;
    return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                      "-mosaic_blocks: no %d blocks have these weights exactly; type "
                      "-mosaic_dom n, the number of blocks that have them to one",
                      MAX_BLOCKS);
}

/** Copy each rotation in proportion to its weight: round the running sums of weights. */
static nb_status spread(const list *l, int n, nb_blocks *out, nb_error *err)
{
    double before = 0, squares = 0;
    NB_NEED(out->rotation =
                nb_alloc((size_t)n, sizeof *out->rotation, "mosaic blocks", err));
    for (int i = 0; i < l->n; i++) {
        const double *m = l->lines[i].rotation.m;
        const double angle = acos(fmax(-1, fmin(1, (m[0] + m[4] + m[8] - 1) / 2)));
        const double next = before + l->lines[i].weight / l->sum * n;
        const int times = (int)(floor(next + 0.5) - floor(before + 0.5));
        for (int k = 0; k < times && out->n < n; k++)
            out->rotation[out->n++] = l->lines[i].rotation;
        squares += times * angle * angle;
        before = next;
    }
    out->angle = out->n ? sqrt(squares / out->n) : 0;
    return out->n ? NB_OK : nb_fail(err, NB_ERR_INTERNAL, "no mosaic block is left");
}

nb_status nb_blocks_parse(const char *data, size_t bytes, const char *path, int wanted,
                          nb_blocks *out, nb_error *err)
{
    nb_lines line =
        nb_lines_of(data, bytes, path, "a rotation vector or matrix [weight]", err);
    list l = {0};
    int n = 0;
    nb_status st = NB_OK;
    memset(out, 0, sizeof *out);
    while (!st && nb_lines_next(&line))
        st = add_line(&line, &l);
    NB_TRY(choose(&l, path, wanted, &n, err));
    NB_TRY(spread(&l, n, out, err));
    nb_free(l.lines);
    if (st)
        nb_blocks_free(out);
    return st;
}

void nb_blocks_free(nb_blocks *blocks)
{
    nb_free(blocks->rotation);
    memset(blocks, 0, sizeof *blocks);
}
