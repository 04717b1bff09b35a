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

#include <weft/detail/fast_task.h>

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

/* ---- the fastest way ---- */

/* WEFT_TASK for the innermost recursion: the body hands its worker on. It defines
 * everything that WEFT_TASK does, with the same meaning: `name` is called, forked and
 * joined as usual, from everywhere. Inside its body there is a second way to do so, which
 * costs about half: WEFT_BOTH, WEFT_CALL, WEFT_FORK and WEFT_JOIN hand worker and deque
 * on in two registers, where the functions find them again at each step.
 *
 *     WEFT_TASK_FAST(long, fib, long, n) {
 *       long a, b;
 *       if (n < 2) return n;
 *       WEFT_BOTH(a, (fib, n - 2), b, (fib, n - 1));
 *       return a + b;
 *     }
 *
 * Serial: that of WEFT_TASK. Both ways, weft_join, loops and scopes may be mixed in one
 * body, in any order; a task is joined in the way in which it was forked. The macros take
 * names that WEFT_TASK_FAST has defined before, or the one that is being defined; in
 * any other function they do not compile. What is forked by them belongs to the pool, and
 * to the scope, in which the body was called: a scope of another pool that the body
 * itself has begun (weft_scope_begin_with) does not count.
 *
 * Threads and errors: those of WEFT_TASK. From outside of pools the macros are the same
 * as the functions. In a debugger the body is a function name_body_ of its own, in line
 * in name_in_; breakpoints at its lines and steps from line to line work as usual.
 *
 * Cost: a fork and a join together take less than an ordinary call that is not inlined,
 * while nobody is idle (docs/design/fast-path.md). */
#define WEFT_TASK_FAST(...)                                                              \
  static WEFT_TASK_DECLARE(__VA_ARGS__)                                                  \
      WF_TASK_JOINED(WF_FAST_FORM_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)             \
          WF_TASK_JOINED(WF_FAST_HEAD_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)

/* Makes two calls of fast tasks, perhaps at the same time. `first` and `second` are calls
 * in the form (name, arguments), and a and b are variables for their results. It is a
 * statement in the body of a WEFT_TASK_FAST. Replaces
 *
 *     a = name(arguments);
 *     b = other(more_arguments);
 *
 * Meaning: the second call is forked, the first one made, and the second one joined. So a
 * thread alone makes them in this order; but the arguments of both are evaluated before
 * that, in no particular order. No task has to be declared, and none can be forgotten.
 * Where a function ends by returning b, or b and something added, gcc turns the second
 * call into a loop: give the longer one there.
 *
 * Threads: that of the body. Errors: none. Cost: that of WEFT_TASK_FAST. */
#define WEFT_BOTH(a, first, b, second)                                                   \
  WF_FAST_BOTH((a) =, first, (b) =, second, (b) = wf_second.wf_result)

/* WEFT_BOTH for calls without a result.
 *
 *     WEFT_TASK_FAST(void, fill, int *, a, size_t, n, int, value) {
 *       if (n == 1) a[0] = value;
 *       if (n < 2) return;
 *       size_t half = n / 2;
 *       WEFT_BOTH_VOID((fill, a, half, value), (fill, a + half, n - half, value));
 *     }
 *
 * Serial: `first; second;`. Threads: that of the body. Errors: none. Cost: that of
 * WEFT_TASK_FAST. */
#define WEFT_BOTH_VOID(first, second) WF_FAST_BOTH((void), first, (void), second, (void)0)

/* Calls a fast task from the body of one. WEFT_CALL(name, arguments) is an expression.
 * Replaces
 *
 *     name(arguments)
 *
 * Meaning: the same, with the worker handed on. WEFT_FORK has an example.
 *
 * Threads: that of the body. Errors: none. Cost: that of a call. */
#define WEFT_CALL(...) WF_FAST_CALL(__VA_ARGS__)

/* Forks a call of a fast task: WEFT_FORK(name, &t, arguments). It is name_fork for the
 * body of a WEFT_TASK_FAST, for bodies that open more than two calls, or a number of them
 * that is not known. Join it by WEFT_JOIN.
 *
 *     WEFT_TASK_FAST(long, leaves, unsigned, depth) {
 *       if (depth == 0) return 1;
 *       leaves_task child[2];
 *       for (int i = 0; i < 2; i++) WEFT_FORK(leaves, &child[i], depth - 1);
 *       long sum = WEFT_CALL(leaves, depth - 1);
 *       for (int i = 2; i-- > 0;) sum += WEFT_JOIN(leaves, &child[i]);
 *       return sum;
 *     }
 *
 * Serial: that of WEFT_TASK. Threads: that of the body. Errors: none; where NDEBUG is not
 * defined, misuse ends the program as with WEFT_TASK. With NDEBUG it is not noticed.
 * Cost: that of WEFT_TASK_FAST, and a store more. */
#define WEFT_FORK(name, ...)                                                             \
  ((void)name##_fork_in_(WF_FAST_IN, &wf_at, WF_FAST_CHECKED, true, __VA_ARGS__))

/* Joins what WEFT_FORK has forked, the newest first: WEFT_JOIN(name, &t) is the result.
 *
 * Serial, threads, errors and cost: those of WEFT_FORK. */
#define WEFT_JOIN(name, t) name##_join_in_(WF_FAST_IN, &wf_at, t)

#endif
