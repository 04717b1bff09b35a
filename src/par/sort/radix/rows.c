/* par/sort/radix/rows.c - see sort_rows.h.
 *
 * SPDX-License-Identifier: MIT */
#include "rows.h"

#include <weft/join.h>

wf_keys wf_keys_of(void *keys, size_t size, const wf_coding *coding) {
  wf_keys k = {keys, size == sizeof(uint64_t), coding, wf_highest_key(coding)};
  if (!k.is_wide) k.highest &= UINT32_MAX;
  return k;
}

static uint64_t row_key(const wf_rows *r, size_t i) {
  return wf_key_at(&r->keys, r->order != NULL ? r->order[i] : i);
}

static void swap_rows(wf_rows *r, size_t i, size_t j) {
  size_t size = r->keys.is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
  if (r->order != NULL) {
    size_t index = r->order[i];
    r->order[i] = r->order[j];
    r->order[j] = index;
    return;
  }
  wf_swap_bytes((char *)r->keys.keys + i * size, (char *)r->keys.keys + j * size, size);
  wf_swap_bytes(r->payload + i * r->payload_size, r->payload + j * r->payload_size,
                r->payload_size);
}

static void reverse_rows(wf_rows *r, size_t begin, size_t end) {
  for (; begin + 1 < end; begin++, end--) swap_rows(r, begin, end - 1);
}

/* The first row of [begin, end) whose key is not below `key`, or not even equal to it. */
static size_t bound_of(const wf_rows *r, size_t begin, size_t end, uint64_t key,
                       bool behind_equal) {
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    uint64_t other = row_key(r, middle);
    if (other < key || (behind_equal && other == key))
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/* Merges two neighbours: cuts the longer one in the middle, the other where that key
 * belongs, and exchanges what lies between. The depth is logarithmic. */
static void merge_rows(wf_rows *r, size_t begin, size_t middle, size_t end) {
  while (begin < middle && middle < end && !wf_par_cancelled(r->opts)) {
    size_t left, right;
    if (row_key(r, middle - 1) <= row_key(r, middle)) return;
    if (end - begin == 2) {
      swap_rows(r, begin, middle);
      return;
    }
    if (middle - begin > end - middle) {
      left = begin + (middle - begin) / 2;
      right = bound_of(r, middle, end, row_key(r, left), false);
    } else {
      right = middle + (end - middle) / 2;
      left = bound_of(r, begin, middle, row_key(r, right), true);
    }
    reverse_rows(r, left, middle);
    reverse_rows(r, middle, right);
    reverse_rows(r, left, right);
    size_t between = left + (right - middle);
    merge_rows(r, begin, left, between);
    begin = between;
    middle = right;
  }
}

typedef struct rows_part {
  wf_rows *rows;
  size_t begin, end;
  unsigned crew; /* how many threads may take part */
} rows_part;

static void sort_rows_part(void *ctx) {
  enum { ROWS_FEW = 12, ROWS_FORK = 512 };
  const rows_part *p = (const rows_part *)ctx;
  size_t n = p->end - p->begin;
  if (n <= ROWS_FEW) {
    for (size_t i = p->begin + 1; i < p->end; i++)
      for (size_t j = i; j > p->begin && row_key(p->rows, j - 1) > row_key(p->rows, j);
           j--)
        swap_rows(p->rows, j - 1, j);
    return;
  }
  if (wf_par_cancelled(p->rows->opts)) return;
  size_t middle = p->begin + n / 2;
  rows_part low = {p->rows, p->begin, middle, p->crew};
  rows_part high = {p->rows, middle, p->end, p->crew};
  if (p->crew > 1 && n >= ROWS_FORK) {
    high.crew = p->crew / 2;
    low.crew = p->crew - high.crew;
    weft_join(sort_rows_part, &low, sort_rows_part, &high);
  } else {
    sort_rows_part(&low);
    sort_rows_part(&high);
  }
  merge_rows(p->rows, p->begin, middle, p->end);
}

void wf_rows_sort(wf_rows *rows, size_t n) {
  rows_part all = {rows, 0, n, wf_par_crew(rows->opts)};
  sort_rows_part(&all);
}
