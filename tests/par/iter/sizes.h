/* par/iter/sizes.h - iterators over elements of any size: every source with every stage
 * and every sink, against a plain array of bytes (the model).
 *
 * An element is made of a number: its bytes follow from it. Functions look at all bytes
 * of what they get, so that one in the wrong place is noticed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PAR_ITER_SIZES_H
#define TESTS_PAR_ITER_SIZES_H

#include "par/support.h"

#include <stdio.h>

static const size_t SIZED_SIZES[] = {1, 3, 8, 24, 100};
enum { SIZED_COUNT = sizeof SIZED_SIZES / sizeof SIZED_SIZES[0], SIZED_MOST = 256 };

/* ---- elements ---- */

static inline void sized_make(void *out, uint64_t number, size_t size) {
  uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
  for (size_t j = 0; j < size; j++) {
    z ^= z >> 29;
    z *= 0xbf58476d1ce4e5b9u;
    ((unsigned char *)out)[j] = (unsigned char)(z >> 56);
  }
}

static inline uint64_t sized_hash(const void *elem, size_t size) {
  uint64_t hash = 1469598103934665603u;
  for (size_t j = 0; j < size; j++)
    hash = (hash ^ ((const unsigned char *)elem)[j]) * 1099511628211u;
  return hash ^ hash >> 32;
}

/* What functions of stages get: the size of their elements, and of those they make. */
typedef struct sized_ctx {
  size_t in, out;
  atomic_ullong looks;
} sized_ctx;

static inline void sized_map(void *out, const void *in, void *ctx) {
  const sized_ctx *c = ctx;
  sized_make(out, sized_hash(in, c->in), c->out);
}
static inline bool sized_keep(const void *elem, void *ctx) {
  return sized_hash(elem, ((const sized_ctx *)ctx)->in) % 4 != 0;
}
static inline bool sized_go_on(const void *elem, void *ctx) {
  return sized_hash(elem, ((const sized_ctx *)ctx)->in) % 97 != 0;
}
static inline bool sized_filter_map(void *out, const void *in, void *ctx) {
  sized_map(out, in, ctx);
  return sized_keep(in, ctx);
}
static inline size_t sized_number(const void *in, size_t size) {
  return sized_hash(in, size) % 3;
}
static inline void sized_flat_map(const void *in, weft_out *out, void *ctx) {
  const sized_ctx *c = ctx;
  unsigned char made[SIZED_MOST];
  for (size_t k = sized_number(in, c->in); k > 0; k--) {
    sized_make(made, sized_hash(in, c->in) + k, c->out);
    weft_emit(out, made, c->out);
  }
}
static inline void sized_look(const void *elem, void *ctx) {
  sized_ctx *c = ctx;
  atomic_fetch_add_explicit(&c->looks, sized_hash(elem, c->in), memory_order_relaxed);
}
static inline void sized_join(void *out, const void *left, const void *right, void *ctx) {
  const sized_ctx *c = ctx;
  sized_make(out, sized_hash(left, c->in) * 31 + sized_hash(right, c->in), c->out);
}
static inline void sized_of_chunk(void *out, const void *in, void *ctx) {
  const weft_chunk *chunk = in;
  const sized_ctx *c = ctx;
  sized_make(out, sized_hash(chunk->data, chunk->count * c->in), c->out);
}
static inline int sized_compare(const void *a, const void *b, void *ctx) {
  return memcmp(a, b, ((const sized_ctx *)ctx)->in);
}
/* Bytes one by one, without a carry: associative, and 0 changes nothing. */
static inline void sized_add(void *acc, const void *elem, void *ctx) {
  for (size_t j = 0; j < ((const sized_ctx *)ctx)->in; j++)
    ((unsigned char *)acc)[j] =
        (unsigned char)(((unsigned char *)acc)[j] + ((const unsigned char *)elem)[j]);
}

/* ---- models ---- */

typedef struct sized {
  unsigned char *a;
  size_t n, size;
  bool known; /* the iterator knows its length */
  bool pulls;
} sized;

static inline sized sized_of(size_t n, size_t size) {
  return (sized){array_of(n, size), n, size, true, false};
}
static inline unsigned char *sized_at(const sized *m, size_t i) {
  return m->a + i * m->size;
}
/* Replaces the model by one of other elements, made by the caller. */
static inline void sized_take(sized *m, sized made) {
  made.known = m->known;
  made.pulls = m->pulls;
  free(m->a);
  *m = made;
}

/* ---- sources ---- */

typedef enum sized_source {
  SIZED_SLICE,
  SIZED_REFS,
  SIZED_RANGE,
  SIZED_REPEAT,
  SIZED_FROM,
  SIZED_CHUNKS,
  SIZED_SPLIT,
  SIZED_LINES,
  SIZED_PULL,
  SIZED_SOURCES
} sized_source;

/* A piece is a range of numbers; leaves have one. */
typedef struct sized_range {
  uint32_t begin, end;
} sized_range;

typedef struct sized_data {
  sized array;
  sized_range whole;
  sized_ctx ctx; /* of functions of the source */
  size_t pulled;
  char *text;
} sized_data;

static inline void sized_deref(void *out, const void *in, void *ctx) {
  void *elem;
  memcpy(&elem, in, sizeof elem);
  memcpy(out, elem, ((const sized_data *)ctx)->array.size);
}
static inline void sized_of_number(void *out, const void *in, void *ctx) {
  int64_t x;
  memcpy(&x, in, sizeof x);
  sized_make(out, (uint64_t)x, ((const sized_data *)ctx)->array.size);
}
static inline void sized_from(void *out, size_t first, size_t n, void *ctx) {
  const sized *m = &((const sized_data *)ctx)->array;
  memcpy(out, sized_at(m, first), n * m->size);
}
static inline void sized_first_of_chunk(void *out, const void *in, void *ctx) {
  memcpy(out, ((const weft_chunk *)in)->data, ((const sized_data *)ctx)->array.size);
}
static inline bool sized_halve(void *piece, void *right, void *ctx) {
  sized_range *p = piece, *r = right;
  (void)ctx;
  if (p->end - p->begin <= 1) return false;
  r->end = p->end;
  r->begin = p->end = p->begin + (p->end - p->begin) / 2;
  return true;
}
static inline void sized_of_piece(void *out, const void *in, void *ctx) {
  sized_range p;
  memcpy(&p, in, sizeof p);
  sized_make(out, p.begin, ((const sized_data *)ctx)->array.size);
}
static inline void sized_of_line(void *out, const void *in, void *ctx) {
  const weft_line *line = in;
  sized_make(out, line->length, ((const sized_data *)ctx)->array.size);
}
static inline size_t sized_pull(void *out, size_t room, void *ctx) {
  sized_data *d = ctx;
  size_t left = d->array.n - d->pulled, n = room < 333 ? room : 333;
  if (n > left) n = left;
  memcpy(out, sized_at(&d->array, d->pulled), n * d->array.size);
  d->pulled += n;
  return n;
}

static inline weft_iter sized_lines(sized_data *d, sized *m, size_t n) {
  size_t at = 0;
  d->text = array_of(n, 8);
  for (size_t i = 0; i < n; i++) {
    size_t length = i * 7 % 6;
    memset(d->text + at, 'x', length);
    d->text[at + length] = '\n';
    at += length + 1;
    sized_make(sized_at(m, i), length, m->size);
  }
  m->known = false;
  weft_iter it = weft_iter_lines(d->text, at);
  weft_iter_map(&it, m->size, sized_of_line, d);
  return it;
}

/* The source and its model, which is a copy of the array, or something else of the same
 * length. */
static inline weft_iter sized_build(sized_source kind, sized_data *d, sized *m) {
  size_t n = d->array.n, size = d->array.size;
  weft_iter it;
  *m = sized_of(n, size);
  memcpy(m->a, d->array.a, n * size);
  switch (kind) {
  case SIZED_REFS:
    it = weft_iter_refs(d->array.a, n, size);
    weft_iter_map(&it, size, sized_deref, d);
    return it;
  case SIZED_RANGE:
    it = weft_iter_range(0, (int64_t)n);
    weft_iter_map(&it, size, sized_of_number, d);
    return it;
  case SIZED_REPEAT:
    for (size_t i = 1; i < n; i++) memcpy(sized_at(m, i), m->a, size);
    return weft_iter_repeat(d->array.a, n, size);
  case SIZED_FROM:
    return weft_iter_from(n, size, sized_from, d);
  case SIZED_CHUNKS:
    it = weft_iter_chunks(d->array.a, n, size, 1);
    weft_iter_map(&it, size, sized_first_of_chunk, d);
    return it;
  case SIZED_SPLIT:
    d->whole = (sized_range){0, (uint32_t)n};
    it = weft_iter_split(&d->whole, sizeof d->whole, sized_halve, NULL);
    weft_iter_map(&it, size, sized_of_piece, d);
    m->known = false;
    return it;
  case SIZED_LINES:
    return sized_lines(d, m, n);
  case SIZED_PULL:
    m->known = false;
    m->pulls = true;
    return weft_iter_pull(size, sized_pull, d);
  default:
    return weft_iter_slice(d->array.a, n, size);
  }
}

/* ---- stages ---- */

typedef enum sized_stage {
  SIZED_NONE,
  SIZED_MAP,
  SIZED_FILTER,
  SIZED_FILTER_MAP,
  SIZED_FLAT_MAP,
  SIZED_INSPECT,
  SIZED_TAKE_WHILE,
  SIZED_CHUNK,
  /* From here on the length must be known, but for a chain. */
  SIZED_STEP,
  SIZED_SKIP,
  SIZED_TAKE,
  SIZED_REVERSE,
  SIZED_ENUMERATE,
  SIZED_CHAIN,
  SIZED_ZIP_MAP,
  SIZED_INTERLEAVE,
  SIZED_STAGES
} sized_stage;

static inline bool sized_fits(sized_stage stage, const sized *m) {
  if (stage == SIZED_CHUNK) return m->known;
  if (stage == SIZED_CHAIN) return !m->pulls;
  return stage < SIZED_STEP || m->known;
}

/* Elements of the model that a predicate or a map makes of it, one by one. */
static inline void model_each(sized *m, sized_stage stage, sized_ctx *c) {
  sized made = sized_of(2 * m->n, c->out);
  made.n = 0;
  for (size_t i = 0; i < m->n; i++) {
    const void *x = sized_at(m, i);
    if (stage == SIZED_TAKE_WHILE && !sized_go_on(x, c)) break;
    if ((stage == SIZED_FILTER || stage == SIZED_FILTER_MAP) && !sized_keep(x, c))
      continue;
    size_t copies = stage == SIZED_FLAT_MAP ? sized_number(x, c->in) : 1;
    for (size_t k = copies; k > 0; k--, made.n++) {
      unsigned char *to = sized_at(&made, made.n);
      if (stage == SIZED_FLAT_MAP)
        sized_make(to, sized_hash(x, c->in) + k, c->out);
      else if (stage == SIZED_MAP || stage == SIZED_FILTER_MAP)
        sized_map(to, x, c);
      else
        memcpy(to, x, c->in);
    }
  }
  sized_take(m, made);
  if (stage != SIZED_MAP && stage != SIZED_INSPECT) m->known = false;
}

static inline void model_chunks(sized *m, const sized_ctx *c, size_t k) {
  sized made = sized_of((m->n + k - 1) / k, c->out);
  for (size_t i = 0; i < made.n; i++) {
    size_t count = m->n - i * k < k ? m->n - i * k : k;
    sized_make(sized_at(&made, i), sized_hash(sized_at(m, i * k), count * m->size),
               c->out);
  }
  sized_take(m, made);
}

/* Elements first, first + step, ... */
static inline void model_pick(sized *m, size_t first, size_t count, ptrdiff_t step) {
  sized made = sized_of(count, m->size);
  for (size_t i = 0; i < count; i++)
    memcpy(sized_at(&made, i), sized_at(m, first + (size_t)((ptrdiff_t)i * step)),
           m->size);
  sized_take(m, made);
}

static inline void model_enumerate(sized *m) {
  sized made = sized_of(m->n, sizeof(size_t) + m->size);
  for (size_t i = 0; i < m->n; i++) {
    memcpy(sized_at(&made, i), &i, sizeof i);
    memcpy(sized_at(&made, i) + sizeof i, sized_at(m, i), m->size);
  }
  sized_take(m, made);
}

/* With the sequence of its own array on the other side. */
static inline void model_both(sized *m, sized_stage stage, const sized *other,
                              sized_ctx *c) {
  sized made = sized_of(stage == SIZED_ZIP_MAP ? m->n : 2 * m->n, c->out);
  for (size_t i = 0; i < m->n; i++) {
    const void *x = sized_at(m, i), *y = sized_at(other, i);
    if (stage == SIZED_ZIP_MAP) {
      sized_join(sized_at(&made, i), x, y, c);
    } else {
      bool turns = stage == SIZED_INTERLEAVE;
      memcpy(sized_at(&made, turns ? 2 * i : i), x, m->size);
      memcpy(sized_at(&made, turns ? 2 * i + 1 : m->n + i), y, m->size);
    }
  }
  sized_take(m, made);
}

static inline void sized_add_both(sized_stage stage, weft_iter *it, sized *m,
                                  const sized_data *d, sized_ctx *c) {
  weft_iter other = weft_iter_slice(d->array.a, d->array.n, d->array.size);
  if (stage == SIZED_ZIP_MAP)
    weft_iter_zip_map(it, &other, c->out, sized_join, c);
  else if (stage == SIZED_CHAIN)
    weft_iter_chain(it, &other);
  else
    weft_iter_interleave(it, &other);
  if (stage != SIZED_ZIP_MAP) c->out = c->in;
  model_both(m, stage, &d->array, c);
}

/* Adds a stage to both. Elements that it makes have the size c->out. */
static inline void sized_add_stage(sized_stage stage, weft_iter *it, sized *m,
                                   const sized_data *d, sized_ctx *c) {
  enum { CHUNK = 5, STEP = 3, SKIP = 10 };
  size_t most = m->n < SKIP ? m->n : SKIP;
  switch (stage) {
  case SIZED_NONE:
  case SIZED_STAGES:
    return;
  case SIZED_CHUNK:
    weft_iter_chunk(it, CHUNK);
    weft_iter_map(it, c->out, sized_of_chunk, c);
    model_chunks(m, c, CHUNK);
    return;
  case SIZED_STEP:
    weft_iter_step(it, STEP);
    model_pick(m, 0, (m->n + STEP - 1) / STEP, STEP);
    return;
  case SIZED_SKIP:
    weft_iter_skip(it, SKIP);
    model_pick(m, most, m->n - most, 1);
    return;
  case SIZED_TAKE:
    weft_iter_take(it, SKIP);
    model_pick(m, 0, most, 1);
    return;
  case SIZED_REVERSE:
    weft_iter_reverse(it);
    model_pick(m, m->n - (m->n > 0), m->n, -1);
    return;
  case SIZED_ENUMERATE:
    weft_iter_enumerate(it, sizeof(size_t) + m->size, sizeof(size_t));
    model_enumerate(m);
    return;
  case SIZED_CHAIN:
  case SIZED_ZIP_MAP:
  case SIZED_INTERLEAVE:
    sized_add_both(stage, it, m, d, c);
    return;
  case SIZED_MAP:
    weft_iter_map(it, c->out, sized_map, c);
    break;
  case SIZED_FILTER_MAP:
    weft_iter_filter_map(it, c->out, sized_filter_map, c);
    break;
  case SIZED_FLAT_MAP:
    weft_iter_flat_map(it, c->out, sized_flat_map, c);
    break;
  default:
    c->out = c->in;
    if (stage == SIZED_FILTER) weft_iter_filter(it, sized_keep, c);
    if (stage == SIZED_TAKE_WHILE) weft_iter_take_while(it, sized_go_on, c);
    if (stage == SIZED_INSPECT) weft_iter_inspect(it, sized_look, c);
    break;
  }
  model_each(m, stage, c);
}

#endif
