/* weft_copy, weft_fill, weft_reverse, weft_rotate, weft_gather, weft_scatter: the same
 * as serial code.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/move_cases.h"

static void move_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 60000, random);
  FOR_POOLS(opts) {
    check_reverse(&opts, &e);
    check_rotate(&opts, &e, 0);
    check_rotate(&opts, &e, n);
    check_rotate(&opts, &e, harness_random(random) % (n + 1));
    check_copy(&opts, &e);
    check_fill(&opts, &e, 0);
    check_fill(&opts, &e, 77);
    check_fill(&opts, &e, 256);
  }
  elements_free(&e);
}

TEST(moves_are_as_serial_ones) {
  for_cases(move_case);
}

static void index_case(size_t n, size_t size, uint64_t *random) {
  elements e = elements_of(n, size, 60000, random);
  if (n <= 65537 || size <= 4) FOR_POOLS(opts) check_gather_scatter(&opts, &e, random);
  elements_free(&e);
}

TEST(gather_and_scatter_are_as_serial_ones) {
  for_cases(index_case);
}

/* Elements of a size that a register has, at an address that it does not like. */
TEST(elements_need_no_alignment) {
  uint64_t random = harness_seed();
  open_pools();
  for (size_t size = 1; size <= 16; size *= 2) {
    elements e = elements_of(5001, size, 200, &random);
    unsigned char *place = array_of(5001 * size + 1, 1), *aligned = e.base;
    memcpy(place + 1, e.base, 5001 * size);
    weft_opts opts = opts_in(1);
    weft_reverse_with(&opts, place + 1, 5001, size);
    weft_rotate_with(&opts, place + 1, 5001, size, 1000);
    weft_rotate_with(&opts, place + 1, 5001, size, 4001);
    e.base = place + 1;
    elements back = e;
    back.base = aligned;
    weft_reverse_with(&opts, back.base, 5001, size);
    CHECK(memcmp(place + 1, aligned, 5001 * size) == 0);
    e.base = aligned;
    free(place);
    elements_free(&e);
  }
  close_pools();
}

/* Arrays that no cache holds are written past the caches, in blocks that start anywhere.
 */
TEST(large_arrays_are_copied_and_filled) {
  enum { SIZE = 12, BYTES = 33 << 20, COUNT = BYTES / SIZE };
  unsigned char *src = array_of(COUNT, SIZE), *dst = array_of(COUNT, SIZE);
  uint64_t random = harness_seed();
  for (size_t i = 0; i < (size_t)COUNT * SIZE; i += 8) {
    uint64_t value = harness_random(&random);
    memcpy(src + i, &value, (size_t)COUNT * SIZE - i < 8 ? (size_t)COUNT * SIZE - i : 8);
  }
  open_pools();
  for (unsigned p = 0; p < 2; p++) {
    weft_opts opts = opts_in(p);
    memset(dst, 0, (size_t)COUNT * SIZE);
    weft_copy_with(&opts, dst, src, COUNT, SIZE);
    CHECK(memcmp(dst, src, (size_t)COUNT * SIZE) == 0);
    weft_fill_with(&opts, dst, COUNT, SIZE, src);
    size_t wrong = 0;
    for (size_t i = 0; i < COUNT; i++) wrong += memcmp(dst + i * SIZE, src, SIZE) != 0;
    CHECK_EQ(wrong, 0);
  }
  close_pools();
  free(src);
  free(dst);
}

TEST(moves_keep_to_options) {
  uint64_t random = harness_seed();
  elements e = elements_of(20011, 4, 60000, &random);
  open_pools();
  FOR_POOLS(opts) {
    for (unsigned i = 0; i < 20; i++) {
      opts.min_len = harness_random(&random) % 3 * 7;
      opts.max_len = harness_random(&random) % 3 * 100;
      opts.max_workers = (unsigned)(harness_random(&random) % 4);
      opts.split = (weft_split)(harness_random(&random) % 3);
      check_reverse(&opts, &e);
      check_rotate(&opts, &e, harness_random(&random) % (e.n + 1));
      check_copy(&opts, &e);
      check_fill(&opts, &e, 256);
      check_gather_scatter(&opts, &e, &random);
    }
  }
  close_pools();
  elements_free(&e);
}

static void move_by_default(void *ctx) {
  elements *e = ctx;
  unsigned char *copy = array_of(e->n, e->size), *other = array_of(e->n, e->size);
  size_t *index = array_of(e->n, sizeof *index);
  for (size_t i = 0; i < e->n; i++) index[i] = e->n - 1 - i;
  weft_fill(copy, e->n, e->size, e->base);
  CHECK(memcmp(copy + (e->n - 1) * e->size, e->base, e->size) == 0);
  weft_copy(copy, e->base, e->n, e->size);
  weft_reverse(copy, e->n, e->size);
  weft_gather(other, copy, index, e->n, e->size);
  CHECK(memcmp(other, e->base, e->n * e->size) == 0);
  weft_scatter(copy, other, index, e->n, e->size);
  weft_reverse(copy, e->n, e->size);
  weft_rotate(copy, e->n, e->size, 1);
  weft_rotate(copy, e->n, e->size, e->n - 1);
  CHECK(memcmp(copy, e->base, e->n * e->size) == 0);
  free(copy);
  free(other);
  free(index);
}

TEST(moves_from_inside_and_from_outside) {
  uint64_t random = harness_seed();
  elements e = elements_of(100003, 4, 1000, &random);
  in_each_pool(move_by_default, &e);
  move_by_default(&e);
  weft_shutdown();
  elements_free(&e);
}

TEST(nothing_is_fine) {
  weft_fill(NULL, 0, 4, NULL);
  weft_copy(NULL, NULL, 0, 4);
  weft_reverse(NULL, 0, 4);
  weft_rotate(NULL, 0, 4, 0);
  weft_gather(NULL, NULL, NULL, 0, 4);
  weft_scatter(NULL, NULL, NULL, 0, 4);
  weft_shutdown();
}

static int by_value(const void *a, const void *b) {
  uint32_t x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Cancelled at any moment, the elements are the same in some order. */
static void cancel_later(void *ctx) {
  weft_scope_cancel(ctx, 1);
}

TEST(cancelled_moves_keep_all_elements) {
  uint64_t random = harness_seed();
  elements e = elements_of(100003, 4, 60000, &random);
  qsort(e.base, e.n, 4, by_value);
  open_pools();
  FOR_POOLS(opts) {
    for (int i = 0; i < 10; i++) {
      unsigned char *copy = copy_of(&e);
      weft_scope scope;
      weft_scope_begin_with(&opts, &scope);
      opts.cancel = &scope;
      weft_spawn(&scope, cancel_later, &scope);
      weft_rotate_with(&opts, copy, e.n, 4, 1 + harness_random(&random) % (e.n - 1));
      weft_reverse_with(&opts, copy, e.n, 4);
      CHECK_EQ(weft_scope_end(&scope), 1);
      opts.cancel = NULL;
      qsort(copy, e.n, 4, by_value);
      CHECK(memcmp(copy, e.base, e.n * 4) == 0);
      free(copy);
    }
  }
  close_pools();
  elements_free(&e);
}
