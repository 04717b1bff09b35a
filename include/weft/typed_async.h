/* weft/typed_async.h - typed handles: functions that can be started asynchronously, with
 * their arguments and their result by value.
 *
 *     WEFT_ASYNC(image, load_image, const char *, path, int, width) {
 *       return scale(decode(path), width);
 *     }
 *
 *     load_image_handle loading;
 *     if (load_image_async(&loading, "cat.png", 640) != 0) return;
 *     ...
 *     image cat = load_image_wait(loading);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TYPED_ASYNC_H
#define WEFT_TYPED_ASYNC_H

#include <weft/detail/typed_async.h>

/* Makes a function that can be started asynchronously, with arguments and result by
 * value. It stands for the head of the function; the body follows. WEFT_ASYNC(R, name, T,
 * x, U, y) defines, besides
 *
 *     static R name(T x, U y)             an ordinary function: call it, set breakpoints
 *
 * the type and the functions with which it is started:
 *
 *     name_handle                         a call that was started, in `.handle`
 *     int name_async(name_handle *out, T x, U y)
 *     int name_async_with(const weft_opts *o, name_handle *out, T x, U y)
 *     R name_wait(name_handle h)          waits, frees the handle, gives the result
 *     int name_wait_for(name_handle h, uint64_t timeout_ns, R *result)
 *
 * There may be 0 to 6 pairs of type and name; R may be void, and then name_wait_for has
 * no `result`. Types are written as for WEFT_TASK. Replaces
 *
 *     r = name(x, y);    with    name_async(&h, x, y); ...; r = name_wait(h);
 *
 * Meaning: weft_async_copy, with the arguments and the result in the handle: one
 * allocation. `h.handle` is an ordinary handle for weft_handle_done, _then, _notify,
 * _on_done, _wait_any and _drop. name_wait and name_wait_for wait as weft_handle_wait and
 * weft_handle_wait_for do; the latter gives 0 with *result, or WEFT_EBUSY, and the handle
 * stays. (weft_handle_wait would free the result too.)
 *
 * Threads, cost: as weft_async. Errors: name_async as weft_async; then out->handle is
 * NULL. name_wait of such a handle ends the program with a message. */
#define WEFT_ASYNC(...)                                                                  \
  static WEFT_ASYNC_DECLARE(__VA_ARGS__) static WF_TASK_JOINED(                          \
      WF_TASK_HEAD_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)

/* WEFT_ASYNC for a function that stands elsewhere. It is WEFT_ASYNC without the body, for
 * a function that is defined elsewhere as any other, or by WEFT_TASK. It starts with the
 * function's declaration, so `static` may stand in front of it.
 *
 *     static WEFT_ASYNC_DECLARE(double, area, const shape *, s)
 *
 *     static double area(const shape *s) { ... }
 *
 * Serial, threads, errors and cost: those of WEFT_ASYNC. */
#define WEFT_ASYNC_DECLARE(...)                                                          \
  WF_TASK_JOINED(WF_ASYNC_FORM_, WF_TASK_COUNT(__VA_ARGS__))(__VA_ARGS__)

#endif
