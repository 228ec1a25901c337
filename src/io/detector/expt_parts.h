/* SPDX-License-Identifier: MIT */
/** The parts of an experiment.  For expt*.c alone. */
#ifndef NB_IO_EXPT_PARTS_H
#define NB_IO_EXPT_PARTS_H

#include "expt_node.h"
#include "../common/panel_spec.h"

/** The panels of a detector, their hierarchy multiplied out.  *out is zero after an error. */
nb_status nb_expt_detector(const nb_node *detector, nb_detector_spec *out, nb_error *err);

nb_status nb_expt_beam(const nb_node *beam, const nb_geometry_typed *typed,
                       nb_detector_spec *out, nb_error *err);

/** turned: the rotation of the crystal at phi 0, S F; of no goniometer the identity. */
nb_status nb_expt_goniometer(const nb_node *goniometer, nb_detector_spec *out,
                             double turned[9], nb_error *err);
nb_status nb_expt_scan(const nb_node *scan, nb_detector_spec *out, nb_error *err);
nb_status nb_expt_crystal(const nb_node *crystal, const double turned[9],
                          const nb_hooks *hooks, nb_detector_spec *out, nb_error *err);

#endif
