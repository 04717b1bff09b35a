/* idle/serial.c - P13: the bursts without any pool, the floor of CPU time.
 *
 * Usage: idle_serial idle|ticks|burst [seconds]
 *
 * SPDX-License-Identifier: MIT */
#include "idle.h"

int main(int argc, char **argv) {
  return idle_main("serial", burst_answer, argc, argv);
}
