/* weft/task.h - work outside of scopes: handles, detached work, a call on every thread,
 * and what a task can ask of its thread: yield, isolate, blocking sections.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- handles ---- */

/* A function that was started asynchronously. */
typedef struct weft_handle weft_handle;

/* Replaces
 *
 *     fn(ctx);        // now, though its result is needed later
 *
 * Meaning: hands fn(ctx) to the started threads of the current pool and returns at once.
 * *out is the handle; give it to weft_handle_wait or to weft_handle_drop, once. fn runs
 * as if inside weft_isolate, so code that waits for the handle never runs on top of it.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL out or fn or bad options, WEFT_ENOMEM; then
 * *out is NULL and fn will not run. Cost: about 100 ns, and a wake-up if the pool sleeps.
 *
 *     weft_handle *handle;
 *     if (weft_async(&handle, load, &level) != 0) load(&level);
 *     ...
 *     weft_handle_wait(handle); */
WEFT_API int weft_async(weft_handle **out, weft_fn *fn, void *ctx);
WEFT_API int weft_async_with(const weft_opts *o, weft_handle **out, weft_fn *fn,
                             void *ctx);

/* Returns whether the function has returned; if so, what it did is visible. Threads: any.
 */
WEFT_API bool weft_handle_done(const weft_handle *h);

/* Waits until the function has returned, and frees the handle. If no thread has started
 * the function yet, the calling thread runs it; otherwise the calling thread helps the
 * pool meanwhile, as in weft_join.
 *
 * Threads: any, one for each handle. Errors: WEFT_EINVAL for NULL, else 0. The function
 * of the handle must not wait for its own handle, nor may a part of it, nor a task that
 * it runs by weft_yield: on the same thread that ends the program with a message. */
WEFT_API int weft_handle_wait(weft_handle *h);

/* Gives up the handle without waiting; the function still runs. NULL does nothing.
 * Threads: any. */
WEFT_API void weft_handle_drop(weft_handle *h);

/* ---- detached work ---- */

/* Replaces
 *
 *     fn(ctx);      // though nobody needs to wait for it
 *
 * Meaning: weft_pool_detach for the current pool, or for that of the options, which also
 * choose the lane. */
WEFT_API int weft_detach(weft_fn *fn, void *ctx);
WEFT_API int weft_detach_with(const weft_opts *o, weft_fn *fn, void *ctx);

/* ---- every thread ---- */

/* Replaces
 *
 *     for (unsigned index = 0; index < count; index++) fn(index, count, ctx);
 *
 * Meaning: calls fn once on each of `count` threads: every thread that the current pool
 * has started (without those added for blocking sections), and the calling one if it came
 * from outside. index is different on each, from 0 to count - 1. The call returns when
 * all have returned. A thread makes its call between two tasks or while it waits inside
 * weft. So no thread of the pool may wait for this call in a way of its own (a lock, a
 * condition): it would never answer. A thread that has entered another pool answers when
 * it is back: work that threads of this pool wait for in other pools must not broadcast
 * here.
 *
 * Threads: any. Errors: none. Allocates nothing. Cost: that of waking the threads. In an
 * exit hook, when other threads may have ended, only the calling thread calls fn. */
WEFT_API void weft_broadcast(void (*fn)(unsigned index, unsigned count, void *ctx),
                             void *ctx);
WEFT_API void weft_broadcast_with(const weft_opts *o,
                                  void (*fn)(unsigned index, unsigned count, void *ctx),
                                  void *ctx);

/* ---- what a task can ask of its thread ---- */

/* Runs one waiting task, if there is one, so that a long function does not keep others
 * waiting. Returns whether it ran one.
 *
 * Meaning: it looks for tasks that this thread has spawned, then for those of other
 * threads, then for detached and asynchronous work of the normal lane. Outside a pool it
 * takes part in the global one if that runs. It does nothing if half of the stack is in
 * use already (see weft_join). In weft_isolate it runs only work made inside.
 *
 * Threads: any. Errors: none. Cost: that of looking, some tens of nanoseconds. */
WEFT_API bool weft_yield(void);

/* Replaces
 *
 *     fn(ctx);
 *
 * Meaning: calls fn(ctx) on the calling thread. While fn, or a task that it forked or
 * spawned, waits for its own tasks, the waiting thread runs only tasks made inside fn,
 * and otherwise sleeps. So the caller may hold a lock that other tasks of the pool take:
 *
 *     static void update(void *ctx) {        // a task
 *       pthread_mutex_lock(&mutex);
 *       weft_isolate(recompute_all, ctx);    // uses weft_join, scopes, ...
 *       pthread_mutex_unlock(&mutex);
 *     }
 *
 * Without it, a thread that waits inside recompute_all might start another update on top
 * and wait for the mutex that it holds itself. Broadcasts are answered when fn has
 * returned; but while fn, or work that it waits for, broadcasts itself, all broadcasts
 * are answered at once.
 *
 * Threads: any. Errors: none. Cost: a few nanoseconds; outside a pool that of entering
 * the global one. */
WEFT_API void weft_isolate(weft_fn *fn, void *ctx);

/* Mark code that may block: file or network input, locks, waiting for a process.
 *
 * Meaning: between the two calls another thread stands in for the calling one, so that as
 * many threads as before are working. When the section ends, the number returns to normal
 * as soon as one of them has finished its task. At most weft_config.blocking threads
 * stand in at a time; further sections simply block. Sections may nest; end a scope in
 * the same section in which it began.
 *
 * Threads: any; outside a pool both calls do nothing. Errors: an end without a begin ends
 * the program with a message. Cost: some tens of nanoseconds; a wake-up if every thread
 * of the pool was busy; a thread start the first time. It pays for code that blocks for
 * longer than that.
 *
 *     weft_blocking_begin();
 *     size_t got = fread(buffer, 1, size, file);
 *     weft_blocking_end(); */
WEFT_API void weft_blocking_begin(void);
WEFT_API void weft_blocking_end(void);

#ifdef __cplusplus
}
#endif

#endif
