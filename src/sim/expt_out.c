/* SPDX-License-Identifier: MIT */
/* -exptout: models of dxtbx (docs/formats.md). */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/common/axes.h"
#include "../io/common/panel_spec.h"
#include "../model/frame.h"
#include "write.h"
#include "report.h"

static void put_dxtbx(nb_json to, const char *key, const double nexus[3], double scale)
{
    double v[3] = {nexus[0] * scale, nexus[1] * scale, nexus[2] * scale};
    nb_turn_dxtbx(v);
    nb_json_numbers(to, key, v, 3);
}

/** s0 at the ends of the frames. */
static void add_beam_points(nb_json beam, const nb_detector_spec *d,
                            const nb_detector_spec *from, int frames)
{
    nb_json list;
    if (!from || !from->scan.beam)
        return;
    list = nb_json_array(beam, "s0_at_scan_points");
    for (int i = 0; i <= frames; i++) {
        nb_opt3 s0 = nb_scan_beam(&from->scan, d->phi_deg + i * d->osc_deg, 0);
        for (int j = 0; j < 3; j++)
            s0.v[j] /= d->wavelength_A;
        nb_turn_dxtbx(s0.v);
        nb_json_add_numbers(list, s0.v, 3);
    }
}

static void add_beam(nb_json root, const nb_detector_spec *d, const nb_sim *sim,
                     int frames)
{
    nb_json beam = nb_json_add_object(nb_json_array(root, "beam"));
    double normal[3];
    nb_cross3(d->beam.v, d->polar_axis.v, normal);
    if (nb_length3(normal) > 0)
        nb_unit3(normal);
    nb_json_text(beam, "__id__", "monochromatic");
    put_dxtbx(beam, "direction", d->beam.v, -1);
    nb_json_number(beam, "wavelength", d->wavelength_A);
    nb_json_number(beam, "divergence", 0);
    nb_json_number(beam, "sigma_divergence", 0);
    put_dxtbx(beam, "polarization_normal", normal, 1);
    nb_json_number(beam, "polarization_fraction",
                   isnan(d->polarization) ? 0.5 : (1 + d->polarization) / 2);
    nb_json_number(beam, "flux", 0);
    nb_json_number(beam, "transmission", 1);
    add_beam_points(beam, d, sim->cfg.detector, frames);
}

static void add_mask(nb_json panel, int k, const nb_mask_box *boxes, int n)
{
    nb_json list = nb_json_array(panel, "mask");
    for (int i = 0; i < n; i++)
        if (boxes[i].panel == k) {
            const double box[4] = {boxes[i].x[0], boxes[i].y[0], boxes[i].x[1],
                                   boxes[i].y[1]};
            nb_json_add_numbers(list, box, 4);
        }
}

static void add_panel(nb_json list, const nb_panel_spec *p, int k, const int place[2],
                      const nb_mask_box *boxes, int n)
{
    const double size[2] = {p->size[0], p->size[1]}, at[2] = {place[0], place[1]};
    const double pixel[2] = {p->pixel[0] * 1e3, p->pixel[1] * 1e3};
    const double trusted[2] = {0, isnan(p->saturation) ? 0 : p->saturation};
    nb_json one = nb_json_add_object(list);
    nb_json_text(one, "name", p->name);
    nb_json_text(one, "type", "SENSOR_PAD");
    put_dxtbx(one, "fast_axis", p->fast, 1);
    put_dxtbx(one, "slow_axis", p->slow, 1);
    put_dxtbx(one, "origin", p->origin, 1e3);
    nb_json_numbers(one, "raw_image_offset", at, 2);
    nb_json_numbers(one, "image_size", size, 2);
    nb_json_numbers(one, "pixel_size", pixel, 2);
    nb_json_numbers(one, "trusted_range", trusted, 2);
    nb_json_number(one, "thickness", p->thickness * 1e3);
    nb_json_text(one, "material",
                 p->material[0]     ? p->material
                 : p->thickness > 0 ? "Si"
                                    : "");
    nb_json_number(one, "mu", p->thickness > 0 ? p->attenuation * 1e-3 : 0);
    nb_json_text(one, "identifier", "");
    add_mask(one, k, boxes, n);
    nb_json_number(one, "gain", p->gain);
    nb_json_number(one, "pedestal", 0);
    nb_json_text(nb_json_object(one, "px_mm_strategy"), "type",
                 p->thickness > 0 ? "ParallaxCorrectedPxMmStrategy"
                                  : "SimplePxMmStrategy");
}

static void add_detector(nb_json root, const nb_sim *sim, const nb_detector_spec *d)
{
    enum { MOST_BOXES = 1000000 };
    nb_json list =
        nb_json_array(nb_json_add_object(nb_json_array(root, "detector")), "panels");
    int(*place)[2] = nb_alloc((size_t)d->n_panels, sizeof *place, "layout", NULL);
    nb_mask_box *boxes;
    int n = nb_spec_mask_boxes(d, MOST_BOXES, &boxes), begin = 0;
    if (!place) {
        *root.failed = 1;
        n = 0;
    }
    if (n < 0)
        nb_notice(&sim->hooks, "-exptout: the mask has too many pieces and is left out");
    if (place)
        nb_sim_canvas(sim, place);
    for (int k = 0; place && k < d->n_panels; k++) {
        int end = begin;
        while (end < n && boxes[end].panel == k)
            end++;
        add_panel(list, &d->panels[k], k, place[k], boxes + begin, end - begin);
        begin = end;
    }
    nb_free(boxes);
    nb_free(place);
}

static void add_goniometer(nb_json root, const nb_detector_spec *d)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    nb_json one = nb_json_add_object(nb_json_array(root, "goniometer"));
    put_dxtbx(one, "rotation_axis", d->spindle.v, 1);
    nb_json_numbers(one, "fixed_rotation", identity, 9);
    nb_json_numbers(one, "setting_rotation", identity, 9);
}

/** The same value for each image. */
static void add_of_each(nb_json to, const char *key, double value, int frames)
{
    nb_json list = nb_json_array(to, key);
    for (int i = 0; i < frames; i++)
        nb_json_add_number(list, value);
}

static void add_scan(nb_json root, const nb_detector_spec *d, int frames)
{
    const double range[2] = {1, frames}, oscillation[2] = {d->phi_deg, d->osc_deg};
    nb_json one = nb_json_add_object(nb_json_array(root, "scan"));
    nb_json_numbers(one, "image_range", range, 2);
    nb_json_number(one, "batch_offset", 0);
    nb_json_numbers(one, "oscillation", oscillation, 2);
    add_of_each(one, "exposure_time", d->exposure_s, frames);
    add_of_each(one, "epochs", 0, frames);
    nb_json_object(one, "valid_image_ranges");
}

/** A at the ends of the frames, of a crystal that changes along its scan. */
static void add_crystal_points(nb_json crystal, const nb_sim *sim, int frames)
{
    const nb_model *m = &sim->model;
    const double *misset = m->crystal.misset, *rot = sim->moved.rot;
    const nb_vec3 w = nb_v3(rot[0], rot[1], rot[2]);
    nb_scan_points ends;
    const nb_scan_points *scan = nb_matrix_scan(&sim->in.matrix, &sim->in.detector, &ends);
    nb_json list;
    if (!m->steps || !(m->phi_range > 0))
        return;
    list = nb_json_array(crystal, "A_at_scan_points");
    for (int i = 0; i <= frames; i++) {
        const int k = i < frames ? i : frames - 1; /* the frame */
        const nb_scan_frame frame = {m->phi0 + k * m->phi_range, m->phi_range,
                                     m->geometry.spindle, m->geometry.convention};
        double A[9], lambda = sim->in.matrix.lambda_A;
        nb_scan_at(scan, &frame, m->phi0 + i * m->phi_range, sim->in.matrix.at, A);
        for (int j = 0; j < 3; j++) {
            nb_vec3 v = nb_v3(A[j], A[3 + j], A[6 + j]);
            double column[3];
            v = nb_turn(w, nb_rotate_xyz(v, misset[0], misset[1], misset[2]));
            nb_nexus_of_lab(m->geometry.convention, v, column);
            nb_turn_dxtbx(column);
            for (int x = 0; x < 3; x++)
                A[3 * x + j] = column[x] / (lambda > 0 ? lambda : m->wavelength_A);
        }
        nb_json_add_numbers(list, A, 9);
    }
}

/** Edges in the lab, m; they take the place of others. */
static void add_edges(nb_json crystal, const nb_sim *sim, const nb_vec3 edges[3])
{
    static const char *const keys[] = {"real_space_a", "real_space_b", "real_space_c"};
    for (int i = 0; i < 3; i++) {
        double v[3];
        cJSON_DeleteItemFromObject(crystal.json, keys[i]);
        nb_nexus_of_lab(sim->model.geometry.convention, edges[i], v);
        put_dxtbx(crystal, keys[i], v, 1e10);
    }
}

static void add_crystal(nb_json root, const nb_sim *sim, int frames)
{
    const nb_crystal *x = &sim->model.crystal;
    const nb_vec3 edges[3] = {x->a, x->b, x->c};
    nb_json one = nb_json_add_object(nb_json_array(root, "crystal"));
    nb_json_text(one, "__id__", "crystal");
    add_edges(one, sim, edges);
    nb_json_text(one, "space_group_hall_symbol", " P 1");
    add_crystal_points(one, sim, frames);
}

static void add_experiment(nb_json root, int scan)
{
    nb_json one = nb_json_add_object(nb_json_array(root, "experiment"));
    nb_json_text(one, "__id__", "Experiment");
    nb_json_text(one, "identifier", "");
    nb_json_number(one, "beam", 0);
    nb_json_number(one, "detector", 0);
    nb_json_number(one, "goniometer", 0);
    if (scan)
        nb_json_number(one, "scan", 0);
    nb_json_number(one, "crystal", 0);
}

/** The tree of one experiment. */
static void add_all(nb_json root, const nb_sim *sim, const nb_detector_spec *d, int frames)
{
    const int scan = d->osc_deg > 0 || d->phi_deg != 0;
    nb_json_text(root, "__id__", "ExperimentList");
    add_experiment(root, scan);
    nb_json_array(root, "imageset");
    add_beam(root, d, sim, frames);
    add_detector(root, sim, d);
    add_goniometer(root, d);
    if (scan)
        add_scan(root, d, frames);
    else
        nb_json_array(root, "scan");
    add_crystal(root, sim, frames);
    nb_json_array(root, "profile");
    nb_json_array(root, "scaling_model");
}

/** Write the tree, and delete it. */
static nb_status put_tree(nb_json root, const char *path, nb_error *err)
{
    char *text;
    nb_status st = nb_json_print(root, "the experiments", &text, err);
    if (st)
        return st;
    st = nb_outfile_put(path, text, strlen(text), err);
    nb_free(text);
    return st;
}

nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *d, int frames,
                        nb_error *err)
{
    int failed = 0;
    nb_json root = {cJSON_CreateObject(), &failed};
    add_all(root, sim, d, frames);
    return put_tree(root, sim->cfg.exptout_file, err);
}

/** A copy of `one` at the end of an array. */
static nb_json add_copy(nb_json to, cJSON *array, const cJSON *one)
{
    nb_json copy = {cJSON_Duplicate(one, 1), to.failed};
    if (!copy.json || !cJSON_AddItemToArray(array, copy.json))
        *to.failed = 1;
    return copy;
}

/** Of each picture with a crystal, as the first one but for name and crystal. */
static void add_list(nb_json root, const nb_sim *sim, const nb_expt_list *list)
{
    cJSON *experiments = cJSON_GetObjectItem(root.json, "experiment");
    cJSON *crystals = cJSON_GetObjectItem(root.json, "crystal");
    cJSON *experiment = cJSON_DetachItemFromArray(experiments, 0);
    cJSON *crystal = cJSON_DetachItemFromArray(crystals, 0);
    int n = 0;
    for (int k = 0; k < list->count; k++) {
        const double *e = list->edges[k];
        const nb_vec3 edges[3] = {
            {e[0], e[1], e[2]}, {e[3], e[4], e[5]}, {e[6], e[7], e[8]}};
        nb_json one;
        if (nb_norm(edges[0]) == 0)
            continue;
        one = add_copy(root, experiments, experiment);
        cJSON_DeleteItemFromObject(one.json, "identifier");
        nb_json_text(one, "identifier", list->names[k]);
        cJSON_DeleteItemFromObject(one.json, "crystal");
        nb_json_number(one, "crystal", n++);
        one = add_copy(root, crystals, crystal);
        cJSON_DeleteItemFromObject(one.json, "A_at_scan_points"); /* of the first */
        add_edges(one, sim, edges);
    }
    cJSON_Delete(experiment);
    cJSON_Delete(crystal);
}

nb_status nb_expt_list_write(const nb_sim *sim, const nb_expt_list *list, nb_error *err)
{
    int failed = 0;
    nb_json root;
    nb_detector_spec d;
    nb_status st = nb_sim_detector_spec(sim, &d, err);
    if (st)
        return st;
    root = (nb_json){cJSON_CreateObject(), &failed};
    add_all(root, sim, &d, 1);
    add_list(root, sim, list);
    nb_detector_spec_free(&d);
    return put_tree(root, list->path, err);
}
