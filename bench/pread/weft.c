/* pread/weft.c - the loop by weft_for; with "sections" each pread is a blocking section.
 *
 * Usage: pread_weft [threads [blocks [sections]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "pread.h"

static bool sections;

static void blocks(size_t begin, size_t end, void *ctx) {
  uint64_t sum = 0;
  for (size_t i = begin; i < end; i++) {
    if (sections) weft_blocking_begin();
    sum += pread_block(pread_file, (long)i);
    if (sections) weft_blocking_end();
  }
  __atomic_fetch_add((uint64_t *)ctx, sum, __ATOMIC_RELAXED);
}

static long run(long n) {
  uint64_t sum = 0;
  weft_for((size_t)n, blocks, &sum);
  return (long)sum;
}

int main(int argc, char **argv) {
  sections = argc > 3 && strcmp(argv[3], "sections") == 0;
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  pread_measure(sections ? "weft-sections" : "weft", run, argc, argv);
  weft_shutdown();
  return 0;
}
