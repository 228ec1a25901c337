/* SPDX-License-Identifier: MIT */
#include "inputs.h"

#include <string.h>

#include "../base/error.h"
#include "../base/memory.h"
#include "../base/store.h"
#include "files.h"

static void free_files(void *object)
{
    nb_files *files = object;
    nb_detector_spec_free(&files->spec);
    nb_free(files->mask);
    nb_shared_drop(files->gainmap);
    nb_shared_drop(files->transmission);
    nb_shared_drop(files->add);
    nb_free(files->panel_gains);
    nb_fibres_free(files->fibres);
    nb_amorphous_set_free(&files->amorphous);
    nb_free(files->points);
    nb_blocks_free(&files->blocks);
}

nb_files *nb_files_new(nb_error *err)
{
    return nb_shared_new(sizeof(nb_files), free_files, "files", err);
}

nb_status nb_inputs_new(nb_inputs *in, nb_error *err)
{
    memset(in, 0, sizeof *in);
    in->store = nb_store_new(err);
    return in->store ? NB_OK : NB_ERR_NOMEM;
}

const uint8_t *nb_inputs_mask(const nb_inputs *in)
{
    return in->marked ? in->marked : in->files->mask;
}

void nb_inputs_key_file(nb_key *key, const nb_inputs *in, const char *name,
                        nb_array_kind kind)
{
    int i = 0;
    while (1 << i < (int)kind)
        i++;
    nb_key_file(key, in->store, name);
    if (!strncmp(name, "memory:", 7))
        nb_key_add(key, &in->array_id[i], sizeof in->array_id[i]);
}

nb_tables nb_tables_hold(const nb_tables *t)
{
    nb_shared_hold(t->file);
    nb_shared_hold(t->of_source);
    nb_shared_hold(t->waves);
    nb_shared_hold(t->listed);
    return *t;
}

void nb_tables_drop(nb_tables *t)
{
    nb_shared_drop(t->file);
    nb_shared_drop(t->of_source);
    nb_shared_drop(t->waves);
    nb_shared_drop(t->listed);
    memset(t, 0, sizeof *t);
}

/** Call a function for each shared object of the inputs except arrays and tables. */
static void each_shared(const nb_inputs *in, void (*call)(const void *object))
{
    const void *const all[] = {in->store,  in->panels,  in->files,
                               in->marked, in->sources, in->factors,
                               in->sums,   in->shade,   in->absorb};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        call(all[i]);
}

static void hold(const void *object)
{
    nb_shared_hold(object);
}

nb_inputs nb_inputs_hold(const nb_inputs *in)
{
    each_shared(in, hold);
    nb_arrays_hold(&in->arrays);
    nb_tables_hold(&in->tables);
    nb_tables_hold(&in->typed);
    return *in;
}

nb_inputs nb_inputs_share(const nb_inputs *old)
{
    nb_inputs in = {.store = old->store,
                    .arrays = old->arrays,
                    .panels = old->panels,
                    .panels_id = old->panels_id,
                    .marked = old->marked,
                    .light_threads = old->light_threads,
                    .limit = old->limit,
                    .typed = old->typed,
                    .shade = old->shade,
                    .absorb = old->absorb};
    memcpy(in.array_id, old->array_id, sizeof in.array_id);
    return nb_inputs_hold(&in);
}

void nb_inputs_drop(nb_inputs *in)
{
    nb_arrays_drop(&in->arrays, NB_ARRAYS_ALL);
    nb_tables_drop(&in->tables);
    nb_tables_drop(&in->typed);
    each_shared(in, nb_shared_drop);
    memset(in, 0, sizeof *in);
}

void nb_inputs_show(const nb_inputs *in, nb_config *cfg)
{
    if (cfg->detector)
        cfg->detector = &in->detector;
    if (cfg->arrays)
        cfg->arrays = &in->arrays;
}

void nb_inputs_show_typed(const nb_inputs *in, nb_config *typed)
{
    if (typed->detector)
        typed->detector = in->panels;
    if (typed->arrays)
        typed->arrays = &in->arrays;
}

static void free_sources(void *object)
{
    nb_source_list_free(object);
}

nb_status nb_source_list_share(nb_source_list *list, nb_source_list **out, nb_error *err)
{
    nb_source_list *own = nb_shared_new(sizeof *own, free_sources, "sources", err);
    if (own)
        *own = *list;
    else
        nb_source_list_free(list);
    *out = own;
    return own ? NB_OK : NB_ERR_NOMEM;
}

void nb_inputs_take_sources(nb_inputs *in, nb_source_list *list)
{
    nb_shared_drop(in->sources);
    in->sources = list;
    in->lines = list ? list->rows : NULL;
    in->n_lines = list ? list->count : 0;
    in->has_spectrum = 0;
}

void nb_inputs_give_spectrum(nb_inputs *in, const nb_source_line *lines, int n)
{
    nb_shared_drop(in->sources);
    in->sources = NULL;
    in->lines = lines;
    in->n_lines = n;
    in->has_spectrum = 1;
}

nb_crystal_inputs nb_crystal_inputs_of(const nb_settings *cfg, const nb_matrix *matrix,
                                       int64_t seed)
{
    return (nb_crystal_inputs){
        matrix->given ? matrix->at : NULL,
        matrix->lambda_A > 0 ? matrix->lambda_A : nb_beam_wavelength(cfg), seed};
}

const nb_scan_points *nb_matrix_scan(const nb_matrix *matrix,
                                     const nb_detector_spec *detector,
                                     nb_scan_points *ends)
{
    if (!matrix->given || (!matrix->has_ends && !matrix->of_detector))
        return NULL;
    if (!matrix->has_ends)
        return detector->scan.n > 0 ? &detector->scan : NULL;
    *ends = (nb_scan_points){.n = 2, .change = (double(*)[9])(uintptr_t)matrix->ends};
    return ends;
}

/* --- tables --- */

static void free_file(void *object)
{
    nb_factor_file_free(object);
}

nb_status nb_tables_new(nb_tables *t, nb_error *err)
{
    memset(t, 0, sizeof *t);
    t->file = nb_shared_new(sizeof *t->file, free_file, "structure factors", err);
    return t->file ? NB_OK : NB_ERR_NOMEM;
}

void nb_tables_describe(nb_tables *t, int n, const nb_table_run *extent)
{
    const nb_factor_file *f = t->file;
    t->box = (nb_factor_table){0};
    if (!f->F)
        return;
    t->box.F = f->F;
    t->box.hmin = f->hmin;
    t->box.kmin = f->kmin;
    t->box.lmin = f->lmin;
    t->box.nh = f->hmax - f->hmin + 1;
    t->box.nk = f->kmax - f->kmin + 1;
    t->box.nl = f->lmax - f->lmin + 1;
    t->box.n_tables = n;
    if (extent)
        nb_factor_table_take(&t->box, extent);
    else
        nb_factor_table_measure(&t->box);
}

nb_status nb_tables_replace_F(nb_tables *t, double *F, nb_error *err)
{
    nb_factor_file *file =
        nb_shared_new(sizeof *file, free_file, "structure factors", err);
    if (!file) {
        nb_free(F);
        return NB_ERR_NOMEM;
    }
    *file = *t->file;
    nb_shared_drop(t->file);
    t->file = file;
    t->box.F = file->F = F;
    nb_factor_table_measure(&t->box);
    return NB_OK;
}

nb_status nb_tables_put_typed(nb_tables *t, const nb_tables *typed, const nb_hooks *hooks,
                              nb_error *err)
{
    const nb_factor_table *from = &typed->box, *to = &t->box;
    const size_t n = nb_table_values(to);
    nb_status st;
    double *F;
    if (!typed->file || t->file == typed->file || t->typed_F)
        return NB_OK;
    if (nb_table_count(to) != 1 || !n) {
        nb_notice(hooks,
                  "each group of wavelengths has a table of structure factors now: the "
                  "F that were given as one array are gone");
        return NB_OK;
    }
    if (!(F = nb_alloc_raw(n, sizeof *F, "structure factors", err)))
        return NB_ERR_NOMEM;
    memcpy(F, to->F, n * sizeof *F);
    for (size_t i = 0; i < typed->n_listed; i++) {
        const size_t at = typed->listed[i], row = at / (size_t)from->nl;
        const int h = from->hmin + (int)(row / (size_t)from->nk) - to->hmin,
                  k = from->kmin + (int)(row % (size_t)from->nk) - to->kmin,
                  l = from->lmin + (int)(at % (size_t)from->nl) - to->lmin;
        if (h >= 0 && h < to->nh && k >= 0 && k < to->nk && l >= 0 && l < to->nl)
            F[((size_t)h * (size_t)to->nk + (size_t)k) * (size_t)to->nl + (size_t)l] =
                from->F[at];
    }
    if (!(st = nb_tables_replace_F(t, F, err)))
        t->typed_F = 1;
    return st;
}

static void free_waves(void *object)
{
    nb_waves_free(object);
}

nb_status nb_tables_take_waves(nb_tables *t, nb_waves *waves, nb_error *err)
{
    nb_waves *own = nb_shared_new(sizeof *own, free_waves, "wavelengths", err);
    if (!own)
        return NB_ERR_NOMEM;
    *own = *waves;
    own->of_source = NULL;
    waves->group = NULL;
    waves->f = NULL;
    nb_shared_drop(t->waves);
    t->waves = own;
    return NB_OK;
}

void nb_tables_sign(nb_tables *t, nb_factor_table *shown)
{
    nb_factor_table *own = &t->box;
    if (own->nh == 0 || shown->F != own->F || own->n_tables > 1)
        return;
    if (own->hash == 0)
        own->hash = nb_table_run_of(own->F, nb_table_values(own), 1).hash;
    shown->hash = own->hash;
}
