/* weft/scope.h - structured concurrency: any number of tasks, and a place where all of
 * them have ended.
 *
 *     weft_scope scope;
 *     weft_scope_begin(&scope);
 *     for (int i = 0; i < files; i++) weft_spawn(&scope, parse, &file[i]);
 *     int status = weft_scope_end(&scope);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_SCOPE_H
#define WEFT_SCOPE_H

#include <weft/detail/scope.h>
#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A group of tasks. Lives where you put it, usually on the stack; its content is private.
 */
typedef struct weft_scope weft_scope;

/* Opens a scope. Replaces nothing by itself: the calls between begin and end stay as they
 * are, and those that may run at the same time become weft_spawn.
 *
 * Meaning: until weft_scope_end the calling thread is in the current pool (from outside:
 * in the global one), so that joins in between use it. A scope that is opened inside
 * another one, by the same thread or by a task of that scope, is its child: cancelling
 * the outer one cancels it too. weft_scope_begin_with takes the pool and the order of
 * tasks from its options.
 *
 * Threads: any. The thread that begins a scope ends it, and scopes of a thread end in the
 * reverse order of their beginnings; anything else ends the program with a message.
 * Errors: none. Cost: about 10 ns inside a pool, tens from outside. */
WEFT_API void weft_scope_begin(weft_scope *s);
WEFT_API void weft_scope_begin_with(const weft_opts *o, weft_scope *s);

/* Replaces
 *
 *     fn(ctx);
 *
 * Meaning: fn(ctx) runs exactly once, at the latest in weft_scope_end, on any thread of
 * the scope's pool, unless the scope is cancelled before it starts. ctx must stay valid
 * until then; it may point into the frame that holds the scope. What happened before the
 * call is visible to fn, and what fn did is visible after weft_scope_end.
 *
 * Threads: the one that began the scope, every task of the scope, and any other thread
 * that knows that the scope stays open until the call has returned. Spawning into a scope
 * that has ended ends the program with a message as long as its memory is there.
 *
 * Errors: none. fn must not be left by longjmp, pthread_exit or a C++ exception. A task
 * takes 64 bytes from the calling worker's own store, which is recycled. If there is no
 * memory, and when a thread has spawned some thousand tasks that nobody took, weft_spawn
 * runs tasks itself before it returns; so do not hold a lock that the tasks take. Cost:
 * some nanoseconds, no lock, no shared counter; from a thread outside the pool and in
 * FIFO scopes a lock, into a scope that is not the innermost one an atomic add.
 *
 *     static void visit(void *ctx) {
 *       struct node *node = ctx;
 *       for (struct node *child = node->first; child; child = child->next)
 *         weft_spawn(node->scope, visit, child);
 *       work(node);
 *     } */
WEFT_API void weft_spawn(weft_scope *s, weft_fn *fn, void *ctx);

/* Replaces
 *
 *     struct args copy = args;
 *     fn(&copy);
 *
 * Meaning: weft_spawn with a copy of the `size` bytes at args, which fn may change and
 * which is aligned for every type. The copy is made first, so args may be reused at once.
 *
 * Threads, errors: as weft_spawn. Copies of up to 16 bytes cost nothing extra, up to
 * about 2 KiB they are recycled as tasks are, above that each is one malloc. If memory
 * cannot be had, fn runs at once with a copy on the stack; for more than 4 KiB it is then
 * given args itself.
 *
 *     struct tile tile = {x, y, image};
 *     weft_spawn_copy(&scope, &tile, sizeof tile, render); */
WEFT_API void weft_spawn_copy(weft_scope *s, const void *args, size_t size, weft_fn *fn);

/* Cancels a scope: tasks that have not started are skipped, running ones see it through
 * weft_scope_cancelled, and weft_scope_end returns the error. The first error wins; later
 * calls change nothing. 0 stands for WEFT_ECANCELED; other numbers are yours.
 *
 * Threads: any, while the scope is open. Cost: one atomic operation. */
WEFT_API void weft_scope_cancel(weft_scope *s, int error);

/* Is the scope cancelled, or one that it is nested in? For tasks to stop early.
 *
 * Threads: any, while the scope is open. Cost: one load per level of nesting. */
WEFT_API bool weft_scope_cancelled(const weft_scope *s);

/* Closes a scope: returns when all its tasks have ended or were skipped.
 *
 * Returns 0, or the error of the scope if it was cancelled, else that of the nearest
 * cancelled scope around it. While it waits, the thread runs tasks of the scope and then
 * others of the pool, as weft_join does; see there and weft_isolate about locks.
 *
 * Threads: the one that began it. Ending a scope twice ends the program with a message.
 */
WEFT_API int weft_scope_end(weft_scope *s);

/* The innermost scope that the calling code is in, or NULL: the one its thread has begun
 * last, or the one that it is a task of. Joins and loops hand it on to other threads. */
WEFT_API weft_scope *weft_scope_current(void);

#ifdef __cplusplus
}
#endif

#endif
