/* SPDX-License-Identifier: MIT */
/** Configurations, rendered images and files for the tests. These functions do
 * not fail a test; those of check.h do. */
#ifndef NB_TESTS_PICTURE_H
#define NB_TESTS_PICTURE_H

#include <stddef.h>
#include <string.h>

#include "../../src/params/params.h"

/** A rendered image and its simulation, both owned. */
typedef struct nb_picture {
    int fast, slow;
    size_t n;
    float *pixels; /* [slow][fast] */
    nb_stats stats;
    nb_sim *sim;
} nb_picture;

/** Defaults without output files, for the scalar renderer. NB_TEST_ISA=auto in the
 * environment chooses vectors in double precision, which must give the same results. */
nb_config nb_test_config(void);

/** Configuration of the AT-PARALLEL suite: F 100, cubic cell of 100 A, pixel 0.1 mm,
 * distance 100 mm, MOSFLM, oversample 1. N: cells along each axis; pixels: pixels along
 * each edge. */
nb_config nb_suite_config(double lambda_A, int N, int pixels);

/** Defaults of the library. */
nb_series nb_test_series(void);

/* These functions set texts that live as long as the process, because plain copies of a
 * configuration share the texts. Lack of memory ends the process. */

/** As nb_config_set. */
nb_status nb_put(nb_config *cfg, const char *name, const char *text, nb_error *err);
/** As nb_text_put. */
void nb_put_text(nb_text *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** The path of a file in golden_data. */
void nb_put_golden(nb_text *to, const char *name);
/** The path of a scratch file of this process. */
void nb_put_scratch(nb_text *to, const char *name);

/** True if both have the same bytes and the same texts. */
static inline int nb_same_config(const nb_config *a, const nb_config *b)
{
    nb_config as;
    size_t count;
    const nb_param *p = nb_params(&count);
    memcpy(&as, a, sizeof as);
    for (size_t i = 0; i < count; i++)
        if (nb_param_is_text(&p[i]) && !(p[i].flags & NB_PARAM_SERIES) &&
            nb_param_same(&p[i], a, b))
            memcpy((char *)&as + p[i].offset, (const char *)b + p[i].offset, p[i].size);
    return !memcmp(&as, b, sizeof as);
}

void nb_set_N(nb_config *cfg, int N);
void nb_set_pixels(nb_config *cfg, int fast, int slow);
void nb_set_cell(nb_config *cfg, double a, double b, double c, double alpha, double beta,
                 double gamma);
void nb_set_beam(nb_config *cfg, double Xbeam_mm, double Ybeam_mm);
void nb_set_misset(nb_config *cfg, double x_deg, double y_deg, double z_deg);
void nb_set_rotations(nb_config *cfg, double x_deg, double y_deg, double z_deg);
void nb_set_vector(nb_opt3 *vector, double x, double y, double z);

/** Creates and renders. On error the picture is zero. */
nb_status nb_picture_render(const nb_config *cfg, nb_picture *picture, nb_error *err);
void nb_picture_free(nb_picture *picture);

/** Pearson correlation; NaN when an image is constant. */
double nb_correlation(const float *a, const float *b, size_t n);
/** max|a - b| / max(b); NaN when a pixel is not finite. */
double nb_max_difference(const float *a, const float *b, size_t n);

/** Path of a file in golden_data. */
void nb_golden_path(char path[NB_PATH_MAX], const char *name);

/** A path for a scratch file of this process. */
void nb_scratch_path(char path[NB_PATH_MAX], const char *name);
/** Writes these bytes; 0 on failure. */
int nb_scratch_write(const char *path, const void *data, size_t bytes);
/** The whole file (malloc, NUL added); NULL when the file is missing. */
char *nb_file_bytes(const char *path, size_t *bytes);

#endif
