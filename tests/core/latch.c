/* Latches: every transition from every state, and the races between waiter, thief and
 * setter.
 *
 * SPDX-License-Identifier: MIT */
#include "core/latch.h"
#include <sched.h>

#include "harness/harness.h"
#include "pairing.h"

#include <string.h>

enum { ROUNDS = 100 * 1000 }; /* fewer in slow builds */

/* ---- the table: state before, call, answer, state after ---- */

enum call { GET_SLEEPY, FALL_ASLEEP, WAKE_UP, SET };

static const struct {
  unsigned before;
  enum call call;
  bool answer; /* of those that have one */
  unsigned after;
  bool misuse; /* no waiter and no setter does that: a debug build ends */
} TABLE[] = {
    {WF_LATCH_UNSET, GET_SLEEPY, true, WF_LATCH_SLEEPY, false},
    {WF_LATCH_SLEEPY, GET_SLEEPY, false, WF_LATCH_SLEEPY, true},
    {WF_LATCH_SLEEPING, GET_SLEEPY, false, WF_LATCH_SLEEPING, true},
    {WF_LATCH_SET, GET_SLEEPY, false, WF_LATCH_SET, false},

    {WF_LATCH_UNSET, FALL_ASLEEP, false, WF_LATCH_UNSET, true},
    {WF_LATCH_SLEEPY, FALL_ASLEEP, true, WF_LATCH_SLEEPING, false},
    {WF_LATCH_SLEEPING, FALL_ASLEEP, false, WF_LATCH_SLEEPING, true},
    {WF_LATCH_SET, FALL_ASLEEP, false, WF_LATCH_SET, false},

    {WF_LATCH_UNSET, WAKE_UP, false, WF_LATCH_UNSET, true},
    {WF_LATCH_SLEEPY, WAKE_UP, false, WF_LATCH_UNSET, false},
    {WF_LATCH_SLEEPING, WAKE_UP, false, WF_LATCH_UNSET, false},
    {WF_LATCH_SET, WAKE_UP, false, WF_LATCH_SET, false},

    {WF_LATCH_UNSET, SET, false, WF_LATCH_SET, false},
    {WF_LATCH_SLEEPY, SET, false, WF_LATCH_SET, false},
    {WF_LATCH_SLEEPING, SET, true, WF_LATCH_SET, false},
    {WF_LATCH_SET, SET, false, WF_LATCH_SET, true},
};

static bool make(wf_latch *latch, enum call call) {
  switch (call) {
  case GET_SLEEPY:
    return wf_latch_get_sleepy(latch);
  case FALL_ASLEEP:
    return wf_latch_fall_asleep(latch);
  case WAKE_UP:
    wf_latch_wake_up(latch);
    return false;
  case SET:
    return wf_latch_set(latch);
  }
  return false;
}

/* -1 is "no thief yet"; 8190 is the highest worker index there can be. */
static const int THIEVES[] = {-1, 0, 1, 5, 63, 64, 8190};

TEST(v18_every_transition_from_every_state) {
  for (size_t row = 0; row < sizeof TABLE / sizeof TABLE[0]; row++) {
#ifdef WEFT_DEBUG
    if (TABLE[row].misuse) continue; /* tests/core/assertions.c */
#endif
    for (size_t i = 0; i < sizeof THIEVES / sizeof THIEVES[0]; i++) {
      const int thief = THIEVES[i];
      const uintptr_t note = (uintptr_t)(thief + 1) << WF_LATCH_THIEF_SHIFT;
      wf_latch latch;
      wf_word_init(&latch.x_state, TABLE[row].before | note);
      CHECK_EQ(wf_latch_probe(&latch), TABLE[row].before == WF_LATCH_SET);
      CHECK_EQ(wf_latch_thief(&latch), thief);

      CHECK_EQ(make(&latch, TABLE[row].call), TABLE[row].answer);
      /* The waiter's transitions keep the thief's note; set() needs none any more. */
      const uintptr_t kept = TABLE[row].call == SET ? 0 : note;
      CHECK_MSG(wf_word_load_relaxed(&latch.x_state) == (TABLE[row].after | kept),
                "row %u, thief %d: state is %llx", (unsigned)row, thief,
                (unsigned long long)wf_word_load_relaxed(&latch.x_state));
      CHECK_EQ(wf_latch_probe(&latch), TABLE[row].after == WF_LATCH_SET);
    }
  }
}

TEST(v18_note_of_the_thief_keeps_the_state) {
  for (unsigned state = WF_LATCH_UNSET; state < WF_LATCH_SET; state++) {
    for (size_t i = 1; i < sizeof THIEVES / sizeof THIEVES[0]; i++) {
      wf_latch latch;
      wf_word_init(&latch.x_state, state);
      CHECK_EQ(wf_latch_thief(&latch), -1);
      wf_latch_note_thief(&latch, (unsigned)THIEVES[i]);
      CHECK_EQ(wf_latch_thief(&latch), THIEVES[i]);
      CHECK_EQ(wf_word_load_relaxed(&latch.x_state) & WF_LATCH_STATE_MASK, state);
    }
  }
}

TEST(the_thief_gets_the_region_in_exchange_for_its_index) {
  static const wf_region region = {0};
  for (unsigned state = WF_LATCH_UNSET; state < WF_LATCH_SET; state++) {
    wf_latch latch;
    wf_word_init(&latch.x_state, (uintptr_t)&region | state);
    CHECK(!wf_latch_probe(&latch));
    CHECK_EQ(wf_latch_is_sleeping(&latch), state == WF_LATCH_SLEEPING);
    CHECK_EQ(wf_latch_thief(&latch), -1); /* an address is nobody's index */
    CHECK(wf_latch_note_thief(&latch, 5) == &region);
    CHECK_EQ(wf_latch_thief(&latch), 5);
    CHECK_EQ(wf_word_load_relaxed(&latch.x_state) & WF_LATCH_STATE_MASK, state);
  }
}

TEST(v18_a_life_with_a_spurious_wake) {
  wf_latch latch;
  wf_latch_init(&latch);
  CHECK_EQ(wf_latch_thief(&latch), -1);
  for (int i = 0; i < 3; i++) { /* woken without reason, and back to sleep */
    CHECK(wf_latch_get_sleepy(&latch));
    if (i == 0) wf_latch_note_thief(&latch, 7);
    CHECK(wf_latch_fall_asleep(&latch));
    CHECK(!wf_latch_probe(&latch));
    wf_latch_wake_up(&latch);
    CHECK_EQ(wf_latch_thief(&latch), 7);
  }
  CHECK(wf_latch_get_sleepy(&latch));
  CHECK(wf_latch_fall_asleep(&latch));
  CHECK(wf_latch_set(&latch));
  wf_latch_wake_up(&latch); /* the sleeper's own, after it was woken */
  CHECK(wf_latch_probe(&latch));
  CHECK(!wf_latch_get_sleepy(&latch));
}

/* ---- races of two ---- */

struct duel {
  _Alignas(WF_CACHE_LINE) wf_latch latch;
  _Alignas(WF_CACHE_LINE) wf_u32 at_start;
  _Alignas(WF_CACHE_LINE) wf_u32 at_end;
  uint32_t rounds;
  uint64_t payload; /* written before set(), read after probe() */
  bool must_wake;   /* the setter's answer */
};

static struct duel duel;

static void run_duel(void (*fn)(unsigned, void *)) {
  duel = (struct duel){.rounds = ROUNDS / harness_slowdown()};
  harness_run_threads(2, fn, &duel);
}

/* Thread 0 waits; thread 1 leaves its note. */
static void note_against_transitions(unsigned index, void *arg) {
  struct duel *it = arg;
  uint64_t random = harness_seed() + index;
  for (uint32_t round = 0; round < it->rounds; round++) {
    if (index == 0) wf_latch_init(&it->latch);
    pairing_meet(&it->at_start, 2, round);
    pairing_jitter(harness_random(&random));
    if (index == 1) {
      wf_latch_note_thief(&it->latch, round % 1000);
    } else {
      /* Nobody sets it, so nothing may fail because of the note. */
      CHECK(wf_latch_get_sleepy(&it->latch));
      CHECK(wf_latch_fall_asleep(&it->latch));
      if (round % 2 == 0) wf_latch_wake_up(&it->latch);
    }
    pairing_meet(&it->at_end, 2, round);
    if (index == 0) {
      const uintptr_t state = round % 2 == 0 ? WF_LATCH_UNSET : WF_LATCH_SLEEPING;
      const uintptr_t note = (uintptr_t)(round % 1000 + 1) << WF_LATCH_THIEF_SHIFT;
      CHECK_EQ(wf_word_load_relaxed(&it->latch.x_state), state | note);
      CHECK_EQ(wf_latch_thief(&it->latch), round % 1000);
    }
  }
}

TEST(v18_note_of_the_thief_loses_no_transition) {
  run_duel(note_against_transitions);
}

/* Thread 0 goes to sleep; thread 1 sets. Exactly one of them finds out about the other:
 * the sleeper, because it cannot fall asleep, or the setter, because it must wake. */
static void set_against_sleep(unsigned index, void *arg) {
  struct duel *it = arg;
  uint64_t random = harness_seed() + index;
  for (uint32_t round = 0; round < it->rounds; round++) {
    bool asleep = false;
    if (index == 0) wf_latch_init(&it->latch);
    pairing_meet(&it->at_start, 2, round);
    pairing_jitter(harness_random(&random));
    if (index == 1) {
      it->payload = round;
      it->must_wake = wf_latch_set(&it->latch);
    } else {
      asleep = wf_latch_get_sleepy(&it->latch) && wf_latch_fall_asleep(&it->latch);
      if (!asleep) {
        CHECK(wf_latch_probe(&it->latch));
        CHECK_EQ(it->payload, round); /* and what the setter did is visible */
      }
    }
    pairing_meet(&it->at_end, 2, round);
    if (index == 0) {
      CHECK(wf_latch_probe(&it->latch));
      CHECK_MSG(asleep == it->must_wake, "round %u: asleep %d, wake %d", (unsigned)round,
                asleep, it->must_wake);
      wf_latch_wake_up(&it->latch); /* must leave SET alone */
      CHECK(wf_latch_probe(&it->latch));
    }
  }
}

TEST(v19_set_against_fall_asleep_exactly_one_notices) {
  run_duel(set_against_sleep);
}

/* ---- counting latch ---- */

TEST(count_latch_sets_at_zero_and_not_before) {
  wf_count_latch counter;
  wf_count_latch_init(&counter, 3);
  wf_count_latch_add(&counter, 2);
  CHECK_EQ(wf_latch_thief(&counter.latch), -1);
  for (int i = 0; i < 5; i++) {
    CHECK(!wf_latch_probe(&counter.latch));
    CHECK(!wf_count_latch_done(&counter)); /* nobody sleeps */
  }
  CHECK(wf_latch_probe(&counter.latch));

  wf_count_latch_init(&counter, 2);
  CHECK(wf_latch_get_sleepy(&counter.latch));
  CHECK(wf_latch_fall_asleep(&counter.latch));
  CHECK(!wf_count_latch_done(&counter));
  CHECK(!wf_latch_probe(&counter.latch));
  CHECK(wf_count_latch_done(&counter)); /* the last one wakes */
  CHECK(wf_latch_probe(&counter.latch));
}

enum { COUNT_THREADS = 8, CHILDREN = 50 };

struct countdown {
  wf_count_latch counter;
  wf_u32 at_start, at_end;
  wf_u32 wakes;
  uint32_t rounds;
  uint64_t work[COUNT_THREADS]; /* each thread's own, read by the last one */
};

static void count_down(unsigned index, void *arg) {
  struct countdown *it = arg;
  for (uint32_t round = 0; round < it->rounds; round++) {
    if (index == 0) {
      wf_count_latch_init(&it->counter, COUNT_THREADS);
      REQUIRE(wf_latch_get_sleepy(&it->counter.latch));
      REQUIRE(wf_latch_fall_asleep(&it->counter.latch));
      wf_u32_store_relaxed(&it->wakes, 0);
    }
    pairing_meet(&it->at_start, COUNT_THREADS, round);
    /* Each holds one count, so adding is allowed all the time. */
    for (int child = 0; child < CHILDREN; child++) {
      wf_count_latch_add(&it->counter, 1);
      CHECK(!wf_count_latch_done(&it->counter));
      CHECK(!wf_latch_probe(&it->counter.latch));
    }
    it->work[index] = round + 1;
    if (wf_count_latch_done(&it->counter)) {
      wf_u32_fetch_add_relaxed(&it->wakes, 1);
      for (int i = 0; i < COUNT_THREADS; i++) CHECK_EQ(it->work[i], round + 1);
    }
    pairing_meet(&it->at_end, COUNT_THREADS, 2 * round);
    CHECK_EQ(wf_u32_load_relaxed(&it->wakes), 1);
    CHECK(wf_latch_probe(&it->counter.latch));
    CHECK_EQ(wf_u32_load_relaxed(&it->counter.x_count), 0);
    pairing_meet(&it->at_end, COUNT_THREADS, 2 * round + 1);
  }
}

TEST(count_latch_exactly_one_of_eight_threads_sets) {
  static struct countdown countdown;
  memset(&countdown, 0, sizeof countdown);
  countdown.rounds = 500 / harness_slowdown() + 1;
  harness_run_threads(COUNT_THREADS, count_down, &countdown);
}

/* ---- once-latch ---- */

TEST(once_latch_set_before_wait) {
  wf_once_latch once;
  wf_once_latch_init(&once);
  CHECK(!wf_once_latch_probe(&once));
  wf_once_latch_set(&once);
  CHECK(wf_once_latch_probe(&once));
  wf_once_latch_wait(&once); /* returns at once, as often as one likes */
  wf_once_latch_wait(&once);
  CHECK(wf_once_latch_probe(&once));
}

/* The waiter's latch is on its stack. As soon as the wait is over the memory is poisoned,
 * and then it is the next latch, while the setter may still be inside set(). Two setters
 * take turns, so that the wake-up by one can meet the wait for the other. */
struct once_race {
  _Alignas(WF_CACHE_LINE) wf_ptr x_latch[2]; /* for setter 0 and 1 */
  uint64_t payload;
  uint32_t rounds;
};

enum { POISON = 0x5a };

static __attribute__((noinline)) void wait_once(struct once_race *race, uint32_t round,
                                                uint64_t random) {
  struct {
    uint64_t before;
    wf_once_latch once;
    uint64_t after;
  } frame;
  wf_once_latch_init(&frame.once);
  wf_ptr_store_release(&race->x_latch[round % 2], &frame.once);
  pairing_jitter(random);
  wf_once_latch_wait(&frame.once);
  CHECK(wf_once_latch_probe(&frame.once));
  CHECK_EQ(race->payload, round);
  memset(&frame, POISON, sizeof frame);
  pairing_jitter(random >> 16);
  const unsigned char *bytes = (const unsigned char *)&frame.once;
  for (size_t i = 0; i < sizeof frame.once; i++)
    if (!CHECK_EQ(*(const volatile unsigned char *)&bytes[i], POISON)) break;
}

static void wait_or_set_once(unsigned index, void *arg) {
  struct once_race *race = arg;
  uint64_t random = harness_seed() + index;
  for (uint32_t round = 0; round < race->rounds; round++) {
    if (index == 0) {
      wait_once(race, round, harness_random(&random));
    } else if (round % 2 == index - 1) {
      wf_once_latch *once;
      unsigned spins = 0;
      while ((once = (wf_once_latch *)wf_ptr_load_acquire(&race->x_latch[index - 1])) ==
             NULL)
        pairing_pause(&spins);
      wf_ptr_store_relaxed(&race->x_latch[index - 1], NULL);
      pairing_jitter(harness_random(&random));
      race->payload = round;
      wf_once_latch_set(once);
    }
  }
}

TEST(v19_once_latch_in_a_frame_that_is_reused_at_once) {
  static struct once_race race;
  race = (struct once_race){.rounds = ROUNDS / harness_slowdown()};
  harness_run_threads(3, wait_or_set_once, &race);
}

/* ---- nudges ---- */

TEST(a_nudge_before_the_announcement_is_not_kept) {
  wf_once_latch once;
  wf_once_latch_init(&once);
  wf_once_latch_nudge(&once);
  wf_once_latch_announce(&once);
  wf_once_latch_nudge(&once);
  CHECK(!wf_once_latch_wait_announced(&once)); /* the second one */
  wf_once_latch_announce(&once);
  wf_once_latch_set(&once);
  wf_once_latch_nudge(&once); /* changes nothing any more */
  CHECK(wf_once_latch_wait_announced(&once));
  CHECK(wf_once_latch_probe(&once));
}

typedef struct mailbox {
  wf_once_latch once;
  wf_u32 letters;
} mailbox;

enum { LETTERS = 2000 };

static void await_empty(const mailbox *box) {
  while (wf_u32_load_acquire(&box->letters) != 0) sched_yield();
}

static void post_or_collect(unsigned index, void *arg) {
  mailbox *box = arg;
  if (index == 0) { /* posts; waits for each letter to be taken, or the last */
    for (unsigned i = 0; i < LETTERS; i++) {
      wf_u32_fetch_add_relaxed(&box->letters, 1);
      wf_once_latch_nudge(&box->once);
      if (i % 3 == 0) await_empty(box);
    }
    await_empty(box);
    wf_once_latch_set(&box->once);
    return;
  }
  for (;;) {
    wf_u32_exchange_acq_rel(&box->letters, 0);
    wf_once_latch_announce(&box->once);
    if (wf_u32_load_relaxed(&box->letters) == 0 &&
        wf_once_latch_wait_announced(&box->once))
      return;
  }
}

/* A letter that is overlooked is a poster that waits for ever. */
TEST(no_nudge_is_lost) {
  for (int i = 0; i < 20; i++) {
    mailbox box;
    wf_u32_store_relaxed(&box.letters, 0);
    wf_once_latch_init(&box.once);
    harness_run_threads(2, post_or_collect, &box);
    CHECK_EQ(wf_u32_load_relaxed(&box.letters), 0);
  }
}
