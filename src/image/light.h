/* SPDX-License-Identifier: MIT */
/** The light after the point spread (NB_STAGE_SPREAD) of a whole image. */
#ifndef NB_IMAGE_LIGHT_H
#define NB_IMAGE_LIGHT_H

#include "../nanobragg.h"
#include "../physics/shadow.h"
#include "../physics/scene.h"
#include "photons.h"

typedef struct nb_light nb_light;

/** Make the light from photons in memory; stages[at] is the spread. The caller frees
 * *light, which needs photons->scene. NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no FFTW). */
nb_status nb_light_make(const nb_photons *photons, const nb_stage *stages, int at,
                        nb_light **light, nb_error *err);
void nb_light_free(nb_light *light); /* NULL is allowed */

/** Copy row `row` of the stack to out[columns of its panel]. Threads may call at once. */
void nb_light_row(const nb_light *light, int row, double *out);

/* --- Factors of all pixels of a detector, as in nb_mix --- */

typedef struct nb_shade {
    float *transmission; /* owned (free), [pixels], for nb_mix_factor; NULL: use file */
    int32_t *acts;       /* [2 rows] owned; as nb_mix.acts, or NULL for all pixels */
    /* [pixels] owned; mask that leaves out dark pixels, or NULL if few pixels are dark */
    uint8_t *lit;
    double max;        /* largest factor */
    int64_t dark, dim; /* rendered pixels with factor 0, and with factors below 0.5 */
    int all_dark;      /* 1: all rendered pixels are dark */
} nb_shade;

/** Make the factors of shadows (n may be 0) and a file (or NULL). Writes all of *out;
 * free it with nb_shade_free, after an error too. Errors: NB_ERR_NOMEM. */
nb_status nb_shade_make(const nb_shadow *shadow, const float *file, const nb_scene *scene,
                        int threads, nb_shade *out, nb_error *err);
void nb_shade_free(nb_shade *shade); /* The factors may be all zero. */

/* Transmission of a crystal: the mean over its body of exp(-mu (p_in + p_out)). */

/** Transmission of a sphere at an angle to the beam (rad); z: mu times the radius. */
double nb_sphere_transmission(double z, double two_theta);

/** Transmission of a box with half edges `half` (m) for light along the unit vector
 * `out`, in the frame of its edges; relative error 1e-9 if `fine`, else 1e-5. */
double nb_box_transmission(double mu, const double half[3], nb_vec3 beam, nb_vec3 out,
                           int fine);

/** Transmission at the middle of all pixels: plane[pixels] of the raster, least and
 * largest in range[2]. Relative error 1e-4 (sphere), 1e-3 (box). NB_ERR_NOMEM. */
nb_status nb_absorb_plane(const nb_absorber *body, const nb_scene *scene, int threads,
                          float *plane, double range[2], nb_error *err);

#endif
