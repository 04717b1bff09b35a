/* weft_config.queue_limit: exactly so many functions wait, whoever submits them and
 * however many do so at once; at the limit nothing is taken; and what the library queues
 * for its own ends is not counted. And weft_pool_wait_idle: everything submitted has run.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

static weft_pool *limited_pool(unsigned threads, size_t limit) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.queue_limit = limit;
  return pool_with(&config);
}

static size_t queued(const weft_pool *pool) {
  return wf_word_load_relaxed(&pool->x_queued);
}

/* ---- the limit ---- */

/* Submits in one of four ways; keeps the handle if there is one. */
static int submit(weft_pool *pool, unsigned way, weft_fn *fn, void *ctx,
                  weft_handle **handle) {
  weft_opts opts = opts_on(pool);
  opts.lane = way % 2 == 0 ? WEFT_LANE_NORMAL : WEFT_LANE_BACKGROUND;
  *handle = NULL;
  return way < 2 ? weft_detach_with(&opts, fn, ctx)
                 : weft_async_with(&opts, handle, fn, ctx);
}

TEST(exactly_the_limit_may_wait) {
  enum { MOST = 70 }; /* more than a segment of the queue */
  for (unsigned threads = 1; threads <= 3; threads++)
    for (size_t limit = 1; limit <= MOST; limit += limit < 3 ? 1 : 33) {
      gate plug = {0};
      atomic_ulong ran = 0;
      weft_handle *handles[MOST];
      weft_pool *pool = limited_pool(threads, limit);
      for (unsigned i = 0; i < wf_pool_started(pool); i++) { /* one by one: limit 1 */
        CHECK_EQ(weft_pool_detach(pool, gate_pass, &plug), 0);
        AWAIT(atomic_load(&plug.inside) == i + 1);
      }
      for (size_t i = 0; i < limit; i++)
        CHECK_EQ(submit(pool, (unsigned)(i % 4), count_one, &ran, &handles[i]), 0);
      for (unsigned way = 0; way < 4; way++) {
        weft_handle *refused;
        CHECK_EQ(submit(pool, way, count_one, &ran, &refused), WEFT_EAGAIN);
        CHECK(refused == NULL);
      }
      CHECK_EQ(queued(pool), limit);
      unplug(&plug);
      for (size_t i = 0; i < limit; i++)
        if (handles[i] != NULL) CHECK_EQ(weft_handle_wait(handles[i]), 0);
      weft_pool_wait_idle(pool);
      CHECK_EQ(atomic_load(&ran), limit);
      CHECK_EQ(queued(pool), 0);
      weft_pool_destroy(pool);
    }
}

/* A thread that waits for a handle that nobody has begun makes room. */
TEST(a_waiting_thread_makes_room) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_handle *first, *second;
  weft_pool *pool = limited_pool(2, 1);
  weft_opts opts = opts_on(pool);
  plug_threads(&plug, pool);
  CHECK_EQ(weft_async_with(&opts, &first, count_one, &ran), 0);
  CHECK_EQ(weft_async_with(&opts, &second, count_one, &ran), WEFT_EAGAIN);
  CHECK_EQ(weft_handle_wait(first), 0);
  CHECK_EQ(weft_async_with(&opts, &second, count_one, &ran), 0);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), WEFT_EAGAIN);
  weft_handle_drop(second);
  unplug(&plug);
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), 2);
}

/* A function that has begun does not count: the next one may come while it runs. */
static void submit_another(void *ctx) {
  atomic_ulong *ran = ctx;
  if (atomic_fetch_add(ran, 1) < 100) CHECK_EQ(weft_detach(submit_another, ran), 0);
}

TEST(tasks_submit_at_the_limit) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    atomic_ulong ran = 0;
    weft_pool *pool = limited_pool(threads, 1);
    CHECK_EQ(weft_pool_detach(pool, submit_another, &ran), 0);
    weft_pool_wait_idle(pool);
    CHECK_EQ(atomic_load(&ran), 101);
    weft_pool_destroy(pool);
  }
}

/* From inside its own tasks the pool refuses, and does not wait. */
static void submit_until_refused(void *ctx) {
  atomic_ulong *ran = ctx;
  size_t taken = 0;
  while (weft_detach(count_one, ran) == 0) taken++;
  CHECK(taken >= 5);
}

TEST(a_task_is_refused) {
  atomic_ulong ran = 0;
  weft_pool *pool = limited_pool(1, 5);
  run_on_started(pool, submit_until_refused, &ran);
  weft_pool_wait_idle(pool);
  CHECK_EQ(atomic_load(&ran), 5);
  weft_pool_destroy(pool);
}

/* Many producers: what was taken runs, what was refused does not, and never do more wait
 * than may. */
typedef struct producers {
  weft_pool *pool;
  size_t limit;
  atomic_ulong taken, refused, ran;
} producers;

static void *produce(void *arg) {
  producers *all = arg;
  for (unsigned long i = 0; i < scaled(20000); i++) {
    weft_handle *handle;
    int status = submit(all->pool, (unsigned)(i % 4), count_one, &all->ran, &handle);
    CHECK(status == 0 || status == WEFT_EAGAIN);
    CHECK(queued(all->pool) <= all->limit);
    atomic_fetch_add(status == 0 ? &all->taken : &all->refused, 1);
    if (i % 8 < 4)
      weft_handle_drop(handle);
    else if (handle != NULL)
      CHECK_EQ(weft_handle_wait(handle), 0);
  }
  return NULL;
}

TEST(many_producers) {
  enum { PRODUCERS = 4 };
  static const size_t limits[] = {1, 2, 10, 1000};
  for (unsigned i = 0; i < 4; i++) {
    producers all = {.pool = limited_pool(3, limits[i]), .limit = limits[i]};
    pthread_t threads[PRODUCERS];
    for (int t = 0; t < PRODUCERS; t++)
      REQUIRE(pthread_create(&threads[t], NULL, produce, &all) == 0);
    for (int t = 0; t < PRODUCERS; t++) pthread_join(threads[t], NULL);
    weft_pool_wait_idle(all.pool);
    CHECK_EQ(atomic_load(&all.ran), atomic_load(&all.taken));
    /* A worker may hold a function that the thread that waits for it has run meanwhile:
     * then the pool is idle a moment before that worker has counted it off. */
    AWAIT(queued(all.pool) == 0);
    weft_pool_destroy(all.pool);
  }
}

/* ---- what is not counted ---- */

static void spawn_and_join(void *ctx) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 100; i++) weft_spawn(&scope, count_one, ctx);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_tree(6);
}

static void *run_from_outside(void *arg) {
  producers *all = arg;
  weft_pool_run(all->pool, spawn_and_join, &all->ran);
  return NULL;
}

/* Scopes, and callers that find no guest place and are served by a started thread. */
TEST(scopes_and_callers_are_not_counted) {
  enum { CALLERS = 6 };
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.guests = 1;
  config.queue_limit = 1;
  producers all = {.pool = pool_with(&config)};
  pthread_t threads[CALLERS];
  for (unsigned long round = 0; round < scaled(20); round++) {
    for (int t = 0; t < CALLERS; t++)
      REQUIRE(pthread_create(&threads[t], NULL, run_from_outside, &all) == 0);
    for (int t = 0; t < CALLERS; t++) pthread_join(threads[t], NULL);
    CHECK_EQ(queued(all.pool), 0);
  }
  weft_pool_wait_idle(all.pool);
  CHECK_EQ(atomic_load(&all.ran), scaled(20) * CALLERS * 100);
  weft_pool_destroy(all.pool);
}

TEST(functions_that_follow_are_not_counted) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_handle *handle;
  weft_pool *pool = limited_pool(2, 1);
  weft_opts opts = opts_on(pool);
  plug_threads(&plug, pool);
  CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), 0);
  for (int i = 0; i < 10; i++) CHECK_EQ(weft_handle_then(handle, count_one, &ran), 0);
  CHECK_EQ(queued(pool), 1);
  weft_handle_drop(handle);
  unplug(&plug);
  weft_pool_wait_idle(pool);
  CHECK_EQ(atomic_load(&ran), 11);
  CHECK_EQ(queued(pool), 0);
  weft_pool_destroy(pool);
}

/* Exit hooks detach when no thread is left, into a pool with a limit. */
static void detach_at_exit(unsigned worker, void *ctx) {
  (void)worker;
  int status = weft_detach(count_one, ctx);
  CHECK(status == 0 || status == WEFT_EAGAIN);
}

TEST(exit_hooks_with_a_limit) {
  atomic_ulong ran = 0;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 4;
  config.queue_limit = 1;
  config.on_exit = detach_at_exit;
  config.hook_ctx = &ran;
  weft_pool_destroy(pool_with(&config));
  CHECK(atomic_load(&ran) >= 1 && atomic_load(&ran) <= 3);
}

/* ---- until nothing is left ---- */

TEST(nothing_to_wait_for) {
  weft_pool_wait_idle(NULL); /* starts no pool */
  CHECK(wf_global_if_running() == NULL);
  CHECK(weft_pool_current() != NULL);
  weft_pool_wait_idle(NULL);
  weft_shutdown();
  weft_pool *pool = pool_of(2);
  weft_pool_wait_idle(pool);
  weft_pool_wait_idle(pool);
  weft_pool_destroy(pool);
}

/* A tree of functions that submit others, in every way. */
typedef struct forest {
  weft_pool *pool;
  unsigned char marks[1 << 8]; /* plain, one for each node */
} forest;

typedef struct twig {
  forest *of;
  unsigned node;
} twig;

static void grow_twig(void *ctx) {
  twig *self = ctx;
  forest *of = self->of;
  of->marks[self->node]++;
  for (unsigned child = 2 * self->node; child <= 2 * self->node + 1; child++) {
    if (child >= sizeof of->marks) break;
    twig next = {of, child};
    weft_handle *handle;
    CHECK_EQ(weft_async_copy(&handle, &next, sizeof next, grow_twig), 0);
    weft_handle_drop(handle);
  }
}

static void plant(forest *of) {
  twig root = {of, 1};
  weft_opts opts = opts_on(of->pool);
  weft_handle *handle;
  CHECK_EQ(weft_async_copy_with(&opts, &handle, &root, sizeof root, grow_twig), 0);
  weft_handle_drop(handle);
}

static void check_forest(forest *of) {
  check_marks(of->marks + 1, sizeof of->marks - 1, 1);
}

static void plant_and_wait(void *ctx) {
  forest *of = ctx;
  for (unsigned long i = 0; i < scaled(20); i++) {
    plant(of);
    weft_pool_wait_idle(of->pool);
    check_forest(of);
    plant(of);
    weft_pool_wait_idle(weft_pool_current() == of->pool ? NULL : of->pool);
    check_forest(of);
  }
}

TEST(work_that_submits_more) {
  static const unsigned sizes[] = {1, 2, 3, 8, 64};
  weft_pool *other = pool_of(2);
  for (unsigned i = 0; i < 5; i++) {
    static forest of;
    of.pool = pool_of(sizes[i]);
    plant_and_wait(&of);                         /* from outside */
    weft_pool_run(of.pool, plant_and_wait, &of); /* a guest, which helps */
    weft_pool_run(other, plant_and_wait, &of);   /* in another pool */
    run_on_started(other, plant_and_wait, &of);
    weft_pool_destroy(of.pool);
  }
  weft_pool_destroy(other);
}

/* Functions that their waiters run count until they have returned. */
typedef struct waited {
  gate hold;
  weft_handle *handle;
  atomic_bool is_idle;
  weft_pool *pool;
} waited;

static void *wait_for_handle(void *arg) {
  waited *self = arg;
  CHECK_EQ(weft_handle_wait(self->handle), 0);
  return NULL;
}

static void *wait_for_idle(void *arg) {
  waited *self = arg;
  weft_pool_wait_idle(self->pool);
  CHECK(atomic_load(&self->hold.is_open));
  atomic_store(&self->is_idle, true);
  return NULL;
}

TEST(a_function_that_its_waiter_runs_counts) {
  for (unsigned long i = 0; i < scaled(50); i++) {
    gate plug = {0};
    waited self = {.pool = pool_of(2)};
    weft_opts opts = opts_on(self.pool);
    pthread_t waiter, idler;
    plug_threads(&plug, self.pool);
    CHECK_EQ(weft_async_with(&opts, &self.handle, gate_pass, &self.hold), 0);
    REQUIRE(pthread_create(&waiter, NULL, wait_for_handle, &self) == 0);
    AWAIT(atomic_load(&self.hold.inside) == 1);
    unplug(&plug);
    REQUIRE(pthread_create(&idler, NULL, wait_for_idle, &self) == 0);
    give_others_time();
    CHECK(!atomic_load(&self.is_idle));
    gate_open(&self.hold);
    pthread_join(waiter, NULL);
    pthread_join(idler, NULL);
    weft_pool_destroy(self.pool);
  }
}

/* Handles that the pool and the waiting threads fight for, while others wait until
 * nothing is left; each of them sees its own work done. */
static void *submit_and_idle(void *arg) {
  weft_pool *pool = arg;
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(2000); i++) {
    unsigned char marks[3] = {0};
    weft_handle *handle;
    CHECK_EQ(weft_pool_detach(pool, mark, &marks[0]), 0);
    CHECK_EQ(weft_async_with(&opts, &handle, mark, &marks[1]), 0);
    CHECK_EQ(weft_handle_then(handle, mark, &marks[2]), 0);
    if (i % 2 == 0)
      CHECK_EQ(weft_handle_wait(handle), 0);
    else
      weft_handle_drop(handle);
    weft_pool_wait_idle(pool);
    check_marks(marks, 3, 1);
  }
  return NULL;
}

TEST(several_wait_at_once) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  weft_pool *pool = sleepy_pool_of(3);
  for (int t = 0; t < THREADS; t++)
    REQUIRE(pthread_create(&threads[t], NULL, submit_and_idle, pool) == 0);
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  weft_pool_destroy(pool);
}

/* ---- misuse ---- */

static void wait_inside(void *ctx) {
  (void)ctx;
  weft_pool_wait_idle(NULL);
}

static weft_pool *kept_pool; /* where a leak checker finds it */

TEST_BY_NAME(idle_from_a_thread_of_the_pool) {
  kept_pool = pool_of(2);
  run_on_started(kept_pool, wait_inside, NULL);
}

static void wait_in_handle(void *ctx) {
  (void)ctx;
  gate plug = {0};
  weft_handle *handle;
  plug_threads(&plug, kept_pool);
  CHECK_EQ(weft_async(&handle, wait_inside, NULL), 0);
  weft_handle_wait(handle); /* runs it here */
}

TEST_BY_NAME(idle_from_the_function_of_a_handle) {
  kept_pool = pool_of(2);
  weft_pool_run(kept_pool, wait_in_handle, NULL);
}

static void told_of_handle(void *ctx) {
  (void)ctx;
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_handle *handle;
  plug_threads(&plug, kept_pool);
  CHECK_EQ(weft_async(&handle, count_one, &ran), 0);
  CHECK_EQ(weft_handle_on_done(handle, wait_inside, NULL), 0);
  weft_handle_wait(handle); /* runs both here */
}

TEST_BY_NAME(idle_from_a_function_that_is_told) {
  kept_pool = pool_of(2);
  weft_pool_run(kept_pool, told_of_handle, NULL);
}

/* A thread of another pool, which has no place in this one. */
static void wait_in_handle_elsewhere(void *ctx) {
  weft_opts opts = opts_on(kept_pool);
  weft_handle *handle;
  (void)ctx;
  CHECK_EQ(weft_async_with(&opts, &handle, wait_inside, NULL), 0);
  weft_handle_wait(handle); /* runs it here */
}

static void from_another_pool(void *ctx) {
  gate plug = {0};
  plug_threads(&plug, kept_pool);
  run_on_started(ctx, wait_in_handle_elsewhere, NULL);
}

TEST_BY_NAME(idle_from_a_handle_without_a_place) {
  static weft_pool *other;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.guests = 1;
  CHECK_EQ(weft_pool_create(&kept_pool, &config), 0);
  other = pool_of(2);
  weft_pool_run(kept_pool, from_another_pool, other); /* this thread has the only place */
}

TEST(misuse_is_reported) {
  static const char *const tests[] = {
      "idle_from_a_thread_of_the_pool", "idle_from_the_function_of_a_handle",
      "idle_from_a_function_that_is_told", "idle_from_a_handle_without_a_place"};
  for (unsigned i = 0; i < sizeof tests / sizeof tests[0]; i++) {
    char output[4096];
    int status = harness_run_self("ulimit -c 0;", tests[i], output, sizeof output);
    CHECK_MSG(status != 0 && strstr(output, "weft: weft_pool_wait_idle: ") != NULL,
              "%s ended with %d: %s", tests[i], status, output);
  }
}

/* ---- the real environment ---- */

TEST_BY_NAME(expect_a_limit_of_2) {
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_pool *pool = pool_of(2);
  plug_threads(&plug, pool);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), WEFT_EAGAIN);
  unplug(&plug);
  weft_pool_destroy(pool);
}

TEST(limit_from_the_environment) {
  char output[4096];
  int status = harness_run_self("WEFT_QUEUE_LIMIT=2", "expect_a_limit_of_2", output,
                                sizeof output);
  CHECK_MSG(status == 0, "ended with %d: %s", status, output);
}
