/* base/terminal.c - colour, width and bars of the terminal; see terminal.h.
 *
 * SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- colour ---- */

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
static int color_wanted = COLOR_AUTO;

bool terminal_set_color(const char *when) {
  static const char *const names[] = {"auto", "always", "never"};
  for (int i = 0; i < 3; i++)
    if (strcmp(when, names[i]) == 0) {
      color_wanted = i;
      return true;
    }
  return false;
}

bool terminal_is_interactive(void) {
  return isatty(STDOUT_FILENO) == 1;
}

bool terminal_has_color(void) {
  if (color_wanted != COLOR_AUTO) return color_wanted == COLOR_ALWAYS;
  const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
  if (no_color != NULL && *no_color != '\0') return false;
  return terminal_is_interactive() && kind != NULL && strcmp(kind, "dumb") != 0;
}

const char *on(style s) {
  static const char *const codes[STYLE_COUNT] = {
      "\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m", "\033[34m"};
  return terminal_has_color() ? codes[s] : "";
}

/* ---- size ---- */

static int from_environment(const char *name, int otherwise) {
  const char *value = getenv(name);
  int number = value != NULL ? atoi(value) : 0;
  return number >= 20 && number <= 1000 ? number : otherwise;
}

static bool window_size(struct winsize *size) {
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, size) == 0;
}

int terminal_width(void) {
  struct winsize size;
  if (window_size(&size) && size.ws_col >= 20) return size.ws_col;
  return from_environment("COLUMNS", 80);
}

int terminal_height(void) {
  struct winsize size;
  if (window_size(&size) && size.ws_row >= 5) return size.ws_row;
  return from_environment("LINES", 24);
}

static bool unicode_forced;

void terminal_force_unicode(bool force) {
  unicode_forced = force;
}

bool terminal_has_unicode(void) {
  if (unicode_forced) return true;
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    if (value == NULL || *value == '\0') continue;
    return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL ||
           strstr(value, "UTF8") != NULL || strstr(value, "utf-8") != NULL;
  }
  return false;
}

/* ---- bars ---- */

void print_bar(double share, int columns, style s) {
  static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(share > 0)) share = 0;
  if (share > 1) share = 1;
  int parts = (int)lround(share * columns * 8);
  if (parts == 0 && share > 0) parts = 1;
  int filled = parts / 8, rest = parts % 8;
  fputs(on(s), stdout);
  if (terminal_has_unicode()) {
    for (int i = 0; i < filled; i++) fputs("█", stdout);
    fputs(eighths[rest], stdout);
    filled += rest > 0;
  } else {
    filled += rest >= 4 || (filled == 0 && rest > 0);
    for (int i = 0; i < filled; i++) fputc('#', stdout);
  }
  fputs(on(STYLE_PLAIN), stdout);
  for (int i = filled; i < columns; i++) fputc(' ', stdout);
}

void print_sparkline(const double *values, int count) {
  static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char plain[] = " .:-=+*%#";
  bool unicode = terminal_has_unicode();
  for (int i = 0; i < count; i++) {
    double value = values[i] < 0 ? 0 : values[i] > 1 ? 1 : values[i];
    int level = (int)lround(value * 8);
    if (level == 0 && value > 0) level = 1;
    if (unicode)
      fputs(blocks[level], stdout);
    else
      fputc(plain[level], stdout);
  }
}

/* ---- figures ---- */

static char *next_buffer(void) {
  static char buffers[8][40];
  static unsigned turn;
  return buffers[turn++ % 8];
}

/* Three digits, and no more zeros behind the point than it takes. */
static void three_digits(char *out, double value, const char *unit) {
  int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  snprintf(out, 40, "%.*f %s", digits, value, unit);
}

const char *show_ns(double ns) {
  char *out = next_buffer();
  if (ns < 0) ns = 0;
  if (ns < 999.5)
    ns == floor(ns) ? snprintf(out, 40, "%.0f ns", ns) : (three_digits(out, ns, "ns"), 0);
  else if (ns < 999.5e3)
    three_digits(out, ns / 1e3, terminal_has_unicode() ? "µs" : "us");
  else if (ns < 999.5e6)
    three_digits(out, ns / 1e6, "ms");
  else if (ns < 600e9)
    three_digits(out, ns / 1e9, "s");
  else
    snprintf(out, 40, "%.0f min", ns / 60e9);
  return out;
}

const char *show_count(double n) {
  char *out = next_buffer();
  if (n < 9999.5)
    snprintf(out, 40, "%.0f", n);
  else if (n < 999.5e3)
    three_digits(out, n / 1e3, "k");
  else if (n < 999.5e6)
    three_digits(out, n / 1e6, "M");
  else
    three_digits(out, n / 1e9, "G");
  return out;
}

const char *show_share(double share) {
  char *out = next_buffer();
  double percent = share * 100;
  snprintf(out, 40, percent > 0 && percent < 9.95 ? "%.1f %%" : "%.0f %%", percent);
  return out;
}

/* ---- prose ---- */

/* Bytes that continue a character of UTF-8 are no columns. */
static int columns_of(const char *chars, size_t length) {
  int columns = 0;
  for (size_t i = 0; i < length; i++) columns += ((unsigned char)chars[i] & 0xC0) != 0x80;
  return columns;
}

void print_right(const char *chars, int columns) {
  int used = columns_of(chars, strlen(chars));
  printf("%*s%s", columns > used ? columns - used : 0, "", chars);
}

void print_wrapped(const char *words, int indent) {
  int width = terminal_width(), column = indent;
  if (width > 100) width = 100; /* longer lines are hard to read */
  while (*words != '\0') {
    while (*words == ' ') words++;
    size_t length = strcspn(words, " ");
    int columns = columns_of(words, length);
    if (column > indent && column + 1 + columns > width) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (column > indent) {
      putchar(' ');
      column++;
    }
    fwrite(words, 1, length, stdout);
    column += columns;
    words += length;
  }
  putchar('\n');
}
