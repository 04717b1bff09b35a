/* The tiles of a scan (par/fold/numbers_scan.c) under the explorer: members take tiles,
 * announce their totals and look back, two and three at once, in place and not.
 *
 * The source file is part of this program, so that tiles can be one element long: those
 * of a call are far too long to be explored.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include "par/fold/numbers_scan.c"

#include <stdlib.h>

enum { MOST_TILES = 4 };

/* On the heap, where plain accesses are checked for races. */
typedef struct world {
  tile_scan scan;
  weft_opts opts;
  scan_tile state[MOST_TILES + 1];
  uint64_t src[MOST_TILES], dst[MOST_TILES];
} world;

static world *w;

/* The scans of the library are not compiled here. */
const wf_simd *wf_simd_get(void) {
  return NULL;
}

static uint64_t total_of_tile(const wf_simd *simd, const void *a, size_t n) {
  (void)simd;
  XP_CHECK(n == 1);
  return *(const uint64_t *)a;
}

static uint64_t scan_one_tile(const tile_scan *s, size_t tile, uint64_t before) {
  uint64_t *dst = (uint64_t *)s->dst;
  const uint64_t *src = (const uint64_t *)s->src;
  uint64_t element = src[tile];
  dst[tile] = before + element;
  return element;
}

static uint64_t add_up(uint64_t x, uint64_t y) {
  return x + y;
}

static void make_scan(size_t tiles, bool in_place) {
  w = (world *)calloc(1, sizeof *w);
  XP_CHECK(w != NULL && tiles <= MOST_TILES);
  for (size_t i = 0; i < tiles; i++) w->src[i] = (uint64_t)1 << (4 * i);
  w->scan = (tile_scan){.src = w->src,
                        .dst = in_place ? w->src : w->dst,
                        .n = tiles,
                        .tiles = tiles,
                        .tile = 1,
                        .size = sizeof(uint64_t),
                        .in_place = in_place,
                        .opts = &w->opts,
                        .total = total_of_tile,
                        .scan = scan_one_tile,
                        .plus = add_up,
                        .state = w->state};
}

static void check_scan(void) {
  const uint64_t *dst = (const uint64_t *)w->scan.dst;
  uint64_t sum = 0;
  for (size_t i = 0; i < w->scan.n; i++) {
    sum += (uint64_t)1 << (4 * i);
    XP_CHECK(dst[i] == sum);
  }
  XP_CHECK(wf_word_peek(&w->scan.x_members) == 0);
  free(w);
}

static void member(void) {
  scan_member(&w->scan);
}

static void two_tiles(void) {
  make_scan(2, false);
}
static void three_tiles(void) {
  make_scan(3, false);
}
static void four_tiles(void) {
  make_scan(4, false);
}
static void three_tiles_in_place(void) {
  make_scan(3, true);
}

/* A member that waits adds up the tile that is missing after two looks at the clock. */
SCENARIO(scan_two_members, .setup = two_tiles, .threads = {member, member},
         .check = check_scan, .bound = 3, .quick_bound = 2)
SCENARIO(scan_more_tiles, .setup = four_tiles, .threads = {member, member},
         .check = check_scan, .bound = 2, .quick_bound = 1)
SCENARIO(scan_three_members, .setup = three_tiles, .threads = {member, member, member},
         .check = check_scan, .bound = 2, .quick_bound = 1)
/* The elements are replaced: a member waits instead, and nobody reads what another one
 * writes. */
SCENARIO(scan_in_place, .setup = three_tiles_in_place, .threads = {member, member},
         .check = check_scan, .bound = 3, .quick_bound = 2)
SCENARIO(scan_in_place_by_three, .setup = three_tiles_in_place,
         .threads = {member, member, member}, .check = check_scan, .bound = 2,
         .quick_bound = 1)

/* ---- totals alone ---- */

/* Totals come in any order while others move the known sum on: what they find is the sum
 * of all tiles in front, whoever has added it up. */
static void announce_and_look(size_t tile) {
  announce_total(&w->scan, tile, w->src[tile]);
  size_t known = next_unknown(&w->scan);
  uint64_t before = wf_u64_load_relaxed(&w->state[known].x_before), sum = 0;
  for (size_t i = 0; i < known; i++) sum += (uint64_t)1 << (4 * i);
  XP_CHECK(before == sum);
}
static void announce_0(void) {
  announce_and_look(0);
}
static void announce_1(void) {
  announce_and_look(1);
}
static void announce_2(void) {
  announce_and_look(2);
}
static void all_known(void) {
  XP_CHECK(next_unknown(&w->scan) == 3);
  XP_CHECK(wf_u64_peek(&w->state[3].x_before) == 0x111);
  free(w);
}
SCENARIO(scan_totals, .setup = three_tiles,
         .threads = {announce_0, announce_1, announce_2}, .check = all_known, .bound = 3,
         .quick_bound = 2)
