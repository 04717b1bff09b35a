/* Typed functions of two arrays, of elements in place, scans, folds and sorts by key: for
 * several types and sizes the same as serial code, with options and by default.
 *
 * SPDX-License-Identifier: MIT */
#include "par/array/support.h"

typedef struct triple {
  uint8_t key, a, b;
} triple;

typedef struct block_of_100 {
  int32_t key;
  unsigned char more[96];
} block_of_100;

/* The context of the functions. */
typedef struct addend {
  double more;
} addend;

/* Where the functions below disagree with serial code. */
#define WRONG(n, condition)                                                              \
  do {                                                                                   \
    size_t wrong = 0;                                                                    \
    for (size_t i = 0; i < (n); i++) wrong += (condition) ? 1 : 0;                       \
    CHECK_EQ(wrong, 0);                                                                  \
  } while (0)

/* ---- two arrays; elements in place ---- */

/* For a type T whose key is KEY(x). */
#define PAIRWISE(name, T, KEY, from_key)                                                 \
  static inline double name##_mix(T x, float y, void *ctx) {                             \
    return (double)KEY(x) * 2 + (double)y + ((const addend *)ctx)->more;                 \
  }                                                                                      \
  static inline void name##_count(T *x, size_t i, void *ctx) {                           \
    unsigned key = (unsigned)KEY(*x) + (unsigned)(i % 3);                                \
    (void)ctx;                                                                           \
    KEY(*x) = from_key;                                                                  \
  }                                                                                      \
  WEFT_MAP2(name##_map2, T, float, double, name##_mix)                                   \
  WEFT_FOR(name##_for, T, name##_count)                                                  \
  static void name##_case(size_t n, uint64_t *random) {                                  \
    T *a = array_of(n, sizeof(T)), *copy = array_of(n, sizeof(T));                       \
    float *b = array_of(n, sizeof *b);                                                   \
    double *dst = array_of(n, sizeof *dst);                                              \
    addend more = {0.5};                                                                 \
    memset((void *)a, 0, n * sizeof(T));                                                 \
    for (size_t i = 0; i < n; i++) {                                                     \
      unsigned key = (unsigned)(harness_random(random) % 100);                           \
      KEY(a[i]) = from_key;                                                              \
      b[i] = (float)(harness_random(random) % 1000);                                     \
    }                                                                                    \
    FOR_POOLS(opts) {                                                                    \
      memset(dst, 0, n * sizeof *dst);                                                   \
      name##_map2_with(&opts, dst, a, b, n, &more);                                      \
      WRONG(n, dst[i] != name##_mix(a[i], b[i], &more));                                 \
      CHECK_EQ(((unsigned char *)dst)[n * sizeof *dst], 0xA5);                           \
      memcpy((void *)copy, a, n * sizeof(T));                                            \
      name##_for_with(&opts, copy, n, NULL);                                             \
      WRONG(n, (double)KEY(copy[i]) != (double)KEY(a[i]) + (double)(i % 3));             \
    }                                                                                    \
    free((void *)a);                                                                     \
    free((void *)copy);                                                                  \
    free(b);                                                                             \
    free(dst);                                                                           \
  }                                                                                      \
  TEST(pairwise_##name) {                                                                \
    uint64_t random = harness_seed();                                                    \
    open_pools();                                                                        \
    for (unsigned l = 0; l < LENGTHS_COUNT; l++)                                         \
      if (!is_too_large(4 * LENGTHS[l], sizeof(T))) name##_case(LENGTHS[l], &random);    \
    close_pools();                                                                       \
  }

#define SELF(x)   (x)
#define KEY_OF(x) ((x).key)
PAIRWISE(u8, uint8_t, SELF, (uint8_t)key)
PAIRWISE(i16, int16_t, SELF, (int16_t)key)
PAIRWISE(i32, int32_t, SELF, (int32_t)key)
PAIRWISE(i64, int64_t, SELF, (int64_t)key)
PAIRWISE(f32, float, SELF, (float)key)
PAIRWISE(f64, double, SELF, (double)key)
PAIRWISE(triple, triple, KEY_OF, (uint8_t)key)
PAIRWISE(block, block_of_100, KEY_OF, (int32_t)key)

static inline double plus(double x, double y, void *ctx) {
  (void)ctx;
  return x + y;
}
WEFT_MAP2(add_arrays, double, double, double, plus)

static void map2_in_place(void *ctx) {
  enum { N = 10007 };
  static double a[N], b[N];
  (void)ctx;
  for (size_t i = 0; i < N; i++) a[i] = (double)i, b[i] = 1;
  add_arrays(a, a, b, N, NULL);
  WRONG(N, a[i] != (double)(i + 1));
  add_arrays(b, a, b, N, NULL);
  WRONG(N, b[i] != (double)(i + 2));
}

TEST(map2_in_place_and_by_default) {
  in_each_pool(map2_in_place, NULL);
  map2_in_place(NULL);
  weft_shutdown();
}

/* ---- scans and folds ---- */

#define SCANS(name, T, identity, op, random_value)                                       \
  WEFT_SCAN(scan_##name, T, identity, op)                                                \
  WEFT_FOLD(fold_##name, T, T, identity, op, op)                                         \
  static void check_scan_##name(const weft_opts *o, const T *a, size_t n) {              \
    T *dst = array_of(n, sizeof(T)), *before = array_of(n, sizeof(T));                   \
    T *expected = array_of(n + 1, sizeof(T));                                            \
    expected[0] = identity;                                                              \
    for (size_t i = 0; i < n; i++) expected[i + 1] = op(expected[i], a[i], NULL);        \
    scan_##name##_with(o, dst, a, n, NULL);                                              \
    scan_##name##_exclusive_with(o, before, a, n, NULL);                                 \
    CHECK(memcmp((void *)dst, expected + 1, n * sizeof(T)) == 0);                        \
    CHECK(memcmp((void *)before, expected, n * sizeof(T)) == 0);                         \
    CHECK_EQ(((unsigned char *)dst)[n * sizeof(T)], 0xA5);                               \
    memcpy((void *)dst, a, n * sizeof(T));                                               \
    scan_##name##_exclusive_with(o, dst, dst, n, NULL);                                  \
    CHECK(memcmp((void *)dst, expected, n * sizeof(T)) == 0);                            \
    memcpy((void *)dst, a, n * sizeof(T));                                               \
    scan_##name##_with(o, dst, dst, n, NULL);                                            \
    CHECK(memcmp((void *)dst, expected + 1, n * sizeof(T)) == 0);                        \
    T all = fold_##name##_with(o, a, n, NULL);                                           \
    CHECK(memcmp(&all, &expected[n], sizeof(T)) == 0);                                   \
    free((void *)dst);                                                                   \
    free((void *)before);                                                                \
    free((void *)expected);                                                              \
  }                                                                                      \
  TEST(scans_of_##name) {                                                                \
    uint64_t state = harness_seed();                                                     \
    open_pools();                                                                        \
    for (unsigned l = 0; l < LENGTHS_COUNT; l++) {                                       \
      size_t n = LENGTHS[l];                                                             \
      if (is_too_large(4 * n, sizeof(T))) continue;                                      \
      T *a = array_of(n, sizeof(T));                                                     \
      for (size_t i = 0; i < n; i++) {                                                   \
        uint64_t r = harness_random(&state);                                             \
        a[i] = random_value;                                                             \
      }                                                                                  \
      FOR_POOLS(opts) check_scan_##name(&opts, a, n);                                    \
      free((void *)a);                                                                   \
    }                                                                                    \
    close_pools();                                                                       \
  }

static inline uint8_t add_u8(uint8_t acc, uint8_t x, void *ctx) {
  (void)ctx;
  return (uint8_t)(acc + x);
}

static inline uint64_t add_u64(uint64_t acc, uint64_t x, void *ctx) {
  (void)ctx;
  return acc + x;
}

static inline int32_t most(int32_t acc, int32_t x, void *ctx) {
  (void)ctx;
  return acc > x ? acc : x;
}

/* x -> x * factor + offset: associative, does not commute. */
typedef struct line {
  uint64_t factor, offset;
} line;

static inline line then(line f, line g, void *ctx) {
  (void)ctx;
  return (line){f.factor * g.factor, f.offset * g.factor + g.offset};
}

static const line IDENTITY = {1, 0};

/* 100 bytes: larger than what the library keeps in its frame. */
typedef struct counts {
  uint32_t of[25];
} counts;

static inline counts add_counts(counts l, counts r, void *ctx) {
  (void)ctx;
  for (int i = 0; i < 25; i++) l.of[i] += r.of[i];
  return l;
}

static const counts NO_COUNTS;

static counts counts_of(uint64_t r) {
  counts c = NO_COUNTS;
  c.of[r % 25] = (uint32_t)(r >> 32);
  return c;
}

static inline line line_of(uint64_t r) {
  return (line){r, r >> 7};
}

SCANS(u8, uint8_t, 0, add_u8, (uint8_t)r)
SCANS(u64, uint64_t, 0, add_u64, r)
SCANS(most, int32_t, INT32_MIN, most, (int32_t)(r & 0xfffff))
SCANS(line, line, IDENTITY, then, line_of(r))
SCANS(counts, counts, NO_COUNTS, add_counts, counts_of(r))

/* Floats: the same bits for every number of threads. */
WEFT_SCAN(scan_f64, double, 0, plus)

TEST(scans_of_floats_have_the_same_bits) {
  enum { N = 100003 };
  double *a = array_of(N, sizeof *a), *first = array_of(N, sizeof *a);
  double *dst = array_of(N, sizeof *a);
  uint64_t random = harness_seed();
  for (size_t i = 0; i < N; i++) a[i] = (double)(harness_random(&random) >> 11) * 1e-9;
  open_pools();
  weft_opts one = opts_in(0);
  scan_f64_with(&one, first, a, N, NULL);
  FOR_POOLS(opts) {
    scan_f64_with(&opts, dst, a, N, NULL);
    CHECK(memcmp(dst, first, N * sizeof *dst) == 0);
  }
  close_pools();
  free(a);
  free(first);
  free(dst);
}

/* ---- sorts by key ---- */

#define KEYED(name, K, P, less_expression, KEY, PAYLOAD)                                 \
  static inline bool name##_less(const K *a, const K *b, void *ctx) {                    \
    (void)ctx;                                                                           \
    return less_expression;                                                              \
  }                                                                                      \
  WEFT_SORT_BY_KEY(sort_##name, K, P, name##_less)                                       \
  static void check_sorted_##name(const K *keys, const P *payload, const K *old,         \
                                  size_t n) {                                            \
    unsigned char *seen = array_of(n, 1);                                                \
    memset(seen, 0, n);                                                                  \
    size_t wrong = 0;                                                                    \
    for (size_t i = 0; i < n; i++) {                                                     \
      size_t from = (size_t)PAYLOAD(payload[i]);                                         \
      if (!CHECK(from < n)) break;                                                       \
      wrong += seen[from]++ != 0;                                                        \
      wrong += KEY(old[from]) != KEY(keys[i]);                                           \
      if (i == 0) continue;                                                              \
      wrong += name##_less(&keys[i], &keys[i - 1], NULL);                                \
      wrong += !name##_less(&keys[i - 1], &keys[i], NULL) &&                             \
               (size_t)PAYLOAD(payload[i - 1]) > from; /* stable */                      \
    }                                                                                    \
    CHECK_EQ(wrong, 0);                                                                  \
    free(seen);                                                                          \
  }                                                                                      \
  TEST(sorts_by_key_##name) {                                                            \
    uint64_t random = harness_seed();                                                    \
    open_pools();                                                                        \
    for (unsigned l = 0; l < LENGTHS_COUNT; l++) {                                       \
      size_t n = LENGTHS[l];                                                             \
      if (is_too_large(4 * n, sizeof(K) + sizeof(P))) continue;                          \
      K *old = array_of(n, sizeof(K)), *keys = array_of(n, sizeof(K));                   \
      P *payload = array_of(n, sizeof(P));                                               \
      fill_random(old, n * sizeof(K), &random);                                          \
      for (size_t i = 0; i < n; i++) KEY(old[i]) &= 0x7f;                                \
      FOR_POOLS(opts) {                                                                  \
        memcpy((void *)keys, old, n * sizeof(K));                                        \
        for (size_t i = 0; i < n; i++) PAYLOAD(payload[i]) = (unsigned)i;                \
        sort_##name##_with(&opts, keys, n, payload, NULL);                               \
        check_sorted_##name(keys, payload, old, n);                                      \
      }                                                                                  \
      free((void *)old);                                                                 \
      free((void *)keys);                                                                \
      free((void *)payload);                                                             \
    }                                                                                    \
    close_pools();                                                                       \
  }

typedef struct wide_payload {
  unsigned index;
  unsigned char more[196];
} wide_payload;

#define INDEX_OF(x) ((x).index)
KEYED(i32, int32_t, uint32_t, *a < *b, SELF, SELF)
KEYED(u8, uint8_t, uint64_t, *a < *b, SELF, SELF)
KEYED(down, uint64_t, uint32_t, *a > *b, SELF, SELF)
KEYED(block, block_of_100, uint32_t, a->key < b->key, KEY_OF, SELF)
KEYED(wide, uint16_t, wide_payload, *a < *b, SELF, INDEX_OF)

/* A sort that was cancelled before it began keeps its elements, key by payload. */
TEST(a_cancelled_sort_by_key_keeps_pairs) {
  enum { N = 100000 };
  int32_t *keys = array_of(N, sizeof *keys);
  uint32_t *payload = array_of(N, sizeof *payload);
  unsigned char *seen = array_of(N, 1);
  weft_scope scope;
  weft_opts opts = WEFT_OPTS_INIT;
  memset(seen, 0, N);
  for (size_t i = 0; i < N; i++) keys[i] = (int32_t)(N - i), payload[i] = (uint32_t)i;
  weft_scope_begin(&scope);
  weft_scope_cancel(&scope, 1);
  opts.cancel = &scope;
  sort_i32_with(&opts, keys, N, payload, NULL);
  weft_scope_end(&scope);
  WRONG(N, keys[i] != (int32_t)(N - payload[i]) || seen[payload[i]]++ != 0);
  free(keys);
  free(payload);
  free(seen);
  weft_shutdown();
}
