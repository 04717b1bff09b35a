/* The number of CPUs: cgroup quotas read from fixture folders that look like /proc and
 * /sys of various machines, and the affinity mask of the real one.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "child.h"
#include "fixture.h"
#include "harness/harness.h"
#include "sys/cgroup.h"
#include "sys/sys.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS "/proc/self/cgroup"
#define MOUNTS "/proc/self/mountinfo"
#define OTHER_MOUNTS                                                                     \
  "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"                            \
  "23 22 0:21 / /proc rw,nosuid,nodev,noexec - proc proc rw\n"
#define V2_MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
#define V1_MOUNT                                                                         \
  "33 32 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup "        \
  "rw,cpu,cpuacct\n"
#define V1 "/sys/fs/cgroup/cpu,cpuacct"

/* A machine with v2 and this process in the group /a/b. */
static void begin_v2(const char *cpu_max) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS V2_MOUNT);
  put(GROUPS, "0::/a/b\n");
  if (cpu_max != NULL) put("/sys/fs/cgroup/a/b/cpu.max", cpu_max);
}

static unsigned limit_end(void) {
  const unsigned limit = wf_cgroup_cpu_limit(root);
  fixture_end();
  return limit;
}

static unsigned limit_v2(const char *cpu_max) {
  begin_v2(cpu_max);
  return limit_end();
}

/* A machine with v1 and this process in the group /a/b. */
static unsigned limit_v1(const char *quota, const char *period) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS V1_MOUNT);
  put(GROUPS, "5:memory:/a/b\n4:cpu,cpuacct:/a/b\n3:cpuset:/\n");
  if (quota != NULL) put(V1 "/a/b/cpu.cfs_quota_us", quota);
  if (period != NULL) put(V1 "/a/b/cpu.cfs_period_us", period);
  put(V1 "/a/b/cpu.shares", "2\n");
  return limit_end();
}

/* ---- numbers ---- */

TEST(v2_quota_is_rounded_down_to_at_least_one) {
  CHECK_EQ(limit_v2("50000 100000\n"), 1);
  CHECK_EQ(limit_v2("1000 100000\n"), 1);
  CHECK_EQ(limit_v2("100000 100000\n"), 1);
  CHECK_EQ(limit_v2("150000 100000\n"), 1);
  CHECK_EQ(limit_v2("199999 100000\n"), 1);
  CHECK_EQ(limit_v2("200000 100000\n"), 2);
  CHECK_EQ(limit_v2("6400000 100000\n"), 64);
  CHECK_EQ(limit_v2("20000 10000\n"), 2);
}

TEST(v2_max_is_no_limit) {
  CHECK_EQ(limit_v2("max 100000\n"), 0);
  CHECK_EQ(limit_v2("max\n"), 0);
}

TEST(v1_quota_is_rounded_down_to_at_least_one) {
  CHECK_EQ(limit_v1("50000\n", "100000\n"), 1);
  CHECK_EQ(limit_v1("150000\n", "100000\n"), 1);
  CHECK_EQ(limit_v1("200000\n", "100000\n"), 2);
  CHECK_EQ(limit_v1("300000\n", "50000\n"), 6);
}

TEST(v1_minus_one_is_no_limit) {
  CHECK_EQ(limit_v1("-1\n", "100000\n"), 0);
}

TEST(line_ends_do_not_matter) {
  CHECK_EQ(limit_v2("300000 100000"), 3);
  CHECK_EQ(limit_v2("300000 100000\r\n"), 3);
  CHECK_EQ(limit_v2("  300000\t100000 \n"), 3);
  CHECK_EQ(limit_v2("max 100000\r\n"), 0);
  CHECK_EQ(limit_v1("300000", "100000"), 3);
  CHECK_EQ(limit_v1("300000\r\n", "100000\r\n"), 3);
}

TEST(later_fields_and_lines_are_ignored) {
  CHECK_EQ(limit_v2("300000 100000 50000\n"), 3);
  CHECK_EQ(limit_v2("300000 100000\n100000 100000\n"), 3);
}

TEST(nonsense_is_no_limit) {
  static const char *const texts[] = {
      "",
      "\n",
      " \n",
      "\n300000 100000\n",
      "garbage\n",
      "0 100000\n",
      "-1 100000\n",
      "-300000 100000\n",
      "+300000 100000\n",
      "300000 0\n",
      "300000 -100000\n",
      "300000\n",
      "300000 max\n",
      "300000 garbage\n",
      "300000x 100000\n",
      "300000 100000x\n",
      "3.5e5 100000\n",
      "0x493e0 100000\n",
      "300000,100000\n",
      "99999999999999999999999999 100000\n",
      "300000 99999999999999999999999999\n",
      "18446744073709551616 100000\n",
      "\xff\xfe\x01 100000\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK_MSG(limit_v2(texts[i]) == 0, "cpu.max was \"%s\"", texts[i]);
  }
  begin_v2(NULL);
  put_bytes("/sys/fs/cgroup/a/b/cpu.max", "300000\0 100000\n", 15);
  CHECK_EQ(limit_end(), 0);
  CHECK_EQ(limit_v1("0\n", "100000\n"), 0);
  CHECK_EQ(limit_v1("-5\n", "100000\n"), 0);
  CHECK_EQ(limit_v1("300000\n", "0\n"), 0);
  CHECK_EQ(limit_v1("300000\n", "-1\n"), 0);
  CHECK_EQ(limit_v1("300000\n", ""), 0);
  CHECK_EQ(limit_v1("300000\n", NULL), 0);
  CHECK_EQ(limit_v1(NULL, "100000\n"), 0);
}

TEST(huge_quotas_do_not_overflow) {
  CHECK_EQ(limit_v2("18446744073709551615 1\n"), UINT32_MAX);
  CHECK_EQ(limit_v2("4294967296 1\n"), UINT32_MAX);
  CHECK_EQ(limit_v2("4294967294 1\n"), UINT32_MAX - 1);
  CHECK_EQ(limit_v2("18446744073709551615 18446744073709551615\n"), 1);
  CHECK_EQ(limit_v2("1 18446744073709551615\n"), 1);
}

/* ---- the chain of groups ---- */

TEST(tightest_ancestor_wins) {
  begin_v2("800000 100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  CHECK_EQ(limit_end(), 3);

  begin_v2("max 100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  CHECK_EQ(limit_end(), 3);

  begin_v2("200000 100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK_EQ(limit_end(), 2);

  /* Nothing at our own level, and not even a folder: removed, or not visible. */
  begin_v2(NULL);
  put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK_EQ(limit_end(), 4);
}

TEST(relatives_do_not_count) {
  begin_v2("800000 100000\n");
  put("/sys/fs/cgroup/a/b/child/cpu.max", "100000 100000\n");
  put("/sys/fs/cgroup/a/brother/cpu.max", "100000 100000\n");
  put("/sys/fs/cgroup/a/bb/cpu.max", "100000 100000\n");
  put("/sys/fs/cpu.max", "100000 100000\n");
  put("/cpu.max", "100000 100000\n");
  CHECK_EQ(limit_end(), 8);
}

TEST(the_root_group_has_only_itself) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS V2_MOUNT);
  put(GROUPS, "0::/\n");
  put("/sys/fs/cgroup/cpu.max", "400000 100000\n");
  put("/sys/fs/cpu.max", "100000 100000\n");
  CHECK_EQ(limit_end(), 4);
}

TEST(group_names_may_be_strange) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS V2_MOUNT);
  put(GROUPS, "0::/a:b/with blank/..c/d\n");
  put("/sys/fs/cgroup/a:b/with blank/..c/d/cpu.max", "500000 100000\n");
  put("/sys/fs/cgroup/a:b/cpu.max", "700000 100000\n");
  CHECK_EQ(limit_end(), 5);
}

/* The path of a process that was moved out of its namespace leads out of the mount. */
TEST(climbing_paths_are_not_followed) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS V2_MOUNT);
  put(GROUPS, "0::/../b\n");
  put("/sys/fs/b/cpu.max", "100000 100000\n");
  put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
  CHECK_EQ(limit_end(), 0);
}

/* ---- mounts ---- */

/* A container without a namespace of its own: the mount shows one group of the host, and
 * the paths in /proc/self/cgroup are those of the host. */
TEST(container_mount_shows_our_group) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS
      "33 32 0:30 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,relatime master:9 - cgroup "
      "cgroup rw,cpu,cpuacct\n");
  put(GROUPS, "4:cpu,cpuacct:/docker/abc\n");
  put(V1 "/cpu.cfs_quota_us", "200000\n");
  put(V1 "/cpu.cfs_period_us", "100000\n");
  put(V1 "/docker/abc/cpu.cfs_quota_us", "100000\n");
  put(V1 "/docker/abc/cpu.cfs_period_us", "100000\n");
  CHECK_EQ(limit_end(), 2);
}

TEST(container_mount_shows_an_ancestor) {
  fixture_begin();
  put(MOUNTS,
      OTHER_MOUNTS "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  put(GROUPS, "0::/docker/abc/child\n");
  put("/sys/fs/cgroup/child/cpu.max", "300000 100000\n");
  put("/sys/fs/cgroup/cpu.max", "700000 100000\n");
  CHECK_EQ(limit_end(), 3);
}

TEST(mounts_of_other_groups_do_not_count) {
  fixture_begin();
  put(MOUNTS, "30 23 0:26 /docker/ab /elsewhere ro - cgroup2 cgroup rw\n"
              "31 23 0:26 /docker/abc/child/below /below ro - cgroup2 cgroup rw\n"
              "32 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
  put(GROUPS, "0::/docker/abc/child\n");
  put("/elsewhere/cpu.max", "100000 100000\n");
  put("/below/cpu.max", "100000 100000\n");
  put("/sys/fs/cgroup/cpu.max", "700000 100000\n");
  CHECK_EQ(limit_end(), 7);
}

TEST(hybrid_machines_have_both) {
  for (int v1_is_tighter = 0; v1_is_tighter < 2; v1_is_tighter++) {
    fixture_begin();
    put(MOUNTS, OTHER_MOUNTS
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
        "40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
        "39 31 0:36 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "38 31 0:35 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n" V1_MOUNT);
    put(GROUPS, "9:name=systemd:/s\n8:cpuset:/s\n7:cpuacct:/s\n4:cpu,cpuacct:/one\n"
                "0::/two\n");
    put(V1 "/one/cpu.cfs_quota_us", v1_is_tighter ? "200000\n" : "900000\n");
    put(V1 "/one/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/unified/two/cpu.max", "500000 100000\n");
    put("/sys/fs/cgroup/cpuset/s/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/s/cpu.cfs_period_us", "100000\n");
    CHECK_EQ(limit_end(), v1_is_tighter ? 2 : 5);
  }
}

/* The common kind of hybrid: v2 is mounted, but has no controllers. */
TEST(hybrid_machines_with_an_empty_v2) {
  fixture_begin();
  put(MOUNTS, OTHER_MOUNTS
      "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n" V1_MOUNT);
  put(GROUPS, "1:cpuacct,cpu:/\n0::/\n");
  put("/sys/fs/cgroup/unified/cgroup.procs", "");
  put(V1 "/cpu.cfs_quota_us", "250000\n");
  put(V1 "/cpu.cfs_period_us", "100000\n");
  CHECK_EQ(limit_end(), 2);
}

TEST(mount_points_may_be_anywhere_and_escaped) {
  fixture_begin();
  put(MOUNTS,
      "30 23 0:26 / /my\\040groups/a\\134b rw shared:4 master:3 - cgroup2 x rw\n");
  put(GROUPS, "0::/g\n");
  put("/my groups/a\\b/g/cpu.max", "300000 100000\n");
  CHECK_EQ(limit_end(), 3);
}

TEST(lines_that_are_not_understood_are_skipped) {
  /* An overlay mount's line can be longer than any buffer; one that is just as long as
   * the buffer stands for the border. */
  static char long_lines[3 * 8192 + 4096];
  char *at = long_lines;
  at += sprintf(at, "24 22 0:22 / /o rw - overlay overlay lowerdir=");
  memset(at, 'x', 8192);
  at += 8192;
  *at++ = '\n';
  for (size_t length = 4090; length < 4100; length += 5) {
    memset(at, 'y', length);
    at += length;
    *at++ = '\n';
  }
  strcpy(at, "\n \ngarbage\n1 2 3\n1 2 3 / /x rw\n1 2 3 / /x rw -\n1 2 3 / /x rw - \n"
             "1 2 3 / /x rw - cgroup2\n1 2 3 x /x rw - cgroup2 c rw\n" V2_MOUNT);
  fixture_begin();
  put(MOUNTS, long_lines);
  put(GROUPS, "\n:\n::\n0\n0:\n0::\n0::relative\n4:cpu\n:cpu:/a\ngarbage\n0::/a\r\n");
  put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  CHECK_EQ(limit_end(), 3);
}

TEST(too_long_paths_are_skipped) {
  static char groups[8192];
  for (size_t length = 4000; length < 4120; length++) {
    begin_v2("300000 100000\n");
    strcpy(groups, "0::");
    for (size_t i = 3; i < length; i++) groups[i] = i % 2 != 0 ? '/' : 'p';
    strcpy(groups + length, "\n0::/a/b\n");
    put(GROUPS, groups);
    CHECK_EQ(limit_end(), 3);
  }
}

TEST(every_prefix_of_the_files_is_harmless) {
  static const char mounts[] = OTHER_MOUNTS V1_MOUNT V2_MOUNT;
  static const char groups[] = "4:cpu,cpuacct:/a/b\n0::/a/b\n";
  begin_v2("300000 100000\n");
  for (size_t length = 0; length < sizeof mounts; length++) {
    put_bytes(MOUNTS, mounts, length);
    const unsigned limit = wf_cgroup_cpu_limit(root);
    CHECK(limit == 0 || limit == 3);
  }
  put(MOUNTS, mounts);
  for (size_t length = 0; length < sizeof groups; length++) {
    put_bytes(GROUPS, groups, length);
    const unsigned limit = wf_cgroup_cpu_limit(root);
    CHECK(limit == 0 || limit == 3);
  }
  CHECK_EQ(limit_end(), 3);
}

TEST(random_bytes_are_harmless) {
  uint64_t state = harness_seed();
  begin_v2("300000 100000\n");
  for (int round = 0; round < 300; round++) {
    static const char alphabet[] = "0123456789 /:-,.\\\n\r\tcgroup2cpumax";
    char bytes[3][2048];
    for (int file = 0; file < 3; file++) {
      for (size_t i = 0; i < sizeof bytes[file]; i++) {
        const uint64_t pick = harness_random(&state);
        bytes[file][i] =
            round % 4 == 0 ? (char)pick : alphabet[(pick >> 8) % (sizeof alphabet - 1)];
      }
    }
    put_bytes(MOUNTS, bytes[0], sizeof bytes[0]);
    put_bytes(GROUPS, bytes[1], sizeof bytes[1]);
    wf_cgroup_cpu_limit(root);
    put(MOUNTS, V2_MOUNT);
    put(GROUPS, "0::/a/b\n");
    put_bytes("/sys/fs/cgroup/a/b/cpu.max", bytes[2], sizeof bytes[2]);
    wf_cgroup_cpu_limit(root);
  }
  fixture_end();
}

/* ---- missing and unreadable ---- */

TEST(missing_files_are_no_limit) {
  fixture_begin();
  CHECK_EQ(wf_cgroup_cpu_limit(root), 0);
  CHECK(wf_sys_cpu_count(root) >= 1);
  put(MOUNTS, V2_MOUNT);
  CHECK_EQ(wf_cgroup_cpu_limit(root), 0);
  put(GROUPS, "0::/a/b\n");
  CHECK_EQ(limit_end(), 0);
  CHECK_EQ(wf_cgroup_cpu_limit("/no/such/folder"), 0);
  CHECK(wf_sys_cpu_count("/no/such/folder") >= 1);
}

TEST(folders_in_place_of_files_are_no_limit) {
  begin_v2(NULL);
  put("/sys/fs/cgroup/a/b/cpu.max/x", "");
  CHECK_EQ(wf_cgroup_cpu_limit(root), 0);
  CHECK_EQ(remove(fixture_path(GROUPS)), 0);
  put(GROUPS "/x", "");
  CHECK_EQ(limit_end(), 0);
}

TEST(too_long_roots_are_no_limit) {
  static char long_root[10000];
  memset(long_root, 'r', sizeof long_root - 1);
  CHECK_EQ(wf_cgroup_cpu_limit(long_root), 0);
}

/* Root may read everything, so the child first becomes somebody else. */
static int limit_as_stranger(void *arg) {
  (void)arg;
  if (geteuid() == 0 && setuid(65534) != 0) return CHILD_SKIPPED;
  if (access(fixture_path("/sys/fs/cgroup/a/b/cpu.max"), R_OK) == 0) return CHILD_SKIPPED;
  return (int)wf_cgroup_cpu_limit(root);
}

TEST(unreadable_files_are_no_limit_but_ancestors_count) {
  begin_v2("200000 100000\n");
  put("/sys/fs/cgroup/a/cpu.max", "500000 100000\n");
  REQUIRE(chmod(root, 0755) == 0);
  REQUIRE(chmod(fixture_path("/sys/fs/cgroup/a/b/cpu.max"), 0) == 0);
  int result = child_run(limit_as_stranger, NULL);
  if (result == CHILD_SKIPPED) {
    printf("skipped: there is nothing unreadable here\n");
  } else {
    CHECK_EQ(result, 5);
  }
  fixture_end();
}

/* ---- the whole answer ---- */

static unsigned allowed_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 0;
}

TEST(real_system_has_at_least_one) {
  const unsigned count = wf_sys_cpu_count("");
  CHECK(count >= 1);
  if (allowed_cpus() != 0) CHECK(count <= allowed_cpus());
}

TEST(smaller_of_affinity_and_quota) {
  const unsigned allowed = allowed_cpus();
  if (allowed == 0) {
    printf("skipped: more CPUs than this test has room for\n");
    return;
  }
  char text[64];
  for (unsigned quota = 1; quota <= allowed + 2; quota++) {
    sprintf(text, "%u00000 100000\n", quota);
    begin_v2(text);
    CHECK_EQ(wf_sys_cpu_count(root), quota < allowed ? quota : allowed);
    fixture_end();
  }
}

static int count_on_one_cpu(void *arg) {
  (void)arg;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return CHILD_SKIPPED;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &set)) continue;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return CHILD_SKIPPED;
    break;
  }
  return (int)wf_sys_cpu_count("/no/such/folder");
}

TEST(affinity_to_one_cpu_is_respected) {
  int result = child_run(count_on_one_cpu, NULL);
  if (result == CHILD_SKIPPED) {
    printf("skipped: the affinity cannot be set here\n");
    return;
  }
  CHECK_EQ(result, 1);
}
