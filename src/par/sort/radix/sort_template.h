/* par/sort/radix/sort_template.h - a template: parallel radix sort for one kind of
 * element. typed.c includes it for bits32, bits64 and pair.
 *
 * The including file defines the following; the end of this file undefines it:
 *
 *     WF_SORT(name)       the name of a function or type for this kind of element
 *     WF_ELEM, WF_KEY     types; a key is an unsigned number, sorted in ascending order
 *     WF_KEY_OF(e)        the key of an element
 *     WF_ENCODE(c, e)     the element as it is sorted, from the element as the caller has
 *     WF_DECODE(c, e)     it, and back; c is a const wf_coding *
 *     WF_BUCKET_LOOP      the members of wf_bucket_loops and wf_lists for such elements.
 *     WF_LISTS_LEAF       Both or neither are defined: not for elements that are more
 *                         than their keys. Where they are, select_template.h is included
 *
 * How: one pass distributes the elements over up to WF_BUCKETS_MOST buckets by the
 * leading bits in which they differ (if these are spread unevenly, by slices that a
 * sample shows, see radix.h), from the caller's array into scratch memory: blocks of the
 * array count, then each writes to where its elements go. The buckets fit into a CPU's
 * own cache; each is sorted there, a leaf, by lists.c or else byte by byte from the
 * lowest that matters, back into the array. A bucket that holds a large part of all
 * elements is distributed again. All of it is stable but for lists, whose elements are
 * nothing but their keys.
 *
 * Made, in this order, to be found by their whole names:
 *
 *     insertion_within_bits32 insertion_within_bits64 insertion_within_pair   leaves
 *     insertion_bits32 insertion_bits64 insertion_pair
 *     varying_bits32 varying_bits64 varying_pair
 *     decode_bits32 decode_bits64 decode_pair
 *     by_byte_bits32 by_byte_bits64 by_byte_pair
 *     by_two_bytes_bits32 by_two_bytes_bits64 by_two_bytes_pair
 *     by_bytes_bits32 by_bytes_bits64 by_bytes_pair
 *     leaf_bits32 leaf_bits64 leaf_pair
 *     leaf_in_slot_bits32 leaf_in_slot_bits64 leaf_in_slot_pair
 *     read_batch_bits32 read_batch_bits64 read_batch_pair                  distribution
 *     count_block_bits32 count_block_bits64 count_block_pair
 *     count_blocks_bits32 count_blocks_bits64 count_blocks_pair
 *     write_line_bits32 write_line_bits64 write_line_pair
 *     scatter_block_bits32 scatter_block_bits64 scatter_block_pair
 *     scatter_blocks_bits32 scatter_blocks_bits64 scatter_blocks_pair
 *     sort_buckets_bits32 sort_buckets_bits64 sort_buckets_pair
 *     find_ranges_bits32 find_ranges_bits64 find_ranges_pair         choice of the digit
 *     exact_range_bits32 exact_range_bits64 exact_range_pair
 *     likely_range_bits32 likely_range_bits64 likely_range_pair
 *     cut_range_bits32 cut_range_bits64 cut_range_pair
 *     choose_digit_bits32 choose_digit_bits64 choose_digit_pair
 *     choose_balanced_digit_bits32 choose_balanced_digit_bits64
 *     choose_balanced_digit_pair
 *     give_back_bits32 give_back_bits64 give_back_pair               all of it
 *     distribute_parts_bits32 distribute_parts_bits64 distribute_parts_pair
 *     distribute_bits32 distribute_bits64 distribute_pair
 *     radix_sort_bits32 radix_sort_bits64 radix_sort_pair
 *
 * and the types pass_ and part_ with the same endings.
 *
 * SPDX-License-Identifier: MIT */

enum { WF_SORT(LINE_LENGTH) = WF_LINE_BYTES / sizeof(WF_ELEM) };
_Static_assert(WF_LINE_BYTES % sizeof(WF_ELEM) == 0, "lines are made of whole elements");

typedef struct WF_SORT(pass) {
  wf_radix *radix;
  WF_ELEM *src, *dst; /* elements go from the one to the other */
  size_t n;
  wf_digit digit;
  wf_coding load;  /* how elements of `src` are encoded when they are read */
  WF_ELEM *result; /* src or dst: where the sorted elements go */
} WF_SORT(pass);

/* ---- one bucket, in cache ---- */

/* Sorts by insertion, but gives up after `moves`; the elements are all there then. */
static inline bool WF_SORT(insertion_within)(WF_ELEM *a, size_t n, size_t moves) {
  WF_KEY highest = WF_KEY_OF(a[0]);
  for (size_t i = 1; i < n; i++) {
    WF_ELEM e = a[i];
    if (WF_LIKELY(WF_KEY_OF(e) >= highest)) {
      highest = WF_KEY_OF(e);
      continue;
    }
    size_t j = i;
    for (; j > 0 && WF_KEY_OF(a[j - 1]) > WF_KEY_OF(e); j--) a[j] = a[j - 1];
    a[j] = e;
    if (WF_UNLIKELY(i - j > moves)) return false;
    moves -= i - j;
  }
  return true;
}

static void WF_SORT(insertion)(WF_ELEM *a, size_t n) {
  if (n > 1) (void)WF_SORT(insertion_within)(a, n, SIZE_MAX);
}

/* The bits in which keys differ from the first one. What is written later, at b, is
 * fetched meanwhile. */
WF_SIMD static WF_KEY WF_SORT(varying)(const WF_ELEM *a, const WF_ELEM *b, size_t n) {
  enum { LENGTH = WF_CACHE_LINE / sizeof(WF_ELEM) };
  WF_KEY first = WF_KEY_OF(a[0]), bits = 0;
  size_t i = 0;
  for (; i + LENGTH <= n; i += LENGTH) {
    __builtin_prefetch(b + i, 1);
    for (size_t j = 0; j < LENGTH; j++) bits |= WF_KEY_OF(a[i + j]) ^ first;
  }
  for (; i < n; i++) bits |= WF_KEY_OF(a[i]) ^ first;
  return bits;
}

WF_SIMD static void WF_SORT(decode)(WF_ELEM *dst, const WF_ELEM *src, size_t n,
                                    const wf_coding *coding) {
  const wf_coding c = *coding;
  for (size_t i = 0; i < n; i++) dst[i] = WF_DECODE(&c, src[i]);
}

/* One pass by the byte at `shift`. */
static void WF_SORT(by_byte)(WF_ELEM *dst, const WF_ELEM *src, size_t n, unsigned shift) {
  WF_ASSERT(n <= UINT32_MAX && shift < 8 * sizeof(WF_KEY));
  uint32_t place[256] = {0};
  for (size_t i = 0; i < n; i++) place[(WF_KEY_OF(src[i]) >> shift) & 255]++;
  for (uint32_t b = 0, sum = 0; b < 256; b++) {
    uint32_t count = place[b];
    place[b] = sum;
    sum += count;
  }
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = src[i];
    dst[place[(WF_KEY_OF(e) >> shift) & 255]++] = e;
  }
}

/* Two passes, counted together: by way of `between`; `dst` may be `src`. */
static void WF_SORT(by_two_bytes)(WF_ELEM *dst, WF_ELEM *between, const WF_ELEM *src,
                                  size_t n, unsigned shift) {
  uint32_t low[256] = {0}, high[256] = {0};
  WF_ASSERT(n <= UINT32_MAX && shift + 8 < 8 * sizeof(WF_KEY));
  for (size_t i = 0; i < n; i++) {
    WF_KEY digits = (WF_KEY)(WF_KEY_OF(src[i]) >> shift);
    low[digits & 255]++;
    high[(digits >> 8) & 255]++;
  }
  for (uint32_t d = 0, low_sum = 0, high_sum = 0; d < 256; d++) {
    uint32_t low_count = low[d], high_count = high[d];
    low[d] = low_sum;
    high[d] = high_sum;
    low_sum += low_count;
    high_sum += high_count;
  }
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = src[i];
    between[low[(WF_KEY_OF(e) >> shift) & 255]++] = e;
  }
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = between[i];
    dst[high[(WF_KEY_OF(e) >> (shift + 8)) & 255]++] = e;
  }
}

/* Sorts by `bytes` bytes from `shift` on, from `src` to `dst` with the help of `spare`;
 * two of the three may be the same. Returns which of them has the elements. */
static WF_ELEM *WF_SORT(by_bytes)(WF_ELEM *dst, WF_ELEM *spare, WF_ELEM *src, size_t n,
                                  unsigned shift, unsigned bytes) {
  WF_ELEM *at = src;
  if (bytes % 2 != 0) {
    at = dst == src ? spare : dst;
    WF_SORT(by_byte)(at, src, n, shift);
  }
  for (unsigned k = bytes % 2; k < bytes; k += 2) {
    bool stays = at == spare;
    WF_ELEM *to = stays ? at : dst;
    WF_SORT(by_two_bytes)(to, stays ? dst : spare, at, n, shift + 8 * k);
    at = to;
  }
  return at;
}

/* Sorts n encoded elements of `src` into `result`, decoded, with the help of `spare`; two
 * of the three may be the same. Keys rarely agree in all of their leading bits, as many
 * as it takes to number them and `more_bits`: it sorts by these, and then by insertion.
 * Only if that moves too much it sorts by all bits. */
static void WF_SORT(leaf)(WF_ELEM *src, WF_ELEM *spare, size_t n, WF_ELEM *result,
                          const wf_coding *coding, unsigned more_bits) {
  WF_ELEM *at = src;
  if (n <= WF_INSERTION_MOST) {
    WF_SORT(insertion)(src, n);
  } else {
    WF_KEY varying = WF_SORT(varying)(src, result, n);
    unsigned top = varying == 0 ? 0 : 64 - (unsigned)__builtin_clzll(varying);
    unsigned wanted = 64 - (unsigned)__builtin_clzll(n) + more_bits;
    unsigned bytes = ((wanted < top ? wanted : top) + 7) / 8;
    unsigned shift = 8 * bytes < top ? top - 8 * bytes : 0;
    at = WF_SORT(by_bytes)(result, spare, src, n, shift, bytes);
    if (shift > 0 && !WF_SORT(insertion_within)(at, n, WF_LEAF_MOVES * n))
      at = WF_SORT(by_bytes)(at, at == result ? spare : result, at, n, 0, (top + 7) / 8);
  }
  WF_SORT(decode)(result, at, n, coding);
}

/* The same with a slot of memory of that size, or NULL; and `spare` for what does not fit
 * into it. */
static void WF_SORT(leaf_in_slot)(const wf_lists *lists, WF_ELEM *src, char *slot,
                                  size_t slot_size, WF_ELEM *spare, size_t n,
                                  WF_ELEM *result, const wf_coding *coding) {
  bool fits = slot != NULL && n <= slot_size / sizeof(WF_ELEM);
  unsigned more_bits = WF_LEAF_MORE_BITS;
  WF_ASSERT(fits || spare != NULL);
  (void)lists;
#ifdef WF_LISTS_LEAF
  if (lists != NULL && slot != NULL && n >= WF_LISTS_LEAST && n <= WF_LISTS_MOST &&
      wf_lists_bytes(n, sizeof(WF_ELEM)) <= slot_size) {
    if (lists->WF_LISTS_LEAF(src, slot, n, result, coding)) return;
    more_bits = WF_LEAF_UNEVEN_BITS;
  }
#endif
  WF_SORT(leaf)
  (src, fits ? (WF_ELEM *)(void *)slot : spare, n, result, coding, more_bits);
}

/* ---- the distribution ---- */

/* Up to WF_BUCKET_BATCH elements of the source, from `begin` on: encoded, and their
 * buckets. */
static inline void WF_SORT(read_batch)(const WF_SORT(pass) * pass, size_t begin,
                                       size_t count, WF_ELEM *encoded,
                                       uint32_t *buckets) {
  const WF_ELEM *src = pass->src + begin;
  const wf_digit digit = pass->digit;
  const wf_coding load = pass->load;
  (void)load;
#ifdef WF_BUCKET_LOOP
  if (WF_LIKELY(count == WF_BUCKET_BATCH)) {
    pass->radix->bucket_loops->WF_BUCKET_LOOP(&pass->digit, &pass->load, src, encoded,
                                              buckets);
    return;
  }
#endif
  for (size_t i = 0; i < count; i++) {
    encoded[i] = WF_ENCODE(&load, src[i]);
    buckets[i] = wf_bucket_of(&digit, WF_KEY_OF(encoded[i]));
  }
}

static void WF_SORT(count_block)(const WF_SORT(pass) * pass, size_t k) {
  const wf_radix *radix = pass->radix;
  size_t *counts = wf_radix_counts(radix, k);
  size_t to = wf_radix_block(radix, pass->n, k + 1), length;
  WF_ELEM batch[WF_BUCKET_BATCH];
  uint32_t buckets[WF_BUCKET_BATCH];
  memset(counts, 0, radix->buckets * sizeof *counts);
  for (size_t at = wf_radix_block(radix, pass->n, k); at < to; at += length) {
    length = to - at < WF_BUCKET_BATCH ? to - at : WF_BUCKET_BATCH;
    WF_SORT(read_batch)(pass, at, length, batch, buckets);
    for (size_t i = 0; i < length; i++) counts[buckets[i]]++;
  }
}

static void WF_SORT(count_blocks)(size_t begin, size_t end, void *ctx) {
  for (size_t k = begin; k < end; k++)
    WF_SORT(count_block)((const WF_SORT(pass) *)ctx, k);
}

/* Elements on their way to a bucket are gathered in a cache line of the block's own, and
 * written when it is full: the bucket's memory is touched once for a whole line, and need
 * not be read. `dst` counts from a line's boundary; the bucket starts at `first`. */
static inline void WF_SORT(write_line)(WF_ELEM *dst, size_t end, size_t first,
                                       const WF_ELEM *line, bool past_caches) {
  enum { LENGTH = WF_SORT(LINE_LENGTH) };
  size_t begin = end - LENGTH;
  if (WF_UNLIKELY(begin < first || begin > end))
    memcpy(dst + first, line + first % LENGTH, (end - first) * sizeof *dst);
  else if (past_caches)
    wf_write_past(dst + begin, line, WF_LINE_BYTES);
  else
    memcpy(dst + begin, line, WF_LINE_BYTES);
}

static void WF_SORT(scatter_block)(const WF_SORT(pass) * pass, size_t k) {
  enum { LENGTH = WF_SORT(LINE_LENGTH) };
  const wf_radix *radix = pass->radix;
  /* Where a type is aligned to less than its size, lines may not be. */
  const bool past = radix->past_caches && (uintptr_t)pass->dst % sizeof(WF_ELEM) == 0;
  size_t *place = wf_radix_counts(radix, k), *first = wf_radix_firsts(radix, k);
  WF_ELEM *lines = (WF_ELEM *)(void *)wf_radix_slot(radix, k);
  size_t phase = (uintptr_t)pass->dst / sizeof(WF_ELEM) % LENGTH;
  WF_ELEM *dst = pass->dst - phase;
  size_t to = wf_radix_block(radix, pass->n, k + 1), length;
  WF_ELEM batch[WF_BUCKET_BATCH];
  uint32_t buckets[WF_BUCKET_BATCH];
  for (size_t b = 0; b < radix->buckets; b++) first[b] = place[b] += phase;
  for (size_t at = wf_radix_block(radix, pass->n, k); at < to; at += length) {
    length = to - at < WF_BUCKET_BATCH ? to - at : WF_BUCKET_BATCH;
    WF_SORT(read_batch)(pass, at, length, batch, buckets);
    for (size_t i = 0; i < length; i++) {
      size_t b = buckets[i], p = place[b]++;
      WF_ASSERT(b < radix->buckets && p - phase < pass->n);
      lines[b * LENGTH + p % LENGTH] = batch[i];
      if (p % LENGTH == LENGTH - 1)
        WF_SORT(write_line)(dst, p + 1, first[b], lines + b * LENGTH, past);
    }
  }
  for (size_t b = 0; b < radix->buckets; b++) {
    size_t end = place[b], begin = end - end % LENGTH;
    if (begin < first[b]) begin = first[b];
    WF_ASSERT(end - phase <= pass->n);
    memcpy(dst + begin, lines + b * LENGTH + begin % LENGTH, (end - begin) * sizeof *dst);
  }
  wf_write_past_end();
}

static void WF_SORT(scatter_blocks)(size_t begin, size_t end, void *ctx) {
  for (size_t k = begin; k < end; k++)
    WF_SORT(scatter_block)((const WF_SORT(pass) *)ctx, k);
}

/* Buckets that are not too large; after a cancellation they only go back. */
static void WF_SORT(sort_buckets)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(pass) *pass = (const WF_SORT(pass) *)ctx;
  wf_radix *radix = pass->radix;
  char *slot = wf_radix_take_slot(radix);
  for (size_t b = begin; b < end; b++) {
    size_t start = radix->starts[b], n = radix->starts[b + 1] - start;
    WF_ELEM *from = pass->dst + start, *result = pass->result + start;
    WF_ELEM *spare = result == from ? pass->src + start : from;
    if (n == 0 || n > radix->too_large) continue;
    if (wf_par_cancelled(radix->given))
      WF_SORT(decode)(result, from, n, &radix->coding);
    else
      WF_SORT(leaf_in_slot)
    (radix->lists, from, slot, radix->slot_size, spare, n, result, &radix->coding);
  }
  if (slot != NULL) wf_radix_put_slot(radix, slot);
}

/* ---- the range of the keys, and the digit to distribute by ---- */

static void WF_SORT(find_ranges)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(pass) *pass = (const WF_SORT(pass) *)ctx;
  const wf_coding load = pass->load;
  for (size_t k = begin; k < end; k++) {
    size_t from = wf_radix_block(pass->radix, pass->n, k);
    size_t to = wf_radix_block(pass->radix, pass->n, k + 1);
    WF_KEY low = (WF_KEY)-1, high = 0;
    for (size_t i = from; i < to; i++) {
      WF_KEY key = WF_KEY_OF(WF_ENCODE(&load, pass->src[i]));
      if (key < low) low = key;
      if (key > high) high = key;
    }
    pass->radix->ranges[2 * k] = low;
    pass->radix->ranges[2 * k + 1] = high;
  }
}

static void WF_SORT(exact_range)(WF_SORT(pass) * pass, WF_KEY *low, WF_KEY *high) {
  const wf_loop loop = {WF_SORT(find_ranges), pass, NULL};
  const wf_radix *radix = pass->radix;
  wf_loop_run(&radix->opts, radix->blocks, &loop);
  *low = (WF_KEY)-1;
  *high = 0;
  for (size_t k = 0; k < radix->blocks; k++) {
    if (radix->ranges[2 * k] < *low) *low = (WF_KEY)radix->ranges[2 * k];
    if (radix->ranges[2 * k + 1] > *high) *high = (WF_KEY)radix->ranges[2 * k + 1];
  }
}

/* The range of a sample. Keys outside of it fall into the first and the last bucket. */
static void WF_SORT(likely_range)(const WF_SORT(pass) * pass, WF_KEY *low, WF_KEY *high) {
  wf_rng rng;
  wf_rng_seed(&rng, pass->n);
  *low = (WF_KEY)-1;
  *high = 0;
  for (unsigned i = 0; i < WF_RANGE_SAMPLES; i++) {
    size_t at = (size_t)(wf_rng_next(&rng) % pass->n);
    WF_KEY key = WF_KEY_OF(WF_ENCODE(&pass->load, pass->src[at]));
    if (key < *low) *low = key;
    if (key > *high) *high = key;
  }
}

/* A digit of at most that many equal steps. */
static void WF_SORT(cut_range)(wf_digit *digit, WF_KEY low, WF_KEY high, size_t steps) {
  unsigned shift = 0;
  WF_ASSERT(low <= high && steps > 1);
  while ((high - low) >> shift >= steps) shift++;
  WF_ASSERT(shift < 8 * sizeof(WF_KEY));
  digit->low = low;
  digit->most = high - low;
  digit->shift = shift;
  digit->slices = NULL;
}

/* Equal steps over the whole range. */
static void WF_SORT(choose_digit)(WF_SORT(pass) * pass, WF_KEY low, WF_KEY high) {
  size_t buckets = wf_radix_buckets(pass->n, sizeof(WF_ELEM));
  WF_SORT(cut_range)(&pass->digit, low, high, buckets);
  pass->radix->buckets = wf_digit_steps(&pass->digit);
  WF_ASSERT(pass->radix->buckets <= pass->radix->stride);
}

/* For many keys that are not spread evenly, buckets by a sample; else equal steps. */
static void WF_SORT(choose_balanced_digit)(WF_SORT(pass) * pass, WF_KEY low,
                                           WF_KEY high) {
  wf_radix *radix = pass->radix;
  WF_SORT(choose_digit)(pass, low, high);
  if (pass->n < WF_KEY_SLICES_WORTH) return;
  wf_digit digit;
  wf_rng rng;
  wf_rng_seed(&rng, pass->n + 1);
  WF_SORT(cut_range)(&digit, low, high, WF_KEY_SLICES);
  memset(radix->slices, 0, WF_KEY_SLICES * sizeof *radix->slices);
  for (unsigned i = 0; i < WF_KEY_SLICE_SAMPLES; i++) {
    size_t at = (size_t)(wf_rng_next(&rng) % pass->n);
    WF_KEY key = WF_KEY_OF(WF_ENCODE(&pass->load, pass->src[at]));
    radix->slices[wf_bucket_of(&digit, key)].offset++;
  }
  if (!wf_radix_make_slices(radix, wf_digit_steps(&digit), digit.shift)) return;
  pass->digit = digit;
  pass->digit.slices = radix->slices;
}

/* ---- all of it ---- */

typedef struct WF_SORT(part) {
  size_t start, n;
} WF_SORT(part);

static void WF_SORT(give_back)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(pass) *pass = (const WF_SORT(pass) *)ctx;
  WF_SORT(decode)
  (pass->result + begin, pass->src + begin, end - begin, &pass->radix->coding);
}

static void WF_SORT(distribute)(WF_SORT(pass) * pass);

/* Distributes again what is too large for a leaf. `parts` were noted before, since the
 * tables of the first distribution are overwritten. */
static void WF_SORT(distribute_parts)(const WF_SORT(pass) * pass,
                                      const WF_SORT(part) * parts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t start = parts[i].start;
    WF_SORT(pass)
    again = {pass->radix, pass->dst + start, pass->src + start,   parts[i].n,
             {0},         {0, 0, 0},         pass->result + start};
    WF_KEY low, high;
    WF_SORT(exact_range)(&again, &low, &high);
    if (low == high || wf_par_cancelled(pass->radix->given)) {
      const wf_loop back = {WF_SORT(give_back), &again, NULL};
      wf_loop_run(&pass->radix->opts, again.n, &back);
      continue;
    }
    WF_SORT(choose_digit)(&again, low, high);
    WF_SORT(distribute)(&again);
  }
}

/* From `src` to `dst`, and from there to the result. Each distribution within one has at
 * most a quarter of its keys' range, by WF_BUCKETS_LEAST, so the depth is limited. */
static void WF_SORT(distribute)(WF_SORT(pass) * pass) {
  wf_radix *radix = pass->radix;
  const wf_loop count = {WF_SORT(count_blocks), pass, NULL};
  const wf_loop scatter = {WF_SORT(scatter_blocks), pass, NULL};
  const wf_loop sort = {WF_SORT(sort_buckets), pass, NULL};
  WF_SORT(part) parts[WF_LARGE_PARTS];
  size_t parts_count = 0;
  wf_loop_run(&radix->opts, radix->blocks, &count);
  wf_radix_place(radix, pass->n);
  wf_loop_run(&radix->opts, radix->blocks, &scatter);
  size_t leaf = WF_LEAF_BYTES / sizeof(WF_ELEM), large = pass->n / WF_LARGE_PARTS;
  radix->too_large = large > leaf ? large : leaf;
  for (size_t b = 0; b < radix->buckets; b++) {
    size_t start = radix->starts[b], n = radix->starts[b + 1] - start;
    if (n <= radix->too_large) continue;
    WF_ASSERT(parts_count < WF_LARGE_PARTS);
    parts[parts_count++] = (WF_SORT(part)){start, n};
  }
  wf_loop_run(&radix->opts, radix->buckets, &sort);
  WF_SORT(distribute_parts)(pass, parts, parts_count);
}

/* Sorts with the scratch memory of `radix`; inside the pool. */
static void WF_SORT(radix_sort)(wf_radix *radix, WF_ELEM *a, size_t n) {
  WF_ELEM *scratch = (WF_ELEM *)radix->elements;
  WF_SORT(pass) pass = {radix, a, scratch, n, {0}, radix->coding, a};
  WF_KEY low, high;
  WF_SORT(likely_range)(&pass, &low, &high);
  if (low == high) WF_SORT(exact_range)(&pass, &low, &high);
  WF_SORT(choose_balanced_digit)(&pass, low, high);
  if (!wf_par_cancelled(radix->given)) WF_SORT(distribute)(&pass);
}

#ifdef WF_LISTS_LEAF
#include "select_template.h"
#undef WF_LISTS_LEAF
#undef WF_BUCKET_LOOP
#endif
#undef WF_SORT
#undef WF_ELEM
#undef WF_KEY
#undef WF_KEY_OF
#undef WF_ENCODE
#undef WF_DECODE
