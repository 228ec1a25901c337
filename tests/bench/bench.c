/* SPDX-License-Identifier: MIT */
/* Times parts of the library and devices. This driver has a table of all cases.
 *
 *   bench                    list the cases
 *   bench all                run all cases that need no other words, one after the other
 *   bench CASE [-device cpu|cuda] [-repeats N] [-threads N] [-isa NAME] [-pixels N] [WORDS]
 *
 * Times are the least or the median of repeats; compared calls alternate.  If the device of
 * a case is missing, the case prints `skip` with the reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab.h"

typedef struct lab_row {
    const char *name, *words, *what;
    int (*run)(const lab *l);
    int alone; /* 1: `bench all` does not run it */
} lab_row;

static const lab_row rows[] = {
    {"kernels", "", "each version of the vector renderer: ns a step, errors", lab_kernels,
     0},
    {"errors", "", "errors of these versions by the number of cells", lab_errors, 0},
    {"sensor", "", "layers at their mean depth beside layers at their front", lab_sensor,
     0},
    {"tables", "", "a table of F for each wavelength beside one for all", lab_tables, 0},
    {"noise", "", "stages of a detector's noise, 4096 x 4096 pixels", lab_noise, 0},
    {"derive", "[TEXT]", "derivatives beside the image, rows that contain TEXT",
     lab_derive, 0},
    {"host", "[FLAGS]", "what small calls take beside their pixels", lab_host, 0},
    {"resolve", "", "from a record to a configuration; fails above 100 us", lab_resolve, 0},
    {"choose", "[DOMAINS...]", "what -device auto believes of the CPU", lab_choose, 0},
    {"sweep", "[COUNT] [SEED] [SHAPE]", "whether a tolerance ever makes a render slower",
     lab_sweep, 0},
    {"factors", "MODEL DMIN [direct|fft] [K_SOL]", "structure factors of a model",
     lab_factors, 1},
    {"device", "[TEXT|errors]", "kernels and calls of a GPU, cases that contain TEXT",
     lab_device, 0},
    {"spots", "[TEXT]", "images from reflections beside every step", lab_spots, 0},
    {"panels", "[tricubic]", "pairs on a GPU: panels, tricubic F", lab_panels, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int list(void)
{
    for (int i = 0; i < ROWS; i++)
        printf("%-8s %-32s %s\n", rows[i].name, rows[i].words, rows[i].what);
    return 0;
}

/** Reads the flags that every case has; other words belong to the case. */
static lab read_words(int argc, char **argv)
{
    lab l = {.device = "cpu", .words = argv};
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        int *number = name == argv[i]            ? NULL
                      : !strcmp(name, "repeats") ? &l.repeats
                      : !strcmp(name, "threads") ? &l.threads
                      : !strcmp(name, "pixels")  ? &l.pixels
                                                 : NULL;
        if (number && i + 1 < argc)
            *number = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-device") && i + 1 < argc)
            l.device = argv[++i];
        else if (!strcmp(argv[i], "-isa") && i + 1 < argc)
            l.isa = argv[++i];
        else
            l.words[l.count++] = argv[i];
    }
    return l;
}

static int run(const lab_row *row, int argc, char **argv)
{
    const lab l = read_words(argc, argv);
    printf("# %s: %s\n", row->name, row->what);
    fflush(stdout);
    return row->run(&l) != 0;
}

int main(int argc, char **argv)
{
    int failed = 0, known = 0;
    if (argc < 2)
        return list();
    for (int i = 0; i < ROWS; i++)
        if (!strcmp(argv[1], "all") ? !rows[i].alone : !strcmp(argv[1], rows[i].name)) {
            known = 1;
            failed |= run(&rows[i], argc - 2, argv + 2);
        }
    if (!known)
        lab_stop("no such case; bench without words lists them");
    return failed;
}
