/* SPDX-License-Identifier: MIT */
/* Compare derivatives by CUDA with the scalar engine on random scenes: planes, pullbacks,
 * normal equations of a fit. Also check theorems and that ten runs give the same bytes.
 * cuda_derive [--count N] [--only K] prints `ok NAME` and `not ok NAME`; without a device
 * `skip` and the reason. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/slope_scenes.h"

enum { PIXELS = SLOPE_EDGE * SLOPE_EDGE, REPEATS = 10, KNOTS = 3 };

typedef struct session {
    int count, only, failed;
    double worst_mixed, worst_sharp, worst_double, worst_pull, worst_fit, worst_even;
} session;

/** Derivatives of a simulation; owns the arrays. */
typedef struct answer {
    char (*names)[NB_VARIABLE_NAME];
    int count;
    double *planes; /* [count][PIXELS] */
    float image[PIXELS];
    double *gradient, *fit; /* [count]; loss, slopes, matrix by count + KNOTS variables */
    double *even;           /* like fit, but without knots and over an even background */
} answer;

static void stop(const char *what)
{
    printf("not ok cuda-derive # %s\n", what);
    exit(1);
}

static double *numbers(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (!x)
        stop("not enough memory");
    return x;
}

static void free_answer(answer *a)
{
    nb_free(a->names);
    free(a->planes);
    free(a->gradient);
    free(a->fit);
    free(a->even);
}

/** Makes the image to fit: `image`, a tenth brighter; one pixel in seven is NaN. */
static void make_fit_image(const float *image, float *photons)
{
    for (int i = 0; i < PIXELS; i++)
        photons[i] = i % 7 == 3 ? NAN : image[i] * 1.1f + (float)(i % 5);
}

static nb_status fit(nb_sim *sim, const char *const *names, answer *a, nb_error *err)
{
    static const double knots[KNOTS] = {0, 0.1, 0.3}, values[KNOTS] = {1, 2, 1.5};
    const size_t n = (size_t)a->count + KNOTS;
    float photons[PIXELS];
    const nb_observation seen = {
        .photons = photons, .n_knots = KNOTS, .knots = knots, .values = values};
    make_fit_image(a->image, photons);
    a->fit = numbers(1 + n + n * n);
    return nb_sim_normal(sim, names, a->count, &seen, a->fit, a->fit + 1, a->fit + 1 + n,
                         err);
}

/** Fits without knots. Everywhere the background has a quarter of the brightest pixel's
 * light. */
static nb_status fit_even(nb_sim *sim, int scene, const char *const *names, answer *a,
                          nb_error *err)
{
    const size_t n = (size_t)a->count;
    float photons[PIXELS], background[PIXELS], brightest = 1e-6f;
    const nb_observation seen = {.photons = photons,
                                 .background = background,
                                 .likelihood = scene % 2 ? NB_LIKELIHOOD_GAUSS
                                                         : NB_LIKELIHOOD_POISSON,
                                 .sigma = 1.5};
    for (int i = 0; i < PIXELS; i++)
        brightest = fmaxf(brightest, a->image[i]);
    for (int i = 0; i < PIXELS; i++) {
        background[i] = 0.25f * brightest;
        photons[i] = i % 7 == 3   ? NAN
                     : i % 5 == 1 ? 0
                                  : a->image[i] * 1.1f + 0.1f * brightest * (float)(i % 4);
    }
    a->even = numbers(1 + n + n * n);
    return nb_sim_normal(sim, names, a->count, &seen, a->even, a->even + 1,
                         a->even + 1 + n, err);
}

static nb_status ask(nb_sim *sim, int scene, const char *list, answer *a, nb_error *err)
{
    const char *names[NB_VARIABLES_MAX];
    double dloss[PIXELS];
    nb_status st = nb_sim_variables(sim, list, &a->names, &a->count, err);
    if (st)
        return st;
    for (int i = 0; i < a->count; i++)
        names[i] = a->names[i];
    for (int i = 0; i < PIXELS; i++)
        dloss[i] = sin(0.7 * i) + 0.3;
    a->planes = numbers((size_t)a->count * PIXELS);
    a->gradient = numbers((size_t)a->count);
    if ((st = nb_sim_derivatives(sim, names, a->count, NB_REAL_FLOAT64, a->planes,
                                 a->image, err)) ||
        (st = nb_sim_pullback(sim, names, a->count, NB_REAL_FLOAT64, dloss, a->gradient,
                              NULL, err)))
        return st;
    st = fit(sim, names, a, err);
    return st ? st : fit_even(sim, scene, names, a, err);
}

/** Ends the program if a note reports that the CPU makes a part of a scene. */
static void fail_on_note(void *user, const char *line)
{
    (void)user;
    if (strstr(line, "on the CPU"))
        stop(line);
}

/** Makes the derivatives by a device in a precision. */
static void answer_to(const char *list, int scene, const char *device,
                      nb_precision precision, answer *a)
{
    const nb_hooks hooks = {NULL, fail_on_note, NULL};
    nb_config cfg;
    nb_sim *sim;
    nb_error err;
    memset(a, 0, sizeof *a);
    slope_scene(&cfg, scene);
    slope_set(&cfg, "device", device, 0, 0, 0);
    cfg.precision = precision;
    if (!strcmp(device, "cpu"))
        cfg.isa = NB_ISA_SCALAR;
    if (nb_sim_create(&cfg, &hooks, &sim, &err) != NB_OK ||
        ask(sim, scene, list, a, &err) != NB_OK)
        stop(err.message);
    nb_sim_free(sim);
}

static void answer_of(int scene, const char *device, nb_precision precision, answer *a)
{
    answer_to(slope_names, scene, device, precision, a);
}

/** Largest difference |a - b| of n numbers over the largest |b|, or over 1e-25 if all |b|
 * are smaller. */
static double difference(const double *a, const double *b, size_t n)
{
    double largest = 1e-25, off = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(b[i]));
        off = fmax(off, isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
    }
    return off / largest;
}

static void judge(session *s, int scene, const char *what, const char *name, double off,
                  double limit)
{
    if (off <= limit)
        return;
    s->failed++;
    printf("# scene %d, %s: %s is %.2g off (limit %.0e)\n", scene, what, name, off, limit);
}

/** Compares the planes of a with the planes of b that have the same names. */
static double compare_planes(session *s, int scene, const char *what, const answer *a,
                             const answer *b, double limit)
{
    double worst = 0;
    for (int p = 0, q = 0; p < a->count; p++, q++) {
        double off;
        while (strcmp(a->names[p], b->names[q]))
            q++;
        off = difference(a->planes + (size_t)p * PIXELS, b->planes + (size_t)q * PIXELS,
                         PIXELS);
        judge(s, scene, what, a->names[p], off, limit);
        worst = fmax(worst, off);
    }
    return worst;
}

/** Compares pullbacks, relative to the sum of the absolute values of their terms, and
 * each number of a fit, relative to its scale. */
static void compare_sums(session *s, int scene, const char *what, const answer *a,
                         const answer *b, double limit)
{
    const size_t n = (size_t)a->count + KNOTS;
    const double *gradient = b->fit + 1, *matrix = gradient + n;
    for (int p = 0; p < a->count; p++) {
        double scale = 1e-25, off;
        for (int i = 0; i < PIXELS; i++)
            scale +=
                fabs((sin(0.7 * i) + 0.3) * b->planes[(size_t)p * PIXELS + (size_t)i]);
        off = fabs(a->gradient[p] - b->gradient[p]) / scale;
        judge(s, scene, what, a->names[p], off, limit);
        s->worst_pull = fmax(s->worst_pull, off);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const double scale = sqrt(matrix[i * n + i] * matrix[j * n + j]) + 1e-25;
            double off = fabs(a->fit[1 + n + i * n + j] - matrix[i * n + j]) / scale;
            judge(s, scene, what, "the Fisher matrix", off, limit);
            s->worst_fit = fmax(s->worst_fit, off);
        }
}

/** Index of the name number p of a among the names of b. */
static size_t place_of(const answer *a, size_t p, const answer *b)
{
    size_t q = 0;
    while (strcmp(a->names[p], b->names[q]))
        q++;
    return q;
}

/** Compares the fits of `even` in single precision: the matrix relative to its diagonal,
 * slopes of the loss relative to their values and to their stated errors, the loss
 * relative to its value and the number of pixels. Each plane may be off by 5e-6, so over
 * this background a weight may be off by 2e-5. */
static void compare_even(session *s, int scene, const char *what, const answer *a,
                         const answer *b, double limit)
{
    const size_t n = (size_t)a->count, m = (size_t)b->count;
    const double *matrix = b->even + 1 + m;
    double off = fabs(a->even[0] - b->even[0]) / (fabs(b->even[0]) + PIXELS);
    judge(s, scene, what, "the loss", off, limit);
    for (size_t i = 0; i < n; i++) {
        const size_t p = place_of(a, i, b);
        const double own = matrix[p * m + p];
        off = fabs(a->even[1 + i] - b->even[1 + p]) /
              (fabs(b->even[1 + p]) + sqrt(own * (fabs(b->even[0]) + PIXELS)) + 1e-25);
        judge(s, scene, what, "a slope of the loss", off, limit);
        for (size_t j = 0; j <= i; j++) {
            const size_t q = place_of(a, j, b);
            const double scale = sqrt(own * matrix[q * m + q]) + 1e-25;
            off =
                fabs(a->even[1 + n + i * n + j] - matrix[p > q ? p * m + q : q * m + p]) /
                scale;
            judge(s, scene, what, "the even Fisher matrix", off, limit);
            s->worst_even = fmax(s->worst_even, off);
        }
    }
}

/** a dI/da + b dI/db + c dI/dc + lambda dI/dlambda is 0 in every pixel. */
static void check_euler(session *s, int scene, const answer *a)
{
    static const char *const names[] = {"cell_a", "cell_b", "cell_c", "lambda"};
    nb_config cfg;
    double sum[PIXELS] = {0}, largest = 1e-25, off = 0, value[4];
    slope_scene(&cfg, scene);
    for (int i = 0; i < 3; i++)
        value[i] = cfg.cell[i];
    value[3] = cfg.lambda_A;
    for (int k = 0; k < 4; k++)
        for (int p = 0; p < a->count; p++)
            for (int i = 0; i < PIXELS && !strcmp(a->names[p], names[k]); i++) {
                double x = value[k] * a->planes[(size_t)p * PIXELS + (size_t)i];
                sum[i] += x;
                largest = fmax(largest, fabs(x));
            }
    for (int i = 0; i < PIXELS; i++)
        off = fmax(off, fabs(sum[i]));
    judge(s, scene, "double", "Euler's sum", off / largest, 1e-10);
}

static void check_scene(session *s, int scene)
{
    answer truth, mixed, crystal, precise;
    const int sharp = scene % 4 == 3;
    double *worst = sharp ? &s->worst_sharp : &s->worst_mixed;
    answer_of(scene, "cpu", NB_PRECISION_DOUBLE, &truth);
    answer_of(scene, "cuda", NB_PRECISION_MIXED, &mixed);
    answer_of(scene, "cuda", NB_PRECISION_DOUBLE, &precise);
    answer_to("rot,cell,N,lambda,water,fluence,default_F", scene, "cuda",
              NB_PRECISION_MIXED, &crystal); /* with one ray per pixel: another kernel */
    *worst = fmax(*worst,
                  compare_planes(s, scene, "mixed", &mixed, &truth, sharp ? 2e-5 : 5e-6));
    *worst = fmax(*worst, compare_planes(s, scene, "crystal", &crystal, &truth,
                                         sharp ? 2e-5 : 5e-6));
    compare_even(s, scene, "mixed", &mixed, &truth, sharp ? 4e-5 : 2e-5);
    compare_even(s, scene, "crystal", &crystal, &truth, sharp ? 4e-5 : 2e-5);
    s->worst_double =
        fmax(s->worst_double, compare_planes(s, scene, "double", &precise, &truth, 1e-9));
    compare_sums(s, scene, "double", &precise, &truth, 1e-9);
    /* the theorem does not include the lengths of materials */
    if (!slope_has_materials(scene))
        check_euler(s, scene, &precise);
    free_answer(&truth);
    free_answer(&mixed);
    free_answer(&crystal);
    free_answer(&precise);
}

/** Checks that every run gives the same bytes. */
static void check_equal(session *s, int scene)
{
    answer first, next;
    answer_of(scene, "cuda", NB_PRECISION_MIXED, &first);
    for (int i = 1; i < REPEATS; i++) {
        const size_t n = (size_t)first.count + KNOTS;
        int same;
        answer_of(scene, "cuda", NB_PRECISION_MIXED, &next);
        same = !memcmp(first.planes, next.planes,
                       (size_t)first.count * PIXELS * sizeof(double)) &&
               !memcmp(first.image, next.image, sizeof first.image) &&
               !memcmp(first.gradient, next.gradient,
                       (size_t)first.count * sizeof(double)) &&
               !memcmp(first.fit, next.fit, (1 + n + n * n) * sizeof(double));
        judge(s, scene, "equal runs", "a byte", !same, 0);
        free_answer(&next);
    }
    free_answer(&first);
}

static int print_result(session *s, const char *name, const char *text)
{
    int failed = s->failed;
    printf("%s cuda-derive-%s%s\n", failed ? "not ok" : "ok", name, text);
    s->failed = 0;
    return failed != 0;
}

/** Returns 0, and the reason in `why`, without a device. */
static int has_device(char *why, size_t size)
{
    nb_config cfg;
    nb_sim *sim;
    nb_error err;
    float image[PIXELS];
    slope_scene(&cfg, 0);
    slope_set(&cfg, "device", "cuda", 0, 0, 0);
    snprintf(why, size, "%s", "");
    if (nb_sim_create(&cfg, NULL, &sim, &err) != NB_OK) {
        snprintf(why, size, "%s", err.message);
        return 0;
    }
    if (nb_sim_render(sim, image, NULL, &err) != NB_OK)
        snprintf(why, size, "%s", err.message);
    nb_sim_free(sim);
    return why[0] == 0;
}

int main(int argc, char **argv)
{
    session s = {.count = 100, .only = -1};
    char why[600], text[200];
    int failed;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "--count"))
            s.count = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "--only"))
            s.only = atoi(argv[i + 1]);
    if (!has_device(why, sizeof why)) {
        printf("skip cuda-derive # %s\n", why);
        return 0;
    }
    for (int k = s.only >= 0 ? s.only : 0; k < (s.only >= 0 ? s.only + 1 : s.count); k++)
        check_scene(&s, k);
    snprintf(text, sizeof text,
             " # %d scenes; worst: mixed %.2g (N above 100: %.2g), double %.2g, pullback "
             "%.2g, Fisher matrix %.2g (mixed %.2g)",
             s.only >= 0 ? 1 : s.count, s.worst_mixed, s.worst_sharp, s.worst_double,
             s.worst_pull, s.worst_fit, s.worst_even);
    failed = print_result(&s, "random", text);
    for (int k = 0; k < 10; k++)
        check_equal(&s, k);
    return failed + print_result(&s, "equal-runs", "") > 0;
}
