/* SPDX-License-Identifier: MIT */
/* Make a table of F from an image: F of a disordered material that gives this image. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../analysis/analysis.h"
#include "../base/c_locale.h"
#include "../base/error.h"
#include "../base/memory.h"
#include "../model/units.h"
#include "../params/params.h"
#include "../physics/amorphous.h"
#include "../physics/panels.h"
#include "../inputs/load.h"
#include "../sim/sim.h"
#include "picture.h"
#include "report.h"

enum { MAX_BINS = 1000000 };

/** Points of the written table. */
typedef struct bin_list {
    const nb_table_piece *pieces; /* [n], points of a typed table; NULL: i * step */
    double step;                  /* 1/m */
    int n;
} bin_list;

/** Data that turn pixels of the image into electrons^2. */
typedef struct table_job {
    const nb_sim *sim;
    nb_image image;
    nb_panel_pixels *where; /* owned; panels in the image */
    nb_source source;
    /* adc: offset, ADU; scale: r_e^2 fluence N, where N is the number of molecules */
    double adc, scale;
    int marked; /* 1: the file has a header, so that values may mark gaps */
    bin_list bins;
    int32_t *bin;      /* owned; [pixels], -1: the pixel is not used */
    nb_binned *pixels; /* owned; [pixels] */
    size_t used;
    double smooth; /* half width of the parabolas, 1/m; 0 without smoothing */
} table_job;

static double at_bin(const bin_list *bins, int i)
{
    return bins->pieces ? bins->pieces[i].x : i * bins->step;
}

/** Bin nearest to x (1/m), or -1 after the last step. */
static int bin_of(const bin_list *bins, double x)
{
    int low = 0, high = bins->n - 1;
    if (!bins->pieces) {
        double at = floor(x / bins->step + 0.5);
        return at < bins->n ? (int)at : -1;
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (x < 0.5 * (bins->pieces[middle].x + bins->pieces[middle + 1].x))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/** Use the points of the typed table, or else steps up to sin(theta) = 1. */
static nb_status choose_bins(table_job *job, nb_error *err)
{
    const nb_sim *sim = job->sim;
    const nb_amorphous *a = &sim->in.files->amorphous.tables;
    const double largest = 1 / job->source.lambda; /* sin(theta) = 1 */
    double n;
    if (a->n > 0 && isnan(sim->in.files->amorphous.per_area[0])) {
        const int last = a->buckets[a->materials[0].n_buckets];
        const int lead = sim->in.files->amorphous.leads;
        job->bins = (bin_list){a->pieces + lead, 0, last + 1 - lead};
        return NB_OK;
    }
    job->bins.step = sim->model.settings.value.stol_step / NB_ANGSTROM;
    n = ceil(largest / job->bins.step) + 1;
    if (!(n <= MAX_BINS))
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolstep %g gives a table of %.3g points; type a larger step",
                       sim->cfg.stol_step, n);
    job->bins.n = (int)n;
    return NB_OK;
}

/** Get the photons of a pixel of the image; returns 0 if the pixel has no value. */
static int photons_of(const table_job *job, float value, int panel, double *photons)
{
    const nb_sim *sim = job->sim;
    const double *of_panel = sim->in.files->panel_gains;
    const int n = sim->model.scene.n_panels;
    double gain = NB_TYPED_OR(&sim->model.settings, gain, of_panel ? of_panel[panel] : 1);
    double largest = of_panel && of_panel[n + panel] > 0 ? of_panel[n + panel] : INFINITY;
    largest = NB_TYPED_OR(&sim->model.settings, saturation, largest);
    *photons = (value - job->adc) / gain;
    if (!isfinite(value) || value > largest)
        return 0;
    return !job->marked || !(value == -1 || value == -2 || value == 65535);
}

/** Electrons^2 of one photon in the pixel's centre; *stol: sin(theta)/lambda, 1/m. */
static double per_photon(const table_job *job, const nb_panel *panel, int f, int s,
                         double *stol)
{
    const nb_scene *sc = &job->sim->model.scene;
    const nb_sensor *sensor = &sc->sensors[panel->sensor];
    nb_ray ray = nb_ray_along(nb_panel_point(panel, (f + 0.5) * panel->pixel_fast,
                                             (s + 0.5) * panel->pixel_slow, 0));
    double factor = job->scale * nb_solid_angle(panel, &ray);
    if (!sc->beam.nopolar)
        factor *= nb_polarization(sc->beam.polarization, job->source.incident,
                                  ray.direction, sc->beam.polar_axis);
    if (sensor->absorb)
        factor *= -expm1(-sensor->layers * nb_layer_path(panel, sensor, ray.direction));
    *stol = 0.5 * nb_norm(nb_scattering_vector(&job->source, ray.direction));
    return 1 / factor;
}

static void take_pixel(table_job *job, int k, int f, int s)
{
    const nb_scene *sc = &job->sim->model.scene;
    const nb_panel *panel = &sc->panels[k];
    const size_t in_panel = (size_t)s * (size_t)panel->columns + (size_t)f;
    const size_t pixel = panel->first_pixel + in_panel;
    const float *value =
        job->where[k].first + (size_t)s * job->where[k].stride + (size_t)f;
    const uint8_t *out = job->image.left_out;
    double photons, stol, unit;
    int bin;
    job->bin[pixel] = -1;
    if ((sc->raster.mask && !sc->raster.mask[pixel]) ||
        (out && out[value - job->image.pixels]) || !photons_of(job, *value, k, &photons))
        return;
    unit = per_photon(job, panel, f, s, &stol);
    bin = bin_of(&job->bins, stol);
    if (bin < 0 || !(unit > 0 && isfinite((float)unit)))
        return;
    job->bin[pixel] = bin;
    job->pixels[pixel] = (nb_binned){(float)photons, (float)unit};
    job->used++;
}

static void take_pixels(table_job *job)
{
    const nb_scene *sc = &job->sim->model.scene;
    for (int k = 0; k < sc->n_panels; k++)
        for (int s = 0; s < sc->panels[k].rows; s++)
            for (int f = 0; f < sc->panels[k].columns; f++)
                take_pixel(job, k, f, s);
}

/** Sort the pixels by bins.  Returns the first index of each bin, [n + 1] (nb_free). */
static size_t *sort_pixels(table_job *job, nb_binned *sorted, nb_error *err)
{
    const size_t pixels = job->sim->model.scene.raster.pixels;
    size_t *first = nb_alloc((size_t)job->bins.n + 2, sizeof *first, "bins", err);
    for (size_t i = 0; first && i < pixels; i++)
        if (job->bin[i] >= 0)
            first[job->bin[i] + 2]++;
    for (int b = 0; first && b < job->bins.n; b++)
        first[b + 2] += first[b + 1];
    for (size_t i = 0; first && i < pixels; i++)
        if (job->bin[i] >= 0)
            sorted[first[job->bin[i] + 1]++] = job->pixels[i];
    return first;
}

/** Leave out all pixels that are at most two pixels away from a pixel of a spot. */
static void leave_out_about(table_job *job, const nb_panel *panel, int f, int s)
{
    enum { REACH = 2, SIDE = 2 * REACH + 1 };
    for (int i = 0; i < SIDE * SIDE; i++) {
        const int g = f - REACH + i % SIDE, t = s - REACH + i / SIDE;
        if (g >= 0 && g < panel->columns && t >= 0 && t < panel->rows)
            job->bin[nb_panel_pixel(panel, g, t)] = -1;
    }
}

static void leave_out_beside(table_job *job, const nb_panel *panel, const uint8_t *spot)
{
    const uint8_t *of_panel = spot + panel->first_pixel;
    for (int s = 0; s < panel->rows; s++)
        for (int f = 0; f < panel->columns; f++)
            if (of_panel[(size_t)s * (size_t)panel->columns + (size_t)f])
                leave_out_about(job, panel, f, s);
}

/** Leave out the neighbours of pixels above the limit of their bin, since these are the
 * weak edges of spots. */
static nb_status leave_out_spots(table_job *job, const nb_binned *sorted,
                                 const size_t *first, nb_error *err)
{
    const nb_scene *sc = &job->sim->model.scene;
    float *highest = nb_alloc_raw((size_t)job->bins.n, sizeof *highest, "bins", err);
    float *work = nb_alloc_raw(job->used + 1, sizeof *work, "bins", err);
    uint8_t *spot = nb_alloc(sc->raster.pixels, 1, "spots", err);
    const nb_status st = highest && work && spot ? NB_OK : NB_ERR_NOMEM;
    for (int b = 0; !st && b < job->bins.n; b++)
        if (first[b] < first[b + 1]) {
            double limit;
            const double centre =
                nb_bin_centre(sorted + first[b], first[b + 1] - first[b], work, &limit);
            highest[b] = (float)(centre + limit);
        }
    for (size_t i = 0; !st && i < sc->raster.pixels; i++)
        spot[i] = job->bin[i] >= 0 && job->pixels[i].counts > highest[job->bin[i]];
    for (int k = 0; !st && k < sc->n_panels; k++)
        leave_out_beside(job, &sc->panels[k], spot);
    nb_free(highest);
    nb_free(work);
    nb_free(spot);
    return st;
}

/** True if x, 1/m, is in a ring of hexagonal ice (P6_3/mmc, a 4.4975, c 7.3224 A). */
static int in_ring(double x)
{
    static const double d_A[] = {3.895, 3.661, 3.439, 2.668, 2.249, 2.068,
                                 /* rings of d down to 1.5 A */
                                 1.947, 1.916, 1.882, 1.719, 1.522};
    const double half = 0.0025; /* 1/A: 0.03 A at 3.7 A on each side */
    for (size_t i = 0; i < sizeof d_A / sizeof *d_A; i++)
        if (fabs(x * NB_ANGSTROM - 0.5 / d_A[i]) <= half)
            return 1;
    return 0;
}

/** Replace the mean of a bin by the curve, if it has a value. With -stolrings the mean in
 * a ring of ice is kept if it is 4 sigma above the curve. The table has no line for a bin
 * of few pixels. Without -stolrings it also has none for rings in which the curve has no
 * value. */
static void smooth_bin(const table_job *job, double curve, int ring, nb_bin_mean *m)
{
    const int keep = job->sim->model.settings.value.stol_rings;
    const double sigma = m->deviation / sqrt((double)m->n);
    if (m->n < NB_BIN_ENOUGH || (ring && !keep && !isfinite(curve)))
        m->n = 0;
    else if (isfinite(curve) && !(ring && keep && m->mean > curve + 4 * sigma))
        m->mean = curve;
}

/** Replace means by a smooth curve without the rings of ice. */
static nb_status smooth_means(const table_job *job, nb_bin_mean *means, nb_error *err)
{
    const size_t n = (size_t)job->bins.n;
    nb_curve_point *points = nb_alloc(n, sizeof *points, "table", err);
    double *curve = nb_alloc_raw(n, sizeof *curve, "table", err);
    nb_status st = points && curve ? NB_OK : NB_ERR_NOMEM;
    for (size_t b = 0; !st && b < n; b++) {
        const nb_bin_mean *m = &means[b];
        const double x = at_bin(&job->bins, (int)b);
        points[b] = (nb_curve_point){x, m->mean, 0};
        if (m->n >= NB_BIN_ENOUGH && !in_ring(x))
            points[b].sigma = m->deviation / sqrt((double)m->n);
    }
    NB_TRY(nb_smooth_curve(points, n, job->smooth, curve, err));
    for (size_t b = 0; !st && b < n; b++)
        smooth_bin(job, curve[b], in_ring(points[b].x), &means[b]);
    nb_free(points);
    nb_free(curve);
    return st;
}

static void put_bin(nb_draft *t, double x, const nb_bin_mean *m)
{
    const double size = sqrt(fabs(m->mean)), error = m->deviation / sqrt((double)m->n);
    const double sigma = size > 0 ? error / (2 * size) : sqrt(error);
    nb_draft_put(t, "%.10g %.8g %.4g %zu\n", x * NB_ANGSTROM, m->mean < 0 ? -size : size,
                 sigma, m->n);
}

static nb_status write_table(const table_job *job, const nb_bin_mean *means, nb_error *err)
{
    nb_draft t = {0};
    nb_draft_put(&t,
                 "# sin(theta)/lambda (1/A), F (electrons), its sigma, pixels; nanobragg "
                 "%s, %.3g molecules\n",
                 NB_VERSION, nb_table_molecules(&job->sim->model.settings));
    for (int b = 0; b < job->bins.n; b++)
        if (means[b].n > 0)
            put_bin(&t, at_bin(&job->bins, b), &means[b]);
    return nb_draft_write(&t, job->sim->cfg.stolout_file, "the table", NB_OK, err);
}

/** Make the means of the bins, and write the table. */
static nb_status make_means(table_job *job, const nb_binned *sorted, const size_t *first,
                            nb_error *err)
{
    nb_bin_mean *means = nb_alloc((size_t)job->bins.n, sizeof *means, "bins", err);
    float *work = nb_alloc_raw(job->used + 1, sizeof *work, "bins", err);
    nb_status st = means && work ? NB_OK : NB_ERR_NOMEM;
    for (int b = 0; !st && b < job->bins.n; b++)
        if (first[b] < first[b + 1])
            means[b] = nb_bin_mean_of(sorted + first[b], first[b + 1] - first[b], work);
    if (!st && job->smooth > 0)
        st = smooth_means(job, means, err);
    NB_TRY(write_table(job, means, err));
    nb_free(work);
    nb_free(means);
    return st;
}

static nb_status make_table(table_job *job, nb_error *err)
{
    const size_t pixels = job->sim->model.scene.raster.pixels;
    nb_binned *sorted = NULL;
    size_t *first = NULL;
    nb_status st = NB_OK;
    job->bin = nb_alloc_raw(pixels, sizeof *job->bin, "bins", err);
    job->pixels = nb_alloc_raw(pixels, sizeof *job->pixels, "bins", err);
    if (!job->bin || !job->pixels)
        return NB_ERR_NOMEM;
    take_pixels(job);
    if (job->used == 0)
        return nb_fail(err, NB_ERR_INPUT,
                       "-stolout: no pixel of the image can be used: all are masked, "
                       "marked or above the largest trusted value");
    sorted = nb_alloc_raw(job->used, sizeof *sorted, "bins", err);
    if (!sorted || !(first = sort_pixels(job, sorted, err)))
        st = NB_ERR_NOMEM;
    if (!st && job->smooth > 0) {
        st = leave_out_spots(job, sorted, first, err);
        nb_free(first);
        first = st ? NULL : sort_pixels(job, sorted, err);
        st = first ? NB_OK : NB_ERR_NOMEM;
    }
    NB_TRY(make_means(job, sorted, first, err));
    nb_free(first);
    nb_free(sorted);
    return st;
}

/** Find the panels in the image: as a stack, or as an array of -layout. */
static nb_status place_panels(table_job *job, const char *path, nb_error *err)
{
    const nb_scene *sc = &job->sim->model.scene;
    const nb_image *image = &job->image;
    int found;
    job->where = nb_alloc((size_t)sc->n_panels, sizeof *job->where, "panels", err);
    if (!job->where)
        return NB_ERR_NOMEM;
    job->where[0] = (nb_panel_pixels){image->pixels, (size_t)image->fast};
    found = sc->n_panels > 1
                ? nb_panels_in_image(job->sim->cfg.detector, image, job->where)
                : image->fast == sc->raster.columns && image->slow == sc->raster.rows;
    return found ? NB_OK
                 : nb_fail_at(err, NB_ERR_INPUT, path, 0,
                              "the image of -stolout has %d x %d pixels, which are not "
                              "those of the detector",
                              image->fast, image->slow);
}

nb_status nb_sim_write_stol(const nb_sim *sim, nb_error *err)
{
    NB_IN_C_LOCALE;
    NB_REFUSE_NULL(sim && sim->cfg.stolout_file[0]);
    const nb_config *cfg = &sim->cfg;
    const char *path = cfg->stolimage_file[0] ? cfg->stolimage_file : cfg->img_file;
    table_job job = {.sim = sim};
    nb_status st = nb_image_read(path, sim->model.flat.raster.columns,
                                 sim->model.flat.raster.rows, NULL, &job.image, err);
    job.marked = strcmp(job.image.format, "float") != 0;
    job.adc = cfg->adc_set ? cfg->adc_offset : job.image.pedestal;
    job.source.incident = sim->model.geometry.beam;
    job.source.lambda = sim->model.wavelength_A * NB_ANGSTROM;
    job.smooth = sim->model.settings.value.stol_smooth / NB_ANGSTROM;
    job.scale = NB_R_E_SQR * sim->model.fluence * nb_table_molecules(&sim->model.settings);
    NB_TRY(place_panels(&job, path, err));
    NB_TRY(choose_bins(&job, err));
    NB_TRY(make_table(&job, err));
    nb_free(job.where);
    nb_free(job.bin);
    nb_free(job.pixels);
    nb_image_free(&job.image);
    return st;
}
