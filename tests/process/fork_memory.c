/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* A child of fork without the memory to renew a pool: calls run everything on the calling
 * thread, or report that there is no memory. When there is memory again the pool works.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support.h"

#include "harness/memory_faults.h"

static void check_small_tree(void *ctx) {
  check_tree(6);
  *(bool *)ctx = true;
}

/* The request of this number is refused, alone or with all after it. */
typedef struct poor_child {
  weft_pool *pool;
  refusal what;
  unsigned long number;
} poor_child;

/* What is refused is the renewal, or what comes after it; either way the work is done. */
static bool live_poorly(void *arg) {
  const poor_child *self = arg;
  bool ran = false;
  atomic_ulong detached = 0;
  refuse_memory(self->what, self->number);
  weft_pool_run(self->pool, check_small_tree, &ran);
  int status = weft_pool_detach(self->pool, count_one, &detached);
  bool right = CHECK(ran) && CHECK(status == 0 || status == WEFT_ENOMEM);
  const bool all_granted = allow_memory() == 0;
  if (self->number == 1 && self->what == REFUSE_FROM)
    right = CHECK_EQ(status, WEFT_ENOMEM) && right;
  right = everything_is_right_in(self->pool) && right;
  weft_pool_destroy(self->pool);
  right = CHECK_EQ(atomic_load(&detached), status == 0) && right;
  if (!right) return false;
  _exit(all_granted ? 2 : 0);
}

static void fork_poor_children(refusal what) {
  weft_pool *pool = pool_of(3);
  poor_child child = {pool, what, 1};
  int code;
  pair_in(pool);
  for (; (code = run_child(live_poorly, &child)) == 0; child.number++) continue;
  CHECK_EQ(code, 2); /* all requests were refused in turn, and this child had none left */
  CHECK(child.number > 5);
  CHECK(everything_is_right_in(pool));
  weft_pool_destroy(pool);
}

TEST(child_without_memory) {
  if (children_may_start_threads()) fork_poor_children(REFUSE_FROM);
}

TEST(child_that_is_refused_once) {
  if (children_may_start_threads()) fork_poor_children(REFUSE_ONE);
}
