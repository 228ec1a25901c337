/* SPDX-License-Identifier: MIT */
/* Host time of calls with a small image, without the work of its pixels: new values, a
 * render, a pullback. A markdown table of medians and least times in us. Images of a
 * device stay there. Other words are flags of the scene, such as -hkl FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "lab.h"

enum { PARAMETERS = 9 };

static const char *const names[PARAMETERS] = {"misset_x", "misset_y", "misset_z",
                                              "cell_a",   "cell_b",   "cell_c",
                                              "N_a",      "N_b",      "N_c"};

typedef struct bench {
    nb_sim *sim;
    float *pixels;
    double values[PARAMETERS], gradient[PARAMETERS];
    nb_error err;
} host_bench;

static void ignore_notice(void *user, const char *line)
{
    (void)user;
    (void)line;
}

static nb_status new_values(host_bench *b, int i)
{
    b->values[0] = 10 + i * 1e-3;
    return nb_sim_set_parameters(b->sim, names, b->values, PARAMETERS, &b->err);
}

static nb_status new_misset(host_bench *b, int i)
{
    char text[60];
    snprintf(text, sizeof text, "%g 20 30", 10 + i * 1e-3);
    return nb_sim_set(b->sim, "misset", text, &b->err);
}

static nb_status render(host_bench *b, int i)
{
    (void)i;
    return nb_sim_render(b->sim, b->pixels, NULL, &b->err);
}

static nb_status render_there(host_bench *b, int i)
{
    nb_device_image *image;
    nb_status st = nb_sim_render_device(b->sim, &image, NULL, &b->err);
    (void)i;
    nb_device_image_free(image);
    return st;
}

static nb_status values_and_render(host_bench *b, int i)
{
    nb_status st = new_values(b, i);
    return st ? st : render_there(b, i);
}

static nb_status pull(host_bench *b, int i)
{
    (void)i;
    return nb_sim_pullback(b->sim, names, PARAMETERS, NB_REAL_FLOAT32, b->pixels,
                           b->gradient, NULL, &b->err);
}

static nb_status all(host_bench *b, int i)
{
    nb_status st = values_and_render(b, i);
    return st ? st : pull(b, i);
}

static void measure(host_bench *b, const char *name, nb_status (*work)(host_bench *, int),
                    int repeats)
{
    static double took[LAB_MAX_REPEATS];
    double middle;
    for (int i = -3; i < repeats; i++) { /* negative rounds do not count */
        double start = nb_monotonic_seconds();
        if (work(b, i))
            lab_stop(b->err.message);
        took[i < 0 ? 0 : i] = nb_monotonic_seconds() - start;
    }
    middle = lab_median(took, repeats); /* sorts took */
    printf("| %s | %.1f | %.1f |\n", name, middle * 1e6, took[0] * 1e6);
}

static nb_sim *simulation(const lab *l, int with_notices)
{
    const nb_hooks hooks = {.notice = ignore_notice};
    nb_config cfg = lab_config(
        "-cell 70 80 90 90 90 90 -misset 10 20 30 -N 12 -lambda 1 -distance 100 -pixel "
        "0.1 -oversample 1 -threads 1 -detpixels 64");
    nb_sim *sim;
    nb_error err;
    char words[100];
    snprintf(words, sizeof words, "-device %s -detpixels %d -threads %d", l->device,
             l->pixels ? l->pixels : 64, l->threads ? l->threads : 1);
    nb_words(&cfg, words);
    for (int i = 0; i + 1 < l->count; i += 2)
        lab_need(nb_config_set(&cfg, l->words[i] + strspn(l->words[i], "-"),
                               l->words[i + 1], &err),
                 &err);
    if (!cfg.hkl_file[0])
        cfg.default_F = 100;
    lab_need(nb_sim_create(&cfg, with_notices ? &hooks : NULL, &sim, &err), &err);
    return sim;
}

int lab_host(const lab *l)
{
    static host_bench b = {.values = {10, 20, 30, 70, 80, 90, 12, 11, 10}};
    const int repeats = lab_repeats(l, 201);
    nb_backend_state *state = lab_is_cuda(l) ? lab_open_cuda("host") : NULL;
    int fast, slow;
    if (lab_is_cuda(l) && !state)
        return 0;
    if (state)
        nb_backend_cuda.close(state);
    for (int with_notices = 0; with_notices < 2; with_notices++) {
        b.sim = simulation(l, with_notices);
        nb_sim_size(b.sim, &fast, &slow);
        b.pixels = lab_memory((size_t)fast * (size_t)slow * sizeof *b.pixels);
        memset(b.pixels, 0, (size_t)fast * (size_t)slow * sizeof *b.pixels);
        lab_need(render_there(&b, 0), &b.err);
        printf(
            "%s%d x %d, %s; %s\n\n| call | median, us | least, us |\n| --- | --- | --- "
            "|\n",
            with_notices ? "\n" : "", fast, slow, nb_sim_backend(b.sim),
            with_notices ? "with notices" : "without notices");
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
