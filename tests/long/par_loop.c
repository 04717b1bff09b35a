/* A million random loops of every kind, with random options, lengths, bodies and
 * callers, on pools of 1, 2, 3, 8 and 64 threads: each against serial code. A case
 * follows from the seed alone, so a failure can be replayed.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/blocks.h"

#include <stdio.h>

enum { POOLS = 5, LONGEST = 3000 };

static const unsigned SIZES[POOLS] = {1, 2, 3, 8, 64};

typedef struct one_case {
  weft_opts opts;
  size_t n;
  uint64_t costs; /* seed of what the elements cost; 0: nothing */
  size_t failing; /* the lowest index that fails, or SIZE_MAX */
  size_t cancels; /* the index that cancels, or SIZE_MAX */
  weft_scope *scope;
  unsigned char *marks;
  atomic_uint seen[64 + 64];
} one_case;

static uint64_t pick(uint64_t *random, uint64_t below) {
  return harness_random(random) % below;
}

/* Small numbers more often than large ones. */
static size_t some_length(uint64_t *random, size_t longest) {
  uint64_t shift = pick(random, 13);
  size_t n = (size_t)(pick(random, longest + 1) >> shift);
  return n;
}

static weft_opts some_options(uint64_t *random) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.split = (weft_split)pick(random, 3);
  if (pick(random, 3) == 0) opts.min_len = some_length(random, LONGEST);
  if (pick(random, 3) == 0) opts.max_len = some_length(random, LONGEST);
  if (pick(random, 3) == 0) opts.target_chunks = some_length(random, LONGEST);
  if (pick(random, 3) == 0) opts.max_workers = (unsigned)pick(random, 10);
  return opts;
}

/* ---- bodies ---- */

static void pay_for(const one_case *c, size_t i) {
  uint64_t state = c->costs + i;
  if (c->costs != 0 && harness_random(&state) % 16 == 0)
    spin((unsigned)(harness_random(&state) % 200));
}

static void visit(one_case *c, size_t i) {
  REQUIRE(i < c->n);
  pay_for(c, i);
  c->marks[i]++;
  if (i == c->cancels) weft_scope_cancel(c->scope, 77);
}

static void for_body(size_t begin, size_t end, void *ctx) {
  one_case *c = ctx;
  CHECK(begin < end && end <= c->n);
  CHECK(c->opts.max_len == 0 || end - begin <= c->opts.max_len);
  int worker = weft_worker_index();
  if (CHECK(worker >= 0) && worker < 128) atomic_store(&c->seen[worker], 1);
  for (size_t i = begin; i < end; i++) visit(c, i);
}

static int try_body(size_t begin, size_t end, void *ctx) {
  one_case *c = ctx;
  for (size_t i = begin; i < end; i++) {
    visit(c, i);
    if (i >= c->failing && (i - c->failing) % 3 == 0) return (int)i + 1;
  }
  return 0;
}

static void each_body(void *elem, size_t index, void *ctx) {
  one_case *c = ctx;
  CHECK_EQ(elem, c->marks + index);
  visit(c, index);
}

static void chunk_body(void *first, size_t count, size_t index, void *ctx) {
  one_case *c = ctx;
  size_t begin = (size_t)((unsigned char *)first - c->marks);
  CHECK(index <= begin && count > 0);
  for (size_t i = 0; i < count; i++) visit(c, begin + i);
}

static void step_body(size_t i, void *ctx) {
  visit(ctx, i);
}

enum { WIDTH = 17 };

static void tile_body(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  for (size_t r = r0; r < r1; r++)
    for (size_t col = c0; col < c1; col++) visit(ctx, r * WIDTH + col);
}

/* ---- one case ---- */

/* How many indices, from `first` on in steps, were visited; none more than once. */
static size_t count_marks(one_case *c, size_t first, size_t step) {
  size_t count = 0;
  for (size_t i = 0; i < LONGEST; i++) {
    unsigned marks = c->marks[i];
    bool expected = i < c->n && i >= first && (i - first) % step == 0;
    CHECK_MSG(marks <= (expected ? 1 : 0), "index %zu of %zu: %u times", i, c->n, marks);
    count += marks;
  }
  memset(c->marks, 0, LONGEST);
  return count;
}

static void check_workers(const one_case *c) {
  unsigned workers = 0;
  for (unsigned i = 0; i < 128; i++) workers += atomic_load(&c->seen[i]);
  CHECK(c->opts.max_workers == 0 || workers <= c->opts.max_workers);
}

static void check_count(const one_case *c, size_t count, size_t all) {
  if (c->scope == NULL)
    CHECK_EQ(count, all);
  else
    CHECK(count <= all);
}

static void run_try(one_case *c, uint64_t *random) {
  if (pick(random, 2) == 0) c->failing = (size_t)pick(random, c->n + 1);
  int expected = c->failing < c->n ? (int)c->failing + 1 : 0;
  int status = weft_try_for_with(&c->opts, c->n, try_body, c);
  if (c->scope == NULL) {
    CHECK_EQ(status, expected);
    size_t must = c->failing < c->n ? c->failing + 1 : c->n;
    for (size_t i = 0; i < must; i++) CHECK_EQ(c->marks[i], 1);
  } else if (weft_scope_cancelled(c->scope)) {
    CHECK(status != 0);
  }
  count_marks(c, 0, 1);
}

static void run_form(one_case *c, uint64_t *random) {
  size_t first = 0, step = 1;
  switch (pick(random, 6)) {
  case 0:
    run_try(c, random);
    return;
  case 1:
    weft_for_each_with(&c->opts, c->marks, c->n, 1, each_body, c);
    break;
  case 2:
    weft_chunks_with(&c->opts, c->marks, c->n, 1, 1 + some_length(random, 100),
                     chunk_body, c);
    break;
  case 3:
    first = some_length(random, c->n);
    step = 1 + some_length(random, 100);
    weft_for_step_with(&c->opts, first, c->n, step, step_body, c);
    break;
  case 4:
    c->n -= c->n % WIDTH;
    weft_for_2d_with(&c->opts, c->n / WIDTH, WIDTH, some_length(random, 40),
                     some_length(random, 20), tile_body, c);
    break;
  default:
    weft_for_with(&c->opts, c->n, for_body, c);
    check_workers(c);
  }
  size_t length = c->n > first ? c->n - first : 0;
  check_count(c, count_marks(c, first, step), length / step + (length % step != 0));
}

static void run_case(void *ctx) {
  uint64_t random = *(const uint64_t *)ctx;
  one_case *c = calloc(1, sizeof *c);
  weft_scope scope;
  REQUIRE(c != NULL);
  c->marks = marks_of(LONGEST);
  c->opts = some_options(&random);
  c->n = some_length(&random, LONGEST);
  c->costs = pick(&random, 3) == 0 ? harness_random(&random) | 1 : 0;
  c->failing = c->cancels = SIZE_MAX;
  if (pick(&random, 8) == 0) {
    c->scope = c->opts.cancel = &scope;
    c->cancels = (size_t)pick(&random, c->n + 1);
    weft_scope_begin(&scope);
  }
  run_form(c, &random);
  if (c->scope != NULL) weft_scope_end(&scope);
  free(c->marks);
  free(c);
}

/* Inside another loop, where other cases run beside it. */
static void run_cases_beside(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    uint64_t seed = *(const uint64_t *)ctx + i;
    run_case(&seed);
  }
}

static void run_four(void *ctx) {
  weft_for(4, run_cases_beside, ctx);
}

TEST_LIMIT(random_loops, 1800) {
  unsigned long cases = 1000ul * 1000 / harness_slowdown();
  weft_pool *pools[POOLS];
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < POOLS; i++) pools[i] = pool_of(SIZES[i]);
  for (unsigned long done = 0; done < cases;) {
    uint64_t seed = harness_random(&random);
    weft_pool *pool = pools[pick(&random, POOLS)];
    switch (pick(&random, 3)) {
    case 0:
      weft_pool_run(pool, run_case, &seed);
      done++;
      break;
    case 1:
      run_on_started(pool, run_case, &seed);
      done++;
      break;
    default:
      weft_pool_run(pool, run_four, &seed);
      done += 4;
    }
  }
  for (unsigned i = 0; i < POOLS; i++) weft_pool_destroy(pools[i]);
}
