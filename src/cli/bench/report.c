/* SPDX-License-Identifier: MIT */
/* The report of results.json: src/tools/report.py makes its tables and plots. */

#include "../common.h"
#include "bench.h"

enum { WORDS = 8 + 2 * NB_BENCH_PEERS_MAX };

/** Run the tool in the user's folder, so that file names are those typed. *missing: there is no
 * python3. */
static nb_status run_tool(const nb_bench_folder *f, const nb_bench_options *o, int check,
                          int *missing, nb_error *err)
{
    char tool[NB_PATH_MAX], notes[NB_PATH_MAX], errors[NB_PATH_MAX], note[400];
    const char *words[WORDS] = {"python3", tool, f->part};
    int n = 3;
    nb_child_end end = {0};
    nb_status st;
    nb_bench_path(f->part, "report.py", tool);
    nb_bench_path(f->scratch, "notes.txt", notes);
    nb_bench_path(f->scratch, "errors.txt", errors);
    if (check)
        words[n++] = "-check";
    if (o->from) {
        words[n++] = "-from";
        words[n++] = o->from;
    }
    for (int i = 0; i < o->peer_results_count; i++) {
        words[n++] = "-peer-results";
        words[n++] = o->peer_results[i];
    }
    st = nb_bench_write_text(f, "report.py", nb_tool_report, err);
    if (!st)
        st = nb_child_run((char *const *)words, ".", notes, errors, &end, err);
    *missing = !st && end.missing;
    if (st || *missing)
        return st;
    nb_bench_last_line(end.exit_status ? errors : notes, note, sizeof note);
    if (end.exit_status == 2)
        return nb_cli_fail(err, "%s", note);
    if (!end.exit_status && !end.signal && note[0])
        nb_cli_say("note", note);
    return nb_bench_ended_well("report.py", errors, &end, err);
}

nb_status nb_bench_check_others(const nb_bench_folder *f, const nb_bench_options *o,
                                nb_error *err)
{
    int missing = 0;
    nb_status st = o->peer_results_count ? run_tool(f, o, 1, &missing, err) : NB_OK;
    return missing ? nb_tool_missing("-peer-results", err) : st;
}

nb_status nb_bench_report(const nb_bench_folder *f, const nb_bench_options *o, int *plain,
                          nb_error *err)
{
    nb_status st = run_tool(f, o, 0, plain, err);
    if (*plain && o->from)
        return nb_tool_missing("-from", err);
    if (*plain)
        nb_cli_say("note", "no tables and no plots: python3 cannot be started; with it, "
                           "python3 report.py in the folder makes them");
    return st;
}
