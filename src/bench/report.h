/* SPDX-License-Identifier: MIT */
/** The report: results.json, summary.md, plots. */
#ifndef NB_BENCH_REPORT_H
#define NB_BENCH_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "folder.h"

/** Write all of it into f->part. Errors: NB_ERR_IO, NB_ERR_NOMEM. Without gnuplot no plots
 * are made, and a note says so. */
nb_status nb_bench_report(const nb_bench_folder *f, const cJSON *root, nb_error *err);

#define NB_BENCH_PLOTS_MAX 16

/** Plots that were made: NAME.svg and NAME.png of each. */
typedef struct nb_bench_plots {
    int count;
    char names[NB_BENCH_PLOTS_MAX][64];
    char captions[NB_BENCH_PLOTS_MAX][160];
} nb_bench_plots;

/** Draw all charts that have data. Errors: NB_ERR_IO, NB_ERR_UNSUPPORTED (no gnuplot). */
nb_status nb_bench_draw_plots(const nb_bench_folder *f, const cJSON *root,
                              nb_bench_plots *made, nb_error *err);

void nb_bench_summary_md(FILE *out, const cJSON *root, const nb_bench_plots *plots);

/** The tables of summary.md. */
void nb_bench_size_tables(FILE *out, const cJSON *root);
void nb_bench_sweep_tables(FILE *out, const cJSON *root);
void nb_bench_gain_tables(FILE *out, const cJSON *root);

/** A line "| a | b |" and the line below it that makes it the head of a table. */
void nb_bench_header(FILE *out, const char *line);

/** Three significant digits, without an exponent; "-" for 0 and less. */
const char *nb_bench_digits(double value, char text[32]);

#endif
