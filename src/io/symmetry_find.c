/* SPDX-License-Identifier: MIT */
/* Space groups by what they are called. */
#include <stdio.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "structure_parts.h"

nb_status nb_symmetry_of_file(const char *text, int is_hall, const double cell[6],
                              const char *name, nb_symmetry *out, nb_error *err)
{
    nb_error why = {0};
    nb_status status;
    memset(out, 0, sizeof *out);
    status = is_hall ? nb_symmetry_hall(text, name, out, &why)
                     : nb_symmetry_symbol(text, cell, name, out, &why);
    if (status && status != NB_ERR_INPUT)
        return nb_fail(err, status, "%s", why.message);
    if (is_hall && !status)
        nb_symmetry_give_name(out);
    if (status) {
        memset(out, 0, sizeof *out);
        snprintf(out->name, sizeof out->name, "%s", text);
    }
    return NB_OK;
}

nb_status nb_symmetry_find(const char *text, const double cell[6], nb_symmetry *out,
                           nb_error *err)
{
    nb_error why = {0};
    double number;
    nb_status status = NB_ERR_INPUT;
    memset(out, 0, sizeof *out);
    if (!nb_text_number(text, &number) || number >= 1) /* gemmi takes 0 for P 1 */
        status = nb_symmetry_symbol(text, cell, "-sg", out, &why);
    if (status == NB_ERR_INPUT)
        status = nb_symmetry_hall(text, "-sg", out, &why);
    nb_symmetry_give_name(out);
    if (status)
        memset(out, 0, sizeof *out);
    if (status == NB_ERR_INPUT)
        return nb_fail(err, status,
                       "space group '%.40s' is unknown: give an H-M symbol like 'P 21 21 "
                       "21', a Hall symbol, or a number from 1 to 230",
                       text);
    return status ? nb_fail(err, status, "%s", why.message) : NB_OK;
}
