/* SPDX-License-Identifier: MIT */
/** What is said of structure factors. */
#ifndef NB_API_FACTOR_REPORT_H
#define NB_API_FACTOR_REPORT_H

#include "factors.h"
#include "report_text.h"

/** Lines for a report; stats: of the first table. */
void nb_factor_maker_put(nb_report_text *text, const nb_factor_maker *maker,
                         const nb_waves *waves, const nb_factor_stats *stats);

/** The lines alone, *report of the caller (nb_free). */
nb_status nb_factor_maker_report(const nb_factor_maker *maker, const nb_waves *waves,
                                 const nb_factor_grid *grid, char **report, nb_error *err);

#endif
