/* sched/options.h - a configuration with every default filled in.
 *
 * Read once, when a pool is made; constant in the pool from then on. The options of a
 * single call are read by wf_opts_read (sched.h).
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_OPTIONS_H
#define WF_SCHED_OPTIONS_H

#include "../sys/sys.h"
#include "../sys/topology.h"
#include "environment.h"

#include <weft/pool.h>

typedef struct wf_options {
  unsigned threads;   /* 1 .. WEFT_MAX_THREADS */
  unsigned cpus;      /* usable ones */
  unsigned guests;    /* 1 .. WEFT_MAX_GUESTS */
  unsigned stand_ins; /* 0 .. WEFT_MAX_BLOCKING */
  size_t stack_size;
  size_t deque_capacity;
  size_t queue_limit; /* 0: none */
  weft_idle idle;     /* one of the three modes */
  weft_steer steer;   /* auto, on or off */
  weft_bind bind;
  /* The CPUs of the pool, if it may not use all of the process, or is bound; else it has
   * none. Owned. */
  wf_topology topology;
  bool starts_all; /* callers are not counted: as many threads are started as `threads` */
  char name[WF_THREAD_NAME_MAX + 1];
  void (*on_start)(unsigned worker, void *ctx);
  void (*on_exit)(unsigned worker, void *ctx);
  void *hook_ctx;
} wf_options;

/* Where a member of a public structure is. */
typedef struct wf_member {
  uint16_t begin, end;
} wf_member;

#define WF_MEMBER(type, name)                                                            \
  {                                                                                      \
    (uint16_t) offsetof(type, name),                                                     \
        (uint16_t)(offsetof(type, name) + sizeof(((type *)0)->name))                     \
  }

/* Can a structure of these members, or of the first of them, have this size? Not if it
 * would end inside a member: that is a mistake, and no older header. A larger size than
 * today's comes from a newer header. */
bool wf_size_is_possible(size_t size, const wf_member *members, size_t count);

/* Where the reason of a refusal is written to. */
typedef struct wf_reason {
  char *text; /* may be NULL */
  size_t size;
} wf_reason;

/* config may be NULL. Returns 0, WEFT_EINVAL, or, if the configuration names CPUs or
 * binds, WEFT_ENOMEM. */
int wf_options_resolve(wf_options *out, const weft_config *config, wf_environment env);

/* Frees what the options own. */
void wf_options_free(wf_options *options);

#endif
