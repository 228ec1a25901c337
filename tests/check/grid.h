/* SPDX-License-Identifier: MIT */
/** Output of the threads of spot_grid.c and tile_grid.c. */
#ifndef NB_TESTS_CHECK_GRID_H
#define NB_TESTS_CHECK_GRID_H

#include "../../cuda/spots/spot_setup.h"

typedef struct check_grid {
    float *image;
    unsigned long long *sums;
    unsigned char *marks;
    size_t brightest; /* pixel of the last look */
} check_grid;

check_grid check_grid_new(const nb_scene *scene, float *image);
void check_grid_free(check_grid *grid);

/** Returns the image of the sums, which become 0, or the brightest pixel. */
void check_grid_finish(check_grid *grid, const nb_spot_pass *pass, double *brightest);

/** An nb_spot_runner. */
nb_status check_grid_run(void *context, const nb_spot_pass *pass, double *brightest,
                         nb_error *err);

#endif
