/* SPDX-License-Identifier: MIT */
#include "hdf5_get.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../../model/units.h"
#include "../../physics/vec3.h"
#include "../common/panel_spec.h"
#include "../common/unit_names.h"

enum { MAX_GROUPS = 64 };

/** Append the last part of a path to a list of names for a note. */
static void remark(char *list, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t n = strlen(list);
    if (n + strlen(name) + 3 < size && !strstr(list, name))
        snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

double nb_nx_scale(const nb_h5_input *in, const char *path, const char *attribute,
                   nb_nx_kind kind)
{
    static const double base[] = {1, 1e-3, 1e-10, 1, 1};
    const nb_unit_kind of = kind == NB_NX_DEGREES ? NB_UNIT_ANGLE
                            : kind == NB_NX_EV    ? NB_UNIT_ENERGY
                                                  : NB_UNIT_LENGTH;
    char text[32], *first = text, *end;
    if (!nb_h5_get_string(in, path, attribute, text, sizeof text))
        return 0;
    while (isspace((unsigned char)*first))
        first++;
    for (end = first + strlen(first); end > first && isspace((unsigned char)end[-1]);)
        end--;
    return nb_unit_scale(of, first, (size_t)(end - first)) / base[kind];
}

/** True if a data set has no unit. An attribute that cannot be read counts as a unit. */
static int is_bare(const nb_h5_input *in, const char *path)
{
    char text[32];
    hid_t id = H5(Aopen_by_name)(in->file, path, "units", H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0)
        return 1;
    H5(Aclose)(id);
    return nb_h5_get_string(in, path, "units", text, sizeof text) &&
           text[strspn(text, " ")] == '\0';
}

/** Factor that converts a data set to the unit of its kind. Without a unit it is 1, or
 * 1000 (from metres) for NB_NX_MILLIMETRES. Missing and unknown units go to the
 * remarks. */
static double scale_of(const nb_h5_input *in, const char *path, nb_nx_kind kind)
{
    double scale = nb_nx_scale(in, path, "units", kind);
    int bare = scale == 0 && is_bare(in, path);
    if (scale == 0 && in->remarks)
        remark(bare ? in->remarks->bare : in->remarks->odd, sizeof in->remarks->odd, path);
    if (bare)
        return kind == NB_NX_MILLIMETRES ? 1e3 : 1;
    return scale;
}

/* Number `at` of a data set in the unit of its kind. NaN for a missing number, a number
 * that is not finite, or an unknown unit (with a remark). */
static double nx_number(const nb_h5_input *in, const char *path, nb_nx_kind kind,
                        long long at)
{
    double value = nb_h5_get_number(in, path, at, 1);
    double scale = isfinite(value) ? scale_of(in, path, kind) : 0;
    return scale > 0 ? nb_in_unit(value, scale) : NAN;
}

double nb_nx_first(const nb_h5_input *in, const char *group, const char *names,
                   nb_nx_kind kind, long long at)
{
    char path[NB_H5_PATH], name[NB_TEXT_WORD];
    while (nb_text_word(&names, name))
        if (nb_h5_at(in, group, name, path))
            return nx_number(in, path, kind, at);
    return NAN;
}

/* --- beam --- */

/** Mean wavelength of a spectrum, or wavelength number `at` if it has no weights, in the
 * unit of the file. */
static double mean_wavelength(const nb_h5_input *in, const char *path, long long at)
{
    char weights[NB_H5_PATH + 16];
    hsize_t n[NB_H5_RANK], m[NB_H5_RANK];
    int rank = 0;
    double *A = nb_h5_get_numbers(in, path, &rank, n), *w = NULL, sum = 0, total = 0;
    snprintf(weights, sizeof weights, "%s_weights", path);
    if (A && rank == 1 && n[2] > 1)
        w = nb_h5_get_numbers(in, weights, &rank, m);
    for (hsize_t i = 0; w && rank == 1 && n[2] == m[2] && i < n[2]; i++) {
        sum += w[i] * A[i];
        total += w[i];
    }
    nb_free(A);
    nb_free(w);
    return total > 0 ? sum / total : nb_h5_get_number(in, path, at, 1);
}

/** Find the groups with a beam: NXbeam of instrument and sample, and the
 * monochromator. */
static void find_beams(const nb_h5_input *in, const char *entry, const char *instrument,
                       char beams[3][NB_H5_NAME])
{
    char sample[NB_H5_NAME];
    nb_nx_find_group(in, instrument, "NXbeam", "beam", beams[0]);
    nb_nx_find_group(in, entry, "NXsample", "sample", sample);
    nb_nx_find_group(in, sample, "NXbeam", "beam", beams[1]);
    nb_nx_find_group(in, instrument, "NXmonochromator", "monochromator", beams[2]);
}

double nb_nx_wavelength(const nb_h5_input *in, const char *entry, const char *instrument,
                        long long at, char found[NB_H5_PATH])
{
    static const char *const names[] = {"incident_wavelength", "wavelength",
                                        "incident_energy", "energy"};
    char beams[3][NB_H5_NAME], path[NB_H5_PATH];
    find_beams(in, entry, instrument, beams);
    for (int energy = 0; energy < 2; energy++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) {
                double scale;
                if (!nb_h5_at(in, beams[i], names[2 * energy + j], path))
                    continue;
                if (found)
                    memcpy(found, path, sizeof path);
                scale = scale_of(in, path, energy ? NB_NX_EV : NB_NX_ANGSTROM);
                if (scale == 0)
                    return NAN;
                if (energy)
                    return NB_HC_EV_ANGSTROM / (nb_h5_get_number(in, path, at, 1) * scale);
                return nb_in_unit(mean_wavelength(in, path, at), scale);
            }
    return NAN;
}

int nb_nx_polarization(const nb_h5_input *in, const char *entry, const char *instrument,
                       long long at, double *K, nb_opt3 *axis)
{
    char beams[3][NB_H5_NAME], path[NB_H5_PATH];
    double s[4], along;
    int there = 0;
    find_beams(in, entry, instrument, beams);
    for (int i = 0; i < 2 && !there; i++)
        there = nb_h5_at(in, beams[i], "incident_polarization_stokes", path);
    for (int i = 0; there && i < 4; i++) {
        s[i] = nb_h5_get_number(in, path, 4 * at + i, 4);
        there = isfinite(s[i]);
    }
    if (!there || !(s[0] > 0) || !(hypot(s[1], s[2]) <= s[0] * (1 + 1e-6)))
        return 0;
    *K = fmin(hypot(s[1], s[2]) / s[0], 1);
    along = 0.5 * atan2(s[2], s[1]);
    if (*K > 0)
        *axis = (nb_opt3){1, {cos(along), sin(along), 0}};
    return 1;
}

nb_status nb_nx_check_probe(const nb_h5_input *in, const char *entry,
                            const char *instrument, nb_error *err)
{
    const char *const parents[] = {entry, instrument};
    char source[NB_H5_NAME], path[NB_H5_PATH], text[40], other[NB_TEXT_WORD];
    for (int i = 0; i < 2; i++) {
        if (!nb_nx_find_group(in, parents[i], "NXsource", "source", source) ||
            !nb_h5_at(in, source, "probe", path) ||
            !nb_h5_get_string(in, path, NULL, text, sizeof text))
            continue;
        for (const char *others = "neutron electron muon positron proton";
             nb_text_word(&others, other);)
            if (strstr(text, other))
                return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                                  "%s is '%s': only X-rays are simulated", path, text);
    }
    return NB_OK;
}

/* --- groups --- */

/** List the names of groups, separated by commas. */
static void list_names(char (*paths)[NB_H5_NAME], int n, char *list, size_t size)
{
    list[0] = '\0';
    for (int i = 0; i < n && strlen(list) + 3 < size; i++)
        snprintf(list + strlen(list), size - strlen(list), "%s%s", i ? ", " : "",
                 strrchr(paths[i], '/') + 1);
}

nb_status nb_nx_one_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                          char path[NB_H5_NAME], nb_error *err)
{
    char(*paths)[NB_H5_NAME], list[200];
    int n;
    nb_status st;
    NB_FORWARD(nb_h5_children(in, parent, nx_class, MAX_GROUPS, &paths, &n, err));
    if (n == 1)
        memcpy(path, paths[0], NB_H5_NAME);
    list_names(paths, n, list, sizeof list);
    nb_free(paths);
    if (n == 0)
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0, "%s has no group of class %s",
                          parent, nx_class);
    if (n > 1)
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "%s has several groups of class %s: %s", parent, nx_class, list);
    return NB_OK;
}

int nb_nx_find_group(const nb_h5_input *in, const char *parent, const char *nx_class,
                     const char *name, char path[NB_H5_NAME])
{
    char(*paths)[NB_H5_NAME];
    int n = 0;
    if (nb_h5_children(in, parent, nx_class, MAX_GROUPS, &paths, &n, NULL))
        n = 0;
    if (n > 0)
        memcpy(path, paths[0], NB_H5_NAME);
    else if (snprintf(path, NB_H5_NAME, "%s/%s", parent, name) >= NB_H5_NAME)
        path[0] = '\0';
    nb_free(paths);
    return n > 0 || nb_h5_there(in, path);
}

/** Fail because there is no entry or more than one, and list the groups. */
static nb_status no_entry(const nb_h5_input *in, char (*entries)[NB_H5_NAME], int n,
                          nb_error *err)
{
    char(*all)[NB_H5_NAME] = NULL, list[200];
    int there = 0;
    if (n == 0 && nb_h5_children(in, "/", NULL, MAX_GROUPS, &all, &there, NULL))
        there = 0;
    list_names(n ? entries : all, n ? n : there, list, sizeof list);
    nb_free(all);
    if (n)
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "several groups of class NXentry: %s, and no attribute "
                          "`default` that names one",
                          list);
    return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                      "no group of class NXentry and no /entry; there %s %s%s",
                      there ? "is:" : "is", there ? list : "nothing",
                      there == MAX_GROUPS ? ", ..." : "");
}

nb_status nb_nx_entry(const nb_h5_input *in, char entry[NB_H5_NAME], nb_error *err)
{
    char(*paths)[NB_H5_NAME], named[NB_H5_NAME - 1];
    int n, at = -1;
    nb_status st;
    NB_FORWARD(nb_h5_children(in, "/", "NXentry", MAX_GROUPS, &paths, &n, err));
    if (n > 1 && nb_h5_get_string(in, "/", "default", named, sizeof named))
        for (int i = 0; i < n; i++)
            if (strcmp(paths[i] + 1, named + (named[0] == '/')) == 0)
                at = i;
    for (int i = 0; n > 1 && at < 0 && i < n; i++)
        if (strcmp(paths[i], "/entry") == 0)
            at = i;
    if (n == 1)
        at = 0;
    if (at >= 0)
        memcpy(entry, paths[at], NB_H5_NAME);
    else if (n == 0 && nb_h5_there(in, "/entry"))
        snprintf(entry, NB_H5_NAME, "/entry");
    else
        st = no_entry(in, paths, n, err);
    nb_free(paths);
    return st;
}

/** Motion of an axis: it rests, turns in each frame, or varies from frame to frame. */
typedef enum motion { UNKNOWN, RESTS, TURNS, VARIES } motion;

/** True if the values of a set differ; *n is the number of values. */
static int differs(const nb_h5_input *in, const char *path, hsize_t *n)
{
    hsize_t dims[NB_H5_RANK];
    int rank, yes = 0;
    double *values = nb_h5_get_numbers(in, path, &rank, dims);
    *n = values ? dims[0] * dims[1] * dims[2] : 0;
    for (hsize_t i = 1; i < *n && !yes; i++)
        yes = values[i] != values[0];
    nb_free(values);
    return yes;
}

/** Number `at` of the set whose name is that of the axis plus a suffix, deg. The default
 * unit is that of the axis. */
static double beside(const nb_h5_input *in, const char *axis, const char *suffix,
                     long long at)
{
    char path[NB_H5_PATH];
    double scale;
    snprintf(path, sizeof path, "%s%s", axis, suffix);
    scale = nb_nx_scale(in, path, "units", NB_NX_DEGREES);
    if (scale == 0)
        scale = nb_nx_scale(in, axis, "units", NB_NX_DEGREES);
    return nb_h5_get_number(in, path, at, 1) * (scale == 0 ? 1 : scale);
}

/** Find start and width of a frame, deg, and the kind of motion. */
static motion look_at(const nb_h5_input *in, const char *path, long long frame,
                      double *start, double *width)
{
    const char *steps = "_increment_set _increment _range_average";
    char step[NB_TEXT_WORD];
    hsize_t n;
    int varies = differs(in, path, &n);
    *start = nx_number(in, path, NB_NX_DEGREES, frame);
    *width = beside(in, path, "_end", frame) - *start;
    while (!isfinite(*width) && nb_text_word(&steps, step))
        *width = beside(in, path, step, frame);
    if (!isfinite(*width) && varies) {
        long long other = frame + 1 < (long long)n ? frame + 1 : frame - 1;
        *width = (nx_number(in, path, NB_NX_DEGREES, other) - *start) *
                 (double)(other - frame);
    }
    return varies ? VARIES : isfinite(*width) && *width != 0 ? TURNS : RESTS;
}

/** If an axis moves more than the best axis so far (*best), take its angles and return
 * 1. */
static int is_better(const nb_h5_input *in, const char *path, long long frame,
                     motion *best, nb_nx_scan *out)
{
    double phi, osc;
    const motion how = look_at(in, path, frame, &phi, &osc);
    if (how <= *best)
        return 0;
    *best = how;
    out->phi_deg = phi;
    out->osc_deg = osc;
    return 1;
}

static nb_status scan_of_chain(const nb_h5_input *in, const char *start, long long frame,
                               nb_nx_chain *chain, nb_nx_scan *out, nb_error *err)
{
    char next[NB_H5_NAME];
    motion best = UNKNOWN;
    int at = -1;
    nb_status st;
    if (!nb_h5_get_string(in, start, NULL, next, sizeof next))
        return NB_OK;
    NB_FORWARD(nb_nx_chain_read(in, start, next, chain, err));
    for (int i = 0; i < chain->n; i++)
        if (chain->axes[i].rotates && is_better(in, chain->axes[i].path, frame, &best, out))
            at = i;
    if (at < 0)
        return NB_OK;
    memcpy(out->spindle.v, chain->axes[at].vector, sizeof out->spindle.v);
    nb_unit3(out->spindle.v);
    nb_nx_turn(chain, at + 1, out->spindle.v);
    out->spindle.set = 1;
    return NB_OK;
}

/** Find the angles of a sample without a chain of axes. */
static void scan_of_goniometer(const nb_h5_input *in, const char *sample, long long frame,
                               nb_nx_scan *out)
{
    const char *names = "goniometer/omega goniometer/phi goniometer/chi goniometer/kappa "
                        "transformations/omega transformations/phi "
                        "transformations/chi transformations/kappa";
    char path[NB_H5_PATH], name[NB_TEXT_WORD];
    motion best = UNKNOWN;
    while (nb_text_word(&names, name))
        if (nb_h5_at(in, sample, name, path))
            (void)is_better(in, path, frame, &best, out);
}

nb_status nb_nx_scan_read(const nb_h5_input *in, const char *entry, long long frame,
                          nb_nx_chain *chain, nb_nx_scan *out, nb_error *err)
{
    char sample[NB_H5_NAME], start[NB_H5_PATH];
    int there;
    nb_status st;
    *out = (nb_nx_scan){.phi_deg = NAN, .osc_deg = NAN};
    nb_nx_find_group(in, entry, "NXsample", "sample", sample);
    there = nb_h5_at(in, sample, "depends_on", start);
    st = scan_of_chain(in, start, frame, chain, out, err);
    if (!st && !there)
        scan_of_goniometer(in, sample, frame, out);
    return st;
}

nb_status nb_nx_get_length(const nb_h5_input *in, const char *path, double *value,
                           nb_error *err)
{
    if (!isfinite(nb_h5_get_number(in, path, 0, 1)))
        return nb_h5_wrong(in, path, "must be a finite number", err);
    *value = nx_number(in, path, NB_NX_METRES, 0);
    if (!isfinite(*value))
        return nb_h5_wrong(in, path, "the attribute units must name a length", err);
    return NB_OK;
}

nb_status nb_nx_angstroms(const nb_h5_input *in, const char *path, double *values,
                          size_t n, nb_error *err)
{
    const double scale = scale_of(in, path, NB_NX_ANGSTROM);
    if (scale == 0)
        return nb_h5_wrong(
            in, path, "the attribute units must name a length, as nm or angstrom", err);
    for (size_t i = 0; i < n; i++)
        values[i] = nb_in_unit(values[i], scale);
    return NB_OK;
}

nb_status nb_nx_offset(const nb_h5_input *in, const char *path, double offset[3],
                       nb_error *err)
{
    double scale = nb_nx_scale(in, path, "offset_units", NB_NX_METRES);
    int there = nb_h5_get_vector(in, path, "offset", 3, offset);
    if (!there)
        memset(offset, 0, 3 * sizeof *offset);
    if (!there || (offset[0] == 0 && offset[1] == 0 && offset[2] == 0))
        return NB_OK;
    if (scale == 0)
        scale = nb_nx_scale(in, path, "units", NB_NX_METRES);
    if (scale == 0)
        return nb_h5_wrong(in, path, "the attribute offset_units must name a length", err);
    for (int i = 0; i < 3; i++)
        offset[i] = nb_in_unit(offset[i], scale);
    return NB_OK;
}

/** Make the absolute path of `name`, which is absolute or relative to the group of the
 * data set `from`; "" at the end of a chain. */
static nb_status resolve(const nb_h5_input *in, const char *from, const char *name,
                         char path[NB_H5_NAME], nb_error *err)
{
    const char *slash = strrchr(from, '/');
    int n;
    path[0] = '\0';
    while (name[0] == '.' && name[1] == '/')
        name += 2;
    if (!name[0] || strcmp(name, ".") == 0)
        return NB_OK;
    n = name[0] == '/'
            ? snprintf(path, NB_H5_NAME, "%s", name)
            : snprintf(path, NB_H5_NAME, "%.*s/%s", (int)(slash - from), from, name);
    if (n >= NB_H5_NAME || !nb_h5_there(in, path)) {
        path[0] = '\0';
        return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                          "%s: depends_on names %.60s, which is not there", from, name);
    }
    return NB_OK;
}

static nb_status read_axis(const nb_h5_input *in, nb_nx_axis *axis, nb_error *err)
{
    char type[32];
    double angle = nb_nx_scale(in, axis->path, "units", NB_NX_DEGREES);
    int typed = nb_h5_get_string(in, axis->path, "transformation_type", type, sizeof type);
    axis->rotates = typed ? strcmp(type, "rotation") == 0 : angle != 0;
    if (typed && !axis->rotates && strcmp(type, "translation") != 0)
        return nb_h5_wrong(in, axis->path,
                           "transformation_type must be translation or rotation", err);
    if (!nb_h5_get_vector(in, axis->path, "vector", 3, axis->vector))
        return nb_h5_wrong(in, axis->path, "the attribute vector must be three numbers",
                           err);
    if (!isfinite(nb_h5_get_number(in, axis->path, 0, 1)))
        return nb_h5_wrong(in, axis->path, "must be a finite number", err);
    axis->value =
        nx_number(in, axis->path, axis->rotates ? NB_NX_DEGREES : NB_NX_METRES, 0);
    if (!isfinite(axis->value))
        return nb_h5_wrong(
            in, axis->path,
            "the attribute units must name a length for a translation, an angle "
            "for a rotation",
            err);
    if (axis->rotates && axis->vector[0] == 0 && axis->vector[1] == 0 &&
        axis->vector[2] == 0)
        return nb_h5_wrong(in, axis->path, "a rotation about the vector 0", err);
    return nb_nx_offset(in, axis->path, axis->offset, err);
}

nb_status nb_nx_chain_read(const nb_h5_input *in, const char *from, const char *name,
                           nb_nx_chain *chain, nb_error *err)
{
    char path[NB_H5_NAME], next[NB_H5_NAME];
    nb_status st = resolve(in, from, name, path, err);
    chain->n = 0;
    while (!st && path[0]) {
        nb_nx_axis *axis = &chain->axes[chain->n];
        if (chain->n == NB_NX_DEEPEST)
            return nb_h5_wrong(in, path, "the chain of depends_on does not end", err);
        chain->n++;
        memcpy(axis->path, path, sizeof path);
        NB_FORWARD(read_axis(in, axis, err));
        if (!nb_h5_get_string(in, axis->path, "depends_on", next, sizeof next))
            return NB_OK;
        st = resolve(in, axis->path, next, path, err);
    }
    return st;
}

static void rotate(const nb_nx_axis *axis, double v[3])
{
    nb_vec3 about = nb_unit(nb_v3(axis->vector[0], axis->vector[1], axis->vector[2]));
    nb_vec3 w = nb_rotate_about(nb_v3(v[0], v[1], v[2]), about, axis->value * NB_DEG);
    v[0] = w.x;
    v[1] = w.y;
    v[2] = w.z;
}

void nb_nx_move(const nb_nx_chain *chain, int first, double point[3])
{
    for (int i = first; i < chain->n; i++) {
        const nb_nx_axis *axis = &chain->axes[i];
        if (axis->rotates)
            rotate(axis, point);
        for (int j = 0; j < 3; j++)
            point[j] +=
                axis->offset[j] + (axis->rotates ? 0 : axis->value * axis->vector[j]);
    }
}

void nb_nx_turn(const nb_nx_chain *chain, int first, double direction[3])
{
    for (int i = first; i < chain->n; i++)
        if (chain->axes[i].rotates)
            rotate(&chain->axes[i], direction);
}
