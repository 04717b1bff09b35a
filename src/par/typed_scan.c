/* par/typed_scan.c - weft_scan_T: prefix sums of numbers, in one pass over memory.
 *
 * The array is cut into tiles of one length. Threads take tiles from left to right. A
 * thread adds up its tile, which brings it into the cache, waits for what stands before
 * it, hands on the sum of both, and then writes the results while the tile is still in
 * the cache. The wait is short: whoever has the tile before is somewhere in these steps,
 * too, and none of them waits for anything but a tile further left. It is no deadlock
 * either if that thread does not run at the moment; then the system is asked to run it.
 *
 * A thread that is alone does not add up first: the results tell what to hand on. What is
 * added to what is the same in both cases.
 *
 * SPDX-License-Identifier: MIT */
#include "../task/join.h"
#include "kernels.h"
#include "par.h"

#include <weft/join.h>
#include <weft/typed.h>

#define SCAN_TILE(type) ((size_t)SCAN_TILE_BYTES / sizeof(type))
enum { SCAN_TILE_BYTES = 131072, SCAN_SPINS = 1000 };

/* What stands before a tile. */
typedef union scan_sum {
  int32_t i32;
  uint32_t u32;
  int64_t i64;
  uint64_t u64;
  double f32, f64;
} scan_sum;

typedef struct tile_scan {
  void (*run)(struct tile_scan *s, bool alone); /* takes tiles until there are none */
  void *dst;
  const void *src;
  size_t n, tiles;
  bool exclusive;
  const weft_opts *opts;
  const wf_kernels *kernels;
  wf_word x_members;                     /* threads that take tiles */
  wf_word x_next;                        /* the next tile to take */
  _Alignas(WF_CACHE_LINE) wf_u64 x_turn; /* the tile that may take `before` */
  scan_sum before;                       /* what stands before that tile; its thread's */
} tile_scan;

/* The next tile, or SIZE_MAX. */
static size_t take_tile(tile_scan *s) {
  if (wf_par_cancelled(s->opts)) return SIZE_MAX;
  /* Relaxed: it only hands out numbers. */
  size_t tile = wf_word_fetch_add_relaxed(&s->x_next, 1);
  return tile < s->tiles ? tile : SIZE_MAX;
}

static void await_turn(const tile_scan *s, size_t tile) {
  /* Acquire, pairs with the release in end_turn: `before` is up to date. */
  for (unsigned spins = 0; wf_u64_load_acquire(&s->x_turn) != tile; spins++) {
    if (spins < SCAN_SPINS)
      wf_sys_relax();
    else
      wf_sys_thread_yield();
  }
}

static void end_turn(tile_scan *s, size_t tile) {
  /* Release, pairs with the acquire in await_turn: `before` is handed on. */
  wf_u64_store_release(&s->x_turn, tile + 1);
}

static bool is_alone(const tile_scan *s) {
  /* Relaxed: a guess, which only decides what is quicker. */
  return wf_word_load_relaxed(&s->x_members) == 1;
}

/* `plus` adds two carries. */
#define DEFINE_SCAN(name, type, carry, plus)                                             \
  static void scan_tiles_##name(tile_scan *s, bool alone) {                              \
    const wf_kernels *kernels = s->kernels;                                              \
    size_t tile;                                                                         \
    while ((tile = take_tile(s)) != SIZE_MAX) {                                          \
      size_t begin = tile * SCAN_TILE(type), left = s->n - begin;                        \
      size_t count = left < SCAN_TILE(type) ? left : SCAN_TILE(type);                    \
      const type *src = (const type *)s->src + begin;                                    \
      type *dst = (type *)s->dst + begin;                                                \
      carry before, sum;                                                                 \
      if (alone || is_alone(s)) {                                                        \
        await_turn(s, tile);                                                             \
        sum = kernels->scan_##name(dst, src, count, s->before.name, s->exclusive);       \
        s->before.name = plus(s->before.name, sum);                                      \
        end_turn(s, tile);                                                               \
      } else {                                                                           \
        sum = kernels->scan_total_##name(src, count);                                    \
        await_turn(s, tile);                                                             \
        before = s->before.name;                                                         \
        s->before.name = plus(before, sum);                                              \
        end_turn(s, tile);                                                               \
        kernels->scan_##name(dst, src, count, before, s->exclusive);                     \
      }                                                                                  \
    }                                                                                    \
  }                                                                                      \
                                                                                         \
  static void scan_any_##name(const weft_opts *o, type *dst, const type *src, size_t n,  \
                              bool exclusive, const char *call) {                        \
    tile_scan s = {.run = scan_tiles_##name, .dst = dst, .src = src, .n = n};            \
    s.tiles = n / SCAN_TILE(type) + (n % SCAN_TILE(type) != 0);                          \
    s.exclusive = exclusive;                                                             \
    s.before.name = 0;                                                                   \
    scan_run(&s, o, dst == NULL || src == NULL, call);                                   \
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

/* ---- the threads ---- */

typedef struct scan_part {
  tile_scan *scan;
  unsigned members;
} scan_part;

/* Forks off half of the members until one is left. If nobody comes for them, this thread
 * does it all, and then they find nothing to do. */
static void scan_member(void *ctx) {
  const scan_part *part = (const scan_part *)ctx;
  tile_scan *s = part->scan;
  if (part->members > 1) {
    unsigned half = part->members / 2;
    scan_part mine = {s, part->members - half}, other = {s, half};
    weft_join(scan_member, &mine, scan_member, &other);
    return;
  }
  /* Relaxed: see is_alone. */
  wf_word_fetch_add_relaxed(&s->x_members, 1);
  s->run(s, false);
  wf_word_fetch_sub_relaxed(&s->x_members, 1);
}

static void scan_members(void *ctx) {
  tile_scan *s = (tile_scan *)ctx;
  unsigned crew = wf_par_crew(s->opts);
  scan_part all = {s, s->tiles < crew ? (unsigned)s->tiles : crew};
  if (all.members > 1)
    scan_member(&all);
  else
    s->run(s, true);
}

static void scan_run(tile_scan *s, const weft_opts *o, bool is_null, const char *call) {
  weft_opts opts;
  if (WF_UNLIKELY(is_null && s->n > 0)) wf_fatal(call, "an array is NULL");
  wf_par_options(&opts, o, call);
  s->opts = &opts;
  s->kernels = wf_kernels_get();
  if (s->tiles > 1)
    wf_par_run(&opts, scan_members, s);
  else if (s->n > 0)
    s->run(s, true);
}

/* ---- the calls ---- */

#define PLUS(x, y)     ((x) + (y))
#define PLUS_I32(x, y) ((int32_t)((uint32_t)(x) + (uint32_t)(y)))
#define PLUS_I64(x, y) ((int64_t)((uint64_t)(x) + (uint64_t)(y)))

DEFINE_SCAN(i32, int32_t, int32_t, PLUS_I32)
DEFINE_SCAN(u32, uint32_t, uint32_t, PLUS)
DEFINE_SCAN(i64, int64_t, int64_t, PLUS_I64)
DEFINE_SCAN(u64, uint64_t, uint64_t, PLUS)
DEFINE_SCAN(f32, float, double, PLUS)
DEFINE_SCAN(f64, double, double, PLUS)

#undef DEFINE_SCAN
#undef PLUS
#undef PLUS_I32
#undef PLUS_I64
