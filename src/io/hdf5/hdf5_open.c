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

/** A job and its file. */
typedef struct reading {
    nb_h5_job job;
    const nb_h5_request *asked; /* the file stays open for the next one; NULL: it does not */
    hid_t file;                 /* -1: closed */
} reading;

static nb_status work(void *user, nb_error *err)
{
    reading *r = user;
    nb_h5_input in = {.name = r->job.file, .most_MB = r->job.most_MB};
    nb_h5_quiet quiet;
    refusal why = {0, 0, 0};
    nb_status st = nb_h5_begin(&quiet, err);
    if (st)
        return st;
    if (r->file < 0)
        r->file = H5Fopen(r->job.file, H5F_ACC_RDONLY, H5P_DEFAULT);
    in.file = r->file;
    H5Eset_auto2(H5E_DEFAULT, look_why, &why);
    if (in.file < 0)
        st = nb_fail_at(err, NB_ERR_INPUT, r->job.file, 0,
                        "cannot be opened as HDF5: damaged, cut short, or packed (gunzip "
                        "or bunzip2 it)");
    else if (!(st = r->job.read(r->job.user, &in, err)))
        st = say_refusal(&why, r->job.file, err);
    if (!r->asked && r->file >= 0) {
        nb_h5_close_file(r->file);
        r->file = -1;
    }
    nb_h5_end(&quiet);
    return st;
}

#ifndef NB_HDF5_HERE /* fuzzers run the work in this process */
static void pass(void *user, nb_passage *p)
{
    const reading *r = user;
    r->job.pass(r->job.user, p);
}

static void clear(void *user)
{
    const reading *r = user;
    r->asked->clear(r->job.user);
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

/** Can this process read the file? */
static nb_status check_job(const nb_h5_job *job, nb_error *err)
{
    const nb_status st = check_place(job->file, err);
    return st ? st : nb_hdf5_load(err);
}

nb_status nb_h5_apart(const nb_h5_job *job, nb_error *err)
{
    reading r = {*job, NULL, -1};
    nb_status st = check_job(job, err);
#ifdef NB_HDF5_HERE
    return st ? st : work(&r, err);
#else
    const nb_apart_task task = {job->file, &r, work, pass, NULL, 0, NULL};
    nb_apart a;
    if (st)
        return st;
    if (!fork_is_safe())
        return work(&r, err);
    nb_hdf5_enter(); /* no other thread may use the library at the fork */
    st = nb_apart_fork(&a, 0, err);
    nb_hdf5_leave();
    if (!st && !a.child)
        nb_apart_serve(&a, &task);
    return st ? st : nb_apart_take(&a, &task, err);
#endif
}

nb_status nb_h5_ask(nb_h5_child *child, const nb_h5_job *job,
                    const nb_h5_request *request, nb_error *err)
{
#ifdef NB_HDF5_HERE
    (void)child;
    (void)request;
    return nb_h5_apart(job, err);
#else
    reading r = {*job, request, -1};
    const nb_apart_task task = {job->file,      &r,   work, pass, request->data,
                                request->bytes, clear};
    nb_status st;
    if (child->alive) {
        st = nb_apart_ask(&child->apart, &task, &child->alive, err);
        if (child->alive)
            return st;
        request->clear(job->user); /* and once more, by another */
    }
    if ((st = check_job(job, err)) || !fork_is_safe())
        return st ? st : nb_h5_apart(job, err);
    nb_hdf5_enter();
    st = nb_apart_fork(&child->apart, 1, err);
    nb_hdf5_leave();
    if (!st && !child->apart.child)
        nb_apart_serve(&child->apart, &task);
    return st ? st : nb_apart_ask(&child->apart, &task, &child->alive, err);
#endif
}

void nb_h5_child_end(nb_h5_child *child)
{
    if (child->alive)
        nb_apart_end(&child->apart);
    child->alive = 0;
}
#endif
