/* base/options.h - reads the options of a subcommand, and complains in one way.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_BASE_OPTIONS_H
#define COMMAND_BASE_OPTIONS_H

#include <stdbool.h>

typedef struct option {
  const char *name; /* without the dashes; NULL ends a table */
  char letter;      /* of the short form, or 0 */
  bool has_value;
} option;

/* Options may stand anywhere before "--"; all else is an operand. Start from
 * {argc, argv}. Every subcommand knows --help and --color without a line in its table. */
typedef struct options {
  int argc;
  char **argv;
  int at;               /* the next argument to look at; 0: none was */
  const char *short_at; /* inside a group of short options, or NULL */
  const char *value;    /* of the option that was read last */
  int operands; /* argv[1 .. operands] are the operands so far, moved to the front */
  bool ended;   /* "--" was seen */
  bool stops;   /* set it: everything from the first operand on is an operand */
} options;

/* What options_next returns besides an index into the table. */
enum {
  OPTIONS_END = -1,
  OPTIONS_WRONG = -2, /* a message was printed: exit with COMMAND_USAGE */
  OPTIONS_HELP = -3   /* --help or -h */
};

int options_next(options *o, const option *table);

/* Prints "weft view: ..." and a line that names --help; returns COMMAND_USAGE. */
__attribute__((format(printf, 2, 3))) int usage_error(const char *subcommand,
                                                      const char *format, ...);
/* The same for what failed at run time; returns COMMAND_FAILED. */
__attribute__((format(printf, 2, 3))) int failure(const char *subcommand,
                                                  const char *format, ...);

/* A plain decimal number from min to max with nothing around it. */
bool parse_number(const char *chars, long min, long max, long *value);

/* Of `count` names, the one that somebody who wrote `word` probably meant, or NULL. */
const char *nearest_name(const char *word, const char *const *names, int count);

#endif
