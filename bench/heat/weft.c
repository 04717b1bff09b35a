/* heat/weft.c - the steps by weft_for.
 *
 * Usage: heat_weft [threads [side]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "heat.h"

static void rows(size_t begin, size_t end, void *ctx) {
  heat_rows((const plate *)ctx, begin + 1, end + 1);
}

static void step(const plate *p) {
  plate copy = *p;
  weft_for(p->side - 2, rows, &copy);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  heat_measure("weft", step, argc, argv);
  weft_shutdown();
  return 0;
}
