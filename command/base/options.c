/* base/options.c - reads the options of a subcommand; see options.h.
 *
 * SPDX-License-Identifier: MIT */
#include "options.h"

#include "../command.h"
#include "terminal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

int usage_error(const char *subcommand, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "weft%s%s: ", *subcommand != '\0' ? " " : "", subcommand);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\nTry: weft%s%s --help\n", *subcommand != '\0' ? " " : "", subcommand);
  va_end(arguments);
  return COMMAND_USAGE;
}

int failure(const char *subcommand, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "weft %s: ", subcommand);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return COMMAND_FAILED;
}

/* ---- numbers and names ---- */

bool parse_number(const char *chars, long min, long max, long *value) {
  long long number = 0;
  if (*chars == '\0' || strlen(chars) > 15) return false;
  for (; *chars != '\0'; chars++) {
    if (*chars < '0' || *chars > '9') return false;
    number = number * 10 + (*chars - '0');
  }
  if (number < min || number > max) return false;
  *value = (long)number;
  return true;
}

/* The number of letters to insert, remove or replace until a is b. Long words are far
 * from everything. */
static int distance(const char *a, const char *b) {
  enum { LONGEST = 31 };
  int row[LONGEST + 1];
  int columns = (int)strlen(b), rows = (int)strlen(a);
  if (columns > LONGEST || rows > LONGEST) return LONGEST;
  for (int j = 0; j <= columns; j++) row[j] = j;
  for (int i = 1; i <= rows; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= columns; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      row[j] = best;
    }
  }
  return row[columns];
}

const char *nearest_name(const char *word, const char *const *names, int count) {
  const char *nearest = NULL;
  int least = 3; /* two wrong letters are a slip, three are another word */
  for (int i = 0; i < count; i++) {
    int letters = distance(word, names[i]);
    if (letters < least && letters < (int)strlen(names[i])) {
      least = letters;
      nearest = names[i];
    }
  }
  return nearest;
}

/* ---- options ---- */

enum { COMMON_HELP };
static const option COMMON[] = {
    {"help", 'h', false}, {"color", 0, true}, {NULL, 0, false}};

static int find_long(const option *table, const char *name, size_t length) {
  for (int i = 0; table[i].name != NULL; i++)
    if (strncmp(table[i].name, name, length) == 0 && table[i].name[length] == '\0')
      return i;
  return -1;
}

static int find_short(const option *table, char letter) {
  for (int i = 0; table[i].name != NULL; i++)
    if (table[i].letter == letter) return i;
  return -1;
}

static int unknown_long(const options *o, const option *table, const char *name) {
  const char *names[32];
  int count = 0;
  for (int i = 0; table[i].name != NULL && count < 30; i++)
    names[count++] = table[i].name;
  for (int i = 0; COMMON[i].name != NULL; i++) names[count++] = COMMON[i].name;
  const char *meant = nearest_name(name, names, count);
  if (meant != NULL)
    usage_error(o->argv[0], "there is no option --%s; did you mean --%s?", name, meant);
  else
    usage_error(o->argv[0], "there is no option --%s", name);
  return OPTIONS_WRONG;
}

/* Sets o->value from "=value" or the next argument. */
static bool take_value(options *o, const option *found, const char *dashes,
                       const char *attached) {
  o->value = NULL;
  if (!found->has_value) {
    if (attached == NULL) return true;
    usage_error(o->argv[0], "%s%s takes no value", dashes, found->name);
    return false;
  }
  if (attached != NULL) {
    o->value = attached;
  } else if (o->at < o->argc && strcmp(o->argv[o->at], "--") != 0) {
    o->value = o->argv[o->at++];
  } else {
    usage_error(o->argv[0], "--%s needs a value", found->name);
    return false;
  }
  return true;
}

/* --color was read and obeyed: read on. */
enum { OPTIONS_AGAIN = -10 };

static int read_long(options *o, const option *table, const char *argument) {
  const char *name = argument + 2, *equals = strchr(name, '=');
  size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
  const char *attached = equals != NULL ? equals + 1 : NULL;
  int index = find_long(table, name, length);
  if (index >= 0)
    return take_value(o, &table[index], "--", attached) ? index : OPTIONS_WRONG;
  int common = find_long(COMMON, name, length);
  if (common < 0) {
    char shown[32];
    snprintf(shown, sizeof shown, "%.*s", (int)(length < 31 ? length : 31), name);
    return unknown_long(o, table, shown);
  }
  if (!take_value(o, &COMMON[common], "--", attached)) return OPTIONS_WRONG;
  if (common == COMMON_HELP) return OPTIONS_HELP;
  if (terminal_set_color(o->value)) return OPTIONS_AGAIN;
  usage_error(o->argv[0], "--color is auto, always or never, not '%s'", o->value);
  return OPTIONS_WRONG;
}

static int read_short(options *o, const option *table) {
  char letter = *o->short_at++;
  if (letter == 'h' && find_short(table, 'h') < 0) return OPTIONS_HELP;
  int index = find_short(table, letter);
  if (index < 0) {
    usage_error(o->argv[0], "there is no option -%c", letter);
    return OPTIONS_WRONG;
  }
  const char *rest = *o->short_at != '\0' ? o->short_at : NULL;
  if (table[index].has_value) {
    o->short_at = NULL;
    return take_value(o, &table[index], "-", rest) ? index : OPTIONS_WRONG;
  }
  if (rest == NULL) o->short_at = NULL;
  o->value = NULL;
  return index;
}

int options_next(options *o, const option *table) {
  if (o->at == 0) o->at = 1;
  for (;;) {
    if (o->short_at != NULL) return read_short(o, table);
    if (o->at >= o->argc) return OPTIONS_END;
    char *argument = o->argv[o->at++];
    if (!o->ended && strcmp(argument, "--") == 0) {
      o->ended = true;
    } else if (o->ended || argument[0] != '-' || argument[1] == '\0') {
      o->argv[++o->operands] = argument;
      if (o->stops) o->ended = true;
    } else if (argument[1] == '-') {
      int result = read_long(o, table, argument);
      if (result != OPTIONS_AGAIN) return result;
    } else {
      o->short_at = argument + 1;
    }
  }
}
