/* par/sort/radix/in_place.h - a template, for the same parameters as sort_scalar.h:
 * sorting and selecting without memory, and what needs none anyway.
 *
 * SPDX-License-Identifier: MIT */

/* ---- encoding in place ---- */

typedef struct WF_SORT(span) {
  WF_ELEM *a;
  size_t n;
  const wf_coding *coding;
  bool descends;  /* of ordered_block: the order that is looked for */
  wf_word x_over; /* of ordered_block: 1 when a pair was found that breaks it */
} WF_SORT(span);

WF_VECTORISE static void WF_SORT(encode)(WF_ELEM *dst, const WF_ELEM *src, size_t n,
                                         const wf_coding *coding) {
  const wf_coding c = *coding;
  (void)c;
  for (size_t i = 0; i < n; i++) dst[i] = WF_ENCODE(&c, src[i]);
}

static void WF_SORT(encode_block)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(span) *span = (const WF_SORT(span) *)ctx;
  WF_SORT(encode)(span->a + begin, span->a + begin, end - begin, span->coding);
}

static void WF_SORT(decode_block)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(span) *span = (const WF_SORT(span) *)ctx;
  WF_SORT(decode)(span->a + begin, span->a + begin, end - begin, span->coding);
}

/* ---- sorting by leading bits ---- */

enum { WF_SORT(FLAG_BITS) = 6, WF_SORT(FLAGS) = 64, WF_SORT(FORK_LEAST) = 4096 };

/* Puts each element into its bucket: of each bucket `next` is the first place that may
 * hold a stranger, and `end` its end. */
static void WF_SORT(permute)(WF_ELEM *a, size_t *next, const size_t *end, unsigned shift,
                             unsigned mask) {
  for (unsigned b = 0; b <= mask; b++) {
    while (next[b] < end[b]) {
      WF_ELEM e = a[next[b]];
      unsigned to = (unsigned)(WF_KEY_OF(e) >> shift) & mask;
      while (to != b) {
        WF_ELEM other = a[next[to]];
        a[next[to]++] = e;
        e = other;
        to = (unsigned)(WF_KEY_OF(e) >> shift) & mask;
      }
      a[next[b]++] = e;
    }
  }
}

/* Buckets [first, last) of an array that permute has gone through. */
typedef struct WF_SORT(flags) {
  WF_ELEM *a;
  const size_t *end;
  unsigned first, last;
  unsigned crew; /* how many threads may take part */
  const weft_opts *opts;
} WF_SORT(flags);

static void WF_SORT(sort_in_place)(WF_ELEM *a, size_t n, unsigned crew,
                                   const weft_opts *opts);

static void WF_SORT(sort_flags)(void *ctx) {
  WF_SORT(flags) *f = (WF_SORT(flags) *)ctx;
  size_t start = f->first == 0 ? 0 : f->end[f->first - 1];
  size_t n = f->end[f->last - 1] - start;
  if (n < 2) return;
  if (f->last - f->first == 1) {
    WF_SORT(sort_in_place)(f->a + start, n, f->crew, f->opts);
    return;
  }
  unsigned middle = f->first + (f->last - f->first) / 2;
  bool forks = f->crew > 1 && n >= WF_SORT(FORK_LEAST);
  WF_SORT(flags) low = *f, high = *f;
  low.last = high.first = middle;
  if (forks) {
    high.crew = f->crew / 2;
    low.crew = f->crew - high.crew;
    weft_join(WF_SORT(sort_flags), &low, WF_SORT(sort_flags), &high);
  } else {
    WF_SORT(sort_flags)(&low);
    WF_SORT(sort_flags)(&high);
  }
}

/* Sorts encoded elements, not stable: by the six leading bits in which they differ, then
 * each bucket. So the depth is at most that of the key's bits by six. */
static void WF_SORT(sort_in_place)(WF_ELEM *a, size_t n, unsigned crew,
                                   const weft_opts *opts) {
  if (n <= WF_SORT_FEW) {
    WF_SORT(insertion)(a, n);
    return;
  }
  WF_KEY varying = WF_SORT(varying)(a, a, n);
  if (varying == 0 || wf_par_cancelled(opts)) return;
  unsigned top = 64 - (unsigned)__builtin_clzll(varying);
  unsigned shift = top > WF_SORT(FLAG_BITS) ? top - WF_SORT(FLAG_BITS) : 0;
  size_t next[WF_SORT(FLAGS)], end[WF_SORT(FLAGS)] = {0};
  for (size_t i = 0; i < n; i++) end[(WF_KEY_OF(a[i]) >> shift) & (WF_SORT(FLAGS) - 1)]++;
  for (size_t b = 0, sum = 0; b < WF_SORT(FLAGS); b++) {
    next[b] = sum;
    sum += end[b];
    end[b] = sum;
  }
  WF_SORT(permute)(a, next, end, shift, WF_SORT(FLAGS) - 1);
  WF_SORT(flags) all = {a, end, 0, WF_SORT(FLAGS), crew, opts};
  if (shift > 0) WF_SORT(sort_flags)(&all);
}

/* ---- selecting by single bits ---- */

/* Moves elements with a clear bit to the front, and returns how many there are. */
static size_t WF_SORT(split_by_bit)(WF_ELEM *a, size_t n, unsigned bit) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = a[i];
    a[i] = a[count];
    a[count] = e;
    count += (~WF_KEY_OF(e) >> bit) & 1;
  }
  return count;
}

static void WF_SORT(select_in_place)(WF_ELEM *a, size_t n, size_t nth,
                                     const weft_opts *opts) {
  while (n > WF_SORT_FEW && !wf_par_cancelled(opts)) {
    WF_KEY varying = WF_SORT(varying)(a, a, n);
    if (varying == 0) return;
    size_t low = WF_SORT(split_by_bit)(a, n, 63 - (unsigned)__builtin_clzll(varying));
    if (nth < low) {
      n = low;
    } else {
      a += low;
      n -= low;
      nth -= low;
    }
  }
  if (n <= WF_SORT_FEW) WF_SORT(insertion)(a, n);
}

/* ---- selecting with scratch memory ---- */

static void WF_SORT(bring_back)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(pass) *pass = (const WF_SORT(pass) *)ctx;
  WF_SORT(decode)
  (pass->src + begin, pass->dst + begin, end - begin, &pass->radix->coding);
}

/* Moves the elements whose keys are below the limit to the front. There are few. */
static void WF_SORT(pull_to_front)(WF_ELEM *a, size_t n, WF_KEY limit,
                                   const wf_coding *coding) {
  const wf_coding c = *coding;
  size_t count = 0;
  (void)c;
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = a[i];
    if (WF_LIKELY(WF_KEY_OF(WF_ENCODE(&c, e)) >= limit)) continue;
    a[i] = a[count];
    a[count++] = e;
  }
}

/* The same for any number of them, without branches; returns how many there are. */
static size_t WF_SORT(split_below)(WF_ELEM *a, size_t n, WF_KEY limit,
                                   const wf_coding *coding) {
  const wf_coding c = *coding;
  size_t count = 0;
  (void)c;
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = a[i];
    a[i] = a[count];
    a[count] = e;
    count += WF_KEY_OF(WF_ENCODE(&c, e)) < limit;
  }
  return count;
}

/* One step: moves the bucket that holds the nth element to its place, what is below it in
 * front, what is above behind. *a, *n and *nth tell of that bucket then; or, if it is
 * near the front, of all that is not behind it. */
static void WF_SORT(narrow)(wf_radix *radix, WF_ELEM **a, size_t *n, size_t *nth,
                            WF_KEY low, WF_KEY high) {
  /* So few threads are not quicker than one that moves elements only once. */
  enum { FEW_IN_FRONT = 16, FEW_THREADS = 4 };
  WF_ELEM *scratch = (WF_ELEM *)radix->elements;
  WF_SORT(pass) pass = {radix, *a, scratch, *n, {0, 0, 0, NULL}, radix->coding, *a};
  const wf_loop count = {WF_SORT(count_blocks), &pass, NULL};
  const wf_loop scatter = {WF_SORT(scatter_blocks), &pass, NULL};
  const wf_loop back = {WF_SORT(bring_back), &pass, NULL};
  size_t middle = 0, start = 0, length;
  WF_SORT(choose_digit)(&pass, low, high);
  wf_loop_run(&radix->opts, radix->blocks, &count);
  for (;; middle++) {
    length = 0;
    for (size_t k = 0; k < radix->blocks; k++)
      length += wf_radix_counts(radix, k)[middle];
    if (*nth - start < length) break;
    start += length;
  }
  if (start + length <= *n / FEW_IN_FRONT) {
    WF_KEY below = (WF_KEY)((WF_KEY)(middle + 1) << pass.digit.shift);
    WF_SORT(pull_to_front)(*a, *n, (WF_KEY)(low + below), &radix->coding);
    *n = start + length;
    return;
  }
  if (wf_par_crew(radix->given) <= FEW_THREADS) {
    WF_KEY at = (WF_KEY)(low + ((WF_KEY)middle << pass.digit.shift));
    WF_KEY step = (WF_KEY)((WF_KEY)1 << pass.digit.shift);
    if (middle > 0) WF_SORT(split_below)(*a, *n, at, &radix->coding);
    if (middle < pass.digit.last)
      WF_SORT(split_below)(*a + start, *n - start, (WF_KEY)(at + step), &radix->coding);
    *a += start;
    *n = length;
    *nth -= start;
    return;
  }
  /* The bucket below the middle one takes what is lower still. */
  WF_KEY last = pass.digit.last;
  wf_radix_fold(radix, middle);
  if (middle > 0) pass.digit.low += (WF_KEY)((WF_KEY)(middle - 1) << pass.digit.shift);
  pass.digit.last = (WF_KEY)((middle > 0 ? 1 : 0) + (middle < last ? 1 : 0));
  wf_radix_place(radix);
  wf_loop_run(&radix->opts, radix->blocks, &scatter);
  wf_loop_run(&radix->opts, *n, &back);
  size_t found = middle > 0 ? 1 : 0;
  start = radix->starts[found];
  *n = radix->starts[found + 1] - start;
  *a += start;
  *nth -= start;
}

/* The first step goes by a sample, which may be wrong; the others by what there is, and
 * so each takes away most of the keys' range. */
static void WF_SORT(radix_select)(wf_radix *radix, WF_ELEM *a, size_t n, size_t nth) {
  bool is_first = true;
  while (n > WF_LEAF_BYTES / sizeof(WF_ELEM) && !wf_par_cancelled(radix->given)) {
    WF_SORT(pass) pass = {radix, a, a, n, {0, 0, 0, NULL}, radix->coding, a};
    WF_KEY low, high;
    if (is_first)
      WF_SORT(likely_range)(&pass, &low, &high);
    else
      WF_SORT(exact_range)(&pass, &low, &high);
    if (low == high && !is_first) return;
    WF_SORT(narrow)(radix, &a, &n, &nth, low, high);
    is_first = false;
  }
  WF_SORT(encode)(a, a, n, &radix->coding);
  WF_SORT(select_in_place)(a, n, nth, radix->given);
  WF_SORT(decode)(a, a, n, &radix->coding);
}

/* ---- order ---- */

/* Is each element in order with the one behind it? All NaNs are equal here. */
static bool WF_SORT(is_ordered)(const WF_ELEM *a, size_t pairs, bool descends,
                                const wf_coding *coding) {
  enum { STEP = 64 };
  const wf_coding c = *coding;
  const WF_KEY highest = (WF_KEY)wf_highest_key(&c);
  for (size_t i = 0; i < pairs;) {
    size_t end = pairs - i < STEP ? pairs : i + STEP;
    unsigned up = 0, down = 0;
    for (; i < end; i++) {
      WF_KEY left = WF_KEY_OF(WF_ENCODE(&c, a[i]));
      WF_KEY right = WF_KEY_OF(WF_ENCODE(&c, a[i + 1]));
      up |= left < right && left < highest;
      down |= left > right && right < highest;
    }
    if (descends ? up : down) return false;
  }
  return true;
}

static void WF_SORT(ordered_block)(size_t begin, size_t end, void *ctx) {
  WF_SORT(span) *span = (WF_SORT(span) *)ctx;
  /* Relaxed: the flag only saves work, its last value is read when the loop is over. */
  if (!WF_SORT(is_ordered)(span->a + begin, end - begin, span->descends, span->coding))
    wf_word_store_relaxed(&span->x_over, 1);
}

static bool WF_SORT(order_is_broken)(size_t begin, const void *ctx) {
  (void)begin;
  /* Relaxed: seen late, it costs a block too many. */
  return wf_word_load_relaxed(&((const WF_SORT(span) *)ctx)->x_over) != 0;
}

/* The same for n elements, with all threads unless the first few tell. */
static bool WF_SORT(all_ordered)(const weft_opts *opts, const WF_ELEM *a, size_t n,
                                 bool descends, const wf_coding *coding) {
  enum { FIRST = 256, ALONE = 4096 };
  if (n < 2) return true;
  size_t few = n - 1 < ALONE ? n - 1 : FIRST;
  if (!WF_SORT(is_ordered)(a, few, descends, coding)) return false;
  if (few == n - 1) return true;
  WF_SORT(span) span = {(WF_ELEM *)(uintptr_t)a, n, coding, descends, {0}};
  const wf_loop loop = {WF_SORT(ordered_block), &span, WF_SORT(order_is_broken)};
  wf_loop_run(opts, n - 1, &loop);
  return wf_word_load_relaxed(&span.x_over) == 0 && !wf_par_cancelled(opts);
}

static void WF_SORT(reverse_block)(size_t begin, size_t end, void *ctx) {
  const WF_SORT(span) *span = (const WF_SORT(span) *)ctx;
  WF_ELEM *a = span->a;
  size_t last = span->n - 1;
  for (size_t i = begin; i < end; i++) {
    WF_ELEM e = a[i];
    a[i] = a[last - i];
    a[last - i] = e;
  }
}

/* ---- all of it ---- */

typedef struct WF_SORT(call) {
  const weft_opts *opts;
  const wf_coding *coding;
  WF_ELEM *a;
  size_t n;
  size_t nth; /* of selections */
} WF_SORT(call);

/* With or without memory; inside the pool. */
static void WF_SORT(run_sort)(void *ctx) {
  const WF_SORT(call) *c = (const WF_SORT(call) *)ctx;
  wf_radix radix;
  WF_SORT(span) span = {c->a, c->n, c->coding, false, {0}};
  const wf_loop encode = {WF_SORT(encode_block), &span, NULL};
  const wf_loop decode = {WF_SORT(decode_block), &span, NULL};
  if (wf_radix_begin(&radix, c->opts, c->coding, c->n, sizeof(WF_ELEM))) {
    WF_SORT(radix_sort)(&radix, c->a, c->n);
    wf_radix_end(&radix);
    return;
  }
  wf_loop_run(&radix.opts, c->n, &encode);
  WF_SORT(sort_in_place)(c->a, c->n, wf_par_crew(c->opts), c->opts);
  wf_loop_run(&radix.opts, c->n, &decode);
}

/* Sorts without other threads, with scratch memory for n elements and the table of lists.
 */
static void WF_SORT(sort_alone)(WF_ELEM *a, char *scratch, size_t n,
                                const wf_coding *coding) {
  size_t size = n * sizeof(WF_ELEM) + WF_LISTS_TABLE;
  WF_SORT(encode)(a, a, n, coding);
  WF_SORT(leaf_in_slot)(wf_lists_get(), a, scratch, size, NULL, n, a, coding);
}

static void WF_SORT(sort_few)(const WF_SORT(call) * c) {
  wf_scratch scratch = {NULL, NULL, 0};
  if (c->n > WF_SORT_FEW)
    scratch = wf_scratch_get(c->n * sizeof(WF_ELEM) + WF_LISTS_TABLE);
  if (scratch.memory != NULL) {
    WF_SORT(sort_alone)(c->a, (char *)scratch.memory, c->n, c->coding);
    wf_scratch_put(scratch);
    return;
  }
  WF_SORT(encode)(c->a, c->a, c->n, c->coding);
  WF_SORT(sort_in_place)(c->a, c->n, 1, c->opts);
  WF_SORT(decode)(c->a, c->a, c->n, c->coding);
}

/* Elements of a key of their own only: equal ones may change places. */
static void WF_SORT(sort)(const WF_SORT(call) * c) {
  enum { ALONE = WF_LEAF_BYTES / sizeof(WF_ELEM) };
  if (c->n < 2 || wf_par_cancelled(c->opts)) return;
  if (c->n > WF_SORT_FEW) {
    if (WF_SORT(all_ordered)(c->opts, c->a, c->n, false, c->coding)) return;
    if (WF_SORT(all_ordered)(c->opts, c->a, c->n, true, c->coding)) {
      WF_SORT(span) span = {c->a, c->n, c->coding, false, {0}};
      const wf_loop reverse = {WF_SORT(reverse_block), &span, NULL};
      wf_loop_run(c->opts, c->n / 2, &reverse);
      return;
    }
  }
  if (c->n <= ALONE)
    WF_SORT(sort_few)(c);
  else
    wf_par_run(c->opts, WF_SORT(run_sort), (void *)(uintptr_t)c);
}

static void WF_SORT(run_select)(void *ctx) {
  const WF_SORT(call) *c = (const WF_SORT(call) *)ctx;
  wf_radix radix;
  bool is_large = c->n > WF_LEAF_BYTES / sizeof(WF_ELEM);
  if (is_large && wf_radix_begin(&radix, c->opts, c->coding, c->n, sizeof(WF_ELEM))) {
    WF_SORT(radix_select)(&radix, c->a, c->n, c->nth);
    wf_radix_end(&radix);
    return;
  }
  WF_SORT(encode)(c->a, c->a, c->n, c->coding);
  WF_SORT(select_in_place)(c->a, c->n, c->nth, c->opts);
  WF_SORT(decode)(c->a, c->a, c->n, c->coding);
}

static void WF_SORT(select)(WF_SORT(call) * c) {
  if (c->nth >= c->n || c->n < 2 || wf_par_cancelled(c->opts)) return;
  if (c->n <= WF_LEAF_BYTES / sizeof(WF_ELEM))
    WF_SORT(run_select)(c);
  else
    wf_par_run(c->opts, WF_SORT(run_select), c);
}

static void WF_SORT(partial_sort)(WF_SORT(call) * c, size_t k) {
  if (k > c->n) k = c->n;
  if (k == 0) return;
  if (k < c->n) {
    c->nth = k - 1;
    WF_SORT(select)(c);
    c->n = k;
  }
  WF_SORT(sort)(c);
}
