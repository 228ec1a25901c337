/* SPDX-License-Identifier: MIT */
/** Facts about the images of a series (nb_hdf5_facts): a table in each data file, for
 * -resume, and columns in the master. */
#ifndef NB_IO_HDF5_FACTS_H
#define NB_IO_HDF5_FACTS_H

#include "hdf5_file.h"
#include "hdf5_get.h"
#include "hdf5_put.h"

/** Read the facts of a data file into facts[frames]; zeros if it has none. */
void nb_hdf5_read_facts(const nb_h5_input *in, int frames, nb_hdf5_facts *facts);
/** Into a data file. */
void nb_hdf5_put_facts(nb_h5 *h, const nb_hdf5_data *data);
/** Write them into the master. /entry/simulation must exist. */
void nb_hdf5_put_facts_columns(nb_h5 *h, const nb_hdf5_master *master);

/* --- /entry/simulation/reflections: the lists of all frames in one table --- */

/** Write them into a data file; data->reflections has their numbers. */
nb_status nb_hdf5_put_lists(nb_h5 *h, const nb_hdf5_data *data, nb_hdf5_next_list *next,
                            void *user, nb_error *err);

/** Read the lists of the data file that `data` describes into lists[data->frames]. Returns 0 if
 * they differ from what was written. */
int nb_hdf5_read_lists(const nb_h5_input *in, const nb_hdf5_data *data,
                       nb_hdf5_list *lists);

/** Write them into the master: the tables of the data files as one. /entry/simulation must
 * exist. */
void nb_hdf5_link_lists(nb_h5 *h, const nb_hdf5_master *master);

#endif
