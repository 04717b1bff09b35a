/* command.h - what the parts of the `weft` command share: subcommands and exit codes.
 *
 * The command is one program of one thread, except where it runs the library to measure
 * it (bench.c, doctor.c). README.md says which file does what.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

/* Exit codes, of every subcommand. `weft run` exits as the program that it runs, with 126
 * and 127 as shells have them. */
enum {
  COMMAND_OK = 0,
  COMMAND_FAILED = 1, /* could not do it: a file, a process, a full disk */
  COMMAND_USAGE = 2,  /* the command line was not understood */
  COMMAND_FOUND = 3   /* `weft doctor`: there is something to act on */
};

/* argv[0] is the name of the subcommand. */
typedef int command_fn(int argc, char **argv);

command_fn command_info, command_bench, command_run, command_view, command_top,
    command_doctor;

#endif
