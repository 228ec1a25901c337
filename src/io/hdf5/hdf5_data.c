/* SPDX-License-Identifier: MIT */
/* Data files: compressed frames, one chunk each, and the true values of the frames. */
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"
#include "hdf5_chunk.h"
#include "hdf5_put.h"

#define DATA "/entry/data/data"
#define TRUTH "/entry/data/truth"

enum { NUMBERS = sizeof(nb_hdf5_frame) / sizeof(uint64_t), TRUTH_ROWS = 256 };

_Static_assert(sizeof(nb_hdf5_frame) % sizeof(uint64_t) == 0,
               "the true values are numbers of 8 bytes");

struct nb_hdf5_writer {
    nb_h5 h;
    nb_hdf5_data data; /* data.frames: limit of the frames */
    hid_t set, truth, table;
    int frames;          /* number of frames that were added */
    hsize_t rows;        /* number of rows of the table of reflections */
    nb_hdf5_list *lists; /* owned, [lists_room]: reflections of each frame, or NULL */
    size_t lists_room;
    int n_truth;
    /* n_truth rows that are not yet written; there is memory for rows_of rows */
    nb_hdf5_frame new_truth[];
};

/** Number of frames whose true values are written together. */
static int rows_of(const nb_hdf5_data *data)
{
    return data->frames < TRUTH_ROWS ? data->frames : TRUTH_ROWS;
}

/** Creation list: a chunk is a frame, and these filters were already applied to it. */
static hid_t creation_list(const nb_hdf5_layout *layout)
{
    const hsize_t chunk[3] = {1, (hsize_t)layout->slow, (hsize_t)layout->fast};
    unsigned bytes = (unsigned)nb_hdf5_pixel_bytes(layout);
    unsigned bitshuffle[5] = {0, 4, bytes, 0, NB_H5_BITSHUFFLE_LZ4};
    hid_t list = nb_h5_creation();
    H5(Pset_chunk)(list, 3, chunk);
    H5(Pset_fill_time)(list, H5D_FILL_TIME_NEVER);
    if (layout->compress == NB_COMPRESS_GZIP) {
        H5(Pset_shuffle)(list);
        H5(Pset_deflate)(list, 1);
    } else if (layout->compress == NB_COMPRESS_BSLZ4) {
        H5(Pset_filter)(list, NB_H5_BITSHUFFLE, H5Z_FLAG_OPTIONAL, 5, bitshuffle);
    }
    return list;
}

static hid_t create_truth(nb_h5 *h, const nb_hdf5_data *data)
{
    const hsize_t dims[2] = {(hsize_t)data->frames, NUMBERS},
                  chunk[2] = {(hsize_t)rows_of(data), NUMBERS};
    hid_t list = nb_h5_creation();
    H5(Pset_chunk)(list, 2, chunk);
    return nb_h5_new_set(h, TRUTH, H5T_NATIVE_UINT64, H5(Screate_simple)(2, dims, NULL),
                         list);
}

static void begin_file(nb_hdf5_writer *w)
{
    const nb_hdf5_layout *l = &w->data.layout;
    const hsize_t dims[3] = {(hsize_t)w->data.frames, (hsize_t)l->slow, (hsize_t)l->fast};
    nb_h5 *h = &w->h;
    nb_h5_group(h, "/entry", "NXentry");
    nb_h5_group(h, "/entry/data", "NXdata");
    nb_h5_attr_text(h, "/entry/data", "signal", "data");
    w->set = nb_h5_new_set(h, DATA, nb_h5_pixel_type(l->type),
                           H5(Screate_simple)(3, dims, NULL), creation_list(l));
    w->truth = create_truth(h, &w->data);
    nb_h5_attr_text(h, TRUTH, "content",
                    "of the program alone; the master has these values by name");
    w->table = l->reflections ? nb_hdf5_open_table(h, l->reflections) : -1;
}

nb_status nb_hdf5_data_open(nb_outfile *out, const nb_hdf5_data *data,
                            nb_hdf5_writer **writer, nb_error *err)
{
    nb_hdf5_writer *w = *writer = NULL;
    nb_h5_quiet quiet;
    nb_status st;
    NB_FORWARD(nb_h5_begin(&quiet, err));
    w = nb_alloc(1, sizeof *w + (size_t)rows_of(data) * sizeof *w->new_truth, "data file",
                 err);
    st = w ? nb_h5_create_in(&w->h, out, 0, err) : NB_ERR_NOMEM;
    if (!st) {
        w->data = *data;
        nb_h5_use_filter(1);
        begin_file(w);
        *writer = w;
    } else {
        nb_free(w);
    }
    nb_h5_end(&quiet);
    if (st || w->h.ok)
        return st;
    st = nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", w->h.out.path, w->h.why.text);
    *writer = NULL;
    (void)nb_hdf5_data_close(w, NULL);
    return st;
}

/** Write the true values of the frames since the last call. */
static void put_truth(nb_hdf5_writer *w)
{
    nb_h5_put_piece(&w->h, w->truth, H5T_NATIVE_UINT64, (hsize_t)(w->frames - w->n_truth),
                    (hsize_t)w->n_truth, w->new_truth);
    w->n_truth = 0;
}

static nb_status add_list(nb_hdf5_writer *w, const nb_hdf5_packed *f, nb_error *err)
{
    const size_t n = (size_t)w->frames;
    if (nb_reserve(&w->lists, n, &w->lists_room, sizeof *w->lists, "lists", err))
        return NB_ERR_NOMEM;
    w->lists[n] = f->truth->list;
    nb_hdf5_add_rows(&w->h, w->table, w->data.layout.reflections, w->rows, f->list);
    w->rows += f->list->count;
    return NB_OK;
}

nb_status nb_hdf5_data_add(nb_hdf5_writer *w, const nb_hdf5_packed *f, nb_error *err)
{
    const hsize_t at[3] = {(hsize_t)w->frames, 0, 0};
    const size_t rows = w->data.layout.reflections ? f->list->count : 0;
    nb_h5 *h = &w->h;
    nb_h5_quiet quiet;
    nb_status st =
        nb_h5_room(h, 2.0 * (double)(f->bytes + rows * sizeof *f->list->list), err);
    if (st || (st = nb_h5_begin(&quiet, err)))
        return st;
    nb_h5_note_why(&h->why);
    h->ok = h->ok && H5(Dwrite_chunk)(w->set, H5P_DEFAULT, 0, at, f->bytes, f->chunk) >= 0;
    if (w->data.layout.reflections)
        st = add_list(w, f, err);
    if (st)
        h->ok = 0;
    else if (!h->ok)
        st = nb_fail(err, NB_ERR_IO, "cannot write %.300s: %s", h->out.path, h->why.text);
    if (h->ok) {
        w->new_truth[w->n_truth++] = *f->truth;
        w->frames++;
    }
    if (w->n_truth == rows_of(&w->data))
        put_truth(w);
    nb_h5_end(&quiet);
    return st;
}

/** Cut the sets to the written frames, and write the key of the file. */
static void end_file(nb_hdf5_writer *w)
{
    const nb_hdf5_data *d = &w->data;
    const nb_hdf5_layout *l = &d->layout;
    const hsize_t dims[3] = {(hsize_t)w->frames, (hsize_t)l->slow, (hsize_t)l->fast},
                  rows[2] = {dims[0], NUMBERS};
    const int64_t range[2] = {d->first + 1, d->first + w->frames};
    nb_h5 *h = &w->h;
    put_truth(w);
    if (w->frames < d->frames)
        h->ok = h->ok && H5(Dset_extent)(w->set, dims) >= 0 &&
                H5(Dset_extent)(w->truth, rows) >= 0;
    if (h->ok && l->reflections)
        nb_hdf5_put_lists(h, w->frames, w->lists);
    nb_h5_attr_array(h, DATA, "image_nr_low", H5T_NATIVE_INT64, &range[0], 1);
    nb_h5_attr_array(h, DATA, "image_nr_high", H5T_NATIVE_INT64, &range[1], 1);
    nb_h5_attr_array(h, "/entry", "fingerprint", H5T_NATIVE_UINT64, &d->key.fingerprint,
                     1);
    nb_h5_attr_array(h, "/entry", "seed", H5T_NATIVE_INT64, &d->key.seed, 1);
    nb_h5_attr_array(h, "/entry", "frames_per_file", H5T_NATIVE_INT64, &d->key.per_file,
                     1);
}

nb_status nb_hdf5_data_close(nb_hdf5_writer *w, nb_error *err)
{
    nb_h5_quiet quiet;
    nb_status st = w ? nb_h5_begin(&quiet, err) : NB_OK;
    if (st || !w)
        return st;
    nb_h5_note_why(&w->h.why);
    if (w->frames)
        end_file(w);
    if (!w->frames || !w->h.ok)
        nb_h5_give_up(&w->h);
    nb_h5_close_set(&w->h, w->set);
    nb_h5_close_set(&w->h, w->truth);
    nb_h5_close_set(&w->h, w->table);
    nb_h5_use_filter(-1);
    st = nb_h5_close(&w->h, NB_OK, w->frames ? err : NULL);
    nb_h5_end(&quiet);
    /* so that other threads may use the library during the wait for the disk */
    if (w->frames && !st)
        st = nb_outfile_commit_durably(&w->h.out, err);
    else
        nb_outfile_abort(&w->h.out);
    st = w->frames ? st : NB_OK;
    nb_free(w->lists);
    nb_free(w);
    return st;
}

/* --- reading back --- */

static int read_key(const nb_h5_input *in, nb_hdf5_data *key)
{
    static const char where[] = "/entry";
    int64_t range[2];
    const int ok =
        nb_h5_get_integer(in, where, "fingerprint", H5T_NATIVE_UINT64,
                          &key->key.fingerprint) &&
        nb_h5_get_integer(in, where, "seed", H5T_NATIVE_INT64, &key->key.seed) &&
        nb_h5_get_integer(in, where, "frames_per_file", H5T_NATIVE_INT64,
                          &key->key.per_file) &&
        nb_h5_get_integer(in, DATA, "image_nr_low", H5T_NATIVE_INT64, &range[0]) &&
        nb_h5_get_integer(in, DATA, "image_nr_high", H5T_NATIVE_INT64, &range[1]) &&
        range[0] > 0 && range[1] >= range[0] && range[1] < INT32_MAX;
    key->first = ok ? (int)range[0] - 1 : 0;
    key->frames = ok ? (int)(range[1] - range[0]) + 1 : 0;
    return ok;
}

int nb_hdf5_data_key(const char *path, nb_hdf5_data *key)
{
    nb_h5_input in;
    if (nb_h5_start(&in, path, NULL, NULL))
        return 0;
    return !nb_h5_stop(&in, read_key(&in, key) ? NB_OK : NB_ERR_INPUT, NULL);
}

nb_status nb_hdf5_read_truth(const char *path, int first, int count, nb_hdf5_frame *truth,
                             nb_error *err)
{
    const nb_h5_box rows = {{0, (hsize_t)first, 0}, {1, (hsize_t)count, NUMBERS}};
    nb_h5_input in;
    nb_h5_set set;
    nb_status st;
    NB_FORWARD(nb_h5_start(&in, path, NULL, err));
    if (!nb_h5_set_open(&in, TRUTH, -1, &set))
        return nb_h5_stop(&in, nb_h5_wrong(&in, TRUTH, "is missing", err), err);
    if (set.rank != 2 || set.dims[1] < (hsize_t)(first + count) || set.dims[2] != NUMBERS)
        st = nb_h5_wrong(&in, TRUTH, "has another shape", err);
    else
        st = nb_h5_set_read(&set, &rows, H5T_NATIVE_UINT64, truth, err);
    nb_h5_set_close(&set);
    return nb_h5_stop(&in, st, err);
}
