/* SPDX-License-Identifier: MIT */
#include "run.h"

#include <string.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/store.h"
#include "../render/simd.h"
#include "../sim/crystals.h"

/** NB_PARAM bits of the parameters that change the outputs of this series. */
static unsigned what_counts(const nb_series *s)
{
    const nb_format *format = nb_series_format(s);
    return NB_PARAM_PIXELS | (s->hdf5_file[0] ? (unsigned)NB_PARAM_HDF5 : 0) |
           (format ? format->params : 0);
}

/** Hash the rows of the table of frames: the record of each crystal, and the data that
 * files give to a frame. */
static nb_status hash_frames(uint64_t *h, const nb_frames *f, unsigned counts,
                             nb_error *err)
{
    nb_matrix matrix;
    nb_crystals all;
    nb_status st = NB_OK;
    for (int k = 0; !st && k < f->count; k++) {
        const nb_frame_extra extra = nb_frames_extra(f, k, &matrix);
        st = nb_frames_crystals(f, k, &all, err);
        for (int m = 0; !st && m < (all.n ? all.n : 1); m++)
            *h = nb_params_hash(*h, &all.configs[m], 0, counts);
        *h = nb_hash_bytes(*h, &all.n, sizeof all.n);
        *h = nb_hash_array(*h, extra.lines, extra.n_lines, sizeof *extra.lines);
        *h = nb_hash_bytes(*h, matrix.at, extra.matrix ? sizeof matrix.at : 0);
        *h = nb_hash_bytes(*h, matrix.ends, extra.matrix ? sizeof matrix.ends : 0);
        nb_crystals_free(&all);
    }
    return st;
}

/* Fingerprint of flags and file contents that change a pixel of a frame. The renderer is
 * not part of it, so that processes with different renderers can share a series. */
static nb_status hash_series(const nb_sim *base, const nb_frames *frames, uint64_t *h,
                             nb_error *err)
{
    const unsigned counts = what_counts(frames->series);
    *h = nb_hash_bytes(NB_HASH_START, NB_VERSION, strlen(NB_VERSION));
    *h = nb_params_hash(*h, &frames->whole, 0, counts);
    *h = nb_params_hash(*h, frames->series, NB_PARAM_SERIES, counts);
    *h = nb_sim_hash_files(*h, base);
    return hash_frames(h, frames, counts, err);
}

static uint64_t hash_renderer(uint64_t h, const char *name)
{
    return nb_hash_bytes(h, name, strlen(name));
}

/** Name of the renderer. The vector renderer is named after its instruction set. */
static const char *renderer_of(const nb_sim_engine *engine)
{
    nb_isa isa;
    if (engine->backend == &nb_backend_simd &&
        !nb_cpu_choose(engine->options.isa, &isa, NULL))
        return nb_isa_name(isa);
    return engine->backend->name;
}

/* Renderer whose name completes `hash` to `whole`, or NULL if flags or files differ. */
static const char *fingerprint_maker(uint64_t hash, uint64_t whole)
{
    for (int isa = NB_ISA_SCALAR; isa <= NB_ISA_NEON; isa++)
        if (hash_renderer(hash, nb_isa_name((nb_isa)isa)) == whole)
            return nb_isa_name((nb_isa)isa);
    for (const nb_backend *const *b = nb_backends; *b; b++)
        if (hash_renderer(hash, (*b)->name) == whole)
            return (*b)->name;
    return NULL;
}

nb_status nb_earlier_fingerprint(nb_run *run, uint64_t earlier, uint64_t *fingerprint,
                                 nb_error *err)
{
    const char *maker;
    uint64_t mine, first[2];
    nb_status st = hash_series(run->base, &run->frames, &mine, err);
    mine = run->stored ? nb_stored_hash(run->stored, mine) : mine;
    first[0] = mine;
    first[1] = hash_renderer(mine, renderer_of(&run->base->engine));
    maker = fingerprint_maker(mine, earlier);
    if (!st && maker && earlier != first[1] && run->place.rank == 0)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-resume: the series was begun with the renderer %s, but this renderer "
            "(%.100s) gives other last digits; type the same -device or -isa as before",
            maker, run->base->engine.line);
    nb_ranks_share(run->ranks, first, sizeof first);
    if (!st && mine != first[0])
        st = nb_fail(err, NB_ERR_INPUT,
                     "its input files differ from those of rank 0; every process needs "
                     "the same files");
    *fingerprint = first[1];
    return nb_ranks_agree(run->ranks, st, err);
}
