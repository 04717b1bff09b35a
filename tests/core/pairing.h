/* Threads that go through rounds together, for races that are short and repeated often.
 *
 * SPDX-License-Identifier: MIT */
#ifndef PAIRING_H
#define PAIRING_H

#include "core/atomic.h"
#include "sys/sys.h"

/* There may be more threads than CPUs, so waiting does not only spin. */
static inline void pairing_pause(unsigned *spins) {
  if (++*spins % 64 != 0) {
    wf_sys_relax();
  } else {
    wf_sys_thread_yield();
  }
}

/* `threads` threads leave together; `round` counts the meetings at this gate from 0. */
static inline void pairing_meet(wf_u32 *gate, unsigned threads, uint32_t round) {
  unsigned spins = 0;
  wf_u32_fetch_add_seq_cst(gate, 1);
  while (wf_u32_load_acquire(gate) < threads * (round + 1)) pairing_pause(&spins);
}

/* Shifts the threads against each other, differently in every round. */
static inline void pairing_jitter(uint64_t random) {
  for (uint64_t i = random % 64; i > 0; i--) wf_light_barrier();
  if (random >> 56 == 0) wf_sys_thread_yield();
}

#endif
