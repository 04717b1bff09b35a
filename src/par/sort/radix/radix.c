/* par/sort/radix/radix.c - what a radix sort needs whatever its elements are: scratch
 * memory, the places of buckets, slots for leaves, and slices for keys that are not
 * spread evenly. Called by the functions that sort_template.h and select_template.h make.
 *
 * SPDX-License-Identifier: MIT */
#include "radix.h"

/* A block has at least BLOCK_LEAST elements for each bucket, so that clearing and adding
 * up its counts is little beside its elements; and there are BLOCKS_EACH for each thread,
 * so that all end together. Choices. */
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

/* A slot holds a line for each bucket, and later what a leaf needs. */
static size_t choose_slot(const wf_radix *radix, size_t size) {
  size_t lines = radix->stride * WF_LINE_BYTES;
  size_t leaf =
      radix->lists == NULL ? WF_LEAF_BYTES : wf_lists_bytes(WF_LEAF_BYTES / size, size);
  return in_lines(lines < leaf ? leaf : lines);
}

/* Slots beyond the bits of a word are not lent. */
static uintptr_t all_slots(size_t blocks) {
  return blocks >= 8 * sizeof(uintptr_t) ? UINTPTR_MAX : ((uintptr_t)1 << blocks) - 1;
}

bool wf_radix_begin(wf_radix *radix, const weft_opts *given, const wf_coding *coding,
                    size_t n, size_t size) {
  radix->given = given;
  radix->opts = *given;
  radix->opts.cancel = NULL;
  radix->opts.split = WEFT_SPLIT_ADAPTIVE;
  radix->opts.min_len = radix->opts.max_len = radix->opts.target_chunks = 0;
  radix->coding = *coding;
  radix->bucket_loops = wf_bucket_loops_get();
  radix->lists = wf_lists_get();
  radix->past_caches = n >= WF_PAST_CACHES_SCRATCH / size;
  radix->stride = wf_radix_buckets(n, size);
  radix->blocks = choose_blocks(n, radix->stride, wf_par_at_once(given));
  size_t table = in_lines(radix->blocks * radix->stride * sizeof(size_t));
  size_t starts = in_lines((radix->stride + 1) * sizeof(size_t));
  size_t ranges = in_lines(2 * radix->blocks * sizeof(uint64_t));
  size_t slices =
      n >= WF_KEY_SLICES_WORTH ? in_lines(WF_KEY_SLICES * sizeof(wf_key_slice)) : 0;
  radix->slot_size = choose_slot(radix, size);
  size_t slots = radix->blocks * radix->slot_size;
  radix->scratch =
      wf_scratch_get(2 * table + starts + ranges + slices + slots + n * size);
  char *at = (char *)radix->scratch.memory;
  if (at == NULL) return false;
  radix->counts = (size_t *)(void *)at;
  radix->firsts = (size_t *)(void *)(at + table);
  radix->starts = (size_t *)(void *)(at + 2 * table);
  radix->ranges = (uint64_t *)(void *)(at + 2 * table + starts);
  radix->slices = (wf_key_slice *)(void *)(at + 2 * table + starts + ranges);
  radix->slots = at + 2 * table + starts + ranges + slices;
  radix->elements = radix->slots + slots;
  wf_word_init(&radix->x_free, all_slots(radix->blocks));
  WF_ASSERT((uintptr_t)radix->elements % WF_CACHE_LINE == 0 && radix->blocks >= 1);
  WF_ASSERT((char *)radix->elements + n * size - (char *)radix->scratch.memory ==
            (ptrdiff_t)(2 * table + starts + ranges + slices + slots + n * size));
  return true;
}

void wf_radix_end(wf_radix *radix) {
  wf_scratch_put(radix->scratch);
}

char *wf_radix_take_slot(wf_radix *radix) {
  /* Relaxed: only a guess, which the exchange below checks. */
  uintptr_t is_free = wf_word_load_relaxed(&radix->x_free);
  while (is_free != 0) {
    /* Pairs with the addition in wf_radix_put_slot: what was done in the slot before
     * happens before. explorer: acquire suffices; seq_cst costs the same on x86-64. */
    if (wf_word_cas_seq_cst(&radix->x_free, &is_free, is_free & (is_free - 1)))
      return wf_radix_slot(radix, (size_t)__builtin_ctzll(is_free));
  }
  return NULL;
}

void wf_radix_put_slot(wf_radix *radix, const char *slot) {
  size_t number = (size_t)(slot - radix->slots) / radix->slot_size;
  WF_ASSERT(number < radix->blocks && number < 8 * sizeof(uintptr_t));
  WF_ASSERT((wf_word_peek(&radix->x_free) >> number & 1) == 0);
  /* Pairs with the exchange in wf_radix_take_slot that takes it next.
   * explorer: release suffices, as above. */
  wf_word_fetch_add_seq_cst(&radix->x_free, (uintptr_t)1 << number);
}

void wf_radix_place(wf_radix *radix, size_t n) {
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
  WF_ASSERT(sum == n); /* each element was counted once */
  (void)n;
}

/* ---- slices ---- */

/* Is no part of the range far above the average? For even keys a 64th of the range has 64
 * samples, give or take 8: three times as many are no accident. */
static bool samples_are_even(const wf_radix *radix, size_t slices) {
  enum { RANGE_PARTS = 64, FAR_ABOVE = 3 };
  size_t counts[RANGE_PARTS] = {0};
  for (size_t i = 0; i < slices; i++)
    counts[i * RANGE_PARTS / slices] += radix->slices[i].offset;
  for (size_t p = 0; p < RANGE_PARTS; p++)
    if (counts[p] > FAR_ABOVE * WF_KEY_SLICE_SAMPLES / RANGE_PARTS) return false;
  return true;
}

/* The logarithm, rounded, of how many buckets a slice gets if all slices together have
 * `wanted`. */
static unsigned slice_bits(size_t samples, size_t wanted, unsigned shift) {
  size_t buckets = samples * wanted / WF_KEY_SLICE_SAMPLES;
  unsigned bits = 0;
  while (bits < shift && buckets * 3 / 4 >= (size_t)1 << bits) bits++;
  return bits;
}

/* Gives each slice its first bucket and its number of buckets; returns the number of all
 * buckets. If not `is_final`, it only counts. */
static size_t share_buckets(wf_radix *radix, size_t slices, unsigned shift, size_t wanted,
                            bool is_final) {
  size_t next = 0,
         shared = 0; /* samples in the bucket before `next`, if it may be shared */
  size_t most_shared = WF_KEY_SLICE_SAMPLES / wanted;
  bool shares = false;
  for (size_t i = 0; i < slices; i++) {
    wf_key_slice *slice = &radix->slices[i];
    size_t samples = slice->offset;
    unsigned bits = slice_bits(samples, wanted, shift);
    bool joins = bits == 0 && shares && shared + samples <= most_shared;
    size_t first = joins ? next - 1 : next;
    next = first + ((size_t)1 << bits);
    shares = bits == 0;
    shared = joins ? shared + samples : samples;
    if (!is_final) continue;
    slice->shift = shift - bits;
    slice->offset = (uint32_t)(first - (i << bits));
  }
  return next;
}

bool wf_radix_make_slices(wf_radix *radix, size_t slices, unsigned shift) {
  WF_ASSERT(slices >= 1 && slices <= WF_KEY_SLICES && shift < 64);
  if (samples_are_even(radix, slices)) return false;
  size_t wanted = radix->stride;
  while (share_buckets(radix, slices, shift, wanted, false) > radix->stride)
    wanted = wanted * 7 / 8; /* rounding made too many: try fewer */
  radix->buckets = share_buckets(radix, slices, shift, wanted, true);
  WF_ASSERT(radix->buckets >= 1 && radix->buckets <= radix->stride);
  return true;
}
