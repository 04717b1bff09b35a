/* fault/shim.h - a system that fails on request: memory, threads, mappings, waits, the
 * process-wide barrier, the affinity mask, the clock. For programs that are linked with
 *
 *     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free
 *     -Wl,--wrap=pthread_create,--wrap=mmap,--wrap=syscall
 *     -Wl,--wrap=clock_gettime
 *
 * (in one line). A fault strikes the k-th call of its kind, once or from then on. To be
 * included by one file of a program, after _GNU_SOURCE is defined.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_FAULT_SHIM_H
#define TESTS_FAULT_SHIM_H

#include "harness/memory_faults.h"
#include "harness/wrapped_syscall.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>

typedef enum fault_call {
  FAULT_MEMORY,     /* the five calls above */
  FAULT_MEMORY_MAP, /* these and mmap, which some calls turn to without memory */
  FAULT_MAP,        /* mmap by itself */
  FAULT_THREAD,
  FAULT_WAIT, /* the futex wait */
  FAULT_BARRIER,
  FAULT_AFFINITY,
  FAULT_CLOCK
} fault_call;

/* What a clock does, in place of an error number. */
enum { CLOCK_FAILS = 1, CLOCK_STANDS, CLOCK_AHEAD, CLOCK_BACK };

typedef struct fault {
  const char *name;
  fault_call call;
  int error; /* 0: the call says that it succeeded, and has done nothing */
} fault;

typedef enum fault_when { FAULT_ONCE, FAULT_FROM } fault_when;

static struct {
  atomic_int call; /* -1: none */
  atomic_int error;
  atomic_int when;
  atomic_ulong number;
  atomic_ulong calls, hits; /* of the kind, since faults_arm */
} faults = {.call = -1};

/* The watchdog of the harness is started before all tests and sees the truth. */
static atomic_bool tests_began;
static _Thread_local bool is_watchdog;

static inline bool fault_strikes(fault_call call) {
  if (atomic_load(&faults.call) != (int)call || memory_is_exempt || is_watchdog)
    return false;
  const unsigned long this_call = atomic_fetch_add(&faults.calls, 1) + 1;
  const unsigned long number = atomic_load(&faults.number);
  const bool strikes =
      atomic_load(&faults.when) == FAULT_ONCE ? this_call == number : this_call >= number;
  if (strikes) atomic_fetch_add(&faults.hits, 1);
  return strikes;
}

/* ---- threads ---- */

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*fn)(void *), void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*fn)(void *), void *arg);

static void *(*watchdog_main)(void *);

static inline void *run_watchdog(void *arg) {
  is_watchdog = true;
  return watchdog_main(arg);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*fn)(void *), void *arg) {
  if (!atomic_load(&tests_began)) {
    watchdog_main = fn;
    fn = run_watchdog;
  }
  if (fault_strikes(FAULT_THREAD)) return atomic_load(&faults.error);
  return __real_pthread_create(thread, attributes, fn, arg);
}

/* ---- mappings ---- */

void *__real_mmap(void *address, size_t size, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd,
                  off_t offset);

/* Mostly asked for when there was no memory: refused if that was. */
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int fd,
                  off_t offset) {
  if ((atomic_load(&faults.call) == FAULT_MEMORY_MAP && memory_is_refused(size)) ||
      fault_strikes(FAULT_MAP)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(address, size, protection, flags, fd, offset);
}

/* ---- calls to the kernel ---- */

static bool answer_syscall(long number, bool is_wait, int *error) {
  *error = atomic_load(&faults.error);
  return (is_wait && fault_strikes(FAULT_WAIT)) ||
         (number == SYS_membarrier && fault_strikes(FAULT_BARRIER)) ||
         ((number == SYS_sched_getaffinity || number == SYS_sched_setaffinity) &&
          fault_strikes(FAULT_AFFINITY));
}

/* ---- time ---- */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now) {
  if (!fault_strikes(FAULT_CLOCK)) return __real_clock_gettime(clock, now);
  const int error = atomic_load(&faults.error);
  if (error == CLOCK_FAILS) {
    errno = EINVAL;
    return -1;
  }
  const int status = __real_clock_gettime(clock, now);
  if (error == CLOCK_STANDS) *now = (struct timespec){1000, 0};
  if (error == CLOCK_AHEAD) now->tv_sec += 3600;
  if (error == CLOCK_BACK) now->tv_sec -= now->tv_sec < 3600 ? now->tv_sec : 3600;
  return status;
}

/* ---- arming ---- */

static inline bool fault_is_of_memory(const fault *f) {
  return f->call == FAULT_MEMORY || f->call == FAULT_MEMORY_MAP;
}

static inline void faults_arm(const fault *f, fault_when when, unsigned long number) {
  atomic_store(&tests_began, true);
  atomic_store(&faults.error, f->error);
  atomic_store(&faults.when, (int)when);
  atomic_store(&faults.number, number);
  atomic_store(&faults.calls, 0);
  atomic_store(&faults.hits, 0);
  atomic_store(&faults.call, (int)f->call);
  if (fault_is_of_memory(f))
    refuse_memory(when == FAULT_ONCE ? REFUSE_ONE : REFUSE_FROM, number);
}

/* How often did it strike? */
static inline unsigned long faults_disarm(void) {
  const int call = atomic_exchange(&faults.call, -1);
  if (call == FAULT_MEMORY || call == FAULT_MEMORY_MAP) return allow_memory();
  return atomic_load(&faults.hits);
}

#endif
