/* par/sort/radix/select_template.h - a template: selecting and sorting of numbers, with
 * memory and without, and looking for order. sort_template.h includes it at its
 * end, with the same parameters, for bits32 and bits64.
 *
 * Made, in this order, to be found by their whole names:
 *
 *     encode_bits32 encode_bits64
 *     split_by_bit_bits32 split_by_bit_bits64        by single bits, in place
 *     sort_in_place_bits32 sort_in_place_bits64
 *     select_in_place_bits32 select_in_place_bits64
 *     is_ordered_bits32 is_ordered_bits64            order
 *     ordered_block_bits32 ordered_block_bits64
 *     order_is_broken_bits32 order_is_broken_bits64
 *     all_ordered_bits32 all_ordered_bits64
 *     without_memory_bits32 without_memory_bits64    calls
 *     run_sort_bits32 run_sort_bits64
 *     sort_short_bits32 sort_short_bits64
 *     sort_bits32 sort_bits64
 *     key_less_bits32 key_less_bits64                selection
 *     partition_bits32 partition_bits64
 *     loops_bits32 loops_bits64
 *     run_select_bits32 run_select_bits64
 *     select_bits32 select_bits64
 *     partial_sort_bits32 partial_sort_bits64
 *
 * and the types bits_part_, order_look_ and call_ with the same endings.
 *
 * SPDX-License-Identifier: MIT */

WF_SIMD static void WF_SORT(encode)(WF_ELEM *dst, const WF_ELEM *src, size_t n,
                                    const wf_coding *coding) {
  const wf_coding c = *coding;
  for (size_t i = 0; i < n; i++) dst[i] = WF_ENCODE(&c, src[i]);
}

/* ---- by single bits, in place ---- */

/* Moves elements with a clear bit to the front, and returns how many there are. */
static size_t WF_SORT(split_by_bit)(WF_ELEM *a, size_t n, unsigned bit) {
  size_t count = 0;
  WF_ASSERT(bit < 8 * sizeof(WF_KEY));
  for (size_t i = 0; i < n; i++) {
    WF_ELEM e = a[i];
    a[i] = a[count];
    a[count] = e;
    count += (~WF_KEY_OF(e) >> bit) & 1;
  }
  return count;
}

/* Encoded elements that differ in bits below `bits` only. */
typedef struct WF_SORT(bits_part) {
  WF_ELEM *a;
  size_t n;
  unsigned bits;
  unsigned crew; /* how many threads may work on it */
  const weft_opts *opts;
} WF_SORT(bits_part);

/* Sorts, not stable: by the highest bit in which elements differ, then each half. So the
 * depth is at most the number of a key's bits, and the cost linear. */
static void WF_SORT(sort_in_place)(void *ctx) {
  enum { FORK_LEAST = 4096 }; /* a choice: some 10 us of work for a fork */
  WF_SORT(bits_part) p = *(const WF_SORT(bits_part) *)ctx;
  while (p.n > WF_INSERTION_MOST) {
    WF_KEY varying = WF_SORT(varying)(p.a, p.a, p.n);
    if (varying == 0 || wf_par_cancelled(p.opts)) return;
    unsigned bit = 63 - (unsigned)__builtin_clzll(varying);
    WF_ASSERT(bit < p.bits);
    size_t low = WF_SORT(split_by_bit)(p.a, p.n, bit);
    WF_ASSERT(low > 0 && low < p.n);
    bool forks = p.crew > 1 && p.n >= FORK_LEAST;
    WF_SORT(bits_part) front = {p.a, low, bit, p.crew, p.opts};
    p = (WF_SORT(bits_part)){p.a + low, p.n - low, bit, p.crew, p.opts};
    if (forks) {
      p.crew = front.crew / 2;
      front.crew -= p.crew;
      weft_join(WF_SORT(sort_in_place), &front, WF_SORT(sort_in_place), &p);
      return;
    }
    WF_SORT(sort_in_place)(&front);
  }
  WF_SORT(insertion)(p.a, p.n);
}

/* Moves the nth of encoded elements to its place, in the same way. */
static void WF_SORT(select_in_place)(WF_ELEM *a, size_t n, size_t nth,
                                     const weft_opts *opts) {
  while (n > WF_INSERTION_MOST && !wf_par_cancelled(opts)) {
    WF_ASSERT(nth < n);
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
  if (n <= WF_INSERTION_MOST) WF_SORT(insertion)(a, n);
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

typedef struct WF_SORT(order_look) {
  const WF_ELEM *a;
  bool descends; /* the order that is looked for */
  const wf_coding *coding;
  wf_word x_broken; /* 1 when a pair was found that breaks it */
} WF_SORT(order_look);

static void WF_SORT(ordered_block)(size_t begin, size_t end, void *ctx) {
  WF_SORT(order_look) *l = (WF_SORT(order_look) *)ctx;
  /* Relaxed: the flag only saves work, its last value is read when the loop is over. */
  if (!WF_SORT(is_ordered)(l->a + begin, end - begin, l->descends, l->coding))
    wf_word_store_relaxed(&l->x_broken, 1);
}

static bool WF_SORT(order_is_broken)(size_t begin, const void *ctx) {
  (void)begin;
  /* Relaxed: seen late, it costs a block too many. */
  return wf_word_load_relaxed(&((const WF_SORT(order_look) *)ctx)->x_broken) != 0;
}

/* The same for n elements, with all threads if many, unless the first ones are not in
 * order. */
static bool WF_SORT(all_ordered)(const weft_opts *opts, const WF_ELEM *a, size_t n,
                                 bool descends, const wf_coding *coding) {
  enum { FIRST = 256, ALONE = 4096 }; /* choices: below some microseconds */
  if (n < 2) return true;
  size_t few = n - 1 < ALONE ? n - 1 : FIRST;
  if (!WF_SORT(is_ordered)(a, few, descends, coding)) return false;
  if (few == n - 1) return true;
  WF_SORT(order_look) look = {a, descends, coding, {0}};
  const wf_loop loop = {WF_SORT(ordered_block), &look, WF_SORT(order_is_broken)};
  wf_loop_run(opts, n - 1, &loop);
  /* Relaxed: the loop is over. */
  return wf_word_load_relaxed(&look.x_broken) == 0 && !wf_par_cancelled(opts);
}

/* ---- calls ---- */

typedef struct WF_SORT(call) {
  const weft_opts *opts;
  const wf_coding *coding;
  WF_ELEM *a;
  size_t n;
  size_t nth; /* of selections */
} WF_SORT(call);

static void WF_SORT(without_memory)(const WF_SORT(call) * c, unsigned crew) {
  WF_SORT(bits_part) all = {c->a, c->n, 8 * sizeof(WF_KEY), crew, c->opts};
  WF_SORT(encode)(c->a, c->a, c->n, c->coding);
  WF_SORT(sort_in_place)(&all);
  WF_SORT(decode)(c->a, c->a, c->n, c->coding);
}

/* Inside the pool. */
static void WF_SORT(run_sort)(void *ctx) {
  const WF_SORT(call) *c = (const WF_SORT(call) *)ctx;
  wf_radix radix;
  if (wf_radix_begin(&radix, c->opts, c->coding, c->n, sizeof(WF_ELEM))) {
    WF_SORT(radix_sort)(&radix, c->a, c->n);
    wf_radix_end(&radix);
  } else {
    WF_SORT(without_memory)(c, wf_par_crew(c->opts));
  }
}

/* One leaf, without other threads. */
static void WF_SORT(sort_short)(const WF_SORT(call) * c) {
  size_t bytes = wf_lists_bytes(c->n, sizeof(WF_ELEM));
  WF_ASSERT(bytes >= c->n * sizeof(WF_ELEM));
  wf_scratch scratch = {NULL, NULL, 0};
  if (c->n > WF_INSERTION_MOST) scratch = wf_scratch_get(bytes);
  if (scratch.memory == NULL) {
    WF_SORT(without_memory)(c, 1);
    return;
  }
  WF_SORT(encode)(c->a, c->a, c->n, c->coding);
  WF_SORT(leaf_in_slot)
  (wf_lists_get(), c->a, (char *)scratch.memory, bytes, NULL, c->n, c->a, c->coding);
  wf_scratch_put(scratch);
}

/* Equal elements may change places: they are nothing but their keys. */
static void WF_SORT(sort)(const WF_SORT(call) * c) {
  if (c->n < 2 || wf_par_cancelled(c->opts)) return;
  if (c->n > WF_INSERTION_MOST) {
    if (WF_SORT(all_ordered)(c->opts, c->a, c->n, false, c->coding)) return;
    if (WF_SORT(all_ordered)(c->opts, c->a, c->n, true, c->coding)) {
      weft_reverse_with(c->opts, c->a, c->n, sizeof(WF_ELEM));
      return;
    }
  }
  if (c->n <= WF_LEAF_BYTES / sizeof(WF_ELEM))
    WF_SORT(sort_short)(c);
  else
    wf_par_run_over(c->opts, c->n, WF_SORT(run_sort), (void *)(uintptr_t)c);
}

/* ---- selection: by quickselect of order/partition.c, with loops for these elements,
 * down to what fits into a CPU's cache; there by single bits ---- */

static inline bool WF_SORT(key_less)(const void *a, const void *b, void *ctx) {
  const wf_coding c = *(const wf_coding *)ctx;
  return WF_KEY_OF(WF_ENCODE(&c, *(const WF_ELEM *)a)) <
         WF_KEY_OF(WF_ENCODE(&c, *(const WF_ELEM *)b));
}

static size_t WF_SORT(partition)(char *data, size_t n, const char *pivot, bool or_equal,
                                 void *ctx) {
  return wf_leaf_partition(data, n, pivot, or_equal, sizeof(WF_ELEM), WF_SORT(key_less),
                           ctx);
}

static const wf_sort_loops WF_SORT(loops) = {
    .size = sizeof(WF_ELEM), .less = WF_SORT(key_less), .partition = WF_SORT(partition)};

static void WF_SORT(run_select)(void *ctx) {
  const WF_SORT(call) *c = (const WF_SORT(call) *)ctx;
  char *base = (char *)c->a;
  size_t n = c->n, nth = c->nth;
  wf_sorter s;
  wf_sorter_init(&s, c->opts, &WF_SORT(loops), sizeof(WF_ELEM),
                 (void *)(uintptr_t)c->coding);
  if (wf_quick_narrow(&s, &base, &n, &nth, WF_LEAF_BYTES / sizeof(WF_ELEM))) return;
  WF_ELEM *a = (WF_ELEM *)(void *)base;
  WF_SORT(encode)(a, a, n, c->coding);
  WF_SORT(select_in_place)(a, n, nth, c->opts);
  WF_SORT(decode)(a, a, n, c->coding);
}

static void WF_SORT(select)(WF_SORT(call) * c) {
  if (c->nth >= c->n || c->n < 2 || wf_par_cancelled(c->opts)) return;
  if (c->n <= WF_LEAF_BYTES / sizeof(WF_ELEM))
    WF_SORT(run_select)(c);
  else
    wf_par_run_over(c->opts, c->n, WF_SORT(run_select), c);
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
