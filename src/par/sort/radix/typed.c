/* par/sort/radix/typed.c - sorting and selecting of the six types of numbers: their bits
 * become unsigned numbers of 32 or 64 bits (wf_coding in radix.h), and these are sorted.
 * The calls are at the end; what they call is made from the two templates.
 *
 * Called by programs, and by keyed.c (wf_sort_bits64, wf_is_ordered_bits32 and
 * wf_is_ordered_bits64). The wf_radix of a sort is in the frame of the call;
 * sort_template.h says which thread owns which part of the array.
 *
 * SPDX-License-Identifier: MIT */
#include "../order/order.h"
#include "radix.h"

#include <weft/array.h>
#include <weft/sort_numbers.h>

#define WF_SORT(name)   name##_bits32
#define WF_ELEM         wf_bits32
#define WF_KEY          uint32_t
#define WF_KEY_OF(e)    (e)
#define WF_ENCODE(c, e) wf_encode_u32(c, e)
#define WF_DECODE(c, e) wf_decode_u32(c, e)
#define WF_LISTS_LEAF   leaf_bits32
#include "sort_template.h"

#define WF_SORT(name)   name##_bits64
#define WF_ELEM         wf_bits64
#define WF_KEY          uint64_t
#define WF_KEY_OF(e)    (e)
#define WF_ENCODE(c, e) wf_encode_u64(c, e)
#define WF_DECODE(c, e) wf_decode_u64(c, e)
#define WF_LISTS_LEAF   leaf_bits64
#include "sort_template.h"

void wf_sort_bits64(const weft_opts *opts, const wf_coding *coding, wf_bits64 *a,
                    size_t n) {
  call_bits64 call = {opts, coding, a, n, 0};
  sort_bits64(&call);
}

bool wf_is_ordered_bits32(const weft_opts *opts, const wf_coding *coding,
                          const wf_bits32 *a, size_t n) {
  return all_ordered_bits32(opts, a, n, false, coding);
}

bool wf_is_ordered_bits64(const weft_opts *opts, const wf_coding *coding,
                          const wf_bits64 *a, size_t n) {
  return all_ordered_bits64(opts, a, n, false, coding);
}

/* ---- the six types: weft_sort_i32 weft_sort_u32 weft_sort_i64 weft_sort_u64
 * weft_sort_f32 weft_sort_f64, and in the same way the others ---- */

#define TYPED_SORT(N, T, BITS)                                                           \
  void weft_sort_##N##_with(const weft_opts *o, T *a, size_t n) {                        \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_sort_" #N);                               \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, 0};            \
    sort_bits##BITS(&call);                                                              \
  }                                                                                      \
  WF_PLAIN(weft_sort_##N, (T * a, size_t n), a, n)                                       \
  void weft_nth_element_##N##_with(const weft_opts *o, T *a, size_t n, size_t nth) {     \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_nth_element_" #N);                        \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, nth};          \
    select_bits##BITS(&call);                                                            \
  }                                                                                      \
  WF_PLAIN(weft_nth_element_##N, (T * a, size_t n, size_t nth), a, n, nth)               \
  void weft_partial_sort_##N##_with(const weft_opts *o, T *a, size_t n, size_t k) {      \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_partial_sort_" #N);                       \
    call_bits##BITS call = {&opts, &wf_coding_##N, (wf_bits##BITS *)a, n, 0};            \
    partial_sort_bits##BITS(&call, k);                                                   \
  }                                                                                      \
  WF_PLAIN(weft_partial_sort_##N, (T * a, size_t n, size_t k), a, n, k)                  \
  bool weft_is_sorted_##N##_with(const weft_opts *o, const T *a, size_t n) {             \
    weft_opts opts;                                                                      \
    wf_par_start(&opts, o, a == NULL, n, "weft_is_sorted_" #N);                          \
    return all_ordered_bits##BITS(&opts, (const wf_bits##BITS *)a, n, false,             \
                                  &wf_coding_##N);                                       \
  }                                                                                      \
  WF_PLAIN_OF(bool, weft_is_sorted_##N, (const T *a, size_t n), a, n)

TYPED_SORT(i32, int32_t, 32)
TYPED_SORT(u32, uint32_t, 32)
TYPED_SORT(i64, int64_t, 64)
TYPED_SORT(u64, uint64_t, 64)
TYPED_SORT(f32, float, 32)
TYPED_SORT(f64, double, 64)
