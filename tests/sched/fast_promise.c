/* Fast tasks once more, in every build as gcc optimises them, with guesses; what the
 * compiler is told about bottom is checked each time instead.
 *
 * SPDX-License-Identifier: MIT */
#define WF_FAST_PROMISE(condition)                                                       \
  ((condition) ? (void)0 : (void)__builtin_trap()) /* the line of the macro says which   \
                                                    */

#include "fast_task.c"
