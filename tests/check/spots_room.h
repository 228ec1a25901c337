/* SPDX-License-Identifier: MIT */
/** Images in blocks of rays, and from reflections, on a full device. */
#ifndef NB_TESTS_CHECK_SPOTS_ROOM_H
#define NB_TESTS_CHECK_SPOTS_ROOM_H

/** Prints `ok` or `not ok` lines; returns the number of failures. */
int check_spots_room(void);

#endif
