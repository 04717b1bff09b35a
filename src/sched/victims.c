/* sched/victims.c - which victims are near. The reasons are in victims.h.
 *
 * Called when a pool is made and freed, by thieves (search.c), and by workers that give
 * work away (worker.c), on their own threads.
 *
 * SPDX-License-Identifier: MIT */
#include "victims.h"

#include "pool.h"

#include <stdlib.h>
#include <string.h>

/* ---- creation ---- */

/* The rank of a distance is how many smaller ones the node has, its own first: two nodes
 * at the same distance have the same rank. Ranks that no node has are empty classes. */
static void rank_nodes(wf_victims *v, const wf_topology *t) {
  v->farthest = 0;
  for (unsigned a = 0; a < v->nodes; a++) {
    for (unsigned b = 0; b < v->nodes; b++) {
      unsigned rank = a != b;
      for (unsigned c = 0; a != b && c < v->nodes; c++)
        rank += c != a && wf_topology_distance(t, a, c) < wf_topology_distance(t, a, b);
      if (rank > UINT8_MAX) rank = UINT8_MAX;
      v->ranks[(size_t)a * v->nodes + b] = (uint8_t)rank;
      if (rank > v->farthest) v->farthest = rank;
    }
  }
}

static bool make_sets(wf_victims *v, const wf_topology *t) {
  for (int domain = 0; domain < WF_DOMAINS; domain++) {
    /* The sets of nodes are also the classes of the other nodes. */
    if (!wf_topology_divides(t, (wf_domain)domain) &&
        !(domain == WF_NODE && t->groups[WF_NODE] > 1))
      continue;
    v->x_sets[domain] =
        (wf_u64 *)calloc((size_t)t->groups[domain] * v->words, sizeof(wf_u64));
    if (v->x_sets[domain] == NULL) return false;
  }
  return true;
}

static bool note_cpus(wf_victims *v, const wf_topology *t) {
  v->cpus = t->count;
  v->limit = t->cpus[t->count - 1].number + 1;
  v->seat_of = (uint16_t *)calloc(v->limit, sizeof *v->seat_of);
  v->groups = (uint16_t(*)[WF_DOMAINS])calloc(v->cpus, sizeof *v->groups);
  if (v->seat_of == NULL || v->groups == NULL) return false;
  for (unsigned i = 0; i < v->cpus; i++) {
    v->seat_of[t->cpus[i].number] = (uint16_t)(i + 1);
    for (int domain = 0; domain < WF_DOMAINS; domain++)
      v->groups[i][domain] = (uint16_t)t->cpus[i].group[domain];
  }
  return true;
}

wf_victims *wf_victims_create(const wf_topology *t, unsigned words) {
  WF_ASSERT(words <= WF_MOST_PLACE_WORDS);
  if (wf_topology_is_flat(t) || t->count >= UINT16_MAX) return NULL;
  wf_victims *v = (wf_victims *)calloc(1, sizeof *v);
  if (v == NULL) return NULL;
  v->words = words;
  v->nodes = t->groups[WF_NODE];
  v->ranks = (uint8_t *)malloc((size_t)v->nodes * v->nodes);
  if (v->ranks == NULL || !note_cpus(v, t) || !make_sets(v, t)) {
    wf_victims_destroy(v);
    return NULL;
  }
  rank_nodes(v, t);
  return v;
}

void wf_victims_destroy(wf_victims *v) {
  if (v == NULL) return;
  for (int domain = 0; domain < WF_DOMAINS; domain++) free(v->x_sets[domain]);
  free(v->seat_of);
  free(v->groups);
  free(v->ranks);
  free(v);
}

/* ---- where workers are ---- */

static wf_u64 *set_of(const wf_victims *v, wf_domain domain, unsigned group) {
  return v->x_sets[domain] + (size_t)group * v->words;
}

/* Nearly always the worker is where it was, and this is three loads. */
void wf_victims_note(wf_victims *v, wf_worker *worker, int cpu) {
  unsigned seat = cpu >= 0 && (unsigned)cpu < v->limit ? v->seat_of[cpu] : 0;
  unsigned before = worker->seat;
  if (WF_LIKELY(seat == before) || worker->serial) return;
  worker->seat = (uint16_t)seat;
  for (int d = 0; d < WF_DOMAINS; d++) {
    wf_domain domain = (wf_domain)d;
    if (v->x_sets[domain] == NULL) continue;
    if (seat != 0 && before != 0 &&
        v->groups[seat - 1][domain] == v->groups[before - 1][domain])
      continue;
    if (before != 0)
      wf_bitset_remove(set_of(v, domain, v->groups[before - 1][domain]), worker->index);
    if (seat != 0)
      wf_bitset_add(set_of(v, domain, v->groups[seat - 1][domain]), worker->index);
  }
}

/* ---- the way through them ---- */

void wf_victims_begin(wf_victim_walk *walk, const wf_victims *v,
                      const wf_worker *worker) {
  walk->victims = v;
  walk->seat = worker->seat;
  walk->step = 0;
  memset(walk->seen, 0, v->words * sizeof walk->seen[0]);
}

/* Adds a set to the class, without what was in a class before. True if there is any. */
static bool add_set(wf_victim_walk *walk, const wf_u64 *set) {
  uint64_t any = 0;
  for (unsigned word = 0; word < walk->victims->words; word++) {
    /* Relaxed: hints, as all words of the sets. */
    uint64_t bits = wf_u64_load_relaxed(&set[word]) & ~walk->seen[word];
    walk->now[word] |= bits;
    any |= bits;
  }
  return any != 0;
}

/* The class of the nodes of one rank. */
static bool add_nodes(wf_victim_walk *walk, unsigned rank) {
  const wf_victims *v = walk->victims;
  unsigned home = v->groups[walk->seat - 1][WF_NODE];
  bool any = false;
  for (unsigned node = 0; node < v->nodes; node++)
    if (v->ranks[(size_t)home * v->nodes + node] == rank &&
        add_set(walk, set_of(v, WF_NODE, node)))
      any = true;
  return any;
}

/* Steps 0 to WF_NODE are domains, the next ones the ranks of other nodes from 1 on. */
static bool add_step(wf_victim_walk *walk, unsigned step) {
  const wf_victims *v = walk->victims;
  if (step > WF_NODE) return add_nodes(walk, step - WF_NODE);
  if (v->x_sets[step] == NULL) return false;
  return add_set(walk, set_of(v, (wf_domain)step, v->groups[walk->seat - 1][step]));
}

bool wf_victims_next(wf_victim_walk *walk) {
  const wf_victims *v = walk->victims;
  unsigned last = v->x_sets[WF_NODE] != NULL ? WF_NODE + v->farthest : WF_NODE;
  if (walk->step > last + 1) return false;
  memset(walk->now, 0, v->words * sizeof walk->now[0]);
  while (walk->seat != 0 && walk->step <= last) {
    if (!add_step(walk, walk->step++)) continue;
    for (unsigned word = 0; word < v->words; word++) walk->seen[word] |= walk->now[word];
    return true;
  }
  /* The rest: all of whom nothing is known. */
  walk->step = last + 2;
  for (unsigned word = 0; word < v->words; word++) walk->now[word] = ~walk->seen[word];
  return true;
}
