/* cilksort/kernel.c - the sequential ends of the sort; see cilksort.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cilksort.h"

static void insertion_sort(uint32_t *a, size_t n) {
  for (size_t i = 1; i < n; i++) {
    uint32_t value = a[i];
    size_t k = i;
    for (; k > 0 && a[k - 1] > value; k--) a[k] = a[k - 1];
    a[k] = value;
  }
}

static uint32_t middle_of(uint32_t x, uint32_t y, uint32_t z) {
  if (x > y) {
    uint32_t swap = x;
    x = y;
    y = swap;
  }
  return z < x ? x : z < y ? z : y;
}

/* Quicksort with the median of three; the leaf is short, so its worst case is too. */
void cilksort_leaf(uint32_t *a, size_t n) {
  while (n > 20) {
    uint32_t pivot = middle_of(a[0], a[n / 2], a[n - 1]);
    size_t i = 0, k = n - 1;
    for (;; i++, k--) {
      while (a[i] < pivot) i++;
      while (a[k] > pivot) k--;
      if (i >= k) break;
      uint32_t swap = a[i];
      a[i] = a[k];
      a[k] = swap;
    }
    cilksort_leaf(a, k + 1);
    a += k + 1;
    n -= k + 1;
  }
  insertion_sort(a, n);
}

void cilksort_merge_leaf(const merging *m) {
  const uint32_t *a = m->a, *b = m->b, *a_end = a + m->a_count, *b_end = b + m->b_count;
  uint32_t *to = m->to;
  while (a != a_end && b != b_end) *to++ = *a <= *b ? *a++ : *b++;
  memcpy(to, a, (size_t)(a_end - a) * sizeof *a);
  memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* How many elements are less than the value. */
static size_t place_of(uint32_t value, const uint32_t *sorted, size_t n) {
  size_t low = 0;
  while (n > 0) {
    size_t half = n / 2;
    if (sorted[low + half] < value) {
      low += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return low;
}

int cilksort_split(const merging *m, merging *first, merging *second) {
  if (m->a_count + m->b_count <= CILKSORT_LEAF) return 0;
  if (m->a_count < m->b_count) {
    merging swapped = {m->b, m->a, m->b_count, m->a_count, m->to};
    return cilksort_split(&swapped, first, second);
  }
  size_t a_cut = m->a_count / 2, b_cut = place_of(m->a[a_cut], m->b, m->b_count);
  *first = (merging){m->a, m->b, a_cut, b_cut, m->to};
  *second = (merging){m->a + a_cut, m->b + b_cut, m->a_count - a_cut, m->b_count - b_cut,
                      m->to + a_cut + b_cut};
  return 1;
}
