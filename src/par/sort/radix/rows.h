/* par/sort/radix/rows.h - keys of 32 or 64 bits with whatever belongs to them, and a
 * stable sort of such rows that needs no memory.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SORT_ROWS_H
#define WF_PAR_SORT_ROWS_H

#include "radix.h"

/* An array of any of the six types. */
typedef struct wf_keys {
  void *keys;
  bool is_wide; /* 64 bits */
  const wf_coding *coding;
  uint64_t highest; /* what all NaNs are encoded as: they count as equal */
} wf_keys;

wf_keys wf_keys_of(void *keys, size_t size, const wf_coding *coding);

/* Encoded. */
static inline uint64_t wf_key_at(const wf_keys *k, size_t i) {
  uint64_t key = k->is_wide ? wf_encode_u64(k->coding, ((const wf_bits64 *)k->keys)[i])
                            : wf_encode_u32(k->coding, ((const wf_bits32 *)k->keys)[i]);
  return key < k->highest ? key : k->highest;
}

/* Either keys that move with their payload, or indices of keys that stay. */
typedef struct wf_rows {
  wf_keys keys;
  char *payload;
  size_t payload_size;
  size_t *order; /* NULL: the keys move */
  const weft_opts *opts;
} wf_rows;

/* Sorts rows [0, n), stable and in place: by merging, in which blocks are exchanged by
 * rotation. n log n comparisons, and log n times as many moves. */
void wf_rows_sort(wf_rows *rows, size_t n);

#endif
