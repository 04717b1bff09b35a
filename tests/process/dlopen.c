/* Libraries that use weft and are loaded late: they can be unloaded with and without
 * shutting weft down, again and again, and the process goes on and ends as any other.
 *
 * This program itself has no weft: what it finds comes with the plugins. One is linked
 * against the shared libweft, the other has a copy of weft inside (see plugin/).
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"

#include "plugin/load.h"

#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3, MIB = 1024 };

static bool use_plugin(const plugin *calls) {
  bool right = CHECK_EQ(calls->tree(8), 256);
  right = CHECK_EQ(calls->scope(50), 50) && right;
  return CHECK_EQ(calls->worker_index(), -1) && right;
}

static unsigned cycles(void) {
  return 1000 / harness_slowdown();
}

/* Resident memory in KiB. */
static unsigned long resident(void) {
  unsigned long kib = 0;
  char line[256];
  FILE *file = fopen("/proc/self/status", "r");
  REQUIRE(file != NULL);
  while (fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmRSS: %lu", &kib) == 1) break;
  fclose(file);
  return kib;
}

/* Ends what earlier uses have left running. */
static void shut_down_both(void) {
  for (unsigned kind = 0; kind < PLUGIN_KINDS; kind++) {
    loaded l = load_plugin(kind);
    l.calls->shutdown();
    unload_plugin(&l);
  }
}

/* ---- cycles ---- */

static void cycle_with_shutdown(unsigned kind) {
  loaded l = load_plugin(kind);
  CHECK_EQ(l.calls->init(THREADS), 0);
  use_plugin(l.calls);
  l.calls->shutdown();
  unload_plugin(&l);
}

static void cycle_often_with_shutdown(unsigned kind) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < cycles() / 10; i++) cycle_with_shutdown(kind);
  unsigned long memory = resident();
  for (unsigned i = 0; i < cycles(); i++) {
    cycle_with_shutdown(kind);
    CHECK_EQ(harness_thread_count(), baseline);
  }
  /* Nothing is left that would need the code, or that grows. */
  CHECK(!plugin_is_there(kind));
  unsigned long now = resident();
  if (harness_slowdown() == 1)
    CHECK_MSG(now < memory + 8 * MIB, "%lu KiB before, %lu after", memory, now);
}

TEST(load_use_shut_down_unload_with_libweft) {
  cycle_often_with_shutdown(WITH_LIBWEFT);
}

TEST(load_use_shut_down_unload_with_a_copy) {
  cycle_often_with_shutdown(WITH_COPY);
}

/* Its threads go on, so the code that they run stays. The next time it is found again. */
static void cycle_often_without_shutdown(unsigned kind) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < cycles(); i++) {
    loaded l = load_plugin(kind);
    if (i == 0) CHECK_EQ(l.calls->init(THREADS), 0);
    use_plugin(l.calls);
    unload_plugin(&l);
    CHECK_EQ(harness_thread_count(), baseline + THREADS - 1);
  }
  loaded l = load_plugin(kind);
  CHECK_EQ(l.calls->thread_count(), THREADS);
  l.calls->shutdown();
  unload_plugin(&l);
  CHECK_EQ(harness_thread_count(), baseline);
  CHECK(!plugin_is_there(kind));
}

TEST(load_use_unload_with_libweft) {
  cycle_often_without_shutdown(WITH_LIBWEFT);
}

TEST(load_use_unload_with_a_copy) {
  cycle_often_without_shutdown(WITH_COPY);
}

TEST(load_and_unload_without_use) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < cycles(); i++) {
    loaded l = load_plugin(i % PLUGIN_KINDS);
    unload_plugin(&l);
  }
  CHECK_EQ(harness_thread_count(), baseline);
}

/* The threads have perhaps not run a single instruction when the library goes. */
TEST(unload_right_after_the_threads_were_started) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < cycles(); i++) {
    loaded l = load_plugin(i % PLUGIN_KINDS);
    CHECK_EQ(l.calls->init(THREADS), 0);
    unload_plugin(&l);
    l = load_plugin(i % PLUGIN_KINDS);
    l.calls->shutdown();
    unload_plugin(&l);
  }
  CHECK_EQ(harness_thread_count(), baseline);
}

/* ---- two plugins ---- */

/* The C library takes the thread-local memory of an unloaded library back only if it was
 * the last one to be loaded, and has room for some dozens; so what comes last goes first.
 */
TEST(both_plugins_in_turn) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < cycles() / 5; i++) {
    loaded first = load_plugin(i % 2), second = load_plugin((i + 1) % 2);
    CHECK(first.calls != second.calls);
    use_plugin(first.calls);
    use_plugin(second.calls);
    second.calls->shutdown();
    unload_plugin(&second);
    use_plugin(first.calls);
    first.calls->shutdown();
    unload_plugin(&first);
  }
  CHECK_EQ(harness_thread_count(), baseline);
}

/* A few times any order will do. */
TEST(both_plugins_in_any_order) {
  unsigned baseline = harness_thread_count();
  for (unsigned i = 0; i < 60; i++) {
    loaded first = load_plugin(i % 2), second = load_plugin((i + 1) % 2);
    use_plugin(first.calls);
    use_plugin(second.calls);
    if (i % 3 == 0) first.calls->shutdown();
    unload_plugin(&first);
    use_plugin(second.calls);
    if (i % 3 == 1) second.calls->shutdown();
    unload_plugin(&second);
  }
  shut_down_both();
  CHECK_EQ(harness_thread_count(), baseline);
}

/* ---- several threads ---- */

/* ThreadSanitizer does not see the lock that the dynamic linker has for this. */
static pthread_mutex_t linker_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_linker(bool lock) {
  if (!THREAD_SANITIZED) return;
  if (lock)
    pthread_mutex_lock(&linker_lock);
  else
    pthread_mutex_unlock(&linker_lock);
}

/* Each loads and unloads for itself; sometimes nobody has it open. */
static void cycle_on_thread(unsigned index, void *arg) {
  (void)arg;
  for (unsigned i = 0; i < cycles() / 10; i++) {
    lock_linker(true);
    loaded l = load_plugin((i + index) % PLUGIN_KINDS);
    lock_linker(false);
    use_plugin(l.calls);
    lock_linker(true);
    unload_plugin(&l);
    lock_linker(false);
  }
}

TEST(several_threads_load_and_unload) {
  unsigned baseline = harness_thread_count();
  harness_run_threads(4, cycle_on_thread, NULL);
  shut_down_both();
  CHECK_EQ(harness_thread_count(), baseline);
}

/* A thread that used a plugin and ends when it is gone: whatever the library keeps for a
 * thread must not call into it any more. */
typedef struct survivor {
  const plugin *calls;
  atomic_bool used, unloaded;
} survivor;

static void *use_and_survive(void *arg) {
  survivor *self = arg;
  use_plugin(self->calls);
  atomic_store(&self->used, true);
  while (!atomic_load(&self->unloaded)) sched_yield();
  return NULL;
}

TEST(threads_survive_the_plugin_that_they_used) {
  for (unsigned i = 0; i < cycles() / 10; i++) {
    loaded l = load_plugin(i % PLUGIN_KINDS);
    survivor self = {.calls = l.calls};
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, use_and_survive, &self) == 0);
    while (!atomic_load(&self.used)) sched_yield();
    l.calls->shutdown();
    unload_plugin(&l);
    atomic_store(&self.unloaded, true);
    pthread_join(thread, NULL);
  }
}

/* ---- fork ---- */

static bool load_and_use(void *arg) {
  unsigned kind = *(const unsigned *)arg;
  loaded l = load_plugin(kind);
  bool right = use_plugin(l.calls);
  l.calls->shutdown();
  unload_plugin(&l);
  return right;
}

static bool do_nothing_more(void *arg) {
  (void)arg;
  return true;
}

/* Handlers for fork must go with the library, and come again with it. */
static void fork_around_unloading(unsigned kind, bool shut_down) {
  loaded l = load_plugin(kind);
  use_plugin(l.calls);
  CHECK_EQ(run_child(do_nothing_more, NULL), 0);
  if (FORKS_FREELY) CHECK_EQ(run_child(load_and_use, &kind), 0);
  if (shut_down) l.calls->shutdown();
  unload_plugin(&l);
  CHECK_EQ(run_child(do_nothing_more, NULL), 0);
  if (FORKS_FREELY) CHECK_EQ(run_child(load_and_use, &kind), 0);
}

TEST(fork_before_and_after_unloading) {
  for (unsigned kind = 0; kind < PLUGIN_KINDS; kind++) {
    for (unsigned i = 0; i < cycles() / 40; i++) fork_around_unloading(kind, i % 2 == 0);
    fork_around_unloading(kind, true);
  }
}

/* ---- the end of the process ---- */

static void tell_exit(void) {
  say("the exit handler ran\n");
}

/* A program for each kind of plugin. */
#define ENDS(name)                                                                       \
  static void name(unsigned kind);                                                       \
  TEST(name) {                                                                           \
    check_program("program_" #name "_0", 42, "the exit handler ran", 1);                 \
    check_program("program_" #name "_1", 42, "the exit handler ran", 1);                 \
  }                                                                                      \
  TEST_BY_NAME(program_##name##_0) {                                                     \
    REQUIRE(atexit(tell_exit) == 0);                                                     \
    name(0);                                                                             \
    exit(42);                                                                            \
  }                                                                                      \
  TEST_BY_NAME(program_##name##_1) {                                                     \
    REQUIRE(atexit(tell_exit) == 0);                                                     \
    name(1);                                                                             \
    exit(42);                                                                            \
  }                                                                                      \
  static void name(unsigned kind)

ENDS(exit_with_the_plugin_loaded) {
  loaded l = load_plugin(kind);
  if (!use_plugin(l.calls)) _exit(1);
}

ENDS(exit_after_unloading) {
  loaded l = load_plugin(kind);
  if (!use_plugin(l.calls)) _exit(1);
  unload_plugin(&l);
}

ENDS(exit_after_shutdown_and_unloading) {
  loaded l = load_plugin(kind);
  if (!use_plugin(l.calls)) _exit(1);
  l.calls->shutdown();
  unload_plugin(&l);
}

/* The functions of the program itself stay, so they may go on when the plugin is gone. */
static atomic_bool begun, never;

static void spin_here(void *ctx) {
  atomic_store(&begun, true);
  while (!atomic_load((atomic_bool *)ctx)) sched_yield();
}

ENDS(exit_while_threads_of_an_unloaded_plugin_work) {
  loaded l = load_plugin(kind);
  CHECK_EQ(l.calls->detach(spin_here, &never), 0);
  while (!atomic_load(&begun)) sched_yield();
  unload_plugin(&l);
}

/* A function of the plugin may not, unless the plugin contains weft, which then stays. */
ENDS(exit_while_the_plugin_works) {
  loaded l = load_plugin(kind);
  CHECK_EQ(l.calls->detach_endless(), 0);
  if (!use_plugin(l.calls)) _exit(1);
  if (kind == WITH_COPY) unload_plugin(&l);
}

static const plugin *calls_at_exit;

static void use_at_exit(void) {
  if (!use_plugin(calls_at_exit)) _exit(1);
}

ENDS(exit_handler_uses_the_plugin) {
  loaded l = load_plugin(kind);
  calls_at_exit = l.calls;
  REQUIRE(atexit(use_at_exit) == 0);
  if (!use_plugin(l.calls)) _exit(1);
}
