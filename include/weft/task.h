/* weft/task.h - work outside of scopes: handles and how to wait for them, detached work,
 * a call on every thread, and what a task can ask of its thread: yield, isolate, blocking
 * sections. docs/guide/servers.md shows handles in a program with an event loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_TASK_H
#define WEFT_TASK_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: the function was called already, unless the call says otherwise. Threads:
 * any, unless the call says otherwise. Errors: none, unless the call says otherwise.
 * Cost: a few loads, unless the call says otherwise. */

/* ---- handles ---- */

/* A function that was started asynchronously. */
typedef struct weft_handle weft_handle;

/* Starts a function and gives a handle to wait for it.
 *
 * Replaces
 *
 *     fn(ctx);        // now, though its result is needed later
 *
 * Meaning: hands fn(ctx) to the started threads of the current pool and returns at once.
 * *out is the handle; give it to weft_handle_wait or to weft_handle_drop, once. fn runs
 * as if inside weft_isolate, so code that waits for the handle never runs on top of it.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL out or fn or bad options, WEFT_ENOMEM, and
 * WEFT_EAGAIN if as many functions wait as weft_config.queue_limit allows; then *out is
 * NULL and fn will not run. Cost: about 100 ns, and a wake-up if the pool sleeps.
 *
 *     weft_handle *handle;
 *     if (weft_async(&handle, load, &level) != 0) load(&level);
 *     ...
 *     weft_handle_wait(handle); */
WEFT_API int weft_async(weft_handle **out, weft_fn *fn, void *ctx);
WEFT_API int weft_async_with(const weft_opts *o, weft_handle **out, weft_fn *fn,
                             void *ctx);

/* Starts a function with a copy of its arguments, and gives a handle.
 *
 * Replaces
 *
 *     fn(args);        // now, though its result is needed later
 *
 * Meaning: as weft_async, with ctx a copy of `size` bytes at args, aligned for any type
 * of C, that lives as long as the handle. weft_handle_args gives its address: a function
 * that writes its result there needs no memory of its own. WEFT_ASYNC (typed_async.h)
 * does this with arguments and a result by value.
 *
 * Errors: as weft_async, and WEFT_EINVAL for NULL args with a size.
 *
 * Threads: any. Cost: as weft_async, and that of the copy. */
WEFT_API int weft_async_copy(weft_handle **out, const void *args, size_t size,
                             weft_fn *fn);
WEFT_API int weft_async_copy_with(const weft_opts *o, weft_handle **out, const void *args,
                                  size_t size, weft_fn *fn);

/* Returns the copy that weft_async_copy made; NULL for other handles. The function may be
 * at it until it has returned. Threads: any. */
WEFT_API void *weft_handle_args(weft_handle *h);

/* Whether the function of a handle has returned. If so, what it did is visible. False for
 * NULL. Threads: any.
 */
WEFT_API bool weft_handle_done(const weft_handle *h);

/* Gives up a handle without waiting. The function still runs, and so does what was
 * asked for by weft_handle_then and its relatives. NULL does nothing. Threads: any. */
WEFT_API void weft_handle_drop(weft_handle *h);

/* ---- waiting for handles ---- */

/* One thread at a time waits for a handle. Calls that free handles return when everything
 * that was asked for (weft_handle_then: queued; weft_handle_notify: written;
 * weft_handle_on_done: called) has happened, so that a descriptor may be closed then. */

/* Waits until the function of a handle has returned, and frees the handle. If no thread
 * has started the function yet, the calling thread runs it; otherwise the calling thread
 * helps the pool meanwhile, as in weft_join.
 *
 * Threads: any, one for each handle. Errors: WEFT_EINVAL for NULL, else 0. The function
 * of the handle must not wait for its own handle, nor may a part of it, nor a task that
 * it runs by weft_yield: on the same thread that ends the program with a message.
 *
 * Cost: a few nanoseconds if the function has returned, else a wake-up. */
WEFT_API int weft_handle_wait(weft_handle *h);

/* Waits for at most timeout_ns nanoseconds, and frees the handle. WEFT_EBUSY, and the
 * handle stays, when the time is over. 0 only looks. UINT64_MAX is for ever.
 *
 * Meaning: a thread outside of pools sleeps, and leaves the function to the pool's
 * threads, so the limit is kept to within the system's timers. A caller inside
 * weft_pool_run helps, and a task that it has begun is run to its end. A thread that a
 * pool has started may be the only one that could run the function, so it runs a function
 * that nobody has begun, however long that takes. So does a caller that is helping, when
 * the wait is in the task that it helps with: the pool's threads may be waiting for that
 * task. A function that returns at the very last moment counts: then the result is 0.
 *
 * Threads: any, one for each handle. Errors: WEFT_EINVAL for NULL, WEFT_EBUSY; else 0,
 * and the handle is freed. Allocates nothing.
 *
 *     while (weft_handle_wait_for(handle, 100 * 1000 * 1000) == WEFT_EBUSY)
 *       show_progress();
 *
 * Cost: as weft_handle_wait. */
WEFT_API int weft_handle_wait_for(weft_handle *h, uint64_t timeout_ns);

/* Waits until one of several functions has returned.
 *
 * Replaces
 *
 *     for (size_t i = 0;; i = (i + 1) % n) if (weft_handle_done(h[i])) return i;
 *
 * Meaning: waits until one of n functions has returned; returns its index, and frees
 * none. If several are done it is the lowest one. The handles may be of different pools,
 * and the same one may be there twice. Who runs and helps what: as weft_handle_wait_for.
 *
 * Threads: any, one for each handle. Errors: n = 0 or a NULL among the handles ends the
 * program with a message, and so does a handle that another thread waits for. Allocates
 * nothing. Cost: some nanoseconds for each handle, and a wake-up.
 *
 *     while (n > 0) {
 *       size_t i = weft_handle_wait_any(handles, n);
 *       use(results[i]);
 *       weft_handle_wait(handles[i]);                 // returns at once, and frees it
 *       handles[i] = handles[--n], results[i] = results[n];
 *     } */
WEFT_API size_t weft_handle_wait_any(weft_handle *const *h, size_t n);

/* Waits for one of several functions for at most timeout_ns nanoseconds. SIZE_MAX when
 * the time is over.
 *
 * Serial: none. Threads and errors: as weft_handle_wait_any. Cost: the same. */
WEFT_API size_t weft_handle_wait_any_for(weft_handle *const *h, size_t n,
                                         uint64_t timeout_ns);

/* Waits until all of several functions have returned.
 *
 * Replaces
 *
 *     for (size_t i = 0; i < n; i++) weft_handle_wait(h[i]);
 *
 * Meaning: waits until all have returned, and frees all. The calling thread runs those
 * that nobody has begun. n may be 0.
 *
 * Threads: any, one for each handle. Errors: WEFT_EINVAL for a NULL among the handles;
 * then none was waited for or freed. The same handle twice ends the program with a
 * message. Allocates nothing.
 *
 * Cost: that of weft_handle_wait for each. */
WEFT_API int weft_handle_wait_all(weft_handle *const *h, size_t n);

/* ---- being told ---- */

/* Starts a further function once that of a handle has returned.
 *
 * Replaces
 *
 *     weft_handle_wait(h); fn(ctx);      // though nobody needs to wait for it
 *
 * Meaning: fn(ctx) runs in the handle's pool, in the same lane, once the function has
 * returned; at once if it has. What the function did is visible to fn. The handle stays
 * the caller's, to wait for or to drop; that does not concern fn. A handle may have any
 * number of these, which are queued in the order of the calls. fn runs as detached work
 * does, and may itself call everything. weft_config.queue_limit does not count it.
 *
 * Threads: any that has the handle; its pool must exist. Errors: WEFT_EINVAL for NULL,
 * WEFT_ENOMEM; then fn will not run. If later there is no memory for the queue, fn runs
 * on the thread that was at the function. Cost: an allocation, and a place in the queue.
 *
 *     weft_async(&handle, read_page, page);
 *     weft_handle_then(handle, index_page, page);
 *     weft_handle_drop(handle); */
WEFT_API int weft_handle_then(weft_handle *h, weft_fn *fn, void *ctx);

/* Wakes an event loop when the function has returned. Writes the eight bytes of a
 * uint64_t 1 to fd once the function has returned; at once if it has. For an eventfd, or
 * the writing end of a pipe, that epoll, poll or select watches.
 *
 * Meaning: weft_handle_done is true by then. Several handles may write to one descriptor:
 * an eventfd adds up, a pipe holds eight bytes for each. Use one that does not block
 * (EFD_NONBLOCK, O_NONBLOCK): a full one has something to read anyway, while a blocking
 * pipe that is full holds up a thread of the pool. Nothing is reported if the descriptor
 * was closed meanwhile, and SIGPIPE is not raised. Close it only when the handle was
 * waited for, or the event has come: a number that is used again would get the bytes.
 *
 * Threads: any that has the handle. Errors: WEFT_EINVAL for NULL, or a descriptor that is
 * not open for writing; WEFT_ENOMEM. Cost: an allocation, and some system calls on the
 * thread that was at the function. */
WEFT_API int weft_handle_notify(weft_handle *h, int fd);

/* Calls a function at the moment when that of a handle has returned. The call is made on
 * the thread that was at it; at once, on the calling thread, if it has returned. For
 * other ways to tell an event loop: uv_async_send, g_main_context_wakeup, PostMessage,
 * pthread_cond_signal.
 *
 * Meaning: weft_handle_done is true by then, and threads that wait for the handle go on
 * when fn has returned. So fn is short and does not wait: for a lock that is held long,
 * a handle, a scope, a broadcast, an idle pool. It may drop the handle, detach and start
 * handles.
 *
 * Threads: any that has the handle. Errors: WEFT_EINVAL for NULL, WEFT_ENOMEM; then fn is
 * not called. Cost: an allocation. */
WEFT_API int weft_handle_on_done(weft_handle *h, weft_fn *fn, void *ctx);

/* ---- detached work ---- */

/* Starts a function; nobody waits for it.
 *
 * Replaces
 *
 *     fn(ctx);      // though nobody needs to wait for it
 *
 * Meaning: weft_pool_detach for the current pool, or for that of the options, which also
 * choose the lane.
 *
 * Threads, errors and cost: those of weft_pool_detach; also WEFT_EINVAL for bad options.
 */
WEFT_API int weft_detach(weft_fn *fn, void *ctx);
WEFT_API int weft_detach_with(const weft_opts *o, weft_fn *fn, void *ctx);

/* ---- every thread ---- */

/* Calls a function once on every thread of a pool.
 *
 * Replaces
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

/* Runs a function; while it waits, its thread runs no other work.
 *
 * Replaces
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
