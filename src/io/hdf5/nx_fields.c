/* SPDX-License-Identifier: MIT */
#include "nx_fields.h"

#ifdef NB_HAVE_HDF5
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "../../model/units.h"
#include "../../physics/vec3.h"

enum { MOST_GROUPS = 64, PATH = 2 * NB_H5_NAME };

typedef struct unit {
    const char *name;
    double scale;
} unit;

static const unit lengths[] = {{"m", 1},
                               {"mm", 1e-3},
                               {"um", 1e-6},
                               {"nm", 1e-9},
                               {"A", 1e-10},
                               {"cm", 1e-2},
                               {"pm", 1e-12},
                               {"meter", 1},
                               {"metre", 1},
                               {"meters", 1},
                               {"metres", 1},
                               {"micron", 1e-6},
                               {"microns", 1e-6},
                               {"angstrom", 1e-10},
                               {"Angstrom", 1e-10},
                               {"angstroms", 1e-10},
                               {"Ang", 1e-10},
                               {"Angstroms", 1e-10},
                               {"millimeter", 1e-3},
                               {"millimetre", 1e-3},
                               {"\xC3\x85", 1e-10},
                               {"millimeters", 1e-3},
                               {"nanometer", 1e-9},
                               {"\xC2\xB5m", 1e-6},
                               {"\xCE\xBCm", 1e-6},
                               {"\xE2\x84\xAB", 1e-10},
                               {NULL, 0}};
static const unit angles[] = {{"deg", 1},
                              {"degree", 1},
                              {"degrees", 1},
                              {"\xC2\xB0", 1},
                              {"rad", 1 / NB_DEG},
                              {"radian", 1 / NB_DEG},
                              {"radians", 1 / NB_DEG},
                              {"mrad", 1e-3 / NB_DEG},
                              {NULL, 0}};
static const unit energies[] = {{"eV", 1}, {"keV", 1e3}, {"MeV", 1e6}, {NULL, 0}};

/** A name that is printed, added to a list. */
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
    const unit *u = kind == NB_NX_DEGREES ? angles
                    : kind == NB_NX_EV    ? energies
                                          : lengths;
    char text[32], *first = text, *end;
    if (!nb_h5_get_string(in, path, attribute, text, sizeof text))
        return 0;
    while (isspace((unsigned char)*first))
        first++;
    for (end = first + strlen(first); end > first && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    for (; u->name; u++)
        if (strcmp(first, u->name) == 0)
            return u->scale / base[kind];
    return 0;
}

double nb_nx_in_unit(double value, double scale)
{
    /* 320 um: 320/1e6 is the nearest double, 320*1e-6 need not be */
    if (scale >= 1)
        return fabs(scale - round(scale)) < 1e-9 * scale ? value * round(scale)
                                                         : value * scale;
    return fabs(1 / scale - round(1 / scale)) < 1e-9 / scale ? value / round(1 / scale)
                                                             : value * scale;
}

/** Has it no unit at all?  An attribute that cannot be read counts as a unit. */
static int is_bare(const nb_h5_input *in, const char *path)
{
    char text[32];
    hid_t id = H5Aopen_by_name(in->file, path, "units", H5P_DEFAULT, H5P_DEFAULT);
    if (id < 0)
        return 1;
    H5Aclose(id);
    return nb_h5_get_string(in, path, "units", text, sizeof text) &&
           text[strspn(text, " ")] == '\0';
}

/** The scale of a data set; 1 without a unit (metres are 1000 mm).  A remark says what is odd. */
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

double nb_nx_number(const nb_h5_input *in, const char *path, nb_nx_kind kind, long long at)
{
    double value = nb_h5_there(in, path) ? nb_h5_get_number(in, path, at, 1) : NAN;
    double scale = isfinite(value) ? scale_of(in, path, kind) : 0;
    return scale > 0 ? nb_nx_in_unit(value, scale) : NAN;
}

double nb_nx_first(const nb_h5_input *in, const char *group, const char *const *names,
                   nb_nx_kind kind, long long at)
{
    char path[PATH];
    for (; *names; names++)
        if (snprintf(path, PATH, "%s/%s", group, *names) < PATH && nb_h5_there(in, path))
            return nb_nx_number(in, path, kind, at);
    return NAN;
}

/* --- detector --- */

double nb_nx_distance_mm(const nb_h5_input *in, const char *detector, long long at)
{
    static const char *const names[] = {"distance", "detector_distance", NULL};
    return nb_nx_first(in, detector, names, NB_NX_MILLIMETRES, at);
}

double nb_nx_beam_px(const nb_h5_input *in, const char *detector, int axis,
                     double pixel_mm, long long at)
{
    static const char *const names[2][4] = {
        {"beam_center_x", "beam_centre_x", "beam_x", NULL},
        {"beam_center_y", "beam_centre_y", "beam_y", NULL}};
    char path[PATH];
    for (const char *const *name = names[axis]; *name; name++) {
        double scale;
        if (snprintf(path, PATH, "%s/%s", detector, *name) >= PATH ||
            !nb_h5_there(in, path))
            continue;
        scale = nb_nx_scale(in, path, "units", NB_NX_MILLIMETRES);
        return nb_h5_get_number(in, path, at, 1) * (scale > 0 ? scale / pixel_mm : 1);
    }
    return NAN;
}

/* --- beam --- */

/** The mean of a spectrum, or its wavelength number `at`; in the file's unit. */
static double mean_wavelength(const nb_h5_input *in, const char *path, long long at)
{
    char weights[PATH + 16];
    nb_h5_set set;
    double one = nb_h5_get_number(in, path, at, 1), *A = NULL, *w = NULL;
    double sum = 0, total = 0;
    size_t n = 0;
    snprintf(weights, sizeof weights, "%s_weights", path);
    if (nb_h5_set_open(in, path, -1, &set)) {
        n = set.rank == 1 && set.dims[2] <= 1000000 ? (size_t)set.dims[2] : 0;
        nb_h5_set_close(&set);
    }
    if (n > 1) {
        A = nb_alloc(n, sizeof *A, "spectrum", NULL);
        w = nb_alloc(n, sizeof *w, "spectrum", NULL);
    }
    if (A && w && nb_h5_get_column(in, path, H5T_NATIVE_DOUBLE, sizeof *A, n, A) &&
        nb_h5_get_column(in, weights, H5T_NATIVE_DOUBLE, sizeof *w, n, w))
        for (size_t i = 0; i < n; i++) {
            sum += w[i] * A[i];
            total += w[i];
        }
    nb_free(A);
    nb_free(w);
    return total > 0 ? sum / total : one;
}

/** The group of the beam: of the instrument, or of the sample. */
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
                        long long at, char found[PATH])
{
    static const char *const names[] = {"incident_wavelength", "wavelength",
                                        "incident_energy", "energy"};
    char beams[3][NB_H5_NAME], path[PATH];
    find_beams(in, entry, instrument, beams);
    for (int energy = 0; energy < 2; energy++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 2; j++) {
                double scale;
                if (snprintf(path, PATH, "%s/%s", beams[i], names[2 * energy + j]) >= PATH ||
                    !nb_h5_there(in, path))
                    continue;
                if (found)
                    memcpy(found, path, sizeof path);
                scale = scale_of(in, path, energy ? NB_NX_EV : NB_NX_ANGSTROM);
                if (scale == 0)
                    return NAN;
                if (energy)
                    return NB_HC_EV_ANGSTROM / (nb_h5_get_number(in, path, at, 1) * scale);
                return nb_nx_in_unit(mean_wavelength(in, path, at), scale);
            }
    return NAN;
}

int nb_nx_polarization(const nb_h5_input *in, const char *entry, const char *instrument,
                       long long at, double *K, nb_opt3 *axis)
{
    char beams[3][NB_H5_NAME], path[PATH];
    double s[4], along;
    int there = 0;
    find_beams(in, entry, instrument, beams);
    for (int i = 0; i < 2 && !there; i++)
        there = snprintf(path, PATH, "%s/incident_polarization_stokes", beams[i]) < PATH &&
                nb_h5_there(in, path);
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
    static const char *const others[] = {"neutron",  "electron", "muon",
                                         "positron", "proton",   NULL};
    const char *const parents[] = {entry, instrument};
    char source[NB_H5_NAME], path[PATH], text[40];
    for (int i = 0; i < 2; i++) {
        if (!nb_nx_find_group(in, parents[i], "NXsource", "source", source) ||
            snprintf(path, PATH, "%s/probe", source) >= PATH || !nb_h5_there(in, path) ||
            !nb_h5_get_string(in, path, NULL, text, sizeof text))
            continue;
        for (int j = 0; others[j]; j++)
            if (strstr(text, others[j]))
                return nb_fail_at(err, NB_ERR_INPUT, in->name, 0,
                                  "%s is '%s': only X-rays are simulated", path, text);
    }
    return NB_OK;
}

/* --- groups --- */

/** Names of groups, with commas between them. */
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
    nb_status st = nb_h5_children(in, parent, nx_class, MOST_GROUPS, &paths, &n, err);
    if (st)
        return st;
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
    if (nb_h5_children(in, parent, nx_class, MOST_GROUPS, &paths, &n, NULL))
        n = 0;
    if (n > 0)
        memcpy(path, paths[0], NB_H5_NAME);
    else if (snprintf(path, NB_H5_NAME, "%s/%s", parent, name) >= NB_H5_NAME)
        path[0] = '\0';
    nb_free(paths);
    return n > 0 || nb_h5_there(in, path);
}

/** What is there instead of an entry. */
static nb_status no_entry(const nb_h5_input *in, char (*entries)[NB_H5_NAME], int n,
                          nb_error *err)
{
    char(*all)[NB_H5_NAME] = NULL, list[200];
    int there = 0;
    if (n == 0 && nb_h5_children(in, "/", NULL, MOST_GROUPS, &all, &there, NULL))
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
                      there == MOST_GROUPS ? ", ..." : "");
}

nb_status nb_nx_entry(const nb_h5_input *in, char entry[NB_H5_NAME], nb_error *err)
{
    char(*paths)[NB_H5_NAME], named[NB_H5_NAME - 1];
    int n, at = -1;
    nb_status st = nb_h5_children(in, "/", "NXentry", MOST_GROUPS, &paths, &n, err);
    if (st)
        return st;
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
#else
typedef int nb_nx_fields_is_absent; /* a file must not be empty */
#endif
