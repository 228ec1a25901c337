/* SPDX-License-Identifier: MIT */
/** Typed flags that have no effect. */
#ifndef NB_API_IDLE_FLAGS_H
#define NB_API_IDLE_FLAGS_H

#include "../nanobragg.h"
#include "../physics/scene.h"

/** Which flags that place a detector are set; ask it before headers and files fill in others. */
unsigned nb_typed_place(const nb_config *cfg);

/** A note for each of them that moves nothing in the complete configuration, and for flags of sensors,
 * panels and steps that have nothing to act on. */
void nb_say_idle_flags(const nb_config *cfg, unsigned typed, const nb_scene *scene,
                       const nb_hooks *hooks);

#endif
