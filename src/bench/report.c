/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "../cli/common.h"
#include "bench.h"
#include "../cli/json_memory.h"
#include "json.h"

static nb_status write_json(const nb_bench_folder *f, const cJSON *root, nb_error *err)
{
    char *text = cJSON_Print(root);
    nb_status st = nb_json_memory("results.json", err);
    if (!st)
        st = text ? nb_bench_write_text(f, "results.json", text, err)
                  : nb_bench_no_memory(err);
    free(text);
    return st;
}

static nb_status write_summary(const nb_bench_folder *f, const cJSON *root,
                               const nb_bench_plots *plots, nb_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    nb_status st;
    if (!out)
        return nb_bench_no_memory(err);
    nb_bench_summary_md(out, root, plots);
    fclose(out);
    st = text ? nb_bench_write_text(f, "summary.md", text, err) : nb_bench_no_memory(err);
    free(text);
    return st;
}

nb_status nb_bench_report(const nb_bench_folder *f, const cJSON *root, nb_error *err)
{
    nb_bench_plots plots;
    nb_status st = write_json(f, root, err);
    memset(&plots, 0, sizeof plots);
    if (!st)
        st = nb_bench_draw_plots(f, root, &plots, err);
    if (st == NB_ERR_UNSUPPORTED) {
        nb_cli_say("note", err->message);
        st = NB_OK;
    }
    return st ? st : write_summary(f, root, &plots, err);
}
