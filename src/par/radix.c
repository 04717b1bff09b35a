/* par/radix.c - see radix.h.
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"

/* A block has at least so many elements for each bucket, so that clearing and adding up
 * its counts is little beside its elements. */
enum { BLOCK_LEAST = 8, BLOCKS_EACH = 4 };

size_t wf_radix_buckets(size_t n, size_t size) {
  size_t buckets = WF_BUCKETS_LEAST;
  while (buckets < n / (WF_BUCKET_BYTES / size) && buckets < WF_BUCKETS_MOST)
    buckets *= 2;
  return buckets;
}

static size_t choose_blocks(size_t n, size_t buckets, unsigned crew) {
  size_t blocks = crew == 1 ? 1 : BLOCKS_EACH * (size_t)crew;
  size_t most = n / (BLOCK_LEAST * buckets) + 1;
  return blocks < most ? blocks : most;
}

static size_t in_lines(size_t bytes) {
  return (bytes + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE;
}

bool wf_radix_begin(wf_radix *radix, const weft_opts *given, const wf_coding *coding,
                    size_t n, size_t size) {
  radix->given = given;
  radix->opts = *given;
  radix->opts.cancel = NULL;
  radix->opts.split = WEFT_SPLIT_ADAPTIVE;
  radix->opts.min_len = radix->opts.max_len = radix->opts.target_chunks = 0;
  radix->coding = *coding;
  radix->stride = wf_radix_buckets(n, size);
  radix->blocks = choose_blocks(n, radix->stride, wf_par_crew(given));
  size_t table = in_lines(radix->blocks * radix->stride * sizeof(size_t));
  size_t starts = in_lines((radix->stride + 1) * sizeof(size_t));
  size_t ranges = in_lines(2 * radix->blocks * sizeof(uint64_t));
  size_t lines = radix->blocks * radix->stride * WF_LINE_BYTES;
  radix->scratch = wf_scratch_get(2 * table + starts + ranges + lines + n * size);
  char *at = (char *)radix->scratch.memory;
  if (at == NULL) return false;
  radix->counts = (size_t *)(void *)at;
  radix->firsts = (size_t *)(void *)(at + table);
  radix->starts = (size_t *)(void *)(at + 2 * table);
  radix->ranges = (uint64_t *)(void *)(at + 2 * table + starts);
  radix->lines = at + 2 * table + starts + ranges;
  radix->elements = radix->lines + lines;
  return true;
}

void wf_radix_end(wf_radix *radix) {
  wf_scratch_put(radix->scratch);
}

void wf_radix_place(wf_radix *radix) {
  size_t sum = 0;
  for (size_t b = 0; b < radix->buckets; b++) {
    radix->starts[b] = sum;
    for (size_t k = 0; k < radix->blocks; k++) {
      size_t *place = &wf_radix_counts(radix, k)[b], count = *place;
      *place = sum;
      sum += count;
    }
  }
  radix->starts[radix->buckets] = sum;
}

void wf_radix_fold(wf_radix *radix, size_t middle) {
  size_t folded = 0;
  for (size_t k = 0; k < radix->blocks; k++) {
    size_t *counts = wf_radix_counts(radix, k), below = 0, above = 0;
    for (size_t b = 0; b < middle; b++) below += counts[b];
    for (size_t b = middle + 1; b < radix->buckets; b++) above += counts[b];
    size_t between = counts[middle];
    folded = 0;
    if (middle > 0) counts[folded++] = below;
    counts[folded++] = between;
    counts[folded++] = above;
  }
  radix->buckets = folded;
}
