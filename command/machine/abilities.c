/* machine/abilities.c - tries out what the library needs of the kernel. Sandboxes refuse
 * calls in different ways, so nothing is concluded from a version number.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#include "sys/sys.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

static bool futex_works(void) {
#if defined(SYS_futex) && !defined(WF_SYS_POSIX)
  static unsigned word;
  enum { PRIVATE_WAKE = 1 | 128 };
  return syscall(SYS_futex, &word, PRIVATE_WAKE, 1, NULL, NULL, 0) >= 0;
#else
  return false;
#endif
}

/* Sets the CPUs of this thread to what they are. */
static bool affinity_works(void) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  bool works = mask != NULL && wf_sys_mask_read(mask, 0) && wf_sys_mask_set(mask, 0);
  wf_sys_mask_destroy(mask);
  return works;
}

/* The best of some rounds: a thread that loses its CPU in between says nothing. */
static double clock_cost_ns(void) {
  enum { BATCHES = 20, READINGS = 1000 };
  double best = 1e9;
  for (int batch = 0; batch < BATCHES; batch++) {
    uint64_t begin = wf_sys_now_ns();
    for (int i = 0; i < READINGS; i++) (void)wf_sys_now_ns();
    double cost = (double)(wf_sys_now_ns() - begin) / READINGS;
    if (cost < best) best = cost;
  }
  return best;
}

void abilities_try(abilities *a) {
  a->futex = futex_works();
  a->barrier = wf_sys_barrier_prepare();
  a->affinity = affinity_works();
  a->clock_ns = clock_cost_ns();
  /* A system call takes 100 ns and more; reading the counter of the CPU some 20. */
  a->timed = a->clock_ns < 150;
}
