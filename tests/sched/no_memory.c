/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Memory that runs out: creating a pool fails cleanly wherever that happens; deques that
 * cannot grow run tasks inline; guests without a deque, and queues that are full, find
 * another way or say so.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "harness/memory_faults.h"

#include <stdlib.h>

/* ---- V16: creation ---- */

/* From the k-th request on, or only the k-th: an error with nothing left behind, or a
 * pool that works (the threads' start records can be missing). Until no request is left
 * to refuse. */
static void create_with_refusals(refusal what, unsigned threads) {
  unsigned baseline = harness_thread_count();
  bool complete = false;
  for (unsigned long k = 1; !complete; k++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    weft_pool *pool = (weft_pool *)(uintptr_t)1;
    refuse_memory(what, k);
    int status = weft_pool_create(&pool, &config);
    complete = allow_memory() == 0;
    if (status == 0) {
      check_tree_in(pool, 8);
      weft_pool_destroy(pool);
    } else {
      CHECK_EQ(status, WEFT_ENOMEM);
      CHECK(pool == NULL);
      CHECK(!complete);
    }
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

TEST(v16_creation_without_memory) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    create_with_refusals(REFUSE_FROM, threads);
    create_with_refusals(REFUSE_ONE, threads);
  }
}

TEST(v16_joins_without_even_a_pool) {
  refuse_all_memory();
  CHECK(weft_pool_current() == NULL);
  check_tree(8);
  atomic_ulong ran = 0;
  weft_pool_run(NULL, count_one, &ran);
  CHECK_EQ(atomic_load(&ran), 1);
  CHECK_EQ(weft_detach(count_one, &ran), WEFT_ENOMEM);
  CHECK_EQ(weft_thread_count(), 1);
  CHECK_EQ(weft_worker_limit(), 1);
  CHECK_EQ(weft_init(NULL), WEFT_ENOMEM);
  CHECK(allow_memory() > 0);
  CHECK_EQ(atomic_load(&ran), 1);
  check_tree(8); /* now there is one */
  CHECK(weft_pool_current() != NULL);
  weft_shutdown();
}

/* ---- V16: deques that cannot grow ---- */

typedef struct ladder {
  unsigned depth;
  unsigned shape; /* which of the halves is the deep one, level by level */
  unsigned rungs;
} ladder;

/* Runs of the small halves; the frames that hold them may be gone when a defect runs one
 * a second time. */
static atomic_ulong sides;

static void ladder_side(void *ctx) {
  ladder *self = ctx;
  atomic_fetch_add(&sides, 1);
  check_tree(self->depth % 4);
  self->rungs += 1;
}

static void ladder_run(void *ctx) {
  ladder *self = ctx;
  if (self->depth == 0) return;
  bool a_is_deep = self->shape == 2 ? self->depth % 2 == 0 : self->shape == 1;
  ladder rest = {self->depth - 1, self->shape, 0}, side = {self->depth - 1, 0, 0};
  if (a_is_deep)
    weft_join(ladder_run, &rest, ladder_side, &side);
  else
    weft_join(ladder_side, &side, ladder_run, &rest);
  self->rungs = rest.rungs + side.rungs;
}

static void climb(void *ctx) {
  (void)ctx;
  const unsigned depth = harness_slowdown() == 1 ? 5000 : 1000;
  for (unsigned shape = 0; shape <= 2; shape++) {
    ladder top = {depth, shape, 0};
    unsigned long before = atomic_load(&sides);
    ladder_run(&top);
    CHECK_EQ(top.rungs, depth);
    CHECK_EQ(atomic_load(&sides) - before, depth);
  }
  check_tree(12);
}

static void check_climb(refusal what, unsigned long first, unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.deque_capacity = 2;
  weft_pool *pool = pool_with(&config);
  check_tree_in(pool, 0); /* the guest's place has its first ring */
  for (unsigned long i = 0; i < scaled(20); i++) {
    refuse_memory(what, first);
    weft_pool_run(pool, climb, NULL);
    weft_pool_run(pool, climb, NULL);
    unsigned long times = allow_memory();
    if (i == 0) CHECK_MSG(times > 0, "nothing was refused");
    /* With memory again, and the same deques. */
    if (i % 4 == 3) weft_pool_run(pool, climb, NULL);
  }
  weft_pool_destroy(pool);
}

TEST(v16_deque_growth_is_refused) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    check_climb(REFUSE_FROM, 1, threads);
    check_climb(REFUSE_FROM, 4, threads);
    check_climb(REFUSE_AT_RANDOM, 0, threads);
  }
}

/* One interleaving of the above, played by hand: a thief takes over between the owner's
 * push into the last free slot and the slow half of that fork, which finds no memory. The
 * task is then public, and must not be given back to the owner as well. */
TEST(v16_growth_is_refused_during_a_takeover) {
  wf_deque deque;
  wf_deque_news news;
  wf_task tasks[2] = {{do_nothing, NULL, {{0}}}, {do_nothing, NULL, {{0}}}};
  unsigned got[2] = {0, 0};
  wf_deque_init(&deque, 2, 0, !wf_sys_barrier_prepare());
  REQUIRE(wf_deque_prepare(&deque) == 0);
  CHECK(wf_deque_push(&deque, &tasks[0]));
  CHECK(wf_deque_fork_slow(&deque, &news) == NULL);

  wf_deque_pin(&deque);
  uint64_t asked = wf_deque_asked(&deque);
  if (wf_sys_barrier_prepare()) wf_sys_barrier();
  CHECK(wf_deque_push(&deque, &tasks[1])); /* the owner sees the closed pins */
  wf_deque_take_over(&deque, asked);
  refuse_all_memory();
  wf_task *left_over = wf_deque_fork_slow(&deque, &news);
  CHECK(allow_memory() > 0);
  if (left_over != NULL) got[left_over - tasks]++;

  for (wf_task *stolen; wf_deque_steal(&deque, &stolen) == WF_STEAL_GOT;)
    got[stolen - tasks]++;
  for (wf_task *popped; (popped = wf_deque_pop(&deque, &news)) != NULL;)
    got[popped - tasks]++;
  CHECK_EQ(got[0], 1);
  CHECK_EQ(got[1], 1);
  wf_deque_destroy(&deque);
}

/* ---- V16: the way in ---- */

/* No ring for the guest's deque, and no room in the queue: the caller runs serially. */
TEST(v16_guest_without_a_deque) {
  weft_pool *pool = pool_of(3);
  refuse_all_memory();
  for (int i = 0; i < 100; i++) check_tree_in(pool, 8);
  CHECK(allow_memory() > 0);
  check_tree_in(pool, 8);
  weft_pool_destroy(pool);
}

static void run_there(unsigned index, void *arg) {
  for (unsigned long i = 0; i < scaled(1000); i++)
    check_tree_in(arg, (index + (unsigned)i) % 7);
}

TEST(v16_guests_without_deques) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    refuse_memory(REFUSE_FROM, 2);
    run_exempt_threads(4, run_there, pool);
    allow_memory();
    harness_run_threads(4, run_there, pool);
    weft_pool_destroy(pool);
  }
}

TEST(v16_detach_without_memory) {
  weft_pool *pool = pool_of(2);
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  refuse_all_memory();
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), WEFT_ENOMEM);
  allow_memory();
  /* At random: what was accepted runs, what was not does not. */
  refuse_memory(REFUSE_AT_RANDOM, 0);
  for (unsigned long i = 0; i < scaled(100000); i++) {
    int status = weft_pool_detach(pool, count_one, &ran);
    CHECK(status == 0 || status == WEFT_ENOMEM);
    accepted += status == 0;
  }
  allow_memory();
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), accepted);
}

/* ---- order ---- */

typedef struct ordered {
  unsigned depth;
  unsigned *next; /* numbers the calls in the order in which they begin */
} ordered;

static void second_half(void *ctx) {
  ordered *here = ctx;
  CHECK_EQ((*here->next)++, here->depth);
}

/* The serial order: the innermost first half comes first, then the second halves from
 * the inside out. */
static void first_half(void *ctx) {
  ordered *here = ctx;
  if (here->depth == 0) return;
  ordered inner = {here->depth - 1, here->next}, side = {here->depth - 1, here->next};
  weft_join(first_half, &inner, second_half, &side);
}

static void keep_order(void *ctx) {
  (void)ctx;
  unsigned next = 0;
  ordered all = {1000, &next};
  first_half(&all);
  CHECK_EQ(next, 1000);
}

/* A pool of one thread keeps the order of the serial code, also without memory for a
 * deque that must grow. */
TEST(v30_order_is_kept_when_growth_is_refused) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 1;
  config.deque_capacity = 2;
  weft_pool *pool = pool_with(&config);
  weft_pool_run(pool, do_nothing, NULL); /* the guest's place has its first ring */
  refuse_all_memory();
  weft_pool_run(pool, keep_order, NULL);
  CHECK(allow_memory() > 0);
  weft_pool_run(pool, keep_order, NULL);
  weft_pool_destroy(pool);
}
