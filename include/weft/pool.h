/* weft/pool.h - pools of worker threads.
 *
 * Most programs need nothing from this header: the global pool starts by itself on first
 * use, with one thread for each usable CPU, the calling thread included. Create a pool of
 * your own where a part of a program needs its own number of threads.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: a serial program has no pool, unless the call says otherwise. Threads:
 * any, unless the call says otherwise. Errors: none, unless the call says otherwise.
 * Cost: a few loads, unless the call says otherwise; a call that needs the global pool
 * starts it. */

/* A pool of worker threads. */
typedef struct weft_pool weft_pool;

/* The most threads a pool can have, and the most callers from outside. The latter have a
 * place in it at the same time. */
#define WEFT_MAX_THREADS 1024
#define WEFT_MAX_GUESTS  1024
/* The largest value of weft_config.blocking, and the value that means "none". */
#define WEFT_MAX_BLOCKING 1024
#define WEFT_NO_BLOCKING  (~0U)
/* The value of weft_config.queue_limit that means "none", whatever the environment says.
 */
#define WEFT_NO_QUEUE_LIMIT SIZE_MAX

/* How long a worker that finds no work searches before it sleeps. A sleeping pool uses no
 * CPU time in any mode. (While a pool with more threads than CPUs is at work, one of its
 * sleepers may wake up 4000 times a second to see whether queued work is stuck.) */
typedef enum weft_idle {
  WEFT_IDLE_LOW_LATENCY,  /* searches longest: for work that comes in quick bursts */
  WEFT_IDLE_BALANCED,     /* about as long as falling asleep and waking up take */
  WEFT_IDLE_POWER_SAVING, /* sleeps almost at once */
  WEFT_IDLE_DEFAULT       /* the environment variable WEFT_IDLE decides, else balanced */
} weft_idle;

/* Whether a sleeping thread that is woken is kept off the CPU of the thread that wakes
 * it. On virtual machines the kernel may queue it there although another CPU is idle, and
 * a call after a rest then gains nothing from the pool. To steer costs two system calls
 * for each wake-up; a thread's CPUs are as the program has set them whenever it sleeps or
 * runs tasks (src/sched/steer.md). */
typedef enum weft_steer {
  WEFT_STEER_DEFAULT, /* what the environment variable WEFT_STEER says (auto, on, off) */
  WEFT_STEER_AUTO,    /* while woken threads come late: the default */
  WEFT_STEER_ON,      /* always */
  WEFT_STEER_OFF      /* never */
} weft_steer;

/* What each started thread of a pool is bound to. Bound threads keep their caches, and
 * their memory stays near; but they cannot give way to other programs that want the same
 * CPU. Worth trying on a machine of your own. */
typedef enum weft_bind {
  WEFT_BIND_NONE,   /* nothing: a thread runs on any CPU of the pool */
  WEFT_BIND_CORES,  /* a core of its own, with all hardware threads of it */
  WEFT_BIND_THREADS /* one hardware thread, a CPU in the sense of the system */
} weft_bind;

/* How a pool is made: threads, stacks, CPUs, hooks, limits.
 *
 * Start from WEFT_CONFIG_INIT and change what you want:
 *
 *     weft_config config = WEFT_CONFIG_INIT;
 *     config.threads = 4; */
typedef struct weft_config {
  size_t struct_size; /* sizeof(weft_config), set by WEFT_CONFIG_INIT */
  /* The number of threads that work at once, the calling one included; so one less is
   * started, but at least one. 0: the environment variable WEFT_NUM_THREADS if it is a
   * number from 1 to WEFT_MAX_THREADS, else the number of usable CPUs (affinity mask,
   * cgroup quota, and `cpus` below). A variable that is not understood is reported on
   * standard error, once for each process; so are WEFT_IDLE and WEFT_STEER. */
  unsigned threads;
  /* The stack of each started thread in bytes, at least PTHREAD_STACK_MIN (16 KiB on
   * most systems); 0: the system's default. 3 * D + 4096 bytes are enough if your program
   * needs D bytes when one thread makes all calls one after the other, also where waiting
   * threads run tasks on top of each other: a thread starts such a task only while half
   * of its stack is free, and one task and its calls need at most 1.5 * D + 2048 (weft's
   * own frames are larger where threads share work). tests/sched/nesting.c checks this.
   */
  size_t stack_size;
  weft_idle idle;
  const char *name; /* threads are named "name-1", "name-2" ...; NULL: "weft". Copied, and
                     * cut to the length that the system allows. */
  /* on_start is the first and on_exit the last function that each started thread runs,
   * also the threads for blocking sections; worker is the thread's index. Both may use
   * the pool; what on_exit detaches still runs. NULL: none. */
  void (*on_start)(unsigned worker, void *ctx);
  void (*on_exit)(unsigned worker, void *ctx);
  void *hook_ctx;
  unsigned guests; /* callers from outside that have a place at once; started threads
                    * serve further ones. 0: 64 */
  size_t deque_capacity; /* tasks that a worker holds before its deque grows. 0: 1024 */
  unsigned blocking; /* threads that are added while others are in blocking sections, see
                      * weft_blocking_begin. 0: as many as `threads`; WEFT_NO_BLOCKING:
                      * none */
  weft_steer steer;  /* where woken threads run */
  /* How many detached and asynchronous functions may wait in the pool, not yet begun. At
   * the limit weft_detach, weft_async and the like return WEFT_EAGAIN and take nothing,
   * so that a producer that is faster than the pool does not fill the memory. Exact, also
   * with many producers. 0: the environment variable WEFT_QUEUE_LIMIT if it is a number
   * from 1 to 10^8, else none; WEFT_NO_QUEUE_LIMIT: none. */
  size_t queue_limit;
  /* The CPUs on which the pool's threads run, as in "0-7,16-23", numbered as the system
   * does (`weft info --topology` shows them). NULL: all that the process may use. The
   * number of threads is then that of these CPUs, unless something above says otherwise.
   * Threads that call from outside keep the CPUs that they have. Where the system cannot
   * bind threads (macOS, the portable layer), only the number counts. Copied. */
  const char *cpus;
  /* Threads are bound one after the other: first to one hardware thread of each core, the
   * fastest cores first, then to the second ones. The first place is left to the thread
   * that calls. Where there are more threads than places, they share. With
   * WEFT_BIND_CORES a pool whose number of threads nobody has set has one for each core.
   * A system that refuses to bind is no error. */
  weft_bind bind;
} weft_config;

/* All defaults: what an object of type weft_config starts from. */
#define WEFT_CONFIG_INIT                                                                 \
  {                                                                                      \
    sizeof(weft_config), 0, 0, WEFT_IDLE_DEFAULT, NULL, NULL, NULL, NULL, 0, 0, 0,       \
        WEFT_STEER_DEFAULT, 0, NULL, WEFT_BIND_NONE                                      \
  }

/* Creates a pool.
 *
 * Meaning: *out is the pool, or NULL on failure. A NULL config means all defaults.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL out, a struct_size of 0 or one that ends
 * within a member, more threads, guests or threads for blocking sections than the maxima,
 * a deque_capacity above 2^30, an unknown idle mode, an unknown value of steer or bind,
 * cpus that are no list or that this process may not use, or a stack size that the system
 * calls invalid (such as 1); weft_config_check says which. WEFT_ENOMEM. If the system
 * refuses some of the threads, the pool works with those it has; if it refuses all, the
 * callers do the work. Cost: that of starting the threads.
 *
 *     weft_pool *pool;
 *     int status = weft_pool_create(&pool, NULL);
 *     if (status != 0) return status; */
WEFT_API int weft_pool_create(weft_pool **out, const weft_config *config);

/* Says whether a configuration is valid, and if not, why.
 *
 * Meaning: returns what weft_pool_create would say about it, and writes the reason into
 * the `size` bytes of `why`, cut where it is longer, as in `weft_config.cpus: "0-9": this
 * process may not use CPU 2 (it may use 0-1)`; "" if there is none. Creates nothing, and
 * does not look at the environment.
 *
 * Threads: any. Errors: WEFT_EINVAL, WEFT_ENOMEM. `why` may be NULL. Cost: microseconds;
 * with `cpus` or `bind` it reads files of the system.
 *
 *     char why[200];
 *     if (weft_config_check(&config, why, sizeof why) != 0) fprintf(stderr, "%s\n", why);
 */
WEFT_API int weft_config_check(const weft_config *config, char *why, size_t size);

/* Ends a pool: runs the work that was detached, then joins every thread and frees
 * everything. NULL does nothing.
 *
 * Threads: any, while nobody uses the pool. A call from one of its own tasks, or while
 * another thread is inside weft_pool_run, ends the program with a message.
 *
 * Errors: those that end the program. Cost: that of the work left, and of joining the
 * threads. */
WEFT_API void weft_pool_destroy(weft_pool *pool);

/* Runs a function in a pool and waits for it.
 *
 * Replaces
 *
 *     fn(ctx);
 *
 * Meaning: runs fn(ctx) in the pool and returns when it has returned; calls of weft
 * inside fn use that pool. NULL means the current pool. The calling thread itself runs
 * fn, as a guest of the pool. Only when all guest places are taken does a started thread
 * run fn while the caller waits. A thread that is in the pool already just calls fn.
 *
 * Threads: any, also tasks of another pool. Errors: none; a NULL function ends the
 * program with a message. A guest place allocates when it is used for the first time;
 * without memory fn runs anyway. Cost: tens of nanoseconds to enter and leave. */
WEFT_API void weft_pool_run(weft_pool *pool, weft_fn *fn, void *ctx);

/* Starts a function in a pool; nobody waits for it.
 *
 * Replaces
 *
 *     fn(ctx);      // though nobody needs to wait for it
 *
 * Meaning: hands fn(ctx) to the started threads of a pool and returns at once. NULL means
 * the current pool. Detached work runs in the order in which it came, after work that is
 * under way. weft_pool_destroy runs all that is left. ctx must stay valid until fn has
 * used it. In a pool that has no started thread fn runs in the call.
 *
 * Threads: any. Errors: WEFT_EINVAL for NULL fn, WEFT_ENOMEM, and WEFT_EAGAIN if as many
 * functions wait as weft_config.queue_limit allows; then fn will not run. Cost: some tens
 * of nanoseconds, and a wake-up if the pool sleeps. */
WEFT_API int weft_pool_detach(weft_pool *pool, weft_fn *fn, void *ctx);

/* Waits until everything that was submitted has run.
 *
 * Meaning: detached functions, those of handles, those of weft_handle_then, and what they
 * submit in turn, have all returned; what they did is visible. Precisely: at some moment
 * during the call nothing that was submitted had yet to run. Work that others submit
 * later does not keep the call waiting, but where the pool never comes to an end of its
 * work the call does not either. NULL means the current pool; if the global one does not
 * run, there is nothing to wait for.
 *
 * Threads: any outside the pool, and callers inside weft_pool_run, which help meanwhile.
 * A thread of the pool itself, or a guest that is helping, would wait for itself: that
 * ends the program with a message. (A thread of the pool is also at the function of
 * weft_pool_run where all guest places were taken; call this outside of it if there may
 * be more callers than weft_config.guests.) Errors: none. Allocates nothing. Cost: none
 * for those who submit; a wake-up for the waiting thread.
 *
 *     for (size_t i = 0; i < n; i++) weft_pool_detach(pool, warm_up, &cache[i]);
 *     weft_pool_wait_idle(pool); */
WEFT_API void weft_pool_wait_idle(weft_pool *pool);

/* Returns the pool that calls of this thread would use now. It is the one that the thread
 * is in, else the global one, which is started if it does not run. NULL if that is
 * impossible; calls that compute then run on the calling thread. Threads: any.
 *
 * Errors: NULL, as above. Cost: a few loads; the first call starts the global pool. */
WEFT_API weft_pool *weft_pool_current(void);

/* Starts the global pool with a configuration of your own. Optional: without it the pool
 * starts on first use, as if by weft_init(NULL).
 *
 * Threads: any. Errors: WEFT_EBUSY if it runs already, and those of weft_pool_create.
 *
 * Cost: that of starting the threads. */
WEFT_API int weft_init(const weft_config *config);

/* Ends the global pool as weft_pool_destroy does; does nothing if it does not run. The
 * pool can start again later, by weft_init or by use.
 *
 * Threads: any outside the pool, while nobody uses it. Errors: as weft_pool_destroy.
 * Cost: that of the work left, and of joining the threads. */
WEFT_API void weft_shutdown(void);

/* Returns how many threads work at once in the current pool, the caller included: at
 * least 1. Threads: any. */
WEFT_API unsigned weft_thread_count(void);

/* Returns the index of the calling thread in its pool, -1 outside.
 *
 * Meaning: threads that are in a pool at the same time have different indices. Started
 * threads have 1, 2, ...; the first caller from outside has 0, so in a pool of several
 * threads with one caller the indices are those below weft_thread_count. Further callers
 * have larger ones. One exception: of the callers that have no guest place (see
 * weft_worker_limit) the first 1024 at a time have indices of their own; all further ones
 * share a single index, the largest.
 *
 * Threads: any. Cost: a few loads. */
WEFT_API int weft_worker_index(void);

/* Returns the length for an array with one element for each thread of the current pool.
 * The indices of started threads, threads for blocking sections and guests are below it.
 *
 * Meaning: only a caller that found all guest places taken can have an index from here
 * on, the lowest free one; and only if it opened a scope, is a task of another pool, or
 * the pool has no started thread that could serve it. Raise weft_config.guests if your
 * program can have that many callers at once. Threads: any. */
WEFT_API unsigned weft_worker_limit(void);

/* Statistics of a pool or of one worker: totals since the pool started. Only slow paths
 * count: a join whose second half nobody took appears in none of these.
 * docs/guide/tracing.md explains what to read from them.
 */
typedef struct weft_stats {
  size_t struct_size; /* set it to sizeof(weft_stats) before the call */
  uint64_t tasks;     /* tasks that ran on another thread than they came from */
  uint64_t steals;    /* tasks taken from another worker's deque */
  uint64_t exposes;   /* times that an owner made tasks public because a thief asked */
  uint64_t takeovers; /* times that a thief did so for an owner that was busy */
  uint64_t injected;  /* detached, or handed in by callers without a guest place */
  uint64_t sleeps;    /* times that a worker went to sleep */
  uint64_t wakes;     /* times that another thread woke a sleeping worker */
  uint64_t misplaced; /* wakes that came late, on the CPU of the waker */
  uint64_t steered;   /* wakes that were kept off the CPU of the waker */
  uint64_t failed_steals; /* looks at all other workers that found nothing to take */
  uint64_t futile;        /* wakes after which the worker found nothing to do */
  uint64_t deepest; /* the most tasks of others that lay on top of each other on one stack
                     */
  /* Where the time of started threads went, in nanoseconds. A thread that waits for a
   * part of its own work that others run is searching or asleep, too. */
  uint64_t working_ns;
  uint64_t searching_ns;
  uint64_t asleep_ns;
} weft_stats;

/* What an object of type weft_stats starts from. */
#define WEFT_STATS_INIT                                                                  \
  { sizeof(weft_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Adds up the statistics of a pool; NULL means the current one.
 *
 * Meaning: the numbers are recent, and exact when the pool is at rest. All but working_ns
 * only grow; that one counts a search as work until it is over, and may then be some
 * microseconds lower. A struct_size smaller than today's fills only the members that are
 * whole in it.
 *
 * Threads: any, at any time. Errors: none; a NULL total, or one whose struct_size is not
 * set, stays as it is. Cost: a pass over the workers.
 *
 *     weft_stats stats = WEFT_STATS_INIT;
 *     weft_pool_stats(NULL, &stats);
 *     printf("%llu steals\n", (unsigned long long)stats.steals); */
WEFT_API void weft_pool_stats(const weft_pool *pool, weft_stats *total);

/* The statistics of one worker: of the thread that has this index in the pool.
 *
 * Meaning: as weft_pool_stats. `injected` counts what this worker has taken, `wakes`,
 * `misplaced` and `steered` how often it was woken. The indices of callers from outside
 * (weft_worker_limit) are shared by all that come one after the other; the time that such
 * a caller works is counted only while a trace runs or WEFT_STATS is set, because that
 * takes two looks at the clock for each call.
 *
 * Threads: any, at any time. Errors: WEFT_EINVAL if there is no such worker, or `out` is
 * NULL or has no size; WEFT_ENOMEM if there is no pool. Cost: a few loads.
 *
 *     for (unsigned i = 0; i < weft_worker_limit(); i++) {
 *       weft_stats stats = WEFT_STATS_INIT;
 *       if (weft_pool_worker_stats(NULL, i, &stats) == 0 && stats.working_ns > 0)
 *         printf("%u: %llu ms\n", i, (unsigned long long)stats.working_ns / 1000000);
 *     } */
WEFT_API int weft_pool_worker_stats(const weft_pool *pool, unsigned worker,
                                    weft_stats *out);

#ifdef __cplusplus
}
#endif

#endif
