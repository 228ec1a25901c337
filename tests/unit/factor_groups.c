/* SPDX-License-Identifier: MIT */
#include "factor_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const test_group test_groups[] = {
    {"P 1", "x,y,z", {21.3, 24.1, 26.7, 81, 97, 104}},
    {"P -1", "-x,-y,-z", {21.3, 24.1, 26.7, 81, 97, 104}},
    {"P 1 21 1", "-x,y+1/2,-z", {22, 27, 31, 90, 103, 90}},
    {"P 1 1 21", "-x,-y,z+1/2", {22, 27, 31, 90, 90, 103}},
    {"P 1 21/c 1", "-x,-y,-z; -x,y+1/2,-z+1/2", {22, 27, 31, 90, 103, 90}},
    {"C 1 2 1", "-x,y,-z; x+1/2,y+1/2,z", {33, 22, 27, 90, 96, 90}},
    {"P 21 21 21", "-x+1/2,-y,z+1/2; -x,y+1/2,-z+1/2", {26, 29, 31, 90, 90, 90}},
    {"I 2 2 2", "-x,-y,z; x,-y,-z; x+1/2,y+1/2,z+1/2", {27, 31, 35, 90, 90, 90}},
    {"F d d d",
     "-x+3/4,-y+3/4,z; -x+3/4,y,-z+3/4; x,y+1/2,z+1/2; x+1/2,y,z+1/2; -x,-y,-z",
     {33, 36, 39, 90, 90, 90}},
    {"P 41", "-y,x,z+1/4", {26, 26, 33, 90, 90, 90}},
    {"P 31", "-y,x-y,z+1/3", {29, 29, 31, 90, 90, 120}},
    {"R 3 2 :H", "-y,x-y,z; y,x,-z; x+2/3,y+1/3,z+1/3", {38, 38, 44, 90, 90, 120}},
    {"R 3 2 :R", "z,x,y; -y,-x,-z", {28, 28, 28, 75, 75, 75}},
    {"P 63 2 2", "x-y,x,z+1/2; y,x,-z", {33, 33, 36, 90, 90, 120}},
    {"P 21 3", "-x+1/2,-y,z+1/2; z,x,y; -x,y+1/2,-z+1/2", {36, 36, 36, 90, 90, 90}},
    {"P m -3 m", "-x,-y,z; -x,y,-z; z,x,y; y,x,-z; -x,-y,-z", {25, 25, 25, 90, 90, 90}},
    {"F d -3 m",
     "-x+3/4,-y+1/4,z+1/2; z,x,y; y+3/4,x+1/4,-z+1/2; -x,-y,-z; x,y+1/2,z+1/2; "
     "x+1/2,y,z+1/2",
     {33, 33, 33, 90, 90, 90}},
};
const int test_group_count = sizeof test_groups / sizeof *test_groups;

static void fail(const char *what)
{
    fprintf(stderr, "test group: %s\n", what);
    abort();
}

/** Reads one of the three parts of an operator, such as "-x+1/2"; returns its end. */
static const char *read_part(const char *s, int8_t row[3], int8_t *t)
{
    int sign = 1;
    for (; *s && *s != ',' && *s != ';'; s++) {
        if (*s == '-' || *s == '+')
            sign = *s == '-' ? -1 : 1;
        else if (*s >= 'x' && *s <= 'z')
            row[*s - 'x'] = (int8_t)sign;
        else if (*s >= '1' && *s <= '9' && s[1] == '/') {
            *t = (int8_t)(sign * 24 * (*s - '0') / (s[2] - '0'));
            s += 2;
        } else if (*s != ' ')
            fail("an operator that is none");
    }
    return s;
}

static nb_symop product(const nb_symop *a, const nb_symop *b)
{
    nb_symop c;
    for (int i = 0; i < 3; i++) {
        int t = a->t[i];
        for (int j = 0; j < 3; j++) {
            c.R[3 * i + j] =
                (int8_t)(a->R[3 * i] * b->R[j] + a->R[3 * i + 1] * b->R[3 + j] +
                         a->R[3 * i + 2] * b->R[6 + j]);
            t += a->R[3 * i + j] * b->t[j];
        }
        c.t[i] = (int8_t)((t % 24 + 24) % 24);
    }
    return c;
}

static void add(nb_symmetry *g, const nb_symop *op)
{
    for (int i = 0; i < g->count; i++)
        if (!memcmp(&g->ops[i], op, sizeof *op))
            return;
    if (g->count == NB_SYMOPS_MAX)
        fail("too many operators");
    g->ops[g->count++] = *op;
}

nb_symmetry test_group_close(const test_group *group)
{
    const char *s = group->generators;
    nb_symmetry g = {0};
    nb_symop unit = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    snprintf(g.name, sizeof g.name, "%s", group->name);
    add(&g, &unit);
    while (*s) {
        nb_symop op = {0};
        for (int i = 0; i < 3; i++) {
            s = read_part(s, op.R + 3L * i, &op.t[i]);
            s += *s != 0;
        }
        op = product(&unit, &op);
        add(&g, &op);
    }
    for (int i = 0; i < g.count; i++)
        for (int j = 0; j < g.count; j++) {
            nb_symop op = product(&g.ops[i], &g.ops[j]);
            add(&g, &op);
        }
    return g;
}

double test_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}
