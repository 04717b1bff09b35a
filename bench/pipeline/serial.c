/* pipeline/serial.c - pipeline: one item after the other through all stages.
 *
 * Usage: pipeline_serial opo|parallel|serial|mixed
 *
 * SPDX-License-Identifier: MIT */
#include "pipeline.h"

static pipe_result run(const pipe_mixture *mixture) {
  pipe_result result = {0, 0};
  for (uint64_t number = 0; number < PIPE_ITEMS; number++) {
    uint64_t value = number;
    for (int s = 0; s < mixture->count; s++) value = pipe_work(value, s);
    result.sum += value;
  }
  return result;
}

int main(int argc, char **argv) {
  pipe_measure("serial", run, argc, argv);
  return 0;
}
