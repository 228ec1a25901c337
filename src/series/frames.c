/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/outfile.h"
#include "../base/philox.h"
#include "../base/text.h"
#include "../io/common/panel_spec.h"
#include "../model/beam.h"
#include "../model/detector.h"
#include "../model/crystal.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../outputs/write.h"
#include "work.h"

/** Check that the files of the series can hold the value of -saturation. */
static nb_status check_saturation(const nb_series *s, const nb_config *cfg, nb_error *err)
{
    static const double limit[] = {
        [NB_HDF5_U16] = 65533, [NB_HDF5_I32] = 2147483645, [NB_HDF5_F32] = INFINITY, [NB_HDF5_I16] = 32766};
    const nb_format *format = nb_series_format(s);
    nb_pixel_type pixel;
    char where[64];
    nb_status st = NB_OK;
    if (!cfg->write_noise)
        return NB_OK;
    snprintf(where, sizeof where, "-hdf5type %s",
             nb_param_choice("hdf5type", (int)s->hdf5_type));
    if (s->hdf5_file[0])
        st = nb_saturation_check(cfg, limit[s->hdf5_type], where, err);
    if (st || !format)
        return st;
    pixel = nb_format_writer(format, cfg->tiff_bits)->pixel;
    snprintf(where, sizeof where, "-output of %s",
             pixel == NB_PIXEL_U16 ? "16 bits" : format->name);
    return pixel == NB_PIXEL_I32   ? nb_saturation_check(cfg, 2147483645, where, err)
           : pixel == NB_PIXEL_U16 ? nb_saturation_check(cfg, 65534, where, err)
                                   : NB_OK;
}

/** Refuse flags of a series that contradict each other or flags of the image. */
static nb_status refuse(const nb_series *s, const nb_config *cfg, nb_error *err)
{
    const int rotation = s->frames > 0, spectra = s->spectra[0] != 0,
              lambda = s->jitter_lambda_pct > 0, cell = s->jitter_cell_pct > 0,
              beam = s->jitter_beam_mm > 0,
              jitter = lambda || cell || beam || s->jitter_fluence_pct > 0 ||
                       s->jitter_mosaic_pct > 0;
    const struct {
        int wrong;
        const char *why;
    } all[] = {
        {spectra && !s->stills, "-spectra: only with -stills or -jobs"},
        {spectra && cfg->spectrum[0],
         "-spectra and -spectrum both set the sources; give one of them"},
        {spectra && cfg->source_file[0],
         "-spectra and -sourcefile both set the sources; give one of them"},
        {spectra && (cfg->hdiv_range_mrad > 0 || cfg->vdiv_range_mrad > 0 ||
                     cfg->dispersion_pct > 0),
         "-spectra with -divergence or -dispersion: the spectra set all "
         "sources; leave the ranges out"},
        {spectra && lambda, "-spectra with -jitter_lambda: the spectra set the "
                            "wavelengths; leave -jitter_lambda out"},
        {rotation && s->stills, "-frames and -stills: give one of them"},
        {rotation && !isnan(s->hitrate), "-hitrate: only with -stills or -jobs"},
        {rotation && s->orientations[0], "-orientations: only with -stills or -jobs"},
        {s->hdf5_type == NB_HDF5_I16 && cfg->compat,
         "-hdf5type int16 contradicts -compat: the old program's pixels are "
         "unsigned; use uint16"},
        {jitter && rotation, "-jitter_*: only with -stills or -jobs"},
        {lambda && cfg->mat_file[0],
         "-jitter_lambda with -mat: the matrix is in units of 1/wavelength, so the "
         "crystal would change too; type -cell and -misset instead"},
        {cell && !cfg->cell_count, "-jitter_cell: needs -cell"},
        {beam && cfg->pix0_m.set,
         "-jitter_beam with -pix0_vector: the origin fixes the beam centre"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].wrong)
            return nb_fail(err, NB_ERR_INPUT, "%s", all[i].why);
    return NB_OK;
}

static nb_status check(const nb_series *s, const nb_sim *base, nb_error *err)
{
    nb_status st;
    NB_FORWARD(refuse(s, &base->cfg, err));
    if (s->frames + s->stills < 1)
        return nb_fail(err, NB_ERR_INPUT,
                       "%s: type how many images: -stills n (1: one image) or -frames n",
                       s->hdf5_file[0]      ? "-hdf5"
                       : s->output[0]       ? "-output"
                       : s->orientations[0] ? "-orientations"
                                            : "a series");
    if (s->frames > 1 && !(base->model.phi_range > 0) && !s->calls.override)
        return nb_fail(err, NB_ERR_INPUT,
                       "-frames %d needs -osc, the oscillation of one frame", s->frames);
    return check_saturation(s, &base->cfg, err);
}

static nb_status load_spectra(nb_frames *f, nb_error *err)
{
    const char *path = f->series->spectra;
    nb_vec3 from = nb_scale(-10, f->sim->model.geometry.beam);
    char *data;
    size_t bytes;
    nb_status st;
    if (!path[0])
        return NB_OK;
    NB_FORWARD(nb_read_file(path, "-spectra", 0, &data, &bytes, err));
    st = bytes >= 8 && memcmp(data, "\x89HDF\r\n\x1a\n", 8) == 0
             ? nb_hdf5_read_spectra(path, from, f->count, &f->spectra, err)
             : nb_spectra_parse(data, bytes, path, from, f->count, &f->spectra, err);
    nb_free(data);
    if (!st)
        nb_spectra_say_odd(&f->spectra, path, &f->sim->hooks);
    return st;
}

static void take_crystal(const nb_frame_crystal *from, nb_matrix *to)
{
    memcpy(to->at, from->A, sizeof to->at);
    memcpy(to->ends, from->ends, sizeof to->ends);
    to->given = to->has_ends = 1;
    to->of_detector = 0;
    to->lambda_A = 1;
}

nb_frame_extra nb_frames_extra(const nb_frames *f, int k, nb_matrix *matrix)
{
    const nb_spectra *s = &f->spectra;
    const nb_frame_crystal *own =
        f->lines.crystals ? f->lines.crystals + f->first + k : NULL;
    nb_frame_extra extra = {0};
    if (own && own->given) {
        take_crystal(own, matrix);
        extra.matrix = matrix;
    }
    if (s->count) {
        extra.lines = s->lines + s->first[k];
        extra.n_lines = (int)(s->first[k + 1] - s->first[k]);
    }
    return extra;
}

/** Check that all frames of a rotation lie in the scan of -expt. */
static nb_status check_scan(const nb_frames *f, nb_error *err)
{
    const nb_sim *base = f->sim;
    nb_scan_points ends;
    const nb_scan_points *scan =
        nb_matrix_scan(&base->in.matrix, &base->in.detector, &ends);
    const double last = f->phi_deg + (f->count - 1) * f->osc_deg;
    double from, to;
    int inside = 0;
    if (!f->rotation || !scan || !(scan->measured || nb_scan_changes(scan)) ||
        nb_scan_holds(scan, last, f->osc_deg, &from, &to))
        return NB_OK;
    while (inside < f->count &&
           nb_scan_holds(scan, f->phi_deg + inside * f->osc_deg, f->osc_deg, &from, &to))
        inside++;
    return nb_fail(err, NB_ERR_INPUT,
                   "-frames %d: frame %d, %.10g to %.10g deg, is outside of the scan of "
                   "-expt %.200s, whose %d images end at %.10g deg; type -frames %d",
                   f->count, inside + 1, from, to, base->cfg.expt_file, scan->n - 1,
                   scan->phi_deg + (scan->n - 1) * scan->osc_deg, inside);
}

/** Set first_line of frames with several crystals, and the number of lines. */
static nb_status count_lines(nb_frames *f, int *lines, nb_error *err)
{
    nb_status st = NB_OK;
    *lines = f->count;
    if (!nb_frames_have_crystals(f) && !f->override)
        return NB_OK;
    f->first_line =
        nb_alloc((size_t)f->count + 1, sizeof *f->first_line, "orientations", err);
    if (!f->first_line)
        return NB_ERR_NOMEM;
    for (int k = 0; k < f->count && !st; k++) {
        int n = 1;
        st = nb_frames_count(f, k, &n, err);
        f->first_line[k + 1] = f->first_line[k] + n;
    }
    *lines = f->first_line[f->count];
    return st;
}

/** Read the crystals of a CrystFEL stream. */
static nb_status take_stream(nb_frames *f, const char *data, size_t bytes, nb_error *err)
{
    const char *path = f->series->orientations;
    if (f->sim->in.matrix.given || f->base.crystals[0] || NB_VARIES(&f->vary, crystals) ||
        NB_VARIES(&f->vary, cell) || f->series->jitter_cell_pct > 0)
        return nb_fail(
            err, NB_ERR_INPUT,
            "-orientations %.200s: a stream has the cells and the number of crystals; "
            "leave -mat, -crystals, their -vary and -jitter_cell out",
            path);
    return nb_stream_parse(data, bytes, path, f->count, &f->stream, err);
}

/** Read the orientations: one line for each crystal. */
static nb_status take_lines(nb_frames *f, const char *data, size_t bytes, nb_error *err)
{
    const char *path = f->series->orientations;
    int lines;
    nb_status st = count_lines(f, &lines, err);
    if (!st && lines > 0)
        st = nb_orientations_parse(data, bytes, path, lines, &f->lines, err);
    if (!st && f->lines.crystals && lines != f->count)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-orientations %.200s: a line of eighteen numbers is the only crystal "
            "of its frame; type -crystals 1",
            path);
    return st;
}

/** Load -orientations. The file is read only once, because it may be a pipe. */
static nb_status load_orientations(nb_frames *f, nb_error *err)
{
    char *data;
    size_t bytes;
    nb_status st;
    NB_FORWARD(
        nb_read_file(f->series->orientations, "-orientations", 0, &data, &bytes, err));
    st = nb_stream_is(data, bytes) ? take_stream(f, data, bytes, err)
                                   : take_lines(f, data, bytes, err);
    nb_free(data);
    return st;
}

/** Resolve a record. *out gets the resolved numbers; loaded files are freed again. */
static nb_status resolve(const nb_frames *f, const nb_config *record, int64_t seed,
                         nb_config *out, nb_error *err)
{
    nb_inputs in;
    const nb_status st =
        nb_resolve_record(&f->sim->in, record, seed, NULL, NULL, out, &in, err);
    if (!st)
        nb_inputs_drop(&in);
    nb_inputs_show(&f->sim->in, out);
    return st;
}

/** Dose in MGy that frame k alone adds. */
static nb_status dose_of(const nb_frames *f, int k, nb_config *cfg, double *MGy,
                         nb_error *err)
{
    const nb_settings *all;
    double fluence;
    nb_status st = nb_frames_config(f, k, cfg, err);
    NB_TRY(nb_crystal_line(&f->sim->in, 0, cfg, err));
    NB_TRY(resolve(f, cfg, cfg->seed.value, cfg, err));
    if (st)
        return nb_frames_at(f, k, st, err);
    all = NB_RESOLVED(cfg);
    fluence = nb_beam_fluence(all);
    if (f->sim->model.spectrum.is_chaotic) {
        nb_spectrum s = {0};
        st = nb_spectrum_of_frame(f->sim, cfg, &s, err);
        fluence = nb_typeable(fluence * s.factor);
        nb_spectrum_free(&s);
    }
    return st ? st : nb_dose_of_frame(all, fluence, nb_beam_wavelength(all), MGy, err);
}

/** Set the dose in the middle of each frame: the doses of all earlier frames, plus half
 * the dose of the frame. */
static nb_status add_doses(nb_frames *f, nb_error *err)
{
    const int alike = !f->override && !f->vary.n && !f->sim->model.spectrum.n;
    NB_OWN_CONFIG cfg = {0};
    double own = 0, before = 0, *doses;
    nb_status st = NB_OK;
    if (!f->sim->model.damage.given)
        return NB_OK;
    if (!f->rotation)
        return nb_fail(err, NB_ERR_INPUT,
                       "-dose is of a rotation (-frames): each of the -stills has a new "
                       "crystal; type -Badd");
    doses = nb_alloc_raw((size_t)f->count, sizeof *doses, "doses", err);
    st = doses ? NB_OK : NB_ERR_NOMEM;
    for (int k = 0; k < f->count && !st; k++, before += own) {
        if (k == 0 || !alike)
            st = dose_of(f, k, &cfg, &own, err);
        doses[k] = nb_typeable(alike ? (k + 0.5) * own : before + own / 2);
    }
    if (st)
        nb_free(doses);
    else
        f->doses = doses;
    return st;
}

nb_status nb_frames_init(nb_frames *f, const nb_series *series, const nb_sim *base,
                         nb_error *err)
{
    const nb_settings *all = &base->model.settings;
    nb_status st;
    memset(f, 0, sizeof *f);
    NB_FORWARD(check(series, base, err));
    f->series = series;
    f->override = series->calls.override;
    f->user = series->calls.user;
    f->sim = base;
    nb_config_copy(&f->base, &base->typed);
    nb_config_copy(&f->whole, &base->cfg);
    if (f->base.crystals[0]) /* take the record without the line of the first crystal */
        NB_FORWARD(resolve(f, &f->base, base->seed, &f->whole, err));
    if ((f->base.misset_mode == NB_MISSET_RANDOM ||
         (f->base.crystals[0] && series->frames > 0)) &&
        !f->base.misset_seed.set)
        f->base.misset_seed = f->base.seed; /* the whole series has the same crystal */
    if (!(f->base.scale > 0))
        f->base.scale = 1; /* all frames have the same scale: ADU are photons */
    if (base->in.files->add && !(f->base.add_fluence > 0))
        f->base.add_fluence = nb_beam_fluence(all);
    if (base->model.spectrum.n) /* the same wavelengths in all frames */
        f->base.wavelengths = base->model.spectrum.each;
    f->rotation = series->frames > 0;
    f->count = f->rotation ? series->frames : series->stills;
    f->phi_deg = all->value.phi_deg;
    f->osc_deg = NB_TYPED_OR(all, osc_deg, base->model.phi_range / NB_DEG);
    st = check_scan(f, err);
    NB_TRY(nb_vary_read(series->vary, &f->whole, series, &base->model, &base->hooks,
                        &f->vary, err));
    if (!st && series->orientations[0] && strcmp(series->orientations, "random") != 0)
        st = load_orientations(f, err);
    NB_TRY(load_spectra(f, err));
    return st ? st : add_doses(f, err);
}

void nb_frames_narrow(nb_frames *f)
{
    nb_spectra *s = &f->spectra;
    f->count = nb_series_part(f->series, &f->first);
    if (!s->count)
        return;
    memmove(s->first, s->first + f->first, ((size_t)f->count + 1) * sizeof *s->first);
    s->count = f->count;
}

void nb_frames_free(nb_frames *f)
{
    nb_orientations_free(&f->lines);
    nb_free(f->first_line);
    f->first_line = NULL;
    nb_stream_free(&f->stream);
    nb_vary_free(&f->vary);
    nb_free(f->doses);
    f->doses = NULL;
    nb_spectra_free(&f->spectra);
    nb_config_drop(&f->base);
    nb_config_drop(&f->whole);
}

/** Random stream of the jitter; misset and noise of the same seed use other streams. */
enum { JITTER_STREAM = 0x7ffffffe };

/** Normal deviate n of this seed: mean 0, standard deviation 1 (Box and Muller 1958). */
static double normal(int64_t seed, uint32_t n)
{
    return nb_normal52(nb_philox((uint64_t)seed, n, JITTER_STREAM, 0), NULL);
}

nb_jitter nb_jitter_draw(const nb_series *s, int64_t seed)
{
    nb_jitter out = {.amount = {s->jitter_fluence_pct, s->jitter_lambda_pct,
                                s->jitter_cell_pct, s->jitter_mosaic_pct,
                                s->jitter_beam_mm, s->jitter_beam_mm}};
    for (uint32_t i = 0; i < 6; i++) {
        const double a = out.amount[i], n = normal(seed, i);
        out.value[i] = i < 4 ? fmax(0, 1 + 0.01 * a * n) : a * n;
    }
    return out;
}

/** Move the beam centre of the base by mm along fast and slow. */
static void move_beam(const nb_frames *f, double fast, double slow, nb_config *cfg)
{
    const nb_geometry *g = &f->sim->model.geometry;
    const nb_convention c = g->convention;
    const int swapped = c == NB_CONV_MOSFLM || c == NB_CONV_DENZO; /* X is along slow */
    if (f->whole.detector) {
        cfg->beam_shift_mm[0] = nb_typeable(fast);
        cfg->beam_shift_mm[1] = nb_typeable(slow);
        return;
    }
    if (c == NB_CONV_ADXV)
        slow = -slow;
    cfg->Xbeam_mm = nb_typeable(g->Xbeam * 1e3 + (swapped ? slow : fast));
    cfg->Ybeam_mm = nb_typeable(g->Ybeam * 1e3 + (swapped ? fast : slow));
}

/** -jitter_*: multiply each kind of value by a random factor >= 0; move the beam. */
static void apply_jitter(const nb_frames *f, nb_config *cfg)
{
    const nb_series *s = f->series;
    const nb_model *m = &f->sim->model;
    const nb_jitter drawn = nb_jitter_draw(s, cfg->seed.value);
    const double mosaic = NB_VALUE(&f->base, mosaic_spread_deg),
                 passes = m->settings.value.attenuator,
                 fluence = passes > 0 ? m->fluence / passes : 0;
    const int shaped =
        s->jitter_mosaic_pct > 0 && nb_mosaic_widen(drawn.value[3], 1, 1, cfg);
    const struct {
        double percent;
        const double *from; /* [n] numbers before the jitter */
        double *to;
        int n;
    } kinds[] = {{s->jitter_fluence_pct, &fluence, &cfg->fluence, 1},
                 {s->jitter_lambda_pct, &m->wavelength_A, &cfg->lambda_A, 1},
                 /* one factor for all edges keeps the symmetry of the lattice */
                 {s->jitter_cell_pct, f->whole.cell, cfg->cell,
                  cfg->cell_count < 3 ? cfg->cell_count : 3},
                 {s->jitter_mosaic_pct, &mosaic, &cfg->mosaic_spread_deg, !shaped}};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int j = 0; kinds[i].percent > 0 && j < kinds[i].n; j++)
            kinds[i].to[j] = nb_typeable(kinds[i].from[j] * drawn.value[i]);
    if (s->jitter_fluence_pct > 0)
        cfg->flux = 0;
    if (s->jitter_lambda_pct > 0)
        cfg->energy_eV = NAN;
    if (s->jitter_beam_mm > 0)
        move_beam(f, drawn.value[4], drawn.value[5], cfg);
}

/** Apply the photon energy, unless it is typed, and the shift of the detector of image k
 * of a stream. */
static void apply_image(const nb_frames *f, int k, nb_config *cfg)
{
    const nb_stream *s = &f->stream;
    const nb_geometry *g = &f->sim->model.geometry;
    const double *shift = s->crystal[s->first[k]].shift_mm,
                 toward[3] = {shift[0], shift[1], 0};
    const nb_vec3 moved = nb_lab_of_nexus(g->convention, toward);
    if (!NB_GIVEN(&f->base, lambda_A) && !NB_GIVEN(&f->base, energy_eV) &&
        !isnan(s->energy_eV[k]))
        cfg->lambda_A = nb_typeable(NB_HC_EV_ANGSTROM / s->energy_eV[k]);
    if (shift[0] != 0 || shift[1] != 0)
        move_beam(f, -nb_dot(moved, g->fast), -nb_dot(moved, g->slow), cfg);
}

/** Convert the axes of a crystal of the stream to a cell and an orientation. */
static nb_status apply_stream(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                              nb_error *err)
{
    const nb_stream *s = &f->stream;
    const int first = s->first[at.frame], n = s->first[at.frame + 1] - first;
    const double *A = s->crystal[first + (at.crystal < n ? at.crystal : 0)].A;
    nb_vec3 star[3];
    double lab[9];
    for (int c = 0; c < 3; c++) {
        const double column[3] = {A[c], A[3 + c], A[6 + c]};
        star[c] = nb_lab_of_nexus(f->sim->model.geometry.convention, column);
    }
    nb_put_columns(star[0], star[1], star[2], lab);
    nb_axes_cell(lab, cfg->cell);
    nb_axes_misset(lab, cfg->misset_deg);
    cfg->cell_count = 6;
    cfg->misset_mode = NB_MISSET_FIXED;
    for (int i = 0; i < 3; i++)
        cfg->misset_deg[i] = nb_typeable(cfg->misset_deg[i]);
    if (n == 1 && !cfg->crystals[0])
        return NB_OK;
    return nb_config_set_number(cfg, "crystals", n, err);
}

/** Orient a crystal of a still. A file has a line per crystal, frame after frame. */
static nb_status apply_orientation(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                                   nb_error *err)
{
    if (f->stream.images) {
        apply_image(f, at.frame, cfg);
        return apply_stream(f, at, cfg, err);
    }
    if (f->lines.missets) {
        const int line = (f->first_line ? f->first_line[at.frame] : at.frame) + at.crystal;
        cfg->misset_mode = NB_MISSET_FIXED;
        memcpy(cfg->misset_deg, f->lines.missets[line < f->lines.n ? line : 0],
               sizeof cfg->misset_deg);
        return NB_OK;
    }
    if (f->series->orientations[0]) {
        cfg->misset_mode = NB_MISSET_RANDOM;
        cfg->misset_seed = cfg->seed;
    }
    return nb_crystal_place(at.crystal, cfg->seed.value, cfg, err);
}

/** Copy the resolved cell, typed or from a file, into cfg if -vary or -jitter_cell
 * changes it. */
static void type_cell(const nb_frames *f, nb_config *cfg)
{
    if (!NB_VARIES(&f->vary, cell) && !(f->series->jitter_cell_pct > 0))
        return;
    cfg->cell_count = f->whole.cell_count;
    cfg->cell_from_file = f->whole.cell_from_file;
    memcpy(cfg->cell, f->whole.cell, sizeof cfg->cell);
}

static nb_status plain_crystal(const nb_frames *f, nb_crystal_at at, int64_t seed,
                               nb_config *cfg, nb_error *err)
{
    nb_status st;
    nb_config_copy(cfg, &f->base);
    type_cell(f, cfg);
    cfg->seed.value = seed;
    if (f->doses)
        cfg->damage_dose = f->doses[at.frame];
    if (f->rotation) {
        cfg->phi_deg = nb_typeable(f->phi_deg + at.frame * f->osc_deg);
        st = nb_crystal_place(at.crystal, f->base.seed.value, cfg, err);
    } else {
        st = apply_orientation(f, at, cfg, err);
        apply_jitter(f, cfg);
    }
    return st ? st : nb_vary_apply(&f->vary, at, cfg, err);
}

nb_status nb_frames_plain_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err)
{
    return plain_crystal(f, (nb_crystal_at){f->first + k, 0},
                         nb_series_seed(f->base.seed.value, f->first + k), cfg, err);
}

/** Refuse an override that changes the detector file: all frames share this file. */
static nb_status check_detector(const nb_frames *f, const nb_config *cfg, nb_error *err)
{
    const nb_config *base = &f->base;
    nb_status st;
    NB_FORWARD(nb_config_check_geometry(cfg, err));
    if (strcmp(cfg->geom_file, base->geom_file) ||
        strcmp(cfg->expt_file, base->expt_file) ||
        strcmp(cfg->nxmx_file, base->nxmx_file) ||
        strcmp(cfg->panel_list, base->panel_list) ||
        cfg->expt_number != base->expt_number ||
        strcmp(cfg->expt_image, base->expt_image) ||
        strcmp(cfg->mask_file, base->mask_file) ||
        (f->whole.detector && !(cfg->distance_mm == base->distance_mm) &&
         NB_GIVEN(cfg, distance_mm)))
        return nb_fail(err, NB_ERR_INPUT,
                       "a line has -geom, -expt, -nxmx, -panel, -mask or -distance, "
                       "but a detector from a file is that of the whole series");
    return NB_OK;
}

/** Apply the override. It changes the orientation of the first crystal only. */
static nb_status override(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                          nb_error *err)
{
    const nb_misset_mode mode = cfg->misset_mode;
    double misset[3];
    nb_status st;
    memcpy(misset, cfg->misset_deg, sizeof misset);
    st = f->override(f->user, at.frame, cfg, err);
    if (!st && (f->whole.detector || nb_config_geometry_flag(cfg)))
        st = check_detector(f, cfg, err);
    if (at.crystal > 0) {
        cfg->misset_mode = mode;
        memcpy(cfg->misset_deg, misset, sizeof misset);
    }
    return st;
}

int nb_frames_have_crystals(const nb_frames *f)
{
    return f->base.crystals[0] || f->base.twin[0] || NB_VARIES(&f->vary, crystals) ||
           f->stream.n != f->stream.images;
}

nb_status nb_frames_count(const nb_frames *f, int k, int *n, nb_error *err)
{
    NB_OWN_CONFIG cfg = {0};
    nb_status st = nb_frames_config(f, k, &cfg, err);
    return st ? st : nb_crystals_count(&f->sim->in, &cfg, n, err);
}

nb_status nb_frames_crystal(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                            nb_error *err)
{
    const nb_crystal_at whole = {f->first + at.frame, at.crystal};
    const int64_t seed = nb_series_seed(f->base.seed.value, whole.frame);
    nb_status st = plain_crystal(f, whole, seed, cfg, err);
    if (!st && f->override)
        st = override(f, whole, cfg, err);
    if (!st && at.crystal > 0 && cfg->seed.value != seed && !f->rotation) {
        /* the seed of the override places the further crystals */
        if (!(st = plain_crystal(f, whole, cfg->seed.value, cfg, err)))
            st = override(f, whole, cfg, err);
    }
    if (!st && at.crystal > 0)
        st = nb_crystal_line(&f->sim->in, at.crystal, cfg, err);
    cfg->cell_from_file = 0;
    return nb_frames_at(f, at.frame, st, err);
}

nb_status nb_frames_config(const nb_frames *f, int k, nb_config *cfg, nb_error *err)
{
    return nb_frames_crystal(f, (nb_crystal_at){k, 0}, cfg, err);
}

void nb_crystals_free(nb_crystals *all)
{
    nb_configs_free(all->configs, (size_t)(all->n > 1 ? all->n : 1));
    nb_free(all->arrays);
    memset(all, 0, sizeof *all);
}

nb_status nb_frames_crystals(const nb_frames *f, int k, nb_crystals *out, nb_error *err)
{
    NB_OWN_CONFIG first = {0};
    int n = 1;
    nb_status st = nb_frames_config(f, k, &first, err);
    memset(out, 0, sizeof *out);
    if (st)
        return st;
    st = nb_crystals_count(&f->sim->in, &first, &n, err);
    if (!st && !(out->configs = nb_configs_new((size_t)(n > 1 ? n : 1), err)))
        st = NB_ERR_NOMEM;
    if (!st) {
        nb_config_copy(&out->configs[0], &first);
        out->n = n;
    }
    for (int m = 1; m < n && !st; m++)
        st = nb_frames_crystal(f, (nb_crystal_at){k, m}, &out->configs[m], err);
    if (st)
        nb_crystals_free(out);
    return nb_frames_at(f, k, st, err);
}

nb_status nb_frames_give(const nb_frames *f, int k, nb_sim *sim, nb_error *err)
{
    nb_matrix matrix;
    const nb_frame_extra extra = nb_frames_extra(f, k, &matrix);
    nb_crystals all;
    nb_status st = nb_frames_crystals(f, k, &all, err);
    if (!st && (all.n > 1 || sim->further))
        st = nb_sim_give_crystals(sim, all.configs + 1, all.n > 1 ? all.n - 1 : 0, err);
    NB_TRY(nb_sim_frame(sim, &all.configs[0], &extra, err));
    nb_crystals_free(&all);
    return st;
}

nb_status nb_frames_spectrum(const nb_frames *f, int k, nb_spectrum *out, nb_error *err)
{
    NB_OWN_CONFIG cfg = {0};
    nb_status st = nb_frames_config(f, k, &cfg, err);
    memset(out, 0, sizeof *out);
    return st ? st : nb_spectrum_of_frame(f->sim, &cfg, out, err);
}

void nb_frames_place(const nb_frames *f, int k, char *place, size_t size)
{
    snprintf(place, size, "frame %d", f->first + k + 1);
    if (f->series->calls.override && f->series->calls.override_place)
        f->series->calls.override_place(f->series->calls.user, f->first + k, place, size);
}

nb_status nb_frames_at(const nb_frames *f, int k, nb_status st, nb_error *err)
{
    char place[NB_PATH_MAX / 2];
    if (st != NB_ERR_INPUT)
        return st;
    nb_frames_place(f, k, place, sizeof place);
    return nb_fail_within(err, st, place);
}
