/* par/fold/simd.h - SIMD sets: the innermost loops over arrays of numbers, one set for
 * each kind of CPU. Used by the calls on numbers and by iterators.
 *
 * All sets give the same bits: simd_body.h defines for each loop what is added to what,
 * and leaves nothing to the compiler or the width of the CPU's registers.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_SIMD_H
#define WF_PAR_SIMD_H

#include "../../core/atomic.h"

#include <weft/numbers.h>

/* Of some numbers: how many there are, their mean, which is mean + rest, and the sum of
 * the squares of their distances from it. */
typedef struct wf_moments {
  double count, mean, rest, squares;
} wf_moments;

/* Sets *l to the moments of the numbers of both. */
void wf_moments_merge(wf_moments *l, const wf_moments *r);

/* The most elements of one call of a loop other than fill and scan: TREE_LEVELS of
 * simd_body.h are enough for those. */
enum { WF_SIMD_MAX = 16384 };

/* Sums of floats are trees: elements of a group of WF_SUM_GROUP are added in eight
 * columns, element i in column i % 8, by halves; groups of a leaf by halves, too, the
 * lower one a power of two; then the columns. The length of a group is a choice: 16 rows
 * of columns are added as a tree without a loop, and few partial sums wait in registers.
 * Leaves have WF_SUM_LEAF_BYTES: they stay in a second-level cache where they are read
 * twice, and take a few microseconds. Both numbers decide the bits of a sum. */
enum { WF_SUM_GROUP = 128, WF_SUM_LEAF_BYTES = 65536 };

/* The loops of one type: sum_f64, product_f64 and so on. `carry` is what scans keep
 * between elements: double for floats, else the type itself. */
#define WF_SIMD_OF(name, type, wide, carry)                                              \
  wide (*sum_##name)(const type *a, size_t n);                                           \
  wide (*product_##name)(const type *a, size_t n);                                       \
  wide (*dot_##name)(const type *a, const type *b, size_t n);                            \
  type (*min_##name)(const type *a, size_t n);                                           \
  type (*max_##name)(const type *a, size_t n);                                           \
  /* The sum as a double, rounded at most a few times. */                                \
  double (*total_##name)(const type *a, size_t n);                                       \
  wf_moments (*moments_##name)(const type *a, size_t n);                                 \
  /* The same value that scan_... returns, without writing. */                           \
  carry (*scan_total_##name)(const type *a, size_t n);                                   \
  /* dst[i] = before + (a[0] + ... + a[i]), without a[i] if exclusive; dst may be a.     \
   * Returns the sum of a alone, added in the same order. */                             \
  carry (*scan_##name)(type * dst, const type *a, size_t n, carry before, bool exclusive);

/* Copies the elements of 4 or 8 bytes whose byte in `keep` is 1, not 0, to dst, side by
 * side, and returns how many there are. dst does not overlap src and has room for n;
 * what lies behind the copied elements is undefined. */
typedef size_t wf_compact_fn(void *dst, const void *src, const unsigned char *keep,
                             size_t n);

typedef struct wf_simd {
  WF_SIMD_OF(i32, int32_t, int64_t, int32_t)
  WF_SIMD_OF(u32, uint32_t, uint64_t, uint32_t)
  WF_SIMD_OF(i64, int64_t, int64_t, int64_t)
  WF_SIMD_OF(u64, uint64_t, uint64_t, uint64_t)
  WF_SIMD_OF(f32, float, double, double)
  WF_SIMD_OF(f64, double, double, double)
  /* The columns of the sum of n elements, a power of two of groups: what sum_f32 and
   * sum_f64 have before they add the columns. */
  void (*columns_f32)(double *sums, const float *a, size_t n);
  void (*columns_f64)(double *sums, const double *a, size_t n);
  /* Sets n elements of 4 or of 8 bytes to *value. */
  void (*fill_4)(void *a, size_t n, const void *value);
  void (*fill_8)(void *a, size_t n, const void *value);
  bool wide; /* this CPU runs what is compiled for AVX2 */
  /* NULL in the portable set, where a plain loop is as good. */
  wf_compact_fn *compact_4, *compact_8;
} wf_simd;

/* The set of this CPU. */
const wf_simd *wf_simd_get(void);

/* For tests: chooses the set of that number, from 0, the portable one, to 2. False if
 * this CPU cannot run it. */
bool wf_simd_choose(unsigned number);

#endif
