/* par/fold/numbers_scan.c - weft_scan_f64 and the scans of five other types: prefix sums
 * of numbers, in one pass over memory.
 *
 * The array is cut into tiles of one length. Threads take tiles from left to right. A
 * thread adds up its tile, which brings it into the cache, announces the total, waits
 * until the totals of all tiles before it are known, and then writes the results while
 * the tile is still in the cache. The wait is short, for the other threads are not far
 * behind. If one is, because the system runs something else on its CPU, a thread that
 * waits adds up the missing tile itself and gets the same bits. If the results replace
 * the elements it cannot do that, and lets the system run other threads.
 *
 * A thread that is alone does not add up first: writing the results gives the total. What
 * is added to what is the same in all cases, also where there is no memory for the totals
 * and one thread does everything.
 *
 * Called by programs. The scan lives in the frame of the call; a tile belongs to the
 * member that has taken it, and the x_ words of its state are shared.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/crew.h"
#include "simd.h"

#include <string.h>
#include <weft/numbers.h>

/* A tile stays in a usual second-level cache between both passes over it; fixed, because
 * sums of floats depend on it. A thread that waits spins SCAN_SPINS times before it
 * yields. Both are choices. */
enum { SCAN_TILE_BYTES = 131072, SCAN_SPINS = 64 };
#define SCAN_TILE(type) ((size_t)SCAN_TILE_BYTES / sizeof(type))

/* Sums of all types are kept as 64 bits. */
typedef struct scan_tile {
  wf_u64 x_total;     /* of the tile, if announced; several threads may write the same */
  wf_u64 x_before;    /* the sum of all tiles before, if this tile is <= x_known */
  wf_u32 x_announced; /* 0, then 1: x_total is valid */
} scan_tile;

/* Invariants: x_known <= tiles, and it only grows; all tiles below x_known are announced;
 * x_before is valid for tiles up to x_known. */
typedef struct tile_scan {
  void *dst;
  const void *src;
  size_t n, tiles, tile;    /* elements, tiles, elements of a tile */
  size_t size;              /* of an element */
  bool exclusive, in_place; /* in_place: dst is src */
  const weft_opts *opts;
  const wf_simd *simd;
  uint64_t (*total)(const wf_simd *simd, const void *a, size_t n);
  uint64_t (*scan)(const struct tile_scan *s, size_t tile, uint64_t before);
  uint64_t (*plus)(uint64_t x, uint64_t y);
  scan_tile *state;  /* tiles + 1 of them */
  wf_word x_members; /* threads that take tiles at the moment */
  wf_word x_next;    /* the next tile to take; goes past `tiles` */
  wf_u64 x_known;    /* x_before is valid up to this tile */
} tile_scan;

static size_t tile_count(const tile_scan *s, size_t tile) {
  WF_ASSERT(tile < s->tiles);
  size_t left = s->n - tile * s->tile;
  return left < s->tile ? left : s->tile;
}

/* ---- what threads announce to each other ---- */

/* The next tile, or SIZE_MAX. */
static size_t take_tile(tile_scan *s) {
  if (wf_par_cancelled(s->opts)) return SIZE_MAX;
  /* Relaxed: the word only hands out numbers. */
  size_t tile = wf_word_fetch_add_relaxed(&s->x_next, 1);
  return tile < s->tiles ? tile : SIZE_MAX;
}

static void announce_total(tile_scan *s, size_t tile, uint64_t total) {
  WF_ASSERT(tile < s->tiles);
  /* Relaxed: published by the next line. */
  wf_u64_store_relaxed(&s->state[tile].x_total, total);
  /* Release, pairs with the acquire in next_unknown. */
  wf_u32_store_release(&s->state[tile].x_announced, 1);
}

/* Moves x_known as far as totals are announced. Returns the first tile whose total is
 * not, or the number of tiles: x_before is valid up to there. Several threads may do so
 * at the same time: they write the same. */
static size_t next_unknown(tile_scan *s) {
  /* Acquire, pairs with the CAS below: x_before is there. */
  uint64_t tile = wf_u64_load_acquire(&s->x_known);
  while (tile < s->tiles) {
    scan_tile *t = &s->state[tile];
    /* Acquire, pairs with the release in announce_total. */
    if (wf_u32_load_acquire(&t->x_announced) == 0) break;
    /* Relaxed: ordered by x_announced, x_known and the CAS. */
    uint64_t before = wf_u64_load_relaxed(&t->x_before);
    uint64_t after = s->plus(before, wf_u64_load_relaxed(&t->x_total));
    wf_u64_store_relaxed(&t[1].x_before, after);
    /* Pairs with the acquires above and below.
     * explorer: release suffices; seq_cst costs the same on x86-64. */
    if (wf_u64_cas_seq_cst(&s->x_known, &tile, tile + 1))
      tile++;
    else /* Where another thread is. Acquire again: a CAS that fails orders nothing. */
      tile = wf_u64_load_acquire(&s->x_known);
  }
  WF_ASSERT(tile <= s->tiles);
  WF_ASSERT(tile == 0 || wf_u32_peek(&s->state[tile - 1].x_announced) == 1);
  return (size_t)tile;
}

static uint64_t total_of(const tile_scan *s, size_t tile) {
  const char *src = (const char *)s->src + tile * s->tile * s->size;
  return s->total(s->simd, src, tile_count(s, tile));
}

/* Waits until the sum before the tile is known, and returns it. After `patience`, about
 * as long as it takes to add up a tile, it adds up the missing one itself. */
static uint64_t await_before(tile_scan *s, size_t tile, uint64_t patience) {
  uint64_t start = wf_sys_ticks();
  size_t known;
  for (unsigned spins = 0; (known = next_unknown(s)) < tile; spins++) {
    if (!s->in_place && wf_sys_ticks() - start > patience) {
      announce_total(s, known, total_of(s, known));
      start = wf_sys_ticks();
    } else if (s->in_place && spins >= SCAN_SPINS) {
      wf_sys_thread_yield();
    } else {
      wf_sys_relax();
    }
  }
  WF_ASSERT(wf_u64_peek(&s->x_known) >= tile);
  /* Relaxed: ordered by x_known. */
  return wf_u64_load_relaxed(&s->state[tile].x_before);
}

/* ---- tiles ---- */

static bool is_alone(const tile_scan *s) {
  /* Relaxed: a guess that only decides which way is quicker. */
  return wf_word_load_relaxed(&s->x_members) == 1;
}

static void scan_tiles(tile_scan *s) {
  size_t tile;
  while ((tile = take_tile(s)) != SIZE_MAX) {
    if (is_alone(s) && next_unknown(s) == tile) {
      /* Relaxed: ordered by x_known. */
      uint64_t before = wf_u64_load_relaxed(&s->state[tile].x_before);
      announce_total(s, tile, s->scan(s, tile, before));
    } else {
      uint64_t start = wf_sys_ticks();
      announce_total(s, tile, total_of(s, tile));
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
  WF_ASSERT(wf_word_peek(&s->x_members) >= 1);
  wf_word_fetch_sub_relaxed(&s->x_members, 1);
}

static void scan_members(void *ctx) {
  tile_scan *s = (tile_scan *)ctx;
  unsigned crew = wf_par_at_once(s->opts);
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
  wf_par_start(&opts, o, s->dst == NULL || s->src == NULL, s->n, s->size, call);
  s->opts = &opts;
  s->simd = wf_simd_get();
  s->tiles = s->n / s->tile + (s->n % s->tile != 0);
  s->in_place = s->dst == s->src;
  if (s->tiles > 1)
    wf_par_run_over(&opts, s->n, scan_members, s);
  else
    scan_tiles_alone(s);
}

/* ---- the calls ---- */

/* Makes weft_scan_<name> and weft_scan_exclusive_<name>, each also as _with. `carry` is
 * the type of sums, `natural` the type in which they are added without overflow errors.
 * The sum of nothing is 64 bits of 0 for each type. */
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
  WF_PLAIN(weft_scan_##name, (type * dst, const type *src, size_t n), dst, src, n)       \
  void weft_scan_exclusive_##name##_with(const weft_opts *o, type *dst, const type *src, \
                                         size_t n) {                                     \
    scan_any_##name(o, dst, src, n, true, "weft_scan_exclusive_" #name);                 \
  }                                                                                      \
  WF_PLAIN(weft_scan_exclusive_##name, (type * dst, const type *src, size_t n), dst,     \
           src, n)

DEFINE_SCAN(i32, int32_t, int32_t, uint32_t)
DEFINE_SCAN(u32, uint32_t, uint32_t, uint32_t)
DEFINE_SCAN(i64, int64_t, int64_t, uint64_t)
DEFINE_SCAN(u64, uint64_t, uint64_t, uint64_t)
DEFINE_SCAN(f32, float, double, double)
DEFINE_SCAN(f64, double, double, double)
#undef DEFINE_SCAN
