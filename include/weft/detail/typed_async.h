/* weft/detail/typed_async.h - what WEFT_ASYNC is made of: the functions around a handle
 * that holds arguments and result, and the forms of the macro for each number of
 * arguments. Not API.
 *
 * Users get here through weft/typed_async.h. Counting arguments, and the choice between a
 * result and void, are those of WEFT_TASK.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_DETAIL_TYPED_ASYNC_H
#define WEFT_DETAIL_TYPED_ASYNC_H

#include <weft/detail/typed_task.h>
#include <weft/task.h>

#ifdef __cplusplus
extern "C" {
#endif

WF_C_BEGIN

/* src/sched/handle_wait.c. `call` is the generated function's name, for messages. Both
 * return the copy of weft_async_copy, which is there until wf_async_free; the second NULL
 * if the time is over. */
WEFT_API void *wf_async_await(weft_handle *h, const char *call);
WEFT_API void *wf_async_await_for(weft_handle *h, uint64_t timeout_ns, const char *call);
WEFT_API void wf_async_free(weft_handle *h);

#ifdef __cplusplus
#define WF_ASYNC_NULL nullptr
#define WF_ASYNC_ZERO                                                                    \
  {}
#define WF_ASYNC_FITS(T)                                                                 \
  static_assert(__is_trivially_copyable(T) && alignof(T) <= 16,                          \
                "WEFT_ASYNC takes types that can be copied as bytes")
#else
#define WF_ASYNC_NULL NULL
#define WF_ASYNC_ZERO                                                                    \
  { 0 }
#define WF_ASYNC_FITS(T) _Static_assert(_Alignof(T) <= 16, "aligned to more than 16")
#endif

/* ---- what one macro defines ---- */

/* What both forms have. `fields` declares a field for each argument, `stores` fills them
 * in from the parameters, and `passed` calls the twin without options. */
#define WF_ASYNC_START(name, with_parameters, parameters, passed, fields, stores)        \
  WF_ASYNC_FITS(name##_args_);                                                           \
  typedef struct name##_handle {                                                         \
    weft_handle *handle;                                                                 \
  } name##_handle;                                                                       \
  static void name##_run_(void *wf_whole);                                               \
  WF_TASK_FN int name##_async_with with_parameters {                                     \
    name##_args_ wf_t = WF_ASYNC_ZERO;                                                   \
    stores return weft_async_copy_with(wf_o, &wf_to->handle, &wf_t, sizeof wf_t,         \
                                       name##_run_);                                     \
  }                                                                                      \
  WF_TASK_FN int name##_async parameters {                                               \
    return name##_async_with passed;                                                     \
  }

#define WF_ASYNC_VALUE(R, name, parameters, with_parameters, plain_parameters, passed,   \
                       fields, stores, arguments)                                        \
  R name parameters;                                                                     \
  typedef struct name##_args_ {                                                          \
    unsigned char wf_unused;                                                             \
    fields R wf_result;                                                                  \
  } name##_args_;                                                                        \
  WF_ASYNC_START(name, with_parameters, plain_parameters, passed, fields, stores)        \
  static void name##_run_(void *wf_whole) {                                              \
    name##_args_ *wf_t = WF_CAST(name##_args_ *, wf_whole);                              \
    wf_t->wf_result = name arguments;                                                    \
  }                                                                                      \
  WF_TASK_FN R name##_wait(name##_handle wf_h) {                                         \
    name##_args_ *wf_t =                                                                 \
        WF_CAST(name##_args_ *, wf_async_await(wf_h.handle, #name "_wait"));             \
    R wf_r = wf_t->wf_result;                                                            \
    wf_async_free(wf_h.handle);                                                          \
    return wf_r;                                                                         \
  }                                                                                      \
  WF_TASK_FN int name##_wait_for(name##_handle wf_h, uint64_t wf_ns, R *wf_r) {          \
    name##_args_ *wf_t = WF_CAST(                                                        \
        name##_args_ *, wf_async_await_for(wf_h.handle, wf_ns, #name "_wait_for"));      \
    if (wf_t == WF_ASYNC_NULL) return WEFT_EBUSY;                                        \
    *wf_r = wf_t->wf_result;                                                             \
    wf_async_free(wf_h.handle);                                                          \
    return 0;                                                                            \
  }

#define WF_ASYNC_VOID(R, name, parameters, with_parameters, plain_parameters, passed,    \
                      fields, stores, arguments)                                         \
  void name parameters;                                                                  \
  typedef struct name##_args_ {                                                          \
    unsigned char wf_unused;                                                             \
    fields                                                                               \
  } name##_args_;                                                                        \
  WF_ASYNC_START(name, with_parameters, plain_parameters, passed, fields, stores)        \
  static void name##_run_(void *wf_whole) {                                              \
    name##_args_ *wf_t = WF_CAST(name##_args_ *, wf_whole);                              \
    (void)wf_t;                                                                          \
    name arguments;                                                                      \
  }                                                                                      \
  WF_TASK_FN void name##_wait(name##_handle wf_h) {                                      \
    wf_async_await(wf_h.handle, #name "_wait");                                          \
    wf_async_free(wf_h.handle);                                                          \
  }                                                                                      \
  WF_TASK_FN int name##_wait_for(name##_handle wf_h, uint64_t wf_ns) {                   \
    if (wf_async_await_for(wf_h.handle, wf_ns, #name "_wait_for") == WF_ASYNC_NULL)      \
      return WEFT_EBUSY;                                                                 \
    wf_async_free(wf_h.handle);                                                          \
    return 0;                                                                            \
  }

/* ---- the choice: is the result's type the one word `void`? ---- */

#define WF_ASYNC_IS_void()   unused, WF_ASYNC_VOID
#define WF_ASYNC_CHOOSE(...) WF_TASK_SECOND(__VA_ARGS__, WF_ASYNC_VALUE, unused)
#define WF_ASYNC_OF(R, ...)  WF_ASYNC_CHOOSE(WF_ASYNC_IS_##R())(R, __VA_ARGS__)

/* ---- one form for each number of arguments ---- */

/* clang-format off */
#define WF_ASYNC_FORM_0(R, name)                                                         \
  WF_ASYNC_OF(R, name, (void),                                                           \
    (const weft_opts *wf_o, name##_handle *wf_to),                                       \
    (name##_handle *wf_to), (NULL, wf_to),                                               \
    /* no fields */,                                                                     \
    /* nothing to store */,                                                              \
    ())
#define WF_ASYNC_FORM_1(R, name, T1, a1)                                                 \
  WF_ASYNC_OF(R, name, (T1 a1),                                                          \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1),                                \
    (name##_handle *wf_to, T1 a1), (NULL, wf_to, a1),                                    \
    T1 wf_1;,                                                                            \
    wf_t.wf_1 = a1;,                                                                     \
    (wf_t->wf_1))
#define WF_ASYNC_FORM_2(R, name, T1, a1, T2, a2)                                         \
  WF_ASYNC_OF(R, name, (T1 a1, T2 a2),                                                   \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1, T2 a2),                         \
    (name##_handle *wf_to, T1 a1, T2 a2), (NULL, wf_to, a1, a2),                         \
    T1 wf_1; T2 wf_2;,                                                                   \
    wf_t.wf_1 = a1; wf_t.wf_2 = a2;,                                                     \
    (wf_t->wf_1, wf_t->wf_2))
#define WF_ASYNC_FORM_3(R, name, T1, a1, T2, a2, T3, a3)                                 \
  WF_ASYNC_OF(R, name, (T1 a1, T2 a2, T3 a3),                                            \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1, T2 a2, T3 a3),                  \
    (name##_handle *wf_to, T1 a1, T2 a2, T3 a3), (NULL, wf_to, a1, a2, a3),              \
    T1 wf_1; T2 wf_2; T3 wf_3;,                                                          \
    wf_t.wf_1 = a1; wf_t.wf_2 = a2; wf_t.wf_3 = a3;,                                     \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3))
#define WF_ASYNC_FORM_4(R, name, T1, a1, T2, a2, T3, a3, T4, a4)                         \
  WF_ASYNC_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4),                                     \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4),           \
    (name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4), (NULL, wf_to, a1, a2, a3, a4),   \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4;,                                                 \
    wf_t.wf_1 = a1; wf_t.wf_2 = a2; wf_t.wf_3 = a3; wf_t.wf_4 = a4;,                     \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4))
#define WF_ASYNC_FORM_5(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5)                 \
  WF_ASYNC_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5),                              \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5),    \
    (name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5), (NULL, wf_to, a1,         \
      a2, a3, a4, a5),                                                                   \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5;,                                        \
    wf_t.wf_1 = a1; wf_t.wf_2 = a2; wf_t.wf_3 = a3; wf_t.wf_4 = a4; wf_t.wf_5 = a5;,     \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5))
#define WF_ASYNC_FORM_6(R, name, T1, a1, T2, a2, T3, a3, T4, a4, T5, a5, T6, a6)         \
  WF_ASYNC_OF(R, name, (T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6),                       \
    (const weft_opts *wf_o, name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5,     \
      T6 a6),                                                                            \
    (name##_handle *wf_to, T1 a1, T2 a2, T3 a3, T4 a4, T5 a5, T6 a6), (NULL, wf_to,      \
      a1, a2, a3, a4, a5, a6),                                                           \
    T1 wf_1; T2 wf_2; T3 wf_3; T4 wf_4; T5 wf_5; T6 wf_6;,                               \
    wf_t.wf_1 = a1; wf_t.wf_2 = a2; wf_t.wf_3 = a3;                                      \
    wf_t.wf_4 = a4; wf_t.wf_5 = a5; wf_t.wf_6 = a6;,                                     \
    (wf_t->wf_1, wf_t->wf_2, wf_t->wf_3, wf_t->wf_4, wf_t->wf_5, wf_t->wf_6))

/* clang-format on */

/* A wrong number of arguments gives a message in words. What is defined besides only
 * keeps the compiler from reporting more errors. */
#define WF_ASYNC_FORM_ODD(...)                                                           \
  int wf_async_wrong;                                                                    \
  WF_TASK_ASSERT(0, "WEFT_ASYNC takes a result type, a name, and pairs of type and "     \
                    "name");
#define WF_ASYNC_FORM_MANY(...)                                                          \
  int wf_async_wrong;                                                                    \
  WF_TASK_ASSERT(0, "WEFT_ASYNC takes at most 6 pairs of type and name");

WF_C_END

#ifdef __cplusplus
}
#endif

#endif
