/* words/words.h - counting the words of a text: a reduction whose accumulators are hash
 * tables, so that making and merging them costs something.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_WORDS_WORDS_H
#define BENCH_WORDS_WORDS_H

#include "../common/bench.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table of words that grows; all zeros is an empty one. A word is in the text, so it is
 * a pointer and a length. */
typedef struct words {
  struct word *table;
  size_t room, used; /* room is 0 or a power of two */
} words;

/* kernel.c: the same for all contestants. */
void words_add(words *w, const char *text, size_t n, size_t begin, size_t end);
void words_merge(words *into, const words *from); /* frees `from` */
void words_free(words *w);
/* A number that depends on all words and their counts. */
long words_answer(const words *w);
/* A text of n bytes of words that are as often as those of a language: the k-th most
 * frequent one about 1 / k as often as the first (Zipf). Some 50,000 different ones. */
char *words_text(size_t n);

#ifdef __cplusplus
}
#endif

/* ---- what all contestants do ---- */

static char *text;
static size_t text_length;
static long tables_made; /* by the last call, of the contestants that count them */

/* Arguments of every contestant: threads, bytes, and what the contestant takes. */
BENCH_HELPER void words_start(int argc, char **argv) {
  text_length = (size_t)bench_arg(argc, argv, 2, 20000000);
  text = words_text(text_length);
}

BENCH_HELPER void words_measure(const char *who, bench_work *count) {
  words serial = {0, 0, 0};
  words_add(&serial, text, text_length, 0, text_length);
  long answer = words_answer(&serial);
  words_free(&serial);
  bench_measure(who, count, 0, 1, answer);
  if (tables_made > 0) printf("%s.tables %ld\n", who, tables_made);
}

#endif
