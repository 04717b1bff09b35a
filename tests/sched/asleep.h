/* asleep.h - waiting until a thread sleeps, so that what wakes it is put to the test. The
 * including file defines _GNU_SOURCE first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_ASLEEP_H
#define TESTS_SCHED_ASLEEP_H

#include "support.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t own_thread_id(void) {
  return (pid_t)syscall(SYS_gettid);
}

/* What the kernel says about a thread of this process. */
static inline bool is_asleep(pid_t thread) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  const char *after_name = strrchr(text, ')');
  return after_name != NULL && strncmp(after_name, ") S", 3) == 0;
}

/* Until the thread sleeps, or for a while if it never does: a test may not depend on it,
 * but finds more if it does. */
static inline void let_it_sleep(pid_t thread) {
  for (unsigned round = 0; round < 40 && !is_asleep(thread);) harness_pause(&round);
}

#endif
