/* SPDX-License-Identifier: MIT */
#include "slope_plain_tables.h"

#include <string.h>

#include "../src/base/memory.h"
#include "slope_tables.h"

enum { MOST_PLANES = 512 }; /* whose rows a block's memory has room for */

#define MASK(number, bits) bits,
static const unsigned masks[] = {NB_PLAIN_KINDS(MASK)};

/** One ray to each pixel of flat panels, all of whose photons are counted. */
static int has_plain_rays(const nb_scene *sc)
{
    if (sc->oversample != 1 || sc->amorphous)
        return 0;
    for (int k = 0; k < sc->n_panels; k++) {
        const nb_panel *panel = &sc->panels[k];
        const nb_sensor *sensor = &sc->sensors[panel->sensor];
        if (panel->curved || sensor->layers != 1 || sensor->absorb)
            return 0;
    }
    return 1;
}

static int is_plain(const nb_slope_job *job)
{
    const nb_scene *sc = job->scene;
    return has_plain_rays(sc) && job->count < MOST_PLANES &&
           (double)sc->beam.n_sources * sc->lattice.n_orientations <= NB_TERM_RUN;
}

nb_term_case nb_plain_case_of(const nb_slope_job *job, const nb_term_tables *t)
{
    nb_term_case how = nb_term_case_of(job);
    int all = how.level == NB_TERMS_ALL;
    for (int i = 0; i < job->count; i++)
        all |= job->tangents[i].panels || job->tangents[i].polarization != 0;
    how.level = all ? NB_TERMS_ALL : NB_TERMS_CRYSTAL;
    how.one = job->scene->beam.n_sources == 1 && t->n_orientations == 1;
    return how;
}

nb_plain_frame nb_plain_frame_of(const nb_slope_job *job, const nb_term_tables *t)
{
    const nb_scene *sc = job->scene;
    const nb_vec3 incident = sc->beam.sources[0].incident,
                  B = nb_unit(nb_cross(sc->beam.polar_axis, incident));
    nb_plain_frame p = {.polar = !sc->beam.nopolar,
                        .K = (float)sc->beam.polarization,
                        .along = {incident, B, nb_unit(nb_cross(incident, B))},
                        .unit = 0.5 * t->unit,
                        .slope = -t->unit * t->wavenumber,
                        .background = sc->background * t->weights};
    for (int i = 0; i < 3; i++) {
        p.kahn[i][0] = (float)p.along[i].x;
        p.kahn[i][1] = (float)p.along[i].y;
        p.kahn[i][2] = (float)p.along[i].z;
    }
    return p;
}

/** Numbers of a nb_term_run are by -h, and the image is twice. */
static void weigh(const nb_slope_job *job, const nb_term_tables *t, const nb_tangent *by,
                  float *w)
{
    const nb_scene *sc = job->scene;
    const double scale = sc->intensity_scale, unit = scale * t->unit,
                 slope = -unit * t->wavenumber, F = sc->factors.table.default_F;
    w[NB_PLAIN_IMAGE] =
        (float)(0.5 * unit *
                (by->image + by->crystal + (F != 0 ? 2 * by->default_F / F : 0)));
    w[NB_PLAIN_ONE] =
        (float)(scale * t->weights * (by->image * sc->background + by->background));
    w[NB_PLAIN_POLAR] = (float)(scale * by->polarization);
    w[NB_PLAIN_FUDGE] = (float)(-unit / NB_GAUSS_WIDTH * by->fudge);
    for (int i = 0; i < 3; i++)
        w[NB_PLAIN_CELLS + i] = (float)(unit * t->inverse[i] * by->cells[i]);
    for (int i = 0; i < 9; i++)
        w[NB_PLAIN_INDEX + i / 3 * 4 + i % 3] =
            (float)(slope * (by->index[i] - (i % 4 == 0 ? by->wave : 0)));
    w[NB_PLAIN_SPECTRUM] = (float)(-slope * by->spectrum);
    w[NB_PLAIN_MOSAIC] = (float)(slope * by->mosaic);
    w[NB_PLAIN_PHI] = (float)(slope * by->phi);
    w[NB_PLAIN_OSC] = (float)(slope * by->osc);
}

static void put(nb_vec3 from, double scale, double *to)
{
    to[0] = scale * from.x;
    to[1] = scale * from.y;
    to[2] = scale * from.z;
}

static void weigh_moves(double scale, const nb_panel *panel, const nb_panel_slope *by,
                        double *w)
{
    put(by->pix0, scale, w);
    put(by->fast, scale, w + 3);
    put(by->slow, scale, w + 6);
    w[9] = scale * by->close_distance / panel->close_distance;
}

/** The first kind that has all groups of a row. */
static int kind_of(const float *row, int moves)
{
    unsigned needs = moves ? 1u << NB_PLAIN_PLACE : 0;
    int kind = 0;
    for (int i = 0; i < NB_PLAIN_TOTALS; i++)
        needs |= row[i] != 0 ? 1u << i / 4 : 0;
    while (needs & ~masks[kind])
        kind++;
    return kind;
}

/** Rows by their kinds; all: [planes][NB_PLAIN_TOTALS] by the planes' numbers. */
static void sort_rows(const nb_slope_job *job, const float *all, nb_plain_rows *out)
{
    int n = 0;
    for (int kind = 0; kind < NB_PLAIN_KINDS_COUNT; kind++) {
        out->first[kind] = n;
        for (int p = 0; p < out->planes; p++) {
            const float *row = all + (size_t)p * NB_PLAIN_TOTALS;
            if (kind_of(row, p > 0 && job->tangents[p - 1].panels) != kind)
                continue;
            memcpy(out->rows + (size_t)n * NB_PLAIN_TOTALS, row,
                   NB_PLAIN_TOTALS * sizeof *row);
            out->order[n++] = p;
        }
    }
    out->first[NB_PLAIN_KINDS_COUNT] = n;
}

static void fill_moves(const nb_slope_job *job, nb_plain_rows *out)
{
    const nb_scene *sc = job->scene;
    for (int k = 0; k < sc->n_panels; k++)
        for (int n = 0; n < out->planes; n++) {
            const int p = out->order[n];
            double *to = out->moves +
                         ((size_t)k * (size_t)out->planes + (size_t)n) * NB_PLAIN_MOVES;
            if (p > 0 && job->tangents[p - 1].panels)
                weigh_moves(sc->intensity_scale, &sc->panels[k],
                            &job->tangents[p - 1].panels[k], to);
        }
}

nb_status nb_plain_rows_build(const nb_slope_job *job, const nb_term_tables *t,
                              nb_plain_rows *out, nb_error *err)
{
    static const char what[] = "tables for derivatives";
    const nb_tangent image = {.image = 1, .entry = -1};
    const size_t planes = (size_t)job->count + 1;
    float *all;
    memset(out, 0, sizeof *out);
    if (!is_plain(job))
        return NB_OK;
    out->order = nb_alloc(planes, sizeof *out->order, what, err);
    out->rows = nb_alloc(planes * NB_PLAIN_TOTALS, sizeof *out->rows, what, err);
    out->moves = nb_alloc(planes * (size_t)job->scene->n_panels,
                          NB_PLAIN_MOVES * sizeof *out->moves, what, err);
    all = nb_alloc(planes * NB_PLAIN_TOTALS, sizeof *all, what, err);
    if (!out->order || !out->rows || !out->moves || !all) {
        nb_free(all);
        return NB_ERR_NOMEM;
    }
    out->planes = (int)planes;
    weigh(job, t, &image, all);
    for (int i = 0; i < job->count; i++)
        weigh(job, t, &job->tangents[i], all + (size_t)(i + 1) * NB_PLAIN_TOTALS);
    sort_rows(job, all, out);
    fill_moves(job, out);
    nb_free(all);
    return NB_OK;
}

void nb_plain_contract(const nb_plain_rows *rows, const double *sums, int level,
                       double *gradient)
{
    const int numbers = level >= NB_TERMS_ALL ? NB_PLAIN_TOTALS : NB_PULL_CRYSTAL;
    for (int n = 0; n < rows->planes; n++) {
        const float *row = rows->rows + (size_t)n * NB_PLAIN_TOTALS;
        const double *moves = rows->moves + (size_t)n * NB_PLAIN_MOVES;
        double sum = 0;
        if (rows->order[n] == 0)
            continue;
        for (int i = 0; i < numbers; i++)
            sum += (double)row[nb_pull_number(i, level)] * sums[i];
        for (int i = 0; i < NB_PLAIN_MOVES && level >= NB_TERMS_ALL; i++)
            sum += moves[i] * sums[NB_PULL_MOVES + i];
        gradient[rows->order[n] - 1] = sum;
    }
}

void nb_plain_rows_free(nb_plain_rows *rows)
{
    nb_free(rows->order);
    nb_free(rows->rows);
    nb_free(rows->moves);
    memset(rows, 0, sizeof *rows);
}
