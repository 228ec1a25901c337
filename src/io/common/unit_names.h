/* SPDX-License-Identifier: MIT */
/** Units by their names in files. */
#ifndef NB_IO_COMMON_UNIT_NAMES_H
#define NB_IO_COMMON_UNIT_NAMES_H

#include <stddef.h>

typedef enum nb_unit_kind { NB_UNIT_LENGTH, NB_UNIT_ANGLE, NB_UNIT_ENERGY } nb_unit_kind;

/** Size of the unit `name` (n bytes; may be a plural) in m, deg or eV; 0 if unknown. */
double nb_unit_scale(nb_unit_kind kind, const char *name, size_t n);

/** Return value x scale, correctly rounded if the scale is a power of ten. */
double nb_in_unit(double value, double scale);

#endif
