/* SPDX-License-Identifier: MIT */
/* Data files: compressed frames, one chunk each. */
#include <string.h>

#include "../../base/error.h"
#include "../../base/hash.h"
#include "../../base/memory.h"
#include "hdf5_chunk.h"
#include "hdf5_put.h"

static const char data_path[] = "/entry/data/data";
static const char inputs_path[] = "/entry/data/input_hash";

/** Chunks of one frame. The filters are named for readers; the chunks are already filtered. */
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

static hid_t create_data(nb_h5 *h, const nb_hdf5_layout *layout, hsize_t frames)
{
    const hsize_t dims[3] = {frames, (hsize_t)layout->slow, (hsize_t)layout->fast};
    hid_t list = creation_list(layout), space = H5(Screate_simple)(3, dims, NULL);
    hid_t set = H5(Dcreate2)(h->file, data_path, nb_h5_pixel_type(layout->type), space,
                             H5P_DEFAULT, list, H5P_DEFAULT);
    H5(Sclose)(space);
    H5(Pclose)(list);
    h->ok &= set >= 0;
    return set;
}

static nb_status put_chunks(nb_h5 *h, const nb_hdf5_data *data, nb_hdf5_next *next,
                            void *user, nb_error *err)
{
    hid_t set = create_data(h, &data->layout, (hsize_t)data->frames);
    uint64_t *hashes = nb_alloc((size_t)data->frames, sizeof *hashes, "hashes", err);
    nb_status st = hashes ? NB_OK : NB_ERR_NOMEM;
    hsize_t count = (hsize_t)data->frames;
    for (int i = 0; !st && h->ok && i < data->frames; i++) {
        hsize_t at[3] = {(hsize_t)i, 0, 0};
        nb_hdf5_packed chunk;
        st = next(user, i, &chunk, err);
        if (st)
            break;
        hashes[i] = chunk.hash;
        h->ok &= H5(Dwrite_chunk)(set, H5P_DEFAULT, 0, at, chunk.bytes, chunk.data) >= 0;
    }
    if (!st && h->ok)
        nb_h5_array(h, "/entry/data/chunk_hash", H5T_NATIVE_UINT64, hashes, 1, &count);
    if (!st && h->ok && data->inputs)
        nb_h5_array(h, inputs_path, H5T_NATIVE_UINT64, data->inputs, 1, &count);
    if (st || !h->ok)
        nb_h5_give_up(h);
    if (set >= 0 && H5(Dclose)(set) < 0)
        h->ok = 0;
    nb_free(hashes);
    return st;
}

static nb_status fill(nb_h5 *h, const nb_hdf5_data *data, nb_hdf5_next *next,
                      nb_hdf5_next_list *next_list, void *user, nb_error *err)
{
    int64_t range[2] = {data->first + 1, data->first + data->frames};
    nb_status st;
    nb_h5_group(h, "/entry", "NXentry");
    nb_h5_group(h, "/entry/data", "NXdata");
    nb_h5_attr_text(h, "/entry/data", "signal", "data");
    st = put_chunks(h, data, next, user, err);
    if (!st)
        nb_hdf5_put_facts(h, data);
    if (!st && data->layout.reflections)
        st = nb_hdf5_put_lists(h, data, next_list, user, err);
    nb_h5_attr_array(h, data_path, "image_nr_low", H5T_NATIVE_INT64, &range[0], 1);
    nb_h5_attr_array(h, data_path, "image_nr_high", H5T_NATIVE_INT64, &range[1], 1);
    nb_h5_attr_array(h, "/entry", "fingerprint", H5T_NATIVE_UINT64, &data->fingerprint, 1);
    nb_h5_attr_array(h, "/entry", "seed", H5T_NATIVE_INT64, &data->seed, 1);
    nb_h5_attr_array(h, "/entry", "frames_per_file", H5T_NATIVE_INT64, &data->per_file, 1);
    return st;
}

/** keep 0: only test whether it works. */
static nb_status write_data(const char *path, const nb_hdf5_data *data, int keep,
                            nb_hdf5_next *next, nb_hdf5_next_list *next_list, void *user,
                            nb_error *err)
{
    nb_h5 h;
    nb_h5_quiet quiet;
    nb_status st = nb_h5_begin(&quiet, err);
    if (st)
        return st;
    st = nb_h5_create(&h, path, (double)data->bytes + 256.0 * data->frames, err);
    if (!st) {
        st = fill(&h, data, next, next_list, user, err);
        st = nb_h5_finish(&h, keep, st, err);
    }
    nb_h5_end(&quiet);
    return st;
}

nb_status nb_hdf5_write_data(const char *path, const nb_hdf5_data *data,
                             nb_hdf5_next *next, nb_hdf5_next_list *next_list, void *user,
                             nb_error *err)
{
    return write_data(path, data, 1, next, next_list, user, err);
}

/** Make the tiny chunk of a trial file. */
static nb_status trial_chunk(void *user, int i, nb_hdf5_packed *chunk, nb_error *err)
{
    (void)user;
    (void)i;
    (void)err;
    *chunk = (nb_hdf5_packed){"", 1, 0};
    return NB_OK;
}

static nb_status trial_list(void *user, int i, nb_reflections *list, nb_error *err)
{
    (void)user;
    (void)i;
    (void)err;
    memset(list, 0, sizeof *list);
    return NB_OK;
}

nb_status nb_hdf5_try_data(const char *path, const nb_hdf5_layout *layout, nb_error *err)
{
    enum { EDGE = 8 };
    const int64_t none = 0;
    const nb_hdf5_facts facts = {0};
    nb_hdf5_data data = {
        .layout = *layout, .frames = 1, .reflections = &none, .facts = &facts};
    const nb_status st = nb_hdf5_chunk_check(layout, err);
    data.layout.fast = data.layout.slow = EDGE;
    return st ? st : write_data(path, &data, 0, trial_chunk, trial_list, NULL, err);
}

/* --- reading back --- */

static int has_shape(const nb_h5_set *set, const nb_hdf5_data *data)
{
    return set->rank == 3 && set->dims[0] == (hsize_t)data->frames &&
           set->dims[1] == (hsize_t)data->layout.slow &&
           set->dims[2] == (hsize_t)data->layout.fast;
}

static int chunk_is(const nb_h5_set *set, int i, uint64_t hash)
{
    const hsize_t at[3] = {(hsize_t)i, 0, 0};
    size_t bytes;
    void *chunk = nb_h5_get_chunk(set, at, &bytes);
    const int ok = chunk && nb_hdf5_hash(chunk, bytes) == hash;
    nb_free(chunk);
    return ok;
}

static int chunks_are_whole(const nb_h5_set *set, const nb_hdf5_data *data)
{
    const size_t n = (size_t)data->frames;
    uint64_t *hashes = nb_alloc(n, sizeof *hashes, "hashes", NULL);
    int ok = hashes && nb_h5_get_column(set->in, "/entry/data/chunk_hash",
                                        H5T_NATIVE_UINT64, n, hashes);
    for (int i = 0; ok && i < data->frames; i++)
        ok = chunk_is(set, i, hashes[i]);
    nb_free(hashes);
    return ok;
}

/** Does an attribute have this number? */
static int has_number(const nb_h5_input *in, const char *object, const char *name,
                      int64_t expected)
{
    int64_t value = 0;
    return nb_h5_get_integer(in, object, name, H5T_NATIVE_INT64, &value) &&
           value == expected;
}

/** Do the attributes match this file? */
static int belongs(const nb_h5_input *in, const nb_hdf5_data *data)
{
    uint64_t fingerprint = 0;
    return nb_h5_get_integer(in, "/entry", "fingerprint", H5T_NATIVE_UINT64,
                             &fingerprint) &&
           fingerprint == data->fingerprint &&
           has_number(in, "/entry", "seed", data->seed) &&
           has_number(in, "/entry", "frames_per_file", data->per_file) &&
           has_number(in, data_path, "image_nr_low", data->first + 1) &&
           has_number(in, data_path, "image_nr_high", data->first + data->frames);
}

static int verify(const nb_h5_input *in, const nb_hdf5_data *data, nb_hdf5_list *lists)
{
    nb_h5_set set;
    int ok;
    if (!belongs(in, data) || !nb_h5_set_open(in, data_path, -1, &set))
        return 0;
    ok = has_shape(&set, data) && chunks_are_whole(&set, data);
    nb_h5_set_close(&set);
    return ok && (!data->layout.reflections || nb_hdf5_read_lists(in, data, lists));
}

/** Read the hashes of the frames' own input files; all 0 if the file has none. */
static int read_inputs(const nb_h5_input *in, int frames, uint64_t *inputs)
{
    memset(inputs, 0, (size_t)frames * sizeof *inputs);
    return H5(Lexists)(in->file, inputs_path, H5P_DEFAULT) <= 0 ||
           nb_h5_get_column(in, inputs_path, H5T_NATIVE_UINT64, (size_t)frames, inputs);
}

static int read_key(const nb_h5_input *in, nb_hdf5_data *key)
{
    static const char where[] = "/entry";
    return nb_h5_get_integer(in, where, "fingerprint", H5T_NATIVE_UINT64,
                             &key->fingerprint) &&
           nb_h5_get_integer(in, where, "seed", H5T_NATIVE_INT64, &key->seed) &&
           nb_h5_get_integer(in, where, "frames_per_file", H5T_NATIVE_INT64,
                             &key->per_file);
}

int nb_hdf5_verify_data(const char *path, const nb_hdf5_data *data,
                        const nb_hdf5_found *found)
{
    nb_h5_input in;
    int ok;
    if (nb_h5_start(&in, path, 0, NULL, NULL))
        return 0;
    ok = verify(&in, data, found->lists) && read_inputs(&in, data->frames, found->inputs);
    if (ok)
        nb_hdf5_read_facts(&in, data->frames, found->facts);
    return !nb_h5_stop(&in, ok ? NB_OK : NB_ERR_INPUT, NULL);
}

int nb_hdf5_data_key(const char *path, nb_hdf5_data *key)
{
    nb_h5_input in;
    if (nb_h5_start(&in, path, 0, NULL, NULL))
        return 0;
    return !nb_h5_stop(&in, read_key(&in, key) ? NB_OK : NB_ERR_INPUT, NULL);
}
