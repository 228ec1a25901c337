/* SPDX-License-Identifier: MIT */
/* The rows of a fit, its variables and their matrices. */
#include "../support/check.h"
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "refine/minimise.h"
#include "refine/fit.h"
#include "refine/joint_solve.h"

enum { MOST = 12 };

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/** A random positive matrix: A^T A of a few more rows than columns, columns of very unlike size. */
static void random_problem(uint64_t *state, int n, double *M, double *G, double *loss)
{
    double A[(MOST + 3) * MOST], r[MOST + 3], left = 0;
    memset(M, 0, (size_t)(n * n) * sizeof *M);
    memset(G, 0, (size_t)n * sizeof *G);
    for (int k = 0; k < n; k++) {
        double scale = pow(10, 12 * uniform(state) - 6);
        for (int i = 0; i < n + 3; i++)
            A[i * MOST + k] = scale * (2 * uniform(state) - 1);
    }
    for (int i = 0; i < n + 3; i++) {
        r[i] = 2 * uniform(state) - 1;
        left += r[i] * r[i];
        for (int k = 0; k < n; k++) {
            G[k] += A[i * MOST + k] * r[i];
            for (int l = 0; l < n; l++)
                M[k * n + l] += A[i * MOST + k] * A[i * MOST + l];
        }
    }
    *loss = left / 2 * (1 + uniform(state));
}

static void near(double a, double b, double scale, double tolerance)
{
    if (!(fabs(a - b) <= tolerance * scale))
        fail_msg("%.17g is not %.17g (scale %g)", a, b, scale);
}

UNIT_TEST(rows_have_norm_gradient_and_matrix)
{
    uint64_t random = 1;
    for (int trial = 0; trial < 300; trial++) {
        int n = 1 + trial % MOST;
        double M[MOST * MOST], G[MOST], f[MOST + 1], J[MOST * (MOST + 1)];
        double R[MOST * MOST], y[MOST], loss, norm = 0;
        random_problem(&random, n, M, G, &loss);
        assert_true(nb_fit_rows(n, loss, G, M, f, J, R, y));
        for (int i = 0; i <= n; i++)
            norm += f[i] * f[i];
        near(norm, 2 * loss, loss, 1e-10);
        for (int k = 0; k < n; k++) {
            double g = 0;
            for (int i = 0; i <= n; i++)
                g += J[k * (n + 1) + i] * f[i];
            near(g, G[k], sqrt(M[k * n + k] * 2 * loss), 1e-9);
            for (int l = 0; l < n; l++) {
                double m = 0;
                for (int i = 0; i <= n; i++)
                    m += J[k * (n + 1) + i] * J[l * (n + 1) + i];
                near(m, M[k * n + l], sqrt(M[k * n + k] * M[l * n + l]), 1e-12);
            }
        }
    }
}

UNIT_TEST(rows_keep_the_norm_where_the_gradient_is_too_long)
{
    double M[1] = {4}, G[1] = {100}, f[2], J[2], R[1], y[1];
    assert_true(nb_fit_rows(1, 8, G, M, f, J, R, y));
    near(f[0] * f[0] + f[1] * f[1], 16, 16, 1e-14);
    assert_true(f[0] > 0);
    M[0] = -1;
    M[0] = NAN;
    assert_false(nb_fit_rows(1, 8, G, M, f, J, R, y) && isfinite(f[0]));
    M[0] = 4;
    assert_false(nb_fit_rows(1, NAN, G, M, f, J, R, y));
}

UNIT_TEST(a_matrix_that_is_not_positive_is_refused)
{
    double M[4] = {1, 2, 2, 1}, R[4];
    assert_false(nb_fit_cholesky(2, M, R));
}

UNIT_TEST(inverse_and_smallest_eigenvalue)
{
    uint64_t random = 7;
    for (int trial = 0; trial < 50; trial++) {
        int n = 1 + trial % 8;
        double M[MOST * MOST], G[MOST], inverse[MOST * MOST], loss, worst, v[MOST];
        random_problem(&random, n, M, G, &loss);
        assert_int_equal(nb_fit_invert(n, M, inverse, &worst, v, NULL), NB_OK);
        assert_true(worst > 0 && worst <= 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double one = 0;
                for (int k = 0; k < n; k++)
                    one += M[i * n + k] * inverse[k * n + j];
                near(one, i == j, sqrt(M[i * n + i] / M[j * n + j]) / worst, 1e-11);
            }
    }
    { /* two columns that are the same but for their size */
        double M[4] = {1, 1000, 1000, 1e6}, inverse[4], worst, v[2];
        assert_int_equal(nb_fit_invert(2, M, inverse, &worst, v, NULL), NB_OK);
        assert_true(fabs(worst) < 1e-12);
        near(fabs(v[0]), sqrt(0.5), 1, 1e-9);
        near(v[0], -v[1], 1, 1e-9);
    }
    { /* a parameter that nothing depends on */
        double M[4] = {4, 0, 0, 0}, inverse[4];
        assert_int_equal(nb_fit_invert(2, M, inverse, NULL, NULL, NULL), NB_OK);
        near(inverse[0], 0.25, 1, 1e-14);
        assert_true(inverse[1] == 0 && inverse[2] == 0 && inverse[3] == 0);
    }
}

UNIT_TEST(out_of_memory)
{
    double M[4] = {1, 0, 0, 1}, inverse[4];
    nb_error err;
    nb_alloc_fail_after(1);
    assert_int_equal(nb_fit_invert(2, M, inverse, NULL, NULL, &err), NB_ERR_NOMEM);
    nb_alloc_fail_after(0);
}

/** One parameter of each map, two of them tied. */
static void some_parameters(nb_fit_list *list)
{
    static const double values[] = {-3, 5, 12.5, 0.4, 0.4, 7};
    static const nb_fit_map maps[] = {NB_MAP_LINEAR,  NB_MAP_LOG,     NB_MAP_LOG_CELLS,
                                      NB_MAP_BOUNDED, NB_MAP_BOUNDED, NB_MAP_LINEAR};
    memset(list, 0, sizeof *list);
    list->count = 6;
    for (int i = 0; i < 6; i++) {
        nb_fit_parameter *p = &list->p[i];
        p->value = values[i];
        p->map = maps[i];
        p->low = -1;
        p->high = 2;
        p->tied = i == 4 ? 3 : i;
    }
    list->p[5].fixed = 1;
    list->p[1].restraint = 4;
    list->p[1].width = 0.5;
    list->p[4].restraint = 1;
    list->p[4].width = 2;
}

/** A quadratic loss of the values, and its slopes. */
static double quadratic(const double *values, int n, double *g, double *F)
{
    double loss = 0;
    memset(g, 0, (size_t)n * sizeof *g);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            F[i * n + j] = i == j ? 3 + i : 0.2;
            loss += F[i * n + j] * values[i] * values[j] / 2;
            g[i] += F[i * n + j] * values[j];
        }
    return loss;
}

static double loss_of(const nb_fit_space *s, const double *x, double *G, double *M)
{
    double values[MOST], g[MOST], F[MOST * MOST], loss;
    nb_fit_space_values_of(s, x, values);
    loss = quadratic(values, nb_fit_space_values(s), g, F);
    nb_fit_space_chain(s, x, values, &loss, g, F, G, M);
    return loss;
}

UNIT_TEST(variables_obey_the_chain_rule)
{
    nb_fit_list list;
    nb_fit_space s;
    int marked[NB_FIT_MOST], n;
    double extras[2] = {3, 0.2}, x[MOST], values[MOST], G[MOST], M[MOST * MOST];
    some_parameters(&list);
    for (int i = 0; i < NB_FIT_MOST; i++)
        marked[i] = 1;
    nb_fit_space_make(&list, marked, 2, &s);
    n = nb_fit_space_variables(&s);
    assert_int_equal(n, 6); /* four free ones and two extras */
    assert_int_equal(nb_fit_space_values(&s), 7);
    nb_fit_space_start(&s, extras, x);
    nb_fit_space_values_of(&s, x, values);
    for (int i = 0; i < 5; i++)
        near(values[i], list.p[i].value, 1, 1e-14);
    near(values[6], 0.2, 1, 1e-14);
    loss_of(&s, x, G, M);
    for (int v = 0; v < n; v++) {
        double unused_G[MOST], unused_M[MOST * MOST], a, b, before = x[v];
        x[v] = before + 1e-5;
        a = loss_of(&s, x, unused_G, unused_M);
        x[v] = before - 1e-5;
        b = loss_of(&s, x, unused_G, unused_M);
        x[v] = before;
        near((a - b) / 2e-5, G[v], fabs(G[v]) + 1, 1e-7);
        assert_true(M[v * n + v] > 0);
    }
    marked[0] = marked[3] = 0; /* a tied one does not move without its lead */
    nb_fit_space_make(&list, marked, 0, &s);
    assert_int_equal(nb_fit_space_variables(&s), 2);
    assert_int_equal(nb_fit_space_values(&s), 2);
}

UNIT_TEST(starts_are_checked)
{
    nb_fit_parameter p = {.name = "mosaic", .map = NB_MAP_LOG};
    nb_error err;
    assert_int_equal(nb_fit_check_start(&p, &err), NB_ERR_INPUT);
    p.map = NB_MAP_LOG_CELLS;
    p.value = 1;
    assert_int_equal(nb_fit_check_start(&p, &err), NB_ERR_INPUT);
    assert_non_null(strstr(err.message, "one cell cannot be refined"));
    p.map = NB_MAP_BOUNDED;
    p.low = 2;
    p.high = 3;
    assert_int_equal(nb_fit_check_start(&p, &err), NB_ERR_INPUT);
    p.value = 2;
    assert_int_equal(nb_fit_check_start(&p, &err), NB_OK);
    assert_true(p.value > 2);
    assert_false(nb_fit_at_bound(&p));
    p.value = 3;
    assert_true(nb_fit_at_bound(&p));
}

/** Poisson counts n[] of a model a exp(-b i): loss, gradient, matrix by ln a and b. */
typedef struct decay {
    double n[40];
    int calls, refuse_above;
    nb_status fails;
} decay;

static nb_status decay_loss(void *user, int n, const double *x, double *loss, double *G,
                            double *M, nb_error *err)
{
    decay *d = user;
    (void)err;
    d->calls++;
    if (d->fails)
        return d->fails;
    if (d->refuse_above && fabs(x[1]) > d->refuse_above)
        return NB_ERR_INPUT;
    *loss = 0;
    memset(G, 0, 2 * sizeof *G);
    memset(M, 0, 4 * sizeof *M);
    for (int i = 0; i < 40; i++) {
        double m = exp(x[0] - x[1] * i), dm[2] = {m, -m * i}, k = d->n[i];
        *loss += m - k + (k > 0 ? k * log(k / m) : 0);
        for (int a = 0; a < n; a++) {
            G[a] += (1 - k / m) * dm[a];
            for (int b = 0; b < n; b++)
                M[a * n + b] += dm[a] * dm[b] / m;
        }
    }
    return NB_OK;
}

UNIT_TEST(a_fit_of_counts_converges)
{
    decay d = {.refuse_above = 50};
    double x[2] = {9, -0.05}; /* a hundred times too bright, growing instead of falling */
    nb_minimise_job job = {decay_loss, &d, 2, x, 0, 100};
    nb_minimum out;
    nb_error err;
    nb_status st;
    for (int i = 0; i < 40; i++)
        d.n[i] = 90 * exp(-0.1 * i);
    st = nb_minimise(&job, &out, &err);
    if (st == NB_ERR_UNSUPPORTED)
        skip();
    assert_int_equal(st, NB_OK);
    assert_true(out.converged);
    assert_int_equal(out.evaluations, d.calls);
    assert_true(out.evaluations < 40);
    near(x[0], log(90), 1, 1e-6);
    near(x[1], 0.1, 1, 1e-6);
    assert_true(out.loss < 1e-6);
    x[0] = 9;
    job.most = 2;
    assert_int_equal(nb_minimise(&job, &out, &err), NB_OK);
    assert_false(out.converged);
}

UNIT_TEST(errors_of_a_loss_end_the_fit)
{
    decay d = {.fails = NB_ERR_NOMEM};
    double x[2] = {1, 1};
    nb_minimise_job job = {decay_loss, &d, 2, x, 0, 100};
    nb_minimum out;
    nb_error err;
    nb_status st = nb_minimise(&job, &out, &err);
    if (st == NB_ERR_UNSUPPORTED)
        skip();
    assert_int_equal(st, NB_ERR_NOMEM);
    assert_int_equal(d.calls, 1);
    d.fails = NB_ERR_INPUT;
    assert_int_equal(nb_minimise(&job, &out, &err), NB_ERR_INPUT);
    for (long n = 1; n <= 2; n++) {
        nb_alloc_fail_after(n);
        assert_int_equal(nb_minimise(&job, &out, &err), NB_ERR_NOMEM);
    }
    nb_alloc_fail_after(0);
}

enum {
    COMMON = 3,
    OWN = 2,
    PICTURES = 4,
    EACH = COMMON + OWN,
    ALL = COMMON + PICTURES * OWN
};

/** Variable i of a picture among all. */
static int among_all(int picture, int i)
{
    return i < COMMON ? i : COMMON + picture * OWN + i - COMMON;
}

/** Step, gain and covariances of the pictures by elimination are those of the whole matrix. */
UNIT_TEST(elimination_is_the_whole_solution)
{
    const nb_arrow arrow = {COMMON, OWN};
    const double damping = 0.1;
    double M[PICTURES][EACH * EACH], G[PICTURES][EACH], whole[ALL * ALL] = {0},
                                                                    g[ALL] = {0};
    double damped[ALL * ALL], R[ALL * ALL], want[ALL], inverse[ALL * ALL],
        sum[COMMON * COMMON + 2 * COMMON];
    double share[COMMON * COMMON + 2 * COMMON], Y[PICTURES][OWN * (COMMON + 1)], work[64],
        common[COMMON], step[EACH], gain = 0, loss;
    double C[COMMON * COMMON], A[OWN * OWN], own[OWN * OWN];
    uint64_t random = 7;
    assert_true(nb_arrow_work(&arrow) <= 64 &&
                nb_arrow_share(&arrow) == sizeof sum / sizeof *sum);
    for (int k = 0; k < PICTURES; k++) {
        random_problem(&random, EACH, M[k], G[k], &loss);
        for (int i = 0; i < EACH; i++) {
            g[among_all(k, i)] += G[k][i];
            for (int j = 0; j < EACH; j++)
                whole[among_all(k, i) * ALL + among_all(k, j)] += M[k][i * EACH + j];
        }
    }
    for (int pass = 0; pass < 2; pass++) { /* with damping, then without */
        const double by = pass ? 0 : damping;
        memset(sum, 0, sizeof sum);
        for (int k = 0; k < PICTURES; k++) {
            assert_true(nb_arrow_eliminate(&arrow, M[k], G[k], by, share, Y[k], work));
            for (size_t i = 0; i < sizeof sum / sizeof *sum; i++)
                sum[i] += share[i];
        }
        if (pass)
            break;
        memcpy(damped, whole, sizeof damped);
        for (int i = 0; i < ALL; i++)
            damped[i * ALL + i] *= 1 + by;
        assert_true(nb_fit_cholesky(ALL, damped, R) &&
                    nb_arrow_common_step(&arrow, sum, by, common, work));
        nb_fit_solve(ALL, R, g, want);
        for (int k = 0; k < PICTURES; k++) {
            nb_arrow_step(&arrow, common, Y[k], step);
            gain += nb_arrow_gain(&arrow, M[k], G[k], step);
            for (int i = 0; i < EACH; i++)
                near(step[i], -want[among_all(k, i)], fabs(want[among_all(k, i)]), 1e-6);
        }
        for (int i = 0; i < ALL; i++) {
            double half = -g[i];
            for (int j = 0; j < ALL; j++)
                half += whole[i * ALL + j] * want[j] / 2;
            gain += want[i] * half; /* minus the gain of the whole */
        }
        near(gain, 0, 1, 1e-6);
    }
    assert_int_equal(nb_fit_invert(ALL, whole, inverse, NULL, NULL, NULL), NB_OK);
    assert_int_equal(nb_fit_invert(COMMON, sum, C, NULL, NULL, NULL), NB_OK);
    for (int i = 0; i < COMMON; i++)
        near(C[i * COMMON + i], inverse[i * ALL + i], inverse[i * ALL + i], 1e-6);
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++)
            A[i * OWN + j] = M[2][(COMMON + i) * EACH + COMMON + j];
    assert_int_equal(nb_fit_invert(OWN, A, own, NULL, NULL, NULL), NB_OK);
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++) {
            const int a = among_all(2, COMMON + i), b = among_all(2, COMMON + j);
            near(nb_arrow_covariance(&arrow, own, Y[2], C, i, j), inverse[a * ALL + b],
                 sqrt(inverse[a * ALL + a] * inverse[b * ALL + b]), 1e-6);
        }
}
