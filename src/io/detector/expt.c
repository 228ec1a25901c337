/* SPDX-License-Identifier: MIT */
#include "expt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/matrix.h"
#include "../../base/memory.h"
#include "../../base/text.h"
#include "../../physics/vec3.h"
#include "../common/panel_spec.h"
#include "expt_parts.h"

/* Beam, goniometer, scan and crystal of an experiment. */

static void apply(const double m[9], double v[3])
{
    double w[3];
    for (int i = 0; i < 3; i++)
        w[i] = nb_dot3(m + 3 * i, v);
    memcpy(v, w, sizeof w);
}

/** Unit vector along v, in the frame of NeXus. */
static nb_opt3 direction(const double v[3])
{
    nb_opt3 out = {1, {v[0], v[1], v[2]}};
    nb_unit3(out.v);
    nb_turn_dxtbx(out.v);
    return out;
}

static nb_status read_polarization(const nb_node *beam, const double along[3],
                                   nb_detector_spec *out, nb_error *err)
{
    nb_node fraction = nb_node_member(beam, "polarization_fraction");
    double normal[3], axis[3], p;
    nb_status st;
    if (!nb_node_has(beam, "polarization_fraction") ||
        !nb_node_has(beam, "polarization_normal"))
        return NB_OK;
    NB_FORWARD(nb_node_number(&fraction, &p, err));
    NB_FORWARD(nb_node_member_numbers(beam, "polarization_normal", 3, normal, err));
    if (!(p >= 0 && p <= 1))
        return nb_node_fail(&fraction, "must be from 0 to 1", err);
    nb_cross3(normal, along, axis);
    if (!(nb_length3(axis) > 1e-9 * nb_length3(normal)))
        return nb_node_fail(beam, "polarization_normal is along the beam", err);
    out->polarization = 2 * p - 1;
    out->polar_axis = direction(axis);
    return NB_OK;
}

/** Read the wavelength; if one is typed, an invalid wavelength of the file is ignored. */
static nb_status read_wavelength(const nb_node *beam, const nb_geometry_typed *typed,
                                 nb_detector_spec *out, nb_error *err)
{
    nb_node wavelength = nb_node_member(beam, "wavelength");
    double range[2];
    nb_status st;
    if (!isnan(typed->wavelength_A) || typed->has_sources) {
        if (nb_node_number(&wavelength, &out->wavelength_A, NULL))
            out->wavelength_A = NAN;
        return NB_OK;
    }
    if (!wavelength.json &&
        !nb_node_member_numbers(beam, "wavelength_range", 2, range, NULL))
        return nb_fail_at(err, NB_ERR_INPUT, beam->file, 0,
                          "%s: a polychromatic beam, %.7g to %.7g A: type -lambda, "
                          "-energy or -sourcefile",
                          beam->pointer, range[0], range[1]);
    if (!wavelength.json)
        return nb_node_fail(beam, "no wavelength: type -lambda, -energy or -sourcefile",
                            err);
    NB_FORWARD(nb_node_number(&wavelength, &out->wavelength_A, err));
    if (!(out->wavelength_A > 1e-6 && out->wavelength_A < 1e6))
        return nb_node_fail(&wavelength, "must be above 1e-6 and below 1e6 A", err);
    return NB_OK;
}

/** Refuse electrons and neutrons, whose scattering is not simulated. */
static nb_status check_probe(const nb_node *beam, nb_error *err)
{
    nb_node probe = nb_node_member(beam, "probe");
    const char *text = cJSON_IsString(probe.json) ? probe.json->valuestring : "x-ray";
    if (strcmp(text, "x-ray") == 0 || strcmp(text, "xray") == 0 ||
        strcmp(text, "X-ray") == 0)
        return NB_OK;
    return nb_node_fail(&probe, "is not x-ray: only X-rays are simulated", err);
}

static nb_status expt_beam(const nb_node *beam, const nb_geometry_typed *typed,
                           nb_detector_spec *out, nb_error *err)
{
    double along[3];
    nb_status st;
    if (!beam->json)
        return NB_OK;
    NB_FORWARD(check_probe(beam, err));
    NB_FORWARD(read_wavelength(beam, typed, out, err));
    if (!nb_node_has(beam, "direction"))
        return NB_OK;
    NB_FORWARD(nb_node_member_numbers(beam, "direction", 3, along, err));
    if (!(nb_length3(along) > 0))
        return nb_node_fail(beam, "the direction is zero", err);
    for (int i = 0; i < 3; i++)
        along[i] = -along[i];
    nb_unit3(along);
    out->beam = direction(along);
    return read_polarization(beam, along, out, err);
}

/* --- goniometer --- */

static void rotation(const double axis[3], double degrees, double m[9])
{
    nb_vec3 a = nb_unit(nb_v3(axis[0], axis[1], axis[2]));
    for (int j = 0; j < 3; j++) {
        nb_vec3 e = nb_rotate_about(nb_v3(j == 0, j == 1, j == 2), a, degrees * NB_DEG);
        m[j] = e.x;
        m[3 + j] = e.y;
        m[6 + j] = e.z;
    }
}

/** Read a goniometer of several axes, which are listed from the crystal outwards. F:
 * rotation by the axes before the scan axis; S: by the axes after the scan axis. */
static nb_status several_axes(const nb_node *node, double F[9], double S[9],
                              double axis[3], nb_error *err)
{
    nb_node axes = nb_node_member(node, "axes"), angles = nb_node_member(node, "angles");
    nb_node scan = nb_node_member(node, "scan_axis"), one;
    int n = nb_node_count(&axes), at = 0;
    double v[3], angle, turn[9];
    nb_status st;
    if (n < 1 || n > 20 || nb_node_count(&angles) != n)
        return nb_node_fail(node, "axes and angles must be arrays of one length, 1 to 20",
                            err);
    if (scan.json && (st = nb_node_whole(&scan, 0, n - 1, &at, err)))
        return st;
    for (int i = 0; i < n; i++) {
        one = nb_node_element(&axes, i);
        NB_FORWARD(nb_node_numbers(&one, 3, v, err));
        if (!(nb_length3(v) > 0))
            return nb_node_fail(&one, "an axis needs a direction", err);
        one = nb_node_element(&angles, i);
        NB_FORWARD(nb_node_number(&one, &angle, err));
        rotation(v, angle, turn);
        if (i < at)
            nb_multiply(turn, F, F);
        else if (i == at)
            memcpy(axis, v, sizeof v);
        else
            nb_multiply(turn, S, S);
    }
    return NB_OK;
}

static nb_status optional_matrix(const nb_node *node, const char *key, double m[9],
                                 nb_error *err)
{
    return nb_node_has(node, key) ? nb_node_member_numbers(node, key, 9, m, err) : NB_OK;
}

/* Read the goniometer. F and S: rotations before and after the scan axis; both are the
 * identity without a goniometer. */
static nb_status expt_goniometer(const nb_node *node, nb_detector_spec *out, double F[9],
                                 double S[9], nb_error *err)
{
    double axis[3];
    nb_status st;
    nb_identity(F);
    nb_identity(S);
    if (!node->json)
        return NB_OK;
    if (nb_node_has(node, "axes")) {
        NB_FORWARD(several_axes(node, F, S, axis, err));
    } else if ((st = nb_node_member_numbers(node, "rotation_axis", 3, axis, err)) ||
               (st = optional_matrix(node, "fixed_rotation", F, err)) ||
               (st = optional_matrix(node, "setting_rotation", S, err))) {
        return st;
    }
    apply(S, axis);
    if (!(nb_length3(axis) > 0))
        return nb_node_fail(node, "the rotation axis needs a direction", err);
    out->spindle = direction(axis);
    return NB_OK;
}

/* --- scan --- */

/** Read the first number of an array, and the step to the second. *step does not change
 * if there is no second number. */
static nb_status first_and_step(const nb_node *list, double *first, double *step,
                                nb_error *err)
{
    nb_node one = nb_node_element(list, 0);
    double second;
    nb_status st;
    if (nb_node_count(list) < 1)
        return nb_node_fail(list, "must be an array that is not empty", err);
    if ((st = nb_node_number(&one, first, err)) || nb_node_count(list) < 2)
        return st;
    one = nb_node_element(list, 1);
    NB_FORWARD(nb_node_number(&one, &second, err));
    *step = second - *first;
    return NB_OK;
}

static nb_status read_exposure(const nb_node *list, nb_detector_spec *out, nb_error *err)
{
    double first = NAN, step;
    nb_status st = NB_OK;
    if (list->json && nb_node_count(list) > 0)
        st = first_and_step(list, &first, &step, err);
    if (!st && first > 0)
        out->exposure_s = first;
    return st;
}

static nb_status expt_scan(const nb_node *scan, nb_detector_spec *out, nb_error *err)
{
    nb_node properties = nb_node_member(scan, "properties");
    nb_node from = properties.json ? properties : *scan;
    nb_node angles = nb_node_member(&from, "oscillation");
    nb_node width = nb_node_member(&from, "oscillation_width");
    nb_node times = nb_node_member(&from, "exposure_time");
    double pair[2];
    nb_status st = NB_OK;
    if (!scan->json)
        return NB_OK;
    if (!width.json)
        width = nb_node_member(scan, "oscillation_width");
    if (angles.json && !properties.json) {
        st = nb_node_numbers(&angles, 2, pair, err);
        out->phi_deg = st ? NAN : pair[0];
        out->osc_deg = st ? NAN : pair[1];
    } else if (angles.json) {
        st = first_and_step(&angles, &out->phi_deg, &out->osc_deg, err);
    }
    if (width.json && nb_node_count(&width) >= 1)
        width = nb_node_element(&width, 0);
    if (!st && width.json && isnan(out->osc_deg))
        st = nb_node_number(&width, &out->osc_deg, err);
    if (!st && out->spindle.set)
        nb_spec_positive_osc(out);
    if (!st && (out->osc_deg < 0 || out->osc_deg > 1e6))
        return nb_node_fail(scan, "the width of the oscillation must be 0 to 1e6 deg",
                            err);
    return st ? st : read_exposure(&times, out, err);
}

/* --- crystal --- */

/** Read a crystal that is constant in the scan. A: its matrix times the cell volume. */
static nb_status steady_crystal(const nb_node *crystal, double A[9], double *volume,
                                nb_error *err)
{
    static const char *const names[] = {"real_space_a", "real_space_b", "real_space_c"};
    double real[3][3], reciprocal[3];
    nb_status st;
    for (int i = 0; i < 3; i++)
        NB_FORWARD(nb_node_member_numbers(crystal, names[i], 3, real[i], err));
    nb_cross3(real[1], real[2], reciprocal);
    *volume = nb_dot3(real[0], reciprocal);
    if (!(fabs(*volume) >
          1e-9 * nb_length3(real[0]) * nb_length3(real[1]) * nb_length3(real[2])))
        return nb_node_fail(crystal, "the cell has no volume", err);
    for (int i = 0; i < 3; i++) {
        nb_cross3(real[(i + 1) % 3], real[(i + 2) % 3], reciprocal);
        for (int j = 0; j < 3; j++)
            A[3 * j + i] = reciprocal[j];
    }
    return NB_OK;
}

/** Set out->crystal to the product of `turned` and A, divided by the volume. turned:
 * rotation of the crystal at phi 0. */
static void place_crystal(const double turned[9], const double A[9], double volume,
                          nb_detector_spec *out)
{
    for (int i = 0; i < 3; i++) {
        double column[3] = {A[i], A[3 + i], A[6 + i]};
        apply(turned, column);
        nb_turn_dxtbx(column);
        for (int j = 0; j < 3; j++)
            out->crystal[3 * j + i] = column[j] / volume;
    }
    out->has_crystal = 1;
}

static nb_status read_models(const nb_node *root, const nb_expt_choice *chosen,
                             const nb_geometry_typed *typed, const nb_hooks *hooks,
                             nb_detector_spec *out, nb_error *err)
{
    const nb_node *experiment = &chosen->experiment;
    nb_expt_varying of = {.hooks = hooks};
    double A[9], F[9], turned[9], volume = 1;
    nb_status st;
    NB_FORWARD(nb_expt_model(root, experiment, "beam", &of.beam, err));
    NB_FORWARD(expt_beam(&of.beam, typed, out, err));
    NB_FORWARD(nb_expt_model(root, experiment, "goniometer", &of.goniometer, err));
    NB_FORWARD(expt_goniometer(&of.goniometer, out, F, of.S, err));
    NB_FORWARD(nb_expt_model(root, experiment, "scan", &of.scan, err));
    NB_FORWARD(expt_scan(&of.scan, out, err));
    NB_FORWARD(nb_expt_model(root, experiment, "crystal", &of.crystal, err));
    if (of.crystal.json && (st = steady_crystal(&of.crystal, A, &volume, err)))
        return st;
    out->scan.measured = chosen->has_images;
    NB_FORWARD(nb_expt_scan_points(&of, out, A, err));
    nb_multiply(of.S, F, turned);
    if (of.crystal.json)
        place_crystal(turned, A, out->scan.change ? 1 : volume, out);
    if (chosen->image > 0 && out->osc_deg > 0)
        out->phi_deg += (chosen->image - nb_expt_first_image(&of.scan)) * out->osc_deg;
    return NB_OK;
}

static nb_status read_root(const nb_node *root, const nb_geometry_typed *typed,
                           const nb_hooks *hooks, nb_detector_spec *out, nb_error *err)
{
    nb_expt_choice chosen;
    nb_node detector;
    nb_status st;
    NB_FORWARD(nb_expt_choose(root, typed, hooks, &chosen, err));
    NB_FORWARD(nb_expt_model(root, &chosen.experiment, "detector", &detector, err));
    if (!detector.json)
        return nb_node_fail(&chosen.experiment, "the experiment has no detector", err);
    NB_FORWARD(nb_expt_detector(&detector, out, err));
    if ((st = read_models(root, &chosen, typed, hooks, out, err)))
        nb_detector_spec_free(out);
    return st;
}

/** Parse the text. Free *root with cJSON_Delete; it is NULL after an error. */
static nb_status open_text(const char *data, size_t n, const char *name, cJSON **root,
                           nb_error *err)
{
    const char *stop = data;
    long line = 1;
    *root = cJSON_ParseWithLengthOpts(data, n, &stop, 0);
    if (!*root) {
        for (const char *p = data; p < stop && p < data + n; p++)
            line += *p == '\n';
        return nb_fail_at(err, NB_ERR_INPUT, name, line, "not valid JSON");
    }
    while (stop < data + n && (nb_text_blank(*stop) || *stop == '\n' || !*stop))
        stop++;
    if (stop == data + n)
        return NB_OK;
    cJSON_Delete(*root);
    *root = NULL;
    return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                      "text follows the JSON object at byte %td", stop - data);
}

nb_status nb_expt_parse(const char *data, size_t n, const char *name,
                        const nb_geometry_typed *typed, const nb_hooks *hooks,
                        nb_detector_spec *out, nb_error *err)
{
    nb_node root = {name, NULL, ""};
    cJSON *json;
    nb_status st = open_text(data, n, name, &json, err);
    memset(out, 0, sizeof *out);
    root.json = json;
    NB_TRY(read_root(&root, typed, hooks, out, err));
    cJSON_Delete(json);
    return st;
}

/* --- experiments of many images --- */

static nb_status read_start(const nb_node *root, const nb_expt_choice *chosen,
                            nb_expt_start *out, nb_error *err)
{
    /* no typed values, because the caller applies them; has_sources makes the wavelength
     * optional */
    const nb_geometry_typed typed = {.wavelength_A = NAN, .has_sources = 1};
    nb_detector_spec d;
    nb_status st;
    NB_FORWARD(nb_detector_spec_new(1, &d, err));
    if (!(st = read_models(root, chosen, &typed, NULL, &d, err))) {
        *out = (nb_expt_start){.number = chosen->number,
                               .has_crystal = d.has_crystal,
                               .varies = d.scan.change || d.scan.setting || d.scan.beam,
                               .wavelength_A = d.wavelength_A,
                               .phi_deg = d.phi_deg,
                               .beam = d.beam};
        memcpy(out->crystal, d.crystal, sizeof out->crystal);
    }
    nb_detector_spec_free(&d);
    return st;
}

nb_status nb_expt_starts(const char *data, size_t n, const char *name,
                         const nb_expt_names *of, nb_expt_start *out, nb_error *err)
{
    nb_node root = {name, NULL, ""};
    nb_expt_choice *chosen = NULL;
    cJSON *json;
    nb_status st = open_text(data, n, name, &json, err);
    root.json = json;
    if (!st &&
        !(chosen = nb_alloc((size_t)of->count + 1, sizeof *chosen, "experiments", err)))
        st = NB_ERR_NOMEM;
    NB_TRY(nb_expt_find(&root, of, chosen, err));
    for (int k = 0; k < of->count && !st; k++) {
        out[k].number = -1;
        if (chosen[k].image)
            st = read_start(&root, &chosen[k], &out[k], err);
    }
    nb_free(chosen);
    cJSON_Delete(json);
    return st;
}
