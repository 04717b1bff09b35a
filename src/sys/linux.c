/* linux.c - waiting on a word by futex, and the process-wide barrier by membarrier.
 *
 * The calls go to the kernel directly: glibc offers neither, and its condition variables
 * have lost wakes in several releases. Threads, clock and memory are in unix.c, the
 * number of CPUs in cpu_count.c, CPU masks in affinity.c. Compiled on Linux unless
 * WF_SYS_POSIX asks for posix.c.
 *
 * Who calls: core (latches, locks) and sched (sleep, wake). No thread owns anything here;
 * the only state is the answer to "does membarrier work": written once under
 * pthread_once, and withdrawn by a thread that is refused it later.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall() */
#endif

#include "sys.h"

#if defined(__linux__) && !defined(WF_SYS_POSIX)

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- waiting on a word ---- */

/* The kernel's interface, written out because the kernel headers need not be installed.
 * The private forms look the word up by its virtual address alone. That is cheaper, and
 * it is why a wake never looks at the memory behind the address. */
enum { FUTEX_PRIVATE_WAIT = 0 | 128, FUTEX_PRIVATE_WAKE = 1 | 128 };

/* Newer 32-bit systems have only the call with 64-bit time. */
#if !defined(SYS_futex)
#define SYS_futex SYS_futex_time64
#endif

/* How long a wait lasts where the kernel refuses to wait. A choice: short enough to go on
 * working, long enough that an idle process costs some percent of a CPU instead of all of
 * it. A yield is no substitute: with nothing else to run it returns at once. */
enum { REFUSED_WAIT_NS = 100 * 1000 };

/* How long to wait, in the layout of the call above: two words of the kernel. That is the
 * C library's timespec except on 32-bit systems, where programs may have 64-bit time and
 * the call does not. */
#if defined(__x86_64__) || !defined(SYS_futex)
typedef int64_t futex_number;
#else
typedef long futex_number;
#endif
typedef struct futex_time {
  futex_number seconds, nanoseconds;
} futex_time;

/* True if the wait has ended for a reason of its own. */
static bool futex_wait(wf_u32 *word, uint32_t expected, const futex_time *timeout) {
  if (syscall(SYS_futex, word, FUTEX_PRIVATE_WAIT, expected, timeout, NULL, 0) == 0)
    return true;
  /* EAGAIN: the word differed. EINTR: a signal handler ran. Neither, nor the 0 above,
   * says that there was a wake; the caller looks at the word again. */
  return errno == EAGAIN || errno == EINTR;
}

void wf_sys_wait(wf_u32 *word, uint32_t expected) {
  if (futex_wait(word, expected, NULL)) return;
  /* What remains is a kernel or a sandbox that does not offer the call; some kernels also
   * answer ENOSYS to a wait that they restart after a signal. */
  struct timespec pause = {.tv_sec = 0, .tv_nsec = REFUSED_WAIT_NS};
  nanosleep(&pause, NULL);
}

bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns) {
  const uint64_t second = UINT64_C(1000000000);
  const uint64_t seconds = timeout_ns / second;
  const futex_time timeout = {
      .seconds = (futex_number)(seconds < INT32_MAX ? seconds : INT32_MAX),
      .nanoseconds = (futex_number)(timeout_ns % second)};
  if (futex_wait(word, expected, &timeout)) return true;
  if (errno == ETIMEDOUT) return false;
  /* Refused, as above. */
  struct timespec pause = {.tv_sec = 0, .tv_nsec = REFUSED_WAIT_NS};
  if (timeout_ns < REFUSED_WAIT_NS) pause.tv_nsec = (long)timeout_ns;
  nanosleep(&pause, NULL);
  return false;
}

/* The result is not used: the count does not say which threads will look at the word, and
 * where waking fails, waiting fails too and becomes polling, as above. */
void wf_sys_wake_one(wf_u32 *word) {
  syscall(SYS_futex, word, FUTEX_PRIVATE_WAKE, 1, NULL, NULL, 0);
}

void wf_sys_wake_all(wf_u32 *word) {
  syscall(SYS_futex, word, FUTEX_PRIVATE_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- process-wide barrier ---- */

/* The kernel's interface again; expedited means by interrupt to the CPUs that run this
 * process (microseconds) instead of by waiting for a grace period (milliseconds). */
enum {
  MEMBARRIER_QUERY = 0,
  MEMBARRIER_EXPEDITED = 1 << 3,
  MEMBARRIER_REGISTER_EXPEDITED = 1 << 4
};

static bool membarrier_works; /* written by membarrier_probe alone, under the once */
/* Not NULL once a barrier was refused; a pointer, because this layer has no other word
 * that threads can share. Relaxed throughout: it stands for nothing else in memory. */
static wf_ptr x_membarrier_refused;
static pthread_once_t membarrier_once = PTHREAD_ONCE_INIT;

/* How often a barrier is tried for which the kernel says that it has no memory. A choice:
 * the memory is for a list of CPUs, so the state passes soon or not at all. */
enum { MEMBARRIER_TRIES = 100 };

static int membarrier_call(int command) {
#if defined(SYS_membarrier)
  return (int)syscall(SYS_membarrier, command, 0, 0);
#else
  (void)command;
  errno = ENOSYS;
  return -1;
#endif
}

/* Sandboxes answer a call they dislike with EPERM as well as with ENOSYS, and a filter
 * may look at the command. So nothing is concluded from one answer: the command must be
 * offered, must accept the registration, and must work once. */
static void membarrier_probe(void) {
  const int needed = MEMBARRIER_EXPEDITED | MEMBARRIER_REGISTER_EXPEDITED;
  int offered = membarrier_call(MEMBARRIER_QUERY);
  if (offered < 0 || (offered & needed) != needed) return;
  if (membarrier_call(MEMBARRIER_REGISTER_EXPEDITED) != 0) return;
  if (membarrier_call(MEMBARRIER_EXPEDITED) != 0) return;
  membarrier_works = true;
}

/* The answer holds in children of fork too: the kernel copies the registration. */
bool wf_sys_barrier_prepare(void) {
  pthread_once(&membarrier_once, membarrier_probe);
  return membarrier_works && wf_ptr_load_relaxed(&x_membarrier_refused) == NULL;
}

/* A refusal means that the other threads have executed no fence, and their light barriers
 * count on it: the caller must do without. Pools that are made from now on do so too. */
bool wf_sys_barrier(void) {
  for (int i = 0; i < MEMBARRIER_TRIES; i++) {
    if (membarrier_call(MEMBARRIER_EXPEDITED) == 0) return true;
    if (errno != ENOMEM && errno != EINTR) break;
    sched_yield();
  }
  wf_ptr_store_relaxed(&x_membarrier_refused, &x_membarrier_refused);
  return false;
}

#endif
