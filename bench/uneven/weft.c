/* uneven/weft.c - P6 and P14: weft_for, without any option.
 *
 * Usage: uneven_weft triangular|mandelbrot|pareto|heavy [threads]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "uneven.h"

typedef struct loop_args {
  uneven_body *body;
  uint64_t *out;
} loop_args;

static void range(size_t begin, size_t end, void *ctx) {
  loop_args *a = (loop_args *)ctx;
  uneven_body *body = a->body;
  uint64_t *out = a->out;
  for (size_t i = begin; i < end; i++) out[i] += body(i);
}

static void loop(uneven_body *body, uint64_t *out, size_t n) {
  loop_args a = {body, out};
  weft_for(n, range, &a);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  uneven_measure("weft", loop, argc, argv);
  weft_shutdown();
  return 0;
}
