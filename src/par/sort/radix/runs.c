/* par/sort/radix/runs.c - encodes a run of elements and finds their buckets: a loop for
 * each kind of element, compiled for each kind of CPU. Called by read_run of
 * sort_template.h on any thread, for memory of its own.
 *
 * A run has a constant length, so that gcc makes vectors of these loops at -O2. What they
 * gain is in docs/investigations/sorting-scalars.md ("Runs").
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"

#include "../../base/cpu_features.h"

/* Encodes the elements of a run and finds their buckets, as wf_encode_u32 and
 * wf_bucket_of do. What compilers make vectors of comes first: the distance of each key
 * from the lowest one, and its step. */
WF_INLINE void run_bits32(const wf_digit *digit, const wf_coding *coding,
                          const wf_bits32 *restrict src, wf_bits32 *restrict encoded,
                          uint32_t *restrict buckets) {
  const wf_coding c = *coding;
  const uint32_t low = (uint32_t)digit->low, most = (uint32_t)digit->most;
  const unsigned shift = digit->shift;
  uint32_t above[WF_RUN];
  for (size_t i = 0; i < WF_RUN; i++) {
    uint32_t key = wf_encode_u32(&c, src[i]), distance = key > low ? key - low : 0;
    encoded[i] = key;
    above[i] = distance < most ? distance : most;
    buckets[i] = above[i] >> shift;
  }
  if (digit->slices == NULL) return;
  for (size_t i = 0; i < WF_RUN; i++) {
    const wf_key_slice slice = digit->slices[buckets[i]];
    buckets[i] = slice.offset + (above[i] >> slice.shift);
  }
}

/* The same for 64 bits. */
WF_INLINE void run_bits64(const wf_digit *digit, const wf_coding *coding,
                          const wf_bits64 *restrict src, wf_bits64 *restrict encoded,
                          uint32_t *restrict buckets) {
  const wf_coding c = *coding;
  const uint64_t low = digit->low, most = digit->most;
  const unsigned shift = digit->shift;
  uint64_t above[WF_RUN];
  for (size_t i = 0; i < WF_RUN; i++) {
    uint64_t key = wf_encode_u64(&c, src[i]), distance = key > low ? key - low : 0;
    encoded[i] = key;
    above[i] = distance < most ? distance : most;
    buckets[i] = (uint32_t)(above[i] >> shift);
  }
  if (digit->slices == NULL) return;
  for (size_t i = 0; i < WF_RUN; i++) {
    const wf_key_slice slice = digit->slices[buckets[i]];
    buckets[i] = slice.offset + (uint32_t)(above[i] >> slice.shift);
  }
}

#define RUNS(set)                                                                        \
  static void run_bits32_##set(const wf_digit *digit, const wf_coding *coding,           \
                               const wf_bits32 *src, wf_bits32 *encoded,                 \
                               uint32_t *buckets) {                                      \
    run_bits32(digit, coding, src, encoded, buckets);                                    \
  }                                                                                      \
  static void run_bits64_##set(const wf_digit *digit, const wf_coding *coding,           \
                               const wf_bits64 *src, wf_bits64 *encoded,                 \
                               uint32_t *buckets) {                                      \
    run_bits64(digit, coding, src, encoded, buckets);                                    \
  }                                                                                      \
  static const wf_runs runs_##set = {run_bits32_##set, run_bits64_##set};

RUNS(portable)

#if WF_X86_SIMD
WF_TARGET_AVX2_BEGIN
RUNS(avx2)
WF_TARGET_END

WF_TARGET_AVX512_BEGIN
RUNS(avx512)
WF_TARGET_END
#endif

const wf_runs *wf_runs_of(unsigned set) {
  if (set == 0) return &runs_portable;
#if WF_X86_SIMD
  if (set == 1 && wf_cpu_has_avx2()) return &runs_avx2;
  if (set == 2 && wf_cpu_has_avx512()) return &runs_avx512;
#endif
  return NULL;
}

const wf_runs *wf_runs_get(void) {
  unsigned set = WF_RUNS_SETS - 1;
  while (wf_runs_of(set) == NULL) set--;
  return wf_runs_of(set);
}
