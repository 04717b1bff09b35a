/* par/sort/radix/pairs.c - sorting by key where both types are known: pairs of a key and
 * its payload are sorted by a generated kernel. A pair is moved once where an index would
 * be followed later, and that costs a cache miss for each element.
 *
 * SPDX-License-Identifier: MIT */
#include "../../base/checks.h"
#include "../../base/scratch.h"
#include "../../loop/loop.h"

#include <weft/sort.h>
#include <weft/typed_sort.h>

typedef struct pairs_job {
  const wf_pair_arrays *arrays;
  const wf_pair_kernel *kernel;
  void *pairs;
} pairs_job;

static void pack_pairs(size_t begin, size_t end, void *ctx) {
  const pairs_job *j = (const pairs_job *)ctx;
  j->kernel->pack(j->arrays, j->pairs, begin, end);
}

static void unpack_pairs(size_t begin, size_t end, void *ctx) {
  const pairs_job *j = (const pairs_job *)ctx;
  j->kernel->unpack(j->arrays, j->pairs, begin, end);
}

/* ---- without memory for the pairs ---- */

typedef struct keys_order {
  wf_less_fn *less;
  void *ctx;
} keys_order;

static int compare_keys(const void *a, const void *b, void *ctx) {
  const keys_order *order = (const keys_order *)ctx;
  if (order->less(a, b, order->ctx)) return -1;
  return order->less(b, a, order->ctx) ? 1 : 0;
}

void wf_sort_pairs(const weft_opts *o, const wf_pair_arrays *arrays,
                   const wf_pair_kernel *kernel, void *ctx, const char *call) {
  size_t n = arrays->n;
  weft_opts opts;
  wf_scratch scratch = {NULL, NULL, 0};
  wf_par_options(&opts, o, call);
  if (n < 2) return;
  if (n <= SIZE_MAX / 2 / kernel->sort->size)
    scratch = wf_scratch_get(n * kernel->sort->size);
  if (scratch.memory == NULL) {
    keys_order order = {kernel->sort->less, ctx};
    weft_sort_by_key_with(o, arrays->keys, n, arrays->key_size, arrays->payload,
                          arrays->payload_size, compare_keys, &order);
    return;
  }
  /* The copies to and fro are made in full even if the call is cancelled: the arrays keep
   * their elements. */
  pairs_job j = {arrays, kernel, scratch.memory};
  wf_loop pack = {pack_pairs, &j, NULL}, unpack = {unpack_pairs, &j, NULL};
  weft_opts whole = opts;
  whole.cancel = NULL;
  wf_loop_run(&whole, n, &pack);
  wf_sort_by_kernel(o, j.pairs, n, kernel->sort, ctx, true, call);
  wf_loop_run(&whole, n, &unpack);
  wf_scratch_put(scratch);
}
