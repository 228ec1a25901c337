/* SPDX-License-Identifier: MIT */
#include "geom.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../common/lines.h"

/* The keys of a panel in a CrystFEL geometry. */

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

/* A key whose value is one number, or a text that is read later. */
typedef struct key_row {
    const char *key;
    size_t offset;
    /* kind of the value; the unit "m" may follow WHOLE and LENGTH */
    enum { WHOLE, NUMBER, LENGTH, TEXT } kind;
} key_row;

#define AT(member) offsetof(nb_geom_panel, member)
static const key_row panel_keys[] = {{"min_fs", AT(fs_first), WHOLE},
                                     {"max_fs", AT(fs_last), WHOLE},
                                     {"min_ss", AT(ss_first), WHOLE},
                                     {"max_ss", AT(ss_last), WHOLE},
                                     {"corner_x", AT(corner_x), LENGTH},
                                     {"corner_y", AT(corner_y), LENGTH},
                                     {"res", AT(res), LENGTH},
                                     {"coffset", AT(coffset), LENGTH},
                                     {"adu_per_photon", AT(adu_per_photon), LENGTH},
                                     {"adu_per_eV", AT(adu_per_eV), LENGTH},
                                     {"max_adu", AT(max_adu), LENGTH},
                                     {"mask_edge_pixels", AT(edge), WHOLE},
                                     {"fs", AT(fs), TEXT},
                                     {"ss", AT(ss), TEXT},
                                     {"clen", AT(clen), TEXT},
                                     {"data", AT(data), TEXT},
                                     {NULL, 0, TEXT}};
#undef AT
#define AT(member) offsetof(nb_geom_bad, member)
static const key_row bad_keys[] = {
    {"min_fs", AT(fs_first), WHOLE}, {"max_fs", AT(fs_last), WHOLE},
    {"min_ss", AT(ss_first), WHOLE}, {"max_ss", AT(ss_last), WHOLE},
    {"min_x", AT(x_least), NUMBER},  {"max_x", AT(x_max), NUMBER},
    {"min_y", AT(y_least), NUMBER},  {"max_y", AT(y_max), NUMBER},
    {"panel", AT(panel), TEXT},      {NULL, 0, TEXT}};
#undef AT
#define AT(member) offsetof(nb_geom_text, member)
static const key_row plain_keys[] = {{"photon_energy", AT(photon_energy), TEXT},
                                     {"wavelength", AT(wavelength), TEXT},
                                     {"detector_shift_x", AT(shift[0]), TEXT},
                                     {"detector_shift_y", AT(shift[1]), TEXT},
                                     {NULL, 0, TEXT}};

static nb_status bad_value(const nb_geom_text *text, nb_piece key, nb_piece value,
                           const char *wanted, nb_error *err)
{
    char quoted[2][NB_TEXT_QUOTE];
    nb_text_quote(key.p, key.end, quoted[0]);
    nb_text_quote(value.p, value.end, quoted[1]);
    return nb_fail_at(err, NB_ERR_INPUT, text->name, key.line, "%s = %s: %s", quoted[0],
                      quoted[1], wanted);
}

/** Set the member of *of that the key names; *known is 1 if the table has the key. */
static nb_status set_member(const nb_geom_text *text, const key_row *row, void *of,
                            const nb_piece pair[2], int *known, nb_error *err)
{
    const nb_piece key = pair[0], value = pair[1];
    nb_piece rest;
    double number;
    while (row->key && !nb_piece_is(key, row->key))
        row++;
    if (!(*known = row->key != NULL))
        return NB_OK;
    if (row->kind == TEXT) {
        memcpy((char *)of + row->offset, &value, sizeof value);
        return NB_OK;
    }
    rest = nb_geom_number(value, &number);
    if (isnan(number) ||
        (rest.p < rest.end && !(row->kind != NUMBER && nb_piece_is(rest, "m"))))
        return bad_value(text, key, value, "must be a finite number", err);
    if (row->kind == WHOLE && (number != floor(number) || !(number >= 0 && number < 1e9)))
        return bad_value(text, key, value, "must be a whole number, 0 or above", err);
    memcpy((char *)of + row->offset, &number, sizeof number);
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

/** Read bits: a decimal or hexadecimal number. */
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

/** Read maskN_file, maskN_data, maskN_goodbits, maskN_badbits, or their older names. */
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

/** True for known keys without an effect here. */
static int is_ignored(nb_piece key)
{
    const char *names = "bandwidth peak_list flag_ saturation_map badrow_direction "
                        "peak_info_location rail_x rail_y rail_z clen_for_centering";
    char name[NB_TEXT_WORD];
    while (nb_text_word(&names, name))
        if (starts(key, name))
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

/* Read one line `key = value` into a panel or the defaults. */
static nb_status panel_key(nb_geom_text *text, nb_geom_panel *panel, nb_piece key,
                           nb_piece value, int *known, nb_error *err)
{
    nb_status st;
    NB_FORWARD(set_member(text, panel_keys, panel, (nb_piece[]){key, value}, known, err));
    if (*known)
        return NB_OK;
    *known = 1;
    if (nb_piece_is(key, "no_index"))
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
    int terms = 0, ends = 0; /* number of terms that began, and of complete terms */
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

enum { MAX_BAD = 20000 };

static nb_piece trim(const char *p, const char *end, long line)
{
    while (p < end && nb_text_blank(*p))
        p++;
    while (end > p && nb_text_blank(end[-1]))
        end--;
    return (nb_piece){p, end, line};
}

/** Find the panel of this name, usually the last. A new panel gets the defaults that were
 * read before. */
static nb_status find_panel(nb_geom_text *text, nb_piece name, nb_geom_panel **panel,
                            nb_error *err)
{
    nb_status st;
    for (int i = text->n_panels - 1; i >= 0; i--)
        if (nb_piece_equal(text->panels[i].name, name)) {
            *panel = &text->panels[i];
            return NB_OK;
        }
    if (text->n_panels == NB_PANELS_MAX)
        return nb_fail_at(err, NB_ERR_INPUT, text->name, name.line, "more than %d panels",
                          NB_PANELS_MAX);
    if (name.end - name.p >= NB_PANEL_NAME)
        return nb_fail_at(err, NB_ERR_INPUT, text->name, name.line,
                          "the name of a panel has at most %d bytes", NB_PANEL_NAME - 1);
    NB_FORWARD(nb_reserve(&text->panels, (size_t)text->n_panels, &text->room_panels,
                          sizeof *text->panels, "lines of a geometry", err));
    *panel = &text->panels[text->n_panels++];
    **panel = text->standard;
    (*panel)->name = name;
    return NB_OK;
}

static nb_status find_bad(nb_geom_text *text, nb_piece name, nb_geom_bad **bad,
                          nb_error *err)
{
    for (int i = text->n_bad - 1; i >= 0; i--)
        if (nb_piece_equal(text->bad[i].name, name)) {
            *bad = &text->bad[i];
            return NB_OK;
        }
    if (text->n_bad == MAX_BAD)
        return nb_geom_fail(text, name, "too many bad regions", err);
    if (nb_reserve(&text->bad, text->n_bad, &text->room_bad, sizeof *text->bad,
                   "lines of a geometry", err))
        return NB_ERR_NOMEM;
    *bad = &text->bad[text->n_bad++];
    **bad = (nb_geom_bad){name, {NULL, NULL, 0}, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return NB_OK;
}

static nb_status bad_key(nb_geom_text *text, nb_piece name, nb_piece key, nb_piece value,
                         nb_error *err)
{
    nb_geom_bad *bad = NULL;
    int known;
    nb_status st;
    NB_FORWARD(find_bad(text, name, &bad, err));
    st = set_member(text, bad_keys, bad, (nb_piece[]){key, value}, &known, err);
    return st || known
               ? st
               : nb_geom_fail(text, key,
                              "a bad region has min_, max_ fs, ss, x, y and panel", err);
}

static void say_unknown(nb_geom_text *text, nb_piece key)
{
    enum { LIMIT = sizeof text->unknown / sizeof *text->unknown };
    char quoted[NB_TEXT_QUOTE];
    for (int i = 0; i < text->n_unknown; i++)
        if (nb_piece_equal(text->unknown[i], key))
            return;
    if (text->n_unknown == LIMIT)
        return;
    text->unknown[text->n_unknown++] = key;
    nb_text_quote(key.p, key.end, quoted);
    nb_notice(text->hooks, "%s:%ld: the key %s is not known and has no effect",
              text->name, key.line, quoted);
}

/** Read a key without a panel: a value of the beam or a default. */
static nb_status plain_key(nb_geom_text *text, nb_piece key, nb_piece value, nb_error *err)
{
    int known = 1;
    nb_status st;
    /* the lines are kept for -geomout */
    if (starts(key, "rigid_group") || starts(key, "group")) {
        NB_FORWARD(nb_reserve(&text->groups, (size_t)text->n_groups, &text->room_groups,
                              sizeof *text->groups, "lines of a geometry", err));
        text->groups[text->n_groups++] = (nb_piece){key.p, value.end, key.line};
        return NB_OK;
    }
    if (nb_piece_is(key, "electron_voltage"))
        return nb_geom_fail(text, key, "electron_voltage: electrons are not simulated",
                            err);
    st = set_member(text, plain_keys, text, (nb_piece[]){key, value}, &known, err);
    if (!st && !known)
        st = panel_key(text, &text->standard, key, value, &known, err);
    if (nb_piece_is(key, "clen"))
        text->clen = value;
    if (!st && !known)
        say_unknown(text, key);
    return st;
}

static nb_status read_pair(nb_geom_text *text, nb_piece key, nb_piece value, nb_error *err)
{
    const char *slash = memchr(key.p, '/', (size_t)(key.end - key.p));
    nb_geom_panel *panel = NULL;
    nb_piece name, rest;
    nb_status st;
    int known;
    if (!slash)
        return plain_key(text, key, value, err);
    name = trim(key.p, slash, key.line);
    rest = trim(slash + 1, key.end, key.line);
    if (name.p == name.end || rest.p == rest.end)
        return nb_geom_fail(text, key, "a key is PANEL/KEY, with both", err);
    if (starts(name, "bad"))
        return bad_key(text, name, rest, value, err);
    NB_FORWARD(find_panel(text, name, &panel, err));
    NB_FORWARD(panel_key(text, panel, rest, value, &known, err));
    if (!known)
        say_unknown(text, rest);
    return NB_OK;
}

static nb_status read_line(nb_geom_text *text, const nb_lines *l)
{
    const char *equals;
    nb_piece all = trim(l->p, l->end, l->line), key, value;
    char quoted[NB_TEXT_QUOTE];
    if (all.p == all.end)
        return NB_OK;
    equals = memchr(all.p, '=', (size_t)(all.end - all.p));
    key = trim(all.p, equals ? equals : all.p, l->line);
    value = equals ? trim(equals + 1, all.end, l->line) : key;
    if (equals && key.p < key.end && value.p < value.end)
        return read_pair(text, key, value, l->err);
    nb_text_quote(all.p, all.end, quoted);
    return nb_lines_fail(l, "'%s': a line is KEY = VALUE", quoted);
}

static void set_unset(nb_geom_panel *p)
{
    memset(p, 0, sizeof *p);
    p->fs_first = p->fs_last = p->ss_first = p->ss_last = NAN;
    p->corner_x = p->corner_y = p->res = NAN;
    p->adu_per_photon = p->adu_per_eV = p->max_adu = NAN;
    for (int i = 0; i < NB_GEOM_DIMS; i++)
        p->dims[i] = NB_GEOM_UNSET;
}

nb_status nb_geom_text_read(const char *data, size_t n, const char *name,
                            const nb_hooks *hooks, nb_geom_text *text, nb_error *err)
{
    nb_lines l = nb_lines_of(data, n, name, "", err);
    nb_status st = NB_OK;
    memset(text, 0, sizeof *text);
    text->name = name;
    text->hooks = hooks;
    set_unset(&text->standard);
    if (memchr(data, 0, n))
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "not a text file");
    l.comment = ";";
    while (!st && nb_lines_next(&l))
        st = read_line(text, &l);
    if (!st && text->n_panels == 0)
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0,
                        "no panels: a geometry needs lines such as p0/min_fs = 0");
    if (st)
        nb_geom_text_free(text);
    return st;
}

void nb_geom_text_free(nb_geom_text *text)
{
    nb_free(text->panels);
    nb_free(text->bad);
    nb_free(text->groups);
    memset(text, 0, sizeof *text);
}
