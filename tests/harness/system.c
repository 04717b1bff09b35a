/* harness/system.c - threads, child processes and crashes on Linux.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "watchdog.h"

/* ---- threads ---- */

/* A joined thread may still be listed for a moment, but the kernel has already marked it
 * as exiting: flag PF_EXITING, 4, in the ninth field of its stat file. */
static bool thread_lives(const char *tid) {
  char path[320], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", tid);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  char state;
  unsigned flags;
  char *after_name = strrchr(text, ')');
  if (after_name == NULL ||
      sscanf(after_name, ") %c %*d %*d %*d %*d %*d %u", &state, &flags) != 2) {
    return false;
  }
  return state != 'Z' && state != 'X' && (flags & 4u) == 0;
}

/* The kernel's own count, which includes threads that are exiting. */
static unsigned kernel_thread_count(void) {
  unsigned count = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  REQUIRE(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Threads: %u", &count) == 1) break;
  }
  fclose(file);
  return count;
}

/* The emulator tells a program that a thread has ended shortly before it has. */
#if defined(HARNESS_EMULATOR)
enum { MOMENTS_TO_END = 50 };
#else
enum { MOMENTS_TO_END = 1 };
#endif

/* A listing ends early if the thread that was read last goes away. So a listing is only
 * used if it has as many entries as the kernel counted before and after it. While threads
 * come and go all the time, we use the last of many attempts. */
static unsigned count_threads_now(void) {
  unsigned living = 0;
  for (int attempt = 0; attempt < 1000; attempt++) {
    unsigned before = kernel_thread_count(), listed = 0;
    living = 0;
    DIR *tasks = opendir("/proc/self/task");
    REQUIRE(tasks != NULL);
    for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
      if (entry->d_name[0] == '.') continue;
      listed++;
      if (thread_lives(entry->d_name)) living++;
    }
    closedir(tasks);
    if (listed == before && listed == kernel_thread_count()) break;
  }
  return living;
}

unsigned harness_count_all_threads(void) {
  unsigned least = count_threads_now();
  for (int i = 1; i < MOMENTS_TO_END; i++) {
    harness_linger(1000);
    const unsigned now = count_threads_now();
    if (now < least) least = now;
  }
  return least;
}

/* ---- processes ---- */

/* What runs programs of this kind here; nothing if the machine does. */
#if !defined(HARNESS_EMULATOR)
#define HARNESS_EMULATOR ""
#endif

int harness_run_self(const char *env, const char *args, char *output, size_t size) {
  char exe[PATH_MAX], command[PATH_MAX + 512];
  ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
  REQUIRE(length > 0);
  exe[length] = '\0';
  snprintf(command, sizeof command, "%s %s '%s' %s 2>&1", env != NULL ? env : "",
           HARNESS_EMULATOR, exe, args);
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != NULL);
  size_t used = 0;
  for (int c; (c = getc(pipe)) != EOF;) {
    if (used + 1 < size) output[used++] = (char)c;
  }
  if (size > 0) output[used] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- crashes ---- */

/* Prints the test and the command that replays it; then the signal has its usual effect.
 * Children that a test forks in order to watch them die print nothing. */
static pid_t crash_pid; /* of the process that runs the tests */

static void on_crash(int signal_number) {
  if (getpid() == crash_pid) {
    watchdog_print(2, "%s: crashed with signal %d\n  replay: %s\n", harness_test_name(),
                   signal_number, harness_replay());
    watchdog_print_own_stack();
  }
  raise(signal_number);
}

void harness_catch_crashes(void) {
  crash_pid = getpid();
#if !defined(WITH_ASAN) && !defined(WITH_TSAN)
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  struct sigaction action = {.sa_handler = on_crash,
                             .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    sigaction(signals[i], &action, NULL);
  }
#else
  (void)on_crash; /* the sanitizers report crashes themselves, with more detail */
#endif
}
