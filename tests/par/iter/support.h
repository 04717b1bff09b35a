/* par/iter/support.h - what the tests of iterators share: sequences of int64_t that are
 * built twice, as an iterator and as a plain array (the model), and checks of every sink
 * against that array.
 *
 * Each source ends in a map to int64_t, each stage takes and makes int64_t: so every one
 * can stand behind every other. What a stage does follows from its salt.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_SUPPORT_H
#define TESTS_PAR_ITER_SUPPORT_H

#include "par/support.h"

/* ---- models ---- */

typedef struct model {
  int64_t *a;
  size_t n;
  bool known; /* the iterator knows the length */
  bool pulls;
} model;

static inline model model_of(size_t n) {
  model m = {array_of(n, sizeof(int64_t)), n, true, false};
  return m;
}

static inline model model_copy(const model *m) {
  model copy = model_of(m->n);
  memcpy(copy.a, m->a, m->n * sizeof *m->a);
  copy.known = m->known;
  copy.pulls = m->pulls;
  return copy;
}

static inline void model_free(model *m) {
  free(m->a);
}

static inline void model_take(model *m, model *other) {
  free(m->a);
  m->a = other->a;
  m->n = other->n;
}

/* ---- the functions ---- */

static inline uint64_t mixed(int64_t x, const void *salt) {
  uint64_t z = (uint64_t)x + *(const uint64_t *)salt * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int64_t value_of(int64_t x, const void *salt) {
  return (int64_t)(mixed(x, salt) >> 40);
}

static inline bool is_kept(int64_t x, const void *salt) {
  return mixed(x, salt) % 4 != 0;
}

static inline size_t number_of(int64_t x, const void *salt) {
  uint64_t z = mixed(x, salt);
  return z % 64 == 0 ? 40 : z % 3;
}

static inline bool is_before_end(int64_t x, const void *salt) {
  uint64_t often[] = {3, 50, 1000, 40000};
  return mixed(x, salt) % often[*(const uint64_t *)salt % 4] != 0;
}

static inline int64_t joined(int64_t x, int64_t y, const void *salt) {
  return value_of(x * 31 + y, salt);
}

static inline int64_t load(const void *elem) {
  int64_t x;
  memcpy(&x, elem, sizeof x);
  return x;
}

static inline void store_at(void *out, int64_t x) {
  memcpy(out, &x, sizeof x);
}

/* ---- sources ---- */

typedef enum source_kind {
  FROM_SLICE,
  FROM_REFS,
  FROM_RANGE,
  FROM_STEPS,
  FROM_CHUNKS,
  FROM_WINDOWS,
  FROM_TILES,
  FROM_REPEAT,
  FROM_FUNCTION,
  FROM_SPLIT,  /* leaves of one element */
  FROM_LEAVES, /* leaves of several */
  FROM_LINES,
  FROM_PULL,
  SOURCES
} source_kind;

/* A part of an array that is split until it is short. */
typedef struct split_piece {
  const int64_t *array;
  uint32_t begin, end;
  uint32_t longest; /* of a leaf */
  char unaligned[3];
} split_piece;

/* What a source refers to, for as long as its iterator is used. */
typedef struct source_data {
  int64_t *array;
  char *text;
  size_t n, text_length;
  int64_t value;
  split_piece whole;
  atomic_size_t pulled; /* how many */
} source_data;

static inline source_data *source_new(size_t n, uint64_t *random) {
  source_data *d = malloc(sizeof *d);
  REQUIRE(d != NULL);
  d->n = n;
  d->array = array_of(n, sizeof *d->array);
  for (size_t i = 0; i < n; i++) d->array[i] = (int64_t)(harness_random(random) >> 30);
  d->value = (int64_t)(harness_random(random) >> 30);
  atomic_init(&d->pulled, 0);
  d->text = array_of(12 * n, 1);
  d->text_length = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length = harness_random(random) % 11;
    bool is_last = i + 1 == n;
    for (size_t k = 0; k < length; k++)
      d->text[d->text_length++] = (char)('a' + (i * 7 + k) % 26);
    /* The last line may have no end of its own, unless it is empty. */
    if (!is_last || length == 0 || harness_random(random) % 2 == 0)
      d->text[d->text_length++] = '\n';
  }
  return d;
}

static inline void source_free(source_data *d) {
  free(d->array);
  free(d->text);
  free(d);
}

static inline void deref(void *out, const void *in, void *ctx) {
  void *const *ref = in;
  (void)ctx;
  store_at(out, load(*ref));
}

static inline int64_t chunk_value(const int64_t *a, size_t count, size_t index) {
  uint64_t sum = index * 1000003 + count;
  for (size_t i = 0; i < count; i++) sum = sum * 31 + (uint64_t)a[i];
  return (int64_t)(sum >> 20);
}

static inline void chunk_to_value(void *out, const void *in, void *ctx) {
  const weft_chunk *c = in;
  (void)ctx;
  store_at(out, chunk_value(c->data, c->count, c->index));
}

static inline int64_t tile_value(size_t r0, size_t r1, size_t c0, size_t c1) {
  return (int64_t)(((r0 * 1009 + r1) * 1013 + c0) * 1019 + c1);
}

static inline void tile_to_value(void *out, const void *in, void *ctx) {
  const weft_tile *t = in;
  (void)ctx;
  store_at(out, tile_value(t->r0, t->r1, t->c0, t->c1));
}

static inline int64_t line_value(const char *text, size_t length) {
  uint64_t sum = length;
  for (size_t i = 0; i < length; i++) sum = sum * 31 + (unsigned char)text[i];
  return (int64_t)(sum >> 4);
}

static inline void line_to_value(void *out, const void *in, void *ctx) {
  const weft_line *line = in;
  (void)ctx;
  store_at(out, line_value(line->text, line->length));
}

/* Batches of different lengths that depend on what came before only; some pulls give one
 * or two at a time. */
static inline size_t pull_some(void *out, size_t room, void *ctx) {
  source_data *d = ctx;
  size_t at = atomic_load(&d->pulled), n = d->n - at;
  size_t most = d->value % 4 == 0 ? at % 2 + 1 : at % 97 + 1;
  if (n > most) n = most;
  CHECK(room > 0);
  if (n > room) n = room;
  memcpy(out, d->array + at, n * sizeof(int64_t));
  atomic_store(&d->pulled, at + n); /* one thread at a time, so no addition is lost */
  return n;
}

static inline void fill_elements(void *out, size_t first, size_t n, void *ctx) {
  const source_data *d = ctx;
  CHECK(n > 0 && first < d->n && n <= d->n - first);
  memcpy(out, d->array + first, n * sizeof(int64_t));
}

/* Halves; or a few from the front; or all but the last. */
static inline bool split_part(void *piece, void *right, void *ctx) {
  split_piece *p = piece, *r = right;
  uint32_t length = p->end - p->begin, cut = length / 2;
  int64_t shape = *(const int64_t *)ctx % 3;
  if (length <= p->longest) return false;
  if (shape == 1) cut = 1 + length % 8;
  if (shape == 2) cut = length - 1;
  if (cut >= length) cut = 1;
  *r = *p;
  p->end = r->begin = p->begin + cut;
  return true;
}

static inline bool part_to_value(void *out, const void *in, void *ctx) {
  const split_piece *p = in;
  (void)ctx;
  if (p->begin == p->end) return false;
  store_at(out, p->array[p->begin]);
  return true;
}

static inline void part_to_values(const void *in, weft_out *out, void *ctx) {
  const split_piece *p = in;
  (void)ctx;
  for (uint32_t i = p->begin; i < p->end; i++)
    weft_emit(out, &p->array[i], sizeof(int64_t));
}

static inline weft_iter split_source(source_data *d, bool several) {
  d->whole = (split_piece){d->array, 0, (uint32_t)d->n, 1, {0}};
  if (several) d->whole.longest = (uint32_t)(d->n % 40 + 1);
  weft_iter it = weft_iter_split(&d->whole, sizeof d->whole, split_part, &d->value);
  if (several)
    weft_iter_flat_map(&it, sizeof(int64_t), part_to_values, NULL);
  else
    weft_iter_filter_map(&it, sizeof(int64_t), part_to_value, NULL);
  return it;
}

static inline weft_iter lines_source(const source_data *d, model *m) {
  weft_iter it = weft_iter_lines(d->text, d->text_length);
  weft_iter_map(&it, sizeof(int64_t), line_to_value, NULL);
  *m = model_of(d->n);
  m->known = false;
  const char *p = d->text;
  for (size_t i = 0; i < d->n; i++) {
    const char *end = p;
    while (end < d->text + d->text_length && *end != '\n') end++;
    m->a[i] = line_value(p, (size_t)(end - p));
    p = end + 1;
  }
  return it;
}

static inline weft_iter parts_source(const source_data *d, source_kind kind, model *m) {
  size_t part = d->n % 7 + 1;
  bool windows = kind == FROM_WINDOWS;
  weft_iter it = windows ? weft_iter_windows(d->array, d->n, sizeof(int64_t), part)
                         : weft_iter_chunks(d->array, d->n, sizeof(int64_t), part);
  weft_iter_map(&it, sizeof(int64_t), chunk_to_value, NULL);
  size_t step = windows ? 1 : part, n = 0;
  *m = model_of(d->n);
  for (size_t i = 0; i < d->n; i += step) {
    size_t count = d->n - i < part ? d->n - i : part;
    if (windows && count < part) break;
    m->a[n] = chunk_value(d->array + i, count, n);
    n++;
  }
  m->n = n;
  return it;
}

static inline weft_iter tiles_source(const source_data *d, model *m) {
  size_t cols = 13, rows = d->n / cols, n = 0;
  weft_iter it = weft_iter_tiles(rows, cols, 2, 3);
  weft_iter_map(&it, sizeof(int64_t), tile_to_value, NULL);
  *m = model_of((rows + 1) / 2 * 5);
  for (size_t r = 0; r < rows; r += 2)
    for (size_t c = 0; c < cols; c += 3)
      m->a[n++] =
          tile_value(r, r + 2 < rows ? r + 2 : rows, c, c + 3 < cols ? c + 3 : cols);
  return it;
}

static inline weft_iter build_source(source_kind kind, source_data *d, model *m) {
  weft_iter it;
  int64_t n = (int64_t)d->n;
  switch (kind) {
  case FROM_CHUNKS:
  case FROM_WINDOWS:
    return parts_source(d, kind, m);
  case FROM_TILES:
    return tiles_source(d, m);
  case FROM_LINES:
    return lines_source(d, m);
  default:
    break;
  }
  *m = model_of(d->n);
  for (size_t i = 0; i < d->n; i++) {
    if (kind == FROM_RANGE)
      m->a[i] = (int64_t)i - 100;
    else if (kind == FROM_STEPS)
      m->a[i] = 1000 - 3 * (int64_t)i;
    else
      m->a[i] = kind == FROM_REPEAT ? d->value : d->array[i];
  }
  switch (kind) {
  case FROM_REFS:
    it = weft_iter_refs(d->array, d->n, sizeof(int64_t));
    weft_iter_map(&it, sizeof(int64_t), deref, NULL);
    return it;
  case FROM_RANGE:
    return weft_iter_range(-100, n - 100);
  case FROM_STEPS:
    return weft_iter_range_step(1000, 1000 - 3 * n, -3);
  case FROM_REPEAT:
    return weft_iter_repeat(&d->value, d->n, sizeof d->value);
  case FROM_FUNCTION:
    return weft_iter_from(d->n, sizeof(int64_t), fill_elements, d);
  case FROM_SPLIT:
  case FROM_LEAVES:
    m->known = false;
    return split_source(d, kind == FROM_LEAVES);
  case FROM_PULL:
    m->known = false;
    m->pulls = true;
    return weft_iter_pull(sizeof(int64_t), pull_some, d);
  default:
    return weft_iter_slice(d->array, d->n, sizeof(int64_t));
  }
}

/* ---- stages ---- */

typedef enum stage_kind {
  BY_MAP,
  BY_MAP_KERNEL,
  BY_WIDE, /* through elements of 100 bytes */
  BY_INSPECT,
  BY_FILTER,
  BY_FILTER_KERNEL,
  BY_FILTER_MAP,
  BY_FILTER_MAP_KERNEL,
  BY_FLAT_MAP,
  BY_FLAT_MAP_KERNEL,
  BY_TAKE_WHILE,
  BY_ENUMERATE, /* from here on the length must be known */
  BY_STEP,
  BY_SKIP,
  BY_TAKE,
  BY_REVERSE,
  BY_CHUNK,
  BY_WIDE_CHUNK, /* chunks of elements of 100 bytes, some of them large */
  ONE_SIDED,
  BY_CHAIN = ONE_SIDED, /* known or not */
  BY_INTERLEAVE,
  BY_ZIP,
  BY_ZIP_MAP,
  BY_ZIP_KERNEL,
  STAGES
} stage_kind;

/* How many places of an iterator each takes at most, without the other side. */
enum { STAGE_PLACES = 3 };

static atomic_size_t inspected;

static inline void map_value(void *out, const void *in, void *ctx) {
  store_at(out, value_of(load(in), ctx));
}

static inline void widen(void *out, const void *in, void *ctx) {
  char *to = out;
  (void)ctx;
  memset(to, 0, 100);
  store_at(to + 92, load(in));
}

static inline void narrow(void *out, const void *in, void *ctx) {
  store_at(out, value_of(load((const char *)in + 92), ctx));
}

/* How long the chunks of a stage are: few elements, or more than a batch has. */
static inline size_t chunk_length(const uint64_t *salt) {
  return *salt % 8 == 0 ? 1 + (*salt >> 3) % 3000 : *salt % 5 + 1;
}

static inline void wide_chunk_to_value(void *out, const void *in, void *ctx) {
  const weft_chunk *c = in;
  uint64_t sum = c->index * 1000003 + c->count;
  (void)ctx;
  for (size_t i = 0; i < c->count; i++)
    sum = sum * 31 + (uint64_t)load((const char *)c->data + i * 100 + 92);
  store_at(out, (int64_t)(sum >> 20));
}

static inline void count_look(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
  atomic_fetch_add_explicit(&inspected, 1, memory_order_relaxed);
}

static inline bool keep(const void *elem, void *ctx) {
  return is_kept(load(elem), ctx);
}

static inline bool keep_value(void *out, const void *in, void *ctx) {
  store_at(out, value_of(load(in), ctx));
  return is_kept(load(in), ctx);
}

static inline void emit_some(const void *in, weft_out *out, void *ctx) {
  int64_t x = load(in);
  size_t number = number_of(x, ctx);
  /* Some of them tell how many come where they are only counted. */
  if (x % 2 == 0 && weft_emit_count(out, number)) return;
  for (size_t j = 0; j < number; j++) {
    int64_t y = x + (int64_t)j;
    weft_emit(out, &y, sizeof y);
  }
}

static inline bool before_end(const void *elem, void *ctx) {
  return is_before_end(load(elem), ctx);
}

typedef struct numbered {
  size_t index;
  int64_t value;
} numbered;

static inline void numbered_to_value(void *out, const void *in, void *ctx) {
  const numbered *pair = in;
  store_at(out, joined((int64_t)pair->index, pair->value, ctx));
}

/* With a gap, and the right one not aligned. */
typedef struct pair {
  char bytes[20];
} pair;
enum { PAIR_RIGHT = 9 };

static inline void pair_to_value(void *out, const void *in, void *ctx) {
  const char *bytes = in;
  store_at(out, joined(load(bytes), load(bytes + PAIR_RIGHT), ctx));
}

static inline void join_values(void *out, const void *x, const void *y, void *ctx) {
  store_at(out, joined(load(x), load(y), ctx));
}

WEFT_KERNEL_MAP(kernel_map, int64_t, int64_t, value_of(x, ctx))
WEFT_KERNEL_FILTER(kernel_filter, int64_t, is_kept(x, ctx))
WEFT_KERNEL_FILTER_MAP(kernel_filter_map, int64_t, int64_t, is_kept(x, ctx),
                       value_of(x, ctx))
WEFT_KERNEL_FLAT_MAP(kernel_flat_map, int64_t, int64_t, number_of(x, ctx), x + (int64_t)j)
WEFT_KERNEL_ZIP(kernel_zip, int64_t, int64_t, int64_t, joined(x, y, ctx))

/* May it stand here? `other` is NULL for stages of one side. */
static inline bool stage_fits(stage_kind kind, const model *m, const model *other) {
  if (kind >= ONE_SIDED && (m->pulls || other->pulls)) return false;
  if (kind == BY_CHAIN) return true;
  if (kind > ONE_SIDED) return m->known && other->known;
  return kind < BY_ENUMERATE || m->known;
}

static inline void model_stage(stage_kind kind, model *m, const uint64_t *salt) {
  size_t n = m->n, k = *salt % 5 + 1, chunk = chunk_length(salt);
  if (kind == BY_FLAT_MAP || kind == BY_FLAT_MAP_KERNEL)
    for (size_t i = 0; i < m->n; i++) n += number_of(m->a[i], salt);
  model out = model_of(n);
  n = 0;
  for (size_t i = 0; i < m->n; i++) {
    int64_t x = m->a[i];
    switch (kind) {
    case BY_MAP:
    case BY_MAP_KERNEL:
    case BY_WIDE:
      out.a[n++] = value_of(x, salt);
      break;
    case BY_FILTER:
    case BY_FILTER_KERNEL:
      if (is_kept(x, salt)) out.a[n++] = x;
      break;
    case BY_FILTER_MAP:
    case BY_FILTER_MAP_KERNEL:
      if (is_kept(x, salt)) out.a[n++] = value_of(x, salt);
      break;
    case BY_FLAT_MAP:
    case BY_FLAT_MAP_KERNEL:
      for (size_t j = 0; j < number_of(x, salt); j++) out.a[n++] = x + (int64_t)j;
      break;
    case BY_TAKE_WHILE:
      if (!is_before_end(x, salt))
        i = m->n - 1;
      else
        out.a[n++] = x;
      break;
    case BY_ENUMERATE:
      out.a[n++] = joined((int64_t)i, x, salt);
      break;
    case BY_STEP:
      if (i % k == 0) out.a[n++] = x;
      break;
    case BY_SKIP:
      if (i >= 3 * k) out.a[n++] = x;
      break;
    case BY_TAKE:
      if (i < m->n / 2 + k) out.a[n++] = x;
      break;
    case BY_REVERSE:
      out.a[n++] = m->a[m->n - 1 - i];
      break;
    case BY_CHUNK:
    case BY_WIDE_CHUNK:
      if (i % chunk == 0) {
        out.a[n] = chunk_value(m->a + i, m->n - i < chunk ? m->n - i : chunk, n);
        n++;
      }
      break;
    default:
      out.a[n++] = x;
      break;
    }
  }
  out.n = n;
  model_take(m, &out);
  if (kind >= BY_FILTER && kind <= BY_TAKE_WHILE) m->known = false;
}

static inline void add_stage(stage_kind kind, weft_iter *it, model *m, uint64_t *salt) {
  size_t k = *salt % 5 + 1;
  switch (kind) {
  case BY_MAP:
    weft_iter_map(it, sizeof(int64_t), map_value, salt);
    break;
  case BY_MAP_KERNEL:
    weft_iter_apply(it, &kernel_map, salt);
    break;
  case BY_WIDE:
    weft_iter_map(it, 100, widen, salt);
    weft_iter_map(it, sizeof(int64_t), narrow, salt);
    break;
  case BY_INSPECT:
    weft_iter_inspect(it, count_look, salt);
    break;
  case BY_FILTER:
    weft_iter_filter(it, keep, salt);
    break;
  case BY_FILTER_KERNEL:
    weft_iter_apply(it, &kernel_filter, salt);
    break;
  case BY_FILTER_MAP:
    weft_iter_filter_map(it, sizeof(int64_t), keep_value, salt);
    break;
  case BY_FILTER_MAP_KERNEL:
    weft_iter_apply(it, &kernel_filter_map, salt);
    break;
  case BY_FLAT_MAP:
    weft_iter_flat_map(it, sizeof(int64_t), emit_some, salt);
    break;
  case BY_FLAT_MAP_KERNEL:
    weft_iter_apply(it, &kernel_flat_map, salt);
    break;
  case BY_TAKE_WHILE:
    weft_iter_take_while(it, before_end, salt);
    break;
  case BY_ENUMERATE:
    weft_iter_enumerate(it, sizeof(numbered), offsetof(numbered, value));
    weft_iter_map(it, sizeof(int64_t), numbered_to_value, salt);
    break;
  case BY_STEP:
    weft_iter_step(it, k);
    break;
  case BY_SKIP:
    weft_iter_skip(it, 3 * k);
    break;
  case BY_TAKE:
    weft_iter_take(it, m->n / 2 + k);
    break;
  case BY_REVERSE:
    weft_iter_reverse(it);
    break;
  case BY_WIDE_CHUNK:
    weft_iter_map(it, 100, widen, salt);
    weft_iter_chunk(it, chunk_length(salt));
    weft_iter_map(it, sizeof(int64_t), wide_chunk_to_value, NULL);
    break;
  default:
    weft_iter_chunk(it, chunk_length(salt));
    weft_iter_map(it, sizeof(int64_t), chunk_to_value, NULL);
    break;
  }
  model_stage(kind, m, salt);
}

static inline void model_both(stage_kind kind, model *m, const model *other,
                              const uint64_t *salt) {
  model out = model_of(m->n + other->n);
  size_t n = 0, i = 0, j = 0;
  if (kind == BY_CHAIN) {
    memcpy(out.a, m->a, m->n * sizeof *m->a);
    memcpy(out.a + m->n, other->a, other->n * sizeof *m->a);
    n = out.n;
  } else if (kind == BY_INTERLEAVE) {
    while (i < m->n || j < other->n) {
      if (i < m->n) out.a[n++] = m->a[i++];
      if (j < other->n) out.a[n++] = other->a[j++];
    }
  } else {
    for (; n < m->n && n < other->n; n++) out.a[n] = joined(m->a[n], other->a[n], salt);
  }
  out.n = n;
  model_take(m, &out);
  m->known = m->known && other->known;
}

static inline void add_both(stage_kind kind, weft_iter *it, model *m,
                            const weft_iter *other, const model *om, uint64_t *salt) {
  switch (kind) {
  case BY_CHAIN:
    weft_iter_chain(it, other);
    break;
  case BY_INTERLEAVE:
    weft_iter_interleave(it, other);
    break;
  case BY_ZIP:
    weft_iter_zip(it, other, sizeof(pair), PAIR_RIGHT);
    weft_iter_map(it, sizeof(int64_t), pair_to_value, salt);
    break;
  case BY_ZIP_MAP:
    weft_iter_zip_map(it, other, sizeof(int64_t), join_values, salt);
    break;
  default:
    weft_iter_zip_apply(it, other, &kernel_zip, salt);
    break;
  }
  model_both(kind, m, om, salt);
}

#endif
