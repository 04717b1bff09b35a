/* What happens when a handle's function has returned: functions that follow, descriptors
 * that are written to, functions that are called. Each exactly once, whether it was asked
 * for early or late, from whichever thread, and whatever becomes of the handle.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#endif

/* ---- functions that follow ---- */

typedef struct chain {
  weft_pool *pool;
  unsigned step; /* plain: each function sees the one before */
  atomic_ulong followed;
} chain;

static void first_step(void *ctx) {
  chain *c = ctx;
  CHECK_EQ(c->step, 0);
  c->step = 1;
}

static void next_step(void *ctx) {
  chain *c = ctx;
  CHECK_EQ(c->step, 1);
  CHECK_EQ(weft_pool_current(), c->pool);
  CHECK(weft_worker_index() >= 0);
  atomic_fetch_add(&c->followed, 1);
}

enum { EARLY, LATE, WAIT_FIRST };

static void follow(weft_pool *pool, weft_lane lane, int when, unsigned followers) {
  chain c = {.pool = pool};
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  opts.lane = lane;
  CHECK_EQ(weft_async_with(&opts, &handle, first_step, &c), 0);
  if (when == LATE) AWAIT(weft_handle_done(handle));
  for (unsigned i = 0; i < followers; i++)
    CHECK_EQ(weft_handle_then(handle, next_step, &c), 0);
  if (when == WAIT_FIRST)
    CHECK_EQ(weft_handle_wait(handle), 0);
  else
    weft_handle_drop(handle); /* with functions that are yet to follow */
  AWAIT(atomic_load(&c.followed) == followers);
}

TEST(functions_follow_exactly_once) {
  static const unsigned sizes[] = {1, 2, 3, 8, 64};
  for (unsigned s = 0; s < 5; s++) {
    weft_pool *pool = pool_of(sizes[s]);
    for (unsigned long i = 0; i < scaled(200); i++)
      for (int when = EARLY; when <= WAIT_FIRST; when++) {
        follow(pool, WEFT_LANE_NORMAL, when, 1 + (unsigned)i % 4);
        follow(pool, WEFT_LANE_BACKGROUND, when, 1);
      }
    weft_pool_destroy(pool);
  }
}

/* They are queued in the order in which they were asked for. */
typedef struct line {
  unsigned next; /* of one thread alone */
} line;

typedef struct in_line {
  line *of;
  unsigned number;
} in_line;

static void check_turn(void *ctx) {
  const in_line *self = ctx;
  CHECK_EQ(self->of->next++, self->number);
}

TEST(functions_follow_in_order) {
  weft_pool *pool = pool_of(1); /* one started thread */
  weft_opts opts = opts_on(pool);
  for (int late = 0; late <= 1; late++) {
    line all = {0};
    in_line members[50];
    gate hold = {0};
    weft_handle *handle;
    CHECK_EQ(weft_async_with(&opts, &handle, gate_pass, &hold), 0);
    if (late) gate_open(&hold);
    if (late) AWAIT(weft_handle_done(handle));
    for (unsigned i = 0; i < 50; i++) {
      members[i] = (in_line){&all, i};
      CHECK_EQ(weft_handle_then(handle, check_turn, &members[i]), 0);
    }
    gate_open(&hold);
    weft_handle_drop(handle);
    weft_pool_wait_idle(pool);
    CHECK_EQ(all.next, 50);
  }
  weft_pool_destroy(pool);
}

/* A chain of handles, each started by the function that follows on the one before. */
typedef struct relay {
  unsigned left;
  atomic_bool done;
} relay;

static void run_lap(void *ctx) {
  relay *self = ctx;
  self->left--;
}

static void next_lap(void *ctx) {
  relay *self = ctx;
  weft_handle *handle;
  if (self->left == 0) {
    atomic_store(&self->done, true);
    return;
  }
  CHECK_EQ(weft_async(&handle, run_lap, self), 0);
  CHECK_EQ(weft_handle_then(handle, next_lap, self), 0);
  weft_handle_drop(handle);
}

TEST(a_chain_of_handles) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    relay self = {.left = (unsigned)scaled(3000)};
    weft_pool_run(pool, next_lap, &self);
    AWAIT(atomic_load(&self.done));
    weft_pool_wait_idle(pool);
    weft_pool_destroy(pool);
  }
}

/* Functions that follow join, spawn, and wait for handles. */
static void busy_step(void *ctx) {
  unsigned char marks[4] = {0};
  weft_handle *handle;
  weft_scope scope;
  check_tree(4);
  weft_scope_begin(&scope);
  for (int i = 0; i < 3; i++) weft_spawn(&scope, mark, &marks[i]);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(weft_async(&handle, mark, &marks[3]), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  check_marks(marks, 4, 1);
  count_one(ctx);
}

static void follow_busily(void *ctx) {
  for (unsigned long i = 0; i < scaled(100); i++) {
    weft_handle *handle;
    CHECK_EQ(weft_async(&handle, busy_step, ctx), 0);
    CHECK_EQ(weft_handle_then(handle, busy_step, ctx), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
  }
}

TEST(functions_that_follow_may_do_everything) {
  atomic_ulong ran = 0;
  in_pools(follow_busily, &ran);
  CHECK_EQ(atomic_load(&ran), 4 * 2 * 2 * 2 * scaled(100));
}

/* The pool ends with functions that are yet to follow. */
TEST(the_end_runs_what_follows) {
  for (unsigned long i = 0; i < scaled(200); i++) {
    chain c = {.step = 0};
    c.pool = pool_of(2);
    weft_opts opts = opts_on(c.pool);
    weft_handle *handle;
    CHECK_EQ(weft_async_with(&opts, &handle, first_step, &c), 0);
    CHECK_EQ(weft_handle_then(handle, next_step, &c), 0);
    weft_handle_drop(handle);
    weft_pool_destroy(c.pool);
    CHECK_EQ(atomic_load(&c.followed), 1);
  }
}

/* ---- functions that are called ---- */

typedef struct report {
  weft_handle *handle;
  pthread_t of_function;
  atomic_uint calls; /* a late one may come while others are made */
} report;

static void note_thread(void *ctx) {
  ((report *)ctx)->of_function = pthread_self();
}

static void be_called(void *ctx) {
  report *self = ctx;
  CHECK(pthread_equal(self->of_function, pthread_self()));
  atomic_fetch_add(&self->calls, 1);
}

TEST(called_on_the_thread_of_the_function) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    weft_opts opts = opts_on(pool);
    for (unsigned long i = 0; i < scaled(1000); i++) {
      gate plug = {0};
      report self = {0};
      if (i % 2 == 0) plug_threads(&plug, pool);
      CHECK_EQ(weft_async_with(&opts, &self.handle, note_thread, &self), 0);
      /* If the function has returned, the call is made here instead. */
      if (i % 2 == 0)
        for (int n = 0; n < 3; n++)
          CHECK_EQ(weft_handle_on_done(self.handle, be_called, &self), 0);
      CHECK_EQ(weft_handle_wait(self.handle), 0);
      CHECK_EQ(atomic_load(&self.calls), i % 2 == 0 ? 3 : 0);
      if (i % 2 == 0) unplug(&plug);
    }
    weft_pool_destroy(pool);
  }
}

static void count_call(void *ctx) {
  atomic_fetch_add(&((report *)ctx)->calls, 1);
}

/* A wait returns when all calls have been made, so what they use may go. */
static void race_with_calls(weft_pool *pool) {
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(3000); i++) {
    report self = {0}; /* on the stack */
    CHECK_EQ(weft_async_with(&opts, &self.handle, do_nothing, NULL), 0);
    spin((unsigned)(i % 100));
    CHECK_EQ(weft_handle_on_done(self.handle, count_call, &self), 0);
    CHECK_EQ(weft_handle_on_done(self.handle, count_call, &self), 0);
    switch (i % 4) {
    case 0:
      CHECK_EQ(weft_handle_wait(self.handle), 0);
      break;
    case 1:
      CHECK_EQ(weft_handle_wait_for(self.handle, UINT64_MAX), 0);
      break;
    case 2:
      CHECK_EQ(weft_handle_wait_all(&self.handle, 1), 0);
      break;
    default:
      CHECK_EQ(weft_handle_wait_any(&self.handle, 1), 0);
      CHECK_EQ(weft_handle_wait(self.handle), 0);
    }
    CHECK_EQ(atomic_load(&self.calls), 2);
  }
}

TEST(waits_return_after_the_calls) {
  for (unsigned threads = 1; threads <= 3; threads++) {
    weft_pool *pool = pool_of(threads);
    race_with_calls(pool);
    weft_pool_destroy(pool);
  }
}

/* The function that is called frees the handle, by waiting or by dropping it. */
typedef struct owner {
  weft_handle *handle;
  atomic_bool waits, freed;
  gate hold;
} owner;

static void hold_and_pass(void *ctx) {
  gate_pass(&((owner *)ctx)->hold);
}

static void free_handle(void *ctx) {
  owner *self = ctx;
  CHECK(weft_handle_done(self->handle));
  if (atomic_load(&self->waits))
    CHECK_EQ(weft_handle_wait(self->handle), 0);
  else
    weft_handle_drop(self->handle);
  atomic_store(&self->freed, true);
}

TEST(a_function_that_is_called_frees_the_handle) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(500); i++) {
    owner self = {.waits = i % 2 == 0};
    CHECK_EQ(weft_async_with(&opts, &self.handle, hold_and_pass, &self), 0);
    CHECK_EQ(weft_handle_on_done(self.handle, free_handle, &self), 0);
    gate_open(&self.hold);
    AWAIT(atomic_load(&self.freed));
  }
  weft_pool_destroy(pool);
}

/* ---- descriptors ---- */

static uint64_t read_number(int fd) {
  uint64_t number = 0;
  CHECK_EQ(read(fd, &number, sizeof number), (ssize_t)sizeof number);
  return number;
}

static bool is_readable(int fd) {
  struct pollfd look = {.fd = fd, .events = POLLIN};
  return poll(&look, 1, 0) == 1;
}

static void tell_pipe(weft_pool *pool, bool late) {
  int ends[2];
  gate hold = {0};
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  REQUIRE(pipe(ends) == 0);
  if (late) gate_open(&hold);
  CHECK_EQ(weft_async_with(&opts, &handle, gate_pass, &hold), 0);
  if (late) AWAIT(weft_handle_done(handle));
  CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
  CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
  CHECK_EQ(is_readable(ends[0]), late);
  gate_open(&hold);
  CHECK_EQ(read_number(ends[0]), 1); /* blocks until it comes */
  CHECK(weft_handle_done(handle));
  CHECK_EQ(read_number(ends[0]), 1);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK(!is_readable(ends[0]));
  close(ends[0]);
  close(ends[1]);
}

TEST(a_pipe_is_told) {
  weft_pool *pool = pool_of(2);
  for (unsigned long i = 0; i < scaled(100); i++) {
    tell_pipe(pool, false);
    tell_pipe(pool, true);
  }
  weft_pool_destroy(pool);
}

/* The descriptor is closed as soon as the handle was waited for: nothing comes later. */
TEST(nothing_is_written_after_the_wait) {
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  for (unsigned long i = 0; i < scaled(1000); i++) {
    int ends[2];
    weft_handle *handle;
    REQUIRE(pipe(ends) == 0);
    CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
    CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
    close(ends[1]);
    CHECK_EQ(read_number(ends[0]), 1);
    CHECK_EQ(read(ends[0], &(char){0}, 1), 0); /* the end, and not a byte more */
    close(ends[0]);
  }
  weft_pool_destroy(pool);
}

#if defined(__linux__)
TEST(an_eventfd_adds_up) {
  enum { HANDLES = 200 };
  weft_pool *pool = pool_of(3);
  weft_opts opts = opts_on(pool);
  int fd = eventfd(0, EFD_NONBLOCK);
  REQUIRE(fd >= 0);
  for (int i = 0; i < HANDLES; i++) {
    weft_handle *handle;
    CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
    CHECK_EQ(weft_handle_notify(handle, fd), 0);
    weft_handle_drop(handle);
  }
  uint64_t total = 0;
  while (total < HANDLES) {
    struct pollfd look = {.fd = fd, .events = POLLIN};
    CHECK_EQ(poll(&look, 1, -1), 1);
    total += read_number(fd);
  }
  CHECK_EQ(total, HANDLES);
  weft_pool_wait_idle(pool);
  CHECK(!is_readable(fd));
  close(fd);
  weft_pool_destroy(pool);
}
#endif

/* A full pipe that does not block: nothing more is written, and nobody waits. */
TEST(a_full_pipe) {
  int ends[2];
  static char page[4096];
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  REQUIRE(pipe(ends) == 0);
  REQUIRE(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  size_t size = 0;
  for (size_t part = sizeof page; part > 0; part = part == sizeof page ? 1 : 0)
    while (write(ends[1], page, part) == (ssize_t)part) size += part;
  CHECK_EQ(errno, EAGAIN);
  CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
  CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK(is_readable(ends[0]));
  REQUIRE(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
  size_t got = 0;
  ssize_t more;
  while ((more = read(ends[0], page, sizeof page)) > 0) got += (size_t)more;
  CHECK_EQ(got, size);
  close(ends[0]);
  close(ends[1]);
  weft_pool_destroy(pool);
}

/* Nobody reads: no signal, on a thread of the pool or on one of the program. */
TEST(a_broken_pipe) {
  int ends[2];
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  sigset_t pending;
  REQUIRE(pipe(ends) == 0);
  close(ends[0]);
  signal(SIGPIPE, SIG_DFL); /* would end the program */
  for (int late = 0; late <= 1; late++) {
    CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
    if (late) AWAIT(weft_handle_done(handle));
    CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
    CHECK_EQ(weft_handle_wait(handle), 0);
    CHECK_EQ(sigpending(&pending), 0);
    CHECK_EQ(sigismember(&pending, SIGPIPE), 0);
  }
  /* One that was pending before stays. */
  sigset_t only, before;
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &only, &before) == 0);
  pthread_kill(pthread_self(), SIGPIPE);
  CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
  AWAIT(weft_handle_done(handle));
  CHECK_EQ(weft_handle_notify(handle, ends[1]), 0);
  CHECK_EQ(sigpending(&pending), 0);
  CHECK_EQ(sigismember(&pending, SIGPIPE), 1);
  int got;
  CHECK_EQ(sigwait(&only, &got), 0);
  REQUIRE(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
  weft_handle_drop(handle);
  close(ends[1]);
  weft_pool_destroy(pool);
}

/* ---- errors ---- */

TEST(errors) {
  atomic_ulong ran = 0;
  int ends[2];
  weft_handle *handle;
  CHECK_EQ(weft_handle_then(NULL, count_one, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_handle_on_done(NULL, count_one, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_handle_notify(NULL, 1), WEFT_EINVAL);
  REQUIRE(pipe(ends) == 0);
  CHECK_EQ(weft_async(&handle, do_nothing, NULL), 0);
  CHECK_EQ(weft_handle_then(handle, NULL, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_handle_on_done(handle, NULL, &ran), WEFT_EINVAL);
  CHECK_EQ(weft_handle_notify(handle, -1), WEFT_EINVAL);
  CHECK_EQ(weft_handle_notify(handle, ends[0]), WEFT_EINVAL); /* the reading end */
  close(ends[1]);
  CHECK_EQ(weft_handle_notify(handle, ends[1]), WEFT_EINVAL); /* closed */
  close(ends[0]);
  CHECK_EQ(weft_handle_wait(handle), 0);
  weft_shutdown();
  CHECK_EQ(atomic_load(&ran), 0);
}

/* ---- copies ---- */

typedef struct message {
  size_t size;
  unsigned char bytes[1000];
  size_t sum;
} message;

static void add_up(void *ctx) {
  message *own = ctx;
  CHECK_EQ((uintptr_t)own % _Alignof(max_align_t), 0);
  for (size_t i = 0; i < own->size; i++) own->sum += own->bytes[i];
}

TEST(copies) {
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  message sent = {.size = 1000};
  for (unsigned i = 0; i < 1000; i++) sent.bytes[i] = (unsigned char)i;
  for (unsigned long i = 0; i < scaled(200); i++) {
    weft_handle *handle;
    sent.size = i * 5 % 1001;
    CHECK_EQ(weft_async_copy_with(&opts, &handle, &sent, sizeof sent, add_up), 0);
    size_t expected = 0;
    for (size_t k = 0; k < sent.size; k++) expected += sent.bytes[k];
    sent.size = 0;
    CHECK_EQ(weft_handle_wait_any(&handle, 1), 0);
    message *result = weft_handle_args(handle);
    CHECK_EQ(result->sum, expected);
    CHECK_EQ(weft_handle_wait(handle), 0);
  }
  weft_handle *handle = (weft_handle *)(uintptr_t)1;
  CHECK_EQ(weft_async_copy(&handle, NULL, 1, add_up), WEFT_EINVAL);
  CHECK(handle == NULL);
  CHECK_EQ(weft_async_copy(NULL, NULL, 1, add_up), WEFT_EINVAL);
  CHECK_EQ(weft_async_copy_with(&opts, &handle, NULL, 0, do_nothing), 0);
  CHECK(weft_handle_args(handle) != NULL); /* of no bytes */
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK_EQ(weft_async_copy_with(&opts, &handle, &sent, SIZE_MAX - 8, do_nothing),
           WEFT_ENOMEM);
  CHECK_EQ(weft_async_with(&opts, &handle, do_nothing, NULL), 0);
  CHECK(weft_handle_args(handle) == NULL);
  CHECK_EQ(weft_handle_wait(handle), 0);
  CHECK(weft_handle_args(NULL) == NULL);
  weft_pool_destroy(pool);
}
