/* SPDX-License-Identifier: MIT */
/** Chains of transformations of NeXus (NXtransformations).  For nxmx*.c alone. */
#ifndef NB_IO_NXMX_CHAIN_H
#define NB_IO_NXMX_CHAIN_H

#ifdef NB_HAVE_HDF5
#include "hdf5_get.h"

/** One axis: point -> R(vector, value) point + offset, or point + value vector + offset.  m, deg. */
typedef struct nb_nx_axis {
    char path[NB_H5_NAME];
    int rotates;
    double vector[3], value, offset[3];
} nb_nx_axis;

enum { NB_NX_DEEPEST = 64 };
typedef struct nb_nx_chain {
    int n;
    nb_nx_axis axes[NB_NX_DEEPEST]; /* as they act */
} nb_nx_chain;

/** Value 0 of a length, m.  Errors: NB_ERR_INPUT for a number that is not finite, or an unknown unit. */
nb_status nb_nx_get_length(const nb_h5_input *in, const char *path, double *value,
                           nb_error *err);

/** The offset of an axis, m; 0 where there is none. */
nb_status nb_nx_offset(const nb_h5_input *in, const char *path, double offset[3],
                       nb_error *err);

/** The axes that `name` starts, as an axis or field at `from` writes it. */
nb_status nb_nx_chain_read(const nb_h5_input *in, const char *from, const char *name,
                           nb_nx_chain *chain, nb_error *err);

/** Axes from number `first` on, applied to a point or to a direction. */
void nb_nx_move(const nb_nx_chain *chain, int first, double point[3]);
void nb_nx_turn(const nb_nx_chain *chain, int first, double direction[3]);

#endif
#endif
