/* child.h - children that are waited for, and programs that are watched from outside; for
 * programs with and without weft.
 *
 * Include it first, with _GNU_SOURCE defined before.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_CHILD_H
#define TESTS_PROCESS_CHILD_H

#include "harness/harness.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#elif __has_feature(address_sanitizer)
#define ADDRESS_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZED 1
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZED 1
#endif
#ifndef THREAD_SANITIZED
#define THREAD_SANITIZED 0
#endif
#ifndef ADDRESS_SANITIZED
#define ADDRESS_SANITIZED 0
#endif

/* ---- children ---- */

/* What children do that start threads. ThreadSanitizer ends a program that starts a
 * thread in the child of a process with several; AddressSanitizer does not hold the locks
 * of its allocator during a fork, so that a child may find one locked for ever (glibc's
 * own allocator is ready for that). Such children run in plain builds and under valgrind.
 */
#define FORKS_FREELY (!THREAD_SANITIZED && !ADDRESS_SANITIZED)

static inline bool children_may_start_threads(void) {
  if (!FORKS_FREELY)
    printf("skipped: the sanitizer is not ready for threads in a forked child\n");
  return FORKS_FREELY;
}

/* Leaks are looked for in the parent. A child lacks the stacks of the threads that it did
 * not inherit, so what only they point to would count as leaked. */
static bool is_child;
#if ADDRESS_SANITIZED
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return is_child;
}
#endif

/* A child has no watchdog thread. One that hangs is ended by a timer before the watchdog
 * of the parent acts. The timer uses SIGKILL, because threads of a pool block everything
 * else. */
#if defined(_WIN32) /* without fork nothing begins here */
static inline void child_begins(void) {
  is_child = true;
}
#else
static inline void child_begins(void) {
  timer_t timer;
  struct sigevent event;
  struct itimerspec once;
  memset(&event, 0, sizeof event);
  memset(&once, 0, sizeof once);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  once.it_value.tv_sec = HARNESS_DEFAULT_LIMIT / 4 * (time_t)harness_slowdown();
  is_child = true;
  REQUIRE(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  REQUIRE(timer_settime(timer, 0, &once, NULL) == 0);
}
#endif

/* In a child: becomes this program from its start, with the name of a test. Returns only
 * if that fails. An emulator has to be named: the system cannot start the program alone.
 */
static inline void exec_self(const char *test) {
#if defined(HARNESS_EMULATOR)
  char exe[4096];
  ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (length <= 0) return;
  exe[length] = '\0';
  execl("/bin/sh", "sh", "-c", "exec " HARNESS_EMULATOR " \"$0\" \"$1\"", exe, test,
        (char *)NULL);
#elif !defined(_WIN32)
  execl("/proc/self/exe", "exec_self", test, (char *)NULL);
#else
  (void)test;
#endif
}

/* fork, for code that goes on in both processes. */
static inline pid_t fork_here(void) {
  fflush(NULL); /* what is in the buffers is printed once */
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) child_begins();
  return child;
}

/* The child's exit code, or 128 plus the signal that ended it. */
enum { ABORTED = 128 + SIGABRT, TERMINATED = 128 + SIGTERM };

static inline int wait_for_child(pid_t child) {
  int status = 0;
  pid_t got;
  do {
    got = waitpid(child, &status, 0);
  } while (got < 0 && errno == EINTR);
  REQUIRE(got == child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Calls fn in a child, which ends without exit handlers; true means exit code 0. */
typedef bool child_fn(void *arg);

static inline int run_child(child_fn *fn, void *arg) {
  pid_t child = fork_here();
  if (child == 0) _exit(fn(arg) ? 0 : 1);
  return wait_for_child(child);
}

/* The end of a child that has come back from where it was forked. */
static inline _Noreturn void child_ends(bool right) {
  _exit(right ? 0 : 1);
}

/* ---- programs that are watched from outside ---- */

static inline unsigned occurrences(const char *text, const char *word) {
  unsigned count = 0;
  for (; (text = strstr(text, word)) != NULL; text += strlen(word)) count++;
  return count;
}

/* Writes at once: stdio may be closed already, or be locked by a thread that is gone. */
static inline void say(const char *text) {
  size_t length = strlen(text);
  REQUIRE(write(STDOUT_FILENO, text, length) == (ssize_t)length);
}

/* Runs a TEST_BY_NAME of this program in a process of its own, with pools of three
 * threads whatever the machine has. Checks its exit code (128 plus signal) and how often
 * it printed the word, and shows its output if either is wrong. One that hangs is ended
 * by its own watchdog, and its stacks are part of the output. */
static inline void check_program(const char *name, int code, const char *word,
                                 unsigned times) {
  static char output[1 << 16];
  char env[64];
  snprintf(env, sizeof env, "WEFT_NUM_THREADS=3 WEFT_TEST_TIMEOUT=%u",
           HARNESS_DEFAULT_LIMIT / 2 * harness_slowdown());
  int got = harness_run_self(env, name, output, sizeof output);
  unsigned said = occurrences(output, word);
  bool held = CHECK_MSG(got == code, "%s: exit code %d, not %d", name, got, code);
  held = CHECK_MSG(said == times, "%s: \"%s\" %u times", name, word, said) && held;
  if (!held) fprintf(stderr, "---- output of %s:\n%s----\n", name, output);
}

#endif
