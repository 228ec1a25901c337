/* SPDX-License-Identifier: MIT */
/** Pictures and pages of a finished fit. */
#ifndef NB_FIT_SHOWN_H
#define NB_FIT_SHOWN_H

#include "../nanobragg.h"

/** A spot of the model. */
typedef struct nb_shown_spot {
    int pixel[2]; /* its brightest one: fast, slow, of the stack */
    int hkl[3];
    double model, observed; /* photons in this pixel */
    double chi2;            /* sum of (observed - model)^2/sigma^2 around it */
} nb_shown_spot;

/** What is shown of a fit; all is borrowed.  Arrays are [slow][fast]. */
typedef struct nb_shown_fit {
    int fast, slow;
    const float *observed, *model,
        *residual;         /* photons, photons, sigma; NaN: not observed */
    const float *before;   /* the model of the start; of pages */
    const float *stol;     /* sin theta/lambda, 1/A */
    const uint8_t *used;   /* pixels of the last stage */
    const uint8_t *masked; /* 1 file, 2 saturated, 3 hot, 4 shadow, 5 ring, 6 foreign */
    const nb_shown_spot *spots; /* [n_spots], the brightest first */
    int n_spots;
    const double *history; /* [n_history], the loss a pixel at each evaluation */
    int n_history;
} nb_shown_fit;

/** Write spots.png, residuals.png, resolution.png, loss.png and masked.png into a new folder.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM, NB_ERR_UNSUPPORTED (no libpng). */
nb_status nb_fit_plots(const nb_shown_fit *fit, const char *folder, nb_error *err);

/** Texts of a page. */
typedef struct nb_shown_texts {
    const char *title, *report, *flags, *command;
} nb_shown_texts;

/** Where a page goes: into the file `path`, or as the elements of picture `number` into *part (nb_free), of about `bytes`. */
typedef struct nb_shown_place {
    const char *path; /* NULL: a part */
    int number;
    size_t bytes;
    char **part;
} nb_shown_place;

/** The picture, the model before and after, spots and plots for a browser.  sim: after the fit.  Errors: those of
 * nb_image_page. */
nb_status nb_fit_page(const nb_sim *sim, const nb_shown_fit *fit,
                      const nb_shown_texts *texts, const nb_shown_place *place,
                      nb_error *err);

#endif
