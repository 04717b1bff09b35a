/* par/base/call.h - what every parallel call is made of: the checks of its arguments, its
 * options, the pool it runs in, how many threads may work on it, and its scratch memory.
 *
 * A public call NAME is NAME_with(NULL, ...). NAME_with checks its arguments, reads its
 * options once with wf_par_options, and enters the pool with wf_par_run. Inside the pool,
 * work is divided by wf_loop_run (loop/loop.h), wf_crew_run (base/crew.h) or weft_join.
 * The options that wf_par_options has read live in the frame of the call; all threads of
 * the call read them, and nobody writes them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_CALL_H
#define WF_PAR_CALL_H

#include "../../core/assert.h"
#include "../../sched/sched.h"
#include "../../trace/trace.h"

#include <stddef.h>
#include <weft/opts.h>

/* ---- twins ---- */

/* Make the call NAME of NAME_with, with or without a result:
 * WF_PLAIN(weft_f, (int x, int y), x, y) makes void weft_f(int x, int y). */
#define WF_PLAIN(name, parameters, ...)                                                  \
  void name parameters {                                                                 \
    name##_with(NULL, __VA_ARGS__);                                                      \
  }
#define WF_PLAIN_OF(result, name, parameters, ...)                                       \
  result name parameters {                                                               \
    return name##_with(NULL, __VA_ARGS__);                                               \
  }

/* ---- arguments ---- */

/* A call whose arguments cannot work ends the program with "weft: NAME: message", in
 * every build. Arguments that are not used are not checked: with n == 0, arrays and
 * functions may be NULL. */

/* Ends the program with the message if the argument is wrong. */
static inline void wf_refuse_if(bool is_wrong, const char *call, const char *message) {
  if (WF_UNLIKELY(is_wrong)) wf_fatal(call, message);
}

/* Has an array of n elements more bytes than an object can have? Then n or the size is a
 * mistake, and their product, which may have wrapped around, would lead anywhere. */
static inline bool wf_is_too_large(size_t n, size_t size) {
  size_t bytes;
  return __builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX;
}

#define WF_TOO_LARGE "the array is larger than memory can be"

/* For n > 0 elements of `size` bytes there must be a size, a function and arrays. */
static inline void wf_check_elements(bool no_array, bool no_fn, size_t n, size_t size,
                                     const char *call) {
  if (WF_LIKELY(n == 0 ||
                (!no_array && !no_fn && size != 0 && !wf_is_too_large(n, size))))
    return;
  wf_refuse_if(size == 0, call, "the element size is 0");
  wf_refuse_if(no_fn, call, "the function is NULL");
  wf_fatal(call, no_array ? "an array is NULL" : WF_TOO_LARGE);
}

/* ---- options ---- */

/* Copies the options, with the defaults where `given` is NULL or shorter; the name is the
 * call's unless it was given. Ends the program with a message if they are not valid. */
void wf_par_options(weft_opts *out, const weft_opts *given, const char *call);

/* For calls on arrays of n numbers of `size` bytes: checks the arrays and reads the
 * options. */
static inline void wf_par_start(weft_opts *out, const weft_opts *given, bool no_array,
                                size_t n, size_t size, const char *call) {
  wf_refuse_if(no_array && n > 0, call, "an array is NULL");
  wf_refuse_if(wf_is_too_large(n, size), call, WF_TOO_LARGE);
  wf_par_options(out, given, call);
}

/* Calls fn(ctx) on a thread of the options' pool and returns when it has returned. A
 * thread that is in that pool already calls it itself, at once. In a trace the call has
 * the options' name and the range [0, n). */
void wf_par_run_traced(const weft_opts *opts, size_t n, weft_fn *fn, void *ctx);
static inline void wf_par_run_untraced(const weft_opts *opts, weft_fn *fn, void *ctx) {
  if (wf_sched_is_inside(opts->pool))
    fn(ctx);
  else
    weft_pool_run(opts->pool, fn, ctx);
}
static inline void wf_par_run_over(const weft_opts *opts, size_t n, weft_fn *fn,
                                   void *ctx) {
  if (WF_UNLIKELY(wf_trace_is_on()))
    wf_par_run_traced(opts, n, fn, ctx);
  else
    wf_par_run_untraced(opts, fn, ctx);
}

/* The same for a call that is over no range. */
static inline void wf_par_run(const weft_opts *opts, weft_fn *fn, void *ctx) {
  wf_par_run_over(opts, 0, fn, ctx);
}

/* Has the scope that the options name been cancelled? Once true it stays true. */
static inline bool wf_par_cancelled(const weft_opts *opts) {
  return opts->cancel != NULL && wf_scope_is_cancelled(opts->cancel);
}

/* How many threads may work on the call, this one included: at least 1, and not more than
 * max_workers. 1 outside of a pool, and where nobody could help. */
static inline unsigned wf_par_crew(const weft_opts *opts) {
  unsigned crew = wf_sched_threads();
  if (opts->max_workers != 0 && opts->max_workers < crew) crew = opts->max_workers;
  WF_ASSERT(crew >= 1);
  return crew;
}

/* How many of these threads can run at the same time: not more than there are CPUs. For
 * calls that divide memory or elements into parts for each thread and run no function
 * that may wait: parts beyond the CPUs cost and gain nothing. */
static inline unsigned wf_par_at_once(const weft_opts *opts) {
  unsigned crew = wf_par_crew(opts);
  if (crew == 1) return 1;
  unsigned cpus = wf_sched_load().cpus;
  return crew < cpus ? crew : cpus;
}

/* ---- scratch: memory that a call needs only while it runs ---- */

/* Invariant: memory is NULL, or a multiple of WF_CACHE_LINE inside of `block`. */
typedef struct wf_scratch {
  void *memory;  /* at the start of a cache line, or NULL: there is none */
  void *block;   /* what is given back */
  size_t mapped; /* bytes of `block` if it came from the system, 0 if from malloc */
} wf_scratch;

/* `size` bytes that are not set to anything; memory is NULL if there are none, for calls
 * that have another way without it. Large memory is asked for in large pages where the
 * system has them: the first touch of each small page would cost as much as a pass over
 * it. */
wf_scratch wf_scratch_get(size_t size);

/* The same for calls that cannot go on without: from malloc, else straight from the
 * system; else ends the program with the message "no memory for partial results". */
wf_scratch wf_scratch_need(size_t size, const char *call);

/* Gives it back, on the thread that has it. Does nothing if memory is NULL. */
void wf_scratch_put(wf_scratch scratch);

/* Up to this size a call may use its stack where malloc has nothing and half of the stack
 * is free (wf_stack_is_half_free). A choice: a page, which no guard page is shorter than.
 */
enum { WF_SCRATCH_STACK = 4096 };

#endif
