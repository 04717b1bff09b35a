/* reference/pool.c - examples of weft/pool.h, weft/topology.h, weft/base.h, weft/trace.h.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe, getpid */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>

#include "example.h"

/* example: weft_pool, weft_pool_create, weft_pool_run, weft_pool_destroy, weft_config */
static void count_threads(void *ctx) {
  *(unsigned *)ctx = weft_thread_count(); /* of the pool it runs in */
}

EXAMPLE(pool_of_three) {
  weft_pool *pool;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.name = "render";
  int status = weft_pool_create(&pool, &config);
  if (status != 0) {
    fprintf(stderr, "no pool: %s\n", weft_strerror(status));
    return;
  }
  unsigned threads = 0;
  weft_pool_run(pool, count_threads, &threads);
  assert(threads >= 1 && threads <= 3);
  weft_pool_destroy(pool);
}

/* example: weft_config_check, weft_bind */
EXAMPLE(pool_of_chosen_cpus) {
  weft_config config = WEFT_CONFIG_INIT;
  config.cpus = "0-7,16-23"; /* as in taskset */
  config.bind = WEFT_BIND_CORES;
  char why[200];
  if (weft_config_check(&config, why, sizeof why) != 0) {
    /* weft_config.cpus: "0-7,16-23": this process may not use CPU 2 (it may use 0-1) */
    fprintf(stderr, "%s\n", why);
    config.cpus = NULL; /* then on all that there are */
  }
  assert(weft_config_check(&config, why, sizeof why) == 0);
}

/* example: weft_pool_detach, weft_pool_wait_idle */
static void log_line(void *ctx) {
  atomic_fetch_add((_Atomic int *)ctx, 1);
}

EXAMPLE(pool_detach) {
  weft_pool *pool;
  _Atomic int lines = 0;
  if (weft_pool_create(&pool, NULL) != 0) return;
  for (int i = 0; i < 5; i++)
    if (weft_pool_detach(pool, log_line, &lines) != 0) log_line(&lines);
  weft_pool_wait_idle(pool);
  assert(lines == 5);
  weft_pool_destroy(pool);
}

/* example: weft_pool_per_node, weft_pools_run */
typedef struct table {
  double *values;
  size_t n;
} table;

static void fill_values(size_t begin, size_t end, void *ctx) {
  double *values = ctx;
  for (size_t i = begin; i < end; i++) values[i] = 1.0;
}

/* One part for each node: its threads touch it first, so its pages are there. */
static void fill_part(unsigned node, unsigned count, void *ctx) {
  const table *t = ctx;
  size_t begin = t->n / count * node,
         end = node + 1 < count ? begin + t->n / count : t->n;
  weft_for(end - begin, fill_values, t->values + begin);
}

EXAMPLE(pool_for_each_node) {
  static double values[10000];
  table t = {values, 10000};
  weft_pool *pools[64];
  unsigned count = 64; /* the room of the array */
  if (weft_pool_per_node(pools, &count, NULL) != 0) return;
  weft_pools_run(pools, count, fill_part, &t);
  assert(values[0] == 1.0 && values[9999] == 1.0);
  for (unsigned i = 0; i < count; i++) weft_pool_destroy(pools[i]);
}

/* example: weft_topology_print, weft_node_count */
EXAMPLE(pool_topology) {
  weft_topology_print(stdout); /* cores, caches and memory nodes of this process */
  if (weft_node_count() > 1) printf("memory has a place on this machine\n");
}

/* example: weft_init, weft_shutdown */
EXAMPLE(pool_init) {
  weft_shutdown(); /* nothing happens if the global pool does not run */
  weft_config config = WEFT_CONFIG_INIT;
  config.idle = WEFT_IDLE_POWER_SAVING;
  int status = weft_init(&config); /* WEFT_EBUSY if the pool runs already */
  assert(status == 0);
  weft_shutdown(); /* joins the threads; the next call starts the pool again */
}

/* example: weft_pool_current, weft_thread_count, weft_worker_index, weft_worker_limit */
static void mark_worker(size_t begin, size_t end, void *ctx) {
  atomic_int *seen = ctx;
  atomic_fetch_add(&seen[weft_worker_index()], (int)(end - begin));
}

EXAMPLE(pool_workers) {
  static atomic_int seen[WEFT_MAX_THREADS + WEFT_MAX_GUESTS + WEFT_MAX_BLOCKING];
  assert(weft_worker_index() == -1); /* outside of pools */
  assert(weft_pool_current() != NULL && weft_thread_count() >= 1);
  weft_for(1000, mark_worker, seen);
  int total = 0;
  for (unsigned i = 0; i < weft_worker_limit(); i++) total += seen[i];
  assert(total == 1000);
}

/* example: weft_pool_stats, weft_pool_worker_stats, weft_stats, WEFT_STATS_INIT */
EXAMPLE(pool_statistics) {
  weft_stats stats = WEFT_STATS_INIT;
  weft_pool_stats(NULL, &stats);
  printf("%llu steals\n", (unsigned long long)stats.steals);
  for (unsigned i = 0; i < weft_worker_limit(); i++) {
    weft_stats one = WEFT_STATS_INIT;
    if (weft_pool_worker_stats(NULL, i, &one) == 0 && one.working_ns > 0)
      printf("%u: %llu ms\n", i, (unsigned long long)one.working_ns / 1000000);
  }
}

/* example: weft_strerror, weft_version */
EXAMPLE(base_texts) {
  assert(strcmp(weft_strerror(WEFT_EINVAL), "invalid argument") == 0);
  printf("weft %s, compiled for %d.%d\n", weft_version(), WEFT_VERSION_MAJOR,
         WEFT_VERSION_MINOR);
}

/* example: weft_set_fatal_handler, weft_fatal_fn */
static void write_to_log(const char *message, void *ctx) {
  fprintf(ctx, "misuse: %s\n", message); /* the program is aborted when this returns */
}

EXAMPLE(base_fatal_handler) {
  weft_set_fatal_handler(write_to_log, stderr);
  weft_set_fatal_handler(NULL, NULL); /* as it was */
}

/* example: weft_trace_start, weft_trace_stop, weft_name, weft_frame_mark, WEFT_HERE */
static void draw(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
  weft_name("draw");
}

EXAMPLE(trace_frames) {
  char path[100];
  snprintf(path, sizeof path, "/tmp/weft-example-%ld.json", (long)getpid());
  int status = weft_trace_start(path); /* open it with `weft view` or ui.perfetto.dev */
  if (status != 0) fprintf(stderr, "no trace: %s\n", weft_strerror(status));
  for (int frame = 0; frame < 3; frame++) {
    weft_opts o = WEFT_OPTS_INIT;
    o.name = WEFT_HERE;
    weft_for_with(&o, 100, draw, NULL);
    weft_frame_mark(NULL);
  }
  weft_trace_stop();
  remove(path);
}

/* example: weft_observe, weft_observer, weft_event, WEFT_OBSERVER_INIT */
static void count_begin(const weft_event *event, void *ctx) {
  if (event->kind == WEFT_EVENT_CALL) atomic_fetch_add((_Atomic int *)ctx, 1);
}

static void nothing(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}

EXAMPLE(trace_observer) {
  _Atomic int calls = 0;
  weft_observer observer = WEFT_OBSERVER_INIT;
  observer.ctx = &calls;
  observer.begin = count_begin; /* short; may not call weft */
  if (weft_observe(&observer) != 0) return;
  weft_for(1000, nothing, NULL);
  weft_observe(NULL); /* no callback runs any more */
  assert(calls >= 1);
}
