/* SPDX-License-Identifier: MIT */
/* -streamout: the crystals of an image as a CrystFEL stream (docs/formats.md). */
#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../model/detector.h"
#include "../sim/crystals.h"
#include "../inputs/factors.h"
#include "../sim/sim.h"
#include "write.h"

/** Standard deviations of the beam: direction (rad, one axis), energy (fraction). */
static void measure_beam(const nb_scene *sc, nb_stream_head *head)
{
    const int n = sc->beam.n_sources;
    nb_vec3 mean = {0};
    double sum = 0, k1 = 0, k2 = 0, angle = 0;
    /* CrystFEL writes this number for one wavelength; its partialator fails with 0 */
    head->bandwidth = 1e-8;
    for (int i = 0; i < n; i++) {
        const nb_source *s = &sc->beam.sources[i];
        sum += s->weight;
        mean = nb_add(mean, nb_scale(s->weight, s->incident));
        k1 += s->weight / s->lambda;
        k2 += s->weight / (s->lambda * s->lambda);
    }
    if (!(sum > 0))
        return;
    mean = nb_unit(mean);
    for (int i = 0; i < n; i++) {
        const nb_source *s = &sc->beam.sources[i];
        const double off = nb_norm(nb_sub(s->incident, mean));
        angle += s->weight * off * off;
    }
    k1 /= sum;
    k2 /= sum;
    head->divergence = sqrt(angle / sum / 2);
    k2 = k2 / (k1 * k1) - 1;
    if (k2 > 1e-14)
        head->bandwidth = sqrt(k2);
}

/** Letter of the lattice's centring; H for a group "R 3 :H" on hexagonal axes. */
static char centering_of(const nb_sim *sim, const double cell[6])
{
    const nb_symmetry *sg = sim->in.factors ? &sim->in.factors->symmetry : NULL;
    const char *name = sg && sg->count ? sg->name : "P";
    if (!name[0] || !strchr("PABCIFRH", name[0]))
        return 'P';
    return name[0] == 'R' && fabs(cell[5] - 120) < 1e-3 ? 'H' : name[0];
}

nb_status nb_stream_open(const nb_sim *sim, const char *hdf5, nb_stream_job *job,
                         nb_error *err)
{
    enum { CRYSTFEL_READS = 1024 * 1024 - 1 };
    nb_stream_head head = {0};
    nb_status st;
    memset(job, 0, sizeof *job);
    job->out.file.fd = -1;
    NB_FORWARD(nb_sim_detector_spec(sim, &job->detector, err));
    job->place =
        nb_alloc((size_t)job->detector.n_panels, sizeof *job->place, "layout", err);
    NB_FORWARD(job->place
                   ? nb_sim_print_geometry(sim, &job->detector, hdf5, &job->geometry,
                                           &head.geometry_bytes, err)
                   : NB_ERR_NOMEM);
    if (head.geometry_bytes > CRYSTFEL_READS)
        nb_notice(&sim->hooks,
                  "-streamout: the geometry has %zu bytes, and CrystFEL reads at most "
                  "%d of a stream's",
                  head.geometry_bytes, CRYSTFEL_READS);
    nb_sim_canvas(sim, job->place);
    head.geometry = job->geometry;
    head.detector = &job->detector;
    head.place = job->place;
    nb_cell_of(&sim->model.crystal, head.cell);
    head.centering = centering_of(sim, head.cell);
    measure_beam(&sim->model.scene, &head);
    return nb_stream_begin(&job->out, sim->cfg.stream_file, &head, err);
}

nb_status nb_stream_close(nb_stream_job *job, nb_status st, nb_error *err)
{
    st = nb_stream_end(&job->out, st, err);
    nb_free(job->geometry);
    nb_free(job->place);
    nb_detector_spec_free(&job->detector);
    memset(job, 0, sizeof *job);
    return st;
}

void nb_stream_axes(const nb_sim *sim, const double A[9], double phi, double out[9])
{
    const nb_geometry *g = &sim->model.geometry;
    for (int c = 0; c < 3; c++) {
        const nb_vec3 v = {A[c], A[3 + c], A[6 + c]};
        double column[3];
        nb_nexus_of_lab(g->convention, nb_rotate_about(v, g->spindle, phi), column);
        for (int i = 0; i < 3; i++)
            out[3 * i + c] = column[i];
    }
}

static void take_lattice(const nb_sim *sim, const nb_further *of, nb_stream_lattice *to)
{
    const nb_crystal *x = of ? &of->model.crystal : &sim->model.crystal;
    double A[9];
    memset(to, 0, sizeof *to);
    nb_put_columns(x->astar, x->bstar, x->cstar, A);
    nb_stream_axes(sim, A, sim->model.phi0, to->A);
    nb_cell_of(x, to->cell);
    memcpy(to->N, x->N, sizeof to->N);
    to->crystal = of ? of->crystal : 0;
    to->twin = of ? of->twin : 0;
}

/** Name of an image that is written, or "none". CrystFEL needs counts, so an image with
 * noise is preferred. */
static const char *image_name(const nb_config *cfg)
{
    for (int noise = 1; noise >= 0; noise--)
        for (const nb_output *f = nb_output_next(NULL); f; f = nb_output_next(f))
            if (f->writer && (f->of == NB_OUTPUT_NOISE) == noise &&
                nb_output_path(f, cfg)[0])
                return nb_output_path(f, cfg);
    return "none";
}

nb_status nb_sim_write_stream(const nb_sim *sim, const nb_reflections *spots,
                              nb_error *err)
{
    const int further = sim->further ? sim->further->n : 0;
    nb_stream_image image = {.name = image_name(&sim->cfg),
                             .event = -1,
                             .serial = 1,
                             .wavelength_A = nb_sim_wavelength(sim),
                             .spots = spots->list,
                             .n_spots = spots->count};
    nb_stream_lattice *all;
    nb_stream_job job;
    nb_status st;
    if (!sim->cfg.stream_file[0])
        return NB_OK;
    if (!(all = nb_alloc((size_t)further + 1, sizeof *all, "-streamout", err)))
        return NB_ERR_NOMEM;
    for (int i = 0; i <= further; i++)
        take_lattice(sim, i ? sim->further->all[i - 1] : NULL, &all[i]);
    image.lattices = all;
    image.n = sim->further && !sim->further->crystals ? 0 : further + 1;
    st = nb_stream_open(sim, NULL, &job, err);
    NB_TRY(nb_stream_add(&job.out, &image, err));
    st = nb_stream_close(&job, st, err);
    nb_free(all);
    return st;
}
