/* weft/task.h - work outside of scopes: handles, detached work, a call on every thread,
 * and what a task may say about itself.
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
 * weft_handle_wait waits for it. fn runs as in weft_isolate, so that nothing that waits
 * for the handle can come to lie on top of it. *out is the handle; each handle must be
 * given to weft_handle_wait or to weft_handle_drop, once.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL out or fn or nonsense in the options,
 * WEFT_ENOMEM; then *out is NULL and fn will not run. Cost: about 100 ns, and a wake-up
 * if the pool sleeps.
 *
 *     weft_handle *handle;
 *     if (weft_async(&handle, load, &level) != 0) load(&level);
 *     ...
 *     weft_handle_wait(handle); */
WEFT_API int weft_async(weft_handle **out, weft_fn *fn, void *ctx);
WEFT_API int weft_async_with(const weft_opts *o, weft_handle **out, weft_fn *fn,
                             void *ctx);

/* Has the function returned? Then what it did is visible. Any thread. */
WEFT_API bool weft_handle_done(const weft_handle *h);

/* Waits until the function has returned, and frees the handle. If nobody has started it
 * yet, the calling thread runs it; else it helps the pool meanwhile, as weft_join does.
 *
 * Returns 0, or WEFT_EINVAL for NULL. The function of the handle itself must not wait for
 * it, nor a part of it, nor what it lets through by weft_yield: the program ends with a
 * message if that is on the same thread.
 *
 * Threads: any, one per handle. */
WEFT_API int weft_handle_wait(weft_handle *h);

/* Gives the handle up without waiting: the function runs all the same. NULL does nothing.
 * Any thread. */
WEFT_API void weft_handle_drop(weft_handle *h);

/* ---- detached work ---- */

/* weft_pool_detach on the current pool: hands fn(ctx) to the started threads and returns.
 */
WEFT_API int weft_detach(weft_fn *fn, void *ctx);
WEFT_API int weft_detach_with(const weft_opts *o, weft_fn *fn, void *ctx);

/* ---- every thread ---- */

/* Replaces
 *
 *     for (unsigned index = 0; index < count; index++) fn(index, count, ctx);
 *
 * Meaning: calls fn once on each of `count` threads: every one that the current pool has
 * started (without those that are added for blocking sections), and the calling one if it
 * came from outside. index is different on each, from
 * 0 to count - 1. Returns when all have returned. Each thread makes its call when it is
 * between two tasks, or waits for something; so no thread may be kept from that by
 * waiting for this call in its own way. Nor does a thread that has gone into another pool
 * answer before it is back: what threads of the pool wait for in other pools must not
 * broadcast here.
 *
 * Threads: any. Errors: none. Allocates nothing. Cost: that of waking the threads. In an
 * exit hook, when other threads may have ended, fn is called on the calling thread only.
 */
WEFT_API void weft_broadcast(void (*fn)(unsigned index, unsigned count, void *ctx),
                             void *ctx);
WEFT_API void weft_broadcast_with(const weft_opts *o,
                                  void (*fn)(unsigned index, unsigned count, void *ctx),
                                  void *ctx);

/* ---- what a task may say about itself ---- */

/* Runs one task that waits to be run, if there is one: for long functions that want to
 * let others through. True if it ran one.
 *
 * Looks for tasks that this thread has spawned, then those of other threads, then
 * detached and asynchronous work of the normal lane. Outside a pool it takes part in the
 * global one if that runs. Does nothing if too much of the stack is in use already (see
 * weft_join), and in weft_isolate runs only work of its own. */
WEFT_API bool weft_yield(void);

/* Replaces
 *
 *     fn(ctx);
 *
 * Meaning: calls fn(ctx) on the calling thread. While fn, or anything that it forks or
 * spawns, waits for its own tasks, the waiting thread runs only tasks made by what is
 * waiting, and otherwise sleeps. So fn may hold a lock that other tasks of the pool take:
 *
 *     static void update(void *ctx) {        // a task
 *       pthread_mutex_lock(&mutex);
 *       weft_isolate(recompute_all, ctx);    // uses weft_join, scopes, ...
 *       pthread_mutex_unlock(&mutex);
 *     }
 *
 * Without it, a thread that waits inside recompute_all might start another update on top
 * and wait for the mutex that it holds itself. Broadcasts are answered when fn has
 * returned; but at once, and all of them, while fn, or anything that it waits for,
 * broadcasts itself.
 *
 * Threads: any. Errors: none. Cost: a few nanoseconds; from outside that of entering the
 * global pool. */
WEFT_API void weft_isolate(weft_fn *fn, void *ctx);

/* Say that what the calling thread does in between may block: file or network input,
 * locks, waiting for a process. Meanwhile another thread takes over its part of the work,
 * so that as many as before are running; when the section ends, the number returns to
 * normal as soon as one of them has finished its task. At most weft_config.blocking
 * threads are added in a pool; sections beyond that simply block. Sections may nest;
 * a scope that is begun inside one is ended inside it. Outside a pool both calls do
 * nothing. An end without a begin ends the program with a message.
 *
 * Cost: some tens of nanoseconds; a wake-up where every thread of the pool was busy; a
 * thread start the first time. Worth it for what takes longer than that.
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
