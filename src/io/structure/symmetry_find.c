/* SPDX-License-Identifier: MIT */
/* Find space groups by their symbols. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "structure_parts.h"

/* A change of basis after a Hall symbol must keep the volume: gemmi lists the lattice
 * points of a larger cell, and a damaged file could ask for 10^12 points. */
static int is_harmless(const char *hall)
{
    const char *open = strchr(hall, '('), *close = open ? strchr(open, ')') : NULL;
    nb_symop op;
    if (strlen(hall) > 60)
        return 0;
    return !close || !memchr(open, ',', (size_t)(close - open)) ||
           (nb_symop_parse(open + 1, (size_t)(close - open - 1), &op) &&
            abs(nb_symop_determinant(&op)) == 1);
}

static nb_status find_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err)
{
    nb_status st = is_harmless(text) ? nb_symmetry_hall(text, name, out, err)
                                     : nb_fail(err, NB_ERR_INPUT, "unknown");
    if (!st)
        nb_symmetry_give_name(out);
    return st;
}

/* Shorten "P 1 2/m 1" to "P 2/m", without the origin after a colon. */
static void short_name(const char *name, char out[40])
{
    size_t used = 0;
    for (const char *p = name; *p && *p != ':' && used + 2 < 40; p++) {
        if (p > name && p[-1] == ' ' && *p == '1' && (!p[1] || p[1] == ' ')) {
            p += p[1] == ' ';
            continue;
        }
        out[used++] = *p;
    }
    while (used && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

/* True if the symbols are the same, except for case, blanks and underscores. */
static int same_symbol(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " _");
        b += strspn(b, " _");
        if (!*a || !*b || (*a | 32) != (*b | 32))
            return !*a && !*b;
    }
}

/* Find a symbol or number in International Tables, with the axes of this cell. */
static nb_status find_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err)
{
    size_t n;
    nb_status st;
    NB_FORWARD(nb_symmetry_symbol(text, cell, name, out, err));
    n = strlen(out->name);
    out->is_origin_open = n > 2 && !strcmp(out->name + n - 2, ":1") && !strchr(text, ':');
    return NB_OK;
}

/* --- operators with a symbol ------------------------------------------------------- */
static int has_rotation(const nb_symmetry *sg, const int8_t R[9], int before)
{
    for (int i = 0; i < before; i++)
        if (!memcmp(sg->ops[i].R, R, sizeof sg->ops[i].R))
            return 1;
    return 0;
}

/* Number of different rotations. */
static int count_rotations(const nb_symmetry *sg)
{
    int count = 0;
    for (int i = 0; i < sg->count; i++)
        count += !has_rotation(sg, sg->ops[i].R, i);
    return count;
}

/* True if b has each rotation of a. */
static int has_rotations(const nb_symmetry *b, const nb_symmetry *a)
{
    for (int i = 0; i < a->count; i++)
        if (!has_rotation(b, a->ops[i].R, b->count))
            return 0;
    return 1;
}

void nb_symmetry_beside(nb_symmetry *sg, const char *text, const double cell[6],
                        const char *name)
{
    nb_symmetry said = {0};
    nb_error ignored;
    char own[40], other[40];
    int agree;
    if (find_symbol(text, cell, name, &said, &ignored))
        return;
    short_name(sg->name, own);
    short_name(said.name, other);
    agree =
        same_symbol(own, other) || (sg->count == said.count && has_rotations(sg, &said));
    if (strspn(text, "0123456789") == strlen(text)) /* a number leaves the setting open */
        agree = count_rotations(sg) == count_rotations(&said);
    if (!agree)
        snprintf(
            sg->note, sizeof sg->note,
            "its %d operators are those of %s, but its symbol says %s (%d operators); "
            "the operators are used (-sg for others)",
            sg->count, sg->name, said.name, said.count);
}

nb_status nb_symmetry_of_file(const char *text, int is_hall, const double cell[6],
                              const char *name, nb_symmetry *out, nb_error *err)
{
    nb_error why = {0};
    nb_status st;
    memset(out, 0, sizeof *out);
    st = is_hall ? find_hall(text, name, out, &why)
                 : find_symbol(text, cell, name, out, &why);
    if (st && st != NB_ERR_INPUT)
        return nb_fail(err, st, "%s", why.message);
    if (st) {
        memset(out, 0, sizeof *out);
        snprintf(out->name, sizeof out->name, "%s", text);
    }
    return NB_OK;
}

nb_status nb_symmetry_find(const char *text, const double cell[6], nb_symmetry *out,
                           nb_error *err)
{
    nb_error why = {0};
    double number;
    nb_status st = NB_ERR_INPUT;
    memset(out, 0, sizeof *out);
    if (!nb_text_number(text, &number) || number >= 1) /* gemmi reads 0 as P 1 */
        st = find_symbol(text, cell, "-sg", out, &why);
    if (st == NB_ERR_INPUT)
        st = find_hall(text, "-sg", out, &why);
    if (st)
        memset(out, 0, sizeof *out);
    if (st == NB_ERR_INPUT)
        return nb_fail(err, st,
                       "space group '%.40s' is unknown: give an H-M symbol like 'P 21 21 "
                       "21', a Hall symbol, or a number from 1 to 230",
                       text);
    return st ? nb_fail(err, st, "%s", why.message) : NB_OK;
}
