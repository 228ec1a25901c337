/* SPDX-License-Identifier: MIT */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { LARGE_PAGE = 1 << 21 };

void lab_stop(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

void lab_need(nb_status st, const nb_error *err)
{
    if (st != NB_OK)
        lab_stop(err->message);
}

int lab_repeats(const lab *l, int usual)
{
    int n = l->repeats ? l->repeats : usual;
    return n < 1 ? 1 : n > LAB_MAX_REPEATS ? LAB_MAX_REPEATS : n;
}

const char *lab_word(const lab *l, int i, const char *without)
{
    return i < l->count ? l->words[i] : without;
}

int lab_is_cuda(const lab *l)
{
    return strcmp(l->device, "cuda") == 0;
}

double lab_processor(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int lab_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lab_median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, lab_ascending);
    return x[n / 2];
}

void *lab_memory(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        lab_stop("not enough memory");
    return memory;
}

nb_config lab_config(const char *words)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.write_dump = 0;
    nb_words(&cfg, words);
    return cfg;
}

nb_sim *lab_sim(const nb_config *cfg)
{
    nb_error err;
    nb_sim *sim;
    lab_need(nb_sim_create(cfg, NULL, &sim, &err), &err);
    return sim;
}

nb_backend_state *lab_open_cuda(const char *name)
{
    const nb_render_options options = {
        .isa = NB_ISA_AUTO, .precision = NB_PRECISION_MIXED, .device_index = -1};
    nb_backend_state *state = NULL;
    nb_error err;
    if (nb_backend_cuda.open(&options, &state, &err) == NB_OK)
        return state;
    printf("skip %s # %s\n", name, err.message);
    return NULL;
}

double *lab_random_F(nb_factor_table *sf, int box, int tables)
{
    const int n = 2 * box + 1;
    const size_t count = (size_t)n * n * n * tables;
    const size_t pages = (count * sizeof(double) + LARGE_PAGE - 1) / LARGE_PAGE;
    double *F = aligned_alloc(LARGE_PAGE, pages * LARGE_PAGE);
    uint64_t z = 88172645463325252u;
    if (!F)
        lab_stop("not enough memory");
#ifdef MADV_HUGEPAGE /* use huge pages, as the library does for its tables */
    (void)madvise(F, count * sizeof *F, MADV_HUGEPAGE);
#endif
    for (size_t i = 0; i < count; i++) {
        z ^= z << 13;
        z ^= z >> 7;
        z ^= z << 17;
        F[i] = 200.0 * (double)(z >> 11) * 0x1p-53;
    }
    sf->hmin = sf->kmin = sf->lmin = -box;
    sf->nh = sf->nk = sf->nl = n;
    sf->n_tables = tables;
    sf->F = F;
    return F;
}

void lab_spectrum_make(const lab_spectrum_case *c, lab_spectrum *s)
{
    memset(s, 0, sizeof *s);
    /* the sources of this configuration are along -x */
    s->cfg = lab_config(NB_TRICLINIC " -mosflm");
    s->cfg.pixel_mm = 0.1 * 2048 / c->pixels;
    s->cfg.detpixels[0] = s->cfg.detpixels[1] = c->pixels;
    if (c->domains > 1) {
        s->cfg.mosaic_spread_deg = 0.5;
        s->cfg.mosaic_domains = c->domains;
    }
    for (int k = 0; k < c->sources; k++) {
        nb_source_line *line = &s->lines[k];
        double at = c->sources > 1 ? (double)k / (c->sources - 1) - 0.5 : 0;
        line->x = -10;
        line->lambda = (1 + c->band / 100 * at) * 1e-10;
        line->intensity = exp(-8 * at * at) * (1 + (k * 37 % 11) / 5.0);
        s->table_of_source[k] = (int)((int64_t)k * c->tables / c->sources);
    }
    s->F = lab_random_F(&s->inputs.table, c->box, c->tables);
    s->inputs.sources = s->lines;
    s->inputs.n_sources = s->inputs.n_of_source = c->sources;
    s->inputs.table_of_source = c->tables > 1 ? s->table_of_source : NULL;
    s->inputs.table.default_F = 100;
}

nb_model_inputs lab_one_table(const lab_spectrum *s)
{
    nb_model_inputs one = s->inputs;
    one.table_of_source = NULL;
    one.table.n_tables = 1;
    return one;
}
