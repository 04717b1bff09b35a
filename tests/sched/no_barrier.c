/* Pools on a system whose kernel refuses the process-wide barrier: a system call filter
 * answers membarrier with EPERM. Every fork is then public at once, and everything else
 * works as ever. The filter stays, so all this happens in processes of its own.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "stress.h"

#include <stdio.h>
#include <string.h>

#if defined(__linux__)

#include "harness/refused_call.h"

#include <errno.h>

static void refuse_and_stress(int error) {
  if (!refuse_call(SYS_membarrier, error, REFUSED_HERE)) {
    printf("skipped: system calls cannot be filtered here\n");
    return;
  }
  weft_pool *pool = pool_of(2);
  CHECK(pool->eager);
  weft_pool_destroy(pool);
  stress_pools(scaled(2000));
}

TEST_BY_NAME(stress_without_permission) {
  refuse_and_stress(EPERM);
}

TEST_BY_NAME(stress_without_the_call) {
  refuse_and_stress(ENOSYS);
}

static void check_child(const char *test) {
  static char output[65536];
  int status = harness_run_self(NULL, test, output, sizeof output);
  CHECK_MSG(status == 0, "%s ended with %d: %s", test, status, output);
  const char *skipped = strstr(output, "skipped:");
  if (skipped != NULL) printf("%s", skipped);
}

TEST_LIMIT(v25_pools_without_the_barrier, 120) {
  check_child("stress_without_permission");
  check_child("stress_without_the_call");
}

#endif

/* The same without the filter, to compare with. */
TEST(v25_pools_with_the_barrier) {
  weft_pool *pool = pool_of(2);
  CHECK_EQ(pool->eager, !wf_sys_barrier_prepare());
  weft_pool_destroy(pool);
  stress_pools(scaled(2000));
}
