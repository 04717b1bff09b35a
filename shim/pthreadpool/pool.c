/* pool.c - creates and ends pools, and sets what calls may use.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- creating and ending ---- */

static void note_threads(void *context) {
  *(size_t *)context = weft_thread_count();
}

/* Starts threads of weft. Returns how many the pool has, the caller included. */
static size_t start_weft(weft_pool **out, size_t threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = (unsigned)threads;
  config.name = "pthreadpool";
  /* Calls take turns, so there is one caller at a time. */
  config.guests = 1;
  if (weft_pool_create(out, &config) != 0) return 0;
  weft_pool_run(*out, note_threads, &threads);
  return threads;
}

static size_t cpu_count(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? (size_t)count : 1;
}

/* How many threads a pool with this executor has. */
static size_t executor_threads(struct pthreadpool_executor *executor, void *context,
                               size_t most) {
  int lent = executor->num_threads(context);
  size_t threads = lent > 0 ? (size_t)lent + 1 : 1;
  if (most == 0) most = cpu_count();
  return threads < most ? threads : most;
}

static struct pthreadpool *allocate(size_t threads) {
  struct pthreadpool *pool = calloc(1, sizeof *pool);
  if (pool == NULL) return NULL;
  pool->seats = calloc(threads, sizeof *pool->seats);
  pool->lanes = calloc(threads, sizeof *pool->lanes);
  if (pool->seats == NULL || pool->lanes == NULL) {
    free(pool->seats);
    free(pool->lanes);
    free(pool);
    return NULL;
  }
  for (size_t i = 0; i < threads; i++) {
    pool->seats[i].pool = pool;
    pool->seats[i].index = i;
  }
  pool->max_threads = threads;
  wf_word_store_relaxed(&pool->x_threads, threads); /* nobody else knows the pool yet */
  /* With default attributes these need no memory and cannot fail on the systems that
   * weft knows. */
  (void)pthread_mutex_init(&pool->turn, NULL);
  (void)pthread_mutex_init(&pool->gate, NULL);
  (void)pthread_cond_init(&pool->left, NULL);
  return pool;
}

pthreadpool_t pthreadpool_create_v2(struct pthreadpool_executor *executor,
                                    void *executor_context, size_t max_num_threads) {
  size_t threads = max_num_threads;
  weft_pool *weft = NULL;
  if (threads > WEFT_MAX_THREADS) return NULL;
  if (executor != NULL) {
    threads = executor_threads(executor, executor_context, max_num_threads);
  } else if (threads != 1) {
    threads = start_weft(&weft, threads);
    if (threads == 0) return NULL;
  }
  struct pthreadpool *pool = allocate(threads);
  if (pool == NULL) {
    weft_pool_destroy(weft);
    return NULL;
  }
  pool->weft = weft;
  if (executor != NULL) {
    pool->executor = *executor;
    pool->executor_context = executor_context;
  }
  return pool;
}

pthreadpool_t pthreadpool_create(size_t threads_count) {
  return pthreadpool_create_v2(NULL, NULL, threads_count);
}

void pthreadpool_destroy(pthreadpool_t pool) {
  if (pool == NULL) return;
  if (wfp_part_in(pool) != NULL) {
    wfp_misuse("pthreadpool_destroy", "called by a function that runs in this pool");
  }
  weft_pool_destroy(pool->weft);
  (void)pthread_mutex_lock(&pool->gate);
  while (pool->promises > 0) (void)pthread_cond_wait(&pool->left, &pool->gate);
  (void)pthread_mutex_unlock(&pool->gate);
  (void)pthread_cond_destroy(&pool->left);
  (void)pthread_mutex_destroy(&pool->gate);
  (void)pthread_mutex_destroy(&pool->turn);
  free(pool->seats);
  free(pool->lanes);
  free(pool);
}

/* ---- what calls may use ---- */

size_t pthreadpool_get_threads_count(pthreadpool_t pool) {
  /* Relaxed: any recent value. */
  return pool != NULL ? wf_word_load_relaxed(&pool->x_threads) : 1;
}

size_t pthreadpool_set_threads_count(pthreadpool_t pool, size_t num_threads) {
  if (pool == NULL || wfp_part_in(pool) != NULL)
    return pthreadpool_get_threads_count(pool);
  if (num_threads == 0 || num_threads > pool->max_threads)
    num_threads = pool->max_threads;
  (void)pthread_mutex_lock(&pool->turn);
  wf_word_store_relaxed(&pool->x_threads, num_threads); /* calls read it in their turn */
  (void)pthread_mutex_unlock(&pool->turn);
  return num_threads;
}

void pthreadpool_release_executor_threads(pthreadpool_t pool) {
  (void)pool;
}

bool pthreadpool_update_executor(pthreadpool_t pool,
                                 struct pthreadpool_executor *executor,
                                 void *executor_context) {
  if (pool == NULL || executor == NULL || wfp_part_in(pool) != NULL) return false;
  (void)pthread_mutex_lock(&pool->turn);
  bool differs = pool->executor.num_threads != executor->num_threads ||
                 pool->executor.schedule != executor->schedule ||
                 pool->executor_context != executor_context;
  if (differs) {
    pool->executor = *executor;
    pool->executor_context = executor_context;
  }
  (void)pthread_mutex_unlock(&pool->turn);
  return differs;
}
