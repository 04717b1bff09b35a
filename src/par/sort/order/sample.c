/* par/sort/order/sample.c - sorts by distribution, the usual method of weft_sort and
 * weft_sort_stable. A round: a sample of the elements is sorted, and every second of it
 * becomes a splitter; these divide the array into up to 512 buckets; each element goes to
 * its bucket in a second array; each bucket is sorted in the same way, back into the
 * first. Two rounds are enough for ten million elements; buckets of up to 256 are left to
 * the merge sort of sort_leaf.h. All steps run in parallel and keep the order of equal
 * elements.
 *
 * Compared with quicksort an element is moved three times instead of twenty; compared
 * with merge sort the top levels, which go through memory, are few.
 *
 * Values that are frequent enough to appear twice among the splitters get buckets of
 * their own, which are in order as they are. A round that does not make buckets smaller,
 * because of bad luck or an order that contradicts itself, is not repeated often: then
 * the merge sort of leaves sorts the bucket, so the number of comparisons stays
 * O(n log n).
 *
 * SPDX-License-Identifier: MIT */
#include "order.h"

#include "../../../core/rng.h"

#include <weft/array.h>

/* Leaves of half and a quarter of this size, one level more or less, and one or three
 * samples for each splitter were measured: no gain,
 * docs/investigations/sorting-records.md.
 */
enum {
  SAMPLE_LEAF = 256,     /* elements that are left to the merge sort of a leaf */
  LEVELS_MOST = 9,       /* of the tree of splitters: 512 buckets, 1023 with equal ones */
  SAMPLES_EACH = 2,      /* elements of the sample for each splitter: WF_SAMPLE_MOST */
  GUESS_LEAST = 1 << 11, /* for shorter arrays no key is looked for; if there is none, */
  GUESS_LEAST_INLINED = 1 << 14, /* the search costs up to 4 us */
  LEAF_TRIES =
      16,        /* leaves in which a wrong guess is forgiven, and how many right ones */
  LEAF_LOSS = 4, /* make good for a wrong one: a choice */
  STRIPE_MIN = 1 << 14, /* elements that one thread classifies at a time: a choice */
  STRIPES_EACH = 4      /* such parts for each thread, so that all end together */
};

/* ---- one round ---- */

/* starts[0] is 0, starts[buckets] is n, and they ascend. Written by the task that runs
 * the round; stripes write their own counts, and their own elements in `spare`. */
typedef struct round_of {
  wf_sorter *sorter;
  char *data, *spare; /* n elements each */
  uint16_t *ids;      /* of each element: its bucket */
  size_t n;
  wf_splitters by;
  size_t buckets, stripes, stripe; /* numbers of them, length of a stripe */
  size_t *counts;       /* stripe by bucket; then each one's place is a char * there */
  size_t *starts;       /* of buckets; one more at the end */
  bool to_spare;        /* the result goes there, else to `data` */
  unsigned rounds;      /* that may follow */
  bool forks, scatters; /* scatters: stripes are classified, and moved now */
  wf_guess guess;       /* what the order compares, guess.c */
  wf_slices slices;     /* if the guess is trusted and keys are even */
  bool has_slices;      /* instead of splitters */
  wf_word *x_broken;    /* set if a trusted guess was wrong; shared by all rounds */
  wf_scratch scratch;   /* of splitters, starts and counts */
} round_of;

/* At random, so that no order of the input is bad luck. */
void wf_sample_take(const wf_sorter *s, char *sample, size_t count, const char *data,
                    size_t n) {
  size_t size = s->size, part = n / count;
  wf_rng rng;
  WF_ASSERT(count > 0 && part > 0);
  wf_rng_seed(&rng, n);
  for (size_t i = 0; i < count; i++) {
    size_t within = (size_t)((wf_rng_next(&rng) >> 32) * (uint64_t)part >> 32);
    WF_ASSERT(i * part + within < n);
    memcpy(sample + i * size, data + (i * part + within) * size, size);
  }
}

/* Splitters are elements, or keys if the guess is trusted. */
static size_t splitter_size(const round_of *r) {
  return r->guess.is_trusted ? sizeof(uint64_t) : r->sorter->size;
}

static bool splitter_less(const round_of *r, const char *a, const char *b) {
  if (r->guess.is_trusted)
    return *(const uint64_t *)(const void *)a < *(const uint64_t *)(const void *)b;
  return wf_sorter_less(r->sorter, a, b);
}

/* Leaves out splitters that are equal to the one in front of them, and levels that are
 * not needed then. */
static void drop_equal_splitters(round_of *r, char *sorted) {
  size_t size = splitter_size(r), count = ((size_t)1 << r->by.levels) - 1, kept = 1;
  for (size_t i = 1; i < count; i++) {
    const char *next = sorted + i * size;
    if (!splitter_less(r, sorted + (kept - 1) * size, next)) continue;
    if (kept < i) memcpy(sorted + kept * size, next, size);
    kept++;
  }
  r->by.has_equal = kept < count;
  while (r->by.levels > 1 && kept < (size_t)1 << (r->by.levels - 1)) r->by.levels--;
  count = ((size_t)1 << r->by.levels) - 1;
  for (size_t i = kept; i < count; i++)
    memcpy(sorted + i * size, sorted + (kept - 1) * size, size);
}

/* A sorted sample of elements, in the spare array, or of keys, at `keys`. */
static const char *sorted_sample(round_of *r, size_t count, uint64_t *keys) {
  const wf_sorter *s = r->sorter;
  wf_sample_take(s, r->spare, count, r->data, r->n);
  if (!r->guess.is_trusted) {
    s->loops->sort(r->spare, r->spare + count * s->size, count, false, s->ctx);
    r->guess = wf_guess_next(s, &r->guess, r->spare, count);
  }
  if (!r->guess.is_trusted) return r->spare;
  wf_guess_sample(s, &r->guess, r->spare, keys, count);
  r->has_slices =
      !r->guess.repeats && wf_guess_slices(&r->slices, keys, count, count / SAMPLES_EACH);
  if (!r->has_slices) wf_guess_sort_keys(keys, count);
  return (const char *)keys;
}

/* Makes splitters of a sample. */
static void choose_splitters(round_of *r, char *sorted, char *tree, uint64_t *keys) {
  size_t leaves = (size_t)1 << r->by.levels;
  const char *sample = sorted_sample(r, SAMPLES_EACH * leaves, keys);
  size_t size = splitter_size(r);
  r->buckets = leaves;
  if (r->has_slices) return;
  for (size_t i = 0; i + 1 < leaves; i++)
    memcpy(sorted + i * size, sample + ((i + 1) * SAMPLES_EACH - 1) * size, size);
  drop_equal_splitters(r, sorted);
  leaves = (size_t)1 << r->by.levels;
  for (unsigned level = 0; level < r->by.levels; level++) {
    size_t first = (size_t)1 << level, step = leaves >> level;
    for (size_t i = 0; i < first; i++)
      memcpy(tree + (first + i) * size, sorted + (i * step + step / 2 - 1) * size, size);
  }
  r->buckets = r->by.has_equal ? 2 * leaves - 1 : leaves;
}

/* Memory and splitters of a round; false if there is no memory. */
static bool round_begin(round_of *r, unsigned levels) {
  const wf_sorter *s = r->sorter;
  size_t leaves = (size_t)1 << levels;
  size_t size = s->size > sizeof(uint64_t) ? s->size : sizeof(uint64_t);
  size_t splitters = (leaves * size + 63) / 64 * 64;
  size_t keys = s->guesses == WF_GUESS_TRUST ? 2 * SAMPLES_EACH * leaves : 0;
  r->stripes = 1;
  if (r->forks) {
    size_t most = STRIPES_EACH * (size_t)s->budget;
    r->stripes = r->n / STRIPE_MIN < most ? r->n / STRIPE_MIN + 1 : most;
  }
  r->stripe = (r->n + r->stripes - 1) / r->stripes;
  size_t words = (r->stripes + 1) * 2 * leaves * sizeof(size_t);
  WF_ASSERT(levels >= 1 && levels <= LEVELS_MOST && r->stripe * r->stripes >= r->n);
  size_t slices = keys > 0 ? WF_SLICES_EACH * leaves * sizeof(uint16_t) : 0;
  r->scratch = wf_scratch_get(2 * splitters + words + keys * sizeof(uint64_t) + slices);
  char *at = (char *)r->scratch.memory;
  if (at == NULL) return false;
  r->by.levels = levels;
  r->by.tree = at;
  r->by.sorted = at + splitters;
  r->starts = (size_t *)(void *)(at + 2 * splitters);
  r->counts = r->starts + 2 * leaves;
  memset(r->starts, 0, words);
  uint64_t *of_sample = (uint64_t *)(void *)(at + 2 * splitters + words);
  r->slices.bucket = (uint16_t *)(void *)(of_sample + keys);
  choose_splitters(r, at + splitters, at, of_sample);
  return true;
}

/* Notes the buckets of the elements of stripes, or moves them there. */
static void run_stripes(size_t begin, size_t end, void *ctx) {
  const round_of *r = (const round_of *)ctx;
  const wf_sorter *s = r->sorter;
  for (size_t k = begin; k < end && k * r->stripe < r->n; k++) {
    size_t from = k * r->stripe, left = r->n - from;
    size_t n = left < r->stripe ? left : r->stripe, *counts = r->counts + k * r->buckets;
    const char *data = r->data + from * s->size;
    if (r->scatters)
      s->loops->scatter(data, n, r->ids + from, (char **)(void *)counts, s->ctx);
    else if (r->guess.width > 0)
      wf_guess_classify(s, &r->guess, data, n, &r->by, r->has_slices ? &r->slices : NULL,
                        r->ids + from, counts);
    else
      s->loops->classify(data, n, &r->by, r->ids + from, counts, s->ctx);
  }
}

/* From counts to places: bucket by bucket, and in each stripe by stripe. */
static void lay_out(round_of *r) {
  char **places = (char **)(void *)r->counts;
  size_t start = 0;
  for (size_t b = 0; b < r->buckets; b++) {
    r->starts[b] = start;
    for (size_t k = 0; k < r->stripes; k++) {
      size_t count = r->counts[k * r->buckets + b];
      places[k * r->buckets + b] = r->spare + start * r->sorter->size;
      start += count;
    }
  }
  r->starts[r->buckets] = start;
  WF_ASSERT(start == r->n); /* each element was counted once */
}

/* Runs over all stripes or buckets, in parallel if the round is. */
static void round_loop(round_of *r, size_t n, weft_range_fn *body) {
  wf_loop loop = {body, r, NULL};
  if (r->forks)
    wf_loop_run(&r->sorter->inner, n, &loop);
  else
    body(0, n, r);
}

/* All elements to their buckets, in the spare array. */
static void distribute(round_of *r) {
  round_loop(r, r->stripes, run_stripes);
  lay_out(r);
  r->scatters = true;
  round_loop(r, r->stripes, run_stripes);
}

static bool is_equal_bucket(const round_of *r, size_t b) {
  return !r->has_slices && r->by.has_equal && b % 2 == 1;
}

/* ---- rounds ---- */

static void sort_rounds(round_of *r);

/* A limited crew has a thread for each bucket, and this one works alone. */
static void copy_bucket(const wf_sorter *s, char *to, const char *from, size_t n) {
  if (s->budget > 1 && s->opts->max_workers == 0)
    weft_copy_with(&s->inner, to, from, n, s->size);
  else
    memcpy(to, from, n * s->size);
}

/* Relaxed: nothing else is published; the end of the loops orders it. */
static void confirm_run(const round_of *r, const char *data, size_t n) {
  bool falls;
  bool is_run = r->sorter->loops->run(data, n, &falls, r->sorter->ctx) == n && !falls;
  if (WF_UNLIKELY(!is_run)) wf_word_store_relaxed(r->x_broken, 1);
}

/* The last element of each bucket and the first of the next one, which have been sorted.
 */
static void confirm_borders(const round_of *r) {
  const wf_sorter *s = r->sorter;
  const char *result = r->to_spare ? r->spare : r->data;
  if (wf_par_cancelled(s->opts)) return;
  for (size_t b = 1; b < r->buckets; b++) {
    size_t at = r->starts[b];
    if (at > r->starts[b - 1] && at < r->n)
      confirm_run(r, result + (at - 1) * s->size, 2);
  }
}

static void sort_buckets(size_t begin, size_t end, void *ctx) {
  const round_of *r = (const round_of *)ctx;
  wf_sorter *s = r->sorter;
  size_t right = LEAF_TRIES, wrong = 0; /* guesses in leaves */
  for (size_t b = begin; b < end; b++) {
    size_t from = r->starts[b], n = r->starts[b + 1] - from;
    char *data = r->spare + from * s->size, *spare = r->data + from * s->size;
    if (n == 0) continue;
    WF_ASSERT(from + n <= r->n);
    if (is_equal_bucket(r, b)) {
      if (r->guess.is_trusted) confirm_run(r, data, n);
      if (!r->to_spare) copy_bucket(s, spare, data, n);
    } else if (n <= SAMPLE_LEAF && r->guess.width > 0 && wrong < right) {
      bool is_right = wf_guess_leaf(s, &r->guess, data, spare, n, !r->to_spare);
      right += is_right;
      wrong += is_right ? 0 : LEAF_LOSS;
    } else if (n <= SAMPLE_LEAF) {
      s->loops->sort(data, spare, n, !r->to_spare, s->ctx);
    } else {
      round_of next = {.sorter = s,
                       .data = data,
                       .spare = spare,
                       .ids = r->ids + from,
                       .n = n,
                       .to_spare = !r->to_spare,
                       .rounds = r->rounds - 1,
                       .guess = r->guess,
                       .x_broken = r->x_broken};
      /* With a limited crew each bucket is one thread's. */
      next.forks = r->forks && s->opts->max_workers == 0 && n >= (size_t)4 * STRIPE_MIN;
      sort_rounds(&next);
    }
  }
}

/* Rounds of about the same number of buckets that leave some dozen elements in each, half
 * as many if ranks are counted. */
static unsigned levels_for(size_t n, const wf_guess *guess) {
  unsigned bits = wf_log2(n), few = guess->width > 0 ? 1 : 0;
  unsigned rounds = (bits - 7 + LEVELS_MOST - 1) / LEVELS_MOST;
  unsigned levels = (bits - 5 + few + rounds - 1) / rounds;
  WF_ASSERT(bits >= 8); /* n > SAMPLE_LEAF */
  return levels < LEVELS_MOST ? levels : LEVELS_MOST;
}

static void sort_rounds(round_of *r) {
  wf_sorter *s = r->sorter;
  bool falls, cancelled = wf_par_cancelled(s->opts);
  size_t run = cancelled ? r->n : s->loops->run(r->data, r->n, &falls, s->ctx);
  if (run == r->n) {
    if (r->to_spare) copy_bucket(s, r->spare, r->data, r->n);
    if (!cancelled && falls)
      wf_reverse_part(r->to_spare ? r->spare : r->data, r->n, s->size, 0, r->n / 2);
  } else if (r->n <= SAMPLE_LEAF || r->rounds == 0 ||
             !round_begin(r, levels_for(r->n, &r->guess))) {
    s->loops->sort(r->data, r->spare, r->n, r->to_spare, s->ctx);
  } else {
    distribute(r);
    round_loop(r, r->buckets, sort_buckets);
    if (r->guess.is_trusted) confirm_borders(r);
    wf_scratch_put(r->scratch);
  }
}

void wf_sample_sort(wf_sorter *s, char *data, char *spare, uint16_t *ids, size_t n) {
  wf_word x_broken;
  round_of r = {.sorter = s, .data = data, .spare = spare, .ids = ids, .n = n};
  /* As many rounds as are needed if buckets become eight times as large as they should,
   * and one more. */
  r.rounds = wf_log2(n) / 5 + 1;
  r.forks = s->budget > 1 && n >= WF_SORT_FORK_MIN;
  r.x_broken = &x_broken;
  size_t least = s->by_cmp ? GUESS_LEAST : GUESS_LEAST_INLINED;
  r.guess.is_made = n < least || !wf_guess_allowed(); /* and is none */
  wf_word_store_relaxed(&x_broken, 0);
  round_of again = r;
  sort_rounds(&r);
  again.guess.is_made = true; /* and is none */
  if (WF_UNLIKELY(wf_word_load_relaxed(&x_broken) != 0)) sort_rounds(&again);
}
