/* SPDX-License-Identifier: MIT */
/* Tables of F over sin(theta)/lambda: abscissas of an accepted table increase, and the
 * curve through the points is finite and stays between neighbouring points. */
#include <math.h>

#include "../../src/io/table/sources.h"
#include "../../src/model/units.h"
#include "../../src/physics/amorphous.h"
#include "fuzz.h"

enum { LOOKS = 64 };

static void check_points(const nb_stol_table *t)
{
    NB_FUZZ_CHECK(t->n >= 1 && t->n <= NB_STOL_MAX && t->points[0].stol >= 0);
    for (int i = 0; i < t->n; i++) {
        NB_FUZZ_CHECK(isfinite(t->points[i].stol) && isfinite(t->points[i].F));
        NB_FUZZ_CHECK(!i || t->points[i].stol > t->points[i - 1].stol);
    }
}

/** Checks the curve at some points of the table, and between points. */
static void check_curve(const nb_stol_table *t)
{
    const nb_amorphous_source source = {t->points, t->n, 1};
    nb_amorphous_set set;
    nb_error err = {0};
    if (nb_amorphous_build(&source, 1, &set, &err))
        return; /* memory is out */
    for (int k = 0; k <= LOOKS; k++) {
        const int i = (int)((int64_t)k * t->n / (LOOKS + 1)), j = i + 1 < t->n ? i + 1 : i;
        const nb_stol_point *a = &t->points[i], *b = &t->points[j];
        const double from = a->stol / NB_ANGSTROM, to = b->stol / NB_ANGSTROM;
        const double x = i == j ? from : from + (to - from) * (k % 8) / 8;
        const double F = nb_piece_F(nb_piece_of(&set.tables, set.tables.materials, x), x);
        if (i == j || (x < to && isfinite(to)))
            NB_FUZZ_CHECK(F >= fmin(a->F, b->F) && F <= fmax(a->F, b->F));
    }
    nb_amorphous_set_free(&set);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    static const double factors[] = {1, 0.25, 0.07957747154594767};
    nb_stol_table table;
    nb_error err = {0};
    nb_status st = nb_stol_parse((const char *)data, size, "fuzz.stol", factors[size % 3],
                                 &table, &err);
    if (st) {
        NB_FUZZ_CHECK(err.code == st && err.message[0] && !table.points);
        return 0;
    }
    check_points(&table);
    check_curve(&table);
    nb_stol_free(&table);
    return 1;
}

NB_FUZZ_ENTRY
