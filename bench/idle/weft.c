/* idle/weft.c - P13: a weft pool that idles, and one that ticks.
 *
 * Usage: idle_weft idle|ticks|burst [seconds [threads [mode]]]
 *        mode: low_latency, balanced or power_saving, as in the environment
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "idle.h"

/* A node of the burst's tree; the children of node k are 2k and 2k + 1. */
typedef struct node_args {
  uint64_t index, sum;
} node_args;

static void node(void *ctx) {
  node_args *v = (node_args *)ctx;
  if (v->index >> burst_depth != 0) {
    v->sum = leaf(v->index);
    return;
  }
  node_args left, right;
  left.index = 2 * v->index;
  right.index = 2 * v->index + 1;
  weft_join(node, &left, node, &right);
  v->sum = left.sum + right.sum;
}

static uint64_t burst(void) {
  node_args root = {1, 0};
  node(&root);
  return root.sum;
}

int main(int argc, char **argv) {
  char name[32] = "weft";
  if (argc > 4) {
    setenv("WEFT_IDLE", argv[4], 1);
    snprintf(name, sizeof name, "weft-%s", argv[4]);
    for (char *c = name; *c != 0; c++)
      if (*c == '_') *c = '-';
  }
  bench_weft_start(bench_arg(argc, argv, 3, 2));
  int status = idle_main(name, burst, argc, argv);
  weft_shutdown();
  return status;
}
