/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/store.h"

/** Members of nb_config and nb_arrays for each kind of array; kind i has bit 1 << i. */
static const struct {
    size_t name;         /* offset of the file name in nb_config */
    const char *memory;  /* file name that stands for an array in memory */
    size_t sizes, bytes; /* offset of the array sizes in nb_arrays, and their bytes */
} kinds_of[NB_ARRAY_KINDS] = {{offsetof(nb_config, hkl_file), NB_MEMORY_HKL,
                               offsetof(nb_arrays, reflections), sizeof(size_t)},
                              {offsetof(nb_config, mask_file), NB_MEMORY_MASK,
                               offsetof(nb_arrays, mask_fast), sizeof(int[2])},
                              {offsetof(nb_config, source_file), NB_MEMORY_SOURCES,
                               offsetof(nb_arrays, sources), sizeof(int)},
                              {offsetof(nb_config, mat_file), NB_MEMORY_MATRIX, 0, 0},
                              {offsetof(nb_config, transmission_file),
                               NB_MEMORY_TRANSMISSION,
                               offsetof(nb_arrays, transmission_fast), sizeof(int[2])},
                              {offsetof(nb_config, add_file), NB_MEMORY_ADD,
                               offsetof(nb_arrays, add_fast), sizeof(int[2])},
                              {offsetof(nb_config, mosaic_blocks), NB_MEMORY_BLOCKS,
                               offsetof(nb_arrays, blocks_bytes), sizeof(size_t)},
                              {offsetof(nb_config, mat_file), NB_MEMORY_A,
                               offsetof(nb_arrays, A_count), sizeof(int)}};

#define PART(kind, member)                                                               \
    {                                                                                    \
        kind, offsetof(nb_arrays, member), sizeof *((nb_arrays *)0)->member              \
    }
/** All arrays, with offset and item size. A kind of array is used if its first array is
 * set. */
static const struct part {
    unsigned kind;
    size_t at, item;
} parts[] = {PART(NB_ARRAY_HKL, hkl),
             PART(NB_ARRAY_HKL, F),
             PART(NB_ARRAY_MASK, mask),
             PART(NB_ARRAY_SOURCES, wavelength),
             PART(NB_ARRAY_SOURCES, weight),
             PART(NB_ARRAY_SOURCES, position),
             PART(NB_ARRAY_MATRIX, matrix),
             PART(NB_ARRAY_TRANSMISSION, transmission),
             PART(NB_ARRAY_ADD, add),
             PART(NB_ARRAY_BLOCKS, blocks),
             PART(NB_ARRAY_A, A)};
enum { PARTS = sizeof parts / sizeof *parts };

static const void *array_of(const nb_arrays *a, int part)
{
    const void *array;
    memcpy(&array, (const char *)a + parts[part].at, sizeof array);
    return array;
}

static void set_array(nb_arrays *a, int part, const void *array)
{
    memcpy((char *)a + parts[part].at, &array, sizeof array);
}

/** Number of items in each array of a kind. */
static size_t count_of(const nb_arrays *a, unsigned kind)
{
    switch (kind) {
    case NB_ARRAY_HKL:
        return a->reflections;
    case NB_ARRAY_MASK:
        return (size_t)a->mask_fast * (size_t)a->mask_slow;
    case NB_ARRAY_SOURCES:
        return (size_t)a->sources;
    case NB_ARRAY_TRANSMISSION:
        return (size_t)a->transmission_fast * (size_t)a->transmission_slow;
    case NB_ARRAY_ADD:
        return (size_t)a->add_fast * (size_t)a->add_slow;
    case NB_ARRAY_BLOCKS:
        return a->blocks_bytes;
    default:
        return kind == NB_ARRAY_A && a->A_count == 3 ? 27 : 9;
    }
}

/** Kinds of the arrays that are not NULL. */
static unsigned kinds_in(const nb_arrays *a)
{
    unsigned kinds = 0;
    for (int i = PARTS; i-- > 0;)
        kinds = (kinds & ~parts[i].kind) | (array_of(a, i) ? parts[i].kind : 0);
    return kinds;
}

/** Bits of the kinds that cfg uses and whose arrays are not the shared copies. */
static unsigned find_changed(const nb_config *cfg, const nb_arrays *own)
{
    unsigned changed = 0, used = 0;
    if (!cfg->arrays || cfg->arrays == own)
        return 0;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        if (strcmp(nb_text_at(cfg, kinds_of[i].name), kinds_of[i].memory) == 0)
            used |= 1u << i;
    for (int i = 0; i < PARTS; i++)
        if (array_of(cfg->arrays, i) != array_of(own, i))
            changed |= parts[i].kind;
    return changed & used & kinds_in(cfg->arrays);
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
    nb_status st;
    NB_FORWARD(check(arrays, err));
    cfg->arrays = arrays;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        if (kinds_in(arrays) & 1u << i)
            NB_FORWARD(nb_text_put((nb_text *)(void *)((char *)cfg + kinds_of[i].name),
                                   kinds_of[i].memory, err));
    return NB_OK;
}

void nb_config_use_detector(nb_config *cfg, const nb_detector_spec *detector)
{
    if (cfg)
        cfg->detector = detector;
}

const nb_arrays *nb_config_arrays(const nb_config *cfg)
{
    return cfg ? cfg->arrays : NULL;
}

/** Replace kinds in *to by shared copies of *from. After NB_ERR_NOMEM *to is
 * unchanged. */
static nb_status copy(const nb_arrays *from, unsigned kinds, nb_arrays *to, nb_error *err)
{
    nb_arrays fresh = *to, old = *to;
    nb_status st = NB_OK;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        if (kinds & 1u << i)
            memcpy((char *)&fresh + kinds_of[i].sizes,
                   (const char *)from + kinds_of[i].sizes, kinds_of[i].bytes);
    for (int i = 0; i < PARTS; i++) {
        const void *array = array_of(from, i), *own = NULL;
        if (!(kinds & parts[i].kind))
            continue;
        if (!st)
            own = nb_shared_copy(array, count_of(from, parts[i].kind) * parts[i].item,
                                 "arrays", err);
        if (array && !own)
            st = NB_ERR_NOMEM;
        set_array(&fresh, i, own);
    }
    nb_arrays_drop(st ? &fresh : &old, kinds);
    if (!st)
        *to = fresh;
    return st;
}

void nb_free_detector(void *object)
{
    nb_detector_spec_free(object);
}

/** Copy the caller's detector, unless `typed` has the copy of an earlier call. */
static nb_status take_panels(nb_inputs *in, nb_config *typed, nb_error *err)
{
    nb_detector_spec *own = NULL;
    nb_status st = NB_OK;
    if (typed->detector == in->panels)
        return NB_OK;
    if (typed->detector) {
        own = nb_shared_new(sizeof *own, nb_free_detector, "detector", err);
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
    const unsigned changed = find_changed(typed, &in->arrays);
    nb_status st = take_panels(in, typed, err);
    if (!st && changed)
        st = copy(typed->arrays, changed, &in->arrays, err);
    for (int i = 0; i < NB_ARRAY_KINDS && !st; i++)
        if (changed & 1u << i)
            in->array_id[i] = nb_store_next(in->store);
    typed->arrays = typed->arrays ? &in->arrays : NULL;
    return st;
}

void nb_arrays_hold(const nb_arrays *a)
{
    for (int i = 0; i < PARTS; i++)
        nb_shared_hold(array_of(a, i));
}

void nb_arrays_drop(const nb_arrays *a, unsigned kinds)
{
    for (int i = 0; i < PARTS; i++)
        if (kinds & parts[i].kind)
            nb_shared_drop(array_of(a, i));
}
