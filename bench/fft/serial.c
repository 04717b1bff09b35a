/* fft/serial.c - the transform by recursion.
 *
 * Usage: fft_serial [threads [logarithm of n]]
 *
 * SPDX-License-Identifier: MIT */
#include "fft.h"

int main(int argc, char **argv) {
  fft_measure("serial", fft_leaf, argc, argv);
  return 0;
}
