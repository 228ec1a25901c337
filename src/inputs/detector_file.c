/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/text.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../params/params.h"

static void say_other_wavelength(const nb_config *cfg, const nb_panel_spec *p,
                                 double file_A, const nb_hooks *hooks)
{
    double used = nb_beam_wavelength(NB_RESOLVED(cfg));
    if (cfg->expt_file[0] && p->thickness > 0 && !isnan(p->attenuation) &&
        !NB_GIVEN(cfg, abs_um) && !(cfg->thick_um == 0) &&
        fabs(used - file_A) > 1e-9 * file_A)
        nb_notice(hooks,
                  "the sensor's attenuation is that of the file's wavelength, %g A, not "
                  "of %g A; type -detector_abs for another",
                  file_A, used);
}

/** Complete flags from the detector; typed values do not change. */
static void complete(nb_config *cfg, const nb_detector_spec *d, const nb_hooks *hooks)
{
    if (!NB_GIVEN(cfg, lambda_A) && !NB_GIVEN(cfg, energy_eV))
        cfg->lambda_A = d->wavelength_A;
    else if (!isnan(d->wavelength_A))
        say_other_wavelength(cfg, d->panels, d->wavelength_A, hooks);
    if (!cfg->polar_set && !cfg->nopolar && !isnan(d->polarization))
        cfg->polarization = d->polarization;
    cfg->phi_deg = NB_VALUE_OR(cfg, phi_deg, d->phi_deg);
    cfg->osc_deg = NB_VALUE_OR(cfg, osc_deg, d->osc_deg);
    if (cfg->exposure_s == 1 && d->exposure_s > 0)
        cfg->exposure_s = d->exposure_s;
}

static nb_status refuse_file(const nb_config *cfg, const char *flag, int n, nb_error *err)
{
    const char *file = nb_config_geometry_flag(cfg);
    return nb_fail(err, NB_ERR_INPUT,
                   "%s: such a file holds one panel, but that of %s%s has %d; write "
                   "-hdf5 FILE, with -stills 1 for a single image",
                   flag, file ? "-" : "", file ? file : "detector", n);
}

/** If there are several panels, refuse typed output files that can hold only one panel,
 * and switch off such files if they are defaults. */
static nb_status leave_out_files(nb_config *cfg, nb_inputs *in, int n, nb_error *err)
{
    const int typed = cfg->typed_files;
    if (n == 1)
        return NB_OK;
    for (const nb_output *f = nb_output_next(NULL); f; f = nb_output_next(f))
        if (f->one_panel && nb_output_path(f, cfg)[0] && (!f->typed || typed & f->typed))
            return refuse_file(cfg, f->flag, n, err);
    /* the other files are by-products, and get no note */
    in->left_out = cfg->write_noise;
    cfg->write_int = cfg->write_pgm = 0;
    return NB_OK;
}

/** Check the panels that a caller gave, as the panels of files are checked. */
static nb_status check_given(const nb_config *cfg, nb_detector_spec *d, nb_error *err)
{
    nb_status st = NB_OK;
    for (int k = 0; !st && cfg->detector && k < d->n_panels; k++) {
        char name[NB_PANEL_NAME + 8];
        nb_place_in_file at = {"detector", 0, name};
        d->panels[k].name[NB_PANEL_NAME - 1] = '\0';
        snprintf(name, sizeof name, "panel %s", d->panels[k].name);
        st = nb_panel_spec_check(&d->panels[k], &at, err);
    }
    return st ? st : nb_spec_check_size(d, "detector", err);
}

/** Check that a typed -detpixels is the size of the stack of the file's panels. */
static nb_status check_pixels(nb_config *cfg, const nb_detector_spec *spec, nb_error *err)
{
    const char *file = nb_config_geometry_flag(cfg);
    int size[2] = {0, 0};
    for (int k = 0; k < spec->n_panels; k++) {
        const int *own = spec->panels[k].size;
        size[0] = own[0] > size[0] ? own[0] : size[0];
        size[1] += own[1];
    }
    for (int i = 0; i < 2 && file; i++) {
        if (cfg->detpixels[i] != 0 && cfg->detpixels[i] != size[i])
            return nb_fail(
                err, NB_ERR_INPUT,
                "-detpixels contradicts -%s: the detector of the file has %d x %d "
                "pixels (its panels one below the other); leave -detpixels out",
                file, size[0], size[1]);
        cfg->detpixels[i] = 0;
    }
    return NB_OK;
}

/** Arguments of make_spec. */
typedef struct spec_request {
    const nb_config *cfg;
    const nb_hooks *hooks;
} spec_request;

static nb_status make_spec(void *user, void **object, size_t *bytes, nb_error *err)
{
    const spec_request *r = user;
    nb_detector_spec *spec =
        nb_shared_new(sizeof *spec, nb_free_detector, "detector", err);
    nb_status st = !spec              ? NB_ERR_NOMEM
                   : r->cfg->detector ? nb_detector_spec_copy(r->cfg->detector, spec, err)
                                      : nb_read_geometry(r->cfg, r->hooks, spec, err);
    *object = spec;
    if (!st && spec->n_panels)
        st = check_given(r->cfg, spec, err);
    if (!st)
        *bytes = sizeof *spec + (size_t)spec->n_panels * sizeof *spec->panels;
    return st;
}

/** Key of all values that a detector from a file depends on. */
static nb_key key_of_spec(const nb_config *cfg, const nb_inputs *in)
{
    const nb_geometry_typed t = nb_geometry_typed_of(cfg);
    const int numbers[] = {t.experiment, (int)t.convention, t.has_sources,
                           isnan(t.wavelength_A)};
    nb_key key = nb_key_of("detector");
    nb_key_file(&key, in->store, cfg->geom_file);
    nb_key_file(&key, in->store, cfg->expt_file);
    nb_key_file(&key, in->store, cfg->nxmx_file);
    nb_key_text(&key, cfg->expt_image);
    nb_key_add(&key, numbers, sizeof numbers);
    nb_key_number(&key, t.distance_mm);
    nb_key_add(&key, &in->panels_id, sizeof in->panels_id);
    return key;
}

nb_status nb_load_detector(nb_config *cfg, nb_inputs *in, const nb_hooks *hooks,
                           nb_detector_spec **out, nb_error *err)
{
    spec_request r = {cfg, hooks};
    void *object = NULL;
    nb_detector_spec *spec;
    nb_status st = NB_OK;
    *out = NULL;
    if (cfg->detector || nb_config_geometry_flag(cfg)) {
        in->spec_key = key_of_spec(cfg, in);
        st = nb_store_take(in->store, &in->spec_key, make_spec, &r, &object, err);
    }
    spec = object;
    cfg->detector = NULL;
    if (!st && !spec && cfg->panel_list[0])
        st =
            nb_fail(err, NB_ERR_INPUT,
                    "-panel %.60s: only with a detector from a file: -geom, -expt, -nxmx",
                    cfg->panel_list);
    if (st || !spec)
        return st;
    *out = spec;
    cfg->detector = spec;
    if ((st = nb_say_open_geometry(cfg, spec, hooks, err)) ||
        (st = check_pixels(cfg, spec, err)))
        return st;
    complete(cfg, spec, hooks);
    return leave_out_files(cfg, in, spec->n_panels, err);
}

/* --- -panel --- */

/** Panel that a word of -panel names, or -1. */
static int find_panel(const nb_detector_spec *d, const char *word, size_t n)
{
    int number;
    for (int k = 0; k < d->n_panels; k++)
        if (strlen(d->panels[k].name) == n && !memcmp(d->panels[k].name, word, n))
            return k;
    if (nb_text_int(word, word + n, &number) != word + n || number < 0 ||
        number >= d->n_panels)
        return -1;
    return number;
}

nb_status nb_choose_panels(const char *list, nb_files *files, nb_error *err)
{
    const nb_detector_spec *d = &files->spec;
    const char *word = list;
    char *chosen = nb_alloc((size_t)d->n_panels, 1, "list of panels", err);
    nb_status st = chosen ? nb_spec_need_mask(&files->spec, err) : NB_ERR_NOMEM;
    int first = 1;
    while (!st) {
        size_t n = strcspn(word, ",");
        int k = find_panel(d, word, n);
        if (k < 0) {
            st = nb_fail(
                err, NB_ERR_INPUT,
                "-panel %.60s: there is no panel %.*s; the detector has %d, from "
                "%s",
                list, (int)(n < 60 ? n : 60), word, d->n_panels, d->panels[0].name);
            break;
        }
        chosen[k] = 1;
        files->trace_panel = first ? k : files->trace_panel;
        first = 0;
        if (!word[n])
            break;
        word += n + 1;
    }
    for (int k = 0; !st && k < d->n_panels; k++)
        if (!chosen[k])
            nb_spec_mask_box(&files->spec, k, (int[2]){0, NB_PANEL_EDGE},
                             (int[2]){0, NB_PANEL_EDGE});
    nb_free(chosen);
    return st;
}

/* --- gains --- */

nb_status nb_load_panel_noise(nb_files *files, nb_error *err)
{
    const nb_detector_spec *d = &files->spec;
    size_t n = (size_t)d->n_panels;
    if (!n)
        return NB_OK;
    files->panel_gains = nb_alloc(2 * n, sizeof *files->panel_gains, "panels", err);
    for (size_t k = 0; files->panel_gains && k < n; k++) {
        files->panel_gains[k] = d->panels[k].gain;
        files->panel_gains[n + k] = nb_said_or(d->panels[k].saturation, 0);
    }
    return files->panel_gains ? NB_OK : NB_ERR_NOMEM;
}

/* --- crystal --- */

void nb_matrix_of_file(nb_convention convention, const double A[9], nb_matrix *matrix)
{
    for (int i = 0; i < 3; i++) {
        const double column[3] = {A[i], A[3 + i], A[6 + i]};
        nb_vec3 v = nb_lab_of_nexus(convention, column);
        matrix->at[i] = v.x;
        matrix->at[3 + i] = v.y;
        matrix->at[6 + i] = v.z;
    }
    matrix->given = matrix->of_detector = 1;
    matrix->has_ends = 0;
    matrix->lambda_A = 1;
}

void nb_load_file_crystal(const nb_config *cfg, nb_matrix *matrix)
{
    const nb_detector_spec *d = cfg->detector;
    if (d && d->has_crystal && cfg->cell_count == 0 && !cfg->mat_file[0])
        nb_matrix_of_file(NB_RESOLVED(cfg)->value.convention, d->crystal, matrix);
}

int nb_use_start(const nb_config *typed, const nb_expt_start *start, nb_config *cfg,
                 nb_matrix *matrix)
{
    const nb_convention convention = NB_RESOLVED(cfg)->value.convention;
    if (!NB_GIVEN(typed, lambda_A) && !NB_GIVEN(typed, energy_eV) &&
        !isnan(start->wavelength_A))
        cfg->lambda_A = start->wavelength_A;
    if (!NB_GIVEN(typed, phi_deg) && !isnan(start->phi_deg))
        cfg->phi_deg = start->phi_deg;
    if (!typed->beam_vector.set && start->beam.set && !start->varies) {
        const nb_vec3 beam = nb_lab_of_nexus(convention, start->beam.v);
        cfg->beam_vector = (nb_opt3){1, {beam.x, beam.y, beam.z}};
    }
    if (typed->cell_count > 0 || typed->mat_file[0] || !start->has_crystal ||
        start->varies)
        return 0;
    nb_matrix_of_file(convention, start->crystal, matrix);
    return 1;
}
