/* words/weft.c - counts words by weft_reduce as it is (weft-reduce), with 64 leaves
 * (weft-chunks), by weft_reduce_local (weft), and by a loop with weft_local (weft-slots).
 * needs: weft_reduce_local
 *
 * Usage: words_weft [threads [bytes [reduce | chunks | slots]]]
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "words.h"

static void no_words(void *acc, void *ctx) {
  (void)ctx;
  memset(acc, 0, sizeof(words));
  __atomic_fetch_add(&tables_made, 1, __ATOMIC_RELAXED);
}

static void fold_words(void *acc, size_t begin, size_t end, void *ctx) {
  (void)ctx;
  words_add((words *)acc, text, text_length, begin, end);
}

static void merge_words(void *acc, const void *right, void *ctx) {
  (void)ctx;
  words_merge((words *)acc, (const words *)right);
}

static const weft_reducer reducer = {sizeof(words), no_words, fold_words, merge_words};

static long answer_of(words *w) {
  long answer = words_answer(w);
  words_free(w);
  return answer;
}

static long by_reduce(long unused) {
  words w;
  (void)unused;
  tables_made = 0;
  weft_reduce(&w, text_length, &reducer, NULL);
  return answer_of(&w);
}

static long by_chunks(long unused) {
  weft_opts opts = WEFT_OPTS_INIT;
  words w;
  (void)unused;
  tables_made = 0;
  opts.target_chunks = 64;
  weft_reduce_with(&opts, &w, text_length, &reducer, NULL);
  return answer_of(&w);
}

static long by_local(long unused) {
  words w;
  (void)unused;
  tables_made = 0;
  weft_reduce_local(&w, text_length, &reducer, NULL);
  return answer_of(&w);
}

static void add_to_slot(size_t begin, size_t end, void *ctx) {
  words *own = (words *)weft_local_get((weft_local *)ctx);
  if (own == NULL) abort();
  words_add(own, text, text_length, begin, end);
}

static void take_slot_words(void *slot, void *ctx) {
  words_merge((words *)ctx, (const words *)slot);
}

static long by_slots(long unused) {
  weft_local *slots;
  words w = {0, 0, 0};
  (void)unused;
  tables_made = 0;
  if (weft_local_create(&slots, sizeof(words), no_words, NULL) != 0) abort();
  weft_for(text_length, add_to_slot, slots);
  weft_local_each(slots, take_slot_words, &w);
  weft_local_destroy(slots);
  return answer_of(&w);
}

int main(int argc, char **argv) {
  const char *how = argc > 3 ? argv[3] : "";
  bench_weft_start(bench_arg(argc, argv, 1, 2));
  words_start(argc, argv);
  if (strcmp(how, "reduce") == 0)
    words_measure("weft-reduce", by_reduce);
  else if (strcmp(how, "chunks") == 0)
    words_measure("weft-chunks", by_chunks);
  else if (strcmp(how, "slots") == 0)
    words_measure("weft-slots", by_slots);
  else
    words_measure("weft", by_local);
  weft_shutdown();
  return 0;
}
