/* data.c - two stops of the tour: sorting ten million keys, and counting the words of a
 * text, with a table of counts for each thread.
 *
 * SPDX-License-Identifier: MIT */
#include "tour.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same numbers in each run: splitmix64. */
static uint64_t random_number(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* ---- sorting ---- */

static struct {
  size_t n;
  uint32_t *serial, *parallel;
} keys;

static int compare_keys(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double sort_serial(weft_progress *progress) {
  double start = now_ms();
  qsort(keys.serial, keys.n, sizeof *keys.serial, compare_keys);
  double ms = now_ms() - start;
  weft_progress_add(progress, keys.n);
  return ms;
}

static double sort_parallel(weft_progress *progress) {
  double start = now_ms();
  weft_sort_u32(keys.parallel, keys.n);
  double ms = now_ms() - start;
  weft_progress_add(progress, keys.n);
  return ms;
}

static bool sort_prepare(stop *s, bool is_small) {
  keys.n = is_small ? 100000 : 10000000;
  keys.serial = malloc(keys.n * sizeof *keys.serial);
  keys.parallel = malloc(keys.n * sizeof *keys.parallel);
  if (keys.serial == NULL || keys.parallel == NULL) return false;
  uint64_t random = 1;
  for (size_t i = 0; i < keys.n; i++)
    keys.serial[i] = keys.parallel[i] = (uint32_t)random_number(&random);
  (void)snprintf(s->title, sizeof s->title, "sort of %g million keys (serial: qsort)",
                 (double)keys.n / 1e6);
  return true;
}

static bool sort_is_right(void) {
  return weft_equal(keys.serial, keys.parallel, keys.n, sizeof *keys.serial);
}

static void sort_spoil(void) {
  keys.parallel[keys.n / 2]++;
}

static void sort_release(void) {
  free(keys.serial);
  free(keys.parallel);
}

stop sort_stop = {.name = "sort",
                  .unit = "keys",
                  .prepare = sort_prepare,
                  .serial = sort_serial,
                  .parallel = sort_parallel,
                  .is_right = sort_is_right,
                  .spoil = sort_spoil,
                  .release = sort_release};

/* ---- a text of made-up words ---- */

enum { VOCABULARY = 5000, LONGEST_WORD = 12 };

static struct {
  char *chars;
  size_t length;
} text;

static void make_word(char word[LONGEST_WORD + 1], uint64_t *random) {
  static const char CONSONANTS[] = "bdfgklmnprstvw", VOWELS[] = "aeiou";
  size_t length = 2 + random_number(random) % (LONGEST_WORD - 1);
  for (size_t i = 0; i < length; i++)
    word[i] = i % 2 == 0 ? CONSONANTS[random_number(random) % 14]
                         : VOWELS[random_number(random) % 5];
  word[length] = '\0';
}

/* Some words are frequent and most are rare, as in a language. */
static bool make_text(size_t length) {
  static char words[VOCABULARY][LONGEST_WORD + 1];
  uint64_t random = 2;
  for (size_t i = 0; i < VOCABULARY; i++) make_word(words[i], &random);
  text.chars = malloc(length + LONGEST_WORD + 2);
  if (text.chars == NULL) return false;
  while (text.length < length) {
    uint64_t number = random_number(&random);
    double share = (double)(number >> 11) / (double)(UINT64_C(1) << 53);
    const char *word = words[(size_t)(share * share * share * VOCABULARY)];
    size_t size = strlen(word);
    memcpy(text.chars + text.length, word, size);
    text.length += size;
    text.chars[text.length++] = number % 16 == 0 ? '\n' : ' ';
  }
  return true;
}

/* ---- counting: a hash table ---- */

enum { SLOTS = 1 << 14 }; /* three times the vocabulary */

typedef struct counted {
  const char *word; /* in the text; NULL: a free place */
  uint32_t length;
  uint64_t count;
} counted;

typedef struct counts {
  size_t words; /* all of them */
  counted slots[SLOTS];
} counts;

static counts *serial_counts, *parallel_counts;

static void count_word(counts *c, const char *word, size_t length, uint64_t times) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)word[i]) * UINT64_C(0x100000001B3);
  size_t at = hash >> 50;
  while (c->slots[at].word != NULL &&
         (c->slots[at].length != length || memcmp(c->slots[at].word, word, length) != 0))
    at = (at + 1) % SLOTS;
  c->slots[at].word = word;
  c->slots[at].length = (uint32_t)length;
  c->slots[at].count += times;
  c->words += times;
}

static bool is_letter(size_t at) {
  return at < text.length && text.chars[at] > ' ';
}

/* Counts the words that begin in [begin, end): the last one may end behind it, and one
 * that began in front of it is not counted. */
static void count_part(counts *c, size_t begin, size_t end) {
  size_t at = begin;
  if (begin > 0)
    while (is_letter(at - 1) && is_letter(at)) at++;
  for (;;) {
    while (at < end && !is_letter(at)) at++;
    if (at >= end) return;
    size_t start = at;
    while (is_letter(at)) at++;
    count_word(c, text.chars + start, at - start, 1);
  }
}

static double words_serial(weft_progress *progress) {
  enum { PARTS = 100 };
  double start = now_ms();
  for (size_t i = 0; i < PARTS; i++) { /* in parts, for the bar */
    size_t begin = text.length / PARTS * i;
    size_t end = i + 1 < PARTS ? begin + text.length / PARTS : text.length;
    count_part(serial_counts, begin, end);
    weft_progress_add(progress, end - begin);
  }
  return now_ms() - start;
}

/* A reduction: each thread that takes part has a table, and they are merged at the end.
 */
static void counts_init(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(counts));
}

static void counts_fold(void *acc, size_t begin, size_t end, void *ctx) {
  count_part(acc, begin, end);
  weft_progress_add(ctx, end - begin);
}

static void counts_merge(void *acc, const void *right, void *ctx) {
  const counts *other = right;
  (void)ctx;
  for (size_t i = 0; i < SLOTS; i++) {
    const counted *c = &other->slots[i];
    if (c->word != NULL) count_word(acc, c->word, c->length, c->count);
  }
}

static double words_parallel(weft_progress *progress) {
  static const weft_reducer reducer = {sizeof(counts), counts_init, counts_fold,
                                       counts_merge};
  weft_opts o = named("words of the text");
  double start = now_ms();
  weft_reduce_local_with(&o, parallel_counts, text.length, &reducer, progress);
  return now_ms() - start;
}

static bool words_prepare(stop *s, bool is_small) {
  size_t length = is_small ? 200000 : 48000000;
  serial_counts = calloc(1, sizeof(counts));
  parallel_counts = calloc(1, sizeof(counts));
  if (serial_counts == NULL || parallel_counts == NULL || !make_text(length))
    return false;
  s->steps = text.length;
  (void)snprintf(s->title, sizeof s->title, "words of a text of %g MB",
                 (double)length / 1e6);
  return true;
}

/* The tables may have their words in other places. */
static bool words_is_right(void) {
  if (serial_counts->words != parallel_counts->words) return false;
  for (size_t i = 0; i < SLOTS; i++) {
    const counted *wanted = &serial_counts->slots[i];
    if (wanted->word == NULL) continue;
    uint64_t found = 0;
    for (size_t k = 0; k < SLOTS && found == 0; k++) {
      const counted *c = &parallel_counts->slots[(i + k) % SLOTS];
      if (c->word != NULL && c->length == wanted->length &&
          memcmp(c->word, wanted->word, c->length) == 0)
        found = c->count;
    }
    if (found != wanted->count) return false;
  }
  return true;
}

static void words_spoil(void) {
  for (size_t i = 0; i < SLOTS; i++) parallel_counts->slots[i].count *= 2;
}

static void words_say(void) {
  const counted *most = &parallel_counts->slots[0];
  for (size_t i = 1; i < SLOTS; i++)
    if (parallel_counts->slots[i].count > most->count) most = &parallel_counts->slots[i];
  printf("  The text has %zu words; the most frequent one is \"%.*s\", %" PRIu64
         " times.\n",
         parallel_counts->words, (int)most->length, most->word, most->count);
}

static void words_release(void) {
  free(text.chars);
  free(serial_counts);
  free(parallel_counts);
}

stop words_stop = {.name = "words",
                   .unit = "bytes",
                   .prepare = words_prepare,
                   .serial = words_serial,
                   .parallel = words_parallel,
                   .is_right = words_is_right,
                   .spoil = words_spoil,
                   .say = words_say,
                   .release = words_release};
