/* Random cases of everything that sorts by an order: 10^5 of each call, of random length,
 * element size, number of distinct keys and shape, in pools of 1 to 4 threads, some of
 * them cancelled. A case follows from its number and the seed alone.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/support.h"

#include <limits.h>

enum { POOLS = 4 };

static unsigned long cases(void) {
  return scaled(100000);
}

typedef struct random_case {
  unsigned call;
  size_t n, size;
  char *base;
  order_of order;
  weft_opts opts;
  bool cancelled;
  uint64_t random;
} random_case;

static size_t draw(random_case *c, size_t below) {
  return (size_t)(harness_random(&c->random) >> 16) % below;
}

/* Runs of random lengths, up, down, equal and random; or one of the patterns. */
static void fill_case(random_case *c) {
  uint32_t kinds = draw(c, 3) == 0 ? 5 : 100000;
  if (draw(c, 3) == 0) {
    fill_pattern(c->base, c->n, c->size, (pattern)draw(c, PATTERNS), c->random);
    return;
  }
  for (size_t i = 0; i < c->n;) {
    size_t end = i + 1 + draw(c, c->n), shape = draw(c, 4);
    uint32_t key = (uint32_t)draw(c, kinds);
    for (; i < c->n && i < end; i++) {
      if (shape == 0) key++;
      if (shape == 1) key--;
      if (shape == 2) key = (uint32_t)draw(c, kinds);
      make_element(c->base + i * c->size, c->size, key, (uint32_t)i);
    }
  }
}

static bool is_divided(const random_case *c, size_t nth) {
  uint32_t key = key_of(c->base + nth * c->size, c->size);
  for (size_t i = 0; i < c->n; i++) {
    uint32_t other = key_of(c->base + i * c->size, c->size);
    if (i < nth ? other > key : other < key) return false;
  }
  return true;
}

static bool try_argsort(random_case *c) {
  size_t *order = array_of(c->n, sizeof *order);
  bool right = true;
  weft_argsort_with(&c->opts, order, c->base, c->n, c->size, compare_cancelling,
                    &c->order);
  for (size_t i = 1; i < c->n && right && !c->cancelled; i++) {
    uint32_t a = key_of(c->base + order[i - 1] * c->size, c->size);
    uint32_t b = key_of(c->base + order[i] * c->size, c->size);
    right = a < b || (a == b && order[i - 1] < order[i]);
  }
  free(order);
  return right;
}

static bool try_merge(random_case *c) {
  size_t na = draw(c, c->n + 1);
  char *dst = array_of(c->n, c->size);
  char *b = c->base + na * c->size;
  weft_sort_stable(c->base, na, c->size, compare_keys, &c->order);
  weft_sort_stable(b, c->n - na, c->size, compare_keys, &c->order);
  weft_merge(dst, c->base, na, b, c->n - na, c->size, compare_keys, &c->order);
  bool right = is_in_order(dst, c->n, c->size, true);
  memcpy(c->base, dst, c->n * c->size);
  free(dst);
  return right;
}

static bool try_by_key(random_case *c) {
  size_t payload_size = 4 + draw(c, 90);
  char *payload = array_of(c->n, payload_size);
  bool right = true;
  for (size_t i = 0; i < c->n; i++)
    memcpy(payload + i * payload_size, c->base + i * c->size, c->size < 4 ? c->size : 4);
  weft_sort_by_key_with(&c->opts, c->base, c->n, c->size, payload, payload_size,
                        compare_cancelling, &c->order);
  for (size_t i = 0; i < c->n; i++)
    right = right && memcmp(payload + i * payload_size, c->base + i * c->size,
                            c->size < 4 ? c->size : 4) == 0;
  free(payload);
  return right && (c->cancelled || is_in_order(c->base, c->n, c->size, true));
}

static bool try_call(random_case *c) {
  size_t n = c->n, size = c->size, nth = n > 0 ? draw(c, n) : 0;
  switch (c->call) {
  case 0:
    weft_sort_with(&c->opts, c->base, n, size, compare_cancelling, &c->order);
    return c->cancelled || is_in_order(c->base, n, size, false);
  case 1:
    weft_sort_stable_with(&c->opts, c->base, n, size, compare_cancelling, &c->order);
    return c->cancelled || is_in_order(c->base, n, size, true);
  case 2:
    weft_nth_element_with(&c->opts, c->base, n, size, nth, compare_cancelling, &c->order);
    return c->cancelled || n == 0 || is_divided(c, nth);
  case 3:
    weft_partial_sort_with(&c->opts, c->base, n, size, nth, compare_cancelling,
                           &c->order);
    return c->cancelled || n == 0 ||
           (is_in_order(c->base, nth, size, false) &&
            (nth == 0 || is_divided(c, nth - 1)));
  case 4:
    return try_argsort(c);
  case 5:
    return try_merge(c);
  case 6:
    return try_by_key(c);
  default:
    return weft_is_sorted(c->base, n, size, compare_keys, &c->order) ==
           is_in_order(c->base, n, size, false);
  }
}

static void run_case(void *ctx) {
  random_case *c = ctx;
  weft_scope scope;
  size_t longest = draw(c, 50) == 0 ? 20000 : draw(c, 4) == 0 ? 3000 : 100;
  c->n = draw(c, longest);
  c->size = draw(c, 10) == 0 ? 1 + draw(c, 300) : 1 + draw(c, 40);
  if (draw(c, 2) == 0) c->size = (size_t)4 << draw(c, 4);
  c->base = array_of(c->n, c->size);
  c->order.size = c->size;
  fill_case(c);
  uint64_t contents = contents_of(c->base, c->n, c->size);
  weft_scope_begin(&scope);
  c->cancelled = draw(c, 10) == 0;
  c->order.scope = &scope;
  c->order.cancel_at = c->cancelled ? draw(c, 4 * c->n + 1) : ULONG_MAX;
  weft_opts opts = WEFT_OPTS_INIT;
  c->opts = opts;
  c->opts.cancel = &scope;
  c->opts.max_workers = (unsigned)draw(c, 3);
  uint64_t start = c->random;
  bool right = try_call(c);
  CHECK_MSG(right, "call %u: %zu of %zu bytes (state %llu)", c->call, c->n, c->size,
            (unsigned long long)start);
  CHECK_MSG(contents_of(c->base, c->n, c->size) == contents, "call %u: %zu of %zu bytes",
            c->call, c->n, c->size);
  weft_scope_end(&scope);
  free(c->base);
}

static void run_cases(unsigned call) {
  weft_pool *pools[POOLS];
  for (unsigned i = 0; i < POOLS; i++) pools[i] = pool_of(i + 1);
  for (unsigned long i = 0; i < cases(); i++) {
    random_case c = {.call = call, .random = harness_seed() + i};
    weft_pool_run(pools[draw(&c, POOLS)], run_case, &c);
  }
  for (unsigned i = 0; i < POOLS; i++) weft_pool_destroy(pools[i]);
}

TEST_LIMIT(sort, 600) {
  run_cases(0);
}

TEST_LIMIT(sort_stable, 600) {
  run_cases(1);
}

TEST_LIMIT(nth_element, 600) {
  run_cases(2);
}

TEST_LIMIT(partial_sort, 600) {
  run_cases(3);
}

TEST_LIMIT(argsort, 600) {
  run_cases(4);
}

TEST_LIMIT(merge, 600) {
  run_cases(5);
}

TEST_LIMIT(sort_by_key, 600) {
  run_cases(6);
}

TEST_LIMIT(is_sorted, 600) {
  run_cases(7);
}
