/* cpu_count.c - how many CPUs this process may use.
 *
 * On Linux, whichever of linux.c and posix.c is compiled: the affinity mask (taskset,
 * cpusets, batch systems) and the cgroup quota (containers). Elsewhere the number of CPUs
 * that are online.
 *
 * Who calls: sched, once, for a pool whose options do not say how many threads it has.
 * Keeps no state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* the one-file build wants the same in every file */
#endif

#include "sys.h"

#if !defined(_WIN32)

#include "cgroup.h"

#include <unistd.h>

static unsigned cpus_online(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

#if defined(__linux__)

/* How many CPUs the mask of the calling thread holds, which the workers that it starts
 * will inherit; 0 if the system does not say. */
static unsigned cpus_in_affinity(void) {
  wf_cpu_mask *mask = wf_sys_mask_create();
  const bool known = mask != NULL && wf_sys_mask_read(mask, 0);
  const unsigned count = known ? wf_sys_mask_count(mask) : 0;
  wf_sys_mask_destroy(mask);
  return count;
}

unsigned wf_sys_cpu_count(const char *root) {
  unsigned count = cpus_in_affinity();
  if (count == 0) count = cpus_online();
  const unsigned quota = wf_cgroup_cpu_limit(root);
  return quota != 0 && quota < count ? quota : count;
}

#else

unsigned wf_sys_cpu_count(const char *root) {
  (void)root;
  return cpus_online();
}

#endif
#endif
