/* plugin.c - a library that uses weft and is loaded late. Built twice: linked against the
 * shared libweft, and with the whole of weft compiled into it.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "plugin.h"

#include <sched.h>
#include <stdatomic.h>
#include <weft.h>

typedef struct node {
  unsigned depth;
  uint64_t leaves;
} node;

static void count_leaves(void *ctx) {
  node *self = ctx;
  if (self->depth == 0) {
    self->leaves = 1;
    return;
  }
  node left = {self->depth - 1, 0}, right = {self->depth - 1, 0};
  weft_join(count_leaves, &left, count_leaves, &right);
  self->leaves = left.leaves + right.leaves;
}

static uint64_t tree(unsigned depth) {
  node root = {depth, 0};
  count_leaves(&root);
  return root.leaves;
}

static void count_one(void *ctx) {
  atomic_fetch_add((atomic_ulong *)ctx, 1);
}

static unsigned long scope(unsigned tasks) {
  atomic_ulong ran = 0;
  weft_scope all;
  weft_scope_begin(&all);
  for (unsigned i = 0; i < tasks; i++) weft_spawn(&all, count_one, &ran);
  weft_scope_end(&all);
  return atomic_load(&ran);
}

static void join(plugin_fn *a, void *a_ctx, plugin_fn *b, void *b_ctx) {
  weft_join(a, a_ctx, b, b_ctx);
}

static void spawn_all(unsigned count, plugin_fn *fn, void *ctx) {
  weft_scope all;
  weft_scope_begin(&all);
  for (unsigned i = 0; i < count; i++) weft_spawn(&all, fn, ctx);
  weft_scope_end(&all);
}

static int detach(plugin_fn *fn, void *ctx) {
  return weft_detach(fn, ctx);
}

static int init(unsigned threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  return weft_init(&config);
}

static const void *pool(void) {
  return weft_pool_current();
}

static void spin_for_ever(void *ctx) {
  (void)ctx;
  for (;;) sched_yield();
}

static int detach_endless(void) {
  return weft_detach(spin_for_ever, NULL);
}

__attribute__((visibility("default"))) const plugin weft_test_plugin = {
    .tree = tree,
    .scope = scope,
    .join = join,
    .spawn_all = spawn_all,
    .detach = detach,
    .init = init,
    .shutdown = weft_shutdown,
    .worker_index = weft_worker_index,
    .thread_count = weft_thread_count,
    .pool = pool,
    .detach_endless = detach_endless,
};
