/* Which CPUs share what: read from fixture folders that look like /proc and /sys of
 * various machines, and from the real one.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "sys/topology.h"

#if defined(__linux__)
#include "fixture.h"
#endif
#include "harness/harness.h"
#include "sys/cpu_list.h"
#include "sys/sys.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ---- */

static const char *list_of(const char *text) {
  static char out[200];
  unsigned first, last;
  wf_range_is is;
  out[0] = '\0';
  while ((is = wf_cpu_range(&text, &first, &last)) == WF_RANGE_FOUND)
    snprintf(out + strlen(out), sizeof out - strlen(out), "%u-%u ", first, last);
  if (is == WF_RANGE_WRONG) strcat(out, "wrong");
  return out;
}

TEST(lists_are_read) {
  CHECK_STR_EQ(list_of(""), "");
  CHECK_STR_EQ(list_of("0"), "0-0 ");
  CHECK_STR_EQ(list_of("0-7,16-23"), "0-7 16-23 ");
  CHECK_STR_EQ(list_of("3,1,2-2"), "3-3 1-1 2-2 ");
  CHECK_STR_EQ(list_of("65535"), "65535-65535 ");
}

TEST(what_is_no_list_is_refused) {
  static const char *const texts[] = {" ",     ",",   "-",  "a",     "0x1",        "-1",
                                      "65536", "7-0", "0-", "1-2-3", "99999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    CHECK_STR_EQ(list_of(texts[i]), "wrong");
  CHECK_STR_EQ(list_of("0,"), "wrong");
  CHECK_STR_EQ(list_of("0,,1"), "0-0 wrong");
  CHECK_STR_EQ(list_of("0, 1"), "0-0 wrong");
  CHECK_STR_EQ(list_of("0-3,x"), "0-3 wrong");
}

TEST(lists_are_written_and_cut) {
  static const unsigned cpus[] = {0, 1, 2, 3, 8, 10, 11};
  char text[32];
  wf_cpu_list_write(text, sizeof text, cpus, 7);
  CHECK_STR_EQ(text, "0-3,8,10-11");
  wf_cpu_list_write(text, 12, cpus, 7);
  CHECK_STR_EQ(text, "0-3,8,10-11");
  wf_cpu_list_write(text, 11, cpus, 7);
  CHECK_STR_EQ(text, "0-3,8...");
  wf_cpu_list_write(text, 4, cpus, 7);
  CHECK_STR_EQ(text, "...");
  wf_cpu_list_write(text, sizeof text, cpus, 0);
  CHECK_STR_EQ(text, "");
  wf_cpu_list_write(text, 1, cpus, 7);
  CHECK_STR_EQ(text, "");
  text[0] = 'x';
  wf_cpu_list_write(text, 0, cpus, 7);
  CHECK_EQ(text[0], 'x');
}

#if defined(__linux__)

/* ---- machines ---- */

#define CPUS  "/sys/devices/system/cpu/"
#define NODES "/sys/devices/system/node/"

static __attribute__((format(printf, 2, 3))) void put_at(const char *text,
                                                         const char *format, ...) {
  char path[200];
  va_list values;
  va_start(values, format);
  vsnprintf(path, sizeof path, format, values);
  va_end(values);
  put(path, text);
}

static void put_cpu(unsigned cpu, const char *core, const char *l2, const char *l3,
                    const char *package) {
  if (core != NULL) put_at(core, CPUS "cpu%u/topology/core_cpus_list", cpu);
  if (package != NULL) put_at(package, CPUS "cpu%u/topology/physical_package_id", cpu);
  put_at("1\n", CPUS "cpu%u/cache/index0/level", cpu);
  put_at("Data\n", CPUS "cpu%u/cache/index0/type", cpu);
  put_at("1\n", CPUS "cpu%u/cache/index1/level", cpu);
  put_at("Instruction\n", CPUS "cpu%u/cache/index1/type", cpu);
  if (l2 == NULL) return;
  put_at("2\n", CPUS "cpu%u/cache/index2/level", cpu);
  put_at("Unified\n", CPUS "cpu%u/cache/index2/type", cpu);
  put_at(l2, CPUS "cpu%u/cache/index2/shared_cpu_list", cpu);
  if (l3 == NULL) return;
  put_at("3\n", CPUS "cpu%u/cache/index3/level", cpu);
  put_at("Unified\n", CPUS "cpu%u/cache/index3/type", cpu);
  put_at(l3, CPUS "cpu%u/cache/index3/shared_cpu_list", cpu);
}

static void put_allowed(const char *list) {
  char text[200];
  snprintf(text, sizeof text, "Name:\tapp\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n",
           list);
  put("/proc/self/status", text);
}

static wf_topology t;

static void read_end(void) {
  REQUIRE(wf_topology_read(&t, root, NULL, 0));
  fixture_end();
  for (int domain = 0; domain < WF_DOMAINS; domain++) {
    CHECK(t.groups[domain] >= 1 && t.groups[domain] <= t.count);
    if (domain > 0) CHECK(t.groups[domain] <= t.groups[domain - 1]);
    for (unsigned i = 0; i < t.count; i++)
      CHECK(t.cpus[i].group[domain] < t.groups[domain]);
  }
  for (unsigned i = 1; i < t.count; i++) CHECK(t.cpus[i - 1].number < t.cpus[i].number);
}

static bool together(wf_domain domain, unsigned a, unsigned b) {
  const wf_cpu *first = NULL, *second = NULL;
  for (unsigned i = 0; i < t.count; i++) {
    if (t.cpus[i].number == a) first = &t.cpus[i];
    if (t.cpus[i].number == b) second = &t.cpus[i];
  }
  REQUIRE(first != NULL && second != NULL);
  return first->group[domain] == second->group[domain];
}

/* Four cores of two hardware threads, which have the numbers n and n + 4. */
static void begin_laptop(void) {
  fixture_begin();
  put(CPUS "online", "0-7\n");
  put_allowed("0-7");
  for (unsigned i = 0; i < 8; i++) {
    char core[16];
    snprintf(core, sizeof core, "%u,%u\n", i % 4, i % 4 + 4);
    put_cpu(i, core, core, "0-7\n", "0\n");
  }
}

TEST(a_laptop_has_siblings_and_one_cache) {
  begin_laptop();
  put(NODES "online", "0\n");
  put(NODES "node0/cpulist", "0-7\n");
  put(NODES "node0/distance", "10\n");
  read_end();
  CHECK_EQ(t.count, 8);
  CHECK_EQ(t.groups[WF_CORE], 4);
  CHECK_EQ(t.groups[WF_L2], 4);
  CHECK_EQ(t.groups[WF_L3], 1);
  CHECK_EQ(t.groups[WF_NODE], 1);
  CHECK_EQ(t.packages, 1);
  CHECK(t.is_known && !wf_topology_is_flat(&t));
  CHECK(together(WF_CORE, 1, 5) && !together(WF_CORE, 1, 2));
  CHECK_EQ(t.cpus[1].thread, 0);
  CHECK_EQ(t.cpus[5].thread, 1);
  wf_topology_free(&t);
}

/* Two fast cores with two threads, eight slow ones in two groups that share their level 2
 * cache; a kernel that does not tell capacities. */
TEST(hybrid_cores_share_different_caches) {
  fixture_begin();
  put(CPUS "online", "0-11\n");
  put_allowed("0-11");
  for (unsigned i = 0; i < 4; i++)
    put_cpu(i, i < 2 ? "0-1\n" : "2-3\n", i < 2 ? "0-1\n" : "2-3\n", "0-11\n", "0\n");
  for (unsigned i = 4; i < 12; i++) {
    char own[16];
    snprintf(own, sizeof own, "%u\n", i);
    put_cpu(i, own, i < 8 ? "4-7\n" : "8-11\n", "0-11\n", "0\n");
  }
  put("/sys/devices/cpu_atom/cpus", "4-11\n");
  put("/sys/devices/cpu_core/cpus", "0-3\n");
  read_end();
  CHECK_EQ(t.groups[WF_CORE], 10);
  CHECK_EQ(t.groups[WF_L2], 4);
  CHECK_EQ(t.groups[WF_L3], 1);
  CHECK(together(WF_L2, 4, 7) && !together(WF_L2, 7, 8));
  CHECK_EQ(t.cpus[0].capacity, WF_FULL_CAPACITY);
  CHECK(t.cpus[4].capacity < WF_FULL_CAPACITY);
  wf_topology_free(&t);
}

/* big.LITTLE without a level 3 cache: four slow CPUs, then two fast ones. */
TEST(big_little_has_capacities) {
  fixture_begin();
  put(CPUS "online", "0-5\n");
  for (unsigned i = 0; i < 6; i++) {
    char own[16];
    snprintf(own, sizeof own, "%u\n", i);
    put_cpu(i, own, i < 4 ? "0-3\n" : "4-5\n", NULL, "0\n");
    put_at(i < 4 ? "446\n" : "1024\n", CPUS "cpu%u/cpu_capacity", i);
  }
  read_end();
  CHECK_EQ(t.count, 6);
  CHECK_EQ(t.groups[WF_CORE], 6);
  CHECK_EQ(t.groups[WF_L2], 2);
  CHECK_EQ(t.groups[WF_L3], 1); /* the package stands for it */
  CHECK_EQ(t.cpus[0].capacity, 446);
  CHECK_EQ(t.cpus[5].capacity, 1024);
  CHECK(!wf_topology_is_flat(&t));
  wf_topology_free(&t);
}

/* `sockets` packages, each a node, of two groups of two cores; no SMT. Distances as on a
 * machine whose sockets are linked in pairs. */
static void begin_server(unsigned sockets) {
  char text[200];
  fixture_begin();
  snprintf(text, sizeof text, "0-%u\n", sockets * 4 - 1);
  put(CPUS "online", text);
  for (unsigned i = 0; i < sockets * 4; i++) {
    char own[16], l3[32], package[16];
    snprintf(own, sizeof own, "%u\n", i);
    snprintf(l3, sizeof l3, "%u-%u\n", i / 2 * 2, i / 2 * 2 + 1);
    snprintf(package, sizeof package, "%u\n", i / 4);
    put_cpu(i, own, own, l3, package);
  }
  snprintf(text, sizeof text, "0-%u\n", sockets - 1);
  put(NODES "online", text);
  for (unsigned node = 0; node < sockets; node++) {
    snprintf(text, sizeof text, "%u-%u\n", node * 4, node * 4 + 3);
    put_at(text, NODES "node%u/cpulist", node);
    text[0] = '\0';
    for (unsigned other = 0; other < sockets; other++) {
      unsigned distance = other == node ? 10 : other / 2 == node / 2 ? 12 : 32;
      snprintf(text + strlen(text), sizeof text - strlen(text), "%u ", distance);
    }
    put_at(text, NODES "node%u/distance", node);
  }
}

TEST(servers_have_nodes_and_distances) {
  for (unsigned sockets = 2; sockets <= 8; sockets += 6) {
    begin_server(sockets);
    put_allowed(sockets == 2 ? "0-7" : "0-31");
    read_end();
    CHECK_EQ(t.count, sockets * 4);
    CHECK_EQ(t.groups[WF_CORE], sockets * 4);
    CHECK_EQ(t.groups[WF_L3], sockets * 2);
    CHECK_EQ(t.groups[WF_NODE], sockets);
    CHECK_EQ(t.packages, sockets);
    for (unsigned a = 0; a < sockets; a++) {
      CHECK_EQ(t.nodes[a], a);
      for (unsigned b = 0; b < sockets; b++)
        CHECK_EQ(wf_topology_distance(&t, a, b), a == b ? 10 : a / 2 == b / 2 ? 12 : 32);
    }
    CHECK(together(WF_L3, 0, 1) && !together(WF_L3, 1, 2) && together(WF_NODE, 1, 2));
    wf_topology_free(&t);
  }
}

/* Node 1 has memory only, nodes 2 and 5 have the CPUs: numbers are not indices. */
TEST(nodes_without_cpus_and_holes_between_nodes) {
  fixture_begin();
  put(CPUS "online", "0-1,8-9\n");
  for (unsigned i = 0; i < 10; i = i == 1 ? 8 : i + 1) {
    char own[16];
    snprintf(own, sizeof own, "%u\n", i);
    put_cpu(i, own, own, i < 8 ? "0-7\n" : "8-15\n", i < 8 ? "0\n" : "7\n");
  }
  put(NODES "online", "1-2,5\n");
  put(NODES "node1/cpulist", "\n");
  put(NODES "node2/cpulist", "8-15\n");
  put(NODES "node5/cpulist", "0-7\n");
  put(NODES "node1/distance", "10 17 18\n");
  put(NODES "node2/distance", "17 10 21\n");
  put(NODES "node5/distance", "18 22 10\n");
  read_end();
  CHECK_EQ(t.count, 4);
  CHECK_EQ(t.groups[WF_NODE], 2);
  CHECK_EQ(t.nodes[0], 2);
  CHECK_EQ(t.nodes[1], 5);
  CHECK_EQ(t.cpus[0].group[WF_NODE], 1); /* CPU 0 is on node 5 */
  CHECK_EQ(t.cpus[2].group[WF_NODE], 0);
  CHECK_EQ(wf_topology_distance(&t, 0, 1), 21);
  CHECK_EQ(wf_topology_distance(&t, 1, 0), 22);
  CHECK_EQ(t.packages, 2);
  wf_topology_free(&t);
}

/* CPUs 1 and 6 of the laptop are off: the kernel leaves them out of all lists. */
TEST(offline_cpus_are_left_out) {
  fixture_begin();
  put(CPUS "online", "0,2-5,7\n");
  put_allowed("0-7");
  static const unsigned online[] = {0, 2, 3, 4, 5, 7};
  static const char *const cores[] = {"0,4\n", "2\n", "3,7\n", "0,4\n", "5\n", "3,7\n"};
  for (unsigned i = 0; i < 6; i++)
    put_cpu(online[i], cores[i], cores[i], "0,2-5,7\n", "0\n");
  read_end();
  CHECK_EQ(t.count, 6);
  for (unsigned i = 0; i < 6; i++) CHECK_EQ(t.cpus[i].number, online[i]);
  CHECK_EQ(t.groups[WF_CORE], 4);
  wf_topology_free(&t);
}

/* A container that has two hardware threads of one core, and one of another. */
TEST(a_cpuset_restricts_everything) {
  begin_laptop();
  put_allowed("1,5-6");
  read_end();
  CHECK_EQ(t.count, 3);
  CHECK_EQ(t.groups[WF_CORE], 2);
  CHECK(together(WF_CORE, 1, 5) && !together(WF_CORE, 5, 6));
  wf_topology_free(&t);
  begin_server(8);
  put_allowed("5");
  read_end();
  CHECK_EQ(t.count, 1);
  CHECK_EQ(t.groups[WF_NODE], 1);
  CHECK_EQ(t.nodes[0], 1);
  CHECK(wf_topology_is_flat(&t));
  wf_topology_free(&t);
}

TEST(wanted_cpus_restrict_it_too) {
  static const unsigned wanted[] = {2, 3, 6};
  begin_laptop();
  REQUIRE(wf_topology_read(&t, root, wanted, 3));
  fixture_end();
  CHECK_EQ(t.count, 3);
  CHECK_EQ(t.groups[WF_CORE], 2);
  CHECK(together(WF_CORE, 2, 6));
  wf_topology_free(&t);
}

/* ---- missing and wrong files ---- */

TEST(without_sys_all_cpus_are_equal) {
  fixture_begin();
  put_allowed("4-7");
  read_end();
  CHECK_EQ(t.count, 4);
  CHECK_EQ(t.cpus[0].number, 4);
  CHECK(!t.is_known);
  CHECK(wf_topology_is_flat(&t));
  wf_topology_free(&t);
  fixture_begin(); /* without anything */
  read_end();
  CHECK_EQ(t.count, wf_sys_cpu_count(""));
  wf_topology_free(&t);
}

TEST(nonsense_counts_as_not_told) {
  static const char *const texts[] = {
      "",     "\n",     "x\n",           "7-3\n",        "-5\n",
      "0-\n", "0,,1\n", "99999999999\n", "1024-70000\n", " \n"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    fixture_begin();
    put(CPUS "online", "0-1\n");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
      put_cpu(cpu, texts[i], texts[i], texts[i], texts[i]);
      put_at(texts[i], CPUS "cpu%u/cpu_capacity", cpu);
    }
    put(NODES "online", texts[i]);
    put(NODES "node0/cpulist", texts[i]);
    put(NODES "node0/distance", texts[i]);
    read_end();
    CHECK_EQ(t.count, 2);
    CHECK_EQ(t.groups[WF_NODE], 1);
    wf_topology_free(&t);
  }
}

/* Folders where files are expected, as they are on no machine: reading fails. */
TEST(unreadable_files_count_as_not_told) {
  begin_laptop();
  REQUIRE(remove(fixture_path(CPUS "cpu0/topology/core_cpus_list")) == 0);
  REQUIRE(mkdir(fixture_path(CPUS "cpu0/topology/core_cpus_list"), 0755) == 0);
  REQUIRE(mkdir(fixture_path(CPUS "cpu1/cpu_capacity"), 0755) == 0);
  REQUIRE(mkdir(fixture_path(NODES "online"), 0755) == 0);
  read_end();
  CHECK_EQ(t.count, 8);
  CHECK(together(WF_CORE, 1, 5));
  CHECK_EQ(t.groups[WF_NODE], 1);
  wf_topology_free(&t);
}

/* A line without its end, and the lists of an old kernel. */
TEST(old_kernels_and_odd_ends) {
  fixture_begin();
  put(CPUS "online", "0-3");
  for (unsigned i = 0; i < 4; i++)
    put_at(i < 2 ? "0-1" : "2-3\r\n", CPUS "cpu%u/topology/thread_siblings_list", i);
  read_end();
  CHECK_EQ(t.count, 4);
  CHECK_EQ(t.groups[WF_CORE], 2);
  CHECK_EQ(t.groups[WF_L2], 2);
  wf_topology_free(&t);
}

/* Half of a package each is a node, as with sub-NUMA clusters: the cache, which is one
 * for the package, counts as two. */
TEST(a_cache_of_two_nodes_counts_as_two) {
  fixture_begin();
  put(CPUS "online", "0-7\n");
  for (unsigned i = 0; i < 8; i++) {
    char own[16];
    snprintf(own, sizeof own, "%u\n", i);
    put_cpu(i, own, own, "0-7\n", "0\n");
  }
  put(NODES "online", "0-1\n");
  put(NODES "node0/cpulist", "0-1,4-5\n");
  put(NODES "node1/cpulist", "2-3,6-7\n");
  put(NODES "node0/distance", "10 11\n");
  put(NODES "node1/distance", "11 10\n");
  read_end();
  CHECK_EQ(t.groups[WF_NODE], 2);
  CHECK_EQ(t.groups[WF_L3], 2);
  CHECK(together(WF_L3, 0, 5) && !together(WF_L3, 0, 2));
  CHECK_EQ(t.packages, 1);
  wf_topology_free(&t);
}

#endif

/* ---- the real machine ---- */

TEST(the_real_machine_is_read) {
  wf_topology real;
  unsigned *allowed;
  unsigned count = wf_topology_allowed(&allowed, "");
  REQUIRE(count >= 1);
  REQUIRE(wf_topology_read(&real, "", NULL, 0));
  REQUIRE(real.count == count);
  CHECK(real.count >= wf_sys_cpu_count(""));
  for (unsigned i = 0; i < count; i++) {
    CHECK_EQ(real.cpus[i].number, allowed[i]);
    CHECK(real.cpus[i].capacity >= 1);
  }
  free(allowed);
  wf_topology_free(&real);
  CHECK_EQ(real.count, 0);
}
