/* harness/json.h - JSON: a writer, and a reader that makes a tree of values.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_JSON_H
#define BENCH_HARNESS_JSON_H

#include "text.h"

/* ---- writing ----
 *
 * Values are written one after the other; commas, line breaks and indentation come by
 * themselves. Within an object every value is preceded by its key. Lists of numbers stay
 * on one line. */
typedef struct json_writer {
  text out;
  int depth;
  bool first;  /* no comma before the next value */
  bool keyed;  /* the next value follows its key on the line */
  int compact; /* depth at which everything stays on one line, 0: none */
} json_writer;

void json_begin(json_writer *w, char bracket); /* '{' or '[' */
void json_end(json_writer *w, char bracket);   /* '}' or ']' */
void json_key(json_writer *w, const char *key);
void json_text(json_writer *w, const char *value); /* NULL is null */
void json_number(json_writer *w, double value);    /* not finite: null */
void json_bool(json_writer *w, bool value);
void json_numbers(json_writer *w, const double *values, size_t count);

/* ---- reading ---- */

typedef enum json_kind {
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_TEXT,
  JSON_LIST,
  JSON_OBJECT
} json_kind;

typedef struct json_value {
  json_kind kind;
  double number; /* also 0 and 1 of a bool */
  char *chars;
  struct json_value *items; /* of a list or an object */
  char **keys;              /* of an object */
  size_t count;
} json_value;

/* Reads one value and nothing behind it. On an error returns false and says in *problem,
 * which the caller frees, what is wrong and in which line; *value is then nothing. */
bool json_read(const char *chars, json_value *value, char **problem);
void json_free(json_value *value);

/* The member of an object, or NULL if value is no object or has none of this name. */
const json_value *json_member(const json_value *value, const char *key);
/* The same, of a kind: otherwise is returned for what is missing or of another kind. */
double json_member_number(const json_value *value, const char *key, double otherwise);
const char *json_member_text(const json_value *value, const char *key,
                             const char *otherwise);

#endif
