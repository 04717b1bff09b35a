/* pool.h - what a pool consists of.
 *
 * A call cuts its tiles into one lane for each thread that may take part. Those threads
 * come from weft, as tasks of a scope, or from the executor of the program. Each takes
 * tiles from its own lane first, then from the others.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WFP_POOL_H
#define WFP_POOL_H

#include <core/atomic.h>
#include <pthread.h>
#include <weft.h>

#include "run.h"

/* The tiles of a call that its thread takes first. They are taken in order, and none is
 * ever put back: a lane that was seen empty stays empty until the next call. */
struct lane {
  wf_word x_next; /* the first that nobody took; at or past `end`: none is left */
  size_t end;
  /* Two cache lines in all, so that lanes are apart wherever the array begins. */
  char apart[2 * WF_CACHE_LINE - sizeof(wf_word) - sizeof(size_t)];
};

/* A thread's place in a pool: what tasks get as their context. */
struct seat {
  struct pthreadpool *pool;
  size_t index;
  bool promised; /* to an executor: it will call seat_main. Guarded by `gate`. */
};

struct pthreadpool {
  weft_pool *weft; /* NULL: one thread, or an executor from the beginning */
  size_t max_threads;
  wf_word x_threads; /* what calls may use now; written by the holder of `turn` */
  /* Held by the call that is under way. It guards what follows, up to `gate`. */
  pthread_mutex_t turn;
  const struct job *job;
  size_t parts;                         /* lanes in use, and threads that may take part */
  wf_u32 x_all_taken;                   /* 1: every lane is empty */
  struct pthreadpool_executor executor; /* num_threads is NULL: weft's threads */
  void *executor_context;
  /* Guards the rest, which threads of an executor use. */
  pthread_mutex_t gate;
  pthread_cond_t left;    /* `working` or `promises` became 0 */
  const struct job *open; /* the call that threads may join; NULL: none */
  size_t working;         /* threads of the executor that are in it */
  size_t promises;        /* seats that are promised */
  struct seat *seats;     /* max_threads of each; seat 0 is the caller's */
  struct lane *lanes;
};

/* What a thread is doing, for calls from inside: its seat in a call. `outer` is what the
 * caller of that call was doing, perhaps on another thread. */
struct part {
  const struct pthreadpool *pool;
  size_t index;
  const struct part *outer;
};

/* The part of the calling thread, or of a caller further out, in a call of this pool;
 * NULL: the thread is not inside one. */
const struct part *wfp_part_in(const struct pthreadpool *pool);

#endif
