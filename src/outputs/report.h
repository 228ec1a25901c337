/* SPDX-License-Identifier: MIT */
/** Configuration and files of a simulation as JSON, and the text of the report. */
#ifndef NB_OUTPUTS_REPORT_H
#define NB_OUTPUTS_REPORT_H

#include <stddef.h>

#include "../inputs/factors.h"
#include "../io/common/json_node.h"
#include "../nanobragg.h"
#include "../sim/sim.h"

/** Lists of any length in the configuration. */
typedef enum nb_config_lists { NB_LIST_SOURCES = 1, NB_LIST_PANELS = 2 } nb_config_lists;

/** Add the resolved configuration to an object; lists: the lists that are added. */
void nb_sim_config_node(const nb_sim *sim, nb_config_lists lists, nb_json root);
/** Add effects on light: background, damage, absorb, shadow, spectrum, crystals, twin. */
void nb_sim_effects_node(const nb_sim *sim, nb_json root);
/** Add "structure_factors", which describes how F were made. Add nothing if F are used as
 * read. */
void nb_sim_factors_node(const nb_sim *sim, nb_json root);
/** Add every parameter that differs from its default (typed, or from a header), without
 * the names of output files. */
void nb_sim_parameters_node(const nb_sim *sim, nb_json root);

/** Add the spectrum of -spectrum, if any. */
void nb_json_spectrum(nb_json root, const nb_spectrum *spectrum);

/* --- detector.panels of -show_config --- */

void nb_json_panels(nb_json detector, const nb_sim *sim);

/* --- the file of -report --- */

/** Write -report, if typed, for an image and its files.  Errors: NB_ERR_IO, _NOMEM. */
nb_status nb_report_write(const nb_sim *sim, const float *image, const nb_stats *stats,
                          nb_error *err);
/** Write a page of image[slow][fast]; delete root, its report. Errors: nb_image_page. */
nb_status nb_sim_page(const nb_sim *sim, const float *image, nb_json root, nb_error *err);

#define NB_PAGE_BYTES ((size_t)9600000) /* approximate size of a page's pixels */
extern const char nb_page_html[];       /* the page without data */

/** Print the data of a page as JSON without "<". root: further members of the data, such as
 * "title", "report", "plots" (see src/tools/page.html); this function deletes root. sim:
 * simulation with the geometry of the images, or NULL. limit: approximate number of bytes
 * of pixels. The caller frees *text. Errors: as nb_image_page. */
nb_status nb_page_json(const nb_page_job *job, const nb_sim *sim, nb_json root,
                       size_t limit, char **text, nb_error *err);
/** Write the page as a file. */
nb_status nb_page_write(const nb_page_job *job, const nb_sim *sim, nb_json root,
                        const char *path, nb_error *err);

/** Write the report of a complete series. */
nb_status nb_report_write_series(const nb_sim *base, const nb_series *series,
                                 const nb_series_progress *progress, nb_error *err);

/* --- text from facts --- */

/** Add lines that contain facts.
 *
 *   {beam.sources}   a fact; numbers have six digits
 *   {crystal.N.0}    the first item of a list
 *   {NAME:9}         a number with nine digits
 *   {NAME:.4}        a number with four digits after the point
 *   {NAME:}          a number with the digits that JSON needs
 *   {NAME:%}         a number in percent
 *   {NAME?}          prints nothing; tests that the fact is true
 *   {NAME!}          prints nothing; tests that the fact is false or absent
 *   {NAME=TEXT}      prints nothing; tests that the fact equals TEXT
 *   {NAME#TEXT}      prints nothing; tests that the fact differs from TEXT
 *
 * A line, or a part in brackets, is left out if a fact is absent or a test fails.
 * [@NAME|BETWEEN|PART] repeats PART for each item of a list, with the facts of the item,
 * and prints BETWEEN between the parts. */
void nb_report_lines(nb_draft *text, nb_json facts, const char *const *lines);

/** Move the text to *out (nb_free), or return the error. */
nb_status nb_report_end(nb_draft *text, char **out, nb_error *err);
/** Write and free the text. what: name of the file in messages. Returns st, or a new
 * error. */
nb_status nb_draft_write(nb_draft *text, const char *path, const char *what, nb_status st,
                         nb_error *err);
/** Write a tree as a JSON file that ends with `end`; delete the tree. */
nb_status nb_json_file(nb_json root, const char *what, const char *path, const char *end,
                       nb_error *err);

/* --- structure factors in reports --- */

/** Add lines on F to a report. facts: those of nb_sim_factors_node; stats: statistics of
 * table 0. */
void nb_factor_sums_put(nb_draft *text, nb_json facts, const nb_factor_sums *sums,
                        const nb_settings *settings, const nb_waves *waves,
                        const nb_factor_stats *stats);

/** Make a report with only the lines on F; the caller frees *report (nb_free). */
nb_status nb_factor_sums_report(const nb_factor_sums *sums, const nb_settings *settings,
                                const nb_waves *waves, const nb_factor_grid *grid,
                                char **report, nb_error *err);

#endif
