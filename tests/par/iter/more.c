/* Iterators beyond their results: searches stop what is in front of them, stages that
 * step over elements call no functions for them, the same bits of floats on any number of
 * threads, use inside of each other, from many threads and twice, cancellation, little
 * stack, texts and pulls.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"
#include "par/iter/sinks.h"

/* ---- calls ---- */

static atomic_size_t calls;

static void count_map(void *out, const void *in, void *ctx) {
  (void)ctx;
  atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
  store_at(out, load(in));
}

static size_t calls_made(void) {
  return atomic_exchange(&calls, 0);
}

static bool is_number(const void *elem, void *ctx) {
  return load(elem) == *(const int64_t *)ctx;
}

static weft_iter counted_range(int64_t n, const weft_opts *opts) {
  weft_iter it = weft_iter_range(0, n);
  weft_iter_map(&it, sizeof(int64_t), count_map, NULL);
  weft_iter_options(&it, opts);
  return it;
}

/* A match near the front: not more than what each thread has begun. Blocks start with one
 * element and grow with the time they take, which nobody can foresee; but they are never
 * more than half of what is left of a part, and there are ten million elements. */
TEST(searches_stop_what_is_in_front) {
  const int64_t n = 10000000, wanted = 10;
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = counted_range(n, &opts);
    int64_t got = 0;
    CHECK(weft_iter_find_first(&it, &got, sizeof got, is_number, (void *)&wanted));
    CHECK_EQ(got, wanted);
    CHECK(calls_made() < (size_t)n / 2);
    CHECK_EQ(weft_iter_position(&it, is_number, (void *)&wanted), 10);
    CHECK(calls_made() < (size_t)n / 2);
    int64_t last = n - 1;
    CHECK(weft_iter_find_last(&it, &got, sizeof got, is_number, &last));
    CHECK(calls_made() < (size_t)n / 2);
    CHECK(weft_iter_find_any(&it, &got, sizeof got, NULL, NULL));
    CHECK(calls_made() < (size_t)n / 2);
    CHECK(!weft_iter_all(&it, is_number, (void *)&wanted));
    CHECK(calls_made() < (size_t)n / 2);
  }
  close_pools();
}

/* With one thread it is exact: blocks of 1, then as they grow; the batch with the match
 * is the last. */
TEST(one_thread_stops_at_once) {
  weft_pool *pool = pool_of(1);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = pool;
  opts.max_len = 4;
  weft_iter it = counted_range(1000000, &opts);
  int64_t wanted = 10, got;
  CHECK(weft_iter_find_first(&it, &got, sizeof got, is_number, &wanted));
  size_t made = calls_made();
  CHECK(made >= 11 && made <= 14);
  CHECK(weft_iter_any(&it, is_number, &wanted));
  made = calls_made();
  CHECK(made >= 11 && made <= 14);
  weft_pool_destroy(pool);
}

/* ---- batches of an array, which a search takes in one piece of some thousands ---- */

static bool is_marked(const void *elem, void *ctx) {
  (void)ctx;
  return *(const unsigned char *)elem == 1;
}

/* n elements whose first byte is 0, except for those at `first` and `last`: found
 * whatever the size of an element, by the predicate and by a filter. */
static void search_in_array(unsigned char *a, size_t n, size_t size, size_t first,
                            size_t last, const weft_opts *opts) {
  unsigned char got[16] = {0};
  weft_iter it = weft_iter_slice(a, n, size);
  weft_iter_options(&it, opts);
  CHECK(!weft_iter_any(&it, is_marked, NULL));
  CHECK_EQ(weft_iter_position(&it, is_marked, NULL), SIZE_MAX);
  a[first * size] = a[last * size] = 1;
  a[first * size + 1] = 2;
  a[last * size + 1] = 3;
  CHECK_EQ(weft_iter_position(&it, is_marked, NULL), first);
  CHECK(weft_iter_find_last(&it, got, size, is_marked, NULL));
  CHECK_EQ(got[1], 3);
  CHECK(weft_iter_any(&it, is_marked, NULL));
  CHECK_EQ(weft_iter_all(&it, is_marked, NULL), n == 1);
  weft_iter_filter(&it, is_marked, NULL);
  CHECK(weft_iter_find_first(&it, got, size, NULL, NULL));
  CHECK_EQ(got[1], first == last ? 3 : 2);
  a[first * size] = a[last * size] = 0;
}

TEST(searches_in_arrays_of_all_sizes) {
  static const size_t firsts[] = {0,    1,    2,    3,     4,     511,  512,
                                  8190, 8191, 8192, 16383, 16384, 19999};
  enum { N = 20000, LARGEST = 16 };
  unsigned char *a = (unsigned char *)calloc(N, LARGEST);
  CHECK(a != NULL);
  open_pools();
  for (unsigned t = 0; t < THREADS_COUNT; t++) {
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
      weft_opts opts = opts_in(t);
      opts.min_len = i % 2 == 0 ? N : 1; /* one block, or as they grow */
      for (size_t size = 2; size <= LARGEST; size += 2) {
        memset(a, 0, (size_t)N * LARGEST);
        search_in_array(a, N, size, firsts[i], N - 1 - i % 3, &opts);
        if (firsts[i] > 0)
          search_in_array(a, firsts[i], size, firsts[i] - 1, firsts[i] - 1, &opts);
      }
    }
  }
  close_pools();
  free(a);
}

/* The stages behind a pull are stopped, and so is the pull. */
TEST(pulls_stop) {
  uint64_t random = harness_seed();
  open_pools();
  FOR_POOLS(opts) {
    source_data *d = source_new(1000000, &random);
    weft_iter it = weft_iter_pull(sizeof(int64_t), pull_some, d);
    weft_iter_options(&it, &opts);
    int64_t got = 0;
    CHECK(weft_iter_find_first(&it, &got, sizeof got, NULL, NULL));
    CHECK_EQ(got, d->array[0]);
    CHECK(atomic_load(&d->pulled) < d->n / 2);
    source_free(d);
  }
  close_pools();
}

TEST(what_is_left_out_is_not_computed) {
  weft_iter it = counted_range(1000, NULL);
  int64_t got[1000];
  weft_iter_step(&it, 10);
  weft_iter_skip(&it, 20);
  weft_iter_take(&it, 30);
  weft_iter_reverse(&it);
  CHECK_EQ(weft_iter_len(&it), 30);
  CHECK_EQ(weft_iter_collect(&it, got, 1000, sizeof got[0]), 30);
  CHECK_EQ(got[0], 490);
  CHECK_EQ(got[29], 200);
  CHECK_EQ(calls_made(), 30);
  /* Those without room neither, where it is known that there is none for them. */
  CHECK_EQ(weft_iter_collect(&it, got, 7, sizeof got[0]), 30);
  CHECK_EQ(calls_made(), 7);
  /* Nor those that are only counted; but inspect has its look. */
  CHECK_EQ(weft_iter_count(&it), 30);
  CHECK_EQ(calls_made(), 0);
  atomic_store(&inspected, 0);
  weft_iter_inspect(&it, count_look, NULL);
  CHECK_EQ(weft_iter_count(&it), 30);
  CHECK_EQ(atomic_load(&inspected), 30);
}

TEST(each_function_once_for_each_element) {
  uint64_t salt = 4;
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = counted_range(100000, &opts);
    int64_t *a = array_of(100000, 8), *b = array_of(100000, 8);
    calls_made();
    weft_iter_sum_i64(&it);
    CHECK_EQ(calls_made(), 100000);
    weft_iter_filter(&it, keep, &salt);
    weft_iter_collect(&it, a, 100000, 8);
    CHECK_EQ(calls_made(), 100000);
    weft_iter_partition(&it, a, b, 100000, 8, keep, &salt);
    CHECK_EQ(calls_made(), 100000);
    weft_iter_count(&it);
    CHECK_EQ(calls_made(), 100000);
    free(a);
    free(b);
  }
  close_pools();
}

/* Behind take_while nothing is seen that lies behind the end. */
static void below_limit(const void *elem, void *ctx) {
  CHECK(load(elem) < *(const int64_t *)ctx);
}

static bool is_below_limit(const void *elem, void *ctx) {
  return load(elem) < *(const int64_t *)ctx;
}

TEST(nothing_is_seen_behind_the_end) {
  int64_t limit = 70001;
  uint64_t salt = 6;
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = weft_iter_range(0, 1000000 / harness_slowdown());
    weft_iter_filter(&it, keep, &salt);
    weft_iter_take_while(&it, is_below_limit, &limit);
    weft_iter_inspect(&it, below_limit, &limit);
    weft_iter_options(&it, &opts);
    weft_iter_for_each(&it, below_limit, &limit);
  }
  close_pools();
}

static void emit_hundred(const void *in, weft_out *out, void *ctx) {
  int64_t x = load(in);
  (void)ctx;
  for (int64_t j = 0; j < 100; j++) {
    int64_t y = 100 * x + j;
    weft_emit(out, &y, sizeof y);
  }
}
WEFT_KERNEL_FLAT_MAP(hundred, int64_t, int64_t, 100, 100 * x + (int64_t)j)

/* The batch with the end of a take_while makes many batches behind a flat map, and each
 * of those makes more: all of them come. */
TEST(all_is_seen_before_the_end) {
  int64_t limits[] = {0, 1, 30, 150}, far = INT64_MAX;
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 16; i++) {
      int64_t limit = limits[i % 4], n = (i & 4 ? 100 : 10000) * limit;
      weft_iter it = weft_iter_range(0, 90);
      weft_iter_flat_map(&it, sizeof(int64_t), emit_hundred, NULL);
      weft_iter_take_while(&it, is_below_limit, &limit);
      if (i & 8)
        weft_iter_flat_map(&it, sizeof(int64_t), emit_hundred, NULL);
      else
        weft_iter_apply(&it, &hundred, NULL);
      if (!(i & 4)) weft_iter_apply(&it, &hundred, NULL);
      weft_iter_take_while(&it, is_below_limit, &far);
      weft_iter_options(&it, &opts);
      CHECK_EQ(weft_iter_sum_i64(&it), n * (n - 1) / 2);
    }
  }
  close_pools();
}

/* ---- the same bits ---- */

static void to_double(void *out, const void *in, void *ctx) {
  double x = (double)(mixed(load(in), ctx) >> 11) * 1e-9;
  memcpy(out, &x, sizeof x);
}

static void to_float(void *out, const void *in, void *ctx) {
  float x = (float)(mixed(load(in), ctx) >> 40) * 1e-3f;
  memcpy(out, &x, sizeof x);
}

/* Sums of 8-byte and 4-byte floats behind a filter, a flat map, lines and a pull. */
static void float_sums(const weft_opts *opts, uint64_t *random, double sums[8]) {
  uint64_t salt = 8, seed = *random;
  source_data *d = source_new(30011, &seed);
  for (int i = 0; i < 4; i++) {
    source_kind sources[] = {FROM_SLICE, FROM_SLICE, FROM_LINES, FROM_PULL};
    model m;
    weft_iter it = build_source(sources[i], d, &m), small;
    if (i == 0) weft_iter_filter(&it, keep, &salt);
    if (i == 1) weft_iter_flat_map(&it, sizeof(int64_t), emit_some, &salt);
    weft_iter_options(&it, opts);
    small = it;
    weft_iter_map(&it, sizeof(double), to_double, &salt);
    weft_iter_map(&small, sizeof(float), to_float, &salt);
    atomic_store(&d->pulled, 0);
    sums[2 * i] = weft_iter_sum_f64(&it);
    atomic_store(&d->pulled, 0);
    sums[2 * i + 1] = weft_iter_sum_f32(&small);
    model_free(&m);
  }
  source_free(d);
}

TEST(sums_of_floats_have_the_same_bits) {
  uint64_t random = harness_seed();
  double first[8], sums[8];
  open_pools();
  for (unsigned pool = 0; pool < THREADS_COUNT; pool++)
    for (int repeat = 0; repeat < 5; repeat++) {
      weft_opts opts = opts_in(pool);
      float_sums(&opts, &random, sums);
      if (pool == 0 && repeat == 0) memcpy(first, sums, sizeof first);
      CHECK(memcmp(first, sums, sizeof first) == 0);
    }
  close_pools();
}

/* Whole numbers have one sum only, so this one is exact. */
#define CHECK_TYPE(name, type, wide)                                                     \
  {                                                                                      \
    type *a = array_of(n, sizeof(type)), low = 100, high = 0;                            \
    wide sum = 0;                                                                        \
    for (size_t i = 0; i < n; i++) {                                                     \
      a[i] = (type)(mixed((int64_t)i, &salt) % 100);                                     \
      sum += (wide)a[i];                                                                 \
      if (a[i] < low) low = a[i];                                                        \
      if (a[i] > high) high = a[i];                                                      \
    }                                                                                    \
    weft_iter it = weft_iter_slice(a, n, sizeof(type));                                  \
    CHECK_EQ(weft_iter_sum_##name(&it), sum);                                            \
    CHECK_EQ(weft_iter_min_##name(&it), low);                                            \
    CHECK_EQ(weft_iter_max_##name(&it), high);                                           \
    free(a);                                                                             \
  }

TEST(sums_and_extremes_of_each_type) {
  uint64_t salt = 3;
  for (unsigned l = 0; l < LENGTHS_COUNT; l++) {
    size_t n = LENGTHS[l];
    if (n == 0 || is_too_large(n, 64)) continue;
    CHECK_TYPE(i32, int32_t, int64_t)
    CHECK_TYPE(u32, uint32_t, uint64_t)
    CHECK_TYPE(i64, int64_t, int64_t)
    CHECK_TYPE(u64, uint64_t, uint64_t)
    CHECK_TYPE(f32, float, double)
    CHECK_TYPE(f64, double, double)
  }
}

TEST(extremes_of_nothing_and_of_nan) {
  double nan = __builtin_nan(""), some[] = {nan, 3, nan, 2, nan};
  weft_iter none = weft_iter_slice(NULL, 0, sizeof(double));
  weft_iter it = weft_iter_slice(some, 5, sizeof(double)), first = it;
  CHECK_EQ(weft_iter_min_f64(&none), __builtin_inf());
  CHECK_EQ(weft_iter_max_f64(&none), -__builtin_inf());
  CHECK_EQ(weft_iter_min_f64(&it), 2.0);
  CHECK_EQ(weft_iter_max_f64(&it), 3.0);
  weft_iter_take(&first, 1);
  CHECK(weft_iter_min_f64(&first) != weft_iter_min_f64(&first));
}

/* ---- use ---- */

static void inner_sum(void *out, const void *in, void *ctx) {
  weft_iter it = weft_iter_range(0, load(in));
  weft_iter_filter(&it, keep, ctx);
  store_at(out, weft_iter_sum_i64(&it));
}

static int64_t serial_sum(int64_t n, const uint64_t *salt) {
  int64_t sum = 0;
  for (int64_t i = 0; i < n; i++) sum += is_kept(i, salt) ? i : 0;
  return sum;
}

TEST(inside_of_each_other) {
  uint64_t salt = 2;
  int64_t expected = 0, n = 300 / harness_slowdown() + 10;
  for (int64_t i = 0; i < n; i++) expected += serial_sum(i, &salt);
  open_pools();
  FOR_POOLS(opts) {
    weft_iter it = weft_iter_range(0, n);
    weft_iter_map(&it, sizeof(int64_t), inner_sum, &salt);
    weft_iter_options(&it, &opts);
    CHECK_EQ(weft_iter_sum_i64(&it), expected);
  }
  close_pools();
}

typedef struct shared_use {
  const weft_iter *it;
  int64_t sum;
  size_t kept;
} shared_use;

static void use_shared(unsigned index, void *arg) {
  const shared_use *u = arg;
  int64_t *a = malloc(10000 * sizeof *a);
  REQUIRE(a != NULL);
  for (int i = 0; i < 20; i++) {
    if ((index + (unsigned)i) % 2 == 0)
      CHECK_EQ(weft_iter_sum_i64(u->it), u->sum);
    else
      CHECK_EQ(weft_iter_collect(u->it, a, 10000, sizeof *a), u->kept);
  }
  free(a);
}

TEST(from_many_threads_and_twice) {
  uint64_t salt = 2;
  weft_iter it = weft_iter_range(0, 10000), copy;
  weft_iter_filter(&it, keep, &salt);
  shared_use u = {&it, serial_sum(10000, &salt), weft_iter_count(&it)};
  CHECK_EQ(weft_iter_sum_i64(&it), u.sum);
  CHECK_EQ(weft_iter_sum_i64(&it), u.sum);
  copy = it;
  weft_iter_filter(&copy, keep, &salt); /* leaves the other one as it was */
  CHECK_EQ(weft_iter_sum_i64(&copy), u.sum);
  CHECK_EQ(weft_iter_count(&it), u.kept);
  harness_run_threads(6, use_shared, &u);
}

static void double_in_place(const void *elem, void *ctx) {
  int64_t *const *ref = elem;
  (void)ctx;
  **ref *= 2;
}

static void double_chunk(const void *elem, void *ctx) {
  const weft_chunk *c = elem;
  (void)ctx;
  for (size_t i = 0; i < c->count; i++) ((int64_t *)c->data)[i] *= 2;
}

TEST(arrays_are_changed_in_place) {
  int64_t a[5000];
  for (int64_t i = 0; i < 5000; i++) a[i] = i;
  weft_iter refs = weft_iter_refs(a, 5000, sizeof a[0]);
  weft_iter chunks = weft_iter_slice(a, 5000, sizeof a[0]);
  weft_iter_step(&refs, 2);
  weft_iter_reverse(&refs);
  weft_iter_for_each(&refs, double_in_place, NULL);
  weft_iter_chunk(&chunks, 7);
  weft_iter_for_each(&chunks, double_chunk, NULL);
  for (int64_t i = 0; i < 5000; i++) CHECK_EQ(a[i], i % 2 == 0 ? 4 * i : 2 * i);
}

/* ---- cancellation ---- */

static void cancel_at(const void *elem, void *ctx) {
  if (load(elem) == 5000) weft_scope_cancel(ctx, 1);
}

/* Every kind of sink comes back, long before the end. */
TEST(cancelled) {
  uint64_t salt = 2;
  const int64_t n = (int64_t)1 << (sizeof(size_t) < 8 ? 31 : 50); /* nobody gets there */
  int64_t few[4];
  open_pools();
  FOR_POOLS(opts) {
    for (int sink = 0; sink < 6; sink++) {
      weft_scope scope;
      weft_scope_begin(&scope);
      weft_buffer b = {NULL, 0, 0};
      weft_iter it = weft_iter_range(0, n);
      weft_iter_inspect(&it, cancel_at, &scope);
      weft_iter_options(&it, &opts);
      weft_iter_cancel(&it, &scope);
      weft_iter_max_len(&it, 1000);
      if (sink >= 2) weft_iter_filter(&it, keep, &salt);
      if (sink == 0) weft_iter_for_each(&it, count_look, NULL);
      if (sink == 1) weft_iter_position(&it, is_number, (int64_t[]){-1});
      if (sink == 2) weft_iter_collect(&it, few, 4, sizeof few[0]);
      if (sink == 3) weft_iter_append(&it, &b, sizeof(int64_t));
      if (sink == 4) weft_iter_count(&it);
      if (sink == 5)
        weft_iter_find_first(&it, few, sizeof few[0], is_number, (int64_t[]){-1});
      CHECK(weft_scope_cancelled(&scope));
      weft_scope_end(&scope);
      free(b.data);
    }
  }
  close_pools();
}

/* ---- little stack ---- */

static void *on_little_stack(void *arg) {
  uint64_t salt = 2;
  weft_iter it = weft_iter_range(0, 100000);
  weft_iter_filter(&it, keep, &salt);
  weft_iter_map(&it, 100, widen, NULL);
  weft_iter_map(&it, sizeof(double), to_double, &salt);
  *(double *)arg = weft_iter_sum_f64(&it);
  return NULL;
}

/* The same bits, although batches are shorter there. */
TEST(a_thread_with_little_stack) {
  double here, there = 0;
  pthread_attr_t attr;
  pthread_t thread;
  on_little_stack(&here);
  REQUIRE(pthread_attr_init(&attr) == 0);
  if (pthread_attr_setstacksize(&attr, 64 << 10) != 0)
    REQUIRE(pthread_attr_setstacksize(&attr, 128 << 10) == 0); /* the least on aarch64 */
  REQUIRE(pthread_create(&thread, &attr, on_little_stack, &there) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
  CHECK(memcmp(&here, &there, sizeof here) == 0);
  pthread_attr_destroy(&attr);
}

/* ---- nothing ---- */

static bool keep_none(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
  return false;
}

/* Blocks that are kept and have nothing in them are not copied to an array that is not
 * there: the sanitizers look. */
TEST(nothing_appended_to_nothing) {
  open_pools();
  FOR_POOLS(opts) {
    weft_buffer buffer = {NULL, 0, 0};
    weft_iter it = weft_iter_range(0, 100000);
    weft_iter_filter(&it, keep_none, NULL);
    weft_iter_options(&it, &opts);
    CHECK_EQ(weft_iter_append(&it, &buffer, sizeof(int64_t)), 0);
    CHECK(buffer.data == NULL && buffer.count == 0);
  }
  close_pools();
}

/* ---- ranges ---- */

/* Where a size_t has 32 bits, too. */
TEST(numbers_of_64_bits) {
  static const struct {
    int64_t begin, end, step;
  } ranges[] = {{-5, 5, 1},
                {5, -5, -3},
                {INT64_C(5000000000), INT64_C(5000000009), 2},
                {INT64_C(30000000000), INT64_C(-30000000000), INT64_C(-10000000000)},
                {INT64_MIN, INT64_MAX, INT64_MAX},
                {INT64_MAX, INT64_MIN, INT64_MIN}};
  for (unsigned k = 0; k < sizeof ranges / sizeof ranges[0]; k++) {
    int64_t all[10], other[10];
    weft_iter it = weft_iter_range_step(ranges[k].begin, ranges[k].end, ranges[k].step);
    size_t n = weft_iter_collect(&it, all, 10, sizeof *all);
    REQUIRE(n > 0 && n <= 10);
    uint64_t x = (uint64_t)ranges[k].begin;
    for (size_t i = 0; i < n; i++, x += (uint64_t)ranges[k].step)
      CHECK_EQ(all[i], (int64_t)x);
    weft_iter_reverse(&it);
    weft_iter_step(&it, 2);
    size_t m = weft_iter_collect(&it, other, 10, sizeof *other);
    CHECK_EQ(m, (n + 1) / 2);
    for (size_t i = 0; i < m; i++) CHECK_EQ(other[i], all[n - 1 - 2 * i]);
  }
}

/* ---- lines and pulls ---- */

TEST(lines_of_texts) {
  static const struct {
    const char *text;
    size_t lines;
  } texts[] = {{"", 0},     {"\n", 1},   {"a", 1},          {"a\n", 1},
               {"a\nb", 2}, {"\n\n", 2}, {"\na\n\nb\n", 4}, {"ab\r\ncd", 2}};
  for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    weft_iter it = weft_iter_lines(texts[i].text, strlen(texts[i].text));
    weft_line last = {NULL, 0};
    CHECK_EQ(weft_iter_count(&it), texts[i].lines);
    CHECK_EQ(weft_iter_find_last(&it, &last, sizeof last, NULL, NULL),
             texts[i].lines > 0);
  }
}

/* The first batch has no match and takes until the third one is under way; so it comes
 * late, and only the search in that batch may end, not the pull. */
static atomic_bool third_is_here;

static bool matches_late(const void *elem, void *ctx) {
  (void)ctx;
  if (load(elem) == 2) atomic_store(&third_is_here, true);
  if (load(elem) == 0) AWAIT(atomic_load(&third_is_here));
  return load(elem) > 0;
}

static size_t pull_one(void *out, size_t room, void *ctx) {
  int64_t *next = ctx;
  CHECK(room > 0);
  if (*next == 100000) return 0;
  store_at(out, (*next)++);
  return 1;
}

TEST(the_last_match_behind_a_pull) {
  weft_pool *pool = pool_of(2);
  for (int repeat = 0; repeat < 5; repeat++) {
    int64_t next = 0, last = 0;
    weft_iter it = weft_iter_pull(sizeof(int64_t), pull_one, &next);
    weft_iter_pool(&it, pool);
    atomic_store(&third_is_here, false);
    CHECK(weft_iter_find_last(&it, &last, sizeof last, matches_late, NULL));
    CHECK_EQ(last, 99999);
  }
  weft_pool_destroy(pool);
}

typedef struct busy_source {
  int64_t next;
  atomic_bool inside;
  const uint64_t *salt;
} busy_source;

/* Uses the pool itself, while no other thread may be in here. */
static size_t pull_busily(void *out, size_t room, void *ctx) {
  busy_source *b = ctx;
  CHECK(!atomic_exchange(&b->inside, true));
  weft_iter it = weft_iter_range(0, 1000);
  weft_iter_filter(&it, keep, (void *)b->salt);
  CHECK_EQ(weft_iter_sum_i64(&it), serial_sum(1000, b->salt));
  size_t n = b->next < 5000 ? 50 : 0;
  if (n > room) n = room;
  for (size_t i = 0; i < n; i++) ((int64_t *)out)[i] = b->next++;
  atomic_store(&b->inside, false);
  return n;
}

TEST(a_pull_that_uses_the_pool) {
  uint64_t salt = 2;
  open_pools();
  FOR_POOLS(opts) {
    busy_source b = {0, false, &salt};
    weft_iter it = weft_iter_pull(sizeof(int64_t), pull_busily, &b);
    weft_iter_options(&it, &opts);
    CHECK_EQ(weft_iter_sum_i64(&it), 4999 * 5000 / 2);
  }
  close_pools();
}

/* ---- tiles ---- */

typedef struct tile_list {
  weft_tile tile[200];
  atomic_size_t count;
} tile_list;

static void add_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  tile_list *l = ctx;
  size_t i = atomic_fetch_add(&l->count, 1);
  if (i < 200) l->tile[i] = (weft_tile){r0, r1, c0, c1};
}

static int compare_tiles(const void *a, const void *b) {
  const weft_tile *x = a, *y = b;
  if (x->r0 != y->r0) return x->r0 < y->r0 ? -1 : 1;
  return x->c0 < y->c0 ? -1 : x->c0 > y->c0;
}

/* A tile length of 0 means the same in a loop and in an iterator. */
TEST(tiles_are_those_of_loops) {
  static const size_t lengths[] = {0, 1, 5, 31, 32, 33, 70};
  for (unsigned r = 0; r < 7; r++)
    for (unsigned c = 0; c < 7; c++)
      for (size_t tile = 0; tile < 4; tile++) {
        size_t rows = lengths[r], cols = lengths[c];
        size_t tile_rows = tile % 2 * 17, tile_cols = tile / 2 * 9;
        tile_list l = {.count = 0};
        weft_tile got[200];
        weft_iter it = weft_iter_tiles(rows, cols, tile_rows, tile_cols);
        size_t n = weft_iter_collect(&it, got, 200, sizeof *got);
        weft_for_2d(rows, cols, tile_rows, tile_cols, add_tile, &l);
        REQUIRE(n <= 200 && n == atomic_load(&l.count));
        qsort(l.tile, n, sizeof *l.tile, compare_tiles);
        CHECK(memcmp(got, l.tile, n * sizeof *got) == 0);
        if (tile == 0 && cols > 0) CHECK_EQ(n, (rows + 31) / 32);
      }
}

/* ---- accumulators of a fold ---- */

typedef struct leaf_count {
  atomic_uint leaves;
} leaf_count;

static void count_leaf(void *acc, void *ctx) {
  atomic_fetch_add(&((leaf_count *)ctx)->leaves, 1);
  *(int64_t *)acc = 0;
}

static void count_elems(void *acc, const void *elems, size_t n, void *ctx) {
  (void)elems, (void)ctx;
  *(int64_t *)acc += (int64_t)n;
}

static void add_counts(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(int64_t *)acc += *(const int64_t *)right;
}

static void check_leaf_counts(void *ctx) {
  const weft_folder f = {sizeof(int64_t), sizeof(int64_t), count_leaf, count_elems,
                         add_counts};
  (void)ctx;
  for (size_t chunks = 1; chunks <= 1000; chunks = 3 * chunks + 1) {
    weft_opts opts = WEFT_OPTS_INIT;
    leaf_count c = {0};
    int64_t count;
    size_t leaf = (10000 + chunks - 1) / chunks;
    opts.target_chunks = chunks;
    weft_iter it = weft_iter_range(0, 10000);
    weft_iter_options(&it, &opts);
    weft_iter_fold(&it, &count, &f, &c);
    CHECK_EQ(count, 10000);
    CHECK_EQ(atomic_load(&c.leaves), (10000 + leaf - 1) / leaf);
  }
}

TEST(options_set_the_leaves_of_folds) {
  in_each_pool(check_leaf_counts, NULL);
}
