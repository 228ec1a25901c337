/* SPDX-License-Identifier: MIT */
/* The CUDA backend against the scalar reference on random valid configurations and on
 * cruel ones, in every precision; prints `skip` with the reason where there is no
 * device.
 *
 *   cuda_check [--seed N] [--count N] [--only K] [--precision NAME] [-v]
 *
 * Lines `ok NAME` and `not ok NAME`; `--seed N --only K` runs a failing case again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/compare.h"
#include "cases.h"
#include "render/backend.h"

typedef struct tolerances {
    const char *name;
    double maxrel, rel6, sum, corr;
} tolerances;

/* the acceptance table: mixed, single, double (nb_precision's order) */
static const tolerances allowed[] = {{"mixed", 1e-6, 1e-4, 1e-6, 1e-11},
                                     {"single", 1e-5, INFINITY, 1e-5, 1e-10},
                                     {"double", 2e-7, 1e-5, 1e-6, 1e-12}};
enum { PRECISIONS = 3, GUARD = 64 };

typedef struct session {
    uint64_t seed;
    int count, only, verbose;
    const char *precision;
    nb_backend_state *state[PRECISIONS]; /* kept from case to case, as a library's user would */
    int cases[PRECISIONS], failures[PRECISIONS];
    nb_comparison worst[PRECISIONS];
} session;

static size_t pixels_of(const nb_detector *det)
{
    return (size_t)det->fpixels * det->spixels;
}

static int rendered(const nb_detector *det, size_t i)
{
    int f = (int)(i % det->fpixels), s = (int)(i / det->fpixels);
    return f >= det->roi_fmin && f <= det->roi_fmax && s >= det->roi_smin &&
           s <= det->roi_smax && (!det->mask || det->mask[i]);
}

static float *poisoned(size_t n)
{
    float *p = malloc((n + 2 * GUARD) * sizeof *p);
    size_t i;
    for (i = 0; p && i < n + 2 * GUARD; i++)
        p[i] = NAN;
    return p;
}

static int guards_intact(const float *memory, size_t n)
{
    size_t i;
    for (i = 0; i < GUARD; i++)
        if (!isnan(memory[i]) || !isnan(memory[GUARD + n + i]))
            return 0;
    return 1;
}

/** Keep the rendered pixels only; -1 when one that is not rendered is not 0. */
static long squeeze(const nb_detector *det, float *image)
{
    size_t i, n = 0;
    for (i = 0; i < pixels_of(det); i++)
        if (rendered(det, i))
            image[n++] = image[i];
        else if (image[i] != 0)
            return -1;
    return (long)n;
}

/** Worth a correlation: the picture varies by more than rounding could hide. */
static int varies(const float *b, size_t n)
{
    double sum = 0, squares = 0;
    size_t i;
    for (i = 0; i < n; i++)
        sum += b[i];
    for (i = 0; i < n; i++)
        squares += (b[i] - sum / (double)n) * (b[i] - sum / (double)n);
    return n > 1 && squares > 0.01 * sum * sum / (double)n;
}

static const char *judge(const float *a, const float *b, size_t n, const nb_scene *sc,
                         int p, nb_comparison *c)
{
    const tolerances *t = &allowed[p];
    double N = fmax(sc->N[0], fmax(sc->N[1], sc->N[2])), max = 0;
    size_t i;
    for (i = 0; i < n; i++)
        max = b[i] > max ? b[i] : max;
    if (max == 0)
        return n == 0 || memcmp(a, b, n * sizeof *a) == 0 ? NULL : "not black";
    *c = nb_compare(a, b, n, N >= 300 && p != NB_PRECISION_DOUBLE ? 1e-4 : 1e-6);
    if (!varies(b, n) && c->maxrel == c->maxrel)
        c->corr = 0;
    if (!(c->maxrel <= t->maxrel))
        return "maxrel";
    if (!(c->rel6 <= t->rel6))
        return "rel6";
    if (!(c->sum <= t->sum))
        return "sum";
    return c->corr <= t->corr ? NULL : "correlation";
}

static const char *check_one(session *ss, const nb_scene *sc, const float *truth,
                             int precision, nb_comparison *c, nb_error *err)
{
    size_t n = pixels_of(&sc->det);
    float *memory = poisoned(n), *image = memory + GUARD;
    const char *wrong = NULL;
    long m = 0;
    memset(c, 0, sizeof *c);
    if (!memory || nb_backend_cuda.render(ss->state[precision], sc, image, err) != NB_OK)
        wrong = err->message;
    else if (!guards_intact(memory, n))
        wrong = "wrote outside the image";
    else if ((m = squeeze(&sc->det, image)) < 0)
        wrong = "a pixel that is not rendered is not 0";
    else
        wrong = judge(image, truth, (size_t)m, sc, precision, c);
    free(memory);
    return wrong;
}

/** Fewer pixels, so that the reference stays quick. */
static void shrink(nb_scene *sc, double limit)
{
    nb_detector *d = &sc->det;
    double a_pixel = (double)sc->steps * d->layers * (sc->sf.interpolate ? 5 : 1);
    int rows;
    if (limit <= 0)
        return;
    if ((d->roi_fmax - d->roi_fmin + 1) * a_pixel > limit)
        d->roi_fmax = d->roi_fmin + (int)fmin(limit / a_pixel, d->roi_fmax - d->roi_fmin);
    rows = (int)fmax(1, limit / a_pixel / (d->roi_fmax - d->roi_fmin + 1));
    if (d->roi_smax - d->roi_smin + 1 > rows)
        d->roi_smax = d->roi_smin + rows - 1;
}

static float *reference(const nb_scene *sc)
{
    const nb_render_options options = {0,  NB_ISA_SCALAR,      NB_PRECISION_DOUBLE,
                                       -1, {NULL, NULL, NULL}, 0};
    float *image = malloc((pixels_of(&sc->det) + 1) * sizeof *image);
    nb_backend_state *state = NULL;
    nb_error err;
    if (!image || nb_backend_scalar.open(&options, &state, &err) != NB_OK ||
        nb_backend_scalar.render(state, sc, image, &err) != NB_OK) {
        fprintf(stderr, "the reference does not render\n");
        exit(1);
    }
    nb_backend_scalar.close(state);
    squeeze(&sc->det, image);
    return image;
}

static void report(const session *ss, const check_case *c, int p, const char *wrong,
                   const nb_comparison *k)
{
    char line[200];
    if (!wrong && !ss->verbose)
        return;
    nb_backend_cuda.describe(ss->state[p], line, sizeof line);
    printf("# %s %s: %s (maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e) %s\n", c->name,
           allowed[p].name, wrong ? wrong : "fine", k->maxrel, k->rel6, k->sum, k->corr,
           line);
    if (wrong && strncmp(c->name, "random-", 7) == 0)
        printf("#   again: cuda_check --seed %llu --only %s\n",
               (unsigned long long)ss->seed, c->name + 7);
    if (wrong)
        check_print_case(stdout, c);
    fflush(stdout);
}

/** 0 when the configuration is not valid. */
static int run_case(session *ss, check_case *c)
{
    nb_model model;
    nb_error err;
    float *truth;
    int p;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK)
        return 0;
    shrink(&model.scene, c->steps_limit);
    truth = reference(&model.scene);
    for (p = 0; p < PRECISIONS; p++) {
        nb_comparison k, *w = &ss->worst[p];
        const char *wrong;
        if (ss->precision && strcmp(ss->precision, allowed[p].name) != 0)
            continue;
        wrong = check_one(ss, &model.scene, truth, p, &k, &err);
        ss->cases[p]++;
        ss->failures[p] += wrong != NULL;
        w->maxrel = fmax(w->maxrel, k.maxrel);
        w->rel6 = fmax(w->rel6, k.rel6);
        w->sum = fmax(w->sum, k.sum);
        w->corr = fmax(w->corr, k.corr);
        report(ss, c, p, wrong, &k);
    }
    free(truth);
    nb_model_free(&model);
    return 1;
}

static int summarise(session *ss, const char *group)
{
    int p, failures = 0;
    for (p = 0; p < PRECISIONS; p++) {
        const nb_comparison *w = &ss->worst[p];
        int bad = ss->failures[p] || !ss->cases[p];
        if (ss->precision && strcmp(ss->precision, allowed[p].name) != 0)
            continue;
        printf(
            "# %d cases, %d failed, worst maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e\n",
            ss->cases[p], ss->failures[p], w->maxrel, w->rel6, w->sum, w->corr);
        printf("%s cuda-%s-%s\n", bad ? "not ok" : "ok", group, allowed[p].name);
        failures += bad;
    }
    memset(ss->cases, 0, sizeof ss->cases);
    memset(ss->failures, 0, sizeof ss->failures);
    memset(ss->worst, 0, sizeof ss->worst);
    fflush(stdout);
    return failures;
}

static int random_cases(session *ss)
{
    check_case c;
    int k, valid = 0;
    for (k = ss->only >= 0 ? ss->only : 0; valid < ss->count; k++) {
        check_random_case(&c, ss->seed, k);
        valid += run_case(ss, &c);
        check_free_case(&c);
        if (ss->only >= 0)
            break;
    }
    return summarise(ss, "random");
}

static int cruel_cases(session *ss)
{
    check_case c;
    int i;
    for (i = 0; check_cruel_case(&c, i); i++) {
        run_case(ss, &c);
        check_free_case(&c);
    }
    return summarise(ss, "cruel");
}

static int parse(session *o, int argc, char **argv)
{
    int i;
    o->count = getenv("NB_BIG") ? 2000 : getenv("NB_REDUCED") ? 30 : 200;
    o->seed = 1;
    o->only = -1;
    for (i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "-v") == 0)
            o->verbose = 1;
        else if (strcmp(argv[i], "--seed") == 0 && ++i)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && ++i)
            o->count = atoi(value);
        else if (strcmp(argv[i], "--only") == 0 && ++i)
            o->only = atoi(value);
        else if (strcmp(argv[i], "--precision") == 0 && ++i)
            o->precision = value;
        else
            return 0;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static session ss;
    nb_error err;
    int p, failures = 0;
    if (!parse(&ss, argc, argv)) {
        fprintf(stderr, "usage: cuda_check [--seed N] [--count N] [--only K] "
                        "[--precision NAME] [-v]\n");
        return 2;
    }
    for (p = 0; p < PRECISIONS; p++) {
        nb_render_options options = {0,  NB_ISA_AUTO,        (nb_precision)p,
                                     -1, {NULL, NULL, NULL}, 0};
        if (nb_backend_cuda.open(&options, &ss.state[p], &err) != NB_OK) {
            printf("skip cuda-check # %s\n", err.message);
            return 0;
        }
    }
    if (ss.only < 0)
        failures += cruel_cases(&ss);
    failures += random_cases(&ss);
    for (p = 0; p < PRECISIONS; p++)
        nb_backend_cuda.close(ss.state[p]);
    return failures != 0;
}
