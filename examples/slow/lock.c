/* lock.c - slow because of a lock: all threads count into one table, and take turns.
 * docs/guide/tuning.md shows how that is found.
 *
 *     lock slow       one table and one lock
 *     lock mended     a table for each thread
 *     lock            both, and whether they agree
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* How often each pair of letters occurs in some texts. */
enum { TEXTS = 1000, LENGTH = 8192, PASSES = 10, LETTERS = 26 };

struct counts {
  uint64_t of[LETTERS][LETTERS];
};

static char texts[TEXTS][LENGTH];

/* Stands for reading them. */
WEFT_LOOP(invent, i, char *, all) {
  char *text = all + i * LENGTH;
  uint32_t random = (uint32_t)i + 1;
  for (size_t k = 0; k < LENGTH; k++) {
    random = random * 1664525u + 1013904223u;
    text[k] = (char)('a' + (random >> 24) % LETTERS);
  }
}

static void count_pairs(struct counts *counts, const char *text) {
  for (size_t k = 0; k + 1 < LENGTH; k++) counts->of[text[k] - 'a'][text[k + 1] - 'a']++;
}

/* ---- slow: one table ---- */

struct shared {
  pthread_mutex_t lock;
  struct counts counts;
};

static void count_together(size_t begin, size_t end, void *ctx) {
  struct shared *shared = ctx;
  for (size_t i = begin; i < end; i++) {
    pthread_mutex_lock(&shared->lock);
    count_pairs(&shared->counts, texts[i % TEXTS]);
    pthread_mutex_unlock(&shared->lock);
  }
}

static struct counts with_one_table(void) {
  struct shared shared;
  memset(&shared, 0, sizeof shared);
  pthread_mutex_init(&shared.lock, NULL);
  weft_opts opts = WEFT_OPTS_INIT;
  opts.name = "count, " WEFT_HERE;
  weft_for_with(&opts, PASSES * TEXTS, count_together, &shared);
  pthread_mutex_destroy(&shared.lock);
  return shared.counts;
}

/* ---- mended: a table for each thread, and one addition at the end ---- */

static void begin_table(void *table, void *ctx) {
  (void)ctx;
  memset(table, 0, sizeof(struct counts));
}

static void count_alone(void *table, size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) count_pairs(table, texts[i % TEXTS]);
}

static void add_table(void *table, const void *other, void *ctx) {
  uint64_t *into = &((struct counts *)table)->of[0][0];
  const uint64_t *from = &((const struct counts *)other)->of[0][0];
  (void)ctx;
  for (size_t i = 0; i < (size_t)LETTERS * LETTERS; i++) into[i] += from[i];
}

static struct counts with_own_tables(void) {
  static const weft_reducer reducer = {sizeof(struct counts), begin_table, count_alone,
                                       add_table};
  struct counts counts;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.name = "count, " WEFT_HERE;
  weft_reduce_local_with(&opts, &counts, PASSES * TEXTS, &reducer, NULL);
  return counts;
}

int main(int argc, char **argv) {
  bool both = argc == 1, slow = argc == 2 && strcmp(argv[1], "slow") == 0;
  if (!both && !slow && (argc != 2 || strcmp(argv[1], "mended") != 0)) {
    fprintf(stderr, "usage: lock [slow | mended]\n");
    return 2;
  }
  invent(TEXTS, &texts[0][0]);
  struct counts counts = slow ? with_one_table() : with_own_tables();
  printf("%s: \"we\" occurs %llu times\n", slow ? "slow" : "mended",
         (unsigned long long)counts.of['w' - 'a']['e' - 'a']);
  if (!both) return 0;
  struct counts other = with_one_table();
  printf("slow: \"we\" occurs %llu times\n",
         (unsigned long long)other.of['w' - 'a']['e' - 'a']);
  return memcmp(&counts, &other, sizeof counts) == 0 ? 0 : 1;
}
