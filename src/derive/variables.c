/* SPDX-License-Identifier: MIT */
/* Names of parameters: the table, lists with groups, the nearest name. */
#include "variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/text.h"
#include "../params/params.h"

typedef struct row {
    const char *name, *group;
    nb_variable_kind kind;
    int axis;
    const char *unit, *flag, *moves;
    unsigned sums; /* bits NB_SLOPE_*: sums that the parameter needs */
    int of_panel;  /* 1: allowed for one panel, name@panel */
} row;

/* A group stands for its names in the order of the table. */
/* clang-format off */
static const row rows[] = {
{"misset_x", "misset", NB_VAR_MISSET, 0, "deg", "-misset", "the crystal, the first angle of -misset", NB_SLOPE_INDEX, 0},
{"misset_y", "misset", NB_VAR_MISSET, 1, "deg", "-misset", "the crystal, the second angle of -misset", NB_SLOPE_INDEX, 0},
{"misset_z", "misset", NB_VAR_MISSET, 2, "deg", "-misset", "the crystal, the third angle of -misset", NB_SLOPE_INDEX, 0},
{"rot_x", "rot", NB_VAR_ROT, 0, "deg", "", "the crystal, about lab x", NB_SLOPE_INDEX, 0},
{"rot_y", "rot", NB_VAR_ROT, 1, "deg", "", "the crystal, about lab y", NB_SLOPE_INDEX, 0},
{"rot_z", "rot", NB_VAR_ROT, 2, "deg", "", "the crystal, about lab z", NB_SLOPE_INDEX, 0},
{"cell_a", "cell", NB_VAR_CELL, 0, "A", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"cell_b", "cell", NB_VAR_CELL, 1, "A", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"cell_c", "cell", NB_VAR_CELL, 2, "A", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"cell_al", "cell", NB_VAR_CELL, 3, "deg", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"cell_be", "cell", NB_VAR_CELL, 4, "deg", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"cell_ga", "cell", NB_VAR_CELL, 5, "deg", "-cell", "the cell, its orientation held", NB_SLOPE_INDEX, 0},
{"N_a", "N", NB_VAR_CELLS, 0, "cells", "-Na", "the size of the crystal along a", NB_SLOPE_CELLS, 0},
{"N_b", "N", NB_VAR_CELLS, 1, "cells", "-Nb", "the size of the crystal along b", NB_SLOPE_CELLS, 0},
{"N_c", "N", NB_VAR_CELLS, 2, "cells", "-Nc", "the size of the crystal along c", NB_SLOPE_CELLS, 0},
{"mosaic", NULL, NB_VAR_MOSAIC, 0, "deg", "-mosaic", "the mosaic spread, the domains' draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_xx", "mosaic_tensor", NB_VAR_TENSOR, 0, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_yy", "mosaic_tensor", NB_VAR_TENSOR, 1, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_zz", "mosaic_tensor", NB_VAR_TENSOR, 2, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_xy", "mosaic_tensor", NB_VAR_TENSOR, 3, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_xz", "mosaic_tensor", NB_VAR_TENSOR, 4, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"mosaic_yz", "mosaic_tensor", NB_VAR_TENSOR, 5, "deg^2", "-mosaic_tensor", "the covariance of the domains, their draws held", NB_SLOPE_MOSAIC, 0},
{"phi", NULL, NB_VAR_PHI, 0, "deg", "-phi", "the start of the oscillation", NB_SLOPE_SPINDLE, 0},
{"osc", NULL, NB_VAR_OSC, 0, "deg", "-osc", "the width of the oscillation", NB_SLOPE_SPINDLE, 0},
{"lambda", NULL, NB_VAR_LAMBDA, 0, "A", "-lambda", "all wavelengths, by one factor", NB_SLOPE_WAVE, 0},
{"dispersion", NULL, NB_VAR_DISPERSION, 0, "%", "-dispersion", "the width of the spectrum", NB_SLOPE_WAVE, 0},
{"hdivrange", "divergence", NB_VAR_DIVERGENCE, 0, "mrad", "-hdivrange", "the width of the beam's horizontal directions, their number held", NB_SLOPE_BEAM, 0},
{"vdivrange", "divergence", NB_VAR_DIVERGENCE, 1, "mrad", "-vdivrange", "the width of the beam's vertical directions, their number held", NB_SLOPE_BEAM, 0},
{"footprint_a", "footprint", NB_VAR_FOOTPRINT, 0, "mm", "-footprint", "the width of the spots along the footprint's first axis", 0, 0},
{"footprint_b", "footprint", NB_VAR_FOOTPRINT, 1, "mm", "-footprint", "the width of the spots across it", 0, 0},
{"footprint_angle", "footprint", NB_VAR_FOOTPRINT, 2, "deg", "-footprint", "the footprint, about the beam", 0, 0},
{"distance", NULL, NB_VAR_DISTANCE, 0, "mm", "-distance", "the detector", NB_SLOPE_RAY, 0},
{"close_distance", NULL, NB_VAR_CLOSE_DISTANCE, 0, "mm", "-close_distance", "the detector", NB_SLOPE_RAY, 0},
{"Xbeam", "beam", NB_VAR_CENTRE, 0, "mm", "-Xbeam", "the beam centre", NB_SLOPE_RAY, 0},
{"Ybeam", "beam", NB_VAR_CENTRE, 1, "mm", "-Ybeam", "the beam centre", NB_SLOPE_RAY, 0},
{"ORGX", "beam", NB_VAR_CENTRE, 2, "pixels", "-ORGX", "the nearest point", NB_SLOPE_RAY, 0},
{"ORGY", "beam", NB_VAR_CENTRE, 3, "pixels", "-ORGY", "the nearest point", NB_SLOPE_RAY, 0},
{"detector_rotx", "tilt", NB_VAR_TILT, 0, "deg", "-detector_rotx", "the detector, about lab x", NB_SLOPE_RAY, 0},
{"detector_roty", "tilt", NB_VAR_TILT, 1, "deg", "-detector_roty", "the detector, about lab y", NB_SLOPE_RAY, 0},
{"detector_rotz", "tilt", NB_VAR_TILT, 2, "deg", "-detector_rotz", "the detector, about lab z", NB_SLOPE_RAY, 0},
{"twotheta", "tilt", NB_VAR_TILT, 3, "deg", "-twotheta", "the detector's swing", NB_SLOPE_RAY, 0},
{"shift_x", "shift", NB_VAR_SHIFT, 0, "mm", "", "the placed detector, along lab x", NB_SLOPE_RAY, 1},
{"shift_y", "shift", NB_VAR_SHIFT, 1, "mm", "", "the placed detector, along lab y", NB_SLOPE_RAY, 1},
{"shift_z", "shift", NB_VAR_SHIFT, 2, "mm", "", "the placed detector, along lab z", NB_SLOPE_RAY, 1},
{"shift_fast", NULL, NB_VAR_SHIFT_ALONG, 0, "mm", "", "the placed detector, along its fast axis", NB_SLOPE_RAY, 1},
{"shift_slow", NULL, NB_VAR_SHIFT_ALONG, 1, "mm", "", "the placed detector, along its slow axis", NB_SLOPE_RAY, 1},
{"shift_normal", NULL, NB_VAR_SHIFT_ALONG, 2, "mm", "", "the placed detector, along its normal", NB_SLOPE_RAY, 1},
{"rot_fast", NULL, NB_VAR_TURN, 0, "deg", "", "the placed detector, about its fast axis at its origin", NB_SLOPE_RAY, 1},
{"rot_slow", NULL, NB_VAR_TURN, 1, "deg", "", "the placed detector, about its slow axis at its origin", NB_SLOPE_RAY, 1},
{"rot_normal", NULL, NB_VAR_TURN, 2, "deg", "", "the placed detector, about its normal at its origin", NB_SLOPE_RAY, 1},
{"detector_thick", NULL, NB_VAR_THICK, 0, "um", "-detector_thick", "the thickness of the sensor", NB_SLOPE_RAY, 0},
{"detector_abs", NULL, NB_VAR_ABS, 0, "um", "-detector_abs", "the attenuation depth of the sensor", NB_SLOPE_RAY, 0},
{"polar", NULL, NB_VAR_POLAR, 0, "", "-polar", "the Kahn factor", NB_SLOPE_POLAR, 0},
{"fudge", NULL, NB_VAR_FUDGE, 0, "", "-fudge", "the shape factor", NB_SLOPE_FUDGE, 0},
{"fluence", NULL, NB_VAR_FLUENCE, 0, "photons/m2", "-fluence", "all photons", 0, 0},
{"water", NULL, NB_VAR_WATER, 0, "um", "-water", "the water's photons", 0, 0},
{"default_F", NULL, NB_VAR_DEFAULT_F, 0, "electrons", "-default_F", "every F that is default_F", NB_SLOPE_F, 0},
{"F", NULL, NB_VAR_ALL_F, 0, "electrons", "", "every F of the table", 0, 0},
};
/* clang-format on */
enum { ROWS = sizeof rows / sizeof *rows };

/** Find the name or group nearest to a misspelled one; NULL if all are far. */
static const char *nearest(const char *name)
{
    const char *best = NULL;
    int least_edits = (int)strlen(name) / 3 + 1;
    for (int i = 0; i < ROWS; i++) {
        const char *const words[] = {rows[i].name, rows[i].group};
        for (int j = 0; j < 2; j++) {
            int edits = words[j] ? nb_text_edits(name, words[j]) : least_edits;
            if (edits < least_edits) {
                least_edits = edits;
                best = words[j];
            }
        }
    }
    return best;
}

static nb_status unknown(const char *name, nb_error *err)
{
    char group[200] = "";
    for (int i = 0; i < ROWS; i++)
        if (rows[i].group && !strcmp(rows[i].group, name))
            snprintf(group + strlen(group), sizeof group - strlen(group), "%s%s",
                     group[0] ? ", " : "", rows[i].name);
    if (group[0])
        return nb_fail(err, NB_ERR_INPUT, "parameter '%.60s' is a group: name one of %s",
                       name, group);
    const char *near = nearest(name);
    return nb_fail(err, NB_ERR_INPUT, "unknown parameter '%.60s' of a derivative; %s%s%s",
                   name, near ? "did you mean '" : "see docs/physics.md, section 26",
                   near ? near : "", near ? "'?" : "");
}

/** Parse F:h:k:l. */
static nb_status parse_F(const char *name, nb_variable_name *out, nb_error *err)
{
    const char *at = name + 1;
    for (int i = 0; i < 3; i++) {
        char *end;
        long n = *at == ':' ? strtol(at + 1, &end, 10) : 0;
        int sign = *at == ':' && (at[1] == '-' || at[1] == '+');
        if (*at != ':' || !isdigit((unsigned char)at[1 + sign]) || end == at + 1 ||
            labs(n) > 1000000)
            break;
        out->hkl[i] = (int)n;
        at = end;
        if (i < 2 || *at)
            continue;
        out->kind = NB_VAR_F;
        out->panel = -1;
        out->unit = "electrons";
        out->flag = "";
        out->moves = "one structure factor";
        out->sums = NB_SLOPE_F;
        snprintf(out->name, sizeof out->name, "F:%d:%d:%d", out->hkl[0], out->hkl[1],
                 out->hkl[2]);
        return NB_OK;
    }
    return nb_fail(err, NB_ERR_INPUT,
                   "parameter '%.60s': one structure factor is written F:h:k:l, as "
                   "F:1:-2:3",
                   name);
}

static int is_word(const char *word, size_t n, const char *name)
{
    return name && strlen(name) == n && !memcmp(word, name, n);
}

/** Find the row of this name; NULL for another word. */
static const row *find(const char *word, size_t n)
{
    for (int i = 0; i < ROWS; i++)
        if (is_word(word, n, rows[i].name))
            return &rows[i];
    return NULL;
}

const char *nb_variable_flag(const char *name)
{
    const row *r = find(name, strcspn(name, "@"));
    return r ? r->flag : "";
}

/** Find the number of a panel by name. */
static nb_status find_panel(const nb_subject *of, const char *word, int *panel,
                            nb_error *err)
{
    const nb_detector_spec *d = of->cfg->value.detector;
    for (*panel = 0; d && *panel < d->n_panels; ++*panel)
        if (!strcmp(word, d->panels[*panel].name))
            return NB_OK;
    if (d)
        return nb_fail(err, NB_ERR_INPUT,
                       "@%.60s: the detector has no panel of this name", word);
    return nb_fail(err, NB_ERR_INPUT,
                   "@%.60s: panels have names in a detector from a file only (-geom, "
                   "-expt, -nxmx)",
                   word);
}

/** Fill *out from row r. at: "@panel", or "" for all panels. */
static nb_status fill(const nb_subject *of, const row *r, const char *at,
                      nb_variable_name *out, nb_error *err)
{
    out->kind = r->kind;
    out->axis = r->axis;
    out->panel = -1;
    out->unit = r->unit;
    out->flag = r->flag;
    out->moves = r->moves;
    out->sums = r->sums;
    out->member = r->flag[0] ? nb_param_find(r->flag + 1)->offset : 0;
    if (r->kind == NB_VAR_TENSOR)
        out->member += (size_t)r->axis * sizeof(double);
    snprintf(out->name, sizeof out->name, "%s%s", r->name, at);
    if (!*at)
        return NB_OK;
    if (!r->of_panel)
        return nb_fail(err, NB_ERR_INPUT, "%s%.60s: it is not of one panel", r->name, at);
    return find_panel(of, at + 1, &out->panel, err);
}

/** Find the row of a name, or of the flag with this name or synonym; NULL for an unknown word. */
static const row *row_of(const char *word, size_t n)
{
    char flag[NB_VARIABLE_NAME];
    const nb_param *param;
    if (find(word, n))
        return find(word, n);
    snprintf(flag, sizeof flag, "%.*s", (int)n, word);
    param = nb_param_find(flag);
    for (int i = 0; i < ROWS && param; i++)
        if (rows[i].flag[0] && !strcmp(rows[i].flag + 1, param->name) &&
            (!rows[i].group || strcmp(rows[i].group, param->name)))
            return &rows[i];
    return NULL;
}

nb_status nb_variable_parse(const nb_subject *of, const char *name, nb_variable_name *out,
                            nb_error *err)
{
    size_t n = strcspn(name, "@");
    memset(out, 0, sizeof *out);
    if (strlen(name) >= NB_VARIABLE_NAME)
        return unknown(name, err);
    if (name[0] == 'F' && name[1] == ':')
        return parse_F(name, out, err);
    const row *r = row_of(name, n);
    return r ? fill(of, r, name + n, out, err) : unknown(name, err);
}

/** A growing list of names. */
typedef struct collection {
    const nb_subject *of;
    char (*names)[NB_VARIABLE_NAME];
    int count;
} collection;

static nb_status add_name(collection *c, const char *name, nb_error *err)
{
    nb_variable_name v;
    nb_status st;
    NB_FORWARD(nb_variable_parse(c->of, name, &v, err));
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->names[i], v.name))
            return nb_fail(err, NB_ERR_INPUT, "parameter %s is named twice", v.name);
    if (c->count == NB_VARIABLES_MAX)
        return nb_fail(err, NB_ERR_INPUT, "more than %d parameters", NB_VARIABLES_MAX);
    memcpy(c->names[c->count++], v.name, sizeof v.name);
    return NB_OK;
}

/** First axis of the pair of beam centre flags in force: 0 (Xbeam) or 2 (ORGX). */
static int pair_in_force(const nb_subject *of)
{
    int mm = nb_centre_moves(of, 0), org = nb_centre_moves(of, 2);
    int typed = !NB_TYPED(of->cfg, Xbeam_mm) && NB_TYPED(of->cfg, orgx);
    return org && (!mm || typed) ? 2 : 0;
}

/** Add a word of the list: a name, or all names of a group. */
static nb_status add_word(collection *c, const char *word, nb_error *err)
{
    size_t n = strcspn(word, "@");
    int found = 0, pair = is_word(word, n, "beam") ? pair_in_force(c->of) : -1;
    nb_status st = NB_OK;
    for (int i = 0; i < ROWS && !st; i++) {
        char name[NB_VARIABLE_NAME];
        if (!is_word(word, n, rows[i].group) ||
            (pair >= 0 && rows[i].axis / 2 != pair / 2))
            continue;
        found = 1;
        if (strlen(rows[i].name) + strlen(word + n) >= sizeof name)
            return unknown(word, err);
        strcpy(name, rows[i].name);
        strcat(name, word + n);
        st = add_name(c, name, err);
    }
    return found ? st : add_name(c, word, err);
}

nb_status nb_variables_open(const nb_subject *of, const char *list,
                            char (**names)[NB_VARIABLE_NAME], int *count, nb_error *err)
{
    collection c = {of, nb_alloc(NB_VARIABLES_MAX, NB_VARIABLE_NAME, "names", err), 0};
    nb_status st = c.names ? NB_OK : NB_ERR_NOMEM;
    *names = NULL;
    *count = 0;
    for (const char *at = list; !st && *at;) {
        size_t n = strcspn(at, ",");
        char word[NB_VARIABLE_NAME];
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1),
                 at);
        st = n > 0 && n < sizeof word ? add_word(&c, word, err) : unknown(word, err);
        at += n;
        if (!st && *at == ',' && !*++at)
            st = unknown("", err);
    }
    if (!st && c.count == 0)
        st = nb_fail(err, NB_ERR_INPUT, "no parameter is named; type misset,cell or so");
    if (st) {
        nb_free(c.names);
        return st;
    }
    *names = c.names;
    *count = c.count;
    return NB_OK;
}
