/* SPDX-License-Identifier: MIT */
/** The lab frame of a convention, and that of NeXus and CrystFEL, in which geometry files are kept. */
#ifndef NB_MODEL_FRAME_H
#define NB_MODEL_FRAME_H

#include "../nanobragg.h"
#include "../physics/vec3.h"

/** From the frame of NeXus (Z along the beam, Y up) to the lab.  Only signs and places change. */
nb_vec3 nb_lab_of_nexus(nb_convention convention, const double v[3]);
/** The inverse. */
void nb_nexus_of_lab(nb_convention convention, nb_vec3 lab, double v[3]);

#endif
