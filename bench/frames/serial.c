/* frames/serial.c - P17: the plain loop beside itself: what the measure gives for no
 * change at all.
 *
 * Usage: frames_serial [seconds]
 *
 * SPDX-License-Identifier: MIT */
#include "frames.h"

int main(int argc, char **argv) {
  frames_measure("serial", frame_plain, bench_arg(argc, argv, 1, 10));
  return 0;
}
