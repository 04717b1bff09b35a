/* The deque in one thread: order, exposure, pins, wrapping and growth, step by step and
 * against a model. What other threads may do is done here while the owner stands still.
 *
 * SPDX-License-Identifier: MIT */
#include "deque_support.h"

#include <string.h>

enum { TASKS = 300 };

static wf_task tasks[TASKS];

/* A deque that is ready and whose pins are open, as after the first push and pop. */
static void make_open(wf_deque *deque, size_t capacity, uint64_t start) {
  wf_deque_news news;
  wf_deque_init(deque, capacity, start, false);
  REQUIRE(wf_deque_prepare(deque) == 0);
  REQUIRE(deque_fork(deque, &tasks[0], &news) == NULL);
  REQUIRE(wf_deque_pop(deque, &news) == &tasks[0]);
  REQUIRE(deque_state(deque) == WF_ASKED_NOT);
}

static void fork_many(wf_deque *deque, int from, int to) {
  wf_deque_news news;
  for (int i = from; i < to; i++) REQUIRE(deque_fork(deque, &tasks[i], &news) == NULL);
}

/* Steals until nothing is public; checks that it is tasks[from] to tasks[to - 1]. */
static void check_steals(wf_deque *deque, int from, int to) {
  for (int i = from; i < to; i++) {
    wf_task *task = NULL;
    CHECK(wf_deque_has_public(deque));
    CHECK_EQ(wf_deque_steal(deque, &task), WF_STEAL_GOT);
    CHECK_EQ(task, &tasks[i]);
  }
  wf_task *none = NULL;
  CHECK(!wf_deque_has_public(deque));
  CHECK_EQ(wf_deque_steal(deque, &none), WF_STEAL_EMPTY);
  CHECK(none == NULL);
}

/* Joins until nothing is left; checks that it is tasks[from] down to tasks[to]. */
static void check_joins(wf_deque *deque, int from, int to) {
  wf_deque_news news;
  for (int i = from; i >= to; i--) {
    CHECK(!wf_deque_is_empty(deque));
    CHECK_EQ(deque_join(deque, &news), &tasks[i]);
  }
  CHECK(wf_deque_is_empty(deque));
  CHECK(deque_join(deque, &news) == NULL);
}

static uint64_t public_count(const wf_deque *deque) {
  return wf_u64_load_relaxed(&deque->x_split) - wf_u64_load_relaxed(&deque->x_top);
}

static bool pins_are_closed(const wf_deque *deque) {
  return wf_ptr_load_relaxed(&deque->owner.x_limit) == NULL &&
         (uintptr_t)wf_ptr_load_relaxed(&deque->owner.x_gate) == UINTPTR_MAX;
}

static unsigned ring_count(const wf_deque *deque) {
  unsigned count = 0;
  for (const wf_ring *ring = (const wf_ring *)wf_ptr_load_relaxed(&deque->x_ring);
       ring != NULL; ring = ring->older)
    count++;
  return count;
}

/* ---- empty deques ---- */

TEST(v22_pop_on_virgin_deque_gives_null_and_changes_nothing) {
  for (size_t capacity = 2; capacity <= 8; capacity *= 2) {
    FOR_EACH_START(start) {
      wf_deque deque, before;
      wf_deque_news news = {77, true};
      memset(&deque, 0, sizeof deque); /* also the padding, to be compared */
      wf_deque_init(&deque, capacity, start, false);
      REQUIRE(wf_deque_prepare(&deque) == 0);
      CHECK(wf_deque_is_empty(&deque));
      /* An empty deque high in its ring moves on to the ring's start, once. */
      CHECK(wf_deque_pop(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, 0);
      CHECK(!news.public_was_empty);
      uint64_t top = wf_u64_load_relaxed(&deque.x_top);
      CHECK(top == start || top == (start | (capacity - 1)) + 1);
      memcpy(&before, &deque, sizeof deque);
      for (int i = 0; i < 3; i++) {
        CHECK(wf_deque_pop(&deque, &news) == NULL);
        CHECK(deque_join(&deque, &news) == NULL);
        CHECK(memcmp(&before, &deque, sizeof deque) == 0);
      }
      CHECK(wf_deque_is_empty(&deque));
      /* It is as good as new. */
      fork_many(&deque, 0, 3);
      check_joins(&deque, 2, 0);
      wf_deque_destroy(&deque);
    }
  }
}

TEST(v22_unprepared_deque_may_be_looked_at_by_thieves) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_task *task = &tasks[9];
    wf_deque_init(&deque, 8, start, false);
    CHECK(!wf_deque_has_public(&deque));
    CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_EMPTY);
    CHECK_EQ(task, &tasks[9]);
    CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
    wf_deque_ask(&deque);
    wf_deque_pin(&deque);
    uint64_t asked = wf_deque_asked(&deque);
    CHECK_EQ(asked, WF_ASKED_SEALED);
    CHECK_EQ(wf_deque_take_over(&deque, asked), 0);
    /* Also with a value that such a deque never shows. */
    CHECK_EQ(wf_deque_take_over(&deque, WF_ASKED_PINNED), 0);
    CHECK_EQ(wf_deque_asked(&deque), WF_ASKED_SEALED);
    CHECK(pins_are_closed(&deque));
    CHECK(!wf_deque_has_public(&deque));
    /* None of this keeps it from being put to use. */
    REQUIRE(wf_deque_prepare(&deque) == 0);
    fork_many(&deque, 0, 5);
    check_joins(&deque, 4, 0);
    wf_deque_destroy(&deque);
  }
}

TEST(destroy_of_an_unprepared_deque) {
  wf_deque deque;
  wf_deque_init(&deque, 8, 0, false);
  wf_deque_destroy(&deque);
  CHECK_EQ(ring_count(&deque), 0);
}

TEST(capacity_is_rounded_up_to_a_power_of_two) {
  static const struct {
    size_t asked;
    uint64_t given;
  } table[] = {{0, 2}, {1, 2}, {2, 2},       {3, 4},
               {4, 4}, {5, 8}, {1000, 1024}, {1024, 1024}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    wf_deque deque;
    wf_deque_init(&deque, table[i].asked, 0, false);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    CHECK_EQ(deque.capacity, table[i].given);
    wf_deque_destroy(&deque);
  }
}

TEST(owner_and_thieves_use_different_cache_lines) {
  CHECK_EQ(offsetof(wf_deque, owner), 0);
  CHECK_EQ(offsetof(wf_deque, x_top), WF_CACHE_LINE);
  CHECK_EQ(sizeof(wf_deque), 2 * WF_CACHE_LINE);
}

/* ---- order ---- */

TEST(owner_pops_newest_first) {
  FOR_EACH_START(start) {
    wf_deque deque;
    make_open(&deque, 64, start);
    fork_many(&deque, 0, 20);
    CHECK(!wf_deque_has_public(&deque)); /* nobody asked */
    check_joins(&deque, 19, 0);
    wf_deque_news news;
    fork_many(&deque, 0, 20);
    for (int i = 19; i >= 0; i--) CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[i]);
    CHECK(wf_deque_pop(&deque, &news) == NULL);
    wf_deque_destroy(&deque);
  }
}

TEST(thieves_steal_oldest_first) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 64, start);
    fork_many(&deque, 0, 10);
    check_steals(&deque, 0, 0); /* private ones are out of reach */
    wf_deque_ask(&deque);
    CHECK(deque_fork(&deque, &tasks[10], &news) == NULL);
    check_steals(&deque, 0, 6); /* the older half of eleven */
    check_joins(&deque, 10, 6);
    wf_deque_destroy(&deque);
  }
}

/* ---- asking ---- */

TEST(show_makes_everything_public_and_leaves_the_pins_open) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task = NULL;
    make_open(&deque, 16, start);
    fork_many(&deque, 0, 5);
    wf_deque_show(&deque);
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    for (int i = 0; i < 2; i++) {
      CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_GOT);
      CHECK_EQ(task, &tasks[i]);
    }
    /* What comes later is private again, and does not go through a slow half. */
    CHECK(!wf_deque_push(&deque, &tasks[7]));
    CHECK(wf_deque_take_private(&deque) == &tasks[7]);
    CHECK(wf_deque_take_private(&deque) == NULL); /* the next one is public */
    for (int i = 4; i >= 2; i--) CHECK(wf_deque_pop(&deque, &news) == &tasks[i]);
    CHECK(wf_deque_is_empty(&deque));
    /* With nothing to show, or with closed pins, it changes nothing. */
    wf_deque_show(&deque);
    CHECK(!wf_deque_has_public(&deque));
    fork_many(&deque, 0, 3);
    wf_deque_ask(&deque);
    uint64_t asked = wf_deque_asked(&deque);
    CHECK_EQ(asked & WF_ASKED_STATE_MASK, WF_ASKED_PINNED);
    bool public_before = wf_deque_has_public(&deque);
    wf_deque_show(&deque);
    CHECK_EQ(wf_deque_asked(&deque), asked);
    CHECK_EQ(wf_deque_has_public(&deque), public_before);
    while (wf_deque_pop(&deque, &news) != NULL) {
    }
    wf_deque_destroy(&deque);
  }
}

TEST(ask_makes_the_next_push_expose_the_older_half) {
  FOR_EACH_START(start) {
    for (int count = 1; count <= 9; count++) {
      wf_deque deque;
      wf_deque_news news;
      make_open(&deque, 16, start);
      fork_many(&deque, 0, count - 1);
      uint64_t epoch = wf_deque_asked(&deque);
      wf_deque_ask(&deque);
      CHECK_EQ(wf_deque_asked(&deque), epoch | WF_ASKED_PINNED);
      CHECK(pins_are_closed(&deque));
      wf_deque_ask(&deque); /* once more changes nothing */
      wf_deque_pin(&deque);
      CHECK_EQ(wf_deque_asked(&deque), epoch | WF_ASKED_PINNED);

      CHECK(wf_deque_push(&deque, &tasks[count - 1]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, (count + 1) / 2);
      CHECK(news.public_was_empty);
      CHECK_EQ(public_count(&deque), (count + 1) / 2);
      CHECK_EQ(wf_deque_asked(&deque), epoch + WF_ASKED_ONE_EPOCH);
      CHECK(!pins_are_closed(&deque));

      /* Asked again while the first half is still public. */
      int left = count - (count + 1) / 2;
      wf_deque_ask(&deque);
      CHECK(wf_deque_push(&deque, &tasks[count]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, (left + 2) / 2);
      CHECK(!news.public_was_empty);
      check_steals(&deque, 0, (count + 1) / 2 + (left + 2) / 2);
      check_joins(&deque, count, (count + 1) / 2 + (left + 2) / 2);
      wf_deque_destroy(&deque);
    }
  }
}

TEST(ask_makes_the_next_join_expose) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task;
    make_open(&deque, 16, start);
    fork_many(&deque, 0, 8);
    wf_deque_ask(&deque);
    CHECK(!deque_join_fast(&deque, &task));
    CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[7]);
    CHECK_EQ(news.exposed, 4); /* of the seven that are left */
    CHECK(news.public_was_empty);
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    CHECK_EQ(deque_join(&deque, &news), &tasks[6]);
    CHECK_EQ(news.exposed, 0);
    check_steals(&deque, 0, 4);
    check_joins(&deque, 5, 4);
    wf_deque_destroy(&deque);
  }
}

/* A thief asks when everything was stolen: the owner's look is enough. */
TEST(pins_of_an_empty_deque_are_sealed_by_its_owner) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    wf_deque_pin(&deque);
    CHECK_EQ(deque_state(&deque), WF_ASKED_PINNED);
    CHECK(wf_deque_pop(&deque, &news) == NULL);
    CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
    CHECK(pins_are_closed(&deque));
    CHECK(wf_deque_push(&deque, &tasks[0]));
    CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
    CHECK_EQ(news.exposed, 1);
    wf_deque_destroy(&deque);
  }
}

TEST(pins_stay_closed_while_there_is_nothing_to_give) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    fork_many(&deque, 0, 1);
    wf_deque_pin(&deque);
    uint64_t asked = wf_deque_asked(&deque);
    uint64_t sealed = (asked & ~(uint64_t)WF_ASKED_STATE_MASK) | WF_ASKED_SEALED;
    CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[0]);
    CHECK_EQ(news.exposed, 0);
    CHECK_EQ(wf_deque_asked(&deque), sealed); /* the owner has seen them */
    CHECK_EQ(wf_deque_take_over(&deque, asked), 0);
    CHECK(pins_are_closed(&deque));
    for (int i = 0; i < 3; i++) {
      CHECK(deque_join(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, 0);
      CHECK_EQ(wf_deque_asked(&deque), sealed);
      CHECK(pins_are_closed(&deque));
    }
    CHECK(wf_deque_push(&deque, &tasks[1])); /* and then the next one is given */
    CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
    CHECK_EQ(news.exposed, 1);
    CHECK(news.public_was_empty);
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    check_steals(&deque, 1, 2);
    wf_deque_destroy(&deque);
  }
}

/* What a worker does that was woken while many others sleep. */
TEST(forks_are_given_at_once_as_often_as_said) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    wf_deque_give_forks(&deque, 3);
    for (int i = 0; i < 3; i++) {
      CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
      CHECK(wf_deque_push(&deque, &tasks[i]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, 1);
      CHECK_EQ(news.public_was_empty, i == 0);
      CHECK_EQ(public_count(&deque), i + 1);
    }
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    CHECK(!wf_deque_push(&deque, &tasks[3]));
    CHECK_EQ(public_count(&deque), 3);
    check_steals(&deque, 0, 3);
    check_joins(&deque, 3, 3);
    wf_deque_destroy(&deque);
  }
}

TEST(a_join_ends_the_forks_that_are_given_at_once) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    wf_deque_give_forks(&deque, 5);
    CHECK(wf_deque_push(&deque, &tasks[0]));
    CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
    CHECK_EQ(deque_join(&deque, &news), &tasks[0]);
    CHECK(wf_deque_push(&deque, &tasks[1])); /* the pins were still closed */
    CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
    CHECK_EQ(news.exposed, 1);
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    CHECK(!wf_deque_push(&deque, &tasks[2]));
    wf_deque_destroy(&deque);
  }
}

TEST(prepare_seals_so_that_the_first_push_is_offered) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_deque_init(&deque, 8, start, false);
    for (int owner = 0; owner < 3; owner++) { /* one after the other */
      REQUIRE(wf_deque_prepare(&deque) == 0);
      CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
      CHECK(pins_are_closed(&deque));
      CHECK_EQ(ring_count(&deque), 1);
      CHECK(wf_deque_push(&deque, &tasks[0]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, 1);
      CHECK(news.public_was_empty);
      CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
      CHECK(wf_deque_has_public(&deque));
      CHECK_EQ(deque_join(&deque, &news), &tasks[0]);
      CHECK(wf_deque_is_empty(&deque));
    }
    wf_deque_destroy(&deque);
  }
}

/* ---- retracting ---- */

TEST(retract_takes_half_of_the_public_part_back) {
  FOR_EACH_START(start) {
    for (int count = 1; count <= 9; count++) {
      wf_deque deque;
      wf_deque_news news;
      make_open(&deque, 32, start);
      /* Make `count` tasks public, and none private. */
      fork_many(&deque, 0, 2 * count - 1);
      wf_deque_ask(&deque);
      fork_many(&deque, 2 * count - 1, 2 * count);
      CHECK_EQ(public_count(&deque), count);
      for (int i = 2 * count - 1; i >= count; i--)
        CHECK_EQ(deque_join(&deque, &news), &tasks[i]);
      CHECK_EQ(public_count(&deque), count);

      /* The newest comes out. Of the others the older half stays, and at least the one
       * at top, which may be contested. */
      CHECK_EQ(deque_join(&deque, &news), &tasks[count - 1]);
      CHECK_EQ(news.exposed, 0);
      int stays = count == 2 ? 1 : (count - 1) / 2;
      CHECK_EQ(public_count(&deque), stays);
      CHECK_EQ(wf_deque_has_public(&deque), stays > 0);
      check_steals(&deque, 0, stays);
      check_joins(&deque, count - 2, stays);
      wf_deque_destroy(&deque);
    }
  }
}

TEST(retract_after_all_was_stolen_finds_an_empty_deque) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    wf_deque_ask(&deque);
    fork_many(&deque, 0, 1);
    check_steals(&deque, 0, 1);
    CHECK(deque_join(&deque, &news) == NULL);
    CHECK(wf_deque_is_empty(&deque));
    fork_many(&deque, 1, 4);
    check_joins(&deque, 3, 1);
    wf_deque_destroy(&deque);
  }
}

/* An empty deque high in its ring goes on at the ring's start. */
TEST(empty_deque_moves_on_to_the_start_of_its_ring) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 8, start);
    for (int i = 0; i < 40; i++) {
      wf_deque_ask(&deque);
      fork_many(&deque, i, i + 1);
      uint64_t top = wf_u64_load_relaxed(&deque.x_top);
      CHECK_EQ(deque_join(&deque, &news), &tasks[i]);
      uint64_t now = wf_u64_load_relaxed(&deque.x_top);
      uint64_t offset = (top + 1) & 7;
      CHECK_EQ(now, offset > 4 ? top + 1 + (8 - offset) : top + 1);
      CHECK_EQ(wf_u64_load_relaxed(&deque.x_split), now);
      CHECK(wf_deque_is_empty(&deque));
    }
    wf_deque_destroy(&deque);
  }
}

/* ---- taking over ---- */

TEST(take_over_exposes_the_older_half_and_seals) {
  FOR_EACH_START(start) {
    for (int count = 0; count <= 9; count++) {
      wf_deque deque;
      wf_deque_news news;
      make_open(&deque, 16, start);
      fork_many(&deque, 0, count);
      wf_deque_pin(&deque);
      uint64_t asked = wf_deque_asked(&deque);
      uint64_t epoch = asked & ~(uint64_t)WF_ASKED_STATE_MASK;
      int left = count - (count + 1) / 2;
      CHECK_EQ(wf_deque_take_over(&deque, asked), (count + 1) / 2);
      CHECK_EQ(public_count(&deque), (count + 1) / 2);
      CHECK_EQ(wf_deque_asked(&deque),
               epoch | (left > 0 ? WF_ASKED_RICH : WF_ASKED_SEALED));
      CHECK(pins_are_closed(&deque));
      /* The owner comes back, gives again, and opens the pins. */
      CHECK(wf_deque_push(&deque, &tasks[count]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, (left + 2) / 2);
      CHECK_EQ(news.public_was_empty, count == 0);
      CHECK_EQ(wf_deque_asked(&deque), epoch + WF_ASKED_ONE_EPOCH);
      CHECK_EQ(wf_deque_take_over(&deque, asked), 0); /* these pins are gone */
      CHECK_EQ(wf_deque_take_over(&deque, epoch | WF_ASKED_RICH), 0);
      int given = (count + 1) / 2 + (left + 2) / 2;
      check_steals(&deque, 0, given);
      check_joins(&deque, count, given);
      wf_deque_destroy(&deque);
    }
  }
}

/* The owner of a sealed deque stands still, so take-overs may go on without another
 * barrier until nothing is private. */
TEST(v19_take_overs_go_on_until_nothing_is_private) {
  FOR_EACH_START(start) {
    for (int count = 1; count <= 9; count++) {
      wf_deque deque;
      make_open(&deque, 16, start);
      fork_many(&deque, 0, count);
      wf_deque_pin(&deque);
      int given = 0;
      for (;;) {
        int exposed = (int)wf_deque_take_over(&deque, wf_deque_asked(&deque));
        CHECK_EQ(exposed, (count - given + 1) / 2);
        if (exposed == 0) break;
        given += exposed;
        CHECK_EQ(deque_state(&deque), given < count ? WF_ASKED_RICH : WF_ASKED_SEALED);
      }
      CHECK_EQ(given, count);
      check_steals(&deque, 0, count);
      wf_deque_destroy(&deque);
    }
  }
}

TEST(take_over_with_a_stale_value_does_nothing) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    make_open(&deque, 16, start);
    CHECK_EQ(wf_deque_take_over(&deque, wf_deque_asked(&deque)), 0); /* never asked */
    fork_many(&deque, 0, 4);
    wf_deque_pin(&deque);
    uint64_t asked = wf_deque_asked(&deque);
    fork_many(&deque, 4, 5); /* the owner answers: three of five, pins open */
    CHECK_EQ(public_count(&deque), 3);
    uint64_t opened = wf_deque_asked(&deque);
    CHECK_EQ(wf_deque_take_over(&deque, asked), 0);
    CHECK_EQ(wf_deque_asked(&deque), opened);
    CHECK_EQ(public_count(&deque), 3);
    /* Pinned again, which is another asking: the old value is still stale. */
    wf_deque_pin(&deque);
    CHECK_EQ(wf_deque_take_over(&deque, asked), 0);
    CHECK_EQ(wf_deque_asked(&deque), opened | WF_ASKED_PINNED);
    CHECK_EQ(public_count(&deque), 3);
    CHECK_EQ(wf_deque_take_over(&deque, opened | WF_ASKED_PINNED), 1);
    check_steals(&deque, 0, 4);
    CHECK_EQ(deque_join(&deque, &news), &tasks[4]);
    wf_deque_destroy(&deque);
  }
}

/* A take-over while a join has moved bottom below its task and not yet looked at the
 * gate. */
TEST(take_over_in_the_middle_of_a_join_leaves_the_task_alone) {
  FOR_EACH_START(start) {
    for (int count = 1; count <= 5; count++) {
      wf_deque deque;
      wf_deque_news news;
      make_open(&deque, 16, start);
      fork_many(&deque, 0, count);
      wf_ptr *bottom = (wf_ptr *)wf_ptr_load_relaxed(&deque.owner.x_bottom);
      wf_ptr_store_release(&deque.owner.x_bottom, bottom - 1);
      wf_deque_pin(&deque);
      CHECK_EQ(wf_deque_take_over(&deque, wf_deque_asked(&deque)), count / 2);
      CHECK_EQ((uintptr_t)wf_ptr_load_relaxed(&deque.owner.x_gate), UINTPTR_MAX);
      wf_ptr_store_release(&deque.owner.x_bottom, bottom);
      CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[count - 1]);
      int given = (int)public_count(&deque);
      check_steals(&deque, 0, given);
      check_joins(&deque, count - 2, given);
      wf_deque_destroy(&deque);
    }
  }
}

/* ---- growth ---- */

TEST(growth_keeps_order_and_content) {
  FOR_EACH_START(start) {
    for (int stolen = 0; stolen <= 2; stolen++) {
      wf_deque deque;
      wf_deque_news news;
      make_open(&deque, 4, start);
      /* With some stolen, the ring is full in the middle of a lap. */
      for (int i = 0; i < stolen; i++) {
        wf_deque_ask(&deque);
        fork_many(&deque, i, i + 1);
        check_steals(&deque, i, i + 1);
      }
      for (int i = stolen; i < TASKS; i++) {
        REQUIRE(deque_fork(&deque, &tasks[i], &news) == NULL);
        CHECK_EQ(news.exposed, 0);
      }
      CHECK_EQ(deque.capacity, 512);
      CHECK_EQ(ring_count(&deque), 8); /* 4, 8, ... 512: all are kept */
      uint64_t older = 0;
      const wf_ring *ring = (const wf_ring *)wf_ptr_load_relaxed(&deque.x_ring);
      for (ring = ring->older; ring != NULL; ring = ring->older) older += ring->capacity;
      CHECK(older < deque.capacity);
      wf_deque_ask(&deque);
      CHECK_EQ(deque_join(&deque, &news), &tasks[TASKS - 1]);
      int given = (TASKS - 1 - stolen + 1) / 2;
      CHECK_EQ(news.exposed, given);
      check_steals(&deque, stolen, stolen + given);
      check_joins(&deque, TASKS - 2, stolen + given);
      wf_deque_destroy(&deque);
    }
  }
}

/* Old rings keep what they held, for the thief that still reads there. */
TEST(growth_leaves_the_old_ring_intact) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_init(&deque, 4, start, false);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    fork_many(&deque, 0, 3);
    uint64_t first = wf_u64_load_relaxed(&deque.x_top);
    const wf_ring *old = (const wf_ring *)wf_ptr_load_relaxed(&deque.x_ring);
    fork_many(&deque, 3, 30);
    CHECK(wf_ptr_load_relaxed(&deque.x_ring) != old);
    for (uint64_t i = 0; i < 4; i++)
      CHECK_EQ(wf_ptr_load_relaxed(&old->slots[(first + i) & 3]), &tasks[i]);
    CHECK(wf_ptr_load_relaxed(&old->sentinel) == NULL);
    check_joins(&deque, 29, 0);
    wf_deque_destroy(&deque);
  }
}

/* ---- eager mode ---- */

TEST(eager_deque_exposes_every_push_and_never_opens) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task;
    wf_deque_init(&deque, 4, start, true);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    for (int i = 0; i < 20; i++) {
      CHECK(wf_deque_push(&deque, &tasks[i]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK_EQ(news.exposed, 1);
      CHECK_EQ(news.public_was_empty, i == 0);
      CHECK_EQ(public_count(&deque), i + 1);
      CHECK_EQ(wf_deque_asked(&deque), WF_ASKED_SEALED);
      CHECK(pins_are_closed(&deque));
    }
    wf_deque_ask(&deque);
    wf_deque_pin(&deque);
    CHECK_EQ(wf_deque_take_over(&deque, wf_deque_asked(&deque)), 0);
    CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_GOT);
    CHECK_EQ(task, &tasks[0]);
    for (int i = 19; i >= 10; i--) {
      CHECK(!deque_join_fast(&deque, &task));
      CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[i]);
      CHECK_EQ(news.exposed, 0);
      CHECK_EQ(public_count(&deque), i - 1); /* all of the others stay public */
      CHECK(pins_are_closed(&deque));
    }
    check_steals(&deque, 1, 10);
    CHECK(deque_join(&deque, &news) == NULL);
    CHECK(pins_are_closed(&deque));
    CHECK_EQ(wf_deque_asked(&deque), WF_ASKED_SEALED);
    wf_deque_destroy(&deque);
  }
}

/* ---- against a model ---- */

enum { MODEL_MAX = 4096, MODEL_OPERATIONS = 100 * 1000 };

/* What the deque must do, said with an array: entries [0, given) can be stolen. */
struct model {
  wf_task *entries[MODEL_MAX];
  unsigned count, given;
  uint64_t asked;
  bool eager;
};

static wf_task model_tasks[MODEL_MAX];

static wf_task *model_steal(struct model *model) {
  if (model->given == 0) return NULL;
  wf_task *task = model->entries[0];
  model->count--;
  model->given--;
  memmove(model->entries, model->entries + 1, model->count * sizeof model->entries[0]);
  return task;
}

static wf_deque_news model_answer(struct model *model) {
  wf_deque_news news = {0, false};
  unsigned private_count = model->count - model->given;
  if ((model->asked & WF_ASKED_STATE_MASK) == WF_ASKED_NOT) return news;
  if (private_count == 0) {
    model->asked = (model->asked & ~(uint64_t)WF_ASKED_STATE_MASK) | WF_ASKED_SEALED;
    return news;
  }
  news.exposed = model->eager ? private_count : (private_count + 1) / 2;
  news.public_was_empty = model->given == 0;
  model->given += news.exposed;
  if (!model->eager)
    model->asked = (model->asked & ~(uint64_t)WF_ASKED_STATE_MASK) + WF_ASKED_ONE_EPOCH;
  return news;
}

static wf_task *model_pop(struct model *model, wf_deque_news *news) {
  *news = (wf_deque_news){0, false};
  if (model->count == 0) {
    *news = model_answer(model);
    return NULL;
  }
  wf_task *task = model->entries[--model->count];
  if (model->given > model->count) { /* it was public */
    if (model->eager) {
      model->given = model->count;
    } else {
      model->given = model->count == 1 ? 1 : model->count / 2;
    }
  }
  *news = model_answer(model);
  return task;
}

static unsigned model_take_over(struct model *model) {
  uint64_t state = model->asked & WF_ASKED_STATE_MASK;
  if (state != WF_ASKED_PINNED && state != WF_ASKED_RICH) return 0;
  unsigned exposed = (model->count - model->given + 1) / 2;
  model->given += exposed;
  state = model->count > model->given ? WF_ASKED_RICH : WF_ASKED_SEALED;
  model->asked = (model->asked & ~(uint64_t)WF_ASKED_STATE_MASK) | state;
  return exposed;
}

static bool same_news(wf_deque_news a, wf_deque_news b) {
  return a.exposed == b.exposed && a.public_was_empty == b.public_was_empty;
}

/* One random operation on both. False if they differ. `push` of 16 are pushes. */
static bool model_step(wf_deque *deque, struct model *model, uint64_t random,
                       unsigned most, unsigned push) {
  wf_deque_news news = {0, false}, expected = {0, false};
  const bool closed = (model->asked & WF_ASKED_STATE_MASK) != WF_ASKED_NOT;
  const bool has_private = model->count > model->given;
  unsigned choice = random % 16;
  if (choice < push && model->count < most) {
    wf_task *task = &model_tasks[(random >> 8) % MODEL_MAX];
    bool slow = wf_deque_push(deque, task);
    model->entries[model->count++] = task;
    if (!CHECK(slow || !closed)) return false;
    if (slow) {
      expected = model_answer(model);
      if (!CHECK(wf_deque_fork_slow(deque, &news) == NULL)) return false;
    }
  } else if (choice < 9) { /* the whole join */
    const bool at_ring_start =
        wf_ptr_load_relaxed(&deque->owner.x_bottom) == deque->slots;
    wf_task *task;
    const bool fast = deque_join_fast(deque, &task);
    if (!fast) task = wf_deque_pop(deque, &news);
    if (!CHECK_EQ(fast, !closed && has_private && !at_ring_start)) return false;
    if (!CHECK_EQ(task, model_pop(model, &expected))) return false;
  } else if (choice < 12) {
    if (!CHECK_EQ(wf_deque_pop(deque, &news), model_pop(model, &expected))) return false;
  } else if (choice < 14) {
    wf_task *stolen = NULL, *right = model_steal(model);
    wf_steal answer = wf_deque_steal(deque, &stolen);
    if (!CHECK_EQ(answer, right != NULL ? WF_STEAL_GOT : WF_STEAL_EMPTY)) return false;
    if (!CHECK_EQ(stolen, right)) return false;
  } else if (choice == 14) {
    if ((random >> 8) % 2 == 0) {
      wf_deque_ask(deque);
    } else {
      wf_deque_pin(deque);
    }
    if (!closed) model->asked |= WF_ASKED_PINNED;
  } else { /* the owner stands still, so no barrier is needed */
    uint64_t asked = wf_deque_asked(deque);
    if (!CHECK_EQ(wf_deque_take_over(deque, asked), model_take_over(model))) return false;
  }
  return CHECK(same_news(news, expected)) &&
         CHECK_EQ(wf_deque_asked(deque), model->asked) &&
         CHECK_EQ(public_count(deque), model->given) &&
         CHECK_EQ(wf_deque_has_public(deque), model->given > 0) &&
         CHECK_EQ(wf_deque_is_empty(deque), model->count == 0) &&
         CHECK_EQ(pins_are_closed(deque),
                  (model->asked & WF_ASKED_STATE_MASK) != WF_ASKED_NOT);
}

/* `fixed`: never more tasks than one below the capacity, so that the ring is never
 * replaced and its end is crossed all the time, in both directions. */
static void run_model(size_t capacity, bool fixed, bool eager) {
  static struct model model;
  uint64_t random = harness_seed() + capacity;
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_init(&deque, capacity, start, eager);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    model.count = model.given = 0;
    model.asked = WF_ASKED_SEALED;
    model.eager = eager;
    unsigned most = fixed ? (unsigned)capacity - 1 : 1000, push = 8, crossings = 0;
    uint64_t lap = deque.lap;
    const unsigned operations = MODEL_OPERATIONS / harness_slowdown();
    for (unsigned i = 0; i < operations; i++) {
      /* Phases in which the deque grows, shrinks, and neither. */
      if (i % 512 == 0) push = fixed ? 8 : (unsigned)(3 + harness_random(&random) % 7);
      if (!CHECK_MSG(model_step(&deque, &model, harness_random(&random), most, push),
                     "start %llx, capacity %u, operation %u", (unsigned long long)start,
                     (unsigned)capacity, i))
        break;
      if (deque.lap != lap) crossings++;
      lap = deque.lap;
    }
    CHECK(crossings >= (fixed ? operations / 100 : 1));
    CHECK_EQ(ring_count(&deque) == 1, fixed);
    wf_deque_destroy(&deque);
  }
}

TEST(v22_wraparound_capacity_2_against_model) {
  run_model(2, true, false);
}

TEST(v22_wraparound_capacity_4_against_model) {
  run_model(4, true, false);
}

TEST(v22_wraparound_capacity_8_against_model) {
  run_model(8, true, false);
}

TEST(v22_growth_and_wraparound_against_model) {
  run_model(2, false, false);
}

TEST(v22_eager_wraparound_against_model) {
  run_model(4, true, true);
}

TEST(v22_eager_growth_against_model) {
  run_model(2, false, true);
}
