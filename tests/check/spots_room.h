/* SPDX-License-Identifier: MIT */
/** Checks images in blocks of rays, and from reflections, on a nearly full device. */
#ifndef NB_TESTS_CHECK_SPOTS_ROOM_H
#define NB_TESTS_CHECK_SPOTS_ROOM_H

/** Prints `ok` or `not ok` lines; returns the number of failures. */
int check_spots_room(void);

#endif
