/* pipeline/kernel.c - the work of a stage; see pipeline.h.
 *
 * SPDX-License-Identifier: MIT */
#include "pipeline.h"

uint64_t pipe_work(uint64_t value, int stage) {
  return value + bench_spin(value + (uint64_t)stage, PIPE_STEPS);
}
