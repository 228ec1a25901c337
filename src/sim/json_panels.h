/* SPDX-License-Identifier: MIT */
/** detector.panels of -show_config. */
#ifndef NB_API_JSON_PANELS_H
#define NB_API_JSON_PANELS_H

#include "json_node.h"
#include "sim.h"

void nb_json_panels(nb_json detector, const nb_sim *sim);

#endif
