/* Sorting and selecting of numbers: all types, lengths, patterns and numbers of threads;
 * the checks only know the order.
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/radix/radix.h"
#include "par/sort/typed_support.h"

/* Calls `fn` for all types, lengths and patterns. Long arrays take long: of their
 * patterns it uses only some, each time others. */
typedef struct round_of {
  void (*fn)(const kind *k, void *a, size_t n, uint64_t *random);
  unsigned turn;
} round_of;

static void each_kind_length_pattern(void *ctx) {
  round_of *round = ctx;
  uint64_t random = harness_seed();
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    size_t n = LENGTHS[i];
    unsigned step = n < 5000 ? 1 : n < 100000 ? 5 : 13;
    if (harness_slowdown() > 1 && n > 1000) step *= 4;
    if (is_too_large(n, 64)) continue;
    for (unsigned k = 0; k < KINDS_COUNT; k++) {
      void *a = array_of(n, KINDS[k].size);
      for (unsigned p = 0; p < PATTERNS; p++) {
        if (round->turn++ % step != 0) continue;
        fill_pattern(&KINDS[k], a, n, (pattern)p, &random);
        round->fn(&KINDS[k], a, n, &random);
      }
      free(a);
    }
  }
}

static void in_all_pools(void (*fn)(const kind *k, void *a, size_t n, uint64_t *random)) {
  round_of round = {fn, 0};
  in_each_pool(each_kind_length_pattern, &round);
}

/* ---- sort, is_sorted ---- */

static bool serial_is_sorted(const kind *k, const void *a, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (compare_at(k, a, i - 1, i) > 0) return false;
  return true;
}

static void sort_and_check(const kind *k, void *a, size_t n, uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  (void)random;
  CHECK_EQ(k->is_sorted(NULL, a, n), serial_is_sorted(k, a, n));
  k->sort(NULL, a, n);
  check_same(k, a, n, print);
  if (check_sorted(k, a, n)) CHECK(k->is_sorted(NULL, a, n));
}

TEST_LIMIT(sorts_everything, 120) {
  in_all_pools(sort_and_check);
}

/* CPUs without AVX-512 sort leaves in another way. */
TEST_LIMIT(sorts_everything_without_lists, 120) {
  round_of round = {sort_and_check, 0};
  wf_lists_allow(false);
  each_kind_length_pattern(&round);
  wf_lists_allow(true);
}

/* Numbers around zero, of which each order of magnitude is less likely; and some that are
 * far from them, or no numbers. */
TEST_LIMIT(sorts_numbers_that_are_not_spread_evenly, 120) {
  size_t n = 140000 * (harness_slowdown() == 1 ? 4 : 1);
  uint64_t seed = harness_seed();
  double *a = array_of(n, sizeof *a);
  float *b = array_of(n, sizeof *b);
  for (unsigned round = 0; round < 4; round++) {
    for (size_t i = 0; i < n; i++) {
      uint64_t r = harness_random(&seed);
      double unit = (double)(int64_t)r / 9223372036854775808.0;
      a[i] = round % 2 == 0 ? unit : 1 / (unit + 1e-12);
      if (round > 1 && r % 1000 == 0) a[i] = r % 2000 == 0 ? 1e300 * unit : (double)NAN;
      b[i] = (float)a[i];
    }
    uint64_t print_a = fingerprint(&KINDS[5], a, n);
    uint64_t print_b = fingerprint(&KINDS[4], b, n);
    wf_lists_allow(round != 1);
    weft_sort_f64(a, n);
    weft_sort_f32(b, n);
    check_same(&KINDS[5], a, n, print_a);
    check_same(&KINDS[4], b, n, print_b);
    check_sorted(&KINDS[5], a, n);
    check_sorted(&KINDS[4], b, n);
  }
  wf_lists_allow(true);
  free(b);
  free(a);
}

/* One pair out of order is found wherever it is. */
static void break_and_check(const kind *k, void *a, size_t n, uint64_t *random) {
  if (n < 2) return;
  size_t at = (size_t)(harness_random(random) % (n - 1));
  fill_pattern(k, a, n, SORTED, random);
  CHECK(k->is_sorted(NULL, a, n));
  uint64_t left = bits_at(k, a, at), right = bits_at(k, a, at + 1);
  set_bits(k, a, at, right);
  set_bits(k, a, at + 1, left);
  CHECK_EQ(k->is_sorted(NULL, a, n), compare_at(k, a, at, at + 1) <= 0);
}

TEST_LIMIT(is_sorted_sees_one_wrong_pair, 120) {
  in_all_pools(break_and_check);
}

/* ---- nth_element, partial_sort ---- */

static void select_and_check(const kind *k, void *a, size_t n, uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  size_t places[] = {0, n / 2, n - 1, n,
                     n == 0 ? 1 : (size_t)(harness_random(random) % n)};
  for (unsigned i = 0; i < 5; i++) {
    k->nth(NULL, a, n, places[i]);
    check_same(k, a, n, print);
    if (places[i] < n) check_nth(k, a, n, places[i]);
  }
}

TEST_LIMIT(the_nth_element_is_in_its_place, 120) {
  in_all_pools(select_and_check);
}

static void sort_part_and_check(const kind *k, void *a, size_t n, uint64_t *random) {
  uint64_t print = fingerprint(k, a, n);
  size_t counts[] = {n == 0 ? 0 : (size_t)(harness_random(random) % n), 0, 1, 10, n + 1};
  for (unsigned i = 0; i < 5; i++) {
    size_t count = counts[i] < n ? counts[i] : n;
    k->partial(NULL, a, n, counts[i]);
    check_same(k, a, n, print);
    check_sorted(k, a, count);
    if (count > 0) check_nth(k, a, n, count - 1);
  }
}

TEST_LIMIT(the_first_k_are_sorted, 120) {
  in_all_pools(sort_part_and_check);
}

/* ---- floats ---- */

/* Every special value in a known place. */
TEST(floats_have_a_total_order) {
  const double least = 5e-324; /* a constant may have more digits: FLT_EVAL_METHOD */
  double a[] = {NAN, 1, INFINITY, 0.0, -0.0, -INFINITY, -NAN, least, -least, -1};
  weft_sort_f64(a, 10);
  CHECK(a[0] == -INFINITY && a[1] == -1 && a[2] == -least);
  CHECK(a[3] == 0 && signbit(a[3]) && a[4] == 0 && !signbit(a[4]));
  CHECK(a[5] == least && a[6] == 1 && a[7] == INFINITY);
  CHECK(isnan(a[8]) && isnan(a[9]));
  CHECK(!!signbit(a[8]) != !!signbit(a[9]));
}

/* ---- names by type ---- */

TEST(generic_names_choose_by_type) {
  int32_t i[] = {3, -1, 2};
  uint32_t u[] = {3, 1, 2};
  int64_t l[] = {3, -1, 2};
  uint64_t m[] = {3, 1, 2};
  float f[] = {3, -1, 2};
  double d[] = {3, -1, 2};
  const double constant[] = {3, -1, 2};
  size_t order[3];
  char payload[] = "cab";
  weft_sort_of(i, 3);
  weft_sort_of(u, 3);
  weft_nth_element_of(l, 3, 1);
  weft_partial_sort_of(m, 3, 2);
  weft_argsort_of(order, f, 3);
  weft_sort_by_key_of(d, 3, payload, 1);
  CHECK(i[0] == -1 && i[1] == 2 && i[2] == 3);
  CHECK(u[0] == 1 && u[1] == 2 && u[2] == 3);
  CHECK_EQ(l[1], 2);
  CHECK(m[0] == 1 && m[1] == 2);
  CHECK(order[0] == 1 && order[1] == 2 && order[2] == 0);
  CHECK_STR_EQ(payload, "abc");
  CHECK(!weft_is_sorted_of(constant, 3) && weft_is_sorted_of(d, 3));
  weft_argsort_of(order, constant, 3);
  CHECK(order[0] == 1 && order[1] == 2 && order[2] == 0);
}

TEST(nothing_to_sort) {
  weft_sort_u64(NULL, 0);
  weft_sort_by_key_f32(NULL, 0, NULL, 8);
  weft_argsort_i32(NULL, NULL, 0);
  weft_nth_element_f64(NULL, 0, 0);
  weft_partial_sort_u32(NULL, 0, 5);
  CHECK(weft_is_sorted_i64(NULL, 0));
}
