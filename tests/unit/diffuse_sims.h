/* SPDX-License-Identifier: MIT */
/** Crystals with diffuse light, and random numbers, for tests of diffuse light. */
#ifndef NB_TESTS_DIFFUSE_SIMS_H
#define NB_TESTS_DIFFUSE_SIMS_H

#include "../../src/base/fftw_lib.h"
#include "../../src/physics/diffuse.h"
#include "../../src/sim/sim.h"
#include "../support/check.h"
#include "../support/scenes.h"

static uint64_t random_state;

static inline double uniform(double from, double to)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return from + (to - from) * (double)(random_state >> 11) * 0x1p-53;
}

static inline double log_uniform(double from, double to)
{
    return exp(uniform(log(from), log(to)));
}

static inline void need_fftw(void)
{
    nb_error err;
    if (nb_fftw_need("a test", &err))
        skip_because("no FFTW");
}

/* -hkl is relative to golden_data/experiments. */
enum { CRYSTALS = 5 };
static const char *const crystals[CRYSTALS] = {
    "-hkl hkl/tri.hkl -cell 24 30 36 80 100 95",
    "-hkl hkl/tet.hkl -cell 32 32 40 90 90 90",
    "-hkl hkl/ort.hkl -cell 28 34 40 90 90 90 -sg P222",
    "-hkl hkl/tet.hkl -cell 32 32 40 90 90 90 -sg P4",
    "-hkl hkl/hex.hkl -cell 30 30 40 90 90 120 -sg P6"};

/** Sets flags; the name after -hkl is relative to golden_data/experiments. */
static inline void take_words(const char *words, nb_config *cfg)
{
    const char *source = getenv("NB_SOURCE");
    nb_config_defaults(cfg);
    nb_words(cfg, words);
    nb_put_text(&cfg->hkl_file, "%s/golden_data/experiments/%s", source ? source : ".",
                cfg->hkl_file);
    cfg->write_dump = 0;
    nb_put_text(&cfg->device, "cpu");
}

static inline nb_sim *make_sim(const char *words)
{
    nb_config cfg;
    nb_error err = {0};
    nb_sim *sim = NULL;
    take_words(words, &cfg);
    if (nb_sim_create(&cfg, NULL, &sim, &err))
        fail_msg("%s: %s", words, err.message);
    return sim;
}

static inline float *render(nb_sim *sim)
{
    int fast, slow;
    float *image;
    nb_error err = {0};
    nb_sim_size(sim, &fast, &slow);
    image = calloc((size_t)fast * (size_t)slow, sizeof *image);
    if (nb_sim_render(sim, image, NULL, &err))
        fail_msg("%s", err.message);
    return image;
}

static inline int chance(double p)
{
    return uniform(0, 1) < p;
}

#endif
