/* SPDX-License-Identifier: MIT */
#include "stages.h"

#include <math.h>
#include <string.h>

#include "../physics/panels.h"
#include "image.h"
#include "noise_block.h"

nb_stack_row nb_stack_row_of(const nb_scene *scene, int row)
{
    int k = nb_panel_of_row(scene, row);
    const nb_panel *panel = &scene->panels[k];
    nb_region lit = nb_panel_region(scene, panel);
    int s = row - panel->first_row;
    nb_stack_row r = {k, nb_panel_pixel(panel, 0, s), panel->columns, 0, 0};
    if (s >= lit.smin && s <= lit.smax && lit.fmin <= lit.fmax) {
        r.first = lit.fmin;
        r.end = lit.fmax + 1;
    }
    return r;
}

int nb_stage_at(const nb_stage *stages, int n, nb_stage_kind kind)
{
    for (int i = 0; i < n; i++)
        if (stages[i].kind == kind)
            return i;
    return -1;
}

void nb_piece_load(const nb_stage_piece *piece, double *v)
{
    const float *from = piece->photons->pixels + piece->pixel;
    const uint8_t *mask = piece->photons->scene->raster.mask;
    for (int i = 0; i < NB_PIECE; i++)
        v[i] = i < piece->count ? from[i] : 0;
    for (int i = 0; mask && i < piece->count; i++)
        if (!mask[piece->pixel + (size_t)i])
            v[i] = 0;
}

void nb_light_counts(const nb_light_source *source, int row, double *n)
{
    const nb_photons *photons = source->photons;
    const nb_stack_row r = nb_stack_row_of(nb_photons_stack(photons), row);
    memset(n, 0, (size_t)r.columns * sizeof *n);
    for (int f = r.first; f < r.end; f += NB_PIECE) {
        int left = r.end - f;
        const nb_stage_piece piece = {photons, r.start + (size_t)f,
                                      left < NB_PIECE ? left : NB_PIECE, r.panel};
        double v[NB_PIECE];
        nb_piece_load(&piece, v);
        nb_piece_apply(&piece, source->stages, 0, source->n, 0, v);
        memcpy(n + f, v, (size_t)piece.count * sizeof *v);
    }
}

_Static_assert((int)NB_PIECE == (int)NB_NOISE_BLOCK, "the kernels' blocks");

static void apply_one(const nb_stage_piece *piece, const nb_stage *stage, double adc,
                      double *v)
{
    const nb_image_kernels *kernels = piece->photons->kernels;
    const nb_poisson_key key = {(uint64_t)stage->seed, piece->pixel, stage->frame};
    const double gain = stage->of_panels ? stage->of_panels[piece->panel] : stage->amount;
    double drawn[NB_PIECE];
    switch (stage->kind) {
    case NB_STAGE_FLICKER:
    case NB_STAGE_DEADTIME:
        for (int i = 0; i < NB_PIECE; i++)
            v[i] = nb_mean_behind(stage, 1, v[i]);
        return;
    case NB_STAGE_POISSON:
        kernels->counts(v, &key, drawn);
        memcpy(v, drawn, sizeof drawn);
        return;
    case NB_STAGE_CALIBRATION:
        kernels->normals(&key, NB_STREAM_CALIBRATION, drawn);
        for (int i = 0; i < NB_PIECE; i++)
            v[i] = nb_calibrated(v[i], stage->amount, drawn[i]);
        return;
    case NB_STAGE_GAINMAP:
        for (int i = 0; i < piece->count; i++)
            v[i] = v[i] * stage->map[piece->pixel + (size_t)i];
        return;
    case NB_STAGE_GAIN:
        for (int i = 0; i < NB_PIECE; i++)
            v[i] = gain * v[i] + adc;
        return;
    case NB_STAGE_READOUT:
        kernels->normals(&key, NB_STREAM_READOUT, drawn);
        for (int i = 0; i < NB_PIECE; i++)
            v[i] = v[i] + stage->amount * drawn[i];
        return;
    default: /* a stage that was refused before, or that does not act on single pixels */
        return;
    }
}

void nb_piece_apply(const nb_stage_piece *piece, const nb_stage *stages, int from, int to,
                    double adc, double *v)
{
    for (int i = from; i < to; i++)
        apply_one(piece, &stages[i], adc, v);
}

double nb_flicker_factor(int64_t seed, uint32_t frame, double rms)
{
    const nb_poisson_key key = {(uint64_t)seed, 0, frame};
    double factor = 1 + rms * nb_normal(&key, NB_STREAM_FLICKER);
    return factor > 0 ? factor : 0;
}
