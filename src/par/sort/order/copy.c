/* par/sort/order/copy.c - copying more than the caches hold back to where it was: past
 * the caches, so that the memory is not read before it is written.
 *
 * SPDX-License-Identifier: MIT */
#include "../radix/radix.h"
#include "sort.h"

enum { COPY_LEAST = 1 << 20 /* bytes; below, caches do better */ };

bool wf_copy_streams(size_t bytes) {
  return bytes >= COPY_LEAST;
}

void wf_stream_copy(char *to, const char *from, size_t bytes) {
  size_t head = (0 - (uintptr_t)to) % WF_CACHE_LINE, at;
  if (head > bytes || (uintptr_t)(from + head) % 16 != 0) head = bytes;
  memcpy(to, from, head);
  for (at = head; bytes - at >= WF_LINE_BYTES; at += WF_LINE_BYTES)
    wf_write_line(to + at, from + at, true);
  memcpy(to + at, from + at, bytes - at);
  wf_stream_end();
}
