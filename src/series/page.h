/* SPDX-License-Identifier: MIT */
/** -report page.html of a series. */
#ifndef NB_SERIES_PAGE_H
#define NB_SERIES_PAGE_H

#include "../sim/sim.h"

/** Before any work: can the page be made of the files that the series writes?  Errors: NB_ERR_INPUT. */
nb_status nb_series_check_page(const nb_config *cfg, const nb_series *s, nb_error *err);

/** Are the frames of -page_frames made, and do they fit?  frames: of this run.  Errors: NB_ERR_INPUT. */
nb_status nb_series_check_page_frames(const nb_sim *base, const nb_series *s, int frames,
                                      nb_error *err);

/** Write the page of a complete series: the chosen frames from its files, and the lines of the report.  Errors: those of
 * nb_image_read and nb_image_page. */
nb_status nb_series_page(const nb_sim *base, const nb_series *s,
                         const nb_series_progress *result, nb_error *err);

#endif
