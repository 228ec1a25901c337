/* SPDX-License-Identifier: MIT */
/** The report of several pictures, each a line: JSON, or a part of a page for a browser. */
#ifndef NB_REFINE_PAGES_H
#define NB_REFINE_PAGES_H

#include "../nanobragg.h"

enum { NB_FIT_VIEWS = 3 /* measured, before, after */ };

/** What became of a picture; all is borrowed. */
typedef struct nb_fit_told {
    const nb_refine_frames *frames;
    int number;                  /* of the picture */
    const nb_sim *sim;           /* after the fit */
    const double *misset;        /* [3], of the start, rad */
    const nb_refinement *result; /* NULL: it failed; it is shown if it has `before` */
    const char *why;             /* it failed */
    const nb_refined *common;    /* [n_common], of all pictures; NULL: none */
    int n_common;
} nb_fit_told;

/** Is page_first to page_count possible?  Errors: NB_ERR_INPUT. */
nb_status nb_fit_pages_check(const nb_refine_frames *frames, const nb_sim *sim,
                             nb_error *err);
/** Is the report a page that shows picture k? */
int nb_fit_on_page(const nb_refine_frames *frames, const nb_sim *sim, int k);

/** The line of a picture, or NULL: it has none.  *line: nb_free.  Errors: NB_ERR_NOMEM, those of a page. */
nb_status nb_fit_told_line(const nb_fit_told *told, char **line, nb_error *err);
/** The last line of a page.  common: of a joint fit, or NULL.  *line: nb_free. */
nb_status nb_fit_page_end(const nb_refine_frames *frames, const nb_sim *sim,
                          const nb_refinement *common, char **line, nb_error *err);

#endif
