/* SPDX-License-Identifier: MIT */
/** Facts about the images of a series (nb_hdf5_facts): a table in each data file, for
 * -resume, and columns in the master. */
#ifndef NB_IO_HDF5_FACTS_H
#define NB_IO_HDF5_FACTS_H

#include "hdf5_file.h"
#include "hdf5_get.h"
#include "hdf5_put.h"

/** Read the facts of a data file into facts[frames]. Returns 0, and zeros in facts, if it
 * has none. */
int nb_hdf5_read_facts(const char *path, int frames, nb_hdf5_facts *facts);

#ifdef NB_HAVE_HDF5

/** Into a data file. */
void nb_hdf5_put_facts(nb_h5 *h, const nb_hdf5_data *data);
/** Write them into the master. /entry/simulation must exist. */
void nb_hdf5_put_facts_columns(nb_h5 *h, const nb_hdf5_master *master);
#endif

/* --- /entry/simulation/reflections: the lists of all frames in one table --- */

/** The n rows of a data file of this layout.reflections.  Errors: NB_ERR_IO, NB_ERR_INPUT, NB_ERR_UNSUPPORTED (a build
 * without HDF5). */
nb_status nb_hdf5_read_spots(const char *path, int kind, size_t n, nb_reflection *list,
                             nb_error *err);

#ifdef NB_HAVE_HDF5

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

#endif
