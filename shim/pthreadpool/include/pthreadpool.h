/* pthreadpool.h - the interface of pthreadpool, on weft.
 *
 * Programs and libraries that are written for pthreadpool, such as XNNPACK, compile with
 * this header and link with libweft-pthreadpool in place of libpthreadpool. Names,
 * parameters and meanings are those of pthreadpool's public interface as of October 2025,
 * with the C++ functions and the old calls. docs/guide/pthreadpool.md says how to switch
 * and what differs. New programs have an easier life with <weft.h>.
 *
 * How to read the names. Every call replaces nested loops over a grid of one to six
 * dimensions, i to n:
 *
 *     pthreadpool_parallelize_3d_tile_2d(pool, function, context, range_i, range_j,
 *                                        range_k, tile_j, tile_k, flags);
 *
 * stands for
 *
 *     for (size_t i = 0; i < range_i; i++)
 *       for (size_t j = 0; j < range_j; j += tile_j)
 *         for (size_t k = 0; k < range_k; k += tile_k)
 *           function(context, i, j, k, min(range_j - j, tile_j), min(range_k - k,
 * tile_k));
 *
 * - 3d: the number of dimensions. Calls of the function come in any order, on any thread
 *   of the pool, and several at the same time.
 * - tile_1d, tile_2d: the last one or two dimensions are cut into tiles. The function
 *   gets the first index of its tile in every dimension, and then the lengths of the tile
 *   in the dimensions that are cut. Tiles at the end of a range may be shorter.
 * - dynamic: one call of the function may get several tiles that lie side by side, as one
 *   longer tile: along the last dimension, or along the last but one where a single tile
 *   covers the last. Starts are multiples of the tile, and so are lengths, but for the
 *   end of the range.
 * - with_uarch: the function gets the number of a kind of CPU first. It is always
 *   default_uarch_index, as in a pthreadpool that is built without cpuinfo.
 * - with_thread: the function gets the number of a thread, behind the kind of CPU if that
 *   is there. It is below pthreadpool_get_threads_count, and no two calls of the function
 *   that run at the same time in a pool have the same.
 *
 * What all calls share. When the call returns, the function has been called for the whole
 * grid, and everything that it did is visible. The calling thread takes part. A NULL pool
 * and a pool of one thread run the loops on the calling thread. Calls with the same pool
 * from several threads run one after the other. A call from inside a function that runs
 * in the same pool runs the loops on the calling thread (pthreadpool would hang).
 *
 * Every item is taken by itself, or by its call of the function in dynamic forms: an item
 * that waits until the others are done holds nobody up but its own thread.
 *
 * Misuse that ends the program with a message: a NULL function, a tile of 0, a grid of
 * more than SIZE_MAX / 2 tiles. An empty range is fine: nothing is called.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_PTHREADPOOL_H
#define WEFT_PTHREADPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PTHREADPOOL_API        __attribute__((visibility("default")))
#define PTHREADPOOL_DEPRECATED __attribute__((__deprecated__))
#else
#define PTHREADPOOL_API
#define PTHREADPOOL_DEPRECATED
#endif

/* ---- flags: any combination, 0 for none ---- */

/* Denormal numbers count as zero while the function runs, on every thread that takes
 * part. Afterwards each thread's floating-point settings are as before. For x86 and ARM;
 * elsewhere it does nothing. */
#define PTHREADPOOL_FLAG_DISABLE_DENORMALS 0x00000001
/* Hints about threads that have nothing more to do. Threads of weft sleep soon in any
 * case, and threads of an executor are given back at the end of every call, so both
 * change nothing. */
#define PTHREADPOOL_FLAG_YIELD_WORKERS     0x00000002
#define PTHREADPOOL_FLAG_DONT_SPIN_WORKERS 0x00000004

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pools ---- */

typedef struct pthreadpool *pthreadpool_t;

/* Creates a pool of threads_count threads, the calling one included. 0: as many as weft
 * starts by itself, which is WEFT_NUM_THREADS or the number of CPUs that the process may
 * use. Returns NULL if there is no memory, or for more than WEFT_MAX_THREADS (1024). If
 * the system refuses some threads, the pool has those that started. */
PTHREADPOOL_API pthreadpool_t pthreadpool_create(size_t threads_count);

/* Threads that the program lends to a pool. schedule arranges that task(context) is
 * called, once, on any thread, now or later; num_threads is how many such calls can run
 * at the same time. */
struct pthreadpool_executor {
  int (*num_threads)(void *executor_context);
  void (*schedule)(void *executor_context, void *context, void (*task)(void *context));
};

/* Creates a pool that works with the threads of an executor, and starts none. It has one
 * thread more than the executor has when asked now, since callers take part, but at most
 * max_num_threads (0: the number of CPUs). A call schedules at most one task for each
 * thread beside the caller, and does not wait for tasks that never begin. The struct is
 * copied; the context must stay valid. NULL executor: as pthreadpool_create. */
PTHREADPOOL_API pthreadpool_t pthreadpool_create_v2(struct pthreadpool_executor *executor,
                                                    void *executor_context,
                                                    size_t max_num_threads);

/* Ends a pool: joins its threads, and waits until every task that was given to an
 * executor has run. NULL does nothing. No call may be under way. */
PTHREADPOOL_API void pthreadpool_destroy(pthreadpool_t threadpool);

/* How many threads the next call may use; 1 for NULL. */
PTHREADPOOL_API size_t pthreadpool_get_threads_count(pthreadpool_t threadpool);

/* Sets how many threads further calls may use, and returns what it is now: at most the
 * number that the pool was created with, which is also what 0 means. Waits for a call
 * that is under way; from inside such a call it changes nothing. */
PTHREADPOOL_API size_t pthreadpool_set_threads_count(pthreadpool_t threadpool,
                                                     size_t num_threads);

/* Gives the threads of an executor back. Here they are given back at the end of every
 * call already, so this does nothing. */
PTHREADPOOL_API void pthreadpool_release_executor_threads(struct pthreadpool *threadpool);

/* Gives a pool another executor for further calls; the number of threads stays. Returns
 * false, and changes nothing, if it has this executor and context already, if one of the
 * pointers is NULL, and from inside a call of the same pool. The old executor must still
 * run the tasks that it was given. */
PTHREADPOOL_API bool pthreadpool_update_executor(pthreadpool_t threadpool,
                                                 struct pthreadpool_executor *executor,
                                                 void *executor_context);

/* ---- the functions that calls take: context, numbers of CPU kind and thread, indices,
 * lengths of tiles ---- */

typedef void (*pthreadpool_task_1d_t)(void *, size_t);
typedef void (*pthreadpool_task_1d_with_thread_t)(void *, size_t, size_t);
typedef void (*pthreadpool_task_1d_with_id_t)(void *, uint32_t, size_t);
typedef void (*pthreadpool_task_1d_tile_1d_t)(void *, size_t, size_t);
typedef void (*pthreadpool_task_1d_tile_1d_dynamic_t)(void *, size_t, size_t);
typedef void (*pthreadpool_task_1d_tile_1d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t);
typedef void (*pthreadpool_task_1d_tile_1d_dynamic_with_id_with_thread_t)(void *,
                                                                          uint32_t,
                                                                          size_t, size_t,
                                                                          size_t);
typedef void (*pthreadpool_task_2d_t)(void *, size_t, size_t);
typedef void (*pthreadpool_task_2d_with_thread_t)(void *, size_t, size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_1d_t)(void *, size_t, size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_1d_with_id_t)(void *, uint32_t, size_t, size_t,
                                                      size_t);
typedef void (*pthreadpool_task_2d_tile_1d_with_id_with_thread_t)(void *, uint32_t,
                                                                  size_t, size_t, size_t,
                                                                  size_t);
typedef void (*pthreadpool_task_2d_tile_1d_dynamic_t)(void *, size_t, size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_1d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_1d_dynamic_with_id_with_thread_t)(void *,
                                                                          uint32_t,
                                                                          size_t, size_t,
                                                                          size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_2d_t)(void *, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_2d_with_id_t)(void *, uint32_t, size_t, size_t,
                                                      size_t, size_t);
typedef void (*pthreadpool_task_2d_tile_2d_dynamic_t)(void *, size_t, size_t, size_t,
                                                      size_t);
typedef void (*pthreadpool_task_2d_tile_2d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_t)(void *, size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_t)(void *, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_with_thread_t)(void *, size_t, size_t, size_t,
                                                          size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_with_id_t)(void *, uint32_t, size_t, size_t,
                                                      size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_with_id_with_thread_t)(void *, uint32_t,
                                                                  size_t, size_t, size_t,
                                                                  size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_dynamic_t)(void *, size_t, size_t, size_t,
                                                      size_t);
typedef void (*pthreadpool_task_3d_tile_1d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_1d_dynamic_with_id_with_thread_t)(
    void *, uint32_t, size_t, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_2d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t);
typedef void (*pthreadpool_task_3d_tile_2d_with_id_t)(void *, uint32_t, size_t, size_t,
                                                      size_t, size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_2d_dynamic_t)(void *, size_t, size_t, size_t,
                                                      size_t, size_t);
typedef void (*pthreadpool_task_3d_tile_2d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t, size_t, size_t,
                                                              size_t);
typedef void (*pthreadpool_task_4d_t)(void *, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_4d_tile_1d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t);
typedef void (*pthreadpool_task_4d_tile_2d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t, size_t);
typedef void (*pthreadpool_task_4d_tile_2d_with_id_t)(void *, uint32_t, size_t, size_t,
                                                      size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_4d_tile_2d_dynamic_t)(void *, size_t, size_t, size_t,
                                                      size_t, size_t, size_t);
typedef void (*pthreadpool_task_4d_tile_2d_dynamic_with_id_t)(void *, uint32_t, size_t,
                                                              size_t, size_t, size_t,
                                                              size_t, size_t);
typedef void (*pthreadpool_task_5d_t)(void *, size_t, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_task_5d_tile_1d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t, size_t);
typedef void (*pthreadpool_task_5d_tile_2d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t, size_t, size_t);
typedef void (*pthreadpool_task_6d_t)(void *, size_t, size_t, size_t, size_t, size_t,
                                      size_t);
typedef void (*pthreadpool_task_6d_tile_1d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t, size_t, size_t);
typedef void (*pthreadpool_task_6d_tile_2d_t)(void *, size_t, size_t, size_t, size_t,
                                              size_t, size_t, size_t, size_t);

/* ---- calls ---- */

/* One dimension. */
PTHREADPOOL_API void pthreadpool_parallelize_1d(pthreadpool_t threadpool,
                                                pthreadpool_task_1d_t function,
                                                void *context, size_t range,
                                                uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_1d_with_thread(pthreadpool_t threadpool,
                                       pthreadpool_task_1d_with_thread_t function,
                                       void *context, size_t range, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_1d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_1d_with_id_t function, void *context,
    uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range, uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_1d_tile_1d(pthreadpool_t threadpool,
                                   pthreadpool_task_1d_tile_1d_t function, void *context,
                                   size_t range, size_t tile, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_1d_tile_1d_dynamic(
    pthreadpool_t threadpool, pthreadpool_task_1d_tile_1d_dynamic_t function,
    void *context, size_t range, size_t tile, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_1d_tile_1d_dynamic_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_1d_tile_1d_dynamic_with_id_t function,
    void *context, size_t range, size_t tile, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_1d_tile_1d_dynamic_with_uarch_with_thread(
    pthreadpool_t threadpool,
    pthreadpool_task_1d_tile_1d_dynamic_with_id_with_thread_t function, void *context,
    uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range, size_t tile,
    uint32_t flags);

/* Two dimensions. */
PTHREADPOOL_API void pthreadpool_parallelize_2d(pthreadpool_t threadpool,
                                                pthreadpool_task_2d_t function,
                                                void *context, size_t range_i,
                                                size_t range_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_2d_with_thread_t function, void *context,
    size_t range_i, size_t range_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_1d_t function, void *context,
    size_t range_i, size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_1d_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d_with_uarch_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_1d_with_id_with_thread_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d_dynamic(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_1d_dynamic_t function,
    void *context, size_t range_i, size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d_dynamic_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_1d_dynamic_with_id_t function,
    void *context, size_t range_i, size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_1d_dynamic_with_uarch_with_thread(
    pthreadpool_t threadpool,
    pthreadpool_task_2d_tile_1d_dynamic_with_id_with_thread_t function, void *context,
    uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_2d(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_2d_t function, void *context,
    size_t range_i, size_t range_j, size_t tile_i, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_2d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_2d_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t tile_i, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_2d_tile_2d_dynamic(pthreadpool_t threadpool,
                                           pthreadpool_task_2d_tile_2d_dynamic_t function,
                                           void *context, size_t range_i, size_t range_j,
                                           size_t tile_i, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_2d_dynamic_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_2d_dynamic_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t tile_i, size_t tile_j, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_2d_tile_2d_dynamic_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_2d_tile_2d_dynamic_with_id_t function,
    void *context, size_t range_i, size_t range_j, size_t tile_i, size_t tile_j,
    uint32_t flags);

/* Three dimensions. */
PTHREADPOOL_API void pthreadpool_parallelize_3d(pthreadpool_t threadpool,
                                                pthreadpool_task_3d_t function,
                                                void *context, size_t range_i,
                                                size_t range_j, size_t range_k,
                                                uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_1d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_1d_with_thread_t function,
    void *context, size_t range_i, size_t range_j, size_t range_k, size_t tile_k,
    uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_1d_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d_with_uarch_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_1d_with_id_with_thread_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_3d_tile_1d_dynamic(pthreadpool_t threadpool,
                                           pthreadpool_task_3d_tile_1d_dynamic_t function,
                                           void *context, size_t range_i, size_t range_j,
                                           size_t range_k, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d_dynamic_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_1d_dynamic_with_id_t function,
    void *context, size_t range_i, size_t range_j, size_t range_k, size_t tile_k,
    uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_1d_dynamic_with_uarch_with_thread(
    pthreadpool_t threadpool,
    pthreadpool_task_3d_tile_1d_dynamic_with_id_with_thread_t function, void *context,
    uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_3d_tile_2d(pthreadpool_t threadpool,
                                   pthreadpool_task_3d_tile_2d_t function, void *context,
                                   size_t range_i, size_t range_j, size_t range_k,
                                   size_t tile_j, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_2d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_2d_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t tile_j, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_2d_dynamic(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_2d_dynamic_t function,
    void *context, size_t range_i, size_t range_j, size_t range_k, size_t tile_j,
    size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_2d_dynamic_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_2d_dynamic_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t tile_j, size_t tile_k, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_3d_tile_2d_dynamic_with_thread(
    pthreadpool_t threadpool, pthreadpool_task_3d_tile_2d_dynamic_with_id_t function,
    void *context, size_t range_i, size_t range_j, size_t range_k, size_t tile_j,
    size_t tile_k, uint32_t flags);

/* Four dimensions. */
PTHREADPOOL_API void pthreadpool_parallelize_4d(pthreadpool_t threadpool,
                                                pthreadpool_task_4d_t function,
                                                void *context, size_t range_i,
                                                size_t range_j, size_t range_k,
                                                size_t range_l, uint32_t flags);
PTHREADPOOL_API void
pthreadpool_parallelize_4d_tile_1d(pthreadpool_t threadpool,
                                   pthreadpool_task_4d_tile_1d_t function, void *context,
                                   size_t range_i, size_t range_j, size_t range_k,
                                   size_t range_l, size_t tile_l, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_4d_tile_2d(
    pthreadpool_t threadpool, pthreadpool_task_4d_tile_2d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t tile_k,
    size_t tile_l, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_4d_tile_2d_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_4d_tile_2d_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t range_l, size_t tile_k, size_t tile_l,
    uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_4d_tile_2d_dynamic(
    pthreadpool_t threadpool, pthreadpool_task_4d_tile_2d_dynamic_t function,
    void *context, size_t range_i, size_t range_j, size_t range_k, size_t range_l,
    size_t tile_k, size_t tile_l, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_4d_tile_2d_dynamic_with_uarch(
    pthreadpool_t threadpool, pthreadpool_task_4d_tile_2d_dynamic_with_id_t function,
    void *context, uint32_t default_uarch_index, uint32_t max_uarch_index, size_t range_i,
    size_t range_j, size_t range_k, size_t range_l, size_t tile_k, size_t tile_l,
    uint32_t flags);

/* Five dimensions. */
PTHREADPOOL_API void
pthreadpool_parallelize_5d(pthreadpool_t threadpool, pthreadpool_task_5d_t function,
                           void *context, size_t range_i, size_t range_j, size_t range_k,
                           size_t range_l, size_t range_m, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_5d_tile_1d(
    pthreadpool_t threadpool, pthreadpool_task_5d_tile_1d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t range_m,
    size_t tile_m, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_5d_tile_2d(
    pthreadpool_t threadpool, pthreadpool_task_5d_tile_2d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t range_m,
    size_t tile_l, size_t tile_m, uint32_t flags);

/* Six dimensions. */
PTHREADPOOL_API void pthreadpool_parallelize_6d(pthreadpool_t threadpool,
                                                pthreadpool_task_6d_t function,
                                                void *context, size_t range_i,
                                                size_t range_j, size_t range_k,
                                                size_t range_l, size_t range_m,
                                                size_t range_n, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_6d_tile_1d(
    pthreadpool_t threadpool, pthreadpool_task_6d_tile_1d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t range_m,
    size_t range_n, size_t tile_n, uint32_t flags);
PTHREADPOOL_API void pthreadpool_parallelize_6d_tile_2d(
    pthreadpool_t threadpool, pthreadpool_task_6d_tile_2d_t function, void *context,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t range_m,
    size_t range_n, size_t tile_m, size_t tile_n, uint32_t flags);

#ifndef PTHREADPOOL_NO_DEPRECATED_API

/* ---- the names of the first versions; here "tiled" cuts every dimension ---- */

typedef void (*pthreadpool_function_1d_t)(void *, size_t);
typedef void (*pthreadpool_function_1d_tiled_t)(void *, size_t, size_t);
typedef void (*pthreadpool_function_2d_t)(void *, size_t, size_t);
typedef void (*pthreadpool_function_2d_tiled_t)(void *, size_t, size_t, size_t, size_t);
typedef void (*pthreadpool_function_3d_tiled_t)(void *, size_t, size_t, size_t, size_t,
                                                size_t, size_t);
typedef void (*pthreadpool_function_4d_tiled_t)(void *, size_t, size_t, size_t, size_t,
                                                size_t, size_t, size_t, size_t);

PTHREADPOOL_API void pthreadpool_compute_1d(pthreadpool_t threadpool,
                                            pthreadpool_function_1d_t function,
                                            void *argument,
                                            size_t range) PTHREADPOOL_DEPRECATED;
PTHREADPOOL_API void
pthreadpool_compute_1d_tiled(pthreadpool_t threadpool,
                             pthreadpool_function_1d_tiled_t function, void *argument,
                             size_t range, size_t tile) PTHREADPOOL_DEPRECATED;
PTHREADPOOL_API void pthreadpool_compute_2d(pthreadpool_t threadpool,
                                            pthreadpool_function_2d_t function,
                                            void *argument, size_t range_i,
                                            size_t range_j) PTHREADPOOL_DEPRECATED;
PTHREADPOOL_API void pthreadpool_compute_2d_tiled(
    pthreadpool_t threadpool, pthreadpool_function_2d_tiled_t function, void *argument,
    size_t range_i, size_t range_j, size_t tile_i, size_t tile_j) PTHREADPOOL_DEPRECATED;
PTHREADPOOL_API void pthreadpool_compute_3d_tiled(
    pthreadpool_t threadpool, pthreadpool_function_3d_tiled_t function, void *argument,
    size_t range_i, size_t range_j, size_t range_k, size_t tile_i, size_t tile_j,
    size_t tile_k) PTHREADPOOL_DEPRECATED;
PTHREADPOOL_API void pthreadpool_compute_4d_tiled(
    pthreadpool_t threadpool, pthreadpool_function_4d_tiled_t function, void *argument,
    size_t range_i, size_t range_j, size_t range_k, size_t range_l, size_t tile_i,
    size_t tile_j, size_t tile_k, size_t tile_l) PTHREADPOOL_DEPRECATED;

#endif

#ifdef __cplusplus
} /* extern "C" */

/* ---- C++: functors instead of a function and its context ----
 *
 * pthreadpool_parallelize_2d(pool, [&](size_t i, size_t j) { ... }, range_i, range_j);
 *
 * The sizes and the arguments of the functor are those of the C call of the same name,
 * and flags may be left out. The functor is called as const. An exception that leaves it
 * ends the program. */

namespace libpthreadpool {
namespace detail {
template <class T, class... Index> void call(void *functor, Index... index) {
  (*static_cast<const T *>(functor))(index...);
}
} // namespace detail
} // namespace libpthreadpool

#define PTHREADPOOL_TYPES_1 size_t
#define PTHREADPOOL_TYPES_2 PTHREADPOOL_TYPES_1, size_t
#define PTHREADPOOL_TYPES_3 PTHREADPOOL_TYPES_2, size_t
#define PTHREADPOOL_TYPES_4 PTHREADPOOL_TYPES_3, size_t
#define PTHREADPOOL_TYPES_5 PTHREADPOOL_TYPES_4, size_t
#define PTHREADPOOL_TYPES_6 PTHREADPOOL_TYPES_5, size_t
#define PTHREADPOOL_TYPES_7 PTHREADPOOL_TYPES_6, size_t
#define PTHREADPOOL_TYPES_8 PTHREADPOOL_TYPES_7, size_t
#define PTHREADPOOL_SIZES_1 size_t size_1
#define PTHREADPOOL_SIZES_2 PTHREADPOOL_SIZES_1, size_t size_2
#define PTHREADPOOL_SIZES_3 PTHREADPOOL_SIZES_2, size_t size_3
#define PTHREADPOOL_SIZES_4 PTHREADPOOL_SIZES_3, size_t size_4
#define PTHREADPOOL_SIZES_5 PTHREADPOOL_SIZES_4, size_t size_5
#define PTHREADPOOL_SIZES_6 PTHREADPOOL_SIZES_5, size_t size_6
#define PTHREADPOOL_SIZES_7 PTHREADPOOL_SIZES_6, size_t size_7
#define PTHREADPOOL_SIZES_8 PTHREADPOOL_SIZES_7, size_t size_8
#define PTHREADPOOL_PASS_1  size_1
#define PTHREADPOOL_PASS_2  PTHREADPOOL_PASS_1, size_2
#define PTHREADPOOL_PASS_3  PTHREADPOOL_PASS_2, size_3
#define PTHREADPOOL_PASS_4  PTHREADPOOL_PASS_3, size_4
#define PTHREADPOOL_PASS_5  PTHREADPOOL_PASS_4, size_5
#define PTHREADPOOL_PASS_6  PTHREADPOOL_PASS_5, size_6
#define PTHREADPOOL_PASS_7  PTHREADPOOL_PASS_6, size_7
#define PTHREADPOOL_PASS_8  PTHREADPOOL_PASS_7, size_8

/* One C++ function: the name, and the number of ranges and tiles together. */
#define PTHREADPOOL_FUNCTOR(name, count)                                                 \
  template <class T>                                                                     \
  inline void pthreadpool_parallelize_##name(pthreadpool_t threadpool, const T &functor, \
                                             PTHREADPOOL_SIZES_##count,                  \
                                             uint32_t flags = 0) {                       \
    pthreadpool_parallelize_##name(                                                      \
        threadpool, &libpthreadpool::detail::call<T, PTHREADPOOL_TYPES_##count>,         \
        const_cast<void *>(static_cast<const void *>(&functor)),                         \
        PTHREADPOOL_PASS_##count, flags);                                                \
  }

PTHREADPOOL_FUNCTOR(1d, 1)
PTHREADPOOL_FUNCTOR(1d_tile_1d, 2)
PTHREADPOOL_FUNCTOR(1d_tile_1d_dynamic, 2)
PTHREADPOOL_FUNCTOR(2d, 2)
PTHREADPOOL_FUNCTOR(2d_tile_1d, 3)
PTHREADPOOL_FUNCTOR(2d_tile_1d_dynamic, 3)
PTHREADPOOL_FUNCTOR(2d_tile_2d, 4)
PTHREADPOOL_FUNCTOR(2d_tile_2d_dynamic, 4)
PTHREADPOOL_FUNCTOR(3d, 3)
PTHREADPOOL_FUNCTOR(3d_tile_1d, 4)
PTHREADPOOL_FUNCTOR(3d_tile_1d_dynamic, 4)
PTHREADPOOL_FUNCTOR(3d_tile_2d, 5)
PTHREADPOOL_FUNCTOR(3d_tile_2d_dynamic, 5)
PTHREADPOOL_FUNCTOR(4d, 4)
PTHREADPOOL_FUNCTOR(4d_tile_1d, 5)
PTHREADPOOL_FUNCTOR(4d_tile_2d, 6)
PTHREADPOOL_FUNCTOR(4d_tile_2d_dynamic, 6)
PTHREADPOOL_FUNCTOR(5d, 5)
PTHREADPOOL_FUNCTOR(5d_tile_1d, 6)
PTHREADPOOL_FUNCTOR(5d_tile_2d, 7)
PTHREADPOOL_FUNCTOR(6d, 6)
PTHREADPOOL_FUNCTOR(6d_tile_1d, 7)
PTHREADPOOL_FUNCTOR(6d_tile_2d, 8)

#undef PTHREADPOOL_FUNCTOR
#undef PTHREADPOOL_TYPES_1
#undef PTHREADPOOL_TYPES_2
#undef PTHREADPOOL_TYPES_3
#undef PTHREADPOOL_TYPES_4
#undef PTHREADPOOL_TYPES_5
#undef PTHREADPOOL_TYPES_6
#undef PTHREADPOOL_TYPES_7
#undef PTHREADPOOL_TYPES_8
#undef PTHREADPOOL_SIZES_1
#undef PTHREADPOOL_SIZES_2
#undef PTHREADPOOL_SIZES_3
#undef PTHREADPOOL_SIZES_4
#undef PTHREADPOOL_SIZES_5
#undef PTHREADPOOL_SIZES_6
#undef PTHREADPOOL_SIZES_7
#undef PTHREADPOOL_SIZES_8
#undef PTHREADPOOL_PASS_1
#undef PTHREADPOOL_PASS_2
#undef PTHREADPOOL_PASS_3
#undef PTHREADPOOL_PASS_4
#undef PTHREADPOOL_PASS_5
#undef PTHREADPOOL_PASS_6
#undef PTHREADPOOL_PASS_7
#undef PTHREADPOOL_PASS_8

/* An executor as a class, which is its own context. */
class PthreadpoolExecutor : public pthreadpool_executor {
public:
  using TaskFunction = void (*)(void *);

  PthreadpoolExecutor() {
    num_threads = [](void *self) {
      return static_cast<PthreadpoolExecutor *>(self)->NumThreads();
    };
    schedule = [](void *self, void *context, TaskFunction task) {
      static_cast<PthreadpoolExecutor *>(self)->Schedule(context, task);
    };
  }
  virtual ~PthreadpoolExecutor() = default;

  void *GetContext() {
    return this;
  }
  virtual int NumThreads() = 0;
  virtual void Schedule(void *context, TaskFunction task) = 0;
};

#endif /* __cplusplus */

#endif
