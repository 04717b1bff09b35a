/* sched/victims.h - which victims are near: thieves look there first.
 *
 * Work that comes from the same core or cache finds its data there; from another socket,
 * each line of it has to cross. So a thief goes through the other workers by distance:
 * those of its core, of its level 2 cache, of its last cache, of its memory node, of the
 * other nodes from near to far; within a class from a random place on. All are reached in
 * each round, also those of which nothing is known.
 *
 * Workers need not be bound. Each one notes where it runs when it searches and when it
 * gives work away, in sets that everybody reads: a set for each core, cache and node,
 * with the workers that were last seen there. A worker that the system has moved without
 * its noticing is found in a wrong class, but it is found: the sets are hints.
 *
 * Pools on a machine on which all CPUs are equally far have none of this: NULL.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_VICTIMS_H
#define WF_SCHED_VICTIMS_H

#include "../core/bitset.h"
#include "../sys/topology.h"

#include <weft/pool.h>

struct wf_worker;

/* Words of a bit set over all places of the largest pool. */
enum {
  WF_MOST_PLACES = WEFT_MAX_THREADS + WEFT_MAX_GUESTS + WEFT_MAX_BLOCKING,
  WF_MOST_PLACE_WORDS = WF_MOST_PLACES / WF_BITSET_WORD_BITS + 1
};

/* Constant after creation, but for the words of the sets. */
typedef struct wf_victims {
  unsigned words; /* of a bit set over all places of the pool */
  unsigned cpus;
  unsigned limit;    /* CPUs have numbers below this one */
  uint16_t *seat_of; /* by number: one more than where it is in `groups`; 0: unknown */
  uint16_t (*groups)[WF_DOMAINS]; /* of each CPU */
  /* For each group of a domain, the workers that were last seen in it. NULL for a domain
   * that tells nobody apart. All words are relaxed: hints. */
  wf_u64 *x_sets[WF_DOMAINS];
  unsigned nodes;
  unsigned farthest; /* the largest rank */
  uint8_t *ranks;    /* of node and node: 0 for the same, 1 for the nearest others ... */
} wf_victims;

/* For a pool whose bit sets have this many words. NULL if the machine is flat, or without
 * memory: then a thief looks at all victims in random order, as it always may. */
wf_victims *wf_victims_create(const wf_topology *topology, unsigned words);
void wf_victims_destroy(wf_victims *victims); /* may be NULL */

/* Notes that the worker, in whose place the calling thread is, runs on this CPU; -1 if
 * that is not known. */
void wf_victims_note(wf_victims *victims, struct wf_worker *worker, int cpu);

/* A way through all places: class by class, the nearest first. */
typedef struct wf_victim_walk {
  const wf_victims *victims;
  unsigned seat; /* of the worker that searches */
  unsigned step;
  uint64_t now[WF_MOST_PLACE_WORDS]; /* places of this class, in no class before */
  uint64_t seen[WF_MOST_PLACE_WORDS];
} wf_victim_walk;

void wf_victims_begin(wf_victim_walk *walk, const wf_victims *victims,
                      const struct wf_worker *worker);
/* Goes to the next class that has places; false after the last. Each place is in `now`
 * once. */
bool wf_victims_next(wf_victim_walk *walk);

#endif
