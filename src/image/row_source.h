/* SPDX-License-Identifier: MIT */
/** Rows of an image that a renderer makes when a pass over them wants them, while they are still in a cache. */
#ifndef NB_IMAGE_ROW_SOURCE_H
#define NB_IMAGE_ROW_SOURCE_H

typedef struct nb_row_source {
    /** n pixels of a panel's row, from column `fast` on; 0 where nothing is rendered.  From any of the threads. */
    void (*row)(void *rows, int panel, int slow, int fast, int n, float *to);
    void *rows;
    int threads;
} nb_row_source;

#endif
