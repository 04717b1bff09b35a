/* weft/trace.h - see what the scheduler does: a trace of a program that runs, and an
 * observer for tools that record events themselves.
 *
 * The usual way needs no call: run the program with WEFT_TRACE=trace.json in its
 * environment and open the file in `weft view`, in ui.perfetto.dev or in
 * chrome://tracing. docs/guide/tracing.md shows how to read it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <weft/pool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: they change nothing in what the program computes. Threads: any, unless
 * the call says otherwise. Errors: none, unless the call says otherwise. Cost: a load and
 * a branch while nothing is recorded, unless the call says otherwise. */

/* Records what all pools of the process do into a file. The trace ends with
 * weft_trace_stop or the process.
 *
 * Meaning: the file is in the trace format of Chrome and Perfetto. It is whole at every
 * moment: also if the process crashes, is killed, or has not ended yet, the file is
 * strict JSON. A file that is there already is replaced. "%p" in the path becomes the
 * number of the process. What is recorded: tasks that were stolen, spawned, injected or
 * called from outside; parallel calls and their blocks; scopes, waits, blocking sections,
 * sleeps, steals, wakes and frames. Not recorded are tasks that a thread forks and joins
 * by itself, which is the fast path: they are part of the task around them. Each worker
 * has a ring of 8192 records, which a thread of weft's own empties; what does not fit is
 * left out and counted. So is what would make the file longer than WEFT_TRACE_LIMIT (in
 * MiB, 512 unless set): the longer the file, the longer a slice must be to be written.
 *
 * Threads: any, at any time. A forked child does not go on with the trace. Errors:
 * WEFT_EINVAL for NULL or a path of more than 1000 bytes, WEFT_EBUSY if a trace runs or
 * another process writes this file, WEFT_EIO if the file cannot be written, WEFT_ENOMEM,
 * WEFT_EAGAIN if no thread can be started. Cost: about 30 ns for each event; nothing for
 * a fork and a join that nobody steals.
 *
 *     int status = weft_trace_start("trace.json");
 *     if (status != 0) fprintf(stderr, "no trace: %s\n", weft_strerror(status));
 *     work();
 *     weft_trace_stop(); */
WEFT_API int weft_trace_start(const char *path);

/* Ends the trace: writes what is left and closes the file. Does nothing if there is none.
 * Threads: any, also in a task; the pools go on.
 *
 * Cost: that of writing what is left. */
WEFT_API void weft_trace_stop(void);

/* Names the running task in traces: the innermost one that is recorded. `name` is a
 * string literal, or stays valid until the trace has ended. Outside of tasks, and while
 * nothing is recorded, it does nothing. Threads: any. Cost: a load and a branch while
 * nothing is recorded. */
WEFT_API void weft_name(const char *name);

/* The place in the source as a string literal, for names: weft_name(WEFT_HERE), or
 * weft_opts.name. */
#define WEFT_HERE             __FILE__ ":" WEFT_HERE_(__LINE__)
#define WEFT_HERE_(line)      WEFT_HERE_TEXT_(line)
#define WEFT_HERE_TEXT_(line) #line

/* Marks the end of a frame of a game, a stream or a simulation. The name (a string
 * literal) tells several kinds of frames apart; NULL means "frame". Threads: any, also
 * those that are in no pool. Cost: as weft_name. */
WEFT_API void weft_frame_mark(const char *name);

/* ---- observers ---- */

/* What an event tells: things that begin and end, and moments. */
typedef enum weft_event_kind {
  /* These begin and end, nested in each other on each worker. */
  WEFT_EVENT_TASK,     /* name, or NULL; fn; from: the worker it was stolen from, or -1 */
  WEFT_EVENT_CALL,     /* a parallel call: name, last: the number of elements, or 0 */
  WEFT_EVENT_BLOCK,    /* a block of a parallel call: name, [first, last) */
  WEFT_EVENT_SCOPE,    /* from weft_scope_begin to weft_scope_end */
  WEFT_EVENT_WAIT,     /* waits for something that others run; name: the call */
  WEFT_EVENT_BLOCKING, /* a blocking section */
  WEFT_EVENT_IDLE,     /* a started thread has nothing to do */
  WEFT_EVENT_SLEEP,    /* and sleeps */
  /* These are moments. */
  WEFT_EVENT_STEAL,    /* from: the worker that had the task */
  WEFT_EVENT_EXPOSE,   /* last: how many tasks were made public */
  WEFT_EVENT_TAKEOVER, /* last: how many, from: of which worker; -1 if of several */
  WEFT_EVENT_WAKE,     /* from: the worker that is woken */
  WEFT_EVENT_INJECT,   /* work was handed in; first: 1 if it is background work */
  WEFT_EVENT_FRAME,    /* weft_frame_mark: name, or NULL */
  WEFT_EVENT_NAME,     /* weft_name: name */
  WEFT_EVENT_KINDS     /* how many kinds there are */
} weft_event_kind;

/* What happened. The structure lives until the callback returns. */
typedef struct weft_event {
  size_t struct_size;
  weft_event_kind kind;
  unsigned pool;        /* pools are numbered from 1; 0: the thread is in none */
  int worker;           /* as weft_worker_index */
  int from;             /* another worker, as the kind says; else -1 */
  const char *name;     /* as the kind says; else NULL */
  uintptr_t fn;         /* of tasks: the address of the function */
  uint64_t first, last; /* as the kind says; else 0 */
} weft_event;

/* A callback of an observer. */
typedef void weft_event_fn(const weft_event *event, void *ctx);

/* Callbacks of a tool such as Tracy or LTTng. Each may be NULL. They run on the thread
 * that does what they tell, often in the middle of the scheduler: they must be short, may
 * not call weft, and may not block on anything that a task holds. */
typedef struct weft_observer {
  size_t struct_size; /* sizeof(weft_observer), set by WEFT_OBSERVER_INIT */
  void *ctx;
  weft_event_fn *begin;
  weft_event_fn *end; /* of the newest thing that has begun on the worker; only kind, pool
                       * and worker are set */
  weft_event_fn *moment;
} weft_observer;

/* No callbacks: what an object of type weft_observer starts from. */
#define WEFT_OBSERVER_INIT                                                               \
  { sizeof(weft_observer), NULL, NULL, NULL, NULL }

/* Sets the observer of the process, which is copied; NULL removes it.
 *
 * Meaning: an observer that is set while threads work sees the ends of things whose
 * beginning it has not seen. When the call with NULL returns, no callback runs any more
 * and none will: the code of the callbacks may be unloaded. Traces and observers do not
 * disturb each other.
 *
 * Threads: any, but not a callback. Errors: WEFT_EINVAL for a struct_size that is too
 * small, WEFT_EBUSY if there is an observer already. Cost: for each event the callback,
 * and two stores. */
WEFT_API int weft_observe(const weft_observer *observer);

#ifdef __cplusplus
}
#endif

#endif
