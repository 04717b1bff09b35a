/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* weft_reduce_local: each index once, one accumulator for each thread, nobody else in it
 * while a fold calls weft, no memory, early ends; and a word count, by all three ways of
 * dividing it, with the number of hash tables that each makes.
 *
 * SPDX-License-Identifier: MIT */
#include "par/refusal.h"

#include <stddef.h>

/* ---- each index once, and one accumulator for each thread ---- */

typedef struct parts {
  atomic_uint inits, merges;
  atomic_uchar *seen;
  size_t size;
} parts;

typedef struct part_acc {
  size_t count;
  atomic_uint users;
} part_acc;

static void part_init(void *acc, void *ctx) {
  parts *p = ctx;
  CHECK_EQ((uintptr_t)acc % _Alignof(max_align_t), 0);
  memset(acc, 0x5a, p->size);
  *(part_acc *)acc = (part_acc){0};
  atomic_fetch_add(&p->inits, 1);
}

static void part_fold(void *acc, size_t begin, size_t end, void *ctx) {
  parts *p = ctx;
  part_acc *own = acc;
  CHECK(begin < end);
  CHECK_EQ(atomic_fetch_add(&own->users, 1), 0);
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&p->seen[i], 1);
  own->count += end - begin;
  atomic_fetch_sub(&own->users, 1);
}

static void part_merge(void *acc, const void *right, void *ctx) {
  parts *p = ctx;
  part_acc *own = acc;
  CHECK_EQ(atomic_fetch_add(&own->users, 1), 0);
  own->count += ((const part_acc *)right)->count;
  if (p->size > sizeof *own) CHECK_EQ(((const unsigned char *)right)[p->size - 1], 0x5a);
  atomic_fetch_sub(&own->users, 1);
  atomic_fetch_add(&p->merges, 1);
}

static void check_parts(size_t n, size_t size) {
  unsigned threads = weft_thread_count();
  memory_is_exempt = true;
  parts p = {.seen = calloc(n + 1, 1), .size = size};
  part_acc *result = aligned_alloc(16, (size + 15) / 16 * 16);
  memory_is_exempt = false;
  REQUIRE(p.seen != NULL && result != NULL);
  const weft_reducer r = {size, part_init, part_fold, part_merge};
  weft_reduce_local(result, n, &r, &p);
  CHECK_EQ(result->count, n);
  CHECK(atomic_load(&p.inits) >= 1);
  CHECK_MSG(atomic_load(&p.inits) <= threads, "%u of %u", atomic_load(&p.inits), threads);
  CHECK_EQ(atomic_load(&p.merges), atomic_load(&p.inits) - 1);
  for (size_t i = 0; i < n; i++)
    if (atomic_load(&p.seen[i]) != 1) {
      CHECK_MSG(false, "index %zu of %zu", i, n);
      break;
    }
  free(p.seen);
  free(result);
}

static void all_parts(void *ctx) {
  static const size_t SIZES[] = {16, 24, 300, 5000, 70000};
  (void)ctx;
  for (unsigned i = 0; i < LENGTHS_COUNT; i++) {
    if (LENGTHS[i] > 100000 / harness_slowdown()) continue;
    for (unsigned k = 0; k < 5; k++)
      if (k == 0 || LENGTHS[i] < 5000) check_parts(LENGTHS[i], SIZES[k]);
  }
}

static void all_sizes(void *ctx) {
  (void)ctx;
  for (size_t n = 0; n <= 70; n++) check_parts(n, 16);
}

TEST(every_index_once) {
  in_each_pool(all_parts, NULL);
  in_each_pool(all_sizes, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, all_sizes, NULL);
  weft_pool_run(pool, all_parts, NULL);
  weft_pool_destroy(pool);
  all_sizes(NULL);
}

static void parts_refused(void *ctx) {
  with_refusals(all_sizes, ctx);
}

TEST(same_result_without_memory) {
  in_each_pool(parts_refused, NULL);
}

/* ---- a fold that calls weft ---- */

/* While it waits, its thread may run another block of the same reduction: that one has
 * another accumulator. */
static void nested_fold(void *acc, size_t begin, size_t end, void *ctx) {
  parts *p = ctx;
  part_acc *own = acc;
  for (size_t i = begin; i < end; i++) {
    size_t before = own->count;
    parts inner = {.seen = p->seen + 70 * i, .size = sizeof(part_acc)};
    const weft_reducer r = {sizeof(part_acc), part_init, part_fold, part_merge};
    _Alignas(16) part_acc result;
    CHECK_EQ(atomic_fetch_add(&own->users, 1), 0);
    weft_reduce_local(&result, 70, &r, &inner);
    CHECK_EQ(own->count, before);
    own->count = before + result.count;
    atomic_fetch_sub(&own->users, 1);
  }
}

static void check_nested(void *ctx) {
  (void)ctx;
  parts p = {.seen = calloc(200 * 70, 1), .size = sizeof(part_acc)};
  REQUIRE(p.seen != NULL);
  const weft_reducer r = {sizeof(part_acc), part_init, nested_fold, part_merge};
  _Alignas(16) part_acc result;
  weft_reduce_local(&result, 200, &r, &p);
  CHECK_EQ(result.count, 200 * 70);
  for (size_t i = 0; i < 200 * 70; i++)
    if (!CHECK_EQ(atomic_load(&p.seen[i]), 1)) break;
  free(p.seen);
}

TEST(folds_may_call_weft) {
  in_each_pool(check_nested, NULL);
  weft_pool *pool = pool_of(64);
  weft_pool_run(pool, check_nested, NULL);
  weft_pool_destroy(pool);
}

/* ---- several at once, from outside ---- */

static void reduce_from_outside(unsigned index, void *arg) {
  (void)index, (void)arg;
  for (int i = 0; i < 20; i++) check_parts(1000, 24);
}

TEST(several_at_once) {
  harness_run_threads(5, reduce_from_outside, NULL);
}

/* ---- options ---- */

static void crowded_fold(void *acc, size_t begin, size_t end, void *ctx) {
  crowd *c = ctx;
  crowd_enter(c);
  spin(50);
  *(size_t *)acc += end - begin;
  crowd_leave(c);
}

static void size_init(void *acc, void *ctx) {
  (void)ctx;
  *(size_t *)acc = 0;
}

static void size_merge(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(size_t *)acc += *(const size_t *)right;
}

TEST(not_more_workers_than_allowed) {
  const weft_reducer r = {sizeof(size_t), size_init, crowded_fold, size_merge};
  weft_pool *pool = pool_of(8);
  for (unsigned limit = 1; limit <= 4; limit++) {
    weft_opts opts = opts_on(pool);
    crowd c = {0};
    size_t result;
    opts.max_workers = limit;
    opts.max_len = 10;
    weft_reduce_local_with(&opts, &result, 3000, &r, &c);
    CHECK_EQ(result, 3000);
    CHECK(atomic_load(&c.most) <= limit);
  }
  weft_pool_destroy(pool);
}

typedef struct lengths {
  size_t n, min_len, max_len;
  atomic_ulong last_is_short; /* blocks */
} lengths;

static void no_elements(void *acc, void *ctx) {
  (void)ctx;
  *(size_t *)acc = 0;
}

/* Takes longer for long blocks, so that the crew wants shorter ones. */
static void fold_and_look_at_lengths(void *acc, size_t begin, size_t end, void *ctx) {
  lengths *l = ctx;
  if (l->max_len != 0) CHECK(end - begin <= l->max_len);
  if (end - begin < l->min_len && l->n >= l->min_len) {
    CHECK(end == l->n && l->max_len != 0 && l->max_len < 2 * l->min_len);
    atomic_fetch_add(&l->last_is_short, 1);
  }
  spin((unsigned)(end - begin) * 20);
  *(size_t *)acc += end - begin;
}

static void add_elements(void *acc, const void *right, void *ctx) {
  (void)ctx;
  *(size_t *)acc += *(const size_t *)right;
}

/* No block is shorter than min_len or longer than max_len, as in loops. */
TEST(lengths_of_blocks) {
  static const size_t NS[] = {1, 2, 99, 100, 101, 199, 200, 299, 300, 1999, 5003};
  static const weft_reducer r = {sizeof(size_t), no_elements, fold_and_look_at_lengths,
                                 add_elements};
  for (unsigned threads = 1; threads <= 8; threads = threads < 3 ? threads + 1 : 8) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (size_t i = 0; i < sizeof NS / sizeof NS[0]; i++)
      for (size_t max_len = 0; max_len <= 300; max_len += max_len == 0 ? 100 : 50) {
        lengths l = {.n = NS[i], .min_len = 100, .max_len = max_len};
        size_t result = 0;
        opts.min_len = l.min_len;
        opts.max_len = l.max_len;
        weft_reduce_local_with(&opts, &result, l.n, &r, &l);
        CHECK_EQ(result, l.n);
        CHECK(atomic_load(&l.last_is_short) <= 1);
      }
    weft_pool_destroy(pool);
    if (threads == 8) break;
  }
}

typedef struct stopping {
  weft_scope scope;
  atomic_ulong left; /* blocks until the cancellation */
} stopping;

static void stopping_fold(void *acc, size_t begin, size_t end, void *ctx) {
  stopping *s = ctx;
  if (atomic_fetch_sub(&s->left, 1) == 1) weft_scope_cancel(&s->scope, 3);
  *(size_t *)acc += end - begin;
}

static void check_cancelled(void *ctx) {
  const weft_reducer r = {sizeof(size_t), size_init, stopping_fold, size_merge};
  (void)ctx;
  for (unsigned long at = 1; at <= 40; at++) {
    weft_opts opts = WEFT_OPTS_INIT;
    stopping s;
    size_t result = 99;
    atomic_init(&s.left, at);
    weft_scope_begin(&s.scope);
    opts.cancel = &s.scope;
    opts.max_len = 10;
    weft_reduce_local_with(&opts, &result, 10000, &r, &s);
    CHECK(result >= at && result <= 10 * (at + 64));
    weft_reduce_local_with(&opts, &result, 10000, &r, &s);
    CHECK_EQ(result, 0); /* init alone */
    CHECK_EQ(weft_scope_end(&s.scope), 3);
  }
}

TEST(cancelled_at_each_block) {
  in_each_pool(check_cancelled, NULL);
}

/* ---- counting words ---- */

/* A hash table of words that grows, as programs have it: each is some memory. */
typedef struct words {
  size_t room, used; /* room is 0 or a power of two */
  struct word {
    const char *text;
    size_t length, count;
  } * table;
} words;

typedef struct word_count {
  const char *text;
  size_t length;
  atomic_uint tables; /* that were made */
} word_count;

static void words_init(void *acc, void *ctx) {
  atomic_fetch_add(&((word_count *)ctx)->tables, 1);
  *(words *)acc = (words){0, 0, NULL};
}

static struct word *word_place(const words *w, const char *text, size_t length) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
  size_t at = (size_t)(hash >> 20) & (w->room - 1);
  while (w->table[at].text != NULL &&
         (w->table[at].length != length || memcmp(w->table[at].text, text, length) != 0))
    at = (at + 1) & (w->room - 1);
  return &w->table[at];
}

static void words_add(words *w, const char *text, size_t length, size_t count);

static void words_grow(words *w) {
  words larger = {w->room == 0 ? 64 : 2 * w->room, 0, NULL};
  larger.table = calloc(larger.room, sizeof *larger.table);
  REQUIRE(larger.table != NULL);
  for (size_t i = 0; i < w->room; i++)
    if (w->table[i].text != NULL)
      words_add(&larger, w->table[i].text, w->table[i].length, w->table[i].count);
  free(w->table);
  *w = larger;
}

static void words_add(words *w, const char *text, size_t length, size_t count) {
  if (2 * w->used >= w->room) words_grow(w);
  struct word *place = word_place(w, text, length);
  if (place->text == NULL) {
    *place = (struct word){text, length, 0};
    w->used++;
  }
  place->count += count;
}

/* Words that begin in the range; a word may end behind it. */
static void words_fold(void *acc, size_t begin, size_t end, void *ctx) {
  const word_count *c = ctx;
  for (size_t i = begin; i < end; i++) {
    if (c->text[i] == ' ' || (i > 0 && c->text[i - 1] != ' ')) continue;
    size_t length = 1;
    while (i + length < c->length && c->text[i + length] != ' ') length++;
    words_add(acc, c->text + i, length, 1);
  }
}

static void words_merge(void *acc, const void *right, void *ctx) {
  words other = *(const words *)right;
  (void)ctx;
  for (size_t i = 0; i < other.room; i++)
    if (other.table[i].text != NULL)
      words_add(acc, other.table[i].text, other.table[i].length, other.table[i].count);
  free(other.table);
}

static const weft_reducer COUNT_WORDS = {sizeof(words), words_init, words_fold,
                                         words_merge};

static void check_same_words(words *got, const words *expected) {
  CHECK_EQ(got->used, expected->used);
  for (size_t i = 0; i < expected->room; i++) {
    const struct word *w = &expected->table[i];
    if (w->text == NULL) continue;
    const struct word *place = word_place(got, w->text, w->length);
    if (!CHECK(place->text != NULL && place->count == w->count)) break;
  }
  free(got->table);
  *got = (words){0, 0, NULL};
}

/* How many hash tables are made for 300 KB of text: by size, as options want, and one for
 * each thread. */
TEST(a_word_count_makes_few_tables) {
  enum { LENGTH = 300000 };
  const size_t length = LENGTH / harness_slowdown();
  uint64_t random = harness_seed();
  char *text = malloc(length);
  word_count c = {text, length, 0};
  words serial = {0, 0, NULL}, got;
  REQUIRE(text != NULL);
  for (size_t i = 0; i < length; i++) {
    uint64_t x = harness_random(&random);
    text[i] = x % 5 == 0 ? ' ' : (char)('a' + x / 5 % 3);
  }
  words_fold(&serial, 0, length, &c);
  for (unsigned i = 0; i < 5; i++) {
    unsigned threads = i < THREADS_COUNT ? THREADS[i] : 64;
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    atomic_store(&c.tables, 0);
    weft_reduce_with(&opts, &got, length, &COUNT_WORDS, &c);
    CHECK(atomic_load(&c.tables) > (length < 30000 ? 100 : 500));
    check_same_words(&got, &serial);

    atomic_store(&c.tables, 0);
    opts.target_chunks = 40;
    weft_reduce_with(&opts, &got, length, &COUNT_WORDS, &c);
    CHECK_EQ(atomic_load(&c.tables), 40); /* on any number of threads */
    check_same_words(&got, &serial);

    atomic_store(&c.tables, 0);
    weft_reduce_local_with(&opts, &got, length, &COUNT_WORDS, &c);
    CHECK(atomic_load(&c.tables) <= threads);
    if (threads == 1) CHECK_EQ(atomic_load(&c.tables), 1);
    check_same_words(&got, &serial);
    weft_pool_destroy(pool);
  }
  free(serial.table);
  free(text);
}
