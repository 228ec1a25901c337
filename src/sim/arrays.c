/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/shared.h"

/** For each kind of array: the member of nb_config that names its file, and the array's name. */
static const struct {
    size_t name;
    const char *memory;
} kinds_of[NB_ARRAY_KINDS] = {
    {offsetof(nb_config, hkl_file), NB_MEMORY_HKL},
    {offsetof(nb_config, mask_file), NB_MEMORY_MASK},
    {offsetof(nb_config, source_file), NB_MEMORY_SOURCES},
    {offsetof(nb_config, mat_file), NB_MEMORY_MATRIX},
    {offsetof(nb_config, transmission_file), NB_MEMORY_TRANSMISSION},
    {offsetof(nb_config, add_file), NB_MEMORY_ADD},
    {offsetof(nb_config, mosaic_blocks), NB_MEMORY_BLOCKS},
    {offsetof(nb_config, mat_file), NB_MEMORY_A}};

/** Those that are there. */
static unsigned kinds_in(const nb_arrays *a)
{
    const void *const data[NB_ARRAY_KINDS] = {a->hkl,          a->mask, a->wavelength, a->matrix,
                                              a->transmission, a->add,  a->blocks,     a->A};
    unsigned kinds = 0;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        kinds |= data[i] ? 1u << i : 0;
    return kinds;
}

unsigned nb_arrays_of(const nb_config *cfg)
{
    unsigned kinds = 0;
    for (int i = 0; cfg->arrays && i < NB_ARRAY_KINDS; i++)
        if (strcmp((const char *)cfg + kinds_of[i].name, kinds_of[i].memory) == 0)
            kinds |= 1u << i;
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
    if (a->transmission != own->transmission)
        changed |= NB_ARRAY_TRANSMISSION;
    if (a->add != own->add)
        changed |= NB_ARRAY_ADD;
    if (a->blocks != own->blocks)
        changed |= NB_ARRAY_BLOCKS;
    if (a->A != own->A)
        changed |= NB_ARRAY_A;
    return changed & nb_arrays_of(cfg);
}

static nb_status check_plane(const char *name, const void *data, int fast, int slow,
                             nb_error *err)
{
    if (!data || (fast >= 1 && slow >= 1 && fast <= INT32_MAX / slow))
        return NB_OK;
    return nb_fail(err, NB_ERR_INPUT, "%s: %d x %d pixels are no image", name, fast, slow);
}

static nb_status check(const nb_arrays *a, nb_error *err)
{
    if (!a->hkl != !a->F || (a->hkl && !a->reflections))
        return nb_fail(err, NB_ERR_INPUT,
                       "hkl: Miller indices and F belong together, of at least one "
                       "reflection");
    if (check_plane("mask", a->mask, a->mask_fast, a->mask_slow, err) ||
        check_plane("transmission", a->transmission, a->transmission_fast,
                    a->transmission_slow, err) ||
        check_plane("add", a->add, a->add_fast, a->add_slow, err))
        return NB_ERR_INPUT;
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
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        if (kinds_in(arrays) & 1u << i)
            snprintf((char *)cfg + kinds_of[i].name, NB_PATH_MAX, "%s",
                     kinds_of[i].memory);
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

static size_t pixels_of(int fast, int slow)
{
    return (size_t)fast * (size_t)slow;
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
    if (kinds & NB_ARRAY_TRANSMISSION) {
        fresh.transmission_fast = from->transmission_fast;
        fresh.transmission_slow = from->transmission_slow;
        fresh.transmission = copy_of(from->transmission, pixels_of(from->transmission_fast, from->transmission_slow),
                                     sizeof *to->transmission, &st, err);
    }
    if (kinds & NB_ARRAY_ADD) {
        fresh.add_fast = from->add_fast;
        fresh.add_slow = from->add_slow;
        fresh.add = copy_of(from->add, pixels_of(from->add_fast, from->add_slow),
                            sizeof *to->add, &st, err);
    }
    if (kinds & NB_ARRAY_A) {
        fresh.A_count = from->A_count == 3 ? 3 : 1;
        fresh.A = copy_of(from->A, (size_t)fresh.A_count, 9 * sizeof *to->A, &st, err);
    }
    if (kinds & NB_ARRAY_BLOCKS) {
        fresh.blocks = copy_of(from->blocks, from->blocks_bytes, 1, &st, err);
        fresh.blocks_bytes = from->blocks_bytes;
    }
    nb_arrays_drop(st ? &fresh : &old, kinds);
    if (!st)
        *to = fresh;
    return st;
}

static void free_panels(void *object)
{
    nb_detector_spec_free(object);
}

/** Copy the caller's detector, unless it is the copy from before. */
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
    for (int i = 0; i < NB_ARRAY_KINDS && !st; i++)
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
    nb_shared_hold(a->transmission);
    nb_shared_hold(a->add);
    nb_shared_hold(a->blocks);
    nb_shared_hold(a->A);
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
    if (kinds & NB_ARRAY_TRANSMISSION)
        nb_shared_drop(a->transmission);
    if (kinds & NB_ARRAY_ADD)
        nb_shared_drop(a->add);
    if (kinds & NB_ARRAY_BLOCKS)
        nb_shared_drop(a->blocks);
    if (kinds & NB_ARRAY_A)
        nb_shared_drop(a->A);
}
