/* SPDX-License-Identifier: MIT */
#include "earlier.h"

#include <string.h>

#include "../base/threads.h"
#include "../base/error.h"
#include "../base/store.h"
#include "../render/simd.h"
#include "../sim/crystals.h"
#include "run.h"
#include "template.h"

/* --- values --- */

static uint64_t hash_field(uint64_t h, const void *of, const nb_param *p)
{
    const void *field = (const char *)of + p->offset;
    const nb_seed *seed = field;
    const nb_opt3 *three = field;
    if (p->kind == NB_KIND_SEED) /* structs have padding */
        return nb_hash_bytes(h, &seed->value, seed->set ? sizeof seed->value : 0);
    if (p->kind == NB_KIND_VECTOR || p->kind == NB_KIND_POINT)
        return nb_hash_bytes(h, three->v, three->set ? sizeof three->v : 0);
    if (nb_param_is_text(p))
        return nb_hash_bytes(h, nb_text_at(of, p->offset),
                             strlen(nb_text_at(of, p->offset)) + 1);
    return nb_hash_bytes(h, field, p->size);
}

/** The field behind `last` (NULL: the first) in nb_config or nb_series; NULL at the end. */
static const nb_param *next_field(const nb_param *last, unsigned series)
{
    size_t count;
    const nb_param *table = nb_params(&count), *next = NULL;
    for (size_t i = 0; i < count; i++)
        if ((table[i].flags & (NB_PARAM_VIEW | NB_PARAM_SERIES)) == series &&
            (!last || table[i].offset > last->offset) &&
            (!next || table[i].offset < next->offset))
            next = &table[i];
    return next;
}

/** Continue with the fields that count, in their order in the struct. */
static uint64_t hash_fields(uint64_t h, const void *of, unsigned series, unsigned counts)
{
    for (const nb_param *p = next_field(NULL, series); p; p = next_field(p, series))
        if (p->flags & counts)
            h = hash_field(h, of, p);
    return h;
}

/** Flags of the parameters that count for the outputs of this series. */
static unsigned what_counts(const nb_series *s)
{
    unsigned counts = NB_PARAM_PIXELS;
    nb_template t;
    if (s->hdf5_file[0])
        counts |= NB_PARAM_HDF5;
    if (!s->output[0] || nb_template_of(s, &t, NULL))
        return counts;
    return counts | t.format->params;
}

/* --- contents of loaded files --- */

static uint64_t hash_table(uint64_t h, const nb_inputs *in)
{
    const nb_tables *tables = &in->tables;
    const nb_factor_file *t = tables->file;
    const int limits[] = {t->hmin, t->hmax, t->kmin, t->kmax, t->lmin, t->lmax};
    if (in->factors) /* a sum may differ in its last digits from machine to machine */
        return nb_hash_bytes(h, &in->factors->hash, sizeof in->factors->hash);
    if (!t->F)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, limits, sizeof limits);
    if (tables->of_source)
        h = nb_hash_bytes(h, tables->of_source,
                          (size_t)tables->n_of_source * sizeof *tables->of_source);
    return nb_hash_bytes(h, t->F, nb_table_values(&tables->box) * sizeof *t->F);
}

/** The panels of a file, their mask, and what the file says beside them. */
static uint64_t hash_points(uint64_t h, const void *points, int n, size_t size)
{
    return nb_hash_bytes(h, points, points ? (size_t)n * size : 0);
}

static uint64_t hash_detector(uint64_t h, const nb_detector_spec *d)
{
    const nb_opt3 *vectors[] = {&d->beam, &d->polar_axis, &d->spindle};
    h = nb_hash_bytes(h, d->panels, (size_t)d->n_panels * sizeof *d->panels);
    for (int i = 0; i < 3; i++)
        h = nb_hash_bytes(h, vectors[i]->v, vectors[i]->set ? sizeof vectors[i]->v : 0);
    h = nb_hash_bytes(h, &d->scan.phi_deg, d->scan.n ? 2 * sizeof(double) : 0);
    h = hash_points(h, d->scan.change, d->scan.n, sizeof *d->scan.change);
    h = hash_points(h, d->scan.setting, d->scan.n, sizeof *d->scan.setting);
    return hash_points(h, d->scan.beam, d->scan.n, sizeof *d->scan.beam);
}

static uint64_t hash_inputs(uint64_t h, const nb_inputs *in, size_t pixels)
{
    const nb_files *files = in->files;
    const nb_amorphous_set *amorphous = &files->amorphous;
    if (files->spec.n_panels)
        h = hash_detector(h, &files->spec);
    h = hash_table(h, in);
    h = nb_hash_bytes(h, in->matrix.at, in->matrix.given ? sizeof in->matrix.at : 0);
    h = nb_hash_bytes(h, in->matrix.ends,
                      in->matrix.has_ends ? sizeof in->matrix.ends : 0);
    h = nb_hash_bytes(h, in->lines, (size_t)in->n_lines * sizeof *in->lines);
    h = nb_hash_bytes(h, nb_inputs_mask(in), nb_inputs_mask(in) ? pixels : 0);
    h = nb_hash_bytes(h, files->blocks.rotation,
                      (size_t)files->blocks.n * sizeof *files->blocks.rotation);
    h = nb_hash_bytes(h, files->points, (size_t)files->n_points * sizeof *files->points);
    if (amorphous->tables.n > 0)
        h = nb_hash_bytes(h, amorphous->tables.pieces,
                          amorphous->pieces * sizeof *amorphous->tables.pieces);
    if (files->transmission)
        h = nb_hash_bytes(h, files->transmission->pixel, pixels * sizeof(float));
    if (files->add)
        h = nb_hash_bytes(h, files->add->pixel, pixels * sizeof(float));
    return files->gainmap ? nb_hash_bytes(h, files->gainmap->pixel, pixels * sizeof(float))
                          : h;
}

/** What the crystals of -crystals have of their own: the lines, and files that they name. */
static uint64_t hash_crystals(uint64_t h, const nb_sim *base)
{
    const struct nb_crowd *crowd = base->crowd;
    nb_crystal_lines *lines;
    if (nb_crystals_lines(&base->in, &base->typed, &lines, NULL))
        return h;
    for (int i = 0; lines && i < lines->n; i++)
        h = nb_hash_bytes(h, nb_crystal_line_text(lines, i),
                          strlen(nb_crystal_line_text(lines, i)) + 1);
    nb_shared_drop(lines);
    for (int i = 0; crowd && i < crowd->n; i++)
        if (crowd->all[i]->in.tables.file != base->in.tables.file ||
            crowd->all[i]->in.factors != base->in.factors)
            h = hash_table(h, &crowd->all[i]->in);
    return h;
}

static uint64_t hash_shots(uint64_t h, const nb_frames *f)
{
    const nb_spectra *s = &f->spectra;
    size_t n = (size_t)s->count;
    int random = f->series->orientations[0] && !f->missets;
    h = nb_hash_bytes(h, &random, sizeof random);
    h = nb_hash_bytes(h, f->missets, (size_t)f->n_missets * sizeof *f->missets);
    h = nb_hash_bytes(h, f->crystals,
                      f->crystals ? (size_t)f->n_missets * sizeof *f->crystals : 0);
    h = nb_hash_bytes(h, f->stream.crystal,
                      (size_t)f->stream.n * sizeof *f->stream.crystal);
    h = nb_hash_bytes(h, f->stream.first,
                      f->stream.images ? ((size_t)f->stream.images + 1) * sizeof(int) : 0);
    if (!n)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, s->first, (n + 1) * sizeof *s->first);
    return nb_hash_bytes(h, s->lines, s->first[n] * sizeof *s->lines);
}

/** The resolved base, which shares its texts, with the values that the series decides for all frames. */
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

/* The fingerprint of everything that changes a pixel of a frame: flags, and the contents of the files
 * that `base` has loaded.  Not the renderer, for processes that share a series. */
static uint64_t nb_fingerprint(const nb_sim *base, const nb_frames *frames)
{
    unsigned counts = what_counts(frames->series);
    const nb_config whole = whole_of(frames);
    uint64_t h = nb_hash_bytes(NB_HASH_START, NB_VERSION, strlen(NB_VERSION));
    h = hash_fields(h, &whole, 0, counts);
    h = hash_fields(h, frames->series, NB_PARAM_SERIES, counts);
    h = nb_hash_bytes(h, &frames->series->calls.override_tag,
                      sizeof frames->series->calls.override_tag);
    h = hash_crystals(hash_inputs(h, &base->in, base->model.scene.raster.pixels), base);
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

/** One of them: the vector renderer is named after its instruction set. */
static const char *renderer_of(const nb_sim_engine *engine)
{
    nb_isa isa;
    if (engine->backend == &nb_backend_simd &&
        !nb_cpu_choose(engine->options.isa, &isa, NULL))
        return nb_isa_name(isa);
    return engine->backend->name;
}

/* The renderer with which `hash` continues to `whole`; NULL: none, other things differ. */
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
    uint64_t first[2] = {mine, hash_renderer(mine, renderer_of(&run->base->engine))};
    const char *maker = fingerprint_maker(mine, earlier);
    nb_status st = NB_OK;
    if (maker && earlier != first[1] && nb_ranks_rank(run->ranks) == 0)
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
