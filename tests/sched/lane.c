/* Detached work with options, and the background lane: it comes after everything else, is
 * not forgotten, takes at most half of the threads, and is never on top of somebody who
 * waits.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "asleep.h"
#include "sched/search.h"

#include <pthread.h>

static weft_opts background_on(weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  opts.lane = WEFT_LANE_BACKGROUND;
  return opts;
}

/* ---- options ---- */

TEST(nonsense_in_options) {
  static const int nonsense[] = {2, 3, 77, -1, 1 << 20};
  atomic_ulong ran = 0;
  weft_pool *pool = pool_of(2);
  weft_handle *handle;
  for (unsigned i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
    weft_opts opts = opts_on(pool);
    opts.lane = (weft_lane)nonsense[i];
    CHECK_EQ(weft_detach_with(&opts, count_one, &ran), WEFT_EINVAL);
    CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), WEFT_EINVAL);
    CHECK(handle == NULL);
    opts = opts_on(pool);
    opts.order = (weft_order)nonsense[i];
    CHECK_EQ(weft_detach_with(&opts, count_one, &ran), WEFT_EINVAL);
    CHECK_EQ(weft_async_with(&opts, &handle, count_one, &ran), WEFT_EINVAL);
    CHECK(handle == NULL);
  }
  weft_opts opts = opts_on(pool);
  CHECK_EQ(weft_detach_with(&opts, NULL, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_detach(NULL, NULL), WEFT_EINVAL);
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&ran), 0);
  weft_shutdown();
}

typedef struct visitor {
  weft_pool *pool;
  atomic_ulong ran;
} visitor;

static void check_pool(void *ctx) {
  visitor *v = ctx;
  CHECK_EQ(weft_pool_current(), v->pool);
  CHECK(weft_worker_index() >= 1);
  atomic_fetch_add(&v->ran, 1);
}

static void detach_from_here(void *ctx) {
  visitor *v = ctx;
  weft_opts opts = opts_on(v->pool);
  CHECK_EQ(weft_detach_with(&opts, check_pool, v), 0);
  opts.lane = WEFT_LANE_BACKGROUND;
  CHECK_EQ(weft_detach_with(&opts, check_pool, v), 0);
  if (weft_pool_current() == v->pool) {
    CHECK_EQ(weft_detach(check_pool, v), 0);
    CHECK_EQ(weft_detach_with(NULL, check_pool, v), 0);
  }
}

TEST(the_pool_of_the_options) {
  weft_pool *other = pool_of(2);
  for (unsigned threads = 1; threads <= 3; threads++) {
    visitor v = {.pool = pool_of(threads)};
    detach_from_here(&v);
    weft_pool_run(v.pool, detach_from_here, &v);
    run_on_started(v.pool, detach_from_here, &v);
    weft_pool_run(other, detach_from_here, &v);
    run_on_started(other, detach_from_here, &v);
    weft_pool_destroy(v.pool);
    CHECK_EQ(atomic_load(&v.ran), 5 * 2 + 2 * 2);
  }
  weft_pool_destroy(other);
  weft_shutdown(); /* the outside call has asked for the current pool */
}

/* What lies behind a shorter structure must not be read. */
TEST(shorter_options) {
  atomic_ulong ran = 0;
  weft_opts opts;
  memset(&opts, 0xff, sizeof opts);
  opts.struct_size = offsetof(weft_opts, min_len);
  opts.pool = pool_of(2);
  CHECK_EQ(weft_detach_with(&opts, count_one, &ran), 0);
  weft_pool_destroy(opts.pool);
  CHECK_EQ(atomic_load(&ran), 1);
}

/* A size that ends within a member is no older header. */
TEST(options_that_end_within_a_member) {
  atomic_ulong ran = 0, accepted = 0;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool_of(1);
  for (size_t size = 0; size <= sizeof opts; size++) {
    opts.struct_size = size;
    bool fits = size >= offsetof(weft_opts, min_len) &&
                (size % 8 == 0 ||
                 (size % 8 >= 4 && (size - size % 8 == 32 || size - size % 8 == 48)) ||
                 size == offsetof(weft_opts, order));
    if (sizeof(void *) != 8) break;
    CHECK_MSG(weft_detach_with(&opts, count_one, &ran) == (fits ? 0 : WEFT_EINVAL),
              "%zu bytes", size);
    accepted += fits;
  }
  weft_pool_destroy(opts.pool);
  CHECK_EQ(atomic_load(&ran), atomic_load(&accepted));
}

/* ---- after everything else ---- */

enum { NORMAL = 100, BACKGROUND = 20 };

typedef struct sequence {
  atomic_uint next;
  unsigned normal[NORMAL], background[BACKGROUND]; /* when each came */
} sequence;

typedef struct turn {
  sequence *of;
  unsigned *when;
} turn;

static void take_turn(void *ctx) {
  const turn *self = ctx;
  *self->when = atomic_fetch_add(&self->of->next, 1);
}

/* The only started thread is busy while both kinds arrive, the background first. */
TEST(background_work_comes_last) {
  for (unsigned long round = 0; round < scaled(50); round++) {
    sequence order = {.next = 0};
    turn normal[NORMAL], background[BACKGROUND];
    gate plug = {0};
    weft_pool *pool = pool_of(2);
    weft_opts behind = background_on(pool), opts = opts_on(pool);
    plug_threads(&plug, pool);
    for (unsigned i = 0; i < BACKGROUND; i++) {
      background[i] = (turn){&order, &order.background[i]};
      CHECK_EQ(weft_detach_with(&behind, take_turn, &background[i]), 0);
    }
    for (unsigned i = 0; i < NORMAL; i++) {
      normal[i] = (turn){&order, &order.normal[i]};
      CHECK_EQ(weft_detach_with(&opts, take_turn, &normal[i]), 0);
    }
    unplug(&plug);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&order.next), NORMAL + BACKGROUND);
    /* So few searches have at most one among them that looks at the background first. */
    unsigned early = 0, last_normal = 0;
    for (unsigned i = 0; i < NORMAL; i++) {
      if (i > 0) CHECK(order.normal[i] > order.normal[i - 1]);
      if (order.normal[i] > last_normal) last_normal = order.normal[i];
    }
    for (unsigned i = 0; i < BACKGROUND; i++) early += order.background[i] < last_normal;
    CHECK_MSG(early <= 1, "%u of the background came before the rest", early);
  }
}

/* ---- but it comes ---- */

TEST(background_work_is_not_dropped) {
  for (unsigned threads = 1; threads <= 8; threads *= 2) {
    atomic_ulong ran = 0;
    unsigned long jobs = scaled(20000);
    weft_pool *pool = pool_of(threads);
    weft_opts behind = background_on(pool);
    for (unsigned long i = 0; i < jobs; i++)
      if (weft_detach_with(&behind, count_one, &ran) != 0) CHECK(false);
    if (threads > 2) AWAIT(atomic_load(&ran) == jobs);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&ran), jobs);
  }
}

/* A sleeping pool wakes up for it. */
TEST(background_work_wakes_the_pool) {
  for (unsigned threads = 1; threads <= 4; threads++) {
    atomic_ulong ran = 0;
    weft_pool *pool = sleepy_pool_of(threads);
    weft_opts behind = background_on(pool);
    for (unsigned long i = 1; i <= scaled(500); i++) {
      AWAIT(all_asleep(pool));
      CHECK_EQ(weft_detach_with(&behind, count_one, &ran), 0);
      AWAIT(atomic_load(&ran) == i);
    }
    weft_pool_destroy(pool);
  }
}

/* Normal work without end: every function detaches its successor before it returns, so
 * that there is always another one. It ends only when the background has had its turn. */
typedef struct stream {
  weft_opts opts;
  atomic_bool background_ran;
  atomic_ulong links;
} stream;

static void next_link(void *ctx) {
  stream *s = ctx;
  atomic_fetch_add(&s->links, 1);
  if (atomic_load(&s->background_ran)) return;
  CHECK_EQ(weft_detach_with(&s->opts, next_link, s), 0);
}

static void note_background(void *ctx) {
  atomic_store(&((stream *)ctx)->background_ran, true);
}

TEST(background_work_does_not_starve) {
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    for (unsigned long round = 0; round < scaled(20); round++) {
      weft_pool *pool = pool_of(threads);
      stream s = {.opts = opts_on(pool)};
      weft_opts behind = background_on(pool);
      /* Several streams for each thread. */
      for (unsigned i = 0; i < 4 * threads; i++)
        CHECK_EQ(weft_detach_with(&s.opts, next_link, &s), 0);
      CHECK_EQ(weft_detach_with(&behind, note_background, &s), 0);
      AWAIT(atomic_load(&s.background_ran));
      weft_pool_destroy(pool);
    }
  }
}

/* A long function lets others through by weft_yield. */
typedef struct long_work {
  atomic_bool begun;
  atomic_ulong others;
} long_work;

static void yield_until_others_ran(void *ctx) {
  long_work *w = ctx;
  atomic_store(&w->begun, true);
  while (atomic_load(&w->others) < 10) weft_yield();
}

TEST(long_background_work_yields) {
  for (unsigned threads = 1; threads <= 2; threads++) { /* one is started */
    weft_pool *pool = pool_of(threads);
    weft_opts behind = background_on(pool), opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(300); i++) {
      long_work w = {.begun = false};
      weft_handle *handle;
      CHECK_EQ(weft_async_with(&behind, &handle, yield_until_others_ran, &w), 0);
      AWAIT(atomic_load(&w.begun));
      for (int k = 0; k < 10; k++)
        CHECK_EQ(weft_detach_with(&opts, count_one, &w.others), 0);
      CHECK_EQ(weft_handle_wait(handle), 0);
      CHECK_EQ(atomic_load(&w.others), 10);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- at most half of the threads ---- */

static unsigned most_in_background(const weft_pool *pool) {
  unsigned half = wf_pool_started(pool) / 2;
  return half > 1 ? half : 1;
}

static const unsigned SIZES[] = {1, 2, 3, 4, 5, 8, 9};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* As many as may stand in a gate at once; then no further one begins, and the rest of the
 * pool goes on with other work. */
TEST(half_of_the_threads_at_most) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    weft_opts behind = background_on(pool), opts = opts_on(pool);
    unsigned most = most_in_background(pool);
    for (unsigned long round = 0; round < scaled(50); round++) {
      gate hold = {0};
      atomic_ulong ran = 0;
      for (unsigned k = 0; k < most + 5; k++)
        CHECK_EQ(weft_detach_with(&behind, gate_pass, &hold), 0);
      AWAIT(atomic_load(&hold.inside) >= most);
      if (wf_pool_started(pool) > most) {
        for (int k = 0; k < 100; k++)
          CHECK_EQ(weft_detach_with(&opts, count_one, &ran), 0);
        AWAIT(atomic_load(&ran) == 100);
      }
      give_others_time();
      CHECK_EQ(atomic_load(&hold.inside), most);
      gate_open(&hold);
      AWAIT(atomic_load(&hold.left) == most + 5);
    }
    weft_pool_destroy(pool);
  }
}

typedef struct rush {
  weft_opts behind;
  crowd in_background;
  atomic_ulong ran;
} rush;

static void count_crowd(void *ctx) {
  rush *r = ctx;
  crowd_enter(&r->in_background);
  if (atomic_fetch_add(&r->ran, 1) % 8 == 0) check_tree(4);
  sched_yield();
  crowd_leave(&r->in_background);
}

/* A flood, between trees of joins from outside. */
TEST(half_of_the_threads_under_a_flood) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    rush r = {.behind = background_on(pool)};
    unsigned long jobs = scaled(5000);
    for (unsigned long k = 0; k < jobs; k++) {
      CHECK_EQ(weft_detach_with(&r.behind, count_crowd, &r), 0);
      if (k % 16 == 0) check_tree_in(pool, 6);
    }
    unsigned most = most_in_background(pool);
    weft_pool_destroy(pool);
    CHECK_EQ(atomic_load(&r.ran), jobs);
    CHECK_MSG(atomic_load(&r.in_background.most) <= most, "%lu at once of %u threads",
              atomic_load(&r.in_background.most), SIZES[i] - 1);
  }
}

/* ---- never on top of code that waits ---- */

/* How many joins and scopes this thread stands in. */
static _Thread_local unsigned waiting;

static void check_nobody_waits(void *ctx) {
  CHECK_EQ(waiting, 0);
  count_one(ctx);
}

static void wait_in_everything(void *ctx) {
  const unsigned depth = *(const unsigned *)ctx;
  if (depth == 0) {
    spin(20);
    return;
  }
  unsigned below = depth - 1;
  waiting++;
  weft_join(wait_in_everything, &below, wait_in_everything, &below);
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, wait_in_everything, &below);
  weft_spawn(&scope, wait_in_everything, &below);
  CHECK_EQ(weft_scope_end(&scope), 0);
  waiting--;
}

typedef struct flood {
  weft_pool *pool;
  atomic_ulong ran;
} flood;

static void flood_and_wait(unsigned index, void *arg) {
  flood *f = arg;
  weft_opts behind = background_on(f->pool);
  for (unsigned long i = 0; i < scaled(200); i++) {
    unsigned depth = (index + (unsigned)i) % 4;
    for (int k = 0; k < 20; k++)
      CHECK_EQ(weft_detach_with(&behind, check_nobody_waits, &f->ran), 0);
    weft_pool_run(f->pool, wait_in_everything, &depth);
  }
}

/* Workers that find the lane full leave the count alone, or the one that makes room might
 * see it full and tell nobody. */
typedef struct full_lane {
  weft_pool *pool;
  atomic_bool over;
} full_lane;

static void look_into_full_lane(unsigned index, void *arg) {
  full_lane *lane = arg;
  const weft_pool *pool = lane->pool;
  if (index == 0) {
    for (unsigned long i = 0; i < scaled(1000000); i++)
      if (!CHECK_EQ(wf_u32_load_relaxed(&pool->x_background_count),
                    pool->background_limit))
        break;
    atomic_store(&lane->over, true);
    return;
  }
  wf_work work;
  while (!atomic_load(&lane->over))
    CHECK(!wf_search_anything(&pool->workers[index], &work));
}

TEST(a_full_lane_is_never_more_than_full) {
  wf_options options;
  weft_config config = WEFT_CONFIG_INIT;
  full_lane lane = {.over = false};
  config.threads = 4;
  REQUIRE(wf_options_resolve(&options, &config, (wf_environment){0}) == 0);
  REQUIRE(wf_pool_allocate(&lane.pool, &options) == 0);
  REQUIRE(wf_injector_push(&lane.pool->background, do_nothing, NULL, NULL) == 0);
  wf_u32_store_relaxed(&lane.pool->x_background_count, lane.pool->background_limit);
  harness_run_threads(4, look_into_full_lane, &lane);
  wf_pool_free(lane.pool);
}

TEST(waiting_threads_take_no_background_work) {
  for (unsigned threads = 2; threads <= 8; threads *= 2) {
    flood f = {.pool = pool_of(threads)};
    harness_run_threads(4, flood_and_wait, &f);
    weft_pool_destroy(f.pool);
    CHECK_EQ(atomic_load(&f.ran), 4 * 20 * scaled(200));
  }
}

/* There is nothing else to do, for quite some time: this thread waits for a task that
 * stands in a gate on the only started thread. */
typedef struct sleeper {
  gate hold;
  pid_t thread;
} sleeper;

static void *open_later(void *arg) {
  sleeper *s = arg;
  let_it_sleep(s->thread);
  gate_open(&s->hold);
  return NULL;
}

static void check_other_thread(void *ctx) {
  CHECK(!pthread_equal(pthread_self(), *(const pthread_t *)ctx));
}

TEST(a_waiting_thread_rather_sleeps) {
  pthread_t self = pthread_self();
  for (unsigned long i = 0; i < scaled(200); i++) {
    sleeper s = {.thread = own_thread_id()};
    pthread_t opener;
    weft_scope scope;
    weft_pool *pool = pool_of(2);
    weft_opts opts = opts_on(pool), behind = background_on(pool);
    weft_scope_begin_with(&opts, &scope);
    weft_spawn(&scope, gate_pass, &s.hold);
    AWAIT(atomic_load(&s.hold.inside) == 1);
    for (int k = 0; k < 20; k++)
      CHECK_EQ(weft_detach_with(&behind, check_other_thread, &self), 0);
    REQUIRE(pthread_create(&opener, NULL, open_later, &s) == 0);
    CHECK_EQ(weft_scope_end(&scope), 0);
    pthread_join(opener, NULL);
    weft_pool_destroy(pool);
  }
}
