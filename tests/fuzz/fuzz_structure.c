/* SPDX-License-Identifier: MIT */
/* Models: PDB, mmCIF, small-molecule CIF. Every atom of an accepted model has finite
 * coordinates, and the first of its symmetry operators is the identity. */
#include <math.h>
#include <string.h>

#include "../../src/io/structure/gemmi.h"
#include "fuzz.h"

static void check_symmetry(const nb_symmetry *sg)
{
    static const int8_t identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    NB_FUZZ_CHECK(sg->count >= 0 && sg->count <= NB_SYMOPS_MAX);
    NB_FUZZ_CHECK(!sg->count || !memcmp(sg->ops[0].R, identity, sizeof identity));
    NB_FUZZ_CHECK(memchr(sg->name, 0, sizeof sg->name));
    for (int i = 0; i < sg->count; i++)
        for (int j = 0; j < 3; j++)
            NB_FUZZ_CHECK(sg->ops[i].t[j] >= 0 && sg->ops[i].t[j] < 24);
}

int nb_fuzz_accepts(const uint8_t *data, size_t size)
{
    nb_structure s;
    nb_error err = {0};
    nb_status status = nb_structure_parse((const char *)data, size, "fuzz.pdb", &s, &err);
    if (status) {
        NB_FUZZ_CHECK(err.code == status && err.message[0] && !s.atoms && !s.ncs);
        NB_FUZZ_CHECK(!strchr(err.message, '\n'));
        return 0;
    }
    NB_FUZZ_CHECK(s.n_atoms > 0 && s.n_models > 0);
    check_symmetry(&s.symmetry);
    for (size_t i = 0; i < s.n_atoms; i++) {
        const nb_atom *a = &s.atoms[i];
        NB_FUZZ_CHECK(isfinite(a->r[0] + a->r[1] + a->r[2] + a->occupancy + a->B));
        NB_FUZZ_CHECK(a->model >= 0 && a->model < s.n_models);
        NB_FUZZ_CHECK(a->Z >= 0 && a->Z <= 118 && memchr(a->name, 0, sizeof a->name));
    }
    nb_structure_free(&s);
    return 1;
}

NB_FUZZ_ENTRY
