/* SPDX-License-Identifier: MIT */
/** Libraries that are loaded when a run first needs them.  Linked directly, libtiff and libpng
 * bring ten others into every start of the program, libhdf5 thirty; the start then takes two to
 * seven times as long. */
#ifndef NB_IO_LATE_LOAD_H
#define NB_IO_LATE_LOAD_H

#include <stddef.h>

enum { NB_LATE_FAILURE = 256 };

/** Load the library and look up names[0] ... names[count - 1]; slots is an array or a struct of
 * that many pointers in the same order.  failure: "" afterwards, or why it cannot be used. */
void nb_late_load(const char *soname, const char *const *names, size_t count, void *slots,
                  char failure[NB_LATE_FAILURE]);

#endif
