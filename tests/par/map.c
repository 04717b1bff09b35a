/* weft_map: the same as a serial loop, one call for each element with its index; and
 * misuse of array calls, which is told.
 *
 * SPDX-License-Identifier: MIT */
#include "move_cases.h"

static void map_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 60000, random);
  FOR_POOLS(opts) check_map(&opts, &e);
  elements_free(&e);
}

TEST(maps_are_as_serial_ones) {
  for_cases(map_case);
}

TEST(maps_keep_to_options) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011, 4, 60000, &random);
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 20; i++) {
      opts.min_len = harness_random(&random) % 3 * 7;
      opts.max_len = harness_random(&random) % 3 * 100;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      opts.split = (weft_split)(harness_random(&random) % 3);
      check_map(&opts, &e);
    }
  }
  close_pools();
  elements_free(&e);
}

static void map_by_default(void *ctx) {
  elements *e = ctx;
  unsigned char *copy = copy_of(e);
  weft_map(copy, e->size, copy, e->n, e->size, invert_in_place, e);
  weft_map(copy, e->size, copy, e->n, e->size, invert_in_place, e);
  CHECK(memcmp(copy, e->base, e->n * e->size) == 0);
  free(copy);
}

TEST(maps_from_inside_and_from_outside) {
  uint64_t random = harness_seed();
  elements e = elements_of(10007, 12, 1000, &random);
  in_each_pool(map_by_default, &e);
  map_by_default(&e);
  weft_map(NULL, 4, NULL, 0, 4, NULL, NULL);
  weft_shutdown();
  elements_free(&e);
}

/* ---- misuse ---- */

static int numbers[4];

static bool is_seven(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int *)elem == 7;
}

static size_t key_too_large(const void *elem, void *ctx) {
  (void)elem;
  (void)ctx;
  return 3;
}

TEST_BY_NAME(map_nothing) {
  weft_map(numbers, 4, numbers, 4, 4, NULL, NULL);
}

TEST_BY_NAME(filter_by_nothing) {
  weft_filter(numbers, numbers, 4, 4, NULL, NULL);
}

static void leave(void *out, const void *in, size_t index, void *ctx) {
  (void)out, (void)in, (void)index, (void)ctx;
}

TEST_BY_NAME(map_from_size_0) {
  weft_map(numbers, 4, numbers, 4, 0, leave, NULL);
}

TEST_BY_NAME(filter_size_0) {
  weft_filter(numbers, numbers, 4, 0, is_seven, NULL);
}

TEST_BY_NAME(find_by_nothing) {
  weft_find_last(numbers, 4, 4, NULL, NULL);
}

TEST_BY_NAME(least_by_nothing) {
  weft_min_index(numbers, 4, 4, NULL, NULL);
}

TEST_BY_NAME(rotate_too_far) {
  weft_rotate(numbers, 4, 4, 5);
}

TEST_BY_NAME(key_out_of_range) {
  size_t counts[3];
  weft_histogram(counts, 3, numbers, 4, 4, key_too_large, NULL);
}

TEST_BY_NAME(bad_options) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.struct_size = 0;
  weft_count_with(&opts, numbers, 4, 4, is_seven, NULL);
}

TEST(misuse_is_told) {
  static const struct {
    const char *test, *sentence;
  } MISUSES[] = {
      {"map_nothing", "weft_map: the function is NULL"},
      {"map_from_size_0", "weft_map: the element size is 0"},
      {"filter_by_nothing", "weft_filter: the function is NULL"},
      {"filter_size_0", "weft_filter: the element size is 0"},
      {"find_by_nothing", "weft_find_last: the function is NULL"},
      {"least_by_nothing", "weft_min_index: the function is NULL"},
      {"rotate_too_far", "weft_rotate: the middle is behind the end"},
      {"key_out_of_range", "weft_histogram: a key is not below the number of keys"},
      {"bad_options", "weft_count: the options are not valid"},
  };
  for (unsigned i = 0; i < sizeof MISUSES / sizeof MISUSES[0]; i++) {
    char output[4096];
    CHECK(harness_run_self(NULL, MISUSES[i].test, output, sizeof output) != 0);
    CHECK_MSG(strstr(output, MISUSES[i].sentence) != NULL, "%s: %s", MISUSES[i].test,
              output);
  }
}
