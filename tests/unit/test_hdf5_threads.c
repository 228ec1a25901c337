/* SPDX-License-Identifier: MIT */
/* Threads may use nanobragg's library at once, although the HDF5 library is usually built
 * without support of threads. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "io/hdf5/hdf5_file.h"
#include "nanobragg.h"
#include "scratch.h"

enum { THREADS = 2, ROUNDS = 6, FRAMES = 12 };

/** A thread and the series that it makes. */
typedef struct worker {
    pthread_t thread;
    const char *folder;
    int number;
    nb_status status;
    nb_error err;
} worker;

static nb_config small(void)
{
    nb_config cfg;
    nb_config_defaults(&cfg);
    cfg.cell_count = 1;
    cfg.cell[0] = 80;
    cfg.default_F = 100;
    cfg.N[0] = cfg.N[1] = cfg.N[2] = 2;
    cfg.detpixels[0] = cfg.detpixels[1] = 16;
    cfg.pixel_mm = 2;
    cfg.osc_deg = 0.5;
    cfg.seed = (nb_seed){1, 3};
    cfg.threads = 1;
    return cfg;
}

static void *write_and_read(void *user)
{
    worker *w = user;
    nb_config cfg = small();
    nb_series series = nb_test_series();
    series.frames = FRAMES;
    series.compress = NB_COMPRESS_BSLZ4;
    series.frames_per_file = 2;
    nb_put_text(&series.hdf5_file, "%s/t%d_master.h5", w->folder, w->number);
    for (int i = 0; !w->status && i < ROUNDS; i++) {
        nb_series_progress done;
        nb_image image = {0};
        w->status = nb_series_run(&cfg, &series, NULL, &done, &w->err);
        if (!w->status)
            w->status = nb_image_read(series.hdf5_file, 0, 0, NULL, &image, &w->err);
        nb_image_free(&image);
    }
    return NULL;
}

/** Child process: makes two series at once; its exit ends the HDF5 library. */
static void child(const char *folder, const char *log)
{
    worker w[THREADS];
    int failed = 0, fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || dup2(fd, 2) < 0)
        _exit(3);
    memset(w, 0, sizeof w);
    for (int i = 0; i < THREADS; i++) {
        w[i].folder = folder;
        w[i].number = i;
        failed |= pthread_create(&w[i].thread, NULL, write_and_read, &w[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].status)
            fprintf(stderr, "thread %d: %s\n", i, w[i].err.message);
        failed |= w[i].status != NB_OK;
    }
    exit(failed);
}

SCRATCH_TEST(two_series_in_one_process_end_quietly)
{
    const nb_hdf5_data data = {.layout = {16, 16, NB_HDF5_U16, NB_COMPRESS_BSLZ4, 0, 0},
                               .frames = 1};
    nb_hdf5_writer *writer;
    nb_outfile out;
    char log[512];
    int status = 0;
    pid_t pid;
    assert_int_equal(nb_outfile_open(&out, scratch_path(*state, "try.h5"), NULL), NB_OK);
    if (nb_hdf5_data_open(&out, &data, &writer, NULL)) {
        nb_outfile_abort(&out);
        print_message("# skipped: no HDF5 or no LZ4 in this build\n");
        skip();
    }
    (void)nb_hdf5_data_close(writer, NULL);
    snprintf(log, sizeof log, "%s", scratch_path(*state, "stderr"));
    pid = fork();
    if (pid == 0)
        child(((scratch *)*state)->folder, log);
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_file_is(log, "");
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
