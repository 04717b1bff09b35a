/* words/kernel.c - the text and the hash table of words, linked into all contestants.
 *
 * SPDX-License-Identifier: MIT */
#include "words.h"

struct word {
  const char *text;
  unsigned length;
  unsigned hash;
  long count;
};

static struct word *place_of(const words *w, const char *word, unsigned length,
                             unsigned hash) {
  size_t at = hash & (w->room - 1);
  while (w->table[at].text != NULL &&
         (w->table[at].hash != hash || w->table[at].length != length ||
          memcmp(w->table[at].text, word, length) != 0))
    at = (at + 1) & (w->room - 1);
  return &w->table[at];
}

static void grow(words *w) {
  words larger = {NULL, w->room == 0 ? 1024 : 2 * w->room, w->used};
  larger.table = (struct word *)calloc(larger.room, sizeof *larger.table);
  if (larger.table == NULL) abort();
  for (size_t i = 0; i < w->room; i++) {
    const struct word *from = &w->table[i];
    if (from->text != NULL)
      *place_of(&larger, from->text, from->length, from->hash) = *from;
  }
  free(w->table);
  *w = larger;
}

static void add_count(words *w, const struct word *word) {
  if (2 * w->used >= w->room) grow(w);
  struct word *place = place_of(w, word->text, word->length, word->hash);
  if (place->text == NULL) {
    *place = *word;
    w->used++;
  } else {
    place->count += word->count;
  }
}

/* Words that begin in [begin, end); the last one may end behind it. */
void words_add(words *w, const char *all, size_t n, size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++) {
    if (all[i] == ' ' || (i > 0 && all[i - 1] != ' ')) continue;
    struct word word = {all + i, 0, 2166136261u, 1};
    for (size_t k = i; k < n && all[k] != ' '; k++, word.length++)
      word.hash = (word.hash ^ (unsigned char)all[k]) * 16777619u;
    word.hash ^= word.hash >> 15;
    add_count(w, &word);
  }
}

void words_merge(words *into, const words *from) {
  for (size_t i = 0; i < from->room; i++)
    if (from->table[i].text != NULL) add_count(into, &from->table[i]);
  free(from->table);
}

void words_free(words *w) {
  free(w->table);
  memset(w, 0, sizeof *w);
}

long words_answer(const words *w) {
  unsigned long sum = w->used;
  for (size_t i = 0; i < w->room; i++)
    if (w->table[i].text != NULL)
      sum += (unsigned long)w->table[i].count * (w->table[i].hash | 1);
  return (long)(sum >> 1);
}

char *words_text(size_t n) {
  char *all = (char *)malloc(n + 1);
  unsigned long long random = 88172645463325252u;
  if (all == NULL) abort();
  for (size_t i = 0; i < n;) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    /* A rank with a probability of about 1 / rank: a random number of random bits. */
    unsigned bits = (unsigned)(random % 16) + 1;
    unsigned long rank = (unsigned long)(random >> 20) & ((1ul << bits) - 1);
    for (unsigned k = 0; k < 3 || rank > 0; k++, rank /= 26)
      if (i < n) all[i++] = (char)('a' + rank % 26);
    if (i < n) all[i++] = ' ';
  }
  all[n] = '\0';
  return all;
}
