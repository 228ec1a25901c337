/* SPDX-License-Identifier: MIT */
/** Requests: the spans of a region of interest and a mask, or of a few pixels. */
#ifndef NB_RENDER_REQUEST_H
#define NB_RENDER_REQUEST_H

#include "backend.h"

/** Spans of all rendered pixels of a scene: a run of them in a row is one, and each goes to its
 * place in the stack.  *spans[*n] is the caller's (nb_free).  Errors: NB_ERR_NOMEM. */
nb_status nb_spans_build(const nb_scene *scene, nb_span **spans, size_t *n, nb_error *err);

/** The span of one pixel, by its column and its row of the stack. */
nb_span nb_span_of_pixel(const nb_scene *scene, int fast, int row);

/** The rows of a request: row r has the spans (*first)[r] to (*first)[r + 1] - 1.  They are neighbours in
 * the list and lie in the planes as in the panel.  *first[*rows + 1] is the caller's (nb_free).
 * Errors: NB_ERR_NOMEM. */
nb_status nb_request_rows(const nb_request *request, size_t **first, int *rows,
                          nb_error *err);

/** The scene whose region of interest is the rectangle of the stack around the spans, without mask:
 * for what has to hold wherever a pixel lies.  filled, if not NULL: whether the spans fill it. */
nb_scene nb_request_scene(const nb_request *request, const nb_scene *scene, int *filled);

/** Refuse what no backend makes yet, and spans outside the panels or the planes.  name: of the
 * backend.  Errors: NB_ERR_UNSUPPORTED, NB_ERR_INTERNAL. */
nb_status nb_request_check(const nb_request *request, const nb_scene *scene,
                           size_t pixels, const char *name, nb_error *err);

/** Render all of a scene with the precision and tolerance of a request without spans:
 * image[scene->raster.pixels], or NULL as in nb_planes. */
nb_status nb_render_scene_as(const nb_backend *backend, nb_backend_state *state,
                             const nb_scene *scene, const nb_request *as, float *image,
                             nb_error *err);

#endif
