/* A million lives of a pool. Threads come back to the baseline, and the resident
 * memory of the process does not grow after a warm-up.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

#include <stdio.h>
#include <unistd.h>

static unsigned long lives(void) {
  return harness_slowdown() == 1 ? 1000000 : 20000;
}

/* Resident pages of this process; 0 if unknown. */
static unsigned long resident_pages(void) {
  unsigned long size = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL) return 0;
  if (fscanf(file, "%lu %lu", &size, &resident) != 2) resident = 0;
  fclose(file);
  return resident;
}

/* One life: with 1 to 3 threads, and in every third one work that is still under way, or
 * not begun, when the end comes. */
static void live_once(uint64_t random) {
  weft_pool *pool = pool_of((unsigned)(random % 3) + 1);
  atomic_ulong ran = 0;
  unsigned long jobs = 0;
  if (random / 3 % 3 == 0) {
    jobs = random / 9 % 8;
    for (unsigned long i = 0; i < jobs; i++)
      CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  }
  if (random / 128 % 3 == 0) check_tree_in(pool, (unsigned)(random / 512 % 6));
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), jobs);
}

TEST_LIMIT(v15_a_million_pools, 3000) {
  uint64_t random = harness_seed();
  unsigned baseline = harness_thread_count();
  unsigned long total = lives(), warm = total / 10;
  for (unsigned long i = 0; i < warm; i++) live_once(harness_random(&random));
  unsigned long before = resident_pages();
  for (unsigned long i = warm; i < total; i++) {
    live_once(harness_random(&random));
    if ((i + 1) % (total / 10) == 0) {
      printf("  %lu pools, %lu pages resident\n", i + 1, resident_pages());
      fflush(stdout);
    }
  }
  unsigned long after = resident_pages();
  CHECK_EQ(harness_thread_count(), baseline);
  /* Some slack for the C library's caches; a leak of one byte a life would be more. */
  unsigned long slack = 64;
  if (harness_slowdown() == 1)
    CHECK_MSG(after <= before + slack, "%lu pages before, %lu after", before, after);
}
