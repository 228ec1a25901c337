/* SPDX-License-Identifier: MIT */
/** The rotation of the sample in a NeXus file. */
#ifndef NB_IO_NX_SCAN_H
#define NB_IO_NX_SCAN_H

#ifdef NB_HAVE_HDF5
#include "nxmx_chain.h"

/** The rotation during one frame; NaN: the file does not say. */
typedef struct nb_nx_scan {
    double phi_deg, osc_deg; /* start and width, which may be negative */
    nb_opt3 spindle;         /* unit, in the frame of NeXus, at the other axes' angles */
} nb_nx_scan;

/** The scan axis is the first, from the crystal outwards, whose values differ; where none does, the first
 * that turns during a frame by NAME_end, NAME_increment_set or NAME_increment; else the first rotation.
 * A file without `depends_on` of the sample may have its angles in the goniometer (masters of Dectris).
 * Errors: those of a chain. */
nb_status nb_nx_scan_read(const nb_h5_input *in, const char *entry, long long frame,
                          nb_nx_chain *chain, nb_nx_scan *out, nb_error *err);

#endif
#endif
