/* SPDX-License-Identifier: MIT */
/* The vector renderer with a table of F for each wavelength of a spectrum beside one table for all:
 * whole renders in alternation; the first, which makes its tables of F^2, and the next of the same scene.
 *   tables_time [--repeats N] [--threads N] [--isa NAME] [--pixels N]
 * A markdown table: the least times and the median of the ratios. */
#include <stdio.h>
#include <time.h>

#include "base/cpu.h"
#include "render/request.h"
#include "render/simd.h"
#include "spectrum.h"
#include "median.h"

enum { MOST_REPEATS = 101 };

static const nb_spectrum_case cases[] = {
    {100, 100, 1024, 1, 1, 50}, {100, 100, 2048, 1, 1, 50},  {100, 100, 4096, 1, 1, 50},
    {100, 10, 2048, 1, 1, 50},  {100, 100, 1024, 10, 1, 50}, {20, 20, 2048, 1, 0.3, 80}};

typedef struct settings {
    int repeats, threads, pixels, all;
    const char *isa;
} settings;

static void stop(const char *what)
{
    fprintf(stderr, "tables_time: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/** Seconds of the first render and of the next. */
static void render(const nb_render_options *options, const nb_scene *sc, float *image,
                   double seconds[2])
{
    nb_backend_state *state;
    nb_error err;
    if (nb_backend_simd.open(options, &state, &err) != NB_OK)
        stop(err.message);
    for (int i = 0; i < 2; i++) {
        double start = now();
        if (nb_render_scene(&nb_backend_simd, state, sc, options->precision, image,
                            &err) != NB_OK)
            stop(err.message);
        seconds[i] = now() - start;
    }
    nb_backend_simd.close(state);
}

static void compare(const nb_spectrum_case *c, const nb_scene scenes[2],
                    const nb_render_options *options, int repeats, float *image)
{
    static const char *const precision[] = {"mixed", "single", "double"};
    double best[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}}, t[2][2];
    double ratio[MOST_REPEATS];
    render(options, &scenes[0], image, t[0]);
    for (int r = 0; r < repeats; r++) {
        for (int k = 0; k < 2; k++) {
            render(options, &scenes[k], image, t[k]);
            for (int i = 0; i < 2; i++)
                best[k][i] = fmin(best[k][i], t[k][i]);
        }
        ratio[r] = t[1][1] / t[0][1];
    }
    qsort(ratio, (size_t)repeats, sizeof *ratio, bench_by_value);
    printf("| %d | %d | %d | %d | %s | %s | %.1f | %.1f | %.3f | %.1f | %.3f | %.3f |\n",
           c->pixels, c->sources, c->domains, c->tables, nb_isa_name(options->isa),
           precision[options->precision], best[0][0] * 1e3, best[1][0] * 1e3,
           best[1][0] / best[0][0], best[1][1] * 1e3, best[1][1] / best[0][1],
           ratio[repeats / 2]);
    fflush(stdout);
}

static void run(const nb_spectrum_case *c, const settings *o)
{
    static const nb_isa sets[] = {NB_ISA_AVX512, NB_ISA_AVX2, NB_ISA_SSE2, NB_ISA_NEON};
    static nb_spectrum s;
    nb_model_inputs one;
    nb_model models[2];
    nb_scene scenes[2];
    nb_error err;
    float *image = malloc((size_t)c->pixels * c->pixels * sizeof *image);
    if (!image || !nb_spectrum_make(c, &s))
        stop("out of memory");
    one = s.inputs;
    one.table_of_source = NULL;
    one.table.n_tables = 1;
    if (nb_model_build(&s.cfg, &one, NULL, &models[0], &err) != NB_OK ||
        nb_model_build(&s.cfg, &s.inputs, NULL, &models[1], &err) != NB_OK)
        stop(err.message);
    for (int k = 0; k < 2; k++)
        scenes[k] = models[k].scene;
    for (int i = 0; i < 4; i++)
        for (int p = 0; p < (o->all ? 3 : 1) && nb_cpu_runs(sets[i]); p++) {
            nb_render_options options = {
                .threads = o->threads, .isa = sets[i], .precision = (nb_precision)p};
            if (!o->isa || strcmp(o->isa, nb_isa_name(sets[i])) == 0)
                compare(c, scenes, &options, o->repeats, image);
        }
    nb_model_free(&models[0]);
    nb_model_free(&models[1]);
    free(s.F);
    free(image);
}

int main(int argc, char **argv)
{
    settings o = {.repeats = 5, .threads = 1};
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--repeats") == 0)
            o.repeats = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--threads") == 0)
            o.threads = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--pixels") == 0)
            o.pixels = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--precisions") == 0)
            o.all = strcmp(argv[i + 1], "all") == 0;
        else if (strcmp(argv[i], "--isa") == 0)
            o.isa = argv[i + 1];
    if (o.repeats < 1 || o.repeats > MOST_REPEATS)
        stop("--repeats is 1 to 101");
    printf(
        "| pixels | sources | orientations | tables | set | precision | one table, ms | "
        "tables, ms | ratio | next render, ms | ratio | its median |\n| --- | --- | --- "
        "| --- | --- "
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!o.pixels || o.pixels == cases[i].pixels)
            run(&cases[i], &o);
    return 0;
}
