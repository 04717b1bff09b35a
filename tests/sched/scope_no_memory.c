/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Scopes, handles and broadcasts when memory runs out: every spawned task still runs
 * exactly once with the right arguments, and what can fail says so and does nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include "harness/memory_faults.h"

/* ---- spawns ---- */

typedef struct pair_of {
  uint64_t number, tag;
} pair_of;

/* Arguments of several sizes: a number in front, and bytes that follow from it. Above
 * some 2 KiB each copy is a request for memory of its own. */
static const size_t ARGS[] = {16, 17, 64, 1000, 3000, 4096, 5000, 100000};
enum { ARGS_COUNT = sizeof ARGS / sizeof ARGS[0], LARGEST = 100000 };

static atomic_ulong runs, sum_of_numbers;
static unsigned char args[LARGEST]; /* of the one spawner */

static void fill_args(size_t size, uint64_t number) {
  pair_of head = {number, ~number};
  memset(args, (int)(number % 251), size);
  memcpy(args, &head, sizeof head);
}

static void take_args(const void *ctx, size_t size) {
  const unsigned char *bytes = ctx;
  pair_of head;
  memcpy(&head, bytes, sizeof head);
  CHECK_EQ(head.tag, ~head.number);
  for (size_t i = sizeof head; i < size; i++)
    if (bytes[i] != head.number % 251) {
      CHECK_MSG(false, "byte %zu of %zu", i, size);
      break;
    }
  atomic_fetch_add(&runs, 1);
  atomic_fetch_add(&sum_of_numbers, head.number);
}

#define TAKE(size)                                                                       \
  static void take_##size(void *ctx) {                                                   \
    take_args(ctx, size);                                                                \
  }
TAKE(16)
TAKE(17)
TAKE(64)
TAKE(1000)
TAKE(3000)
TAKE(4096)
TAKE(5000)
TAKE(100000)

static weft_fn *const TAKERS[ARGS_COUNT] = {take_16,   take_17,   take_64,   take_1000,
                                            take_3000, take_4096, take_5000, take_100000};

static unsigned char *shared_marks;
enum { MARKS = 20000 };

/* Spawns and copies in turn, all in one scope; a tree of tasks that spawn on top. */
typedef struct branch {
  weft_scope *scope;
  unsigned depth;
  atomic_ulong *ran;
} branch;

static void branch_out(void *ctx) {
  const branch *self = ctx;
  branch below = {self->scope, self->depth - 1, self->ran};
  atomic_fetch_add(self->ran, 1);
  for (int i = 0; i < 2 && self->depth > 0; i++)
    weft_spawn_copy(self->scope, &below, sizeof below, branch_out);
}

static void spawn_everything(void *ctx) {
  const weft_order order = *(const weft_order *)ctx;
  const unsigned long plain = scaled(MARKS - 1), copies = 100 + scaled(2000);
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  unsigned long sum = 0;
  atomic_ulong branches = 0;
  opts.order = order;
  atomic_store(&runs, 0);
  atomic_store(&sum_of_numbers, 0);
  weft_scope_begin_with(&opts, &scope);
  branch root = {&scope, 8, &branches};
  weft_spawn_copy(&scope, &root, sizeof root, branch_out);
  for (unsigned long i = 0; i < plain; i++) weft_spawn(&scope, mark, &shared_marks[i]);
  for (unsigned long i = 0; i < copies; i++) {
    unsigned size = (unsigned)(i % ARGS_COUNT);
    fill_args(ARGS[size], i);
    weft_spawn_copy(&scope, args, ARGS[size], TAKERS[size]);
    memset(args, 0xdd, ARGS[size]);
    sum += i;
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_marks(shared_marks, plain, 1);
  CHECK_EQ(atomic_load(&runs), copies);
  CHECK_EQ(atomic_load(&sum_of_numbers), sum);
  CHECK_EQ(atomic_load(&branches), 511);
}

static void spawn_with_refusals(refusal what, unsigned long first, bool has_place) {
  shared_marks = marks_of(MARKS);
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (int order = WEFT_ORDER_LIFO; order <= WEFT_ORDER_FIFO; order++) {
      weft_order chosen = (weft_order)order;
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = threads;
      config.deque_capacity = 2;
      weft_pool *pool = pool_with(&config);
      if (has_place) weft_pool_run(pool, do_nothing, NULL);
      refuse_memory(what, first);
      weft_pool_run(pool, spawn_everything, &chosen);
      CHECK_MSG(allow_memory() > 0, "nothing was refused");
      weft_pool_run(pool, spawn_everything, &chosen); /* with memory, and the same pool */
      weft_pool_destroy(pool);
    }
  }
  free(shared_marks);
}

TEST(every_task_runs_once_without_memory) {
  spawn_with_refusals(REFUSE_FROM, 1, true);
  spawn_with_refusals(REFUSE_FROM, 1, false);
}

TEST(every_task_runs_once_when_memory_ends) {
  for (unsigned long first = 1; first <= 32; first *= 2)
    spawn_with_refusals(REFUSE_FROM, first + 1, true);
}

TEST(every_task_runs_once_with_memory_at_random) {
  spawn_with_refusals(REFUSE_AT_RANDOM, 0, true);
}

/* ---- copies that nobody can keep ---- */

static const void *seen_args;
static bool seen_ran;

static void note_args(void *ctx) {
  const unsigned char *bytes = ctx;
  seen_args = bytes;
  seen_ran = true;
  CHECK_EQ(bytes[0], 42);
  CHECK_EQ(bytes[2999], 42);
}

/* "fn runs at once with a copy on the stack; for more than 4 KiB it is then given args
 * itself." */
static void copies_at_once(void *ctx) {
  (void)ctx;
  memset(args, 42, sizeof args);
  for (size_t size = 3000; size <= LARGEST; size += size < 4096 ? 548 : 23975) {
    weft_scope scope;
    weft_scope_begin(&scope);
    seen_ran = false;
    weft_spawn_copy(&scope, args, size, note_args);
    CHECK_MSG(seen_ran, "%zu bytes", size);
    CHECK_MSG((seen_args == args) == (size > 4096), "%zu bytes", size);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(copies_without_memory_run_at_once) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, do_nothing, NULL);
    refuse_all_memory();
    weft_pool_run(pool, copies_at_once, NULL);
    CHECK(allow_memory() > 0);
    weft_pool_destroy(pool);
  }
}

/* A cancelled scope skips them all the same. */
static void cancelled_copies(void *ctx) {
  weft_scope scope;
  (void)ctx;
  seen_ran = false;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 4);
  for (unsigned i = 0; i < ARGS_COUNT; i++)
    weft_spawn_copy(&scope, args, ARGS[i], note_args);
  CHECK_EQ(weft_scope_end(&scope), 4);
  CHECK(!seen_ran);
}

TEST(cancelled_copies_without_memory) {
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, do_nothing, NULL);
  refuse_all_memory();
  weft_pool_run(pool, cancelled_copies, NULL);
  allow_memory();
  weft_pool_destroy(pool);
}

/* ---- other threads that spawn ---- */

typedef struct shared_scope {
  weft_scope scope;
  unsigned char *marks;
  unsigned long each;
} shared_scope;

static void spawn_share(unsigned index, void *arg) {
  shared_scope *s = arg;
  for (unsigned long i = 0; i < s->each; i++)
    weft_spawn(&s->scope, mark, &s->marks[index * s->each + i]);
}

TEST(spawns_from_outside_without_memory) {
  enum { SPAWNERS = 4 };
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (int all = 0; all <= 1; all++) {
      weft_pool *pool = pool_of(threads);
      shared_scope s = {.each = scaled(1000)};
      weft_opts opts = opts_on(pool);
      s.marks = marks_of(SPAWNERS * s.each);
      weft_scope_begin_with(&opts, &s.scope);
      refuse_memory(all ? REFUSE_FROM : REFUSE_AT_RANDOM, 1);
      run_exempt_threads(SPAWNERS, spawn_share, &s);
      allow_memory();
      CHECK_EQ(weft_scope_end(&s.scope), 0);
      check_marks(s.marks, SPAWNERS * s.each, 1);
      free(s.marks);
      weft_pool_destroy(pool);
    }
  }
}

/* ---- tasks that were to go into the queue ---- */

/* With every started thread at a gate, and a queue that takes nothing more. */
typedef struct stuck_pool {
  weft_pool *pool;
  gate plug;
  atomic_ulong queued_ran, ran;
  unsigned long queued;
} stuck_pool;

static void stick(stuck_pool *stuck) {
  refuse_all_memory();
  while (weft_pool_detach(stuck->pool, count_one, &stuck->queued_ran) == 0)
    stuck->queued++;
}

static void check_unstuck(stuck_pool *stuck) {
  unplug(&stuck->plug);
  weft_pool_destroy(stuck->pool);
  CHECK_EQ(atomic_load(&stuck->queued_ran), stuck->queued);
}

typedef struct stuck_spawn {
  stuck_pool *stuck;
  weft_scope *scope; /* of another thread, or around an isolated section */
} stuck_spawn;

/* The thread leaves the pool after this, with a task in its deque. */
static void spawn_and_stick(void *ctx) {
  const stuck_spawn *self = ctx;
  weft_spawn(self->scope, count_one, &self->stuck->ran);
  stick(self->stuck);
  CHECK_EQ(atomic_load(&self->stuck->ran), 0);
}

static void visit_stuck(unsigned index, void *arg) {
  const stuck_spawn *self = arg;
  (void)index;
  weft_pool_run(self->stuck->pool, spawn_and_stick, arg);
  CHECK(allow_memory() > 0);
  CHECK_EQ(atomic_load(&self->stuck->ran), 1); /* by this very thread */
}

TEST(what_a_guest_leaves_behind_without_memory) {
  for (int order = WEFT_ORDER_LIFO; order <= WEFT_ORDER_FIFO; order++) {
    stuck_pool stuck = {.pool = pool_of(2)};
    weft_opts opts = opts_on(stuck.pool);
    weft_scope scope;
    stuck_spawn spawn = {&stuck, &scope};
    opts.order = (weft_order)order;
    plug_threads(&stuck.plug, stuck.pool);
    weft_scope_begin_with(&opts, &scope);
    run_exempt_threads(1, visit_stuck, &spawn);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_unstuck(&stuck);
    CHECK_EQ(atomic_load(&stuck.ran), 1);
  }
}

/* Isolated code that waits does not run tasks of a FIFO scope around it, which may be
 * anybody's; it does when they cannot go into the queue. */
static void end_scope_in_isolation(void *ctx) {
  const stuck_spawn *self = ctx;
  weft_scope own;
  weft_scope_begin(&own);
  spawn_and_stick(ctx);
  CHECK_EQ(weft_scope_end(&own), 0);
  CHECK(allow_memory() > 0);
  CHECK_EQ(atomic_load(&self->stuck->ran), 1);
}

static void isolate_in_fifo_scope(void *ctx) {
  stuck_pool *stuck = ctx;
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  stuck_spawn spawn = {stuck, &scope};
  opts.order = WEFT_ORDER_FIFO;
  weft_scope_begin_with(&opts, &scope);
  weft_isolate(end_scope_in_isolation, &spawn);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(tickets_of_isolated_code_without_memory) {
  stuck_pool stuck = {.pool = pool_of(2)};
  plug_threads(&stuck.plug, stuck.pool);
  weft_pool_run(stuck.pool, isolate_in_fifo_scope, &stuck);
  check_unstuck(&stuck);
  CHECK_EQ(atomic_load(&stuck.ran), 1);
}

/* ---- no pool at all ---- */

static void check_one_call(unsigned index, unsigned count, void *ctx) {
  CHECK_EQ(index, 0);
  CHECK_EQ(count, 1);
  count_one(ctx);
}

static void spawn_inside(void *ctx) {
  weft_spawn(weft_scope_current(), count_one, ctx);
  count_one(ctx);
}

TEST(everything_without_even_a_pool) {
  weft_scope outer, inner;
  atomic_ulong ran = 0;
  weft_handle *handle = (weft_handle *)(uintptr_t)1;
  refuse_all_memory();
  CHECK(weft_pool_current() == NULL);
  weft_scope_begin(&outer);
  CHECK_EQ(weft_scope_current(), &outer);
  for (int i = 0; i < 100; i++) weft_spawn(&outer, spawn_inside, &ran);
  weft_scope_begin(&inner);
  weft_spawn_copy(&inner, args, 5000, do_nothing);
  weft_scope_cancel(&inner, 3);
  weft_spawn(&inner, count_one, &ran);
  CHECK_EQ(weft_scope_end(&inner), 3);
  check_tree(5);
  CHECK_EQ(weft_scope_end(&outer), 0);
  CHECK_EQ(weft_scope_current(), NULL);
  CHECK_EQ(atomic_load(&ran), 200);

  CHECK_EQ(weft_async(&handle, count_one, &ran), WEFT_ENOMEM);
  CHECK(handle == NULL);
  CHECK_EQ(weft_detach(count_one, &ran), WEFT_ENOMEM);
  CHECK(!weft_yield());
  CHECK_EQ(atomic_load(&ran), 200);
  weft_isolate(count_one, &ran);
  CHECK_EQ(atomic_load(&ran), 201);
  weft_broadcast(check_one_call, &ran);
  CHECK_EQ(atomic_load(&ran), 202);
  weft_blocking_begin();
  weft_blocking_end();
  CHECK(allow_memory() > 0);
  weft_shutdown();
}

/* ---- handles and detached work ---- */

static void async_at_random(void *ctx) {
  const weft_opts *opts = ctx;
  atomic_ulong ran = 0;
  unsigned long accepted = 0;
  for (unsigned long i = 0; i < scaled(20000); i++) {
    weft_handle *handle = (weft_handle *)(uintptr_t)1;
    int status = weft_async_with(opts, &handle, count_one, &ran);
    CHECK(status == 0 || status == WEFT_ENOMEM);
    CHECK((handle != NULL) == (status == 0));
    accepted += status == 0;
    if (i % 2 == 0 && status == 0)
      CHECK_EQ(weft_handle_wait(handle), 0);
    else
      weft_handle_drop(handle);
  }
  AWAIT(atomic_load(&ran) == accepted);
  CHECK(accepted > 0);
}

TEST(handles_with_memory_at_random) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (int lane = WEFT_LANE_NORMAL; lane <= WEFT_LANE_BACKGROUND; lane++) {
      weft_pool *pool = pool_of(threads);
      weft_opts opts = opts_on(pool);
      opts.lane = (weft_lane)lane;
      refuse_memory(REFUSE_AT_RANDOM, 0);
      async_at_random(&opts);
      allow_memory();
      weft_pool_destroy(pool);
    }
  }
}

TEST(handles_without_memory_do_not_run) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  atomic_ulong ran = 0;
  weft_handle *handle = (weft_handle *)(uintptr_t)1;
  refuse_all_memory();
  CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), WEFT_ENOMEM);
  CHECK(handle == NULL);
  allow_memory();
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), 0);
}

TEST(detached_work_with_memory_at_random) {
  for (int lane = WEFT_LANE_NORMAL; lane <= WEFT_LANE_BACKGROUND; lane++) {
    weft_pool *pool = pool_of(2);
    weft_opts opts = opts_on(pool);
    atomic_ulong ran = 0;
    unsigned long accepted = 0;
    opts.lane = (weft_lane)lane;
    refuse_memory(REFUSE_AT_RANDOM, 0);
    for (unsigned long i = 0; i < scaled(50000); i++) {
      int status = weft_detach_with(&opts, count_one, &ran);
      CHECK(status == 0 || status == WEFT_ENOMEM);
      accepted += status == 0;
    }
    allow_memory();
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), accepted);
  }
}

/* ---- broadcasts ---- */

static void count_call(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  count_one(ctx);
}

/* "Allocates nothing." */
TEST(broadcasts_need_no_memory) {
  for (unsigned threads = 1; threads <= 8; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    atomic_ulong ran = 0;
    weft_broadcast_with(&opts, count_call,
                        &ran); /* the guest's place has its first ring */
    unsigned long each = wf_pool_started(pool) + 1;
    CHECK_EQ(atomic_load(&ran), each);
    refuse_all_memory();
    for (int i = 0; i < 100; i++) weft_broadcast_with(&opts, count_call, &ran);
    CHECK_EQ(allow_memory(), 0);
    CHECK_EQ(atomic_load(&ran), 101 * each);
    weft_pool_destroy(pool);
  }
}

/* ---- blocking sections ---- */

static void block_and_count(void *ctx) {
  weft_blocking_begin();
  weft_blocking_begin();
  spin(10);
  weft_blocking_end();
  weft_blocking_end();
  count_one(ctx);
}

/* Where no thread can be added a section simply blocks. */
TEST(blocking_sections_without_memory) {
  weft_pool *pool = pool_of(2);
  atomic_ulong ran = 0;
  for (unsigned long i = 0; i < scaled(1000); i++) {
    refuse_memory(i % 2 == 0 ? REFUSE_FROM : REFUSE_AT_RANDOM, 1);
    weft_pool_run(pool, block_and_count, &ran);
    allow_memory();
    run_on_started(pool, block_and_count, &ran);
  }
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), 2 * scaled(1000));
}
