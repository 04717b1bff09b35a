/* base/terminal.h - colour, width and bars of the terminal, and figures for people.
 *
 * Colour is used only on a terminal: not in a pipe or a file, not if NO_COLOR is set, not
 * on a dumb terminal. --color=always and --color=never override that.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_BASE_TERMINAL_H
#define COMMAND_BASE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum style {
  STYLE_PLAIN,
  STYLE_BOLD,
  STYLE_DIM,
  STYLE_GREEN,
  STYLE_YELLOW,
  STYLE_RED,
  STYLE_BLUE,
  STYLE_COUNT
} style;

/* "auto", "always" or "never"; false for anything else. */
bool terminal_set_color(const char *when);
bool terminal_has_color(void);
/* The escape sequence that starts the style, or "". */
const char *on(style s);

bool terminal_is_interactive(void); /* the standard output is a terminal */
int terminal_width(void);           /* columns; 80 if nobody says */
int terminal_height(void);          /* lines; 24 if nobody says */
/* Does the locale print UTF-8? Otherwise bars are of '#' and arrows of '->'. */
bool terminal_has_unicode(void);
void terminal_force_unicode(bool force); /* for pages, which are UTF-8 everywhere */

/* Prints a bar of `columns` columns of which `share` (0 to 1) is filled. */
void print_bar(double share, int columns, style s);
/* A line of small columns, one for each value from 0 to 1; '.:-=+*#' without Unicode. */
void print_sparkline(const double *values, int count);

/* "1.25 ms", "310 ns", "2.1 s"; the result is valid until the eighth call from now. */
const char *show_ns(double ns);
/* "12", "4.1 k", "3.2 M". */
const char *show_count(double n);
/* "38 %", "0.4 %". */
const char *show_share(double share);

/* Prints text at the right end of a field; printf counts bytes, this counts columns. */
void print_right(const char *chars, int columns);
/* Prints text wrapped to the width of the terminal, each line after `indent` blanks. The
 * first line begins where the cursor is: at column `indent`. */
void print_wrapped(const char *words, int indent);

#endif
