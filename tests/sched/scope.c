/* Scopes: every task runs exactly once and has ended when the scope has; who may spawn
 * and from where; nesting; what is visible to whom; and that waiting helps.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "asleep.h"

#include <pthread.h>

static const unsigned SIZES[] = {1, 2, 3, 8};
enum { SIZE_COUNT = sizeof SIZES / sizeof SIZES[0] };

/* ---- a scope around ordinary code ---- */

/* One after the other in the same memory. */
static void empty_scopes(void *ctx) {
  weft_scope scope;
  (void)ctx;
  for (unsigned long i = 0; i < scaled(10000); i++) {
    weft_scope_begin(&scope);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(empty_scopes_end) {
  in_pools(empty_scopes, NULL);
  empty_scopes(NULL); /* from outside, in the global pool */
  weft_shutdown();
}

static void spawn_marks(void *ctx) {
  static const unsigned long counts[] = {1, 2, 3, 100, 3000, 30000};
  (void)ctx;
  for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    unsigned long count = counts[i] < 1000 ? counts[i] : scaled(counts[i]);
    unsigned char *marks = marks_of(count);
    weft_scope scope;
    weft_scope_begin(&scope);
    for (unsigned long m = 0; m < count; m++) weft_spawn(&scope, mark, &marks[m]);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(marks, count, 1);
    free(marks);
  }
}

TEST(every_task_runs_once) {
  in_pools(spawn_marks, NULL);
  spawn_marks(NULL);
  weft_shutdown();
}

/* Between begin and end the thread is in the pool, and after it where it was before. */
TEST(the_thread_is_in_the_pool_until_the_end) {
  weft_scope outer, inner;
  CHECK_EQ(weft_worker_index(), -1);
  weft_scope_begin(&outer);
  CHECK_EQ(weft_worker_index(), 0);
  check_tree(6);
  weft_pool *global = weft_pool_current();
  weft_pool *other = pool_of(2);
  weft_opts opts = opts_on(other);
  weft_scope_begin_with(&opts, &inner);
  CHECK_EQ(weft_pool_current(), other);
  CHECK_EQ(weft_worker_index(), 0);
  check_tree(6);
  CHECK_EQ(weft_scope_end(&inner), 0);
  CHECK_EQ(weft_pool_current(), global);
  CHECK_EQ(weft_worker_index(), 0);
  CHECK_EQ(weft_scope_end(&outer), 0);
  CHECK_EQ(weft_worker_index(), -1);
  weft_pool_destroy(other);
  weft_shutdown();
}

/* The memory of a scope is the program's as soon as the scope has ended: a late touch is
 * a use after free, which AddressSanitizer tells. */
static void scopes_on_the_heap(void *ctx) {
  unsigned char marks[8] = {0};
  (void)ctx;
  for (unsigned long i = 0; i < scaled(5000); i++) {
    weft_scope *scope = malloc(sizeof *scope);
    REQUIRE(scope != NULL);
    weft_scope_begin(scope);
    for (int m = 0; m < 8; m++) weft_spawn(scope, mark, &marks[m]);
    CHECK_EQ(weft_scope_end(scope), 0);
    memset(scope, 0xff, sizeof *scope);
    free(scope);
    check_marks(marks, sizeof marks, 1);
  }
}

TEST(a_scope_is_not_touched_after_its_end) {
  in_pools(scopes_on_the_heap, NULL);
}

/* ---- tasks that spawn ---- */

enum { FAN = 3, DEPTH = 8 };

typedef struct level {
  weft_scope *scope;
  const struct level *below;
  atomic_ulong *ran;
} level;

static void grow(void *ctx) {
  const level *self = ctx;
  atomic_fetch_add(self->ran, 1);
  for (int i = 0; i < FAN && self->below != NULL; i++)
    weft_spawn(self->scope, grow, (void *)(uintptr_t)self->below);
}

static void grow_trees(void *ctx) {
  (void)ctx;
  for (unsigned long round = 0; round < scaled(10); round++) {
    weft_scope scope;
    atomic_ulong ran = 0;
    level levels[DEPTH + 1];
    unsigned long nodes = 0;
    for (int d = 0; d <= DEPTH; d++) {
      levels[d] = (level){&scope, d > 0 ? &levels[d - 1] : NULL, &ran};
      nodes = nodes * FAN + 1;
    }
    weft_scope_begin(&scope);
    weft_spawn(&scope, grow, &levels[DEPTH]);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(atomic_load(&ran), nodes);
  }
}

TEST(tasks_spawn_into_their_scope) {
  in_pools(grow_trees, NULL);
  grow_trees(NULL);
  weft_shutdown();
}

/* ---- other threads that spawn ---- */

enum { SPAWNERS = 6 };

typedef struct shared_scope {
  weft_scope scope;
  weft_pool *pool;
  spot *spots; /* a share for each spawner */
  unsigned long each;
  atomic_uint spawners; /* that have begun, and */
  atomic_uint finished; /* that have spawned everything */
  pid_t owner;          /* the scope's thread */
} shared_scope;

static void spawn_share(unsigned index, void *arg) {
  shared_scope *s = arg;
  for (unsigned long i = 0; i < s->each; i++)
    weft_spawn(&s->scope, run_spot, &s->spots[index * s->each + i]);
}

/* While the scope's own thread waits for these threads, in its own way. */
TEST(threads_in_no_pool_spawn) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    shared_scope s = {.pool = pool_of(SIZES[i]), .each = scaled(5000)};
    s.spots = spots_of(SPAWNERS * s.each, s.pool);
    weft_opts opts = opts_on(s.pool);
    weft_scope_begin_with(&opts, &s.scope);
    harness_run_threads(SPAWNERS, spawn_share, &s);
    CHECK_EQ(weft_scope_end(&s.scope), 0);
    check_spots(s.spots, SPAWNERS * s.each);
    weft_pool_destroy(s.pool);
    free(s.spots);
  }
}

static void spawn_next_share(void *ctx) {
  shared_scope *s = ctx;
  spawn_share(atomic_fetch_add(&s->spawners, 1), s);
  atomic_fetch_add(&s->finished, 1);
}

TEST(tasks_of_another_pool_spawn) {
  weft_pool *other = pool_of(3);
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    shared_scope s = {.pool = pool_of(SIZES[i]), .each = scaled(5000)};
    s.spots = spots_of(SPAWNERS * s.each, s.pool);
    weft_opts opts = opts_on(s.pool);
    weft_scope_begin_with(&opts, &s.scope);
    for (int k = 0; k < SPAWNERS; k++)
      CHECK_EQ(weft_pool_detach(other, spawn_next_share, &s), 0);
    AWAIT(atomic_load(&s.finished) == SPAWNERS);
    CHECK_EQ(weft_scope_end(&s.scope), 0);
    check_spots(s.spots, SPAWNERS * s.each);
    weft_pool_destroy(s.pool);
    free(s.spots);
  }
  weft_pool_destroy(other);
}

/* A thread of the same pool that is no task of the scope. */
TEST(other_tasks_of_the_pool_spawn) {
  for (unsigned i = 1; i < SIZE_COUNT; i++) {
    shared_scope s = {.pool = pool_of(SIZES[i]), .each = scaled(5000)};
    s.spots = spots_of(SPAWNERS * s.each, s.pool);
    weft_opts opts = opts_on(s.pool);
    weft_scope_begin_with(&opts, &s.scope);
    for (int k = 0; k < SPAWNERS; k++) CHECK_EQ(weft_detach(spawn_next_share, &s), 0);
    AWAIT(atomic_load(&s.finished) == SPAWNERS);
    CHECK_EQ(weft_scope_end(&s.scope), 0);
    check_spots(s.spots, SPAWNERS * s.each);
    weft_pool_destroy(s.pool);
    free(s.spots);
  }
}

/* The scope is kept open by one task, and its thread is in weft_scope_end, perhaps
 * asleep, while a thread from outside spawns. */
static void stay_until_spawned(void *ctx) {
  shared_scope *s = ctx;
  atomic_fetch_add(&s->spawners, 1);
  AWAIT(atomic_load(&s->finished) == 1);
}

static void *spawn_late(void *arg) {
  shared_scope *s = arg;
  AWAIT(atomic_load(&s->spawners) == 1);
  let_it_sleep(s->owner);
  spawn_share(0, s);
  atomic_fetch_add(&s->finished, 1);
  return NULL;
}

TEST(spawns_while_the_scope_ends) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    for (unsigned long round = 0; round < scaled(50); round++) {
      pthread_t thread;
      shared_scope s = {.pool = sleepy_pool_of(SIZES[i]),
                        .each = round % 10 == 0 ? 6000 : 50,
                        .owner = own_thread_id()};
      s.spots = spots_of(s.each, s.pool);
      REQUIRE(pthread_create(&thread, NULL, spawn_late, &s) == 0);
      weft_opts opts = opts_on(s.pool);
      weft_scope_begin_with(&opts, &s.scope);
      weft_spawn(&s.scope, stay_until_spawned, &s);
      CHECK_EQ(weft_scope_end(&s.scope), 0);
      check_spots(s.spots, s.each);
      pthread_join(thread, NULL);
      weft_pool_destroy(s.pool);
      free(s.spots);
    }
  }
}

/* ---- waiting helps ---- */

typedef struct on_thread {
  pthread_t thread;
  unsigned runs;
} on_thread;

static void check_thread(void *ctx) {
  on_thread *expected = ctx;
  CHECK(pthread_equal(pthread_self(), expected->thread));
  expected->runs++;
}

static void all_by_oneself(void *ctx) {
  on_thread here = {pthread_self(), 0};
  (void)ctx;
  for (unsigned long round = 0; round < scaled(500); round++) {
    weft_scope scope;
    weft_scope_begin(&scope);
    for (int i = 0; i < 20; i++) weft_spawn(&scope, check_thread, &here);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(here.runs, 20);
    here.runs = 0;
  }
}

TEST(one_thread_runs_all_its_tasks) {
  weft_pool *pool = pool_of(1);
  weft_pool_run(pool, all_by_oneself, NULL);
  run_on_started(pool, all_by_oneself, NULL);
  weft_pool_destroy(pool);
}

TEST(the_waiting_thread_runs_what_nobody_takes) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    gate plug = {0};
    weft_pool *pool = pool_of(threads);
    plug_threads(&plug, pool);
    weft_pool_run(pool, all_by_oneself, NULL);
    unplug(&plug);
    weft_pool_destroy(pool);
  }
}

/* What another thread spawns must be run by the waiting one too: the only started thread
 * stands in a task of the scope until that has happened. */
typedef struct outside_help {
  pid_t waiter;
  weft_scope scope;
  atomic_bool begun;
  atomic_ulong ran;
} outside_help;

enum { HELPED = 10 };

static void stay_until_all_ran(void *ctx) {
  outside_help *s = ctx;
  atomic_store(&s->begun, true);
  AWAIT(atomic_load(&s->ran) == HELPED);
}

static void *spawn_for_the_waiter(void *arg) {
  outside_help *s = arg;
  AWAIT(atomic_load(&s->begun));
  let_it_sleep(s->waiter);
  for (int i = 0; i < HELPED; i++) weft_spawn(&s->scope, count_one, &s->ran);
  return NULL;
}

TEST(the_waiting_thread_runs_what_others_spawn) {
  for (unsigned long round = 0; round < scaled(200); round++) {
    pthread_t thread;
    outside_help s = {.waiter = own_thread_id()};
    weft_pool *pool = sleepy_pool_of(2);
    weft_opts opts = opts_on(pool);
    REQUIRE(pthread_create(&thread, NULL, spawn_for_the_waiter, &s) == 0);
    weft_scope_begin_with(&opts, &s.scope);
    weft_spawn(&s.scope, stay_until_all_ran, &s);
    AWAIT(atomic_load(&s.begun)); /* on the started thread */
    CHECK_EQ(weft_scope_end(&s.scope), 0);
    CHECK_EQ(atomic_load(&s.ran), HELPED);
    pthread_join(thread, NULL);
    weft_pool_destroy(pool);
  }
}

/* ---- tasks overlap ---- */

/* The body is a long leaf: its spawned task is found all the same. */
static void overlap_with_the_body(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(2000); i++) {
    pairing pair = {.a_thread = pthread_self()};
    weft_scope scope;
    weft_scope_begin(&scope);
    weft_spawn(&scope, b_begins, &pair);
    a_until_b(&pair);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(a_task_overlaps_with_the_body) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, overlap_with_the_body, NULL);
    weft_pool_destroy(pool);
  }
}

typedef struct meeting {
  unsigned expected;
  atomic_uint present;
} meeting;

static void meet(void *ctx) {
  meeting *m = ctx;
  atomic_fetch_add(&m->present, 1);
  AWAIT(atomic_load(&m->present) == m->expected);
}

static void meet_often(void *ctx) {
  const unsigned threads = *(const unsigned *)ctx;
  for (unsigned long i = 0; i < scaled(500); i++) {
    meeting m = {threads, 0};
    weft_scope scope;
    weft_scope_begin(&scope);
    for (unsigned t = 0; t < threads; t++) weft_spawn(&scope, meet, &m);
    CHECK_EQ(weft_scope_end(&scope), 0);
  }
}

TEST(as_many_tasks_overlap_as_there_are_threads) {
  for (unsigned threads = 2; threads <= 4; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_pool_run(pool, meet_often, &threads);
    weft_pool_destroy(pool);
  }
}

/* ---- nesting ---- */

typedef struct fib {
  long n, result;
} fib;

static void fib_run(void *ctx) {
  fib *self = ctx;
  if (self->n < 2) {
    self->result = self->n;
    return;
  }
  fib left = {self->n - 1, 0}, right = {self->n - 2, 0};
  weft_scope scope;
  weft_scope_begin(&scope);
  weft_spawn(&scope, fib_run, &left);
  fib_run(&right);
  CHECK_EQ(weft_scope_end(&scope), 0);
  self->result = left.result + right.result;
}

TEST(scopes_in_tasks_of_scopes) {
  bool slow = harness_slowdown() > 1;
  fib number = {slow ? 13 : 19, 0};
  in_pools(fib_run, &number);
  CHECK_EQ(number.result, slow ? 233 : 4181);
  number.result = 0;
  fib_run(&number);
  CHECK_EQ(number.result, slow ? 233 : 4181);
  weft_shutdown();
}

/* Many open at once on one thread; every one has a task, and spawns into all around. */
static void open_one_more(unsigned depth, weft_scope **around, unsigned char *marks) {
  weft_scope scope;
  weft_scope_begin(&scope);
  CHECK_EQ(weft_scope_current(), &scope);
  around[depth] = &scope;
  for (unsigned i = 0; i <= depth; i++) weft_spawn(around[i], mark, marks++);
  if (depth + 1 < 60) open_one_more(depth + 1, around, marks);
  CHECK_EQ(weft_scope_current(), &scope);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void open_many(void *ctx) {
  enum { DEEP = 60, SPAWNS = DEEP * (DEEP + 1) / 2 };
  weft_scope *around[DEEP];
  unsigned char *marks = marks_of(SPAWNS);
  (void)ctx;
  open_one_more(0, around, marks);
  check_marks(marks, SPAWNS, 1);
  free(marks);
}

TEST(many_scopes_of_one_thread) {
  in_pools(open_many, NULL);
}

/* The end of the inner scope does not wait for what its task has spawned into the outer
 * one, and the end of the outer one does. */
typedef struct two_scopes {
  weft_scope outer, inner;
  gate hold;
} two_scopes;

static void spawn_into_the_outer(void *ctx) {
  two_scopes *s = ctx;
  weft_spawn(&s->outer, gate_pass, &s->hold);
}

TEST(inner_scopes_do_not_wait_for_outer_tasks) {
  for (unsigned threads = 2; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(500); i++) {
      two_scopes s = {.hold = {0}};
      weft_scope_begin_with(&opts, &s.outer);
      weft_scope_begin(&s.inner);
      weft_spawn(&s.inner, spawn_into_the_outer, &s);
      AWAIT(atomic_load(&s.hold.inside) == 1); /* on a started thread */
      CHECK_EQ(weft_scope_end(&s.inner), 0);
      CHECK_EQ(atomic_load(&s.hold.left), 0);
      gate_open(&s.hold);
      CHECK_EQ(weft_scope_end(&s.outer), 0);
      CHECK_EQ(atomic_load(&s.hold.left), 1);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- what happened before is visible; ThreadSanitizer looks on ---- */

enum { PLAIN = 16 };

typedef struct plain {
  weft_scope *scope;
  struct plain *next;     /* spawned by this one */
  unsigned before[PLAIN]; /* written by the spawner */
  unsigned sum;           /* written by the task, read after the end */
} plain;

static void plain_run(void *ctx) {
  plain *self = ctx;
  for (unsigned i = 0; i < PLAIN; i++) self->sum += self->before[i];
  if (self->next == NULL) return;
  for (unsigned i = 0; i < PLAIN; i++) self->next->before[i] = self->before[i] + i;
  weft_spawn(self->scope, plain_run, self->next);
}

static void plain_chains(void *ctx) {
  enum { CHAINS = 8, LENGTH = 8 };
  (void)ctx;
  for (unsigned long round = 0; round < scaled(1000); round++) {
    plain links[CHAINS][LENGTH];
    weft_scope scope;
    memset(links, 0, sizeof links);
    weft_scope_begin(&scope);
    for (unsigned c = 0; c < CHAINS; c++) {
      for (unsigned l = 0; l < LENGTH; l++) {
        links[c][l].scope = &scope;
        if (l + 1 < LENGTH) links[c][l].next = &links[c][l + 1];
      }
      for (unsigned i = 0; i < PLAIN; i++) links[c][0].before[i] = c;
      weft_spawn(&scope, plain_run, &links[c][0]);
    }
    CHECK_EQ(weft_scope_end(&scope), 0);
    for (unsigned c = 0; c < CHAINS; c++)
      for (unsigned l = 0; l < LENGTH; l++)
        CHECK_EQ(links[c][l].sum, PLAIN * c + l * (PLAIN * (PLAIN - 1) / 2));
  }
}

TEST(plain_data_is_handed_over) {
  in_pools(plain_chains, NULL);
}

/* ---- a high rate of spawns under contention ---- */

static void many_small_scopes(unsigned index, void *arg) {
  weft_opts opts = opts_on(arg);
  uint64_t random = harness_seed() + index;
  unsigned char marks[64] = {0};
  for (unsigned long i = 0; i < scaled(20000); i++) {
    size_t count = harness_random(&random) % sizeof marks;
    weft_scope scope;
    weft_scope_begin_with(&opts, &scope);
    for (size_t m = 0; m < count; m++) {
      weft_spawn(&scope, mark, &marks[m]);
      if (m == count / 2) check_tree(2);
    }
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(marks, count, 1);
  }
}

TEST(high_rate_of_scopes) {
  for (unsigned i = 0; i < SIZE_COUNT; i++) {
    weft_pool *pool = pool_of(SIZES[i]);
    harness_run_threads(6, many_small_scopes, pool);
    weft_pool_destroy(pool);
  }
}
