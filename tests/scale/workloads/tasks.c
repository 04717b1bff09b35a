/* tasks.c - scopes with many tasks, spawned by one worker and by all.
 *
 * SPDX-License-Identifier: MIT */
#include <scale/workload.h>

enum { TASK_NS = 1000 };

static void task(void *ctx) {
  (void)ctx;
  scale_work(TASK_NS);
}

typedef struct spawns {
  weft_scope *scope;
  size_t each;
} spawns;

static void spawn_some(size_t begin, size_t end, void *ctx) {
  const spawns *s = ctx;
  for (size_t i = 0; i < (end - begin) * s->each; i++) weft_spawn(s->scope, task, NULL);
}

static void run_spawns(scale_run *run, size_t spawners) {
  size_t tasks = (size_t)(1e6 * run->size), each = tasks / spawners + 1;
  weft_scope scope;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.pool = run->pool;
  scale_begin();
  weft_scope_begin_with(&opts, &scope);
  spawns s = {&scope, each};
  if (spawners == 1)
    spawn_some(0, 1, &s);
  else
    weft_for_with(&opts, spawners, spawn_some, &s);
  weft_scope_end(&scope);
  scale_end();
  run->work_ns = (double)(each * spawners) * TASK_NS;
}

WORKLOAD(spawn_one, "10^6 spawns of 1 us by one worker") {
  run_spawns(run, 1);
}
WORKLOAD(spawn_all, "10^6 spawns of 1 us by all workers") {
  run_spawns(run, 16 * (size_t)run->threads);
}
