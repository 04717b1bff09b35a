/* link: -Wl,--wrap=pthread_create,--wrap=__imp_CreateThread */
/* Scopes, handles and broadcasts in pools that could start only some of their threads, or
 * none: then the callers do everything.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "asleep.h"
#include "harness/thread_limit.h"

static weft_pool *pool_with_refusal(unsigned threads, unsigned guests, long granted) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.guests = guests;
  config.idle = WEFT_IDLE_POWER_SAVING; /* so that waiting threads sleep soon */
  atomic_store(&allowed, granted);
  weft_pool *pool = pool_with(&config);
  atomic_store(&allowed, -1);
  return pool;
}

/* ---- scopes ---- */

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

static void use_scopes(weft_pool *pool, unsigned salt) {
  unsigned char marks[50] = {0};
  atomic_ulong ran = 0, skipped = 0;
  weft_opts opts = opts_on(pool);
  weft_scope scope, inner;
  opts.order = salt % 2 == 0 ? WEFT_ORDER_LIFO : WEFT_ORDER_FIFO;
  weft_scope_begin_with(&opts, &scope);
  CHECK_EQ(weft_pool_current(), pool);
  for (unsigned i = 0; i < sizeof marks; i++) weft_spawn(&scope, mark, &marks[i]);
  check_tree(4);
  weft_scope_begin(&inner);
  branch root = {&inner, 4, &ran};
  weft_spawn_copy(&inner, &root, sizeof root, branch_out);
  CHECK_EQ(weft_scope_end(&inner), 0);
  CHECK_EQ(atomic_load(&ran), 31);
  weft_scope_begin(&inner);
  weft_scope_cancel(&inner, 8);
  weft_spawn(&inner, count_one, &skipped);
  CHECK_EQ(weft_scope_end(&inner), 8);
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_marks(marks, sizeof marks, 1);
  CHECK_EQ(atomic_load(&skipped), 0);
}

static void scopes_from_outside(unsigned index, void *arg) {
  for (unsigned long i = 0; i < scaled(300); i++) use_scopes(arg, index + (unsigned)i);
}

TEST(scopes_with_the_threads_that_there_are) {
  enum { THREADS = 4 };
  for (unsigned granted = 0; granted < THREADS; granted++) {
    weft_pool *pool = pool_with_refusal(THREADS, 64, granted);
    CHECK_EQ(wf_pool_started(pool), granted);
    harness_run_threads(4, scopes_from_outside, pool);
    weft_pool_destroy(pool);
  }
}

TEST(scopes_without_threads) {
  for (unsigned threads = 1; threads <= 4; threads += 3) {
    for (unsigned guests = 1; guests <= 64; guests += 63) {
      weft_pool *pool = pool_with_refusal(threads, guests, 0);
      CHECK_EQ(wf_pool_started(pool), 0);
      harness_run_threads(1, scopes_from_outside, pool);
      harness_run_threads(6, scopes_from_outside, pool); /* more than places */
      weft_pool_destroy(pool);
    }
  }
}

/* What others spawn has nobody but the scope's own thread to run it. */
typedef struct shared_scope {
  weft_scope scope;
  weft_pool *pool;
  spot *spots;
  unsigned long each;
  atomic_uint finished;
  pid_t owner; /* the scope's thread */
} shared_scope;

static void spawn_share(unsigned index, void *arg) {
  shared_scope *s = arg;
  for (unsigned long i = 0; i < s->each; i++)
    weft_spawn(&s->scope, run_spot, &s->spots[index * s->each + i]);
}

static void spawn_share_as_task(void *ctx) {
  shared_scope *s = ctx;
  spawn_share(0, s);
  atomic_store(&s->finished, 1);
}

TEST(spawns_from_everywhere_without_threads) {
  enum { SPAWNERS = 4 };
  weft_pool *other = pool_of(2);
  for (unsigned threads = 1; threads <= 3; threads++) {
    for (unsigned guests = 1; guests <= 64; guests += 63) {
      shared_scope s = {.pool = pool_with_refusal(threads, guests, 0),
                        .each = scaled(2000)};
      weft_opts opts = opts_on(s.pool);
      s.spots = spots_of(SPAWNERS * s.each, s.pool);
      weft_scope_begin_with(&opts, &s.scope);
      harness_run_threads(SPAWNERS, spawn_share, &s);
      CHECK_EQ(weft_scope_end(&s.scope), 0);
      check_spots(s.spots, SPAWNERS * s.each);
      free(s.spots);

      s.spots = spots_of(s.each, s.pool);
      weft_scope_begin_with(&opts, &s.scope);
      CHECK_EQ(weft_pool_detach(other, spawn_share_as_task, &s), 0);
      AWAIT(atomic_load(&s.finished) == 1);
      CHECK_EQ(weft_scope_end(&s.scope), 0);
      check_spots(s.spots, s.each);
      free(s.spots);
      weft_pool_destroy(s.pool);
    }
  }
  weft_pool_destroy(other);
}

/* The scope's thread waits in weft_scope_end, perhaps asleep, when the tasks come:
 * another guest has taken the task that holds the scope open, and leaves the rest to it.
 */
static void say_and_stay(void *ctx) {
  shared_scope *s = ctx;
  atomic_store(&s->finished, 1);
  AWAIT(atomic_load(&s->finished) == 2);
}

static void take_the_task(void *ctx) {
  shared_scope *s = ctx;
  while (atomic_load(&s->finished) == 0) weft_yield();
}

static void play_roles(unsigned index, void *arg) {
  shared_scope *s = arg;
  weft_opts opts = opts_on(s->pool);
  if (index == 0) {
    s->owner = own_thread_id();
    weft_scope_begin_with(&opts, &s->scope);
    weft_spawn(&s->scope, say_and_stay, s);
    AWAIT(atomic_load(&s->finished) != 0);
    CHECK_EQ(weft_scope_end(&s->scope), 0);
    check_spots(s->spots, s->each);
  } else if (index == 1) {
    weft_pool_run(s->pool, take_the_task, s);
  } else {
    AWAIT(atomic_load(&s->finished) != 0);
    let_it_sleep(s->owner);
    spawn_share(0, s);
    atomic_store(&s->finished, 2);
  }
}

TEST(spawns_while_a_scope_without_threads_ends) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    shared_scope s = {.pool = pool_with_refusal(2, 64, 0), .each = 50};
    s.spots = spots_of(s.each, s.pool);
    harness_run_threads(3, play_roles, &s);
    free(s.spots);
    weft_pool_destroy(s.pool);
  }
}

/* ---- handles ---- */

static void handles_from_outside(unsigned index, void *arg) {
  weft_opts opts = opts_on(arg);
  atomic_ulong ran = 0;
  unsigned long rounds = scaled(1000);
  (void)index;
  for (unsigned long i = 0; i < rounds; i++) {
    weft_handle *handle = NULL;
    opts.lane = i % 3 == 0 ? WEFT_LANE_BACKGROUND : WEFT_LANE_NORMAL;
    CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK_EQ(atomic_load(&ran), 2 * i + 1);
    CHECK_EQ(weft_detach_with(&opts, count_one, &ran), 0);
    CHECK_EQ(atomic_load(&ran), 2 * i + 2); /* there was nobody else to run it */
  }
}

TEST(handles_without_threads) {
  for (unsigned guests = 1; guests <= 64; guests += 63) {
    weft_pool *pool = pool_with_refusal(3, guests, 0);
    harness_run_threads(1, handles_from_outside, pool);
    harness_run_threads(4, handles_from_outside, pool);
    weft_pool_destroy(pool);
  }
}

/* ---- broadcasts ---- */

typedef struct calls {
  unsigned expected;
  atomic_uint seen[8];
} calls;

static void note_call(unsigned index, unsigned count, void *ctx) {
  calls *c = ctx;
  CHECK_EQ(count, c->expected);
  REQUIRE(index < 8);
  atomic_fetch_add(&c->seen[index], 1);
}

TEST(broadcasts_to_the_threads_that_there_are) {
  enum { THREADS = 6 };
  for (unsigned granted = 0; granted < THREADS; granted++) {
    weft_pool *pool = pool_with_refusal(THREADS, 64, granted);
    weft_opts opts = opts_on(pool);
    for (unsigned long round = 0; round < scaled(200); round++) {
      calls c = {.expected = granted + 1};
      weft_broadcast_with(&opts, note_call, &c);
      for (unsigned i = 0; i < 8; i++)
        CHECK_EQ(atomic_load(&c.seen[i]), i <= granted ? 1 : 0);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- blocking sections that get no thread ---- */

static void block_and_count(void *ctx) {
  weft_blocking_begin();
  spin(10);
  weft_blocking_end();
  count_one(ctx);
}

TEST(blocking_sections_without_more_threads) {
  unsigned baseline = harness_thread_count();
  for (unsigned granted = 0; granted <= 2; granted++) {
    weft_pool *pool = pool_with_refusal(3, 64, granted);
    atomic_ulong ran = 0;
    atomic_store(&allowed, 0);
    for (unsigned long i = 0; i < scaled(500); i++) {
      weft_pool_run(pool, block_and_count, &ran);
      run_on_started(pool, block_and_count, &ran);
    }
    CHECK_EQ(harness_thread_count(), baseline + granted);
    atomic_store(&allowed, -1);
    weft_pool_run(pool, block_and_count, &ran);
    CHECK_EQ(atomic_load(&ran), 2 * scaled(500) + 1);
    weft_pool_destroy(pool);
    CHECK_EQ(harness_thread_count(), baseline);
  }
}

/* ---- the rest ---- */

TEST(the_global_pool_without_threads) {
  atomic_ulong ran = 0;
  weft_scope scope;
  weft_handle *handle;
  atomic_store(&allowed, 0);
  weft_scope_begin(&scope);
  for (int i = 0; i < 100; i++) weft_spawn(&scope, count_one, &ran);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), 100);
  CHECK_EQ(weft_async(&handle, count_one, &ran), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK_EQ(atomic_load(&ran), 101);
  weft_isolate(count_one, &ran);
  CHECK_EQ(atomic_load(&ran), 102);
  CHECK(!weft_yield());
  calls c = {.expected = 1};
  weft_broadcast(note_call, &c);
  CHECK_EQ(atomic_load(&c.seen[0]), 1);
  weft_shutdown();
  atomic_store(&allowed, -1);
}
