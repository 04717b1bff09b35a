/* wordcount.c - counts the words of many files: weft_reduce_local gives each thread a
 * hash table of its own and merges them at the end, so no table is ever locked.
 *
 *     cc -O2 -D_GNU_SOURCE wordcount.c -o wordcount $(pkg-config --cflags --libs weft)
 *     ./wordcount [file...]
 * Prints the most frequent words. Without files it makes one and counts it 40 times.
 * WEFT_NUM_THREADS=4 ./wordcount uses four threads.
 *
 * SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <weft.h>

enum { SLOTS = 4096, LONGEST = 32 }; /* chains of a table; longer words are cut */

typedef struct word {
  struct word *next;
  size_t count;
  char text[LONGEST];
} word;

typedef struct table {
  word *slots[SLOTS];
} table;

static void add_word(table *t, const char *text, size_t count) {
  size_t hash = 0;
  for (const char *c = text; *c != '\0'; c++) hash = hash * 31 + (unsigned char)*c;
  word **at = &t->slots[hash % SLOTS];
  while (*at != NULL && strcmp((*at)->text, text) != 0) at = &(*at)->next;
  if (*at == NULL && (*at = calloc(1, sizeof **at)) == NULL) abort();
  if ((*at)->count == 0) strcpy((*at)->text, text);
  (*at)->count += count;
}

static void add_file(table *t, const char *name) {
  char text[LONGEST], piece[4096];
  size_t length = 0;
  FILE *file = fopen(name, "r"); /* main has looked whether it can be read */
  for (size_t got = 1; file != NULL && got > 0;) {
    got = fread(piece, 1, sizeof piece, file);
    for (size_t i = 0; i < got + (got == 0); i++) {
      int c = got > 0 ? (unsigned char)piece[i] : ' '; /* the end ends a word, too */
      if (isalpha(c) && length < LONGEST - 1) text[length++] = (char)tolower(c);
      if (isalpha(c) || length == 0) continue;
      text[length] = '\0';
      add_word(t, text, 1);
      length = 0;
    }
  }
  if (file != NULL) fclose(file);
}

/* The reduction: an empty table, the files [begin, end), and what another thread has. */
static void start_empty(void *acc, void *ctx) {
  (void)ctx, memset(acc, 0, sizeof(table));
}

static void add_files(void *acc, size_t begin, size_t end, void *names) {
  for (size_t i = begin; i < end; i++) add_file(acc, ((char **)names)[i]);
}

static void add_table(void *acc, const void *right, void *ctx) {
  const table *from = right;
  (void)ctx;
  for (size_t i = 0; i < SLOTS; i++)
    for (word *w = from->slots[i], *next; w != NULL; w = next) {
      next = w->next;
      add_word(acc, w->text, w->count);
      free(w); /* nobody uses `right` again */
    }
}

static const weft_reducer word_count = {sizeof(table), start_empty, add_files, add_table};

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool more_frequent(const word *a, const word *b, void *ctx) {
  (void)ctx;
  return a->count != b->count ? a->count > b->count : strcmp(a->text, b->text) < 0;
}
WEFT_SORT(sort_words, word, more_frequent)

/* Empties a table into an array, the most frequent words first. */
static word *sorted_words(table *t, size_t *n) {
  *n = 0;
  for (size_t i = 0; i < SLOTS; i++)
    for (word *w = t->slots[i]; w != NULL; w = w->next) ++*n;
  word *words = calloc(*n + 1, sizeof *words), *to = words;
  if (words == NULL) abort();
  for (size_t i = 0; i < SLOTS; i++)
    for (word *w = t->slots[i], *next; w != NULL; w = next, to++) {
      next = w->next, w->next = NULL;
      *to = *w, free(w);
    }
  sort_words(words, *n, NULL);
  return words;
}

/* Makes a file of words of one syllable and more. */
static bool invent(char *name) {
  static const char *const syllables[] = {"we", "ft", "lo", "om", "ya", "rn", "sil", "k"};
  FILE *file = fdopen(mkstemp(name), "w");
  uint32_t random = 1;
  for (int i = 0; file != NULL && i < 50000; i++) {
    random = random * 1664525u + 1013904223u;
    fprintf(file, "%s%s", syllables[random >> 29], random >> 27 & 1 ? " " : "");
  }
  return file != NULL && fclose(file) == 0;
}

int main(int argc, char **argv) {
  char own[] = "/tmp/wordcount-XXXXXX", *names[40], **files = argv + 1;
  size_t count = (size_t)argc - 1, n, expected_n;
  if (argc == 1) { /* the same file many times */
    if (!invent(own)) return perror(own), 1;
    for (files = names; count < 40;) names[count++] = own;
  }
  for (size_t i = 0; i < count; i++)
    if (access(files[i], R_OK) != 0) return perror(files[i]), 1;
  static table all, expected;
  double start = now_ms();
  add_files(&expected, 0, count, files);
  double middle = now_ms();
  weft_reduce_local(&all, count, &word_count, files);
  double end = now_ms();

  word *words = sorted_words(&all, &n), *also = sorted_words(&expected, &expected_n);
  bool right = n == expected_n && memcmp(words, also, n * sizeof *words) == 0;
  for (size_t i = 0; i < n && i < 8; i++)
    printf("%8zu %s\n", words[i].count, words[i].text);
  printf(
      "%zu files, %zu different words: serial %.1f ms, weft %.1f ms on %u threads: %s\n",
      count, n, middle - start, end - middle, weft_thread_count(),
      right ? "same" : "WRONG");
  free(words);
  free(also);
  if (argc == 1) unlink(own);
  return right ? 0 : 1;
}
