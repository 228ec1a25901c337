/* SPDX-License-Identifier: MIT */
/* Frames, lines of -jobs and changes of one simulation share files and the objects made
 * from files. A thousand frames open each file as often as three frames do, each file is
 * read once, and no object is made twice. The linker replaces open and nb_store_take by
 * the functions with __wrap_. */
#include <fcntl.h>
#include <pthread.h>

#include "scratch.h"

#include "../../src/cli/sub.h"
#include "../support/scenes.h"
#include "base/store.h"
#include "sim/sim.h"

enum { FRAMES = 1000, FEW = 3, MAX_OBJECTS = 8192, FILES = 5 };

static const char *const names[FILES] = {"a.hkl", "a.src", "a.mask", "a.geom",
                                         "a.transmission"};

/** Counts since the last reset(). */
static struct {
    int opens[FILES];
    int made, twice; /* objects of stores */
    nb_key keys[MAX_OBJECTS];
} count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void reset(void)
{
    memset(&count, 0, sizeof count);
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
    const char *name = strrchr(path, '/');
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FILES; i++)
        count.opens[i] += !strcmp(name ? name + 1 : path, names[i]);
    pthread_mutex_unlock(&lock);
    return __real_open(path, flags, mode);
}

/** Key and maker of an object whose creation is counted. */
typedef struct counted {
    const nb_key *key;
    nb_store_maker make;
    void *user;
} counted;

static nb_status make(void *user, void **object, size_t *bytes, nb_error *err)
{
    const counted *c = user;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count.made; i++)
        count.twice += nb_key_equal(&count.keys[i], c->key);
    if (count.made < MAX_OBJECTS)
        count.keys[count.made++] = *c->key;
    pthread_mutex_unlock(&lock);
    return c->make(c->user, object, bytes, err);
}

nb_status __real_nb_store_take(nb_store *store, const nb_key *key, nb_store_maker maker,
                               void *user, void **object, nb_error *err);
nb_status __wrap_nb_store_take(nb_store *store, const nb_key *key, nb_store_maker maker,
                               void *user, void **object, nb_error *err);
nb_status __wrap_nb_store_take(nb_store *store, const nb_key *key, nb_store_maker maker,
                               void *user, void **object, nb_error *err)
{
    counted c = {key, maker, user};
    return __real_nb_store_take(store, key, make, &c, object, err);
}

/* --- scenes --- */

static void write_files(scratch *s)
{
    FILE *f = fopen(scratch_path(s, names[0]), "w");
    assert_non_null(f);
    for (int i = 0; i < 343; i++)
        fprintf(f, "%d %d %d %d\n", i / 49 - 3, i / 7 % 7 - 3, i % 7 - 3, 10 + i);
    fclose(f);
    scratch_write(scratch_path(s, names[1]), "-10 0 0 1 1e-10\n-10 0.01 0 3 1.1e-10\n");
    for (int k = 2; k < FILES; k += 2) {
        f = fopen(scratch_path(s, names[k]), "wb");
        assert_non_null(f);
        for (int i = 0; i < 256; i++)
            fwrite(&(float){i > 40}, sizeof(float), 1, f);
        fclose(f);
    }
    scratch_write(scratch_path(s, names[3]),
                  "photon_energy = 12398\nadu_per_photon = 1\nclen = 0.1\nres = 10000\n"
                  "p/min_fs = 0\np/max_fs = 15\np/min_ss = 0\np/max_ss = 15\n"
                  "p/corner_x = -8\np/corner_y = -8\np/fs = +1x\np/ss = +1y\n");
}

/** Configuration with these files, and with a typed detector or the detector of -geom. */
static nb_config scene(scratch *s, int geom)
{
    nb_config cfg;
    nb_error err = {0};
    nb_config_defaults(&cfg);
    nb_words(&cfg, "-cell 70 80 90 -N 5 -seed 7 -oversample 1 -threads 2 -device cpu "
                   "-fluence 1e28");
    if (!geom)
        nb_words(&cfg, "-detpixels 16 -pixel 1 -distance 100");
    assert_int_equal(nb_put(&cfg, "mask", scratch_path(s, names[2]), &err), NB_OK);
    assert_int_equal(nb_put(&cfg, "hkl", scratch_path(s, names[0]), &err), NB_OK);
    assert_int_equal(nb_put(&cfg, "sourcefile", scratch_path(s, names[1]), &err), NB_OK);
    assert_int_equal(nb_put(&cfg, geom ? "geom" : "transmission",
                            scratch_path(s, names[geom ? 3 : 4]), &err),
                     NB_OK);
    return cfg;
}

static nb_status apply(void *user, int frame, nb_config *cfg, nb_error *err)
{
    return nb_jobs_apply(user, frame, cfg, err);
}

/** Makes n lines of -jobs, each with another orientation and cell. */
static nb_jobs *lines(const nb_config *cfg, int n)
{
    nb_jobs *jobs;
    nb_error err = {0};
    char *text = malloc(128 * (size_t)n);
    size_t used = 0;
    assert_non_null(text);
    for (int i = 0; i < n; i++)
        used +=
            (size_t)snprintf(text + used, 128,
                             "{\"misset\": [%d, 2, 3], \"cell\": [%g, 80, 90, 90, 90, "
                             "90]}\n",
                             i % 360, 70 + i * 0.001);
    assert_int_equal(nb_jobs_parse(text, used, "j.jsonl", cfg, &jobs, &err), NB_OK);
    return jobs;
}

/* --- tests --- */

static void run(scratch *s, int geom, int of_lines, int frames)
{
    nb_config cfg = scene(s, geom);
    nb_series series = nb_test_series();
    nb_jobs *jobs = of_lines ? lines(&cfg, frames) : NULL;
    nb_error err = {0};
    series.stills = frames;
    nb_put_text(&series.output, "%s", scratch_path(s, "f_%d.bin"));
    if (jobs) {
        series.calls.override = apply;
        series.calls.user = jobs;
    } else {
        nb_put_text(&series.orientations, "random");
    }
    reset();
    if (nb_series_run(&cfg, &series, NULL, NULL, &err) != NB_OK)
        fail_msg("%s", err.message);
    nb_jobs_free(jobs);
}

SCRATCH_TEST(a_series_reads_each_file_once)
{
    static int few[FILES];
    write_files(*state);
    for (int jobs = 0; jobs < 2;
         jobs++) { /* first with a typed detector, then with that of -geom */
        int made, read = 0;
        run(*state, jobs, jobs, FEW);
        memcpy(few, count.opens, sizeof few);
        made = count.made;
        assert_int_equal(count.twice, 0);
        run(*state, jobs, jobs, FRAMES);
        assert_int_equal(count.twice, 0);
        assert_int_equal(count.made, made);
        assert_memory_equal(count.opens, few, sizeof few);
        for (int i = 0; i < FILES; i++)
            read += few[i] > 0;
        assert_int_equal(read, 4);
    }
}

SCRATCH_TEST(a_change_reads_no_file)
{
    static const char *const changes[][2] = {{"misset", "%d 2 3"}, {"cell", "7%d 80 90"},
                                             {"distance", "9%d"},  {"fluence", "%de24"},
                                             {"N", "%d"},          {"mosaic", "0.%d"}};
    nb_config cfg;
    nb_sim *sim;
    write_files(*state);
    cfg = scene(*state, 0);
    reset();
    sim = created(&cfg);
    for (int i = 0; i < FILES; i++)
        assert_true(i == 3 || count.opens[i] > 0);
    assert_int_equal(count.twice, 0);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        int made = -1;
        for (int i = 1; i <= FRAMES / 5; i++) {
            nb_error err = {0};
            char text[64];
            snprintf(text, sizeof text, changes[k][1], i % 9 + 1);
            if (i % 2) {
                assert_int_equal(nb_sim_set(sim, changes[k][0], text, &err), NB_OK);
            } else {
                nb_config typed = *nb_sim_record(sim);
                assert_int_equal(nb_put(&typed, changes[k][0], text, &err), NB_OK);
                assert_int_equal(nb_sim_retype(sim, &typed, changes[k], 1, &err), NB_OK);
            }
            if (i == 1)
                reset();
            made = count.made;
        }
        for (int i = 0; i < FILES; i++)
            assert_int_equal(count.opens[i], 0);
        if (made)
            fail_msg("-%s: %d objects were made again", changes[k][0], made);
    }
    nb_sim_free(sim);
}
