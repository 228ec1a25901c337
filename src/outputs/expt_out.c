/* SPDX-License-Identifier: MIT */
/* -exptout: models of dxtbx (docs/formats.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../io/common/panel_spec.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "write.h"
#include "report.h"

static void put_dxtbx(nb_json to, const char *key, const double nexus[3], double scale)
{
    double v[3] = {nexus[0] * scale, nexus[1] * scale, nexus[2] * scale};
    nb_turn_dxtbx(v);
    nb_json_numbers(to, key, v, 3);
}

/** Add the beam vectors s0 at begin and end of each frame. */
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

static void put_beam(nb_json beam, const nb_detector_spec *d)
{
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
}

static void put_place(nb_json panel, const nb_panel_spec *p)
{
    put_dxtbx(panel, "fast_axis", p->fast, 1);
    put_dxtbx(panel, "slow_axis", p->slow, 1);
    put_dxtbx(panel, "origin", p->origin, 1e3);
}

/** Put a panel. trusted: least and largest counts; p->saturation, if known, replaces
 * trusted[1]. */
static void put_panel(nb_json one, const nb_panel_spec *p, const int place[2],
                      const double trusted[2])
{
    const double size[2] = {p->size[0], p->size[1]}, at[2] = {place[0], place[1]};
    const double pixel[2] = {p->pixel[0] * 1e3, p->pixel[1] * 1e3};
    const double range[2] = {trusted[0], nb_said_or(p->saturation, trusted[1])};
    nb_json_text(one, "name", p->name);
    nb_json_text(one, "type", "SENSOR_PAD");
    put_place(one, p);
    nb_json_numbers(one, "raw_image_offset", at, 2);
    nb_json_numbers(one, "image_size", size, 2);
    nb_json_numbers(one, "pixel_size", pixel, 2);
    nb_json_numbers(one, "trusted_range", range, 2);
    nb_json_number(one, "thickness", p->thickness * 1e3);
    nb_json_text(one, "material",
                 p->material[0]     ? p->material
                 : p->thickness > 0 ? "Si"
                                    : "");
    nb_json_number(one, "mu", p->thickness > 0 ? p->attenuation * 1e-3 : 0);
    nb_json_text(one, "identifier", "");
    nb_json_array(one, "mask");
    nb_json_number(one, "gain", p->gain);
    nb_json_number(one, "pedestal", 0);
    nb_json_text(nb_json_object(one, "px_mm_strategy"), "type",
                 p->thickness > 0 ? "ParallaxCorrectedPxMmStrategy"
                                  : "SimplePxMmStrategy");
}

static void put_detector(nb_json detector, const nb_sim *sim, const nb_detector_spec *d,
                         const double trusted[2])
{
    enum { MAX_BOXES = 1000000 };
    nb_json list = nb_json_array(detector, "panels");
    int(*place)[2] = nb_alloc((size_t)d->n_panels, sizeof *place, "layout", NULL);
    nb_mask_box *boxes;
    const int n = nb_spec_mask_boxes(d, MAX_BOXES, &boxes);
    *detector.failed |= !place;
    if (n < 0)
        nb_notice(&sim->hooks, "-exptout: the mask has too many pieces and is left out");
    if (place)
        nb_sim_canvas(sim, place);
    for (int k = 0, i = 0; place && k < d->n_panels; k++) {
        const nb_json one = nb_json_add_object(list);
        put_panel(one, &d->panels[k], place[k], trusted);
        for (; i < n && boxes[i].panel == k; i++)
            nb_json_add_numbers(
                nb_json_at(one, "mask"),
                (double[]){boxes[i].x[0], boxes[i].y[0], boxes[i].x[1], boxes[i].y[1]}, 4);
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

/** Add the same value for each image. */
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

/** Add A at begin and end of each frame if the crystal changes along the scan. */
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
        /* number of the frame; the last point belongs to the last frame */
        const int k = i < frames ? i : frames - 1;
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

/** Put a crystal with these edges (lab, m). */
static void put_crystal(nb_json crystal, const nb_sim *sim, const nb_vec3 edges[3])
{
    static const char *const keys[] = {"real_space_a", "real_space_b", "real_space_c"};
    nb_json_text(crystal, "__id__", "crystal");
    for (int i = 0; i < 3; i++) {
        double v[3];
        nb_nexus_of_lab(sim->model.geometry.convention, edges[i], v);
        put_dxtbx(crystal, keys[i], v, 1e10);
    }
    nb_json_text(crystal, "space_group_hall_symbol", " P 1");
}

/** Numbers of an experiment's models, -1 for a missing model. */
typedef struct models {
    int beam, detector, goniometer, scan, imageset, crystal;
} models;

static void put_experiment(nb_json one, const char *identifier, const models *m)
{
    const struct {
        const char *key;
        int number;
    } all[] = {
        {"beam", m->beam}, {"detector", m->detector}, {"goniometer", m->goniometer},
        {"scan", m->scan}, {"imageset", m->imageset}, {"crystal", m->crystal}};
    nb_json_text(one, "__id__", "Experiment");
    nb_json_text(one, "identifier", identifier);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].number >= 0)
            nb_json_number(one, all[i].key, all[i].number);
}

/** Add the beam of a picture unless it equals the last beam.  Returns its number. */
static int add_own_beam(nb_json beams, const nb_sim *sim, const nb_detector_spec *d,
                        const double beam[4])
{
    const int n = cJSON_GetArraySize(beams.json);
    nb_detector_spec own = *d;
    nb_json one = {cJSON_CreateObject(), beams.failed};
    own.wavelength_A = beam[0];
    nb_nexus_of_lab(sim->model.geometry.convention, nb_v3(beam[1], beam[2], beam[3]),
                    own.beam.v);
    put_beam(one, &own);
    if (n && cJSON_Compare(one.json, cJSON_GetArrayItem(beams.json, n - 1), 1)) {
        cJSON_Delete(one.json);
        return n - 1;
    }
    if (!cJSON_AddItemToArray(beams.json, one.json))
        *beams.failed = 1;
    return n;
}

/** Put the pictures with a crystal.  frames: frames of the scan. */
static void put_list(nb_json root, const nb_sim *sim, const nb_detector_spec *d,
                     int frames, const nb_expt_list *list)
{
    static const double trusted[2] = {0, 0};
    const int scan = d->osc_deg > 0 || d->phi_deg != 0;
    models m = {.scan = scan ? 0 : -1, .imageset = -1, .crystal = 0};
    nb_json experiments, beams, crystals;
    nb_json_text(root, "__id__", "ExperimentList");
    experiments = nb_json_array(root, "experiment");
    nb_json_array(root, "imageset");
    beams = nb_json_array(root, "beam");
    if (!list->beams) {
        const nb_json beam = nb_json_add_object(beams);
        put_beam(beam, d);
        add_beam_points(beam, d, sim->cfg.detector, frames);
    }
    put_detector(nb_json_add_object(nb_json_array(root, "detector")), sim, d, trusted);
    add_goniometer(root, d);
    if (scan)
        add_scan(root, d, frames);
    else
        nb_json_array(root, "scan");
    crystals = nb_json_array(root, "crystal");
    for (int k = 0; k < list->count; k++) {
        const double *e = list->edges[k];
        const nb_vec3 edges[3] = {
            {e[0], e[1], e[2]}, {e[3], e[4], e[5]}, {e[6], e[7], e[8]}};
        if (nb_norm(edges[0]) == 0)
            continue;
        if (list->beams)
            m.beam = add_own_beam(beams, sim, d, list->beams[k]);
        put_experiment(nb_json_add_object(experiments), list->names[k], &m);
        put_crystal(nb_json_add_object(crystals), sim, edges);
        m.crystal++;
    }
    nb_json_array(root, "profile");
    nb_json_array(root, "scaling_model");
}

nb_status nb_expt_write(const nb_sim *sim, const nb_detector_spec *d, int frames,
                        nb_error *err)
{
    const nb_crystal *x = &sim->model.crystal;
    const double edges[1][9] = {
        {x->a.x, x->a.y, x->a.z, x->b.x, x->b.y, x->b.z, x->c.x, x->c.y, x->c.z}};
    const char *const name = "";
    const nb_expt_list one = {.names = &name, .edges = edges, .count = 1};
    int failed = 0;
    const nb_json root = {cJSON_CreateObject(), &failed};
    put_list(root, sim, d, frames, &one);
    add_crystal_points(
        (nb_json){cJSON_GetArrayItem(nb_json_at(root, "crystal").json, 0), &failed}, sim,
        frames);
    return nb_json_file(root, "the experiments", sim->cfg.exptout_file, "", err);
}

nb_status nb_expt_list_write(const nb_sim *sim, const nb_expt_list *list, nb_error *err)
{
    int failed = 0;
    nb_json root;
    nb_detector_spec d;
    nb_status st;
    NB_FORWARD(nb_sim_detector_spec(sim, &d, err));
    root = (nb_json){cJSON_CreateObject(), &failed};
    put_list(root, sim, &d, 1, list);
    nb_detector_spec_free(&d);
    return nb_json_file(root, "the experiments", list->path, "", err);
}

/* --- stills of a series: written object by object, because there may be many stills
 * --- */

/* number of frames whose truth is kept in memory, and number of bytes of text */
enum { AT_ONCE = 64, BUFFER = 1 << 16 };

typedef struct stills {
    const nb_sim *sim;
    const nb_detector_spec *d; /* detector of sim */
    const nb_expt_stills *of;
    nb_hdf5_frame *truth; /* owned; [AT_ONCE]; frames from `first` on, `count` frames */
    int first, count;
    int *beam, *detector; /* owned; [frames]; numbers of models */
    nb_json like;         /* owned; the detector of sim as JSON */
    nb_outfile *file;
    nb_draft text; /* owned; text that is not written yet */
    int objects;   /* number of objects in the current array */
    int failed;    /* 1: no memory for JSON */
} stills;

/** Write the text if it is longer than `bytes` bytes. */
static nb_status flush(stills *s, size_t bytes, nb_error *err)
{
    const size_t n = s->text.n;
    if (s->text.failed)
        return nb_fail_memory(err, s->text.room, "the experiments");
    if (n <= bytes)
        return NB_OK;
    s->text.n = 0;
    return nb_outfile_write(s->file, s->text.data, n, err);
}

/** Write an object as a line, and delete the object. */
static nb_status put_object(stills *s, nb_json one, nb_error *err)
{
    char *text = one.json && !s->failed && nb_json_write_numbers(one.json)
                     ? cJSON_PrintUnformatted(one.json)
                     : NULL;
    cJSON_Delete(one.json);
    if (!text)
        return nb_fail(err, NB_ERR_NOMEM, "out of memory (for the experiments)");
    nb_draft_put(&s->text, s->objects++ ? ",\n" : "\n");
    nb_draft_bytes(&s->text, text, strlen(text));
    cJSON_free(text);
    return flush(s, BUFFER, err);
}

static nb_json new_object(stills *s)
{
    return (nb_json){cJSON_CreateObject(), &s->failed};
}

/** Truth of frame k, valid until the next call. */
static nb_status truth_of(stills *s, int k, const nb_hdf5_frame **out, nb_error *err)
{
    const int left = s->of->frames - k;
    nb_status st = NB_OK;
    if (k < s->first || k >= s->first + s->count) {
        s->first = k;
        s->count = left < AT_ONCE ? left : AT_ONCE;
        st = s->of->truth(s->of->user, k, s->count, s->truth, err);
    }
    *out = s->truth + (k - s->first);
    return st;
}

static int same_beam(const nb_hdf5_frame *a, const nb_hdf5_frame *b)
{
    return a->wavelength_A == b->wavelength_A && a->polarization == b->polarization &&
           !memcmp(a->beam, b->beam, sizeof a->beam) &&
           !memcmp(a->polar_axis, b->polar_axis, sizeof a->polar_axis);
}

static int same_place(const nb_hdf5_frame *a, const nb_hdf5_frame *b)
{
    return !memcmp(a->pix0_mm, b->pix0_mm, sizeof a->pix0_mm) &&
           !memcmp(a->fast_axis, b->fast_axis, sizeof a->fast_axis) &&
           !memcmp(a->slow_axis, b->slow_axis, sizeof a->slow_axis);
}

/** Give each frame the numbers of its beam and its detector. A frame shares the model of
 * frame 0 or of the last frame if it is equal. */
static nb_status number_models(stills *s, nb_error *err)
{
    nb_hdf5_frame first = {0}, last = {0};
    const nb_hdf5_frame *t;
    int beams = 0, detectors = 0;
    nb_status st = NB_OK;
    for (int k = 0; k < s->of->frames && !(st = truth_of(s, k, &t, err)); k++) {
        if (k == 0)
            first = *t;
        s->beam[k] = k && same_beam(&first, t)  ? 0
                     : k && same_beam(&last, t) ? s->beam[k - 1]
                                                : beams++;
        s->detector[k] = k && same_place(&first, t)  ? 0
                         : k && same_place(&last, t) ? s->detector[k - 1]
                                                     : detectors++;
        last = *t;
    }
    return st;
}

/** Crystals of frame k and their twin parts, [*n]; If NULL is returned, *n is 1, and the
 * truth of the frame has the crystal. */
static const nb_hdf5_crystal *crystals_of(const stills *s, int k, int *n)
{
    const nb_hdf5_crystals *all = s->of->crystals;
    *n = 1;
    if (!all)
        return NULL;
    *n = (int)all->count[k];
    return all->rows + all->first[k];
}

/** True if the row is a crystal with known A, and not a part of a twin. */
static int is_crystal(const nb_hdf5_crystal *row, const nb_hdf5_frame *t)
{
    return row ? !row->twin && isfinite(row->A[0]) : isfinite(t->A[0]);
}

static nb_status put_models(stills *s, const models *of, nb_error *err)
{
    const nb_json one = new_object(s);
    put_experiment(one, "", of);
    return put_object(s, one, err);
}

/** Put an experiment for each crystal, or one for a frame without crystals. */
static nb_status put_experiments(stills *s, int k, const nb_hdf5_frame *t, int *crystals,
                                 nb_error *err)
{
    models of = {s->beam[k], s->detector[k], -1, -1, s->of->image ? k : -1, -1};
    int n;
    const nb_hdf5_crystal *rows = crystals_of(s, k, &n);
    nb_status st = NB_OK;
    for (int m = 0; m < n && !st; m++)
        if (is_crystal(rows ? rows + m : NULL, t)) {
            of.crystal = (*crystals)++;
            st = put_models(s, &of, err);
        }
    return st || of.crystal >= 0 ? st : put_models(s, &of, err);
}

/** Write "../" for each folder of a path. Returns 0 if a folder is ".." or the text is
 * too long. */
static int climb(const char *folder, const char *end, char up[NB_PATH_MAX])
{
    size_t used = 0, n;
    for (; folder < end; folder += n + 1) {
        n = strcspn(folder, "/");
        if (!n || (n == 1 && folder[0] == '.'))
            continue;
        if ((n == 2 && !strncmp(folder, "..", 2)) || used + 4 > NB_PATH_MAX)
            return 0;
        memcpy(up + used, "../", 3);
        used += 3;
    }
    up[used] = '\0';
    return 1;
}

/** Number of bytes of the folders with which both paths begin. */
static size_t common(const char *from, const char *end, const char *image)
{
    size_t n = 0, m;
    for (; from + n < end; n += m) {
        m = strcspn(from + n, "/") + 1;
        if (strncmp(from + n, image + n, m) != 0)
            break;
    }
    return n;
}

/** Path of `image` relative to the folder of file `from`; the whole path if unknown. */
static void name_from(const char *from, const char *image, char out[NB_PATH_MAX])
{
    const char *slash = strrchr(from, '/'), *end = slash ? slash + 1 : from;
    const int rooted = image[0] == '/', alike = rooted == (from[0] == '/');
    const size_t n = alike ? common(from, end, image) : 0;
    char before[NB_PATH_MAX];
    int bytes = -1;
    if (alike && (!rooted || n > 1) && climb(from + n, end, before))
        bytes = snprintf(out, NB_PATH_MAX, "%s%s", before, image + n);
    else if (!rooted && getcwd(before, sizeof before))
        bytes = snprintf(out, NB_PATH_MAX, "%s/%s", before, image);
    if (bytes < 0 || bytes >= NB_PATH_MAX)
        snprintf(out, NB_PATH_MAX, "%s", image);
}

/** Put the path of an image relative to the folder of the experiments, and the index of
 * the image in its file. */
static nb_status put_imageset(stills *s, int k, const nb_hdf5_frame *t, int *next,
                              nb_error *err)
{
    char name[NB_PATH_MAX], from[NB_PATH_MAX] = "";
    int at = -1;
    nb_json one;
    (void)t, (void)next;
    if (!s->of->image)
        return NB_OK;
    s->of->image(s->of->user, k, name, &at);
    if (name[0])
        name_from(s->sim->cfg.exptout_file, name, from);
    one = new_object(s);
    nb_json_text(one, "__id__", "ImageSet");
    nb_json_add_text(nb_json_array(one, "images"), from);
    if (at >= 0)
        nb_json_add_number(nb_json_array(one, "single_file_indices"), at);
    return put_object(s, one, err);
}

static void nexus_of(const stills *s, const double lab[3], double out[3])
{
    nb_nexus_of_lab(s->sim->model.geometry.convention, nb_v3(lab[0], lab[1], lab[2]), out);
}

static nb_status put_own_beam(stills *s, int k, const nb_hdf5_frame *t, int *next,
                              nb_error *err)
{
    nb_detector_spec d = *s->d;
    nb_json one;
    if (s->beam[k] != *next)
        return NB_OK;
    ++*next;
    d.wavelength_A = t->wavelength_A;
    if (!isnan(d.polarization))
        d.polarization = t->polarization;
    nexus_of(s, t->beam, d.beam.v);
    nexus_of(s, t->polar_axis, d.polar_axis.v);
    one = new_object(s);
    put_beam(one, &d);
    return put_object(s, one, err);
}

/** Make orthogonal unit vectors: fast, the normal x fast (near slow), and the normal. */
static void triad(const stills *s, const double fast[3], const double slow[3],
                  double out[3][3])
{
    double down[3];
    nexus_of(s, fast, out[0]);
    nexus_of(s, slow, down);
    nb_cross3(out[0], down, out[2]);
    nb_unit3(out[2]);
    nb_cross3(out[2], out[0], out[1]);
}

static void turn(double from[3][3], double to[3][3], double v[3])
{
    const double old[3] = {v[0], v[1], v[2]};
    for (int x = 0; x < 3; x++)
        v[x] = 0;
    for (int i = 0; i < 3; i++)
        for (int x = 0; x < 3; x++)
            v[x] += nb_dot3(old, from[i]) * to[i][x];
}

/** Shift and rotate a panel as frame t does with the whole detector. */
static void move_panel(const stills *s, const nb_hdf5_frame *t, nb_panel_spec *p)
{
    const nb_image_meta m = nb_sim_describe(s->sim);
    double from[3][3], to[3][3], at[3], now[3];
    triad(s, m.fast_axis, m.slow_axis, from);
    triad(s, t->fast_axis, t->slow_axis, to);
    nexus_of(s, m.pix0_mm, at);
    nexus_of(s, t->pix0_mm, now);
    if (!memcmp(from, to, sizeof from) && !memcmp(at, now, sizeof at))
        return;
    for (int x = 0; x < 3; x++)
        p->origin[x] -= at[x] * 1e-3;
    if (memcmp(from, to, sizeof from)) {
        turn(from, to, p->origin);
        turn(from, to, p->fast);
        turn(from, to, p->slow);
    }
    for (int x = 0; x < 3; x++)
        p->origin[x] += now[x] * 1e-3;
}

static nb_status put_own_detector(stills *s, int k, const nb_hdf5_frame *t, int *next,
                                  nb_error *err)
{
    nb_json one;
    cJSON *panel;
    int i = 0;
    if (s->detector[k] != *next)
        return NB_OK;
    ++*next;
    one = (nb_json){cJSON_Duplicate(s->like.json, 1), &s->failed};
    cJSON_ArrayForEach(panel, cJSON_GetObjectItem(one.json, "panels"))
    {
        static const char *const keys[] = {"fast_axis", "slow_axis", "origin"};
        nb_panel_spec p = s->d->panels[i++];
        for (size_t j = 0; j < sizeof keys / sizeof *keys; j++)
            cJSON_DeleteItemFromObject(panel, keys[j]);
        move_panel(s, t, &p);
        put_place((nb_json){panel, &s->failed}, &p);
    }
    return put_object(s, one, err);
}

/** Put A at the middle of the frame's rotation, since stills have no goniometer. */
static nb_status put_still_crystal(stills *s, const double A[9], const nb_hdf5_frame *t,
                                   nb_error *err)
{
    const double phi = (t->phi_deg + t->osc_deg / 2) * NB_DEG;
    const nb_vec3 axis = nb_v3(t->spindle[0], t->spindle[1], t->spindle[2]);
    nb_vec3 star[3], edges[3];
    nb_json one = new_object(s);
    for (int c = 0; c < 3; c++) {
        star[c] = nb_scale(1e10, nb_v3(A[c], A[3 + c], A[6 + c]));
        if (phi != 0)
            star[c] = nb_rotate_about(star[c], axis, phi);
    }
    for (int c = 0; c < 3; c++) {
        edges[c] = nb_cross(star[(c + 1) % 3], star[(c + 2) % 3]);
        edges[c] = nb_scale(1 / nb_dot(edges[c], star[c]), edges[c]);
    }
    put_crystal(one, s->sim, edges);
    return put_object(s, one, err);
}

static nb_status put_crystals(stills *s, int k, const nb_hdf5_frame *t, int *next,
                              nb_error *err)
{
    int n;
    const nb_hdf5_crystal *rows = crystals_of(s, k, &n);
    nb_status st = NB_OK;
    (void)next;
    for (int m = 0; m < n && !st; m++)
        if (is_crystal(rows ? rows + m : NULL, t))
            st = put_still_crystal(s, rows ? rows[m].A : t->A, t, err);
    return st;
}

/** Put all objects of one kind, frame after frame. `next` puts those of one frame. */
static nb_status put_array(stills *s, const char *key,
                           nb_status (*put)(stills *, int, const nb_hdf5_frame *,
                                            int *next, nb_error *),
                           nb_error *err)
{
    const nb_hdf5_frame *t;
    int next = 0;
    nb_status st = NB_OK;
    nb_draft_put(&s->text, "\"%s\": [", key);
    s->objects = 0;
    for (int k = 0; k < s->of->frames && !st; k++) {
        st = truth_of(s, k, &t, err);
        NB_TRY(put(s, k, t, &next, err));
    }
    nb_draft_put(&s->text, "],\n");
    return st;
}

static nb_status put_stills(stills *s, nb_error *err)
{
    nb_status st = number_models(s, err);
    nb_draft_put(&s->text, "{\"__id__\": \"ExperimentList\",\n");
    NB_TRY(put_array(s, "experiment", put_experiments, err));
    NB_TRY(put_array(s, "imageset", put_imageset, err));
    NB_TRY(put_array(s, "beam", put_own_beam, err));
    NB_TRY(put_array(s, "detector", put_own_detector, err));
    NB_TRY(put_array(s, "crystal", put_crystals, err));
    nb_draft_put(&s->text, "\"goniometer\": [],\n\"scan\": [],\n\"profile\": [],\n"
                           "\"scaling_model\": []}\n");
    return st ? st : flush(s, 0, err);
}

nb_status nb_expt_stills_write(const nb_sim *sim, const nb_detector_spec *detector,
                               const nb_expt_stills *of, nb_outfile *file, nb_error *err)
{
    stills s = {.sim = sim, .d = detector, .of = of, .file = file};
    nb_status st = NB_ERR_NOMEM;
    s.like = new_object(&s);
    s.truth = nb_alloc_raw(AT_ONCE, sizeof *s.truth, "experiments", err);
    s.beam = nb_alloc((size_t)of->frames, sizeof *s.beam, "experiments", err);
    s.detector = nb_alloc((size_t)of->frames, sizeof *s.detector, "experiments", err);
    put_detector(s.like, sim, detector, of->trusted);
    if (s.truth && s.beam && s.detector)
        st = put_stills(&s, err);
    cJSON_Delete(s.like.json);
    nb_free(s.truth);
    nb_free(s.beam);
    nb_free(s.detector);
    nb_free(s.text.data);
    return st;
}
