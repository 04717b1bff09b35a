/* What the examples of weft/iter.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdlib.h>
#include <weft.h>

// skip: weft_iter_zip 1: says what is in a pair

static long a[5] = {1, 2, 3, 4, 5};
static size_t n = 5;

static bool is_even(const void *elem, void *ctx) {
  (void)ctx;
  return *(const long *)elem % 2 == 0;
}

static void square(void *out, const void *in, void *ctx) {
  (void)ctx;
  *(long *)out = *(const long *)in * *(const long *)in;
}

struct node {
  int value;
};
struct item {
  int value;
};
static const struct node *root;

static bool halve(void *piece, void *right, void *ctx) {
  (void)piece, (void)right, (void)ctx;
  return false;
}

static void emit_items(const void *in, weft_out *out, void *ctx) {
  (void)in, (void)ctx;
  weft_emit(out, &(struct item){1}, sizeof(struct item));
}

static double values[4] = {1, 2, 3, 4};

static void with_iter(int (*example)(weft_iter it)) {
  example(weft_iter_slice(values, 4, sizeof *values));
}
#define PARAMETERS_weft_iter_enumerate_1 weft_iter it
#define RUN_weft_iter_enumerate_1        with_iter

static int (*emitting)(weft_out *out, size_t n);

static void emit(const void *in, weft_out *out, void *ctx) {
  (void)in, (void)ctx;
  emitting(out, 7);
}

static void with_out(int (*example)(weft_out *out, size_t n)) {
  emitting = example;
  weft_iter it = weft_iter_slice(values, 4, sizeof *values);
  weft_iter_flat_map(&it, sizeof(size_t), emit, NULL);
  assert(weft_iter_count(&it) == 28);
}
#define PARAMETERS_weft_emit_count_1 weft_out *out, size_t n
#define RUN_weft_emit_count_1        with_out
