/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free */
/* The deque when there is no memory for a larger ring: nothing is lost, nothing comes out
 * twice, and the owner stays on its slow half until the deque is empty.
 *
 * SPDX-License-Identifier: MIT */
#include "deque_support.h"

#include "harness/memory_faults.h"

enum { TASKS = 64, CAPACITY = 8 };

static wf_task tasks[TASKS];
static unsigned runs[TASKS];

static void run(const wf_task *task) {
  REQUIRE(task >= tasks && task < tasks + TASKS);
  runs[task - tasks]++;
}

static void check_each_ran_once(int count) {
  for (int i = 0; i < TASKS; i++) {
    CHECK_EQ(runs[i], i < count ? 1 : 0);
    runs[i] = 0;
  }
}

TEST(prepare_without_memory_says_so_and_can_be_repeated) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task = NULL;
    wf_deque_init(&deque, CAPACITY, start, false);
    refuse_all_memory();
    for (int i = 0; i < 3; i++) {
      CHECK_EQ(wf_deque_prepare(&deque), WEFT_ENOMEM);
      CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
      CHECK(!wf_deque_has_public(&deque));
      CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_EMPTY);
      wf_deque_pin(&deque);
      CHECK_EQ(wf_deque_take_over(&deque, wf_deque_asked(&deque)), 0);
    }
    allow_memory();
    CHECK_EQ(wf_deque_prepare(&deque), 0);
    refuse_all_memory();
    CHECK_EQ(wf_deque_prepare(&deque), 0); /* it has its ring and needs no memory */
    allow_memory();
    CHECK(deque_fork(&deque, &tasks[0], &news) == NULL);
    CHECK_EQ(deque_join(&deque, &news), &tasks[0]);
    wf_deque_destroy(&deque);
  }
}

/* Absurd sizes are an answer too, not an overflow. */
TEST(prepare_of_an_absurd_capacity_says_no_memory) {
  wf_deque deque;
  wf_deque_init(&deque, SIZE_MAX, 0, false);
  CHECK_EQ(deque.capacity, UINT64_C(1) << (sizeof(size_t) < 8 ? 32 : 40));
  refuse_all_memory(); /* the sizes before it might exist on a large machine */
  CHECK_EQ(wf_deque_prepare(&deque), WEFT_ENOMEM);
  allow_memory();
  wf_deque_destroy(&deque);
}

/* Fills a deque whose pins are open; the last push finds no room. */
static void fill(wf_deque *deque, uint64_t start) {
  wf_deque_news news;
  wf_deque_init(deque, CAPACITY, start, false);
  REQUIRE(wf_deque_prepare(deque) == 0);
  REQUIRE(deque_fork(deque, &tasks[0], &news) == NULL);
  REQUIRE(deque_join(deque, &news) == &tasks[0]);
  REQUIRE(deque_state(deque) == WF_ASKED_NOT);
  for (int i = 0; i < CAPACITY - 1; i++) {
    CHECK(deque_fork(deque, &tasks[i], &news) == NULL);
    CHECK_EQ(news.exposed, 0);
  }
}

/* Thieves empty a deque that had overflowed: the owner finds nothing, and is back on its
 * fast half. */
TEST(emptied_by_thieves_after_it_was_full) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task;
    fill(&deque, start);
    refuse_all_memory();
    CHECK_EQ(deque_fork(&deque, &tasks[CAPACITY - 1], &news), &tasks[CAPACITY - 1]);
    CHECK(deque.overflowed);
    while (wf_deque_steal(&deque, &task) == WF_STEAL_GOT) run(task);
    check_each_ran_once(CAPACITY - 1);
    CHECK(wf_deque_pop(&deque, &news) == NULL);
    CHECK(!deque.overflowed);
    allow_memory();
    wf_deque_destroy(&deque);
  }
}

TEST(full_ring_without_memory_gives_the_newest_task_back) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_task *task;
    fill(&deque, start);
    refuse_all_memory();
    CHECK(wf_deque_push(&deque, &tasks[7]));
    CHECK_EQ(wf_deque_fork_slow(&deque, &news), &tasks[7]);
    run(&tasks[7]);
    /* The owner pins itself, and gives the other seven: what is closed keeps nothing
     * private. */
    CHECK_EQ(news.exposed, 7);
    CHECK(news.public_was_empty);
    CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
    CHECK_EQ(deque.capacity, CAPACITY);

    /* The join of the task that was given back must not take another one: the fast half
     * says no, and leaves everything as it is. */
    CHECK(!deque_join_fast(&deque, &task));
    CHECK(!wf_deque_is_empty(&deque));

    /* As long as it is full, each further task comes back too. */
    for (int i = 8; i < 12; i++) {
      CHECK(wf_deque_push(&deque, &tasks[i]));
      CHECK_EQ(wf_deque_fork_slow(&deque, &news), &tasks[i]);
      run(&tasks[i]);
    }
    /* Thieves make room: pushes are taken again, and the pins are still closed. */
    for (int i = 0; i < 3; i++) {
      CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_GOT);
      CHECK_EQ(task, &tasks[i]);
      run(task);
    }
    for (int i = 12; i < 14; i++) {
      CHECK(wf_deque_push(&deque, &tasks[i]));
      CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
      CHECK(news.exposed > 0);
      CHECK(deque_state(&deque) != WF_ASKED_NOT);
    }
    static const int order[] = {13, 12, 6, 5, 4, 3};
    for (int i = 0; i < 6; i++) {
      CHECK(!deque_join_fast(&deque, &task));
      CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[order[i]]);
      CHECK(deque_state(&deque) != WF_ASKED_NOT);
      run(&tasks[order[i]]);
    }
    CHECK(wf_deque_is_empty(&deque));
    CHECK(deque_join(&deque, &news) == NULL);
    check_each_ran_once(14);

    /* Empty: the next answer opens the pins, and the fast half is back. */
    CHECK(wf_deque_push(&deque, &tasks[0]));
    CHECK(wf_deque_fork_slow(&deque, &news) == NULL);
    CHECK_EQ(news.exposed, 1);
    CHECK_EQ(deque_state(&deque), WF_ASKED_NOT);
    CHECK(deque_fork(&deque, &tasks[1], &news) == NULL);
    wf_ptr *bottom = (wf_ptr *)wf_ptr_load_relaxed(&deque.owner.x_bottom);
    if (bottom != deque.slots) {
      CHECK(deque_join_fast(&deque, &task));
    } else {
      task = deque_join(&deque, &news);
    }
    CHECK_EQ(task, &tasks[1]);
    CHECK_EQ(deque_join(&deque, &news), &tasks[0]);
    allow_memory();
    wf_deque_destroy(&deque);
  }
}

TEST(growth_works_again_when_there_is_memory_again) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    fill(&deque, start);
    refuse_all_memory();
    CHECK_EQ(deque_fork(&deque, &tasks[7], &news), &tasks[7]);
    run(&tasks[7]);
    allow_memory();
    for (int i = 8; i < TASKS; i++) CHECK(deque_fork(&deque, &tasks[i], &news) == NULL);
    CHECK_EQ(deque.capacity, 64);
    for (int i = TASKS - 1; i >= 0; i--) {
      if (i == 7) continue;
      wf_task *task = deque_join(&deque, &news);
      CHECK_EQ(task, &tasks[i]);
      run(task);
    }
    CHECK(deque_join(&deque, &news) == NULL);
    check_each_ran_once(TASKS);
    wf_deque_destroy(&deque);
  }
}

TEST(eager_full_ring_without_memory_gives_the_newest_task_back) {
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    wf_deque_init(&deque, 2, start, true);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    refuse_all_memory();
    CHECK(deque_fork(&deque, &tasks[0], &news) == NULL);
    for (int i = 1; i < 5; i++) {
      CHECK_EQ(deque_fork(&deque, &tasks[i], &news), &tasks[i]);
      CHECK_EQ(news.exposed, 0);
      run(&tasks[i]);
    }
    run(deque_join(&deque, &news));
    CHECK(deque_join(&deque, &news) == NULL);
    check_each_ran_once(5);
    CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
    allow_memory();
    wf_deque_destroy(&deque);
  }
}

/* Random forks, joins, steals, asks and take-overs while every growth fails, with the
 * discipline of weft_join: joins come in the reverse order of forks, and the join of a
 * task that has run already takes nothing out. */
TEST(nothing_is_lost_or_run_twice_while_memory_is_short) {
  uint64_t random = harness_seed();
  FOR_EACH_START(start) {
    wf_deque deque;
    wf_deque_news news;
    int depth = 0, given_back = 0;
    wf_deque_init(&deque, 4, start, false);
    REQUIRE(wf_deque_prepare(&deque) == 0);
    refuse_all_memory();
    const unsigned operations = 100 * 1000 / harness_slowdown();
    for (unsigned i = 0; i < operations; i++) {
      unsigned choice = harness_random(&random) % 16;
      wf_task *task = NULL;
      if (choice < 6 && depth < TASKS) {
        task = deque_fork(&deque, &tasks[depth], &news);
        if (task != NULL) {
          if (!CHECK_EQ(task, &tasks[depth])) break;
          run(task);
          given_back++;
        }
        depth++;
      } else if (choice < 12 && depth > 0) {
        depth--;
        if (deque_join_fast(&deque, &task)) {
          run(task);
        } else if (runs[depth] == 0) {
          task = wf_deque_pop(&deque, &news);
          if (!CHECK_EQ(task, &tasks[depth])) break;
          run(task);
        }
        if (!CHECK_EQ(runs[depth], 1)) break;
        runs[depth] = 0;
      } else if (choice < 14) {
        if (wf_deque_steal(&deque, &task) == WF_STEAL_GOT) run(task);
      } else if (choice == 14) {
        wf_deque_ask(&deque);
      } else {
        wf_deque_take_over(&deque, wf_deque_asked(&deque));
      }
    }
    CHECK(given_back > 100 / (int)harness_slowdown());
    for (int i = 0; i < TASKS; i++) {
      CHECK(runs[i] <= (i < depth ? 1 : 0));
      runs[i] = 0;
    }
    allow_memory();
    wf_deque_destroy(&deque);
  }
}

/* The newest task may be public already when the owner finds the ring full: a take-over
 * came between its push and its look. Then it is given back only if no thief was faster.
 */
TEST(full_ring_whose_newest_task_was_taken_over) {
  FOR_EACH_START(start) {
    for (int stolen = 0; stolen <= CAPACITY; stolen++) {
      wf_deque deque;
      wf_deque_news news;
      wf_task *task;
      fill(&deque, start);
      refuse_all_memory();
      wf_deque_pin(&deque);
      CHECK(wf_deque_push(&deque, &tasks[7]));
      while (wf_deque_take_over(&deque, wf_deque_asked(&deque)) > 0) {
      }
      CHECK_EQ(deque_state(&deque), WF_ASKED_SEALED);
      for (int i = 0; i < stolen; i++) {
        CHECK_EQ(wf_deque_steal(&deque, &task), WF_STEAL_GOT);
        CHECK_EQ(task, &tasks[i]);
        run(task);
      }
      wf_task *left_over = wf_deque_fork_slow(&deque, &news);
      CHECK_EQ(left_over, stolen == 0 ? &tasks[7] : NULL);
      if (left_over != NULL) run(left_over);
      /* Everything else is still there, for the owner and for thieves. */
      for (int i = 7; i >= stolen; i--) {
        if (i == 7 && left_over != NULL) continue;
        CHECK_EQ(wf_deque_pop(&deque, &news), &tasks[i]);
        run(&tasks[i]);
      }
      CHECK(wf_deque_pop(&deque, &news) == NULL);
      check_each_ran_once(8);
      allow_memory();
      wf_deque_destroy(&deque);
    }
  }
}
