/* SPDX-License-Identifier: MIT */
#include "noise.h"

#include <string.h>

#include "../base/threads.h"

#include "../physics/panels.h"
#include "near_pixel.h"
#include "noise_block.h"

/** Photons of a scene in a pixel of about `mean`. */
static double photons_in(const nb_scene *scene, size_t pixel, double mean)
{
    const nb_panel *panel = &scene->panels[nb_panel_of_pixel(scene, pixel)];
    const size_t at = pixel - panel->first_pixel, columns = (size_t)panel->columns;
    return nb_near_pixel(scene, panel, (int)(at % columns), (int)(at / columns), mean);
}

float nb_noise_exact(const nb_photons *photons, size_t pixel, float mean)
{
    const nb_mix *mix = &photons->mix;
    const uint8_t *mask = photons->scene->raster.mask;
    double sum;
    float exact;
    if (mask && !mask[pixel])
        return mean;
    sum = photons_in(photons->scene, pixel, mean);
    for (int i = 0; i < mix->n_more; i++)
        sum += photons_in(mix->more[i], pixel, mean);
    if (mix->absorb)
        sum = nb_mix_absorbed(mix, pixel, sum,
                              mix->rest ? photons_in(mix->rest, pixel, mean) : 0);
    exact = (float)(nb_mix_is_plain(mix) ? sum : nb_mix_pixel(mix, pixel, sum));
    return nb_noise_same(mean, exact, nb_mix_growth(mix, pixel, mean)) ? exact : mean;
}

void nb_noise_settle(const nb_photons *photons, nb_doubt *doubts, int64_t n)
{
    enum { MUCH = 100000 /* steps */ };
    const nb_scene *sc = photons->scene;
    const double steps = (double)n * sc->samples * sc->sensors->layers;
    const int use =
        steps * (1 + photons->mix.n_more) < MUCH ? 1 : nb_thread_count(photons->threads);
#pragma omp parallel for schedule(dynamic, 8) num_threads(use)
    for (int64_t i = 0; i < n; i++)
        doubts[i].exact = nb_noise_exact(photons, (size_t)doubts[i].pixel, doubts[i].mean);
    (void)use;
}

/** What the pixel's deviate is drawn from: its float, or if that leaves the deviate in doubt its
 * value in double. */
static float redrawn_mean(const nb_photons *photons, const nb_stage *stage, size_t pixel,
                          float mean)
{
    const nb_poisson_key key = {(uint64_t)stage->seed, pixel, stage->frame};
    int doubt;
    nb_poisson_doubt(mean, &key, stage->error * nb_mix_growth(&photons->mix, pixel, mean),
                     &doubt);
    return doubt ? nb_noise_exact(photons, pixel, mean) : mean;
}

double nb_noise_photons(const nb_photons *photons, const nb_stage *stage, size_t pixel)
{
    const nb_poisson_key key = {(uint64_t)stage->seed, pixel, stage->frame};
    float mean = photons->pixels[pixel];
    if (stage->error > 0)
        mean = redrawn_mean(photons, stage, pixel, mean);
    return nb_poisson(mean, &key);
}

/** A piece of an image, from one pixel to the right. */
typedef struct noise_run {
    const nb_product *product;
    size_t first;
    int count; /* <= NB_NOISE_BLOCK */
} noise_run;

/** Redraw the pixels of the run whose bits are set; returns how many more are clipped than
 * before. */
static int redraw(const noise_run *run, uint64_t doubts, uint16_t *out)
{
    const nb_product *p = run->product;
    const nb_stage *stage = &p->stage;
    int more = 0;
    for (; doubts; doubts &= doubts - 1) {
        int i = __builtin_ctzll(doubts), before, after;
        size_t pixel = run->first + (size_t)i;
        const nb_poisson_key key = {(uint64_t)stage->seed, pixel, stage->frame};
        float mean = p->photons->pixels[pixel], settled;
        if (i >= run->count)
            break;
        settled = redrawn_mean(p->photons, stage, pixel, mean);
        if (settled == mean)
            continue;
        nb_noise_adu(nb_poisson(mean, &key), p->adc_offset, &before);
        out[i] = nb_noise_adu(nb_poisson(settled, &key), p->adc_offset, &after);
        more += after - before;
    }
    return more;
}

/** Noise of a run; returns how many pixels were clipped. */
static int noisy_run(const noise_run *run, uint16_t *out)
{
    const nb_product *p = run->product;
    const nb_stage *stage = &p->stage;
    const nb_poisson_key key = {(uint64_t)stage->seed, run->first, stage->frame};
    const float *mean = p->photons->pixels + run->first;
    const double error =
        stage->error * nb_mix_growths(&p->photons->mix, run->first, run->count, mean);
    nb_noise_block_fn *block = p->photons->kernels->noise;
    float padded[NB_NOISE_BLOCK] = {0};
    uint16_t adu[NB_NOISE_BLOCK];
    uint64_t doubts;
    int clipped;
    if (run->count == NB_NOISE_BLOCK) {
        clipped = block(mean, &key, p->adc_offset, error, out, &doubts);
    } else {
        memcpy(padded, mean, (size_t)run->count * sizeof *mean);
        clipped = block(padded, &key, p->adc_offset, error, adu, &doubts);
        memcpy(out, adu, (size_t)run->count * sizeof *out);
        /* the padding's zeros are only clipped when the offset alone is above the limit */
        clipped = clipped < run->count ? clipped : run->count;
    }
    return doubts && stage->error > 0 ? clipped + redraw(run, doubts, out) : clipped;
}

int64_t nb_noise_rows(const nb_product *product, int first, int rows, uint16_t *out)
{
    const nb_raster *raster = &product->photons->scene->raster;
    size_t stride = (size_t)raster->columns;
    int64_t clipped = 0;
    for (int s = first; s < first + rows; s++, out += stride) {
        int whole = raster->roi.fmin == 0 && raster->roi.fmax == raster->columns - 1;
        int inside = s >= raster->roi.smin && s <= raster->roi.smax;
        if (!inside || !whole)
            memset(out, 0, stride * sizeof *out);
        for (int f = raster->roi.fmin; inside && f <= raster->roi.fmax;
             f += NB_NOISE_BLOCK) {
            int left = raster->roi.fmax - f + 1;
            const noise_run run = {product, (size_t)s * stride + (size_t)f,
                                   left < NB_NOISE_BLOCK ? left : NB_NOISE_BLOCK};
            clipped += noisy_run(&run, out + f);
        }
    }
    return clipped;
}
