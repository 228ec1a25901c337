/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../outputs/write.h"

enum { WINDOW = 1 << 15 }; /* limit of the number of frames in memory */

/** Read the true values from frame k on, as many as t->rows holds. */
static nb_status read_rows(nb_run *run, int k, nb_error *err)
{
    nb_truths *t = &run->truths;
    char path[NB_PATH_MAX];
    nb_status st = NB_OK;
    t->first = k;
    t->n = 0;
    for (int i = 0; !st && i < t->pieces.n && t->n < t->room; i++) {
        const struct nb_piece *p = &t->pieces.all[i];
        const int from = k + t->n - p->first, end = p[1].first - p->first;
        const int n = end - from < t->room - t->n ? end - from : t->room - t->n;
        if (from >= end)
            continue;
        nb_work_data_path(run->work.stem, p->block, p->piece, path);
        st = nb_hdf5_read_truth(path, from, n, t->rows + t->n, err);
        t->n += n;
    }
    return st;
}

/** Calculate the true values of frame k. */
static nb_status calculate(nb_run *run, int k, nb_error *err)
{
    nb_truths *t = &run->truths;
    nb_status st = NB_OK;
    if (!t->sim)
        st = nb_sim_clone(run->base, NULL, 1, &t->sim, err);
    NB_TRY(nb_frames_give(&run->frames, k, t->sim, err));
    if (!st)
        t->rows[0] = nb_stored_truth(run->stored, k, t->sim);
    t->first = k;
    t->n = !st;
    return st;
}

nb_status nb_truths_get(void *user, int first, int count, nb_hdf5_frame *out,
                        nb_error *err)
{
    nb_run *run = user;
    nb_truths *t = &run->truths;
    nb_status st = NB_OK;
    if (!t->rows) {
        t->room = run->frames.count < WINDOW ? run->frames.count : WINDOW;
        t->rows = nb_alloc_raw((size_t)t->room, sizeof *t->rows, "truth", err);
        if (!t->rows)
            return NB_ERR_NOMEM;
    }
    for (int k = first; !st && k < first + count; k++) {
        if (k < t->first || k >= t->first + t->n)
            st = run->work.stem[0] ? read_rows(run, k, err) : calculate(run, k, err);
        if (!st)
            out[k - first] = t->rows[k - t->first];
    }
    return st;
}

void nb_truths_free(nb_truths *t)
{
    nb_pieces_free(&t->pieces);
    nb_sim_free(t->sim);
    nb_free(t->rows);
    memset(t, 0, sizeof *t);
}
