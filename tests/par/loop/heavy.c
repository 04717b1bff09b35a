/* While a block runs, all the rest of the loop is within reach of other threads: a block
 * that does not end before everything else is done does not hang. No clock is asked.
 *
 * The same on systems without the process-wide barrier, in processes of their own whose
 * system call filter refuses it.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "par/loop/blocks.h"

#include <stdio.h>

/* ---- one block waits for all others ---- */

typedef struct heavy {
  size_t n, which; /* the block with this index waits */
  atomic_size_t done;
  unsigned char *marks;
  int worker; /* on which the block waits */
} heavy;

static void wait_at_heavy(size_t begin, size_t end, void *ctx) {
  heavy *h = ctx;
  if (begin <= h->which && h->which < end) {
    h->worker = weft_worker_index();
    AWAIT(atomic_load(&h->done) == h->n - (end - begin));
  }
  for (size_t i = begin; i < end; i++) h->marks[i]++;
  atomic_fetch_add(&h->done, end - begin);
}

static void check_heavy(const weft_opts *opts, size_t n, size_t which) {
  heavy h = {.n = n, .which = which, .marks = marks_of(n), .worker = -1};
  weft_for_with(opts, n, wait_at_heavy, &h);
  check_marks(h.marks, n, 1);
  CHECK(h.worker >= 0);
  free(h.marks);
}

static void check_positions(const weft_opts *opts, size_t n, uint64_t *random) {
  check_heavy(opts, n, 0);
  check_heavy(opts, n, n - 1);
  check_heavy(opts, n, n / 2);
  check_heavy(opts, n, n / 3);
  for (unsigned i = 0; i < 3; i++)
    check_heavy(opts, n, (size_t)(harness_random(random) % n));
}

static void check_ways(void *ctx) {
  static const size_t RANGES[] = {2, 3, 10, 100, 1000, 20000};
  uint64_t *random = ctx;
  for (unsigned i = 0; i < sizeof RANGES / sizeof RANGES[0]; i++) {
    for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_RECURSIVE; split++) {
      weft_opts opts = WEFT_OPTS_INIT;
      opts.split = (weft_split)split;
      check_positions(&opts, RANGES[i], random);
      opts.max_len = 1; /* now each index is on its own */
      check_positions(&opts, RANGES[i] / 4 + 1, random);
      opts.max_workers = 2;
      check_positions(&opts, RANGES[i] / 4 + 1, random);
      opts.max_len = 0;
      check_positions(&opts, RANGES[i], random);
    }
  }
}

static void check_pools(void) {
  uint64_t random = harness_seed();
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    for (unsigned long round = 0; round < scaled(10); round++) {
      weft_pool_run(pool, check_ways, &random);
      if (THREADS[i] > 2) run_on_started(pool, check_ways, &random);
    }
    weft_pool_destroy(pool);
  }
}

TEST_LIMIT(a_block_may_wait_for_all_others, 120) {
  check_pools();
}

/* ---- each thread waits in a block of its own ---- */

/* All threads but one stand in a block of this loop, and that one does the rest. */
typedef struct crowded {
  size_t n;
  unsigned standing; /* threads that stand */
  atomic_uint inside;
  atomic_size_t done, kept; /* indices; kept by those who stand */
} crowded;

static void stand_or_work(size_t begin, size_t end, void *ctx) {
  crowded *c = ctx;
  size_t length = end - begin;
  if (atomic_fetch_add(&c->inside, 1) < c->standing) {
    atomic_fetch_add(&c->kept, length);
    AWAIT(atomic_load(&c->inside) >= c->standing &&
          atomic_load(&c->done) + atomic_load(&c->kept) == c->n);
  } else {
    atomic_fetch_add(&c->done, length);
  }
}

static void check_crowded(void *ctx) {
  unsigned threads = *(const unsigned *)ctx;
  for (size_t n = threads; n < 3000; n = 2 * n + 1) {
    crowded c = {.n = n, .standing = threads - 1};
    weft_for(n, stand_or_work, &c);
    CHECK_EQ(atomic_load(&c.done) + atomic_load(&c.kept), n);
  }
}

static void check_crowded_pools(void) {
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    unsigned threads = THREADS[i], started = threads - 1;
    weft_pool *pool = pool_of(threads);
    for (unsigned long round = 0; round < scaled(30); round++) {
      weft_pool_run(pool, check_crowded, &threads);
      if (started > 1) run_on_started(pool, check_crowded, &started);
    }
    weft_pool_destroy(pool);
  }
}

TEST(all_threads_but_one_may_wait) {
  check_crowded_pools();
}

/* ---- what follows costs more than what was measured ---- */

/* A single thread runs most of the loop, which costs nothing, so that blocks grow as fast
 * as they may. A block in the last part waits until another thread, which was kept away
 * until then, has run something too: a block is never all that is left. */
typedef struct late_help {
  size_t n, first; /* the index from which on a block waits */
  gate *plug;
  atomic_bool is_waiting, has_help;
} late_help;

static void wait_for_help(size_t begin, size_t end, void *ctx) {
  late_help *l = ctx;
  if (atomic_load(&l->is_waiting)) {
    /* Whoever takes over starts with short blocks again. */
    if (!atomic_exchange(&l->has_help, true)) CHECK_EQ(end - begin, 1);
  } else if (begin >= l->first && begin + 1 < l->n) {
    atomic_store(&l->is_waiting, true); /* nobody else is there yet */
    gate_open(l->plug);
    AWAIT(atomic_load(&l->has_help));
  }
}

static void check_late_help(void *ctx) {
  weft_for(((late_help *)ctx)->n, wait_for_help, ctx);
}

static void check_late_help_in_pools(void) {
  weft_pool *pool = pool_of(2);
  for (size_t n = 3; n < 20000; n += 1 + n / 10) {
    for (size_t part = 2; part <= 16; part *= 2) {
      gate plug = {0};
      late_help l = {.n = n, .first = n - n / part, .plug = &plug};
      plug_threads(&plug, pool);
      weft_pool_run(pool, check_late_help, &l);
      CHECK_EQ(atomic_load(&l.has_help), atomic_load(&l.is_waiting));
      unplug(&plug);
    }
  }
  weft_pool_destroy(pool);
}

TEST(blocks_leave_something_for_others) {
  check_late_help_in_pools();
}

/* Somebody asks, the range is halved, and then there is less left than the blocks were
 * meant for: they become shorter. */
typedef struct asked_loop {
  size_t n, first; /* the index from which on somebody asks */
  size_t next;     /* after the request: where the lower half begins, and its length */
  size_t lower;
} asked_loop;

static void ask_and_watch(size_t begin, size_t end, void *ctx) {
  asked_loop *a = ctx;
  if (begin == a->next && a->lower > 1)
    CHECK_MSG(end - begin < a->lower, "%zu of %zu", end - begin, a->lower);
  if (begin < a->first || a->next != SIZE_MAX) return;
  a->next = end;
  a->lower = (a->n - end) / 2;
  wf_deque_pin(&wf_worker_of(wf_self)->deque);
}

static void check_asked(void *ctx) {
  weft_for(((asked_loop *)ctx)->n, ask_and_watch, ctx);
}

/* In a pool whose other thread is busy all the time. */
TEST(halves_are_run_in_shorter_blocks) {
  weft_pool *pool = pool_of(2);
  gate plug = {0};
  plug_threads(&plug, pool);
  for (size_t n = 3; n < 20000; n += 1 + n / 10)
    for (size_t part = 1; part <= 16; part *= 2) {
      asked_loop a = {.n = n, .first = n - n / part, .next = SIZE_MAX};
      weft_pool_run(pool, check_asked, &a);
    }
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- a loop inside a block that others wait for ---- */

typedef struct nested_heavy {
  atomic_size_t done;
  size_t n;
} nested_heavy;

static void nested_block(size_t begin, size_t end, void *ctx) {
  nested_heavy *h = ctx;
  heavy inner = {.n = 50, .which = begin % 50, .marks = marks_of(50), .worker = -1};
  weft_for(50, wait_at_heavy, &inner);
  check_marks(inner.marks, 50, 1);
  free(inner.marks);
  atomic_fetch_add(&h->done, end - begin);
}

/* One outer block at a time, or two waiting blocks could keep both threads. */
static void check_nested_pools(void) {
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    weft_opts opts = opts_on(pool);
    opts.max_workers = 1;
    nested_heavy h = {.n = 20};
    for (unsigned long round = 0; round < scaled(20); round++)
      weft_for_with(&opts, h.n, nested_block, &h);
    CHECK_EQ(atomic_load(&h.done), h.n * scaled(20));
    weft_pool_destroy(pool);
  }
}

TEST(an_inner_block_may_wait_for_all_others) {
  check_nested_pools();
}

/* ---- without the barrier ---- */

#if defined(__linux__)

#include "harness/refused_call.h"

#include <errno.h>

TEST_BY_NAME(heavy_without_the_barrier) {
  if (!refuse_call(SYS_membarrier, EPERM, REFUSED_HERE)) {
    printf("skipped: system calls cannot be filtered here\n");
    return;
  }
  weft_pool *pool = pool_of(2);
  CHECK(pool->eager);
  weft_pool_destroy(pool);
  check_pools();
  check_crowded_pools();
  check_late_help_in_pools();
  check_nested_pools();
}

TEST_LIMIT(the_same_without_the_barrier, 120) {
  static char output[65536];
  int status = harness_run_self(NULL, "heavy_without_the_barrier", output, sizeof output);
  CHECK_MSG(status == 0, "ended with %d: %s", status, output);
  const char *skipped = strstr(output, "skipped:");
  if (skipped != NULL) printf("%s", skipped);
}

#endif
