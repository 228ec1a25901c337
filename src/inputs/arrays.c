/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/store.h"

#define AT(member) offsetof(nb_arrays, member)
#define FILE_OF(member) .file = offsetof(nb_config, member)
#define PART(member)                                                                     \
    {                                                                                    \
        AT(member), sizeof *((nb_arrays *)0)->member                                     \
    }
#define SIDES(member) .fast = AT(member##_fast), .slow = AT(member##_slow)
#define COUNT(member) .count = AT(member), .wide = sizeof((nb_arrays *)0)->member

const nb_array_row nb_array_rows[NB_ARRAY_KINDS] = {
    {"hkl", NB_MEMORY_HKL, FILE_OF(hkl_file), {PART(hkl), PART(F)}, COUNT(reflections)},
    {"mask", NB_MEMORY_MASK, FILE_OF(mask_file), {PART(mask)}, SIDES(mask)},
    {"sourcefile",
     NB_MEMORY_SOURCES,
     FILE_OF(source_file),
     {PART(wavelength), PART(weight), PART(position)},
     COUNT(sources)},
    {"mat", NB_MEMORY_MATRIX, FILE_OF(mat_file), {PART(matrix)}, .items = 9},
    {"transmission",
     NB_MEMORY_TRANSMISSION,
     FILE_OF(transmission_file),
     {PART(transmission)},
     SIDES(transmission)},
    {"add", NB_MEMORY_ADD, FILE_OF(add_file), {PART(add)}, SIDES(add)},
    {"mosaic_blocks",
     NB_MEMORY_BLOCKS,
     FILE_OF(mosaic_blocks),
     {PART(blocks)},
     COUNT(blocks_bytes)},
    {"A", NB_MEMORY_A, FILE_OF(mat_file), {PART(A)}, COUNT(A_count), .items = 9},
};

/** All places of arrays: part i % NB_ARRAY_PARTS of kind i / NB_ARRAY_PARTS. */
enum { PLACES = NB_ARRAY_KINDS * NB_ARRAY_PARTS };

static unsigned kind_of(int place)
{
    return 1u << place / NB_ARRAY_PARTS;
}

/** Array at a place; NULL if the kind has fewer parts. */
static const void *array_of(const nb_arrays *a, int place)
{
    const nb_array_row *k = &nb_array_rows[place / NB_ARRAY_PARTS];
    const int i = place % NB_ARRAY_PARTS;
    const void *array = NULL;
    if (k->part[i].bytes)
        memcpy(&array, (const char *)a + k->part[i].at, sizeof array);
    return array;
}

static int int_at(const nb_arrays *a, size_t offset)
{
    int value;
    memcpy(&value, (const char *)a + offset, sizeof value);
    return value;
}

size_t nb_array_items(const nb_array_row *k, const nb_arrays *a)
{
    size_t n = 1;
    if (k->fast)
        return (size_t)int_at(a, k->fast) * (size_t)int_at(a, k->slow);
    if (k->wide == sizeof n)
        memcpy(&n, (const char *)a + k->count, sizeof n);
    else if (k->wide)
        n = (size_t)int_at(a, k->count);
    return k->items ? k->items * (n == 3 ? 3 : 1) : n; /* A alone, or A, M1, M2 */
}

/** Kinds of the arrays that are not NULL. */
static unsigned kinds_in(const nb_arrays *a)
{
    unsigned kinds = 0;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        kinds |= array_of(a, i * NB_ARRAY_PARTS) ? 1u << i : 0;
    return kinds;
}

/** Bits of the kinds that cfg uses and whose arrays are not the shared copies. */
static unsigned find_changed(const nb_config *cfg, const nb_arrays *own)
{
    unsigned changed = 0, used = 0;
    if (!cfg->arrays || cfg->arrays == own)
        return 0;
    for (int i = 0; i < NB_ARRAY_KINDS; i++)
        if (strcmp(nb_text_at(cfg, nb_array_rows[i].file), nb_array_rows[i].memory) == 0)
            used |= 1u << i;
    for (int i = 0; i < PLACES; i++)
        if (array_of(cfg->arrays, i) != array_of(own, i))
            changed |= kind_of(i);
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
            NB_FORWARD(nb_text_put((nb_text *)(void *)((char *)cfg + nb_array_rows[i].file),
                                   nb_array_rows[i].memory, err));
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

static void copy_size(nb_arrays *to, const nb_arrays *from, size_t at, size_t bytes)
{
    memcpy((char *)to + at, (const char *)from + at, bytes);
}

/** Replace kinds in *to by shared copies of *from. NB_ERR_NOMEM leaves *to unchanged. */
static nb_status copy(const nb_arrays *from, unsigned kinds, nb_arrays *to, nb_error *err)
{
    nb_arrays fresh = *to, old = *to;
    nb_status st = NB_OK;
    for (int i = 0; i < PLACES; i++) {
        const nb_array_row *k = &nb_array_rows[i / NB_ARRAY_PARTS];
        const size_t bytes = k->part[i % NB_ARRAY_PARTS].bytes;
        const void *array = array_of(from, i), *own = NULL;
        if (!(kinds & kind_of(i)) || !bytes)
            continue;
        copy_size(&fresh, from, k->fast, k->fast ? sizeof(int) : 0);
        copy_size(&fresh, from, k->slow, k->slow ? sizeof(int) : 0);
        copy_size(&fresh, from, k->count, k->wide);
        if (!st)
            own = nb_shared_copy(array, nb_array_items(k, from) * bytes, "arrays", err);
        if (array && !own)
            st = NB_ERR_NOMEM;
        memcpy((char *)&fresh + k->part[i % NB_ARRAY_PARTS].at, &own, sizeof own);
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
    for (int i = 0; i < PLACES; i++)
        nb_shared_hold(array_of(a, i));
}

void nb_arrays_drop(const nb_arrays *a, unsigned kinds)
{
    for (int i = 0; i < PLACES; i++)
        if (kinds & kind_of(i))
            nb_shared_drop(array_of(a, i));
}
