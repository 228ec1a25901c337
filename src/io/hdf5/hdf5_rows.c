/* SPDX-License-Identifier: MIT */
#include "hdf5_rows.h"

#ifdef NB_HAVE_HDF5
#include <string.h>

#include "../../base/memory.h"

typedef struct row_maker {
    const nb_hdf5_master *master;
    size_t bytes;
    nb_hdf5_row *row;
    size_t offset;
} row_maker;

static nb_status make_rows(void *user, int first, int count, void *rows, nb_error *err)
{
    const row_maker *m = user;
    nb_hdf5_frame *truth = nb_alloc_raw((size_t)count, sizeof *truth, "truth", err);
    nb_status st = truth
                       ? m->master->truth(m->master->truth_user, first, count, truth, err)
                       : NB_ERR_NOMEM;
    for (int i = 0; !st && i < count; i++)
        m->row(&truth[i], m->offset, (char *)rows + (size_t)i * m->bytes);
    nb_free(truth);
    return st;
}

void nb_hdf5_put_rows(nb_h5 *h, const nb_hdf5_master *master, const char *path,
                      hid_t type, int values, nb_hdf5_row *row, size_t offset)
{
    row_maker maker = {master, (size_t)values * 8, row, offset};
    nb_h5_stream s = {path, type, 1, {0, 0, 0}, maker.bytes, make_rows, &maker};
    s.rank = values == 9 ? 3 : values > 1 ? 2 : 1;
    s.dims[0] = (hsize_t)master->frames;
    s.dims[1] = values == 9 ? 3 : (hsize_t)values;
    s.dims[2] = 3;
    nb_h5_put_stream(h, &s);
}

void nb_hdf5_member(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    memcpy(row, (const char *)frame + offset, 8);
}

void nb_hdf5_vector(const nb_hdf5_frame *frame, size_t offset, void *row)
{
    memcpy(row, (const char *)frame + offset, 3 * sizeof(double));
}

int nb_hdf5_varies(const nb_hdf5_master *master, size_t offset, size_t bytes)
{
    nb_hdf5_frame first, other;
    int differ = 0,
        failed = master->truth(master->truth_user, 0, 1, &first, NULL) != NB_OK;
    for (int i = 1; i < master->frames && !differ && !failed; i++) {
        failed = master->truth(master->truth_user, i, 1, &other, NULL) != NB_OK;
        differ = !failed && memcmp((const char *)&first + offset,
                                   (const char *)&other + offset, bytes) != 0;
    }
    return differ;
}
#else
typedef int nb_hdf5_rows_is_not_in_this_build;
#endif
