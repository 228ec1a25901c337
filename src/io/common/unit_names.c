/* SPDX-License-Identifier: MIT */
#include "unit_names.h"

#include <math.h>
#include <string.h>

#include "../../base/text.h"
#include "../../model/units.h"

static const struct {
    nb_unit_kind kind;
    double scale;
    const char *names;
} units[] = {
    {NB_UNIT_LENGTH, 1, "m meter metre"},
    {NB_UNIT_LENGTH, 1e-2, "cm"},
    {NB_UNIT_LENGTH, 1e-3, "mm millimeter millimetre"},
    {NB_UNIT_LENGTH, 1e-6, "um micron \xC2\xB5m \xCE\xBCm"},
    {NB_UNIT_LENGTH, 1e-9, "nm nanometer"},
    {NB_UNIT_LENGTH, 1e-10, "A angstrom Angstrom Ang \xC3\x85 \xE2\x84\xAB"},
    {NB_UNIT_LENGTH, 1e-12, "pm"},
    {NB_UNIT_ANGLE, 1, "deg degree \xC2\xB0"},
    {NB_UNIT_ANGLE, 1 / NB_DEG, "rad radian"},
    {NB_UNIT_ANGLE, 1e-3 / NB_DEG, "mrad"},
    {NB_UNIT_ENERGY, 1, "eV"},
    {NB_UNIT_ENERGY, 1e3, "keV"},
    {NB_UNIT_ENERGY, 1e6, "MeV"},
};

double nb_unit_scale(nb_unit_kind kind, const char *name, size_t n)
{
    if (n > 4 && name[n - 1] == 's') /* meters */
        n--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const char *names = units[i].names;
        char word[NB_TEXT_WORD];
        while (units[i].kind == kind && nb_text_word(&names, word))
            if (strlen(word) == n && memcmp(word, name, n) == 0)
                return units[i].scale;
    }
    return 0;
}

double nb_in_unit(double value, double scale)
{
    /* divide: 320/1e6 (um) is the nearest double, but 320*1e-6 may not be */
    if (scale >= 1)
        return fabs(scale - round(scale)) < 1e-9 * scale ? value * round(scale)
                                                         : value * scale;
    return fabs(1 / scale - round(1 / scale)) < 1e-9 / scale ? value / round(1 / scale)
                                                             : value * scale;
}
