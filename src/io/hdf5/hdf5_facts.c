/* SPDX-License-Identifier: MIT */
#include "hdf5_put.h"

#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "../../base/memory.h"

#define GROUP "/entry/simulation/reflections"
#define TABLE GROUP "/table"

enum { CHUNK_ROWS = 4096 };

/** Names and units of the doubles of a row, in the order of nb_reflection. */
static const char *const real[][2] = {
    {"fast", "pixel"}, /* measured from the outer corner of the first pixel */
    {"slow", "pixel"},   {"intensity", "photon"},    {"peak", "photon"},
    {"phi", "deg"},      {"wavelength", "angstrom"}, {"excitation", "1/angstrom"},
    {"F", "electron"},   {"d", "angstrom"},          {"background", "photon/pixel"},
    {"pixels", "pixel"}, {"sigma", "photon"}};

/** WITH_: bits of layout.reflections. A row has WHOLE integers and REAL doubles. */
enum { WITH_PANEL = 2, WITH_CRYSTAL = 4, WHOLE = 4, REAL = sizeof real / sizeof *real };

_Static_assert(offsetof(nb_reflection, panel) == WHOLE * sizeof(int32_t) &&
                   sizeof(nb_reflection) ==
                       offsetof(nb_reflection, fast) + REAL * sizeof(double),
               "the table's columns are the members in their order");

/** Type of a row: nb_reflection. A file without panel and crystal omits their 8 bytes. */
static hid_t row_type(int reflections, int in_file)
{
    static const char *const whole[] = {"frame", "h", "k", "l", "panel"};
    const size_t several = reflections & WITH_PANEL ? 1 : 0,
                 first = offsetof(nb_reflection, fast),
                 less = in_file && !(reflections & (WITH_PANEL | WITH_CRYSTAL))
                            ? first - WHOLE * sizeof(int32_t)
                            : 0;
    hid_t type = H5(Tcreate)(H5T_COMPOUND, sizeof(nb_reflection) - less);
    for (size_t i = 0; i < WHOLE + several; i++) {
        H5(Tinsert)(type, whole[i], i * sizeof(int32_t), H5T_NATIVE_INT32);
        if (i > 0 || !(reflections & WITH_CRYSTAL))
            continue;
        H5(Tinsert)(type, "crystal", offsetof(nb_reflection, crystal), H5T_NATIVE_INT16);
        H5(Tinsert)(type, "twin", offsetof(nb_reflection, twin), H5T_NATIVE_INT16);
    }
    for (size_t i = 0; i < REAL; i++)
        H5(Tinsert)
    (type, real[i][0], first - less + i * sizeof(double), H5T_NATIVE_DOUBLE);
    return type;
}

/** Read all n rows of a data file; free *rows with nb_free. Returns 0 on failure. */
static int read_rows(const nb_h5_input *in, int reflections, size_t n,
                     nb_reflection **rows)
{
    const hid_t types[2] = {row_type(reflections, 1), row_type(reflections, 0)};
    void *all;
    const int ok = nb_h5_get_rows(in, TABLE, types, sizeof **rows, n, &all);
    *rows = all;
    for (size_t i = 0; ok && i < n; i++) {
        (*rows)[i].panel = reflections & WITH_PANEL ? (*rows)[i].panel : 0;
        if (!(reflections & WITH_CRYSTAL))
            (*rows)[i].crystal = (*rows)[i].twin = 0;
    }
    H5(Tclose)(types[0]);
    H5(Tclose)(types[1]);
    return ok;
}

static hid_t create_table(nb_h5 *h, hid_t type)
{
    const hsize_t none = 0, any = H5S_UNLIMITED, chunk = CHUNK_ROWS;
    hid_t list = nb_h5_creation();
    nb_h5_pack(h, list, 1, &chunk, 1);
    return nb_h5_new_set(h, TABLE, type, H5(Screate_simple)(1, &none, &any), list);
}

/** Sums over the photons of a frame that belong to no listed reflection. */
static const struct {
    const char *path;
    size_t offset;
} sums[] = {{GROUP "/background", offsetof(nb_hdf5_list, background)},
            {GROUP "/unassigned", offsetof(nb_hdf5_list, unassigned)},
            {GROUP "/diffuse", offsetof(nb_hdf5_list, diffuse)},
            /* this column is written if the sum is not 0 */
            {GROUP "/off_panels", offsetof(nb_hdf5_list, off_panels)}};

enum { SUMS = sizeof sums / sizeof *sums };

void nb_hdf5_put_lists(nb_h5 *h, int frames, const nb_hdf5_list *lists)
{
    const size_t n = (size_t)frames;
    const hsize_t dim = n;
    const nb_h5_member count = {GROUP "/count", H5T_NATIVE_INT64, 1, 0, NULL};
    int64_t *first = nb_alloc(n, sizeof *first, "lists", NULL);
    int some = 0;
    h->ok &= first != NULL;
    for (size_t i = 0; first && i < n; i++) {
        first[i] = i ? first[i - 1] + lists[i - 1].count : 0;
        some |= lists[i].off_panels != 0;
    }
    nb_h5_members(h, &count, 1, lists, sizeof *lists, n);
    nb_h5_array(h, GROUP "/first", H5T_NATIVE_INT64, first, 1, &dim);
    for (int k = 0; k < SUMS - !some; k++) {
        const nb_h5_member sum = {sums[k].path, H5T_NATIVE_DOUBLE, 1, sums[k].offset,
                                  "photon"};
        nb_h5_members(h, &sum, 1, lists, sizeof *lists, n);
    }
    nb_free(first);
}

/** Write the unit of each column, in order; "1" for a pure number. */
static void put_units(nb_h5 *h, int reflections)
{
    const size_t whole =
        WHOLE + (reflections & WITH_PANEL ? 1 : 0) + (reflections & WITH_CRYSTAL ? 2 : 0);
    const char *units[WHOLE + 3 + REAL];
    for (size_t i = 0; i < whole + REAL; i++)
        units[i] = i < whole ? "1" : real[i - whole][1];
    nb_h5_attr_texts(h, TABLE, "units", units, whole + REAL);
}

/** Begin the table in a file with /entry/simulation. */
static hid_t begin_table(nb_h5 *h, int kind)
{
    hid_t type = row_type(kind, 1), table;
    nb_h5_group(h, GROUP, "NXcollection");
    table = create_table(h, type);
    put_units(h, kind);
    H5(Tclose)(type);
    return table;
}

hid_t nb_hdf5_open_table(nb_h5 *h, int kind)
{
    nb_h5_group(h, "/entry/simulation", "NXcollection");
    return begin_table(h, kind);
}

void nb_hdf5_add_rows(nb_h5 *h, hid_t table, int kind, hsize_t at,
                      const nb_reflections *list)
{
    const hsize_t all = at + list->count;
    const hid_t type = row_type(kind, 0);
    h->ok = h->ok && H5(Dset_extent)(table, &all) >= 0;
    nb_h5_put_piece(h, table, type, at, list->count, list->list);
    H5(Tclose)(type);
}

/** Copy all rows of an open table of this kind. */
static void copy_rows(nb_h5 *h, const nb_h5_set *set, int kind)
{
    enum { PART = 1 << 14 };
    nb_reflection *rows = nb_alloc_raw(PART, sizeof *rows, "lists", NULL);
    const hid_t type = row_type(kind, 0), table = begin_table(h, kind);
    nb_h5_box box = nb_h5_whole(set);
    const hsize_t all = box.count[2];
    h->ok &= rows != NULL;
    for (hsize_t at = 0; h->ok && at < all; at += PART) {
        const nb_reflections list = {.list = rows,
                                     .count = all - at < PART ? all - at : PART};
        box.first[2] = at;
        box.count[2] = list.count;
        h->ok = !nb_h5_set_read(set, &box, type, rows, NULL);
        nb_hdf5_add_rows(h, table, kind, at, &list);
    }
    nb_h5_close_set(h, table);
    H5(Tclose)(type);
    nb_free(rows);
}

void nb_hdf5_copy_table(nb_h5 *h, const nb_h5_input *in)
{
    static const int kinds[] = {1, 2, 1 + WITH_CRYSTAL, 2 + WITH_CRYSTAL};
    for (size_t i = 0; nb_h5_there(in, TABLE) && i < sizeof kinds / sizeof *kinds; i++) {
        const hid_t type = row_type(kinds[i], 1);
        nb_h5_set set;
        if (nb_h5_set_open(in, TABLE, type, &set)) {
            copy_rows(h, &set, kinds[i]);
            nb_h5_set_close(&set);
            i = sizeof kinds / sizeof *kinds; /* ends the loop, as the kind is found */
        }
        H5(Tclose)(type);
    }
}

nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err)
{
    nb_reflection *all = NULL;
    nb_h5_input in;
    nb_status st = n ? nb_h5_start(&in, path, NULL, err) : NB_OK;
    if (st || !n)
        return st;
    if (!read_rows(&in, kind, n, &all))
        st = nb_fail(err, NB_ERR_IO, "its table of reflections is not whole");
    else
        memcpy(list, all, n * sizeof *list);
    nb_free(all);
    return nb_h5_stop(&in, st, err);
}

/* --- the master --- */

/** Gather the list of every frame from the truth. */
static int gather(const nb_hdf5_master *master, nb_hdf5_list *lists)
{
    nb_hdf5_frame truth;
    for (int i = 0; i < master->frames; i++) {
        if (master->truth(master->user, i, 1, &truth, NULL))
            return 0;
        lists[i] = truth.list;
    }
    return 1;
}

void nb_hdf5_link_lists(nb_h5 *h, const nb_hdf5_master *master)
{
    const int kind = master->layout.reflections;
    size_t n = (size_t)master->frames;
    nb_hdf5_list *lists = nb_alloc(n, sizeof *lists, "lists", NULL);
    nb_hdf5_virtual table = {.path = TABLE, .rank = 1, .lists = lists};
    h->ok &= lists && gather(master, lists);
    for (size_t i = 0; h->ok && i < n; i++)
        table.dims[0] += (hsize_t)lists[i].count;
    if (h->ok) {
        table.type = row_type(kind, 1);
        table.list = nb_h5_creation();
        nb_h5_group(h, GROUP, "NXcollection");
        nb_hdf5_put_lists(h, master->frames, lists);
        nb_hdf5_put_virtual(h, master, &table);
        put_units(h, kind);
        H5(Tclose)(table.type);
    }
    nb_free(lists);
}
