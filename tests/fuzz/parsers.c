/* fuzz/parsers.c - libFuzzer target: what comes from outside the program is text, namely
 * environment variables and the files in which the
 * kernel states limits and what CPUs share.
 *
 * The input is cut at bytes of 0 into the two variables and the files of a folder that
 * plays the root of the file system. Whatever they hold, the result is in its range.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "sched/options.h"
#include "sys/cgroup.h"
#include "sys/cpu_list.h"
#include "sys/sys.h"
#include "sys/topology.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);     \
      abort();                                                                           \
    }                                                                                    \
  } while (0)

/* Where the library looks, below the root. The groups are those that the corpus names. */
static const char *const FILES[] = {
    "/proc/self/cgroup",
    "/proc/self/mountinfo",
    "/sys/fs/cgroup/a/cpu.max",
    "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us",
    "/proc/self/status",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/cpu0/topology/core_cpus_list",
    "/sys/devices/system/cpu/cpu0/topology/physical_package_id",
    "/sys/devices/system/cpu/cpu0/cpu_capacity",
    "/sys/devices/system/cpu/cpu0/cache/index0/level",
    "/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
    "/sys/devices/system/node/online",
    "/sys/devices/system/node/node0/cpulist",
    "/sys/devices/system/node/node1/cpulist",
    "/sys/devices/system/node/node0/distance",
};
enum { FILE_COUNT = sizeof FILES / sizeof FILES[0] };

static char root[64];

static void remove_root(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", root);
  if (system(command) != 0) fprintf(stderr, "left behind: %s\n", root);
}

static void make_root(void) {
  char path[256];
  snprintf(root, sizeof root, "/tmp/weft-fuzz-XXXXXX");
  EXPECT(mkdtemp(root) != NULL);
  for (int i = 0; i < FILE_COUNT; i++) {
    snprintf(path, sizeof path, "%s%s", root, FILES[i]);
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
      *at = '\0';
      (void)mkdir(path, 0700); /* it may be there */
      *at = '/';
    }
  }
  atexit(remove_root);
}

/* The next part of the input, up to a 0, in memory of its own with a 0 behind it. */
static char *next_part(const uint8_t **data, size_t *left) {
  const uint8_t *end = memchr(*data, 0, *left);
  size_t length = end != NULL ? (size_t)(end - *data) : *left;
  char *part = malloc(length + 1);
  EXPECT(part != NULL);
  memcpy(part, *data, length);
  part[length] = '\0';
  size_t used = end != NULL ? length + 1 : length;
  *data += used;
  *left -= used;
  return part;
}

static void write_file(const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s%s", root, name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT(file >= 0);
  size_t length = strlen(text);
  EXPECT(write(file, text, length) == (ssize_t)length);
  close(file);
}

static void check_environment(const char *num_threads, const char *idle) {
  wf_environment environment = {num_threads, idle};
  wf_options options;
  EXPECT(wf_options_resolve(&options, NULL, environment) == 0);
  EXPECT(options.threads >= 1 && options.threads <= WEFT_MAX_THREADS);
  EXPECT(options.idle == WEFT_IDLE_LOW_LATENCY || options.idle == WEFT_IDLE_BALANCED ||
         options.idle == WEFT_IDLE_POWER_SAVING);
  /* The oracle: a number is taken only if it is written as one writes it, or with zeros
   * in front. */
  const char *digits = num_threads + strspn(num_threads, "0");
  unsigned long value = strtoul(digits, NULL, 10);
  if (num_threads[0] != '\0' && num_threads[strspn(num_threads, "0123456789")] == '\0' &&
      strlen(digits) <= 6 && value >= 1 && value <= WEFT_MAX_THREADS)
    EXPECT(options.threads == value);
}

/* What the comment of wf_topology states. */
static void check_topology(void) {
  wf_topology t;
  EXPECT(wf_topology_read(&t, root, NULL, 0));
  EXPECT(t.count >= 1 && t.groups[WF_CORE] <= t.count);
  for (int d = 0; d < WF_DOMAINS; d++) {
    EXPECT(t.groups[d] >= 1 && (d == 0 || t.groups[d] <= t.groups[d - 1]));
    for (unsigned i = 0; i < t.count; i++) EXPECT(t.cpus[i].group[d] < t.groups[d]);
  }
  for (unsigned i = 0; i < t.count; i++) {
    EXPECT(i == 0 || t.cpus[i - 1].number < t.cpus[i].number);
    EXPECT(t.cpus[i].number < WF_CPU_LIMIT);
    EXPECT(t.cpus[i].capacity >= 1 && t.cpus[i].capacity <= WF_FULL_CAPACITY);
  }
  for (unsigned a = 0; a < t.groups[WF_NODE]; a++)
    for (unsigned b = 0; b < t.groups[WF_NODE]; b++)
      EXPECT(wf_topology_distance(&t, a, b) > 0);
  wf_topology_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (root[0] == '\0') make_root();
  char *num_threads = next_part(&data, &size), *idle = next_part(&data, &size);
  check_environment(num_threads, idle);
  free(num_threads);
  free(idle);
  for (int i = 0; i < FILE_COUNT; i++) {
    char *text = next_part(&data, &size);
    write_file(FILES[i], text);
    free(text);
  }
  unsigned limit = wf_cgroup_cpu_limit(root);
  unsigned cpus = wf_sys_cpu_count(root);
  EXPECT(cpus >= 1 && (limit == 0 || cpus <= limit));
  check_topology();
  return 0;
}
