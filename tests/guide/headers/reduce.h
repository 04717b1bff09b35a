/* What the examples of weft/reduce.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <weft.h>

static double a[3];
static size_t n = 3;
static char text[] = "text";

struct words {
  size_t count;
};
static struct words words;

static void no_words(void *acc, void *ctx) {
  (void)ctx;
  ((struct words *)acc)->count = 0;
}
static void add_words(void *acc, size_t begin, size_t end, void *ctx) {
  (void)ctx;
  ((struct words *)acc)->count += end - begin;
}
static void both_words(void *acc, const void *right, void *ctx) {
  (void)ctx;
  ((struct words *)acc)->count += ((const struct words *)right)->count;
}
static const weft_reducer count_words = {sizeof(struct words), no_words, add_words,
                                         both_words};
