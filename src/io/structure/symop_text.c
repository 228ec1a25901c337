/* SPDX-License-Identifier: MIT */
/* Parse symmetry operators and complete their group. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "structure_parts.h"

/* Read 1/2, .5 or 0.333 in units of 1/24; NULL if the number is no multiple of 1/24. */
static const char *read_shift(const char *p, const char *end, int *shift)
{
    double value, below;
    p = nb_text_double(p, end, &value);
    if (p && p < end && *p == '/') {
        p = nb_text_double(p + 1, end, &below);
        if (!p || below == 0)
            return NULL;
        value /= below;
    }
    if (!p || !(fabs(value) <= 4) || fabs(24 * value - rint(24 * value)) > 0.05)
        return NULL;
    *shift = (int)rint(24 * value);
    return p;
}

static int axis_of(char c)
{
    const char *found = c ? strchr("xXyYzZ", c) : NULL;
    return found ? (int)(found - "xXyYzZ") / 2 : -1;
}

/* Parse one of three parts: terms like x, -y, +1/2; 0 for another text. */
static int parse_part(const char *p, const char *end, int8_t R[3], int8_t *t)
{
    int terms = 0, rotation[3] = {0}, shift = 0, add = 0;
    while (p < end) {
        int sign = *p == '-' ? -1 : 1;
        if (*p == '-' || *p == '+')
            p++;
        else if (terms)
            return 0;
        if (p == end || ++terms > 8)
            return 0;
        if (axis_of(*p) >= 0)
            rotation[axis_of(*p++)] += sign;
        else if (*p == '+' || *p == '-' || !(p = read_shift(p, end, &add)))
            return 0;
        else
            shift += sign * add;
    }
    for (int i = 0; i < 3; i++)
        R[i] = (int8_t)rotation[i];
    *t = (int8_t)((shift % 24 + 24) % 24);
    return terms > 0;
}

int nb_symop_parse(const char *text, size_t length, nb_symop *out)
{
    char plain[128];
    size_t n = 0;
    const char *p = plain;
    for (size_t i = 0; i < length && text[i]; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') {
            if (n + 1 >= sizeof plain)
                return 0;
            plain[n++] = text[i];
        }
    plain[n] = '\0';
    for (int row = 0; row < 3; row++) {
        const char *comma = strchr(p, ',');
        const char *end = comma ? comma : plain + n;
        if ((comma == NULL) != (row == 2) ||
            !parse_part(p, end, out->R + 3 * row, out->t + row))
            return 0;
        p = end + 1;
    }
    return 1;
}

int nb_symop_determinant(const nb_symop *op)
{
    const int8_t *R = op->R;
    return R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) +
           R[2] * (R[3] * R[7] - R[4] * R[6]);
}

/* Apply b, then a; 0 if the product is no symmetry of a lattice. */
static int multiply(const nb_symop *a, const nb_symop *b, nb_symop *out)
{
    for (int i = 0; i < 3; i++) {
        int t = a->t[i];
        for (int k = 0; k < 3; k++)
            t += a->R[3 * i + k] * b->t[k];
        out->t[i] = (int8_t)((t % 24 + 24) % 24);
        for (int j = 0; j < 3; j++) {
            int sum = 0;
            for (int k = 0; k < 3; k++)
                sum += a->R[3 * i + k] * b->R[3 * k + j];
            if (abs(sum) > 8)
                return 0;
            out->R[3 * i + j] = (int8_t)sum;
        }
    }
    return 1;
}

static int has(const nb_symmetry *sg, const nb_symop *op)
{
    for (int i = 0; i < sg->count; i++)
        if (!memcmp(&sg->ops[i], op, sizeof *op))
            return 1;
    return 0;
}

/* Add an operator unless sg has it; 0 if sg is full. */
static int add(nb_symmetry *sg, const nb_symop *op)
{
    if (has(sg, op))
        return 1;
    if (sg->count >= NB_SYMOPS_MAX)
        return 0;
    sg->ops[sg->count++] = *op;
    return 1;
}

nb_status nb_symmetry_complete(nb_symmetry *sg, const char *name, nb_error *err)
{
    const nb_symmetry given = *sg;
    const nb_symop identity = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    nb_symop product;
    int fits = 1;
    sg->count = 0;
    add(sg, &identity);
    for (int i = 0; i < given.count; i++) {
        if (abs(nb_symop_determinant(&given.ops[i])) != 1)
            return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                              "symmetry operator %d is no symmetry of a lattice", i + 1);
        fits &= add(sg, &given.ops[i]);
    }
    for (int i = 1; i < sg->count && fits; i++)
        for (int j = 1; j < sg->count && fits; j++)
            fits = multiply(&sg->ops[i], &sg->ops[j], &product) && add(sg, &product);
    if (!fits)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the %d symmetry operators belong to no space group",
                          given.count);
    return NB_OK;
}
