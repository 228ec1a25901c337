/* SPDX-License-Identifier: MIT */
/* Find space groups by their symbols. */
#include <math.h>
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

/* Number (0 to 2) of the only angle that is not 90 deg; -1 if no or several angles. */
static int oblique_angle(const double cell[6])
{
    int found = -1;
    for (int i = 0; i < 3; i++)
        if (fabs(cell[3 + i] - 90) > 0.005) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

/* If a monoclinic symbol names no axis, take the unique axis from the cell's angles. */
static void take_axis_of_cell(const char *text, const double cell[6], const char *name,
                              nb_symmetry *sg)
{
    char symbol[40], other[48];
    const int axis = cell && cell[0] > 0 ? oblique_angle(cell) : -1;
    const size_t n = strlen(sg->name);
    nb_symmetry found = {0};
    nb_error ignored;
    if ((axis != 0 && axis != 2) || n < 7 || strncmp(sg->name + 1, " 1 ", 3) ||
        strcmp(sg->name + n - 2, " 1") || same_symbol(text, sg->name))
        return;
    short_name(sg->name, symbol);
    snprintf(other, sizeof other, axis == 2 ? "%c 1 1%s" : "%c%s 1 1", symbol[0],
             symbol + 1);
    if (nb_symmetry_symbol(other, cell, name, &found, &ignored))
        return;
    *sg = found;
    snprintf(sg->note, sizeof sg->note,
             "the space group %.40s leaves its unique axis open; by the cell it is %s",
             text, sg->name);
}

/* Shorten a full symbol: "F 4/m -3 2/m" to "F m -3 m", "P 4/m 2/m 2/m" to "P 4/m m m". */
static void shorten(const char *text, char out[48])
{
    size_t used = 0;
    int token = 0;
    for (const char *p = text + strspn(text, " "); *p && used + 16 < 48; token++) {
        const size_t length = strcspn(p, " ");
        const char *next = p + length + strspn(p + length, " ");
        const char *slash = memchr(p, '/', length);
        const int is_main =
            token == 1 && strchr("346", *p) && *next && strncmp(next, "-3", 2);
        const char *from = slash && !is_main ? slash + 1 : p;
        used +=
            (size_t)snprintf(out + used, 48 - used, "%s%.*s", token ? " " : "",
                             (int)(p + length - from > 8 ? 8 : p + length - from), from);
        p = next;
    }
    out[used] = '\0';
}

/* Convert a setting letter of ICSD: "F d -3 m Z" to "F d -3 m:2"; 0 without a letter. */
static int mark_setting(const char *text, char out[48])
{
    static const char letters[] = "SZHR", marks[] = "12HR";
    const size_t n = strlen(text);
    const char *letter = n > 3 && n < 40 ? strchr(letters, text[n - 1]) : NULL;
    if (!letter || strchr(text, ':'))
        return 0;
    snprintf(out, 48, "%.*s:%c", (int)(n - (text[n - 2] == ' ' ? 2 : 1)), text,
             marks[letter - letters]);
    return 1;
}

/* Find a symbol or number in International Tables, with the axes of this cell. */
static nb_status find_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err)
{
    nb_status st = nb_symmetry_symbol(text, cell, name, out, err);
    char other[48];
    size_t n;
    int marked = st == NB_ERR_INPUT && mark_setting(text, other);
    if (marked || (st == NB_ERR_INPUT && strchr(text, '/'))) {
        nb_error ignored;
        if (marked)
            text = other;
        else
            shorten(text, other);
        if (!nb_symmetry_symbol(other, cell, name, out, &ignored))
            st = NB_OK;
    }
    if (st)
        return st;
    take_axis_of_cell(text, cell, name, out);
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
    /* a number does not tell the setting */
    if (strspn(text, "0123456789") == strlen(text))
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
