/* SPDX-License-Identifier: MIT */
/** Structure-factor amplitudes in a box of Miller indices, from a file. */
#ifndef NB_IO_FACTOR_FILE_H
#define NB_IO_FACTOR_FILE_H

#include "../../base/outfile.h"
#include "../../nanobragg.h"

#define NB_SF_MAX_INDEX 10000 /* limit of |h|, |k|, |l| */
#define NB_SF_MAX_F 1e150     /* electrons; F^2 does not overflow a double */

/** A table: F[((h-hmin)*nk + (k-kmin))*nl + (l-lmin)] in electrons, with nk = kmax-kmin+1
 * and nl = lmax-lmin+1, so that l runs fastest. Limits are inclusive. The owner of the
 * struct owns F. */
typedef struct nb_factor_file {
    int hmin, hmax, kmin, kmax, lmin, lmax;
    int64_t reflections; /* number of lines read, or of voxels of a dump */
    double *F;
} nb_factor_file;

/** Number of voxels in the limits, (hmax-hmin+1)(kmax-kmin+1)(lmax-lmin+1). */
int64_t nb_factor_file_voxels(const nb_factor_file *table);

/** Position in F of a reflection h k l inside the box. */
static inline int64_t nb_factor_file_at(const nb_factor_file *t, int h, int k, int l)
{
    return (((int64_t)h - t->hmin) * (t->kmax - t->kmin + 1) + (k - t->kmin)) *
               (t->lmax - t->lmin + 1) +
           (l - t->lmin);
}

/** Check the limits in *table: order, NB_SF_MAX_INDEX, up to 2^31 voxels, and the memory
 * of the machine. name: the file, for messages. Errors: NB_ERR_INPUT. */
nb_status nb_factor_file_check(const nb_factor_file *table, const char *name,
                               nb_error *err);

/** Call nb_factor_file_check, then allocate F without values. Errors: also NB_ERR_NOMEM;
 * F is then NULL. */
nb_status nb_factor_file_alloc(nb_factor_file *table, const char *name, nb_error *err);

/** Free F and zero the struct; NULL is allowed. */
void nb_factor_file_free(nb_factor_file *table);

/* --- The structure-factor cache (Fdump.bin), with nanoBragg's byte layout ---
 * ASCII `hmin hmax kmin kmax lmin lmax`, newline (0x0A), form feed (0x0C), then native
 * doubles [hmax-hmin+2][kmax-kmin+2][lmax-lmin+2], l fastest: the box with one more plane
 * of zeros after the last h, k and l. */

#define NB_FDUMP_HEADER 96 /* bytes that hold any header, NUL included */

/** Takes the next bytes of a file. Any status other than NB_OK stops the writer. */
typedef nb_status (*nb_fdump_sink)(void *user, const void *data, size_t bytes,
                                   nb_error *err);

/** Parse the n bytes of a dump. Both separator bytes and the length must match exactly;
 * every value in the box must be finite; the extra planes are ignored. Free *out with
 * nb_factor_file_free; on error it is zero. Errors: NB_ERR_INPUT, NB_ERR_NOMEM. */
nb_status nb_fdump_parse(const void *data, size_t n, const char *name,
                         nb_factor_file *out, nb_error *err);

/** Write the header of a dump with both separator bytes and a NUL; returns the length. */
size_t nb_fdump_header(const nb_factor_file *table, char out[NB_FDUMP_HEADER]);

/** Pass the whole dump to sink: first the header, then one plane of h per call. */
nb_status nb_fdump_write(const nb_factor_file *table, nb_fdump_sink sink, void *user,
                         nb_error *err);

#endif
