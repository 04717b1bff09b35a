/* short_calls/kernel.c - P18: the leaf that all contestants share.
 *
 * SPDX-License-Identifier: MIT */
#include "short_calls.h"

uint64_t short_calls_leaf(const uint64_t *numbers, size_t count) {
  uint64_t h = 0x9E3779B97F4A7C15u;
  for (size_t i = 0; i < count; i++) {
    h ^= numbers[i];
    h *= 0xBF58476D1CE4E5B9u;
    h ^= h >> 29;
  }
  return h;
}
