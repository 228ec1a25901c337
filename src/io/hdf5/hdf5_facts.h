/* SPDX-License-Identifier: MIT */
/** Facts about the images of a series (nb_hdf5_facts): a table in each data file, for
 * -resume, and columns in the master. */
#ifndef NB_IO_HDF5_FACTS_H
#define NB_IO_HDF5_FACTS_H

#include "hdf5_file.h"

/** Read the facts of a data file into facts[frames]. Returns 0, and zeros in facts, if it
 * has none. */
int nb_hdf5_read_facts(const char *path, int frames, nb_hdf5_facts *facts);

#ifdef NB_HAVE_HDF5
#include "hdf5_put.h"

/** Into a data file. */
void nb_hdf5_put_facts(nb_h5 *h, const nb_hdf5_data *data);
/** Write them into the master. /entry/simulation must exist. */
void nb_hdf5_put_facts_columns(nb_h5 *h, const nb_hdf5_master *master);
#endif

#endif
