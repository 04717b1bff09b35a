/* misuse/run.h - mistakes that are made in processes of their own, which may crash or
 * hang where they should not: the program must end with a message that names the call, or
 * the call must have the documented result.
 *
 * Environment: MISUSE_SHOW=1 prints all that differs and not only the first twenty.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MISUSE_RUN_H
#define TESTS_MISUSE_RUN_H

#include "process/child.h"

#include "misuse/values.h"

#include <sys/resource.h>

/* A mistake, and what comes of it. */
typedef struct row {
  const char *shown; /* weft_sort(cmp = NULL) */
  const char *base;  /* what the message names */
  const char *text;  /* what the message contains; NULL: there is none */
  bool (*commit)(void);
} row;

/* ---- a process for each ---- */

/* Where the call is made. */
typedef enum place {
  OUTSIDE,        /* by a thread that has not used weft */
  IN_A_POOL,      /* inside weft_pool_run */
  IN_A_TASK,      /* by a task of a scope */
  IN_A_LOOP,      /* by a block of a loop */
  AFTER_SHUTDOWN, /* when the global pool has come and gone */
  PLACES
} place;

static const char *const PLACE_NAMES[] = {"outside", "in a pool", "in a task",
                                          "in a loop", "after a shutdown"};

enum { RIGHT = 0, WRONG_RESULT = 3 };

static void commit_in_place(void *ctx) {
  const row *r = ctx;
  if (!r->commit()) _exit(WRONG_RESULT);
  weft_scope *open = weft_scope_current();
  if (open == &made.scope || open == &made.ended || open == &made.fresh)
    weft_scope_end(open);
}

static void commit_in_block(size_t begin, size_t end, void *ctx) {
  if (begin == 0) commit_in_place(ctx);
  (void)end;
}

static void commit(const row *r, place where) {
  void *ctx = (void *)(uintptr_t)r;
  weft_scope scope;
  switch (where) {
  case IN_A_POOL:
    weft_pool_run(a_pool(), commit_in_place, ctx);
    break;
  case IN_A_TASK:
    weft_scope_begin(&scope);
    weft_spawn(&scope, commit_in_place, ctx);
    weft_scope_end(&scope);
    break;
  case IN_A_LOOP:
    weft_for(2, commit_in_block, ctx);
    break;
  case AFTER_SHUTDOWN:
    REQUIRE(weft_init(&plain_config) == 0);
    weft_shutdown();
    commit_in_place(ctx);
    break;
  default:
    commit_in_place(ctx);
  }
}

static _Noreturn void be_the_child(const row *r, place where, int error_to) {
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(error_to, STDERR_FILENO);
  signal(SIGABRT, SIG_DFL);
  signal(SIGSEGV, SIG_DFL);
  child_begins(); /* one that hangs is killed */
  commit(r, where);
  _exit(RIGHT);
}

/* The last words and the status of a process. */
typedef struct outcome {
  char said[1024];
  int status;
} outcome;

static void run_row(const row *r, place where, outcome *o) {
  int ends[2];
  size_t length = 0;
  REQUIRE(pipe(ends) == 0);
  pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) be_the_child(r, where, ends[1]);
  close(ends[1]);
  for (ssize_t got = 1; got > 0 && length < sizeof o->said - 1; length += (size_t)got) {
    got = read(ends[0], o->said + length, sizeof o->said - 1 - length);
    if (got < 0) break;
  }
  o->said[length] = '\0';
  close(ends[0]);
  REQUIRE(waitpid(child, &o->status, 0) == child);
}

/* "weft: weft_sort: the comparator is NULL"; or weft_sort_with. */
static bool is_named(const row *r, const char *said) {
  char start[128];
  snprintf(start, sizeof start, "weft: %s", r->base);
  const char *message = strstr(said, start);
  if (message == NULL) return false;
  message += strlen(start);
  if (strncmp(message, "_with", 5) == 0) message += 5;
  return strncmp(message, ": ", 2) == 0 && strstr(message, r->text) != NULL;
}

static bool is_as_expected(const row *r, const outcome *o) {
  if (r->text == NULL) return WIFEXITED(o->status) && WEXITSTATUS(o->status) == RIGHT;
  return WIFSIGNALED(o->status) && WTERMSIG(o->status) == SIGABRT && is_named(r, o->said);
}

/* Every `step`-th row from `first` on. */
static void check_table(const row *rows, size_t count, place where, size_t first,
                        size_t step) {
  static outcome o;
  const bool shows = getenv("MISUSE_SHOW") != NULL;
  if (!children_may_start_threads()) return;
  spoil_structs();
  init_refusal = where == IN_A_TASK || where == IN_A_LOOP ? WEFT_EBUSY : WEFT_EINVAL;
  size_t checked = 0;
  for (size_t i = first; i < count; i += step, checked++) {
    run_row(&rows[i], where, &o);
    CHECK_MSG(is_as_expected(&rows[i], &o), "%s %s: status %x, expected %s, it said: %s",
              rows[i].shown, PLACE_NAMES[where], (unsigned)o.status,
              rows[i].text != NULL ? rows[i].text : "no message", o.said);
    if (shows && !is_as_expected(&rows[i], &o))
      printf("  %s: %x %s\n", rows[i].shown, (unsigned)o.status, o.said);
  }
  printf("  %zu calls %s\n", checked, PLACE_NAMES[where]);
}

#endif
