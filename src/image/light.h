/* SPDX-License-Identifier: MIT */
/** The light behind the point spread: NB_STAGE_SPREAD and the stages before it, of a whole image. */
#ifndef NB_IMAGE_LIGHT_H
#define NB_IMAGE_LIGHT_H

#include "../nanobragg.h"
#include "../physics/shadow.h"
#include "../physics/scene.h"
#include "stages.h"

typedef struct nb_light nb_light;

/** Of photons in memory; stages[at] is the spread.  *light is the caller's (nb_light_free) and needs
 * photons->scene.  Errors: NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (the fibre function without FFTW). */
nb_status nb_light_make(const nb_photons *photons, const nb_stage *stages, int at,
                        nb_light **light, nb_error *err);
void nb_light_free(nb_light *light); /* NULL is fine */

/** Row `row` of the stack into out[columns of its panel]. Several threads may ask at once. */
void nb_light_row(const nb_light *light, int row, double *out);

/* --- The factors of all pixels of a detector, as nb_mix has them --- */

typedef struct nb_shade {
    float *transmission; /* [pixels] owned (free); as nb_mix_factor reads them; NULL: those of the file */
    int32_t *acts; /* [2 rows] owned; as nb_mix.acts; NULL: everywhere */
    uint8_t *lit; /* [pixels] owned; the mask without dark pixels; NULL: hardly any is dark */
    double most;       /* largest factor */
    int64_t dark, dim; /* rendered pixels of factor 0, and below 0.5 */
    int all_dark;      /* all that are rendered */
} nb_shade;

/** Of shadows and a file's factors, either of which may be missing (n = 0, NULL).  *out is written whole;
 * nb_shade_free, after an error too.  Errors: NB_ERR_NOMEM. */
nb_status nb_shade_make(const nb_shadow *shadow, const float *file, const nb_scene *scene,
                        int threads, nb_shade *out, nb_error *err);
void nb_shade_free(nb_shade *shade); /* zeroed is fine */

/* What a crystal lets through of its own light: the mean over its body of exp(-mu (p_in + p_out)). */

/** Of a sphere at this angle to the beam (rad), z = mu times the radius. */
double nb_sphere_transmission(double z, double two_theta);

/** Of a box for light that goes on along `out`, unit; the directions are in the frame of its edges.  To 1e-9 of it when
 * `fine`, or to 1e-5. */
double nb_box_transmission(double mu, const double half[3], nb_vec3 beam, nb_vec3 out,
                           int fine);

/** Of all pixels at their middles: plane[pixels] of the scene's raster, and in range[2] the least and the largest.
 * It is interpolated, to 1e-4 of it for a sphere and 1e-3 for a box.  Errors: NB_ERR_NOMEM. */
nb_status nb_absorb_plane(const nb_absorber *body, const nb_scene *scene, int threads,
                          float *plane, double range[2], nb_error *err);

#endif
