/* SPDX-License-Identifier: MIT */
#include "detector.h"

static int is_dials(nb_convention convention)
{
    return convention == NB_CONV_XDS || convention == NB_CONV_DIALS;
}

nb_vec3 nb_lab_of_nexus(nb_convention convention, const double v[3])
{
    return is_dials(convention) ? nb_v3(-v[0], -v[1], v[2]) : nb_v3(v[2], v[1], -v[0]);
}

void nb_nexus_of_lab(nb_convention convention, nb_vec3 lab, double v[3])
{
    v[0] = is_dials(convention) ? -lab.x : -lab.z;
    v[1] = is_dials(convention) ? -lab.y : lab.y;
    v[2] = is_dials(convention) ? lab.z : lab.x;
}
