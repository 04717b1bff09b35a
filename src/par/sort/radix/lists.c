/* par/sort/radix/lists.c - sorting of leaves with wide vectors, for CPUs that have
 * AVX-512: chooses them, and makes them from lists_template.h. Called by leaf_in_slot of
 * sort_template.h on any thread, for memory of its own.
 *
 * Compared with sorting by bytes, 10 M elements on one or two threads: 1.2 times as fast
 * for u64 and f64, 1.4 for i32 (docs/investigations/sorting-scalars.md).
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"

#include "../../base/cpu_features.h"

#if WF_X86_SIMD && defined(__x86_64__)
#define LISTS_X86 1
#else
#define LISTS_X86 0
#endif

#if LISTS_X86

/* Of even keys 1 in 430 finds its row full. If it is more than 1 in
 * LISTS_REST_PART the keys are uneven; LISTS_REST_LEAST are allowed for chance. Choices.
 */
enum {
  LISTS_LENGTH = WF_LISTS_LENGTH,
  LISTS_REST_LEAST = 16,
  LISTS_REST_PART = 64,
  LISTS_REST = LISTS_REST_LEAST + WF_LISTS_MOST / LISTS_REST_PART
};

WF_TARGET_AVX512_BEGIN

/* clang-format off */
#define LISTS_EIGHT_ROWS \
  LISTS_ROW(0); LISTS_ROW(1); LISTS_ROW(2); LISTS_ROW(3); LISTS_ROW(4); LISTS_ROW(5); LISTS_ROW(6); LISTS_ROW(7);
#define LISTS_SIXTEEN_ROWS LISTS_EIGHT_ROWS \
  LISTS_ROW(8); LISTS_ROW(9); LISTS_ROW(10); LISTS_ROW(11); LISTS_ROW(12); LISTS_ROW(13); LISTS_ROW(14); LISTS_ROW(15);
/* clang-format on */

#define LISTS_BITS     64
#define LISTS_COLUMNS  8
#define LISTS_EACH_ROW LISTS_EIGHT_ROWS
#include "lists_template.h"

#define LISTS_BITS     32
#define LISTS_COLUMNS  16
#define LISTS_EACH_ROW LISTS_SIXTEEN_ROWS
#include "lists_template.h"

WF_TARGET_END

static const wf_lists lists_avx512 = {lists_leaf32, lists_leaf64};

#endif

static wf_word lists_denied; /* 1: tests want the other way */

void wf_lists_allow(bool allow) {
  /* Relaxed: nothing else depends on it; the same below. */
  wf_word_store_relaxed(&lists_denied, allow ? 0 : 1);
}

const wf_lists *wf_lists_get(void) {
#if LISTS_X86
  if (wf_word_load_relaxed(&lists_denied) == 0 && wf_cpu_has_avx512())
    return &lists_avx512;
#endif
  return NULL;
}
