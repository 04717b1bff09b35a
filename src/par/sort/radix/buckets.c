/* par/sort/radix/buckets.c - encodes a batch of elements and finds their buckets: a loop
 * for each kind of element, compiled for each kind of CPU. Called by read_batch of
 * sort_template.h on any thread, for memory of its own.
 *
 * A batch has a constant length, so that gcc makes vectors of these loops at -O2, from
 * version 12 on. What they gain is in docs/investigations/sorting-scalars.md ("Batches").
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"

#include "../../base/cpu_features.h"

/* Encodes the elements of a batch and finds their buckets, as wf_encode_u32 and
 * wf_bucket_of do. What compilers make vectors of comes first: the distance of each key
 * from the lowest one, and its step. */
WF_INLINE void buckets_bits32(const wf_digit *digit, const wf_coding *coding,
                              const wf_bits32 *restrict src, wf_bits32 *restrict encoded,
                              uint32_t *restrict buckets) {
  const wf_coding c = *coding;
  const uint32_t low = (uint32_t)digit->low, most = (uint32_t)digit->most;
  const unsigned shift = digit->shift;
  uint32_t above[WF_BUCKET_BATCH];
  for (size_t i = 0; i < WF_BUCKET_BATCH; i++) {
    uint32_t key = wf_encode_u32(&c, src[i]), distance = key > low ? key - low : 0;
    encoded[i] = key;
    above[i] = distance < most ? distance : most;
    buckets[i] = above[i] >> shift;
  }
  if (digit->slices == NULL) return;
  for (size_t i = 0; i < WF_BUCKET_BATCH; i++) {
    const wf_key_slice slice = digit->slices[buckets[i]];
    buckets[i] = slice.offset + (above[i] >> slice.shift);
  }
}

/* The same for 64 bits. */
WF_INLINE void buckets_bits64(const wf_digit *digit, const wf_coding *coding,
                              const wf_bits64 *restrict src, wf_bits64 *restrict encoded,
                              uint32_t *restrict buckets) {
  const wf_coding c = *coding;
  const uint64_t low = digit->low, most = digit->most;
  const unsigned shift = digit->shift;
  uint64_t above[WF_BUCKET_BATCH];
  for (size_t i = 0; i < WF_BUCKET_BATCH; i++) {
    uint64_t key = wf_encode_u64(&c, src[i]), distance = key > low ? key - low : 0;
    encoded[i] = key;
    above[i] = distance < most ? distance : most;
    buckets[i] = (uint32_t)(above[i] >> shift);
  }
  if (digit->slices == NULL) return;
  for (size_t i = 0; i < WF_BUCKET_BATCH; i++) {
    const wf_key_slice slice = digit->slices[buckets[i]];
    buckets[i] = slice.offset + (uint32_t)(above[i] >> slice.shift);
  }
}

#define BUCKET_LOOPS(set)                                                                \
  static void buckets_bits32_##set(const wf_digit *digit, const wf_coding *coding,       \
                                   const wf_bits32 *src, wf_bits32 *encoded,             \
                                   uint32_t *buckets) {                                  \
    buckets_bits32(digit, coding, src, encoded, buckets);                                \
  }                                                                                      \
  static void buckets_bits64_##set(const wf_digit *digit, const wf_coding *coding,       \
                                   const wf_bits64 *src, wf_bits64 *encoded,             \
                                   uint32_t *buckets) {                                  \
    buckets_bits64(digit, coding, src, encoded, buckets);                                \
  }                                                                                      \
  static const wf_bucket_loops loops_##set = {buckets_bits32_##set, buckets_bits64_##set};

BUCKET_LOOPS(portable)

#if WF_X86_SIMD
WF_TARGET_AVX2_BEGIN
BUCKET_LOOPS(avx2)
WF_TARGET_END

WF_TARGET_AVX512_BEGIN
BUCKET_LOOPS(avx512)
WF_TARGET_END
#endif
#undef BUCKET_LOOPS

const wf_bucket_loops *wf_bucket_loops_of(unsigned set) {
  if (set == 0) return &loops_portable;
#if WF_X86_SIMD
  if (set == 1 && wf_cpu_has_avx2()) return &loops_avx2;
  if (set == 2 && wf_cpu_has_avx512()) return &loops_avx512;
#endif
  return NULL;
}

const wf_bucket_loops *wf_bucket_loops_get(void) {
  unsigned set = WF_BUCKET_LOOPS_SETS - 1;
  while (wf_bucket_loops_of(set) == NULL) set--;
  return wf_bucket_loops_of(set);
}
