/* misuse/values.h - the right values of tests/misuse/values.txt: arrays, functions that
 * do nothing, and objects of the library, each made when it is asked for.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MISUSE_VALUES_H
#define TESTS_MISUSE_VALUES_H

#include "harness/harness.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* No program uses all of them. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
/* gcc sees that a size cannot be right where the test passes a wrong one on purpose. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

/* So many elements of any size up to 8 bytes; and so many that their bytes, 4 or 8 each,
 * are few when the number has wrapped around. */
#define N     ((size_t)4)
#define WRAPS (SIZE_MAX / 4 + 2)

static int numbers[16] = {3, 1, 2, 4}, others[16], zeros[16];
static void *const wide = (uint64_t[16]){0}, *const wider = (uint64_t[16]){0};
static size_t indices[16] = {0, 1, 2, 3};

/* ---- functions ---- */

static void nothing(void *ctx) {
  (void)ctx;
}
static bool is_seven(const void *elem, void *ctx) {
  (void)ctx;
  return *(const int *)elem == 7;
}
static int compare(const void *a, const void *b, void *ctx) {
  int x = *(const int *)a, y = *(const int *)b;
  (void)ctx;
  return (x > y) - (x < y);
}
static void add(void *acc, const void *x, void *ctx) {
  (void)ctx;
  *(int *)acc += *(const int *)x;
}
static size_t key_of(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
  return 3;
}
static void range_nothing(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}
static int try_nothing(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
  return 0;
}
static void map_nothing(void *out, const void *in, size_t index, void *ctx) {
  (void)out, (void)in, (void)index, (void)ctx;
}
static int try_map_nothing(void *out, const void *in, size_t index, void *ctx) {
  (void)out, (void)in, (void)index, (void)ctx;
  return 0;
}
static void each_nothing(void *elem, size_t index, void *ctx) {
  (void)elem, (void)index, (void)ctx;
}
static int try_each_nothing(void *elem, size_t index, void *ctx) {
  (void)elem, (void)index, (void)ctx;
  return 0;
}
static void chunk_nothing(void *first, size_t count, size_t index, void *ctx) {
  (void)first, (void)count, (void)index, (void)ctx;
}
static void step_nothing(size_t i, void *ctx) {
  (void)i, (void)ctx;
}
static void tile_nothing(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  (void)r0, (void)r1, (void)c0, (void)c1, (void)ctx;
}
static size_t choose_nothing(void *ctx) {
  (void)ctx;
  return WEFT_CHOOSE_NONE;
}
static void slot_nothing(void *slot, void *ctx) {
  (void)slot, (void)ctx;
}
static void broadcast_nothing(unsigned index, unsigned count, void *ctx) {
  (void)index, (void)count, (void)ctx;
}

/* ---- functions of iterators ---- */

static void iter_map_nothing(void *out, const void *in, void *ctx) {
  (void)in, (void)ctx;
  *(int *)out = 0;
}
static bool iter_filter_map_nothing(void *out, const void *in, void *ctx) {
  (void)out, (void)in, (void)ctx;
  return false;
}
static void iter_flat_map_nothing(const void *in, weft_out *out, void *ctx) {
  (void)in, (void)out, (void)ctx;
}
static void iter_zip_nothing(void *out, const void *left, const void *right, void *ctx) {
  (void)left, (void)right, (void)ctx;
  *(int *)out = 0;
}
static void look_at_nothing(const void *elem, void *ctx) {
  (void)elem, (void)ctx;
}
static void iter_from_nothing(void *out, size_t first, size_t n, void *ctx) {
  (void)first, (void)ctx;
  memset(out, 0, n);
}
static bool split_nothing(void *piece, void *right, void *ctx) {
  (void)piece, (void)right, (void)ctx;
  return false;
}
static void batch_nothing(const void *elems, size_t n, void *ctx) {
  (void)elems, (void)n, (void)ctx;
}
static size_t pull_nothing(void *out, size_t room, void *ctx) {
  (void)out, (void)room, (void)ctx;
  return 0;
}

/* ---- structs ---- */

static void set_zero(void *acc, void *ctx) {
  (void)ctx;
  *(int *)acc = 0;
}
static void fold_nothing(void *acc, size_t begin, size_t end, void *ctx) {
  (void)acc, (void)begin, (void)end, (void)ctx;
}
static void merge_nothing(void *acc, const void *right, void *ctx) {
  (void)acc, (void)right, (void)ctx;
}
static int try_fold_nothing(void *acc, size_t begin, size_t end, void *ctx) {
  (void)acc, (void)begin, (void)end, (void)ctx;
  return 0;
}
static int try_merge_nothing(void *acc, const void *right, void *ctx) {
  (void)acc, (void)right, (void)ctx;
  return 0;
}
static void folder_nothing(void *acc, const void *elems, size_t n, void *ctx) {
  (void)acc, (void)elems, (void)n, (void)ctx;
}
static int one_item(void *item, size_t number, void *ctx) {
  (void)item, (void)ctx;
  return number == 0 ? 0 : WEFT_END;
}
static int no_item(void *item, size_t number, void *ctx) {
  (void)item, (void)number, (void)ctx;
  return 0;
}

static const weft_reducer reducer = {4, set_zero, fold_nothing, merge_nothing};
static const weft_try_reducer try_reducer = {4, set_zero, try_fold_nothing,
                                             try_merge_nothing};
static const weft_folder folder = {4, 4, set_zero, folder_nothing, merge_nothing};
static const weft_stage stages[] = {{WEFT_STAGE_SERIAL, one_item, NULL},
                                    {WEFT_STAGE_SERIAL, no_item, NULL}};
static const weft_call calls[] = {
    {nothing, NULL}, {nothing, NULL}, {nothing, NULL}, {nothing, NULL}};

WEFT_KERNEL_MAP(kernel, int, int, 2 * x)
WEFT_KERNEL_ZIP(zip_kernel, int, int, int, x + y)

static weft_opts plain_opts = WEFT_OPTS_INIT;
static weft_opts unknown_split = WEFT_OPTS_INIT, no_struct_size = WEFT_OPTS_INIT;
static weft_opts unknown_lane = WEFT_OPTS_INIT, unknown_order = WEFT_OPTS_INIT;
static weft_progress_opts plain_progress = WEFT_PROGRESS_OPTS_INIT;
static weft_progress_opts short_progress = WEFT_PROGRESS_OPTS_INIT;
static weft_config plain_config = WEFT_CONFIG_INIT;
static weft_config short_config = WEFT_CONFIG_INIT, crowded_config = WEFT_CONFIG_INIT;
static const weft_observer observer = WEFT_OBSERVER_INIT;
static weft_stats stats = WEFT_STATS_INIT;
static weft_progress_state progress_state = WEFT_PROGRESS_STATE_INIT;
static weft_buffer buffer;

/* What weft_init says to a wrong config: where the global pool runs, that comes first. */
static int init_refusal;

static void spoil_structs(void) {
  unknown_split.split = (weft_split)(WEFT_SPLIT_HOME + 1);
  no_struct_size.struct_size = 0;
  unknown_lane.lane = (weft_lane)7;
  unknown_order.order = (weft_order)-1;
  short_progress.struct_size = 3;
  short_config.struct_size = 3;
  crowded_config.threads = WEFT_MAX_THREADS + 1;
  plain_config.threads = 2;
}

/* ---- objects, which are not freed: each call has a process of its own ---- */

static struct {
  weft_pool *pool;
  weft_handle *handle, *handles[4];
  weft_graph *graph, *other_graph;
  weft_node *node[2], *other_node;
  weft_local *local;
  weft_bag *bag;
  weft_progress *progress;
  weft_scope scope, ended, fresh;
  weft_iter iter, none;
  weft_pool *pools[64];
  unsigned pool_room;
  char why[100];
} made = {.pool_room = 64};

static weft_handle *no_handles[4]; /* all NULL */

static inline weft_pool *a_pool(void) {
  if (made.pool == NULL) REQUIRE(weft_pool_create(&made.pool, &plain_config) == 0);
  return made.pool;
}
static inline weft_pool **some_pools(void) {
  made.pools[0] = a_pool();
  return made.pools;
}
static inline weft_scope *a_scope(void) {
  weft_scope_begin(&made.scope);
  return &made.scope;
}
static inline weft_scope *an_ended_scope(void) {
  weft_scope_begin(&made.ended);
  REQUIRE(weft_scope_end(&made.ended) == 0);
  return &made.ended;
}
static inline weft_handle *a_handle(void) {
  REQUIRE(weft_async(&made.handle, nothing, NULL) == 0);
  return made.handle;
}
static inline weft_handle **some_handles(void) {
  for (int i = 0; i < 4; i++) REQUIRE(weft_async(&made.handles[i], nothing, NULL) == 0);
  return made.handles;
}
static inline weft_graph *a_graph(void) {
  if (made.graph != NULL) return made.graph;
  REQUIRE(weft_graph_create(&made.graph) == 0);
  for (int i = 0; i < 2; i++)
    made.node[i] = weft_graph_add(made.graph, NULL, nothing, NULL);
  return made.graph;
}
static inline weft_node *a_node(int i) {
  (void)a_graph();
  return made.node[i];
}
static inline weft_node *another_node(void) {
  REQUIRE(weft_graph_create(&made.other_graph) == 0);
  made.other_node = weft_graph_add(made.other_graph, NULL, nothing, NULL);
  return made.other_node;
}
static inline weft_local *a_local(void) {
  REQUIRE(weft_local_create(&made.local, 4, NULL, NULL) == 0);
  return made.local;
}
static inline weft_bag *a_bag(void) {
  REQUIRE(weft_bag_create(&made.bag, 4) == 0);
  REQUIRE(weft_bag_add(made.bag, numbers) == 0);
  return made.bag;
}
static inline weft_progress *a_progress(void) {
  plain_progress.is_quiet = true;
  REQUIRE(weft_progress_begin_with(&plain_progress, &made.progress, "", 1) == 0);
  return made.progress;
}
static inline weft_iter *an_iter_of(size_t size) {
  static weft_iter second; /* `other` of the same call */
  weft_iter *out = made.iter.count != 0 ? &second : &made.iter;
  *out = weft_iter_slice(numbers, N, size);
  return out;
}
/* Where the function of a flat map puts its elements. */
static inline weft_out *an_out(void) {
  static weft_out out;
  out = (weft_out){.next = (char *)others, .end = (char *)(others + 16), .size = 4};
  return &out;
}
/* Memory that no source has made an iterator. */
static inline weft_iter *no_iter(void) {
  memset(&made.none, 0x5a, sizeof made.none);
  return &made.none;
}

#endif
