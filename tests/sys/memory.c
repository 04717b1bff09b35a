/* Memory from the system.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/harness.h"
#include "sys/sys.h"

#include <string.h>
#include <unistd.h>

static bool all_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

TEST(mapped_memory_is_zeroed_and_aligned) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t sizes[] = {1, 100, page - 1, page, page + 1, 10 * page, 4 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int repeat = 0; repeat < 3; repeat++) {
      unsigned char *memory = wf_sys_map(sizes[i]);
      REQUIRE(memory != NULL);
      CHECK_EQ((uintptr_t)memory % page, 0);
      CHECK(all_zero(memory, sizes[i]));
      /* Whole pages: the rest of the last one is ours too. Dirty it, so that the next
       * round would notice memory that is not fresh. */
      memset(memory, 0xa5, (sizes[i] + page - 1) / page * page);
      wf_sys_unmap(memory, sizes[i]);
    }
  }
}

TEST(absurd_sizes_give_null) {
  CHECK(wf_sys_map(SIZE_MAX) == NULL);
  CHECK(wf_sys_map(SIZE_MAX / 2) == NULL);
  CHECK(wf_sys_map(0) == NULL);
  wf_sys_unmap(NULL, 0);
  wf_sys_unmap(NULL, 4096);
}
