/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "../base/error.h"
#include "../base/memory.h"
#include "request.h"
#include "rows.h"
#include "audit.h"

static const nb_slope_engine *const engines[] = {&nb_slope_vector, &nb_slope_scalar, NULL};

const nb_slope_engine *nb_slope_engine_for(const nb_slope_job *job,
                                           const nb_slope_way *way)
{
    const char *why;
    int i = 0;
    while (engines[i + 1] && !engines[i]->applies(job, way, &why))
        i++;
    return engines[i];
}

/** Rows that are there already. */
static void given_row(const nb_slope_job *job, const void *state, const nb_span *spans,
                      size_t n, double *out, size_t stride)
{
    (void)state;
    const size_t pixels = job->scene->raster.pixels;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < spans[i].n; k++, out++)
            for (size_t p = 0; p <= (size_t)job->count; p++)
                out[p * stride] = job->given[p * pixels + spans[i].at + (size_t)k];
}

enum { LINE = 16 }; /* numbers that fill a line of a cache, as floats */

typedef struct slope_run {
    const nb_slope_pass *pass;
    nb_slope_row *row;
    nb_slope_floats *floats; /* instead of row, or NULL */
    nb_slope_dot *dot;       /* instead of row and take, or NULL */
    void *state;             /* of the engine */
    const nb_span *spans;
    const size_t *first; /* [rows + 1] */
    int rows, stripes;
    size_t widest;   /* pixels of a row */
    double *buffers; /* [threads][1 + count][widest] */
    int audited;
    nb_slope_audit audit; /* if audited */
    double limit;         /* finite: the audit's, whose pixels are mended */
    atomic_int done, stop;
} slope_run;

static size_t pixels_of(const slope_run *run, int row)
{
    size_t pixels = 0;
    for (size_t i = run->first[row]; i < run->first[row + 1]; i++)
        pixels += (size_t)run->spans[i].n;
    return pixels;
}

static int thread_number(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/** The next pixels of a row: spans from number *i on, of the first one *behind are done.  A long span is cut
 * into *part. */
static void next_piece(const nb_slope_values *row, size_t *i, int *behind, nb_span *part,
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
    part->fast += *behind;
    part->at += (size_t)*behind;
    part->n -= *behind;
    *behind += NB_PASS_PIECE;
    if (part->n <= NB_PASS_PIECE) {
        *behind = 0;
        *i += 1;
    } else {
        part->n = NB_PASS_PIECE;
    }
    piece->spans = part;
    piece->n = 1;
}

/** Slopes of a piece, for the sink of the pass. */
static void run_piece(slope_run *run, nb_slope_values *piece, double *values)
{
    const nb_slope_pass *pass = run->pass;
    double dloss[NB_PASS_PIECE];
    if (run->dot) {
        double *sums = pass->weigh(pass->sink, piece, dloss);
        run->dot(pass->job, run->state, piece->spans, piece->n, dloss, sums);
    } else if (run->floats) {
        void *memory = values;
        float *floats = memory;
        run->floats(pass->job, run->state, piece->spans, piece->n, floats, run->widest);
        piece->values = NULL;
        piece->floats = floats;
        pass->take(pass->sink, piece);
    } else {
        run->row(pass->job, run->state, piece->spans, piece->n, values, run->widest);
        if (isfinite(run->limit))
            nb_slope_audit_mend(&run->audit, run->limit, piece, values);
        else if (run->audited)
            nb_slope_audit_take(&run->audit, piece);
        pass->take(pass->sink, piece);
    }
}

static void run_row(slope_run *run, int stripe, int r)
{
    const nb_slope_pass *pass = run->pass;
    int thread = thread_number(), behind = 0, done;
    double *values =
        run->buffers + (size_t)thread * run->widest * (size_t)(pass->job->count + 1);
    nb_slope_values row = {run->spans + run->first[r],
                           run->first[r + 1] - run->first[r],
                           values,
                           NULL,
                           run->widest,
                           stripe};
    if (atomic_load_explicit(&run->stop, memory_order_relaxed))
        return;
    for (size_t i = 0; i < row.n;) {
        nb_slope_values piece = row;
        nb_span part;
        next_piece(&row, &i, &behind, &part, &piece);
        run_piece(run, &piece, values);
    }
    done = atomic_fetch_add_explicit(&run->done, 1, memory_order_relaxed) + 1;
    if (thread == 0 && pass->hooks && pass->hooks->progress &&
        pass->hooks->progress(pass->hooks->user, (double)done / run->rows))
        atomic_store(&run->stop, 1);
}

static void run_stripes(slope_run *run, int threads)
{
    int s;
    (void)threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
#endif
    for (s = 0; s < run->stripes; s++) {
        int from = (int)((int64_t)run->rows * s / run->stripes);
        int to = (int)((int64_t)run->rows * (s + 1) / run->stripes);
        for (int r = from; r < to; r++)
            run_row(run, s, r);
    }
}

static nb_status share_rows(slope_run *run, nb_error *err)
{
    const nb_slope_pass *pass = run->pass;
    int threads = nb_thread_count(pass->threads);
    double *buffers;
    atomic_store(&run->done, 0);
    for (int r = 0; r < run->rows; r++) {
        size_t n = pixels_of(run, r);
        run->widest = n > run->widest ? n : run->widest;
    }
    run->widest = run->widest < NB_PASS_PIECE ? run->widest : NB_PASS_PIECE;
    run->stripes = pass->stripes > 0 ? pass->stripes : NB_PASS_STRIPES;
    if (run->stripes > run->rows)
        run->stripes = run->rows;
    run->widest = (run->widest + LINE - 1) / LINE * LINE;
    buffers = nb_alloc_raw((size_t)threads * run->widest + LINE,
                           (size_t)(pass->job->count + 1) * sizeof(double),
                           "slopes of rows", err);
    if (!buffers)
        return NB_ERR_NOMEM;
    run->buffers = (double *)(((uintptr_t)buffers + 63) & ~(uintptr_t)63);
    run_stripes(run, threads);
    nb_free(buffers);
    if (atomic_load(&run->stop))
        return nb_fail(err, NB_ERR_CANCELLED, "stopped before the slopes were finished");
    return NB_OK;
}

/** share_rows, and again if single precision does not do. */
static nb_status share_audited(slope_run *run, nb_error *err)
{
    const nb_slope_pass *pass = run->pass;
    nb_status st = nb_slope_audit_open(pass->job, NB_PASS_STRIPES, &run->audit, err);
    run->audited = 1;
    if (!st && !(st = share_rows(run, err)))
        run->limit = nb_slope_audit_limit(&run->audit);
    if (!st && isfinite(run->limit)) {
        if (pass->again)
            pass->again(pass->sink);
        st = share_rows(run, err);
    }
    nb_slope_audit_close(&run->audit);
    return st;
}

static nb_status run_spans(slope_run *run, nb_error *err)
{
    const nb_slope_pass *pass = run->pass;
    const nb_slope_engine *engine = NULL;
    nb_status st = NB_OK;
    int audited = 0;
    if (!run->row) {
        engine = nb_slope_engine_for(pass->job, &pass->way);
        run->row = engine->row;
        audited = engine != &nb_slope_scalar && nb_slope_audit_wanted(pass->job);
    }
    if (engine && engine->open)
        st = engine->open(pass->job, &pass->way, &run->state, err);
    if (!st && engine && engine->dot && pass->weigh && !audited)
        run->dot = engine->dot(run->state);
    if (!st && engine && engine->floats && pass->floats && !audited)
        run->floats = engine->floats(run->state);
    if (!st)
        st = audited ? share_audited(run, err) : share_rows(run, err);
    if (engine && engine->close)
        engine->close(run->state);
    return st;
}

/** The scene's mask and that of a pass. */
static nb_status merge_masks(const nb_raster *raster, const uint8_t *wanted,
                             uint8_t **both, nb_error *err)
{
    *both = NULL;
    if (!wanted)
        return NB_OK;
    if (!(*both = nb_alloc_raw(raster->pixels, 1, "mask", err)))
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < raster->pixels; i++)
        (*both)[i] = wanted[i] && (!raster->mask || raster->mask[i]);
    return NB_OK;
}

nb_status nb_slope_pixels_list(const nb_slope_job *job, const uint8_t *wanted,
                               nb_slope_pixels *out, nb_error *err)
{
    nb_scene part = *job->scene;
    nb_request request = {0};
    uint8_t *mask;
    nb_status st = merge_masks(&part.raster, wanted, &mask, err);
    memset(out, 0, sizeof *out);
    if (mask)
        part.raster.mask = mask;
    if (!st)
        st = nb_spans_build(&part, &out->spans, &out->n, err);
    request.spans = out->spans;
    request.n = out->n;
    if (!st)
        st = nb_request_rows(&request, &out->first, &out->rows, err);
    nb_free(mask);
    return st;
}

void nb_slope_pixels_free(nb_slope_pixels *pixels)
{
    nb_free(pixels->spans);
    nb_free(pixels->first);
    memset(pixels, 0, sizeof *pixels);
}

nb_status nb_slope_pass_run(const nb_slope_pass *pass, nb_error *err)
{
    slope_run run = {.pass = pass, .row = pass->row, .limit = INFINITY};
    nb_slope_pixels all = {0};
    const nb_slope_pixels *pixels = pass->pixels ? pass->pixels : &all;
    nb_status st = pass->pixels ? NB_OK : nb_slope_pixels_list(pass->job, NULL, &all, err);
    if (!run.row && pass->job->given)
        run.row = given_row;
    run.spans = pixels->spans;
    run.first = pixels->first;
    run.rows = pixels->rows;
    if (!st && run.rows > 0)
        st = run_spans(&run, err);
    nb_slope_pixels_free(&all);
    return st;
}
