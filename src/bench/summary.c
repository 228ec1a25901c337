/* SPDX-License-Identifier: MIT */
/* summary.md: machine, build and method; the tables; the plots. */
#include <string.h>

#include "json.h"
#include "report.h"

static void head(FILE *out, const cJSON *root)
{
    const cJSON *m = cJSON_GetObjectItem(root, "machine"),
                *b = cJSON_GetObjectItem(root, "build"), *one;
    fprintf(out, "# Benchmark %s, %s\n\n", nb_bench_text(root, "name"),
            nb_bench_text(root, "date"));
    fprintf(out, "Command: `%s`\n\n", nb_bench_text(root, "command"));
    fprintf(out,
            "Machine: %s, %.0f cores, %.0f MiB, %s%s%s; load %.2f at the start.\n\n"
            "Build: nanobragg %s, commit %s, %s, `%s`.\n\n",
            nb_bench_text(m, "processor"), nb_bench_get(m, "cores", 0),
            nb_bench_get(m, "memory_mib", 0), nb_bench_text(m, "system"),
            nb_bench_text(m, "gpu_driver")[0] ? ", " : "", nb_bench_text(m, "gpu_driver"),
            nb_bench_get(m, "load_at_start", 0), nb_bench_text(b, "version"),
            nb_bench_text(b, "commit"), nb_bench_text(b, "compiler"),
            nb_bench_text(b, "flags"));
    for (one = nb_bench_child(cJSON_GetObjectItem(root, "cases")); one; one = one->next)
        fprintf(out, "Case %s: `%s`\n\n", one->string, cJSON_GetStringValue(one));
    fputs("Every timed image was compared with the scalar renderer in double precision: "
          "all rows, or rows spread over\n"
          "the image if all would take longer than a second. A wrong image ends the "
          "benchmark without a report.\n"
          "Method: docs/bench.md. All figures: [results.json](results.json).\n\n",
          out);
}

static void sources(FILE *out, const cJSON *root)
{
    const cJSON *one;
    for (one = nb_bench_child(cJSON_GetObjectItem(root, "peer_results")); one;
         one = one->next) {
        fprintf(out, "%s, measured by another program (-peer-results): %s\n\n",
                nb_bench_text(one, "program"), nb_bench_text(one, "note"));
    }
}

static void plots_of(FILE *out, const nb_bench_plots *plots)
{
    if (plots->count)
        fputs("## Plots\n\n", out);
    for (int i = 0; i < plots->count; i++)
        fprintf(out, "![%s](%s.svg)\n\n%s ([PNG](%s.png)).\n\n", plots->captions[i],
                plots->names[i], plots->captions[i], plots->names[i]);
}

static void left_out(FILE *out, const cJSON *root)
{
    const cJSON *list = cJSON_GetObjectItem(root, "left_out"), *one;
    if (!list || !list->child)
        return;
    fputs("## Left out\n\n", out);
    nb_bench_header(out, "| sweep | program | what | why |");
    for (one = nb_bench_child(list); one; one = one->next)
        fprintf(out, "| %s | %s | %s | %s |\n", nb_bench_text(one, "sweep"),
                nb_bench_text(one, "program"), nb_bench_text(one, "what"),
                nb_bench_text(one, "why"));
    fputc('\n', out);
}

void nb_bench_summary_md(FILE *out, const cJSON *root, const nb_bench_plots *plots)
{
    head(out, root);
    sources(out, root);
    nb_bench_size_tables(out, root);
    nb_bench_sweep_tables(out, root);
    nb_bench_gain_tables(out, root);
    plots_of(out, plots);
    left_out(out, root);
}
