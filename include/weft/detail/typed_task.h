/* weft/detail/typed_task.h - what WEFT_TASK is made of: the inlined fork and join of a
 * typed task, and the forms of the macro for each number of arguments. Not API.
 *
 * Users get here through weft/typed_task.h; weft::join (weft/hpp/join.hpp) forks and
 * joins with wf_call_push and wf_call_pop too. Everything runs on the thread that forks;
 * other threads see only the wf_task inside.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_TASK_H
#define WEFT_DETAIL_TYPED_TASK_H

#include <weft/detail/fork_join.h>

#ifdef __cplusplus
extern "C" {
#endif

WF_C_BEGIN

/* "artificial": a debugger that steps through user code takes these as one step. */
#define WF_TASK_FN static inline __attribute__((always_inline, artificial, unused))

/* A function that forks is a dense row of branches that are hardly ever taken. Where its
 * cache lines begin decides how many of them a CPU predicts at once, which makes up to a
 * third of the time of fib (docs/design/fast-path.md). */
#define WF_TASK_ALIGNED __attribute__((aligned(64)))

/* A forked call: the task that thieves see, and where in the owner's deque it is. `slot`
 * is
 *
 *     a slot of the ring        from a fork inside a pool until the join
 *     WF_SLOT_OUTSIDE           from a fork outside of pools that nobody else can take,
 *                               until the join
 *     an odd number             from another fork outside of pools until the join: 1 more
 *                               than the address of its record (src/sched/typed_task.c)
 *     WF_SLOT_JOINED(worker)    after a join by the fast half of that worker
 *     WF_SLOT_JOINED(NULL)      after a join by the slow half
 *
 * The others are no slots, so the fast half of a join fails on them, and the slow half
 * looks which one it is. The worker marks a joined task because its address is in a
 * register then: a constant makes the instruction four bytes longer, and fib 0.4 ns a
 * join slower (gcc 12, AMD EPYC). */
typedef struct wf_call {
  wf_task task;
  wf_ptr *slot;
} wf_call;

#define WF_SLOT_OUTSIDE        ((wf_ptr *)sizeof(wf_ptr))
#define WF_SLOT_JOINED(worker) ((wf_ptr *)(void *)(worker))

/* The slow halves (src/sched/typed_task.c). `call` is the generated function's name, for
 * messages. The fast half of a join has left the deque as it was. wf_task_fork_copy gets
 * the size of the typed task, of which it makes a copy for the other threads; 0: it may
 * not be copied. Programs of version 0.1 call wf_task_fork_outside, which makes none. */
WEFT_API void wf_task_fork_outside(wf_call *forked) __attribute__((cold));
WEFT_API void wf_task_fork_copy(wf_call *forked, size_t size) __attribute__((cold));
WEFT_API void wf_task_join_slow(wf_owner *self, wf_call *forked, const char *call)
    __attribute__((cold));

/* Forks by a worker, once `execute` and `context` are there, and keeps the slot. */
WF_TASK_FN void wf_call_push(wf_owner *self, wf_call *forked) {
  wf_latch_init_forked(&forked->task.completion, self->region);
  wf_ptr *slot = (wf_ptr *)wf_ptr_load_own(&self->x_bottom);
  forked->slot = slot;
  if (WF_UNLIKELY(wf_owner_push(self, slot, &forked->task))) wf_fork_slow(self);
}

/* True: the task was private, and is the caller's. False: perhaps it was not, and the
 * deque is as it was before.
 *
 * The bottom that it stores is the one that the fork has seen. What the last join has
 * left is only compared with it, and that branch is predicted, so that a CPU does not
 * wait for one store after the other. The two differ after the ring has grown or begun a
 * new lap, and where joins are not nested; then the slow half looks. */
WF_TASK_FN bool wf_call_pop(wf_owner *self, const wf_call *forked) {
  wf_ptr *slot = forked->slot;
  /* In numbers, because the slot may be none. */
  if (WF_UNLIKELY((uintptr_t)wf_ptr_load_own(&self->x_bottom) !=
                  (uintptr_t)slot + sizeof *slot))
    return false;
  if (WF_LIKELY(wf_owner_pop(self, slot))) return true;
  wf_owner_unpop(self, slot);
  return false;
}

/* The size of a typed task if its bytes can be copied to where malloc has memory, else 0.
 */
#ifdef __cplusplus
#define WF_TASK_SIZE(type)                                                               \
  (__is_trivially_copyable(type) && alignof(type) <= 16 ? sizeof(type) : 0)
#else
#define WF_TASK_SIZE(type) (_Alignof(type) <= 16 ? sizeof(type) : 0)
#endif

/* Forks. The arguments lie behind the call in the struct of the typed task, which starts
 * with it and has `size` bytes. */
WF_TASK_FN void wf_task_fork(wf_call *forked, weft_fn *execute, size_t size) {
  wf_owner *self = wf_self_now();
  forked->task.execute = execute;
  forked->task.context = forked;
  if (WF_LIKELY(self != NULL))
    wf_call_push(self, forked);
  else
    wf_task_fork_copy(forked, size);
}

/* True: the task was not taken by another thread, and the caller calls the function.
 * False: the function has been called, and its result is in the task. Either way the task
 * is marked as joined, so that a second join is noticed instead of taking another task
 * out of the deque, or waiting for ever. */
WF_TASK_FN bool wf_task_take_back(wf_call *forked, const char *call) {
  wf_owner *self = wf_self_now();
  if (WF_LIKELY(self != NULL && wf_call_pop(self, forked))) {
    forked->slot = WF_SLOT_JOINED(self);
    return true;
  }
  wf_call *where;
  WF_ADDRESS_NOW(where, *forked);
  wf_task_join_slow(self, where, call);
  return false;
}

/* ---- what one macro defines ---- */

/* The two forms, with a result and without. `fields` declares a field for each argument,
 * `stores` fills them in from the parameters of the fork, and `arguments` passes them on.
 */
#define WF_TASK_VALUE(R, name, parameters, fork_parameters, fields, stores, arguments)   \
  R name parameters;                                                                     \
  typedef struct name##_task {                                                           \
    wf_call wf_forked;                                                                   \
    R wf_result;                                                                         \
    fields                                                                               \
  } name##_task;                                                                         \
  static void name##_execute_(void *wf_whole) {                                          \
    name##_task *wf_t = WF_CAST(name##_task *, wf_whole);                                \
    wf_t->wf_result = name arguments;                                                    \
  }                                                                                      \
  WF_TASK_FN void name##_fork fork_parameters {                                          \
    stores wf_task_fork(&wf_t->wf_forked, name##_execute_, WF_TASK_SIZE(name##_task));   \
  }                                                                                      \
  WF_TASK_FN R name##_join(name##_task *wf_t) {                                          \
    if (WF_LIKELY(wf_task_take_back(&wf_t->wf_forked, #name "_join")))                   \
      return name arguments;                                                             \
    return wf_t->wf_result;                                                              \
  }

#define WF_TASK_VOID(R, name, parameters, fork_parameters, fields, stores, arguments)    \
  void name parameters;                                                                  \
  typedef struct name##_task {                                                           \
    wf_call wf_forked;                                                                   \
    fields                                                                               \
  } name##_task;                                                                         \
  static void name##_execute_(void *wf_whole) {                                          \
    name##_task *wf_t = WF_CAST(name##_task *, wf_whole);                                \
    (void)wf_t;                                                                          \
    name arguments;                                                                      \
  }                                                                                      \
  WF_TASK_FN void name##_fork fork_parameters {                                          \
    stores wf_task_fork(&wf_t->wf_forked, name##_execute_, WF_TASK_SIZE(name##_task));   \
  }                                                                                      \
  WF_TASK_FN void name##_join(name##_task *wf_t) {                                       \
    if (WF_LIKELY(wf_task_take_back(&wf_t->wf_forked, #name "_join"))) name arguments;   \
  }

/* ---- the choice: is the result's type the one word `void`? ---- */

/* A macro with parameters is only expanded where a parenthesis follows at once, so that
 * `void *` is a value. */
#define WF_TASK_IS_void()         unused, WF_TASK_VOID
#define WF_TASK_SECOND(a, b, ...) b
#define WF_TASK_CHOOSE(...)       WF_TASK_SECOND(__VA_ARGS__, WF_TASK_VALUE, unused)
#define WF_TASK_OF(R, name, parameters, fork_parameters, fields, stores, arguments)      \
  WF_TASK_CHOOSE(WF_TASK_IS_##R())                                                       \
  (R, name, parameters, fork_parameters, fields, stores, arguments)

/* ---- one form for each number of arguments ---- */

#define WF_TASK_COUNT(...)                                                               \
  WF_TASK_COUNTED(__VA_ARGS__, MANY, MANY, MANY, MANY, 6, ODD, 5, ODD, 4, ODD, 3, ODD,   \
                  2, ODD, 1, ODD, 0, ODD, unused)
#define WF_TASK_COUNTED(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, form, ...) \
  form
#define WF_TASK_JOINED(a, b)     WF_TASK_JOINED_NOW(a, b)
#define WF_TASK_JOINED_NOW(a, b) a##b

/* clang-format off */
#define WF_TASK_FORM_0(R, name)                                                          \
  WF_TASK_OF(R, name, (void),                                                            \
    (name##_task *wf_t),                                                                 \
    /* no fields */,                                                                     \
    /* nothing to store */,                                                              \
    ())
#define WF_TASK_FORM_1(R, name, T1, a1)                                                  \
  WF_TASK_OF(R, name, (T1 a1),                                                           \
    (name##_task *wf_t, T1 a1),                                                          \
    T1 wf_1;,                                                                            \
    wf_t->wf_1 = a1;,                                                                    \
    (wf_t->wf_1))
#define WF_TASK_FORM_2(R, name, T1, a1, T2, a2)                                          \
  WF_TASK_OF(R, name, (T1 a1, T2 a2),                                                    \
    (name##_task *wf_t, T1 a1, T2 a2),                                                   \
    T1 wf_1; T2 wf_2;,                                                                   \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2;,                                                   \
    (wf_t->wf_1, wf_t->wf_2))
#define WF_TASK_FORM_3(R, name, T1, a1, T2, a2, T3, a3)                                  \
  WF_TASK_OF(R, name, (T1 a1, T2 a2, T3 a3),                                             \
    (name##_task *wf_t, T1 a1, T2 a2, T3 a3),                                            \
    T1 wf_1; T2 wf_2; T3 wf_3;,                                                          \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3;,                                  \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3))
#define WF_TASK_FORM_4(R, name, T1, a1, T2, a2, T3, a3, T4, a4)                          \
  WF_TASK_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4),                                      \
    (name##_task *wf_t, T1 a1, T2 a2, T3 a3, T4 a4),                                     \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4;,                                                 \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3; wf_t->wf_4 = a4;,                 \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4))
#define WF_TASK_FORM_5(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                  \
  WF_TASK_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5),                               \
    (name##_task *wf_t, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5),                              \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5;,                                        \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3;                                   \
    wf_t->wf_4 = a4; wf_t->wf_5 = a5;,                                                   \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5))
#define WF_TASK_FORM_6(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)          \
  WF_TASK_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6),                        \
    (name##_task *wf_t, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6),                       \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5; T6 wf_6;,                               \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3;                                   \
    wf_t->wf_4 = a4; wf_t->wf_5 = a5; wf_t->wf_6 = a6;,                                  \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5, wf_t->wf_6))

#define WF_TASK_HEAD_0(R, name) R name(void)
#define WF_TASK_HEAD_1(R, name, T1, a1) R name(T1 a1)
#define WF_TASK_HEAD_2(R, name, T1, a1, T2, a2) R name(T1 a1, T2 a2)
#define WF_TASK_HEAD_3(R, name, T1, a1, T2, a2, T3, a3) R name(T1 a1, T2 a2, T3 a3)
#define WF_TASK_HEAD_4(R, name, T1, a1, T2, a2, T3, a3, T4, a4)                          \
  R name(T1 a1, T2 a2, T3 a3, T4 a4)
#define WF_TASK_HEAD_5(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                  \
  R name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
#define WF_TASK_HEAD_6(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)          \
  R name(T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
/* clang-format on */

/* A wrong number of arguments gives a message in words. What is defined besides only
 * keeps the compiler from reporting more errors. */
#ifdef __cplusplus
#define WF_TASK_ASSERT static_assert
#else
#define WF_TASK_ASSERT _Static_assert
#endif
#define WF_TASK_FORM_ODD(...)                                                            \
  int wf_task_wrong;                                                                     \
  WF_TASK_ASSERT(0, "WEFT_TASK takes a result type, a name, and pairs of type and "      \
                    "name");
#define WF_TASK_FORM_MANY(...)                                                           \
  int wf_task_wrong;                                                                     \
  WF_TASK_ASSERT(0, "WEFT_TASK takes at most 6 pairs of type and name");
#define WF_TASK_HEAD_ODD(...)  void wf_task_wrong_body(void)
#define WF_TASK_HEAD_MANY(...) void wf_task_wrong_body(void)

WF_C_END

#ifdef __cplusplus
}
#endif

#endif
