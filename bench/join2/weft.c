/* join2/weft.c - P4: one weft_join of two equal tasks, called from outside the pool.
 *
 * Usage: join2_weft [threads [task_us [rest_ms [samples]]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "join2.h"

static void task(void *ctx) {
  run_half((half *)ctx);
}

static void join_pair(half *a, half *b) {
  weft_join(task, a, task, b);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  join2_measure("weft", join_pair, argc, argv, 2);
  weft_shutdown();
  return 0;
}
