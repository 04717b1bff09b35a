/* cpu_count.c - how many CPUs this process may use.
 *
 * On Linux, whichever of linux.c and posix.c is compiled: the affinity mask (taskset,
 * cpusets, batch systems) and the cgroup quota (containers). Elsewhere the number of CPUs
 * that are online.
 *
 * Who calls: pool, once, when nobody has said how many workers there shall be. Keeps no
 * state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* sched_getaffinity and the CPU_* macros */
#endif

#include "sys.h"

#if !defined(_WIN32)

#include "cgroup.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

static unsigned cpus_online(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (unsigned)online : 1;
}

#if defined(__linux__)

/* How many CPUs the mask of the calling thread holds, which the workers it starts will
 * inherit; 0 if the kernel does not tell. It answers EINVAL to a mask smaller than its
 * own, whose size depends on how it was built, so the mask grows until it fits. The bound
 * is 64 times what the largest kernels of today are built for (8192). */
static unsigned cpus_in_affinity(void) {
  for (unsigned capacity = 1024; capacity <= 512 * 1024; capacity *= 2) {
    cpu_set_t *mask = CPU_ALLOC(capacity);
    if (mask == NULL) return 0;
    const size_t size = CPU_ALLOC_SIZE(capacity);
    const bool known = sched_getaffinity(0, size, mask) == 0;
    const bool too_small = !known && errno == EINVAL;
    const int count = known ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (!too_small) return (unsigned)count;
  }
  return 0;
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
