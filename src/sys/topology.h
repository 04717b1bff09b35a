/* sys/topology.h - which CPUs share a core, a cache, a memory node, and how far nodes are
 * apart.
 *
 * Nothing here assumes that CPUs are equal, numbered without gaps, or online: cores of
 * one machine may have different numbers of hardware threads, different caches and
 * different speed. What the system does not tell counts as "the same for all".
 *
 * Who calls: sched, when a pool is made, for victims and binding; the command. A topology
 * belongs to whoever has read it and is not changed afterwards.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_TOPOLOGY_H
#define WF_SYS_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* What CPUs share, the closest first. Domains are nested: two CPUs of one core have the
 * same level 2 cache, and so on up to the node. A cache of two nodes counts as two. */
typedef enum wf_domain {
  WF_CORE, /* hardware threads of one core: SMT siblings */
  WF_L2,   /* a cache of level 2 */
  WF_L3,   /* the last cache: level 3, or 4; without one, the package */
  WF_NODE, /* a memory node (NUMA) */
  WF_DOMAINS
} wf_domain;

/* The speed of the fastest CPU of a machine, in the kernel's unit (cpu_capacity). */
enum { WF_FULL_CAPACITY = 1024 };

typedef struct wf_cpu {
  unsigned number; /* the system's */
  unsigned group[WF_DOMAINS];
  unsigned package;  /* the system's number of its socket */
  unsigned thread;   /* 0 for the first hardware thread of its core, 1 ... */
  unsigned capacity; /* how fast it is: 1 .. WF_FULL_CAPACITY */
} wf_cpu;

/* Invariants: count >= 1; cpus ascend by number; for each domain, group < groups, and
 * each group has a CPU; 1 <= groups[WF_NODE] <= groups[WF_L3] <= ... <= count. */
typedef struct wf_topology {
  wf_cpu *cpus;
  unsigned count;
  unsigned groups[WF_DOMAINS]; /* how many there are */
  unsigned packages;
  unsigned *nodes;     /* the system's number of each node, ascending */
  unsigned *distances; /* from node to node, as in the firmware: 10 is near */
  bool is_known;       /* the system has told something; else it is all assumed */
} wf_topology;

/* Reads the topology of the CPUs that this process may use, or of the `count` of them
 * that `wanted` names in ascending order, if it is not NULL. root is prefixed to "/proc"
 * and "/sys" paths: "" for the real system, a fixture folder in tests. What cannot be
 * read, or makes no sense, is assumed to be equal for all CPUs. False without memory;
 * then *out is not to be used. */
bool wf_topology_read(wf_topology *out, const char *root, const unsigned *wanted,
                      unsigned count);

/* The CPUs that this process may use, ascending, in memory that the caller frees; at
 * least one. Returns how many, 0 without memory. On Linux those of the calling thread. */
unsigned wf_topology_allowed(unsigned **out, const char *root);

static inline void wf_topology_free(wf_topology *topology) {
  free(topology->cpus);
  free(topology->nodes);
  free(topology->distances);
  *topology = (wf_topology){0};
}

static inline unsigned wf_topology_distance(const wf_topology *t, unsigned node,
                                            unsigned other) {
  return t->distances[(size_t)node * t->groups[WF_NODE] + other];
}

/* Does the domain tell CPUs apart, and put some of them together? */
static inline bool wf_topology_divides(const wf_topology *t, wf_domain domain) {
  return t->groups[domain] > 1 && t->groups[domain] < t->count;
}

/* Are all CPUs equally far from each other? */
static inline bool wf_topology_is_flat(const wf_topology *t) {
  for (int domain = 0; domain < WF_DOMAINS; domain++)
    if (wf_topology_divides(t, (wf_domain)domain)) return false;
  return t->groups[WF_NODE] < 3; /* nodes of one CPU each may have different distances */
}

/* ---- for the files that read it ---- */

/* Memory for `count` CPUs, which are known by their numbers alone: one core each, and
 * everything else the same. False without memory. */
bool wf_topology_make_flat(wf_topology *out, const unsigned *cpus, unsigned count);

/* Gives cores and caches numbers from 0 on, makes domains nested, and counts hardware
 * threads and packages. Before, equal numbers of `group` mean "the same one"; nodes have
 * their numbers already. False without memory. */
bool wf_topology_number(wf_topology *t);

/* Puts what the system tells about its CPUs into a flat topology. It is in the file of
 * that system. False without memory. */
bool wf_topology_fill(wf_topology *t, const char *root);

#endif
