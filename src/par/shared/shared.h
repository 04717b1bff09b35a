/* par/shared/shared.h - what weft_local and weft_bag share: which thread this is.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SHARED_H
#define WF_PAR_SHARED_H

#include "../../sched/sched.h"

/* Tables start with 16 entries, for 8 threads: two cache lines. A choice; they grow. */
enum { WF_FIRST_ENTRIES_LOG2 = 4 };

/* A number that no other running thread has: the address of a variable that each thread
 * has. It costs no thread-local memory, of which libraries that are loaded late have
 * little. A thread that begins when another one has ended may get the same. */
static inline uintptr_t wf_thread_key(void) {
  return (uintptr_t)&wf_self;
}

#endif
