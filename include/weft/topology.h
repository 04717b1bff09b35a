/* weft/topology.h - the machine as weft sees it: cores, caches and memory nodes; and a
 * pool for each node.
 *
 * Most programs need nothing from this header. On a machine with one memory node there is
 * one pool that does everything; on one with several, docs/guide/placement.md shows when
 * a pool for each of them pays, and how memory gets to the right one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TOPOLOGY_H
#define WEFT_TOPOLOGY_H

#include <stdio.h>
#include <weft/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: a serial program has one CPU and one node, unless the call says
 * otherwise. Threads: any. */

/* Prints which CPUs this process may use, and which of them share a core, a cache and a
 * memory node.
 *
 * Meaning: for people; the form may change. Hardware threads of one core stand in one
 * line; the capacity of cores is shown where it differs, 1024 being the fastest. Where
 * the system does not tell, everything is the same for all CPUs.
 *
 * Errors: WEFT_EINVAL if out is NULL or does not take what is written; WEFT_ENOMEM. Cost:
 * that of reading some files for each core: microseconds each.
 *
 *     weft_topology_print(stdout); */
WEFT_API int weft_topology_print(FILE *out);

/* Returns how many memory nodes (NUMA nodes) have CPUs that this process may use: at
 * least 1.
 *
 * Errors: none; 1 if the system does not tell, or without memory. Cost: as
 * weft_topology_print. */
WEFT_API unsigned weft_node_count(void);

/* Creates a pool for each memory node, whose threads stay on the CPUs of that node.
 *
 * Meaning: pools[i] belongs to the i-th node, counted by the system's numbers and without
 * those that have no CPU for this process. *count is the room of the array before the
 * call and the number of pools after it. The configuration, NULL for all defaults, holds
 * for each of the pools, but for these members: `cpus` limits all of them together;
 * `threads` is the number for each pool, and 0 gives each its part of the threads that
 * one pool for the whole machine would have; the node's number is added to `name`.
 *
 * These pools start all of their threads: a caller from outside is not counted, as it may
 * run on any node. Give them work by weft_pools_run, weft_pool_detach or weft_async.
 *
 * Errors: those of weft_pool_create; WEFT_EINVAL if pools or count is NULL, or if there
 * is less room than nodes: then *count says how many there are. Nothing is left over.
 * Cost: that of starting the threads.
 *
 *     weft_pool *pools[64];
 *     unsigned count = 64;
 *     int status = weft_pool_per_node(pools, &count, NULL);
 *     if (status != 0) return status;
 *     weft_pools_run(pools, count, work_on_part, &whole);
 *     for (unsigned i = 0; i < count; i++) weft_pool_destroy(pools[i]); */
WEFT_API int weft_pool_per_node(weft_pool **pools, unsigned *count,
                                const weft_config *config);

/* Runs a function once in each of several pools, at the same time, and waits.
 *
 * Replaces
 *
 *     for (unsigned i = 0; i < count; i++) fn(i, count, ctx);
 *
 * Meaning: fn(i, count, ctx) runs on a started thread of pools[i], and calls of weft
 * inside use that pool. The call returns when all have returned. In a pool that takes no
 * more, because of its queue_limit or for want of memory, the calling thread runs it.
 *
 * Threads: any outside of pools. A thread that is in a pool may call it too; then it runs
 * those that no thread has begun when it comes to wait for them. Errors: none; NULL
 * pools or a NULL function end the program with a message. Cost: a wake-up for each pool.
 */
WEFT_API void weft_pools_run(weft_pool *const *pools, unsigned count,
                             void (*fn)(unsigned index, unsigned count, void *ctx),
                             void *ctx);

#ifdef __cplusplus
}
#endif

#endif
