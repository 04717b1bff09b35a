/* Threads: start, join, name, stack, signal mask, and the codes of failures.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"
#include "core/atomic.h"
#include "harness/harness.h"
#include "sys/sys.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#endif
#endif
#ifndef THREAD_SANITIZED
#define THREAD_SANITIZED 0
#endif

enum { THREADS_MAX = 64, KIB = 1024, MIB = 1024 * 1024 };

/* Thread-local memory larger than a small stack: the C library takes it from the stack,
 * and a request that ignores it would be refused. */
static _Thread_local volatile char large_local[256 * KIB];

static wf_u32 ran;

static void count_run(void *arg) {
  (void)arg;
  wf_u32_fetch_add_relaxed(&ran, 1);
}

static void start_and_join(unsigned n) {
  wf_thread threads[THREADS_MAX];
  wf_u32_store_relaxed(&ran, 0);
  for (unsigned i = 0; i < n; i++) {
    REQUIRE(wf_sys_thread_start(&threads[i], "weft-test", 0, count_run, NULL) == 0);
  }
  for (unsigned i = 0; i < n; i++) wf_sys_thread_join(threads[i]);
  CHECK_EQ(wf_u32_load_relaxed(&ran), n);
}

TEST(start_and_join_any_number) {
  for (unsigned n = 1; n < THREADS_MAX; n += harness_slowdown()) start_and_join(n);
  start_and_join(THREADS_MAX);
}

/* Plain memory on purpose: the sanitizer would tell if start and join did not order it.
 */
static void add_one(void *arg) {
  *(int *)arg += 1;
}

TEST(start_and_join_order_memory) {
  int value = 1;
  for (int i = 0; i < 100; i++) {
    wf_thread thread;
    value += 1;
    REQUIRE(wf_sys_thread_start(&thread, NULL, 0, add_one, &value) == 0);
    wf_sys_thread_join(thread);
  }
  CHECK_EQ(value, 201);
}

/* ---- name ---- */

static void read_name(void *arg) {
  if (pthread_getname_np(pthread_self(), arg, 64) != 0) strcpy(arg, "?");
}

static void name_of(const char *name, char seen[64]) {
  wf_thread thread;
  REQUIRE(wf_sys_thread_start(&thread, name, 0, read_name, seen) == 0);
  wf_sys_thread_join(thread);
}

TEST(name_is_seen_inside) {
  char seen[64], unnamed[64];
  name_of("weft-7", seen);
  CHECK_STR_EQ(seen, "weft-7");
  name_of("123456789012345", seen);
  CHECK_STR_EQ(seen, "123456789012345");
  name_of("1234567890123456", seen);
  CHECK_STR_EQ(seen, "123456789012345");
  name_of("a name that is far too long for the kernel", seen);
  CHECK_STR_EQ(seen, "a name that is ");
  read_name(unnamed);
  name_of(NULL, seen);
  CHECK_STR_EQ(seen, unnamed);
  name_of("", seen);
  CHECK_STR_EQ(seen, unnamed);
}

static wf_u32 name_gate;

static void read_name_later(void *arg) {
  while (wf_u32_load_acquire(&name_gate) == 0) wf_sys_wait(&name_gate, 0);
  read_name(arg);
}

TEST(name_is_copied) {
  char name[] = "weft-copied", seen[64];
  wf_thread thread;
  REQUIRE(wf_sys_thread_start(&thread, name, 0, read_name_later, seen) == 0);
  memset(name, 'x', strlen(name));
  wf_u32_store_release(&name_gate, 1);
  wf_sys_wake_all(&name_gate);
  wf_sys_thread_join(thread);
  CHECK_STR_EQ(seen, "weft-copied");
}

/* ---- stack ---- */

static void read_stack_size(void *arg) {
  pthread_attr_t attributes;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
  }
  *(size_t *)arg = size;
  large_local[0] = large_local[sizeof large_local - 1] = 1;
}

static size_t stack_size_of(size_t request) {
  wf_thread thread;
  size_t size = 0;
  REQUIRE(wf_sys_thread_start(&thread, "weft-stack", request, read_stack_size, &size) ==
          0);
  wf_sys_thread_join(thread);
  return size;
}

TEST(stack_size_is_honoured) {
  /* The upper bounds leave room for what a sanitizer adds; they are there to tell the
   * requested sizes from the default of 8 MiB. */
  CHECK(stack_size_of(512 * KIB) >= 512 * KIB);
  CHECK(stack_size_of(512 * KIB) < 4 * MIB);
  CHECK(stack_size_of(1 * MIB + 1) > 1 * MIB);
  CHECK(stack_size_of(1 * MIB + 1) < 4 * MIB);
  CHECK(stack_size_of(32 * MIB) >= 32 * MIB);
  CHECK(stack_size_of(0) > 0);
}

/* The C library's, and 16 KiB at least. */
static size_t least_stack(void) {
  const size_t named = (size_t)PTHREAD_STACK_MIN;
  return named > 16 * KIB ? named : 16 * KIB;
}

TEST(odd_stack_sizes_are_rounded_up) {
  const size_t least = least_stack();
  CHECK(stack_size_of(least) >= least);
  CHECK(stack_size_of(least + 1) > least);
}

static void use_stack(void *arg) {
  volatile char bytes[1024 * KIB];
  for (size_t i = 0; i < sizeof bytes; i += 512) bytes[i] = 1;
  *(int *)arg = bytes[0];
}

TEST(stack_can_be_used) {
  wf_thread thread;
  int used = 0;
  /* Thread-local variables are taken out of the 4 MiB: 256 KiB of this file and, in some
   * sanitized builds, most of a MiB more. */
  REQUIRE(wf_sys_thread_start(&thread, NULL, 4 * MIB, use_stack, &used) == 0);
  wf_sys_thread_join(thread);
  CHECK_EQ(used, 1);
}

/* ---- signals ---- */

static void read_mask(void *arg) {
  pthread_sigmask(SIG_SETMASK, NULL, arg);
}

/* Raised by a fault of the thread itself. */
static bool is_fault_signal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
         signal == SIGTRAP || signal == SIGSYS;
}

static bool is_ordinary_signal(int signal) {
  if (signal == SIGKILL || signal == SIGSTOP) return false;
  return signal < 32 || (signal >= SIGRTMIN && signal <= SIGRTMAX);
}

TEST(signals_are_blocked_inside_and_unchanged_outside) {
  sigset_t before, after, inside;
  wf_thread thread;
  read_mask(&before);
  REQUIRE(wf_sys_thread_start(&thread, NULL, 0, read_mask, &inside) == 0);
  read_mask(&after);
  wf_sys_thread_join(thread);
  for (int signal = 1; signal <= SIGRTMAX; signal++) {
    if (!is_ordinary_signal(signal)) continue;
    CHECK_EQ(sigismember(&inside, signal), is_fault_signal(signal) ? 0 : 1);
    CHECK_EQ(sigismember(&after, signal), sigismember(&before, signal));
  }
}

/* ---- failures ---- */

TEST(absurd_stack_sizes_are_refused) {
  wf_thread thread;
  const size_t least = least_stack();
  CHECK_EQ(wf_sys_thread_start(&thread, NULL, 1, count_run, NULL), WEFT_EINVAL);
  CHECK_EQ(wf_sys_thread_start(&thread, NULL, least - 1, count_run, NULL), WEFT_EINVAL);
  CHECK_EQ(wf_sys_thread_start(&thread, NULL, SIZE_MAX, count_run, NULL), WEFT_EINVAL);
  /* No process has this much address space, except some of 32 bits. The C library does
   * not tell that from a passing shortage; valgrind, which answers in place of the
   * kernel, does. */
  const size_t large = SIZE_MAX / 2;
  const int status = wf_sys_thread_start(&thread, NULL, large, count_run, NULL);
  if (status == 0 && sizeof(size_t) < 8)
    wf_sys_thread_join(thread);
  else
    CHECK(status == WEFT_EAGAIN || status == WEFT_EINVAL);
  /* The mask must be back after a failure too. */
  sigset_t now;
  read_mask(&now);
  CHECK_EQ(sigismember(&now, SIGTERM), 0);
}

/* Root is exempt from the limit, so the child first becomes somebody else. */
static int start_without_allowance(void *arg) {
  (void)arg;
  const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
  if (setrlimit(RLIMIT_NPROC, &none) != 0) return CHILD_SKIPPED;
  if (geteuid() == 0 && setuid(65534) != 0) return CHILD_SKIPPED;
  wf_thread thread;
  return wf_sys_thread_start(&thread, NULL, 0, count_run, NULL) == WEFT_EAGAIN ? 0 : 1;
}

TEST(no_more_threads_gives_eagain) {
  if (THREAD_SANITIZED) {
    printf("skipped: ThreadSanitizer does not allow new threads in a forked child\n");
    return;
  }
  int result = child_run(start_without_allowance, NULL);
  if (result == CHILD_SKIPPED) {
    printf("skipped: the number of threads cannot be limited here\n");
    return;
  }
  CHECK_EQ(result, 0);
}
