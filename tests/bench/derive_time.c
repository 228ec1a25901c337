/* SPDX-License-Identifier: MIT */
/* Time of derivatives beside the image alone, by the public calls, in alternation.
 *   derive_time [--repeats N] [--threads N] [--isa NAME]
 * A markdown table: least processor times of one thread's work, and the median of the ratios. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nanobragg.h"
#include "median.h"

enum { MOST_REPEATS = 101 };

typedef struct time_case {
    const char *name, *list;
    int heavy, pixels; /* heavy: a thousand steps a pixel; else one */
    const char *N;
} time_case;

#define CRYSTAL "rot,cell,N"
#define ALL                                                                              \
    "rot,cell,N,mosaic,phi,osc,lambda,dispersion,distance,Xbeam,Ybeam,tilt,shift,polar," \
    "fluence"
static const time_case cases[] = {{"orientation", "rot", 1, 256, "20"},
                                  {"cell, orientation, N", CRYSTAL, 1, 256, "20"},
                                  {"the same, N not whole", CRYSTAL, 1, 256, "20.3"},
                                  {"and mosaic, geometry, beam", ALL, 1, 256, "20"},
                                  {"one step a pixel", CRYSTAL, 0, 1024, "5"},
                                  {"one step, all", ALL, 0, 512, "5"}};

static void stop(const char *what)
{
    fprintf(stderr, "derive_time: %s\n", what);
    exit(1);
}

static void set(nb_config *cfg, const char *name, const char *text)
{
    nb_error err;
    if (nb_config_set(cfg, name, text, &err) != NB_OK)
        stop(err.message);
}

static nb_sim *simulation(const time_case *c, const char *threads, const char *isa)
{
    static const char *const heavy[][2] = {{"cell", "70 80 90 75 85 95"},
                                           {"misset", "10 20 30"},
                                           {"mosaic", "0.5"},
                                           {"mosaic_domains", "100"},
                                           {"dispersion", "1"},
                                           {"dispsteps", "10"},
                                           {"lambda", "1"}};
    static const char *const light[][2] = {{"cell", "100 100 100 90 90 90"},
                                           {"lambda", "6.2"}};
    static const char *const both[][2] = {
        {"default_F", "100"}, {"distance", "100"}, {"pixel", "0.1"}, {"oversample", "1"}};
    size_t n = c->heavy ? sizeof heavy / sizeof *heavy : sizeof light / sizeof *light;
    char pixels[20];
    nb_config cfg;
    nb_error err;
    nb_sim *sim;
    nb_config_defaults(&cfg);
    for (size_t i = 0; i < n; i++)
        set(&cfg, (c->heavy ? heavy : light)[i][0], (c->heavy ? heavy : light)[i][1]);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        set(&cfg, both[i][0], both[i][1]);
    snprintf(pixels, sizeof pixels, "%d", c->pixels);
    set(&cfg, "detpixels", pixels);
    set(&cfg, "N", c->N);
    set(&cfg, "threads", threads);
    set(&cfg, "device", "cpu");
    if (isa)
        set(&cfg, "isa", isa);
    if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK)
        stop(err.message);
    return sim;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const time_case *c, nb_sim *sim, int repeats)
{
    char(*names)[NB_VARIABLE_NAME];
    const char *list[NB_VARIABLES_MAX];
    double image = 1e9, slopes = 1e9, ratio[MOST_REPEATS];
    const size_t pixels = (size_t)c->pixels * (size_t)c->pixels;
    float *planes, *photons = malloc(pixels * sizeof *photons);
    nb_error err;
    int count;
    if (nb_sim_variables(sim, c->list, &names, &count, &err) != NB_OK)
        stop(err.message);
    planes = calloc(pixels * (size_t)count, sizeof *planes);
    if (!photons || !planes)
        stop("not enough memory");
    for (int i = 0; i < count; i++)
        list[i] = names[i];
    for (int i = 0; i < repeats; i++) {
        double t0 = now(), t1, t2;
        if (nb_sim_render(sim, photons, NULL, &err) != NB_OK)
            stop(err.message);
        t1 = now();
        if (nb_sim_derivatives(sim, list, count, NB_REAL_FLOAT32, planes, NULL, &err) !=
            NB_OK)
            stop(err.message);
        t2 = now();
        image = t1 - t0 < image ? t1 - t0 : image;
        slopes = t2 - t1 < slopes ? t2 - t1 : slopes;
        ratio[i] = (t2 - t1) / (t1 - t0);
    }
    qsort(ratio, (size_t)repeats, sizeof *ratio, bench_by_value);
    printf("| %s | %d | %d | %.2f | %.2f | %.2f |\n", c->name, count, c->pixels,
           1e3 * image, 1e3 * slopes, ratio[repeats / 2]);
    free(planes);
    free(photons);
    nb_free(names);
}

int main(int argc, char **argv)
{
    const char *threads = "1", *isa = NULL;
    int repeats = 11;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--repeats"))
            repeats = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--threads"))
            threads = argv[i + 1];
        else if (!strcmp(argv[i], "--isa"))
            isa = argv[i + 1];
        else
            stop("unknown option");
    if (argc % 2 == 0 || repeats < 1 || repeats > MOST_REPEATS)
        stop("usage: derive_time [--repeats N] [--threads N] [--isa NAME]");
    printf("| parameters | number | pixels along an edge | image, ms | derivatives, ms | "
           "ratio |\n"
           "| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_sim *sim = simulation(&cases[i], threads, isa);
        measure(&cases[i], sim, repeats);
        nb_sim_free(sim);
    }
    return 0;
}
