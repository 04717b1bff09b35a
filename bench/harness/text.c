/* harness/text.c - strings and arrays that grow, words, files, and patterns with *; used
 * by the whole harness.
 *
 * SPDX-License-Identifier: MIT */
#include "text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("bench: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  fputs("bench: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  exit(2);
}

void *must_realloc(void *memory, size_t bytes) {
  void *result = realloc(memory, bytes != 0 ? bytes : 1);
  if (result == NULL) die("out of memory");
  return result;
}

char *copy_bytes(const char *chars, size_t length) {
  char *copy = must_realloc(NULL, length + 1);
  memcpy(copy, chars, length);
  copy[length] = 0;
  return copy;
}

char *copy_text(const char *chars) {
  return copy_bytes(chars, strlen(chars));
}

void *grow_array(void *array, size_t count, size_t size) {
  bool full = (count & (count - 1)) == 0; /* 0, 1, 2, 4, ... elements: no room left */
  return full ? must_realloc(array, (count != 0 ? 2 * count : 1) * size) : array;
}

void text_add_bytes(text *t, const char *chars, size_t length) {
  if (t->length + length + 1 > t->room) {
    t->room = 2 * (t->length + length + 1);
    t->chars = must_realloc(t->chars, t->room);
  }
  memcpy(t->chars + t->length, chars, length);
  t->length += length;
  t->chars[t->length] = 0;
}

void text_add(text *t, const char *chars) {
  text_add_bytes(t, chars, strlen(chars));
}

void text_print(text *t, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  if (length < 0) die("a text that cannot be printed: %s", format);
  char *chars = must_realloc(NULL, (size_t)length + 1);
  vsnprintf(chars, (size_t)length + 1, format, again);
  va_end(again);
  text_add_bytes(t, chars, (size_t)length);
  free(chars);
}

/* The columns of UTF-8 text: every byte that does not continue a character. */
static size_t columns(const char *chars, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += ((unsigned char)chars[i] & 0xc0) != 0x80;
  return count;
}

void text_wrap(text *t, const char *first, const char *rest, const char *chars) {
  enum { WIDTH = 100 };
  text_add(t, first);
  size_t used = columns(first, strlen(first));
  bool line_is_empty = true;
  for (const char *word = chars + strspn(chars, " \n"); *word != 0;) {
    size_t length = strcspn(word, " \n"), width = columns(word, length);
    if (!line_is_empty && used + 1 + width > WIDTH) {
      text_add(t, "\n");
      text_add(t, rest);
      used = columns(rest, strlen(rest));
    } else if (!line_is_empty) {
      text_add(t, " ");
      used++;
    }
    text_add_bytes(t, word, length);
    used += width;
    line_is_empty = false;
    word += length;
    word += strspn(word, " \n");
  }
  text_add(t, "\n");
}

void text_free(text *t) {
  free(t->chars);
  *t = (text){0};
}

void words_add(words *w, const char *chars, size_t length) {
  GROW(w->items, w->count);
  w->items[w->count++] = copy_bytes(chars, length);
}

bool words_have(const words *w, const char *word) {
  for (size_t i = 0; i < w->count; i++)
    if (strcmp(w->items[i], word) == 0) return true;
  return false;
}

void words_free(words *w) {
  for (size_t i = 0; i < w->count; i++) free(w->items[i]);
  free(w->items);
  *w = (words){0};
}

words split(const char *chars, const char *separators) {
  words result = {0};
  while (*chars != 0) {
    size_t length = strcspn(chars, separators), first = 0, end = length;
    while (first < end && strchr(" \t\n", chars[first]) != NULL) first++;
    while (end > first && strchr(" \t\n", chars[end - 1]) != NULL) end--;
    if (end > first) words_add(&result, chars + first, end - first);
    chars += length;
    if (*chars != 0) chars++;
  }
  return result;
}

char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return NULL;
  text content = {0};
  char part[4096];
  size_t got;
  text_add(&content, "");
  while ((got = fread(part, 1, sizeof part, file)) > 0)
    text_add_bytes(&content, part, got);
  bool failed = ferror(file) != 0;
  fclose(file);
  if (failed) text_free(&content);
  return content.chars;
}

bool write_file(const char *path, const char *chars, size_t length) {
  text beside = {0};
  text_print(&beside, "%s.part", path);
  FILE *file = fopen(beside.chars, "w");
  bool written = file != NULL && fwrite(chars, 1, length, file) == length;
  if (file != NULL && fclose(file) != 0) written = false;
  if (written && rename(beside.chars, path) != 0) written = false;
  if (!written) say("cannot write %s: %s", path, strerror(errno));
  text_free(&beside);
  return written;
}

bool matches(const char *pattern, const char *chars) {
  if (*pattern == 0) return *chars == 0;
  if (*pattern == '*')
    return matches(pattern + 1, chars) || (*chars != 0 && matches(pattern, chars + 1));
  return *pattern == *chars && matches(pattern + 1, chars + 1);
}
