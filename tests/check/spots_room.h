/* SPDX-License-Identifier: MIT */
/** Pictures in blocks of rays, and from reflections, on a device that is full. */
#ifndef NB_TESTS_CHECK_SPOTS_ROOM_H
#define NB_TESTS_CHECK_SPOTS_ROOM_H

/** Prints `ok` or `not ok` lines; returns how many failed. */
int check_spots_room(void);

#endif
