/* link: -Wl,--wrap=pthread_atfork */
/* Pools that are made at the same moment, the first ones of a program: none of them may
 * be there before the fork handler is, or a child of that moment would take the pool's
 * threads for its own.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

static atomic_bool is_inside; /* of the registration */
static atomic_bool may_go_on;
static atomic_uint registered; /* weft asks for two, the portable layer for one more */

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                          void (*child)(void));
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                          void (*child)(void));

static volatile bool has_begun;

static __attribute__((noinline)) int
wait_and_register(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
  atomic_store(&is_inside, true);
  AWAIT(atomic_load(&may_go_on));
  int status = __real_pthread_atfork(prepare, parent, child);
  atomic_fetch_add(&registered, 1);
  return status;
}

/* ThreadSanitizer's own runtime makes such a call too, when instrumented code cannot run
 * yet. */
#if defined(__clang__)
__attribute__((disable_sanitizer_instrumentation))
#else
__attribute__((no_sanitize_thread))
#endif
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                          void (*child)(void)) {
  return has_begun ? wait_and_register(prepare, parent, child)
                   : __real_pthread_atfork(prepare, parent, child);
}

/* The last one gives the others time to come through before they may. */
static void make_a_pool(unsigned index, void *arg) {
  (void)arg;
  if (index == 3) {
    AWAIT(atomic_load(&is_inside));
    harness_linger(20000);
    atomic_store(&may_go_on, true);
    return;
  }
  weft_pool *pool = pool_of(2);
  CHECK(atomic_load(&registered) >= 2);
  weft_pool_destroy(pool);
}

TEST(no_pool_is_there_before_the_fork_handler) {
  has_begun = true;
  harness_run_threads(4, make_a_pool, NULL);
  CHECK(atomic_load(&registered) >= 2);
}
