/* Memory from the system.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/harness.h"
#include "sys/sys.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool all_zero(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) return false;
  }
  return true;
}

/* Only a hint: the memory is as it was, whatever its size and place. */
TEST(large_pages_are_a_hint) {
  static const size_t sizes[] = {0, 1, 4096, (size_t)3 << 20, (size_t)20 << 20};
  for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    unsigned char *memory = malloc(sizes[i] + 1);
    REQUIRE(memory != NULL);
    wf_sys_prefer_large_pages(memory, sizes[i]);
    for (size_t at = 0; at < sizes[i]; at += 511) memory[at] = (unsigned char)at;
    bool kept = true;
    for (size_t at = 0; at < sizes[i]; at += 511)
      kept = kept && memory[at] == (unsigned char)at;
    CHECK(kept);
    free(memory);
  }
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
  if (sizeof(size_t) == 8)
    CHECK(wf_sys_map(SIZE_MAX / 2) == NULL); /* else some have it */
  CHECK(wf_sys_map(0) == NULL);
  wf_sys_unmap(NULL, 0);
  wf_sys_unmap(NULL, 4096);
}
