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

static uint64_t hash_shots(uint64_t h, const nb_frames *f)
{
    const nb_spectra *s = &f->spectra;
    size_t n = (size_t)s->count;
    int random = f->series->orientations[0] && !f->lines.missets;
    h = nb_hash_bytes(h, &random, sizeof random);
    h = nb_hash_array(h, f->lines.missets, f->lines.n, sizeof *f->lines.missets);
    h = nb_hash_array(h, f->lines.crystals, f->lines.n, sizeof *f->lines.crystals);
    h = nb_hash_bytes(h, f->stream.crystal,
                      (size_t)f->stream.n * sizeof *f->stream.crystal);
    h = nb_hash_bytes(h, f->stream.first,
                      f->stream.images ? ((size_t)f->stream.images + 1) * sizeof(int) : 0);
    if (!n)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, s->first, (n + 1) * sizeof *s->first);
    return nb_hash_bytes(h, s->lines, s->first[n] * sizeof *s->lines);
}

/** Resolved base with the values that the series sets for all frames; shares texts. */
static nb_config whole_of(const nb_frames *f)
{
    nb_config all = f->whole;
    all.seed = f->base.seed;
    all.misset_seed = f->base.misset_seed;
    all.scale = f->base.scale;
    all.add_fluence = f->base.add_fluence;
    all.wavelengths = f->base.wavelengths;
    return all;
}

/* Fingerprint of flags and file contents that change a pixel of a frame. The renderer is
 * left out, so that processes with several renderers can share a series. */
static uint64_t nb_fingerprint(const nb_sim *base, const nb_frames *frames)
{
    unsigned counts = what_counts(frames->series);
    const nb_config whole = whole_of(frames);
    uint64_t h = nb_hash_bytes(NB_HASH_START, NB_VERSION, strlen(NB_VERSION));
    h = nb_params_hash(h, &whole, 0, counts);
    h = nb_params_hash(h, frames->series, NB_PARAM_SERIES, counts);
    h = nb_hash_bytes(h, &frames->series->calls.override_tag,
                      sizeof frames->series->calls.override_tag);
    h = nb_sim_hash_files(h, base);
    if (frames->series->only_frame[0]) {
        h = nb_hash_bytes(h, &frames->first, sizeof frames->first);
        h = nb_hash_bytes(h, &frames->count, sizeof frames->count);
    }
    return hash_shots(h, frames);
}

static uint64_t hash_renderer(uint64_t h, const char *name)
{
    return nb_hash_bytes(h, name, strlen(name));
}

/** Name of the renderer. The vector renderer has the name of its instruction set. */
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
    uint64_t mine = nb_fingerprint(run->base, &run->frames);
    mine = run->given ? nb_given_hash(run->given, mine) : mine;
    uint64_t first[2] = {mine, hash_renderer(mine, renderer_of(&run->base->engine))};
    const char *maker = fingerprint_maker(mine, earlier);
    nb_status st = NB_OK;
    if (maker && earlier != first[1] && run->place.rank == 0)
        st = nb_fail(
            err, NB_ERR_INPUT,
            "-resume: the series was begun with the renderer %s, but this renderer "
            "(%.100s) gives other last digits; type the same -device or -isa as before",
            maker, run->base->engine.line);
    nb_ranks_share(run->ranks, first, sizeof first);
    if (mine != first[0])
        st = nb_fail(err, NB_ERR_INPUT,
                     "its input files differ from those of rank 0; every process needs "
                     "the same files");
    *fingerprint = first[1];
    return nb_ranks_agree(run->ranks, st, err);
}
