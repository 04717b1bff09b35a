/* sched/nodes.c - a pool for each memory node, and calls in several pools at once.
 *
 * Called by programs, on any thread.
 *
 * SPDX-License-Identifier: MIT */
#include "../sys/cpu_list.h"
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/task.h>
#include <weft/topology.h>

unsigned weft_node_count(void) {
  wf_topology t;
  if (!wf_topology_read(&t, "", NULL, 0)) return 1;
  unsigned count = t.groups[WF_NODE];
  wf_topology_free(&t);
  return count;
}

/* ---- a pool for each node ---- */

/* Narrows the options of the whole machine to one node. `before` is how many CPUs the
 * nodes before it have. Numbers of threads that were not chosen are divided by CPUs, so
 * that all pools together have as many as one would have. */
static int options_of_node(wf_options *out, const wf_options *all, unsigned node,
                           unsigned before, bool threads_chosen) {
  const wf_topology *t = &all->topology;
  unsigned count = 0;
  unsigned *cpus = malloc(t->count * sizeof *cpus);
  if (cpus == NULL) return WEFT_ENOMEM;
  for (unsigned i = 0; i < t->count; i++)
    if (t->cpus[i].group[WF_NODE] == node) cpus[count++] = t->cpus[i].number;
  *out = *all;
  bool is_read = wf_topology_read(&out->topology, "", cpus, count);
  free(cpus);
  if (!is_read) return WEFT_ENOMEM;
  out->starts_all = true;
  if (!threads_chosen) {
    unsigned part =
        all->threads * (before + count) / t->count - all->threads * before / t->count;
    out->threads = part > 0 ? part : 1;
  }
  if (out->stand_ins == all->threads) out->stand_ins = out->threads;
  out->cpus = out->cpus < count ? out->cpus : count;
  char number[WF_THREAD_NAME_MAX + 1];
  int digits = snprintf(number, sizeof number, ".%u", t->nodes[node]);
  size_t room = sizeof out->name - 1 - (size_t)digits;
  size_t length = strlen(out->name) < room ? strlen(out->name) : room;
  memcpy(out->name + length, number, (size_t)digits + 1);
  return 0;
}

static void destroy_pools(weft_pool **pools, unsigned count) {
  while (count > 0) weft_pool_destroy(pools[--count]);
}

static int create_pools(weft_pool **pools, const wf_options *all, bool threads_chosen) {
  unsigned before = 0;
  for (unsigned node = 0; node < all->topology.groups[WF_NODE]; node++) {
    wf_options options;
    int status = options_of_node(&options, all, node, before, threads_chosen);
    if (status == 0) {
      before += options.topology.count;
      status = wf_pool_create(&pools[node], &options);
    }
    if (status != 0) {
      destroy_pools(pools, node);
      return status;
    }
  }
  return 0;
}

/* The whole machine as one pool would have it, always with its topology. */
static int resolve_all(wf_options *out, const weft_config *config) {
  int status = wf_options_resolve(out, config, wf_environment_read());
  if (status != 0 || out->topology.count > 0) return status;
  return wf_topology_read(&out->topology, "", NULL, 0) ? 0 : WEFT_ENOMEM;
}

int weft_pool_per_node(weft_pool **pools, unsigned *count, const weft_config *config) {
  wf_options all;
  if (pools == NULL || count == NULL) return WEFT_EINVAL;
  int status = resolve_all(&all, config);
  if (status != 0) return status;
  unsigned room = *count;
  *count = all.topology.groups[WF_NODE];
  if (room < *count)
    status = WEFT_EINVAL;
  else
    status = create_pools(pools, &all, config != NULL && config->threads != 0);
  wf_options_free(&all);
  return status;
}

/* ---- in all pools ---- */

typedef struct pool_call {
  void (*fn)(unsigned index, unsigned count, void *ctx);
  void *ctx;
  unsigned index, count;
  struct pools_wait *wait; /* NULL: nobody waits on it */
  weft_handle *handle;
  bool is_given; /* to the pool */
} pool_call;

/* For a caller from outside, which waits for all of its calls. */
typedef struct pools_wait {
  wf_count_latch left; /* one more for the caller */
  wf_once_latch done;
} pools_wait;

static void run_pool_call(void *ctx) {
  const pool_call *call = (const pool_call *)ctx;
  pools_wait *wait = call->wait;
  call->fn(call->index, call->count, call->ctx);
  /* Both latches may be gone when the last one is set. */
  if (wait != NULL && wf_count_latch_count_off(&wait->left))
    wf_once_latch_set(&wait->done);
}

/* The calling thread does it. */
static void run_pool_call_here(weft_pool *pool, pool_call *call) {
  weft_pool_run(pool, run_pool_call, call);
}

/* From outside: the threads of the pools run everything, and the caller, which may be
 * anywhere on the machine, sleeps. */
static void run_from_outside(weft_pool *const *pools, pool_call *calls, unsigned count) {
  pools_wait wait;
  wf_count_latch_init(&wait.left, count + 1);
  wf_once_latch_init(&wait.done);
  for (unsigned i = 0; i < count; i++) {
    calls[i].wait = &wait;
    calls[i].is_given = weft_pool_detach(pools[i], run_pool_call, &calls[i]) == 0;
  }
  for (unsigned i = 0; i < count; i++)
    if (!calls[i].is_given) run_pool_call_here(pools[i], &calls[i]);
  if (!wf_count_latch_count_off(&wait.left)) wf_once_latch_wait(&wait.done);
}

/* From a thread that is in a pool: it could be what the others wait for, so it takes what
 * nobody has begun (weft_handle_wait does). */
static void run_from_inside(weft_pool *const *pools, pool_call *calls, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.pool = pools[i];
    calls[i].is_given =
        weft_async_with(&opts, &calls[i].handle, run_pool_call, &calls[i]) == 0;
  }
  for (unsigned i = 0; i < count; i++)
    if (!calls[i].is_given) run_pool_call_here(pools[i], &calls[i]);
  for (unsigned i = 0; i < count; i++)
    if (calls[i].is_given) (void)weft_handle_wait(calls[i].handle);
}

void weft_pools_run(weft_pool *const *pools, unsigned count,
                    void (*fn)(unsigned index, unsigned count, void *ctx), void *ctx) {
  if (count == 0) return;
  if (pools == NULL) wf_fatal("weft_pools_run", "pools is NULL");
  if (fn == NULL) wf_fatal("weft_pools_run", "fn is NULL");
  pool_call *calls = (pool_call *)malloc(count * sizeof *calls);
  for (unsigned i = 0; i < count; i++) {
    pool_call call = {fn, ctx, i, count, NULL, NULL, false};
    if (calls != NULL)
      calls[i] = call;
    else
      run_pool_call_here(pools[i], &call); /* one after the other */
  }
  if (calls == NULL) return;
  if (wf_self == NULL)
    run_from_outside(pools, calls, count);
  else
    run_from_inside(pools, calls, count);
  free(calls);
}
