/* SPDX-License-Identifier: MIT */
/** The bits of values, plane by plane, by instruction sets that give the same bytes. */
#ifndef NB_IO_PLANES_H
#define NB_IO_PLANES_H

#include <stddef.h>
#include <stdint.h>

#include "../../nanobragg.h"

/** The bit planes of the first of `count` 2-byte values, each of count/8 bytes; returns how many values (a
 * multiple of 8) are done. */
typedef size_t nb_shuffle_u16(const unsigned char *in, size_t count, unsigned char *out);

extern nb_shuffle_u16 nb_shuffle_u16_base; /* the set that every processor of the architecture has */
#ifdef __x86_64__
extern nb_shuffle_u16 nb_shuffle_u16_avx2;
#endif

/** The function of an instruction set that this processor runs; AUTO: the widest. SCALAR does
 * nothing. */
nb_shuffle_u16 *nb_shuffle_u16_of(nb_isa isa);

#endif
