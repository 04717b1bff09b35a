/* fuzz/api.c - libFuzzer target: the input is a program of calls, each checked against
 * what the same calls give in sequence.
 *
 * First byte: how many threads. Then one operation after the other; each takes the bytes
 * it needs and works on one array, of which a plain copy is kept beside it. Operations
 * are done from outside the pool or inside of weft_pool_run. An abort is a finding.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { MOST = 2048, MOST_OPERATIONS = 64, KEYS = 17 };

typedef struct state {
  const uint8_t *data; /* what is left of the input */
  size_t left;
  weft_pool *pool;
  uint32_t array[MOST], copy[MOST]; /* for the library and for the oracle */
  size_t n;
  wf_u32 detached; /* functions that have run, */
  uint32_t expected_detached;
} state;

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);     \
      abort();                                                                           \
    }                                                                                    \
  } while (0)

static unsigned take(state *s) {
  if (s->left == 0) return 0;
  s->left--;
  return *s->data++;
}

static size_t take_length(state *s) {
  return (take(s) | take(s) << 8) % (MOST + 1);
}

static void count_one(wf_u32 *counter) {
  __atomic_fetch_add(&counter->raw, 1, __ATOMIC_RELAXED);
}

static uint32_t count_of(wf_u32 *counter) {
  return __atomic_load_n(&counter->raw, __ATOMIC_RELAXED);
}

static weft_opts take_options(state *s) {
  weft_opts o = WEFT_OPTS_INIT;
  unsigned bits = take(s);
  if (bits & 1) o.pool = s->pool;
  if (bits & 2) o.min_len = take(s);
  if (bits & 4) o.max_len = take(s);
  if (bits & 8) o.max_workers = take(s) % 4;
  if (bits & 16) o.target_chunks = take(s);
  o.split = (weft_split)((bits >> 5) % 3);
  if (bits & 128) o.order = WEFT_ORDER_FIFO;
  return o;
}

static void expect_equal_arrays(state *s) {
  EXPECT(memcmp(s->array, s->copy, s->n * sizeof s->array[0]) == 0);
}

static void refill(state *s) {
  uint32_t x = 1 + take(s), range = 1 + take(s);
  s->n = take_length(s);
  for (size_t i = 0; i < s->n; i++) {
    x = x * 1664525 + 1013904223;
    s->array[i] = s->copy[i] = (x >> 8) % (range * range);
  }
}

/* ---- functions that the calls are given ---- */

static int compare(const void *a, const void *b, void *ctx) {
  const uint32_t *x = a, *y = b;
  (void)ctx;
  return (*x > *y) - (*x < *y);
}

static int compare_plain(const void *a, const void *b) {
  return compare(a, b, NULL);
}

static bool is_odd(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % 2 == 1;
}

static size_t key_of(const void *elem, void *ctx) {
  (void)ctx;
  return *(const uint32_t *)elem % KEYS;
}

static void add(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(uint32_t *)acc += *(const uint32_t *)x;
}

static void add_index(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) ((state *)ctx)->array[i] += (uint32_t)i;
}

/* ---- operations ---- */

typedef struct span {
  const state *s;
  size_t begin, end;
  uint64_t sum;
} span;

static void sum_by_joins(void *ctx) {
  span *p = ctx;
  if (p->end - p->begin <= 3) {
    for (size_t i = p->begin; i < p->end; i++) p->sum += p->s->array[i];
    return;
  }
  size_t middle = p->begin + (p->end - p->begin) / 2;
  span low = {p->s, p->begin, middle, 0}, high = {p->s, middle, p->end, 0};
  weft_join(sum_by_joins, &low, sum_by_joins, &high);
  p->sum = low.sum + high.sum;
}

static void do_join(state *s) {
  span all = {s, 0, s->n, 0};
  uint64_t sum = 0;
  for (size_t i = 0; i < s->n; i++) sum += s->copy[i];
  sum_by_joins(&all);
  EXPECT(all.sum == sum);
}

static void do_for(state *s) {
  weft_opts o = take_options(s);
  weft_for_with(&o, s->n, add_index, s);
  for (size_t i = 0; i < s->n; i++) s->copy[i] += (uint32_t)i;
}

static void do_sort(state *s) {
  weft_opts o = take_options(s);
  switch (take(s) % 4) {
  case 0:
    weft_sort_with(&o, s->array, s->n, 4, compare, NULL);
    break;
  case 1:
    weft_sort_stable_with(&o, s->array, s->n, 4, compare, NULL);
    break;
  case 2:
    weft_sort_u32_with(&o, s->array, s->n);
    break;
  default: /* sorts as far as k, and then the rest */
    weft_partial_sort_with(&o, s->array, s->n, 4, s->n / 2, compare, NULL);
    weft_sort_with(&o, s->array, s->n, 4, compare, NULL);
  }
  qsort(s->copy, s->n, 4, compare_plain);
}

static void do_scan(state *s) {
  weft_opts o = take_options(s);
  bool inclusive = take(s) % 2;
  uint32_t zero = 0, acc = 0;
  weft_scan_with(&o, s->array, s->array, s->n, 4, &zero, inclusive, add, NULL);
  for (size_t i = 0; i < s->n; i++) {
    uint32_t next = acc + s->copy[i];
    s->copy[i] = inclusive ? next : acc;
    acc = next;
  }
}

static void do_filter(state *s) {
  weft_opts o = take_options(s);
  size_t kept = 0, odd = 0;
  for (size_t i = 0; i < s->n; i++) odd += s->copy[i] % 2;
  EXPECT(weft_count_with(&o, s->array, s->n, 4, is_odd, NULL) == odd);
  size_t result = weft_filter_with(&o, s->array, s->array, s->n, 4, is_odd, NULL);
  for (size_t i = 0; i < s->n; i++)
    if (s->copy[i] % 2 == 1) s->copy[kept++] = s->copy[i];
  EXPECT(result == kept);
  s->n = kept;
}

static void do_partition(state *s) {
  weft_opts o = take_options(s);
  uint32_t others[MOST];
  size_t yes = 0, no = 0;
  size_t result = weft_partition_with(&o, s->array, s->n, 4, is_odd, NULL);
  for (size_t i = 0; i < s->n; i++) {
    if (s->copy[i] % 2 == 1)
      s->copy[yes++] = s->copy[i];
    else
      others[no++] = s->copy[i];
  }
  memcpy(s->copy + yes, others, no * 4);
  EXPECT(result == yes);
}

static void do_unique(state *s) {
  weft_opts o = take_options(s);
  size_t kept = 0;
  size_t result = weft_unique_with(&o, s->array, s->n, 4, compare, NULL);
  for (size_t i = 0; i < s->n; i++)
    if (kept == 0 || s->copy[kept - 1] != s->copy[i]) s->copy[kept++] = s->copy[i];
  EXPECT(result == kept);
  s->n = kept;
}

static void do_search(state *s) {
  weft_opts o = take_options(s);
  size_t first = SIZE_MAX, least = SIZE_MAX, counts[KEYS], expected[KEYS] = {0};
  for (size_t i = 0; i < s->n; i++) {
    if (first == SIZE_MAX && s->copy[i] % 2 == 1) first = i;
    if (least == SIZE_MAX || s->copy[i] < s->copy[least]) least = i;
    expected[s->copy[i] % KEYS]++;
  }
  EXPECT(weft_find_first_with(&o, s->array, s->n, 4, is_odd, NULL) == first);
  EXPECT(weft_min_index_with(&o, s->array, s->n, 4, compare, NULL) == least);
  weft_histogram_with(&o, counts, KEYS, s->array, s->n, 4, key_of, NULL);
  EXPECT(memcmp(counts, expected, sizeof counts) == 0);
}

typedef struct tree {
  weft_scope *scope;
  wf_u32 *ran;
  unsigned depth;
} tree;

static void grow_tree(void *ctx) {
  tree mine = *(tree *)ctx;
  count_one(mine.ran);
  if (mine.depth == 0) return;
  mine.depth--;
  weft_spawn_copy(mine.scope, &mine, sizeof mine, grow_tree);
  weft_spawn_copy(mine.scope, &mine, sizeof mine, grow_tree);
}

static void do_scope(state *s) {
  weft_opts o = take_options(s);
  unsigned depth = take(s) % 6, trees = take(s) % 8, cancel = take(s);
  wf_u32 ran = {0};
  weft_scope scope;
  weft_scope_begin_with(&o, &scope);
  tree root = {&scope, &ran, depth};
  for (unsigned i = 0; i < trees; i++) {
    weft_spawn(&scope, grow_tree, &root);
    if (cancel % 16 == i + 1) weft_scope_cancel(&scope, -7);
  }
  bool cancelled = weft_scope_cancelled(&scope);
  int status = weft_scope_end(&scope);
  uint32_t all = trees * ((2u << depth) - 1);
  EXPECT(status == (cancelled ? -7 : 0));
  EXPECT(cancelled ? count_of(&ran) <= all : count_of(&ran) == all);
}

static void detached(void *ctx) {
  count_one(ctx);
}

static void do_detach(state *s) {
  weft_opts o = take_options(s);
  o.pool = s->pool;
  o.lane = take(s) % 2 ? WEFT_LANE_BACKGROUND : WEFT_LANE_NORMAL;
  for (unsigned i = take(s) % 16; i > 0; i--)
    if (weft_detach_with(&o, detached, &s->detached) == 0) s->expected_detached++;
}

static void do_async(state *s) {
  weft_opts o = take_options(s);
  o.pool = s->pool;
  weft_handle *handles[4];
  wf_u32 ran = {0};
  unsigned count = take(s) % 4, started = 0;
  for (unsigned i = 0; i < count; i++)
    if (weft_async_with(&o, &handles[started], detached, &ran) == 0) started++;
  for (unsigned i = 0; i < started; i++) EXPECT(weft_handle_wait(handles[i]) == 0);
  EXPECT(count_of(&ran) == started);
}

typedef struct roll {
  wf_u32 seen[8], counts;
} roll;

static void call_roll(unsigned index, unsigned count, void *ctx) {
  roll *r = ctx;
  EXPECT(index < count && count <= 8);
  count_one(&r->seen[index]);
  __atomic_store_n(&r->counts.raw, count, __ATOMIC_RELAXED);
}

static void do_broadcast(state *s) {
  weft_opts o = take_options(s);
  o.pool = s->pool;
  roll r = {0};
  weft_broadcast_with(&o, call_roll, &r);
  for (uint32_t i = 0; i < 8; i++)
    EXPECT(count_of(&r.seen[i]) == (i < count_of(&r.counts) ? 1u : 0u));
}

static void isolated_join(void *ctx) {
  do_join(ctx);
}

static void do_isolate(state *s) {
  weft_isolate(isolated_join, s);
  if (take(s) % 2) weft_yield();
}

static void (*const OPERATIONS[])(state *s) = {
    refill,    do_join,   do_for,   do_sort,   do_scan,  do_filter,    do_partition,
    do_unique, do_search, do_scope, do_detach, do_async, do_broadcast, do_isolate,
};

typedef struct inside {
  state *s;
  unsigned operation;
} inside;

static void run_inside(void *ctx) {
  inside *in = ctx;
  OPERATIONS[in->operation](in->s);
}

static void run_program(state *s) {
  enum { COUNT = sizeof OPERATIONS / sizeof OPERATIONS[0] };
  for (int i = 0; i < MOST_OPERATIONS && s->left > 0; i++) {
    unsigned byte = take(s);
    inside in = {s, byte % COUNT};
    if (byte >= 128)
      weft_pool_run(s->pool, run_inside, &in);
    else
      run_inside(&in);
    expect_equal_arrays(s);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static state s; /* too large for small stacks; one thread fuzzes */
  s = (state){.data = data, .left = size};
  weft_config config = WEFT_CONFIG_INIT;
  unsigned first = take(&s);
  config.threads = 1 + first % 3;
  config.deque_capacity = first & 64 ? 2 : 0;
  config.guests = first & 128 ? 1 : 0;
  if (weft_pool_create(&s.pool, &config) != 0) return 0;
  run_program(&s);
  weft_pool_destroy(s.pool);
  EXPECT(count_of(&s.detached) == s.expected_detached);
  return 0;
}
