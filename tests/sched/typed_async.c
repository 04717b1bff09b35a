/* Typed handles: every number of arguments and kind of result, with options and without,
 * waited for in every way; refused at the limit; used wrongly.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <signal.h>
#include <weft/typed_async.h>
#include <weft/typed_task.h>

typedef struct point {
  double x, y, z;
} point;

static atomic_uint plain_calls;

WEFT_ASYNC(void, note) {
  atomic_fetch_add(&plain_calls, 1);
}
WEFT_ASYNC(int, seven) {
  return 7;
}
WEFT_ASYNC(void, store, int *, to) {
  *to = 1;
}
WEFT_ASYNC(point, turned, point, p) {
  return (point){p.y, p.z, p.x};
}
WEFT_ASYNC(void, fill, char *, to, size_t, n) {
  memset(to, 'x', n);
}
WEFT_ASYNC(char, at, const char *, text, unsigned char, i) {
  return text[i];
}
WEFT_ASYNC(double, mixed3, char, a, double, b, float, c) {
  return a + b + (double)c;
}
WEFT_ASYNC(void *, pick, bool, second, void *, a, void *, b, int, unused) {
  (void)unused;
  return second ? b : a;
}
WEFT_ASYNC(long, five, char, a, short, b, int, c, long, d, long long, e) {
  return a + 10 * b + 100 * c + 1000 * d + 10000 * (long)e;
}
WEFT_ASYNC(long, more6, int, a, int, b, int, c, int, d, int, e, point, f) {
  return a + b + c + d + e + (long)f.z;
}

/* A function that is both: a task to fork, and one to start. */
WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task left;
  fib_fork(&left, n - 1);
  long right = fib(n - 2);
  return fib_join(&left) + right;
}
static WEFT_ASYNC_DECLARE(long, fib, long, n)

    /* One that is defined elsewhere. */
    static WEFT_ASYNC_DECLARE(unsigned long, length_of, const char *, text)

        static unsigned long length_of(const char *text) {
  return strlen(text);
}

static void use_all_forms(void *ctx) {
  int stored = 0, one = 1, two = 2;
  char text[8] = "";
  unsigned before = atomic_load(&plain_calls);
  note_handle h0;
  seven_handle h1;
  store_handle h2;
  turned_handle h3;
  fill_handle h4;
  at_handle h5;
  mixed3_handle h6;
  pick_handle h7;
  five_handle h8;
  more6_handle h9;
  fib_handle h10;
  length_of_handle h11;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.lane = WEFT_LANE_BACKGROUND;
  CHECK_EQ(note_async(&h0), 0);
  CHECK_EQ(seven_async(&h1), 0);
  CHECK_EQ(store_async(&h2, &stored), 0);
  CHECK_EQ(turned_async_with(&opts, &h3, (point){1, 2, 3}), 0);
  CHECK_EQ(fill_async(&h4, text, 4), 0);
  CHECK_EQ(at_async(&h5, "weft", 2), 0);
  CHECK_EQ(mixed3_async(&h6, 1, 2.5, 3.25F), 0);
  CHECK_EQ(pick_async(&h7, true, &one, &two, 0), 0);
  CHECK_EQ(five_async_with(NULL, &h8, 1, 2, 3, 4, 5), 0);
  CHECK_EQ(more6_async(&h9, 1, 2, 3, 4, 5, (point){0, 0, 6}), 0);
  CHECK_EQ(fib_async(&h10, 12), 0);
  CHECK_EQ(length_of_async(&h11, "weft"), 0);
  note_wait(h0);
  CHECK_EQ(atomic_load(&plain_calls), before + 1);
  CHECK_EQ(seven_wait(h1), 7);
  store_wait(h2);
  CHECK_EQ(stored, 1);
  point p = turned_wait(h3);
  CHECK(p.x == 2 && p.y == 3 && p.z == 1);
  CHECK_EQ(fill_wait_for(h4, UINT64_MAX), 0);
  CHECK_STR_EQ(text, "xxxx");
  CHECK_EQ(at_wait(h5), 'f');
  CHECK(mixed3_wait(h6) == 6.75);
  CHECK(pick_wait(h7) == &two);
  long number = 0;
  CHECK_EQ(five_wait_for(h8, UINT64_MAX, &number), 0);
  CHECK_EQ(number, 54321);
  CHECK_EQ(more6_wait(h9), 21);
  CHECK_EQ(fib_wait(h10), 144);
  CHECK_EQ(length_of_wait(h11), 4);
  CHECK_EQ(more6(1, 1, 1, 1, 1, (point){0, 0, 1}), 6); /* an ordinary function */
  (void)ctx;
}

static void use_all_often(void *ctx) {
  for (unsigned long i = 0; i < scaled(100); i++) use_all_forms(ctx);
}

TEST(all_forms) {
  in_pools(use_all_often, NULL);
  use_all_often(NULL);
  weft_shutdown();
}

/* ---- as ordinary handles ---- */

WEFT_ASYNC(unsigned, pass_gate, gate *, g, unsigned, number) {
  gate_pass(g);
  return number;
}

TEST(as_ordinary_handles) {
  weft_pool *pool = pool_of(4);
  weft_opts opts = opts_on(pool);
  gate holds[3] = {{0}};
  pass_gate_handle typed[3];
  weft_handle *handles[3];
  atomic_ulong followed = 0;
  unsigned number = 77;
  for (unsigned i = 0; i < 3; i++) {
    CHECK_EQ(pass_gate_async_with(&opts, &typed[i], &holds[i], i + 10), 0);
    CHECK_EQ(weft_handle_then(typed[i].handle, count_one, &followed), 0);
    handles[i] = typed[i].handle;
  }
  CHECK_EQ(pass_gate_wait_for(typed[1], 1000, &number), WEFT_EBUSY);
  CHECK_EQ(pass_gate_wait_for(typed[1], 0, &number), WEFT_EBUSY);
  CHECK_EQ(number, 77);
  gate_open(&holds[1]);
  CHECK_EQ(weft_handle_wait_any(handles, 3), 1);
  CHECK_EQ(pass_gate_wait_for(typed[1], 0, &number), 0);
  CHECK_EQ(number, 11);
  gate_open(&holds[0]);
  gate_open(&holds[2]);
  weft_handle_drop(typed[0].handle);
  CHECK_EQ(pass_gate_wait(typed[2]), 12);
  weft_pool_wait_idle(pool);
  CHECK_EQ(atomic_load(&followed), 3);
  weft_pool_destroy(pool);
}

TEST(refused_at_the_limit) {
  gate plug = {0};
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.queue_limit = 1;
  weft_pool *pool = pool_with(&config);
  weft_opts opts = opts_on(pool);
  seven_handle first, second;
  plug_threads(&plug, pool);
  CHECK_EQ(seven_async_with(&opts, &first), 0);
  CHECK_EQ(seven_async_with(&opts, &second), WEFT_EAGAIN);
  CHECK(second.handle == NULL);
  CHECK_EQ(seven_wait(first), 7);
  unplug(&plug);
  weft_pool_destroy(pool);
}

/* ---- misuse ---- */

TEST_BY_NAME(wait_for_a_refused_one) {
  seven_handle none = {NULL};
  CHECK_EQ(seven_wait(none), 7);
}

TEST(misuse_is_reported) {
  char output[4096];
  int status =
      harness_run_self("ulimit -c 0;", "wait_for_a_refused_one", output, sizeof output);
  CHECK_MSG(status == 128 + SIGABRT && strstr(output, "weft: seven_wait: ") != NULL,
            "ended with %d: %s", status, output);
}
