/* run.c - `weft run`: runs a program with the environment of weft set.
 *
 * The library reports nonsense in its environment and goes on, because it must not stop a
 * program for it. Here somebody is there to read a message, so values are checked.
 *
 * SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "base/text.h"
#include "command.h"

#include <weft/pool.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(void) {
  printf(
      "Usage: weft run [options] [--] PROGRAM [arguments]\n\n"
      "Runs a program that uses weft, with its environment set. Nothing else changes: "
      "the\n"
      "program takes the place of this command, and its exit code is the exit code.\n\n"
      "  -n, --threads N    how many threads work at once (1 to %d)\n"
      "  -i, --idle MODE    how long threads without work search before they sleep:\n"
      "                     low_latency, balanced or power_saving\n"
      "      --steer WHEN   keep woken threads off the CPU of the waker: auto, on, off\n"
      "  -t, --trace FILE   write a trace there; %%p in the name becomes the process id\n"
      "      --limit MIB    let the trace grow to this size at most\n"
      "  -s, --stats        print statistics when the program ends\n"
      "  -l, --live         let `weft top` watch the program\n"
      "      --color WHEN   auto, always or never\n"
      "  -h, --help         this text\n\n"
      "Options end at the name of the program. Exit codes: that of the program; 126 if "
      "it\n"
      "cannot be run, 127 if it is not found.\n",
      WEFT_MAX_THREADS);
}

enum {
  OPTION_THREADS,
  OPTION_IDLE,
  OPTION_STEER,
  OPTION_TRACE,
  OPTION_LIMIT,
  OPTION_STATS,
  OPTION_LIVE
};
static const option OPTIONS[] = {{"threads", 'n', true}, {"idle", 'i', true},
                                 {"steer", 0, true},     {"trace", 't', true},
                                 {"limit", 0, true},     {"stats", 's', false},
                                 {"live", 'l', false},   {NULL, 0, false}};

static bool is_one_of(const char *value, const char *const *words, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(value, words[i]) == 0) return true;
  return false;
}

/* A trace that cannot be written is found out now, and not after an hour. A name with %p
 * is not known yet. */
static bool can_write(const char *path) {
  if (strstr(path, "%p") != NULL) return true;
  bool existed = access(path, F_OK) == 0;
  FILE *file = fopen(path, "ab");
  if (file == NULL) return false;
  fclose(file);
  if (!existed) unlink(path);
  return true;
}

/* Sets the variable for one option; false after a message. */
static bool apply(int which, const char *value) {
  static const char *const idle[] = {"low_latency", "balanced", "power_saving"};
  static const char *const steer[] = {"auto", "on", "off"};
  long number;
  switch (which) {
  case OPTION_THREADS:
    if (!parse_number(value, 1, WEFT_MAX_THREADS, &number)) {
      usage_error("run", "--threads is a number from 1 to %d, not '%s'", WEFT_MAX_THREADS,
                  value);
      return false;
    }
    return setenv("WEFT_NUM_THREADS", value, 1) == 0;
  case OPTION_IDLE:
    if (!is_one_of(value, idle, 3)) {
      usage_error("run", "--idle is low_latency, balanced or power_saving, not '%s'",
                  value);
      return false;
    }
    return setenv("WEFT_IDLE", value, 1) == 0;
  case OPTION_STEER:
    if (!is_one_of(value, steer, 3)) {
      usage_error("run", "--steer is auto, on or off, not '%s'", value);
      return false;
    }
    return setenv("WEFT_STEER", value, 1) == 0;
  case OPTION_TRACE:
    if (*value == '\0' || !can_write(value)) {
      failure("run", "cannot write the trace '%s': %s", value,
              *value == '\0' ? "it has no name" : strerror(errno));
      return false;
    }
    return setenv("WEFT_TRACE", value, 1) == 0;
  case OPTION_LIMIT:
    if (!parse_number(value, 1, 1 << 20, &number)) {
      usage_error("run", "--limit is a number of MiB, not '%s'", value);
      return false;
    }
    return setenv("WEFT_TRACE_LIMIT", value, 1) == 0;
  default:
    return true;
  }
}

int command_run(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv, .stops = true};
  bool stats = false, live = false;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_STATS) stats = true;
    if (found == OPTION_LIVE) live = true;
    if (!apply(found, o.value))
      return found == OPTION_TRACE ? COMMAND_FAILED : COMMAND_USAGE;
  }
  if (o.operands == 0) return usage_error("run", "which program?");
  if (stats && live) return usage_error("run", "--stats and --live exclude each other");
  if (stats || live) setenv("WEFT_STATS", live ? "live" : "1", 1);
  /* The operands were moved to the front; exec wants a NULL behind them. */
  argv[o.operands + 1] = NULL;
  fflush(stdout);
  execvp(argv[1], &argv[1]);
  int problem = errno;
  failure("run", "cannot run '%s': %s", argv[1], strerror(problem));
  return problem == ENOENT ? 127 : 126;
}
