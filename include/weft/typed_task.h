/* weft/typed_task.h - typed tasks: functions that can be forked, with their arguments and
 * their result by value.
 *
 *     WEFT_TASK(long, fib, long, n) {
 *       if (n < 2) return n;
 *       fib_task left;
 *       fib_fork(&left, n - 1);
 *       long right = fib(n - 2);
 *       return fib_join(&left) + right;
 *     }
 *
 *     printf("%ld\n", fib(35));
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_TASK_H
#define WEFT_TYPED_TASK_H

#include <weft/detail/typed_task.h>

/* Makes a function that can be forked, with arguments and result by value. It stands for
 * the head of the function; the body follows. WEFT_TASK(R, name, T, x, U, y)
 * defines, besides
 *
 *     static R name(T x, U y)             an ordinary function: call it, set breakpoints
 *
 * the type and the two functions with which calls of it are forked:
 *
 *     name_task                           one forked call, on the caller's stack
 *     void name_fork(name_task *t, T x, U y)
 *     R name_join(name_task *t)           the result
 *
 * There may be 0 to 6 pairs of type and name; R may be void. A type is what can stand in
 * front of a name: use a typedef for arrays and functions, and leave out a const that
 * says that a parameter itself does not change. Replaces
 *
 *     r = name(x, y);    with    name_fork(&t, x, y); ...; r = name_join(&t);
 *
 * Meaning: the call is made exactly once, between fork and join, by another thread of the
 * pool that was free, or else by name_join itself. Arguments are copied by the fork. A
 * fork and its join are in the same function or block, on the same thread; several may be
 * open at once and are joined in reverse order, the newest first. A task can be used
 * again after its join.
 *
 * Threads: any. Inside a pool the fork belongs to that pool, as weft_join does, and the
 * call is in the same scope and isolated as the code around the fork. From outside the
 * fork offers the call to the global pool (started on first use), and the thread takes
 * part in that pool while it joins. What happened before the fork is visible to the call,
 * and what the call did is visible after the join.
 *
 * Errors: none; the rules of weft_join for stacks, locks and memory hold. Misuse ends the
 * program with a message that names the join. A task that is joined twice, or by another
 * thread, is reported by that join. A fork that is not joined, or joined in the wrong
 * order, is reported by the next join or by the end of the outermost call, whichever
 * notices it first; outside of pools by the next fork or join, or by weft_shutdown.
 * Leaving by longjmp or an exception between fork and join is not allowed.
 *
 * Cost: about as much as an ordinary call that is not inlined while nobody is idle
 * (docs/design/fast-path.md). From outside a fork and join take some hundred nanoseconds;
 * the calls that it makes are inside. */
#define WEFT_TASK(...)                                                                   \
  static WF_TASK_ALIGNED WEFT_TASK_DECLARE(__VA_ARGS__) static WF_TASK_JOINED(           \
      WF_TASK_HEAD_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)

/* WEFT_TASK for a function that stands elsewhere. It is WEFT_TASK without the body, for a
 * function that is defined elsewhere as any other: for functions that call each other,
 * for headers, and for functions that exist already. It starts with the function's
 * declaration, so `static` may stand in front of it.
 *
 *     static WEFT_TASK_DECLARE(double, area, const shape *, s)
 *
 *     static double area(const shape *s) { ... }
 *
 * Serial, threads, errors and cost: those of WEFT_TASK. */
#define WEFT_TASK_DECLARE(...)                                                           \
  WF_TASK_JOINED(WF_TASK_FORM_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)

#endif
