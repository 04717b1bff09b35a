/* link: -Wl,--wrap=wf_sys_thread_yield */
/* A thread that waits, may not sleep because there seems to be something for it, and does
 * not get hold of that: it gives the CPU away between its looks. The thread whose
 * business it is may be waiting for just this CPU.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

static atomic_ulong yields; /* by the thread that waits */
static _Thread_local bool is_counted;

void __real_wf_sys_thread_yield(void);
void __wrap_wf_sys_thread_yield(void);

void __wrap_wf_sys_thread_yield(void) {
  if (is_counted) atomic_fetch_add(&yields, 1);
  __real_wf_sys_thread_yield();
}

/* More than any idle mode's patience has room for. */
enum { ENOUGH = 20000 };

typedef struct waiting {
  weft_scope scope;
  gate stops;
} waiting;

/* On a started thread. The scope has a task that is not through yet, and one, it says,
 * in the queue: as it is between the two steps by which another thread puts it there. */
static void wait_in_vain(void *ctx) {
  waiting *w = ctx;
  weft_scope_begin(&w->scope);
  weft_spawn(&w->scope, gate_pass, &w->stops);
  AWAIT(atomic_load(&w->stops.inside) == 1); /* another thread has it */
  wf_word_fetch_add_seq_cst(&w->scope.x_waiting, 1);
  is_counted = true;
  CHECK_EQ(weft_scope_end(&w->scope), 0);
  is_counted = false;
}

TEST(a_wait_that_is_kept_awake_yields) {
  weft_pool *pool = pool_of(3);
  waiting w = {.stops = {0}};
  started_call call = {.fn = wait_in_vain, .ctx = &w};
  REQUIRE(weft_pool_detach(pool, run_started_call, &call) == 0);
  AWAIT(atomic_load(&yields) >= ENOUGH);
  wf_word_fetch_sub_relaxed(&w.scope.x_waiting, 1);
  gate_open(&w.stops);
  AWAIT(atomic_load(&call.done));
  weft_pool_destroy(pool);
}
