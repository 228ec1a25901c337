/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/error.h"
#include "../../base/outfile.h"
#include "hdf5_filters.h"
#include "hdf5_lib.h"

#ifdef NB_HAVE_HDF5
nb_status nb_h5_begin(nb_h5_quiet *quiet, nb_error *err)
{
    nb_status st = nb_hdf5_load(err);
    if (st)
        return st;
    nb_hdf5_enter();
    H5Eget_auto2(H5E_DEFAULT, &quiet->print, &quiet->data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    nb_h5_filters_begin();
    return NB_OK;
}

void nb_h5_end(const nb_h5_quiet *quiet)
{
    nb_h5_filters_end();
    H5Eset_auto2(H5E_DEFAULT, quiet->print, quiet->data);
    nb_hdf5_leave();
}

static nb_status check_place(const char *path, nb_error *err)
{
    if (access(path, F_OK) != 0)
        return nb_fail_at(err, NB_ERR_INPUT, path, 0, "%s", strerror(errno));
    if (!nb_is_regular_file(path))
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "HDF5 cannot be read from a pipe; give a file");
    return NB_OK;
}

/* --- what the library could not read --- */

/** The first reason in a job. */
typedef struct refusal {
    int disk, data, memory;
} refusal;

static herr_t take_refusal(unsigned n, const H5E_error2_t *entry, void *user)
{
    refusal *why = user;
    (void)n;
    why->data |= entry->maj_num == H5E_IO_g;
    why->disk |= entry->maj_num == H5E_IO_g && entry->desc && strstr(entry->desc, "errno");
    why->memory |= entry->maj_num == H5E_RESOURCE_g;
    return 0;
}

/** The library calls this after each failed call. It notes failures of disk and memory; absent
 * entries have other causes. */
static herr_t look_why(hid_t stack, void *user)
{
    return H5Ewalk2(stack, H5E_WALK_UPWARD, take_refusal, user);
}

static nb_status say_refusal(const refusal *why, const char *path, nb_error *err)
{
    if (why->disk)
        return nb_fail_at(err, NB_ERR_IO, path, 0, "the disk did not give a part of it");
    if (why->data || why->memory)
        return nb_fail_at(err, NB_ERR_INPUT, path, 0,
                          "is damaged%s: a part of it could not be read",
                          why->memory ? ", or the memory is full" : "");
    return NB_OK;
}

/* --- a job --- */

static nb_status work(void *user, nb_error *err)
{
    const nb_h5_job *job = user;
    nb_h5_input in = {.name = job->file, .most_MB = job->most_MB};
    nb_h5_quiet quiet;
    refusal why = {0, 0, 0};
    nb_status st = nb_h5_begin(&quiet, err);
    if (st)
        return st;
    in.file = H5Fopen(job->file, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, look_why, &why);
    if (in.file < 0)
        st = nb_fail_at(err, NB_ERR_INPUT, job->file, 0,
                        "cannot be opened as HDF5: damaged, cut short, or packed (gunzip "
                        "or bunzip2 it)");
    else if (!(st = job->read(job->user, &in, err)))
        st = say_refusal(&why, job->file, err);
    if (in.file >= 0)
        H5Fclose(in.file);
    nb_h5_end(&quiet);
    return st;
}

#ifndef NB_HDF5_HERE /* fuzzers run the work in this process */
static void pass(void *user, nb_passage *p)
{
    const nb_h5_job *job = user;
    job->pass(job->user, p);
}

/** The address sanitizer of gcc 12 forks while another thread holds a lock of its memory, and the child waits
 * for that thread without end. */
static int fork_is_safe(void)
{
#ifdef __SANITIZE_ADDRESS__
    enum { THREADS_OF_ONE = 3 }; /* links to the folder: ".", "..", one thread */
    struct stat threads;
    return stat("/proc/self/task", &threads) != 0 || threads.st_nlink <= THREADS_OF_ONE;
#else
    return 1;
#endif
}
#endif

nb_status nb_h5_apart(const nb_h5_job *job, nb_error *err)
{
    nb_h5_job copy = *job;
    nb_status st = check_place(job->file, err);
#ifdef NB_HDF5_HERE
    if (st || (st = nb_hdf5_load(err)))
        return st;
    return work(&copy, err);
#else
    const nb_apart_task task = {job->file, &copy, work, pass};
    nb_apart a;
    if (st || (st = nb_hdf5_load(err)))
        return st;
    if (!fork_is_safe())
        return work(&copy, err);
    nb_hdf5_enter(); /* no other thread may use the library at the fork */
    st = nb_apart_fork(&a, err);
    nb_hdf5_leave();
    if (!st && !a.child)
        nb_apart_serve(&a, &task);
    return st ? st : nb_apart_take(&a, &task, err);
#endif
}
#endif
