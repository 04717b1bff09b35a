/* sched/bind.c - which CPUs a started thread gets. The rules are in bind.h.
 *
 * Called when a pool is made, and by each thread that it starts.
 *
 * SPDX-License-Identifier: MIT */
#include "bind.h"

#include "pool.h"

#include <stdlib.h>

/* Which of two CPUs gets a thread first; negative: a. */
static int compare_cpus(const wf_cpu *a, const wf_cpu *b) {
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  if (a->capacity != b->capacity) return a->capacity > b->capacity ? -1 : 1;
  for (int domain = WF_NODE; domain >= WF_CORE; domain--)
    if (a->group[domain] != b->group[domain])
      return a->group[domain] < b->group[domain] ? -1 : 1;
  return 0;
}

/* An insertion sort: CPUs are nearly in this order already. */
unsigned wf_bind_order(const wf_topology *t, weft_bind bind, unsigned *order) {
  unsigned count = 0;
  for (unsigned i = 0; i < t->count; i++) {
    if (bind == WEFT_BIND_CORES && t->cpus[i].thread != 0) continue;
    unsigned at = count++;
    while (at > 0 && compare_cpus(&t->cpus[i], &t->cpus[order[at - 1]]) < 0) {
      order[at] = order[at - 1];
      at--;
    }
    order[at] = i;
  }
  return count;
}

/* Adds what the thread in this place gets to an empty mask. A stand-in gets all CPUs of
 * the pool: nobody knows for whom it will stand in. The calling thread counts as the
 * first of the pool's threads, unless the pool starts all of them. */
static void add_own(const wf_worker *worker, wf_cpu_mask *mask) {
  const weft_pool *pool = worker->pool;
  const wf_topology *t = &pool->options.topology;
  bool has_seat = pool->seat_count > 0 && worker->index <= pool->thread_places;
  unsigned number = worker->index - (pool->options.starts_all ? 1 : 0);
  unsigned seat = has_seat ? pool->seats[number % pool->seat_count] : 0;
  bool whole_core = pool->options.bind == WEFT_BIND_CORES;
  for (unsigned i = 0; i < t->count; i++)
    if (!has_seat || i == seat ||
        (whole_core && t->cpus[i].group[WF_CORE] == t->cpus[seat].group[WF_CORE]))
      wf_sys_mask_add(mask, t->cpus[i].number);
}

void wf_bind_self(wf_worker *worker) {
  const wf_topology *t = &worker->pool->options.topology;
  if (t->count == 0) return; /* nothing was configured */
  wf_cpu_mask *mask = wf_sys_mask_create();
  if (mask == NULL) return;
  add_own(worker, mask);
  if (!wf_sys_mask_set(mask, 0)) { /* its CPU may have gone away */
    for (unsigned i = 0; i < t->count; i++) wf_sys_mask_add(mask, t->cpus[i].number);
    (void)wf_sys_mask_set(mask, 0);
  }
  wf_sys_mask_destroy(mask);
}
