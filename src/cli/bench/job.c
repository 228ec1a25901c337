/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../options.h"
#include "bench.h"

enum { WORDS = 256 };

/* The flags of a case for every program, and the flags only for ours. The heavy case has a
 * cell that is not orthogonal and many domains. -compat selects the old program's
 * definitions for them. */
static const struct {
    const char *name, *flags, *ours;
} cases[] = {
    {"simple",
     "-cell 100 100 100 90 90 90 -default_F 100 -N 5 -lambda 6.2 -distance 100 -pixel "
     "0.1 -oversample 1",
     ""},
    {"heavy",
     "-cell 70 80 90 75 85 95 -misset 10 20 30 -default_F 100 -N 20 -lambda 1 "
     "-distance 100 -pixel 0.1 -oversample 1 -mosaic 0.5 -mosaic_domains 100 "
     "-dispersion 1 -dispsteps 10",
     "-compat"},
    {"xfel",
     "-cell 79.1 79.1 37.9 90 90 90 -misset 10 20 30 -N 100 -lambda 1.3 -distance 150 "
     "-pixel 0.075 -oversample 1 -mosaic 0.2 -mosaic_domains 100 -dispersion 0.5 "
     "-dispsteps 100",
     ""},
    {"own", "", ""}};

const char *nb_bench_case_name(nb_bench_case which)
{
    return cases[which].name;
}

const char *nb_bench_isa_name(int isa)
{
    return nb_param_find("isa")->choices[isa];
}

const char *nb_bench_precision_name(int precision)
{
    return nb_param_find("precision")->choices[precision];
}

void nb_bench_case_text(nb_bench_case which, const nb_bench_own *own, char *text,
                        size_t size)
{
    size_t used = (size_t)snprintf(text, size, "%s%s%s", cases[which].flags,
                                   cases[which].ours[0] ? " " : "", cases[which].ours);
    for (int i = 0; which == NB_BENCH_OWN && i < own->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
                                 own->flags[i]);
}

void nb_bench_job_text(const nb_bench_job *job, char *text, size_t size)
{
    const int named = !strcmp(job->device, "cpu") && job->isa != NB_ISA_AUTO;
    int used = snprintf(text, size, "%s %dx%d on %s%s%s %s", cases[job->which].name,
                        job->size, job->size, job->device, named ? " " : "",
                        named ? nb_bench_isa_name(job->isa) : "",
                        nb_bench_precision_name(job->precision));
    if (job->shape)
        used += snprintf(text + used, size - (size_t)used, ", %s -tolerance %s",
                         job->shape, job->tolerance ? job->tolerance : "unset");
    if (job->oversample)
        used += snprintf(text + used, size - (size_t)used, ", %d x %d sub-pixels",
                         job->oversample, job->oversample);
    if (job->domains)
        used += snprintf(text + used, size - (size_t)used, ", %d domains", job->domains);
    if (job->threads)
        snprintf(text + used, size - (size_t)used, ", %d thread%s", job->threads,
                 job->threads > 1 ? "s" : "");
}

void nb_bench_show(const nb_bench *b, const nb_bench_point *p, const char *how)
{
    char text[240];
    if (!isatty(STDERR_FILENO))
        return;
    fputs("\r\033[K", stderr);
    if (p) {
        nb_bench_job_text(&p->job, text, sizeof text);
        fprintf(stderr, "[%d/%d] %s, %s: %.100s", b->done, b->total,
                nb_bench_program(b, p), how, text);
    }
    fflush(stderr);
}

/** A command line under construction, in memory of its own. */
typedef struct words {
    char *v[WORDS + 1];
    int count;
    char text[4096 + NB_PATH_MAX];
    size_t used;
} words;

static void add(words *w, const char *word)
{
    size_t n = strlen(word) + 1;
    if (w->count >= WORDS || w->used + n > sizeof w->text)
        return;
    w->v[w->count++] = memcpy(w->text + w->used, word, n);
    w->used += n;
}

static void add_line(words *w, const char *line)
{
    char word[64];
    while (nb_next_word(&line, word, sizeof word))
        add(w, word);
}

static void add_pair(words *w, const char *flag, const char *value)
{
    if (!value)
        return;
    add(w, flag);
    add(w, value);
}

static void add_number(words *w, const char *flag, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.12g", value);
    add_pair(w, flag, text);
}

/** Flags that every program understands. */
static void add_physics(words *w, const nb_bench_job *job)
{
    char roi[80];
    for (int i = 0; job->which == NB_BENCH_OWN && i < job->own->count; i++)
        add(w, job->own->flags[i]);
    add_line(w, cases[job->which].flags);
    add_number(w, "-detpixels", job->size);
    if (job->oversample)
        add_number(w, "-oversample", job->oversample);
    if (job->domains)
        add_number(w, "-mosaic_domains", job->domains);
    if (job->osc > 0) {
        add_number(w, "-phi", job->phi);
        add_line(w, "-phisteps 1");
        add_number(w, "-osc", job->osc);
    }
    add_pair(w, "-hkl", job->hkl);
    if (job->shape)
        add(w, job->shape);
    snprintf(roi, sizeof roi, "-roi 0 %d %d %d", job->size - 1, job->row,
             job->row + job->rows - 1);
    if (job->rows)
        add_line(w, roi);
    add_line(w, "-nonoise -nopgm");
}

static void add_ours(words *w, const nb_bench_job *job)
{
    add_line(w, cases[job->which].ours);
    add_pair(w, "-device", job->device);
    add_pair(w, "-isa", nb_bench_isa_name(job->isa));
    add_pair(w, "-precision", nb_bench_precision_name(job->precision));
    if (job->threads)
        add_number(w, "-threads", job->threads);
    add_pair(w, "-tolerance", job->tolerance);
    add_line(w, "-seed 1 -quiet");
    if (job->reports)
        add_line(w, "-time json");
}

static words *make(const nb_bench_job *job, int is_ours, nb_error *err)
{
    words *w = calloc(1, sizeof *w);
    if (!w) {
        nb_bench_no_memory(err);
        return NULL;
    }
    add(w, "nanobragg");
    add_physics(w, job);
    if (is_ours)
        add_ours(w, job);
    return w;
}

nb_status nb_bench_command(const nb_bench_job *job, const char *program, int is_ours,
                           nb_run_flags *out, nb_error *err)
{
    words *w = make(job, is_ours, err);
    nb_status st = w ? nb_run_flags_make(w->v + 1, w->count - 1, out, err) : NB_ERR_NOMEM;
    if (!st)
        st = nb_run_flags_set(out, 0, program, err);
    free(w);
    return st;
}

nb_status nb_bench_config(const nb_bench_job *job, nb_config *cfg, nb_error *err)
{
    nb_cli cli;
    words *w = make(job, 1, err);
    nb_status st = w ? nb_cli_parse(w->count, w->v, &cli, err) : NB_ERR_NOMEM;
    free(w);
    if (st)
        return st;
    *cfg = cli.cfg;
    cfg->write_float = cfg->write_int = 0;
    return NB_OK;
}

nb_status nb_bench_sim(const nb_bench_job *job, nb_sim **sim, nb_error *err)
{
    nb_hooks hooks = nb_bench_hooks();
    nb_config cfg;
    nb_status st = nb_bench_config(job, &cfg, err);
    *sim = NULL;
    return st ? st : nb_sim_create(&cfg, &hooks, sim, err);
}
