/* SPDX-License-Identifier: MIT */
#include "geom_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/hash.h"
#include "../../base/memory.h"
#include "../../base/text.h"

enum { SLOTS = 4 * NB_PANELS_MAX, MOST_BAD = 20000 };

static nb_piece trim(const char *p, const char *end, long line)
{
    while (p < end && nb_text_blank(*p))
        p++;
    while (end > p && nb_text_blank(end[-1]))
        end--;
    return (nb_piece){p, end, line};
}

static int starts(nb_piece key, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(key.end - key.p) >= n && memcmp(key.p, text, n) == 0;
}

/** Room for one more element of a list; 0: no memory. */
static int grow(void **list, int used, int *room, size_t size, nb_error *err)
{
    int more = *room ? 2 * *room : 64;
    void *larger;
    if (used < *room)
        return 1;
    if (!(larger = nb_alloc((size_t)more, size, "lines of a geometry", err)))
        return 0;
    if (used)
        memcpy(larger, *list, (size_t)used * size);
    nb_free(*list);
    *list = larger;
    *room = more;
    return 1;
}

static int *slot_of(const nb_geom_text *text, nb_piece name)
{
    size_t at = nb_hash_bytes(NB_HASH_START, name.p, (size_t)(name.end - name.p)) % SLOTS;
    while (text->slots[at] && !nb_piece_equal(text->panels[text->slots[at] - 1].name, name))
        at = (at + 1) % SLOTS;
    return &text->slots[at];
}

/** The panel of this name; a new one has the defaults of this line. */
static nb_status find_panel(nb_geom_text *text, nb_piece name, nb_geom_panel **panel,
                            nb_error *err)
{
    int *slot = slot_of(text, name);
    void *list = text->panels;
    if (!*slot) {
        if (text->n_panels == NB_PANELS_MAX)
            return nb_fail_at(err, NB_ERR_INPUT, text->name, name.line,
                              "more than %d panels", NB_PANELS_MAX);
        if (name.end - name.p >= NB_PANEL_NAME)
            return nb_fail_at(err, NB_ERR_INPUT, text->name, name.line,
                              "the name of a panel has at most %d bytes",
                              NB_PANEL_NAME - 1);
        if (!grow(&list, text->n_panels, &text->room_panels, sizeof *text->panels, err))
            return NB_ERR_NOMEM;
        text->panels = list;
        text->panels[text->n_panels] = text->standard;
        text->panels[text->n_panels].name = name;
        *slot = ++text->n_panels;
    }
    *panel = &text->panels[*slot - 1];
    return NB_OK;
}

static nb_status find_bad(nb_geom_text *text, nb_piece name, nb_geom_bad **bad,
                          nb_error *err)
{
    void *list = text->bad;
    for (int i = text->n_bad - 1; i >= 0; i--)
        if (nb_piece_equal(text->bad[i].name, name)) {
            *bad = &text->bad[i];
            return NB_OK;
        }
    if (text->n_bad == MOST_BAD)
        return nb_geom_fail(text, name, "too many bad regions", err);
    if (!grow(&list, text->n_bad, &text->room_bad, sizeof *text->bad, err))
        return NB_ERR_NOMEM;
    text->bad = list;
    *bad = &text->bad[text->n_bad++];
    **bad = (nb_geom_bad){name, {NULL, NULL, 0}, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return NB_OK;
}

static nb_status bad_key(nb_geom_text *text, nb_piece name, nb_piece key, nb_piece value,
                         nb_error *err)
{
    static const char *const names[] = {"min_fs", "max_fs", "min_ss", "max_ss",
                                        "min_x",  "max_x",  "min_y",  "max_y"};
    nb_geom_bad *bad = NULL;
    nb_status st = find_bad(text, name, &bad, err);
    double *fields[8], number;
    if (st)
        return st;
    fields[0] = &bad->fs_first, fields[1] = &bad->fs_last;
    fields[2] = &bad->ss_first, fields[3] = &bad->ss_last;
    fields[4] = &bad->x_least, fields[5] = &bad->x_most;
    fields[6] = &bad->y_least, fields[7] = &bad->y_most;
    if (nb_piece_is(key, "panel")) {
        bad->panel = value;
        return NB_OK;
    }
    for (int i = 0; i < 8; i++)
        if (nb_piece_is(key, names[i])) {
            nb_piece rest = nb_geom_number(value, &number);
            if (isnan(number) || rest.p < rest.end ||
                (i < 4 && (number != floor(number) || fabs(number) > 1e9)))
                return nb_geom_fail(text, key, "a limit of a bad region is no number",
                                    err);
            *fields[i] = number;
            return NB_OK;
        }
    return nb_geom_fail(text, key, "a bad region has min_, max_ fs, ss, x, y and panel",
                        err);
}

static void say_unknown(nb_geom_text *text, nb_piece key)
{
    enum { MOST = sizeof text->unknown / sizeof *text->unknown };
    char quoted[NB_TEXT_QUOTE];
    for (int i = 0; i < text->n_unknown; i++)
        if (nb_piece_equal(text->unknown[i], key))
            return;
    if (text->n_unknown == MOST)
        return;
    text->unknown[text->n_unknown++] = key;
    nb_text_quote(key.p, key.end, quoted);
    nb_notice(text->hooks, "%s:%ld: the key %s is not known and has no effect",
              text->name, key.line, quoted);
}

/** Keep the line for -geomout. */
static nb_status add_group(nb_geom_text *text, nb_piece line, nb_error *err)
{
    void *list = text->groups;
    if (!grow(&list, text->n_groups, &text->room_groups, sizeof *text->groups, err))
        return NB_ERR_NOMEM;
    text->groups = list;
    text->groups[text->n_groups++] = line;
    return NB_OK;
}

/** A key without panel: of the beam, or a default. */
static nb_status plain_key(nb_geom_text *text, nb_piece key, nb_piece value, nb_error *err)
{
    int known = 1;
    nb_status st = NB_OK;
    if (starts(key, "rigid_group") || starts(key, "group"))
        return add_group(text, (nb_piece){key.p, value.end, key.line}, err);
    if (nb_piece_is(key, "electron_voltage"))
        return nb_geom_fail(text, key, "electron_voltage: electrons are not simulated",
                            err);
    if (nb_piece_is(key, "photon_energy"))
        text->photon_energy = value;
    else if (nb_piece_is(key, "wavelength"))
        text->wavelength = value;
    else if (nb_piece_is(key, "detector_shift_x"))
        text->shift[0] = value;
    else if (nb_piece_is(key, "detector_shift_y"))
        text->shift[1] = value;
    else
        st = nb_geom_panel_key(text, &text->standard, key, value, &known, err);
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
    if ((st = find_panel(text, name, &panel, err)) ||
        (st = nb_geom_panel_key(text, panel, rest, value, &known, err)))
        return st;
    if (!known)
        say_unknown(text, rest);
    return NB_OK;
}

static nb_status read_line(nb_geom_text *text, const char *p, const char *end, long line,
                           nb_error *err)
{
    const char *comment = memchr(p, ';', (size_t)(end - p));
    const char *equals;
    nb_piece all = trim(p, comment ? comment : end, line), key, value;
    char quoted[NB_TEXT_QUOTE];
    if (all.p == all.end)
        return NB_OK;
    equals = memchr(all.p, '=', (size_t)(all.end - all.p));
    key = trim(all.p, equals ? equals : all.p, line);
    value = equals ? trim(equals + 1, all.end, line) : key;
    if (equals && key.p < key.end && value.p < value.end)
        return read_pair(text, key, value, err);
    nb_text_quote(all.p, all.end, quoted);
    return nb_fail_at(err, NB_ERR_INPUT, text->name, line, "'%s': a line is KEY = VALUE",
                      quoted);
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
    const char *end = data + n, *p = nb_text_body(data, end);
    nb_status st = NB_OK;
    memset(text, 0, sizeof *text);
    text->name = name;
    text->hooks = hooks;
    set_unset(&text->standard);
    if (!(text->slots = nb_alloc(SLOTS, sizeof *text->slots, "names of panels", err)))
        return NB_ERR_NOMEM;
    if (memchr(data, 0, n))
        st = nb_fail_at(err, NB_ERR_INPUT, name, 0, "not a text file");
    for (long line = 1; !st && p < end; line++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        st = read_line(text, p, newline ? newline : end, line, err);
        p = newline ? newline + 1 : end;
    }
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
    nb_free(text->slots);
    nb_free(text->groups);
    memset(text, 0, sizeof *text);
}
