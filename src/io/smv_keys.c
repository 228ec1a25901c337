/* SPDX-License-Identifier: MIT */
#include "smv_keys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"

#define VALUE_BYTES (3 * NB_TEXT_NUMBER + 8)
#define ROW(key, kind, group, field)                                                     \
    {                                                                                    \
        NB_SMV_PREFIX key, NB_SMV_##kind, NB_SMV_##group, offsetof(nb_config, field),    \
            NULL                                                                         \
    }
#define WORDS(key, list, field)                                                          \
    {                                                                                    \
        NB_SMV_PREFIX key, NB_SMV_WORD, NB_SMV_ALONE, offsetof(nb_config, field), list   \
    }

/* The first word is written for the unset value. */
static const char *const conventions[] = {"mosflm", "mosflm", "xds",    "adxv",
                                          "denzo",  "dials",  "custom", NULL};
static const char *const pivots[] = {"", "beam", "sample", NULL};
static const char *const layer_depths[] = {"", "mean", "front", NULL};
static const char *const curved_omegas[] = {"", "square", "exact", NULL};

static const nb_smv_input table[] = {
    WORDS("CONVENTION", conventions, convention),
    WORDS("PIVOT", pivots, pivot),
    WORDS("PIVOT_IMPLIED", pivots, pivot_implied),
    ROW("DETPIXELS", PIXELS, ALONE, detpixels),
    ROW("DETSIZE_F", DOUBLE, FAST, detsize_mm[0]),
    ROW("DETSIZE_S", DOUBLE, SLOW, detsize_mm[1]),
    ROW("PIXEL", DOUBLE, ALONE, pixel_mm),
    ROW("DISTANCE", DOUBLE, DISTANCES, distance_mm),
    ROW("CLOSE_DISTANCE", DOUBLE, DISTANCES, close_distance_mm),
    ROW("CLOSE_TWOTHETA", DOUBLE, DISTANCES, close_twotheta_deg),
    ROW("XBEAM", DOUBLE, ALONE, Xbeam_mm),
    ROW("YBEAM", DOUBLE, ALONE, Ybeam_mm),
    ROW("XCLOSE", DOUBLE, ALONE, Xclose_mm),
    ROW("YCLOSE", DOUBLE, ALONE, Yclose_mm),
    ROW("ORGX", DOUBLE, ALONE, orgx),
    ROW("ORGY", DOUBLE, ALONE, orgy),
    ROW("ROTX", DOUBLE, ALONE, rot_deg[0]),
    ROW("ROTY", DOUBLE, ALONE, rot_deg[1]),
    ROW("ROTZ", DOUBLE, ALONE, rot_deg[2]),
    ROW("TWOTHETA", DOUBLE, ALONE, twotheta_deg),
    ROW("FDET", VEC3, ALONE, fdet_vector),
    ROW("SDET", VEC3, ALONE, sdet_vector),
    ROW("ODET", VEC3, ALONE, odet_vector),
    ROW("BEAM", VEC3, ALONE, beam_vector),
    ROW("POLAR_AXIS", VEC3, ALONE, polar_vector),
    ROW("SPINDLE", VEC3, ALONE, spindle_axis),
    ROW("TWOTHETA_AXIS", VEC3, ALONE, twotheta_axis),
    ROW("PIX0", VEC3, ALONE, pix0_m),
    ROW("CURVED", FLAG, ALONE, curved),
    WORDS("CURVED_OMEGA", curved_omegas, curved_omega),
    WORDS("LAYER_DEPTH", layer_depths, layer_depth),
    ROW("LAMBDA", DOUBLE, BEAM, lambda_A),
    ROW("ENERGY", DOUBLE, BEAM, energy_eV),
    ROW("PHI", DOUBLE, ALONE, phi_deg),
    ROW("OSC", DOUBLE, ALONE, osc_deg),
    ROW("PHISTEP", DOUBLE, STEPS, phistep_deg),
    ROW("PHISTEPS", INT, STEPS, phi_steps),
};

const nb_smv_input *nb_smv_inputs(size_t *count)
{
    *count = sizeof table / sizeof *table;
    return table;
}

static int is_set(const nb_smv_input *row, const void *field)
{
    switch (row->kind) {
    case NB_SMV_DOUBLE:
        return !isnan(*(const double *)field);
    case NB_SMV_INT:
    case NB_SMV_FLAG:
    case NB_SMV_WORD:
        return *(const int *)field != 0;
    case NB_SMV_VEC3:
        return ((const nb_opt3 *)field)->set;
    case NB_SMV_PIXELS:
        return ((const int *)field)[0] || ((const int *)field)[1];
    }
    return 0;
}

void nb_smv_typed_groups(const nb_config *cfg, int typed[NB_SMV_GROUPS])
{
    memset(typed, 0, NB_SMV_GROUPS * sizeof *typed);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        typed[table[i].group] |= is_set(&table[i], (const char *)cfg + table[i].offset);
    typed[NB_SMV_FAST] |= cfg->detpixels[0] != 0;
    typed[NB_SMV_SLOW] |= cfg->detpixels[1] != 0;
    typed[NB_SMV_ALONE] = 0;
}

/* --- writer --- */

static void write_value(const nb_smv_input *row, const void *field, char out[VALUE_BYTES])
{
    char n[3][NB_TEXT_NUMBER];
    const int *pair = field;
    const double *v;
    switch (row->kind) {
    case NB_SMV_DOUBLE:
        nb_text_format(*(const double *)field, out);
        return;
    case NB_SMV_INT:
        snprintf(out, VALUE_BYTES, "%d", *pair);
        return;
    case NB_SMV_FLAG:
        snprintf(out, VALUE_BYTES, "1");
        return;
    case NB_SMV_VEC3:
        v = ((const nb_opt3 *)field)->v;
        for (int i = 0; i < 3; i++)
            nb_text_format(v[i], n[i]);
        snprintf(out, VALUE_BYTES, "%s,%s,%s", n[0], n[1], n[2]);
        return;
    case NB_SMV_PIXELS:
        snprintf(out, VALUE_BYTES, "%d,%d", pair[0], pair[1]);
        return;
    case NB_SMV_WORD:
        snprintf(out, VALUE_BYTES, "%s", row->words[*pair]);
        return;
    }
}

void nb_smv_write_inputs(const nb_config *cfg,
                         void (*emit)(void *user, const char *key, const char *value),
                         void *user)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const void *field = (const char *)cfg + table[i].offset;
        char value[VALUE_BYTES];
        if (strcmp(table[i].key, NB_SMV_MARK) != 0 && !is_set(&table[i], field))
            continue;
        write_value(&table[i], field, value);
        emit(user, table[i].key, value);
    }
}

/* --- reader: each returns 0 if the text is not such a value --- */

static int read_list(const char *text, int count, double *v)
{
    const char *end = text + strlen(text);
    for (int i = 0; i < count; i++) {
        if (i > 0 && (text == end || *text++ != ','))
            return 0;
        text = nb_text_double(text, end, &v[i]);
        if (!text)
            return 0;
    }
    return text == end;
}

static int read_int(const char *text, int *value)
{
    const char *end = text + strlen(text);
    return nb_text_int(text, end, value) == end && *value >= 0;
}

static int read_word(const char *text, const char *const *words, int *value)
{
    for (int i = 1; words[i]; i++)
        if (strcmp(text, words[i]) == 0)
            return *value = i;
    return 0;
}

static int read_pixels(const char *text, const int typed[NB_SMV_GROUPS], int *pixels)
{
    double v[2];
    if (!read_list(text, 2, v))
        return 0;
    for (int i = 0; i < 2; i++) {
        if (!(v[i] >= 0 && v[i] < 1e6) || v[i] != trunc(v[i]))
            return 0;
        if (!typed[i ? NB_SMV_SLOW : NB_SMV_FAST])
            pixels[i] = (int)v[i];
    }
    return 1;
}

static int read_value(const nb_smv_input *row, const char *text,
                      const int typed[NB_SMV_GROUPS], void *field)
{
    nb_opt3 *v = field;
    switch (row->kind) {
    case NB_SMV_DOUBLE:
        return read_list(text, 1, field);
    case NB_SMV_INT:
    case NB_SMV_FLAG:
        return read_int(text, field);
    case NB_SMV_VEC3:
        return v->set = read_list(text, 3, v->v);
    case NB_SMV_PIXELS:
        return read_pixels(text, typed, field);
    case NB_SMV_WORD:
        return read_word(text, row->words, field);
    }
    return 0;
}

nb_status nb_smv_read_inputs(const nb_smv_header *h, nb_config *cfg, nb_error *err)
{
    int typed[NB_SMV_GROUPS];
    nb_smv_typed_groups(cfg, typed);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const nb_smv_input *row = &table[i];
        const char *text = nb_smv_find(h, row->key);
        void *field = (char *)cfg + row->offset;
        if (!text || typed[row->group] ||
            (row->kind != NB_SMV_PIXELS && is_set(row, field)))
            continue;
        if (!read_value(row, text, typed, field))
            return nb_fail_at(err, NB_ERR_INPUT, h->name, 0, "%s=%.60s cannot be read",
                              row->key, text);
    }
    return NB_OK;
}
