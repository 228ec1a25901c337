/* SPDX-License-Identifier: MIT */
#include "hdf5_build.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../src/io/hdf5/hdf5_chunk.h"

enum { RANK = 4, MAX_VALUES = 4096, EDGE = 8 };

/* One folder per process: virtual sets name files in the same folder. */
static char folder[256], main_path[300], other_path[300];

static void remove_folder(void)
{
    unlink(main_path);
    unlink(other_path);
    rmdir(folder);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    if (folder[0])
        return;
    snprintf(folder, sizeof folder, "%.200s/nb-fuzz-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    NB_FUZZ_CHECK(mkdtemp(folder));
    snprintf(main_path, sizeof main_path, "%s/a.h5", folder);
    snprintf(other_path, sizeof other_path, "%s/b.h5", folder);
    atexit(remove_folder);
}

unsigned take(fuzz_bytes *b)
{
    return b->p < b->end ? *b->p++ : 0;
}

unsigned take_below(fuzz_bytes *b, unsigned n)
{
    return take(b) % n;
}

static hsize_t take_size(fuzz_bytes *b)
{
    static const hsize_t sizes[] = {1,
                                    2,
                                    8,
                                    3,
                                    8,
                                    0,
                                    64,
                                    17,
                                    1000,
                                    100000,
                                    0x7fffffff,
                                    0x80000000u,
                                    0x100000001u,
                                    0x7fffffffffffffffu};
    return sizes[take_below(b, sizeof sizes / sizeof *sizes)];
}

/* --- types --- */

static hid_t take_type(fuzz_bytes *b)
{
    const hid_t known[] = {H5T_NATIVE_UINT16, H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT,
                           H5T_NATIVE_INT32,  H5T_NATIVE_UINT64, H5T_C_S1};
    unsigned kind = take_below(b, 8);
    hid_t type;
    if (kind == 6) {
        type = H5(Tcreate)(H5T_OPAQUE, 1 + take(b));
    } else if (kind == 7) {
        type = H5(Tcreate)(H5T_COMPOUND, 16);
        H5(Tinsert)(type, "a", take_below(b, 8), H5T_NATIVE_DOUBLE);
    } else {
        type = H5(Tcopy)(known[kind]);
        if (kind == 5 || take(b) > 200) /* texts, integers of unusual sizes */
            H5(Tset_size)(type, kind == 5 && take(b) > 200 ? H5T_VARIABLE : 1 + take(b));
    }
    return type;
}

/** Makes a scalar or empty data space, or one with the dimensions *rank, dims. */
static hid_t take_space(fuzz_bytes *b, int *rank, hsize_t *dims)
{
    *rank = (int)take_below(b, RANK + 2);
    for (int i = 0; i < RANK; i++)
        dims[i] = i < *rank ? take_size(b) : 1;
    if (*rank > RANK) {
        *rank = 0;
        return H5(Screate)(H5S_NULL);
    }
    return *rank ? H5(Screate_simple)(*rank, dims, NULL) : H5(Screate)(H5S_SCALAR);
}

/* --- attributes --- */

static void put_attr(hid_t file, const object *o, fuzz_bytes *b)
{
    static unsigned char values[300 * MAX_VALUES];
    hsize_t dims[RANK];
    int rank;
    hid_t type = take_type(b), space = take_space(b, &rank, dims), attr = -1;
    hssize_t points = H5(Sget_simple_extent_npoints)(space);
    if (points >= 0 && points <= MAX_VALUES && H5(Tget_size)(type) <= 300)
        attr = H5(Acreate_by_name)(file, o->path, o->attr, type, space, H5P_DEFAULT,
                                   H5P_DEFAULT, H5P_DEFAULT);
    memset(values, (int)take(b), sizeof values);
    if (attr >= 0) {
        if (H5(Tis_variable_str)(type) <= 0)
            H5(Awrite)(attr, type, values);
        H5(Aclose)(attr);
    }
    H5(Sclose)(space);
    H5(Tclose)(type);
}

/* --- data sets --- */

void put_array(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims,
               const void *values)
{
    hid_t space = rank ? H5(Screate_simple)(rank, dims, NULL) : H5(Screate)(H5S_SCALAR);
    hid_t set =
        H5(Dcreate2)(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    NB_FUZZ_CHECK(set >= 0 &&
                  H5(Dwrite)(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5(Dclose)(set);
    H5(Sclose)(space);
}

static void take_filters(hid_t list, fuzz_bytes *b)
{
    for (unsigned i = take_below(b, 4); i > 0; i--) {
        unsigned values[8] = {0, 4, 2, 0, NB_H5_BITSHUFFLE_LZ4, 0, 0, 0};
        unsigned kind = take_below(b, 6), id = take(b);
        switch (kind) {
        case 0:
            H5(Pset_deflate)(list, 1);
            break;
        case 1:
            H5(Pset_shuffle)(list);
            break;
        case 2:
            values[2] = take_below(b, 10);
            H5(Pset_filter)
            (list, NB_H5_BITSHUFFLE, H5Z_FLAG_OPTIONAL, take_below(b, 9), values);
            break;
        case 3:
            H5(Pset_filter)(list, H5Z_FILTER_FLETCHER32, 0, 0, NULL);
            break;
        default: /* other filters of HDF5, filters of this program, no filter */
            H5(Pset_filter)
            (list, (H5Z_filter_t)(kind == 4 ? id % 8 : 400 + id % 64), H5Z_FLAG_OPTIONAL,
             take_below(b, 9), values);
        }
    }
}

/** Bytes of a chunk: a compressed frame of some size, or arbitrary bytes. */
static size_t take_payload(fuzz_bytes *b, unsigned char *chunk, size_t room)
{
    static const uint32_t pixels[64 * 64];
    static uint32_t scratch[64 * 64];
    static const int edges[] = {8, 4, 16, 64, 1};
    unsigned kind = take_below(b, 5);
    nb_hdf5_layout layout = {0};
    size_t n = 0;
    layout.fast = layout.slow = edges[take_below(b, 5)];
    layout.type = take_below(b, 2) ? NB_HDF5_I32 : NB_HDF5_U16;
    layout.compress = (nb_compression)(kind % 3);
    if (kind < 3 && nb_hdf5_chunk_bound(&layout) <= room &&
        !nb_hdf5_chunk_encode(&layout, pixels, scratch, chunk, &n, NULL)) {
        unsigned at = take(b);
        if (take(b) > 200 && at < n)
            chunk[at] ^= (unsigned char)(1 + take(b));
        return n;
    }
    n = 1 + take(b);
    for (size_t i = 0; i < n; i++)
        chunk[i] = (unsigned char)take(b);
    return n;
}

static void put_chunks(hid_t set, int rank, const hsize_t *chunk, fuzz_bytes *b)
{
    static unsigned char payload[64 * 64 * 4 * 2];
    for (unsigned i = take_below(b, 5); i > 0; i--) {
        hsize_t at[RANK] = {0};
        size_t n = take_payload(b, payload, sizeof payload);
        unsigned mask = take(b) > 200 ? take(b) : 0;
        for (int d = 0; d < rank; d++)
            at[d] = take_below(b, 3) * chunk[d];
        H5(Dwrite_chunk)(set, H5P_DEFAULT, mask, at, n, payload);
    }
}

static int take_chunks(hid_t list, int rank, hsize_t *chunk, fuzz_bytes *b)
{
    for (int i = 0; i < rank; i++)
        chunk[i] = take_size(b);
    return H5(Pset_chunk)(list, rank, chunk) >= 0;
}

static void take_selection(hid_t space, int rank, fuzz_bytes *b)
{
    hsize_t start[RANK], stride[RANK], count[RANK], block[RANK];
    if (take_below(b, 4) == 3) /* selects the whole extent */
        return;
    for (int i = 0; i < rank; i++) {
        start[i] = take_below(b, 4);
        stride[i] = 1 + take_below(b, 4);
        count[i] = take(b) > 240 ? H5S_UNLIMITED : 1 + take_below(b, 4);
        block[i] = take_size(b);
    }
    H5(Sselect_hyperslab)(space, H5S_SELECT_SET, start, stride, count, block);
}

static void take_mappings(hid_t list, hid_t space, int rank, fuzz_bytes *b)
{
    static const char *const files[] = {"b.h5",  ".",         "a.h5",   "none.h5",
                                        "%b.h5", "/dev/null", "%%b.h5", ""};
    static const char *const sets[] = {
        "/entry/data/data",        "/wavelength", "/weight",
        "/entry/data/data_000001", "/none",       "%b"};
    for (unsigned i = take_below(b, 4); i > 0; i--) {
        int source_rank;
        hsize_t dims[RANK];
        hid_t source = take_space(b, &source_rank, dims);
        if (source_rank)
            take_selection(source, source_rank, b);
        take_selection(space, rank, b);
        H5(Pset_virtual)
        (list, space, files[take_below(b, 8)], sets[take_below(b, 6)], source);
        H5(Sclose)(source);
    }
}

static void put_set(hid_t file, const object *o, fuzz_bytes *b)
{
    static const unsigned char values[8 * MAX_VALUES];
    hsize_t dims[RANK], chunk[RANK] = {0};
    int rank;
    hid_t type = take_type(b), space = take_space(b, &rank, dims), set;
    hid_t list = H5(Pcreate)(H5P_DATASET_CREATE);
    unsigned layout = take_below(b, 3);
    hssize_t points = H5(Sget_simple_extent_npoints)(space);
    if (layout == 1 && rank && take_chunks(list, rank, chunk, b))
        take_filters(list, b);
    else if (layout == 2 && rank)
        take_mappings(list, space, rank, b);
    H5(Sselect_all)(space);
    set = H5(Dcreate2)(file, o->path, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    /* without this condition libhdf5 1.10 crashes */
    if (set >= 0 && layout == 1 && rank && points > 0)
        put_chunks(set, rank, chunk, b);
    else if (set >= 0 && layout == 0 && points >= 0 && points <= MAX_VALUES &&
             H5(Tget_size)(type) <= 8 && H5(Tis_variable_str)(type) <= 0 && take(b) < 200)
        H5(Dwrite)(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    if (set >= 0)
        H5(Dclose)(set);
    H5(Pclose)(list);
    H5(Sclose)(space);
    H5(Tclose)(type);
}

static void put_other(hid_t file, const object *o, fuzz_bytes *b)
{
    static const char *const files[] = {"b.h5", "a.h5", "none.h5", "/dev/null"};
    const char *name = files[take_below(b, 4)];
    if (take_below(b, 2))
        H5(Lcreate_external)
    (name, "/entry/data/data", file, o->path, H5P_DEFAULT, H5P_DEFAULT);
    else H5(Gclose)(H5(Gcreate2)(file, o->path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
}

/* --- files --- */

static nb_h5_quiet quiet;

hid_t begin_file(const char *path, const char *const *groups)
{
    hid_t file;
    NB_FUZZ_CHECK(nb_h5_begin(&quiet, NULL) == NB_OK);
    file = H5(Fcreate)(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    NB_FUZZ_CHECK(file >= 0);
    for (; *groups; groups++)
        H5(Gclose)(H5(Gcreate2)(file, *groups, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    return file;
}

void end_file(hid_t file)
{
    NB_FUZZ_CHECK(H5(Fclose)(file) >= 0);
    nb_h5_end(&quiet);
}

/** Writes two frames as targets of links and mappings. */
static void build_other(void)
{
    static const char *const groups[] = {"/entry", "/entry/data", NULL};
    static const uint16_t pixels[2 * EDGE * EDGE];
    const hsize_t dims[3] = {2, EDGE, EDGE};
    hid_t file = begin_file(other_path, groups);
    put_array(file, "/entry/data/data", H5T_NATIVE_UINT16, 3, dims, pixels);
    end_file(file);
}

/** Writes the good file. The first call makes it; later calls write the same bytes. */
static void put_base(base_file *base)
{
    static unsigned char content[1 << 17];
    static size_t size;
    FILE *f;
    if (!size) {
        build_other();
        base(main_path);
        f = fopen(main_path, "rb");
        NB_FUZZ_CHECK(f && (size = fread(content, 1, sizeof content, f)) > 0 &&
                      size < sizeof content);
    } else {
        f = fopen(main_path, "wb");
        NB_FUZZ_CHECK(f && fwrite(content, 1, size, f) == size);
    }
    fclose(f);
}

/* Functions of HDF5 that only tests need. */
static herr_t remove_object(hid_t file, const object *o)
{
    static __typeof__(H5Ldelete) *link;
    static __typeof__(H5Adelete_by_name) *attr;
    if (!link) {
        void *library = dlopen(NB_HDF5_SONAME, RTLD_NOW | RTLD_NOLOAD);
        NB_FUZZ_CHECK(library);
        *(void **)&link = dlsym(library, "H5Ldelete");
        *(void **)&attr = dlsym(library, "H5Adelete_by_name");
        NB_FUZZ_CHECK(link && attr);
    }
    return o->attr ? attr(file, o->path, o->attr, H5P_DEFAULT)
                   : link(file, o->path, H5P_DEFAULT);
}

const char *build_hdf5(fuzz_bytes *b, base_file *base, const object *objects)
{
    hid_t file;
    make_folder();
    put_base(base);
    NB_FUZZ_CHECK(nb_h5_begin(&quiet, NULL) == NB_OK);
    file = H5(Fopen)(main_path, H5F_ACC_RDWR, H5P_DEFAULT);
    NB_FUZZ_CHECK(file >= 0);
    for (const object *o = objects; o->path; o++) {
        unsigned kind = take(b);
        if (kind < 128)
            continue;
        remove_object(file, o);
        if (kind < 240 && o->attr)
            put_attr(file, o, b);
        else if (kind < 232)
            put_set(file, o, b);
        else if (kind < 240)
            put_other(file, o, b);
    }
    end_file(file);
    return main_path;
}
