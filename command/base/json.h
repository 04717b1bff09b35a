/* base/json.h - JSON: a reader that goes from token to token, and a writer.
 *
 * The reader makes no tree, because traces have millions of events. It is strict: what
 * RFC 8259 does not allow is an error that names the line.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_BASE_JSON_H
#define COMMAND_BASE_JSON_H

#include "text.h"

/* ---- reading ---- */

typedef enum json_token {
  JSON_END,   /* nothing is left */
  JSON_ERROR, /* `problem` says what */
  JSON_OBJECT,
  JSON_OBJECT_END,
  JSON_LIST,
  JSON_LIST_END,
  JSON_KEY,    /* `string`, `length` */
  JSON_STRING, /* `string`, `length` */
  JSON_NUMBER, /* `number` */
  JSON_TRUE,
  JSON_FALSE,
  JSON_NULL
} json_token;

enum { JSON_MOST_LEVELS = 64 };

/* Start by json_open. The text must stay as it is meanwhile. */
typedef struct json_reader {
  const char *begin, *at, *end;
  const char *string; /* decoded, with a byte 0 behind; valid until the next token */
  size_t length;
  double number;
  char problem[120];
  bool cut_short; /* the error is that the text ends too early */
  int depth;
  bool in_object[JSON_MOST_LEVELS];
  enum { JSON_WANTS_VALUE, JSON_WANTS_FIRST, JSON_WANTS_COLON, JSON_WANTS_COMMA } state;
  text scratch;
} json_reader;

void json_open(json_reader *r, const char *chars, size_t length);
void json_close(json_reader *r);
json_token json_next(json_reader *r);
/* Reads on inside an object: the key of the next member, and the first token of its
 * value, which is returned. JSON_OBJECT_END: there are no more members. */
json_token json_next_member(json_reader *r, char *key, size_t size);
/* Copies the string that was just read, made printable, as far as it fits. */
void json_copy_text(char *to, size_t size, const json_reader *r);
/* Reads on until the value whose first token was `token` has ended; false on an error. */
bool json_skip(json_reader *r, json_token token);
/* The line of the reader, counted from 1. */
size_t json_line(const json_reader *r);

/* Is the whole text one valid value? Otherwise *problem, of 160 bytes, says why. */
bool json_is_valid(const char *chars, size_t length, char *problem);

/* ---- writing ----
 *
 * Commas and line breaks come by themselves. `key` is NULL inside lists. */
typedef struct json_writer {
  text out;
  int depth;
  bool first;
  bool compact; /* all in one line */
} json_writer;

void json_begin(json_writer *w, const char *key, char bracket);         /* '{' or '[' */
void json_finish(json_writer *w, char bracket);                         /* '}' or ']' */
void json_put_text(json_writer *w, const char *key, const char *value); /* NULL: null */
void json_put_number(json_writer *w, const char *key, double value);
void json_put_bool(json_writer *w, const char *key, bool value);
/* Writes to the standard output, with a line end, and frees. */
void json_print(json_writer *w);

#endif
