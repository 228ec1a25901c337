/* SPDX-License-Identifier: MIT */
/* Compare the CUDA backend with the scalar reference, in every precision, for random,
 * large and extreme configurations, and for random detectors cut into seven panels.
 * cuda_check [--seed N] [--count N] [--only K] [--precision NAME] [-v] prints `ok NAME`,
 * `not ok NAME`; without a device `skip` and why. --seed N --only K repeats a case. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "../support/cut.h"
#include "../../cuda/backend/host.h"
#include "render/request.h"
#include "../support/render.h"

enum { PRECISIONS = CHECK_PRECISIONS };

typedef struct session {
    check_settings opt;
    nb_backend_state *state[PRECISIONS]; /* kept between cases, as users of the library keep it */
    int cut;                             /* renders each scene cut into panels */
    int cases[PRECISIONS], failures[PRECISIONS];
    nb_comparison worst[PRECISIONS];
} session;

static const char *check_one(session *ss, const nb_scene *sc, const float *truth,
                             int precision, nb_comparison *c, nb_error *err)
{
    check_image g = check_image_new(check_pixels(sc));
    const char *wrong = NULL;
    long m = 0;
    memset(c, 0, sizeof *c);
    if (nb_render_scene(&nb_backend_cuda, ss->state[precision], sc,
                        (nb_precision)precision, g.image, err) != NB_OK)
        wrong = err->message;
    else if (!check_guards_intact(&g))
        wrong = "wrote outside the image";
    else if ((m = check_squeeze(sc, g.image)) < 0)
        wrong = "a pixel that is not rendered is not 0";
    else
        wrong = check_judge(g.image, truth, (size_t)m, sc, (nb_precision)precision, c);
    free(g.memory);
    return wrong;
}

/** The region of interest and the mask as one mask; the caller frees it. */
static uint8_t *mask_of(const nb_scene *sc)
{
    uint8_t *mask = malloc(check_pixels(sc));
    for (size_t i = 0; mask && i < check_pixels(sc); i++)
        mask[i] = (uint8_t)check_rendered(sc, i);
    return mask;
}

/** Like check_one, for a scene cut into panels, in every second case of two widths. */
static const char *check_cut(session *ss, const nb_scene *sc, const float *truth,
                             int precision, nb_comparison *c, nb_error *err)
{
    nb_cut_kind kind = ss->cases[precision] % 2 ? NB_CUT_WIDTHS : NB_CUT_ROWS;
    uint8_t *mask = kind == NB_CUT_WIDTHS ? mask_of(sc) : NULL;
    check_image g = check_image_new(check_pixels(sc));
    float *image = calloc(check_pixels(sc), sizeof *image);
    nb_scene whole = *sc;
    const char *wrong = NULL;
    long m = 0;
    nb_cut cut = {0};
    if (mask)
        whole.raster.mask = mask;
    memset(c, 0, sizeof *c);
    if (!image || (kind == NB_CUT_WIDTHS && !mask) || !nb_cut_scene(&whole, kind, &cut))
        wrong = "out of memory";
    else if (nb_render_scene(&nb_backend_cuda, ss->state[precision], &cut.scene,
                             (nb_precision)precision, g.image, err) != NB_OK)
        wrong = err->message;
    else if (!check_guards_intact(&g))
        wrong = "wrote outside the stack";
    else {
        nb_cut_assemble(&cut, g.image, image, sc->raster.columns);
        m = check_squeeze(sc, image);
        wrong =
            m < 0 ? "a pixel that is not rendered is not 0"
                  : check_judge(image, truth, (size_t)m, sc, (nb_precision)precision, c);
    }
    nb_cut_free(&cut);
    free(mask);
    free(image);
    free(g.memory);
    return wrong;
}

static float *reference(const nb_scene *sc)
{
    const nb_render_options options = {
        .isa = NB_ISA_SCALAR, .precision = NB_PRECISION_DOUBLE, .device_index = -1};
    float *image = malloc((check_pixels(sc) + 1) * sizeof *image);
    nb_backend_state *state = NULL;
    nb_error err;
    if (!image || nb_backend_scalar.open(&options, &state, &err) != NB_OK ||
        nb_render_scene(&nb_backend_scalar, state, sc, NB_PRECISION_DOUBLE, image,
                        &err) != NB_OK) {
        fprintf(stderr, "the reference does not render\n");
        exit(1);
    }
    nb_backend_scalar.close(state);
    check_squeeze(sc, image);
    return image;
}

static void report(const session *ss, const check_case *c, int p, const char *wrong,
                   const nb_comparison *k)
{
    char line[200];
    if (!wrong && !ss->opt.verbose)
        return;
    nb_backend_cuda.describe(ss->state[p], line, sizeof line);
    printf("# %s %s: %s (maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e) %s\n", c->name,
           check_allowed[p].name, wrong ? wrong : "fine", k->maxrel, k->rel6, k->sum,
           k->corr, line);
    if (wrong && strncmp(c->name, "random-", 7) == 0)
        printf("#   again: cuda_check --seed %llu --only %s\n",
               (unsigned long long)ss->opt.seed, c->name + 7);
    if (wrong)
        check_print_case(stdout, c);
    fflush(stdout);
}

/** Returns 0 if the configuration is not valid, or the image is too small to cut. */
static int run_case(session *ss, check_case *c)
{
    nb_model model;
    nb_error err;
    float *truth;
    int p;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK)
        return 0;
    if (ss->cut && (model.scene.raster.columns < 16 || model.scene.raster.rows < 16)) {
        nb_model_free(&model);
        return 0;
    }
    check_shrink(&model.scene, c->steps_limit);
    truth = reference(&model.scene);
    for (p = 0; p < PRECISIONS; p++) {
        nb_comparison k;
        const char *wrong;
        if (ss->opt.precision && strcmp(ss->opt.precision, check_allowed[p].name) != 0)
            continue;
        wrong = (ss->cut ? check_cut : check_one)(ss, &model.scene, truth, p, &k, &err);
        ss->cases[p]++;
        ss->failures[p] += wrong != NULL;
        check_remember_worst(&ss->worst[p], &k);
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
        if (ss->opt.precision && strcmp(ss->opt.precision, check_allowed[p].name) != 0)
            continue;
        printf(
            "# %d cases, %d failed, worst maxrel %.2e rel6 %.2e sum %.2e 1-corr %.2e\n",
            ss->cases[p], ss->failures[p], w->maxrel, w->rel6, w->sum, w->corr);
        printf("%s cuda-%s-%s\n", bad ? "not ok" : "ok", group, check_allowed[p].name);
        failures += bad;
    }
    memset(ss->cases, 0, sizeof ss->cases);
    memset(ss->failures, 0, sizeof ss->failures);
    memset(ss->worst, 0, sizeof ss->worst);
    fflush(stdout);
    return failures;
}

static int random_cases(session *ss, int count)
{
    check_case c;
    int k, valid = 0;
    for (k = ss->opt.only >= 0 ? ss->opt.only : 0; valid < count; k++) {
        check_random_case(&c, ss->opt.seed, k);
        valid += run_case(ss, &c);
        check_free_case(&c);
        if (ss->opt.only >= 0)
            break;
    }
    return summarise(ss, ss->cut ? "panels" : "random");
}

/** Make the image large, the crystal round, Gaussian or top-hat, and the steps per pixel
 * few (unless the case has a list of sources), so that floats alone may render it. */
static void enlarge(check_case *c, int k)
{
    enum { COLUMNS = 389, ROWS = 263 };
    nb_config *cfg = &c->cfg;
    const double finer = (double)cfg->detpixels[0] / COLUMNS;
    cfg->shape = k % 4 == 0   ? NB_SHAPE_GAUSS
                 : k % 4 == 1 ? NB_SHAPE_TOPHAT
                              : NB_SHAPE_ROUND;
    cfg->pixel_mm *= finer;
    cfg->orgx /= finer;
    cfg->orgy /= finer;
    cfg->detpixels[0] = COLUMNS;
    cfg->detpixels[1] = ROWS;
    cfg->roi_set = cfg->curved = 0;
    cfg->interpolate = NB_OFF;
    c->inputs.mask = NULL;
    cfg->oversample = k % 7 == 0 ? 2 : 1;
    cfg->mosaic_domains = k % 3 == 0 ? 2 : 1;
    cfg->phi_steps = cfg->hdiv_steps = cfg->vdiv_steps = 1;
    cfg->hdiv_range_mrad = cfg->vdiv_range_mrad = NAN;
    cfg->dispersion_steps = k % 5 == 0 ? 3 : 1;
    c->steps_limit = 2e6;
    snprintf(c->name, sizeof c->name, "large-%d", k);
}

static int large_cases(session *ss, int count)
{
    check_case c;
    int k, valid = 0;
    for (k = 0; valid < count; k++) {
        check_random_case(&c, ss->opt.seed, k);
        enlarge(&c, k);
        valid += run_case(ss, &c);
        check_free_case(&c);
    }
    return summarise(ss, "large");
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

int main(int argc, char **argv)
{
    static session ss;
    nb_error err;
    int p, failures = 0;
    if (!check_parse(&ss.opt, argc, argv, 0)) {
        fprintf(stderr, "usage: cuda_check [--seed N] [--count N] [--only K] "
                        "[--precision NAME] [-v]\n");
        return 2;
    }
    for (p = 0; p < PRECISIONS; p++) {
        nb_render_options options = {
            .isa = NB_ISA_AUTO, .precision = (nb_precision)p, .device_index = -1};
        if (nb_backend_cuda.open(&options, &ss.state[p], &err) != NB_OK) {
            printf("skip cuda-check # %s\n", err.message);
            return 0;
        }
    }
    if (ss.opt.only < 0)
        failures += cruel_cases(&ss) + large_cases(&ss, ss.opt.count / 10 + 1);
    failures += random_cases(&ss, ss.opt.count);
    ss.cut = 1;
    failures += random_cases(&ss, ss.opt.count / 3 + 1);
    for (p = 0; p < PRECISIONS; p++)
        nb_backend_cuda.close(ss.state[p]);
    return failures != 0;
}
