/* SPDX-License-Identifier: MIT */
/* Check the cell of a file. */
#include <math.h>
#include <string.h>

#include "../../base/error.h"
#include "structure_parts.h"

/* (V / abc)^2, V: volume of the cell */
static double reduced_volume(const double cell[6])
{
    const double radian = M_PI / 180;
    const double a = cos(cell[3] * radian), b = cos(cell[4] * radian),
                 c = cos(cell[5] * radian);
    return 1 - a * a - b * b - c * c + 2 * a * b * c;
}

nb_status nb_file_cell_check(double cell[6], const char *name, nb_error *err)
{
    static const double dummy[] = {1, 1, 1, 90, 90, 90};
    int good = 1;
    if ((cell[0] == 0 && cell[1] == 0 && cell[2] == 0) || cell[5] == 0 ||
        !memcmp(cell, dummy, sizeof dummy)) {
        cell[0] = 0;
        return NB_OK;
    }
    for (int i = 0; i < 3; i++)
        good &= cell[i] >= 0.1 && cell[i] < 1e6 && cell[3 + i] > 0 && cell[3 + i] < 180;
    if (!good || !(reduced_volume(cell) > 1e-6))
        return nb_fail_at(err, NB_ERR_INPUT, name, 0,
                          "the cell %g %g %g %g %g %g has no volume: correct it", cell[0],
                          cell[1], cell[2], cell[3], cell[4], cell[5]);
    return NB_OK;
}
