/* par/fold/numbers_scan.c - weft_scan_T: prefix sums of numbers, in one pass over memory.
 *
 * The array is cut into tiles of one length. Threads take tiles from left to right. A
 * thread adds up its tile, which brings it into the cache, tells the total, waits until
 * the totals of all tiles before it are known, and then writes the results while the tile
 * is still in the cache. The wait is short, for the others are not far behind. If one is,
 * because the system runs something else in its place, a thread that waits adds up the
 * missing tile itself; it comes to the same bits. Only if the results replace the
 * elements it cannot, and lets the system run others.
 *
 * A thread that is alone does not add up first: the results tell the total. What is added
 * to what is the same in all cases, also where there is no memory for the totals, and one
 * thread does it all.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/checks.h"
#include "../base/crew.h"
#include "../base/scratch.h"
#include "simd.h"

#include <string.h>
#include <weft/numbers.h>

enum { SCAN_TILE_BYTES = 131072, SCAN_SPINS = 64 };
#define SCAN_TILE(type) ((size_t)SCAN_TILE_BYTES / sizeof(type))

/* Carries of all types are kept as 64 bits. */
typedef struct scan_tile {
  wf_u64 x_total;  /* of the tile; who knows it may write it, all write the same */
  wf_u64 x_before; /* what stands before the tile */
  wf_u32 x_told;   /* 1: x_total is known */
} scan_tile;

typedef struct tile_scan {
  void *dst;
  const void *src;
  size_t n, tiles, tile; /* elements, tiles, elements of a tile */
  size_t size;           /* of an element */
  bool exclusive, in_place;
  const weft_opts *opts;
  const wf_simd *simd;
  uint64_t (*total)(const wf_simd *simd, const void *a, size_t n);
  uint64_t (*scan)(const struct tile_scan *s, size_t tile, uint64_t before);
  uint64_t (*plus)(uint64_t x, uint64_t y);
  scan_tile *state;
  wf_word x_members; /* threads that take tiles */
  wf_word x_next;    /* the next tile to take */
  wf_u64 x_known;    /* x_before is known up to this tile */
} tile_scan;

static size_t tile_count(const tile_scan *s, size_t tile) {
  size_t left = s->n - tile * s->tile;
  return left < s->tile ? left : s->tile;
}

/* ---- what threads tell each other ---- */

/* The next tile, or SIZE_MAX. */
static size_t take_tile(tile_scan *s) {
  if (wf_par_cancelled(s->opts)) return SIZE_MAX;
  /* Relaxed: it only hands out numbers. */
  size_t tile = wf_word_fetch_add_relaxed(&s->x_next, 1);
  return tile < s->tiles ? tile : SIZE_MAX;
}

static void tell_total(tile_scan *s, size_t tile, uint64_t total) {
  /* Relaxed: published by the next line. */
  wf_u64_store_relaxed(&s->state[tile].x_total, total);
  /* Release, pairs with the acquire in next_unknown. */
  wf_u32_store_release(&s->state[tile].x_told, 1);
}

/* Goes as far as totals are told, and returns the first tile whose total is not, or the
 * number of tiles: x_before is known up to there. Several threads may do so at a time:
 * they write the same. */
static size_t next_unknown(tile_scan *s) {
  /* Acquire, pairs with the CAS below: x_before is there. */
  uint64_t tile = wf_u64_load_acquire(&s->x_known);
  while (tile < s->tiles) {
    scan_tile *t = &s->state[tile];
    /* Acquire, pairs with the release in tell_total. */
    if (wf_u32_load_acquire(&t->x_told) == 0) break;
    /* Relaxed: ordered by x_told, x_known and the CAS. */
    uint64_t before = wf_u64_load_relaxed(&t->x_before);
    uint64_t after = s->plus(before, wf_u64_load_relaxed(&t->x_total));
    wf_u64_store_relaxed(&t[1].x_before, after);
    /* Pairs with the acquire above. If it fails, `tile` is where another one is. */
    if (wf_u64_cas_seq_cst(&s->x_known, &tile, tile + 1)) tile++;
  }
  return (size_t)tile;
}

static uint64_t total_of(const tile_scan *s, size_t tile) {
  const char *src = (const char *)s->src + tile * s->tile * s->size;
  return s->total(s->simd, src, tile_count(s, tile));
}

/* Waits until what stands before the tile is known, about as long as it takes to add up a
 * tile; then adds up the one that is missing. */
static uint64_t await_before(tile_scan *s, size_t tile, uint64_t patience) {
  uint64_t start = wf_sys_ticks();
  size_t known;
  for (unsigned spins = 0; (known = next_unknown(s)) < tile; spins++) {
    if (!s->in_place && wf_sys_ticks() - start > patience) {
      tell_total(s, known, total_of(s, known));
      start = wf_sys_ticks();
    } else if (s->in_place && spins >= SCAN_SPINS) {
      wf_sys_thread_yield();
    } else {
      wf_sys_relax();
    }
  }
  /* Relaxed: ordered by x_known. */
  return wf_u64_load_relaxed(&s->state[tile].x_before);
}

/* ---- tiles ---- */

static bool is_alone(const tile_scan *s) {
  /* Relaxed: a guess, which only decides what is quicker. */
  return wf_word_load_relaxed(&s->x_members) == 1;
}

static void scan_tiles(tile_scan *s) {
  size_t tile;
  while ((tile = take_tile(s)) != SIZE_MAX) {
    if (is_alone(s) && next_unknown(s) == tile) {
      /* Relaxed: ordered by x_known. */
      uint64_t before = wf_u64_load_relaxed(&s->state[tile].x_before);
      tell_total(s, tile, s->scan(s, tile, before));
    } else {
      uint64_t start = wf_sys_ticks();
      tell_total(s, tile, total_of(s, tile));
      s->scan(s, tile, await_before(s, tile, wf_sys_ticks() - start));
    }
  }
}

static void scan_tiles_alone(tile_scan *s) {
  uint64_t before = 0;
  for (size_t tile = 0; tile < s->tiles && !wf_par_cancelled(s->opts); tile++)
    before = s->plus(before, s->scan(s, tile, before));
}

/* ---- threads ---- */

/* Members that nobody has come for find nothing to do in the end. */
static void scan_member(void *ctx) {
  tile_scan *s = (tile_scan *)ctx;
  /* Relaxed: see is_alone. */
  wf_word_fetch_add_relaxed(&s->x_members, 1);
  scan_tiles(s);
  wf_word_fetch_sub_relaxed(&s->x_members, 1);
}

static void scan_members(void *ctx) {
  tile_scan *s = (tile_scan *)ctx;
  unsigned crew = wf_par_crew(s->opts);
  size_t bytes = (s->tiles + 1) * sizeof *s->state;
  wf_scratch scratch = {NULL, NULL, 0};
  if (s->tiles < crew) crew = (unsigned)s->tiles;
  if (crew > 1) scratch = wf_scratch_get(bytes);
  s->state = (scan_tile *)scratch.memory;
  if (s->state == NULL) {
    scan_tiles_alone(s);
    return;
  }
  memset(s->state, 0, bytes);
  wf_members_run(crew, scan_member, s);
  wf_scratch_put(scratch);
}

static void scan_run(tile_scan *s, const weft_opts *o, const char *call) {
  weft_opts opts;
  wf_par_start(&opts, o, s->dst == NULL || s->src == NULL, s->n, call);
  s->opts = &opts;
  s->simd = wf_simd_get();
  s->tiles = s->n / s->tile + (s->n % s->tile != 0);
  s->in_place = s->dst == s->src;
  if (s->tiles > 1)
    wf_par_run(&opts, scan_members, s);
  else
    scan_tiles_alone(s);
}

/* ---- the calls ---- */

/* 0 is 64 bits of 0 for each of them. */
#define DEFINE_SCAN(name, type, carry, natural)                                          \
  static uint64_t scan_keep_##name(carry value) {                                        \
    uint64_t kept = 0;                                                                   \
    memcpy(&kept, &value, sizeof value);                                                 \
    return kept;                                                                         \
  }                                                                                      \
                                                                                         \
  static carry scan_kept_##name(uint64_t kept) {                                         \
    carry value;                                                                         \
    memcpy(&value, &kept, sizeof value);                                                 \
    return value;                                                                        \
  }                                                                                      \
                                                                                         \
  static uint64_t scan_plus_##name(uint64_t x, uint64_t y) {                             \
    natural sum = (natural)scan_kept_##name(x) + (natural)scan_kept_##name(y);           \
    return scan_keep_##name((carry)sum);                                                 \
  }                                                                                      \
                                                                                         \
  static uint64_t scan_total_##name(const wf_simd *simd, const void *a, size_t n) {      \
    return scan_keep_##name(simd->scan_total_##name((const type *)a, n));                \
  }                                                                                      \
                                                                                         \
  static uint64_t scan_tile_##name(const tile_scan *s, size_t tile, uint64_t before) {   \
    size_t begin = tile * s->tile;                                                       \
    return scan_keep_##name(s->simd->scan_##name(                                        \
        (type *)s->dst + begin, (const type *)s->src + begin, tile_count(s, tile),       \
        scan_kept_##name(before), s->exclusive));                                        \
  }                                                                                      \
                                                                                         \
  static void scan_any_##name(const weft_opts *o, type *dst, const type *src, size_t n,  \
                              bool exclusive, const char *call) {                        \
    tile_scan s = {.dst = dst, .src = src, .n = n, .exclusive = exclusive};              \
    s.tile = SCAN_TILE(type);                                                            \
    s.size = sizeof(type);                                                               \
    s.total = scan_total_##name;                                                         \
    s.scan = scan_tile_##name;                                                           \
    s.plus = scan_plus_##name;                                                           \
    scan_run(&s, o, call);                                                               \
  }                                                                                      \
                                                                                         \
  void weft_scan_##name##_with(const weft_opts *o, type *dst, const type *src,           \
                               size_t n) {                                               \
    scan_any_##name(o, dst, src, n, false, "weft_scan_" #name);                          \
  }                                                                                      \
  void weft_scan_##name(type *dst, const type *src, size_t n) {                          \
    scan_any_##name(NULL, dst, src, n, false, "weft_scan_" #name);                       \
  }                                                                                      \
  void weft_scan_exclusive_##name##_with(const weft_opts *o, type *dst, const type *src, \
                                         size_t n) {                                     \
    scan_any_##name(o, dst, src, n, true, "weft_scan_exclusive_" #name);                 \
  }                                                                                      \
  void weft_scan_exclusive_##name(type *dst, const type *src, size_t n) {                \
    scan_any_##name(NULL, dst, src, n, true, "weft_scan_exclusive_" #name);              \
  }

DEFINE_SCAN(i32, int32_t, int32_t, uint32_t)
DEFINE_SCAN(u32, uint32_t, uint32_t, uint32_t)
DEFINE_SCAN(i64, int64_t, int64_t, uint64_t)
DEFINE_SCAN(u64, uint64_t, uint64_t, uint64_t)
DEFINE_SCAN(f32, float, double, double)
DEFINE_SCAN(f64, double, double, double)
#undef DEFINE_SCAN
