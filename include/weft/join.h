/* weft/join.h - fork-join: run two functions, or any number of them, perhaps at the same
 * time.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_JOIN_H
#define WEFT_JOIN_H

#include <weft/base.h>
#include <weft/detail/fork_join.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs two functions, perhaps at the same time.
 *
 * Replaces
 *
 *     a(a_ctx);
 *     b(b_ctx);
 *
 * Meaning: both functions are called exactly once, and both have returned when weft_join
 * returns. They may run one after the other or at the same time on two threads of the
 * current pool, whatever keeps the CPUs busy; so neither may wait for the other. `a` runs
 * on the calling thread (from outside a pool whose guest places are all taken, on one of
 * its threads). `b` runs there too, after `a`, unless another thread was free and took
 * it. In a pool of one thread the order is that of the serial code above.
 *
 * Threads: any. Inside a pool the join belongs to that pool; from outside the calling
 * thread takes part in the global pool (started on first use) until the call returns.
 * What happened before the call is visible to both functions, and what they did is
 * visible after it.
 *
 * Errors: none; a NULL function ends the program with a message. A fork allocates
 * nothing, except when it is deeper than any before and
 * the worker's deque grows; without memory or threads the calling thread does the work.
 * While it waits for `b`, the calling thread may run other tasks of the pool on its
 * stack, so do not hold a lock that tasks of the pool take, or see weft_isolate. It
 * starts such tasks only while half of its stack is free: weft_config.stack_size tells
 * how much stack is enough (and 32 KiB more for the thread that starts a pool). Leaving
 * `a` or `b` by longjmp or a C++ exception is not allowed.
 *
 * Cost: a few nanoseconds more than the two calls while nobody is idle (see
 * docs/design/fast-path.md), so no cut-off is needed for speed; give `a` and `b` as
 * function names and the compiler calls them directly.
 *
 *     struct fib { long n, result; };
 *
 *     static void fib(void *ctx) {
 *       struct fib *f = ctx;
 *       if (f->n < 2) { f->result = f->n; return; }
 *       struct fib left = {f->n - 1, 0}, right = {f->n - 2, 0};
 *       weft_join(fib, &left, fib, &right);
 *       f->result = left.result + right.result;
 *     } */
static inline void weft_join(weft_fn *a, void *a_ctx, weft_fn *b, void *b_ctx) {
  wf_join_inline(a, a_ctx, b, b_ctx);
}

/* A function and the pointer that it is called with. */
typedef struct weft_call {
  weft_fn *fn;
  void *ctx;
} weft_call;

/* Runs any number of functions, perhaps at the same time.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) calls[i].fn(calls[i].ctx);
 *
 * Meaning: weft_join for any number of functions, also for none or one: each is called
 * exactly once, perhaps at the same time as others, and all have returned when
 * weft_invoke returns. None of them may wait for another one. In a pool of one thread the
 * order is that of the serial code above. The array is only read.
 *
 * Threads: as weft_join; the functions run inside the pool. Errors: none. Allocates
 * nothing. A NULL array with n > 0 or a NULL function ends the program with a message,
 * which names the index, before any function is called. Cost: that of weft_join for each
 * function. For one function and many values of ctx, weft_for is shorter.
 *
 *     weft_call calls[] = {{parse, &input}, {load, &tables}, {connect, &server}};
 *     weft_invoke(calls, 3);
 *
 * and in C the same in one line, without the array and its length:
 *
 *     WEFT_INVOKE({parse, &input}, {load, &tables}, {connect, &server}); */
WEFT_API void weft_invoke(const weft_call *calls, size_t n);

#ifndef __cplusplus
/* weft_invoke in one line: the functions stand in the call.
 *
 * Serial: each fn(ctx) in turn. Threads, errors and cost: those of weft_invoke. C only.
 */
#define WEFT_INVOKE(...)                                                                 \
  weft_invoke((const weft_call[]){__VA_ARGS__},                                          \
              sizeof((const weft_call[]){__VA_ARGS__}) / sizeof(weft_call))
#endif

#ifdef __cplusplus
}
#endif

#endif
