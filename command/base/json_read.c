/* base/json_read.c - the strict JSON reader; see json.h.
 *
 * SPDX-License-Identifier: MIT */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_open(json_reader *r, const char *chars, size_t length) {
  memset(r, 0, sizeof *r);
  r->begin = r->at = chars;
  r->end = chars + length;
}

void json_close(json_reader *r) {
  text_free(&r->scratch);
}

size_t json_line(const json_reader *r) {
  size_t line = 1;
  for (const char *c = r->begin; c < r->at && c < r->end; c++) line += *c == '\n';
  return line;
}

static json_token wrong(json_reader *r, const char *what) {
  r->cut_short = r->at >= r->end;
  snprintf(r->problem, sizeof r->problem, "line %zu: %s", json_line(r),
           r->cut_short ? "the text ends too early" : what);
  return JSON_ERROR;
}

static void skip_blanks(json_reader *r) {
  while (r->at < r->end &&
         (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
    r->at++;
}

/* ---- strings ---- */

static bool read_hex(json_reader *r, unsigned *value) {
  *value = 0;
  for (int i = 0; i < 4; i++, r->at++) {
    if (r->at >= r->end) return false;
    char c = *r->at;
    unsigned digit;
    if (c >= '0' && c <= '9')
      digit = (unsigned)(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = (unsigned)(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      digit = (unsigned)(c - 'A') + 10;
    else
      return false;
    *value = *value * 16 + digit;
  }
  return true;
}

static void add_utf8(text *t, unsigned code) {
  char bytes[4];
  size_t count;
  if (code < 0x80) {
    bytes[0] = (char)code;
    count = 1;
  } else if (code < 0x800) {
    bytes[0] = (char)(0xC0 | code >> 6);
    bytes[1] = (char)(0x80 | (code & 63));
    count = 2;
  } else if (code < 0x10000) {
    bytes[0] = (char)(0xE0 | code >> 12);
    bytes[1] = (char)(0x80 | (code >> 6 & 63));
    bytes[2] = (char)(0x80 | (code & 63));
    count = 3;
  } else {
    bytes[0] = (char)(0xF0 | code >> 18);
    bytes[1] = (char)(0x80 | (code >> 12 & 63));
    bytes[2] = (char)(0x80 | (code >> 6 & 63));
    bytes[3] = (char)(0x80 | (code & 63));
    count = 4;
  }
  text_add(t, bytes, count);
}

/* Behind "\u". A pair of surrogates is one character; half of one is an error. */
static bool read_unicode(json_reader *r) {
  unsigned code, low;
  if (!read_hex(r, &code)) return false;
  if (code >= 0xDC00 && code <= 0xDFFF) return false;
  if (code >= 0xD800 && code <= 0xDBFF) {
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u') return false;
    r->at += 2;
    if (!read_hex(r, &low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  add_utf8(&r->scratch, code);
  return true;
}

static bool read_escape(json_reader *r) {
  static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
  char c = *r->at++;
  if (c == 'u') return read_unicode(r);
  const char *found = c != '\0' ? strchr(letters, c) : NULL;
  if (found == NULL) return false;
  text_add(&r->scratch, &meanings[found - letters], 1);
  return true;
}

/* How many bytes the character of UTF-8 at `at` has; 0 if it is none. Forms that are
 * longer than needed, surrogates and codes beyond the last are none. */
static size_t utf8_length(const unsigned char *at, const unsigned char *end) {
  size_t length = at[0] < 0x80   ? 1
                  : at[0] < 0xC2 ? 0
                  : at[0] < 0xE0 ? 2
                  : at[0] < 0xF0 ? 3
                                 : 4;
  if (at[0] > 0xF4 || length == 0 || (size_t)(end - at) < length) return 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xC0) != 0x80) return 0;
  if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F) ||
      (at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F))
    return 0;
  return length;
}

static json_token read_string(json_reader *r, json_token token) {
  r->scratch.length = 0;
  r->at++;
  for (;;) {
    const char *from = r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' &&
           (unsigned char)*r->at >= 32 && (unsigned char)*r->at < 128)
      r->at++;
    text_add(&r->scratch, from, (size_t)(r->at - from));
    if (r->at >= r->end) return wrong(r, "");
    if (*r->at == '"') break;
    if (*r->at == '\\') {
      if (++r->at >= r->end) return wrong(r, "");
      if (!read_escape(r)) return wrong(r, "a backslash that means nothing");
    } else if ((unsigned char)*r->at < 32) {
      return wrong(r, "a control character inside a string");
    } else {
      size_t length =
          utf8_length((const unsigned char *)r->at, (const unsigned char *)r->end);
      if (length == 0) return wrong(r, "a string that is not UTF-8");
      text_add(&r->scratch, r->at, length);
      r->at += length;
    }
  }
  r->at++;
  r->string = r->scratch.chars;
  r->length = r->scratch.length;
  return token;
}

/* ---- numbers ---- */

static bool is_digit(const json_reader *r) {
  return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* The usual number, of at most 15 digits and without an exponent, is computed here: it is
 * exact, and ten times as fast as strtod. */
static json_token read_number(json_reader *r) {
  static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char *from = r->at;
  bool negative = *r->at == '-';
  uint64_t mantissa = 0;
  unsigned digits = 0, behind = 0;
  if (negative) r->at++;
  if (!is_digit(r)) return wrong(r, "a number without digits");
  if (*r->at == '0' && r->at + 1 < r->end && r->at[1] >= '0' && r->at[1] <= '9')
    return wrong(r, "a number that begins with 0");
  for (; is_digit(r); r->at++, digits++)
    mantissa = mantissa * 10 + (uint64_t)(*r->at - '0');
  if (r->at < r->end && *r->at == '.') {
    r->at++;
    if (!is_digit(r)) return wrong(r, "a number without digits behind its point");
    for (; is_digit(r); r->at++, digits++, behind++)
      mantissa = mantissa * 10 + (uint64_t)(*r->at - '0');
  }
  bool plain = digits <= 15;
  if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
    plain = false;
    r->at++;
    if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
    if (!is_digit(r)) return wrong(r, "a number without digits in its exponent");
    while (is_digit(r)) r->at++;
  }
  if (plain) {
    r->number = (double)mantissa / powers[behind];
    if (negative) r->number = -r->number;
    return JSON_NUMBER;
  }
  r->scratch.length = 0;
  text_add(&r->scratch, from, (size_t)(r->at - from));
  r->number = strtod(r->scratch.chars, NULL);
  return JSON_NUMBER;
}

/* ---- tokens ---- */

static json_token read_word(json_reader *r, const char *word, json_token token) {
  size_t length = strlen(word), left = (size_t)(r->end - r->at);
  size_t common = left < length ? left : length;
  if (memcmp(r->at, word, common) != 0) return wrong(r, "no value of JSON");
  r->at += common;
  return common == length ? token : wrong(r, "");
}

static json_token open_level(json_reader *r, bool object) {
  if (r->depth == JSON_MOST_LEVELS) return wrong(r, "too many levels");
  r->in_object[r->depth++] = object;
  r->state = JSON_WANTS_FIRST;
  r->at++;
  return object ? JSON_OBJECT : JSON_LIST;
}

static json_token close_level(json_reader *r, bool object) {
  if (r->depth == 0 || r->in_object[r->depth - 1] != object)
    return wrong(r, "a bracket that closes nothing");
  r->depth--;
  r->at++;
  r->state = JSON_WANTS_COMMA;
  return object ? JSON_OBJECT_END : JSON_LIST_END;
}

static json_token read_value(json_reader *r) {
  switch (*r->at) {
  case '{':
    return open_level(r, true);
  case '[':
    return open_level(r, false);
  case '"':
    r->state = JSON_WANTS_COMMA;
    return read_string(r, JSON_STRING);
  case 't':
    r->state = JSON_WANTS_COMMA;
    return read_word(r, "true", JSON_TRUE);
  case 'f':
    r->state = JSON_WANTS_COMMA;
    return read_word(r, "false", JSON_FALSE);
  case 'n':
    r->state = JSON_WANTS_COMMA;
    return read_word(r, "null", JSON_NULL);
  default:
    if (*r->at != '-' && (*r->at < '0' || *r->at > '9'))
      return wrong(r, "no value of JSON");
    r->state = JSON_WANTS_COMMA;
    return read_number(r);
  }
}

static json_token read_key(json_reader *r) {
  if (*r->at != '"') return wrong(r, "a key must be a string");
  json_token token = read_string(r, JSON_KEY);
  r->state = JSON_WANTS_COLON;
  return token;
}

json_token json_next(json_reader *r) {
  if (r->problem[0] != '\0') return JSON_ERROR;
  skip_blanks(r);
  bool object = r->depth > 0 && r->in_object[r->depth - 1];
  if (r->depth == 0 && r->state == JSON_WANTS_COMMA)
    return r->at < r->end ? wrong(r, "something behind the value") : JSON_END;
  if (r->at >= r->end) return wrong(r, "");
  if (r->state == JSON_WANTS_COLON) {
    if (*r->at != ':') return wrong(r, "a colon is missing");
    r->at++;
    skip_blanks(r);
    if (r->at >= r->end) return wrong(r, "");
    return read_value(r);
  }
  if (r->state == JSON_WANTS_FIRST || r->state == JSON_WANTS_COMMA) {
    if (*r->at == '}' || *r->at == ']') return close_level(r, *r->at == '}');
    if (r->state == JSON_WANTS_COMMA) {
      if (*r->at != ',') return wrong(r, "a comma is missing");
      r->at++;
      skip_blanks(r);
      if (r->at >= r->end) return wrong(r, "");
    }
  }
  return object ? read_key(r) : read_value(r);
}

void json_copy_text(char *to, size_t size, const json_reader *r) {
  size_t length = r->length < size - 1 ? r->length : size - 1;
  /* A character of UTF-8 is not cut in two. */
  while (length < r->length && length > 0 &&
         ((unsigned char)r->string[length] & 0xC0) == 0x80)
    length--;
  memcpy(to, r->string, length);
  make_printable(to, length);
  to[length] = '\0';
}

json_token json_next_member(json_reader *r, char *key, size_t size) {
  json_token token = json_next(r);
  if (token != JSON_KEY) return token == JSON_OBJECT_END ? token : JSON_ERROR;
  json_copy_text(key, size, r);
  return json_next(r);
}

bool json_skip(json_reader *r, json_token token) {
  if (token != JSON_OBJECT && token != JSON_LIST) return token != JSON_ERROR;
  int depth = r->depth - 1;
  while (r->depth > depth) {
    token = json_next(r);
    if (token == JSON_ERROR || token == JSON_END) return false;
  }
  return true;
}

bool json_is_valid(const char *chars, size_t length, char *problem) {
  json_reader r;
  json_open(&r, chars, length);
  json_token token;
  do {
    token = json_next(&r);
  } while (token != JSON_END && token != JSON_ERROR);
  snprintf(problem, 160, "%s", r.problem);
  json_close(&r);
  return token == JSON_END;
}
