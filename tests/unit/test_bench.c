/* SPDX-License-Identifier: MIT */
/* The parts of `nanobragg bench` without measurements: statistics, the check of images,
 * arguments, the rows of a reference. The program's own objects are linked in
 * (Makefile). */
#include "../support/check.h"

#include "cli/bench/bench.h"
#include "cli/subcommands.h"

/* --- statistics --- */

static void check_quartiles(int n, const double *values, const double wanted[5])
{
    nb_bench_series s = {0};
    for (int i = 0; i < n; i++)
        nb_bench_series_add(&s, values[i]);
    for (int i = 0; i < 5; i++)
        assert_true(nb_bench_quantile(&s, i / 4.0) == wanted[i]);
    assert_true(nb_bench_median(&s) == wanted[2]);
}

UNIT_TEST(test_statistics)
{
    check_quartiles(5, (const double[]){5, 1, 4, 2, 3}, (const double[]){1, 2, 3, 4, 5});
    check_quartiles(4, (const double[]){4, 1, 3, 2},
                    (const double[]){1, 1.75, 2.5, 3.25, 4});
    check_quartiles(1, (const double[]){7}, (const double[]){7, 7, 7, 7, 7});
    check_quartiles(0, NULL, (const double[]){0, 0, 0, 0, 0});
}

UNIT_TEST(test_series_is_bounded)
{
    nb_bench_series s = {0};
    for (int i = 0; i < 2 * NB_BENCH_REPEATS_MAX; i++)
        nb_bench_series_add(&s, i);
    assert_int_equal(s.count, NB_BENCH_REPEATS_MAX);
}

/* --- the gate --- */

UNIT_TEST(test_gate)
{
    const float b[] = {1, 2, 4, 8}, near[] = {1, 2, 4, 8.0000038f};
    const float far[] = {1, 2, 4, 8.01f}, hole[] = {1, NAN, 4, 8}, flat[] = {3, 3, 3, 3};
    nb_bench_bounds mixed = nb_bench_bounds_of(NB_PRECISION_MIXED);
    nb_bench_figures f = nb_bench_compare(b, b, 4);
    assert_true(f.correlation == 1 && f.max_error == 0 && f.mean_relative == 0);
    assert_true(nb_bench_is_right(&f, &mixed));
    f = nb_bench_compare(near, b, 4);
    assert_true(nb_bench_is_right(&f, &mixed));
    f = nb_bench_compare(far, b, 4);
    assert_true(fabs(f.max_error - 0.01 / 8) < 1e-6 &&
                fabs(f.mean_relative - 0.01 / 32) < 1e-6);
    assert_false(nb_bench_is_right(&f, &mixed));
    f = nb_bench_compare(hole, b, 4);
    assert_true(isnan(f.correlation));
    assert_false(nb_bench_is_right(&f, &mixed));
    f = nb_bench_compare(flat, b, 4);
    assert_false(nb_bench_is_right(&f, &mixed));
    f = nb_bench_compare(b, b, 0);
    assert_false(nb_bench_is_right(&f, &mixed));
}

UNIT_TEST(test_worse)
{
    nb_bench_figures a = {1, 1e-7, 0}, b = {0.5, 1e-8, 3}, c = {NAN, 0, 0};
    nb_bench_figures w = nb_bench_worse(a, b);
    assert_true(w.correlation == 0.5 && w.max_error == 1e-7 && w.mean_relative == 3);
    w = nb_bench_worse(a, c);
    assert_true(isnan(w.correlation));
}

UNIT_TEST(test_rows_of_a_reference)
{
    nb_bench_reference r = {0};
    r.fast = 100;
    r.slow = 50;
    r.steps = 10;
    nb_bench_bands(&r, 1e9); /* all rows */
    assert_true(r.bands == 1 && r.band_rows == 50 && r.first[0] == 0);
    nb_bench_bands(&r, 5100); /* five */
    assert_true(r.bands == 5 && r.band_rows == 1 && r.first[0] == 0 && r.first[4] == 49);
    nb_bench_bands(&r, 0); /* never less than four */
    assert_true(r.bands == 4 && r.first[3] == 49);
    r.slow = 4000;
    nb_bench_bands(&r, 1e6); /* a thousand, in blocks */
    assert_true(r.bands == NB_BENCH_BANDS_MAX && r.band_rows == 15 &&
                r.first[r.bands - 1] == 4000 - 15);
    assert_int_equal(r.bands * r.band_rows, 64 * 15);
}

/* --- arguments --- */

static nb_bench_options typed;

static nb_status parse(const char *flags, nb_error *err)
{
    static char copy[1024];
    static nb_sub_line line;
    char *argv[64] = {(char *)"nanobragg", (char *)"bench"};
    int argc = 2, help;
    snprintf(copy, sizeof copy, "%s", flags);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    memset(err, 0, sizeof *err);
    return nb_sub_parse(&nb_command_bench, argc, argv, &typed, &line, &help, err);
}

UNIT_TEST(test_arguments)
{
    nb_error err;
    assert_int_equal(
        parse("-sizes 64,128 --repeats 7 -devices cpu,cuda:1 -isas avx2,scalar "
              "-precisions mixed -limit 0.5 -vs a=b -vs c=d -quick",
              &err),
        NB_OK);
    assert_int_equal(nb_bench_resolve(&typed, 6, &err), NB_OK);
    assert_true(typed.sizes.count == 2 && typed.sizes.v[1] == 128 && typed.repeats == 7);
    assert_string_equal(typed.devices[1], "cuda:1");
    assert_true(typed.isas.v[0] == NB_ISA_AVX2 && typed.isas.v[1] == NB_ISA_SCALAR);
    assert_true(typed.precisions.count == 1 && typed.limit == 0.5 && typed.peer_count == 2);
    assert_true(typed.threads.count == 4 && typed.threads.v[2] == 4 &&
                typed.threads.v[3] == 6);
    assert_true(typed.cases.count == 2 && nb_bench_wants(&typed, NB_SWEEP_BATCH));
    assert_int_equal(parse("-sweeps size,batch", &err), NB_OK);
    assert_int_equal(nb_bench_resolve(&typed, 1, &err), NB_OK);
    assert_true(nb_bench_wants(&typed, NB_SWEEP_SIZE) &&
                !nb_bench_wants(&typed, NB_SWEEP_THREADS));
    assert_true(typed.threads.count == 1 && typed.sizes.count == 5 &&
                typed.sizes.v[4] == 4096 && typed.batches.v[9] == 512);
}

static void refuses(const char *flags, const char *message)
{
    nb_error err;
    nb_status st = parse(flags, &err);
    if (!st)
        st = nb_bench_resolve(&typed, 2, &err);
    if (st != NB_ERR_INPUT || !strstr(err.message, message))
        fail_msg("%s: %s", flags, err.message);
}

UNIT_TEST(test_arguments_refused)
{
    refuses("-sizes 64,", "whole numbers from 8");
    refuses("-sizes ,64", "whole numbers from 8");
    refuses("-sizes 4", "whole numbers from 8");
    refuses("-sizes 64,64,64,64,64,64,64,64,64,64,64,64,64,64,64,64,64", "at most 16");
    refuses("-repeats 4", "at least 5");
    refuses("-devices gpu", "cpu, cuda, cuda:N");
    refuses("-devices cuda:", "cpu, cuda, cuda:N");
    refuses("-isas mmx", "avx512");
    refuses("-precisions half", "double or mixed");
    refuses("-cases own", "behind --");
    refuses("-sweeps all", "breakdown");
    refuses("-limit 0", "at least 0.01");
    refuses("-vs program", "NAME=PROGRAM");
    refuses("-vs =program", "NAME=PROGRAM");
    refuses("-vs a=", "NAME=PROGRAM");
    refuses("-vs a=b -vs a=b -vs a=b -vs a=b -vs a=b", "at most 4");
    refuses("-name a/b", "without /");
    refuses("-threads 0", "from 1 to 4096");
}

UNIT_TEST(test_jobs)
{
    nb_bench_job job = {.which = NB_BENCH_HEAVY,
                        .size = 64,
                        .domains = 30,
                        .threads = 2,
                        .device = "cpu",
                        .isa = NB_ISA_AVX2,
                        .precision = NB_PRECISION_MIXED};
    nb_run_flags flags;
    nb_config cfg;
    nb_error err;
    char text[200];
    int physics_only = 1;
    assert_int_equal(nb_bench_config(&job, &cfg, &err), NB_OK);
    assert_true(cfg.detpixels[0] == 64 && cfg.mosaic_domains == 30 && cfg.threads == 2 &&
                cfg.compat && cfg.isa == NB_ISA_AVX2 && !cfg.write_float &&
                !cfg.write_int);
    nb_bench_job_text(&job, text, sizeof text);
    assert_string_equal(text, "heavy 64x64 on cpu avx2 mixed, 30 domains, 2 threads");
    assert_int_equal(nb_bench_command(&job, "other", 0, &flags, &err), NB_OK);
    assert_string_equal(flags.argv[0], "other");
    for (int i = 0; i < flags.count; i++)
        physics_only &= strcmp(flags.argv[i], "-device") &&
                        strcmp(flags.argv[i], "-compat") &&
                        strcmp(flags.argv[i], "-threads");
    assert_true(physics_only);
    nb_run_flags_free(&flags);
}
