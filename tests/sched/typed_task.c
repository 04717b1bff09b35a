/* Typed tasks: with every number of arguments and kind of result, in trees of all shapes,
 * several open at once, from inside and outside of pools, carried into the scope around
 * them; and what happens when they are used wrongly.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <weft/typed_task.h>

/* ---- every number of arguments, with a result and without ---- */

typedef struct point {
  double x, y, z;
} point;

static atomic_uint plain_calls;

WEFT_TASK(void, note) {
  atomic_fetch_add(&plain_calls, 1);
}
WEFT_TASK(int, seven) {
  return 7;
}
WEFT_TASK(void, store, int *, to) {
  *to = 1;
}
WEFT_TASK(point, turned, point, p) {
  return (point){p.y, p.z, p.x};
}
WEFT_TASK(void, fill, char *, to, size_t, n) {
  memset(to, 'x', n);
}
WEFT_TASK(char, at, const char *, text, unsigned char, i) {
  return text[i];
}
WEFT_TASK(void, sum3, int *, to, short, a, float, b) {
  *to = a + (int)b;
}
WEFT_TASK(double, mixed3, char, a, double, b, float, c) {
  return a + b + (double)c;
}
WEFT_TASK(void *, pick, bool, second, void *, a, void *, b, int, unused) {
  (void)unused;
  return second ? b : a;
}
WEFT_TASK(long, five, char, a, short, b, int, c, long, d, long long, e) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * (long)e;
}
WEFT_TASK(void, six, long *, to, int, a, int, b, int, c, int, d, int, e) {
  *to = a + 10 * b + 100 * c + 1000 * d + 10000 * e;
}
WEFT_TASK(long, more6, int, a, int, b, int, c, int, d, int, e, point, f) {
  return a + b + c + d + e + (long)f.z;
}

static void use_all_forms(void *ctx) {
  int stored = 0, sum = 0, one = 1, two = 2;
  char text[4] = "abc";
  long digits = 0;
  (void)ctx;
  atomic_store(&plain_calls, 0);
  note_task t1;
  seven_task t2;
  store_task t3;
  turned_task t4;
  fill_task t5;
  at_task t6;
  sum3_task t7;
  mixed3_task t8;
  pick_task t9;
  five_task t10;
  six_task t11;
  more6_task t12;
  note_fork(&t1);
  seven_fork(&t2);
  store_fork(&t3, &stored);
  turned_fork(&t4, (point){1, 2, 3});
  fill_fork(&t5, text, 2);
  at_fork(&t6, "weft", 2);
  sum3_fork(&t7, &sum, -5, 8.5f);
  mixed3_fork(&t8, 3, 0.25, 0.5f);
  pick_fork(&t9, true, &one, &two, 0);
  five_fork(&t10, 1, 2, 3, 4, 5);
  six_fork(&t11, &digits, 5, 4, 3, 2, 1);
  more6_fork(&t12, 1, 2, 3, 4, 5, (point){0, 0, 100});
  CHECK_EQ(more6_join(&t12), 115);
  six_join(&t11);
  CHECK_EQ(digits, 12345);
  CHECK_EQ(five_join(&t10), 54321);
  CHECK(pick_join(&t9) == &two);
  CHECK(mixed3_join(&t8) == 3.75);
  sum3_join(&t7);
  CHECK_EQ(sum, 3);
  CHECK_EQ(at_join(&t6), 'f');
  fill_join(&t5);
  CHECK_STR_EQ(text, "xxc");
  point p = turned_join(&t4);
  CHECK(p.x == 2 && p.y == 3 && p.z == 1);
  store_join(&t3);
  CHECK_EQ(stored, 1);
  CHECK_EQ(seven_join(&t2), 7);
  note_join(&t1);
  CHECK_EQ(atomic_load(&plain_calls), 1);
  note();
  CHECK_EQ(seven(), 7);
}

TEST(all_forms) {
  for (unsigned long i = 0; i < scaled(200); i++) use_all_forms(NULL); /* outside */
  weft_shutdown();
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(use_all_forms, NULL);
}

/* ---- trees ---- */

WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task left;
  fib_fork(&left, n - 1);
  long right = fib(n - 2);
  return fib_join(&left) + right;
}

/* Mutually recursive, declared first; one is visible to other files. */
static WEFT_TASK_DECLARE(unsigned long, count_odd, unsigned, depth, unsigned, width)
    WEFT_TASK_DECLARE(unsigned long, count_even, unsigned, depth, unsigned, width)

        enum {
          WIDEST = 9
        };

/* Leaves of a tree whose nodes have `width` children at even levels, all open at once,
 * and two at odd ones. */
unsigned long count_even(unsigned depth, unsigned width) {
  count_odd_task child[WIDEST];
  unsigned long leaves = 0;
  if (depth == 0) return 1;
  for (unsigned i = 0; i < width; i++) count_odd_fork(&child[i], depth - 1, width);
  for (unsigned i = width; i-- > 0;) leaves += count_odd_join(&child[i]);
  return leaves;
}

static unsigned long count_odd(unsigned depth, unsigned width) {
  count_even_task left;
  if (depth == 0) return 1;
  count_even_fork(&left, depth - 1, width);
  unsigned long right = count_even(depth - 1, width);
  return count_even_join(&left) + right;
}

static void grow_trees(void *ctx) {
  (void)ctx;
  CHECK_EQ(fib(harness_slowdown() > 1 ? 15 : 20), harness_slowdown() > 1 ? 610 : 6765);
  for (unsigned width = 1; width <= WIDEST; width++)
    CHECK_EQ(count_even(4, width), 4ul * width * width);
}

TEST(trees) {
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(grow_trees, NULL);
}

static void *grow_trees_outside(void *arg) {
  for (unsigned long i = 0; i < scaled(100); i++) grow_trees(arg);
  return NULL;
}

/* More threads at once than there are places: some forks find none. */
TEST(trees_from_many_threads_outside) {
  enum { THREADS = 24 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&threads[i], NULL, grow_trees_outside, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  grow_trees_outside(NULL);
  weft_shutdown();
}

/* Deep: the ring grows under open tasks, whose places in it are then old ones. */
WEFT_TASK(unsigned, chain, unsigned, left) {
  if (left == 0) return 0;
  chain_task end;
  chain_fork(&end, 0);
  unsigned length = 1 + chain(left - 1);
  return length + chain_join(&end);
}

static void run_chain(void *ctx) {
  (void)ctx;
  CHECK_EQ(chain(3000), 3000);
}

TEST(chains_deeper_than_the_ring) {
  for (int i = 0; i < 5; i++) in_pools(run_chain, NULL);
  run_chain(NULL);
  weft_shutdown();
}

/* ---- two threads ---- */

/* Returns when the other one has come too: only if both run at once. */
WEFT_TASK(int, meet, atomic_uint *, arrived) {
  atomic_fetch_add(arrived, 1);
  AWAIT(atomic_load(arrived) == 2);
  return weft_worker_index();
}

static void meet_in_pool(void *ctx) {
  atomic_uint arrived = 0;
  meet_task other;
  (void)ctx;
  meet_fork(&other, &arrived);
  int here = meet(&arrived);
  CHECK(meet_join(&other) != here);
}

TEST(a_forked_call_runs_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  for (unsigned long i = 0; i < scaled(1000); i++)
    weft_pool_run(pool, meet_in_pool, NULL);
  weft_pool_destroy(pool);
  REQUIRE(weft_init(&(weft_config){.struct_size = sizeof(weft_config), .threads = 2}) ==
          0);
  for (unsigned long i = 0; i < scaled(1000); i++) meet_in_pool(NULL); /* outside */
  weft_shutdown();
}

/* From outside the thread is in no pool between fork and join, and may use others. */
static void check_inside(void *ctx) {
  CHECK_EQ(weft_pool_current(), ctx);
  CHECK_EQ(fib(10), 55);
}

TEST(other_calls_between_fork_and_join_outside) {
  weft_pool *pool = pool_of(3);
  for (unsigned long i = 0; i < scaled(500); i++) {
    fib_task a, b;
    tree t = {5, 0};
    fib_fork(&a, 9);
    CHECK_EQ(weft_worker_index(), -1);
    weft_pool_run(pool, check_inside, pool);
    fib_fork(&b, 8);
    weft_join(tree_count, &t, do_nothing, NULL);
    CHECK_EQ(t.leaves, 32);
    CHECK_EQ(fib_join(&b), 21);
    CHECK_EQ(fib_join(&a), 34);
  }
  weft_pool_destroy(pool);
  weft_shutdown();
}

/* ---- regions ---- */

WEFT_TASK(bool, is_in, weft_scope *, scope) {
  return weft_scope_current() == scope;
}

WEFT_TASK(void, spawn_one, weft_scope *, scope, unsigned char *, own) {
  weft_spawn(scope, mark, own);
}

static void fork_in_scope(void *ctx) {
  unsigned char marks[64] = {0};
  weft_scope scope;
  (void)ctx;
  weft_scope_begin(&scope);
  for (int i = 0; i < 64; i++) {
    is_in_task a;
    spawn_one_task b;
    is_in_fork(&a, &scope);
    spawn_one_fork(&b, &scope, &marks[i]);
    CHECK(is_in(&scope));
    spawn_one_join(&b);
    CHECK(is_in_join(&a));
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_marks(marks, 64, 1);
}

TEST(forked_calls_are_in_the_scope_around) {
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(fork_in_scope, NULL);
  for (unsigned long i = 0; i < scaled(100); i++) fork_in_scope(NULL);
  weft_shutdown();
}

/* ---- misuse ---- */

static void join_twice(void *ctx) {
  fib_task a;
  (void)ctx;
  fib_fork(&a, 3);
  (void)fib_join(&a);
  (void)fib_join(&a);
}

/* The newest entry of the deque is then the outer task. */
static void join_twice_above_another(void *ctx) {
  fib_task outer, a;
  (void)ctx;
  fib_fork(&outer, 3);
  fib_fork(&a, 3);
  (void)fib_join(&a);
  (void)fib_join(&a);
  (void)fib_join(&outer);
}

/* The second join finds bottom where the first one did: a newer task is there. */
static void join_twice_below_another(void *ctx) {
  fib_task a, newer;
  (void)ctx;
  fib_fork(&a, 3);
  (void)fib_join(&a);
  fib_fork(&newer, 4);
  (void)fib_join(&a);
  (void)fib_join(&newer);
}

static void join_twice_when_stolen(void *ctx) {
  atomic_uint arrived = 0;
  meet_task other;
  (void)ctx;
  meet_fork(&other, &arrived);
  (void)meet(&arrived);
  (void)meet_join(&other);
  (void)meet_join(&other);
}

static void join_again_after_a_new_fork(void *ctx) {
  fib_task a;
  (void)ctx;
  for (int i = 0; i < 10; i++) {
    fib_fork(&a, i);
    CHECK_EQ(fib_join(&a), fib(i));
  }
}

TEST(a_task_is_used_again_after_its_join) {
  in_pools(join_again_after_a_new_fork, NULL);
  join_again_after_a_new_fork(NULL);
  weft_shutdown();
}

static void join_in_wrong_order(void *ctx) {
  fib_task a, b;
  (void)ctx;
  fib_fork(&a, 3);
  fib_fork(&b, 3);
  (void)fib_join(&a);
  (void)fib_join(&b);
}

static void forget_to_join(void *ctx) {
  static fib_task a;
  (void)ctx;
  fib_fork(&a, 3);
}

static void forget_below(void *ctx) {
  fib_task a;
  fib_fork(&a, 3);
  forget_to_join(ctx);
  (void)fib_join(&a);
}

static void join_it(void *ctx) {
  (void)fib_join(ctx);
}

TEST_BY_NAME(joined_twice) {
  weft_pool_run(pool_of(1), join_twice, NULL);
}
TEST_BY_NAME(joined_twice_in_a_busy_pool) {
  weft_pool_run(pool_of(4), join_twice, NULL);
}
TEST_BY_NAME(joined_twice_above_another) {
  weft_pool_run(pool_of(1), join_twice_above_another, NULL);
}
TEST_BY_NAME(joined_twice_below_another) {
  weft_pool_run(pool_of(1), join_twice_below_another, NULL);
}
TEST_BY_NAME(joined_twice_when_stolen) {
  weft_pool_run(pool_of(2), join_twice_when_stolen, NULL);
}
TEST_BY_NAME(joined_twice_outside) {
  join_twice(NULL);
}
TEST_BY_NAME(joined_twice_above_another_outside) {
  join_twice_above_another(NULL);
}
TEST_BY_NAME(joined_twice_below_another_outside) {
  join_twice_below_another(NULL);
}
TEST_BY_NAME(joined_twice_when_stolen_outside) {
  REQUIRE(weft_init(&(weft_config){.struct_size = sizeof(weft_config), .threads = 2}) ==
          0);
  join_twice_when_stolen(NULL);
}
/* Forked outside of all pools, joined the second time inside one. */
TEST_BY_NAME(joined_twice_outside_and_inside) {
  fib_task a;
  fib_fork(&a, 3);
  (void)fib_join(&a);
  weft_pool_run(pool_of(2), join_it, &a);
}
TEST_BY_NAME(wrong_order) {
  weft_pool_run(pool_of(1), join_in_wrong_order, NULL);
}
TEST_BY_NAME(wrong_order_outside) {
  join_in_wrong_order(NULL);
}
TEST_BY_NAME(forgotten) {
  weft_pool_run(pool_of(1), forget_to_join, NULL);
}
TEST_BY_NAME(forgotten_below) {
  weft_pool_run(pool_of(1), forget_below, NULL);
}

/* ---- forks outside of pools that nobody joins ---- */

static __attribute__((noinline)) void fork_and_return(long n) {
  fib_task a;
  fib_fork(&a, n);
}

/* Its frame is larger, so the task is at another address. */
static __attribute__((noinline)) void fork_lower_and_return(long n) {
  fib_task a;
  volatile char room[300];
  room[0] = room[299] = (char)n;
  fib_fork(&a, n + room[0] - room[299]);
}

static __attribute__((noinline)) void fill_stack(void) {
  volatile char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0x55;
}

TEST_BY_NAME(forgotten_outside_in_a_loop) {
  for (int i = 0; i < 200; i++) {
    fib_task a;
    fib_fork(&a, 5);
  }
}
TEST_BY_NAME(forgotten_outside_200_times) {
  for (int i = 0; i < 200; i++) fork_and_return(5);
  fill_stack();
}
TEST_BY_NAME(forgotten_outside_by_two_functions) {
  fork_lower_and_return(5);
  fork_and_return(5);
}
TEST_BY_NAME(forgotten_outside_before_a_fork) {
  fib_task a;
  fork_lower_and_return(5);
  fib_fork(&a, 5);
  (void)fib_join(&a);
}
TEST_BY_NAME(forgotten_outside_before_a_join) {
  fib_task a;
  fib_fork(&a, 5);
  fork_and_return(5);
  (void)fib_join(&a);
}
TEST_BY_NAME(forgotten_outside_until_the_end) {
  static fib_task a;
  fib_fork(&a, 5);
  weft_shutdown();
}

/* Many open at once, at addresses in any order, are no mistake. */
static __attribute__((noinline)) long sum_of_levels(unsigned depth) {
  fib_task tasks[3];
  fib_task *heap = malloc(sizeof *heap);
  REQUIRE(heap != NULL);
  fib_fork(&tasks[1], 1);
  fib_fork(heap, 2);
  fib_fork(&tasks[0], 3);
  fib_fork(&tasks[2], 4);
  long sum = depth > 0 ? sum_of_levels(depth - 1) : 0;
  sum += fib_join(&tasks[2]);
  sum += fib_join(&tasks[0]);
  sum += fib_join(heap);
  sum += fib_join(&tasks[1]);
  free(heap);
  return sum;
}

TEST(many_forks_outside) {
  for (unsigned depth = 0; depth < 100; depth += 9)
    CHECK_EQ(sum_of_levels(depth), 7 * ((long)depth + 1));
  weft_shutdown();
}

/* Forked inside a pool, joined by another thread of it, which has forked too. */
static void join_of_another_worker(void *ctx) {
  fib_task *given = ctx, own;
  fib_fork(&own, 3);
  (void)fib_join(given);
  (void)fib_join(&own);
}

static void fork_and_let_another_join(void *ctx) {
  fib_task a;
  weft_scope scope;
  (void)ctx;
  fib_fork(&a, 3);
  weft_scope_begin(&scope);
  weft_spawn(&scope, join_of_another_worker, &a);
  AWAIT(false); /* this thread runs nothing else, so another takes the task */
}

TEST_BY_NAME(joined_by_another_worker) {
  weft_pool_run(pool_of(2), fork_and_let_another_join, NULL);
}

/* Between fork and join the thread enters the pool. */
TEST(forked_outside_and_joined_in_a_scope) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = threads;
    REQUIRE(weft_init(&config) == 0);
    for (unsigned long i = 0; i < scaled(100); i++) {
      weft_scope scope;
      fib_task a;
      fib_fork(&a, 9);
      weft_scope_begin(&scope);
      CHECK_EQ(fib_join(&a), 34);
      CHECK_EQ(weft_scope_end(&scope), 0);
    }
    weft_shutdown();
  }
}

static void *run_call_on_thread(void *arg) {
  run_started_call(arg);
  return NULL;
}

TEST_BY_NAME(joined_by_another_thread) {
  started_call call = {.fn = join_it};
  pthread_t thread;
  fib_task a;
  fib_fork(&a, 3);
  call.ctx = &a;
  REQUIRE(pthread_create(&thread, NULL, run_call_on_thread, &call) == 0);
  pthread_join(thread, NULL);
}

static void check_told(const char *test, const char *expected) {
  char output[8192];
  int status = harness_run_self("ulimit -c 0;", test, output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT, "%s: status %d", test, status);
  CHECK_MSG(strstr(output, expected) != NULL, "%s: %s", test, output);
}

TEST(misuse_is_told) {
  check_told("forgotten", "weft_pool_run: the function has left forks");
  check_told("forgotten_below", "fib_join: forks and joins");
  check_told("wrong_order", "fib_join: forks and joins");
  check_told("wrong_order_outside", "fib_join: forks and joins");
  check_told("joined_by_another_thread", "fib_join: the task was not forked here");
  check_told("joined_by_another_worker", "fib_join: the task was not forked here");
}

/* At the latest when the pool ends; nothing crashes before. */
TEST(forks_outside_that_nobody_joins_are_told) {
  check_told("forgotten_outside_in_a_loop", "WEFT_TASK: a task is forked again");
  check_told("forgotten_outside_200_times", "WEFT_TASK: a ");
  check_told("forgotten_outside_before_a_join", "fib_join: forks and joins");
  check_told("forgotten_outside_until_the_end",
             "weft_shutdown: this thread has forked typed tasks");
  check_told("forgotten_outside_by_two_functions", "WEFT_TASK: a ");
  check_told("forgotten_outside_before_a_fork", "WEFT_TASK: a function has returned");
}

/* In every build: the second join neither hangs nor runs the call again. */
TEST(a_second_join_is_told) {
  const char *already = "_join: the task has been joined already";
  check_told("joined_twice", already);
  check_told("joined_twice_in_a_busy_pool", already);
  check_told("joined_twice_above_another", already);
  check_told("joined_twice_below_another", already);
  check_told("joined_twice_when_stolen", already);
  check_told("joined_twice_outside", already);
  check_told("joined_twice_above_another_outside", already);
  check_told("joined_twice_below_another_outside", already);
  check_told("joined_twice_when_stolen_outside", already);
  check_told("joined_twice_outside_and_inside", already);
}
