/* SPDX-License-Identifier: MIT */
/* Functions of a build without gemmi. */
#include <string.h>

#include "../../base/error.h"
#include "structure_parts.h"

#ifndef NB_HAVE_GEMMI
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define INSTALL "install gemmi-dev (newer systems: libgemmi-dev) and build again"

static nb_status without(const char *name, nb_error *err)
{
    return nb_fail_at(err, NB_ERR_UNSUPPORTED, name, 0,
                      "this build cannot read models and reflection files: " INSTALL);
}

nb_status nb_cif_parse(const char *data, size_t n, const char *name, nb_cif *out,
                       nb_error *err)
{
    memset(out, 0, sizeof *out);
    return without(name, err);
}

nb_status nb_pdb_parse(const char *text, size_t n, const char *name, nb_structure *out,
                       nb_error *err)
{
    return without(name, err);
}

nb_status nb_mtz_parse(const char *data, size_t n, const char *name,
                       nb_reflection_file *out, nb_error *err)
{
    return without(name, err);
}

nb_status nb_symmetry_hall(const char *text, const char *name, nb_symmetry *out,
                           nb_error *err)
{
    return without(name, err);
}

nb_status nb_symmetry_symbol(const char *text, const double cell[6], const char *name,
                             nb_symmetry *out, nb_error *err)
{
    return without(name, err);
}

void nb_symmetry_give_name(nb_symmetry *sg)
{
}

int nb_element_f0(int Z, double abc[9])
{
    (void)Z;
    memset(abc, 0, 9 * sizeof *abc);
    return 0;
}

void nb_element_anomalous(int Z, double energy_eV, double *f1, double *f2)
{
    (void)Z, (void)energy_eV;
    *f1 = *f2 = 0;
}

double nb_element_radius(int Z)
{
    (void)Z;
    return 0;
}

nb_status nb_mtz_write(const nb_reflection_file *file, const char *dataset, char **bytes,
                       size_t *size, nb_error *err)
{
    *bytes = NULL;
    *size = 0;
    return without("MTZ", err);
}

const char *nb_gemmi_version(void)
{
    return "";
}
#endif
