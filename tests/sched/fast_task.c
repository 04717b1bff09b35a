/* Fast tasks (WEFT_TASK_FAST): every number of arguments and kind of result, in trees of
 * all shapes, mixed with everything else that moves the bottom of the deque, from inside
 * and outside of pools; and what happens when they are used wrongly.
 *
 * SPDX-License-Identifier: MIT */
#undef NDEBUG /* misuse is told */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <weft/loop.h>
#include <weft/typed_task.h>

/* ---- every number of arguments, with a result and without ---- */

typedef struct point {
  double x, y, z;
} point;

static atomic_uint plain_calls;

WEFT_TASK_FAST(void, note) {
  atomic_fetch_add(&plain_calls, 1);
}
WEFT_TASK_FAST(int, seven) {
  return 7;
}
WEFT_TASK_FAST(void, store, int *, to) {
  *to = 1;
}
WEFT_TASK_FAST(point, turned, point, p) {
  return (point){p.y, p.z, p.x};
}
WEFT_TASK_FAST(void, fill, char *, to, size_t, n) {
  memset(to, 'x', n);
}
WEFT_TASK_FAST(double, mixed3, char, a, double, b, float, c) {
  return a + b + (double)c;
}
WEFT_TASK_FAST(void *, pick, bool, second, void *, a, void *, b, int, unused) {
  (void)unused;
  return second ? b : a;
}
WEFT_TASK_FAST(long, five, char, a, short, b, int, c, long, d, long long, e) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * (long)e;
}
WEFT_TASK_FAST(void, six, long *, to, int, a, int, b, int, c, int, d, int, e) {
  *to = a + 10 * b + 100 * c + 1000 * d + 10000 * e;
}

WEFT_TASK_FAST(void, all_forms, unsigned, rounds) {
  int stored = 0, one = 1, two = 2, other = 0;
  char text[4] = "abc";
  long digits = 0;
  note_task t1;
  seven_task t2;
  store_task t3;
  turned_task t4;
  fill_task t5;
  mixed3_task t6;
  pick_task t7;
  five_task t8;
  six_task t9;
  WEFT_FORK(note, &t1);
  WEFT_FORK(seven, &t2);
  WEFT_FORK(store, &t3, &stored);
  WEFT_FORK(turned, &t4, ((point){1, 2, 3}));
  WEFT_FORK(fill, &t5, text, 2);
  WEFT_FORK(mixed3, &t6, 3, 0.25, 0.5f);
  WEFT_FORK(pick, &t7, true, &one, &two, 0);
  WEFT_FORK(five, &t8, 1, 2, 3, 4, 5);
  WEFT_FORK(six, &t9, &digits, 5, 4, 3, 2, 1);
  WEFT_CALL(note);
  CHECK_EQ(WEFT_CALL(seven), 7);
  WEFT_JOIN(six, &t9);
  CHECK_EQ(digits, 12345);
  CHECK_EQ(WEFT_JOIN(five, &t8), 54321);
  CHECK(WEFT_JOIN(pick, &t7) == &two);
  CHECK(WEFT_JOIN(mixed3, &t6) == 3.75);
  WEFT_JOIN(fill, &t5);
  CHECK_STR_EQ(text, "xxc");
  point p = WEFT_JOIN(turned, &t4);
  CHECK(p.x == 2 && p.y == 3 && p.z == 1);
  WEFT_JOIN(store, &t3);
  CHECK_EQ(stored, 1);
  CHECK_EQ(WEFT_JOIN(seven, &t2), 7);
  WEFT_JOIN(note, &t1);
  WEFT_BOTH(one, (seven), digits, (five, 1, 2, 3, 4, 5));
  CHECK(one == 7 && digits == 54321);
  WEFT_BOTH_VOID((note), (store, &other));
  CHECK_EQ(other, 1);
  if (rounds > 1) WEFT_CALL(all_forms, rounds - 1);
}

static void use_all_forms(void *ctx) {
  (void)ctx;
  atomic_store(&plain_calls, 0);
  all_forms(10);
  CHECK_EQ(atomic_load(&plain_calls), 30);
  all_forms_task t; /* as any typed task */
  all_forms_fork(&t, 2);
  note();
  all_forms_join(&t);
  CHECK_EQ(atomic_load(&plain_calls), 37);
}

TEST(all_forms) {
  for (unsigned long i = 0; i < scaled(50); i++) use_all_forms(NULL); /* outside */
  weft_shutdown();
  for (unsigned long i = 0; i < scaled(5); i++) in_pools(use_all_forms, NULL);
}

/* ---- trees ---- */

WEFT_TASK_FAST(long, fib, long, n) {
  long a, b;
  if (n < 2) return n;
  WEFT_BOTH(a, (fib, n - 2), b, (fib, n - 1));
  return a + b;
}

WEFT_TASK_FAST(long, fib_by_three, long, n) {
  if (n < 2) return n;
  fib_by_three_task left;
  WEFT_FORK(fib_by_three, &left, n - 1);
  long right = WEFT_CALL(fib_by_three, n - 2);
  return WEFT_JOIN(fib_by_three, &left) + right;
}

enum { WIDEST = 9 };

/* Leaves of a tree whose nodes have `width` children, all open at once. */
WEFT_TASK_FAST(unsigned long, leaves, unsigned, depth, unsigned, width) {
  leaves_task child[WIDEST];
  unsigned long sum = 0;
  if (depth == 0) return 1;
  for (unsigned i = 0; i < width; i++) WEFT_FORK(leaves, &child[i], depth - 1, width);
  for (unsigned i = width; i-- > 0;) sum += WEFT_JOIN(leaves, &child[i]);
  return sum;
}

static void grow_trees(void *ctx) {
  (void)ctx;
  long n = harness_slowdown() > 1 ? 15 : 20, expected = n == 15 ? 610 : 6765;
  CHECK_EQ(fib(n), expected);
  CHECK_EQ(fib_by_three(n), expected);
  for (unsigned width = 1; width <= WIDEST; width++)
    CHECK_EQ(leaves(3, width), (unsigned long)width * width * width);
}

TEST(trees) {
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(grow_trees, NULL);
}

static void *grow_trees_outside(void *arg) {
  for (unsigned long i = 0; i < scaled(8); i++) grow_trees(arg);
  return NULL;
}

TEST(trees_from_many_threads_outside) {
  enum { THREADS = 24 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    REQUIRE(pthread_create(&threads[i], NULL, grow_trees_outside, NULL) == 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  grow_trees_outside(NULL);
  weft_shutdown();
}

/* Deep: the ring grows under open tasks, which then lie elsewhere than where bottom was
 * when they were forked. */
WEFT_TASK_FAST(unsigned, chain, unsigned, left) {
  unsigned end, length;
  if (left == 0) return 0;
  WEFT_BOTH(length, (chain, left - 1), end, (chain, 0));
  return 1 + length + end;
}

WEFT_TASK_FAST(unsigned, chain_by_three, unsigned, left) {
  chain_by_three_task end;
  if (left == 0) return 0;
  WEFT_FORK(chain_by_three, &end, 0);
  unsigned length = 1 + WEFT_CALL(chain_by_three, left - 1);
  return length + WEFT_JOIN(chain_by_three, &end);
}

static void run_chain(void *ctx) {
  (void)ctx;
  CHECK_EQ(chain(3000), 3000);
  CHECK_EQ(chain_by_three(3000), 3000);
}

TEST(chains_deeper_than_the_ring) {
  for (int i = 0; i < 5; i++) in_pools(run_chain, NULL);
  run_chain(NULL);
  weft_shutdown();
}

/* Arguments that fork and join on their own: bottom is not where it was before them. */
WEFT_TASK_FAST(unsigned, less, unsigned, depth, unsigned, by) {
  unsigned half, rest;
  if (by < 2) return depth - by;
  WEFT_BOTH(half, (less, depth, by / 2), rest, (less, depth, by - by / 2));
  return half + rest - depth;
}

WEFT_TASK_FAST(unsigned, argued, unsigned, depth, unsigned, same) {
  unsigned a, b;
  CHECK_EQ(depth, same);
  if (depth == 0) return 1;
  WEFT_BOTH(a, (argued, WEFT_CALL(less, depth + 4, 5), less(depth + 6, 7)), b,
            (argued, less(depth + 2, 3), WEFT_CALL(less, depth, 1)));
  return a + b;
}

static void grow_argued(void *ctx) {
  (void)ctx;
  CHECK_EQ(argued(6, 6), 64);
}

TEST(arguments_that_fork_and_join) {
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(grow_argued, NULL);
  for (unsigned long i = 0; i < scaled(20); i++) grow_argued(NULL); /* outside */
  weft_shutdown();
}

/* ---- mixed with everything else ---- */

static void add_range(size_t begin, size_t end, void *ctx) {
  atomic_fetch_add((atomic_ulong *)ctx, end - begin);
}

WEFT_TASK(long, simple_fib, long, n) {
  if (n < 2) return n;
  simple_fib_task left;
  simple_fib_fork(&left, n - 1);
  long right = simple_fib(n - 2);
  return simple_fib_join(&left) + right;
}

static weft_pool *another_pool;

WEFT_TASK_FAST(uint64_t, count_fast, tree *, t) {
  int seven_here, seven_there;
  tree_count(t);
  WEFT_BOTH(seven_here, (seven), seven_there, (seven));
  CHECK(seven_here == 7 && seven_there == 7);
  return t->leaves;
}

static void count_in_another_pool(void *ctx) {
  CHECK_EQ(count_fast(ctx), 16);
}

/* One of the calls that fork and join on their own; each may leave bottom elsewhere. */
static void do_other_work(unsigned kind) {
  tree t = {4, 0};
  atomic_ulong sum = 0;
  weft_scope scope;
  unsigned char own[4] = {0};
  weft_handle *handle;
  switch (kind % 9) {
  case 0:
    weft_join(tree_count, &t, do_nothing, NULL);
    CHECK_EQ(t.leaves, 16);
    break;
  case 1:
    weft_for(100, add_range, &sum);
    CHECK_EQ(atomic_load(&sum), 100);
    break;
  case 2:
    weft_scope_begin(&scope);
    for (int i = 0; i < 4; i++) weft_spawn(&scope, mark, &own[i]);
    CHECK_EQ(weft_scope_end(&scope), 0);
    check_marks(own, 4, 1);
    break;
  case 3:
    CHECK_EQ(simple_fib(8), 21);
    break;
  case 4:
    REQUIRE(weft_async(&handle, mark, &own[0]) == 0);
    weft_handle_wait(handle);
    check_marks(own, 1, 1);
    break;
  case 5:
    weft_blocking_begin();
    CHECK_EQ(simple_fib(5), 5);
    weft_blocking_end();
    break;
  case 6: /* this thread is another worker meanwhile */
    weft_pool_run(another_pool, count_in_another_pool, &t);
    CHECK_EQ(t.leaves, 16);
    break;
  case 7:
    weft_yield();
    break;
  default:
    weft_isolate(do_nothing, NULL);
  }
}

/* Before, between and after forks and joins, in both ways, at every depth. */
WEFT_TASK_FAST(unsigned, mixed, unsigned, depth, unsigned, seed) {
  unsigned a, b, c, d;
  mixed_task t, u;
  simple_fib_task s;
  if (depth == 0) return 1;
  do_other_work(seed);
  WEFT_BOTH(a, (mixed, depth - 1, seed + 1), b, (mixed, depth - 1, seed * 3 + 1));
  do_other_work(seed / 2);
  simple_fib_fork(&s, 6);
  WEFT_FORK(mixed, &t, depth - 1, seed + 7);
  do_other_work(seed / 3);
  mixed_fork(&u, 0, seed);
  c = WEFT_CALL(mixed, depth - 1, seed + 11);
  CHECK_EQ(mixed_join(&u), 1);
  do_other_work(seed + depth);
  d = WEFT_JOIN(mixed, &t);
  CHECK_EQ(simple_fib_join(&s), 8);
  return a + b + c + d;
}

static void run_mixed(void *ctx) {
  (void)ctx;
  unsigned depth = harness_slowdown() > 1 ? 3 : 4;
  for (unsigned seed = 0; seed < 10; seed++)
    CHECK_EQ(mixed(depth, seed), depth == 3 ? 64 : 256);
}

TEST(mixed_with_joins_loops_and_scopes) {
  another_pool = pool_of(2);
  for (unsigned long i = 0; i < scaled(2); i++) in_pools(run_mixed, NULL);
  run_mixed(NULL);
  weft_shutdown();
  weft_pool_destroy(another_pool);
}

/* ---- two threads ---- */

/* Returns when the other one has come too: only if both run at once. The forked half is
 * private, and the other one does not come by: it is taken over. */
WEFT_TASK_FAST(int, meet, atomic_uint *, arrived) {
  atomic_fetch_add(arrived, 1);
  AWAIT(atomic_load(arrived) == 2);
  return weft_worker_index();
}

WEFT_TASK_FAST(bool, meet_both, bool, by_three) {
  atomic_uint arrived = 0;
  int here, there;
  if (by_three) {
    meet_task other;
    WEFT_FORK(meet, &other, &arrived);
    here = WEFT_CALL(meet, &arrived);
    there = WEFT_JOIN(meet, &other);
  } else {
    WEFT_BOTH(here, (meet, &arrived), there, (meet, &arrived));
  }
  return here != there;
}

static void meet_in_pool(void *ctx) {
  (void)ctx;
  CHECK(meet_both(false));
  CHECK(meet_both(true));
}

TEST(long_calls_run_at_the_same_time) {
  weft_pool *pool = pool_of(2);
  for (unsigned long i = 0; i < scaled(500); i++) weft_pool_run(pool, meet_in_pool, NULL);
  weft_pool_destroy(pool);
  REQUIRE(weft_init(&(weft_config){.struct_size = sizeof(weft_config), .threads = 2}) ==
          0);
  for (unsigned long i = 0; i < scaled(500); i++) meet_in_pool(NULL); /* outside */
  weft_shutdown();
}

/* ---- regions ---- */

WEFT_TASK_FAST(bool, is_in, weft_scope *, scope) {
  return weft_scope_current() == scope;
}

WEFT_TASK_FAST(void, spawn_one, weft_scope *, scope, unsigned char *, own) {
  weft_spawn(scope, mark, own);
}

WEFT_TASK_FAST(void, fork_in_scope, int, rounds) {
  unsigned char marks[64] = {0};
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < rounds; i++) {
    bool first, second;
    WEFT_BOTH(first, (is_in, &scope), second, (is_in, &scope));
    CHECK(first && second);
    spawn_one_task b;
    WEFT_FORK(spawn_one, &b, &scope, &marks[i]);
    WEFT_JOIN(spawn_one, &b);
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  check_marks(marks, (size_t)rounds, 1);
}

static void fork_in_scopes(void *ctx) {
  (void)ctx;
  fork_in_scope(64);
}

TEST(forked_calls_are_in_the_scope_around) {
  for (unsigned long i = 0; i < scaled(20); i++) in_pools(fork_in_scopes, NULL);
  for (unsigned long i = 0; i < scaled(100); i++) fork_in_scopes(NULL);
  weft_shutdown();
}

/* A scope of another pool: the forks stay where the body was called. */
WEFT_TASK_FAST(weft_pool *, pool_here) {
  return weft_pool_current();
}

WEFT_TASK_FAST(void, fork_in_scope_of, weft_pool *, other) {
  weft_pool *home = weft_pool_current(), *first, *second;
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  opts.pool = other;
  for (int i = 0; i < 100; i++) {
    pool_here_task t;
    weft_scope_begin_with(&opts, &scope);
    CHECK_EQ(weft_pool_current(), other);
    WEFT_FORK(pool_here, &t);
    weft_spawn(&scope, do_nothing, NULL);
    WEFT_BOTH(first, (pool_here), second, (pool_here));
    (void)first, (void)second;
    first = WEFT_JOIN(pool_here, &t);
    CHECK(first == home || first == other);
    CHECK_EQ(weft_scope_end(&scope), 0);
    CHECK_EQ(weft_pool_current(), home);
  }
}

static void fork_between_pools(void *ctx) {
  fork_in_scope_of(ctx);
}

TEST(a_scope_of_another_pool_in_the_body) {
  weft_pool *home = pool_of(3), *other = pool_of(2);
  for (unsigned long i = 0; i < scaled(20); i++)
    weft_pool_run(home, fork_between_pools, other);
  weft_pool_destroy(home);
  weft_pool_destroy(other);
}

/* ---- misuse, where NDEBUG is not defined ---- */

WEFT_TASK_FAST(void, join_twice, int, unused) {
  fib_task a;
  (void)unused;
  WEFT_FORK(fib, &a, 3);
  (void)WEFT_JOIN(fib, &a);
  (void)WEFT_JOIN(fib, &a);
}

WEFT_TASK_FAST(void, join_in_wrong_order, int, unused) {
  fib_task a, b;
  (void)unused;
  WEFT_FORK(fib, &a, 3);
  WEFT_FORK(fib, &b, 3);
  (void)WEFT_JOIN(fib, &a);
  (void)WEFT_JOIN(fib, &b);
}

WEFT_TASK_FAST(void, forget_to_join, int, unused) {
  static fib_task a;
  (void)unused;
  WEFT_FORK(fib, &a, 3);
}

typedef void misuse(int unused);

static void run_misuse(void *ctx) {
  (*(misuse **)ctx)(0);
}

static void misuse_in_pool(misuse *fn, unsigned threads) {
  weft_pool_run(pool_of(threads), run_misuse, &fn);
}

TEST_BY_NAME(fast_joined_twice) {
  misuse_in_pool(join_twice, 1);
}
TEST_BY_NAME(fast_joined_twice_in_a_busy_pool) {
  misuse_in_pool(join_twice, 4);
}
TEST_BY_NAME(fast_joined_twice_outside) {
  join_twice(0);
}
TEST_BY_NAME(fast_wrong_order) {
  misuse_in_pool(join_in_wrong_order, 1);
}
TEST_BY_NAME(fast_wrong_order_outside) {
  join_in_wrong_order(0);
}
TEST_BY_NAME(fast_forgotten) {
  misuse_in_pool(forget_to_join, 1);
}

static void check_told(const char *test, const char *expected) {
  char output[8192];
  int status = harness_run_self("ulimit -c 0;", test, output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT, "%s: status %d", test, status);
  CHECK_MSG(strstr(output, expected) != NULL, "%s: %s", test, output);
}

TEST(misuse_is_told) {
  check_told("fast_joined_twice", "WEFT_JOIN(fib): the task has been joined already");
  check_told("fast_joined_twice_in_a_busy_pool", "WEFT_JOIN(fib): the task has been");
  check_told("fast_joined_twice_outside", "WEFT_JOIN(fib): the task has been joined");
  check_told("fast_wrong_order", "WEFT_JOIN(fib): forks and joins");
  check_told("fast_wrong_order_outside", "WEFT_JOIN(fib): forks and joins");
  check_told("fast_forgotten", "weft_pool_run: the function has left forks");
}
