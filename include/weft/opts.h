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

/* How a loop's range is cut into blocks, the pieces that its function is called for. */
typedef enum weft_split {
  /* As the work turns out to be: blocks grow until one takes some ten microseconds, and
   * what is left of a range is handed to whoever has nothing to do. No grain to choose.
   */
  WEFT_SPLIT_ADAPTIVE,
  /* Blocks of one length, the last one may be shorter: the length is n / target_chunks
   * rounded up, but at least min_len. */
  WEFT_SPLIT_FIXED,
  /* By halves, as long as both have n / target_chunks and min_len elements, and then on
   * until max_len is kept. */
  WEFT_SPLIT_RECURSIVE
} weft_split;

struct weft_scope;

/* Start from WEFT_OPTS_INIT and change what you want. A NULL pointer to options means all
 * defaults, and 0 is the default of each field but the first. Nonsense (a struct_size of
 * 0 or one that ends within a member, an unknown lane, order or split) is WEFT_EINVAL;
 * calls that return nothing end the program with a message.
 *
 * What loops make of theirs:
 * - min_len, max_len: no block is longer than max_len. None is shorter than min_len, but
 *   for the last one of SPLIT_FIXED, a loop that has fewer elements, and where max_len is
 *   below twice min_len: then the last block, with SPLIT_RECURSIVE any, may be shorter.
 * - target_chunks: with SPLIT_FIXED and SPLIT_RECURSIVE how many blocks to aim at (0:
 *   twice the number of threads that may take part), with SPLIT_ADAPTIVE how many there
 *   are at most, as far as max_len allows.
 * - max_workers: so many threads take part at most, the calling one included. The loops
 *   of weft/loop.h keep to that from start to end; other calls at each moment.
 * - cancel: when that scope (or one around it) is cancelled, no further block is started,
 *   and the call returns soon. What it has not done is left undone: a sort leaves the
 *   same elements in some order, results that are returned mean nothing. */
typedef struct weft_opts {
  size_t struct_size; /* sizeof(weft_opts), set by WEFT_OPTS_INIT */
  weft_pool *pool;    /* where the call does its work; NULL: the current pool */
  size_t min_len;     /* of one block; 0: automatic */
  size_t max_len;     /* of one block; 0: automatic */
  weft_split split;
  size_t target_chunks;      /* 0: automatic */
  unsigned max_workers;      /* 0: all */
  struct weft_scope *cancel; /* stop early when this scope is cancelled; NULL: never */
  weft_lane lane;            /* of weft_detach and weft_async */
  weft_order order;          /* of weft_scope_begin */
} weft_opts;

#define WEFT_OPTS_INIT                                                                   \
  {                                                                                      \
    sizeof(weft_opts), NULL, 0, 0, WEFT_SPLIT_ADAPTIVE, 0, 0, NULL, WEFT_LANE_NORMAL,    \
        WEFT_ORDER_LIFO                                                                  \
  }

/* Presets: each way of splitting with a shortest block. */
#define WEFT_OPTS_ADAPTIVE(min_len)  WEFT_OPTS_SPLIT_(WEFT_SPLIT_ADAPTIVE, min_len)
#define WEFT_OPTS_FIXED(min_len)     WEFT_OPTS_SPLIT_(WEFT_SPLIT_FIXED, min_len)
#define WEFT_OPTS_RECURSIVE(min_len) WEFT_OPTS_SPLIT_(WEFT_SPLIT_RECURSIVE, min_len)
#define WEFT_OPTS_SPLIT_(split, min_len)                                                 \
  {                                                                                      \
    sizeof(weft_opts), NULL, (min_len), 0, (split), 0, 0, NULL, WEFT_LANE_NORMAL,        \
        WEFT_ORDER_LIFO                                                                  \
  }

#ifdef __cplusplus
}
#endif

#endif
