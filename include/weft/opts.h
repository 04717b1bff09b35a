/* weft/opts.h - options that calls share: every call NAME that has any takes them as
 * NAME_with(const weft_opts *, ...).
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_OPTS_H
#define WEFT_OPTS_H

#include <weft/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which queue detached and asynchronous work waits in. */
typedef enum weft_lane {
  WEFT_LANE_NORMAL,
  /* For work that nobody waits for, such as compaction or statistics. A thread takes it
   * when it finds nothing else to do; in a pool that is never idle, every 251st time that
   * a thread looks for work. Not more than half of the started threads, but at least one,
   * are at background work at a time, and a thread that waits for a join or a scope never
   * takes any. A function that runs is not interrupted: let long ones call weft_yield. */
  WEFT_LANE_BACKGROUND
} weft_lane;

/* Which of the tasks that it has spawned into a scope a thread runs first. */
typedef enum weft_order {
  WEFT_ORDER_LIFO, /* the newest: quickest, and memory stays small */
  WEFT_ORDER_FIFO  /* the oldest of the scope, as they were spawned */
} weft_order;

/* Start from WEFT_OPTS_INIT and change what you want. A NULL pointer to options means all
 * defaults, and 0 is the default of each field but the first. Nonsense (a struct_size of
 * 0, an unknown lane or order) is WEFT_EINVAL; calls that return nothing end the program
 * with a message. */
typedef struct weft_opts {
  size_t struct_size; /* sizeof(weft_opts), set by WEFT_OPTS_INIT */
  weft_pool *pool;    /* where the call does its work; NULL: the current pool */
  weft_lane lane;     /* of weft_detach and weft_async */
  weft_order order;   /* of weft_scope_begin */
} weft_opts;

#define WEFT_OPTS_INIT                                                                   \
  { sizeof(weft_opts), NULL, WEFT_LANE_NORMAL, WEFT_ORDER_LIFO }

#ifdef __cplusplus
}
#endif

#endif
