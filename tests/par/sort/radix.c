/* The parts of the radix sort that exist once for each kind of CPU: which bucket an
 * element belongs to) and lists (how leaves are sorted).
 *
 * SPDX-License-Identifier: MIT */
#include "par/sort/radix/radix.h"
#include "par/sort/support.h"

/* ---- buckets ---- */

enum { SLICES = 64 };

/* Some slice of a digit with that shift: any offset, and a shift that is no larger. */
static wf_key_slice some_slice(unsigned shift, uint64_t *random) {
  uint64_t r = harness_random(random);
  return (wf_key_slice){(uint32_t)r, shift - (unsigned)(r >> 32) % (shift + 1)};
}

/* A digit of at most SLICES steps somewhere in the keys of that many bits. */
static wf_digit some_digit(unsigned bits, uint64_t *random) {
  uint64_t keys = bits == 64 ? UINT64_MAX : UINT32_MAX;
  wf_digit digit = {0};
  digit.low = (harness_random(random) & keys) >> harness_random(random) % bits;
  digit.most =
      ((keys - digit.low) & harness_random(random)) >> harness_random(random) % bits;
  while (digit.most >> digit.shift >= SLICES) digit.shift++;
  return digit;
}

static void check_batch(const wf_bucket_loops *loops, const wf_digit *digit,
                        const wf_coding *coding, bool wide, uint64_t *random) {
  wf_bits64 src[WF_BUCKET_BATCH], encoded[WF_BUCKET_BATCH];
  wf_bits32 *narrow_src = (wf_bits32 *)src, *narrow_encoded = (wf_bits32 *)encoded;
  uint32_t buckets[WF_BUCKET_BATCH];
  for (unsigned i = 0; i < WF_BUCKET_BATCH; i++) src[i] = harness_random(random);
  if (wide)
    loops->bits64(digit, coding, src, encoded, buckets);
  else
    loops->bits32(digit, coding, narrow_src, narrow_encoded, buckets);
  for (unsigned i = 0; i < WF_BUCKET_BATCH; i++) {
    uint64_t want =
        wide ? wf_encode_u64(coding, src[i]) : wf_encode_u32(coding, narrow_src[i]);
    CHECK_EQ(wide ? encoded[i] : narrow_encoded[i], want);
    CHECK_EQ(buckets[i], wf_bucket_of(digit, want));
  }
}

TEST(loops_of_all_cpus_agree_with_one_element_at_a_time) {
  const wf_coding *const codings[] = {&wf_coding_u32, &wf_coding_i32, &wf_coding_f32,
                                      &wf_coding_u64, &wf_coding_i64, &wf_coding_f64};
  uint64_t random = harness_seed();
  wf_key_slice slices[SLICES];
  unsigned sets = 0;
  for (unsigned set = 0; set < WF_BUCKET_LOOPS_SETS; set++) {
    const wf_bucket_loops *loops = wf_bucket_loops_of(set);
    if (loops == NULL) continue;
    sets++;
    for (unsigned round = 0; round < 300; round++) {
      bool wide = round / 3 % 2 == 1;
      wf_digit digit = some_digit(wide ? 64 : 32, &random);
      for (unsigned i = 0; i < SLICES; i++) slices[i] = some_slice(digit.shift, &random);
      if (round / 6 % 2 == 0) digit.slices = slices;
      check_batch(loops, &digit, codings[round % 6], wide, &random);
    }
  }
  CHECK(sets >= 1);
  CHECK(wf_bucket_loops_get() != NULL);
}

/* Keys outside of the digit's range fall into the first and the last bucket. */
TEST(buckets_are_in_the_order_of_keys) {
  uint64_t random = harness_seed();
  for (unsigned round = 0; round < 1000; round++) {
    wf_digit digit = some_digit(64, &random);
    uint64_t a = harness_random(&random) >> harness_random(&random) % 64;
    uint64_t b = harness_random(&random) >> harness_random(&random) % 64;
    if (a > b) {
      uint64_t swap = a;
      a = b;
      b = swap;
    }
    CHECK(wf_bucket_of(&digit, a) <= wf_bucket_of(&digit, b));
    CHECK_EQ(wf_bucket_of(&digit, 0), 0);
    CHECK_EQ(wf_bucket_of(&digit, UINT64_MAX), wf_digit_steps(&digit) - 1);
  }
}

/* ---- lists ---- */

static int compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static int compare_u32(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts n numbers of both widths by lists, and returns how many of the two were done. The
 * other is as it was. Keys have 20 bits at most. */
static unsigned sort_by_lists(const wf_lists *lists, const uint32_t *keys, size_t n) {
  uint64_t *wide = array_of(n, sizeof *wide), *wide_want = array_of(n, sizeof *wide);
  uint32_t *narrow = array_of(n, sizeof *narrow), *want = array_of(n, sizeof *narrow);
  char *slot = array_of(wf_lists_bytes(n, sizeof *wide), 1);
  for (size_t i = 0; i < n; i++) wide[i] = (uint64_t)keys[i] << 40, narrow[i] = keys[i];
  memcpy(wide_want, wide, n * sizeof *wide);
  memcpy(want, narrow, n * sizeof *narrow);
  bool narrow_done = lists->leaf_bits32(narrow, slot, n, narrow, &wf_coding_u32);
  bool wide_done = lists->leaf_bits64(wide, slot, n, wide, &wf_coding_u64);
  if (narrow_done) qsort(want, n, sizeof *narrow, compare_u32);
  if (wide_done) qsort(wide_want, n, sizeof *wide, compare_u64);
  CHECK(memcmp(narrow, want, n * sizeof *narrow) == 0);
  CHECK(memcmp(wide, wide_want, n * sizeof *wide) == 0);
  free(slot);
  free(want);
  free(narrow);
  free(wide_want);
  free(wide);
  return (unsigned)narrow_done + (unsigned)wide_done;
}

/* Even keys but for `same` that agree with another one, all in one list. */
static unsigned sort_with_a_long_list(const wf_lists *lists, size_t n, size_t same,
                                      uint64_t *random) {
  uint32_t *keys = array_of(n, sizeof *keys);
  uint32_t place = (uint32_t)(harness_random(random) % n);
  /* One key for each of n places, so that no list is full by chance. */
  for (size_t i = 0; i < n; i++) keys[i] = (uint32_t)((i << 20) / n);
  for (size_t i = 1; i <= same; i++) keys[(place + i) % n] = keys[place];
  for (size_t i = n - 1; i > 0; i--) {
    size_t other = (size_t)(harness_random(random) % (i + 1));
    uint32_t swap = keys[i];
    keys[i] = keys[other];
    keys[other] = swap;
  }
  unsigned done = sort_by_lists(lists, keys, n);
  free(keys);
  return done;
}

TEST(lists_that_are_longer_than_a_row) {
  const wf_lists *lists = wf_lists_get();
  uint64_t random = harness_seed();
  if (lists == NULL) {
    printf("this CPU has no AVX-512: leaves are sorted in another way\n");
    return;
  }
  static const size_t lengths[] = {WF_LISTS_LEAST, 1000, 10000, WF_LISTS_MOST};
  for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    size_t n = lengths[i];
    for (size_t same = 0; same <= 20; same++)
      CHECK_EQ(sort_with_a_long_list(lists, n, same, &random), 2);
    /* A tenth are more than are kept apart: nothing is changed. */
    CHECK_EQ(sort_with_a_long_list(lists, n, 40 + n / 10, &random), 0);
    for (size_t same = 21; same < 500 && same < n / 2; same += 13)
      sort_with_a_long_list(lists, n, same, &random); /* either is right */
  }
}

/* The lists are as many as the elements need, however far apart keys are. */
TEST(lists_of_keys_of_any_range) {
  const wf_lists *lists = wf_lists_get();
  enum { LENGTH = 3000 };
  uint32_t keys[LENGTH];
  uint64_t random = harness_seed();
  if (lists == NULL) return;
  for (uint32_t range = LENGTH; range <= 1u << 20; range += range / 7 + 1) {
    for (uint32_t i = 0; i < LENGTH; i++)
      keys[i] = (uint32_t)(harness_random(&random) % range);
    CHECK_EQ(sort_by_lists(lists, keys, LENGTH), 2);
  }
}

/* Whole groups of lists have no keys: all are in the lower part of the range, but one at
 * its end. One list before the gap is longer than its row. */
TEST(lists_of_which_many_are_empty) {
  const wf_lists *lists = wf_lists_get();
  enum { LENGTH = 1000, SAME = 10 };
  uint32_t keys[LENGTH];
  if (lists == NULL) return;
  for (uint32_t part = 10; part <= 16; part++) {
    for (uint32_t i = 0; i < LENGTH; i++) keys[i] = i * 577 % LENGTH * part * 62;
    for (uint32_t i = 0; i < SAME; i++) keys[i] = keys[SAME];
    keys[LENGTH - 1] = 1000000;
    CHECK_EQ(sort_by_lists(lists, keys, LENGTH), 2);
  }
}
