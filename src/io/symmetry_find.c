/* SPDX-License-Identifier: MIT */
/* Space groups by what they are called. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/error.h"
#include "../base/text.h"
#include "structure_parts.h"

/* A change of basis behind a Hall symbol must keep the volume: gemmi lists the lattice points of a
 * larger cell, and a damaged file could ask for 10^12 of them. */
static int is_harmless(const char *hall)
{
    const char *open = strchr(hall, '('), *close = open ? strchr(open, ')') : NULL;
    nb_symop op;
    if (strlen(hall) > 60 || (open && !close))
        return 0;
    if (!open || !memchr(open, ',', (size_t)(close - open)))
        return !open || strspn(open + 1, "-0123456789 ") == (size_t)(close - open - 1);
    return nb_symop_parse(open + 1, (size_t)(close - open - 1), &op) &&
           abs(nb_symop_determinant(&op)) == 1;
}

static nb_status find_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err)
{
    nb_status status = is_harmless(text) ? nb_symmetry_hall(text, name, out, err)
                                         : nb_fail(err, NB_ERR_INPUT, "unknown");
    if (!status)
        nb_symmetry_give_name(out);
    return status;
}

nb_status nb_symmetry_of_file(const char *text, int is_hall, const double cell[6],
                              const char *name, nb_symmetry *out, nb_error *err)
{
    nb_error why = {0};
    nb_status status;
    memset(out, 0, sizeof *out);
    status = is_hall ? find_hall(text, name, out, &why)
                     : nb_symmetry_symbol(text, cell, name, out, &why);
    if (status && status != NB_ERR_INPUT)
        return nb_fail(err, status, "%s", why.message);
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
        status = find_hall(text, "-sg", out, &why);
    if (status)
        memset(out, 0, sizeof *out);
    if (status == NB_ERR_INPUT)
        return nb_fail(err, status,
                       "space group '%.40s' is unknown: give an H-M symbol like 'P 21 21 "
                       "21', a Hall symbol, or a number from 1 to 230",
                       text);
    return status ? nb_fail(err, status, "%s", why.message) : NB_OK;
}
