/* par/fold/simd_body.h - a template: the loops of a SIMD set, written once. simd.c
 * includes it for each kind of CPU. SIMD(name) is the name with the set's suffix, such as
 * sum_f64_avx2; SIMD_BYTES is the length of the set's vectors.
 *
 * Doubles are added in eight columns, whatever the length of the vectors: element i goes
 * to column i % 8, each column is a binary tree over its elements, and in the end the
 * columns are combined as a tree, too. That is pairwise summation, with as many additions
 * as the plain loop has. Integers wrap, so their order does not matter and the compiler
 * may choose it.
 *
 * Makes sum_T, product_T, dot_T, total_T, moments_T, min_T, max_T, scan_total_T and
 * scan_T for T in i32, u32, i64, u64, f32 and f64; fill_4 and fill_8; and the set itself,
 * `simd`. Macros make those of several types; above each it says which.
 *
 * SPDX-License-Identifier: MIT */

/* No include guard: the file is included several times. */

#define WIDTH   (SIMD_BYTES / 8) /* doubles in a vector */
#define VECTOR  SIMD(vector)
#define COLUMNS SIMD(columns)
#define EACH    for (int k = 0; k < 8 / WIDTH; k++) /* each vector of the eight columns */

typedef double VECTOR __attribute__((vector_size(SIMD_BYTES)));
typedef float SIMD(vector_f32) __attribute__((vector_size(SIMD_BYTES)));
typedef float SIMD(vector_half) __attribute__((vector_size(SIMD_BYTES / 2)));

/* Eight doubles. */
typedef struct COLUMNS {
  VECTOR v[8 / WIDTH];
} COLUMNS;

/* ---- eight columns ---- */

WF_INLINE COLUMNS SIMD(load_f64)(const double *a) {
  COLUMNS r;
  EACH memcpy(&r.v[k], a + k * WIDTH, sizeof r.v[k]);
  return r;
}

WF_INLINE COLUMNS SIMD(load_f32)(const float *a) {
  COLUMNS r;
  EACH {
    SIMD(vector_half) half;
    memcpy(&half, a + k * WIDTH, sizeof half);
    r.v[k] = __builtin_convertvector(half, VECTOR);
  }
  return r;
}

WF_INLINE void SIMD(store_f64)(double *to, COLUMNS x) {
  EACH memcpy(to + k * WIDTH, &x.v[k], sizeof x.v[k]);
}

WF_INLINE void SIMD(store_f32)(float *to, COLUMNS x) {
  EACH {
    SIMD(vector_half) half = __builtin_convertvector(x.v[k], SIMD(vector_half));
    memcpy(to + k * WIDTH, &half, sizeof half);
  }
}

WF_INLINE COLUMNS SIMD(columns_of)(double value) {
  double d[8] = {value, value, value, value, value, value, value, value};
  return SIMD(load_f64)(d);
}

/* Makes columns_add and one_add, columns_sub and one_sub, columns_mul and one_mul: column
 * by column of x and y, and the eight columns of x combined to one number. */
#define COLUMNS_OP(name, op)                                                             \
  WF_INLINE COLUMNS SIMD(columns_##name)(COLUMNS x, COLUMNS y) {                         \
    EACH x.v[k] = x.v[k] op y.v[k];                                                      \
    return x;                                                                            \
  }                                                                                      \
  WF_INLINE double SIMD(one_##name)(COLUMNS x) {                                         \
    double d[8], e[4];                                                                   \
    SIMD(store_f64)(d, x);                                                               \
    for (int l = 0; l < 4; l++) e[l] = d[l] op d[l + 4];                                 \
    return (e[0] op e[2])op(e[1] op e[3]);                                               \
  }
COLUMNS_OP(add, +)
COLUMNS_OP(sub, -)
COLUMNS_OP(mul, *)
#undef COLUMNS_OP

/* ---- trees ---- */

/* A group of 128 elements is a tree in registers. The results of groups wait in a stack,
 * in which the entry of level k stands for 2^k groups. The last group is filled up with
 * elements that change nothing. */
#define TREE_GROUP    WF_SUM_GROUP
#define READ_IN_ORDER __asm__ volatile("" ::: "memory")
#define TREE_LEVELS   10 /* enough for WF_SIMD_MAX elements: 128 groups are 8 levels */

#define TREE_16(op, AT, i) SIMD(columns_##op)(AT(i), AT((i) + 8))
#define TREE_32(op, AT, i)                                                               \
  SIMD(columns_##op)(TREE_16(op, AT, i), TREE_16(op, AT, (i) + 16))
#define AT_TAIL(i) SIMD(load_f64)(tail + (i))

/* Sets x to the tree of the 128 elements from i on. Four cache lines of an array are read
 * before the next four: gcc reads all that it needs for one half of the columns first and
 * then the lines for the other half again, and memory is a sixth slower if the CPU cannot
 * see that they are read in their order (docs/investigations/streams-past-the-caches.md).
 */
#define TREE_128(x, op, AT, i)                                                           \
  COLUMNS x = TREE_32(op, AT, i);                                                        \
  READ_IN_ORDER;                                                                         \
  COLUMNS x##_1 = TREE_32(op, AT, (i) + 32);                                             \
  READ_IN_ORDER;                                                                         \
  COLUMNS x##_2 = TREE_32(op, AT, (i) + 64);                                             \
  READ_IN_ORDER;                                                                         \
  COLUMNS x##_3 = TREE_32(op, AT, (i) + 96);                                             \
  x = SIMD(columns_##op)(SIMD(columns_##op)(x, x##_1), SIMD(columns_##op)(x##_2, x##_3));

/* Combines all elements to the columns `all`. AT(i) is eight columns from the elements i
 * to i + 7, ONE(i) the same for a single element, `empty` changes nothing. */
#define TREE_COLUMNS(op, empty, AT, ONE)                                                 \
  WF_ASSERT(n <= WF_SIMD_MAX);                                                           \
  COLUMNS waiting[TREE_LEVELS];                                                          \
  size_t top = 0, groups = n / TREE_GROUP;                                               \
  for (size_t group = 0; group < groups; group++) {                                      \
    size_t i = group * TREE_GROUP;                                                       \
    TREE_128(x, op, AT, i)                                                               \
    for (size_t k = group; k % 2 == 1; k /= 2)                                           \
      x = SIMD(columns_##op)(waiting[--top], x);                                         \
    WF_ASSERT(top < TREE_LEVELS);                                                        \
    waiting[top++] = x;                                                                  \
  }                                                                                      \
  if (n % TREE_GROUP != 0 || n == 0) {                                                   \
    double tail[TREE_GROUP];                                                             \
    size_t from = groups * TREE_GROUP;                                                   \
    for (size_t l = 0; l < TREE_GROUP; l++)                                              \
      tail[l] = from + l < n ? ONE(from + l) : (empty);                                  \
    waiting[top++] = SIMD(group_##op)(tail);                                             \
  }                                                                                      \
  COLUMNS all = waiting[--top];                                                          \
  while (top > 0) all = SIMD(columns_##op)(waiting[--top], all);

#define TREE(op, empty, AT, ONE)                                                         \
  TREE_COLUMNS(op, empty, AT, ONE)                                                       \
  return SIMD(one_##op)(all);

/* A group of doubles. */
static __attribute__((noinline)) COLUMNS SIMD(group_add)(const double *tail) {
  TREE_128(all, add, AT_TAIL, 0)
  return all;
}

static __attribute__((noinline)) COLUMNS SIMD(group_mul)(const double *tail) {
  TREE_128(all, mul, AT_TAIL, 0)
  return all;
}

#define AT_F64(i)  SIMD(load_f64)(a + (i))
#define AT_F32(i)  SIMD(load_f32)(a + (i))
#define DOT_F64(i) SIMD(columns_mul)(SIMD(load_f64)(a + (i)), SIMD(load_f64)(b + (i)))
#define DOT_F32(i) SIMD(columns_mul)(SIMD(load_f32)(a + (i)), SIMD(load_f32)(b + (i)))
#define ONE(i)     ((double)a[i])
#define ONE_DOT(i) ((double)a[i] * (double)b[i])

/* Makes sum_<name>, columns_<name>, product_<name>, dot_<name> and total_<name> for f32
 * and f64. */
#define SUMS_OF_FLOATS(name, type, AT, DOT)                                              \
  static double SIMD(sum_##name)(const type *a, size_t n) {                              \
    TREE(add, 0.0, AT, ONE)                                                              \
  }                                                                                      \
  static void SIMD(columns_##name)(double *sums, const type *a, size_t n) {              \
    TREE_COLUMNS(add, 0.0, AT, ONE)                                                      \
    SIMD(store_f64)(sums, all);                                                          \
  }                                                                                      \
  static double SIMD(product_##name)(const type *a, size_t n) {                          \
    TREE(mul, 1.0, AT, ONE)                                                              \
  }                                                                                      \
  static double SIMD(dot_##name)(const type *a, const type *b, size_t n) {               \
    TREE(add, 0.0, DOT, ONE_DOT)                                                         \
  }                                                                                      \
  static double SIMD(total_##name)(const type *a, size_t n) {                            \
    return SIMD(sum_##name)(a, n);                                                       \
  }
SUMS_OF_FLOATS(f64, double, AT_F64, DOT_F64)
SUMS_OF_FLOATS(f32, float, AT_F32, DOT_F32)
#undef SUMS_OF_FLOATS

/* Makes sum_<name>, product_<name> and dot_<name> for i32, u32 and u64. */
#define SUMS_OF_INTEGERS(name, type, wide)                                               \
  static wide SIMD(sum_##name)(const type *a, size_t n) {                                \
    uint64_t sum = 0;                                                                    \
    for (size_t i = 0; i < n; i++) sum += (uint64_t)(wide)a[i];                          \
    return (wide)sum;                                                                    \
  }                                                                                      \
  static wide SIMD(product_##name)(const type *a, size_t n) {                            \
    uint64_t product = 1;                                                                \
    for (size_t i = 0; i < n; i++) product *= (uint64_t)(wide)a[i];                      \
    return (wide)product;                                                                \
  }                                                                                      \
  static wide SIMD(dot_##name)(const type *a, const type *b, size_t n) {                 \
    uint64_t sum = 0;                                                                    \
    for (size_t i = 0; i < n; i++) sum += (uint64_t)(wide)a[i] * (uint64_t)(wide)b[i];   \
    return (wide)sum;                                                                    \
  }
SUMS_OF_INTEGERS(i32, int32_t, int64_t)
SUMS_OF_INTEGERS(u32, uint32_t, uint64_t)
SUMS_OF_INTEGERS(u64, uint64_t, uint64_t)
#undef SUMS_OF_INTEGERS

/* Signed numbers of 64 bits wrap as unsigned ones do. */
static int64_t SIMD(sum_i64)(const int64_t *a, size_t n) {
  return (int64_t)SIMD(sum_u64)((const uint64_t *)a, n);
}

static int64_t SIMD(product_i64)(const int64_t *a, size_t n) {
  return (int64_t)SIMD(product_u64)((const uint64_t *)a, n);
}

static int64_t SIMD(dot_i64)(const int64_t *a, const int64_t *b, size_t n) {
  return (int64_t)SIMD(dot_u64)((const uint64_t *)a, (const uint64_t *)b, n);
}

/* ---- mean and variance ---- */

static double SIMD(total_i32)(const int32_t *a, size_t n) {
  return (double)SIMD(sum_i32)(a, n);
}

static double SIMD(total_u32)(const uint32_t *a, size_t n) {
  return (double)SIMD(sum_u32)(a, n);
}

/* Makes total_i64 and total_u64. Sums of the upper and of the lower halves of numbers do
 * not overflow. */
#define TOTAL_64(name, type, half)                                                       \
  static double SIMD(total_##name)(const type *a, size_t n) {                            \
    type upper = 0;                                                                      \
    uint64_t lower = 0;                                                                  \
    for (size_t i = 0; i < n; i++) {                                                     \
      upper += (half)((uint64_t)a[i] >> 32);                                             \
      lower += (uint32_t)a[i];                                                           \
    }                                                                                    \
    return (double)upper * 4294967296.0 + (double)lower;                                 \
  }
TOTAL_64(i64, int64_t, int32_t)
TOTAL_64(u64, uint64_t, uint32_t)
#undef TOTAL_64

/* The distances of doubles from the mean, and their squares. */
#define APART(i)       SIMD(columns_sub)(SIMD(load_f64)(a + (i)), means)
#define SQUARED(i)     SIMD(columns_mul)(APART(i), APART(i))
#define ONE_APART(i)   (a[i] - mean)
#define ONE_SQUARED(i) ((a[i] - mean) * (a[i] - mean))

static double SIMD(tree_apart)(const double *a, double mean, size_t n) {
  COLUMNS means = SIMD(columns_of)(mean);
  TREE(add, 0.0, APART, ONE_APART)
}

static double SIMD(tree_squared)(const double *a, double mean, size_t n) {
  COLUMNS means = SIMD(columns_of)(mean);
  TREE(add, 0.0, SQUARED, ONE_SQUARED)
}

/* Passes over the same elements, which are still in the cache: first the mean, then the
 * distances from it. `off` corrects what the rounded mean is off by. */
static wf_moments SIMD(moments_f64)(const double *a, size_t n) {
  wf_moments m = {(double)n, 0, 0, 0};
  if (n == 0) return m;
  m.mean = SIMD(sum_f64)(a, n) / m.count;
  double off = SIMD(tree_apart)(a, m.mean, n);
  m.squares = SIMD(tree_squared)(a, m.mean, n) - off * off / m.count;
  m.rest = off / m.count;
  return m;
}

/* Makes moments_<name> for the other types: their numbers become doubles first, in parts
 * that fit on a small stack. */
#define MOMENTS(name, type)                                                              \
  static wf_moments SIMD(moments_##name)(const type *a, size_t n) {                      \
    wf_moments all = {0, 0, 0, 0};                                                       \
    for (size_t i = 0; i < n; i += TREE_GROUP) {                                         \
      double d[TREE_GROUP];                                                              \
      size_t count = n - i < TREE_GROUP ? n - i : TREE_GROUP;                            \
      for (size_t l = 0; l < count; l++) d[l] = (double)a[i + l];                        \
      wf_moments m = SIMD(moments_f64)(d, count);                                        \
      if (i == 0)                                                                        \
        all = m;                                                                         \
      else                                                                               \
        wf_moments_merge(&all, &m);                                                      \
    }                                                                                    \
    return all;                                                                          \
  }
MOMENTS(i32, int32_t)
MOMENTS(u32, uint32_t)
MOMENTS(i64, int64_t)
MOMENTS(u64, uint64_t)
MOMENTS(f32, float)
#undef MOMENTS

/* ---- smallest and largest ---- */

/* Makes min_<name> and max_<name> of integers; the other end is the result for no
 * elements. */
#define EXTREME_OF_INTEGERS(which, name, type, none, op)                                 \
  static type SIMD(which##_##name)(const type *a, size_t n) {                            \
    type r = none;                                                                       \
    for (size_t i = 0; i < n; i++) r = a[i] op r ? a[i] : r;                             \
    return r;                                                                            \
  }
#define EXTREMES_OF_INTEGERS(name, type, lowest, highest)                                \
  EXTREME_OF_INTEGERS(min, name, type, highest, <)                                       \
  EXTREME_OF_INTEGERS(max, name, type, lowest, >)
EXTREMES_OF_INTEGERS(i32, int32_t, INT32_MIN, INT32_MAX)
EXTREMES_OF_INTEGERS(u32, uint32_t, 0, UINT32_MAX)
EXTREMES_OF_INTEGERS(i64, int64_t, INT64_MIN, INT64_MAX)
EXTREMES_OF_INTEGERS(u64, uint64_t, 0, UINT64_MAX)
#undef EXTREMES_OF_INTEGERS
#undef EXTREME_OF_INTEGERS

/* x if x < r, else r: so a NaN in x is skipped. That is what the instruction does. */
#if WF_X86_SIMD && SIMD_BYTES == 16
#define EXTREME_F64(which, op, x, r) _mm_##which##_pd(x, r)
#define EXTREME_F32(which, op, x, r) _mm_##which##_ps(x, r)
#elif WF_X86_SIMD && SIMD_BYTES == 32
#define EXTREME_F64(which, op, x, r) _mm256_##which##_pd(x, r)
#define EXTREME_F32(which, op, x, r) _mm256_##which##_ps(x, r)
#elif WF_X86_SIMD && SIMD_BYTES == 64
#define EXTREME_F64(which, op, x, r) _mm512_##which##_pd(x, r)
#define EXTREME_F32(which, op, x, r) _mm512_##which##_ps(x, r)
#else
#define EXTREME_COLUMNS(count, op, x, r)                                                 \
  __extension__({                                                                        \
    for (int l = 0; l < (count); l++) (r)[l] = (x)[l] op(r)[l] ? (x)[l] : (r)[l];        \
    (r);                                                                                 \
  })
#define EXTREME_F64(which, op, x, r) EXTREME_COLUMNS(2, op, x, r)
#define EXTREME_F32(which, op, x, r) EXTREME_COLUMNS(4, op, x, r)
#endif

/* Makes min_f32, max_f32, min_f64 and max_f64. Every set has 128 bytes of columns,
 * because they decide which of equal zeros, 0.0 or -0.0, is the result. */
#define EXTREME_OF_FLOATS(which, name, type, vector, none, op, EXTREME)                  \
  static type SIMD(which##_##name)(const type *a, size_t n) {                            \
    enum { ALL = 128 / sizeof(type), PART = SIMD_BYTES / sizeof(type) };                 \
    vector r[ALL / PART];                                                                \
    type columns[ALL], best = (type)(none);                                              \
    size_t i = 0;                                                                        \
    for (int l = 0; l < ALL; l++) columns[l] = best;                                     \
    memcpy(r, columns, sizeof r);                                                        \
    for (; i + ALL <= n; i += ALL)                                                       \
      for (int k = 0; k < ALL / PART; k++) {                                             \
        vector x;                                                                        \
        memcpy(&x, a + i + k * PART, sizeof x);                                          \
        r[k] = EXTREME(which, op, x, r[k]);                                              \
      }                                                                                  \
    memcpy(columns, r, sizeof r);                                                        \
    for (int l = 0; i < n; i++, l++)                                                     \
      columns[l] = a[i] op columns[l] ? a[i] : columns[l];                               \
    for (int l = 0; l < ALL; l++) best = columns[l] op best ? columns[l] : best;         \
    return best;                                                                         \
  }
EXTREME_OF_FLOATS(min, f32, float, SIMD(vector_f32), __builtin_inf(), <, EXTREME_F32)
EXTREME_OF_FLOATS(max, f32, float, SIMD(vector_f32), -__builtin_inf(), >, EXTREME_F32)
EXTREME_OF_FLOATS(min, f64, double, VECTOR, __builtin_inf(), <, EXTREME_F64)
EXTREME_OF_FLOATS(max, f64, double, VECTOR, -__builtin_inf(), >, EXTREME_F64)
#undef EXTREME_OF_FLOATS
#undef EXTREME_COLUMNS
#undef EXTREME_F64
#undef EXTREME_F32

/* ---- fill ---- */

/* Makes fill_4 and fill_8: what the bytes mean does not matter. */
#define FILL(size, natural)                                                              \
  static void SIMD(fill_##size)(void *a, size_t n, const void *value) {                  \
    natural x;                                                                           \
    memcpy(&x, value, sizeof x);                                                         \
    for (size_t i = 0; i < n; i++) memcpy((char *)a + i * sizeof x, &x, sizeof x);       \
  }
FILL(4, uint32_t)
FILL(8, uint64_t)
#undef FILL

/* ---- scans ---- */

/* prefix: x0, x0 + x1, ..., where columns 4 to 7 are added to the sum of columns 0 to 3,
 * and likewise within the halves. last: the last column in all eight. shift: each column
 * moves up by one, and the last one of `before` comes first. */
#if WF_X86_SIMD && SIMD_BYTES == 64
WF_INLINE COLUMNS SIMD(prefix)(COLUMNS x) {
  __m512d v = x.v[0];
  v = _mm512_mask_add_pd(v, 0xaa, v, _mm512_movedup_pd(v));
  v = _mm512_mask_add_pd(v, 0xcc, v, _mm512_permutex_pd(v, 0x55));
  v = _mm512_mask_add_pd(v, 0xf0, v, _mm512_permutexvar_pd(_mm512_set1_epi64(3), v));
  x.v[0] = v;
  return x;
}

WF_INLINE COLUMNS SIMD(last)(COLUMNS x) {
  x.v[0] = _mm512_permutexvar_pd(_mm512_set1_epi64(7), x.v[0]);
  return x;
}

WF_INLINE COLUMNS SIMD(shift)(COLUMNS before, COLUMNS x) {
  x.v[0] = _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(x.v[0]),
                                                   _mm512_castpd_si512(before.v[0]), 7));
  return x;
}
#elif WF_X86_SIMD && SIMD_BYTES == 32
WF_INLINE COLUMNS SIMD(prefix)(COLUMNS x) {
  EACH {
    __m256d v = x.v[k];
    v = _mm256_blend_pd(v, v + _mm256_movedup_pd(v), 0xa);
    x.v[k] = _mm256_blend_pd(v, v + _mm256_permute4x64_pd(v, 0x55), 0xc);
  }
  x.v[1] += _mm256_permute4x64_pd(x.v[0], 0xff);
  return x;
}

WF_INLINE COLUMNS SIMD(last)(COLUMNS x) {
  x.v[0] = x.v[1] = _mm256_permute4x64_pd(x.v[1], 0xff);
  return x;
}

WF_INLINE COLUMNS SIMD(shift)(COLUMNS before, COLUMNS x) {
  __m256d low = _mm256_permute4x64_pd(x.v[0], 0x93); /* 3 0 1 2 */
  __m256d high = _mm256_permute4x64_pd(x.v[1], 0x93);
  x.v[0] = _mm256_blend_pd(low, _mm256_permute4x64_pd(before.v[1], 0xff), 1);
  x.v[1] = _mm256_blend_pd(high, low, 1);
  return x;
}
#else
WF_INLINE COLUMNS SIMD(prefix)(COLUMNS x) {
  double pair[4], low, high, half;
  EACH pair[k] = x.v[k][0] + x.v[k][1];
  low = pair[0], high = pair[2];
  EACH x.v[k] = (VECTOR){x.v[k][0], pair[k]};
  x.v[1] += (VECTOR){low, low};
  x.v[3] += (VECTOR){high, high};
  half = x.v[1][1];
  x.v[2] += (VECTOR){half, half};
  x.v[3] += (VECTOR){half, half};
  return x;
}

WF_INLINE COLUMNS SIMD(last)(COLUMNS x) {
  return SIMD(columns_of)(x.v[3][1]);
}

WF_INLINE COLUMNS SIMD(shift)(COLUMNS before, COLUMNS x) {
  COLUMNS r;
  EACH r.v[k] = (VECTOR){k == 0 ? before.v[3][1] : x.v[(k + 3) % 4][1], x.v[k][0]};
  return r;
}
#endif

/* Eight elements at a time: their prefixes are added to the sum of the elements before
 * them in this call, and that to the carry. */
#define SCAN_STEP(name, to, from)                                                        \
  do {                                                                                   \
    COLUMNS x = SIMD(prefix)(SIMD(load_##name)(from));                                   \
    COLUMNS now = SIMD(columns_add)(carry, SIMD(columns_add)(sum, x));                   \
    SIMD(store_##name)((to), exclusive ? SIMD(shift)(out, now) : now);                   \
    sum = SIMD(columns_add)(sum, SIMD(last)(x));                                         \
    out = now;                                                                           \
  } while (0)

/* Makes scan_f32, scan_f64, scan_total_f32 and scan_total_f64. */
#define SCAN_OF_FLOATS(name, type)                                                       \
  static double SIMD(scan_total_##name)(const type *a, size_t n) {                       \
    COLUMNS sum = SIMD(columns_of)(0);                                                   \
    size_t i = 0;                                                                        \
    for (; i + 8 <= n; i += 8)                                                           \
      sum = SIMD(columns_add)(sum, SIMD(last)(SIMD(prefix)(SIMD(load_##name)(a + i))));  \
    if (i < n) {                                                                         \
      type tail[8] = {0};                                                                \
      memcpy(tail, a + i, (n - i) * sizeof *a);                                          \
      sum = SIMD(columns_add)(sum, SIMD(last)(SIMD(prefix)(SIMD(load_##name)(tail))));   \
    }                                                                                    \
    return sum.v[0][0];                                                                  \
  }                                                                                      \
                                                                                         \
  WF_INLINE double SIMD(scan_either_##name)(type * dst, const type *a, size_t n,         \
                                            double before, bool exclusive) {             \
    COLUMNS sum = SIMD(columns_of)(0), carry = SIMD(columns_of)(before), out = carry;    \
    size_t i = 0;                                                                        \
    for (; i + 8 <= n; i += 8) SCAN_STEP(name, dst + i, a + i);                          \
    if (i < n) {                                                                         \
      type tail[8] = {0};                                                                \
      memcpy(tail, a + i, (n - i) * sizeof *a);                                          \
      SCAN_STEP(name, tail, tail);                                                       \
      memcpy(dst + i, tail, (n - i) * sizeof *a);                                        \
    }                                                                                    \
    return sum.v[0][0];                                                                  \
  }                                                                                      \
                                                                                         \
  static double SIMD(scan_##name)(type * dst, const type *a, size_t n, double before,    \
                                  bool exclusive) {                                      \
    return exclusive ? SIMD(scan_either_##name)(dst, a, n, before, true)                 \
                     : SIMD(scan_either_##name)(dst, a, n, before, false);               \
  }
SCAN_OF_FLOATS(f32, float)
SCAN_OF_FLOATS(f64, double)
#undef SCAN_OF_FLOATS
#undef SCAN_STEP

/* Makes scan_u32, scan_u64, scan_total_u32 and scan_total_u64. */
#define SCAN_OF_INTEGERS(name, type, natural)                                            \
  static type SIMD(scan_total_##name)(const type *a, size_t n) {                         \
    natural sum = 0;                                                                     \
    for (size_t i = 0; i < n; i++) sum += (natural)a[i];                                 \
    return (type)sum;                                                                    \
  }                                                                                      \
  static type SIMD(scan_##name)(type * dst, const type *a, size_t n, type before,        \
                                bool exclusive) {                                        \
    natural sum = (natural)before;                                                       \
    if (exclusive) {                                                                     \
      for (size_t i = 0; i < n; i++) {                                                   \
        natural x = (natural)a[i];                                                       \
        dst[i] = (type)sum;                                                              \
        sum += x;                                                                        \
      }                                                                                  \
    } else {                                                                             \
      for (size_t i = 0; i < n; i++) {                                                   \
        sum += (natural)a[i];                                                            \
        dst[i] = (type)sum;                                                              \
      }                                                                                  \
    }                                                                                    \
    return (type)(sum - (natural)before);                                                \
  }
SCAN_OF_INTEGERS(u32, uint32_t, uint32_t)
SCAN_OF_INTEGERS(u64, uint64_t, uint64_t)
#undef SCAN_OF_INTEGERS

/* Makes the same for i32 and i64, which wrap as unsigned numbers do. */
#define SCAN_OF_SIGNED(name, type, by, natural)                                          \
  static type SIMD(scan_total_##name)(const type *a, size_t n) {                         \
    return (type)SIMD(scan_total_##by)((const natural *)a, n);                           \
  }                                                                                      \
  static type SIMD(scan_##name)(type * dst, const type *a, size_t n, type before,        \
                                bool exclusive) {                                        \
    return (type)SIMD(scan_##by)((natural *)dst, (const natural *)a, n, (natural)before, \
                                 exclusive);                                             \
  }
SCAN_OF_SIGNED(i32, int32_t, u32, uint32_t)
SCAN_OF_SIGNED(i64, int64_t, u64, uint64_t)
#undef SCAN_OF_SIGNED

/* ---- the set ---- */

#define ENTRIES(name)                                                                    \
  .sum_##name = SIMD(sum_##name), .product_##name = SIMD(product_##name),                \
  .dot_##name = SIMD(dot_##name), .min_##name = SIMD(min_##name),                        \
  .max_##name = SIMD(max_##name), .total_##name = SIMD(total_##name),                    \
  .moments_##name = SIMD(moments_##name), .scan_total_##name = SIMD(scan_total_##name),  \
  .scan_##name = SIMD(scan_##name)

static const wf_simd SIMD(simd) = {
    ENTRIES(i32),
    ENTRIES(u32),
    ENTRIES(i64),
    ENTRIES(u64),
    ENTRIES(f32),
    ENTRIES(f64),
    .columns_f32 = SIMD(columns_f32),
    .columns_f64 = SIMD(columns_f64),
    .fill_4 = SIMD(fill_4),
    .fill_8 = SIMD(fill_8),
#if SIMD_BYTES > 16
    .wide = true,
    .compact_4 = SIMD(compact_4),
    .compact_8 = SIMD(compact_8),
#endif
};

#undef ENTRIES
#undef WIDTH
#undef VECTOR
#undef COLUMNS
#undef EACH
#undef TREE_GROUP
#undef TREE_LEVELS
#undef TREE_16
#undef TREE_32
#undef READ_IN_ORDER
#undef TREE_128
#undef AT_TAIL
#undef TREE
#undef TREE_COLUMNS
#undef AT_F64
#undef AT_F32
#undef DOT_F64
#undef DOT_F32
#undef ONE
#undef ONE_DOT
#undef ONE_APART
#undef ONE_SQUARED
#undef APART
#undef SQUARED
