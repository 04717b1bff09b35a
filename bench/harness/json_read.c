/* harness/json_read.c - the reading half of json.h: recursive descent.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct reader {
  const char *start, *at;
  const char *problem; /* the first one, or NULL */
  int depth;
} reader;

static bool read_value(reader *r, json_value *value);

static bool fail(reader *r, const char *problem) {
  if (r->problem == NULL) r->problem = problem;
  return false;
}

static void skip_space(reader *r) {
  while (*r->at != 0 && strchr(" \t\r\n", *r->at) != NULL) r->at++;
}

/* Consumes the character if it is next, after space. */
static bool next_is(reader *r, char c) {
  skip_space(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}

static bool read_word(reader *r, const char *word) {
  size_t length = strlen(word);
  if (strncmp(r->at, word, length) != 0) return fail(r, "unknown word");
  r->at += length;
  return true;
}

static bool read_code(reader *r, unsigned *code) {
  *code = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    if (!isxdigit((unsigned char)*r->at)) return fail(r, "\\u wants four hex digits");
    char c = *r->at;
    unsigned digit =
        (unsigned)(isdigit((unsigned char)c) ? c - '0' : (c | 32) - 'a' + 10);
    *code = *code * 16 + digit;
  }
  return true;
}

static void add_utf8(text *out, unsigned code) {
  char bytes[4];
  size_t length = 0;
  if (code < 0x80) {
    bytes[length++] = (char)code;
  } else if (code < 0x800) {
    bytes[length++] = (char)(0xc0 | code >> 6);
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    bytes[length++] = (char)(0xe0 | code >> 12);
    bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  } else {
    bytes[length++] = (char)(0xf0 | code >> 18);
    bytes[length++] = (char)(0x80 | (code >> 12 & 0x3f));
    bytes[length++] = (char)(0x80 | (code >> 6 & 0x3f));
    bytes[length++] = (char)(0x80 | (code & 0x3f));
  }
  text_add_bytes(out, bytes, length);
}

/* Characters outside of the first plane come as a pair of codes. */
static bool read_unicode(reader *r, text *out) {
  unsigned code, low;
  if (!read_code(r, &code)) return false;
  if (code >= 0xd800 && code < 0xdc00) {
    if (r->at[0] != '\\' || r->at[1] != 'u') return fail(r, "half a character");
    r->at += 2;
    if (!read_code(r, &low)) return false;
    if (low < 0xdc00 || low >= 0xe000) return fail(r, "half a character");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code == 0 || (code >= 0xdc00 && code < 0xe000)) {
    return fail(r, "a code that is no character");
  }
  add_utf8(out, code);
  return true;
}

static bool read_escape(reader *r, text *out) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  char c = *r->at;
  if (c == 'u') {
    r->at++;
    return read_unicode(r, out);
  }
  const char *found = c != 0 ? strchr(names, c) : NULL;
  if (found == NULL) return fail(r, "unknown escape");
  text_add_bytes(out, meant + (found - names), 1);
  r->at++;
  return true;
}

/* The opening quote has been read. */
static char *read_quoted(reader *r) {
  text out = {0};
  text_add(&out, "");
  for (;;) {
    unsigned char c = (unsigned char)*r->at;
    if (c < 0x20) {
      fail(r, "a text without its end");
      break;
    }
    r->at++;
    if (c == '"') return out.chars;
    if (c != '\\')
      text_add_bytes(&out, r->at - 1, 1);
    else if (!read_escape(r, &out))
      break;
  }
  text_free(&out);
  return NULL;
}

static bool read_number(reader *r, json_value *value) {
  /* strtod takes more than JSON allows, but nothing that begins like this. */
  const char *digits = r->at + (*r->at == '-');
  if (!isdigit((unsigned char)*digits)) return fail(r, "no value");
  if (digits[0] == '0' && isalnum((unsigned char)digits[1]) && (digits[1] | 32) != 'e')
    return fail(r, "a number that begins with 0");
  char *end;
  value->kind = JSON_NUMBER;
  value->number = strtod(r->at, &end);
  r->at = end;
  return true;
}

static bool read_list(reader *r, json_value *value) {
  value->kind = JSON_LIST;
  if (next_is(r, ']')) return true;
  do {
    GROW(value->items, value->count);
    value->items[value->count] = (json_value){0};
    if (!read_value(r, &value->items[value->count++])) return false;
  } while (next_is(r, ','));
  return next_is(r, ']') || fail(r, "a list without its end");
}

static bool read_object(reader *r, json_value *value) {
  value->kind = JSON_OBJECT;
  if (next_is(r, '}')) return true;
  do {
    if (!next_is(r, '"')) return fail(r, "no key");
    char *key = read_quoted(r);
    if (key == NULL) return false;
    GROW(value->items, value->count);
    GROW(value->keys, value->count);
    value->keys[value->count] = key;
    value->items[value->count++] = (json_value){0};
    if (!next_is(r, ':')) return fail(r, "no colon behind a key");
    if (!read_value(r, &value->items[value->count - 1])) return false;
  } while (next_is(r, ','));
  return next_is(r, '}') || fail(r, "an object without its end");
}

static bool read_nested(reader *r, json_value *value,
                        bool (*read)(reader *, json_value *)) {
  r->at++;
  if (++r->depth > DEEPEST) return fail(r, "too many brackets");
  bool result = read(r, value);
  r->depth--;
  return result;
}

static bool read_value(reader *r, json_value *value) {
  skip_space(r);
  switch (*r->at) {
  case '{':
    return read_nested(r, value, read_object);
  case '[':
    return read_nested(r, value, read_list);
  case '"':
    r->at++;
    value->kind = JSON_TEXT;
    value->chars = read_quoted(r);
    return value->chars != NULL;
  case 't':
    value->kind = JSON_BOOL;
    value->number = 1;
    return read_word(r, "true");
  case 'f':
    value->kind = JSON_BOOL;
    return read_word(r, "false");
  case 'n':
    return read_word(r, "null");
  default:
    return read_number(r, value);
  }
}

bool json_read(const char *chars, json_value *value, char **problem) {
  reader r = {chars, chars, NULL, 0};
  *value = (json_value){0};
  *problem = NULL;
  if (read_value(&r, value)) {
    skip_space(&r);
    if (*r.at == 0) return true;
    fail(&r, "something behind the value");
  }
  json_free(value);
  int line = 1;
  for (const char *c = chars; c < r.at; c++) line += *c == '\n';
  text message = {0};
  text_print(&message, "line %d: %s", line, r.problem);
  *problem = message.chars;
  return false;
}

void json_free(json_value *value) {
  for (size_t i = 0; i < value->count; i++) {
    json_free(&value->items[i]);
    if (value->keys != NULL) free(value->keys[i]);
  }
  free(value->items);
  free(value->keys);
  free(value->chars);
  *value = (json_value){0};
}

const json_value *json_member(const json_value *value, const char *key) {
  if (value == NULL || value->kind != JSON_OBJECT) return NULL;
  for (size_t i = 0; i < value->count; i++)
    if (strcmp(value->keys[i], key) == 0) return &value->items[i];
  return NULL;
}

double json_member_number(const json_value *value, const char *key, double otherwise) {
  const json_value *member = json_member(value, key);
  bool fits =
      member != NULL && (member->kind == JSON_NUMBER || member->kind == JSON_BOOL);
  return fits ? member->number : otherwise;
}

const char *json_member_text(const json_value *value, const char *key,
                             const char *otherwise) {
  const json_value *member = json_member(value, key);
  return member != NULL && member->kind == JSON_TEXT ? member->chars : otherwise;
}
