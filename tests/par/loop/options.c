/* Options of loops: each block length and each thread is as weft/opts.h says.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/blocks.h"

/* ---- a serial model of WEFT_SPLIT_FIXED, _HOME and _RECURSIVE ---- */

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t divided_up(size_t n, size_t by) {
  return n / by + (n % by != 0);
}

static size_t chunks_of(const weft_opts *o, unsigned threads) {
  if (o->max_workers != 0 && o->max_workers < threads) threads = o->max_workers;
  return o->target_chunks != 0 ? o->target_chunks : 2 * (size_t)threads;
}

static bool is_too_long(const weft_opts *o, size_t length) {
  return o->max_len != 0 && length > o->max_len;
}

static void model_fixed(const weft_opts *o, size_t n, size_t chunks, record *out) {
  size_t length = larger(larger(divided_up(n, chunks), o->min_len), 1);
  if (is_too_long(o, length)) length = o->max_len;
  for (size_t i = 0; i < n; i += length)
    record_block(i, n - i < length ? n : i + length, out);
}

static void model_halves(const weft_opts *o, size_t begin, size_t end, size_t least,
                         record *out) {
  size_t half = (end - begin) / 2;
  if (half < least && !is_too_long(o, end - begin)) {
    record_block(begin, end, out);
    return;
  }
  model_halves(o, begin, begin + half, least, out);
  model_halves(o, begin + half, end, least, out);
}

static void model(const weft_opts *o, size_t n, unsigned threads, record *out) {
  size_t chunks = chunks_of(o, threads);
  if (n == 0) return;
  if (o->split == WEFT_SPLIT_FIXED || o->split == WEFT_SPLIT_HOME)
    model_fixed(o, n, chunks, out);
  else
    model_halves(o, 0, n, larger(larger(n / chunks, o->min_len), 1), out);
}

/* ---- block lengths ---- */

typedef struct lengths_case {
  weft_opts opts;
  size_t n;
  record blocks, expected;
} lengths_case;

static void describe(const lengths_case *c) {
  const weft_opts *o = &c->opts;
  CHECK_MSG(false, "n %zu, split %d, min_len %zu, max_len %zu, target %zu, workers %u",
            c->n, (int)o->split, o->min_len, o->max_len, o->target_chunks,
            o->max_workers);
}

static bool equals_model(lengths_case *c) {
  record_clear(&c->expected);
  model(&c->opts, c->n, weft_thread_count(), &c->expected);
  size_t count = atomic_load(&c->blocks.count);
  if (!CHECK_EQ(count, atomic_load(&c->expected.count))) return false;
  for (size_t i = 0; i < count; i++)
    if (!CHECK_EQ(c->blocks.blocks[i].end, c->expected.blocks[i].end)) return false;
  return true;
}

/* WEFT_SPLIT_ADAPTIVE: what depends on no clock. */
static bool keeps_limits(const lengths_case *c) {
  const weft_opts *o = &c->opts;
  size_t count = atomic_load(&c->blocks.count);
  size_t least = larger(o->min_len, 1);
  if (o->target_chunks != 0) least = larger(least, divided_up(c->n, o->target_chunks));
  bool conflict = is_too_long(o, least);
  if (conflict) least = o->max_len;
  /* If all lengths from least to 2 * least - 1 are allowed, any rest can be one. */
  bool last_may_be_short = c->n < least || is_too_long(o, 2 * least - 1);
  for (size_t i = 0; i < count; i++) {
    size_t length = c->blocks.blocks[i].end - c->blocks.blocks[i].begin;
    bool may_be_short = last_may_be_short && i + 1 == count;
    if (!CHECK_MSG(!is_too_long(o, length) && (length >= least || may_be_short),
                   "block %zu of %zu: %zu elements, not %zu", i, count, length, least))
      return false;
  }
  return o->target_chunks == 0 || conflict || CHECK(count <= o->target_chunks);
}

static void check_lengths(lengths_case *c) {
  record_clear(&c->blocks);
  weft_for_with(&c->opts, c->n, record_block, &c->blocks);
  bool right = record_tiles(&c->blocks, c->n);
  right =
      right && (c->opts.split == WEFT_SPLIT_ADAPTIVE ? keeps_limits(c) : equals_model(c));
  if (!right) describe(c);
}

static const size_t RANGES[] = {0, 1, 3, 7, 10, 100, 1050, 4097};
static const size_t LIMITS[] = {0, 1, 3, 4, 5, 64, 90, 1024, SIZE_MAX};
static const size_t TARGETS[] = {0, 1, 3, 7, 64, SIZE_MAX};
enum {
  RANGES_COUNT = sizeof RANGES / sizeof RANGES[0],
  LIMITS_COUNT = sizeof LIMITS / sizeof LIMITS[0],
  TARGETS_COUNT = sizeof TARGETS / sizeof TARGETS[0],
  LARGEST_RANGE = 4097
};

static void check_all_limits(lengths_case *c) {
  for (unsigned r = 0; r < RANGES_COUNT; r++)
    for (unsigned least = 0; least < LIMITS_COUNT; least++)
      for (unsigned most = 0; most < LIMITS_COUNT; most++)
        for (unsigned t = 0; t < TARGETS_COUNT; t++) {
          c->n = RANGES[r];
          c->opts.min_len = LIMITS[least];
          c->opts.max_len = LIMITS[most];
          c->opts.target_chunks = TARGETS[t];
          if (r % harness_slowdown() == t % harness_slowdown()) check_lengths(c);
        }
}

static void check_splits(void *ctx) {
  lengths_case c = {.opts = WEFT_OPTS_INIT,
                    .blocks = record_for(LARGEST_RANGE),
                    .expected = record_for(LARGEST_RANGE)};
  c.opts.max_workers = *(const unsigned *)ctx;
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_HOME; split++) {
    c.opts.split = (weft_split)split;
    check_all_limits(&c);
  }
  record_free(&c.blocks);
  record_free(&c.expected);
}

TEST_LIMIT(lengths_are_as_promised, 120) {
  unsigned all = 0;
  in_each_pool(check_splits, &all);
}

TEST_LIMIT(lengths_are_as_promised_with_few_workers, 120) {
  unsigned few = 3;
  in_each_pool(check_splits, &few);
}

/* On one thread only max_len cuts. */
static void check_uncut(void *ctx) {
  record r = record_for(100);
  (void)ctx;
  weft_for(1000003, record_block, &r);
  CHECK_EQ(atomic_load(&r.count), 1);
  record_free(&r);
}

TEST(one_thread_runs_one_block) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, check_uncut, NULL);
  weft_pool_destroy(pool);
}

/* A slow body: adaptive blocks stay short, others are as long as ever. */
typedef struct slow_record {
  record r;
  unsigned spins;
} slow_record;

static void record_slowly(size_t begin, size_t end, void *ctx) {
  slow_record *s = ctx;
  for (size_t i = begin; i < end; i++) spin(s->spins);
  record_block(begin, end, &s->r);
}

static void check_presets(void *ctx) {
  static const unsigned SPINS[] = {0, 10, 1000};
  (void)ctx;
  for (unsigned i = 0; i < 3; i++) {
    slow_record s = {record_for(1000), SPINS[i] / harness_slowdown()};
    weft_opts fixed = WEFT_OPTS_FIXED(300), recursive = WEFT_OPTS_RECURSIVE(300);
    weft_opts adaptive = WEFT_OPTS_ADAPTIVE(300);
    fixed.target_chunks = recursive.target_chunks = 1000;
    weft_for_with(&fixed, 1000, record_slowly, &s);
    CHECK(record_tiles(&s.r, 1000));
    CHECK_EQ(atomic_load(&s.r.count), 4);
    for (size_t b = 0; b < 4; b++) CHECK_EQ(s.r.blocks[b].begin, 300 * b);
    record_clear(&s.r);
    weft_for_with(&recursive, 1000, record_slowly, &s);
    CHECK(record_tiles(&s.r, 1000));
    CHECK_EQ(atomic_load(&s.r.count), 2);
    CHECK_EQ(s.r.blocks[1].begin, 500);
    record_clear(&s.r);
    weft_for_with(&adaptive, 1000, record_slowly, &s);
    CHECK(record_tiles(&s.r, 1000));
    for (size_t b = 0; b < atomic_load(&s.r.count); b++)
      CHECK(s.r.blocks[b].end - s.r.blocks[b].begin >= 300);
    record_free(&s.r);
  }
}

TEST(presets) {
  in_each_pool(check_presets, NULL);
}

/* ---- threads ---- */

enum { PLACES = 4096 };

/* Which threads take part, and how many are inside at once. */
typedef struct crew_watch {
  unsigned wanted; /* the first threads wait until this many are inside */
  atomic_uint inside;
  atomic_bool complete;
  atomic_bool seen[PLACES];
  atomic_uint distinct;
} crew_watch;

static void watch_crew(size_t begin, size_t end, void *ctx) {
  crew_watch *w = ctx;
  int index = weft_worker_index();
  (void)begin, (void)end;
  REQUIRE(index >= 0 && index < PLACES);
  if (!atomic_exchange(&w->seen[index], true)) atomic_fetch_add(&w->distinct, 1);
  if (atomic_fetch_add(&w->inside, 1) + 1 == w->wanted) atomic_store(&w->complete, true);
  AWAIT(atomic_load(&w->complete));
  atomic_fetch_sub(&w->inside, 1);
}

typedef struct crew_case {
  weft_opts opts;
  size_t n;
  unsigned wanted;
} crew_case;

static void check_crew(void *ctx) {
  const crew_case *c = ctx;
  crew_watch *w = calloc(1, sizeof *w);
  REQUIRE(w != NULL);
  w->wanted = c->wanted;
  weft_for_with(&c->opts, c->n, watch_crew, w);
  unsigned distinct = atomic_load(&w->distinct);
  CHECK_MSG(distinct >= c->wanted, "%u threads", distinct);
  if (c->opts.max_workers != 0)
    CHECK_MSG(distinct <= c->opts.max_workers, "%u threads", distinct);
  free(w);
}

/* As many as allowed come, and never one more. */
TEST(as_many_workers_as_allowed) {
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_HOME; split++) {
    weft_pool *pool = pool_of(8);
    for (unsigned workers = 1; workers <= 8; workers++) {
      crew_case c = {WEFT_OPTS_INIT, 1000, workers};
      c.opts.split = (weft_split)split;
      c.opts.max_workers = workers;
      c.opts.max_len = 10;
      for (unsigned long i = 0; i < scaled(20); i++) weft_pool_run(pool, check_crew, &c);
      c.wanted = workers < 7 ? workers : 7; /* no guest is there */
      for (unsigned long i = 0; i < scaled(20); i++) run_on_started(pool, check_crew, &c);
    }
    weft_pool_destroy(pool);
  }
}

/* More than the pool has. */
TEST(more_workers_allowed_than_there_are) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    crew_case c = {WEFT_OPTS_INIT, 1000, threads};
    c.opts.max_workers = UINT32_MAX;
    for (unsigned long i = 0; i < scaled(20); i++) weft_pool_run(pool, check_crew, &c);
    weft_pool_destroy(pool);
  }
}

static void record_workers(size_t begin, size_t end, void *ctx) {
  crew_watch *w = ctx;
  (void)begin, (void)end;
  int index = weft_worker_index();
  REQUIRE(index >= 0 && index < PLACES);
  if (!atomic_exchange(&w->seen[index], true)) atomic_fetch_add(&w->distinct, 1);
  spin(20);
}

/* Nobody waits for anybody; other loops of the same pool come in between. */
static void limited_loops(unsigned salt, weft_pool *pool) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    crew_watch *w = calloc(1, sizeof *w);
    weft_opts opts = opts_on(pool);
    REQUIRE(w != NULL);
    opts.max_workers = 1 + (unsigned)((salt + i) % 5);
    opts.split = (weft_split)(i % 4);
    weft_for_with(&opts, 500, record_workers, w);
    CHECK_MSG(atomic_load(&w->distinct) <= opts.max_workers, "%u of %u",
              atomic_load(&w->distinct), opts.max_workers);
    free(w);
  }
}

static void limited_loops_of_thread(unsigned index, void *arg) {
  limited_loops(index, arg);
}

TEST(never_more_workers_than_allowed) {
  for (unsigned i = 1; i < THREADS_COUNT; i++) {
    for (unsigned guests = 2; guests <= 8; guests += 6) {
      weft_config config = WEFT_CONFIG_INIT;
      config.threads = THREADS[i];
      config.guests = guests;
      weft_pool *pool = pool_with(&config);
      harness_run_threads(4, limited_loops_of_thread, pool);
      weft_pool_destroy(pool);
    }
  }
}

/* A loop inside a limited loop is not limited, and does not count for the outer one. */
typedef struct inner_watch {
  crew_watch outer, inner;
} inner_watch;

static void loop_inside(size_t begin, size_t end, void *ctx) {
  inner_watch *w = ctx;
  record_workers(begin, end, &w->outer);
  weft_for(20, record_workers, &w->inner);
  record_workers(begin, end, &w->outer);
}

static void check_inner(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(30); i++) {
    inner_watch *w = calloc(1, sizeof *w);
    weft_opts opts = WEFT_OPTS_INIT;
    REQUIRE(w != NULL);
    opts.max_workers = 2;
    weft_for_with(&opts, 40, loop_inside, w);
    CHECK_MSG(atomic_load(&w->outer.distinct) <= 2, "%u threads",
              atomic_load(&w->outer.distinct));
    free(w);
  }
}

TEST(loops_inside_limited_loops) {
  in_each_pool(check_inner, NULL);
}

/* ---- all threads, at once ---- */

/* "A loop started where all workers sleep wakes as many as it can use at once": no body
 * ends before all of them are inside. */
TEST(a_loop_wakes_all_sleepers) {
  for (int split = WEFT_SPLIT_ADAPTIVE; split <= WEFT_SPLIT_HOME; split++) {
    for (unsigned i = 1; i < THREADS_COUNT; i++) {
      weft_pool *pool = sleepy_pool_of(THREADS[i]);
      for (unsigned long round = 0; round < scaled(50); round++) {
        crew_case c = {WEFT_OPTS_INIT, THREADS[i], THREADS[i]};
        c.opts.split = (weft_split)split;
        c.opts.max_len = split == WEFT_SPLIT_ADAPTIVE ? 0 : 1;
        AWAIT(all_asleep(pool));
        weft_pool_run(pool, check_crew, &c);
        AWAIT(all_asleep(pool));
        c.opts.pool = pool;
        check_crew(&c);
        c.n = c.wanted = THREADS[i] - 1;
        AWAIT(all_asleep(pool));
        if (c.n > 0) run_on_started(pool, check_crew, &c);
        c.n = c.wanted = THREADS[i];
        c.opts.max_workers = THREADS[i];
        AWAIT(all_asleep(pool));
        check_crew(&c);
      }
      weft_pool_destroy(pool);
    }
  }
}

/* The same in a pool whose threads are at other work when the loop starts. */
static void open_late(void *ctx) {
  give_others_time();
  gate_open(ctx);
}

TEST(a_loop_gets_threads_that_come_later) {
  for (unsigned long round = 0; round < scaled(100); round++) {
    weft_pool *pool = pool_of(4), *other = pool_of(2);
    gate plug = {0};
    crew_case c = {WEFT_OPTS_INIT, 100, 4};
    c.opts.max_len = 1;
    plug_threads(&plug, pool);
    REQUIRE(weft_pool_detach(other, open_late, &plug) == 0);
    weft_pool_run(pool, check_crew, &c);
    unplug(&plug);
    weft_pool_destroy(other);
    weft_pool_destroy(pool);
  }
}

/* ---- pool ---- */

static void check_place(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end;
  CHECK_EQ(weft_pool_current(), ctx);
  CHECK(weft_worker_index() >= 0);
}

static void loop_there(void *ctx) {
  weft_opts opts = opts_on(ctx);
  weft_pool *here = weft_pool_current();
  weft_for_with(&opts, 300, check_place, ctx);
  CHECK_EQ(weft_pool_current(), here);
  weft_for(300, check_place, here);
}

TEST(loops_run_in_the_pool_of_the_options) {
  weft_pool *a = pool_of(3), *b = pool_of(2);
  loop_there(a);
  weft_pool_run(a, loop_there, a);
  weft_pool_run(a, loop_there, b);
  run_on_started(a, loop_there, b);
  run_on_started(b, loop_there, a);
  weft_for(10, check_place, weft_pool_current());
  weft_pool_destroy(a);
  weft_pool_destroy(b);
  weft_shutdown();
}

/* ---- struct_size ---- */

/* Options as a program has them that was built with an older header: what it does not
 * know, which is nonsense here, is not looked at. */
TEST(options_of_an_older_header) {
  record r = record_for(1000);
  weft_opts opts = WEFT_OPTS_INIT;
  memset(&opts, 0xEE, sizeof opts);
  opts.pool = NULL;
  opts.struct_size = offsetof(weft_opts, min_len);
  weft_for_with(&opts, 1000, record_block, &r);
  CHECK(record_tiles(&r, 1000));
  opts.min_len = 0;
  opts.max_len = 10;
  opts.struct_size = offsetof(weft_opts, split);
  record_clear(&r);
  weft_for_with(&opts, 1000, record_block, &r);
  CHECK(record_tiles(&r, 1000));
  for (size_t i = 0; i < atomic_load(&r.count); i++)
    CHECK(r.blocks[i].end - r.blocks[i].begin <= 10);
  opts.split = WEFT_SPLIT_FIXED;
  opts.target_chunks = 500;
  opts.max_workers = 1;
  opts.struct_size = offsetof(weft_opts, cancel);
  record_clear(&r);
  weft_for_with(&opts, 1000, record_block, &r);
  CHECK(record_tiles(&r, 1000));
  CHECK_EQ(atomic_load(&r.count), 500);
  record_free(&r);
  weft_shutdown();
}

/* And of a newer one. */
TEST(options_of_a_newer_header) {
  struct {
    weft_opts known;
    char more[64];
  } newer = {WEFT_OPTS_INIT, {1}};
  record r = record_for(1000);
  newer.known.struct_size = sizeof newer;
  newer.known.max_len = 1;
  weft_for_with(&newer.known, 1000, record_block, &r);
  CHECK(record_tiles(&r, 1000));
  CHECK_EQ(atomic_load(&r.count), 1000);
  record_free(&r);
  weft_shutdown();
}

/* ---- nothing ---- */

/* Nothing to do is no nonsense. */
TEST(nothing_to_do) {
  weft_for(0, NULL, NULL);
  CHECK_EQ(weft_try_for(0, NULL, NULL), 0);
  weft_for_each(NULL, 0, 8, NULL, NULL);
  weft_chunks(NULL, 0, 8, 10, NULL, NULL);
  weft_for_step(5, 5, 1, NULL, NULL);
  weft_for_step(5, 4, 1, NULL, NULL);
  weft_for_2d(0, 5, 0, 0, NULL, NULL);
  weft_for_2d(5, 0, 0, 0, NULL, NULL);
  CHECK(wf_global_if_running() == NULL); /* nor a reason to start a pool */
}
