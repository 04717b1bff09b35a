/* link: -Wl,--wrap=syscall */
/* weft_config.cpus and weft_config.bind: the masks that threads really have, as the
 * kernel says; sets of one CPU; text that is no list; CPUs that the process may not use;
 * a system that refuses.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support.h"

#include "harness/refused_call.h"
#include "harness/system.h"
#include "harness/wrapped_syscall.h"
#include "sys/child.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft.h>

/* ---- a system that refuses ---- */

static atomic_bool refuses_masks;

static bool answer_syscall(long number, bool is_wait, int *error) {
  (void)is_wait;
  if (number != SYS_sched_setaffinity || !atomic_load(&refuses_masks)) return false;
  *error = EPERM;
  return true;
}

/* ---- what threads have ---- */

enum { MOST = 16 };

static cpu_set_t cpus_now(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

static bool can_bind(void) {
  return wf_sys_thread_self() != 0;
}

/* The CPUs of this process, for texts. */
static unsigned own_cpus(unsigned out[CPU_SETSIZE]) {
  cpu_set_t set = cpus_now();
  unsigned count = 0;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET((size_t)cpu, &set)) out[count++] = cpu;
  return count;
}

static cpu_set_t seen[MOST + 1];
static atomic_uint started;

static void note_mask(unsigned worker, void *ctx) {
  (void)ctx;
  if (worker <= MOST) seen[worker] = cpus_now();
  atomic_fetch_add(&started, 1);
}

static weft_pool *bound_pool(unsigned threads, const char *cpus, weft_bind bind) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.cpus = cpus;
  config.bind = bind;
  config.on_start = note_mask;
  config.idle = WEFT_IDLE_POWER_SAVING;
  memset(seen, 0, sizeof seen);
  atomic_store(&started, 0);
  weft_pool *pool = pool_with(&config);
  AWAIT(atomic_load(&started) == wf_pool_started(pool));
  return pool;
}

/* ---- sets ---- */

TEST(a_set_of_one_cpu) {
  unsigned cpus[CPU_SETSIZE];
  unsigned count = own_cpus(cpus);
  for (unsigned i = 0; i < count && i < 4; i++) {
    char text[16];
    snprintf(text, sizeof text, "%u", cpus[i]);
    weft_pool *pool = bound_pool(3, text, WEFT_BIND_NONE);
    for (unsigned k = 1; can_bind() && k <= 2; k++) {
      CHECK_EQ(CPU_COUNT(&seen[k]), 1);
      CHECK(CPU_ISSET((size_t)cpus[i], &seen[k]));
    }
    weft_pool_destroy(pool);
    pool = bound_pool(0, text, WEFT_BIND_NONE);
    CHECK_EQ(pool->options.threads, 1);
    CHECK_EQ(pool->options.cpus, 1);
    weft_pool_destroy(pool);
  }
}

TEST(all_cpus_by_name) {
  unsigned cpus[CPU_SETSIZE];
  unsigned count = own_cpus(cpus);
  char text[400] = "";
  for (unsigned i = count; i-- > 0;) /* in any order, and twice */
    snprintf(text + strlen(text), sizeof text - strlen(text), "%u,%u-%u%s", cpus[i],
             cpus[i], cpus[i], i > 0 ? "," : "");
  cpu_set_t all = cpus_now();
  weft_pool *pool = bound_pool(0, text, WEFT_BIND_NONE);
  CHECK_EQ(pool->options.topology.count, count);
  CHECK(pool->options.threads <= count);
  for (unsigned k = 1; k <= wf_pool_started(pool) && k <= MOST; k++)
    CHECK(CPU_EQUAL(&seen[k], &all));
  weft_pool_destroy(pool);
  cpu_set_t after = cpus_now();
  CHECK(CPU_EQUAL(&all, &after)); /* the caller keeps its own */
}

/* ---- binding ---- */

TEST(bound_threads_have_one_cpu_each) {
  unsigned cpus[CPU_SETSIZE];
  unsigned count = own_cpus(cpus);
  unsigned threads = count < MOST ? count : MOST;
  if (threads < 2) threads = 2;
  weft_pool *pool = bound_pool(threads, NULL, WEFT_BIND_THREADS);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned k = 1; can_bind() && k < threads; k++) {
    CHECK_EQ(CPU_COUNT(&seen[k]), 1);
    cpu_set_t both;
    CPU_AND(&both, &all, &seen[k]);
    CHECK_EQ(CPU_COUNT(&both), 0); /* each another one */
    CPU_OR(&all, &all, &seen[k]);
  }
  weft_pool_destroy(pool);
}

TEST(more_threads_than_cpus_share_them) {
  weft_pool *pool = bound_pool(MOST, NULL, WEFT_BIND_THREADS);
  for (unsigned k = 1; can_bind() && k < MOST; k++) CHECK_EQ(CPU_COUNT(&seen[k]), 1);
  weft_pool_destroy(pool);
}

TEST(bound_to_cores_there_is_one_thread_for_each) {
  wf_topology t;
  REQUIRE(wf_topology_read(&t, "", NULL, 0));
  weft_pool *pool = bound_pool(0, NULL, WEFT_BIND_CORES);
  unsigned usable = wf_sys_cpu_count("");
  unsigned cores = t.groups[WF_CORE];
  CHECK_EQ(pool->options.threads, cores < usable ? cores : usable);
  for (unsigned k = 1; can_bind() && k <= wf_pool_started(pool) && k <= MOST; k++)
    CHECK(CPU_COUNT(&seen[k]) >= 1 &&
          (unsigned)CPU_COUNT(&seen[k]) <= t.count - cores + 1);
  weft_pool_destroy(pool);
  wf_topology_free(&t);
}

/* ---- with steering ---- */

static _Atomic pid_t tids[MOST + 1];

static void note_thread(unsigned worker, void *ctx) {
  if (worker <= MOST) tids[worker] = (pid_t)syscall(SYS_gettid);
  note_mask(worker, ctx);
}

static void join_twice(void *ctx) {
  weft_join(do_nothing, ctx, do_nothing, ctx);
}

/* At rest each thread has what it was bound to, whatever happened. */
TEST(steering_keeps_to_the_set) {
  static const weft_bind binds[] = {WEFT_BIND_NONE, WEFT_BIND_CORES, WEFT_BIND_THREADS};
  unsigned cpus[CPU_SETSIZE];
  unsigned count = own_cpus(cpus);
  for (unsigned b = 0; b < 3; b++) {
    char text[40];
    snprintf(text, sizeof text, "%u", cpus[count - 1]);
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = 4;
    config.bind = binds[b];
    config.cpus = b == 0 ? text : NULL;
    config.steer = WEFT_STEER_ON;
    config.idle = WEFT_IDLE_POWER_SAVING;
    config.on_start = note_thread;
    atomic_store(&started, 0);
    weft_pool *pool = pool_with(&config);
    AWAIT(atomic_load(&started) == wf_pool_started(pool));
    for (unsigned round = 0; round < scaled(50); round++) {
      AWAIT(wf_u32_load_relaxed(&pool->sleep.x_watched) == 0 && all_asleep(pool));
      for (unsigned k = 1; k <= wf_pool_started(pool); k++) {
        cpu_set_t now;
        CPU_ZERO(&now);
        REQUIRE(sched_getaffinity(tids[k], sizeof now, &now) == 0);
        CHECK(CPU_EQUAL(&now, &seen[k]));
      }
      weft_pool_run(pool, join_twice, NULL);
    }
    weft_pool_destroy(pool);
  }
}

/* ---- a thread that stands in, and a forked process ---- */

static atomic_bool may_end;

static void block_here(void *ctx) {
  weft_blocking_begin();
  AWAIT(atomic_load((atomic_bool *)ctx));
  weft_blocking_end();
}

TEST(stand_ins_have_the_cpus_of_the_pool) {
  unsigned cpus[CPU_SETSIZE];
  own_cpus(cpus);
  char text[16];
  snprintf(text, sizeof text, "%u", cpus[0]);
  weft_pool *pool = bound_pool(2, text, WEFT_BIND_THREADS);
  atomic_store(&may_end, false);
  REQUIRE(weft_pool_detach(pool, block_here, &may_end) == 0);
  AWAIT(atomic_load(&started) == 2);
  atomic_store(&may_end, true);
  if (can_bind() && pool->stand_in_first <= MOST)
    CHECK_EQ(CPU_COUNT(&seen[pool->stand_in_first]), 1);
  weft_pool_destroy(pool);
}

/* ---- refusals ---- */

TEST(a_system_that_refuses_is_no_error) {
  atomic_store(&refuses_masks, true);
  cpu_set_t all = cpus_now();
  weft_pool *pool = bound_pool(3, NULL, WEFT_BIND_THREADS);
  for (unsigned k = 1; k <= 2; k++) CHECK(CPU_EQUAL(&seen[k], &all));
  atomic_ulong calls = 0;
  for (int i = 0; i < 100; i++) REQUIRE(weft_pool_detach(pool, count_one, &calls) == 0);
  weft_pool_destroy(pool);
  CHECK_EQ(atomic_load(&calls), 100);
  atomic_store(&refuses_masks, false);
}

/* A sandbox that lets nobody open a file: nothing is known of the machine but how many
 * CPUs it has. */
static int bind_without_files(void *arg) {
  (void)arg;
  if (!refuse_call(SYS_openat, EACCES, REFUSED_EVERYWHERE)) return CHILD_SKIPPED;
#if defined(SYS_open) /* the one that musl uses */
  if (!refuse_call(SYS_open, EACCES, REFUSED_EVERYWHERE)) return CHILD_SKIPPED;
#endif
  wf_topology t;
  if (!wf_topology_read(&t, "", NULL, 0)) return 1;
  bool flat = !t.is_known && wf_topology_is_flat(&t) && t.groups[WF_NODE] == 1;
  wf_topology_free(&t);
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 3;
  config.bind = WEFT_BIND_CORES;
  weft_pool *pool;
  if (weft_pool_create(&pool, &config) != 0) return 2;
  atomic_ulong calls = 0;
  for (int i = 0; i < 10; i++) (void)weft_pool_detach(pool, count_one, &calls);
  weft_pool_destroy(pool);
  return !flat ? 3 : atomic_load(&calls) == 10 ? 0 : 4;
}

TEST(without_files_all_cpus_are_equal) {
#if defined(WITH_TSAN)
  printf("skipped: ThreadSanitizer knows no threads in a child of fork\n");
  return;
#endif
  int result = child_run(bind_without_files, NULL);
  if (result == CHILD_SKIPPED) printf("skipped: no filters of system calls here\n");
  CHECK(result == 0 || result == CHILD_SKIPPED);
}

/* The status, and how the reason begins and what it contains. */
static void expect_refused(const char *cpus, const char *part) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = (weft_pool *)&config;
  char why[300];
  config.cpus = cpus;
  CHECK_EQ(weft_pool_create(&pool, &config), WEFT_EINVAL);
  CHECK(pool == NULL);
  CHECK_EQ(weft_config_check(&config, why, sizeof why), WEFT_EINVAL);
  CHECK_MSG(strncmp(why, "weft_config.cpus: ", 18) == 0 && strstr(why, part) != NULL,
            "%s: %s", cpus, why);
  CHECK_EQ(weft_config_check(&config, NULL, 0), WEFT_EINVAL);
  CHECK_EQ(weft_config_check(&config, why, 5), WEFT_EINVAL);
  CHECK_STR_EQ(why, "weft");
}

TEST(text_that_is_no_list_is_refused) {
  static const char *const texts[] = {
      "",    " ",     "all",  "0-",  "-1",
      "3-1", "0,",    ",0",   "0;1", "0x1",
      "0 ",  "0-1-2", "0,,1", "1e3", "99999999999999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    expect_refused(texts[i], strcmp(texts[i], "0,,1") == 0 ? "" : "is no list of CPUs");
  char *long_text = calloc(1, 1 << 16);
  memset(long_text, '7', (1 << 16) - 1);
  expect_refused(long_text, "is no list of CPUs");
  free(long_text);
}

TEST(cpus_that_the_process_may_not_use_are_refused) {
  expect_refused("65535", "may not use CPU 65535");
  expect_refused("0-65535", "may not use CPU");
  unsigned cpus[CPU_SETSIZE];
  unsigned count = own_cpus(cpus);
  char text[40], part[60];
  snprintf(text, sizeof text, "%u-%u", cpus[count - 1], cpus[count - 1] + 1);
  snprintf(part, sizeof part, "may not use CPU %u (it may use ", cpus[count - 1] + 1);
  expect_refused(text, part);
}

/* A thread that has one CPU may not give a pool more. */
static void *expect_narrow(void *ctx) {
  unsigned *cpus = (unsigned *)ctx;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)cpus[0], &one);
  REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  char text[16];
  snprintf(text, sizeof text, "%u", cpus[1]);
  expect_refused(text, "may not use");
  weft_pool *pool = bound_pool(0, NULL, WEFT_BIND_THREADS);
  CHECK_EQ(pool->options.threads, 1);
  if (can_bind()) CHECK(CPU_EQUAL(&seen[1], &one));
  weft_pool_destroy(pool);
  return NULL;
}

TEST(the_mask_of_the_caller_counts) {
  unsigned cpus[CPU_SETSIZE];
  pthread_t thread;
  if (own_cpus(cpus) < 2) return;
  REQUIRE(pthread_create(&thread, NULL, expect_narrow, cpus) == 0);
  pthread_join(thread, NULL);
}

TEST(other_members_are_explained_too) {
  char why[200];
  weft_config config = WEFT_CONFIG_INIT;
  CHECK_EQ(weft_config_check(NULL, why, sizeof why), 0);
  CHECK_STR_EQ(why, "");
  CHECK_EQ(weft_config_check(&config, why, sizeof why), 0);
  CHECK_STR_EQ(why, "");
  config.threads = WEFT_MAX_THREADS + 1;
  CHECK_EQ(weft_config_check(&config, why, sizeof why), WEFT_EINVAL);
  CHECK_STR_EQ(why, "weft_config.threads: 1025 is more than 1024");
  config = (weft_config)WEFT_CONFIG_INIT;
  config.struct_size = 3;
  CHECK_EQ(weft_config_check(&config, why, sizeof why), WEFT_EINVAL);
  CHECK(strstr(why, "struct_size") != NULL);
}

/* A header from before these members: the pool is as it was. */
TEST(older_headers_have_no_cpus) {
  weft_config config = WEFT_CONFIG_INIT;
  config.cpus = "nonsense";
  config.bind = WEFT_BIND_THREADS;
  config.struct_size = offsetof(weft_config, cpus);
  weft_pool *pool = pool_with(&config);
  CHECK_EQ(pool->options.topology.count, 0);
  CHECK(pool->seats == NULL);
  weft_pool_destroy(pool);
}

/* ---- a pool for each node ---- */

static atomic_uint runs[64];

static void note_run(unsigned index, unsigned count, void *ctx) {
  weft_pool **pools = (weft_pool **)ctx;
  CHECK(index < count);
  CHECK(weft_pool_current() == pools[index]);
  CHECK(weft_worker_index() >= 1);
  atomic_fetch_add(&runs[index], 1);
}

TEST(a_pool_for_each_node) {
  weft_pool *pools[64];
  unsigned count = 64, nodes = weft_node_count();
  CHECK(nodes >= 1);
  REQUIRE(weft_pool_per_node(pools, &count, NULL) == 0);
  CHECK_EQ(count, nodes);
  unsigned threads = 0;
  for (unsigned i = 0; i < count; i++) {
    CHECK_EQ(wf_pool_started(pools[i]), pools[i]->options.threads);
    threads += wf_pool_started(pools[i]);
    atomic_store(&runs[i], 0);
  }
  if (nodes == 1) CHECK_EQ(threads, wf_sys_cpu_count(""));
  for (int i = 0; i < 10; i++) weft_pools_run(pools, count, note_run, pools);
  for (unsigned i = 0; i < count; i++) {
    CHECK_EQ(atomic_load(&runs[i]), 10);
    weft_pool_destroy(pools[i]);
  }
  weft_pools_run(NULL, 0, NULL, NULL);
}

TEST(a_pool_for_each_node_with_a_configuration) {
  weft_pool *pools[64];
  unsigned count = 0;
  CHECK_EQ(weft_pool_per_node(pools, &count, NULL), WEFT_EINVAL);
  CHECK_EQ(count, weft_node_count());
  CHECK_EQ(weft_pool_per_node(NULL, &count, NULL), WEFT_EINVAL);
  CHECK_EQ(weft_pool_per_node(pools, NULL, NULL), WEFT_EINVAL);
  weft_config config = WEFT_CONFIG_INIT;
  config.cpus = "x";
  CHECK_EQ(weft_pool_per_node(pools, &count, &config), WEFT_EINVAL);
  config.cpus = NULL;
  config.threads = 3;
  config.bind = WEFT_BIND_THREADS;
  config.name = "a long name for a thread";
  REQUIRE(weft_pool_per_node(pools, &count, &config) == 0);
  for (unsigned i = 0; i < count; i++) {
    CHECK_EQ(wf_pool_started(pools[i]), 3);
    CHECK(strchr(pools[i]->options.name, '.') != NULL);
    weft_pool_destroy(pools[i]);
  }
}

TEST(the_topology_is_printed) {
  char text[4096] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  REQUIRE(out != NULL);
  CHECK_EQ(weft_topology_print(out), 0);
  fclose(out);
  CHECK(strstr(text, " for this process: ") != NULL);
  CHECK(strstr(text, "node ") != NULL && strstr(text, "core ") != NULL);
  CHECK_EQ(weft_topology_print(NULL), WEFT_EINVAL);
  out = fopen("/dev/full", "w");
  if (out == NULL) return;
  CHECK_EQ(weft_topology_print(out), WEFT_EINVAL);
  fclose(out);
}
