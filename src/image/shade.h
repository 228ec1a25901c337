/* SPDX-License-Identifier: MIT */
/** The factors of all pixels of a detector, as nb_mix has them. */
#ifndef NB_IMAGE_SHADE_H
#define NB_IMAGE_SHADE_H

#include "../nanobragg.h"
#include "../physics/scene.h"
#include "../physics/shadow.h"

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

#endif
