/* fork by a task while its thread keeps tasks that it has taken in a batch: the child
 * drops those, which are the parent's.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#include <sys/mman.h>

enum { THREADS = 12, TASKS = 3000, FORKS = 40 };

/* Shared by the processes. */
typedef struct counts {
  atomic_uint in_parent, in_children, forks, bad_ends;
} counts;

static counts *c;
static pid_t parent;
static _Thread_local bool spawns;

/* Ends the child before the leak check of the address sanitizer. That takes the locks of
 * the sanitizer's allocator, and fork copies them as they are (clang 14): if another
 * thread was allocating at that moment, the child waits for it for ever. Registered last,
 * so called first. */
static void end_child(void) {
  _exit(0);
}

/* The child of a fork returns: its thread ends there, and with it the process. */
static void run_or_fork(void *ctx) {
  if (getpid() != parent) {
    atomic_fetch_add(&c->in_children, 1);
    return;
  }
  atomic_fetch_add(&c->in_parent, 1);
  for (int i = 0; i < 200; i++) wf_sys_relax();
  if (spawns || (uintptr_t)ctx % 7 != 3 || atomic_fetch_add(&c->forks, 1) >= FORKS)
    return;
  pid_t child = fork();
  if (child == 0) atexit(end_child);
  if (child <= 0) return;
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0)
    atomic_fetch_add(&c->bad_ends, 1);
}

static void spawn_all(void *ctx) {
  (void)ctx;
  weft_scope scope;
  spawns = true;
  weft_scope_begin(&scope);
  for (uintptr_t i = 0; i < TASKS; i++) weft_spawn(&scope, run_or_fork, (void *)i);
  CHECK_EQ(weft_scope_end(&scope), 0);
  spawns = false;
}

TEST(a_child_drops_the_tasks_that_its_thread_has_kept) {
  c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(c != MAP_FAILED);
  parent = getpid();
  weft_pool *pool = pool_of(THREADS);
  weft_pool_run(pool, spawn_all, NULL);
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&c->in_parent), TASKS);
  CHECK_EQ(atomic_load(&c->in_children), 0);
  CHECK_EQ(atomic_load(&c->bad_ends), 0);
  munmap(c, sizeof *c);
}
