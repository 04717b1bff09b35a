/* json.h - a strict parser of JSON (RFC 8259) for tests: no trailing commas, no control
 * characters in strings, valid UTF-8, numbers as the grammar says, nothing behind the end
 * but white space.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_TRACE_JSON_H
#define TESTS_TRACE_JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum json_kind {
  JSON_NULL,
  JSON_BOOL,
  JSON_NUMBER,
  JSON_STRING,
  JSON_ARRAY,
  JSON_OBJECT
} json_kind;

typedef struct json {
  json_kind kind;
  bool truth;
  double number;
  char *string;
  size_t count;       /* of the elements, or members */
  struct json *first; /* the first of them */
  struct json *next;  /* in the array or object around it */
  char *key;          /* in an object */
} json;

typedef struct json_reader {
  const unsigned char *at, *end;
  const char *error;
} json_reader;

static inline bool json_fail(json_reader *r, const char *error) {
  if (r->error == NULL) r->error = error;
  return false;
}

static inline void json_space(json_reader *r) {
  while (r->at < r->end &&
         (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
    r->at++;
}

static inline void json_free(json *value) {
  if (value == NULL) return;
  json *next;
  for (json *it = value->first; it != NULL; it = next) {
    next = it->next;
    json_free(it);
  }
  free(value->string);
  free(value->key);
  free(value);
}

static inline bool json_hex4(json_reader *r, unsigned *out) {
  *out = 0;
  for (int i = 0; i < 4; i++) {
    unsigned c = r->at < r->end ? *r->at++ : 0;
    if (c >= '0' && c <= '9')
      *out = *out * 16 + (c - '0');
    else if ((c | 32) >= 'a' && (c | 32) <= 'f')
      *out = *out * 16 + ((c | 32) - 'a' + 10);
    else
      return json_fail(r, "bad \\u escape");
  }
  return true;
}

static inline bool json_utf8(json_reader *r) {
  const unsigned char *s = r->at;
  size_t left = (size_t)(r->end - s), length;
  if (s[0] >= 0xC2 && s[0] <= 0xDF)
    length = 2;
  else if (s[0] >= 0xE0 && s[0] <= 0xEF)
    length = 3;
  else if (s[0] >= 0xF0 && s[0] <= 0xF4)
    length = 4;
  else
    return json_fail(r, "no UTF-8");
  if (left < length) return json_fail(r, "no UTF-8");
  for (size_t i = 1; i < length; i++)
    if (s[i] < 0x80 || s[i] > 0xBF) return json_fail(r, "no UTF-8");
  if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
      (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
    return json_fail(r, "no UTF-8");
  return true;
}

/* Behind the first quote. Escapes above U+007F become '?'. */
static inline char *json_string(json_reader *r) {
  const unsigned char *close = r->at;
  while (close < r->end && *close != '"') close += *close == '\\' ? 2 : 1;
  char *out = (char *)malloc((size_t)(close - r->at) + 2);
  size_t length = 0;
  while (r->error == NULL) {
    if (r->at == r->end) {
      json_fail(r, "string without end");
      break;
    }
    unsigned char c = *r->at;
    if (c == '"') {
      r->at++;
      break;
    }
    if (c < 0x20) {
      json_fail(r, "control character in a string");
    } else if (c == '\\') {
      r->at++;
      c = r->at < r->end ? *r->at++ : 0;
      unsigned code = c;
      const char *from = "\"\\/bfnrt", *to = "\"\\/\b\f\n\r\t";
      const char *found = c != 0 ? strchr(from, c) : NULL;
      if (found != NULL)
        code = (unsigned char)to[found - from];
      else if (c == 'u')
        json_hex4(r, &code);
      else
        json_fail(r, "bad escape");
      out[length++] = code < 0x80 ? (char)code : '?';
    } else {
      if (c >= 0x80) json_utf8(r);
      out[length++] = (char)c;
      r->at++;
      while (c >= 0x80 && r->at < r->end && *r->at >= 0x80 && *r->at <= 0xBF)
        out[length++] = (char)*r->at++;
    }
  }
  out[length] = '\0';
  return out;
}

static inline bool json_digits(json_reader *r) {
  const unsigned char *start = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
  return r->at > start || json_fail(r, "a digit is missing");
}

static inline double json_number(json_reader *r) {
  const char *start = (const char *)r->at;
  if (*r->at == '-') r->at++;
  if (r->at < r->end && *r->at == '0')
    r->at++;
  else
    json_digits(r);
  if (r->at < r->end && *r->at == '.') {
    r->at++;
    json_digits(r);
  }
  if (r->at < r->end && (*r->at | 32) == 'e') {
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    json_digits(r);
  }
  return strtod(start, NULL);
}

static inline json *json_value(json_reader *r, int depth);

static inline void json_members(json_reader *r, json *out, int depth) {
  bool is_object = out->kind == JSON_OBJECT;
  unsigned char close = is_object ? '}' : ']';
  json **link = &out->first;
  r->at++;
  json_space(r);
  if (r->at < r->end && *r->at == close) {
    r->at++;
    return;
  }
  while (r->error == NULL) {
    char *key = NULL;
    json_space(r);
    if (is_object) {
      if (r->at == r->end || *r->at != '"') {
        json_fail(r, "a key is missing");
        return;
      }
      r->at++;
      key = json_string(r);
      json_space(r);
      if (r->at == r->end || *r->at++ != ':') json_fail(r, "a colon is missing");
    }
    json *value = json_value(r, depth + 1);
    if (value == NULL) {
      free(key);
      return;
    }
    value->key = key;
    *link = value;
    link = &value->next;
    out->count++;
    json_space(r);
    unsigned char c = r->at < r->end ? *r->at++ : 0;
    if (c == close) return;
    if (c != ',') json_fail(r, "a comma is missing");
  }
}

static inline bool json_word(json_reader *r, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
    return json_fail(r, "no value");
  r->at += length;
  return true;
}

static inline json *json_value(json_reader *r, int depth) {
  json_space(r);
  if (r->at == r->end || depth > 64) {
    json_fail(r, "no value");
    return NULL;
  }
  json *out = (json *)calloc(1, sizeof *out);
  unsigned char c = *r->at;
  if (c == '{' || c == '[') {
    out->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
    json_members(r, out, depth);
  } else if (c == '"') {
    r->at++;
    out->kind = JSON_STRING;
    out->string = json_string(r);
  } else if (c == '-' || (c >= '0' && c <= '9')) {
    out->kind = JSON_NUMBER;
    out->number = json_number(r);
  } else if (c == 't' || c == 'f') {
    out->kind = JSON_BOOL;
    out->truth = c == 't';
    json_word(r, c == 't' ? "true" : "false");
  } else {
    json_word(r, "null");
  }
  if (r->error == NULL) return out;
  json_free(out);
  return NULL;
}

/* The value, or NULL and what is wrong, and where. */
static inline json *json_parse(const char *text, size_t length, const char **error,
                               size_t *where) {
  json_reader r = {(const unsigned char *)text, (const unsigned char *)text + length,
                   NULL};
  json *value = json_value(&r, 0);
  json_space(&r);
  if (value != NULL && r.at != r.end) {
    json_fail(&r, "something behind the end");
    json_free(value);
    value = NULL;
  }
  *error = r.error;
  *where = (size_t)(r.at - (const unsigned char *)text);
  return value;
}

/* A member of an object, or NULL. */
static inline const json *json_get(const json *object, const char *key) {
  const json *it = object != NULL && object->kind == JSON_OBJECT ? object->first : NULL;
  while (it != NULL && strcmp(it->key, key) != 0) it = it->next;
  return it;
}

static inline double json_get_number(const json *object, const char *key,
                                     double missing) {
  const json *it = json_get(object, key);
  return it != NULL && it->kind == JSON_NUMBER ? it->number : missing;
}

static inline const char *json_get_string(const json *object, const char *key) {
  const json *it = json_get(object, key);
  return it != NULL && it->kind == JSON_STRING ? it->string : "";
}

#endif
