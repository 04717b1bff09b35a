/* Handles across a fork: what was asked for before is the parent's and happens once; the
 * child waits for what nobody had begun by running it, and is told of what it cannot
 * have; limits and idle waits begin anew.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <poll.h>

typedef struct inherited {
  weft_pool *pool;
  weft_handle *handles[3];
  atomic_ulong ran, followed;
  int ends[2];
} inherited;

/* Three handles that nobody has begun, each with everything that can be asked for. */
static void make_handles(inherited *in) {
  weft_opts opts = opts_on(in->pool);
  REQUIRE(pipe(in->ends) == 0);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(weft_async_with(&opts, &in->handles[i], count_one, &in->ran), 0);
    CHECK_EQ(weft_handle_then(in->handles[i], count_one, &in->followed), 0);
    CHECK_EQ(weft_handle_on_done(in->handles[i], count_one, &in->followed), 0);
    CHECK_EQ(weft_handle_notify(in->handles[i], in->ends[1]), 0);
  }
}

/* The child runs them; what was asked for stays with the parent. What it asks for itself
 * is done. */
static bool wait_in_child(void *arg) {
  inherited *in = arg;
  atomic_ulong own = 0;
  bool right = weft_handle_wait_for(in->handles[0], 0) == WEFT_EBUSY &&
               weft_handle_wait_for(in->handles[0], 1) == 0 &&
               weft_handle_on_done(in->handles[1], count_one, &own) == 0 &&
               weft_handle_then(in->handles[1], count_one, &own) == 0 &&
               weft_handle_wait_any(in->handles + 1, 2) == 0 &&
               weft_handle_wait_all(in->handles + 1, 2) == 0 &&
               atomic_load(&in->ran) == 3 && atomic_load(&in->followed) == 0;
  weft_pool_wait_idle(in->pool);
  return right && atomic_load(&own) == 2;
}

TEST(what_was_asked_for_is_the_parents) {
  if (!children_may_start_threads()) return;
  for (unsigned threads = 1; threads <= 3; threads++) {
    gate plug = {0};
    inherited in = {.pool = pool_of(threads)};
    plug_threads(&plug, in.pool);
    make_handles(&in);
    CHECK_EQ(run_child(wait_in_child, &in), 0);
    struct pollfd look = {.fd = in.ends[0], .events = POLLIN};
    CHECK_EQ(poll(&look, 1, 0), 0); /* the child has written nothing */
    unplug(&plug);
    CHECK_EQ(weft_handle_wait_all(in.handles, 3), 0);
    weft_pool_wait_idle(in.pool);
    CHECK_EQ(atomic_load(&in.ran), 3);
    CHECK_EQ(atomic_load(&in.followed), 6);
    char bytes[64];
    CHECK_EQ(read(in.ends[0], bytes, sizeof bytes), 24);
    close(in.ends[0]);
    close(in.ends[1]);
    weft_pool_destroy(in.pool);
  }
}

/* The limit counts what waits in this process. */
static bool fill_in_child(void *arg) {
  weft_pool *pool = arg;
  gate plug = {0};
  atomic_ulong ran = 0;
  weft_pool_wait_idle(pool); /* nothing of the parent's */
  plug_threads(&plug, pool);
  bool right = weft_pool_detach(pool, count_one, &ran) == 0 &&
               weft_pool_detach(pool, count_one, &ran) == 0 &&
               weft_pool_detach(pool, count_one, &ran) == WEFT_EAGAIN;
  unplug(&plug);
  weft_pool_wait_idle(pool);
  return right && atomic_load(&ran) == 2;
}

TEST(the_limit_begins_anew) {
  if (!children_may_start_threads()) return;
  weft_config config = WEFT_CONFIG_INIT;
  gate plug = {0};
  atomic_ulong ran = 0;
  config.threads = 2;
  config.queue_limit = 2;
  weft_pool *pool = pool_with(&config);
  plug_threads(&plug, pool);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), 0);
  CHECK_EQ(run_child(fill_in_child, pool), 0);
  CHECK_EQ(weft_pool_detach(pool, count_one, &ran), WEFT_EAGAIN);
  unplug(&plug);
  weft_pool_wait_idle(pool);
  CHECK_EQ(atomic_load(&ran), 2);
  weft_pool_destroy(pool);
}

/* A handle's function forks: both processes come back from it. */
typedef struct forking {
  weft_pool *pool;
  atomic_ulong followed;
  pid_t child;
  atomic_bool forked;
} forking;

static void fork_and_return(void *ctx) {
  forking *f = ctx;
  f->child = fork_here();
  if (f->child == 0) _exit(0);
  atomic_store(&f->forked, true);
}

TEST(a_handles_function_forks) {
  if (!children_may_start_threads()) return;
  forking f = {.pool = pool_of(2)};
  weft_opts opts = opts_on(f.pool);
  weft_handle *handle;
  CHECK_EQ(weft_async_with(&opts, &handle, fork_and_return, &f), 0);
  CHECK_EQ(weft_handle_then(handle, count_one, &f.followed), 0);
  CHECK_EQ(weft_handle_wait_for(handle, UINT64_MAX), 0);
  CHECK(atomic_load(&f.forked));
  CHECK_EQ(wait_for_child(f.child), 0);
  weft_pool_wait_idle(f.pool);
  CHECK_EQ(atomic_load(&f.followed), 1);
  weft_pool_destroy(f.pool);
}

/* What another thread of the parent has begun never ends in the child. */
static bool wait_for_what_was_begun(void *arg) {
  weft_handle *handle = arg;
  weft_set_fatal_handler(NULL, NULL);
  weft_handle_wait_for(handle, UINT64_MAX);
  return true;
}

TEST(what_the_parent_has_begun_is_reported) {
  gate hold = {0};
  weft_pool *pool = pool_of(2);
  weft_opts opts = opts_on(pool);
  weft_handle *handle;
  CHECK_EQ(weft_async_with(&opts, &handle, gate_pass, &hold), 0);
  AWAIT(atomic_load(&hold.inside) == 1);
  CHECK(run_child(wait_for_what_was_begun, handle) != 0);
  gate_open(&hold);
  CHECK_EQ(weft_handle_wait(handle), 0);
  weft_pool_destroy(pool);
}
