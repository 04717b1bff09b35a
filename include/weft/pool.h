/* weft/pool.h - pools of worker threads.
 *
 * Most programs need nothing of this: the global pool starts by itself on first use, with
 * one thread per usable CPU, the calling thread included. A pool of its own is for a part
 * of a program that wants its own number of threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_pool weft_pool;

/* The most threads a pool may have, and the most callers from outside that take part in
 * it at the same time. */
#define WEFT_MAX_THREADS 1024
#define WEFT_MAX_GUESTS  1024
/* The most that weft_config.blocking may be, and its value for "none". */
#define WEFT_MAX_BLOCKING 1024
#define WEFT_NO_BLOCKING  ((unsigned)-1)

/* How long a worker that finds no work keeps looking before it sleeps. Asleep, a pool
 * uses no CPU at all; there is no polling in any mode. */
typedef enum weft_idle {
  WEFT_IDLE_LOW_LATENCY,  /* looks longest: for work that comes in quick bursts */
  WEFT_IDLE_BALANCED,     /* about as long as falling asleep and waking up takes */
  WEFT_IDLE_POWER_SAVING, /* sleeps almost at once */
  WEFT_IDLE_DEFAULT /* what the environment variable WEFT_IDLE says, else balanced */
} weft_idle;

/* Start from WEFT_CONFIG_INIT and change what you want:
 *
 *     weft_config config = WEFT_CONFIG_INIT;
 *     config.threads = 4; */
typedef struct weft_config {
  size_t struct_size; /* sizeof(weft_config), set by WEFT_CONFIG_INIT */
  /* Threads at work at once, the calling one included, so one less is started, but at
   * least one. 0: the environment variable WEFT_NUM_THREADS if it is a number from 1 to
   * WEFT_MAX_THREADS, else the usable CPUs (affinity mask and cgroup quota). */
  unsigned threads;
  /* Of each started thread in bytes; 0: the system's default. With D bytes for the
   * deepest of your functions, all calls made one after the other, a stack of 2 * (D +
   * 2048) is enough, however tasks come to lie on top of each other
   * (docs/guide/tasks.md). */
  size_t stack_size;
  weft_idle idle;
  const char *name; /* thread names are "name-1", "name-2" ...; NULL: "weft". Copied, and
                     * cut to what the system takes. */
  /* Called on each started thread, also those for blocking sections, first and last
   * thing; worker is its index. The hooks may use the pool; what on_exit detaches is
   * still run. NULL: none. */
  void (*on_start)(unsigned worker, void *ctx);
  void (*on_exit)(unsigned worker, void *ctx);
  void *hook_ctx;
  unsigned guests;       /* callers from outside that take part at once; more are served
                          * by the started threads. 0: 64 */
  size_t deque_capacity; /* tasks a worker holds before its deque must grow. 0: 1024 */
  unsigned blocking; /* threads that are added while others are in blocking sections, see
                      * weft_blocking_begin. 0: as many as `threads`; WEFT_NO_BLOCKING:
                      * none */
} weft_config;

#define WEFT_CONFIG_INIT                                                                 \
  { sizeof(weft_config), 0, 0, WEFT_IDLE_DEFAULT, NULL, NULL, NULL, NULL, 0, 0, 0 }

/* Makes a pool.
 *
 * config may be NULL: all defaults. *out is the pool, or NULL on failure.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL out, a struct_size of 0 or one that ends
 * within a member, more threads, guests or threads for blocking sections than the maxima,
 * an unknown idle mode, a stack size the system calls invalid; WEFT_ENOMEM. If the system
 * refuses some of the threads, the pool works with those it has; if it refuses all, the
 * callers do the work. Cost: that of starting the threads.
 *
 *     weft_pool *pool;
 *     int status = weft_pool_create(&pool, NULL);
 *     if (status != 0) return status; */
WEFT_API int weft_pool_create(weft_pool **out, const weft_config *config);

/* Ends a pool: runs what was detached, then joins every thread and frees everything.
 *
 * NULL does nothing. The pool must not be in use: a call from one of its own tasks, or
 * while another thread is inside weft_pool_run, ends the program with a message. */
WEFT_API void weft_pool_destroy(weft_pool *pool);

/* Replaces
 *
 *     fn(ctx);
 *
 * Meaning: runs fn(ctx) in the pool and returns when it has returned; weft calls inside
 * use that pool. NULL means the current pool. The calling thread itself runs fn, as a
 * guest of the pool, so entering costs tens of nanoseconds and no hand-over; only when
 * all guest places are taken does a started thread run it while the caller waits. A
 * thread that is in the pool already just calls fn.
 *
 * Threads: any, also tasks of another pool. Errors: none. It allocates when a guest place
 * is used for the first time; without memory fn runs all the same. */
WEFT_API void weft_pool_run(weft_pool *pool, weft_fn *fn, void *ctx);

/* Hands fn(ctx) to the started threads of a pool and returns at once: fire and forget.
 *
 * NULL means the current pool. Detached work runs in the order in which it came, after
 * work that is under way. weft_pool_destroy runs all that is left. ctx must stay valid
 * until fn has used it. In a pool that has no started thread fn runs in the call.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL fn, WEFT_ENOMEM (then fn will not run).
 * Cost: some tens of nanoseconds, and a wake-up if the pool sleeps. */
WEFT_API int weft_pool_detach(weft_pool *pool, weft_fn *fn, void *ctx);

/* The pool that weft calls of this thread would use now: the one it is in, else the
 * global one, which is started if need be. NULL if that is impossible; compute calls then
 * run on the calling thread. */
WEFT_API weft_pool *weft_pool_current(void);

/* Starts the global pool with a configuration of your own. Optional: without it the pool
 * starts on first use, as if by weft_init(NULL).
 *
 * Errors: WEFT_EBUSY if it runs already, and those of weft_pool_create. */
WEFT_API int weft_init(const weft_config *config);

/* Ends the global pool as weft_pool_destroy does. It may be started again, by weft_init
 * or by use. Nothing happens if it does not run. */
WEFT_API void weft_shutdown(void);

/* How many threads work at once in the current pool, the caller included: at least 1. */
WEFT_API unsigned weft_thread_count(void);

/* The number of the calling thread in its pool, -1 outside. No two threads that are in a
 * pool at the same time have the same one. Started threads have 1, 2, ...; the first
 * caller from outside has 0, so that in a pool of several threads with one caller the
 * numbers are those below weft_thread_count; further callers have larger ones. */
WEFT_API int weft_worker_index(void);

/* One more than the largest weft_worker_index in the current pool: the size for an array
 * with one place per thread. Only a caller that finds all guest places taken, and opens a
 * scope, is a task of another pool or finds no started thread to serve it, has a number
 * from here on, the lowest free one; raise weft_config.guests if there can be so many
 * callers. */
WEFT_API unsigned weft_worker_limit(void);

/* Totals since the pool started. Counted on slow paths only: a join whose second half
 * nobody took is in none of them. */
typedef struct weft_stats {
  size_t struct_size; /* set it to sizeof(weft_stats) before the call */
  uint64_t tasks;     /* run for somebody else: stolen or injected */
  uint64_t steals;
  uint64_t exposes;   /* times that an owner made tasks public because somebody asked */
  uint64_t takeovers; /* times that a thief did so for an owner that was busy */
  uint64_t injected;  /* detached, or handed in by callers beyond the guest places */
  uint64_t sleeps;
  uint64_t wakes; /* of sleeping workers, by others */
} weft_stats;

#define WEFT_STATS_INIT                                                                  \
  { sizeof(weft_stats), 0, 0, 0, 0, 0, 0, 0 }

/* Adds up the statistics of a pool; NULL means the current one. Any thread, at any time:
 * the numbers are recent, and exact when the pool is at rest. A struct_size smaller than
 * today's fills only the members that are whole in it.
 *
 *     weft_stats stats = WEFT_STATS_INIT;
 *     weft_pool_stats(NULL, &stats);
 *     printf("%llu steals\n", (unsigned long long)stats.steals); */
WEFT_API void weft_pool_stats(const weft_pool *pool, weft_stats *total);

#ifdef __cplusplus
}
#endif

#endif
