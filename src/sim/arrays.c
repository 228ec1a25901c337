/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/shared.h"

/** The name of a file that an array replaces. */
static char *name_of(nb_config *cfg, nb_array_kind kind)
{
    return kind == NB_ARRAY_HKL       ? cfg->hkl_file
           : kind == NB_ARRAY_MASK    ? cfg->mask_file
           : kind == NB_ARRAY_SOURCES ? cfg->source_file
                                      : cfg->mat_file;
}

static const char *memory_of(nb_array_kind kind)
{
    return kind == NB_ARRAY_HKL       ? NB_MEMORY_HKL
           : kind == NB_ARRAY_MASK    ? NB_MEMORY_MASK
           : kind == NB_ARRAY_SOURCES ? NB_MEMORY_SOURCES
                                      : NB_MEMORY_MATRIX;
}

/** Those that are there. */
static unsigned kinds_in(const nb_arrays *a)
{
    return (a->hkl ? NB_ARRAY_HKL : 0u) | (a->mask ? NB_ARRAY_MASK : 0u) |
           (a->wavelength ? NB_ARRAY_SOURCES : 0u) | (a->matrix ? NB_ARRAY_MATRIX : 0u);
}

unsigned nb_arrays_of(const nb_config *cfg)
{
    unsigned kinds = 0;
    for (unsigned kind = 1; cfg->arrays && kind < NB_ARRAYS_ALL; kind *= 2)
        if (strcmp(name_of((nb_config *)cfg, kind), memory_of(kind)) == 0)
            kinds |= kind;
    return cfg->arrays ? kinds & kinds_in(cfg->arrays) : 0;
}

unsigned nb_arrays_changed(const nb_config *cfg, const nb_arrays *own)
{
    const nb_arrays *a = cfg->arrays;
    unsigned changed = 0;
    if (!a || a == own)
        return 0;
    if (a->hkl != own->hkl || a->F != own->F)
        changed |= NB_ARRAY_HKL;
    if (a->mask != own->mask)
        changed |= NB_ARRAY_MASK;
    if (a->wavelength != own->wavelength || a->weight != own->weight ||
        a->position != own->position)
        changed |= NB_ARRAY_SOURCES;
    if (a->matrix != own->matrix)
        changed |= NB_ARRAY_MATRIX;
    return changed & nb_arrays_of(cfg);
}

static nb_status check(const nb_arrays *a, nb_error *err)
{
    if (!a->hkl != !a->F || (a->hkl && !a->reflections))
        return nb_fail(err, NB_ERR_INPUT,
                       "hkl: Miller indices and F belong together, of at least one "
                       "reflection");
    if (a->mask &&
        (a->mask_fast < 1 || a->mask_slow < 1 || a->mask_fast > INT32_MAX / a->mask_slow))
        return nb_fail(err, NB_ERR_INPUT, "mask: %d x %d pixels are no image",
                       a->mask_fast, a->mask_slow);
    if ((a->weight || a->position) && !a->wavelength)
        return nb_fail(err, NB_ERR_INPUT,
                       "sources: weights and positions need wavelengths");
    if (a->wavelength && a->sources < 1)
        return nb_fail(err, NB_ERR_INPUT, "sources: there is none");
    return NB_OK;
}

nb_status nb_config_use_arrays(nb_config *cfg, const nb_arrays *arrays, nb_error *err)
{
    NB_REFUSE_NULL(cfg && arrays);
    nb_status st = check(arrays, err);
    if (st)
        return st;
    cfg->arrays = arrays;
    for (unsigned kind = 1; kind < NB_ARRAYS_ALL; kind *= 2)
        if (kinds_in(arrays) & kind)
            snprintf(name_of(cfg, kind), NB_PATH_MAX, "%s", memory_of(kind));
    return NB_OK;
}

/** NULL stays NULL; *st: NB_ERR_NOMEM. */
static void *copy_of(const void *from, size_t count, size_t size, nb_status *st,
                     nb_error *err)
{
    void *to = *st ? NULL : nb_shared_copy(from, count * size, "arrays", err);
    if (from && !to)
        *st = NB_ERR_NOMEM;
    return to;
}

static void copy_hkl(const nb_arrays *from, nb_arrays *to, nb_status *st, nb_error *err)
{
    to->hkl = copy_of(from->hkl, from->reflections, sizeof *to->hkl, st, err);
    to->F = copy_of(from->F, from->reflections, sizeof *to->F, st, err);
    to->reflections = from->reflections;
}

static void copy_mask(const nb_arrays *from, nb_arrays *to, nb_status *st, nb_error *err)
{
    const size_t columns = (size_t)from->mask_fast;
    to->mask = copy_of(from->mask, columns, (size_t)from->mask_slow, st, err);
    to->mask_fast = from->mask_fast;
    to->mask_slow = from->mask_slow;
}

static void copy_sources(const nb_arrays *from, nb_arrays *to, nb_status *st,
                         nb_error *err)
{
    const size_t n = (size_t)from->sources;
    to->wavelength = copy_of(from->wavelength, n, sizeof *to->wavelength, st, err);
    to->weight = copy_of(from->weight, n, sizeof *to->weight, st, err);
    to->position = copy_of(from->position, n, sizeof *to->position, st, err);
    to->sources = from->sources;
}

nb_status nb_arrays_copy(const nb_arrays *from, unsigned kinds, nb_arrays *to,
                         nb_error *err)
{
    nb_arrays fresh = *to, old = *to;
    nb_status st = NB_OK;
    if (kinds & NB_ARRAY_HKL)
        copy_hkl(from, &fresh, &st, err);
    if (kinds & NB_ARRAY_MASK)
        copy_mask(from, &fresh, &st, err);
    if (kinds & NB_ARRAY_SOURCES)
        copy_sources(from, &fresh, &st, err);
    if (kinds & NB_ARRAY_MATRIX)
        fresh.matrix = copy_of(from->matrix, 9, sizeof *to->matrix, &st, err);
    nb_arrays_drop(st ? &fresh : &old, kinds);
    if (!st)
        *to = fresh;
    return st;
}

static void free_panels(void *object)
{
    nb_detector_spec_free(object);
}

/** The detector that a caller gave, unless it is the one from before. */
static nb_status take_panels(nb_inputs *in, nb_config *typed, nb_error *err)
{
    nb_detector_spec *own = NULL;
    nb_status st = NB_OK;
    if (typed->detector == in->panels)
        return NB_OK;
    if (typed->detector) {
        own = nb_shared_new(sizeof *own, free_panels, "detector", err);
        st = own ? nb_detector_spec_copy(typed->detector, own, err) : NB_ERR_NOMEM;
    }
    if (st) {
        nb_shared_drop(own);
        return st;
    }
    nb_shared_drop(in->panels);
    in->panels = own;
    in->panels_id = own ? nb_store_next(in->store) : 0;
    typed->detector = own;
    return NB_OK;
}

nb_status nb_inputs_take_callers(nb_inputs *in, nb_config *typed, nb_error *err)
{
    const unsigned changed = nb_arrays_changed(typed, &in->arrays);
    nb_status st = take_panels(in, typed, err);
    if (!st && changed)
        st = nb_arrays_copy(typed->arrays, changed, &in->arrays, err);
    for (int i = 0; i < 4 && !st; i++)
        if (changed & 1u << i)
            in->array_id[i] = nb_store_next(in->store);
    typed->arrays = typed->arrays ? &in->arrays : NULL;
    return st;
}

void nb_arrays_hold(const nb_arrays *a)
{
    nb_shared_hold(a->hkl);
    nb_shared_hold(a->F);
    nb_shared_hold(a->mask);
    nb_shared_hold(a->wavelength);
    nb_shared_hold(a->weight);
    nb_shared_hold(a->position);
    nb_shared_hold(a->matrix);
}

void nb_arrays_drop(const nb_arrays *a, unsigned kinds)
{
    if (kinds & NB_ARRAY_HKL) {
        nb_shared_drop(a->hkl);
        nb_shared_drop(a->F);
    }
    if (kinds & NB_ARRAY_MASK)
        nb_shared_drop(a->mask);
    if (kinds & NB_ARRAY_SOURCES) {
        nb_shared_drop(a->wavelength);
        nb_shared_drop(a->weight);
        nb_shared_drop(a->position);
    }
    if (kinds & NB_ARRAY_MATRIX)
        nb_shared_drop(a->matrix);
}
