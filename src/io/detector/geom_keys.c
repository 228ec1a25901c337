/* SPDX-License-Identifier: MIT */
/* The keys of a panel in a CrystFEL geometry. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/text.h"
#include "geom_text.h"

int nb_piece_is(nb_piece span, const char *text)
{
    size_t n = strlen(text);
    return span.p && (size_t)(span.end - span.p) == n && memcmp(span.p, text, n) == 0;
}

int nb_piece_equal(nb_piece a, nb_piece b)
{
    return a.end - a.p == b.end - b.p &&
           (a.end == a.p || memcmp(a.p, b.p, (size_t)(a.end - a.p)) == 0);
}

nb_status nb_geom_fail(const nb_geom_text *text, nb_piece at, const char *what,
                       nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, text->name, at.line, "%s", what);
}

nb_piece nb_geom_number(nb_piece span, double *value)
{
    nb_piece rest = span;
    const char *after = nb_text_double(span.p, span.end, value);
    if (!after) {
        *value = NAN;
        return span;
    }
    for (rest.p = after; rest.p < rest.end && nb_text_blank(*rest.p);)
        rest.p++;
    return rest;
}

/* A key whose value is one number. */
typedef struct number_key {
    const char *key;
    size_t offset;
    int whole;
} number_key;

#define AT(member) offsetof(nb_geom_panel, member)
static const number_key numbers[] = {{"min_fs", AT(fs_first), 1},
                                     {"max_fs", AT(fs_last), 1},
                                     {"min_ss", AT(ss_first), 1},
                                     {"max_ss", AT(ss_last), 1},
                                     {"corner_x", AT(corner_x), 0},
                                     {"corner_y", AT(corner_y), 0},
                                     {"res", AT(res), 0},
                                     {"coffset", AT(coffset), 0},
                                     {"adu_per_photon", AT(adu_per_photon), 0},
                                     {"adu_per_eV", AT(adu_per_eV), 0},
                                     {"max_adu", AT(max_adu), 0},
                                     {"mask_edge_pixels", AT(edge), 1}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static nb_status bad_value(const nb_geom_text *text, nb_piece key, nb_piece value,
                           const char *wanted, nb_error *err)
{
    char quoted[2][NB_TEXT_QUOTE];
    nb_text_quote(key.p, key.end, quoted[0]);
    nb_text_quote(value.p, value.end, quoted[1]);
    return nb_fail_at(err, NB_ERR_INPUT, text->name, key.line, "%s = %s: %s", quoted[0],
                      quoted[1], wanted);
}

static nb_status set_number(const nb_geom_text *text, const number_key *row,
                            nb_geom_panel *panel, nb_piece key, nb_piece value,
                            nb_error *err)
{
    double *field = (double *)(void *)((char *)panel + row->offset);
    nb_piece rest = nb_geom_number(value, field);
    if (isnan(*field) || (rest.p < rest.end && !nb_piece_is(rest, "m")))
        return bad_value(text, key, value, "must be a finite number", err);
    if (row->whole && (*field != floor(*field) || !(*field >= 0 && *field < 1e9)))
        return bad_value(text, key, value, "must be a whole number, 0 or above", err);
    return NB_OK;
}

static nb_status set_dim(const nb_geom_text *text, nb_geom_panel *panel, nb_piece key,
                         nb_piece value, nb_error *err)
{
    int which = key.p[3] - '0', number;
    if (key.end - key.p != 4 || which < 0 || which >= NB_GEOM_DIMS)
        return nb_geom_fail(text, key, "dimN: N must be 0 to 7", err);
    if (nb_piece_is(value, "%"))
        number = NB_GEOM_FRAME;
    else if (nb_piece_is(value, "ss"))
        number = NB_GEOM_SS;
    else if (nb_piece_is(value, "fs"))
        number = NB_GEOM_FS;
    else if (nb_text_int(value.p, value.end, &number) != value.end || number < 0 ||
             number > 1000000)
        return bad_value(text, key, value, "must be %, ss, fs or an index", err);
    panel->dims[which] = number;
    return NB_OK;
}

/** Bits: decimal or hexadecimal. */
static nb_status set_bits(const nb_geom_text *text, double *bits, nb_piece key,
                          nb_piece value, nb_error *err)
{
    char copy[24], *end;
    size_t n = (size_t)(value.end - value.p);
    if (n == 0 || n >= sizeof copy || *value.p < '0' || *value.p > '9')
        return bad_value(text, key, value, "must be a number such as 0xffff", err);
    memcpy(copy, value.p, n);
    copy[n] = '\0';
    *bits = (double)strtoull(copy, &end, 0);
    if (*end || !(*bits < 9007199254740992.0))
        return bad_value(text, key, value, "must be a number such as 0xffff", err);
    return NB_OK;
}

/** maskN_file, maskN_data, maskN_goodbits, maskN_badbits, and their older names. */
static nb_status set_mask(const nb_geom_text *text, nb_geom_panel *panel, nb_piece key,
                          nb_piece value, int *known, nb_error *err)
{
    nb_piece what = key;
    int number = 0;
    what.p += 4;
    if (what.p < what.end && *what.p >= '0' && *what.p < '0' + NB_GEOM_MASKS)
        number = *what.p++ - '0';
    if (what.p == what.end || nb_piece_is(what, "_data"))
        panel->masks[number].data = value;
    else if (nb_piece_is(what, "_file"))
        panel->masks[number].file = value;
    else if (nb_piece_is(what, "_good") || nb_piece_is(what, "_goodbits"))
        return set_bits(text, &panel->masks[number].good, key, value, err);
    else if (nb_piece_is(what, "_bad") || nb_piece_is(what, "_badbits"))
        return set_bits(text, &panel->masks[number].bad, key, value, err);
    else
        *known = 0;
    return NB_OK;
}

static int starts(nb_piece key, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(key.end - key.p) >= n && memcmp(key.p, text, n) == 0;
}

/** Keys that are known and change nothing here. */
static int is_ignored(nb_piece key)
{
    static const char *const names[] = {
        "bandwidth",        "peak_list",          "flag_",  "saturation_map",
        "badrow_direction", "peak_info_location", "rail_x", "rail_y",
        "rail_z",           "clen_for_centering", NULL};
    for (int i = 0; names[i]; i++)
        if (starts(key, names[i]))
            return 1;
    return 0;
}

static int is_true(nb_piece value)
{
    double number;
    nb_piece rest = nb_geom_number(value, &number);
    if (!isnan(number) && rest.p == rest.end)
        return number != 0;
    return nb_piece_is(value, "true") || nb_piece_is(value, "TRUE") ||
           nb_piece_is(value, "True");
}

nb_status nb_geom_panel_key(nb_geom_text *text, nb_geom_panel *panel, nb_piece key,
                            nb_piece value, int *known, nb_error *err)
{
    *known = 1;
    for (int i = 0; i < NUMBERS; i++)
        if (nb_piece_is(key, numbers[i].key))
            return set_number(text, &numbers[i], panel, key, value, err);
    if (nb_piece_is(key, "fs"))
        panel->fs = value;
    else if (nb_piece_is(key, "ss"))
        panel->ss = value;
    else if (nb_piece_is(key, "clen"))
        panel->clen = value;
    else if (nb_piece_is(key, "data"))
        panel->data = value;
    else if (nb_piece_is(key, "no_index"))
        panel->no_index = is_true(value);
    else if (starts(key, "dim") && key.end - key.p > 3)
        return set_dim(text, panel, key, value, err);
    else if (starts(key, "mask") && !starts(key, "mask_edge"))
        return set_mask(text, panel, key, value, known, err);
    else
        *known = is_ignored(key);
    return NB_OK;
}

nb_status nb_geom_direction(const nb_geom_text *text, nb_piece at, double v[3],
                            nb_error *err)
{
    const char *p = at.p;
    int terms = 0, ends = 0; /* begun, and complete */
    v[0] = v[1] = v[2] = 0;
    while (p < at.end && terms == ends) {
        double sign = 1, value = 1;
        const char *after;
        terms++;
        for (; p < at.end && (*p == '+' || *p == '-' || nb_text_blank(*p)); p++)
            sign = *p == '-' ? -sign : sign;
        if (p < at.end && *p != 'x' && *p != 'y' && *p != 'z') {
            if (!(after = nb_text_double(p, at.end, &value)))
                break;
            for (p = after; p < at.end && nb_text_blank(*p);)
                p++;
        }
        if (p == at.end || *p < 'x' || *p > 'z')
            break;
        v[*p++ - 'x'] += sign * value;
        ends++;
        while (p < at.end && nb_text_blank(*p))
            p++;
    }
    if (terms == ends && nb_length3(v) > 0 && isfinite(nb_length3(v)))
        return NB_OK;
    return nb_geom_fail(
        text, at, "fs and ss must be a sum such as +0.99x -0.1y +0.02z, which is not 0",
        err);
}
