/* Limits that the system sets for real: how many threads a user or a group may have,
 * which CPUs and how much of them a process may use. All of it happens in children,
 * because it cannot be undone. What the machine does not let us do is printed and left
 * out.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "support.h"

#if defined(__linux__)

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* What a child returns when the machine does not let it do its test. */
enum { RIGHT = 0, NOT_RIGHT = 1, SKIPPED = 77, NOBODY = 65534 };

static void check_or_tell(int code, const char *what) {
  if (code == SKIPPED)
    printf("skipped: %s\n", what);
  else
    CHECK_EQ(code, RIGHT);
}

/* Pools of eight threads and the global one work with those that they get. */
static int use_pools(unsigned most_started) {
  weft_config config = WEFT_CONFIG_INIT;
  weft_pool *pool = NULL;
  config.threads = 8;
  if (weft_pool_create(&pool, &config) != 0) return NOT_RIGHT;
  bool right = wf_pool_started(pool) <= most_started && everything_is_right_in(pool);
  weft_pool_destroy(pool);
  right = everything_is_right() && right;
  weft_shutdown();
  return right ? RIGHT : NOT_RIGHT;
}

/* ---- threads of a user ---- */

/* Root is exempt from the limit, so the child becomes somebody else. The kernel counts
 * the child itself, and what else that user has running. */
static int with_so_many_threads(rlim_t more) {
  const struct rlimit limit = {more == 0 ? 0 : 1 + more, more == 0 ? 0 : 1 + more};
  pid_t child = fork_here();
  if (child == 0) {
    if (setrlimit(RLIMIT_NPROC, &limit) != 0) _exit(SKIPPED);
    if (geteuid() == 0 && setuid(NOBODY) != 0) _exit(SKIPPED);
    _exit(use_pools((unsigned)more));
  }
  return wait_for_child(child);
}

TEST(a_user_with_few_threads) {
  if (!children_may_start_threads()) return;
  for (rlim_t more = 0; more <= 8; more++)
    check_or_tell(with_so_many_threads(more), "the number of threads cannot be limited");
}

/* ---- groups ---- */

/* The folder of a new group that a controller is in charge of, of the first or second
 * version; false if there is none. */
static bool make_group(const char *controller, char *path, size_t size) {
  snprintf(path, size, "/sys/fs/cgroup/%s/weft-test-%d", controller, (int)getpid());
  if (mkdir(path, 0755) == 0) return true;
  snprintf(path, size, "/sys/fs/cgroup/weft-test-%d", (int)getpid());
  return mkdir(path, 0755) == 0;
}

static bool write_to(const char *folder, const char *file, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  const int fd = open(path, O_WRONLY);
  if (fd < 0) return false;
  const bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  return close(fd) == 0 && written;
}

/* Calls fn(number) in a child that has joined the group. */
static int in_group(const char *folder, int (*fn)(unsigned), unsigned number) {
  pid_t child = fork_here();
  if (child == 0) _exit(write_to(folder, "cgroup.procs", "0") ? fn(number) : SKIPPED);
  return wait_for_child(child);
}

/* One task of the group is the child itself. */
TEST(a_group_with_few_threads) {
  char folder[256], number[32];
  if (!children_may_start_threads()) return;
  if (!make_group("pids", folder, sizeof folder)) {
    printf("skipped: there can be no group with a limit of threads here\n");
    return;
  }
  for (unsigned more = 0; more <= 8; more++) {
    snprintf(number, sizeof number, "%u", 1 + more);
    const bool limited = write_to(folder, "pids.max", number);
    check_or_tell(limited ? in_group(folder, use_pools, more) : SKIPPED,
                  "the threads of a group cannot be limited");
  }
  CHECK_EQ(rmdir(folder), 0);
}

static unsigned allowed_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Without other wishes a pool has one thread for each usable CPU. */
static int has_threads_by_default(unsigned threads) {
  unsetenv("WEFT_NUM_THREADS");
  if (weft_thread_count() != threads) return NOT_RIGHT;
  return use_pools(7);
}

static bool set_quota(const char *folder, unsigned percent) {
  char quota[32], both[64];
  snprintf(quota, sizeof quota, "%u", percent * 1000);
  snprintf(both, sizeof both, "%u 100000", percent * 1000);
  if (write_to(folder, "cpu.max", both)) return true;
  return write_to(folder, "cpu.cfs_period_us", "100000") &&
         write_to(folder, "cpu.cfs_quota_us", quota);
}

TEST(a_group_with_a_share_of_the_cpus) {
  static const unsigned PERCENT[] = {50, 100, 150, 200, 1000};
  char folder[256];
  if (!children_may_start_threads()) return;
  if (!make_group("cpu", folder, sizeof folder)) {
    printf("skipped: there can be no group with a share of the CPUs here\n");
    return;
  }
  for (unsigned i = 0; i < sizeof PERCENT / sizeof PERCENT[0]; i++) {
    unsigned expected = PERCENT[i] < 100 ? 1 : PERCENT[i] / 100;
    if (expected > allowed_cpus()) expected = allowed_cpus();
    const bool limited = set_quota(folder, PERCENT[i]);
    check_or_tell(limited ? in_group(folder, has_threads_by_default, expected) : SKIPPED,
                  "the CPU time of a group cannot be limited");
  }
  CHECK_EQ(rmdir(folder), 0);
}

/* ---- affinity ---- */

/* Only the first `count` of the CPUs that are allowed. */
static bool keep_cpus(unsigned count) {
  cpu_set_t all, some;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return false;
  CPU_ZERO(&some);
  for (size_t cpu = 0; cpu < CPU_SETSIZE && count > 0; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_SET(cpu, &some);
    count--;
  }
  return sched_setaffinity(0, sizeof some, &some) == 0;
}

TEST(a_process_on_some_of_the_cpus) {
  if (!children_may_start_threads()) return;
  for (unsigned count = 1; count <= allowed_cpus() && count <= 4; count++) {
    pid_t child = fork_here();
    if (child == 0) _exit(keep_cpus(count) ? has_threads_by_default(count) : SKIPPED);
    check_or_tell(wait_for_child(child), "the affinity cannot be set");
  }
}

#endif
