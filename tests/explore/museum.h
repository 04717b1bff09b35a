/* museum.h - an exhibit of the museum: a defect that a library of this kind has really
 * had, in a few lines, and the same lines without it.
 *
 * The code of an exhibit looks at `defect`: 0 is the sound form. Each exhibit becomes two
 * scenarios: one that passes only if the explorer finds the failure, in every memory mode
 * that is named, and its sound twin, which has to be clean in all of them. So an exhibit
 * also shows that the explorer does not cry wolf.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_MUSEUM_H
#define EXPLORE_MUSEUM_H

#include <explore/engine/atomic.h>
#include <explore/engine/explore.h>

#include "sys/sys.h"

/* Which defect the code of this file has in the scenario that runs. */
static int defect;

/* EXHIBIT(name, defect, failure, modes in which it shows, setup function, rest...) */
#define EXHIBIT(exhibit, number, failure, shows_in, first, ...)                          \
  static void exhibit##_is_broken(void) {                                                \
    defect = (number);                                                                   \
    first();                                                                             \
  }                                                                                      \
  static void exhibit##_is_sound(void) {                                                 \
    defect = 0;                                                                          \
    first();                                                                             \
  }                                                                                      \
  SCENARIO(exhibit, .setup = exhibit##_is_broken, .expect = (failure),                   \
           .modes = (shows_in), __VA_ARGS__)                                             \
  SCENARIO(exhibit##_sound, .setup = exhibit##_is_sound, __VA_ARGS__)

#endif
