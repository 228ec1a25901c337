/* SPDX-License-Identifier: MIT */
/* Microseconds that a small image takes beside its pixels: new values, a render, a pullback.
 *   host_time [-device cpu] [-detpixels 64] [-hkl FILE] [--repeats 201]
 * A markdown table of medians and least times.  With a device the renders leave the image there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "median.h"
#include "nanobragg.h"

enum { MOST_REPEATS = 10001, PARAMETERS = 9 };

static const char *const names[PARAMETERS] = {"misset_x", "misset_y", "misset_z",
                                              "cell_a",   "cell_b",   "cell_c",
                                              "N_a",      "N_b",      "N_c"};

typedef struct bench {
    nb_sim *sim;
    float *pixels;
    double values[PARAMETERS], gradient[PARAMETERS];
    nb_error err;
} bench;

static void hush(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static nb_status new_values(bench *b, int i)
{
    b->values[0] = 10 + i * 1e-3;
    return nb_sim_set_parameters(b->sim, names, b->values, PARAMETERS, &b->err);
}

static nb_status new_misset(bench *b, int i)
{
    char text[60];
    snprintf(text, sizeof text, "%g 20 30", 10 + i * 1e-3);
    return nb_sim_set(b->sim, "misset", text, &b->err);
}

static nb_status render(bench *b, int i)
{
    (void)i;
    return nb_sim_render(b->sim, b->pixels, NULL, &b->err);
}

static nb_status render_there(bench *b, int i)
{
    nb_device_image *image;
    nb_status st = nb_sim_render_device(b->sim, &image, NULL, &b->err);
    (void)i;
    nb_device_image_free(image);
    return st;
}

static nb_status values_and_render(bench *b, int i)
{
    nb_status st = new_values(b, i);
    return st ? st : render_there(b, i);
}

static nb_status pull(bench *b, int i)
{
    (void)i;
    return nb_sim_pullback(b->sim, names, PARAMETERS, NB_REAL_FLOAT32, b->pixels,
                           b->gradient, NULL, &b->err);
}

static nb_status all(bench *b, int i)
{
    nb_status st = values_and_render(b, i);
    return st ? st : pull(b, i);
}

static void stop(const char *what)
{
    fprintf(stderr, "host_time: %s\n", what);
    exit(1);
}

static void measure(bench *b, const char *name, nb_status (*work)(bench *, int),
                    int repeats)
{
    static double took[MOST_REPEATS];
    double middle;
    for (int i = -3; i < repeats; i++) { /* the first ones warm up */
        double start = nb_monotonic_seconds();
        if (work(b, i))
            stop(b->err.message);
        took[i < 0 ? 0 : i] = nb_monotonic_seconds() - start;
    }
    middle = bench_median(took, repeats); /* sorts */
    printf("| %s | %.1f | %.1f |\n", name, middle * 1e6, took[0] * 1e6);
}

static nb_sim *simulation(nb_config *cfg, int with_notices)
{
    const nb_hooks hooks = {.notice = hush};
    nb_sim *sim;
    nb_error err;
    if (nb_sim_create(cfg, with_notices ? &hooks : NULL, &sim, &err))
        stop(err.message);
    return sim;
}

static void set(nb_config *cfg, const char *name, const char *text)
{
    nb_error err;
    if (nb_config_set(cfg, name, text, &err))
        stop(err.message);
}

static int read_arguments(int argc, char **argv, nb_config *cfg)
{
    static const char *const scene[][2] = {{"cell", "70 80 90 90 90 90"},
                                           {"misset", "10 20 30"},
                                           {"N", "12"},
                                           {"lambda", "1"},
                                           {"distance", "100"},
                                           {"pixel", "0.1"},
                                           {"oversample", "1"},
                                           {"device", "cpu"},
                                           {"threads", "1"},
                                           {"detpixels", "64"}};
    int repeats = 201;
    nb_config_defaults(cfg);
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++)
        set(cfg, scene[i][0], scene[i][1]);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--repeats") == 0)
            repeats = atoi(argv[i + 1]);
        else
            set(cfg, argv[i] + strspn(argv[i], "-"), argv[i + 1]);
    }
    if (!cfg->hkl_file[0])
        set(cfg, "default_F", "100");
    return repeats < 1 ? 1 : repeats > MOST_REPEATS ? MOST_REPEATS : repeats;
}

int main(int argc, char **argv)
{
    static nb_config cfg;
    static bench b = {.values = {10, 20, 30, 70, 80, 90, 12, 11, 10}};
    int repeats = read_arguments(argc, argv, &cfg), fast, slow;
    for (int with_notices = 0; with_notices < 2; with_notices++) {
        b.sim = simulation(&cfg, with_notices);
        nb_sim_size(b.sim, &fast, &slow);
        if (!(b.pixels = calloc((size_t)fast * (size_t)slow, sizeof *b.pixels)))
            stop("not enough memory");
        if (render_there(&b, 0))
            stop(b.err.message);
        printf(
            "%s%d x %d, %s; %s\n\n| call | median, us | least, us |\n| --- | --- | --- "
            "|\n",
            with_notices ? "\n" : "", fast, slow, nb_sim_backend(b.sim),
            with_notices ? "notices are heard" : "nobody hears notices");
        measure(&b, "nb_sim_set, misset", new_misset, repeats);
        measure(&b, "nb_sim_set_parameters, nine", new_values, repeats);
        measure(&b, "nb_sim_render into memory", render, repeats);
        measure(&b, "nb_sim_render_device", render_there, repeats);
        measure(&b, "nine values, nb_sim_render_device", values_and_render, repeats);
        measure(&b, "nb_sim_pullback, nine", pull, repeats);
        measure(&b, "nine values, nb_sim_render_device, nb_sim_pullback", all, repeats);
        nb_sim_free(b.sim);
        free(b.pixels);
    }
    return 0;
}
