/* posix.c - waiting on a word with nothing but mutexes and condition variables.
 *
 * For systems that have no wait by address, and with WF_SYS_POSIX on Linux, so that this
 * file is tested where the library is developed. There is no process-wide barrier here:
 * prepare says so, and the layers above use fences on both sides.
 *
 * A fixed table of buckets, chosen by a hash of the address. Words that share a bucket
 * share its wakes, which makes some returns spurious; the contract allows that.
 *
 * Why no wake is lost. The waker first changes the word, then locks the bucket, then
 * broadcasts. The waiter locks the bucket, looks at the word, and sleeps only if it is
 * unchanged, giving up the mutex in the same step. Their two critical sections have an
 * order:
 *   - waiter first: it has seen a changed word and did not sleep, or it sleeps already
 *     when the waker gets the mutex, and the broadcast reaches it;
 *   - waker first: its change of the word precedes its unlock, which precedes the
 *     waiter's lock, so the waiter's look must see that change or a later one. The mutex
 *     orders the two, and a relaxed load is enough.
 * Without the lock on the waker's side both the change and the broadcast could fall
 * between the waiter's look and its sleep.
 *
 * Who calls: core (latches, locks) and sched (sleep, wake). A bucket belongs to the
 * thread that holds its mutex, for a few instructions. The table is made under
 * pthread_once. A wake uses the address as a number only.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* the one-file build wants the same in every file */
#endif

#include "sys.h"

#if defined(WF_SYS_POSIX) ||                                                             \
    (!defined(__linux__) && !defined(_WIN32) && !defined(__APPLE__))

#include "die.h"

#include <pthread.h>
#include <time.h>

/* ---- waiting on a word ---- */

/* 64 buckets: a choice. Each worker waits on a word of its own, so in a pool of that many
 * threads two of them share a bucket now and then, which costs a spurious return. */
enum { BUCKET_COUNT_LOG2 = 6 };

/* One cache line or more each on common machines, so that neighbours rarely disturb each
 * other; exact alignment is not worth its price on this path. */
struct wait_bucket {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

static struct wait_bucket wait_buckets[1 << BUCKET_COUNT_LOG2];

static pthread_once_t wait_once = PTHREAD_ONCE_INIT;

/* Multiplicative hashing with 2^32 divided by the golden ratio; the upper bits are the
 * well mixed ones. The two lowest bits of a word's address are always 0. */
static struct wait_bucket *wait_bucket_of(const wf_u32 *word) {
  uint32_t mixed = (uint32_t)((uintptr_t)word >> 2) * UINT32_C(2654435769);
  return &wait_buckets[mixed >> (32 - BUCKET_COUNT_LOG2)];
}

/* Time is measured by the clock that never jumps, as by everything else here. macOS has
 * no such condition variable, but a call that takes the time that is left. */
static int wait_changed_init(pthread_cond_t *changed) {
#if defined(__APPLE__)
  return pthread_cond_init(changed, NULL);
#else
  pthread_condattr_t attributes;
  int error = pthread_condattr_init(&attributes);
  if (error != 0) return error;
  error = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  if (error == 0) error = pthread_cond_init(changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return error;
#endif
}

static void wait_buckets_init(void) {
  for (size_t i = 0; i < sizeof wait_buckets / sizeof wait_buckets[0]; i++) {
    if (pthread_mutex_init(&wait_buckets[i].mutex, NULL) != 0 ||
        wait_changed_init(&wait_buckets[i].changed) != 0)
      wf_sys_die("weft: fatal: no mutex or condition variable to be had.\n");
  }
}

/* A child of fork has one thread, but it inherits the buckets as the parent's threads
 * left them: mutexes held, condition variables that count waiters which the child
 * does not have, and a broadcast would wait for these for ever. Nobody uses the buckets
 * at this moment, so they are initialised again. If the registration fails for lack of
 * memory, only forked processes suffer. */
static void wait_prepare(void) {
  wait_buckets_init();
  pthread_atfork(NULL, NULL, wait_buckets_init);
}

static struct wait_bucket *wait_bucket_locked(const wf_u32 *word) {
  pthread_once(&wait_once, wait_prepare);
  struct wait_bucket *bucket = wait_bucket_of(word);
  pthread_mutex_lock(&bucket->mutex);
  return bucket;
}

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  struct wait_bucket *bucket = wait_bucket_locked(word);
  /* Relaxed: the mutex orders the look, as explained above. */
  if (wf_u32_load_relaxed(word) == expected)
    pthread_cond_wait(&bucket->changed, &bucket->mutex);
  pthread_mutex_unlock(&bucket->mutex);
}

/* Returns pthread_cond_timedwait's answer. */
static int wait_changed_for(struct wait_bucket *bucket, uint64_t timeout_ns) {
  const uint64_t second = UINT64_C(1000000000);
  const uint64_t most = UINT64_C(1000000000) * 3600 * 24 * 365; /* fits every time_t */
  if (timeout_ns > most) timeout_ns = most;
#if !defined(__APPLE__)
  timeout_ns += wf_sys_now_ns();
#endif
  struct timespec time;
  time.tv_sec = (time_t)(timeout_ns / second);
  time.tv_nsec = (long)(timeout_ns % second);
#if defined(__APPLE__)
  return pthread_cond_timedwait_relative_np(&bucket->changed, &bucket->mutex, &time);
#else
  return pthread_cond_timedwait(&bucket->changed, &bucket->mutex, &time);
#endif
}

bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  int error = 0;
  struct wait_bucket *bucket = wait_bucket_locked(word);
  /* Relaxed: the mutex orders the look, as explained above. */
  if (wf_u32_load_relaxed(word) == expected) error = wait_changed_for(bucket, timeout_ns);
  pthread_mutex_unlock(&bucket->mutex);
  return error == 0;
}

/* Always a broadcast. A signal would go to any one waiter of the bucket, perhaps one of
 * another word, which would swallow it. Besides, glibc 2.36, still widespread, can lose a
 * signal: waiters are kept in two groups, a late waiter may take a signal meant for the
 * older group, and the repair of that theft can go wrong. A broadcast hands a wake to
 * everyone in both groups and leaves nobody to steal from. It is sent with the mutex held
 * because several older implementations are only right that way. */
void wf_sys_wake_all(wf_u32 *word) {
  struct wait_bucket *bucket = wait_bucket_locked(word);
  pthread_cond_broadcast(&bucket->changed);
  pthread_mutex_unlock(&bucket->mutex);
}

void wf_sys_wake_one(wf_u32 *word) {
  wf_sys_wake_all(word);
}

/* ---- process-wide barrier ---- */

bool wf_sys_barrier_prepare(void) {
  return false;
}

bool wf_sys_barrier(void) {
  return false;
}

#endif
