/* SPDX-License-Identifier: MIT */
/** Requests: the spans of a region of interest and a mask, or of a few pixels. */
#ifndef NB_RENDER_REQUEST_H
#define NB_RENDER_REQUEST_H

#include "../base/threads.h"
#include "backend.h"

/** Spans of all rendered pixels of a scene: each run of pixels in a row is one span, and
 * has the same index in the planes as in the stack. *spans[*n] belongs to the caller
 * (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_spans_build(const nb_scene *scene, nb_span **spans, size_t *n, nb_error *err);

/** The span of one pixel, by its column and its row of the stack. */
nb_span nb_span_of_pixel(const nb_scene *scene, int fast, int row);

/** The rows of a request: row r has the spans (*first)[r] to (*first)[r + 1] - 1, which
 * are neighbours in the list and whose distances in the planes equal those in the panel.
 * *first[*rows + 1] belongs to the caller (nb_free). Errors: NB_ERR_NOMEM. */
nb_status nb_request_rows(const nb_request *request, size_t **first, int *rows,
                          nb_error *err);

/** The scene without mask, whose region of interest is the smallest rectangle of the
 * stack around the spans; for bounds that hold for all spans. *filled, or NULL: 1 if the
 * spans fill the rectangle. */
nb_scene nb_request_scene(const nb_request *request, const nb_scene *scene, int *filled);

/** Refuse slopes of another scene, and spans outside the panels or the planes. name: name
 * of the backend. Errors: NB_ERR_INTERNAL. */
nb_status nb_request_check(const nb_request *request, const nb_scene *scene,
                           size_t pixels, const char *name, nb_error *err);

/** Render all of a scene with the precision and tolerance of a request without spans:
 * image[scene->raster.pixels], or NULL as in nb_planes. */
nb_status nb_render_scene_as(const nb_backend *backend, nb_backend_state *state,
                             const nb_scene *scene, const nb_request *as, float *image,
                             nb_error *err);

/* --- The choice of the backend for a scene --- */

/** The backend of this word of -device; NULL for "auto", "" and unknown words. *device is
 * always filled. */
const nb_backend *nb_backend_of(const char *word, nb_device *device);

/** Choose a backend for a word of -device. On success *backend is static; reason has the
 * reason in one line. options->device_index is set. Errors: NB_ERR_INPUT for an unknown
 * word, NB_ERR_UNSUPPORTED if the selected backend cannot render here. */
nb_status nb_backend_choose(const nb_scene *scene, const char *word,
                            nb_render_options *options, const nb_backend **backend,
                            char *reason, size_t reason_size, nb_error *err);

/** Number of renderers that should share a device; each renders one frame at a time.
 * While one frame waits for kernels and copies, other frames use the device. Long frames
 * keep the device busy: they get one renderer. */
int nb_backend_renderers(const nb_backend *backend, const nb_scene *scene,
                         const nb_render_options *options);

/** The CPU backend for these options, used if a device fails. */
const nb_backend *nb_backend_cpu(const nb_render_options *options);

/* --- Rows of an image, distributed to threads, with progress and a way to stop --- */

/** Start the threads that later calls from this thread will use. */
void nb_threads_start(int threads);

typedef struct nb_row_job {
    const nb_scene *scene;
    const nb_request *request;
    const nb_planes *planes;
    void *context;
    /** Render n spans of one row. row points at the first pixel of the first span; pixel
     * f of the panel is at row[f - spans->fast]. The function may also write to pixels
     * between the spans. */
    void (*row)(void *context, const nb_span *spans, size_t n, float *row);
    int threads;
    const nb_hooks *hooks; /* progress is called by the calling thread only */
} nb_row_job;

/** Run job->row for every row of the request; pixels outside the spans become 0. Errors:
 * NB_ERR_NOMEM; NB_ERR_CANCELLED when the progress hook asked to stop. */
nb_status nb_render_rows(const nb_row_job *job, nb_error *err);

/** nb_render_rows with calls for up to `piece` pixels of a span, so that a stop need not
 * wait for the end of a slow row. piece 0: whole rows. */
nb_status nb_render_pieces(const nb_row_job *job, int piece, nb_error *err);

/** Make sums over the n spans of one row, in thread number `thread`. A stripe is a group
 * of consecutive rows: one thread gets its rows, in order. */
typedef void nb_row_sum(void *context, const nb_span *spans, size_t n, int stripe,
                        int thread);

/** Run `sum` instead of job->row, for rows in at most this number of stripes. Nothing is
 * written to the planes, which may be NULL. */
nb_status nb_sum_rows(const nb_row_job *job, nb_row_sum *sum, int stripes, nb_error *err);

#endif
