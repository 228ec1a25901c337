/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common.h"
#include "bench.h"

static const char *const sweep_names[] = {"size",       "precision", "threads",
                                          "oversample", "domains",   "batch",
                                          "breakdown",  "gain"};

const char *nb_bench_sweep_name(nb_bench_sweep sweep)
{
    return sweep_names[sweep];
}

/** The next word between commas; 0 at the end, and for an empty or too long word. */
static int next_word(const char **cursor, char *word, size_t size)
{
    size_t n = strcspn(*cursor, ",");
    if (!n || n >= size)
        return 0;
    memcpy(word, *cursor, n);
    word[n] = 0;
    *cursor += n;
    if (**cursor == ',')
        *cursor += (*cursor)[1] ? 1 : 0; /* a comma at the end is kept, and then refused */
    return 1;
}

/** A list of words or whole numbers. */
typedef struct list_kind {
    const char *flag, *allowed;
    size_t offset;              /* in nb_bench_options */
    const char *(*name)(int i); /* NULL after the last */
    int low, high;              /* without name */
} list_kind;

static const char *case_name(int i)
{
    return i < NB_BENCH_CASES ? nb_bench_case_name((nb_bench_case)i) : NULL;
}

static const char *sweep_name(int i)
{
    return i < NB_SWEEPS ? sweep_names[i] : NULL;
}

#define AT(member) offsetof(nb_bench_options, member)

static const list_kind kinds[NB_LISTS] = {
    [NB_LIST_SIZES] = {"-sizes", "whole numbers from 8 to 32768", AT(sizes), NULL, 8,
                       32768},
    [NB_LIST_OVERSAMPLES] = {"-oversamples", "whole numbers from 1 to 64",
                             AT(oversamples), NULL, 1, 64},
    [NB_LIST_DOMAINS] = {"-domains", "whole numbers from 1 to 1000000", AT(domains), NULL,
                         1, 1000000},
    [NB_LIST_THREADS] = {"-threads", "whole numbers from 1 to 4096", AT(threads), NULL, 1,
                         4096},
    [NB_LIST_BATCHES] = {"-batches", "whole numbers from 1 to 4096", AT(batches), NULL, 1,
                         4096},
    [NB_LIST_CASES] = {"-cases", "simple, heavy, xfel or own", AT(cases), case_name, 0, 0},
    [NB_LIST_ISAS] = {"-isas", "scalar, sse2, avx2, avx512, neon or auto", AT(isas),
                      nb_bench_isa_name, 0, 0},
    [NB_LIST_PRECISIONS] = {"-precisions", "double or mixed", AT(precisions),
                            nb_bench_precision_name, 0, 0},
    [NB_LIST_SWEEPS] = {
        "-sweeps", "size, precision, threads, oversample, domains, batch or breakdown",
        AT(sweeps), sweep_name, 0, 0}};

/** The number or the place of a word; -1: it is not allowed. */
static int read_word(const list_kind *kind, const char *word)
{
    int n;
    if (!kind->name)
        return nb_read_whole(word, kind->low, kind->high, &n) ? n : -1;
    for (n = 0; kind->name(n); n++)
        if (!strcmp(kind->name(n), word))
            return n;
    return -1;
}

static nb_status read_list(nb_bench_options *o, const list_kind *kind, const char *text,
                           nb_error *err)
{
    nb_bench_list *out = (nb_bench_list *)((char *)o + kind->offset);
    const char *cursor = text;
    char word[32];
    while (*cursor || !out->count) {
        int value = next_word(&cursor, word, sizeof word) ? read_word(kind, word) : -1;
        if (value < 0)
            return nb_cli_fail(err, "%s '%.80s': must be %s, separated by commas",
                               kind->flag, text, kind->allowed);
        if (out->count == NB_BENCH_LIST_MAX)
            return nb_cli_fail(err, "%s %.80s: at most %d values", kind->flag, text,
                               NB_BENCH_LIST_MAX);
        out->v[out->count++] = value;
    }
    return NB_OK;
}

int nb_bench_names_device(const char *word)
{
    return strcmp(word, "auto") && !strstr(word, ":all");
}

static nb_status bad_devices(const char *text, nb_error *err)
{
    char list[128] = "";
    const char *word;
    for (int i = 0; (word = nb_device_word(i)); i++)
        if (nb_bench_names_device(word))
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s, ", word);
    return nb_cli_fail(err, "-devices '%.60s': must be up to %d of %sseparated by commas",
                       text, NB_BENCH_DEVICES_MAX, list);
}

static nb_status take_devices(void *t, char **v, nb_error *err)
{
    nb_bench_options *o = t;
    const char *cursor = v[0];
    char word[32];
    o->device_count = 0;
    while (*cursor || !o->device_count) {
        if (!next_word(&cursor, word, sizeof word) || !nb_bench_names_device(word) ||
            nb_device_check(word, NULL) || o->device_count == NB_BENCH_DEVICES_MAX)
            return bad_devices(v[0], err);
        memcpy(o->devices[o->device_count++], word, sizeof word);
    }
    return NB_OK;
}

static nb_status take_vs(void *t, char **v, nb_error *err)
{
    nb_bench_options *o = t;
    const char *equals = strchr(v[0], '=');
    if (!equals || equals == v[0] || !equals[1] || equals - v[0] > 24)
        return nb_cli_fail(
            err, "-vs %.60s: must be NAME=PROGRAM, the name of up to 24 letters", v[0]);
    if (o->peer_count == NB_BENCH_PEERS_MAX)
        return nb_cli_fail(err, "-vs %.60s: at most %d programs", v[0],
                           NB_BENCH_PEERS_MAX);
    o->peers[o->peer_count++] = v[0];
    return NB_OK;
}

static nb_status take_peer_results(void *t, char **v, nb_error *err)
{
    nb_bench_options *o = t;
    if (o->peer_results_count == NB_BENCH_PEERS_MAX)
        return nb_cli_fail(err, "-peer-results %.60s: at most %d files", v[0],
                           NB_BENCH_PEERS_MAX);
    o->peer_results[o->peer_results_count++] = v[0];
    return NB_OK;
}

const nb_sub_option nb_bench_option_table[] = {
    {"quick", 0, NULL, "a short sweep, well under a minute",
     NB_SUB_SET(nb_bench_options, quick)},
    {"sizes", 1, "n,...", "pixels along an edge (default: 256,512,1024,2048,4096)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_SIZES])},
    {"cases", 1, "name,...",
     "simple: one step per pixel; heavy: a thousand; xfel: the gain of a tolerance with "
     "ten thousand; own: the flags behind -- (default: simple,heavy; own if there are "
     "flags)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_CASES])},
    {"sweeps", 1, "name,...",
     "size, precision, threads, oversample, domains, batch, breakdown (default: all)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_SWEEPS])},
    {"devices", 1, "name,...",
     "devices, as for -device (default: cpu, and a GPU if it starts)",
     NB_SUB_TAKE(take_devices)},
    {"precisions", 1, "name,...", "precisions to time (default: double,mixed)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_PRECISIONS])},
    {"isas", 1, "name,...", "instruction sets to time (default: all that run here)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_ISAS])},
    {"threads", 1, "n,...",
     "numbers of threads; other sweeps use the last one (default: 1,2,4,... all cores)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_THREADS])},
    {"oversamples", 1, "n,...", "sub-pixels along an edge (default: 1,2,3,4)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_OVERSAMPLES])},
    {"domains", 1, "n,...", "mosaic domains of the heavy case (default: 1,10,100,1000)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_DOMAINS])},
    {"batches", 1, "n,...", "frames of a series (default: 1,2,4,8,16,32,64,128,256,512)",
     NB_SUB_NAME(nb_bench_options, lists[NB_LIST_BATCHES])},
    {"at", 1, "n", "pixels along an edge of every sweep but size (default: 512)",
     NB_SUB_WHOLE(nb_bench_options, at, 8, 32768)},
    {"repeats", 1, "n", "repeats of each measurement, at least 5 (default: 5)",
     NB_SUB_WHOLE(nb_bench_options, repeats, 5, NB_BENCH_REPEATS_MAX)},
    {"limit", 1, "s", "leave out measurements that take longer (default: 20)",
     NB_SUB_NUMBER(nb_bench_options, limit, 0.01, 1e6)},
    {"vs", 1, "name=program",
     "another program of the same command line, timed in turn; repeatable",
     NB_SUB_TAKE(take_vs)},
    {"peer-results", 1, "file.json",
     "figures of a program with another command line; repeatable",
     NB_SUB_TAKE(take_peer_results)},
    {"name", 1, "text", "name of the report's folder: DATE-text (default: bench)",
     NB_SUB_NAME(nb_bench_options, name)},
    {"outdir", 1, "folder", "folder of the report (default: reports/benchmarks/DATE-NAME)",
     NB_SUB_NAME(nb_bench_options, outdir)},
    {"o", 1, "folder", "as -outdir", NB_SUB_NAME(nb_bench_options, outdir)},
    {"from", 1, "results.json", "tables and plots of an earlier run, without measuring",
     NB_SUB_NAME(nb_bench_options, from)},
    NB_SUB_END};

void nb_bench_defaults(void *target)
{
    memset(target, 0, sizeof(nb_bench_options));
}

static void fill(nb_bench_list *list, int count, const int *values)
{
    if (list->count)
        return;
    list->count = count;
    memcpy(list->v, values, (size_t)count * sizeof *values);
}

/** 1, 2, 4, ... and all of them. */
static void fill_threads(nb_bench_list *list, int cores)
{
    if (list->count)
        return;
    for (int n = 1; n < cores && list->count < NB_BENCH_LIST_MAX - 1; n *= 2)
        list->v[list->count++] = n;
    list->v[list->count++] = cores;
}

static void fill_lists(nb_bench_options *o)
{
    static const int sizes[] = {256, 512, 1024, 2048, 4096}, few_sizes[] = {128, 256, 512},
                     oversamples[] = {1, 2, 3, 4}, domains[] = {1, 10, 100, 1000},
                     batches[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
                     few_batches[] = {1, 4, 16, 64},
                     precisions[] = {NB_PRECISION_DOUBLE, NB_PRECISION_MIXED},
                     all_sweeps[] = {0, 1, 2, 3, 4, 5, 6}, own[] = {NB_BENCH_OWN},
                     both[] = {NB_BENCH_SIMPLE, NB_BENCH_HEAVY};
    int q = o->quick;
    fill(&o->sizes, q ? 3 : 5, q ? few_sizes : sizes);
    fill(&o->oversamples, q ? 2 : 4, oversamples);
    fill(&o->domains, q ? 3 : 4, domains);
    fill(&o->batches, q ? 4 : 10, q ? few_batches : batches);
    fill(&o->precisions, 2, precisions);
    fill(&o->sweeps, NB_SWEEPS, all_sweeps);
    fill(&o->cases, o->own.count ? 1 : 2, o->own.count ? own : both);
}

nb_status nb_bench_resolve(nb_bench_options *o, int cores, nb_error *err)
{
    nb_status st = NB_OK;
    for (int i = 0; i < NB_LISTS && !st; i++)
        if (o->lists[i])
            st = read_list(o, &kinds[i], o->lists[i], err);
    if (st)
        return st;
    fill_lists(o);
    fill_threads(&o->threads, cores);
    o->name = o->name ? o->name : "bench";
    if (strchr(o->name, '/') || strlen(o->name) > 64)
        return nb_cli_fail(err, "-name %.60s: must be up to 64 letters without /",
                           o->name);
    o->repeats = o->repeats ? o->repeats : 5;
    o->at = o->at ? o->at : o->quick ? 256 : 512;
    o->limit = o->limit > 0 ? o->limit : o->quick ? 3 : 20;
    for (int i = 0; i < o->cases.count; i++)
        if (o->cases.v[i] == NB_BENCH_OWN && !o->own.count)
            return nb_cli_fail(err,
                               "-cases own: no flags to run with; write them behind --");
    return NB_OK;
}

int nb_bench_wants(const nb_bench_options *o, nb_bench_sweep sweep)
{
    for (int i = 0; i < o->sweeps.count; i++)
        if (o->sweeps.v[i] == (int)sweep)
            return 1;
    return 0;
}
