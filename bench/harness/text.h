/* harness/text.h - memory (the program ends if there is none), growing arrays and
 * strings, small parsing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_HARNESS_TEXT_H
#define BENCH_HARNESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Prints "bench: ..." to standard error. die also ends the program, with status 2: the
 * benchmark itself is at fault, or its user, and nothing was measured. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *format, ...);

/* As realloc and strdup; the program ends if there is no memory. */
void *must_realloc(void *memory, size_t bytes);
char *copy_text(const char *text);
char *copy_bytes(const char *text, size_t length);

/* Makes room for one more element at the end of array, which has count of them: after
 * GROW(a, n) a[n] may be written. The room doubles, so the count alone says when it is
 * full. */
#define GROW(array, count) ((array) = grow_array((array), (count), sizeof *(array)))
void *grow_array(void *array, size_t count, size_t size);

/* A text that grows. Starts as {0}; chars is NULL until something was added. */
typedef struct text {
  char *chars;
  size_t length, room;
} text;

void text_add(text *t, const char *chars);
void text_add_bytes(text *t, const char *chars, size_t length);
__attribute__((format(printf, 2, 3))) void text_print(text *t, const char *format, ...);
/* Adds words in lines of at most 100 columns, the limit of the project's Markdown. The
 * first line starts with first, the others with rest; words stay whole. */
void text_wrap(text *t, const char *first, const char *rest, const char *chars);
void text_free(text *t);

/* A list of words; each is owned by the list. */
typedef struct words {
  char **items;
  size_t count;
} words;

void words_add(words *w, const char *chars, size_t length);
bool words_have(const words *w, const char *word);
void words_free(words *w);

/* The parts of chars between separators; none of them empty, and without spaces around.
 */
words split(const char *chars, const char *separators);

/* The whole file with a 0 behind it, or NULL if it cannot be read. */
char *read_file(const char *path);

/* Writes a new file and renames it, so that no reader ever sees half of it. */
bool write_file(const char *path, const char *chars, size_t length);

/* Does the text match the pattern, in which * stands for any characters? */
bool matches(const char *pattern, const char *chars);

#endif
