/* SPDX-License-Identifier: MIT */
/** Output of the threads of spot_grid.c and tile_grid.c. */
#ifndef NB_TESTS_CHECK_GRID_H
#define NB_TESTS_CHECK_GRID_H

#include "../../cuda/spots/spot_setup.h"

typedef struct check_grid {
    float *image;
    unsigned long long *sums;
    unsigned char *marks;
    size_t brightest; /* pixel that the last search found */
} check_grid;

check_grid check_grid_new(const nb_scene *scene, float *image);
void check_grid_free(check_grid *grid);

/** Makes the image of the sums; with `brightest` only raises *brightest. Clears sums. */
void check_grid_finish(check_grid *grid, const nb_spot_pass *pass, double *brightest);

/** Adds all items of a pass to the sums, then finishes; an nb_spot_runner. */
nb_status check_grid_run(void *context, const nb_spot_pass *pass, double *brightest,
                         nb_error *err);

#endif
