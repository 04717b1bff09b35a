/* main.c - the `weft` command: finds the subcommand and calls it.
 *
 * SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"

#include <weft/base.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name;
  command_fn *fn;
  const char *what;
} SUBCOMMANDS[] = {
    {"info", command_info,
     "this machine as weft sees it, and the defaults it would choose"},
    {"bench", command_bench, "measure fork, wake-up, loop and sort here, in a minute"},
    {"run", command_run,
     "run a program with threads, idle mode, trace and statistics set"},
    {"view", command_view, "make a timeline page from a trace"},
    {"top", command_top, "watch the workers of a running program, or sum up a trace"},
    {"doctor", command_doctor, "look for what slows programs down, and say what to do"},
};

enum { SUBCOMMAND_COUNT = sizeof SUBCOMMANDS / sizeof SUBCOMMANDS[0] };

static void help(void) {
  printf("Usage: weft SUBCOMMAND [options] [operands]\n\n"
         "See what the scheduler of weft does, on this machine and in your program.\n\n");
  for (int i = 0; i < SUBCOMMAND_COUNT; i++)
    printf("  %s%-8s%s %s\n", on(STYLE_BOLD), SUBCOMMANDS[i].name, on(STYLE_PLAIN),
           SUBCOMMANDS[i].what);
  printf("\nOptions of every subcommand:\n"
         "  --json         print JSON for programs (not: run)\n"
         "  --color WHEN   auto (only on a terminal, the default), always or never\n"
         "  -h, --help     explain the subcommand\n"
         "\n"
         "  weft --version prints the version.\n"
         "\n"
         "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 `weft doctor` found something.\n"
         "Manual: man weft, man weft-view and so on.\n");
}

static int unknown(const char *name) {
  const char *names[SUBCOMMAND_COUNT];
  for (int i = 0; i < SUBCOMMAND_COUNT; i++) names[i] = SUBCOMMANDS[i].name;
  const char *meant = nearest_name(name, names, SUBCOMMAND_COUNT);
  if (meant != NULL)
    return usage_error("", "there is no subcommand '%s'; did you mean '%s'?", name,
                       meant);
  return usage_error("", "there is no subcommand '%s'", name);
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help();
    return COMMAND_USAGE;
  }
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    help();
    return COMMAND_OK;
  }
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
    printf("weft %s\n", weft_version());
    return COMMAND_OK;
  }
  if (strcmp(name, "help") == 0 && argc == 2) {
    help();
    return COMMAND_OK;
  }
  /* `weft help view` is `weft view --help`. */
  char help_option[] = "--help";
  char *help_arguments[] = {argc > 2 ? argv[2] : NULL, help_option, NULL};
  bool asks = strcmp(name, "help") == 0;
  if (asks) name = argv[2];
  for (int i = 0; i < SUBCOMMAND_COUNT; i++)
    if (strcmp(name, SUBCOMMANDS[i].name) == 0)
      return asks ? SUBCOMMANDS[i].fn(2, help_arguments)
                  : SUBCOMMANDS[i].fn(argc - 1, argv + 1);
  return unknown(name);
}

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_DFL); /* `weft info | head` ends quietly */
  int status = dispatch(argc, argv);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    perror("weft: writing the output");
    return COMMAND_FAILED;
  }
  return status;
}
