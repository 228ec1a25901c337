/* SPDX-License-Identifier: MIT */
/* The nth allocation fails, for every n until all succeed: allocations of the library, of
 * cJSON, and of the program for job files. Each error is a line "out of memory", and no
 * incomplete file is left. */
#define _GNU_SOURCE 1
#include "../support/check.h"
#include "scratch.h"

#include "../../src/cli/sub.h"
#include "../../src/cli/options.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif

#if CAN_FAIL
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>

/* This program replaces malloc of the C library. Only allocations of our code and of
 * cJSON fail; those of libc, HDF5 and OpenMP do not. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_long countdown;

static int is_ours(const void *caller)
{
    Dl_info at, here;
    return dladdr(caller, &at) && dladdr((void *)(uintptr_t)is_ours, &here) &&
           (at.dli_fbase == here.dli_fbase || strstr(at.dli_fname, "cjson"));
}

static int must_fail(const void *caller)
{
    if (atomic_load(&countdown) <= 0 || !is_ours(caller))
        return 0;
    if (atomic_fetch_sub(&countdown, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return must_fail(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
    if (must_fail(__builtin_return_address(0)))
        return ENOMEM;
    *p = __libc_memalign(align, n);
    return *p ? 0 : ENOMEM;
}

/** Returns how many allocations were still possible. */
static long fail_after(long n)
{
    return atomic_exchange(&countdown, n);
}
#else
static long fail_after(long n)
{
    return n;
}
#endif

/** One whole run. */
typedef nb_status run_function(scratch *s, nb_error *err);

/** Fails each allocation of a run in turn; from the 60th on, only every `step`th. After
 * an error at most `left` files may remain. */
static void fail_each(scratch *s, run_function *run, int left, int step)
{
    nb_error err;
    nb_status st = NB_ERR_NOMEM;
    long n;
    if (!CAN_FAIL)
        skip_because("this build's malloc is a sanitizer's");
    for (n = 1; st && n < 5000; n += n < 60 ? 1 : step) {
        memset(&err, 0, sizeof err);
        fail_after(n);
        st = run(s, &err);
        fail_after(0);
        if (st == NB_ERR_UNSUPPORTED)
            skip_because(err.message);
        if (st == NB_OK)
            break;
        if ((st != NB_ERR_NOMEM && st != NB_ERR_IO) || err.code != st ||
            !strstr(err.message, "memory") || strchr(err.message, '\n'))
            fail_msg("allocation %ld: %s, '%s'", n, nb_status_name(st), err.message);
        if (scratch_count(s, 1) > left)
            fail_msg("allocation %ld: files are left", n);
    }
    scratch_count(s, 1);
    printf("# about %ld allocations\n", n - 1);
    assert_in_range(n, 10, 4999);
}

static void name(nb_text *to, const char *path)
{
    const long n = fail_after(0);
    nb_put_text(to, "%s", path);
    fail_after(n);
}

static nb_config configuration(scratch *s)
{
    const long n = fail_after(0);
    nb_config cfg = nb_suite_config(1, 3, 12);
    cfg.threads = 1;
    cfg.seed = (nb_seed){1, 3};
    cfg.write_float = cfg.write_int = cfg.write_noise = cfg.write_pgm = 1;
    nb_put_text(&cfg.float_file, "%s", scratch_path(s, "f.bin"));
    nb_put_text(&cfg.int_file, "%s", scratch_path(s, "i.img"));
    nb_put_text(&cfg.noise_file, "%s", scratch_path(s, "n.img"));
    nb_put_text(&cfg.pgm_file, "%s", scratch_path(s, "p.pgm"));
    fail_after(n);
    return cfg;
}

static nb_status one_image(scratch *s, nb_error *err)
{
    nb_config cfg = configuration(s);
    nb_stats stats;
    nb_sim *sim;
    char *text = NULL;
    nb_status st = nb_sim_create(&cfg, NULL, &sim, err);
    if (!st)
        st = nb_sim_report(sim, &text, err);
    if (!st)
        st = nb_sim_render(sim, NULL, &stats, err);
    if (!st)
        st = nb_sim_write(sim, NULL, &stats, err);
    nb_free(text);
    nb_sim_free(sim);
    return st;
}

static nb_status show_config(scratch *s, nb_error *err)
{
    static size_t length;
    nb_config cfg = configuration(s);
    nb_sim *sim;
    char *text = NULL;
    nb_status st = nb_sim_create(&cfg, NULL, &sim, err);
    if (!st)
        st = nb_sim_config_json(sim, &text, err);
    if (!st && length)
        assert_int_equal(strlen(text), length); /* no text was dropped */
    length = st ? 0 : strlen(text);
    nb_free(text);
    nb_sim_free(sim);
    return st;
}

static nb_status a_series(scratch *s, nb_error *err)
{
    nb_config cfg = configuration(s);
    nb_series series = nb_test_series();
    series.stills = series.frames_per_file = 2;
    cfg.roi_set = 1; /* so that a pixel mask is made */
    cfg.roi[1] = cfg.roi[3] = 7;
    name(&series.output, scratch_path(s, "s_%d.cbf"));
    return nb_series_run(&cfg, &series, NULL, NULL, err);
}

static nb_status an_hdf5_series(scratch *s, nb_error *err)
{
    nb_config cfg = configuration(s);
    nb_series series = nb_test_series();
    nb_status st;
    series.stills = series.frames_per_file = 2;
    cfg.roi_set = 1;
    cfg.roi[1] = cfg.roi[3] = 7;
    name(&series.hdf5_file, scratch_path(s, "s.h5"));
    st = nb_series_run(&cfg, &series, NULL, NULL, err);
    return st;
}

static nb_status jobs(scratch *s, nb_error *err)
{
    static const char text[] = "{\"phi\": 1.5, \"misset\": [1, 2, 3]}\n{\"phi\": 2}\n";
    nb_cli cli = {0};
    nb_jobs *list = NULL;
    nb_config cfg = {0};
    nb_status st;
    nb_config_defaults(&cli.cfg);
    name(&cli.jobs_file, scratch_path(s, "jobs"));
    assert_true(nb_scratch_write(cli.jobs_file, text, sizeof text - 1));
    nb_config_copy(&cfg, &cli.cfg);
    st = nb_jobs_load(&cli, &list, err);
    if (!st)
        st = nb_jobs_apply(list, 0, &cfg, err);
    if (!st)
        assert_true(cfg.phi_deg == 1.5 && cfg.misset_deg[2] == 3);
    nb_jobs_free(list);
    nb_config_drop(&cfg);
    return st;
}

enum { PIXELS = 12 * 12 };

static nb_sim *of_an_atom(scratch *s, float image[PIXELS])
{
    static const char atom[] =
        "CRYST1   20.000   24.000   28.000  90.00  90.00  90.00 P 21 21 21    4\n"
        "ATOM      1  CA  ALA A   1      11.000  12.000  13.000  1.00 20.00           "
        "C\n";
    nb_config cfg = nb_suite_config(1, 3, 12);
    nb_error err = {0};
    nb_sim *sim;
    nb_status st;
    cfg.threads = 1;
    cfg.cell_count = 0;
    cfg.default_F = NAN;
    nb_put_text(&cfg.pdb_file, "%s", scratch_path(s, "m.pdb"));
    scratch_write(cfg.pdb_file, atom);
    st = nb_sim_create(&cfg, NULL, &sim, &err);
    if (st == NB_ERR_UNSUPPORTED)
        skip_because(err.message);
    assert_int_equal(st, NB_OK);
    assert_int_equal(nb_sim_render(sim, image, NULL, &err), NB_OK);
    return sim;
}

/** Changes the model of a simulation; after an error the image must be the old image. */
static nb_status change(scratch *s, int way, nb_error *err)
{
    static const char *const set[][2] = {{"distance", "60"},
                                         {"N", "9"},
                                         {"lambda", "0.8"},
                                         {"threads", "2"},
                                         {"default_F", "3"}};
    enum { SETS = sizeof set / sizeof *set };
    static const char *const names[] = {"cell_a", "rot_x", "shift_x", "default_F"};
    static const double values[] = {22, 1, 0.5, 4};
    const long n = fail_after(0);
    float before[PIXELS], after[PIXELS];
    nb_sim *sim = of_an_atom(s, before);
    nb_status st;
    fail_after(n);
    st = way < SETS ? nb_sim_set(sim, set[way][0], set[way][1], err)
                    : nb_sim_set_parameters(sim, names, values, 4, err);
    fail_after(0);
    assert_int_equal(nb_sim_render(sim, after, NULL, NULL), NB_OK);
    if (st)
        assert_memory_equal(before, after, sizeof before);
    nb_sim_free(sim);
    scratch_count(s, 1);
    return st;
}

static nb_status change_0(scratch *s, nb_error *err)
{
    return change(s, 0, err);
}
static nb_status change_1(scratch *s, nb_error *err)
{
    return change(s, 1, err);
}
static nb_status change_2(scratch *s, nb_error *err)
{
    return change(s, 2, err);
}
static nb_status change_3(scratch *s, nb_error *err)
{
    return change(s, 3, err);
}
static nb_status change_4(scratch *s, nb_error *err)
{
    return change(s, 4, err);
}
static nb_status change_5(scratch *s, nb_error *err)
{
    return change(s, 5, err);
}

SCRATCH_TEST(changes)
{
    run_function *const each[] = {change_0, change_1, change_2,
                                  change_3, change_4, change_5};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++)
        fail_each(*state, each[i], 0, 7);
}

SCRATCH_TEST(single_image)
{
    fail_each(*state, one_image, 0, 1);
}

SCRATCH_TEST(configuration_as_json)
{
    fail_each(*state, show_config, 0, 1);
}

/* Finished frames stay, for -resume. */
SCRATCH_TEST(series_of_files)
{
    fail_each(*state, a_series, 4, 1);
}

SCRATCH_TEST(series_in_hdf5)
{
    fail_each(*state, an_hdf5_series, 4, 11);
}

SCRATCH_TEST(job_files)
{
    fail_each(*state, jobs, 1, 1); /* the job file */
}
