/* base/text.h - a text that grows, and whole files in memory.
 *
 * Memory that runs out ends the program with a message: there is nothing to go on with.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_BASE_TEXT_H
#define COMMAND_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Invariants: length < capacity and chars[length] = 0, or all three are nothing. Start
 * from {0}. */
typedef struct text {
  char *chars;
  size_t length, capacity;
} text;

void text_add(text *t, const char *chars, size_t length);
void text_add_string(text *t, const char *string);
__attribute__((format(printf, 2, 3))) void text_format(text *t, const char *format, ...);
void text_free(text *t);

/* Makes control characters '?': names come from files that anybody may have written, and
 * a terminal obeys such characters. */
void make_printable(char *chars, size_t length);

/* As realloc for an array of `count` elements, and ends the program without memory. */
void *memory_resize(void *memory, size_t count, size_t size);

/* Room for one more element in an array that holds *count of them. */
#define ARRAY_GROW(array, count, capacity)                                               \
  do {                                                                                   \
    if ((count) == (capacity)) {                                                         \
      (capacity) = (capacity) < 16 ? 16 : (capacity)*2;                                  \
      (array) = memory_resize((array), (capacity), sizeof *(array));                     \
    }                                                                                    \
  } while (0)

/* Reads a whole file; "-" is the standard input. False, with errno set, if it cannot. A
 * byte 0 follows the content. */
bool file_read(const char *path, text *content);

/* Writes a whole file, or nothing: the content goes to a file beside it, which is then
 * renamed. "-" is the standard output; what is no regular file is written in place. */
bool file_write(const char *path, const char *chars, size_t length);

#endif
