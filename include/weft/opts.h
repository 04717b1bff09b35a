/* weft/opts.h - the options that parallel calls share: each call NAME has a twin
 * NAME_with(const weft_opts *, ...) with the same parameters behind the options.
 *
 *     weft_opts o = WEFT_OPTS_INIT;
 *     o.max_workers = 4;
 *     weft_for_with(&o, n, body, ctx);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_OPTS_H
#define WEFT_OPTS_H

#include <weft/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The queue in which detached and asynchronous work waits. */
typedef enum weft_lane {
  WEFT_LANE_NORMAL, /* in the order in which it came: the default */
  /* For work that nobody waits for, such as statistics. A thread takes it when it finds
   * nothing else to do; in a pool that is never idle, every 251st time that a thread
   * looks for work. At most half of the started threads, but at least one, do background
   * work at a time. A thread that waits for a join or a scope never takes any. A running
   * function is not interrupted: long ones call weft_yield now and then. */
  WEFT_LANE_BACKGROUND
} weft_lane;

/* Which of the tasks that a thread has spawned into a scope it runs first. */
typedef enum weft_order {
  WEFT_ORDER_LIFO, /* the newest: fastest, and memory use stays small */
  WEFT_ORDER_FIFO  /* the oldest one of the scope: in the order of the spawns */
} weft_order;

/* How a loop cuts its range into blocks. A block is what one call of its function gets.
 */
typedef enum weft_split {
  /* By measuring: blocks grow until one takes about ten microseconds, and a thread that
   * has nothing to do gets a part of what another one has left. No grain to choose. */
  WEFT_SPLIT_ADAPTIVE,
  /* Blocks of one length, the last one may be shorter: the length is n / target_chunks
   * rounded up, but at least min_len. */
  WEFT_SPLIT_FIXED,
  /* By halves, as long as both have at least n / target_chunks and min_len elements;
   * then further until no block is longer than max_len. */
  WEFT_SPLIT_RECURSIVE,
  /* Blocks of one length as with WEFT_SPLIT_FIXED, and each thread begins with its own
   * part of them: the first blocks are for the first thread, and so on. A thread that is
   * done takes over what others have not begun. In loops of the same length that follow
   * each other, blocks come to the same threads, whose caches and memory nodes have the
   * data: docs/guide/placement.md. Not worth it for loops of less than some 100
   * microseconds, nor where the elements of one part take longer than those of others. */
  WEFT_SPLIT_HOME
} weft_split;

struct weft_scope;

/* How a parallel call is run: where, in which blocks, and until when.
 *
 * Start from WEFT_OPTS_INIT and change what you want. A NULL pointer to options means all
 * defaults; 0 is the default of each field but the first. Misuse (a struct_size of 0 or
 * one that ends within a member, an unknown lane, order or split) is WEFT_EINVAL; calls
 * that return no status end the program with a message.
 *
 * What the fields mean for loops:
 * - min_len, max_len: no block is longer than max_len, and none is shorter than min_len.
 *   Exceptions from min_len: a loop that has fewer elements; the last block of
 *   SPLIT_FIXED and SPLIT_HOME; and where max_len is less than twice min_len, the last
 * block, with SPLIT_RECURSIVE any block.
 * - target_chunks: with SPLIT_FIXED, SPLIT_RECURSIVE and SPLIT_HOME the number of blocks
 *   to aim at (0: twice the number of threads that may take part); with SPLIT_ADAPTIVE
 * the largest number of blocks, as far as max_len allows.
 * - in reductions (weft_reduce, WEFT_FOLD and others, weft_iter_fold), where blocks are
 *   leaves, each with an accumulator: leaves have n / target_chunks elements, whatever
 *   the split, but at least min_len and at most max_len. See weft/reduce.h.
 * - max_workers: the most threads that take part, the calling one included. In the loops
 *   of weft/loop.h these are the same threads from start to end; other calls keep the
 *   limit at each moment.
 * - cancel: once this scope (or one around it) is cancelled, no further block is started,
 *   and the call returns soon. What it has not done stays undone: a sort leaves the same
 *   elements in some order, and a returned result means nothing. */
typedef struct weft_opts {
  size_t struct_size; /* sizeof(weft_opts), set by WEFT_OPTS_INIT */
  weft_pool *pool;    /* where the call does its work; NULL: the current pool */
  size_t min_len;     /* of one block; 0: automatic */
  size_t max_len;     /* of one block; 0: automatic */
  weft_split split;
  size_t target_chunks;      /* 0: automatic */
  unsigned max_workers;      /* 0: all */
  struct weft_scope *cancel; /* stop early when this scope is cancelled; NULL: never */
  weft_lane lane;            /* for weft_detach and weft_async */
  weft_order order;          /* for weft_scope_begin */
  const char *name; /* of the call in traces, a string literal such as WEFT_HERE; NULL:
                     * what was called */
} weft_opts;

/* All defaults: what an object of type weft_opts starts from. */
#define WEFT_OPTS_INIT                                                                   \
  {                                                                                      \
    sizeof(weft_opts), NULL, 0, 0, WEFT_SPLIT_ADAPTIVE, 0, 0, NULL, WEFT_LANE_NORMAL,    \
        WEFT_ORDER_LIFO, NULL                                                            \
  }

/* Initialisers for each way of splitting, with the length of the shortest block. */
#define WEFT_OPTS_ADAPTIVE(min_len)  WEFT_OPTS_SPLIT_(WEFT_SPLIT_ADAPTIVE, min_len)
#define WEFT_OPTS_FIXED(min_len)     WEFT_OPTS_SPLIT_(WEFT_SPLIT_FIXED, min_len)
#define WEFT_OPTS_RECURSIVE(min_len) WEFT_OPTS_SPLIT_(WEFT_SPLIT_RECURSIVE, min_len)
#define WEFT_OPTS_HOME(min_len)      WEFT_OPTS_SPLIT_(WEFT_SPLIT_HOME, min_len)
#define WEFT_OPTS_SPLIT_(split, min_len)                                                 \
  {                                                                                      \
    sizeof(weft_opts), NULL, (min_len), 0, (split), 0, 0, NULL, WEFT_LANE_NORMAL,        \
        WEFT_ORDER_LIFO, NULL                                                            \
  }

#ifdef __cplusplus
}
#endif

#endif
