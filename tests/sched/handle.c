/* Handles: the function runs exactly once, wherever and by whomever it is waited for; who
 * waits for one that nobody has begun runs it; dropping is not cancelling.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>

/* ---- one handle ---- */

typedef struct job {
  unsigned runs; /* plain: waiting makes it visible */
  int result;
  pthread_t thread;
  weft_pool *pool;
} job;

static void job_run(void *ctx) {
  job *self = ctx;
  self->runs++;
  self->result = 42;
  self->thread = pthread_self();
  self->pool = weft_pool_current();
}

static void async_and_wait(void *ctx) {
  weft_pool *pool = weft_pool_current();
  (void)ctx;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    job work = {0};
    weft_handle *handle = NULL;
    CHECK_EQ(weft_async(&handle, job_run, &work), 0);
    CHECK(handle != NULL);
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK_EQ(work.runs, 1);
    CHECK_EQ(work.result, 42);
    CHECK_EQ(work.pool, pool);
  }
}

TEST(async_and_wait_anywhere) {
  in_pools(async_and_wait, NULL);
  async_and_wait(NULL); /* from outside: in the global pool */
  weft_shutdown();
}

TEST(errors) {
  weft_opts opts = WEFT_OPTS_INIT;
  atomic_ulong ran = 0;
  weft_handle *handle = (weft_handle *)(uintptr_t)1;
  CHECK_EQ(weft_async(NULL, count_one, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_async_with(&opts, NULL, count_one, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_async(&handle, NULL, &ran), WEFT_EINVAL);
  CHECK(handle == NULL);
  handle = (weft_handle *)(uintptr_t)1;
  opts.lane = (weft_lane)77;
  CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), WEFT_EINVAL);
  CHECK(handle == NULL);
  CHECK_EQ(weft_handle_wait(NULL), WEFT_EINVAL);
  weft_handle_drop(NULL);
  weft_shutdown();
  CHECK_EQ(atomic_load(&ran), 0);
}

/* "Has the function returned?" */
typedef struct held_job {
  gate hold;
  job work;
} held_job;

static void held_run(void *ctx) {
  held_job *self = ctx;
  gate_pass(&self->hold);
  job_run(&self->work);
}

TEST(done_when_the_function_has_returned) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(500); i++) {
      held_job held = {.work = {0}};
      weft_handle *handle;
      CHECK_EQ(weft_async_with(&opts, &handle, held_run, &held), 0);
      CHECK(!weft_handle_done(handle));
      AWAIT(atomic_load(&held.hold.inside) == 1);
      CHECK(!weft_handle_done(handle));
      gate_open(&held.hold);
      AWAIT(weft_handle_done(handle));
      CHECK_EQ(held.work.runs, 1); /* seen without waiting */
      CHECK_EQ(weft_handle_wait(handle), 0);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- nobody has begun it: the waiting thread runs it ---- */

static void wait_and_run_it(weft_pool *pool, weft_lane lane) {
  weft_opts opts = opts_on(pool);
  job work = {0};
  weft_handle *handle;
  opts.lane = lane;
  CHECK_EQ(weft_async_with(&opts, &handle, job_run, &work), 0);
  CHECK(!weft_handle_done(handle));
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK_EQ(work.runs, 1);
  CHECK(pthread_equal(work.thread, pthread_self()));
  CHECK_EQ(work.pool, pool);
}

static void wait_inside(void *ctx) {
  for (unsigned long i = 0; i < scaled(500); i++) {
    wait_and_run_it(ctx, WEFT_LANE_NORMAL);
    wait_and_run_it(ctx, WEFT_LANE_BACKGROUND);
  }
}

TEST(the_waiting_thread_runs_what_nobody_has_begun) {
  weft_pool *other = pool_of(2);
  for (unsigned threads = 1; threads <= 3; threads++) {
    gate plug = {0};
    weft_pool *pool = pool_of(threads);
    plug_threads(&plug, pool);
    wait_inside(pool);                       /* from outside */
    weft_pool_run(pool, wait_inside, pool);  /* from a guest */
    weft_pool_run(other, wait_inside, pool); /* from another pool */
    run_on_started(other, wait_inside, pool);
    unplug(&plug);
    weft_pool_destroy(pool);
  }
  weft_pool_destroy(other);
}

/* The only started thread waits for what only it could begin. */
TEST(a_started_thread_waits_in_a_pool_of_one) {
  weft_pool *pool = pool_of(1);
  run_on_started(pool, wait_inside, pool);
  weft_pool_destroy(pool);
}

/* ---- somebody has begun it: the waiting thread helps ---- */

static void begin_and_pair(void *ctx) {
  atomic_store((atomic_bool *)ctx, true);
  join_pairing(NULL);
}

static void wait_and_help(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(1000); i++) {
    atomic_bool begun = false;
    weft_handle *handle;
    CHECK_EQ(weft_async(&handle, begin_and_pair, &begun), 0);
    AWAIT(atomic_load(&begun)); /* on the only started thread */
    CHECK_EQ(weft_handle_wait(handle), 0);
  }
}

TEST(the_waiting_thread_helps) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, wait_and_help, NULL);
  weft_pool_destroy(pool);
}

/* ---- many ---- */

enum { BATCH = 500 };

/* Forwards, backwards, or in any order. */
static void choose_order(unsigned order[BATCH], unsigned long round, uint64_t *random) {
  for (unsigned i = 0; i < BATCH; i++) order[i] = round % 3 == 1 ? BATCH - 1 - i : i;
  for (unsigned i = 0; i < BATCH && round % 3 == 2; i++) {
    unsigned k = i + (unsigned)(harness_random(random) % (BATCH - i)), chosen = order[k];
    order[k] = order[i];
    order[i] = chosen;
  }
}

static void many_at_once(void *ctx) {
  static weft_handle *handles[BATCH];
  static unsigned char marks[BATCH];
  for (unsigned long round = 0; round < scaled(40); round++) {
    unsigned order[BATCH];
    choose_order(order, round, ctx);
    for (unsigned i = 0; i < BATCH; i++)
      CHECK_EQ(weft_async(&handles[i], mark, &marks[i]), 0);
    for (unsigned i = 0; i < BATCH; i++) CHECK_EQ(weft_handle_wait(handles[order[i]]), 0);
    check_marks(marks, BATCH, 1);
  }
}

TEST(many_handles) {
  uint64_t random = harness_seed();
  in_pools(many_at_once, &random);
}

/* Who begins it first, the waiting thread or a started one? */
static void race_for_it(unsigned index, void *arg) {
  weft_opts opts = opts_on(arg);
  uint64_t random = harness_seed() + index;
  for (unsigned long i = 0; i < scaled(30000); i++) {
    unsigned char own = 0;
    weft_handle *handle;
    if (weft_async_with(&opts, &handle, mark, &own) != 0) CHECK(false);
    spin((unsigned)(harness_random(&random) % 100));
    if (weft_handle_wait(handle) != 0) CHECK(false);
    if (own != 1) CHECK_EQ(own, 1);
  }
}

TEST(waiting_races_with_the_pool) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    weft_pool *pool = pool_of(threads);
    harness_run_threads(4, race_for_it, pool);
    weft_pool_destroy(pool);
  }
}

/* Handles are waited for by other threads than those that made them. */
typedef struct exchange {
  weft_pool *pool;
  _Atomic(weft_handle *) slots[4];
  atomic_ulong ran;
} exchange;

static void make_and_take(unsigned index, void *arg) {
  exchange *x = arg;
  weft_opts opts = opts_on(x->pool);
  for (unsigned long i = 0; i < scaled(3000); i++) {
    weft_handle *handle;
    if (weft_async_with(&opts, &handle, count_one, &x->ran) != 0) CHECK(false);
    handle = atomic_exchange(&x->slots[(index + i) % 4], handle);
    if (handle == NULL) continue;
    if (i % 3 == 0)
      weft_handle_drop(handle);
    else
      CHECK_EQ(weft_handle_wait(handle), 0);
  }
}

TEST(handles_change_hands) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    exchange x = {.pool = pool_of(threads)};
    harness_run_threads(4, make_and_take, &x);
    for (int i = 0; i < 4; i++) {
      weft_handle *left = atomic_load(&x.slots[i]);
      if (left != NULL) CHECK_EQ(weft_handle_wait(left), 0);
    }
    weft_pool_destroy(x.pool);
    CHECK_EQ(atomic_load(&x.ran), 4 * scaled(3000));
  }
}

/* ---- handles in functions of handles ---- */

typedef struct fib {
  long n, result;
} fib;

static void fib_run(void *ctx) {
  fib *self = ctx;
  if (self->n < 2) {
    self->result = self->n;
    return;
  }
  fib left = {self->n - 1, 0}, right = {self->n - 2, 0};
  weft_handle *handle;
  if (weft_async(&handle, fib_run, &left) != 0) CHECK(false);
  fib_run(&right);
  CHECK_EQ(weft_handle_wait(handle), 0);
  self->result = left.result + right.result;
}

TEST(fibonacci_by_handles) {
  bool slow = harness_slowdown() > 1;
  fib number = {slow ? 11 : 16, 0};
  in_pools(fib_run, &number);
  CHECK_EQ(number.result, slow ? 89 : 987);
}

/* Two pools whose functions wait for each other's, several levels deep. */
typedef struct zigzag {
  weft_pool *pools[2];
  unsigned depth;
  atomic_ulong *ran;
} zigzag;

static void zigzag_run(void *ctx) {
  const zigzag *self = ctx;
  atomic_fetch_add(self->ran, 1);
  if (self->depth == 0) return;
  zigzag next = *self;
  next.depth--;
  weft_handle *handles[2];
  for (unsigned i = 0; i < 2; i++) {
    weft_opts opts = opts_on(self->pools[(self->depth + i) % 2]);
    CHECK_EQ(weft_async_with(&opts, &handles[i], zigzag_run, &next), 0);
  }
  for (unsigned i = 0; i < 2; i++) CHECK_EQ(weft_handle_wait(handles[i]), 0);
}

static void zigzags_from_outside(unsigned index, void *arg) {
  const zigzag *model = arg;
  (void)index;
  for (unsigned long i = 0; i < scaled(100); i++) {
    atomic_ulong ran = 0;
    zigzag top = *model;
    top.ran = &ran;
    zigzag_run(&top);
    CHECK_EQ(atomic_load(&ran), 63);
  }
}

TEST(pools_wait_for_each_other) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    zigzag model = {{pool_of(threads), pool_of(2)}, 5, NULL};
    harness_run_threads(4, zigzags_from_outside, &model);
    weft_pool_destroy(model.pools[0]);
    weft_pool_destroy(model.pools[1]);
  }
}

/* ---- dropping ---- */

TEST(dropped_functions_run_all_the_same) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    gate plug = {0};
    held_job held = {.work = {0}};
    weft_handle *handle;
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    /* While it runs. */
    CHECK_EQ(weft_async_with(&opts, &handle, held_run, &held), 0);
    AWAIT(atomic_load(&held.hold.inside) == 1);
    weft_handle_drop(handle);
    gate_open(&held.hold);
    /* After it has run. */
    CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), 0);
    AWAIT(weft_handle_done(handle));
    weft_handle_drop(handle);
    /* Before it runs. */
    plug_threads(&plug, pool);
    for (int i = 0; i < 10; i++) {
      CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), 0);
      weft_handle_drop(handle);
    }
    CHECK_EQ(atomic_load(&ran), 1);
    unplug(&plug);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), 11);
    CHECK_EQ(held.work.runs, 1);
  }
}

static void drop_at_once(unsigned index, void *arg) {
  exchange *x = arg;
  weft_opts opts = opts_on(x->pool);
  (void)index;
  for (unsigned long i = 0; i < scaled(10000); i++) {
    weft_handle *handle;
    if (weft_async_with(&opts, &handle, count_one, &x->ran) != 0) CHECK(false);
    weft_handle_drop(handle);
  }
}

/* The function ends and the handle is dropped at the same time: one of them frees it,
 * AddressSanitizer looks on. */
TEST(dropping_races_with_the_end) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    exchange x = {.pool = pool_of(threads)};
    harness_run_threads(3, drop_at_once, &x);
    weft_pool_destroy(x.pool);
    CHECK_EQ(atomic_load(&x.ran), 3 * scaled(10000));
  }
}

/* ---- the pool is gone ---- */

TEST(handles_outlive_their_pool) {
  for (unsigned long round = 0; round < scaled(200); round++) {
    enum { LEFT = 20 };
    weft_handle *handles[LEFT];
    unsigned char marks[LEFT] = {0};
    weft_pool *pool = pool_of((unsigned)(round % 3) + 1);
    weft_opts opts = opts_on(pool);
    for (int i = 0; i < LEFT; i++)
      CHECK_EQ(weft_async_with(&opts, &handles[i], mark, &marks[i]), 0);
    AWAIT(weft_handle_done(handles[0]));
    weft_pool_destroy(pool); /* runs what is left */
    for (int i = 0; i < LEFT; i++) {
      CHECK(weft_handle_done(handles[i]));
      if (i % 2 == 0)
        CHECK_EQ(weft_handle_wait(handles[i]), 0);
      else
        weft_handle_drop(handles[i]);
    }
    check_marks(marks, LEFT, 1);
  }
}
