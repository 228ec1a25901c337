/* SPDX-License-Identifier: MIT */
#include "geom.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/outfile.h"
#include "../../model/units.h"

/** Values for the whole file. */
typedef struct whole {
    double wavelength_A; /* wavelength in use */
    double clen;         /* typed distance, m; NaN if not typed */
    /* m; part of coffset that is not added if clen is typed (shared_coffset) */
    double shared;
    double slab;   /* rows of the data for each index of a third dimension */
    int one_array; /* all panels lie in one array */
} whole;

static int is_place(nb_piece span)
{
    return span.p && span.p < span.end && *span.p == '/';
}

/* Length in a piece of text, m: a number with the unit m or mm, or without a unit (m).
 * NaN for other text. */
static double geom_length(nb_piece span)
{
    double value;
    nb_piece unit = nb_geom_number(span, &value);
    if (unit.p == unit.end || nb_piece_is(unit, "m"))
        return value;
    return nb_piece_is(unit, "mm") ? value / 1e3 : NAN;
}

/** Fail with the line of `at` and "KEY: what". */
static nb_status refuse(const nb_geom_text *text, nb_piece at, const char *key,
                        const char *what, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_INPUT, text->name, at.line, "%s: %s", key, what);
}

static nb_status set_wavelength(const nb_geom_text *text, const nb_geometry_typed *typed,
                                nb_detector_spec *out, nb_error *err)
{
    static const struct {
        const char *name;
        double scale;
    } units[] = {{"", 1}, {"eV", 1}, {"keV", 1e3}, {"MeV", 1e6}, {"A", 1}, {"m", 1e10}};
    const int is_energy = text->photon_energy.p != NULL;
    const nb_piece at = is_energy ? text->photon_energy : text->wavelength;
    const char *key = is_energy ? "photon_energy" : "wavelength";
    double value, scale = NAN;
    nb_piece unit;
    if (!isnan(typed->wavelength_A) || !at.p) {
        out->wavelength_A = typed->wavelength_A;
        return NB_OK;
    }
    if (is_place(at))
        return refuse(
            text, at, key,
            "a place in a data file, which is not read: type -energy or -lambda", err);
    unit = nb_geom_number(at, &value);
    for (int i = is_energy ? 0 : 4; i < (is_energy ? 4 : 6); i++)
        scale = nb_piece_is(unit, units[i].name) ? units[i].scale : scale;
    value *= scale;
    out->wavelength_A = is_energy ? NB_HC_EV_ANGSTROM / value : value;
    if (out->wavelength_A > 1e-6 && out->wavelength_A < 1e6)
        return NB_OK;
    return refuse(text, at, key,
                  is_energy ? "must be a number above 0 with the unit eV, keV or MeV"
                            : "must be a number above 0 with the unit A or m",
                  err);
}

static nb_status set_shift(nb_geom_text *text, nb_error *err)
{
    static const char *const keys[] = {"detector_shift_x", "detector_shift_y"};
    for (int i = 0; i < 2; i++) {
        nb_piece at = text->shift[i];
        if (!at.p)
            continue;
        if (is_place(at)) {
            nb_notice(
                text->hooks,
                "%s:%ld: %s is a place in a data file, which is not read: 0 is used",
                text->name, at.line, keys[i]);
            continue;
        }
        text->shift_m[i] = geom_length(at);
        if (isnan(text->shift_m[i]))
            return refuse(text, at, keys[i], "must be a length in m or mm", err);
    }
    return NB_OK;
}

/** Count the dimensions with a fixed index (*others); *k: the last fixed index, or 0.
 * Returns 0 if a dimension is missing, or if ss or fs does not occur exactly once. */
static int find_dims(const nb_geom_panel *p, int *k, int *others)
{
    int ss = 0, fs = 0, last = -1;
    *k = *others = 0;
    for (int i = 0; i < NB_GEOM_DIMS; i++) {
        if (p->dims[i] != NB_GEOM_UNSET)
            last = i;
        ss += p->dims[i] == NB_GEOM_SS;
        fs += p->dims[i] == NB_GEOM_FS;
        if (p->dims[i] >= 0) {
            *k = p->dims[i];
            *others += 1;
        }
    }
    for (int i = 0; i <= last; i++)
        if (p->dims[i] == NB_GEOM_UNSET)
            return 0;
    return last < 0 || (ss == 1 && fs == 1);
}

static nb_status check_keys(const nb_geom_text *text, const nb_geom_panel *p,
                            nb_error *err)
{
    const struct {
        const char *key;
        int there;
    } needed[] = {{"min_fs", !isnan(p->fs_first)},
                  {"max_fs", !isnan(p->fs_last)},
                  {"min_ss", !isnan(p->ss_first)},
                  {"max_ss", !isnan(p->ss_last)},
                  {"fs", p->fs.p != NULL},
                  {"ss", p->ss.p != NULL},
                  {"corner_x", !isnan(p->corner_x)},
                  {"corner_y", !isnan(p->corner_y)},
                  {"res", !isnan(p->res)}};
    int k, others;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!needed[i].there)
            return nb_fail_at(err, NB_ERR_INPUT, text->name, p->name.line,
                              "panel %.*s has no %s", (int)(p->name.end - p->name.p),
                              p->name.p, needed[i].key);
    if (p->fs_last < p->fs_first || p->ss_last < p->ss_first)
        return nb_geom_fail(text, p->name, "max_fs or max_ss is below min_fs or min_ss",
                            err);
    if (!(p->res > 0))
        return nb_geom_fail(text, p->name, "res must be above 0", err);
    if (!find_dims(p, &k, &others))
        return nb_geom_fail(
            text, p->name, "the dimensions dim0, dim1, ... must name ss and fs once", err);
    return NB_OK;
}

static nb_status set_origin(const nb_geom_text *text, const nb_geom_panel *p,
                            const whole *w, nb_panel_spec *out, nb_error *err)
{
    nb_piece at = p->clen.p ? p->clen : text->clen;
    double clen = w->clen;
    if (isnan(clen) && !at.p)
        return nb_geom_fail(text, p->name, "no clen: type -distance", err);
    if (isnan(clen) && is_place(at))
        return refuse(text, at, "clen",
                      "a place in a data file, which is not read: type -distance", err);
    if (isnan(clen) && isnan(clen = geom_length(at)))
        return refuse(text, at, "clen", "must be a length in m or mm", err);
    out->origin[0] = p->corner_x / p->res + text->shift_m[0];
    out->origin[1] = p->corner_y / p->res + text->shift_m[1];
    out->origin[2] = clen + (p->coffset - w->shared);
    return NB_OK;
}

static void set_place(const nb_geom_panel *p, const whole *w, nb_panel_spec *out)
{
    int k, others;
    double slow;
    find_dims(p, &k, &others);
    slow = p->ss_first + k * w->slab;
    if (!w->one_array || others > 1 || slow > INT_MAX / 2 || p->fs_first > INT_MAX / 2)
        return;
    out->place[0] = (int)p->fs_first;
    out->place[1] = (int)slow;
}

static void set_gain(const nb_geom_panel *p, const whole *w, nb_panel_spec *out)
{
    if (!isnan(p->adu_per_photon))
        out->gain = p->adu_per_photon;
    else if (!isnan(p->adu_per_eV))
        out->gain = p->adu_per_eV * (NB_HC_EV_ANGSTROM / w->wavelength_A);
    out->saturation = p->max_adu;
}

static nb_status build_panel(const nb_geom_text *text, const nb_geom_panel *p,
                             const whole *w, nb_panel_spec *out, nb_error *err)
{
    char name[NB_PANEL_NAME + 8];
    nb_place_in_file at = {text->name, p->name.line, name};
    double fs[3], ss[3];
    nb_status st = check_keys(text, p, err);
    if (st || (st = nb_geom_direction(text, p->fs, fs, err)) ||
        (st = nb_geom_direction(text, p->ss, ss, err)) ||
        (st = set_origin(text, p, w, out, err)))
        return st;
    memset(out->name, 0, sizeof out->name);
    memcpy(out->name, p->name.p, (size_t)(p->name.end - p->name.p));
    snprintf(name, sizeof name, "panel %s", out->name);
    memcpy(out->fast, fs, sizeof fs);
    memcpy(out->slow, ss, sizeof ss);
    out->pixel[0] = nb_length3(fs) / p->res;
    out->pixel[1] = nb_length3(ss) / p->res;
    out->size[0] = (int)fmin(p->fs_last - p->fs_first + 1, NB_PANEL_EDGE + 1);
    out->size[1] = (int)fmin(p->ss_last - p->ss_first + 1, NB_PANEL_EDGE + 1);
    set_place(p, w, out);
    set_gain(p, w, out);
    return nb_panel_spec_check(out, &at, err);
}

/** Set slab and one_array, which depend on all panels. */
static void look_at_all(const nb_geom_text *text, whole *w)
{
    w->one_array = 1;
    for (int k = 0; k < text->n_panels; k++) {
        const nb_geom_panel *p = &text->panels[k];
        w->slab = fmax(w->slab, isnan(p->ss_last) ? 0 : p->ss_last + 1);
        if (!nb_piece_equal(p->data, text->panels[0].data))
            w->one_array = 0;
    }
}

/** Find the smallest and the largest coffset. */
static void coffsets(const nb_geom_text *text, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (int k = 0; k < text->n_panels; k++) {
        range[0] = fmin(range[0], text->panels[k].coffset);
        range[1] = fmax(range[1], text->panels[k].coffset);
    }
}

/** Part of coffset that all panels share, m, if clen is a path in the data. This part
 * turns the value of an encoder into a distance; a typed distance does not need it. */
static double shared_coffset(const nb_geom_text *text)
{
    double range[2];
    for (int k = 0; k < text->n_panels; k++)
        if (!is_place(text->panels[k].clen.p ? text->panels[k].clen : text->clen))
            return 0;
    coffsets(text, range);
    return range[0] > 0 ? range[0] : range[1] < 0 ? range[1] : 0;
}

/** Report that coffset moves panels away from the typed distance, which is used as
 * clen. */
static void say_coffset(const nb_geom_text *text, const nb_geometry_typed *typed,
                        double shared)
{
    double range[2];
    char from[40] = "";
    if (isnan(typed->distance_mm))
        return;
    if (shared != 0)
        nb_notice(
            text->hooks,
            "%s: clen is a place in a data file, so -distance %.7g is to the panels: "
            "the %.7g mm of coffset that they share are not added",
            text->name, typed->distance_mm, shared * 1e3);
    coffsets(text, range);
    if (range[0] - shared == 0 && range[1] - shared == 0)
        return;
    if (range[0] != range[1])
        snprintf(from, sizeof from, "%.7g to ", (range[0] - shared) * 1e3);
    nb_notice(text->hooks, "%s: coffset moves the panels by %s%.7g mm from -distance %.7g",
              text->name, from, (range[1] - shared) * 1e3, typed->distance_mm);
}

/** Copy the lines of rigid groups into one text. */
static nb_status copy_groups(const nb_geom_text *text, nb_detector_spec *out,
                             nb_error *err)
{
    size_t bytes = 1;
    char *to;
    for (int i = 0; i < text->n_groups; i++)
        bytes += (size_t)(text->groups[i].end - text->groups[i].p) + 1;
    if (!text->n_groups)
        return NB_OK;
    if (!(to = out->groups = nb_alloc_raw(bytes, 1, "groups of panels", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i < text->n_groups; i++) {
        const nb_piece *line = &text->groups[i];
        memcpy(to, line->p, (size_t)(line->end - line->p));
        to += line->end - line->p;
        *to++ = '\n';
    }
    *to = '\0';
    return NB_OK;
}

nb_status nb_geom_build(nb_geom_text *text, const nb_geometry_typed *typed,
                        nb_detector_spec *out, nb_error *err)
{
    whole w = {.clen = typed->distance_mm / 1e3};
    nb_status st;
    NB_FORWARD(nb_detector_spec_new(text->n_panels, out, err));
    st = set_wavelength(text, typed, out, err);
    NB_TRY(set_shift(text, err));
    w.wavelength_A = nb_said_or(out->wavelength_A, 1);
    look_at_all(text, &w);
    w.shared = isnan(w.clen) ? 0 : shared_coffset(text);
    for (int k = 0; !st && k < text->n_panels; k++)
        st = build_panel(text, &text->panels[k], &w, &out->panels[k], err);
    NB_TRY(nb_spec_check_size(out, text->name, err));
    NB_TRY(nb_geom_mask(text, out, err));
    NB_TRY(copy_groups(text, out, err));
    if (st)
        nb_detector_spec_free(out);
    else
        say_coffset(text, typed, w.shared);
    return st;
}

nb_status nb_geom_read(const char *path, const nb_geometry_typed *typed,
                       const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    nb_geom_text text;
    char *data;
    size_t n;
    nb_status st;
    memset(out, 0, sizeof *out);
    NB_FORWARD(nb_read_file(path, "-geom", NB_GEOMETRY_BYTES, &data, &n, err));
    st = nb_geom_text_read(data, n, path, hooks, &text, err);
    if (!st) {
        st = nb_geom_build(&text, typed, out, err);
        if (!st && (st = nb_geom_mask_files(&text, out, err)))
            nb_detector_spec_free(out);
        nb_geom_text_free(&text);
    }
    nb_free(data);
    return st;
}
