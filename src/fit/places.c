/* SPDX-License-Identifier: MIT */
#include "places.h"
#include "../outputs/write.h"

#include <math.h>
#include <string.h>

#include "../base/coefficients.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../base/threads.h"
#include "../params/params.h"
#include "../physics/amorphous.h"
#include "../physics/panels.h"
#include "../physics/ray.h"
#include "../inputs/load.h"

nb_vec3 nb_place_q(const nb_sim *sim, const nb_panel *panel, double f, double s)
{
    const nb_source source = {.incident = sim->model.geometry.beam,
                              .lambda = nb_sim_wavelength(sim) * 1e-10};
    const nb_ray ray = nb_ray_along(
        nb_panel_point(panel, f * panel->pixel_fast, s * panel->pixel_slow, 0));
    return nb_scattering_vector(&source, ray.direction);
}

/** Nearest whole number of x, |x| < 2^51, without a call of the C library. */
static double whole(double x)
{
    return x + NB_ROUND_DOUBLE - NB_ROUND_DOUBLE;
}

void nb_place_hkl(const nb_lattice *lattice, nb_vec3 q, int hkl[3])
{
    double nearest = INFINITY;
    for (int i = 0; i < lattice->n_orientations; i++) {
        const nb_orientation *o = &lattice->orientations[i];
        const double h[3] = {nb_dot(o->a, q), nb_dot(o->b, q), nb_dot(o->c, q)};
        double off = 0;
        for (int k = 0; k < 3; k++)
            off += (h[k] - whole(h[k])) * (h[k] - whole(h[k]));
        if (off >= nearest)
            continue;
        nearest = off;
        for (int k = 0; k < 3; k++)
            hkl[k] = (int)fmax(-1e9, fmin(1e9, whole(h[k])));
    }
}

double nb_place_stol(const nb_sim *sim, const nb_panel *panel, int fast, int slow)
{
    const nb_sensor *sensor = &sim->model.scene.sensors[panel->sensor];
    const double F = nb_subpixel(panel->pixel_fast, 1, fast, 0);
    const double S = nb_subpixel(panel->pixel_slow, 1, slow, 0);
    const nb_vec3 d = nb_ray_to(panel, sensor, F, S, 0).direction;
    return nb_norm(nb_sub(d, panel->beam)) / (2 * nb_sim_wavelength(sim));
}

/* Convert a picture in ADU to photons. */

/* Offset of SMV files whose header gives no offset, ADU. */
#define SMV_OFFSET 40

static double offset_of(const nb_config *cfg, const nb_image *picture)
{
    if (cfg->adc_set)
        return cfg->adc_offset;
    if (picture->pedestal != 0)
        return picture->pedestal;
    return strcmp(picture->format, "SMV") == 0 ? SMV_OFFSET : 0;
}

/** True for the largest number of an integer type, which marks a missing count. */
static int stands_for_none(const nb_image *picture, double adu)
{
    if (strcmp(picture->format, "float") == 0)
        return 0;
    if (strcmp(picture->format, "HDF5") == 0 && adu >= 4294967294.0)
        return 1;
    return adu == 65535;
}

/** True for files of photon counters, which mark unknown pixels with negative values. */
static int marks_unknown(const nb_image *picture)
{
    return strcmp(picture->format, "CBF") == 0 || strcmp(picture->format, "HDF5") == 0;
}

/** True if a value is too large for a count. In HDF5, 65535 may be an unknown pixel. */
static int is_full(const nb_image *picture, double adu, double full)
{
    return adu >= full || (adu == 65535 && stands_for_none(picture, adu) &&
                           strcmp(picture->format, "HDF5") != 0);
}

/** NB_PLACE_... of pixel `from`, from header and range. full: ADU of saturation. */
static int masked_of(const nb_image *picture, size_t from, double full)
{
    const double adu = picture->pixels[from];
    if (picture->left_out && picture->left_out[from])
        return NB_PLACE_FILE;
    if (is_full(picture, adu, full))
        return NB_PLACE_SATURATED;
    return !isfinite(adu) || stands_for_none(picture, adu) ||
                   (adu < 0 && marks_unknown(picture))
               ? NB_PLACE_FILE
               : NB_PLACE_USED;
}

/** A picture and the wanted pixels. */
typedef struct job {
    const nb_image *picture;
    double offset, dmin, dmax; /* offset in ADU; limits of d in A, 0 without a limit */
    int (*place)[2]; /* owned; panels in a picture with gaps, or NULL for a stack */
} job;

/** Index in the picture of pixel `at` of the stack, which is (f, s) of panel k. */
static size_t pixel_in_picture(const job *j, int k, int f, int s, size_t at)
{
    return j->place ? (size_t)(j->place[k][1] + s) * (size_t)j->picture->fast +
                          (size_t)(j->place[k][0] + f)
                    : at;
}

/** Fill the pixels of one panel. */
static void observe_panel(const nb_sim *sim, const job *j, int k, nb_seen *out)
{
    const nb_image *picture = j->picture;
    const nb_scene *sc = &sim->model.scene;
    const nb_panel *panel = &sc->panels[k];
    const uint8_t *mask = sc->raster.mask;
    const nb_settings *all = &sim->model.settings;
    nb_region region = nb_panel_region(sc, panel);
    double gain = NB_TYPED_OR(
        all, gain, sim->in.files->panel_gains ? sim->in.files->panel_gains[k] : 1);
    double full = NB_TYPED_OR(all, saturation, INFINITY);
    if (!NB_TYPED(all, saturation) && sim->in.files->panel_gains &&
        sim->in.files->panel_gains[sim->in.files->spec.n_panels + k] > 0)
        full = sim->in.files->panel_gains[sim->in.files->spec.n_panels + k];
#pragma omp parallel for num_threads(nb_thread_count(sim->engine.options.threads))
    for (int s = region.smin; s <= region.smax; s++)
        for (int f = region.fmin; f <= region.fmax; f++) {
            size_t at = nb_panel_pixel(panel, f, s);
            size_t from = pixel_in_picture(j, k, f, s, at);
            double adu = picture->pixels[from];
            double here =
                gain * (sim->in.files->gainmap ? sim->in.files->gainmap->pixel[at] : 1);
            double d = nb_place_stol(sim, panel, f, s);
            out->stol[at] = (float)d;
            if ((j->dmin > 0 && d * 2 * j->dmin > 1) ||
                (j->dmax > 0 && d * 2 * j->dmax < 1))
                continue;
            out->masked[at] =
                (uint8_t)(here > 0 && (!mask || mask[at]) ? masked_of(picture, from, full)
                                                          : NB_PLACE_FILE);
            if (out->masked[at] == NB_PLACE_USED)
                out->photons[at] = (float)((adu - j->offset) / here);
            if (out->masked[at] == NB_PLACE_SATURATED)
                out->full[at] = (float)((adu - j->offset) / here);
        }
}

/** Find the layout: the stack, or panels at the positions of the detector file. */
static nb_status place_panels(const nb_sim *sim, job *j, nb_error *err)
{
    const size_t panels = (size_t)sim->model.scene.n_panels;
    nb_panel_canvas canvas;
    int fast, slow;
    nb_sim_size(sim, &fast, &slow);
    if (j->picture->fast == fast && j->picture->slow == slow)
        return NB_OK;
    if (!(j->place = nb_alloc(panels, sizeof *j->place, "layout", err)))
        return NB_ERR_NOMEM;
    canvas = nb_sim_file_canvas(sim, j->place);
    if (canvas.as_file && j->picture->fast == canvas.size[0] &&
        j->picture->slow == canvas.size[1])
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT,
                   "the picture has %d x %d pixels, but the simulation %d x %d; add "
                   "-detpixels_x %d -detpixels_y %d, or the geometry of the picture",
                   j->picture->fast, j->picture->slow, fast, slow, j->picture->fast,
                   j->picture->slow);
}

nb_status nb_place_photons(const nb_sim *sim, const nb_image *picture, double dmin,
                           double dmax, nb_seen *out, nb_error *err)
{
    const nb_scene *sc = &sim->model.scene;
    const nb_settings *all = &sim->model.settings;
    job j = {picture, offset_of(&all->value, picture), dmin, dmax, NULL};
    double gain = all->value.gain;
    nb_status st = place_panels(sim, &j, err);
    if (sim->in.files->panel_gains && !NB_TYPED(all, gain))
        gain = sim->in.files->panel_gains[0];
    out->sigma = all->value.readout_noise / gain;
    for (size_t i = 0; i < sc->raster.pixels; i++) {
        out->photons[i] = out->full[i] = NAN;
        out->stol[i] = 0;
        out->masked[i] = NB_PLACE_USED;
    }
    for (int k = 0; k < sc->n_panels && !st; k++)
        observe_panel(sim, &j, k, out);
    nb_free(j.place);
    return st;
}
