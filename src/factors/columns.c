/* SPDX-License-Identifier: MIT */
/* Which columns of a reflection file are structure factors. */
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "reflections.h"

enum { LIST = 320, LABEL = sizeof((nb_column *)0)->label };

static const char *const preferred_F[] = {"FP",        "F",      "FOBS",  "F-obs",
                                          "F_meas_au", "F_meas", "FMEAN", NULL};
static const char *const preferred_J[] = {"IMEAN", "I", "intensity_meas",
                                          "F_squared_meas", NULL};

/** Coefficients of maps are amplitudes by their type. */
static int is_map(const char *label)
{
    static const char *const whole[] = {"FWT", "DELFWT", "FDM", "ANOM"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(label, whole[i]))
            return 1;
    return !strncmp(label, "2FOFCWT", 7) || !strncmp(label, "FOFCWT", 6);
}

/** Columns of a type: with this label, or (NULL) any that is no map. */
typedef struct filter {
    char type; /* 0: every column */
    const char *label;
} filter;

static int passes(const nb_column *c, filter f)
{
    return !f.type || (c->type == f.type &&
                       (f.label ? !strcmp(c->label, f.label) : !is_map(c->label)));
}

/** "F (F), SIGF (Q)"; a long list ends in dots. */
static const char *list_columns(const nb_reflection_file *file, filter f, char text[LIST])
{
    size_t used = 0;
    snprintf(text, LIST, "none");
    for (int i = 0; i < file->n_columns; i++) {
        const nb_column *c = &file->columns[i];
        if (!passes(c, f))
            continue;
        if (used + LABEL + 12 > LIST) {
            snprintf(text + used, LIST - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, LIST - used, "%s%s (%c)", used ? ", " : "",
                                 c->label, c->type);
    }
    return text;
}

static nb_status fail_columns(const nb_reflection_file *file, const char *name,
                              const char *problem, nb_error *err)
{
    char text[LIST];
    return nb_fail_at(err, NB_ERR_INPUT, name, 0, "%s; its columns: %s", problem,
                      list_columns(file, (filter){0, NULL}, text));
}

/* --- without labels --- */

static int next_of_type(const nb_reflection_file *file, char type, int from)
{
    for (int i = from; i < file->n_columns; i++)
        if (file->columns[i].type == type)
            return i;
    return -1;
}

/** The label without what says which mate it is; *sign: '+', '-', or 0. */
static void stem_of(const char *label, char stem[LABEL], char *sign)
{
    static const struct {
        const char *mark;
        char sign;
    } marks[] = {{"(+)", '+'},  {"(-)", '-'},   {"plus", '+'}, {"minus", '-'},
                 {"PLUS", '+'}, {"MINUS", '-'}, {"+", '+'},    {"-", '-'}};
    *sign = 0;
    snprintf(stem, LABEL, "%s", label);
    for (size_t i = 0; i < sizeof marks / sizeof *marks && !*sign; i++) {
        char *at = strstr(stem, marks[i].mark);
        if (at) {
            size_t n = strlen(marks[i].mark);
            memmove(at, at + n, strlen(at + n) + 1);
            *sign = marks[i].sign;
        }
    }
}

/** The first pair of a type: a column and the one whose label differs by the sign, else the next of
 * the type. */
static int find_pair(const nb_reflection_file *file, char type, nb_column_choice *out)
{
    int first = next_of_type(file, type, 0), mate = -1, i;
    char stem[LABEL], other[LABEL], sign, other_sign;
    if (first < 0 || (i = next_of_type(file, type, first + 1)) < 0)
        return 0;
    stem_of(file->columns[first].label, stem, &sign);
    for (int j = i; sign && j >= 0 && mate < 0; j = next_of_type(file, type, j + 1)) {
        stem_of(file->columns[j].label, other, &other_sign);
        if (other_sign && other_sign != sign && !strcmp(stem, other))
            mate = j;
    }
    mate = mate < 0 ? i : mate;
    out->plus = sign == '-' ? mate : first;
    out->minus = sign == '-' ? first : mate;
    return 1;
}

static nb_status fail_several(const nb_reflection_file *file, const char *name,
                              filter candidates, nb_error *err)
{
    char text[LIST];
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "several columns may be meant: %s; name one with -mtzlabel",
                      list_columns(file, candidates, text));
}

/** One column of a type: a preferred label (the list ends in NULL), else the only other one that is no
 * map; -1 if there is none. */
static nb_status find_single(const nb_reflection_file *file, char type,
                             const char *const *preferred, const char *name, int *out,
                             nb_error *err)
{
    filter f = {type, NULL};
    int found = 0;
    do {
        f.label = *preferred;
        for (int i = 0; i < file->n_columns; i++)
            if (passes(&file->columns[i], f)) {
                *out = i;
                found++;
            }
    } while (!found && *preferred++);
    return found > 1 ? fail_several(file, name, f, err) : NB_OK;
}

static nb_status choose_best(const nb_reflection_file *file, const char *name,
                             nb_column_choice *out, nb_error *err)
{
    nb_status status;
    if (find_pair(file, 'G', out))
        return NB_OK;
    if (find_pair(file, 'K', out)) {
        out->intensities = 1;
        return NB_OK;
    }
    status = find_single(file, 'F', preferred_F, name, &out->plus, err);
    if (status != NB_OK || out->plus >= 0)
        return status;
    status = find_single(file, 'J', preferred_J, name, &out->plus, err);
    if (status != NB_OK)
        return status;
    out->intensities = 1;
    if (out->plus < 0)
        return fail_columns(file, name,
                            "no column of amplitudes (F, G) or intensities (J, K) can be "
                            "chosen; name one with -mtzlabel",
                            err);
    return NB_OK;
}

/* --- by labels --- */

static nb_status find_label(const nb_reflection_file *file, const char *label, size_t n,
                            const char *name, int *out, nb_error *err)
{
    char problem[160];
    int found = 0;
    for (int i = 0; i < file->n_columns; i++)
        if (strlen(file->columns[i].label) == n &&
            !memcmp(file->columns[i].label, label, n)) {
            *out = i;
            found++;
        }
    if (found == 1)
        return NB_OK;
    snprintf(problem, sizeof problem,
             found ? "several columns have the label '%.*s' (-mtzlabel)"
                   : "it has no column '%.*s' (-mtzlabel)",
             (int)(n < 2 * LABEL ? n : 2 * LABEL), label);
    return fail_columns(file, name, problem, err);
}

static nb_status take_one(const nb_reflection_file *file, int a, const char *name,
                          nb_column_choice *out, nb_error *err)
{
    char problem[160];
    const nb_column *c = &file->columns[a];
    out->plus = a;
    out->intensities = c->type == 'J' || c->type == 'K';
    if (out->intensities || c->type == 'F' || c->type == 'G')
        return NB_OK;
    snprintf(problem, sizeof problem,
             "column %s has type %c, which is neither an amplitude (F, G) nor an "
             "intensity (J, K) (-mtzlabel)",
             c->label, c->type);
    return fail_columns(file, name, problem, err);
}

static nb_status take_two(const nb_reflection_file *file, int a, int b, const char *name,
                          nb_column_choice *out, nb_error *err)
{
    char problem[240];
    char A = file->columns[a].type, B = file->columns[b].type;
    out->plus = a;
    if (a != b && A == B && (A == 'G' || A == 'K')) {
        out->minus = b;
        out->intensities = A == 'K';
        return NB_OK;
    }
    if (A == 'F' && (B == 'D' || B == 'P')) {
        *(B == 'D' ? &out->difference : &out->phase) = b;
        return NB_OK;
    }
    snprintf(problem, sizeof problem,
             "columns %s (%c) and %s (%c) do not go together (-mtzlabel: G,G or K,K of "
             "the two mates, F,D amplitude and difference, F,P amplitude and phase)",
             file->columns[a].label, A, file->columns[b].label, B);
    return fail_columns(file, name, problem, err);
}

static nb_status choose_labels(const nb_reflection_file *file, const char *labels,
                               const char *name, nb_column_choice *out, nb_error *err)
{
    const char *comma = strchr(labels, ',');
    int a, b;
    nb_status status;
    if (comma && strchr(comma + 1, ','))
        return fail_columns(file, name, "-mtzlabel takes one label or two", err);
    status = find_label(file, labels, comma ? (size_t)(comma - labels) : strlen(labels),
                        name, &a, err);
    if (status == NB_OK && comma)
        status = find_label(file, comma + 1, strlen(comma + 1), name, &b, err);
    if (status != NB_OK)
        return status;
    return comma ? take_two(file, a, b, name, out, err)
                 : take_one(file, a, name, out, err);
}

nb_status nb_columns_choose(const nb_reflection_file *file, const char *labels,
                            const char *name, nb_column_choice *out, nb_error *err)
{
    *out = (nb_column_choice){.plus = -1, .minus = -1, .difference = -1, .phase = -1};
    if (file->is_unmerged)
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the reflections are not merged: merge the file first");
    return labels[0] ? choose_labels(file, labels, name, out, err)
                     : choose_best(file, name, out, err);
}

void nb_columns_describe(const nb_reflection_file *file, const nb_column_choice *choice,
                         char *text, size_t size)
{
    int second = choice->minus >= 0        ? choice->minus
                 : choice->difference >= 0 ? choice->difference
                                           : choice->phase;
    snprintf(text, size, second < 0 ? "%s" : "%s and %s",
             file->columns[choice->plus].label,
             second < 0 ? "" : file->columns[second].label);
}
