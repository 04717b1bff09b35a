/* dies.h - misuse that must end the program with a certain message.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SCHED_DIES_H
#define TESTS_SCHED_DIES_H

#include "harness/harness.h"

#include <string.h>
#include <weft/base.h>

#if defined(_WIN32)

#include <setjmp.h>

/* There is no fork: the handler leaves the statements by a jump, on the same thread. */
static jmp_buf dies_jump;
static int dies_status;

static inline void expect_message(const char *message, void *ctx) {
  dies_status = strcmp(message, (const char *)ctx) == 0 ? 0 : 1;
  longjmp(dies_jump, 1);
}

#define CHECK_DIES(text, ...)                                                            \
  do {                                                                                   \
    dies_status = 2;                                                                     \
    weft_set_fatal_handler(expect_message, (void *)(uintptr_t)(text));                   \
    if (setjmp(dies_jump) == 0) {                                                        \
      __VA_ARGS__;                                                                       \
    }                                                                                    \
    weft_set_fatal_handler(NULL, NULL);                                                  \
    CHECK_MSG(dies_status == 0, "%s: status %d", text, dies_status);                     \
  } while (0)

#else

#include <sys/wait.h>
#include <unistd.h>

static inline void expect_message(const char *message, void *ctx) {
  _exit(strcmp(message, ctx) == 0 ? 0 : 1);
}

/* Runs the statements in a child, which must end with the message. They must be refused
 * before a pool is used, which not every tool allows a child to do. */
#define CHECK_DIES(text, ...)                                                            \
  do {                                                                                   \
    pid_t child = fork();                                                                \
    int status = 0;                                                                      \
    REQUIRE(child >= 0);                                                                 \
    if (child == 0) {                                                                    \
      weft_set_fatal_handler(expect_message, (void *)(uintptr_t)(text));                 \
      __VA_ARGS__;                                                                       \
      _exit(2);                                                                          \
    }                                                                                    \
    REQUIRE(waitpid(child, &status, 0) == child);                                        \
    CHECK_MSG(status == 0, "%s: status %x", text, (unsigned)status);                     \
  } while (0)

#endif

#endif
