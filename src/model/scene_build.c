/* SPDX-License-Identifier: MIT */
#include "scene_build.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "../base/text.h"
#include "../params/params.h"
#include "../physics/limits.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "units.h"

enum { MAX_ORIENTATIONS = 50000000, MAX_AUTO_OVERSAMPLE = 100 };
enum {
    MAX_AUTO_PHI_STEPS = 1000
}; /* limit for one frame, so that an image takes minutes, not hours */

/** Wavelength for the sensor, A: the weighted mean of a list of sources. */
static double sensor_wavelength(const nb_settings *cfg, const nb_model_inputs *in)
{
    double weight = 0, sum = 0;
    for (int i = 0; in->sources && i < in->n_sources; i++) {
        weight += in->sources[i].intensity;
        sum += in->sources[i].intensity * in->sources[i].lambda;
    }
    return sum > 0 && weight > 0 ? sum / weight / NB_ANGSTROM : nb_beam_wavelength(cfg);
}

static nb_status build_detector(const nb_settings *cfg, const nb_model_inputs *in,
                                const nb_hooks *hooks, nb_model *m, nb_error *err)
{
    nb_scene *sc = &m->scene;
    nb_detector *det = nb_alloc(1, sizeof *det, "detector", err);
    nb_status st;
    m->detector = det;
    if (!det)
        return NB_ERR_NOMEM;
    st = nb_detector_build(cfg, &m->geometry, sensor_wavelength(cfg, in), hooks, det, err);
    sc->n_panels = det->n_panels;
    sc->panels = det->panels;
    sc->sensors = det->sensors;
    sc->raster = det->raster;
    sc->raster.mask = in->mask;
    return st;
}

/** Set the table of F of each source. */
static nb_status share_tables(const nb_model_inputs *in, nb_model *m, nb_error *err)
{
    int n = m->scene.beam.n_sources, i;
    if (!in->table_of_source)
        return NB_OK;
    if (in->n_of_source != n)
        return nb_fail(err, NB_ERR_INTERNAL,
                       "tables of F were chosen for %d sources, but the beam has %d",
                       in->n_of_source, n);
    for (i = 0; i < n; i++) {
        int table = in->table_of_source[i];
        if (table < 0 || table >= nb_table_count(&in->table))
            return nb_fail(err, NB_ERR_INTERNAL, "source %d has table %d of F, of %d", i,
                           table, nb_table_count(&in->table));
        m->sources[i].table = table;
    }
    return NB_OK;
}

/** Smallest d, A: -dmin, or the smallest d on the detector at the central wavelength. */
static double smallest_d(const nb_settings *cfg, const nb_model *m)
{
    const nb_source middle = {m->geometry.beam, m->wavelength_A * NB_ANGSTROM, 1, 0};
    nb_scene sc = m->scene;
    if (NB_TYPED(cfg, dmin_A) && cfg->value.dmin_A > 0)
        return cfg->value.dmin_A;
    sc.beam.n_sources = 1;
    sc.beam.sources = &middle;
    return 1 / nb_scene_reach(&sc);
}

/** Make the spectrum of -spectrum, and set the fluence of this shot. */
static nb_status build_spectrum(const nb_settings *cfg, const nb_model_inputs *in,
                                nb_model *m, nb_error *err)
{
    const nb_crystal *x = &m->crystal;
    nb_spectrum_use use = {in->points, in->n_points, m->wavelength_A,
                           .seed = NB_TYPED(cfg, seed) ? cfg->value.seed.value
                                                       : in->default_seed};
    nb_status st;
    if (!nb_spectrum_is_set(cfg))
        return NB_OK;
    if (!NB_TYPED(cfg, wavelengths)) {
        const nb_vec3 edges[] = {x->a, x->b, x->c};
        for (int i = 0; i < 3; i++)
            use.length_A = fmax(use.length_A, x->N[i] * nb_norm(edges[i]) / NB_ANGSTROM);
        use.dmin_A = smallest_d(cfg, m);
    }
    NB_FORWARD(nb_spectrum_make(cfg, &use, &m->spectrum, err));
    if (m->spectrum.is_chaotic)
        m->fluence = nb_typeable(m->fluence * m->spectrum.factor);
    return NB_OK;
}

static nb_status build_sources(const nb_settings *cfg, const nb_model_inputs *in,
                               nb_model *m, nb_error *err)
{
    nb_scene *sc = &m->scene;
    nb_status st;
    NB_FORWARD(nb_spectrum_check(cfg, err));
    if (in->sources) {
        sc->beam.n_sources = in->n_sources;
        st = nb_beam_from_list(in->sources, in->n_sources, cfg->value.compat, &m->sources,
                               err);
    } else {
        st = build_spectrum(cfg, in, m, err);
        NB_TRY(nb_beam_grid(cfg, &m->geometry, m->spectrum.n ? &m->spectrum : NULL,
                            &m->sources, &sc->beam.n_sources, err));
    }
    sc->beam.sources = m->sources;
    return st ? st : share_tables(in, m, err);
}

static nb_orientation turn_about(nb_orientation u, nb_vec3 axis, double angle)
{
    u.a = nb_rotate_about(u.a, axis, angle);
    u.b = nb_rotate_about(u.b, axis, angle);
    u.c = nb_rotate_about(u.c, axis, angle);
    return u;
}

static nb_orientation turn_by(nb_orientation u, const nb_mat3 *U)
{
    u.a = nb_apply(U, u.a);
    u.b = nb_apply(U, u.b);
    u.c = nb_apply(U, u.c);
    return u;
}

/** Range and steps of the spindle, rad. */
static nb_sampling phi_of(const nb_settings *cfg)
{
    return nb_sample_phi(NB_TYPED_OR(cfg, osc_deg, NAN) * NB_DEG,
                         cfg->value.phistep_deg * NB_DEG, cfg->value.phi_steps,
                         cfg->value.compat);
}

/** Angle of a spindle step, rad. */
static double step_angle(const nb_settings *cfg, const nb_model *m, int i)
{
    const double middle = cfg->value.compat ? 0.0 : 0.5;
    return m->phi0 + (m->phi_range > 0 ? (i + middle) * m->phi_step : 0);
}

/** Orientation at a step of a crystal that changes along its scan. */
static nb_orientation varied(const nb_settings *cfg, const nb_model *m, int i,
                             const nb_mat3 *domain)
{
    const nb_scan_step *step = &m->steps[i];
    const nb_vec3 axis = m->geometry.spindle;
    const double phi = step_angle(cfg, m, i);
    const nb_orientation u =
        nb_scan_mix(step, (nb_orientation){m->crystal.a, m->crystal.b, m->crystal.c});
    return cfg->value.compat
               ? turn_by(turn_about(turn_by(u, &step->turn), axis, phi), domain)
               : turn_about(turn_by(turn_by(u, domain), &step->turn), axis, phi);
}

/** Fill all phi steps of all domains. Domains turn with the crystal (R_phi U a). With
 * -compat the rotations of the domains keep their axes in the lab (U R_phi a). */
static void fill_orientations(const nb_settings *cfg, nb_model *m, const nb_mat3 *domains)
{
    const nb_orientation start = {m->crystal.a, m->crystal.b, m->crystal.c};
    const nb_vec3 axis = m->geometry.spindle;
    nb_orientation *u = m->orientations;
    for (int i = 0; i < m->scene.lattice.n_phi; i++) {
        const double phi = step_angle(cfg, m, i);
        for (int j = 0; j < m->scene.lattice.n_domains; j++, u++)
            *u = m->steps            ? varied(cfg, m, i, &domains[j])
                 : cfg->value.compat ? turn_by(turn_about(start, axis, phi), &domains[j])
                                     : turn_about(turn_by(start, &domains[j]), axis, phi);
    }
}

/** Turn the crystal, but not the axes of its mosaic spread. */
static void displace_crystal(const nb_displacement *moved, nb_crystal *x)
{
    nb_vec3 w = nb_v3(moved->rot[0], moved->rot[1], moved->rot[2]);
    nb_vec3 *const all[] = {&x->a, &x->b, &x->c, &x->astar, &x->bstar, &x->cstar};
    for (int i = 0; i < 6; i++)
        *all[i] = nb_turn(w, *all[i]);
}

/** Find the number of spindle steps that resolve the rocking curves of the crystal. */
static nb_status auto_phi_steps(nb_model *m, const nb_mat3 *domains, nb_error *err)
{
    nb_lattice *lattice = &m->scene.lattice;
    const nb_vec3 axis = m->geometry.spindle;
    const double middle = m->phi0 + m->phi_range / 2;
    const nb_orientation u = {m->crystal.a, m->crystal.b, m->crystal.c};
    nb_orientation *list =
        nb_alloc((size_t)lattice->n_domains, sizeof *list, "orientations", err);
    if (!list)
        return NB_ERR_NOMEM;
    lattice->n_phi = 1;
    lattice->n_orientations = lattice->n_domains;
    lattice->orientations = list;
    for (int j = 0; j < lattice->n_domains; j++)
        list[j] = turn_about(turn_by(u, &domains[j]), axis, middle);
    m->auto_phi_steps = nb_phi_steps_enough(&m->scene, m->phi_range, axis);
    nb_free(list);
    lattice->orientations = NULL;
    return NB_OK;
}

static nb_scan_frame frame_of(const nb_model *m)
{
    return (nb_scan_frame){m->phi0, m->phi_range, m->geometry.spindle,
                           m->geometry.convention};
}

/** Make the steps of a crystal that changes along its scan. */
static nb_status make_steps(const nb_settings *cfg, const nb_scan_points *scan,
                            nb_model *m, nb_error *err)
{
    const nb_scan_frame frame = frame_of(m);
    const int n = m->scene.lattice.n_phi;
    if (!nb_scan_changes(scan))
        return NB_OK;
    m->steps = nb_alloc((size_t)n, sizeof *m->steps, "spindle steps", err);
    for (int i = 0; m->steps && i < n; i++)
        m->steps[i] = nb_scan_step_of(scan, &frame, &m->middle, step_angle(cfg, m, i));
    return m->steps ? NB_OK : NB_ERR_NOMEM;
}

static nb_status fit_orientations(const nb_lattice *lattice, nb_error *err)
{
    double total = (double)lattice->n_phi * lattice->n_domains;
    if (total <= MAX_ORIENTATIONS)
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "%d phi steps of %d mosaic domains are %.0f orientations (limit "
                   "%d); type fewer -phisteps or -mosaic_dom",
                   lattice->n_phi, lattice->n_domains, total, MAX_ORIENTATIONS);
}

/** Choose the number of spindle steps if it is automatic, and make all orientations. */
static nb_status place_domains(const nb_settings *cfg, const nb_model_inputs *in,
                               const nb_mat3 *domains, nb_model *m, nb_error *err)
{
    nb_lattice *lattice = &m->scene.lattice;
    const double range = NB_TYPED_OR(cfg, osc_deg, NAN) * NB_DEG,
                 step = cfg->value.phistep_deg * NB_DEG;
    const int limit = MAX_ORIENTATIONS / lattice->n_domains;
    nb_status st;
    if (nb_phi_open(range, step, cfg->value.phi_steps, cfg->value.compat)) {
        int n;
        NB_FORWARD(auto_phi_steps(m, domains, err));
        n = m->auto_phi_steps < MAX_AUTO_PHI_STEPS ? m->auto_phi_steps
                                                   : MAX_AUTO_PHI_STEPS;
        lattice->n_phi = n < limit ? n : limit;
        m->phi_step = range / lattice->n_phi;
    }
    lattice->n_orientations = lattice->n_phi * lattice->n_domains;
    m->orientations = nb_alloc((size_t)lattice->n_orientations, sizeof *m->orientations,
                               "orientations", err);
    if (!m->orientations)
        return NB_ERR_NOMEM;
    NB_FORWARD(make_steps(cfg, in->scan, m, err));
    fill_orientations(cfg, m, domains);
    lattice->orientations = m->orientations;
    return NB_OK;
}

static nb_status build_orientations(const nb_settings *cfg, const nb_model_inputs *in,
                                    const nb_hooks *hooks, nb_model *m, nb_error *err)
{
    nb_lattice *lattice = &m->scene.lattice;
    const nb_sampling phi = phi_of(cfg);
    nb_mat3 *domains;
    nb_status st;
    NB_FORWARD(nb_mosaic_resolve(cfg, m->crystal.astar, m->crystal.c, m->geometry.spindle,
                                 &m->mosaic, err));
    if (in->moved)
        displace_crystal(in->moved, &m->crystal);
    if (phi.count > 1 && !(phi.range > 0))
        nb_notice(hooks,
                  "%d phi steps without -osc make a still: all steps have the same "
                  "angle; add -osc for a rotation",
                  phi.count);
    m->phi_step = phi.step;
    lattice->n_phi = phi.count;
    lattice->n_domains =
        in->blocks ? in->n_blocks
                   : nb_mosaic_domains(m->mosaic.spread, cfg->value.mosaic_domains);
    NB_FORWARD(fit_orientations(lattice, err));
    lattice->n_orientations = lattice->n_phi * lattice->n_domains;
    if (in->check_only)
        return NB_OK;
    domains = nb_alloc((size_t)lattice->n_domains, sizeof *domains, "mosaic domains", err);
    if (!domains)
        return NB_ERR_NOMEM;
    for (int i = 0; in->blocks && i < lattice->n_domains; i++)
        domains[i] = nb_mosaic_in_lab(&m->mosaic, &in->blocks[i]);
    if (!in->blocks)
        nb_mosaic_draw(&m->mosaic, lattice->n_domains, domains);
    st = place_domains(cfg, in, domains, m, err);
    nb_free(domains);
    return st;
}

static double longest(const nb_crystal *x)
{
    double l = 0;
    for (int i = 0; i < 3; i++)
        l = fmax(l, x->N[i] * x->edge[i] * NB_ANGSTROM);
    return l;
}

/** Smallest ratio of detector distance to pixel edge. */
static double fewest_pixels(const nb_settings *cfg, const nb_model *m)
{
    const nb_geometry *g = &m->geometry;
    double least = INFINITY;
    for (int k = 0; cfg->value.detector && k < m->scene.n_panels; k++) {
        const nb_panel *p = &m->scene.panels[k];
        least = fmin(least, p->close_distance / fmax(p->pixel_fast, p->pixel_slow));
    }
    return cfg->value.detector ? least : g->distance / g->pixel;
}

/** Number of sub-pixels that samples the narrowest fringe of the crystal three times. */
static int auto_oversample(const nb_settings *cfg, const nb_model *m)
{
    double fringe = m->wavelength_A * NB_ANGSTROM * fewest_pixels(cfg, m);
    double n = nb_ceil_ratio(3.0 * longest(&m->crystal) / fringe);
    return n >= 1 ? n > 10000 ? 10000 : (int)n : 1;
}

/** Refuse an automatic number of sub-pixels that takes too long. */
static nb_status check_oversample(const nb_settings *cfg, const nb_model *m, nb_error *err)
{
    int n = m->auto_oversample;
    if (cfg->value.oversample > 0 || n <= MAX_AUTO_OVERSAMPLE)
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "the fringes of a crystal of %.3g um at this distance need %d x %d sub-pixels; "
        "type -oversample (%d resolves the spots), or a smaller -N and -crystal_volume",
        longest(&m->crystal) / NB_UM, n, n, (n + 2) / 3);
}

static void set_table(const nb_factor_table *table, nb_model *m)
{
    const nb_config *cfg = &m->settings.value;
    const double *N = m->crystal.N;
    int small = N[0] <= 2 || N[1] <= 2 || N[2] <= 2;
    nb_factor_table *own = &m->scene.factors.table;
    *own = *table;
    own->n_tables = nb_table_count(table);
    if (own->nh > 0 && !own->measured)
        nb_factor_table_measure(own);
    own->interpolate = own->nh > 0 && (cfg->interpolate == NB_ON ||
                                       (cfg->interpolate == NB_AUTO && small));
}

void nb_model_set_tables(const nb_factor_table *table, const int *of_source, nb_model *m)
{
    set_table(table, m);
    for (int i = 0; i < m->scene.beam.n_sources; i++)
        m->sources[i].table = of_source[i];
}

static void clear_damaged(void *object)
{
    nb_free((double *)(uintptr_t)((nb_damaged *)object)->table.F);
}

/** True if d was made from these inputs. Cells of turned crystals differ in the last
 * digits. */
static int is_of(const nb_damaged *d, const nb_factor_table *t, const nb_damage *by,
                 const double cell[6])
{
    int same = d && d->from == t->F && d->B == by->B && d->fall == by->fall &&
               d->table.default_F == t->default_F &&
               nb_table_values(&d->table) == nb_table_values(t);
    for (int i = 0; i < 6 && same; i++)
        same = fabs(d->cell[i] - cell[i]) <= 1e-13 * cell[i];
    return same;
}

static nb_damaged *damage_of(const nb_factor_table *t, const nb_damage *by,
                             const double cell[6], nb_error *err)
{
    nb_damaged *d = nb_shared_new(sizeof *d, clear_damaged, "structure factors", err);
    double *F =
        d ? nb_alloc_raw(nb_table_values(t), sizeof *F, "structure factors", err) : NULL;
    if (!F) {
        nb_shared_drop(d);
        return NULL;
    }
    nb_damage_factors(by, cell, t, F);
    d->table = *t;
    d->table.F = F;
    d->from = t->F;
    d->B = by->B;
    d->fall = by->fall;
    memcpy(d->cell, cell, sizeof d->cell);
    nb_factor_table_measure(&d->table);
    return d;
}

nb_status nb_model_damage_tables(const double *cell, const nb_model *like, nb_model *m,
                                 nb_error *err)
{
    nb_factor_table *t = &m->scene.factors.table;
    const nb_crystal *x = &m->crystal;
    const int interpolate = t->interpolate;
    double own[6];
    nb_cell_of(x, own);
    for (int i = 0; i < 3; i++)
        own[i] /= x->growth;
    if (t->nh == 0 || !nb_damage_weakens(&m->damage))
        return NB_OK;
    if (!cell)
        cell = own;
    m->damaged = like && is_of(like->damaged, t, &m->damage, cell)
                     ? nb_shared_hold(like->damaged)
                     : damage_of(t, &m->damage, cell, err);
    if (!m->damaged)
        return NB_ERR_NOMEM;
    *t = m->damaged->table;
    t->interpolate = interpolate;
    return NB_OK;
}

/** Set background and scale. Each step adds F_bg^2 of every water molecule. The scale
 * contains the number of the crystal's blocks as a factor, so the term of water is
 * divided by this number. */
static nb_status build_scale(const nb_settings *cfg, nb_model *m, nb_error *err)
{
    const double F_water = 2.57; /* electrons; forward scattering of H2O in solution */
    nb_scene *sc = &m->scene;
    double w = cfg->value.water_um * NB_UM, blocks;
    double steps = (double)sc->beam.n_sources * sc->lattice.n_orientations *
                   sc->oversample * (double)sc->oversample;
    if (steps > 1e18)
        return nb_fail(err, NB_ERR_INPUT,
                       "%.3g steps per pixel are too many; type fewer sources, mosaic "
                       "domains, phi steps or sub-pixels",
                       steps);
    m->blocks = nb_crystal_blocks(cfg, &m->crystal);
    blocks = m->blocks * m->twin_share;
    sc->background = F_water * F_water * w * w * w * 1e6 * NB_AVOGADRO / 18.0 / blocks;
    sc->samples = (int64_t)sc->beam.n_sources * sc->lattice.n_orientations *
                  sc->oversample * sc->oversample;
    sc->intensity_scale = NB_R_E_SQR * m->fluence / (double)sc->samples * blocks;
    return NB_OK;
}

/** Build the crystal. If it changes along a scan: the crystal in mid-frame. */
static nb_status build_crystal(const nb_settings *cfg, const nb_model_inputs *in,
                               const nb_hooks *hooks, nb_model *m, nb_error *err)
{
    nb_crystal_inputs crystal = {
        in->matrix, in->matrix_lambda_A > 0 ? in->matrix_lambda_A : m->wavelength_A,
        in->default_seed};
    nb_twin twin;
    double A[9];
    nb_status st;
    m->phi0 = cfg->value.phi_deg * NB_DEG;
    m->phi_range = phi_of(cfg).range;
    if (in->matrix && nb_scan_changes(in->scan)) {
        const nb_scan_frame frame = frame_of(m);
        m->middle = nb_scan_middle_of(in->scan, &frame);
        nb_scan_to_middle(&m->middle, in->matrix, A);
        crystal.matrix = A;
    }
    st = nb_crystal_build(cfg, &crystal, hooks, &m->crystal, err);
    NB_TRY(nb_twin_read(cfg->value.twin, &twin, err));
    if (st)
        return st;
    m->twin_share = nb_twin_share(&twin, in->twin_part);
    m->obliquity = nb_twin_turn(&twin, in->twin_part, &m->crystal);
    return NB_OK;
}

static nb_status build_scene(const nb_settings *cfg, const nb_model_inputs *in,
                             const nb_hooks *hooks, nb_model *m, nb_error *err)
{
    nb_scene *sc = &m->scene;
    nb_status st;
    if ((st = nb_scan_check(in->scan, cfg, err)) ||
        (st = nb_geometry_build_moved(cfg, in->moved, &m->geometry, err)) ||
        (st = nb_footprint_of(cfg, &m->geometry, &m->footprint, err)) ||
        (st = build_detector(cfg, in, hooks, m, err)) ||
        (st = build_crystal(cfg, in, hooks, m, err)) ||
        (st = build_sources(cfg, in, m, err)) ||
        (st = nb_damage_of(cfg, m->fluence, m->wavelength_A, &m->damage, err)))
        return st;
    nb_crystal_grow(m->damage.growth, &m->crystal);
    memcpy(sc->lattice.N, m->crystal.N, sizeof sc->lattice.N);
    sc->lattice.shape = (int)cfg->value.shape;
    sc->lattice.fudge = cfg->value.fudge;
    NB_FORWARD(build_orientations(cfg, in, hooks, m, err));
    m->auto_oversample = auto_oversample(cfg, m);
    NB_FORWARD(check_oversample(cfg, m, err));
    sc->oversample =
        cfg->value.oversample > 0 ? cfg->value.oversample : m->auto_oversample;
    sc->oversample_polar = cfg->value.oversample_polar;
    sc->oversample_omega = cfg->value.oversample_omega;
    sc->beam.polarization = cfg->value.polarization;
    sc->beam.polar_axis = m->geometry.polar;
    sc->beam.nopolar = cfg->value.nopolar;
    nb_crystal_shape_metric(&m->crystal, cfg->value.compat, sc->lattice.radius2);
    set_table(&in->table, m);
    sc->factors.dmin = cfg->value.dmin_A * NB_ANGSTROM;
    st = nb_absorber_of(cfg, &m->geometry, &m->crystal,
                        &(nb_frame_turn){m->phi0, m->phi_range, sc->lattice.n_phi},
                        m->wavelength_A, &m->absorber, err);
    NB_TRY(build_scale(cfg, m, err));
    if (!st && in->amorphous)
        st = nb_amorphous_of(cfg, in->amorphous, m->blocks * m->twin_share, &m->amorphous,
                             err);
    sc->amorphous = m->amorphous;
    return st;
}

nb_status nb_model_build(const nb_config *cfg, const nb_model_inputs *in,
                         const nb_hooks *hooks, nb_model *m, nb_error *err)
{
    const nb_settings *all = &m->settings;
    nb_status st;
    memset(m, 0, sizeof *m);
    nb_resolve(cfg, &m->settings);
    m->wavelength_A = nb_beam_wavelength(all);
    m->fluence = nb_beam_fluence(all);
    st = build_scene(all, in, hooks, m, err);
    if (st)
        nb_model_free(m);
    return st;
}

void nb_model_free(nb_model *m)
{
    if (!m)
        return;
    nb_detector_free(m->detector);
    nb_free(m->detector);
    nb_free(m->sources);
    nb_spectrum_free(&m->spectrum);
    nb_free(m->orientations);
    nb_free(m->steps);
    nb_shared_drop(m->damaged);
    nb_free(m->amorphous);
    nb_free(m->weakened);
    nb_shared_drop(m->mixed);
    memset(m, 0, sizeof *m);
}

nb_scene nb_scene_without_crystal(const nb_scene *sc)
{
    nb_factor_table none = {.n_tables = 1}; /* no box: F is 0 for every source */
    nb_scene rest = *sc;
    const int n = sc->lattice.n_orientations;
    nb_factor_table_measure(&none);
    rest.factors.table = none;
    rest.lattice.n_orientations = rest.lattice.n_phi = rest.lattice.n_domains = 1;
    rest.samples = sc->samples / n;
    rest.intensity_scale = sc->intensity_scale * n;
    return rest;
}

/** Solid angle of the rectangle from the corner (0,0) at the nearest point to (x,y) [m]
 * at distance z (pyramid; Khadjavi, J. Opt. Soc. Am. 58, 1417 (1968)). */
static double corner_angle(double x, double y, double z)
{
    return atan2(x * y, z * sqrt(x * x + y * y + z * z));
}

static double flat_solid_angle(const nb_panel *panel, nb_region r)
{
    double close_f = -nb_dot(panel->pix0, panel->fast),
           close_s = -nb_dot(panel->pix0, panel->slow);
    double f0 = r.fmin * panel->pixel_fast - close_f, z = panel->close_distance;
    double f1 = (r.fmax + 1) * panel->pixel_fast - close_f;
    double s0 = r.smin * panel->pixel_slow - close_s;
    double s1 = (r.smax + 1) * panel->pixel_slow - close_s;
    return corner_angle(f1, s1, z) - corner_angle(f0, s1, z) - corner_angle(f1, s0, z) +
           corner_angle(f0, s0, z);
}

/** Solid angle of a row; mask: mask of the row from its first pixel on, or NULL. */
static double row_solid_angle(const nb_panel *panel, nb_region r, const uint8_t *mask,
                              int s)
{
    double sum = 0;
    for (int f = r.fmin; f <= r.fmax; f++)
        if (!mask || mask[f]) {
            nb_ray ray = nb_ray_along(nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                                     (s + 0.5) * panel->pixel_slow, 0));
            sum += nb_solid_angle(panel, &ray);
        }
    return sum;
}

static double panel_solid_angle(const nb_scene *sc, const nb_panel *panel)
{
    const nb_region r = nb_panel_region(sc, panel);
    const uint8_t *mask = sc->raster.mask;
    int square = fabs(nb_dot(panel->fast, panel->slow)) < 1e-9;
    double total = 0;
    if (nb_region_pixels(r) == 0)
        return 0;
    if (!mask && !panel->curved && !panel->point_pixel && square)
        return flat_solid_angle(panel, r);
    for (int s = r.smin; s <= r.smax; s++)
        total += row_solid_angle(panel, r,
                                 mask ? mask + nb_panel_pixel(panel, 0, s) : NULL, s);
    return total;
}

double nb_scene_solid_angle(const nb_scene *sc)
{
    double total = 0;
    for (int k = 0; k < sc->n_panels; k++)
        total += panel_solid_angle(sc, &sc->panels[k]);
    return total;
}
