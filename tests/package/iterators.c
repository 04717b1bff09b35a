/* iterators.c - iterators of the installed library: every source, stage, kernel and sink
 * at least once, against numbers that are known. Compiles as C11 and, under another name,
 * as C++17.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define N 5000 /* a few batches */

static int failures;

#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      failures++;                                                                        \
      printf("line %d: %s\n", __LINE__, #condition);                                     \
    }                                                                                    \
  } while (0)

static int64_t numbers[N], out[2 * N], more[2 * N];
static size_t places[N];

/* ---- functions ---- */

static int64_t number(const void *elem) {
  return *(const int64_t *)elem;
}

static void add_one(void *to, const void *in, void *ctx) {
  (void)ctx;
  *(int64_t *)to = number(in) + 1;
}

static void add_two(void *to, const void *a, const void *b, void *ctx) {
  (void)ctx;
  *(int64_t *)to = number(a) + number(b);
}

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return number(elem) % 2 == 0;
}

static bool is_small(const void *elem, void *ctx) {
  return number(elem) < *(const int64_t *)ctx;
}

static bool halve(void *to, const void *in, void *ctx) {
  (void)ctx;
  *(int64_t *)to = number(in) / 2;
  return number(in) % 2 == 0;
}

static void twice(const void *in, weft_out *to, void *ctx) {
  (void)ctx;
  weft_emit(to, in, sizeof(int64_t));
  weft_emit(to, in, sizeof(int64_t));
}

static void look(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
}

static void double_it(const void *elem, void *ctx) {
  (void)ctx;
  **(int64_t *const *)elem *= 2;
}

static void look_at_all(const void *elems, size_t n, void *ctx) {
  (void)elems, (void)ctx;
  CHECK(n > 0);
}

static int by_value(const void *a, const void *b, void *ctx) {
  (void)ctx;
  return (number(a) > number(b)) - (number(a) < number(b));
}

static void add_to(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(int64_t *)acc += number(x);
}

static void fold_init(void *acc, void *ctx) {
  (void)ctx;
  *(int64_t *)acc = 0;
}

static void fold_all(void *acc, const void *elems, size_t n, void *ctx) {
  for (size_t i = 0; i < n; i++) add_to(acc, (const int64_t *)elems + i, ctx);
}

static size_t pull_some(void *to, size_t room, void *ctx) {
  int64_t *next = (int64_t *)ctx;
  size_t n = 0;
  while (n < room && n < 100 && *next < N) ((int64_t *)to)[n++] = (*next)++;
  return n;
}

static void length_of(void *to, const void *in, void *ctx) {
  (void)ctx;
  *(int64_t *)to = (int64_t)((const weft_line *)in)->length;
}

static void count_of(void *to, const void *in, void *ctx) {
  (void)ctx;
  *(int64_t *)to = (int64_t)((const weft_chunk *)in)->count;
}

WEFT_KERNEL_MAP(plus_one, int64_t, int64_t, x + 1)
WEFT_KERNEL_FILTER(even, int64_t, x % 2 == 0)
WEFT_KERNEL_FILTER_MAP(half_of_even, int64_t, int64_t, x % 2 == 0, x / 2)
WEFT_KERNEL_FLAT_MAP(two_of_each, int64_t, int64_t, 2, x + (int64_t)(0 * j))
WEFT_KERNEL_ZIP(sum_of_two, int64_t, int64_t, int64_t, x + y)

static weft_iter slice(void) {
  return weft_iter_slice(numbers, N, sizeof numbers[0]);
}

/* ---- parts ---- */

static void sources(void) {
  const char text[] = "one\ntwo\n\nlast";
  const int64_t seven = 7;
  int64_t next = 0;
  weft_iter it = weft_iter_range(0, N);
  CHECK(weft_iter_sum_i64(&it) == (int64_t)N * (N - 1) / 2);
  it = weft_iter_range_step(10, 0, -3);
  CHECK(weft_iter_len(&it) == 4 && weft_iter_min_i64(&it) == 1);
  it = weft_iter_refs(out, N, sizeof out[0]);
  weft_iter_for_each(&it, double_it, NULL);
  it = weft_iter_chunks(numbers, N, sizeof numbers[0], 7);
  weft_iter_map(&it, sizeof(int64_t), count_of, NULL);
  CHECK(weft_iter_sum_i64(&it) == N);
  it = weft_iter_windows(numbers, N, sizeof numbers[0], 7);
  CHECK(weft_iter_len(&it) == N - 6);
  it = weft_iter_tiles(10, 10, 3, 0);
  CHECK(weft_iter_len(&it) == 4 && weft_iter_size(&it) == sizeof(weft_tile));
  it = weft_iter_repeat(&seven, 6, sizeof seven);
  CHECK(weft_iter_sum_i64(&it) == 42);
  it = weft_iter_lines(text, strlen(text));
  weft_iter_map(&it, sizeof(int64_t), length_of, NULL);
  CHECK(weft_iter_count(&it) == 4 && weft_iter_sum_i64(&it) == 10);
  it = weft_iter_pull(sizeof(int64_t), pull_some, &next);
  CHECK(weft_iter_sum_i64(&it) == (int64_t)N * (N - 1) / 2);
}

typedef struct numbered {
  size_t index;
  int64_t value;
} numbered;

static void stages(void) {
  int64_t limit = 100;
  weft_iter it = slice(), right = slice();
  weft_iter_map(&it, sizeof(int64_t), add_one, NULL);
  weft_iter_apply(&it, &plus_one, NULL);
  weft_iter_inspect(&it, look, NULL);
  weft_iter_skip(&it, 10), weft_iter_take(&it, 100), weft_iter_step(&it, 3);
  weft_iter_reverse(&it);
  CHECK(weft_iter_len(&it) == 34);
  CHECK(weft_iter_collect(&it, out, N, sizeof out[0]) == 34 && out[33] == 12);
  it = slice();
  weft_iter_filter(&it, is_even, NULL), weft_iter_apply(&it, &half_of_even, NULL);
  weft_iter_filter_map(&it, sizeof(int64_t), halve, NULL);
  weft_iter_take_while(&it, is_small, &limit);
  weft_iter_flat_map(&it, sizeof(int64_t), twice, NULL);
  weft_iter_apply(&it, &two_of_each, NULL), weft_iter_apply(&it, &even, NULL);
  CHECK(weft_iter_count(&it) == 200 && weft_iter_max_i64(&it) == 98);
  it = slice();
  weft_iter_zip_apply(&it, &right, &sum_of_two, NULL);
  weft_iter_zip_map(&it, &right, sizeof(int64_t), add_two, NULL);
  weft_iter_chain(&it, &right), weft_iter_interleave(&it, &right);
  CHECK(weft_iter_sum_i64(&it) == (int64_t)5 * N * (N - 1) / 2);
  it = slice();
  weft_iter_enumerate(&it, sizeof(numbered), offsetof(numbered, value));
  CHECK(weft_iter_unzip(&it, places, more, N, sizeof places[0], sizeof more[0],
                        offsetof(numbered, value)) == N);
  CHECK(memcmp(more, numbers, sizeof numbers) == 0 && places[N - 1] == N - 1);
  it = slice();
  weft_iter_zip(&it, &right, 16, 8), weft_iter_chunk(&it, 9);
  CHECK(weft_iter_len(&it) == 556);
}

static void sinks(void) {
  static const weft_folder sum = {sizeof(int64_t), sizeof(int64_t), fold_init, fold_all,
                                  add_to};
  int64_t zero = 0, got = 0, limit = N / 2;
  weft_buffer buffer = {NULL, 0, 0};
  weft_opts opts = WEFT_OPTS_INIT;
  weft_iter it = slice();
  weft_iter_options(&it, &opts), weft_iter_pool(&it, NULL), weft_iter_cancel(&it, NULL);
  weft_iter_min_len(&it, 10), weft_iter_max_len(&it, 1000);
  weft_iter_for_each(&it, look, NULL), weft_iter_each_batch(&it, look_at_all, NULL);
  weft_iter_reduce(&it, &got, sizeof got, &zero, add_to, NULL);
  CHECK(got == (int64_t)N * (N - 1) / 2);
  weft_iter_fold(&it, &got, &sum, NULL);
  CHECK(got == (int64_t)N * (N - 1) / 2);
  CHECK(weft_iter_min_by(&it, &got, sizeof got, by_value, NULL) && got == 0);
  CHECK(weft_iter_max_by(&it, &got, sizeof got, by_value, NULL) && got == N - 1);
  CHECK(weft_iter_find_any(&it, &got, sizeof got, is_even, NULL) && got % 2 == 0);
  CHECK(weft_iter_find_first(&it, &got, sizeof got, is_even, NULL) && got == 0);
  CHECK(weft_iter_find_last(&it, &got, sizeof got, is_small, &limit) && got == limit - 1);
  CHECK(weft_iter_position(&it, is_even, NULL) == 0);
  CHECK(weft_iter_any(&it, is_even, NULL) && !weft_iter_all(&it, is_even, NULL));
  CHECK(!weft_iter_none(&it, is_even, NULL));
  CHECK(weft_iter_append(&it, &buffer, sizeof got) == 0 && buffer.count == N);
  weft_counts counts = weft_iter_partition(&it, out, more, N, 8, is_even, NULL);
  CHECK(counts.yes == N / 2 && counts.no == N / 2 && more[0] == 1);
  CHECK(weft_iter_scan(&it, out, N, 8, &zero, true, add_to, NULL) == N && out[3] == 6);
  weft_iter_reverse(&it);
  CHECK(weft_iter_sort(&it, out, N, 8, by_value, NULL) == N && out[3] == 3);
  free(buffer.data);
}

/* Of the element types that are not used above. */
#define NUMBERS(name, type)                                                              \
  {                                                                                      \
    type a[3] = {3, 1, 2};                                                               \
    weft_iter it = weft_iter_slice(a, 3, sizeof(type));                                  \
    CHECK(weft_iter_sum_##name(&it) == 6 && weft_iter_min_##name(&it) == 1);             \
    CHECK(weft_iter_max_##name(&it) == 3);                                               \
  }

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wfloat-equal" /* small integers: exact */
#endif

int main(void) {
  for (int64_t i = 0; i < N; i++) numbers[i] = i;
  sources();
  stages();
  sinks();
  NUMBERS(i32, int32_t)
  NUMBERS(u32, uint32_t)
  NUMBERS(u64, uint64_t)
  NUMBERS(f32, float)
  NUMBERS(f64, double)
  printf("iterators: %d failures\n", failures);
  return failures != 0;
}
