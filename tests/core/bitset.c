/* The set of worker indices: one word and several, and claims that are exclusive.
 *
 * SPDX-License-Identifier: MIT */
#include "core/bitset.h"

#include "harness/harness.h"
#include "pairing.h"

#include <string.h>

enum { BITS = 200, WORDS = 4 };

TEST(words_are_rounded_up) {
  CHECK_EQ(wf_bitset_words(0), 0);
  CHECK_EQ(wf_bitset_words(1), 1);
  CHECK_EQ(wf_bitset_words(63), 1);
  CHECK_EQ(wf_bitset_words(64), 1);
  CHECK_EQ(wf_bitset_words(65), 2);
  CHECK_EQ(wf_bitset_words(BITS), WORDS);
  CHECK_EQ(wf_bitset_words(65535), 1024);
}

TEST(bits_are_counted) {
  CHECK_EQ(wf_bitset_count(0), 0);
  CHECK_EQ(wf_bitset_count(UINT64_MAX), 64);
  for (unsigned i = 0; i < 64; i++) {
    uint64_t bit = UINT64_C(1) << i;
    CHECK_EQ(wf_bitset_count(bit), 1);
    CHECK_EQ(wf_bitset_count(~bit), 63);
    CHECK_EQ(wf_bitset_count(bit - 1), i);
  }
}

TEST(add_has_remove_over_several_words) {
  wf_u64 words[WORDS];
  memset(words, 0, sizeof words);
  for (unsigned i = 0; i < BITS; i++) {
    CHECK(!wf_bitset_has(words, i));
    CHECK(!wf_bitset_remove(words, i));
    CHECK(wf_bitset_add(words, i));
    CHECK(!wf_bitset_add(words, i)); /* it is there already */
    CHECK(wf_bitset_has(words, i));
    for (unsigned j = 0; j < WORDS; j++) /* and nothing else is */
      CHECK_EQ(wf_u64_load_relaxed(&words[j]),
               j == i / 64 ? UINT64_C(1) << (i % 64) : UINT64_C(0));
    CHECK(wf_bitset_remove(words, i));
    CHECK(!wf_bitset_remove(words, i));
    CHECK(!wf_bitset_has(words, i));
  }
}

TEST(take_from_goes_round_in_a_circle) {
  wf_u64 words[WORDS];
  for (unsigned start = 0; start < WORDS * WF_BITSET_WORD_BITS; start++) {
    memset(words, 0, sizeof words);
    CHECK_EQ(wf_bitset_take_from(words, WORDS, start), -1);
    static const unsigned members[] = {0, 5, 63, 64, 127, 130, 199, 255};
    unsigned next = 0; /* of the members: the first one from `start` on */
    while (next < 8 && members[next] < start) next++;
    for (int i = 0; i < 8; i++) wf_bitset_add(words, members[i]);
    for (unsigned i = 0; i < 8; i++)
      if (!CHECK_EQ(wf_bitset_take_from(words, WORDS, start), members[(next + i) % 8]))
        return;
    CHECK_EQ(wf_bitset_take_from(words, WORDS, start), -1);
  }
}

TEST(take_any_takes_the_lowest) {
  static const unsigned members[] = {0, 5, 62, 63, 64, 65, 127, 128, 191, 192, 199};
  wf_u64 words[WORDS];
  memset(words, 0, sizeof words);
  CHECK_EQ(wf_bitset_take_any(words, WORDS), -1);
  CHECK_EQ(wf_bitset_take_any(words, 0), -1);
  for (int i = 10; i >= 0; i--) CHECK(wf_bitset_add(words, members[i]));
  /* Words beyond the count are not looked at. */
  for (int i = 0; i < 4; i++) CHECK_EQ(wf_bitset_take_any(words, 1), members[i]);
  CHECK_EQ(wf_bitset_take_any(words, 1), -1);
  for (int i = 4; i < 11; i++) {
    CHECK_EQ(wf_bitset_take_any(words, WORDS), members[i]);
    CHECK(!wf_bitset_has(words, members[i]));
  }
  CHECK_EQ(wf_bitset_take_any(words, WORDS), -1);
}

TEST(random_operations_against_model) {
  uint64_t random = harness_seed();
  bool model[BITS] = {false};
  wf_u64 words[WORDS];
  memset(words, 0, sizeof words);
  for (unsigned i = 0; i < 100 * 1000 / harness_slowdown(); i++) {
    unsigned index = (unsigned)(harness_random(&random) % BITS);
    int lowest = -1;
    switch (harness_random(&random) % 4) {
    case 0:
    case 1:
      CHECK_EQ(wf_bitset_add(words, index), !model[index]);
      model[index] = true;
      break;
    case 2:
      CHECK_EQ(wf_bitset_remove(words, index), model[index]);
      model[index] = false;
      break;
    default:
      for (int j = BITS - 1; j >= 0; j--)
        if (model[j]) lowest = j;
      if (!CHECK_EQ(wf_bitset_take_any(words, WORDS), lowest)) return;
      if (lowest >= 0) model[lowest] = false;
    }
    if (!CHECK_EQ(wf_bitset_has(words, index), model[index])) return;
  }
}

/* ---- claims ---- */

enum { THREADS = 4 };

struct claims {
  wf_u64 words[WORDS];
  wf_u32 taken[BITS];
  wf_u32 at_start, at_end;
  uint32_t rounds;
};

static void take_all(unsigned index, void *arg) {
  struct claims *it = arg;
  for (uint32_t round = 0; round < it->rounds; round++) {
    if (index == 0) {
      for (unsigned i = 0; i < BITS; i++) {
        CHECK(wf_bitset_add(it->words, i));
        wf_u32_store_relaxed(&it->taken[i], 0);
      }
    }
    pairing_meet(&it->at_start, THREADS, round);
    int got;
    if (index == 0) { /* one takes by name, the others whatever there is */
      for (unsigned i = BITS; i-- > 0;)
        if (wf_bitset_remove(it->words, i)) wf_u32_fetch_add_relaxed(&it->taken[i], 1);
    } else {
      while ((got = wf_bitset_take_any(it->words, WORDS)) >= 0)
        wf_u32_fetch_add_relaxed(&it->taken[got], 1);
    }
    pairing_meet(&it->at_end, THREADS, round);
    if (index == 0) {
      for (int i = 0; i < BITS; i++) CHECK_EQ(wf_u32_load_relaxed(&it->taken[i]), 1);
    }
  }
}

TEST(each_index_is_claimed_by_exactly_one_of_four_threads) {
  static struct claims claims;
  memset(&claims, 0, sizeof claims);
  claims.rounds = 2000 / harness_slowdown();
  harness_run_threads(THREADS, take_all, &claims);
}

/* Adds and claims at the same time: as many come out as went in. */
struct flow {
  wf_u64 words[WORDS];
  wf_u64 x_added, x_taken;
  wf_u32 x_adders;
};

static void add_and_take(unsigned index, void *arg) {
  struct flow *it = arg;
  uint64_t random = harness_seed() + index;
  uint64_t count = 0;
  unsigned spins = 0;
  if (index % 2 == 0) {
    /* Far more than there is room for, so that the takers must keep up. */
    while (count < 100 * 1000 / harness_slowdown()) {
      if (wf_bitset_add(it->words, (unsigned)(harness_random(&random) % BITS))) {
        count++;
      } else {
        pairing_pause(&spins);
      }
    }
    wf_u64_fetch_add_relaxed(&it->x_added, count);
    wf_u32_fetch_sub_seq_cst(&it->x_adders, 1);
  } else {
    while (wf_u32_load_acquire(&it->x_adders) > 0) {
      if (wf_bitset_take_any(it->words, WORDS) >= 0) {
        count++;
      } else {
        pairing_pause(&spins);
      }
    }
    wf_u64_fetch_add_relaxed(&it->x_taken, count);
  }
}

TEST(as_many_come_out_as_went_in) {
  static struct flow flow;
  memset(&flow, 0, sizeof flow);
  wf_u32_store_relaxed(&flow.x_adders, 2);
  harness_run_threads(4, add_and_take, &flow);
  uint64_t taken = wf_u64_load_relaxed(&flow.x_taken);
  while (wf_bitset_take_any(flow.words, WORDS) >= 0) taken++;
  CHECK_EQ(taken, wf_u64_load_relaxed(&flow.x_added));
}

/* Each thread adds and removes an index of its own, all in the same word: no update is
 * lost among them. */
static void add_and_remove_own(unsigned index, void *arg) {
  wf_u64 *words = arg;
  const unsigned own = 64 + 13 * index;
  for (unsigned i = 0; i < 300 * 1000 / harness_slowdown(); i++) {
    if (!CHECK(wf_bitset_add(words, own)) || !CHECK(wf_bitset_has(words, own)) ||
        !CHECK(wf_bitset_remove(words, own)) || !CHECK(!wf_bitset_has(words, own)))
      return;
  }
}

TEST(neighbours_in_one_word_do_not_disturb_each_other) {
  wf_u64 words[WORDS];
  memset(words, 0, sizeof words);
  harness_run_threads(THREADS, add_and_remove_own, words);
  CHECK_EQ(wf_bitset_take_any(words, WORDS), -1);
}
