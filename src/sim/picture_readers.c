/* SPDX-License-Identifier: MIT */
/* Readers of the pictures of a series: one for each thread that reads at the same time. */
#include <pthread.h>

#include "../base/memory.h"
#include "../io/hdf5/hdf5_read.h"
#include "picture.h"

enum { IDLE_MOST = 64 };

struct nb_picture_readers {
    pthread_mutex_t lock;
    int n_idle;
    nb_hdf5_reader *idle[IDLE_MOST]; /* owned */
};

nb_status nb_picture_readers_new(nb_picture_readers **readers, nb_error *err)
{
    nb_picture_readers *r = *readers = nb_alloc(1, sizeof *r, "readers of pictures", err);
    if (!r)
        return NB_ERR_NOMEM;
    (void)pthread_mutex_init(&r->lock, NULL);
    return NB_OK;
}

void nb_picture_readers_free(nb_picture_readers *r)
{
    if (!r)
        return;
    for (int i = 0; i < r->n_idle; i++)
        nb_hdf5_reader_free(r->idle[i]);
    (void)pthread_mutex_destroy(&r->lock);
    nb_free(r);
}

/** An idle reader of this file, or a new one. */
static nb_status take(nb_picture_readers *r, const char *path, nb_hdf5_reader **one,
                      nb_error *err)
{
    *one = NULL;
    (void)pthread_mutex_lock(&r->lock);
    for (int i = r->n_idle; i-- > 0 && !*one;)
        if (nb_hdf5_reader_is_of(r->idle[i], path)) {
            *one = r->idle[i];
            r->idle[i] = r->idle[--r->n_idle];
        }
    (void)pthread_mutex_unlock(&r->lock);
    return *one ? NB_OK : nb_hdf5_reader_new(path, one, err);
}

static void give(nb_picture_readers *r, nb_hdf5_reader *one)
{
    (void)pthread_mutex_lock(&r->lock);
    if (r->n_idle < IDLE_MOST) {
        r->idle[r->n_idle++] = one;
        one = NULL;
    }
    (void)pthread_mutex_unlock(&r->lock);
    nb_hdf5_reader_free(one);
}

nb_status nb_picture_readers_read(nb_picture_readers *r, const nb_picture_frame *frame,
                                  double most_MB, nb_image *out, nb_error *err)
{
    nb_hdf5_reader *one;
    nb_status st = take(r, frame->path, &one, err);
    if (st)
        return st;
    st = nb_hdf5_reader_read(one, frame->number, frame->mask, most_MB, out, err);
    give(r, one);
    return st;
}

int nb_picture_frame_of(const char *picture, char *path, nb_picture_frame *frame)
{
    frame->path = path;
    frame->mask = 1;
    return nb_hdf5_frame_of(picture, path, &frame->number);
}
