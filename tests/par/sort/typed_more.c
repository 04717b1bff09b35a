/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* Sorts of numbers: argsort and by key; without memory; cancelled; with few threads;
 * inside other work.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/typed_support.h"

#include "harness/memory_faults.h"

/* ---- memory that fails ---- */

/* Requests of sorts are refused from a number on: 0 refuses all, -1 none. */
static void begin_requests(long first) {
  refuse_memory(first >= 0 ? REFUSE_FROM : REFUSE_NONE, (unsigned long)(first + 1));
}

static long end_requests(void) {
  allow_memory();
  return (long)memory_requests();
}

/* ---- argsort ---- */

static void argsort_all(void *ctx) {
  uint64_t random = harness_seed();
  unsigned *turn = ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    size_t n = LENGTHS[i];
    unsigned step = n < 5000 ? 1 : n < 100000 ? 5 : 17;
    if (harness_slowdown() > 1 && n > 1000) step *= 4;
    if (is_too_large(n, 64)) continue;
    size_t *order = array_of(n, sizeof *order);
    for (unsigned k = 0; k < KINDS_COUNT; k++) {
      void *a = array_of(n, KINDS[k].size);
      for (unsigned p = 0; p < PATTERNS; p++) {
        if ((*turn)++ % step != 0) continue;
        fill_pattern(&KINDS[k], a, n, (pattern)p, &random);
        uint64_t print = fingerprint(&KINDS[k], a, n);
        KINDS[k].argsort(NULL, order, a, n);
        check_order(&KINDS[k], order, a, n);
        check_same(&KINDS[k], a, n, print);
      }
      free(a);
    }
    free(order);
  }
}

TEST_LIMIT(argsort_is_stable, 120) {
  unsigned turn = 0;
  in_each_pool(argsort_all, &turn);
}

/* ---- by key ---- */

/* A payload is filled with its number, repeated, which shows where it was. */
static void fill_payload(unsigned char *to, size_t size, size_t number) {
  for (size_t i = 0; i < size; i++)
    to[i] = (unsigned char)((uint64_t)number >> (8 * (i % 4)) ^ i / 4);
}

/* Sorts and compares with an argsort, which has been tested on its own. The first
 * request of the sort that is refused, or -1. */
static void by_key_and_check(const kind *k, void *keys, size_t n, size_t size,
                             long first) {
  unsigned char *payload = array_of(n, size), *expected = array_of(1, size);
  char *before = array_of(n, k->size);
  size_t *order = array_of(n, sizeof *order);
  memcpy(before, keys, n * k->size);
  weft_argsort_u32(order, NULL, 0);
  k->argsort(NULL, order, keys, n);
  for (size_t i = 0; i < n; i++) fill_payload(payload + i * size, size, i);
  begin_requests(first);
  k->by_key(NULL, keys, payload, size, n);
  end_requests();
  for (size_t i = 0; i < n; i++) {
    fill_payload(expected, size, order[i]);
    bool same = bits_at(k, keys, i) == bits_at(k, before, order[i]) &&
                memcmp(payload + i * size, expected, size) == 0;
    if (!CHECK_MSG(same, "%s: %zu of %zu, payload of %zu", k->name, i, n, size)) break;
  }
  free(order);
  free(before);
  free(expected);
  free(payload);
}

static void by_key_all(void *ctx) {
  uint64_t random = harness_seed();
  unsigned *turn = ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    size_t n = LENGTHS[i];
    unsigned step = n < 100 ? 1 : n < 5000 ? 7 : n < 100000 ? 31 : 97;
    if (harness_slowdown() > 1 && n > 1000) step *= 4;
    for (unsigned k = 0; k < KINDS_COUNT; k++) {
      void *keys = array_of(n, KINDS[k].size);
      for (unsigned s = 0; s < ELEMENT_SIZES_COUNT; s++) {
        pattern p = (pattern)(*turn % PATTERNS);
        if ((*turn)++ % step != 0 || is_too_large(n, ELEMENT_SIZES[s] + 48)) continue;
        fill_pattern(&KINDS[k], keys, n, p, &random);
        by_key_and_check(&KINDS[k], keys, n, ELEMENT_SIZES[s], -1);
      }
      free(keys);
    }
  }
}

TEST_LIMIT(payload_follows_its_key, 120) {
  unsigned turn = 0;
  in_each_pool(by_key_all, &turn);
}

/* ---- without memory ---- */

typedef struct lack {
  long first; /* the first request that is refused */
  long most;  /* requests of any call */
  size_t n;
} lack;

static void without_memory(void *ctx) {
  lack *l = ctx;
  uint64_t random = harness_seed();
  size_t n = l->n;
  void *a = array_of(n, 8);
  size_t *order = array_of(n, sizeof *order);
  for (unsigned k = 0; k < KINDS_COUNT; k++)
    for (unsigned p = 0; p < PATTERNS; p++) {
      const kind *t = &KINDS[k];
      long asked[4] = {0};
      fill_pattern(t, a, n, (pattern)p, &random);
      uint64_t print = fingerprint(t, a, n);
      begin_requests(l->first);
      t->argsort(NULL, order, a, n);
      asked[0] = end_requests();
      check_order(t, order, a, n);
      begin_requests(l->first);
      t->nth(NULL, a, n, n / 3);
      asked[1] = end_requests();
      check_same(t, a, n, print);
      check_nth(t, a, n, n / 3);
      begin_requests(l->first);
      t->partial(NULL, a, n, n / 4);
      asked[2] = end_requests();
      check_sorted(t, a, n / 4);
      check_nth(t, a, n, n / 4 - 1);
      fill_pattern(t, a, n, (pattern)p, &random);
      print = fingerprint(t, a, n);
      begin_requests(l->first);
      t->sort(NULL, a, n);
      asked[3] = end_requests();
      check_same(t, a, n, print);
      check_sorted(t, a, n);
      for (unsigned i = 0; i < 4; i++)
        if (asked[i] > l->most) l->most = asked[i];
    }
  free(order);
  free(a);
}

TEST_LIMIT(each_request_may_fail, 120) {
  static const size_t SIZES[] = {50, 1000, 40000};
  for (unsigned i = 0; i < 3; i++) {
    lack l = {-1, 1, SIZES[i]}; /* first with memory: so all requests are known */
    if (i == 2 && harness_slowdown() > 1) l.n = 9000;
    for (; l.first < l.most; l.first++) {
      weft_pool *pool = pool_of(i + 1);
      weft_pool_run(pool, without_memory, &l);
      weft_pool_destroy(pool);
    }
    if (i == 2) CHECK_MSG(l.most >= 2, "only %ld requests", l.most);
  }
}

/* The payload's way has up to five requests; all of them fail once. */
static void by_key_without_memory(void *ctx) {
  uint64_t random = harness_seed();
  size_t n = *(const size_t *)ctx;
  void *keys = array_of(n, 8);
  for (unsigned k = 0; k < KINDS_COUNT; k++)
    for (long first = 0; first < 6; first++) {
      fill_pattern(&KINDS[k], keys, n, (pattern)((unsigned)first % 3), &random);
      by_key_and_check(&KINDS[k], keys, n, 24, first);
    }
  free(keys);
}

TEST_LIMIT(payload_follows_without_memory, 120) {
  static const size_t SIZES[] = {60, 3000, 20000};
  for (unsigned i = 0; i < 3; i++) {
    size_t n = i == 2 ? SIZES[i] / harness_slowdown() : SIZES[i];
    in_each_pool(by_key_without_memory, &n);
  }
}

/* ---- cancellation ---- */

typedef struct canceller {
  weft_scope *scope;
  unsigned long spins;
} canceller;

static void cancel_soon(void *ctx) {
  const canceller *c = ctx;
  for (unsigned long i = 0; i < c->spins; i++) wf_sys_relax();
  weft_scope_cancel(c->scope, 1);
}

typedef struct cancelled_call {
  const kind *kind;
  void *a;
  size_t n, *order;
  const weft_opts *opts;
  unsigned which;
} cancelled_call;

static void call_any(void *ctx) {
  const cancelled_call *c = ctx;
  switch (c->which) {
  case 0:
    c->kind->sort(c->opts, c->a, c->n);
    break;
  case 1:
    c->kind->nth(c->opts, c->a, c->n, c->n / 2);
    break;
  case 2:
    c->kind->partial(c->opts, c->a, c->n, c->n / 2);
    break;
  case 3:
    c->kind->by_key(c->opts, c->a, c->order, sizeof *c->order, c->n);
    break;
  default:
    c->kind->argsort(c->opts, c->order, c->a, c->n);
  }
}

/* Whenever the cancellation comes, the elements are all there. */
static void cancel_all(void *ctx) {
  uint64_t random = harness_seed();
  size_t n = 300000 / harness_slowdown();
  void *a = array_of(n, 8);
  size_t *order = array_of(n, sizeof *order);
  (void)ctx;
  for (unsigned i = 0; i < scaled(120); i++) {
    const kind *k = &KINDS[i % KINDS_COUNT];
    weft_scope scope;
    weft_opts opts = WEFT_OPTS_INIT;
    bool no_memory = harness_random(&random) % 4 == 0;
    opts.cancel = &scope;
    weft_scope_begin(&scope);
    canceller soon = {&scope, (unsigned long)(harness_random(&random) % 60000)};
    cancelled_call call = {k,     a,     n,
                           order, &opts, (unsigned)(harness_random(&random) % 5)};
    fill_pattern(k, a, n, (pattern)(i % PATTERNS), &random);
    memset(order, 0, n * sizeof *order);
    uint64_t print = fingerprint(k, a, n);
    begin_requests(no_memory ? 0 : -1);
    weft_join(call_any, &call, cancel_soon, &soon);
    end_requests();
    CHECK_EQ(weft_scope_end(&scope), 1);
    check_same(k, a, n, print);
  }
  free(order);
  free(a);
}

TEST_LIMIT(a_cancelled_sort_keeps_the_elements, 120) {
  in_each_pool(cancel_all, NULL);
}

/* ---- few threads, other work ---- */

static void with_max_workers(void *ctx) {
  uint64_t random = harness_seed();
  size_t n = 200000 / harness_slowdown();
  void *a = array_of(n, 8);
  size_t *order = array_of(n, sizeof *order);
  (void)ctx;
  for (unsigned most = 1; most <= 4; most++)
    for (unsigned k = 0; k < KINDS_COUNT; k++) {
      weft_opts opts = WEFT_OPTS_INIT;
      opts.max_workers = most;
      fill_pattern(&KINDS[k], a, n, SKEWED, &random);
      uint64_t print = fingerprint(&KINDS[k], a, n);
      KINDS[k].argsort(&opts, order, a, n);
      check_order(&KINDS[k], order, a, n);
      KINDS[k].sort(&opts, a, n);
      check_sorted(&KINDS[k], a, n);
      check_same(&KINDS[k], a, n, print);
      CHECK(KINDS[k].is_sorted(&opts, a, n));
    }
  free(order);
  free(a);
}

TEST(max_workers_change_nothing) {
  in_each_pool(with_max_workers, NULL);
}

static void sort_rows(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) {
    uint64_t random = harness_seed() + i;
    const kind *k = &KINDS[i % KINDS_COUNT];
    size_t n = (size_t)(harness_random(&random) % 30000) / harness_slowdown();
    void *a = array_of(n, 8);
    fill_pattern(k, a, n, (pattern)(i % PATTERNS), &random);
    k->sort(NULL, a, n);
    check_sorted(k, a, n);
    free(a);
  }
}

static void loop_of_sorts(void *ctx) {
  (void)ctx;
  weft_for(60, sort_rows, NULL);
}

static void join_of_loops(void *ctx) {
  (void)ctx;
  weft_join(loop_of_sorts, NULL, loop_of_sorts, NULL);
}

/* In a loop, in a join, in a scope of another pool; on small stacks. */
static void scope_elsewhere(void *ctx) {
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  weft_spawn(&scope, join_of_loops, NULL);
  weft_spawn(&scope, join_of_loops, NULL);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

TEST(sorts_inside_other_work) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = THREADS[i];
    config.stack_size = harness_slowdown() == 1 ? 128 * 1024 : 0;
    weft_pool *pool = pool_with(&config);
    weft_pool_run(pool, scope_elsewhere, NULL);
    weft_pool_destroy(pool);
  }
}
