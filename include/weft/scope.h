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

/* What all calls of this header share.
 *
 * Serial: none: only tasks run something, unless the call says otherwise. Threads: any,
 * unless the call says otherwise. Errors: none, unless the call says otherwise. Cost: a
 * few loads, unless the call says otherwise. */

/* A group of tasks. It lives where you put it, usually on the stack; its members are
 * private. */
typedef struct weft_scope weft_scope;

/* Opens a scope.
 *
 * Serial: none: the code between begin and end stays as
 * it is, and calls that may run at the same time become weft_spawn.
 *
 * Meaning: until weft_scope_end the calling thread is in the current pool (outside a
 * pool: in the global one), so joins in between use it. A scope that is opened inside
 * another one, by the same thread or by a task of that scope, is its child: cancelling
 * the outer one cancels it too. weft_scope_begin_with takes the pool and the order of
 * tasks from its options.
 *
 * Threads: any. The thread that began a scope ends it, and the scopes of a thread end in
 * the reverse order; anything else ends the program with a message. So does a scope that
 * a function leaves open when it returns, when the thread begins the next one. Errors:
 * none. Cost:
 * about 10 ns inside a pool, tens of nanoseconds outside. */
WEFT_API void weft_scope_begin(weft_scope *s);
WEFT_API void weft_scope_begin_with(const weft_opts *o, weft_scope *s);

/* Starts a task in a scope.
 *
 * Replaces
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
 * that has ended ends the program with a message as long as its memory is intact.
 *
 * Errors: none. fn must not be left by longjmp, pthread_exit or a C++ exception. If there
 * is no memory, and when a thread has spawned some thousand tasks that nobody took,
 * weft_spawn runs tasks itself before it returns; so do not hold a lock that the tasks
 * take.
 *
 * Cost: some nanoseconds, without a lock or a shared counter. A task takes 64 bytes from
 * the calling worker's own store, which reuses them. A spawn from a thread outside the
 * pool or into a FIFO scope takes a lock; into a scope that is not the innermost one it
 * needs an atomic addition.
 *
 *     static void visit(void *ctx) {
 *       struct node *node = ctx;
 *       for (struct node *child = node->first; child; child = child->next)
 *         weft_spawn(node->scope, visit, child);
 *       work(node);
 *     } */
WEFT_API void weft_spawn(weft_scope *s, weft_fn *fn, void *ctx);

/* Starts a task in a scope, with a copy of its arguments.
 *
 * Replaces
 *
 *     struct args copy = args;
 *     fn(&copy);
 *
 * Meaning: weft_spawn with a copy of the `size` bytes at args. fn may change the copy,
 * which is aligned for every type. args may be reused as soon as the call returns.
 *
 * Threads and errors: those of weft_spawn; args may be NULL if size is 0. Without memory
 * fn runs at once, with a copy on the stack, or with args itself if they have more than
 * 4 KiB. Cost: copies of up to 16
 * bytes cost nothing extra; up to about 2 KiB their memory is reused as that of tasks;
 * larger ones take a malloc each.
 *
 *     struct tile tile = {x, y, image};
 *     weft_spawn_copy(&scope, &tile, sizeof tile, render); */
WEFT_API void weft_spawn_copy(weft_scope *s, const void *args, size_t size, weft_fn *fn);

/* Cancels a scope. Tasks that have not started are skipped, running ones can ask
 * weft_scope_cancelled, and weft_scope_end returns the error. The first error wins; later
 * calls change nothing. 0 stands for WEFT_ECANCELED; other numbers are yours.
 *
 * Threads: any, while the scope is open. Errors: a NULL scope, or one that is not open,
 * ends the program with a message. Cost: one atomic operation. */
WEFT_API void weft_scope_cancel(weft_scope *s, int error);

/* Returns whether the scope, or one around it, is cancelled, so that tasks can stop
 * early.
 *
 * Threads: any, while the scope is open. Errors: none; false for NULL. Cost: one load per
 * level of nesting. */
WEFT_API bool weft_scope_cancelled(const weft_scope *s);

/* Closes a scope: returns when all its tasks have ended or were skipped.
 *
 * Meaning: the result is 0, or the error of the scope if it was cancelled, else that of
 * the nearest cancelled scope around it. While the thread waits, it runs tasks of the
 * scope and then others of the pool, as weft_join does; see there and weft_isolate about
 * locks.
 *
 * Threads: the one that began the scope. Errors: the result, as above; ending a scope
 * twice ends the program with a message.
 *
 * Cost: that of the tasks that are left, and a wake-up if the thread has slept. */
WEFT_API int weft_scope_end(weft_scope *s);

/* Returns the innermost scope around the calling code, or NULL. It is the scope that its
 * thread began last, or the one whose task it is. Joins and loops pass it on to other
 * threads. Threads: any. */
WEFT_API weft_scope *weft_scope_current(void);

#ifdef __cplusplus
}
#endif

#endif
