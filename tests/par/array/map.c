/* weft_map: the same as a serial loop, one call for each element with its index.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/move_cases.h"

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
