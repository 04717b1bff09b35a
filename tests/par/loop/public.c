/* weft_try_for, weft_for_each, weft_chunks, weft_for_step, weft_for_2d: each against the
 * serial code in its header comment.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/blocks.h"
#include "par/loop/everywhere.h"

static const weft_opts *options_or_null(unsigned which, weft_opts *opts) {
  *opts = option_set(which);
  return which == 0 ? NULL : opts;
}

/* ---- weft_try_for ---- */

typedef struct trial {
  size_t n;
  int *errors;      /* of each index; 0: none */
  atomic_uint *ran; /* how often each index was handled */
} trial;

static trial trial_of(size_t n) {
  trial t = {n, array_of(n, sizeof(int)), array_of(n, sizeof(atomic_uint))};
  memset(t.errors, 0, n * sizeof *t.errors);
  return t;
}

static void trial_free(trial *t) {
  free(t->errors);
  free(t->ran);
}

static int try_each(size_t begin, size_t end, void *ctx) {
  const trial *t = ctx;
  for (size_t i = begin; i < end; i++) {
    atomic_fetch_add(&t->ran[i], 1);
    if (t->errors[i] != 0) return t->errors[i];
  }
  return 0;
}

/* Everything up to the lowest error ran once, and what is behind at most once. */
static void check_trial(const trial *t, const weft_opts *opts) {
  size_t failing = 0;
  while (failing < t->n && t->errors[failing] == 0) failing++;
  for (size_t i = 0; i < t->n; i++) atomic_store(&t->ran[i], 0);
  CHECK_EQ(weft_try_for_with(opts, t->n, try_each, (void *)(uintptr_t)t),
           failing < t->n ? t->errors[failing] : 0);
  for (size_t i = 0; i < t->n; i++) {
    unsigned ran = atomic_load(&t->ran[i]);
    if (!CHECK_MSG(i <= failing ? ran == 1 : ran <= 1, "index %zu ran %u times", i, ran))
      break;
  }
}

static const int ERRORS[] = {1, -1, 7, WEFT_ENOMEM, WEFT_ECANCELED, INT32_MAX, INT32_MIN};

static void try_random(void *ctx) {
  uint64_t *random = ctx;
  for (unsigned long i = 0; i < scaled(4000); i++) {
    trial t = trial_of((size_t)(harness_random(random) % 300));
    uint64_t errors = harness_random(random) % 6;
    weft_opts opts;
    for (uint64_t e = 0; e < errors && t.n > 0; e++)
      t.errors[harness_random(random) % t.n] = ERRORS[harness_random(random) % 7];
    check_trial(&t, options_or_null((unsigned)i % OPTION_SETS, &opts));
    trial_free(&t);
  }
}

TEST(the_error_of_the_lowest_failing_index) {
  uint64_t random = harness_seed();
  in_each_pool(try_random, &random);
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    run_on_started(pool, try_random, &random);
    weft_pool_destroy(pool);
  }
}

static void try_all_fail(void *ctx) {
  (void)ctx;
  trial t = trial_of(2000);
  for (size_t i = 0; i < t.n; i++) t.errors[i] = (int)i + 1;
  for (unsigned long round = 0; round < scaled(50); round++) {
    weft_opts opts;
    check_trial(&t, options_or_null((unsigned)round % OPTION_SETS, &opts));
  }
  trial_free(&t);
}

TEST(all_fail) {
  in_each_pool(try_all_fail, NULL);
}

/* The lowest one fails last: the higher error is known long before. */
typedef struct slow_failure {
  bool waits; /* there is another thread to wait for */
  atomic_bool later_failed, later_began, first_failed;
} slow_failure;

static int fail_first_late(size_t begin, size_t end, void *ctx) {
  slow_failure *s = ctx;
  if (begin == 0) {
    if (s->waits) AWAIT(atomic_load(&s->later_failed));
    return 100;
  }
  (void)end;
  atomic_store(&s->later_failed, true);
  return (int)begin + 1000;
}

static void check_slow_failure(void *ctx) {
  slow_failure s = {.waits = *(const bool *)ctx};
  for (unsigned long round = 0; round < scaled(200); round++) {
    atomic_store(&s.later_failed, false);
    CHECK_EQ(weft_try_for(1000, fail_first_late, &s), 100);
  }
}

TEST(a_lower_error_that_comes_later_counts) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    bool waits = THREADS[i] > 1;
    weft_pool *pool = pool_of(THREADS[i]);
    weft_pool_run(pool, check_slow_failure, &waits);
    weft_pool_destroy(pool);
  }
}

/* The other way round: a higher error that is found when the lowest is known. */
static int fail_first_early(size_t begin, size_t end, void *ctx) {
  slow_failure *s = ctx;
  (void)end;
  if (begin == 0) {
    if (s->waits) AWAIT(atomic_load(&s->later_began));
    atomic_store(&s->first_failed, true);
    return 100;
  }
  atomic_store(&s->later_began, true);
  AWAIT(atomic_load(&s->first_failed));
  give_others_time();
  return (int)begin + 1000;
}

static void check_early_failure(void *ctx) {
  slow_failure s = {.waits = *(const bool *)ctx};
  for (unsigned long round = 0; round < scaled(100); round++) {
    atomic_store(&s.later_began, false);
    atomic_store(&s.first_failed, false);
    CHECK_EQ(weft_try_for(1000, fail_first_early, &s), 100);
  }
}

TEST(a_higher_error_that_comes_later_does_not_count) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    bool waits = THREADS[i] > 1;
    weft_pool *pool = pool_of(THREADS[i]);
    weft_pool_run(pool, check_early_failure, &waits);
    weft_pool_destroy(pool);
  }
}

/* One thread: what is behind the error is never started. */
typedef struct stopping {
  size_t where;
  atomic_ulong furthest;
} stopping;

static int fail_and_watch(size_t begin, size_t end, void *ctx) {
  stopping *s = ctx;
  keep_largest(&s->furthest, begin);
  return begin <= s->where && s->where < end ? 3 : 0;
}

static void check_stopping(void *ctx) {
  (void)ctx;
  for (size_t where = 0; where < 5000; where = 3 * where + 1)
    for (unsigned i = 0; i < OPTION_SETS; i++) {
      stopping s = {.where = where};
      weft_opts opts = option_set(i);
      CHECK_EQ(weft_try_for_with(&opts, 5000, fail_and_watch, &s), 3);
      CHECK(atomic_load(&s.furthest) <= where);
    }
}

TEST(a_single_thread_stops_at_the_error) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, check_stopping, NULL);
  weft_pool_destroy(pool);
}

/* Several: a loop that would take for ever ends soon after its error, whichever thread
 * has found it; the others start no further block. */
static int fail_once(size_t begin, size_t end, void *ctx) {
  size_t where = *(const size_t *)ctx;
  spin(20);
  return begin <= where && where < end ? 3 : 0;
}

static void check_endless_tries(void *ctx) {
  (void)ctx;
  for (size_t where = 0; where < 2000; where = 3 * where + 1)
    for (unsigned i = 0; i < OPTION_SETS; i++) {
      weft_opts opts = option_set(i);
      if (opts.split == WEFT_SPLIT_ADAPTIVE) opts.max_len = 1 + opts.min_len;
      if (opts.target_chunks != 0) opts.target_chunks = SIZE_MAX;
      if (opts.split != WEFT_SPLIT_ADAPTIVE) opts.target_chunks = SIZE_MAX / 2;
      CHECK_EQ(weft_try_for_with(&opts, SIZE_MAX, fail_once, &where), 3);
    }
}

TEST(an_endless_loop_ends_by_its_error) {
  in_each_pool(check_endless_tries, NULL);
}

/* Blocks of any length. */
static int fail_somewhere(size_t begin, size_t end, void *ctx) {
  size_t where = *(const size_t *)ctx;
  return begin <= where && where < end ? 42 : 0;
}

static void check_huge_tries(void *ctx) {
  (void)ctx;
  for (size_t where = 1; where < SIZE_MAX / 1000; where *= 977) {
    weft_opts opts = WEFT_OPTS_INIT;
    CHECK_EQ(weft_try_for(SIZE_MAX, fail_somewhere, &where), 42);
    opts.max_workers = 2;
    CHECK_EQ(weft_try_for_with(&opts, SIZE_MAX - 1, fail_somewhere, &where), 42);
    size_t nowhere = SIZE_MAX;
    CHECK_EQ(weft_try_for(SIZE_MAX, fail_somewhere, &nowhere), 0);
  }
}

TEST(tries_of_huge_ranges) {
  in_each_pool(check_huge_tries, NULL);
}

/* ---- weft_for_each ---- */

typedef struct each_case {
  char *base;
  size_t size;
} each_case;

static void visit_elem(void *elem, size_t index, void *ctx) {
  const each_case *c = ctx;
  CHECK(elem == c->base + index * c->size);
  for (size_t b = 0; b < c->size; b++)
    ((char *)elem)[b] = (char)(((char *)elem)[b] + (char)(index + b));
}

static void check_each(void *ctx) {
  uint64_t *random = ctx;
  for (unsigned l = 0; l < LENGTHS_COUNT; l++)
    for (unsigned s = 0; s < ELEMENT_SIZES_COUNT; s++) {
      size_t n = LENGTHS[l], size = ELEMENT_SIZES[s];
      if (n > 5000 || n * size > 100000) continue;
      weft_opts opts;
      char *a = array_of(n, size), *b = array_of(n, size);
      fill_random(a, n * size, random);
      memcpy(b, a, n * size + 1);
      each_case c = {a, size};
      weft_for_each_with(options_or_null(l % OPTION_SETS, &opts), a, n, size, visit_elem,
                         &c);
      each_case serial = {b, size};
      for (size_t i = 0; i < n; i++) visit_elem(b + i * size, i, &serial);
      CHECK_MSG(memcmp(a, b, n * size + 1) == 0, "%zu elements of %zu bytes", n, size);
      free(a);
      free(b);
    }
}

TEST(each_element) {
  uint64_t random = harness_seed();
  in_each_pool(check_each, &random);
}

/* ---- weft_chunks ---- */

typedef struct chunk_case {
  char *base;
  size_t n, size, chunk;
  unsigned char *calls; /* of each chunk */
} chunk_case;

static void visit_chunk(void *first, size_t count, size_t index, void *ctx) {
  const chunk_case *c = ctx;
  size_t begin = index * c->chunk, left = c->n - begin;
  REQUIRE(begin < c->n);
  CHECK(first == c->base + begin * c->size);
  CHECK_EQ(count, left < c->chunk ? left : c->chunk);
  c->calls[index]++;
}

static void check_chunks(void *ctx) {
  static const size_t CHUNKS[] = {1, 2, 3, 7, 64, 999, 1000, 1001, 65537, SIZE_MAX};
  (void)ctx;
  char *memory = array_of(70000, 3);
  for (unsigned l = 0; l < LENGTHS_COUNT && LENGTHS[l] <= 70000; l++)
    for (unsigned k = 0; k < sizeof CHUNKS / sizeof CHUNKS[0]; k++) {
      chunk_case c = {memory, LENGTHS[l], 1 + k % 3, CHUNKS[k], NULL};
      size_t count = c.n / c.chunk + (c.n % c.chunk != 0);
      weft_opts opts;
      c.calls = marks_of(count);
      weft_chunks_with(options_or_null((l + k) % OPTION_SETS, &opts), memory, c.n, c.size,
                       c.chunk, visit_chunk, &c);
      check_marks(c.calls, count, 1);
      free(c.calls);
    }
  free(memory);
}

TEST(chunks) {
  in_each_pool(check_chunks, NULL);
}

/* ---- weft_for_step ---- */

typedef struct step_case {
  size_t begin, end, step;
  unsigned char *calls;
} step_case;

static void visit_step(size_t i, void *ctx) {
  const step_case *c = ctx;
  REQUIRE(c->begin <= i && i < c->end && (i - c->begin) % c->step == 0);
  c->calls[(i - c->begin) / c->step]++;
}

static size_t serial_steps(const step_case *c) {
  size_t count = 0;
  for (size_t i = c->begin; i < c->end; i += c->step) {
    count++;
    if (c->end - i <= c->step) break; /* i += step might overflow */
  }
  return count;
}

static void check_steps(void *ctx) {
  static const size_t LENGTH[] = {0, 1, 2, 7, 100, 4097};
  static const size_t STEP[] = {1, 2, 3, 99, 100, 101, SIZE_MAX / 2, SIZE_MAX};
  (void)ctx;
  for (unsigned l = 0; l < 6; l++)
    for (unsigned s = 0; s < 8; s++)
      for (unsigned where = 0; where < 4; where++) {
        size_t ends[] = {LENGTH[l], LENGTH[l] + 1000, SIZE_MAX, SIZE_MAX - 3};
        step_case c = {ends[where] - LENGTH[l], ends[where], STEP[s], marks_of(5000)};
        weft_opts opts;
        weft_for_step_with(options_or_null((l + s) % OPTION_SETS, &opts), c.begin, c.end,
                           c.step, visit_step, &c);
        size_t count = serial_steps(&c);
        check_marks(c.calls, count, 1);
        check_marks(c.calls, 5000, 0);
        free(c.calls);
      }
}

TEST(steps) {
  in_each_pool(check_steps, NULL);
}

/* The whole range of numbers, in steps that a test can count. */
static void count_step(size_t i, void *ctx) {
  const size_t step = SIZE_MAX / 1000;
  CHECK_EQ(i % step, 0);
  count_one(ctx);
}

static void never_called(size_t i, void *ctx) {
  (void)ctx;
  CHECK_MSG(false, "called for %zu", i);
}

TEST(steps_through_all_numbers) {
  atomic_ulong ran = 0;
  weft_for_step(0, SIZE_MAX, SIZE_MAX / 1000, count_step, &ran);
  CHECK_EQ(atomic_load(&ran), SIZE_MAX % 1000 == 0 ? 1000 : 1001);
  weft_for_step(10, 10, 1, never_called, NULL);
  weft_for_step(10, 9, 1, never_called, NULL);
  weft_for_step(SIZE_MAX, 0, SIZE_MAX, never_called, NULL);
  weft_shutdown();
}

/* ---- weft_for_2d ---- */

typedef struct plane {
  size_t rows, cols, tile_rows, tile_cols;
  unsigned char *calls; /* of each cell */
  atomic_size_t tiles;
} plane;

static void visit_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  plane *p = ctx;
  REQUIRE(r0 < r1 && r1 <= p->rows && c0 < c1 && c1 <= p->cols);
  CHECK(r0 % p->tile_rows == 0 && c0 % p->tile_cols == 0);
  CHECK(r1 - r0 == p->tile_rows || (r1 == p->rows && r1 - r0 < p->tile_rows));
  CHECK(c1 - c0 == p->tile_cols || (c1 == p->cols && c1 - c0 < p->tile_cols));
  for (size_t r = r0; r < r1; r++)
    for (size_t c = c0; c < c1; c++) p->calls[r * p->cols + c]++;
  atomic_fetch_add(&p->tiles, 1);
}

static size_t tiles_in(size_t length, size_t tile) {
  return length / tile + (length % tile != 0);
}

static void check_plane(size_t rows, size_t cols, size_t tile_rows, size_t tile_cols,
                        const weft_opts *opts) {
  plane p = {rows, cols, tile_rows, tile_cols, marks_of(rows * cols), 0};
  /* "A tile length of 0 means: as much as 32 rows or all columns." */
  if (tile_rows == 0) p.tile_rows = rows < 32 ? rows : 32;
  if (tile_cols == 0) p.tile_cols = cols;
  weft_for_2d_with(opts, rows, cols, tile_rows, tile_cols, visit_tile, &p);
  check_marks(p.calls, rows * cols, 1);
  if (rows > 0 && cols > 0)
    CHECK_EQ(atomic_load(&p.tiles),
             tiles_in(rows, p.tile_rows) * tiles_in(cols, p.tile_cols));
  free(p.calls);
}

static void check_planes(void *ctx) {
  static const size_t SIDES[] = {0, 1, 2, 31, 32, 33, 100, 257};
  static const size_t TILES[] = {0, 1, 2, 16, 33, 1000, SIZE_MAX};
  uint64_t *random = ctx;
  for (unsigned r = 0; r < 8; r++)
    for (unsigned c = 0; c < 8; c++)
      for (unsigned i = 0; i < 12 / harness_slowdown() + 1; i++) {
        size_t tile_rows = TILES[harness_random(random) % 7];
        size_t tile_cols = TILES[harness_random(random) % 7];
        weft_opts opts;
        const weft_opts *given = options_or_null((r + c + i) % OPTION_SETS, &opts);
        check_plane(SIDES[r], SIDES[c], tile_rows, tile_cols, given);
      }
}

TEST(planes) {
  uint64_t random = harness_seed();
  in_each_pool(check_planes, &random);
}

/* Planes that no memory holds; with more tiles than numbers if tiles were counted. */
typedef struct huge_plane {
  size_t rows, cols, tile_rows, tile_cols;
  atomic_ullong area, corners; /* modulo 2^64 */
  atomic_size_t tiles;
} huge_plane;

static void add_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  huge_plane *p = ctx;
  CHECK(r0 < r1 && r1 <= p->rows && c0 < c1 && c1 <= p->cols);
  atomic_fetch_add(&p->area, (uint64_t)(r1 - r0) * (c1 - c0));
  atomic_fetch_add(&p->corners,
                   (tally_hash(r1) - tally_hash(r0)) * (tally_hash(c1) - tally_hash(c0)));
  atomic_fetch_add(&p->tiles, 1);
}

static void check_huge_plane(size_t rows, size_t cols, size_t tile_rows,
                             size_t tile_cols) {
  huge_plane p = {.rows = rows, .cols = cols};
  weft_for_2d(rows, cols, tile_rows, tile_cols, add_tile, &p);
  CHECK_EQ(atomic_load(&p.tiles), tiles_in(rows, tile_rows) * tiles_in(cols, tile_cols));
  CHECK_EQ(atomic_load(&p.area), (uint64_t)rows * cols);
  CHECK_EQ(atomic_load(&p.corners),
           (tally_hash(rows) - tally_hash(0)) * (tally_hash(cols) - tally_hash(0)));
}

static void check_huge_planes(void *ctx) {
  const size_t half = (size_t)1 << (sizeof(size_t) * 4);
  (void)ctx;
  check_huge_plane(SIZE_MAX, SIZE_MAX, SIZE_MAX / 30, SIZE_MAX / 40);
  check_huge_plane(SIZE_MAX, 3, SIZE_MAX / 1000, 1);
  check_huge_plane(3, SIZE_MAX, 1, SIZE_MAX / 1000);
  check_huge_plane(half + 1, half + 1, half / 16, half / 20);
  check_huge_plane(SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX);
}

TEST(huge_planes) {
  in_each_pool(check_huge_planes, NULL);
}

/* More tiles than numbers: no thread will see the end, so the loop is cancelled. */
typedef struct endless_plane {
  weft_scope *scope;
  atomic_ulong tiles;
} endless_plane;

static void cancel_soon(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  endless_plane *p = ctx;
  CHECK_EQ(r1 - r0, 1);
  CHECK_EQ(c1 - c0, 1);
  if (atomic_fetch_add(&p->tiles, 1) == 100) weft_scope_cancel(p->scope, 1);
}

/* 4 columns and as many rows that the number of tiles would be 0, modulo the numbers. */
static void check_endless_plane(void *ctx) {
  weft_scope scope;
  endless_plane p = {.scope = &scope};
  weft_opts opts = WEFT_OPTS_INIT;
  (void)ctx;
  opts.cancel = &scope;
  opts.max_len = 2;
  weft_scope_begin(&scope);
  weft_for_2d_with(&opts, SIZE_MAX / 4 + 1, 4, 1, 1, cancel_soon, &p);
  CHECK_EQ(weft_scope_end(&scope), 1);
  CHECK(atomic_load(&p.tiles) > 100);
}

TEST(more_tiles_than_numbers) {
  in_each_pool(check_endless_plane, NULL);
}
