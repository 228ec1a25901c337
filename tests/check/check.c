/* SPDX-License-Identifier: MIT */
/* Every instruction set and precision of the vector renderer against the scalar
 * reference, on random valid configurations and on cruel ones; also times them.
 *
 *   check [--seed N] [--count N] [--only K] [--isa NAME] [--precision NAME] [--bench] [-v]
 *
 * Lines `ok NAME` and `not ok NAME`; a failing case is printed as flags, and `--seed N
 * --only K` runs it again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../golden/compare.h"
#include "bench.h"
#include "cases.h"
#include "render/cpu.h"
#include "render/plan.h"
#include "render/simd.h"

typedef struct tolerances {
    double maxrel, rel6, sum, corr;
} tolerances;

/* plans/acceptance, section 1; of double only what a float can tell, and the order of
 * sums */
static const tolerances allowed[] = {
    {1e-6, 1e-4, 1e-6, 1e-11}, {1e-5, INFINITY, 1e-5, 1e-10}, {2e-7, 1e-5, 1e-6, 1e-12}};
static const char *const precision_names[] = {"mixed", "single", "double"};
static const nb_isa sets[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
enum { SETS = 4, PRECISIONS = 3, GUARD = 64 };

typedef struct settings {
    uint64_t seed;
    int count, only, verbose, bench;
    const char *isa, *precision;
} settings;

typedef struct tally {
    int cases, failures;
    nb_comparison worst;
} tally;

typedef struct session {
    settings opt;
    tally all[SETS][PRECISIONS];
    int invalid, reference_only;
} session;

/** An image between guard words, all of it poisoned with NaN. */
typedef struct guarded {
    float *memory, *image;
    size_t n;
} guarded;

static const uint32_t guard_word = 0x7fc0dead; /* a NaN of ours */

static guarded guarded_new(size_t n)
{
    guarded g = {NULL, NULL, n};
    size_t i;
    g.memory = malloc((n + 2 * GUARD) * sizeof *g.memory);
    if (!g.memory) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    for (i = 0; i < n + 2 * GUARD; i++)
        memcpy(&g.memory[i], &guard_word, sizeof guard_word);
    g.image = g.memory + GUARD;
    return g;
}

static int guards_intact(const guarded *g)
{
    size_t i;
    for (i = 0; i < GUARD; i++)
        if (memcmp(&g->memory[i], &guard_word, 4) != 0 ||
            memcmp(&g->memory[GUARD + g->n + i], &guard_word, 4) != 0)
            return 0;
    return 1;
}

static size_t pixels_of(const nb_scene *sc)
{
    return (size_t)sc->det.fpixels * sc->det.spixels;
}

/** Whether pixel i is one that a renderer fills. */
static int rendered(const nb_detector *det, size_t i)
{
    int f = (int)(i % det->fpixels), s = (int)(i / det->fpixels);
    return f >= det->roi_fmin && f <= det->roi_fmax && s >= det->roi_smin &&
           s <= det->roi_smax && (!det->mask || det->mask[i]);
}

static nb_status render(const nb_backend *backend, const nb_scene *sc,
                        const nb_render_options *options, guarded *g, nb_error *err)
{
    nb_backend_state *state;
    nb_status st;
    *g = guarded_new(pixels_of(sc));
    st = backend->open(options, &state, err);
    if (st != NB_OK)
        return st;
    st = backend->render(state, sc, g->image, err);
    backend->close(state);
    return st;
}

/** Keep only the rendered pixels, in place; *n of them. */
static void squeeze(const nb_detector *det, float *image, size_t *n)
{
    size_t i, total = (size_t)det->fpixels * det->spixels;
    for (i = *n = 0; i < total; i++)
        if (rendered(det, i))
            image[(*n)++] = image[i];
}

static int dark_stays_dark(const nb_detector *det, const float *image)
{
    size_t i, total = (size_t)det->fpixels * det->spixels;
    for (i = 0; i < total; i++)
        if (!rendered(det, i) && image[i] != 0)
            return 0;
    return 1;
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

/** NULL, or what is wrong. */
static const char *judge(const float *a, const float *b, size_t n, double N,
                         nb_precision p, nb_comparison *c)
{
    const tolerances *t = &allowed[p];
    double max = 0;
    size_t i;
    for (i = 0; i < n; i++)
        max = b[i] > max ? b[i] : max;
    memset(c, 0, sizeof *c);
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

static double largest_N(const nb_scene *sc)
{
    return fmax(sc->N[0], fmax(sc->N[1], sc->N[2]));
}

/** The same bytes from two threads, and from a smaller region of interest. */
static const char *same_bytes(const nb_scene *sc, const nb_render_options *one,
                              const float *image)
{
    nb_render_options options = *one;
    nb_scene part = *sc;
    nb_error err;
    guarded two, crop;
    size_t i, n = pixels_of(sc);
    const char *wrong = NULL;
    nb_detector *d = &part.det;
    options.threads = 2;
    if (render(&nb_backend_simd, sc, &options, &two, &err) != NB_OK ||
        memcmp(two.image, image, n * sizeof *image) != 0)
        wrong = "two threads give other bytes";
    d->roi_fmin += (d->roi_fmax - d->roi_fmin) / 3;
    d->roi_smin += (d->roi_smax - d->roi_smin) / 2;
    d->roi_fmax -= (d->roi_fmax - d->roi_fmin) / 5;
    if (render(&nb_backend_simd, &part, one, &crop, &err) != NB_OK)
        wrong = "cropped region does not render";
    for (i = 0; i < n && !wrong; i++)
        if (rendered(d, i) && memcmp(&crop.image[i], &image[i], sizeof *image) != 0)
            wrong = "a cropped region gives other bytes";
    free(two.memory);
    free(crop.memory);
    return wrong;
}

static void remember_worst(nb_comparison *worst, const nb_comparison *c)
{
    worst->maxrel = fmax(worst->maxrel, c->maxrel);
    worst->rel6 = fmax(worst->rel6, c->rel6);
    worst->sum = fmax(worst->sum, c->sum);
    worst->corr = fmax(worst->corr, c->corr);
}

static const char *check_one(const nb_scene *sc, const float *truth, nb_isa isa,
                             nb_precision precision, nb_comparison *c)
{
    nb_render_options options = {1, isa, precision, -1, {NULL, NULL, NULL}, 0};
    nb_error err;
    guarded g = {NULL, NULL, 0};
    size_t n, m;
    const char *wrong = NULL;
    float *b = malloc((pixels_of(sc) + 1) * sizeof *b);
    memset(c, 0, sizeof *c);
    if (!b || render(&nb_backend_simd, sc, &options, &g, &err) != NB_OK)
        wrong = "does not render";
    else if (!guards_intact(&g))
        wrong = "wrote outside the image";
    else if (!dark_stays_dark(&sc->det, g.image))
        wrong = "a pixel that is not rendered is not 0";
    else if (precision != NB_PRECISION_DOUBLE)
        wrong = same_bytes(sc, &options, g.image);
    if (!wrong) {
        memcpy(b, truth, pixels_of(sc) * sizeof *b);
        squeeze(&sc->det, b, &n);
        squeeze(&sc->det, g.image, &m);
        wrong = judge(g.image, b, n, largest_N(sc), precision, c);
    }
    free(g.memory);
    free(b);
    return wrong;
}

static int wanted(const char *filter, const char *name)
{
    return !filter || strcmp(filter, name) == 0;
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

static void report(const session *ss, const check_case *c, const char *set, int precision,
                   const char *wrong, const nb_comparison *k)
{
    if (!wrong && !ss->opt.verbose)
        return;
    printf("# %s %s %s: %s (maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e)\n", c->name, set,
           precision_names[precision], wrong ? wrong : "fine", k->maxrel, k->rel6, k->sum,
           k->corr);
    if (wrong && ss->opt.seed && strncmp(c->name, "random-", 7) == 0)
        printf("#   again: check --seed %llu --only %s\n",
               (unsigned long long)ss->opt.seed, c->name + 7);
    if (wrong)
        check_print_case(stdout, c);
    fflush(stdout);
}

/** 0 when the configuration is not valid. */
static int run_case(session *ss, check_case *c)
{
    const nb_render_options scalar = {1,  NB_ISA_SCALAR,      NB_PRECISION_DOUBLE,
                                      -1, {NULL, NULL, NULL}, 0};
    nb_model model;
    nb_error err;
    guarded truth;
    int i, p;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK) {
        if (ss->opt.verbose)
            printf("# %s is not valid: %s\n", c->name, err.message);
        ss->invalid++;
        return 0;
    }
    shrink(&model.scene, c->steps_limit);
    if (nb_simd_reference_reason(&model.scene))
        ss->reference_only++;
    if (render(&nb_backend_scalar, &model.scene, &scalar, &truth, &err) == NB_OK)
        for (i = 0; i < SETS; i++)
            for (p = 0; p < PRECISIONS; p++) {
                const char *set = nb_isa_name(sets[i]), *wrong;
                nb_comparison k;
                if (!nb_cpu_runs(sets[i]) || !wanted(ss->opt.isa, set) ||
                    !wanted(ss->opt.precision, precision_names[p]))
                    continue;
                wrong = check_one(&model.scene, truth.image, sets[i], (nb_precision)p, &k);
                ss->all[i][p].cases++;
                ss->all[i][p].failures += wrong != NULL;
                remember_worst(&ss->all[i][p].worst, &k);
                report(ss, c, set, p, wrong, &k);
            }
    free(truth.memory);
    nb_model_free(&model);
    return 1;
}

/** Print and clear the figures of a group; its failures. */
static int summarise(session *ss, const char *group)
{
    int i, p, failures = 0;
    for (i = 0; i < SETS; i++)
        for (p = 0; p < PRECISIONS; p++) {
            tally *t = &ss->all[i][p];
            const char *set = nb_isa_name(sets[i]);
            if (!wanted(ss->opt.isa, set) ||
                !wanted(ss->opt.precision, precision_names[p]))
                continue;
            if (!nb_cpu_runs(sets[i])) {
                printf("skip %s-%s-%s # not on this processor or in this build\n", group,
                       set, precision_names[p]);
                continue;
            }
            printf("# %s: %d cases, worst maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e\n",
                   set, t->cases, t->worst.maxrel, t->worst.rel6, t->worst.sum,
                   t->worst.corr);
            printf("%s %s-%s-%s\n", t->failures || !t->cases ? "not ok" : "ok", group,
                   set, precision_names[p]);
            failures += t->failures + !t->cases;
            memset(t, 0, sizeof *t);
        }
    fflush(stdout);
    return failures;
}

static int random_cases(session *ss)
{
    check_case c;
    int k, valid = 0;
    for (k = ss->opt.only >= 0 ? ss->opt.only : 0; valid < ss->opt.count; k++) {
        check_random_case(&c, ss->opt.seed, k);
        valid += run_case(ss, &c);
        check_free_case(&c);
        if (ss->opt.only >= 0)
            break;
    }
    printf("# seed %llu: %d random configurations, %d drawn and not valid, %d for the "
           "reference\n",
           (unsigned long long)ss->opt.seed, valid, ss->invalid, ss->reference_only);
    return summarise(ss, "random");
}

static int cruel_cases(session *ss)
{
    check_case c;
    int i, failures = 0;
    for (i = 0; check_cruel_case(&c, i); i++) {
        int valid = run_case(ss, &c);
        if (!valid)
            printf("not ok cruel-%s-is-valid\n", c.name);
        failures += !valid;
        check_free_case(&c);
    }
    return failures + summarise(ss, "cruel");
}

static int one_test(const char *name, int passed)
{
    printf("%s %s\n", passed ? "ok" : "not ok", name);
    return !passed;
}

/** Choosing an instruction set: by request, by the environment, and what is not here. */
static int choice(void)
{
    nb_render_options options = {1,  NB_ISA_AUTO,        NB_PRECISION_MIXED,
                                 -1, {NULL, NULL, NULL}, 0};
    nb_backend_state *state = NULL;
    char line[200];
    nb_error err;
    nb_isa isa;
    int failures = 0;
    unsetenv("NANOBRAGG_ISA");
    failures += one_test("isa-auto", nb_cpu_choose(NB_ISA_AUTO, &isa, &err) == NB_OK);
    options.isa = nb_cpu_runs(NB_ISA_NEON) ? NB_ISA_AVX2 : NB_ISA_NEON;
    failures +=
        one_test("isa-not-here-is-refused",
                 nb_backend_simd.open(&options, &state, &err) == NB_ERR_UNSUPPORTED &&
                     strstr(err.message, nb_isa_name(options.isa)) && !state);
    setenv("NANOBRAGG_ISA", "no-such", 1);
    failures += one_test("environment-nonsense-is-refused",
                         nb_cpu_choose(NB_ISA_AUTO, &isa, &err) == NB_ERR_INPUT);
    setenv("NANOBRAGG_ISA", nb_cpu_runs(NB_ISA_SSE2) ? "sse2" : "scalar", 1);
    options.isa = NB_ISA_AUTO;
    if (nb_cpu_runs(NB_ISA_SSE2)) {
        int opened = nb_backend_simd.open(&options, &state, &err) == NB_OK;
        if (opened)
            nb_backend_simd.describe(state, line, sizeof line);
        failures += one_test("environment-chooses", opened && strstr(line, "sse2"));
        nb_backend_simd.close(state);
    }
    setenv("NANOBRAGG_ISA", "scalar", 1);
    if (nb_backend_simd.open(&options, &state, &err) == NB_OK) {
        nb_backend_simd.describe(state, line, sizeof line);
        nb_backend_simd.close(state);
        failures +=
            one_test("environment-chooses-the-reference", strstr(line, "scalar") != NULL);
    } else {
        failures += one_test("environment-chooses-the-reference", 0);
    }
    unsetenv("NANOBRAGG_ISA");
    nb_backend_simd.close(NULL);
    return failures;
}

static int parse(settings *o, int argc, char **argv)
{
    int i;
    o->count = getenv("NB_BIG") ? 2000 : getenv("NB_REDUCED") ? 30 : 200;
    o->seed = 1;
    o->only = -1;
    for (i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "-v") == 0)
            o->verbose = 1;
        else if (strcmp(argv[i], "--bench") == 0)
            o->bench = 1;
        else if (strcmp(argv[i], "--seed") == 0 && ++i)
            o->seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--count") == 0 && ++i)
            o->count = atoi(value);
        else if (strcmp(argv[i], "--only") == 0 && ++i)
            o->only = atoi(value);
        else if (strcmp(argv[i], "--isa") == 0 && ++i)
            o->isa = value;
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
    int failures = 0;
    if (!parse(&ss.opt, argc, argv)) {
        fprintf(stderr, "usage: check [--seed N] [--count N] [--only K] [--isa NAME] "
                        "[--precision NAME] [--bench] [-v]\n");
        return 2;
    }
    if (ss.opt.bench) {
        check_bench(ss.opt.isa);
        return 0;
    }
    if (ss.opt.only < 0)
        failures += choice() + cruel_cases(&ss);
    ss.invalid = ss.reference_only = 0;
    failures += random_cases(&ss);
    return failures != 0;
}
