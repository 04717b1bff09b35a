/* weft_invoke: each function once, in order on one thread, at the same time on several;
 * none and one; nested; misuse that names the index.
 *
 * SPDX-License-Identifier: MIT */
#include "dies.h"
#include "support.h"

#include <weft.h>

/* ---- each once ---- */

static void check_counts(void *ctx) {
  weft_pool *pool = weft_pool_current();
  (void)ctx;
  for (size_t n = 0; n <= 300; n += n < 70 ? 1 : 77) {
    spot *spots = spots_of(n, pool);
    weft_call *calls = malloc((n + 1) * sizeof *calls);
    REQUIRE(calls != NULL);
    for (size_t i = 0; i < n; i++) calls[i] = (weft_call){run_spot, &spots[i]};
    weft_invoke(calls, n);
    check_spots(spots, n);
    free(calls);
    free(spots);
  }
}

TEST(each_function_is_called_once) {
  in_pools(check_counts, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, check_counts, NULL);
  weft_pool_destroy(pool);
}

TEST(from_outside_they_run_in_the_pool) {
  check_counts(NULL);
}

TEST(none_need_no_array) {
  weft_invoke(NULL, 0);
}

/* ---- order ---- */

static size_t order_next, order_of[100];

static void note_order(void *ctx) {
  order_of[*(const size_t *)ctx] = order_next++;
}

static void invoke_hundred(void *ctx) {
  static size_t numbers[100];
  weft_call calls[100];
  (void)ctx;
  for (size_t i = 0; i < 100; i++) {
    numbers[i] = i;
    calls[i] = (weft_call){note_order, &numbers[i]};
  }
  weft_invoke(calls, 100);
}

TEST(one_thread_calls_them_in_order) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, invoke_hundred, NULL);
  for (size_t i = 0; i < 100; i++) CHECK_EQ(order_of[i], i);
  weft_pool_destroy(pool);
}

/* ---- at the same time ---- */

/* Each waits until all have begun: so each is on a thread of its own. */
static void await_all(void *ctx) {
  atomic_uint *began = ctx;
  atomic_fetch_add(began, 1);
  AWAIT(atomic_load(began) == 4);
}

static void invoke_four(void *ctx) {
  WEFT_INVOKE({await_all, ctx}, {await_all, ctx}, {await_all, ctx}, {await_all, ctx});
}

TEST(they_run_at_the_same_time) {
  weft_pool *pool = pool_of(4);
  atomic_uint began = 0;
  weft_pool_run(pool, invoke_four, &began);
  CHECK_EQ(atomic_load(&began), 4);
  weft_pool_destroy(pool);
}

/* ---- the macro, nested ---- */

typedef struct node {
  unsigned depth;
  unsigned long leaves;
} node;

static void count_leaves(void *ctx) {
  node *n = ctx;
  if (n->depth == 0) {
    n->leaves = 1;
    return;
  }
  node a = {n->depth - 1, 0}, b = a, c = a;
  WEFT_INVOKE({count_leaves, &a}, {count_leaves, &b}, {count_leaves, &c});
  n->leaves = a.leaves + b.leaves + c.leaves;
}

static void check_leaves(void *ctx) {
  node root = {8, 0};
  (void)ctx;
  count_leaves(&root);
  CHECK_EQ(root.leaves, 6561);
}

TEST(nested) {
  in_pools(check_leaves, NULL);
  check_leaves(NULL);
}

TEST(the_macro_takes_one) {
  atomic_ulong ran = 0;
  WEFT_INVOKE({count_one, &ran});
  CHECK_EQ(atomic_load(&ran), 1);
}

/* ---- several at once ---- */

static void invoke_from_outside(unsigned index, void *arg) {
  (void)index, (void)arg;
  for (int i = 0; i < 20; i++) check_leaves(NULL);
}

TEST(several_callers_at_once) {
  if (harness_slowdown() > 1) return;
  harness_run_threads(5, invoke_from_outside, NULL);
}

/* ---- misuse ---- */

static void must_not_run(void *ctx) {
  (void)ctx;
  _exit(3);
}

TEST(misuse_names_the_index) {
  weft_call calls[5];
  for (int i = 0; i < 5; i++) calls[i] = (weft_call){must_not_run, NULL};
  CHECK_DIES("weft_invoke: the array of calls is NULL", weft_invoke(NULL, 1));
  calls[3].fn = NULL;
  CHECK_DIES("weft_invoke: function 3 is NULL", weft_invoke(calls, 5));
  calls[0].fn = NULL;
  CHECK_DIES("weft_invoke: function 0 is NULL", weft_invoke(calls, 5));
  CHECK_DIES("weft_invoke: function 0 is NULL", weft_invoke(calls, 1));
}
