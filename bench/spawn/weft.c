/* spawn/weft.c - P11: one million empty tasks in one weft scope.
 *
 * Usage: spawn_weft [lifo|fifo [threads [tasks]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "spawn.h"

static weft_opts options = WEFT_OPTS_INIT;
static const char *who = "weft";
static long tasks;

static void nothing(void *ctx) {
  (void)ctx;
}

static void count(void *ctx) {
  __atomic_fetch_add((long *)ctx, 1, __ATOMIC_RELAXED);
}

static void spawn_all(weft_fn *fn, void *ctx, long n) {
  weft_scope scope;
  weft_scope_begin_with(&options, &scope);
  for (long i = 0; i < n; i++) weft_spawn(&scope, fn, ctx);
  bench_check(who, (uint64_t)weft_scope_end(&scope), 0);
}

static long empty(long n) {
  spawn_all(nothing, NULL, n);
  return n;
}

static long counted(long n) {
  long ran = 0;
  spawn_all(count, &ran, n);
  return ran;
}

static void measure(void *ctx) {
  (void)ctx;
  spawn_measure(who, empty, counted, tasks);
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  tasks = bench_arg(argc, argv, 3, SPAWN_TASKS);
  if (argc > 1 && strcmp(argv[1], "fifo") == 0) {
    options.order = WEFT_ORDER_FIFO;
    who = "weft-fifo";
  }
  weft_pool_run(NULL, measure, NULL);
  weft_shutdown();
  return 0;
}
