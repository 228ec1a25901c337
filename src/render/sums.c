/* SPDX-License-Identifier: MIT */
/* Calculate the slopes of rows, piece by piece, for the sink of a request. */
#include <math.h>
#include <stdint.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "sums.h"
#include "request.h"

enum { LINE = 16 }; /* floats in a line of the CPU's cache */

typedef struct slope_walk {
    const nb_slope_job *job;
    const nb_slope_sink *sink;
    nb_slope_rows rows;
    size_t widest;   /* pixels of a piece */
    double *buffers; /* [threads][1 + count][widest] */
    int audited;
    nb_slope_audit audit; /* used if the slopes are audited */
    double limit;         /* pixels of at least this strength are calculated in double */
} slope_walk;

/** Set *piece to the next pixels of a row, from span *i on, and move *i forward. A long
 * span is cut: *part is its next piece, and *done counts its finished pixels. */
static void next_piece(const nb_slope_values *row, size_t *i, int *done, nb_span *part,
                       nb_slope_values *piece)
{
    const size_t first = *i;
    int n = 0;
    piece->spans = row->spans + first;
    while (*i < row->n && n + row->spans[*i].n <= NB_PASS_PIECE)
        n += row->spans[(*i)++].n;
    piece->n = *i - first;
    if (piece->n > 0)
        return;
    *part = row->spans[first];
    part->fast += *done;
    part->at += (size_t)*done;
    part->n -= *done;
    *done += NB_PASS_PIECE;
    if (part->n <= NB_PASS_PIECE) {
        *done = 0;
        *i += 1;
    } else {
        part->n = NB_PASS_PIECE;
    }
    piece->spans = part;
    piece->n = 1;
}

/** Calculate the slopes of a piece and give them to the sink. */
static void take_piece(slope_walk *walk, nb_slope_values *piece, double *values)
{
    const nb_slope_sink *sink = walk->sink;
    const nb_slope_rows *rows = &walk->rows;
    double dloss[NB_PASS_PIECE];
    if (rows->dot) {
        double *sums = sink->weigh(sink->user, piece, dloss);
        rows->dot(rows->of, piece->spans, piece->n, dloss, sums);
        return;
    }
    if (rows->floats) {
        void *memory = values;
        float *floats = memory;
        rows->floats(rows->of, piece->spans, piece->n, floats, walk->widest);
        piece->values = NULL;
        piece->floats = floats;
    } else if (rows->row) {
        rows->row(rows->of, piece->spans, piece->n, values, walk->widest);
        if (isfinite(walk->limit))
            nb_slope_audit_mend(&walk->audit, walk->limit, piece, values);
        else if (walk->audited)
            nb_slope_audit_take(&walk->audit, piece);
    }
    sink->take(sink->user, piece);
}

/** Take a row in pieces; an nb_row_sum. */
static void take_row(void *context, const nb_span *spans, size_t n, int stripe, int thread)
{
    slope_walk *walk = context;
    double *values =
        walk->buffers + (size_t)thread * walk->widest * (size_t)(walk->job->count + 1);
    const nb_slope_values row = {spans, n, values, NULL, walk->widest, stripe};
    int done = 0;
    for (size_t i = 0; i < n;) {
        nb_slope_values piece = row;
        nb_span part;
        next_piece(&row, &i, &done, &part, &piece);
        take_piece(walk, &piece, values);
    }
}

/** Take all rows, and take them again if the audit finds single precision too coarse. */
static nb_status take_rows(slope_walk *walk, const nb_row_job *rows, nb_error *err)
{
    const nb_slope_sink *sink = walk->sink;
    const int stripes = sink->stripes ? sink->stripes : NB_PASS_STRIPES;
    nb_status st = nb_sum_rows(rows, take_row, stripes, err);
    if (st || !walk->audited)
        return st;
    walk->limit = nb_slope_audit_limit(&walk->audit);
    if (!isfinite(walk->limit))
        return NB_OK;
    if (sink->again)
        sink->again(sink->user);
    return nb_sum_rows(rows, take_row, stripes, err);
}

nb_status nb_slopes_walk(const nb_request *request, const nb_slope_rows *rows,
                         int threads, const nb_hooks *hooks, nb_error *err)
{
    const nb_slope_job *job = request->sums->job;
    const nb_slope_sink *sink = request->sums->sink;
    const size_t columns = (size_t)job->scene->raster.columns;
    slope_walk walk = {.job = job, .sink = sink, .rows = *rows, .limit = INFINITY};
    const nb_row_job each = {.scene = job->scene,
                             .request = request,
                             .context = &walk,
                             .threads = nb_thread_count(threads),
                             .hooks = hooks};
    nb_status st = NB_OK;
    double *buffers;
    walk.audited = rows->single && nb_slope_audit_wanted(job);
    if (walk.audited || !sink->weigh)
        walk.rows.dot = NULL;
    if (walk.audited || !sink->floats)
        walk.rows.floats = NULL;
    walk.widest =
        columns < NB_PASS_PIECE ? (columns + LINE - 1) / LINE * LINE : NB_PASS_PIECE;
    buffers =
        nb_alloc_raw((size_t)each.threads * walk.widest + LINE,
                     (size_t)(job->count + 1) * sizeof(double), "slopes of rows", err);
    if (!buffers)
        return NB_ERR_NOMEM;
    walk.buffers = (double *)(((uintptr_t)buffers + 63) & ~(uintptr_t)63);
    if (walk.audited)
        st = nb_slope_audit_open(job, NB_PASS_STRIPES, &walk.audit, err);
    NB_TRY(take_rows(&walk, &each, err));
    nb_slope_audit_close(&walk.audit);
    nb_free(buffers);
    return st;
}
