/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../params/params.h"
#include "../sim/crystals.h"
#include "../inputs/factors.h"
#include "frames.h"

/* Find the resolution that all frames need, so that one table of structure factors serves
 * all. */

/** True if frames may reach a higher resolution than the base. */
static int reaches_differ(const nb_frames *f)
{
    const nb_series *s = f->series;
    return f->override || f->vary.n || f->spectra.count || f->stream.images ||
           f->lines.crystals || s->jitter_lambda_pct > 0 || s->jitter_cell_pct > 0 ||
           s->jitter_beam_mm > 0;
}

/* Checks of all frames before the first frame is made. */

static int same_direction(nb_vec3 a, nb_vec3 b)
{
    return nb_norm(nb_sub(a, b)) < 1e-12;
}

static int same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/** Compare the noise except the flicker, which the master stores for each frame. */
static int same_noise(const nb_config *a, const nb_config *b)
{
    return same_number(a->gain, b->gain) && same_number(a->calibration, b->calibration) &&
           same_number(a->readout_noise, b->readout_noise) &&
           same_number(a->saturation, b->saturation) &&
           same_number(a->psf_fwhm_um, b->psf_fwhm_um) && a->psf == b->psf &&
           a->adc_set == b->adc_set && a->adc_offset == b->adc_offset &&
           a->calib_seed.set == b->calib_seed.set &&
           a->calib_seed.value == b->calib_seed.value &&
           strcmp(a->gainmap_file, b->gainmap_file) == 0;
}

/** True if a and b have the detector of the same file, and so the same panels for any
 * beam. */
static int same_detector(const nb_config *a, const nb_config *b)
{
    return a->detector && b->detector && !strcmp(a->geom_file, b->geom_file) &&
           !strcmp(a->expt_file, b->expt_file) && !strcmp(a->nxmx_file, b->nxmx_file);
}

/** Name a quantity that a master has once, but that differs in this frame; or NULL. */
static const char *two_in_a_master(const nb_frames *f, const nb_geometry *g,
                                   const nb_config *cfg)
{
    const nb_geometry *own = &f->sim->model.geometry;
    if (g->pixel != own->pixel && !same_detector(cfg, &f->whole))
        return "another pixel size";
    if (NB_VALUE(cfg, thick_um) != f->sim->model.settings.value.thick_um)
        return "another sensor thickness";
    if (!same_noise(cfg, &f->whole))
        return "another noise of the detector";
    if (cfg->curved != f->whole.curved)
        return "a detector of another curvature";
    if (f->rotation && !same_direction(g->spindle, own->spindle))
        return "another spindle axis";
    if (f->rotation && !(cfg->detector && cfg->detector->scan.beam) &&
        !same_direction(g->beam, own->beam))
        return "another direction of the beam";
    return NULL;
}

nb_status nb_frames_check(const nb_frames *f, const nb_geometry *g, const nb_config *cfg,
                          nb_error *err)
{
    const nb_geometry *own = &f->sim->model.geometry;
    const char *what = f->series->hdf5_file[0] ? two_in_a_master(f, g, cfg) : NULL;
    const int experiments = f->base.exptout_file[0] && !f->rotation,
              same = same_detector(cfg, &f->whole);
    if (!what && experiments && g->pixel != own->pixel && !same)
        return nb_fail(err, NB_ERR_INPUT,
                       "the frame has another pixel size than the series, but -exptout "
                       "holds only one; leave it out, or write one series for each");
    if (!same && (g->fpixels != own->fpixels || g->spixels != own->spixels))
        return nb_fail(err, NB_ERR_INPUT,
                       "the frame has %d x %d pixels, but the series has %d x %d",
                       g->fpixels, g->spixels, own->fpixels, own->spixels);
    if (what)
        return nb_fail(err, NB_ERR_INPUT,
                       "the frame has %s than the series, but an -hdf5 master holds "
                       "only one; use -output, or one series for each",
                       what);
    if (f->spectra.count &&
        (cfg->source_file[0] || memcmp(&g->beam, &own->beam, sizeof g->beam) != 0))
        return nb_fail(
            err,
            NB_ERR_INPUT, "-spectra: the beam's direction and sources cannot change from frame to frame");
    return NB_OK;
}

/** True if frames have different values, so that each frame needs a check. */
static int frames_differ(const nb_frames *f)
{
    return reaches_differ(f) || f->series->jitter_fluence_pct > 0 ||
           f->series->jitter_mosaic_pct > 0;
}

/** Render a frame to find out whether a pixel is too large for a float. */
static nb_status try_frame(const nb_frames *f, int k, nb_error *err)
{
    nb_sim *sim = NULL;
    nb_status st = nb_sim_clone(f->sim, NULL, f->sim->engine.options.threads, &sim, err);
    NB_TRY(nb_frames_give(f, k, sim, err));
    NB_TRY(nb_sim_render(sim, NULL, NULL, err));
    nb_sim_free(sim);
    return st;
}

/** Check crystal `at` in the same way as it will be made. cfg: memory for its
 * configuration. */
static nb_status check_crystal(const nb_frames *f, nb_crystal_at at, nb_config *cfg,
                               nb_survey *s, nb_error *err)
{
    nb_matrix matrix;
    const nb_frame_extra extra = nb_frames_extra(f, at.frame, &matrix);
    char place[2 * NB_PATH_MAX], *crystal = place;
    nb_status st = nb_frames_crystal(f, at, cfg, err);
    if (!st && at.crystal == 0)
        st = nb_crystal_line(&f->sim->in, 0, cfg, err);
    if (st)
        return st;
    nb_frames_place(f, at.frame, place, NB_PATH_MAX - 2);
    if (at.crystal) {
        crystal = strcat(place, ": ") + strlen(place);
        nb_crystal_name(&f->sim->in, cfg, at.crystal, crystal, NB_PATH_MAX);
    }
    s->asker.place = place;
    st = nb_sim_check_record(f->sim, cfg, &extra, cfg, s, err);
    return nb_fail_within(err, st, crystal);
}

nb_status nb_frames_widen_factors(const nb_frames *f, nb_sim *base, nb_error *err)
{
    /* crystals after the first may need a smaller d */
    const int crystals = f->base.crystals[0] != 0,
              frames = reaches_differ(f) ? f->count : crystals;
    NB_OWN_CONFIG cfg = {0};
    nb_survey s = {0};
    if (!base->in.sums || !frames ||
        !nb_factor_files_have_limit(base->in.factors, &base->cfg))
        return NB_OK;
    s.dmin = base->in.sums->dmin;
    base->in.limit = NB_LIMIT_KEPT; /* frames keep the sums of the series */
    for (int k = 0; k < frames; k++) {
        int n = 1;
        /* errors are ignored here, as nb_frames_survey reports them */
        (void)nb_frames_count(f, k, &n, NULL);
        for (int m = 0; m < n; m++)
            (void)check_crystal(f, (nb_crystal_at){k, m}, &cfg, &s, NULL);
    }
    base->in.limit = NB_LIMIT_ENOUGH;
    return nb_inputs_make_factors(&base->in, &base->model, s.dmin > 0 ? s.dmin : -1,
                                  &base->hooks, err);
}

/** Check frame k, and all its crystals if -jobs changes it. Sets s->geometry. */
static nb_status check_frame(const nb_frames *f, int k, nb_config *cfg, nb_survey *s,
                             nb_error *err)
{
    int n = 1;
    nb_status st;
    s->bright = 0;
    st = check_crystal(f, (nb_crystal_at){k, 0}, cfg, s, err);
    NB_TRY(nb_frames_check(f, &s->geometry, cfg, err));
    if (!st && f->override)
        st = nb_crystals_check(&f->sim->in, cfg, err);
    if (!st && f->override)
        st = nb_crystals_count(&f->sim->in, cfg, &n, err);
    for (int m = 1; m < n && !st; m++)
        st = check_crystal(f, (nb_crystal_at){k, m}, cfg, s, err);
    return st || !s->bright ? st : try_frame(f, k, err);
}

/** True if beam or detector differ between g and h. */
static int moves(const nb_geometry *g, const nb_geometry *h)
{
    const nb_vec3 a[] = {g->beam, g->fast, g->slow, g->pix0};
    const nb_vec3 b[] = {h->beam, h->fast, h->slow, h->pix0};
    return memcmp(a, b, sizeof a) != 0;
}

/** Geometry of frame k without its override. */
static nb_status plain_geometry(const nb_frames *f, int k, nb_geometry *g, nb_error *err)
{
    NB_OWN_CONFIG cfg = {0};
    nb_survey s = {0};
    nb_status st;
    *g = f->sim->model.geometry;
    if (!f->vary.n && !f->stream.images && !(f->series->jitter_beam_mm > 0))
        /* without these flags all frames have the same geometry */
        return NB_OK;
    st = nb_frames_plain_config(f, k, &cfg, err);
    NB_TRY(nb_sim_check_record(f->sim, &cfg, NULL, &cfg, &s, err));
    *g = s.geometry;
    return st;
}

/** Compare geometry h of frame k with that of frame 0 (*first), and with that of frame k
 * without its override. */
static nb_status compare_places(nb_frames *f, int k, const nb_geometry *h,
                                nb_geometry *first, nb_error *err)
{
    nb_geometry g;
    const nb_status st = plain_geometry(f, k, &g, err);
    *first = k ? *first : *h;
    f->moving |= moves(&g, h);
    f->places_differ |= moves(first, h);
    return st;
}

nb_status nb_frames_survey(nb_frames *f, nb_error *err)
{
    NB_OWN_CONFIG cfg = {0};
    nb_survey s = {.asker = {&f->sim->hooks, "", f->sim->asker.holds, 0}};
    nb_geometry first = f->sim->model.geometry;
    nb_status st = NB_OK;
    for (int k = 0; !st && frames_differ(f) && k < f->count; k++) {
        st = check_frame(f, k, &cfg, &s, err);
        if (!st && f->override && f->series->hdf5_file[0])
            st = compare_places(f, k, &s.geometry, &first, err);
        (void)nb_frames_at(f, k, st, err);
    }
    return st;
}
