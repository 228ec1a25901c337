/* SPDX-License-Identifier: MIT */
/* Store the slopes of listed pixels one after another, in the order of the list. */
#include <string.h>

#include "../base/memory.h"
#include "products.h"

nb_status nb_slope_list_open(const nb_scene *scene, const nb_slope_pixels *pixels,
                             nb_slope_list *list, nb_error *err)
{
    *list = (nb_slope_list){.pixels = pixels};
    list->place = nb_alloc_raw(scene->raster.pixels, sizeof *list->place, "slopes", err);
    if (!list->place)
        return NB_ERR_NOMEM;
    for (size_t i = 0; i < pixels->n; i++)
        for (int f = 0; f < pixels->spans[i].n; f++)
            list->place[pixels->spans[i].at + (size_t)f] = (uint32_t)list->n++;
    return NB_OK;
}

void nb_slope_list_free(nb_slope_list *list)
{
    nb_free(list->place);
    memset(list, 0, sizeof *list);
}

void nb_slope_list_scatter(const nb_slope_list *list, const double *values, double *plane)
{
    for (size_t i = 0; i < list->pixels->n; i++) {
        const nb_span *span = &list->pixels->spans[i];
        memcpy(plane + span->at, values + list->place[span->at],
               (size_t)span->n * sizeof *plane);
    }
}

void nb_slope_list_gather(const nb_slope_list *list, const double *all, size_t stack,
                          size_t planes, size_t stride, double *values)
{
    for (size_t i = 0; i < list->pixels->n; i++) {
        const nb_span *span = &list->pixels->spans[i];
        for (size_t k = 0; k < planes; k++)
            memcpy(values + k * stride + list->place[span->at],
                   all + k * stack + span->at, (size_t)span->n * sizeof *all);
    }
}

/** A sink that copies rows to the places of the pixels. */
typedef struct list_sink {
    const nb_slope_list *list;
    size_t planes, stride;
    double *values;
} list_sink;

static void take(void *user, const nb_slope_values *row)
{
    const list_sink *sink = user;
    const double *values = row->values;
    for (size_t i = 0; i < row->n; values += row->spans[i++].n)
        for (size_t k = 0; k < sink->planes; k++)
            memcpy(sink->values + k * sink->stride + sink->list->place[row->spans[i].at],
                   values + k * row->stride,
                   (size_t)row->spans[i].n * sizeof *sink->values);
}

/** Make whole planes on a device, and gather the pixels of the list. */
static nb_status gather_device(const nb_slope_run *run, const list_sink *sink,
                               nb_error *err)
{
    const size_t stack = run->job->scene->raster.pixels;
    nb_slope_planes_out out = {.type = NB_REAL_FLOAT64};
    double *all = nb_alloc_raw(stack * sink->planes, sizeof *all, "derivatives", err);
    nb_status st = NB_ERR_NOMEM;
    if (all) {
        out.expected = all;
        out.planes = all + stack;
        st = nb_slope_fill(run, &out, err);
    }
    if (!st)
        nb_slope_list_gather(sink->list, all, stack, sink->planes, sink->stride,
                             sink->values);
    nb_free(all);
    return st;
}

nb_status nb_slope_list_fill(const nb_slope_run *run, const nb_slope_list *list,
                             size_t stride, double *values, nb_error *err)
{
    list_sink to = {list, (size_t)run->job->count + 1, stride, values};
    const nb_slope_sink sink = {.user = &to, .take = take};
    return run->backend->device && !run->given
               ? gather_device(run, &to, err)
               : nb_slope_render(run, list->pixels, &sink, err);
}
