/* SPDX-License-Identifier: MIT */
/* Checks the promise of a tolerance (plans/paths.md, sections 3 and 4). Compares images
 * made from reflections, and in blocks of rays, with the scalar reference, on random and
 * on extreme scenes. With I the reference and J the image
 *
 *   -1e-6 I_max <= I - J <= bound + 1e-6 I_max   and   bound <= tolerance
 *
 * in every pixel; the image of a top hat without background is 0 exactly where the
 * reference is 0. The bytes depend neither on the number of threads nor on the region, on
 * every instruction set. --isa takes an instruction set or
 *
 *   grid   the threads of the device's kernels, one after the other (no device is needed)
 *   cuda   the device: ten runs must give the same bytes
 *   room   the device with little memory left, also for other programs: run it alone
 *
 *   spots_check [--seed N] [--count N] [--only K] [--isa NAME] [-v] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "common.h"
#include "spot_grid.h"
#include "spots_room.h"
#include "spots_scenes.h"
#include "tile_grid.h"
#include "params/params.h"
#include "physics/limits.h"
#include "plan/tiles.h"
#include "render/request.h"
#include "render/simd.h"
#include "render/vector_paths.h"
#include "render/vector_paths.h"
#include "../../cuda/backend/host.h"
#include "../support/render.h"

typedef struct figures {
    int scenes, failures, refused, dark;
    double worst, part; /* largest error outside the bound, over I_max; largest used part
                         * of the bound */
} figures;

typedef struct session {
    check_settings opt;
    figures all[NB_SHAPE_COUNT];
    nb_backend_state *device; /* may be NULL */
} session;

/** The reference image I of a region, and the brightest pixel of the whole image. */
typedef struct picture {
    const float *I;
    double brightest;
} picture;

/** The way to make an image. */
typedef enum means { BY_VECTORS, BY_GRID, BY_DEVICE } means;
typedef struct maker {
    const char *name;
    means by;
    const nb_kernel_set *with; /* BY_VECTORS */
    nb_backend_state *state;   /* BY_DEVICE */
} maker;

/** Renders by vectors, even if summing every step is quicker. *result: as from
 * nb_spots_render. */
static nb_status by_vectors(const nb_scene *sc, const nb_kernel_set *with,
                            nb_tolerance may, int threads, float *image,
                            nb_spots_result *result, nb_error *err)
{
    const nb_engine engine = {.threads = threads, .step = 1e-9};
    const nb_planes planes = {image, sc->raster.pixels};
    const nb_hooks quiet = {0};
    const int tiles = !nb_shape_ends(sc->lattice.shape);
    nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    nb_request request = {.tolerance = may};
    nb_render job = {.scene = sc,
                     .plan = &plan,
                     .request = &request,
                     .planes = &planes,
                     .kernels = *with,
                     .threads = threads,
                     .hooks = &quiet,
                     .always = 1,
                     .edge = threads > 1 && 64 % sc->oversample == 0 ? 2 : 0};
    nb_span *spans = NULL;
    const char *unused;
    nb_status st;
    memset(result, 0, sizeof *result);
    plan.tolerance = may;
    if ((result->refused = tiles ? nb_tiles_refuse(&plan) : nb_spots_refuse(&plan)))
        return NB_OK;
    st = nb_spans_build(sc, &spans, &request.n, err);
    request.spans = spans;
    if (!st)
        st = nb_vector_plans_build(
            &plan,
            tiles && nb_fixed_applies(&plan, &unused) ? NB_SUMS_FIXED : NB_SUMS_DOUBLE,
            NULL, &job.plans, err);
    if (!st)
        st = tiles ? nb_tiles_render(&job, result, err)
                   : nb_spots_render(&job, result, err);
    nb_vector_plans_free(job.plans);
    nb_free(spans);
    return st;
}

static nb_status by_grid(const nb_scene *sc, nb_tolerance may, float *image,
                         nb_spots_result *result, nb_error *err)
{
    const nb_engine engine = {.size = 1, .fp64_ratio = 2};
    nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    plan.tolerance = may;
    memset(result, 0, sizeof *result);
    const int tiles = !nb_shape_ends(sc->lattice.shape);
    result->refused = tiles ? nb_tiles_refuse(&plan) : nb_spots_refuse(&plan);
    if (result->refused)
        return NB_OK;
    return tiles ? check_tile_grid_render(&plan, image, result, err)
                 : check_grid_render(&plan, image, result, err);
}

static nb_status by_device(const nb_scene *sc, const maker *way, nb_tolerance may,
                           float *image, nb_spots_result *result, nb_error *err)
{
    const nb_request as = {.precision = NB_PRECISION_MIXED, .tolerance = may};
    nb_status st;
    /* even if summing every step is quicker */
    setenv("NANOBRAGG_CUDA_PATH", !nb_shape_ends(sc->lattice.shape) ? "tiles" : "spots",
           1);
    st = nb_render_scene_as(&nb_backend_cuda, way->state, sc, &as, image, err);
    *result = *nb_cuda_left(way->state);
    return st;
}

/** Renders with a tolerance in one of the ways. *result: as from nb_spots_render. */
static nb_status in_part(const nb_scene *sc, const maker *way, nb_tolerance may,
                         int threads, float *image, nb_spots_result *result, nb_error *err)
{
    if (way->by == BY_VECTORS)
        return by_vectors(sc, way->with, may, threads, image, result, err);
    if (way->by == BY_GRID)
        return by_grid(sc, may, image, result, err);
    return by_device(sc, way, may, image, result, err);
}

static nb_status reference(const nb_scene *sc, float *image, nb_error *err)
{
    const nb_render_options options = {.threads = 2, .precision = NB_PRECISION_DOUBLE};
    nb_backend_state *state;
    nb_status st = nb_backend_scalar.open(&options, &state, err);
    if (!st)
        st = nb_render_scene(&nb_backend_scalar, state, sc, NB_PRECISION_DOUBLE, image,
                             err);
    nb_backend_scalar.close(state);
    return st;
}

static double brightest(const float *image, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        max = fmax(max, image[i]);
    return max;
}

/** Compares image J with I; returns NULL or the error. brightest: I_max of the whole
 * detector. */
static const char *judge(const nb_scene *sc, const check_image *J, const float *I,
                         double brightest, double bound, figures *of)
{
    const double rounding = 1e-6 * brightest;
    const int exact =
        nb_shape_law(sc->lattice.shape) == NB_LAW_EDGE && sc->background == 0;
    if (!check_guards_intact(J))
        return "wrote outside the image";
    for (size_t i = 0; i < J->n; i++) {
        double missing = (double)I[i] - J->image[i];
        if (!check_rendered(sc, i)) {
            if (J->image[i] != 0)
                return "a pixel that is not rendered is not 0";
            continue;
        }
        if (!(missing >= -rounding))
            return "a pixel is too bright";
        if (!(missing <= bound + rounding))
            return "a pixel lacks more than the bound";
        if (exact && (I[i] == 0) != (J->image[i] == 0))
            return "a pixel is 0 in only one of the images";
        of->worst = fmax(of->worst,
                         brightest > 0 ? fmax(-missing, missing - bound) / brightest : 0);
        of->part = fmax(of->part, bound > 1e3 * 1e-7 * brightest ? missing / bound : 0);
    }
    return NULL;
}

/** Compares bytes with another number of threads and with a part of the region; on the
 * device with nine more runs. */
static const char *same_bytes(const nb_scene *sc, const maker *with, nb_tolerance may,
                              const float *image)
{
    const char *wrong = NULL;
    nb_scene part = *sc;
    nb_region *roi = &part.raster.roi;
    /* the last turn has a part of the region */
    const int turns = with->by == BY_DEVICE ? 10 : 2;
    for (int turn = 0; turn < turns && !wrong; turn++) {
        const int crop = turn == turns - 1;
        check_image other = check_image_new(check_pixels(sc));
        nb_spots_result result;
        nb_error err;
        if (crop) {
            roi->fmin += (roi->fmax - roi->fmin) / 3;
            roi->smin += (roi->smax - roi->smin) / 2;
            roi->fmax -= (roi->fmax - roi->fmin) / 5;
        }
        if (in_part(crop ? &part : sc, with, may, crop ? 1 : 3, other.image, &result,
                    &err) ||
            result.refused)
            wrong = "another region or number of threads does not render";
        for (size_t i = 0; i < other.n && !wrong; i++)
            if (check_rendered(&part, i) &&
                memcmp(&other.image[i], &image[i], sizeof *image) != 0)
                wrong = crop ? "a cropped region gives other bytes"
                             : "another run, or three threads, give other bytes";
        free(other.memory);
    }
    return wrong;
}

/** Checks one way to render with one tolerance; returns NULL or the error. */
static const char *check_one(const nb_scene *sc, const maker *with, nb_tolerance may,
                             const float *I, double brightest, figures *of)
{
    check_image J = check_image_new(check_pixels(sc));
    nb_spots_result result;
    const char *wrong = NULL;
    nb_error err;
    double asked = fmin(may.part > 0 ? may.part * brightest : INFINITY,
                        may.photons > 0 ? may.photons : INFINITY);
    if (in_part(sc, with, may, 1, J.image, &result, &err))
        wrong = "does not render";
    else if (result.refused)
        of->refused++;
    else if (!(result.bound <= asked * (1 + 1e-6)))
        wrong = "the bound exceeds the tolerance";
    /* 1e-37 allows for the smallest floats */
    else if (!(result.brightest <= brightest * (1 + 1e-6) + 1e-37))
        wrong = "the reported brightest pixel is too bright";
    else if (!(wrong = judge(sc, &J, I, brightest, result.bound, of)))
        wrong = same_bytes(sc, with, may, J.image);
    of->dark += brightest == 0;
    of->scenes++;
    free(J.memory);
    return wrong;
}

static nb_tolerance some_tolerance(check_rng *rng, double brightest, int shape)
{
    static const double parts[] = {1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-11};
    nb_tolerance may = {.skip = 1};
    if (nb_shape_law(shape) == NB_LAW_EDGE)
        return may;
    if (check_below(rng, 4))
        may.part = parts[check_below(rng, 6)];
    if (may.part == 0 || !check_below(rng, 4))
        may.photons = brightest > 0 ? brightest * parts[check_below(rng, 6)] : 1e-3;
    return may;
}

static void report(session *ss, const check_case *c, const char *set, nb_tolerance may,
                   const char *wrong)
{
    if (!wrong && !ss->opt.verbose)
        return;
    printf("# %s %s, tolerance %g, %g photons: %s\n", c->name, set, may.part, may.photons,
           wrong ? wrong : "fine");
    if (wrong)
        check_print_case(stdout, c);
    fflush(stdout);
}

/** Checks one way on a scene with one tolerance; counts and prints a failure. */
static void run_way(session *ss, const check_case *c, const nb_scene *sc,
                    const maker *way, const picture *of, nb_tolerance may)
{
    figures *f = &ss->all[sc->lattice.shape];
    const char *wrong;
    wrong = check_one(sc, way, may, of->I, of->brightest, f);
    f->failures += wrong != NULL;
    report(ss, c, way->name, may, wrong);
}

/** Checks all selected ways on a scene. */
static void run_scene(session *ss, const check_case *c, const nb_scene *sc,
                      const picture *of, check_rng *rng)
{
    const int many = ss->device || getenv("NB_BIG"),
              turns = many && nb_shape_law(sc->lattice.shape) != NB_LAW_EDGE ? 3 : 1;
    for (int turn = 0; turn < turns; turn++) {
        nb_tolerance may = some_tolerance(rng, of->brightest, sc->lattice.shape);
        const maker grid = {.name = "grid", .by = BY_GRID},
                    device = {.name = "cuda", .by = BY_DEVICE, .state = ss->device};
        for (int i = 0; nb_kernel_sets[i].row && !ss->device; i++) {
            const maker set = {.name = nb_isa_name(nb_kernel_sets[i].isa),
                               .with = &nb_kernel_sets[i]};
            if (nb_cpu_runs(nb_kernel_sets[i].isa) && check_wanted(ss->opt.isa, set.name))
                run_way(ss, c, sc, &set, of, may);
        }
        /* blocks of rays are slow in this way: one tolerance per scene, unless --isa
         * selects only this way */
        if (check_wanted(ss->opt.isa, grid.name) &&
            (turn == 0 || ss->opt.isa || nb_shape_ends(sc->lattice.shape)))
            run_way(ss, c, sc, &grid, of, may);
        if (ss->device)
            run_way(ss, c, sc, &device, of, may);
    }
}

static int too_long(const nb_plan *plan)
{
    return !nb_shape_ends(plan->scene->lattice.shape)
               ? plan->rays * plan->steps > 1e6 || nb_spots_look_seconds(plan) > 0.02
               : nb_spots_seconds(plan) > 0.004;
}

/** Returns 0 if the configuration is not valid or takes too long. */
static int run_case(session *ss, check_case *c, check_rng *rng, double limit)
{
    nb_model model;
    nb_scene whole;
    nb_error err;
    if (nb_model_build(&c->cfg, &c->inputs, NULL, &model, &err) != NB_OK)
        return 0;
    if (c->finish)
        c->finish(&model);
    whole = model.scene;
    whole.raster.mask = NULL;
    whole.raster.roi = (nb_region){0, whole.raster.columns - 1, 0, whole.raster.rows - 1};
    double steps =
        (double)whole.raster.pixels * (double)whole.samples * whole.sensors->layers;
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    nb_plan plan = nb_plan_of(&whole, NB_PRECISION_MIXED, &engine);
    plan.tolerance = (nb_tolerance){.skip = 1, .part = 1e-8};
    if (limit > 0 && (steps > limit || too_long(&plan))) {
        nb_model_free(&model);
        return 0;
    }
    check_image I = check_image_new(check_pixels(&whole));
    if (reference(&whole, I.image, &err) == NB_OK)
        run_scene(ss, c, &model.scene, &(picture){I.image, brightest(I.image, I.n)}, rng);
    free(I.memory);
    nb_model_free(&model);
    return 1;
}

/** Changes a random case, usually into one that suits images from reflections. */
static void reshape(check_case *c, check_rng *rng, int shape)
{
    static const double sizes[] = {1,  2,  3,  4,  6,  7,  8,   9,
                                   11, 12, 15, 20, 30, 50, 100, 300};
    nb_config *cfg = &c->cfg;
    int same = check_below(rng, 2), low = check_below(rng, 5) ? 8 : 0;
    cfg->shape = (nb_shape)shape;
    for (int i = 0; i < 3; i++)
        cfg->N[i] = same && i ? cfg->N[0] : sizes[low + check_below(rng, 16 - low)];
    cfg->curved = cfg->curved && !check_below(rng, 4);
    cfg->interpolate = check_below(rng, 10) ? NB_OFF : cfg->interpolate;
    cfg->fudge = check_below(rng, 3) ? 1 : exp(check_uniform(rng, -2.3, 2.3));
    if (check_below(rng, 2)) /* F outside the table, too: spots are visible */
        c->cfg.default_F = c->inputs.table.default_F = 50;
    cfg->oversample = check_below(rng, 4) ? 1 : 1 + check_below(rng, 24);
    if (!nb_shape_ends(shape) && check_below(rng, 5)) { /* many steps: some are skipped */
        cfg->mosaic_domains = 9 + check_below(rng, 40);
        cfg->mosaic_spread_deg = exp(check_uniform(rng, -4, 1));
        cfg->oversample = check_below(rng, 4) ? 1 : 1 + check_below(rng, 3);
        if (!check_below(rng, 3)) { /* enough sources to skip whole rows */
            cfg->dispersion_pct = exp(check_uniform(rng, -4, 2));
            cfg->dispersion_steps = 17 + check_below(rng, 30);
            cfg->mosaic_domains = 8 + check_below(rng, 8);
            cfg->oversample = 1;
        }
    }
}

static int random_cases(session *ss)
{
    check_case c;
    int valid = 0;
    for (int k = ss->opt.only >= 0 ? ss->opt.only : 0; valid < ss->opt.count; k++) {
        check_rng rng = {ss->opt.seed * 0x9e3779b97f4a7c15u + (uint64_t)k};
        check_random_case(&c, ss->opt.seed + 77, k);
        reshape(&c, &rng, k % NB_SHAPE_COUNT);
        valid += run_case(ss, &c, &rng, 1e6);
        check_free_case(&c);
        if (ss->opt.only >= 0)
            break;
    }
    return valid;
}

/** Checks every extreme scene with each shape. */
static void cruel_cases(session *ss)
{
    check_case c;
    for (int shape = 0; shape < NB_SHAPE_COUNT; shape++)
        for (int i = 0; check_spots_scene(&c, i, (nb_shape)shape); i++) {
            check_rng rng = {ss->opt.seed + (uint64_t)i};
            if (!run_case(ss, &c, &rng, 0)) {
                printf("not ok spots-cruel-is-valid # %s\n", c.name);
                ss->all[0].failures++;
            }
            check_free_case(&c);
        }
}

/* if so many images are made, at least one must be accepted */
enum { ENOUGH_PICTURES = 30 };

static void summarise(session *ss, const char *group)
{
    for (int s = 0; s < NB_SHAPE_COUNT; s++) {
        figures *f = &ss->all[s];
        printf("# %s %s: %d pictures, %d refused, %d dark; worst error beyond the bound "
               "%.2e "
               "of the brightest pixel, worst part of a bound %.3f\n",
               group, nb_param_choice("shape", s), f->scenes, f->refused, f->dark,
               f->worst, f->part);
        const int none = f->refused == f->scenes;
        if (none && !f->failures && f->scenes < ENOUGH_PICTURES)
            printf("skip %s-%s # all %d pictures were refused\n", group,
                   nb_param_choice("shape", s), f->scenes);
        else
            printf("%s %s-%s\n", f->failures || none ? "not ok" : "ok", group,
                   nb_param_choice("shape", s));
    }
}

/** Returns 0 without a device. */
static int open_device(session *ss)
{
    const nb_render_options options = {.device_index = -1};
    nb_error err;
    if (nb_backend_cuda.open(&options, &ss->device, &err) == NB_OK)
        return 1;
    printf("skip spots-check-cuda # %s\n", err.message);
    return 0;
}

static int only_room(const check_settings *opt)
{
    return opt->isa && strcmp(opt->isa, "room") == 0;
}

static int on_device(const check_settings *opt)
{
    return opt->isa && (strcmp(opt->isa, "cuda") == 0 || only_room(opt));
}

int main(int argc, char **argv)
{
    static session ss;
    int failures = 0;
    if (!check_parse(&ss.opt, argc, argv, 1)) {
        fprintf(
            stderr,
            "usage: spots_check [--seed N] [--count N] [--only K] [--isa NAME] [-v]\n");
        return 2;
    }
    if (on_device(&ss.opt) && !open_device(&ss))
        return 0;
    for (int turn = ss.opt.only >= 0; turn < 2 && !only_room(&ss.opt); turn++) {
        memset(ss.all, 0, sizeof ss.all);
        if (turn == 0)
            cruel_cases(&ss);
        else
            random_cases(&ss);
        summarise(&ss, turn ? "spots-random" : "spots-cruel");
        fflush(stdout);
        for (int s = 0; s < NB_SHAPE_COUNT; s++)
            failures += ss.all[s].failures;
    }
    if (ss.device)
        nb_backend_cuda.close(ss.device);
    if (only_room(&ss.opt))
        failures += check_spots_room();
    return failures != 0;
}
