/* SPDX-License-Identifier: MIT */
/* A hash of the contents of loaded files. */
#include "../base/store.h"

#include <string.h>

#include "crystals.h"
#include "sim.h"

static uint64_t hash_table(uint64_t h, const nb_inputs *in)
{
    const nb_tables *tables = &in->tables;
    const nb_factor_file *t = tables->file;
    const int limits[] = {t->hmin, t->hmax, t->kmin, t->kmax, t->lmin, t->lmax};
    /* hash the files instead of F, whose last digits may depend on the machine */
    if (in->factors)
        return nb_hash_bytes(h, &in->factors->hash, sizeof in->factors->hash);
    if (!t->F)
        return nb_hash_bytes(h, "", 0);
    h = nb_hash_bytes(h, limits, sizeof limits);
    if (tables->of_source)
        h = nb_hash_bytes(h, tables->of_source,
                          (size_t)tables->n_of_source * sizeof *tables->of_source);
    return nb_hash_bytes(h, t->F, nb_table_values(&tables->box) * sizeof *t->F);
}

/** Hash the panels, vectors and scan of a detector file. */
static uint64_t hash_detector(uint64_t h, const nb_detector_spec *d)
{
    const nb_opt3 *vectors[] = {&d->beam, &d->polar_axis, &d->spindle};
    h = nb_hash_bytes(h, d->panels, (size_t)d->n_panels * sizeof *d->panels);
    for (int i = 0; i < 3; i++)
        h = nb_hash_bytes(h, vectors[i]->v, vectors[i]->set ? sizeof vectors[i]->v : 0);
    h = nb_hash_bytes(h, &d->scan.phi_deg, d->scan.n ? 2 * sizeof(double) : 0);
    h = nb_hash_array(h, d->scan.change, d->scan.n, sizeof *d->scan.change);
    h = nb_hash_array(h, d->scan.setting, d->scan.n, sizeof *d->scan.setting);
    return nb_hash_array(h, d->scan.beam, d->scan.n, sizeof *d->scan.beam);
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
    return files->gainmap ? nb_hash_bytes(h, files->gainmap, pixels * sizeof(float)) : h;
}

/** Hash the lines of -crystals, and the files that they name. */
static uint64_t hash_crystals(uint64_t h, const nb_sim *base)
{
    const struct nb_further_scenes *further = base->further;
    nb_crystal_lines *lines;
    if (nb_crystals_lines(&base->in, &base->typed, &lines, NULL))
        return h;
    for (int i = 0; lines && i < lines->n; i++)
        h = nb_hash_bytes(h, nb_crystal_line_text(lines, i),
                          strlen(nb_crystal_line_text(lines, i)) + 1);
    nb_shared_drop(lines);
    for (int i = 0; further && i < further->n; i++)
        if (further->all[i]->in.tables.file != base->in.tables.file ||
            further->all[i]->in.factors != base->in.factors)
            h = hash_table(h, &further->all[i]->in);
    return h;
}

uint64_t nb_sim_hash_files(uint64_t h, const nb_sim *sim)
{
    return hash_crystals(hash_inputs(h, &sim->in, sim->model.scene.raster.pixels), sim);
}
