/* SPDX-License-Identifier: MIT */
/** /entry/simulation/reflections: the lists of all frames in one table. */
#ifndef NB_IO_HDF5_LISTS_H
#define NB_IO_HDF5_LISTS_H

#ifdef NB_HAVE_HDF5
#include "hdf5_file.h"
#include "hdf5_get.h"
#include "hdf5_put.h"

/** Write them into a data file; data->reflections has their numbers. */
nb_status nb_hdf5_put_lists(nb_h5 *h, const nb_hdf5_data *data, nb_hdf5_next_list *next,
                            void *user, nb_error *err);

/** Read the lists of the data file that `data` describes into lists[data->frames]; 0 if they are not
 * as they were written. */
int nb_hdf5_read_lists(const nb_h5_input *in, const nb_hdf5_data *data,
                       nb_hdf5_list *lists);

/** Write them into the master: the tables of the data files as one. /entry/simulation must
 * exist. */
void nb_hdf5_link_lists(nb_h5 *h, const nb_hdf5_master *master);

#endif
#endif
