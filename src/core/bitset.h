/* core/bitset.h - a set of worker indices that threads share: 64 of them to a word.
 *
 * Pools keep such sets of the places that are in use, of the workers that sleep, and of
 * those at background work. Any thread calls any function. Of several threads that remove
 * the same index, exactly one gets the answer that it was there.
 *
 * The caller owns the words and knows how many there are (wf_bitset_words); an index lies
 * inside them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_CORE_BITSET_H
#define WF_CORE_BITSET_H

#include "assert.h"
#include "atomic.h"

enum {
  WF_BITSET_WORD_BITS = 64,
  WF_BITSET_MOST = 65536 /* no set is larger: counters.h counts workers in 16 bits */
};

static inline unsigned wf_bitset_words(unsigned bits) {
  WF_ASSERT(bits <= WF_BITSET_MOST);
  return (bits + WF_BITSET_WORD_BITS - 1) / WF_BITSET_WORD_BITS;
}

static inline uint64_t wf_bitset_bit(unsigned index) {
  WF_ASSERT(index < WF_BITSET_MOST);
  return (uint64_t)1 << (index % WF_BITSET_WORD_BITS);
}

/* How many bits of a word are set. The compiler's own calls a function where it may not
 * assume the instruction; usually there are none, or few. */
static inline unsigned wf_bitset_count(uint64_t word) {
  if (word == 0) return 0;
  word -= word >> 1 & UINT64_C(0x5555555555555555);
  word =
      (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
  word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
  return (unsigned)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* Adds an index; false if it was there already. */
static inline bool wf_bitset_add(wf_u64 *words, unsigned index) {
  /* seq_cst: pairs with wf_bitset_remove and wf_bitset_take_any. explorer: acq_rel
   * suffices, here and in those two; what they order against other words has fences. */
  uint64_t old =
      wf_u64_fetch_or_seq_cst(&words[index / WF_BITSET_WORD_BITS], wf_bitset_bit(index));
  return (old & wf_bitset_bit(index)) == 0;
}

/* Removes an index; true if this call did it. */
static inline bool wf_bitset_remove(wf_u64 *words, unsigned index) {
  /* seq_cst: pairs with wf_bitset_add. explorer: as there. */
  uint64_t old = wf_u64_fetch_and_seq_cst(&words[index / WF_BITSET_WORD_BITS],
                                          ~wf_bitset_bit(index));
  return (old & wf_bitset_bit(index)) != 0;
}

static inline bool wf_bitset_has(const wf_u64 *words, unsigned index) {
  /* Acquire: pairs with the RMWs above. */
  return (wf_u64_load_acquire(&words[index / WF_BITSET_WORD_BITS]) &
          wf_bitset_bit(index)) != 0;
}

/* Removes the first index from `start` on, in a circle, and returns it; -1 if the set is
 * empty. Threads that begin at different places get in each other's way less. */
static inline int wf_bitset_take_from(wf_u64 *words, unsigned word_count,
                                      unsigned start) {
  WF_ASSERT(word_count <= WF_BITSET_MOST / WF_BITSET_WORD_BITS);
  unsigned i = start / WF_BITSET_WORD_BITS;
  WF_ASSERT(start == 0 || i < word_count);
  uint64_t from_start = ~(uint64_t)0 << (start % WF_BITSET_WORD_BITS);
  uint64_t mask = from_start;
  /* The word of `start` comes first, from there on, and last, up to there. */
  for (unsigned left = word_count; mask != 0 && word_count > 0; left--) {
    uint64_t word;
    /* seq_cst: pairs with wf_bitset_add; src/sched/sleep.md, "Post against sleep".
     * explorer: as there. */
    while ((word = wf_u64_load_seq_cst(&words[i]) & mask) != 0) {
      unsigned index = i * WF_BITSET_WORD_BITS + (unsigned)__builtin_ctzll(word);
      if (wf_bitset_remove(words, index)) return (int)index;
    }
    if (left == 0) break;
    i = i + 1 < word_count ? i + 1 : 0;
    mask = left > 1 ? ~(uint64_t)0 : ~from_start;
  }
  return -1;
}

/* Removes the lowest index and returns it, or -1 if the set is empty. */
static inline int wf_bitset_take_any(wf_u64 *words, unsigned word_count) {
  return wf_bitset_take_from(words, word_count, 0);
}

#endif
