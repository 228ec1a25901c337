/* SPDX-License-Identifier: MIT */
/* Notes of one line about probable mistakes in the settings. */
#include "advice.h"

#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/threads.h"
#include "../model/scene_build.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../inputs/load.h"
#include "../inputs/shade.h"

/* a larger relative error of a reflection gets a note */
static const double spot_tolerance = 0.1;
/* the limit is high, because twice as many domains divide the error only by sqrt(2) */
static const double domains_tolerance = 0.3;
static const double long_render = 600; /* s; a longer rendering gets a note */
/* s; the same limit if the spindle steps are automatic */
static const double long_steps = 10;
/* steps of all pixels; fewer steps are never slow */
static const double few_steps = 1e8;
static const double real_beams = 1e27; /* photons/m^2: largest fluence of a real beam */

/* --- units --- */

/** Spacing (A) down to which the table has every reflection; 0 without a table. */
static double table_end(const nb_model *model)
{
    const nb_factor_table *sf = &model->scene.factors.table;
    const double *edge = model->crystal.edge;
    const int first[3] = {sf->hmin, sf->kmin, sf->lmin}, n[3] = {sf->nh, sf->nk, sf->nl};
    double end = 0;
    if (sf->nh <= 0 ||
        (sf->nh == 1 && sf->nk == 1 && sf->nl == 1)) /* no table, or F(000) alone */
        return 0;
    for (int i = 0; i < 3; i++) { /* reflections to spacing d have |h| up to |a|/d */
        int max = first[i] + n[i] - 1;
        max = -first[i] > max ? -first[i] : max;
        end = fmax(end, edge[i] / (max + 0.5));
    }
    return end;
}

/** A length of the detector or the beam; usual values are between `from` and `to`. */
typedef struct usual_length {
    const char *flag;
    double value, from, to;
    const char *unit, *below,
        /* unit of the flag, and the units that values below and above the range probably
         * have */
        *above;
} usual_length;
enum { N_LENGTHS = 5 };

/** Ask about length i if it is unusual. It was typed, or is from the detector's file of a
 * model. */
static void odd_length(const nb_config *cfg, const nb_model *model, int i, char *text,
                       size_t size)
{
    const nb_geometry *file = model && cfg->detector ? &model->geometry : NULL;
    const nb_sensor *s = file ? model->scene.sensors : NULL;
    const usual_length lengths[N_LENGTHS] = {
        {"-distance", file ? file->distance * 1e3 : cfg->distance_mm, 1, 5e4, "mm",
         "metres", "um"},
        {"-close_distance", cfg->close_distance_mm, 1, 5e4, "mm", "metres", "um"},
        {"-pixel", file ? file->pixel * 1e3 : cfg->pixel_mm, 1e-3, 9, "mm", "metres", "um"},
        {"-detector_thick",
         s && s->absorb ? s->layers * s->layer_step * 1e6 : cfg->thick_um, 5, 1e5, "um",
         "mm", NULL},
        {"-beamsize", cfg->beamsize_mm, 1e-5, 5, "mm", "metres", "um"},
    };
    const usual_length *l = &lengths[i];
    const double v = l->value;
    const int low = v > 0 && v<l->from, high = v> l->to;
    const char *other = low ? l->below : l->above;
    if ((low || high) && other)
        snprintf(text, size, "%s %g %s is very %s: is it in %s? %s takes %s", l->flag, v,
                 l->unit, low ? "small" : "large", file ? "another unit" : other, l->flag,
                 l->unit);
}

static const double hardest_eV = 130e3; /* highest photon energy of diffraction */

/** Finest spacing of a reflection at any beamline, A. */
static const double finest_d = 0.25;
/** Wavelengths of any experiment with crystals, A. */
static const double shortest_A = 0.2, longest_A = 124;

static void odd_cell(const nb_model *model, char *text, size_t size)
{
    const nb_crystal *x = &model->crystal;
    const double edge = fmin(x->edge[0], fmin(x->edge[1], x->edge[2])),
                 end = table_end(model);
    if (edge < 0.5)
        snprintf(text, size,
                 "a cell edge of %.3g A is very short: is it in %s? -cell takes A", edge,
                 edge < 1e-5 ? "metres" : "nm");
    else if (end > 0 && end < finest_d)
        snprintf(text, size,
                 "the structure factors reach %.2g A with this cell: is it in nm? -cell "
                 "takes A",
                 end);
}

/** Ask about an unusual wavelength or energy that was typed or read from a header. */
static void odd_lambda(const nb_settings *all, char *text, size_t size)
{
    const int typed_eV = NB_TYPED(all, energy_eV);
    const double eV = all->value.energy_eV,
                 A = typed_eV ? NB_HC_EV_ANGSTROM / eV : all->value.lambda_A;
    if (typed_eV && A > longest_A)
        snprintf(text, size, "-energy %g eV is %.3g A: is it in keV? -energy takes eV",
                 eV, A);
    else if (typed_eV && eV > hardest_eV)
        snprintf(text, size,
                 "-energy %g eV is %.3g A: is it of electrons? the light is X-rays", eV,
                 A);
    else if (!typed_eV && A > longest_A)
        snprintf(text, size,
                 "-lambda %g A is very long: is it an energy in eV? type -energy %g", A,
                 A);
    else if (!typed_eV && A < 0.1 && A > 0.01)
        snprintf(text, size,
                 "-lambda %g A is very short: is it in nm, or of electrons? -lambda "
                 "takes A, of X-rays",
                 A);
    else if (!typed_eV && A < shortest_A)
        snprintf(text, size, "-lambda %g A is very short: is it in %s? -lambda takes A",
                 A, A < 1e-3 ? "metres" : "nm");
}

/** Ask about unusual wavelengths of the sources. */
static void odd_wavelengths(const nb_model *model, char *text, size_t size)
{
    const nb_beam *beam = &model->scene.beam;
    const nb_config *cfg = &model->settings.value;
    const char *whose = cfg->spectrum[0]      ? "-spectrum"
                        : cfg->source_file[0] ? "-sourcefile"
                                              : "-spectra";
    double least = INFINITY, max = 0;
    for (int i = 0; i < beam->n_sources; i++) {
        least = fmin(least, beam->sources[i].lambda * 1e10);
        max = fmax(max, beam->sources[i].lambda * 1e10);
    }
    if (!cfg->spectrum[0] && !cfg->source_file[0])
        odd_lambda(&model->settings, text, size);
    if (text[0])
        return;
    if (least > longest_A)
        snprintf(text, size, "%s: the wavelengths are %.4g to %.4g A: are %s?", whose,
                 least, max, cfg->spectrum[0] ? "its energies in keV" : "they energies");
    else if (max < shortest_A)
        snprintf(text, size, "%s: the wavelengths are %.4g to %.4g A: are they in %s?",
                 whose, least, max, max < 1e-3 ? "metres" : "nm");
}

void nb_error_odd_unit(const nb_config *cfg, nb_error *err)
{
    const nb_settings *all = NB_RESOLVED(cfg);
    char text[120] = "";
    const size_t end = err ? strlen(err->message) : 0;
    odd_lambda(all, text, sizeof text);
    for (int i = 0; !text[0] && i < N_LENGTHS; i++)
        odd_length(&all->value, NULL, i, text, sizeof text);
    if (err && text[0])
        snprintf(err->message + end, sizeof err->message - end, "; %s", text);
}

/* --- threads --- */

void nb_advise_threads(const nb_hooks *hooks, int asked)
{
    int n = nb_threads_asked(asked), max = nb_max_threads(), count;
    n = n < max ? n : max;
    count = nb_threads_there(n);
    if (count < n)
        nb_notice(
            hooks,
            "%d threads cannot be started here (a limit of processes or memory); %d "
            "%s used",
            n, count, count == 1 ? "is" : "are");
}

/* --- sampling --- */

/** Note sub-pixels with less than one sample in the narrowest fringe of a crystal, unless
 * many domains or sources average the error out. */
static void advise_sampling(const nb_model *model, const nb_hooks *hooks)
{
    const int typed = model->settings.value.oversample, resolves = model->auto_oversample;
    const double many = 100, lattices = model->scene.lattice.n_domains;
    if (typed > 0 && 3.0 * typed < resolves &&
        lattices * model->scene.beam.n_sources < many)
        nb_notice(
            hooks,
            "-oversample %d is too coarse for the spots: the photons of a reflection "
            "are wrong; -oversample %d resolves them",
            typed, (resolves + 1) / 2);
}

/** True if sources have several wavelengths, from -dispersion or from a file. */
static int has_wavelengths(const nb_scene *sc)
{
    const nb_source *s = sc->beam.sources;
    return s[0].lambda != s[sc->beam.n_sources - 1].lambda ||
           s[0].lambda != s[sc->beam.n_sources / 2].lambda;
}

/** Note the effect of the automatic number of spindle steps, by.count, on spots. */
static void say_automatic(const nb_model *model, const nb_hooks *hooks, nb_steps by)
{
    const nb_scene *sc = &model->scene;
    const int enough = model->auto_phi_steps, n = by.count;
    double error = nb_steps_error(sc, &by);
    if (enough > n) {
        nb_notice(
            hooks,
            "%d spindle steps are the most of an automatic number: the photons of a "
            "reflection are wrong by %.0f %% (root mean square); -phisteps %d resolves "
            "them, and takes %.3g times as long",
            n, 100 * error, enough, (double)enough / n);
        return;
    }
    by.count = 2;
    error = nb_steps_error(sc, &by);
    if (n > by.count && error > spot_tolerance)
        nb_notice(
            hooks,
            "no -phisteps: %d spindle steps resolve the spots; with -phisteps 2 the "
            "photons of a reflection are wrong by %.0f %% (root mean square)",
            n, 100 * error);
}

static void advise_steps(const nb_model *model, const nb_hooks *hooks)
{
    const nb_scene *sc = &model->scene;
    const double range = model->phi_range > 0 ? model->phi_range : 0;
    const struct {
        int count, there;
        const char *what, *flag;
    } axes[] = {
        [NB_STEPS_PHI] = {sc->lattice.n_phi, range > 0, "spindle steps", "-phisteps"},
        [NB_STEPS_SOURCES] = {sc->beam.n_sources, has_wavelengths(sc), "wavelengths",
                              model->settings.value.dispersion_pct > 0 ? "-dispsteps"
                                                                       : "a list of"},
        [NB_STEPS_DOMAINS] = {sc->lattice.n_domains, sc->lattice.n_domains > 1,
                              "mosaic domains", "-mosaic_dom"}};
    for (int i = 0; i < (int)(sizeof axes / sizeof *axes); i++) {
        nb_steps by = {(nb_steps_axis)i, axes[i].count, range, model->geometry.spindle};
        double max = i == NB_STEPS_DOMAINS ? domains_tolerance : spot_tolerance;
        const int automatic = i == NB_STEPS_PHI && model->auto_phi_steps > 0;
        double error = axes[i].there && !automatic ? nb_steps_error(sc, &by) : 0;
        if (automatic)
            say_automatic(model, hooks, by);
        else if (error > max)
            nb_notice(hooks,
                      "%d %s are too few for the spots: the photons of a reflection are "
                      "wrong by %.0f %% (root mean square); %s %d resolves them",
                      by.count, axes[i].what, 100 * error, axes[i].flag,
                      nb_steps_enough(sc, by, max / 2));
    }
}

/* --- beam centre --- */

/** Distance of a point from the rectangle between (0, 0) and (f, s). */
static double outside(double at_f, double at_s, double f, double s)
{
    return hypot(fmax(0, fmax(-at_f, at_f - f)), fmax(0, fmax(-at_s, at_s - s)));
}

/** Distance of the beam centre from the detector, m; 0 inside.  The beam may pass a gap
 * of panels: it is outside if it is farther from each panel than the panel is long. */
static double beam_off(const nb_model *model)
{
    const nb_scene *sc = &model->scene;
    const nb_geometry *g = &model->geometry;
    double least = INFINITY;
    if (sc->n_panels == 1)
        return outside(g->Fbeam, g->Sbeam, g->fpixels * g->pixel,
                       g->spixels * g->pixel_slow);
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *p = &sc->panels[k];
        double f = p->columns * p->pixel_fast, s = p->rows * p->pixel_slow;
        double off = outside(p->Fbeam, p->Sbeam, f, s);
        if (p->distance > 0)
            least = fmin(least, off > fmax(f, s) ? off : 0);
    }
    return isfinite(least) ? least : 0;
}

/** Ask about a beam centre outside of the detector if it would be inside as a number of
 * pixels, or if it is farther from the detector than the detector is long. */
static void odd_centre(const nb_model *model, char *text, size_t size)
{
    const nb_settings *all = &model->settings;
    const nb_geometry *g = &model->geometry;
    const double X = all->value.Xbeam_mm, Y = all->value.Ybeam_mm,
                 off = model->scene.n_panels == 1 ? beam_off(model) : 0;
    const double pixels = fmax(g->fpixels, g->spixels), edge = pixels * g->pixel;
    if (!(off > 0) || all->value.twotheta_deg != 0)
        return;
    if (NB_TYPED(all, Xbeam_mm) && NB_TYPED(all, Ybeam_mm) &&
        (off > edge || (X > 0 && Y > 0 && X < pixels && Y < pixels)))
        snprintf(
            text, size,
            "the beam centre, %g %g mm, is %.3g mm outside of the detector: is it in "
            "pixels? -Xbeam and -Ybeam take mm",
            X, Y, off * 1e3);
    else if (off > edge && NB_TYPED(all, orgx) && NB_TYPED(all, orgy))
        snprintf(text, size,
                 "the beam centre, of -ORGX %g -ORGY %g, is %.3g mm outside of the "
                 "detector: is it in mm or um? they take pixels",
                 all->value.orgx, all->value.orgy, off * 1e3);
}

/* --- crystal --- */

static void odd_hand(const nb_model *model, char *text, size_t size)
{
    const nb_crystal *x = &model->crystal;
    const char *file = model->settings.value.mat_file;
    if (nb_dot(x->a, nb_cross(x->b, x->c)) < 0)
        snprintf(text, size,
                 "%.200s: the matrix is left-handed (a . b x c < 0); it is used as it is",
                 file[0] ? file : "the crystal of the file");
}

static void advise_crystal(const nb_model *model, const nb_hooks *hooks)
{
    const nb_config *cfg = &model->settings.value;
    const double *N = model->crystal.N;
    int any = 0, sized = 0;
    for (int i = 0; i < 3; i++) {
        any |= NB_TYPED(&model->settings, N[i]);
        sized |= cfg->xtal_size_mm[i] > 0;
    }
    if (N[0] != 1 || N[1] != 1 || N[2] != 1 || any)
        return;
    if (sized)
        nb_notice(hooks,
                  "the crystal is smaller than one unit cell: one cell is simulated, and "
                  "the image has no spots; type a larger -samplesize");
    else
        nb_notice(hooks,
                  "no -N: one unit cell is simulated, and the image has no spots; type "
                  "-N 10 for 10x10x10 cells (-N 1 if you want one cell)");
}

static void advise_truth(const nb_model *model, const nb_hooks *hooks)
{
    const nb_scene *sc = &model->scene;
    if (model->settings.value.truth == NB_TRUTH_SPOTS &&
        nb_shape_law(sc->lattice.shape) == NB_LAW_FRINGES &&
        sc->lattice.N[0] * sc->lattice.N[1] * sc->lattice.N[2] > 1)
        nb_notice(hooks, "-truth spots: a square crystal puts a quarter of each "
                         "intensity into fringes outside of the spot, and "
                         "integration misses it; -gauss_xtal has no fringes");
}

/* --- structure factors --- */

/** The smallest and the largest spacing in the rendered region, A. */
static void spacings(const nb_scene *sc, double *finest, double *coarsest)
{
    double range[2];
    nb_scene_stol(sc, range);
    *finest = 0.5 / NB_ANGSTROM / range[1];
    *coarsest = 0.5 / NB_ANGSTROM / range[0];
}

static void advise_factors(const nb_model *model, const nb_hooks *hooks)
{
    const nb_scene *sc = &model->scene;
    double end = table_end(model), finest, coarsest;
    spacings(sc, &finest, &coarsest);
    if (end > 1.01 * finest && sc->factors.dmin * 1e10 < 0.99 * end)
        nb_notice(hooks,
                  "the structure factors end at %.3g A, but the corner of the detector "
                  "is at %.3g A: between them F is -default_F, %g",
                  end, finest, sc->factors.table.default_F);
}

/** Note that the background fills a beam of default size: -fluence gives no size. */
static void advise_background(const nb_model *model, const nb_hooks *hooks)
{
    const nb_settings *all = &model->settings;
    if (nb_config_has_background(&all->value) && !NB_TYPED(all, molecules) &&
        NB_TYPED(all, fluence) && !NB_TYPED(all, beamsize_mm))
        nb_notice(hooks, "-fluence without -beamsize: the background fills a beam of "
                         "0.1 x 0.1 mm, and grows with this area; type -beamsize");
}

/** Note that a crystal wider than the beam scatters as a whole without -clip_crystal. */
static void advise_volume(const nb_model *model, const nb_hooks *hooks)
{
    const nb_crystal *x = &model->crystal;
    const double part = nb_crystal_in_beam(&model->settings, x),
                 beam_um = model->settings.value.beamsize_mm * 1e3;
    /* rounding, as in 27^(1/3), may make the part a little less than 1 */
    if (part < 1 - 1e-9 && !model->settings.value.clip_crystal)
        nb_notice(
            hooks,
            "the crystal, a cube with an edge of %.4g um, is wider than the beam of "
            "%.4g um (-beamsize), but all of it scatters; -clip_crystal keeps the "
            "%.3g %% in the beam",
            beam_um / sqrt(part), beam_um, 100 * part);
}

void nb_sim_advise(const nb_sim *sim)
{
    const nb_model *model = &sim->model;
    const nb_hooks *hooks = &sim->hooks;
    if (!hooks->notice)
        return;
    nb_advise_threads(hooks, sim->cfg.threads);
    advise_crystal(model, hooks);
    advise_volume(model, hooks);
    advise_sampling(model, hooks);
    advise_steps(model, hooks);
    advise_factors(model, hooks);
    advise_background(model, hooks);
    advise_truth(model, hooks);
}

/* --- questions about each model --- */

static const char all_masked[] = "every pixel is masked";

static void odd_mask(const nb_model *model, char *text, size_t size)
{
    const nb_raster *r = &model->scene.raster;
    if (r->mask && !memchr(r->mask, 1, r->pixels))
        snprintf(text, size, "%s", all_masked);
}

static void odd_precision(const nb_model *model, char *text, size_t size)
{
    if (model->settings.value.precision == NB_PRECISION_SINGLE)
        snprintf(text, size, "-precision single renders mixed, which is as fast");
}

enum { N_UNITS = N_LENGTHS + 2, N_QUESTIONS = N_UNITS + 5 };

/** Put question `kind` into text; true if it applies. Kinds below N_UNITS ask about
 * units. */
static int is_odd(const nb_inputs *in, const nb_model *model, int kind, char *text,
                  size_t size)
{
    static void (*const others[])(const nb_model *, char *, size_t) = {
        odd_cell, odd_wavelengths, odd_centre, odd_hand, odd_mask, odd_precision};
    text[0] = '\0';
    if (kind < N_LENGTHS)
        odd_length(&model->settings.value, model, kind, text, size);
    else if (kind < N_QUESTIONS - 1)
        others[kind - N_LENGTHS](model, text, size);
    else if (in->factors)
        nb_factor_files_odd_cell(in->factors, &model->crystal, text, size);
    return text[0] != '\0';
}

void nb_ask(const nb_inputs *in, const nb_model *model, nb_asker *to)
{
    char text[NB_QUESTION];
    if (!to->hooks || !to->hooks->notice)
        return;
    for (int i = 0; i < N_QUESTIONS; i++)
        if (is_odd(in, model, i, text, sizeof text)) {
            if (!((to->asked | to->holds) & 1u << i))
                nb_notice(to->hooks, "%s%s%s", to->place, to->place[0] ? ": " : "", text);
            to->holds |= 1u << i;
        }
}

/* --- nothing in the image --- */

/** Put why an image is dark into text. A series passes stats of which only `rendered`, 1,
 * is set. */
static void why_dark(const nb_sim *sim, const nb_stats *stats, char *text, size_t size)
{
    const nb_model *model = &sim->model;
    const nb_scene *sc = &model->scene;
    const nb_shade *shades = nb_inputs_shades(&sim->in);
    const double *N = sc->lattice.N;
    double off = beam_off(model), end = table_end(model), finest, coarsest;
    spacings(sc, &finest, &coarsest);
    for (int i = 0; i < N_UNITS; i++)
        if (is_odd(&sim->in, model, i, text, size))
            return;
    odd_mask(model, text, size);
    if (text[0])
        return;
    if (stats->rendered == 0)
        snprintf(text, size, "%s", all_masked);
    else if (shades && shades->all_dark)
        snprintf(text, size, "every pixel is shaded (-beamstop, -transmission)");
    else if (model->fluence == 0)
        snprintf(text, size, "the fluence is 0");
    else if (nb_largest_F(&sc->factors.table) == 0)
        snprintf(text, size, "every structure factor is 0 (-hkl, -default_F)");
    else if (off > 0)
        snprintf(text, size, "the beam centre is %.3g mm outside of it", off * 1e3);
    else if (end > coarsest && sc->factors.table.default_F == 0)
        snprintf(text, size,
                 "the structure factors end at %.3g A, and the detector begins at %.3g A",
                 end, coarsest);
    else if (sc->factors.dmin * 1e10 > coarsest)
        snprintf(text, size, "-dmin is %.3g A, and the detector begins at %.3g A",
                 sc->factors.dmin * 1e10, coarsest);
    else if (stats->max > 0 && model->blocks == 1 && model->fluence < real_beams)
        snprintf(text, size,
                 "this is one block of %gx%gx%g cells; type "
                 "-crystal_volume, the illuminated volume",
                 N[0], N[1], N[2]);
    else
        snprintf(text, size,
                 "no reflection is near the Ewald sphere; "
                 "change -misset, or add -mosaic or -osc");
}

void nb_say_dark(const nb_sim *sim, const nb_stats *stats)
{
    const nb_hooks *hooks = &sim->hooks;
    char why[NB_QUESTION];
    if (!hooks->notice || !(stats->sum < 1) || stats->sum < 0)
        /* a background with F < 0 makes the sum negative, which another note reports */
        return;
    why_dark(sim, stats, why, sizeof why);
    if (stats->sum > 0)
        nb_notice(hooks, "only %.2g photons reached the detector: %s", stats->sum, why);
    else
        nb_notice(hooks, "nothing reached the detector: %s", why);
}

/* --- diffuse light --- */

void nb_sim_advise_diffuse(const nb_sim *sim)
{
    const nb_model *m = &sim->model;
    const nb_config *cfg = &m->settings.value;
    const double reach = nb_scene_reach(&m->scene), end = table_end(m),
                 q = end > 0 ? 1 / end : reach, x = 2 * NB_PI * m->diffuse.sigma * q;
    if (!m->diffuse.n_forms)
        return;
    if (!m->diffuse.unperturbed && x * x > 5)
        nb_notice(
            &sim->hooks,
            "-diffuse_sigma: X is %.3g at the last reflection, so the diffuse light "
            "takes its F^2 times %.3g, with their errors; give a smaller one, -dmin, or "
            "-diffuse_F unperturbed",
            x * x, exp(x * x));
    for (int i = 0; i < 3; i++)
        if (cfg->diffuse_gamma_A[i] > 0.25 * m->crystal.N[i] * m->crystal.edge[i]) {
            nb_notice(
                &sim->hooks,
                "-diffuse_gamma %g A is more than a quarter of the crystal's %.4g A "
                "along "
                "an edge: the formula is that of a larger crystal; give more cells (-N)",
                cfg->diffuse_gamma_A[i], m->crystal.N[i] * m->crystal.edge[i]);
            break;
        }
}

/* --- time --- */

static void say_seconds(double seconds, char *text, size_t size)
{
    if (seconds < 120)
        snprintf(text, size, "%.0f seconds", seconds);
    else if (seconds < 7200)
        snprintf(text, size, "%.0f minutes", seconds / 60);
    else if (seconds < 48 * 3600.)
        snprintf(text, size, "%.1f hours", seconds / 3600);
    else
        snprintf(text, size, "%.3g days", seconds / 86400);
}

/** Note the time with automatic spindle steps, and the error with a third of these
 * steps. */
static void say_steps(const nb_model *m, const nb_hooks *hooks, const char *time)
{
    const int third = m->scene.lattice.n_phi / 3;
    const nb_steps by = {NB_STEPS_PHI, third, m->phi_range, m->geometry.spindle};
    nb_notice(
        hooks,
        "rendering will take about %s, with %d spindle steps, an automatic number; "
        "-phisteps %d is 3 times quicker, and the photons of a reflection are wrong "
        "by %.0f %% (root mean square)",
        time, m->scene.lattice.n_phi, third, 100 * nb_steps_error(&m->scene, &by));
}

void nb_sim_say_long(const nb_sim *sim, int frames)
{
    char why[200] = "", text[100];
    nb_render_options options = sim->engine.options;
    double seconds;
    if (!sim->hooks.notice || nb_rendered_samples(&sim->model.scene) * frames < few_steps)
        return;
    options.images = frames;
    seconds = sim->engine.backend->estimate(&sim->model.scene, &options, why, sizeof why);
    say_seconds(seconds, text, sizeof text);
    if (sim->cfg.truth == NB_TRUTH_SPOTS)
        strcat(text, " (and -truth spots 0.4 to 4 times as long)");
    if (sim->model.auto_phi_steps > 0 && sim->model.scene.lattice.n_phi >= 6 &&
        seconds > long_steps) {
        say_steps(&sim->model, &sim->hooks, text);
        return;
    }
    if (!(seconds > long_render))
        return;
    nb_notice(&sim->hooks,
              "rendering will take about %s: %lld steps per pixel (sub-pixels x sources "
              "x spindle steps x domains x layers)",
              text,
              (long long)sim->model.scene.samples * sim->model.scene.sensors->layers);
}
