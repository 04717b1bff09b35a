/* WEFT_LOOP and WEFT_TRY_LOOP (weft/typed_loop.h) against the serial loops that they
 * replace: every number of arguments, every index once, ranges, options, the error of the
 * lowest index, cancellation, misuse.
 *
 * SPDX-License-Identifier: MIT */
#include "par/loop/everywhere.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- every index once ---- */

WEFT_LOOP(touch, i, unsigned char *, marks) {
  marks[i]++;
}

/* All lengths up to 70, then those of LENGTHS: as many as there are. */
static size_t length_of(size_t number) {
  if (number <= 70) return number;
  return number - 71 < LENGTHS_COUNT ? LENGTHS[number - 71] : SIZE_MAX;
}

static void mark_all(void *ctx) {
  (void)ctx;
  for (size_t k = 0; length_of(k) != SIZE_MAX; k++) {
    size_t n = length_of(k);
    unsigned char *marks = marks_of(n);
    weft_opts opts = option_set((unsigned)k % OPTION_SETS);
    touch(n, marks);
    check_marks(marks, n, 1);
    if (n <= 70000)
      touch_with(&opts, n, marks);
    else
      touch_with(NULL, n, marks);
    check_marks(marks, n, 1);
    free(marks);
  }
}

TEST(every_index_once) {
  everywhere(mark_all, NULL);
}

static void mark_ranges(void *ctx) {
  enum { N = 40 };
  unsigned char marks[N];
  (void)ctx;
  for (size_t begin = 0; begin <= N; begin++)
    for (size_t end = 0; end <= N; end++) {
      weft_opts opts = option_set((unsigned)(begin + end) % OPTION_SETS);
      memset(marks, 0, N);
      touch_range(begin, end, marks);
      touch_range_with(&opts, begin, end, marks);
      for (size_t i = 0; i < N; i++)
        if (!CHECK_EQ(marks[i], i >= begin && i < end ? 2 : 0)) return;
    }
}

TEST(ranges_of_indices) {
  everywhere(mark_ranges, NULL);
}

WEFT_LOOP(sum_far, i, atomic_size_t *, sum) {
  atomic_fetch_add(sum, i);
}

TEST(a_range_may_end_at_the_largest_index) {
  atomic_size_t sum = 0;
  sum_far_range(SIZE_MAX - 2, SIZE_MAX, &sum);
  CHECK_EQ(atomic_load(&sum), SIZE_MAX - 2 + (SIZE_MAX - 1));
  sum_far_range(SIZE_MAX, 0, &sum); /* empty */
  CHECK_EQ(atomic_load(&sum), SIZE_MAX - 2 + (SIZE_MAX - 1));
  weft_shutdown();
}

/* ---- arguments ---- */

static atomic_size_t seen;

WEFT_LOOP(take0, i) {
  atomic_fetch_add(&seen, i);
}
WEFT_LOOP(take1, i, size_t, a) {
  atomic_fetch_add(&seen, i + a);
}
WEFT_LOOP(take2, i, size_t, a, char, b) {
  atomic_fetch_add(&seen, i + a * (size_t)b);
}
WEFT_LOOP(take3, i, size_t, a, char, b, float, c) {
  atomic_fetch_add(&seen, i + a * (size_t)b + (size_t)c);
}
WEFT_LOOP(take4, i, size_t, a, char, b, float, c, const char *, d) {
  atomic_fetch_add(&seen, i + a * (size_t)b + (size_t)c + strlen(d));
}
struct pair {
  size_t first, second;
};
WEFT_LOOP(take5, i, size_t, a, char, b, float, c, const char *, d, struct pair, e) {
  atomic_fetch_add(&seen, i + a * (size_t)b + (size_t)c + strlen(d) + e.second);
}
WEFT_LOOP(take6, i, size_t, a, char, b, float, c, const char *, d, struct pair, e,
          const size_t, f) {
  atomic_fetch_add(&seen, i + a * (size_t)b + (size_t)c + strlen(d) + e.second + f);
}
typedef size_t (*combine)(size_t, size_t);
WEFT_LOOP(take7, i, size_t, a, char, b, float, c, const char *, d, struct pair, e,
          const size_t, f, combine, g) {
  atomic_fetch_add(&seen, g(i + a * (size_t)b, (size_t)c + strlen(d) + e.second + f));
}
typedef const size_t (*table)[2];
WEFT_LOOP(take8, i, size_t, a, char, b, float, c, const char *, d, struct pair, e,
          const size_t, f, combine, g, table, h) {
  size_t rest = (size_t)c + strlen(d) + e.second + f;
  atomic_fetch_add(&seen, g(i + a * (size_t)b, rest + h[i % 2][1]));
}

static size_t add(size_t a, size_t b) {
  return a + b;
}

static size_t seen_now(void) {
  return atomic_exchange(&seen, 0);
}

TEST(zero_to_eight_arguments) {
  static const size_t cells[2][2] = {{1, 5}, {2, 7}};
  struct pair e = {9, 11};
  take0(10);
  CHECK_EQ(seen_now(), 45);
  take1(10, 2);
  CHECK_EQ(seen_now(), 45 + 20);
  take2(10, 2, 3);
  CHECK_EQ(seen_now(), 45 + 60);
  take3(10, 2, 3, 4.5f);
  CHECK_EQ(seen_now(), 45 + 100);
  take4(10, 2, 3, 4.5f, "abc");
  CHECK_EQ(seen_now(), 45 + 130);
  take5(10, 2, 3, 4.5f, "abc", e);
  CHECK_EQ(seen_now(), 45 + 240);
  take6(10, 2, 3, 4.5f, "abc", e, 1);
  CHECK_EQ(seen_now(), 45 + 250);
  take7(10, 2, 3, 4.5f, "abc", e, 1, add);
  CHECK_EQ(seen_now(), 45 + 250);
  take8_range(0, 10, 2, 3, 4.5f, "abc", e, 1, add, cells);
  CHECK_EQ(seen_now(), 45 + 250 + 60);
  void (*pointer)(size_t, size_t) = take1; /* an ordinary function */
  pointer(10, 2);
  CHECK_EQ(seen_now(), 65);
  weft_shutdown();
}

/* The argument is the body's own, at each index anew. */
WEFT_LOOP(count_down, i, size_t, left, size_t *, steps) {
  while (left > i % 3) left--, steps[i]++;
}

TEST(a_body_may_change_its_arguments) {
  size_t steps[100] = {0};
  count_down(100, 10, steps);
  for (size_t i = 0; i < 100; i++) CHECK_EQ(steps[i], 10 - i % 3);
  weft_shutdown();
}

/* ---- bodies ---- */

WEFT_LOOP(even_only, i, unsigned char *, marks) {
  if (i % 2 == 1) return;
  marks[i]++;
}

/* A body with setjmp cannot be inlined, but compiles. */
WEFT_LOOP(jump, i, unsigned char *, marks) {
  jmp_buf back;
  if (setjmp(back) == 0) longjmp(back, 1);
  marks[i]++;
}

TEST(bodies_that_return_early_or_jump) {
  unsigned char marks[1000] = {0};
  even_only(1000, marks);
  for (size_t i = 0; i < 1000; i++) CHECK_EQ(marks[i], i % 2 == 0);
  memset(marks, 0, sizeof marks);
  jump(1000, marks);
  check_marks(marks, 1000, 1);
  weft_shutdown();
}

/* The loop calls itself: halves of halves, then a loop over loops of other kinds. */
WEFT_LOOP(inner, i, unsigned char *, marks) {
  marks[i]++;
}
WEFT_LOOP(outer, row, unsigned char *, marks, size_t, cols) {
  inner_range(row * cols, row * cols + cols, marks);
}
static void nest_again(size_t depth, unsigned char *marks, size_t n);
WEFT_LOOP(nest, i, size_t, depth, unsigned char *, marks, size_t, n) {
  nest_again(depth, marks + i * (n / 2), n / 2);
}
static void nest_again(size_t depth, unsigned char *marks, size_t n) {
  if (depth > 0)
    nest(2, depth - 1, marks, n);
  else
    inner(n, marks);
}

static void run_nested(void *ctx) {
  enum { N = 64 * 256 };
  unsigned char *marks = marks_of(N);
  (void)ctx;
  outer(64, marks, 256);
  check_marks(marks, N, 1);
  nest_again(6, marks, N);
  check_marks(marks, N, 1);
  free(marks);
}

TEST(loops_inside_of_loops) {
  everywhere(run_nested, NULL);
}

static void *run_from_thread(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(20); i++) run_nested(NULL);
  return NULL;
}

TEST(loops_from_several_threads_at_once) {
  pthread_t threads[4];
  for (unsigned i = 0; i < 4; i++)
    REQUIRE(pthread_create(&threads[i], NULL, run_from_thread, NULL) == 0);
  for (unsigned i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  weft_shutdown();
}

/* ---- errors ---- */

WEFT_TRY_LOOP(try_each, i, const int *, errors, atomic_uint *, ran) {
  atomic_fetch_add(&ran[i], 1);
  return errors[i];
}

/* Everything up to the lowest error ran once, and what is behind at most once. */
static void check_errors(size_t n, const int *errors, const weft_opts *opts) {
  atomic_uint *ran = calloc(n + 1, sizeof *ran);
  REQUIRE(ran != NULL);
  size_t failing = 0;
  while (failing < n && errors[failing] == 0) failing++;
  CHECK_EQ(try_each_with(opts, n, errors, ran), failing < n ? errors[failing] : 0);
  for (size_t i = 0; i < n; i++) {
    unsigned times = atomic_load(&ran[i]);
    if (!CHECK(i <= failing ? times == 1 : times <= 1)) break;
  }
  free(ran);
}

static void try_random(void *ctx) {
  uint64_t random = harness_seed();
  (void)ctx;
  for (unsigned long round = 0; round < scaled(1500); round++) {
    int errors[300] = {0};
    size_t n = (size_t)(harness_random(&random) % 300);
    uint64_t count = harness_random(&random) % 6;
    for (uint64_t e = 0; e < count && n > 0; e++)
      errors[harness_random(&random) % n] = (int)(harness_random(&random) % 9) - 4;
    weft_opts opts = option_set((unsigned)round % OPTION_SETS);
    check_errors(n, errors, round % 2 == 0 ? NULL : &opts);
  }
}

TEST(the_error_of_the_lowest_index) {
  everywhere(try_random, NULL);
}

TEST(errors_in_a_range) {
  int errors[20] = {0};
  atomic_uint ran[20] = {0};
  errors[3] = 3, errors[7] = 7, errors[12] = 12;
  CHECK_EQ(try_each(20, errors, ran), 3);
  CHECK_EQ(try_each_range(4, 20, errors, ran), 7);
  CHECK_EQ(try_each_range(8, 12, errors, ran), 0);
  CHECK_EQ(try_each_range(12, 4, errors, ran), 0);
  CHECK_EQ(try_each_range_with(NULL, 8, 20, errors, ran), 12);
  weft_shutdown();
}

/* An error at the start of a range that would take for ever. */
WEFT_TRY_LOOP(fail_at_once, i, size_t, where) {
  return i == where ? 5 : 0;
}

static void stop_early(void *ctx) {
  (void)ctx;
  CHECK_EQ(fail_at_once(SIZE_MAX, 1000), 5);
}

TEST(a_failed_loop_stops_early) {
  for (unsigned i = 0; i < 2; i++) { /* others begin elsewhere and must see the error */
    weft_pool *pool = pool_of(1 + i);
    weft_opts opts = opts_on(pool);
    opts.max_len = 1 << 16;
    CHECK_EQ(fail_at_once_with(&opts, SIZE_MAX, 1000), 5);
    weft_pool_run(pool, stop_early, NULL);
    weft_pool_destroy(pool);
  }
}

/* ---- cancellation ---- */

enum { CANCELLED_LENGTH = 400 };

WEFT_LOOP(cancel_at, i, weft_scope *, scope, size_t, when, unsigned char *, marks) {
  marks[i]++;
  if (i == when) weft_scope_cancel(scope, 5);
}
WEFT_TRY_LOOP(try_cancel_at, i, weft_scope *, scope, size_t, when) {
  if (i == when) weft_scope_cancel(scope, 5);
  return 0;
}

static void cancel_everywhere(void *ctx) {
  (void)ctx;
  for (size_t when = 0; when < CANCELLED_LENGTH; when++) {
    unsigned char marks[CANCELLED_LENGTH] = {0};
    weft_opts opts = option_set((unsigned)when % OPTION_SETS);
    weft_scope scope;
    weft_scope_begin(&scope);
    opts.cancel = &scope;
    cancel_at_with(&opts, CANCELLED_LENGTH, &scope, when, marks);
    CHECK_EQ(marks[when], 1);
    for (size_t i = 0; i < CANCELLED_LENGTH; i++) CHECK(marks[i] <= 1);
    memset(marks, 0, sizeof marks);
    touch_with(&opts, CANCELLED_LENGTH, marks); /* cancelled already */
    check_marks(marks, CANCELLED_LENGTH, 0);
    CHECK_EQ(weft_scope_end(&scope), 5);
    weft_scope_begin(&scope);
    CHECK_EQ(try_cancel_at_with(&opts, CANCELLED_LENGTH, &scope, when), WEFT_ECANCELED);
    CHECK_EQ(weft_scope_end(&scope), 5);
  }
}

TEST(cancelled_at_each_index) {
  everywhere(cancel_everywhere, NULL);
}

/* ---- misuse ---- */

WEFT_LOOP(my_loop, i, int *, a) {
  a[i] = 0;
}
WEFT_TRY_LOOP(my_try_loop, i, const int *, a) {
  return a[i];
}
WEFT_SUM_LOOP(my_sum, int, i, const int *, a) {
  return a[i];
}
WEFT_LOOP_2D(my_cells, r, c, int *, a) {
  a[r + c] = 0;
}

static void misuse_loop(const weft_opts *o) {
  int a[2] = {0};
  my_loop_with(o, 2, a);
}
static void misuse_try_loop(const weft_opts *o) {
  int a[2] = {0};
  my_try_loop_with(o, 2, a);
}
static void misuse_sum(const weft_opts *o) {
  int a[2] = {0};
  my_sum_with(o, 2, a);
}
static void misuse_cells(const weft_opts *o) {
  int a[2] = {0};
  my_cells_with(o, 1, 1, a);
}

static const struct {
  const char *text;
  void (*fn)(const weft_opts *o);
} MISUSES[] = {{"weft: my_loop: ", misuse_loop},
               {"weft: my_try_loop: ", misuse_try_loop},
               {"weft: my_sum: ", misuse_sum},
               {"weft: my_cells: ", misuse_cells}};

TEST(a_message_names_the_loop) {
  for (unsigned i = 0; i < sizeof MISUSES / sizeof MISUSES[0]; i++) {
    char text[200] = "";
    int ends[2], status;
    REQUIRE(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
      weft_opts opts = WEFT_OPTS_INIT;
      opts.struct_size = 0;
      dup2(ends[1], 2);
      MISUSES[i].fn(&opts);
      _exit(0);
    }
    close(ends[1]);
    for (size_t got = 0; got + 1 < sizeof text;) {
      ssize_t more = read(ends[0], text + got, sizeof text - 1 - got);
      if (more <= 0) break;
      got += (size_t)more;
    }
    close(ends[0]);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK_MSG(strncmp(text, MISUSES[i].text, strlen(MISUSES[i].text)) == 0, "%s", text);
  }
}
