/* SPDX-License-Identifier: MIT */
/* Build the model of a configuration and its inputs. */

#include "../base/error.h"
#include "../params/params.h"
#include "advice.h"
#include "sim.h"

static nb_status check_memory(const nb_raster *raster, nb_error *err)
{
    double bytes = (double)raster->pixels * sizeof(float);
    if (bytes > 64e9)
        return nb_fail(err, NB_ERR_INPUT,
                       "-detpixels %d x %d: one image would be %.0f GB (limit 64)",
                       raster->columns, raster->rows, bytes / 1e9);
    return NB_OK;
}

nb_model_inputs nb_inputs_of_model(const nb_inputs *loaded, int64_t seed,
                                   const nb_displacement *moved, nb_scan_points *ends)
{
    const nb_amorphous_set *amorphous = &loaded->files->amorphous;
    nb_model_inputs in = {0};
    in.matrix = loaded->matrix.given ? loaded->matrix.at : NULL;
    in.matrix_lambda_A = loaded->matrix.lambda_A;
    in.scan = nb_matrix_scan(&loaded->matrix, &loaded->detector, ends);
    in.sources = loaded->lines;
    in.n_sources = loaded->n_lines;
    in.mask = nb_inputs_mask(loaded);
    in.amorphous = amorphous->tables.n > 0 ? amorphous : NULL;
    in.points = loaded->files->points;
    in.n_points = loaded->files->n_points;
    in.blocks = loaded->files->blocks.rotation;
    in.n_blocks = loaded->files->blocks.n;
    in.default_seed = seed;
    in.moved = moved && nb_is_displaced(moved) ? moved : NULL;
    return in;
}

/** Refuse -absorb box with several crystals: each crystal would need a separate box. */
static nb_status check_body(const nb_config *cfg, const nb_model *model, nb_error *err)
{
    if (!(cfg->crystals[0] || cfg->twin[0]) || !model->absorber.box ||
        !(model->absorber.mu > 0))
        return NB_OK;
    return nb_fail(
        err, NB_ERR_INPUT,
        "-absorb box with several -crystals: each would have a body of its own; "
        "type -absorb sphere");
}

nb_status nb_build_checked(const nb_config *cfg, const nb_model_inputs *in,
                           const nb_hooks *hooks, nb_model *model, nb_error *err)
{
    nb_status st = nb_model_build(cfg, in, hooks, model, err);
    if (st == NB_ERR_INPUT)
        nb_error_odd_unit(cfg, err);
    if (st)
        return st;
    if ((st = nb_check_model(cfg, model, err)) || (st = check_body(cfg, model, err)) ||
        (st = check_memory(&model->scene.raster, err)))
        nb_model_free(model);
    return st;
}

/** Make the diffuse light of a model, with the space group that the files of F name. */
static nb_status move(const nb_inputs *loaded, nb_model_inputs *in, nb_model *model,
                      nb_error *err)
{
    int8_t R[NB_SYMOPS_MAX][9];
    in->n_rotations = nb_factor_files_rotations(loaded->factors, R);
    in->rotations = (const int8_t(*)[9])R;
    return nb_model_move(in, model, err);
}

nb_status nb_inputs_build(nb_inputs *loaded, const nb_building *b, nb_model *model,
                          double *seconds, nb_error *err)
{
    const nb_config *cfg = b->cfg;
    nb_scan_points ends;
    double cell[6];
    nb_model_inputs in = nb_inputs_of_model(loaded, b->seed, b->moved, &ends);
    nb_status st;
    in.twin_part = b->twin_part;
    in.table = loaded->tables.box;
    in.table_of_source = loaded->tables.of_source;
    in.n_of_source = loaded->tables.n_of_source;
    in.table.default_F = NB_VALUE(cfg, default_F);
    st = nb_build_checked(cfg, &in, b->hooks, model, err);
    if (!st) {
        const double start = nb_monotonic_seconds();
        st = nb_inputs_make_factors(loaded, model, 0, b->hooks, err);
        *seconds += nb_monotonic_seconds() - start;
    }
    NB_TRY(nb_model_damage_tables(
        loaded->factors ? nb_factor_files_cell(loaded->factors, &model->crystal, cell)
                        : NULL,
        b->like, model, err));
    NB_TRY(move(loaded, &in, model, err));
    if (st)
        nb_model_free(model);
    else
        nb_ask(loaded, model, b->asker);
    return st;
}
