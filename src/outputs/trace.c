/* SPDX-License-Identifier: MIT */
/* -trace_pixel and -printout: the sum of one pixel, term by term. */
#include <stdarg.h>
#include <stdio.h>

#include "../base/c_locale.h"
#include "../base/error.h"
#include "../image/background.h"
#include "../physics/pixel.h"
#include "../render/request.h"
#include "../sim/sim.h"

typedef struct printer {
    void (*emit)(void *user, const char *line);
    void *user;
} printer;

static void say(const printer *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const printer *out, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    out->emit(out->user, line);
}

static void say_vector(const printer *out, const char *name, const char *unit, nb_vec3 v)
{
    say(out, "%s (%s): %.15g %.15g %.15g", name, unit, v.x, v.y, v.z);
}

static void trace_ray(const printer *out, const nb_ray *ray)
{
    say_vector(out, "pixel_position", "m", ray->position);
    say(out, "airpath (m): %.15g", ray->airpath);
    say_vector(out, "diffracted_direction", "unit", ray->direction);
    say(out, "solid_angle (sr): %.15g", ray->omega);
    say(out, "capture_fraction: %.15g", ray->capture);
}

static void trace_sample(const printer *out, int i, const nb_scene *sc, const nb_sample *p)
{
    say(out, "  orientation %d (phi step %d, mosaic domain %d)", i,
        i / sc->lattice.n_domains, i % sc->lattice.n_domains);
    say(out, "    hkl_fractional: %.15g %.15g %.15g", p->h, p->k, p->l);
    say(out, "    hkl_nearest: %.0f %.0f %.0f", p->h0 + 0.0, p->k0 + 0.0,
        p->l0 + 0.0); /* adding 0.0 changes -0 to 0 */
    say(out, "    F_latt: %.15g", p->F_latt);
    say(out, "    F_cell (electrons): %.15g", p->F_cell);
    say(out, "    term F_cell^2 F_latt^2: %.15g",
        p->F_cell * p->F_cell * p->F_latt * p->F_latt);
}

static double trace_source(const printer *out, const nb_scene *sc, const nb_ray *ray,
                           int index)
{
    const nb_source *source = &sc->beam.sources[index];
    nb_vec3 q = nb_scattering_vector(source, ray->direction);
    double crystal = 0, polar = nb_polarization(sc->beam.polarization, source->incident,
                                                ray->direction, sc->beam.polar_axis);
    const double background =
        nb_background_scattering(sc, source, ray->direction) * sc->lattice.n_orientations;
    int i, culled = nb_culled(&sc->factors, q);
    say(out, " source %d: lambda (A): %.15g weight: %.15g", index, source->lambda * 1e10,
        source->weight);
    say_vector(out, "  incident_direction", "unit",
               nb_add(source->incident, nb_v3(0, 0, 0)));
    say_vector(out, "  scattering_vector", "1/A", nb_scale(1e-10, q));
    say(out, "  sin(theta)/lambda (1/A): %.15g%s", 0.5e-10 * nb_norm(q),
        culled ? " beyond -dmin: crystal culled" : "");
    say(out, "  polarization: %.15g", sc->beam.nopolar ? 1.0 : polar);
    for (i = 0; i < sc->lattice.n_orientations && !culled; i++) {
        nb_sample p = nb_sample_at(&sc->lattice, &sc->factors.table, source->table,
                                   &sc->lattice.orientations[i], q);
        trace_sample(out, i, sc, &p);
        crystal += p.F_cell * p.F_cell * p.F_latt * p.F_latt;
    }
    say(out, "  crystal_sum: %.15g background_sum: %.15g", crystal, background);
    return source->weight * (crystal + background) *
           (sc->oversample_polar && !sc->beam.nopolar ? polar : 1.0);
}

/** Find a pixel of the traced panel. */
static nb_status find_pixel(const nb_sim *sim, int fast, int slow, const char *flag,
                            nb_span *pixel, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel = &sc->panels[sim->in.files->trace_panel];
    if (fast < 0 || slow < 0 || fast >= panel->columns || slow >= panel->rows)
        return nb_fail(err, NB_ERR_INPUT, "%s %d %d: the %s has pixels 0..%d and 0..%d",
                       flag, fast, slow, sc->n_panels > 1 ? "panel" : "detector",
                       panel->columns - 1, panel->rows - 1);
    *pixel = nb_span_of_pixel(sc, fast, panel->first_row + slow);
    return NB_OK;
}

/** Print the panel if there are several. */
static void say_panel(const printer *out, const nb_inputs *in, const nb_model *model)
{
    if (model->scene.n_panels > 1)
        say(out, "panel: %d %s", in->files->trace_panel,
            in->files->spec.panels[in->files->trace_panel].name);
}

nb_status nb_sim_trace(const nb_sim *sim, int fast, int slow,
                       void (*emit)(void *user, const char *line), void *user,
                       nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && emit);
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel;
    const nb_sensor *sensor;
    printer out = {emit, user};
    double sum = 0, ray_sum;
    int layer, subf, subs, i;
    nb_span at;
    nb_status st;
    NB_FORWARD(find_pixel(sim, fast, slow, "-trace_pixel", &at, err));
    panel = &sc->panels[at.panel];
    sensor = &sc->sensors[panel->sensor];
    say_panel(&out, &sim->in, &sim->model);
    say(&out, "pixel: %d %d", fast, slow);
    for (layer = 0; layer < sensor->layers; layer++)
        for (subs = 0; subs < sc->oversample; subs++)
            for (subf = 0; subf < sc->oversample; subf++) {
                nb_ray ray = nb_ray_to(
                    panel, sensor,
                    nb_subpixel(panel->pixel_fast, sc->oversample, at.fast, subf),
                    nb_subpixel(panel->pixel_slow, sc->oversample, at.slow, subs), layer);
                say(&out, "layer %d sub-pixel %d %d", layer, subf, subs);
                trace_ray(&out, &ray);
                ray_sum = 0;
                for (i = 0; i < sc->beam.n_sources; i++)
                    ray_sum += trace_source(&out, sc, &ray, i);
                sum += ray_sum * ray.capture * (sc->oversample_omega ? ray.omega : 1.0);
            }
    say(&out, "sum_of_terms: %.15g", sum);
    say(&out, "cached_polarization_and_solid_angle: %.15g",
        nb_cached_factors(sc, panel, sensor, at.fast, at.slow));
    say(&out, "steps: %lld", (long long)sc->samples);
    say(&out, "r_e^2*fluence%s/steps: %.15g", sim->model.blocks == 1 ? "" : "*blocks",
        sc->intensity_scale);
    say(&out, "intensity (photons): %.15g",
        nb_pixel_intensity(sc, panel, sensor, at.fast, at.slow) +
            nb_pixel_background(sc, at.panel, at.fast, at.slow));
    return NB_OK;
}

nb_status nb_sim_printout(const nb_sim *sim, const float *image, int fast, int slow,
                          void (*emit)(void *user, const char *line), void *user,
                          nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && image && emit);
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel;
    const nb_sensor *sensor;
    const nb_source *source = &sc->beam.sources[sc->beam.n_sources - 1];
    const nb_orientation *cell = &sc->lattice.orientations[sc->lattice.n_orientations - 1];
    int last = sc->oversample - 1;
    printer out = {emit, user};
    nb_ray ray;
    nb_sample p;
    nb_span at;
    nb_status st;
    NB_FORWARD(find_pixel(sim, fast, slow, "-printout_pixel", &at, err));
    panel = &sc->panels[at.panel];
    sensor = &sc->sensors[panel->sensor];
    ray = nb_ray_to(panel, sensor,
                    nb_subpixel(panel->pixel_fast, sc->oversample, at.fast, last),
                    nb_subpixel(panel->pixel_slow, sc->oversample, at.slow, last),
                    sensor->layers - 1);
    p = nb_sample_at(&sc->lattice, &sc->factors.table, source->table, cell,
                     nb_scattering_vector(source, ray.direction));
    say(&out, "%4d %4d : hkl= %g %g %g  F_cell= %g  F_latt= %g  I= %g", fast, slow, p.h,
        p.k, p.l, p.F_cell, p.F_latt, p.F_cell * p.F_cell * p.F_latt * p.F_latt);
    say(&out, "     polar= %.15g omega= %.15g capfrac= %.15g",
        sc->beam.nopolar ? 1.0
                         : nb_polarization(sc->beam.polarization, source->incident,
                                           ray.direction, sc->beam.polar_axis),
        ray.omega, ray.capture);
    say(&out, "     pixel= %.15g", image[at.at]);
    say(&out, "     real-space cell vectors (A): a= %g %g %g  b= %g %g %g  c= %g %g %g",
        cell->a.x * 1e10, cell->a.y * 1e10, cell->a.z * 1e10, cell->b.x * 1e10,
        cell->b.y * 1e10, cell->b.z * 1e10, cell->c.x * 1e10, cell->c.y * 1e10,
        cell->c.z * 1e10);
    return NB_OK;
}
