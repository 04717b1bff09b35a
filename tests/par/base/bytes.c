/* Elements as bytes: swap, reverse in parts, rotate at every place, permute by cycles,
 * gather, and copies past the caches at every alignment.
 *
 * SPDX-License-Identifier: MIT */
#include "par/base/bytes.h"
#include "par/support.h"

static const size_t SIZES[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 40, 100, 300};
enum { SIZES_COUNT = sizeof SIZES / sizeof SIZES[0] };

static char *random_array(size_t n, size_t size, uint64_t *seed) {
  char *a = array_of(n, size);
  fill_random(a, n * size, seed);
  return a;
}

TEST(swaps) {
  uint64_t seed = harness_seed();
  for (size_t bytes = 0; bytes < 300; bytes++) {
    char *a = random_array(bytes, 1, &seed), *b = random_array(bytes, 1, &seed);
    char *a_before = array_of(bytes, 1), *b_before = array_of(bytes, 1);
    memcpy(a_before, a, bytes);
    memcpy(b_before, b, bytes);
    wf_swap_bytes(a, b, bytes);
    CHECK(memcmp(a, b_before, bytes) == 0 && memcmp(b, a_before, bytes) == 0);
    CHECK_EQ((unsigned char)a[bytes], 0xa5);
    CHECK_EQ((unsigned char)b[bytes], 0xa5);
    free(a), free(b), free(a_before), free(b_before);
  }
}

/* Element i of `a` must be element from(i) of `before`. */
#define CHECK_MOVED(a, before, n, size, from)                                            \
  for (size_t i = 0; i < (n); i++)                                                       \
  CHECK_MSG(memcmp((a) + i * (size), (before) + (from) * (size), size) == 0,             \
            "element %zu of %zu, size %zu", i, (size_t)(n), (size_t)(size))

TEST(reversals_in_parts) {
  static const size_t lengths[] = {0, 1, 2, 3, 8, 17, 64, 65};
  uint64_t seed = harness_seed();
  for (unsigned k = 0; k < SIZES_COUNT; k++)
    for (unsigned l = 0; l < 8; l++) {
      size_t n = lengths[l], size = SIZES[k], cut = n / 5;
      char *a = random_array(n, size, &seed), *before = array_of(n, size);
      memcpy(before, a, n * size);
      wf_reverse_part(a, n, size, cut, n / 2);
      wf_reverse_part(a, n, size, 0, cut);
      CHECK_MOVED(a, before, n, size, n - 1 - i);
      free(a), free(before);
    }
}

TEST(rotations_at_every_place) {
  uint64_t seed = harness_seed();
  for (unsigned k = 0; k < SIZES_COUNT; k++)
    for (size_t n = 0; n < 70; n += 1 + n / 4)
      for (size_t middle = 0; middle <= n; middle++) {
        size_t size = SIZES[k];
        char *a = random_array(n, size, &seed), *before = array_of(n, size);
        memcpy(before, a, n * size);
        wf_rotate(a, n, size, middle);
        CHECK_MOVED(a, before, n, size, (i + middle) % n);
        free(a), free(before);
      }
}

TEST(permutations_and_gathers) {
  enum { N = 500 };
  uint64_t seed = harness_seed();
  size_t order[N], kept[N];
  for (unsigned k = 0; k < SIZES_COUNT; k++) {
    size_t size = SIZES[k];
    char *a = random_array(N, size, &seed), *before = array_of(N, size);
    memcpy(before, a, N * size);
    for (size_t i = 0; i < N; i++) order[i] = i;
    for (size_t i = N - 1; i > 0; i--) {
      size_t j = (size_t)(harness_random(&seed) % (i + 1)), x = order[i];
      order[i] = order[j];
      order[j] = x;
    }
    memcpy(kept, order, sizeof kept);
    wf_permute_by_cycles(a, N, size, order);
    CHECK_MOVED(a, before, N, size, order[i]);
    CHECK(memcmp(order, kept, sizeof kept) == 0);
    memset(a, 0, N * size);
    wf_gather(a, before, order, 0, N / 3, size);
    wf_gather(a, before, order, N / 3, N, size);
    CHECK_MOVED(a, before, N, size, order[i]);
    free(a), free(before);
  }
}

TEST(copies_past_the_caches) {
  enum { MOST = 2000 };
  uint64_t seed = harness_seed();
  char *from = random_array(MOST + 64, 1, &seed), *to = array_of(MOST + 64, 1);
  for (size_t bytes = 0; bytes <= MOST; bytes += 1 + bytes / 9)
    for (size_t at = 0; at < 33; at += 3) {
      memset(to, 0x5a, MOST + 64);
      wf_copy_bytes(to + at, from + 32 - at, bytes, true);
      CHECK(memcmp(to + at, from + 32 - at, bytes) == 0);
      CHECK_EQ(to[at + bytes], 0x5a);
      CHECK(at == 0 || to[at - 1] == 0x5a);
    }
  free(from), free(to);
}
