/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Scans and sorts by key of typed functions when memory runs out: the same results.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"

enum { N = 20011 };

static inline uint64_t add(uint64_t acc, uint64_t x, void *ctx) {
  (void)ctx;
  return acc + x;
}
WEFT_SCAN(sums, uint64_t, 0, add)

static inline bool is_less(const uint32_t *a, const uint32_t *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}
WEFT_SORT_BY_KEY(sort_rows, uint32_t, uint64_t, is_less)

static uint64_t input[N], output[N], rows[N];
static uint32_t keys[N];

static void scan_and_sort(void *ctx) {
  uint64_t state = harness_seed(), sum = 0;
  size_t wrong = 0;
  (void)ctx;
  for (size_t i = 0; i < N; i++) {
    input[i] = harness_random(&state);
    keys[i] = (uint32_t)(input[i] % 512);
    rows[i] = i;
  }
  sums(output, input, N, NULL);
  for (size_t i = 0; i < N; i++) wrong += output[i] != (sum += input[i]);
  CHECK_EQ(wrong, 0);
  sort_rows(keys, N, rows, NULL);
  for (size_t i = 0; i < N; i++) {
    wrong += keys[i] != (uint32_t)(input[rows[i]] % 512);
    if (i == 0) continue;
    wrong += keys[i - 1] > keys[i];
    wrong += keys[i - 1] == keys[i] && rows[i - 1] >= rows[i]; /* stable */
  }
  CHECK_EQ(wrong, 0);
}

static void with_memory_refused(void *ctx) {
  with_refusals(scan_and_sort, ctx);
}

TEST(typed_functions_without_memory) {
  in_each_pool(with_memory_refused, NULL);
}
