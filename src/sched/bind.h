/* sched/bind.h - on which CPUs the threads of a pool may run: weft_config.cpus and .bind.
 *
 * Each thread that the pool starts sets its own mask, before it runs anything else. From
 * then on it is the thread's mask like one that a program has set: steering keeps to it
 * (steer.md), a hook may change it. Callers from outside keep their own CPUs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_BIND_H
#define WF_SCHED_BIND_H

#include "../sys/topology.h"

#include <weft/pool.h>

struct wf_worker;

/* Fills `order` with the seats that threads get, one after the other: indices of
 * topology->cpus, of which there may be as many as CPUs. Returns how many: one for each
 * core, or for each CPU. The first hardware threads of all cores come first, the fastest
 * first; among those, neighbours in a cache and a node follow each other. */
unsigned wf_bind_order(const wf_topology *topology, weft_bind bind, unsigned *order);

/* Called by a thread that the pool has started: sets its mask. Where the system refuses,
 * the thread runs where it is put. */
void wf_bind_self(struct wf_worker *worker);

#endif
