/* What the examples of weft/local.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <weft.h>

struct counts {
  long even;
};
static long total;
static size_t n = 1000;

static void count_part(size_t begin, size_t end, void *ctx) {
  struct counts *own = weft_local_get(ctx);
  if (own == NULL) abort();
  for (size_t i = begin; i < end; i++) own->even += i % 2 == 0;
}
static void inner(size_t begin, size_t end, void *ctx) {
  count_part(begin, end, ctx);
}
static void add_to_total(void *slot, void *ctx) {
  *(long *)ctx += ((struct counts *)slot)->even;
}

static void with_set(int (*example)(weft_local *)) {
  weft_local *set;
  assert(weft_local_create(&set, sizeof(struct counts), NULL, NULL) == 0);
  example(set);
  weft_local_destroy(set);
}
#define PARAMETERS_weft_local_get_1     weft_local *counts
#define RUN_weft_local_get_1            with_set
#define PARAMETERS_weft_local_reserve_1 weft_local *buffers
#define RUN_weft_local_reserve_1        with_set
#define AT_END                          assert(total == 500)
