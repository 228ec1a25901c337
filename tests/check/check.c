/* SPDX-License-Identifier: MIT */
/* Compares every instruction set and precision of the vector renderer with the scalar
 * reference, on random valid and on extreme (cruel) cases.
 *
 *   check [--seed N] [--count N] [--only K] [--isa NAME] [--precision NAME] [-v]
 *
 * Prints lines `ok NAME` and `not ok NAME`, and a failing case as flags; `--seed N
 * --only K` runs that case again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "physics/limits.h"
#include "base/threads.h"
#include "render/request.h"
#include "render/vector_paths.h"
#include "render/simd.h"
#include "../support/render.h"

static const nb_isa sets[] = {NB_ISA_SSE2, NB_ISA_AVX2, NB_ISA_AVX512, NB_ISA_NEON};
enum { SETS = 4, PRECISIONS = CHECK_PRECISIONS };

typedef struct tally {
    int cases, failures;
    nb_comparison worst;
} tally;

typedef struct session {
    check_settings opt;
    tally all[SETS][PRECISIONS];
    int invalid, reference_only;
} session;

static nb_status render(const nb_backend *backend, const nb_scene *sc,
                        const nb_render_options *options, check_image *g, nb_error *err)
{
    nb_backend_state *state;
    nb_status st;
    *g = check_image_new(check_pixels(sc));
    st = backend->open(options, &state, err);
    if (st != NB_OK)
        return st;
    st = nb_render_scene(backend, state, sc, options->precision, g->image, err);
    backend->close(state);
    return st;
}

/** Compares bytes of an image with images by two threads and of a part of the ROI. */
static const char *same_bytes(const nb_scene *sc, const nb_render_options *one,
                              const float *image)
{
    nb_render_options options = *one;
    nb_scene part = *sc;
    nb_error err;
    check_image two, crop;
    size_t i, n = check_pixels(sc);
    const char *wrong = NULL;
    nb_region *roi = &part.raster.roi;
    options.threads = 2;
    if (render(&nb_backend_simd, sc, &options, &two, &err) != NB_OK ||
        memcmp(two.image, image, n * sizeof *image) != 0)
        wrong = "two threads give other bytes";
    roi->fmin += (roi->fmax - roi->fmin) / 3;
    roi->smin += (roi->smax - roi->smin) / 2;
    roi->fmax -= (roi->fmax - roi->fmin) / 5;
    if (render(&nb_backend_simd, &part, one, &crop, &err) != NB_OK)
        wrong = "cropped region does not render";
    for (i = 0; i < n && !wrong; i++)
        if (check_rendered(&part, i) &&
            memcmp(&crop.image[i], &image[i], sizeof *image) != 0)
            wrong = "a cropped region gives other bytes";
    free(two.memory);
    free(crop.memory);
    return wrong;
}

/** True if a pixel exceeds nb_photon_bound. If that bound is low enough, nb_sim_render
 * does not look for pixels too large for a float. */
static int exceeds_bound(const nb_scene *sc, const float *truth)
{
    double bound = nb_photon_bound(sc) * (1 + 1e-6);
    size_t i, n = check_pixels(sc);
    for (i = 0; i < n; i++)
        if (check_rendered(sc, i) && !(truth[i] <= bound))
            return 1;
    return 0;
}

static const char *check_one(const nb_scene *sc, const float *truth, nb_isa isa,
                             nb_precision precision, nb_comparison *c)
{
    nb_render_options options = {
        .threads = 1, .isa = isa, .precision = precision, .device_index = -1};
    nb_error err;
    check_image g = {NULL, NULL, 0};
    const char *wrong = NULL;
    long n;
    float *b = malloc((check_pixels(sc) + 1) * sizeof *b);
    memset(c, 0, sizeof *c);
    if (!b || render(&nb_backend_simd, sc, &options, &g, &err) != NB_OK)
        wrong = "does not render";
    else if (!check_guards_intact(&g))
        wrong = "wrote outside the image";
    else if (precision != NB_PRECISION_DOUBLE)
        wrong = same_bytes(sc, &options, g.image);
    if (!wrong && exceeds_bound(sc, truth))
        wrong = "a pixel is brighter than nb_photon_bound";
    if (!wrong) {
        memcpy(b, truth, check_pixels(sc) * sizeof *b);
        check_squeeze(sc, b);
        n = check_squeeze(sc, g.image);
        wrong = n < 0 ? "a pixel that is not rendered is not 0"
                      : check_judge(g.image, b, (size_t)n, sc, precision, c);
    }
    free(g.memory);
    free(b);
    return wrong;
}

static void report(const session *ss, const check_case *c, const char *set, int precision,
                   const char *wrong, const nb_comparison *k)
{
    if (!wrong && !ss->opt.verbose)
        return;
    printf("# %s %s %s: %s (maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e)\n", c->name, set,
           check_allowed[precision].name, wrong ? wrong : "fine", k->maxrel, k->rel6,
           k->sum, k->corr);
    if (wrong && ss->opt.seed && strncmp(c->name, "random-", 7) == 0)
        printf("#   again: check --seed %llu --only %s\n",
               (unsigned long long)ss->opt.seed, c->name + 7);
    if (wrong)
        check_print_case(stdout, c);
    fflush(stdout);
}

static int goes_to_reference(const nb_scene *sc)
{
    const nb_engine any = {.threads = 1, .step = 1e-9};
    nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &any);
    const char *why;
    plan.paths = nb_vector_paths;
    return strcmp(nb_path_choose(&plan, &why)->name, "reference") == 0;
}

/** Returns 0 when the configuration is not valid. */
static int run_case(session *ss, check_case *c)
{
    const nb_render_options scalar = {.threads = 1,
                                      .isa = NB_ISA_SCALAR,
                                      .precision = NB_PRECISION_DOUBLE,
                                      .device_index = -1};
    nb_model model;
    nb_error err;
    check_image truth;
    int i, p;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK) {
        if (ss->opt.verbose)
            printf("# %s is not valid: %s\n", c->name, err.message);
        ss->invalid++;
        return 0;
    }
    check_shrink(&model.scene, c->steps_limit);
    ss->reference_only += goes_to_reference(&model.scene);
    if (render(&nb_backend_scalar, &model.scene, &scalar, &truth, &err) == NB_OK)
        for (i = 0; i < SETS; i++)
            for (p = 0; p < PRECISIONS; p++) {
                const char *set = nb_isa_name(sets[i]), *wrong;
                nb_comparison k;
                if (!nb_cpu_runs(sets[i]) || !check_wanted(ss->opt.isa, set) ||
                    !check_wanted(ss->opt.precision, check_allowed[p].name))
                    continue;
                wrong = check_one(&model.scene, truth.image, sets[i], (nb_precision)p, &k);
                ss->all[i][p].cases++;
                ss->all[i][p].failures += wrong != NULL;
                check_remember_worst(&ss->all[i][p].worst, &k);
                report(ss, c, set, p, wrong, &k);
            }
    free(truth.memory);
    nb_model_free(&model);
    return 1;
}

/** Prints and clears the figures of a group of cases; returns the number of failures. */
static int summarise(session *ss, const char *group)
{
    int i, p, failures = 0;
    for (i = 0; i < SETS; i++)
        for (p = 0; p < PRECISIONS; p++) {
            tally *t = &ss->all[i][p];
            const char *set = nb_isa_name(sets[i]);
            if (!check_wanted(ss->opt.isa, set) ||
                !check_wanted(ss->opt.precision, check_allowed[p].name))
                continue;
            if (!nb_cpu_runs(sets[i])) {
                printf("skip %s-%s-%s # not on this processor or in this build%s\n",
                       group, set, check_allowed[p].name,
                       sets[i] == NB_ISA_NEON ? "; make neon-check runs it" : "");
                continue;
            }
            printf("# %s: %d cases, worst maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e\n",
                   set, t->cases, t->worst.maxrel, t->worst.rel6, t->worst.sum,
                   t->worst.corr);
            printf("%s %s-%s-%s\n", t->failures || !t->cases ? "not ok" : "ok", group,
                   set, check_allowed[p].name);
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

/** Checks the choice of an instruction set: automatic, by the environment, and refused if
 * this machine lacks the set. */
static int choice(void)
{
    nb_render_options options = {.threads = 1,
                                 .isa = NB_ISA_AUTO,
                                 .precision = NB_PRECISION_MIXED,
                                 .device_index = -1};
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

int main(int argc, char **argv)
{
    static session ss;
    int failures = 0;
    if (!check_parse(&ss.opt, argc, argv, 1)) {
        fprintf(stderr, "usage: check [--seed N] [--count N] [--only K] [--isa NAME] "
                        "[--precision NAME] [-v]\n");
        return 2;
    }
    if (ss.opt.only < 0)
        failures += choice() + cruel_cases(&ss);
    ss.invalid = ss.reference_only = 0;
    failures += random_cases(&ss);
    return failures != 0;
}
