/* SPDX-License-Identifier: MIT */
/* Compares the arithmetic of a GPU thread for a pixel, on the host, with the scalar
 * engine on random scenes. A plain pixel has one ray. */
#include <string.h>

#include "../support/check.h"

#include "../../cuda/slopes/slope_terms.h"
#include "../../cuda/slopes/slope_tables.h"
#include "sim/derive.h"
#include "sim/sim.h"
#include "render/sums.h"
#include "derive/variables.h"
#include "plan/plan.h"
#include "slope_scenes.h"

enum { SCENES = 60, MANY_SCENES = 1000, PIXELS = SLOPE_EDGE * SLOPE_EDGE };

typedef struct subject {
    nb_sim *sim;
    nb_slope_job job;
    char (*names)[NB_VARIABLE_NAME];
    double *truth, *ours; /* [1 + count][PIXELS] */
    /* number of planes that were made in double because single precision failed */
    int mended;
} subject;

static void open_subject(nb_config *cfg, const char *list, subject *s)
{
    nb_variable_name about[NB_VARIABLES_MAX];
    nb_subject of;
    nb_error err;
    int count = 0;
    size_t bytes;
    if (nb_sim_create(cfg, NULL, &s->sim, &err) != NB_OK ||
        nb_sim_variables(s->sim, list, &s->names, &count, &err) != NB_OK)
        fail_msg("%s", err.message);
    of = nb_sim_subject(s->sim);
    for (int i = 0; i < count; i++)
        assert_int_equal(nb_variable_parse(&of, s->names[i], &about[i], &err), NB_OK);
    if (nb_slope_job_build(&of, about, count, &s->job, &err) != NB_OK)
        fail_msg("%s", err.message);
    bytes = (size_t)(count + 1) * PIXELS * sizeof(double);
    s->truth = malloc(bytes);
    s->ours = malloc(bytes);
    assert_true(s->truth && s->ours);
    for (int row = 0; row < SLOPE_EDGE; row++) {
        const nb_span span = {0, 0, row, SLOPE_EDGE, (size_t)row * SLOPE_EDGE};
        nb_slopes_reference(&s->job, &span, 1, s->truth + span.at, PIXELS);
    }
}

static void close_subject(subject *s)
{
    nb_slope_job_free(&s->job);
    nb_sim_free(s->sim);
    nb_free(s->names);
    free(s->truth);
    free(s->ours);
}

/** Makes planes from totals of each pixel: double if `tables` is NULL, else single. */
static void make_planes(subject *s, const nb_term_tables *tables)
{
    const nb_scene *sc = s->job.scene;
    nb_contraction c;
    nb_error err;
    assert_int_equal(nb_contraction_build(&s->job, &c, &err), NB_OK);
    for (int i = 0; i < PIXELS; i++) {
        const nb_pixel_place pixel = {&sc->panels[0], &sc->sensors[0], i % SLOPE_EDGE,
                                      i / SLOPE_EDGE, nb_slope_job_moves(&s->job)};
        nb_pixel_totals t;
        if (tables)
            nb_pixel_fast(tables, &s->job, &pixel, &t, nb_term_case_of(&s->job));
        else
            nb_pixel_exact(&s->job, &pixel, &t);
        for (int p = 0; p <= s->job.count; p++)
            s->ours[(size_t)p * PIXELS + (size_t)i] = nb_contract(c.first, c.terms, p, &t);
    }
    nb_contraction_free(&c);
}

/** Makes planes that the audit finds wrong again in double, as devices do. */
static void audit(subject *s)
{
    nb_slope_audit a;
    nb_error err;
    double limit;
    assert_int_equal(nb_slope_audit_open(&s->job, SLOPE_EDGE, &a, &err), NB_OK);
    for (int row = 0; row < SLOPE_EDGE; row++) {
        const nb_span span = {0, 0, row, SLOPE_EDGE, (size_t)row * SLOPE_EDGE};
        nb_slope_audit_take(
            &a, &(nb_slope_values){&span, 1, s->ours + span.at, NULL, PIXELS, row});
    }
    limit = nb_slope_audit_limit(&a);
    nb_slope_audit_close(&a);
    if (isfinite(limit) && nb_slope_audit_wanted(&s->job)) {
        s->mended++;
        make_planes(s, NULL);
    }
}

static void compare(const subject *s, int scene, const char *what, double limit)
{
    for (int p = 0; p <= s->job.count; p++) {
        const double *a = s->ours + (size_t)p * PIXELS, *b = s->truth + (size_t)p * PIXELS;
        double largest = 1e-25, off = 0;
        for (int i = 0; i < PIXELS; i++) {
            largest = fmax(largest, fabs(b[i]));
            off = fmax(off, isfinite(a[i]) ? fabs(a[i] - b[i]) : INFINITY);
        }
        if (!(off <= limit * largest))
            fail_msg("scene %d, %s: %s is %.2g of its maximum (%.3g) off", scene, what,
                     p ? s->names[p - 1] : "the image", off / largest, largest);
    }
}

/** Slope of a loss by pixel i, exact in a float. */
static double loss_slope(int i)
{
    return (double)(i * 37 % 101) / 64 - 0.5;
}

/** Value of plane n at a plain pixel. */
static double plain_value(const nb_plain_rows *rows, int n, const nb_plain_pixel *x,
                          const nb_term_case how)
{
    float sum = 0;
    for (int q = 0; q < NB_PLAIN_QUADS; q++)
        sum = nb_plain_quad(x, q, rows->rows + n * NB_PLAIN_TOTALS + 4 * q, sum, how);
    if (how.level < NB_TERMS_ALL)
        return sum;
    return sum + (float)nb_plain_moved(x, rows->moves + n * NB_PLAIN_MOVES);
}

/** Adds the terms of a pixel to a pullback, as a thread does. single: the slope of the
 * loss is in single precision. */
static void pull(const nb_plain_pixel *x, double dloss, int single, double *sums,
                 const nb_term_case how)
{
    float own[NB_PLAIN_TOTALS] = {0};
    if (single)
        nb_pull_single(x, (float)dloss, own, how);
    else
        nb_pull_double(x, dloss, sums, how);
    for (int i = 0; i < NB_PLAIN_TOTALS; i++)
        sums[i] += (double)own[i];
    if (how.level >= NB_TERMS_ALL)
        nb_pull_moves(x, dloss, sums + NB_PULL_MOVES);
}

/** Compares a gradient from sums over pixels with the gradient from planes, relative to
 * the sum of the absolute values of its terms. */
static void check_pull(const subject *s, const nb_plain_rows *rows, const double *sums,
                       const nb_term_case how)
{
    double gradient[NB_VARIABLES_MAX];
    nb_plain_contract(rows, sums, how.level, gradient);
    for (int p = 0; p < s->job.count; p++) {
        const double *plane = s->ours + (size_t)(p + 1) * PIXELS;
        double sum = 0, scale = 1e-25;
        for (int i = 0; i < PIXELS; i++) {
            sum += loss_slope(i) * plane[i];
            scale += fabs(loss_slope(i) * plane[i]);
        }
        if (!(fabs(gradient[p] - sum) <= 5e-6 * scale))
            fail_msg("the gradient by %s is %.2g off", s->names[p],
                     fabs(gradient[p] - sum) / scale);
    }
}

/** Adds the terms of one pixel to the normal equations, as a warp does: the lower half of
 * the matrix c c^T, where c is the column of the pixel. */
static void add_column(const nb_plain_pixel *x, double weight, double dloss,
                       double *items, const nb_term_case how)
{
    const int all = how.level >= NB_TERMS_ALL,
              numbers = all ? (int)NB_PLAIN_TOTALS : (int)NB_PULL_CRYSTAL,
              last = all ? (int)NB_PULL_ALL : (int)NB_PULL_CRYSTAL;
    double moves[NB_PLAIN_MOVES] = {0};
    float column[NB_GRAM_ALL] = {0};
    for (int i = 0; i < numbers; i++)
        if (nb_plain_uses(nb_pull_number(i, how.level), how))
            column[i] = (float)sqrt(weight) * x->sum[nb_pull_number(i, how.level)];
    nb_pull_moves(x, 1, moves);
    for (int i = 0; i < NB_PLAIN_MOVES && all; i++)
        column[numbers + i] = (float)(sqrt(weight) * moves[i]);
    column[last] = (float)(dloss / sqrt(weight));
    for (int i = 0; i <= last; i++)
        for (int j = 0; j <= i; j++)
            items[1 + i * (i + 1) / 2 + j] += (double)column[i] * (double)column[j];
}

static double pixel_weight(int i)
{
    return 0.1 + i % 5;
}

/** Compares the normal equations from `items` with those from planes. Each of the two
 * planes in a product may be off by 5e-6. */
static void check_equations(const subject *s, const nb_plain_rows *rows,
                            const double *items, const nb_term_case how)
{
    const size_t count = (size_t)s->job.count;
    double *sums = calloc(1 + count + count * count, sizeof *sums);
    assert_non_null(sums);
    nb_plain_equations(rows, items, how.level, sums);
    assert_true(sums[0] == items[0]);
    for (size_t p = 0; p < count; p++)
        for (size_t q = 0; q <= p; q++) {
            const double *a = s->ours + (p + 1) * PIXELS, *b = s->ours + (q + 1) * PIXELS;
            double ab = 0, aa = 1e-25, bb = 1e-25, pull = 0, largest = 1e-25;
            for (int i = 0; i < PIXELS; i++) {
                ab += pixel_weight(i) * a[i] * b[i];
                aa += pixel_weight(i) * a[i] * a[i];
                bb += pixel_weight(i) * b[i] * b[i];
                pull += loss_slope(i) * a[i];
                largest += fabs(loss_slope(i) * a[i]);
            }
            if (!(fabs(sums[1 + count + p * count + q] - ab) <= 1e-5 * sqrt(aa * bb)))
                fail_msg("the Fisher matrix of %s and %s is %.2g off", s->names[p],
                         s->names[q],
                         fabs(sums[1 + count + p * count + q] - ab) / sqrt(aa * bb));
            if (!(fabs(sums[1 + p] - pull) <= 5e-6 * largest))
                fail_msg("the fit's gradient by %s is %.2g off", s->names[p],
                         fabs(sums[1 + p] - pull) / largest);
        }
    free(sums);
}

/** Makes and checks planes of plain pixels. Returns 0 if the job has other pixels. */
static int make_plain(subject *s, const nb_term_tables *t)
{
    const nb_term_case how = nb_plain_case_of(&s->job);
    const nb_plain_frame frame = nb_plain_frame_of(&s->job, t);
    const nb_span span = {0, 0, SLOPE_EDGE / 3, SLOPE_EDGE, 0}; /* one row */
    nb_plain_rows rows;
    double sums[2][NB_PULL_ALL] = {{0}},
           items[1 + NB_GRAM_ALL * (NB_GRAM_ALL + 1) / 2] = {7};
    nb_error err;
    assert_int_equal(nb_plain_rows_build(&s->job, t, &span, 1, &rows, &err), NB_OK);
    for (int i = 0; i < PIXELS && rows.planes > 0; i++) {
        const nb_strip row = nb_strip_of(&rows.panels[0], i / SLOPE_EDGE);
        nb_plain_pixel x;
        nb_plain_pixel_of(t, &frame, &row, i % SLOPE_EDGE + 0.5, &x, how);
        for (int n = 0; n < rows.planes; n++)
            s->ours[(size_t)rows.order[n] * PIXELS + (size_t)i] =
                plain_value(&rows, n, &x, how);
        for (int single = 0; single < 2; single++)
            pull(&x, loss_slope(i), single, sums[single], how);
        add_column(&x, pixel_weight(i), loss_slope(i), items, how);
    }
    for (int single = 0; single < 2 && rows.planes > 0; single++)
        check_pull(s, &rows, sums[single], how);
    if (rows.planes > 0)
        check_equations(s, &rows, items, how);
    const int plain = rows.planes > 0;
    nb_plain_rows_free(&rows);
    return plain;
}

/** Table of F^2 as on a device; the caller frees it. */
static float *make_squares(const nb_plan *plan, nb_term_tables *t, int side)
{
    const nb_factor_table *sf = &plan->scene->factors.table;
    nb_index_box box;
    nb_error err;
    float *F2;
    size_t n = 0;
    assert_int_equal(nb_visible_box(plan, &box, &err), NB_OK);
    F2 = malloc((size_t)nb_index_box_count(&box) * (size_t)side * sizeof *F2);
    assert_non_null(F2);
    for (int h = 0; h < box.n[0]; h++)
        for (int k = 0; k < box.n[1]; k++)
            for (int l = 0; l < box.n[2]; l++)
                for (int i = 0; i < side; i++) {
                    double F = nb_F_nearest(sf, i, -(double)(box.low[0] + h),
                                            -(double)(box.low[1] + k),
                                            -(double)(box.low[2] + l));
                    F2[n++] = (float)(F * F);
                }
    nb_term_squares(t, F2, &box, side);
    return F2;
}

/** Returns 1 if the job has terms in single precision. */
static int check_fast(subject *s, int scene, double limit)
{
    const nb_engine engine = {.threads = 1, .step = 1e-9};
    const nb_scene *sc = s->job.scene;
    const nb_plan plan = nb_plan_of(sc, NB_PRECISION_MIXED, &engine);
    const int side = nb_one_table(&sc->beam) ? 1 : sc->factors.table.n_tables;
    nb_term_tables t;
    nb_error err;
    float *F2 = NULL;
    if (nb_term_refuse(&plan, &s->job))
        return 0;
    assert_int_equal(nb_term_tables_build(&s->job, side, &t, &err), NB_OK);
    if (sc->factors.table.nh > 0)
        F2 = make_squares(&plan, &t, side);
    make_planes(s, &t);
    audit(s);
    compare(s, scene, "single", limit);
    if (make_plain(s, &t)) {
        audit(s);
        compare(s, scene, "one ray", limit);
    }
    nb_term_tables_free(&t);
    free(F2);
    return 1;
}

/** Checks a scene in double and, where allowed, in single precision. Returns 1 if also in
 * single. */
static int check_scene(int scene, int *mended)
{
    nb_config cfg;
    subject s = {0};
    int fast;
    slope_scene(&cfg, scene);
    open_subject(&cfg, slope_names, &s);
    make_planes(&s, NULL);
    compare(&s, scene, "double", 1e-9);
    fast = check_fast(&s, scene, scene % 4 == 3 ? 2e-5 : 5e-6);
    *mended += s.mended > 0;
    close_subject(&s);
    return fast;
}

UNIT_TEST(random_scenes)
{
    const int scenes = nb_of_form(MANY_SCENES, SCENES, SCENES / 4);
    int fast = 0, mended = 0;
    for (int scene = 0; scene < scenes; scene++)
        fast += check_scene(scene, &mended);
    assert_true(fast > scenes / 2 && mended <= fast / 20);
}

/** Fractional numbers of cells, with samples so close to a reflection that N d is only a
 * few steps of 2^-32. */
UNIT_TEST(near_reflections)
{
    static const int scenes[] = {353, 473, 692};
    int mended = 0;
    for (int i = 0; i < 3; i++)
        assert_true(check_scene(scenes[i], &mended));
    assert_int_equal(mended, 0);
}

/** An image without a pixel near a peak: a plane is then small compared with the errors
 * of single precision. */
UNIT_TEST(few_peaks)
{
    static const int scenes[] = {
        840, 1366}; /* in scene 1366 materials are brighter than the crystal */
    int mended = 0;
    for (int i = 0; i < 2; i++)
        assert_true(check_scene(scenes[i], &mended));
    assert_int_equal(mended, 2);
}

/** A curved detector that turns about its point in the beam only moves pixels along its
 * surface: terms of a material, 2e7 times those of the crystal, cancel. */
UNIT_TEST(rolls_beside_materials)
{
    enum { ROLLED = 149 };
    nb_config cfg;
    subject s = {0};
    slope_scene(&cfg, ROLLED);
    open_subject(&cfg, slope_names, &s);
    make_planes(&s, NULL);
    compare(&s, ROLLED, "double", 1e-12);
    close_subject(&s);
    slope_set(&cfg, "default_F", "0", 0, 0, 0); /* the material without the crystal */
    open_subject(&cfg, "tilt,distance", &s);
    for (int p = 1; p <= s.job.count; p++) {
        double largest = 0;
        for (int i = 0; i < PIXELS; i++)
            largest = fmax(largest, fabs(s.truth[(size_t)p * PIXELS + (size_t)i]));
        assert_true(strcmp(s.names[p - 1], "distance") ? largest == 0 : largest > 0);
    }
    close_subject(&s);
}

/** Checks scenes with one ray per pixel; `single`: also one domain, wavelength and phi
 * step. Returns the number of plain scenes. */
static int one_ray(const char *list, int single)
{
    static const char *const ones[] = {"mosaic_dom", "dispsteps", "phisteps"};
    int plain = 0;
    for (int scene = 0; scene < SCENES; scene++) {
        nb_config cfg;
        subject s = {0};
        nb_term_tables t;
        nb_error err;
        slope_scene(&cfg, scene);
        slope_set(&cfg, "oversample", "1", 0, 0, 0);
        slope_set(&cfg, "point_pixel", "%.0f", scene % 5 == 1, 0, 0);
        for (int i = 0; i < 3 && single; i++)
            slope_set(&cfg, ones[i], "1", 0, 0, 0);
        open_subject(&cfg, list, &s);
        check_fast(&s, scene, scene % 4 == 3 ? 2e-5 : 5e-6);
        assert_int_equal(nb_term_tables_build(&s.job, 1, &t, &err), NB_OK);
        plain += make_plain(&s, &t);
        nb_term_tables_free(&t);
        close_subject(&s);
    }
    return plain;
}

UNIT_TEST(crystals)
{
    for (int single = 0; single < 2; single++)
        assert_true(one_ray("rot,cell,N,lambda,water,fluence,default_F", single) >
                    SCENES / 3);
}

UNIT_TEST(whole_scenes)
{
    for (int single = 0; single < 2; single++)
        assert_true(one_ray(slope_names, single) > SCENES / 3);
}
