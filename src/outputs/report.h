/* SPDX-License-Identifier: MIT */
/** What is told of a simulation: its configuration and files as JSON, and the text of the report. */
#ifndef NB_OUTPUTS_REPORT_H
#define NB_OUTPUTS_REPORT_H

#include <stddef.h>

#include "../inputs/factors.h"
#include "../io/common/json_node.h"
#include "../nanobragg.h"
#include "../sim/sim.h"

/** Lists of any length in the configuration. */
typedef enum nb_config_lists { NB_LIST_SOURCES = 1, NB_LIST_PANELS = 2 } nb_config_lists;

/** The resolved configuration, into an object; lists: those that are added. */
void nb_sim_config_node(const nb_sim *sim, nb_config_lists lists, nb_json root);
/** What changes the crystal's light or adds to it: background, damage, absorb, shadow, spectrum, crystals, twin. */
void nb_sim_effects_node(const nb_sim *sim, nb_json root);
/** How the structure factors were made, under "structure_factors"; nothing when they are read. */
void nb_sim_factors_node(const nb_sim *sim, nb_json root);
/** Every parameter that differs from its default (typed, or from a header), without the names of
 * the files that are written. */
void nb_sim_parameters_node(const nb_sim *sim, nb_json root);

/** The spectrum of -spectrum; nothing without one. */
void nb_json_spectrum(nb_json root, const nb_spectrum *spectrum);

/* --- detector.panels of -show_config --- */

void nb_json_panels(nb_json detector, const nb_sim *sim);

/* --- the file of -report --- */

/** Of an image and its files, which are written; nothing when cfg names no file.  Errors: NB_ERR_IO,
 * NB_ERR_NOMEM. */
nb_status nb_report_write(const nb_sim *sim, const float *image, const nb_stats *stats,
                          nb_error *err);
/** A page of the image [slow][fast]; root: the report, which is deleted.  Errors: those of nb_image_page. */
nb_status nb_sim_page(const nb_sim *sim, const float *image, nb_json root, nb_error *err);

#define NB_PAGE_BYTES ((size_t)9600000) /* of its pixels, about */
extern const char nb_page_html[];       /* the page without data */

/** The data of a page as JSON without "<".  root: its members, as "title", "unit", "report", "command_line", "plots"
 * (src/tools/page.html), without the pixels and the geometry; it is deleted.  sim: whose
 * geometry the images have; NULL: their own.  most: bytes of the pixels, about.  *text: nb_free.  Errors: those of nb_image_page. */
nb_status nb_page_json(const nb_page_job *job, const nb_sim *sim, nb_json root,
                       size_t most, char **text, nb_error *err);
/** The page as a file. */
nb_status nb_page_write(const nb_page_job *job, const nb_sim *sim, nb_json root,
                        const char *path, nb_error *err);

/** The report of a complete series. */
nb_status nb_report_write_series(const nb_sim *base, const nb_series *series,
                                 const nb_series_progress *progress, nb_error *err);

/* --- text that is made of facts --- */

/** Add lines of facts.  {beam.sources} is the fact of that name, and {crystal.N.0} an item of a list.  A number has six digits;
 * {NAME:9} has nine, {NAME:.4} four after the point, {NAME:} those of JSON, and {NAME:%} is in percent.  {NAME?}, {NAME!},
 * {NAME=TEXT} and {NAME#TEXT} print nothing: the fact must be true, false or absent, equal, or another.  A line, and a part of
 * it in brackets, is printed if all its facts are there.  [@NAME|BETWEEN|PART] is a part for each item of a list, with the
 * facts of the item. */
void nb_report_lines(nb_draft *text, nb_json facts, const char *const *lines);

/** The text to *out (nb_free), or the error. */
nb_status nb_report_end(nb_draft *text, char **out, nb_error *err);
/** Write the text as a file, and free it.  what: the name of the text in messages.  Returns st or its own error. */
nb_status nb_draft_write(nb_draft *text, const char *path, const char *what, nb_status st,
                         nb_error *err);
/** Print a tree as a file that ends with `end`, and delete it. */
nb_status nb_json_file(nb_json root, const char *what, const char *path, const char *end,
                       nb_error *err);

/* --- what is said of structure factors --- */

/** Lines for a report; facts: those of nb_sim_factors_node, stats: of the first table. */
void nb_factor_sums_put(nb_draft *text, nb_json facts, const nb_factor_sums *sums,
                        const nb_settings *settings, const nb_waves *waves,
                        const nb_factor_stats *stats);

/** The lines alone, *report of the caller (nb_free). */
nb_status nb_factor_sums_report(const nb_factor_sums *sums, const nb_settings *settings,
                                const nb_waves *waves, const nb_factor_grid *grid,
                                char **report, nb_error *err);

#endif
