/* SPDX-License-Identifier: MIT */
/* The vector renderer with a table of F for each wavelength of a spectrum, and with one
 * table for all; whole renders alternate. The first render of a scene makes the tables of
 * F^2; the next uses them. Prints a markdown table: the least times of both renders, and
 * the median of the ratios. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "lab.h"
#include "render/request.h"
#include "render/simd.h"
#include "../support/render.h"

enum { REPEATS = 101 };

static const lab_spectrum_case cases[] = {
    {100, 100, 1024, 1, 1, 50}, {100, 100, 2048, 1, 1, 50},  {100, 100, 4096, 1, 1, 50},
    {100, 10, 2048, 1, 1, 50},  {100, 100, 1024, 10, 1, 50}, {20, 20, 2048, 1, 0.3, 80}};

/** Render a scene twice: seconds of the first and of the next render. */
static void render(const nb_render_options *options, const nb_scene *sc, float *image,
                   double seconds[2])
{
    nb_backend_state *state;
    nb_error err;
    lab_need(nb_backend_simd.open(options, &state, &err), &err);
    for (int i = 0; i < 2; i++) {
        double start = lab_processor();
        lab_need(
            nb_render_scene(&nb_backend_simd, state, sc, options->precision, image, &err),
            &err);
        seconds[i] = lab_processor() - start;
    }
    nb_backend_simd.close(state);
}

static void compare(const lab_spectrum_case *c, const nb_model models[2],
                    const nb_render_options *options, int repeats, float *image)
{
    double best[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}}, t[2][2];
    double ratio[REPEATS];
    render(options, &models[0].scene, image, t[0]);
    for (int r = 0; r < repeats; r++) {
        for (int k = 0; k < 2; k++) {
            render(options, &models[k].scene, image, t[k]);
            for (int i = 0; i < 2; i++)
                best[k][i] = fmin(best[k][i], t[k][i]);
        }
        ratio[r] = t[1][1] / t[0][1];
    }
    printf("| %d | %d | %d | %d | %s | %.1f | %.1f | %.3f | %.1f | %.3f | %.3f |\n",
           c->pixels, c->sources, c->domains, c->tables, nb_isa_name(options->isa),
           best[0][0] * 1e3, best[1][0] * 1e3, best[1][0] / best[0][0], best[1][1] * 1e3,
           best[1][1] / best[0][1], lab_median(ratio, repeats));
    fflush(stdout);
}

static void run(const lab *l, const lab_spectrum_case *c)
{
    static const nb_isa sets[] = {NB_ISA_AVX512, NB_ISA_AVX2, NB_ISA_SSE2, NB_ISA_NEON};
    static lab_spectrum s;
    const int repeats = lab_repeats(l, 5) < REPEATS ? lab_repeats(l, 5) : REPEATS;
    nb_model_inputs one;
    nb_model models[2];
    nb_error err;
    float *image = lab_memory((size_t)c->pixels * c->pixels * sizeof *image);
    lab_spectrum_make(c, &s);
    one = lab_one_table(&s);
    lab_need(nb_model_build(&s.cfg, &one, NULL, &models[0], &err), &err);
    lab_need(nb_model_build(&s.cfg, &s.inputs, NULL, &models[1], &err), &err);
    for (int i = 0; i < 4; i++) {
        const nb_render_options options = {.threads = l->threads ? l->threads : 1,
                                           .isa = sets[i],
                                           .precision = NB_PRECISION_MIXED};
        if (nb_cpu_runs(sets[i]) && (!l->isa || !strcmp(l->isa, nb_isa_name(sets[i]))))
            compare(c, models, &options, repeats, image);
    }
    nb_model_free(&models[0]);
    nb_model_free(&models[1]);
    free(s.F);
    free(image);
}

int lab_tables(const lab *l)
{
    printf(
        "| pixels | sources | orientations | tables | set | one table, ms | tables, ms "
        "| ratio | next render, ms | ratio | its median |\n| --- | --- | --- | --- | "
        "--- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!l->pixels || l->pixels == cases[i].pixels)
            run(l, &cases[i]);
    return 0;
}
