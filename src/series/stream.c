/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <math.h>
#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../io/hdf5/hdf5_file.h"
#include "../model/detector.h"
#include "../model/units.h"
#include "../outputs/write.h"

nb_status nb_run_stream_check(const nb_run *run, nb_error *err)
{
    const char *path = run->base->cfg.stream_file;
    nb_hdf5_crystals all = {0};
    nb_status st;
    if (!path[0])
        return NB_OK;
    if (run->frames.rotation)
        return nb_fail(err, NB_ERR_INPUT,
                       "-streamout %.200s: a stream has stills alone; with -frames type "
                       "-exptout",
                       path);
    if (run->frames.moving)
        nb_notice(&run->hooks,
                  "-streamout: a stream has one geometry; of detectors that -jobs moves "
                  "it has the shift across the beam (det_shift) alone");
    st = nb_master_crystals(run, run->frames.count, &all, err);
    for (size_t i = 0; !st && i < all.n; i++)
        if (isnan(all.rows[i].A[0]))
            st =
                nb_fail(err, NB_ERR_INPUT,
                        "-streamout %.200s: frame %d has a crystal with files of its own "
                        "(-jobs), whose cell is not known before it is rendered; leave "
                        "-streamout out",
                        path, run->frames.first + all.rows[i].frame + 1);
    nb_master_crystals_free(&all);
    return st;
}

/** Data from which the chunks of a series are written. */
typedef struct chunks {
    nb_run *run;
    nb_stream_job job;
    nb_hdf5_crystals crystals;
    nb_reflection *spots; /* owned; reflections of one data file */
    nb_hdf5_frame *truth; /* owned; frames of this data file */
    double corner_mm[3];  /* corner of the detector in the base geometry, mm, lab frame */
} chunks;

/** List the lattices of frame k, which has these true values. The caller frees the
 * list. */
static nb_stream_lattice *lattices_of(const chunks *c, int k, const nb_hdf5_frame *truth,
                                      nb_error *err)
{
    const size_t n = (size_t)c->crystals.count[k];
    const nb_hdf5_crystal *row = c->crystals.rows + c->crystals.first[k];
    const double phi = (truth->phi_deg + truth->osc_deg / 2) * NB_DEG;
    nb_stream_lattice *all = nb_alloc(n + 1, sizeof *all, "-streamout", err);
    for (size_t i = 0; all && i < n; i++) {
        nb_stream_axes(c->run->base, row[i].A, phi, all[i].A);
        memcpy(all[i].cell, row[i].cell, sizeof all[i].cell);
        memcpy(all[i].N, row[i].N, sizeof all[i].N);
        all[i].crystal = row[i].crystal;
        all[i].twin = row[i].twin;
    }
    return all;
}

static nb_status put_frame(chunks *c, int k, const nb_hdf5_frame *truth,
                           const nb_reflection *spots, nb_error *err)
{
    const double *corner = truth->pix0_mm, *from = c->corner_mm;
    const nb_vec3 shift = {corner[0] - from[0], corner[1] - from[1], corner[2] - from[2]};
    nb_stream_lattice *all = lattices_of(c, k, truth, err);
    nb_stream_image image = {.name = c->run->series->hdf5_file,
                             .event = k,
                             .serial = c->run->frames.first + k + 1,
                             .wavelength_A = truth->wavelength_A,
                             .lattices = all,
                             .n = (int)c->crystals.count[k],
                             .spots = spots,
                             .n_spots = (size_t)truth->list.count};
    double moved[3];
    nb_status st;
    if (!all)
        return NB_ERR_NOMEM;
    nb_nexus_of_lab(c->run->base->model.geometry.convention, shift, moved);
    memcpy(image.shift_mm, moved, sizeof image.shift_mm);
    st = nb_stream_add(&c->job.out, &image, err);
    nb_free(all);
    return st;
}

/** Write the frames of data file i. */
static nb_status put_file(chunks *c, int i, nb_error *err)
{
    nb_run *run = c->run;
    const struct nb_piece *p = &run->truths.pieces.all[i];
    const int n = p[1].first - p->first;
    char path[NB_PATH_MAX];
    size_t rows = 0, row = 0;
    nb_status st = NB_OK;
    nb_free(c->spots);
    nb_free(c->truth);
    c->spots = NULL;
    c->truth = nb_alloc_raw((size_t)n, sizeof *c->truth, "truth", err);
    if (!c->truth || (st = nb_truths_get(run, p->first, n, c->truth, err)))
        return st ? st : NB_ERR_NOMEM;
    for (int k = 0; k < n; k++)
        rows += (size_t)c->truth[k].list.count;
    if (!(c->spots = nb_alloc_raw(rows + 1, sizeof *c->spots, "list of spots", err)))
        return NB_ERR_NOMEM;
    nb_work_data_path(run->work.stem, p->block, p->piece, path);
    st = nb_hdf5_read_spots(path, run->layout.reflections, rows, c->spots, err);
    for (int k = 0; k < n && !st; k++) {
        st = put_frame(c, p->first + k, &c->truth[k], c->spots + row, err);
        row += (size_t)c->truth[k].list.count;
    }
    return st;
}

nb_status nb_run_stream_write(nb_run *run, nb_error *err)
{
    chunks c = {.run = run};
    nb_status st;
    if (!run->base->cfg.stream_file[0])
        return NB_OK;
    memcpy(c.corner_mm, nb_sim_describe(run->base).pix0_mm, sizeof c.corner_mm);
    st = nb_master_crystals(run, run->frames.count, &c.crystals, err);
    if (!st) {
        st = nb_stream_open(run->base, run->series->hdf5_file, &c.job, err);
        for (int i = 0; !st && i < run->truths.pieces.n; i++)
            st = put_file(&c, i, err);
        st = nb_stream_close(&c.job, st, err);
    }
    nb_master_crystals_free(&c.crystals);
    nb_free(c.spots);
    nb_free(c.truth);
    return st;
}
