/* weft/detail/fast_task.h - what WEFT_TASK_FAST is made of: tasks that hand their worker
 * and its bottom on to the tasks that they call. Not API.
 *
 * The body of such a task has two parameters more than the program sees: the worker
 * (`in`), and where the worker's bottom was when the body was called (`at`). `at` is only
 * a guess: every use compares it with the bottom itself, which the slow halves, and
 * whatever else the body calls, may have moved. The compiler leaves the comparison out
 * where it sees that nothing was called since bottom was known, and then neither loads
 * the worker nor bottom. Everything else is the fork and join of detail/typed_task.h, and
 * the deque does not know the difference (src/core/deque.md).
 *
 * Users get here through weft/typed_task.h. Everything runs on the thread that forks;
 * other threads see only the wf_task inside.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_FAST_TASK_H
#define WEFT_DETAIL_FAST_TASK_H

#include <weft/detail/typed_task.h>

#ifdef __cplusplus
extern "C" {
#endif

WF_C_BEGIN

/* ---- the worker, and what is known about its bottom ---- */

/* What stands for the worker of a thread that is in no pool, in the frame of the call
 * that came from there. Its pins are closed, so that each fork and join takes the slow
 * half; its region is its own address. */
typedef struct wf_nowhere {
  wf_owner owner;
  wf_ptr slots[3]; /* bottom is at the second one between forks and joins */
} wf_nowhere;

/* The slow halves (src/sched/typed_task.c). Both return where bottom is now. `execute`
 * takes the task as its context, and is used where no other thread sees the task.
 * `checked`: the fork has kept the slot in the task. */
WEFT_API wf_owner *wf_fast_outside(wf_nowhere *nowhere) __attribute__((cold));
WEFT_API wf_ptr *wf_fast_fork_slow(wf_owner *in, wf_call *forked, weft_fn *execute,
                                   size_t size) __attribute__((cold));
WEFT_API wf_ptr *wf_fast_join_slow(wf_owner *in, wf_call *forked, const char *call,
                                   bool checked) __attribute__((cold));

/* The task that the calling worker has just begun to execute. The fast half of a fork
 * saves the store of the context, so the function of the task asks for it here. */
WEFT_API void *wf_fast_begun(void);

/* A call of a slow half that leaves all registers as they are: otherwise what lives
 * across it is kept in registers that every call of the task saves, leaves included. gcc
 * splits the leaf off by itself; clang 14 needs 4.2 ns for each fork and join of fib
 * without this, and 2.8 with it. Nothing is returned, as such functions of clang 14 lose
 * the result: bottom is loaded again. */
#if defined(__clang__) && defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__)
#define WF_FAST_APART       static __attribute__((noinline, cold, preserve_most, unused)) void
#define WF_FAST_APART_KEEPS 1
#else
#define WF_FAST_APART       WF_TASK_FN void
#define WF_FAST_APART_KEEPS 0
#endif

WF_FAST_APART wf_fast_fork_apart(wf_owner *in, wf_call *forked, weft_fn *execute,
                                 size_t size) {
  (void)wf_fast_fork_slow(in, forked, execute, size);
}

WF_FAST_APART wf_fast_join_apart(wf_owner *in, wf_call *forked, const char *call,
                                 bool checked) {
  (void)wf_fast_join_slow(in, forked, call, checked);
}

/* Is bottom where the guess says? */
WF_TASK_FN bool wf_fast_is_at(const wf_owner *in, const wf_ptr *guess) {
  return wf_ptr_load_own(&in->x_bottom) == (const void *)guess;
}

/* clang does not leave comparisons out, and what is left of them costs more than loading
 * bottom (clang 14; fib 3.1 against 2.8 ns). Tests define WF_FAST_PROMISE, to see that
 * what the compiler may assume is true, and guess with every compiler. */
#if !defined(WF_FAST_PROMISE) &&                                                         \
    (defined(__clang__) || !defined(__OPTIMIZE__) || defined(WF_ATOMIC_HEADER))
enum { WF_FAST_GUESSES = 0 };
#else
enum { WF_FAST_GUESSES = 1 };
#endif
#ifndef WF_FAST_PROMISE
#define WF_FAST_PROMISE(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

/* Tells the compiler that bottom is at `at`. It stays true until something else is
 * called. */
WF_TASK_FN void wf_fast_known(const wf_owner *in, const wf_ptr *at) {
  if (WF_FAST_GUESSES) WF_FAST_PROMISE(wf_fast_is_at(in, at));
}

/* Are arguments of this type copied without calling anything? In C++ a copy may be code
 * of the program, which may fork and join, too. */
#ifdef __cplusplus
#define WF_FAST_IS_PLAIN(type) __is_trivially_copyable(type)
#else
#define WF_FAST_IS_PLAIN(type) true
#endif

/* Where bottom is, if it is not where the guess said. The empty assembly keeps the
 * compiler from using what it has loaded also where that is equal to what it knows. */
WF_TASK_FN wf_ptr *wf_fast_elsewhere(const wf_owner *in) {
  void *bottom = wf_ptr_load_own(&in->x_bottom);
  if (WF_FAST_GUESSES) __asm__ __volatile__("" : "+r"(bottom));
  return (wf_ptr *)bottom;
}

/* Where bottom is: at the guess, or not. Where nothing is promised to the body, it is
 * passed on as it is. */
WF_TASK_FN wf_ptr *wf_fast_at(const wf_owner *in, wf_ptr *guess) {
  if (!WF_FAST_GUESSES || WF_LIKELY(wf_fast_is_at(in, guess))) return guess;
  return wf_fast_elsewhere(in);
}

/* The address of a function, computed where it is used: in a loop, gcc would keep it in
 * a register, which every call then saves and restores. */
#if defined(__x86_64__) && defined(__ELF__) && !defined(__ILP32__) &&                    \
    !defined(__clang__) && !defined(WEFT_NO_ASM)
#define WF_FAST_FUNCTION(pointer, function)                                              \
  __asm__ __volatile__("lea{q} {%c1(%%rip), %0|%0, %c1[rip]}"                            \
                       : "=r"(pointer)                                                   \
                       : "i"(function))
#else
#define WF_FAST_FUNCTION(pointer, function) ((pointer) = (function))
#endif

/* gcc looks whether it can split a function, so that callers test for the leaf
 * themselves, before it turns a call at the end into a loop; but a loop that it has found
 * already is not split. So the call of the joined half looks longer than it is, and gcc
 * puts it in place after that. Costs no instruction. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define WF_FAST_LATE() __asm__ __volatile__("\n\n\n\n\n\n\n\n\n\n\n\n")
#else
#define WF_FAST_LATE() ((void)0)
#endif

/* clang neither turns a call into a loop nor tests for the leaf in the caller. So it gets
 * the body twice: name_in_ calls name_near_, and that calls name_in_ again. clang puts a
 * short body in line there, as it would a function of the program, and then half of the
 * calls are gone, and half of the leaves are found without one (clang 19: fib 3.1 ns
 * without this, 2.6 with it). `wf_near`, a constant in each copy, says whom to call. */
#if defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) &&        \
    !defined(WF_ATOMIC_HEADER)
#define WF_FAST_NEAR_PARAMETER     , bool wf_near
#define WF_FAST_NEAR(value)        , value
#define WF_FAST_EITHER(one, other) (wf_near ? one : other)
#else
#define WF_FAST_NEAR_PARAMETER
#define WF_FAST_NEAR(value)
#define WF_FAST_EITHER(one, other) other
#endif

/* ---- fork and join ---- */

/* Misuse is looked for where assert() is, too. */
#ifdef NDEBUG
enum { WF_FAST_CHECKED = 0 };
#else
enum { WF_FAST_CHECKED = 1 };
#endif

/* The fast half of a fork whose arguments are stored; `execute_in` asks wf_fast_begun for
 * the task. True: the slow half is wanted before anything else is called. */
WF_TASK_FN bool wf_fast_push(wf_owner *in, wf_ptr **at, wf_call *forked,
                             weft_fn *execute_in, bool checked) {
  wf_ptr *slot = *at;
  bool is_there = WF_FAST_GUESSES && wf_fast_is_at(in, slot);
  wf_task *where;
  wf_fn_store_own(&forked->task.execute, execute_in);
  if (!WF_FAST_GUESSES || WF_UNLIKELY(!is_there)) slot = wf_fast_elsewhere(in);
  wf_latch_init_forked(&forked->task.completion, in->region);
  if (checked) forked->slot = slot;
  WF_ADDRESS_NOW(where, forked->task);
  slot++;
  if (WF_FAST_GUESSES) __asm__("" : "+r"(slot)); /* one register for slot and slot - 1 */
  *at = slot;
  return WF_UNLIKELY(wf_owner_push(in, slot - 1, where));
}

/* The slow half, if it is wanted. */
WF_TASK_FN void wf_fast_finish(wf_owner *in, wf_ptr **at, wf_call *forked,
                               weft_fn *execute, size_t size, bool wanted) {
  if (WF_UNLIKELY(wanted)) {
    wf_fast_fork_apart(in, forked, execute, size);
    *at = wf_fast_elsewhere(in);
  }
  wf_fast_known(in, *at);
}

/* The slow half of a fork that is followed by a call out of line. It returns where bottom
 * is now, and so does wf_fast_opened after the call. Outside of pools the slot is kept
 * for something else (wf_task_fork_copy), which is no bottom: there every join is slow.
 */
WF_TASK_FN wf_ptr *wf_fast_fork_open(wf_owner *in, wf_call *forked, weft_fn *execute,
                                     size_t size) {
  wf_ptr *bottom = wf_fast_fork_slow(in, forked, execute, size);
  if ((const void *)in->region != (const void *)in) forked->slot = bottom - 1;
  return bottom;
}

WF_TASK_FN wf_ptr *wf_fast_opened(const wf_call *forked) {
  return (wf_ptr *)((uintptr_t)forked->slot + sizeof(wf_ptr));
}

/* The join of the newest fork, which has left bottom at `at`. True: the task was private,
 * and the caller calls the function. False: the function has been called. As in
 * weft_join, the newest entry is that task unless the gate is above it; here bottom is
 * compared with what is expected instead of loaded, so that no store has to be waited
 * for. */
WF_TASK_FN bool wf_fast_join(wf_owner *in, wf_ptr **at, wf_call *forked, const char *call,
                             bool checked) {
  wf_ptr *slot = *at - 1;
  if (WF_LIKELY(wf_fast_is_at(in, slot + 1) && (!checked || forked->slot == slot))) {
    if (WF_LIKELY(wf_owner_pop(in, slot))) {
      if (checked) forked->slot = WF_SLOT_JOINED(in);
      *at = slot;
      wf_fast_known(in, slot);
      return true;
    }
    wf_owner_unpop(in, slot);
  }
  wf_fast_join_apart(in, forked, call, checked);
  *at = wf_fast_elsewhere(in);
  return false;
}

/* ---- what one macro defines ---- */

/* `ret`, `store` and `last` are what a result needs. `more` declares the parameters and
 * `names` passes them on, both in parentheses and with a comma in front; `fields`,
 * `stores`, `takes`, `gives`, `taken` and `held`: a copy of the arguments, how the task
 * gets them, how the copy gets them from the task and from the parameters, and how they
 * are passed on from the copy and from the task. */
#define WF_FAST_LIST(...) __VA_ARGS__
#define WF_FAST_DEFINE(R, ret, store, last, name, parameters, more, names, fields,       \
                       stores, takes, gives, taken, held)                                \
  WF_TASK_FN R name##_body_(wf_owner *wf_in,                                             \
                            wf_ptr *wf_at WF_FAST_NEAR_PARAMETER WF_FAST_LIST more);     \
  typedef struct name##_given_ {                                                         \
    fields                                                                               \
  } name##_given_;                                                                       \
  WF_FAST_CALLS(R, ret, name, more, names, taken)                                        \
  static __attribute__((unused)) R name parameters {                                     \
    wf_nowhere wf_none;                                                                  \
    wf_owner *wf_in = wf_self_now();                                                     \
    if (WF_UNLIKELY(wf_in == NULL)) wf_in = wf_fast_outside(&wf_none);                   \
    ret name##_in_(wf_in, wf_owner_bottom(wf_in) WF_FAST_LIST names);                    \
  }                                                                                      \
  WF_FAST_TASK(R, ret, store, last, name, parameters, more, names, stores, takes, gives, \
               held)

/* The body as a function of its own, twice, and the ways in which it is called: with a
 * bottom that is right, unless copies of arguments have moved it; with a guess; after a
 * fork; and at the end of a join. */
#define WF_FAST_BODY(R, ret, name, function, is_near, more, names)                       \
  static function(wf_owner *wf_in, wf_ptr *wf_at WF_FAST_LIST more) {                    \
    if (WF_FAST_IS_PLAIN(name##_given_)) wf_fast_known(wf_in, wf_at);                    \
    ret name##_body_(wf_in, wf_at WF_FAST_NEAR(is_near) WF_FAST_LIST names);             \
  }
#define WF_FAST_CALLS(R, ret, name, more, names, taken)                                  \
  WF_FAST_BODY(R, ret, name, WF_TASK_ALIGNED R name##_in_, true, more, names)            \
  WF_FAST_BODY(R, ret, name, inline __attribute__((unused)) R name##_near_, false, more, \
               names)                                                                    \
  WF_TASK_FN R name##_call_in_(wf_owner *wf_in, wf_ptr **wf_p WF_FAST_LIST more) {       \
    *wf_p = wf_fast_at(wf_in, *wf_p);                                                    \
    ret name##_in_(wf_in, *wf_p WF_FAST_LIST names);                                     \
  }                                                                                      \
  WF_TASK_FN R name##_first_(wf_owner *wf_in, wf_ptr **wf_p WF_FAST_NEAR_PARAMETER,      \
                             name##_given_ wf_g) {                                       \
    *wf_p = wf_fast_at(wf_in, *wf_p);                                                    \
    (void)wf_g;                                                                          \
    ret WF_FAST_EITHER(name##_near_(wf_in, *wf_p WF_FAST_LIST taken),                    \
                       name##_in_(wf_in, *wf_p WF_FAST_LIST taken));                     \
  }                                                                                      \
  static __attribute__((noinline, cold, unused))                                         \
  R name##_apart_(wf_owner *wf_in, wf_call *wf_forked, weft_fn *wf_execute,              \
                  size_t wf_size WF_FAST_LIST more) {                                    \
    wf_ptr *wf_at = wf_fast_fork_open(wf_in, wf_forked, wf_execute, wf_size);            \
    ret name##_in_(wf_in, wf_at WF_FAST_LIST names);                                     \
  }                                                                                      \
  WF_TASK_FN R name##_first_apart_(wf_owner *wf_in, wf_call *wf_forked,                  \
                                   weft_fn *wf_execute, size_t wf_size,                  \
                                   name##_given_ wf_g) {                                 \
    (void)wf_g;                                                                          \
    ret name##_apart_(wf_in, wf_forked, wf_execute, wf_size WF_FAST_LIST taken);         \
  }                                                                                      \
  static inline __attribute__((unused)) R name##_late_(                                  \
      wf_owner *wf_in, wf_ptr *wf_at WF_FAST_NEAR_PARAMETER, name##_given_ wf_g) {       \
    WF_FAST_LATE();                                                                      \
    (void)wf_g;                                                                          \
    ret WF_FAST_EITHER(name##_near_(wf_in, wf_at WF_FAST_LIST taken),                    \
                       name##_in_(wf_in, wf_at WF_FAST_LIST taken));                     \
  }

/* `wf_whole`: the fork with its slow half. Otherwise it is true if name_finish_ has to do
 * that half, and before anything else is called; but not where arguments are objects,
 * whose destructors come first. */
#define WF_FAST_TASK(R, ret, store, last, name, parameters, more, names, stores, takes,  \
                     gives, held)                                                        \
  static __attribute__((unused)) void name##_execute_in_(void *wf_unused) {              \
    name##_task *wf_t = WF_CAST(name##_task *, wf_fast_begun());                         \
    wf_owner *wf_in = wf_self_now();                                                     \
    (void)wf_unused, (void)wf_t;                                                         \
    store name##_in_(wf_in, wf_owner_bottom(wf_in) WF_FAST_LIST held);                   \
  }                                                                                      \
  WF_TASK_FN name##_given_ name##_take_(const name##_task *wf_t) {                       \
    name##_given_ wf_g;                                                                  \
    (void)wf_t;                                                                          \
    takes return wf_g;                                                                   \
  }                                                                                      \
  WF_TASK_FN name##_given_ name##_give_ parameters {                                     \
    name##_given_ wf_g;                                                                  \
    gives return wf_g;                                                                   \
  }                                                                                      \
  WF_TASK_FN bool name##_fork_in_(wf_owner *wf_in, wf_ptr **wf_p, bool wf_checked,       \
                                  bool wf_whole, name##_task *wf_t WF_FAST_LIST more) {  \
    weft_fn *wf_execute;                                                                 \
    bool wf_wanted;                                                                      \
    WF_FAST_FUNCTION(wf_execute, name##_execute_in_);                                    \
    stores wf_wanted =                                                                   \
        wf_fast_push(wf_in, wf_p, &wf_t->wf_forked, wf_execute, wf_checked);             \
    if (!wf_whole && WF_FAST_IS_PLAIN(name##_given_)) return wf_wanted;                  \
    wf_fast_finish(wf_in, wf_p, &wf_t->wf_forked, name##_execute_,                       \
                   WF_TASK_SIZE(name##_task), wf_wanted);                                \
    return false;                                                                        \
  }                                                                                      \
  WF_TASK_FN void name##_finish_(wf_owner *wf_in, wf_ptr **wf_p, name##_task *wf_t,      \
                                 bool wf_wanted) {                                       \
    if (WF_FAST_IS_PLAIN(name##_given_))                                                 \
      wf_fast_finish(wf_in, wf_p, &wf_t->wf_forked, name##_execute_,                     \
                     WF_TASK_SIZE(name##_task), wf_wanted);                              \
  }                                                                                      \
  WF_TASK_FN R name##_join_in_(wf_owner *wf_in, wf_ptr **wf_p, name##_task *wf_t) {      \
    if (WF_LIKELY(wf_fast_join(wf_in, wf_p, &wf_t->wf_forked, "WEFT_JOIN(" #name ")",    \
                               WF_FAST_CHECKED)))                                        \
      ret name##_in_(wf_in, *wf_p WF_FAST_LIST held);                                    \
    last                                                                                 \
  }

/* ---- the choice: is the result's type the one word `void`? ---- */

#define WF_FAST_VALUE(R, name, ...)                                                      \
  WF_FAST_DEFINE(R, return, wf_t->wf_result =, return wf_t->wf_result;, name, __VA_ARGS__)
#define WF_FAST_VOID(R, name, ...)                                                       \
  WF_FAST_DEFINE(void, /* none */, /* none */, /* none */, name, __VA_ARGS__)
#define WF_FAST_IS_void()   unused, WF_FAST_VOID
#define WF_FAST_CHOOSE(...) WF_TASK_SECOND(__VA_ARGS__, WF_FAST_VALUE, unused)
#define WF_FAST_OF(R, ...)  WF_FAST_CHOOSE(WF_FAST_IS_##R())(R, __VA_ARGS__)

/* ---- one form for each number of arguments ---- */

/* clang-format off */
#define WF_FAST_FORM_0(R, name)                                                          \
  WF_FAST_OF(R, name, (void), (), (), char wf_0;, /* nothing */, wf_g.wf_0 = 0;,         \
    wf_g.wf_0 = 0;, (), ())
#define WF_FAST_FORM_1(R, name, T1, a1)                                                  \
  WF_FAST_OF(R, name, (T1 a1), (, T1 a1), (, a1),                                        \
    T1 wf_1;,                                                                            \
    wf_t->wf_1 = a1;,                                                                    \
    wf_g.wf_1 = wf_t->wf_1;,                                                             \
    wf_g.wf_1 = a1;,                                                                     \
    (, wf_g.wf_1), (, wf_t->wf_1))
#define WF_FAST_FORM_2(R, name, T1, a1, T2, a2)                                          \
  WF_FAST_OF(R, name, (T1 a1, T2 a2), (, T1 a1, T2 a2), (, a1, a2),                      \
    T1 wf_1; T2 wf_2;,                                                                   \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2;,                                                   \
    wf_g.wf_1 = wf_t->wf_1; wf_g.wf_2 = wf_t->wf_2;,                                     \
    wf_g.wf_1 = a1; wf_g.wf_2 = a2;,                                                     \
    (, wf_g.wf_1, wf_g.wf_2), (, wf_t->wf_1, wf_t->wf_2))
#define WF_FAST_FORM_3(R, name, T1, a1, T2, a2, T3, a3)                                  \
  WF_FAST_OF(R, name, (T1 a1, T2 a2, T3 a3), (, T1 a1, T2 a2, T3 a3), (, a1, a2, a3),    \
    T1 wf_1; T2 wf_2; T3 wf_3;,                                                          \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3;,                                  \
    wf_g.wf_1 = wf_t->wf_1; wf_g.wf_2 = wf_t->wf_2; wf_g.wf_3 = wf_t->wf_3;,             \
    wf_g.wf_1 = a1; wf_g.wf_2 = a2; wf_g.wf_3 = a3;,                                     \
    (, wf_g.wf_1, wf_g.wf_2, wf_g.wf_3), (, wf_t->wf_1, wf_t->wf_2, wf_t->wf_3))
#define WF_FAST_FORM_4(R, name, T1, a1, T2, a2, T3, a3, T4, a4)                          \
  WF_FAST_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4), (, T1 a1, T2 a2, T3 a3, T4 a4),      \
    (, a1, a2, a3, a4),                                                                  \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4;,                                                 \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3; wf_t->wf_4 = a4;,                 \
    wf_g.wf_1 = wf_t->wf_1; wf_g.wf_2 = wf_t->wf_2; wf_g.wf_3 = wf_t->wf_3;              \
    wf_g.wf_4 = wf_t->wf_4;,                                                             \
    wf_g.wf_1 = a1; wf_g.wf_2 = a2; wf_g.wf_3 = a3; wf_g.wf_4 = a4;,                     \
    (, wf_g.wf_1, wf_g.wf_2, wf_g.wf_3, wf_g.wf_4),                                      \
    (, wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4))
#define WF_FAST_FORM_5(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                  \
  WF_FAST_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5),                               \
    (, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5), (, a1, a2, a3, a4, a5),                       \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5;,                                        \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3; wf_t->wf_4 = a4;                  \
    wf_t->wf_5 = a5;,                                                                    \
    wf_g.wf_1 = wf_t->wf_1; wf_g.wf_2 = wf_t->wf_2; wf_g.wf_3 = wf_t->wf_3;              \
    wf_g.wf_4 = wf_t->wf_4; wf_g.wf_5 = wf_t->wf_5;,                                     \
    wf_g.wf_1 = a1; wf_g.wf_2 = a2; wf_g.wf_3 = a3; wf_g.wf_4 = a4; wf_g.wf_5 = a5;,     \
    (, wf_g.wf_1, wf_g.wf_2, wf_g.wf_3, wf_g.wf_4, wf_g.wf_5),                           \
    (, wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5))
#define WF_FAST_FORM_6(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)          \
  WF_FAST_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6),                        \
    (, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6), (, a1, a2, a3, a4, a5, a6),            \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5; T6 wf_6;,                               \
    wf_t->wf_1 = a1; wf_t->wf_2 = a2; wf_t->wf_3 = a3; wf_t->wf_4 = a4;                  \
    wf_t->wf_5 = a5; wf_t->wf_6 = a6;,                                                   \
    wf_g.wf_1 = wf_t->wf_1; wf_g.wf_2 = wf_t->wf_2; wf_g.wf_3 = wf_t->wf_3;              \
    wf_g.wf_4 = wf_t->wf_4; wf_g.wf_5 = wf_t->wf_5; wf_g.wf_6 = wf_t->wf_6;,             \
    wf_g.wf_1 = a1; wf_g.wf_2 = a2; wf_g.wf_3 = a3; wf_g.wf_4 = a4; wf_g.wf_5 = a5; wf_g.wf_6 = a6;,\
    (, wf_g.wf_1, wf_g.wf_2, wf_g.wf_3, wf_g.wf_4, wf_g.wf_5, wf_g.wf_6),                \
    (, wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5, wf_t->wf_6))

/* The head of the body. The name of the first parameter is what a compiler prints where
 * WEFT_CALL and its relatives stand somewhere else. */
#define WF_FAST_HEAD(R, name, ...)                                                       \
  WF_TASK_FN R name##_body_(wf_owner *only_in_WEFT_TASK_FAST __attribute__((unused)),    \
                            wf_ptr *wf_at __attribute__((unused))                       \
                            WF_FAST_NEAR(bool wf_near __attribute__((unused)))           \
                                __VA_ARGS__)
#define WF_FAST_HEAD_0(R, name) WF_FAST_HEAD(R, name, )
#define WF_FAST_HEAD_1(R, name, T1, a1) WF_FAST_HEAD(R, name, , T1 a1)
#define WF_FAST_HEAD_2(R, name, T1, a1, T2, a2) WF_FAST_HEAD(R, name, , T1 a1, T2 a2)
#define WF_FAST_HEAD_3(R, name, T1, a1, T2, a2, T3, a3)                                  \
  WF_FAST_HEAD(R, name, , T1 a1, T2 a2, T3 a3)
#define WF_FAST_HEAD_4(R, name, T1, a1, T2, a2, T3, a3, T4, a4)                          \
  WF_FAST_HEAD(R, name, , T1 a1, T2 a2, T3 a3, T4 a4)
#define WF_FAST_HEAD_5(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                  \
  WF_FAST_HEAD(R, name, , T1 a1, T2 a2, T3 a3, T4 a4, T5 a5)
#define WF_FAST_HEAD_6(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)          \
  WF_FAST_HEAD(R, name, , T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6)
/* clang-format on */

/* The messages come from WEFT_TASK_DECLARE, which comes first. */
#define WF_FAST_FORM_ODD(...)
#define WF_FAST_FORM_MANY(...)
#define WF_FAST_HEAD_ODD(...)  void wf_task_wrong_body(void)
#define WF_FAST_HEAD_MANY(...) void wf_task_wrong_body(void)

/* ---- calls ---- */

/* The worker of the body. A lambda in the body could take it along to another thread,
 * which is not that worker; so a lambda cannot have it. */
#ifdef __cplusplus
extern "C++" {
template <bool is_in_lambda> struct wf_fast_body {
  static wf_owner *worker(wf_owner *in) {
    static_assert(!is_in_lambda,
                  "WEFT_BOTH, WEFT_CALL, WEFT_FORK and WEFT_JOIN are not for "
                  "lambdas, which may run on another thread");
    return in;
  }
};
}
#define WF_FAST_IN                                                                       \
  (wf_fast_body<__builtin_strcmp(__func__, "operator()") == 0>::worker(                  \
      only_in_WEFT_TASK_FAST))
#else
#define WF_FAST_IN only_in_WEFT_TASK_FAST
#endif

/* WEFT_CALL with a name alone has no comma to put in front of its arguments. */
#define WF_FAST_MORE(...)                                                                \
  WF_FAST_MORE_OF(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, ONE, unused)
#define WF_FAST_MORE_OF(a, b, c, d, e, f, g, form, ...) form
#define WF_FAST_CALL_ONE(name)                          name##_call_in_(WF_FAST_IN, &wf_at)
#define WF_FAST_CALL_MORE(name, ...)                    name##_call_in_(WF_FAST_IN, &wf_at, __VA_ARGS__)
#define WF_FAST_CALL(...)                                                                \
  WF_TASK_JOINED(WF_FAST_CALL_, WF_FAST_MORE(__VA_ARGS__))(__VA_ARGS__)

/* A call as WEFT_BOTH takes it, (name, arguments): the names made from its name, and the
 * call and the fork of it. */
#define WF_FAST_NAME(...)            WF_FAST_NAME_OF(__VA_ARGS__, unused)
#define WF_FAST_NAME_OF(name, ...)   name
#define WF_FAST_MADE(call, ending)   WF_TASK_JOINED(WF_FAST_NAME call, ending)
#define WF_FAST_GIVE_ONE(name)       name##_give_()
#define WF_FAST_GIVE_MORE(name, ...) name##_give_(__VA_ARGS__)
#define WF_FAST_GIVE(...)                                                                \
  WF_TASK_JOINED(WF_FAST_GIVE_, WF_FAST_MORE(__VA_ARGS__))(__VA_ARGS__)
#define WF_FAST_PUSH_ONE(name)                                                           \
  name##_fork_in_(WF_FAST_IN, &wf_at, false, false, &wf_second)
#define WF_FAST_PUSH_MORE(name, ...)                                                     \
  name##_fork_in_(WF_FAST_IN, &wf_at, false, false, &wf_second, __VA_ARGS__)
#define WF_FAST_PUSH(...)                                                                \
  WF_TASK_JOINED(WF_FAST_PUSH_, WF_FAST_MORE(__VA_ARGS__))(__VA_ARGS__)

/* Forks the second and calls the first. The slow half of the fork and the first call are
 * one call: then nothing but the worker and bottom lives across either, and the arguments
 * stay in registers that the task does not have to save (bench/knapsack: 6 registers
 * saved without this and 3.65 ns a fork and join, 3 and 2.91 ns with it). They are two
 * where an argument's copy is code of the program, which may fork before that half, and
 * where the slow half leaves registers alone (fib with clang 14: 2.5 ns for two, 3.0 ns
 * for one). */
#if WF_FAST_APART_KEEPS
#define WF_FAST_OPEN(into_first, first, second)                                          \
  WF_FAST_MADE(second, _finish_)                                                         \
  (WF_FAST_IN, &wf_at, &wf_second, WF_FAST_PUSH second);                                 \
  into_first WF_FAST_MADE(first, _first_)(WF_FAST_IN, &wf_at WF_FAST_NEAR(wf_near),      \
                                          WF_FAST_GIVE first);
#else
#define WF_FAST_OPEN(into_first, first, second)                                          \
  WF_FAST_MADE(first, _given_) wf_first = WF_FAST_GIVE first;                            \
  bool wf_wanted = WF_FAST_PUSH second;                                                  \
  if (WF_UNLIKELY(wf_wanted) && WF_FAST_IS_PLAIN(WF_FAST_MADE(first, _given_))) {        \
    into_first WF_FAST_MADE(first, _first_apart_)(                                       \
        WF_FAST_IN, &wf_second.wf_forked, WF_FAST_MADE(second, _execute_),               \
        WF_TASK_SIZE(WF_FAST_MADE(second, _task)), wf_first);                            \
    wf_at = wf_fast_opened(&wf_second.wf_forked);                                        \
  } else {                                                                               \
    WF_FAST_MADE(second, _finish_)(WF_FAST_IN, &wf_at, &wf_second, wf_wanted);           \
    into_first WF_FAST_MADE(first, _first_)(WF_FAST_IN, &wf_at WF_FAST_NEAR(wf_near),    \
                                            wf_first);                                   \
  }
#endif

/* Calls the first and joins the second. The task ends before its call is made, so that
 * gcc may turn that call into a loop; the arguments of the first end before the join, as
 * their destructors may move bottom. `into_first` and `into_second` take the results;
 * `result` takes that of a task which another thread has run. */
#define WF_FAST_BOTH(into_first, first, into_second, second, result)                     \
  do {                                                                                   \
    WF_FAST_MADE(second, _given_) wf_given;                                              \
    {                                                                                    \
      WF_FAST_MADE(second, _task) wf_second;                                             \
      { WF_FAST_OPEN(into_first, first, second) }                                        \
      if (WF_UNLIKELY(!wf_fast_join(WF_FAST_IN, &wf_at, &wf_second.wf_forked,            \
                                    "WEFT_BOTH", 0))) {                                  \
        result;                                                                          \
        break;                                                                           \
      }                                                                                  \
      wf_given = WF_FAST_MADE(second, _take_)(&wf_second);                               \
    }                                                                                    \
    into_second WF_FAST_MADE(second, _late_)(WF_FAST_IN, wf_at WF_FAST_NEAR(wf_near),    \
                                             wf_given);                                  \
  } while (0)

WF_C_END

#ifdef __cplusplus
}
#endif

#endif
