/* harness/machine.c - collects facts about the machine from /proc, /sys and the build,
 * for the head of every result file.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "machine.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

int usable_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* The value of the first line "key : value" of a text. */
static char *value_in(const char *content, const char *key) {
  const char *at = content;
  while (at != NULL && *at != 0) {
    size_t length = strcspn(at, "\n"), name = strlen(key);
    const char *colon = memchr(at, ':', length);
    if (strncmp(at, key, name) == 0 && colon != NULL && at + name <= colon) {
      const char *from = colon + 1 + strspn(colon + 1, " \t");
      return copy_bytes(from, (size_t)(at + length - from));
    }
    at += length + (at[length] != 0);
  }
  return copy_text("unknown");
}

static void fact_from(results *r, const char *fact_key, const char *path,
                      const char *key) {
  char *content = read_file(path);
  char *value = value_in(content, key);
  results_fact(r, fact_key, value);
  free(content);
  free(value);
}

static void fact_file(results *r, const char *fact_key, const char *path) {
  char *content = read_file(path);
  if (content == NULL) return;
  content[strcspn(content, "\n")] = 0;
  results_fact(r, fact_key, content);
  free(content);
}

static void build_facts_of(results *r, const char *path) {
  char *content = read_file(path);
  if (content == NULL) return;
  words lines = split(content, "\n");
  for (size_t i = 0; i < lines.count; i++) {
    char *space = strchr(lines.items[i], ' ');
    if (space == NULL) continue;
    *space = 0;
    results_fact(r, lines.items[i], space + 1);
    *space = ' ';
  }
  words_free(&lines);
  free(content);
}

void machine_facts(results *r, const char *build_facts) {
  struct utsname system;
  text value = {0};
  fact_from(r, "cpu", "/proc/cpuinfo", "model name");
  text_print(&value, "%d", usable_cpus());
  results_fact(r, "cpus", value.chars);
  text_free(&value);
  fact_from(r, "memory", "/proc/meminfo", "MemTotal");
  if (uname(&system) == 0) {
    text_print(&value, "%s %s %s", system.sysname, system.release, system.machine);
    results_fact(r, "system", value.chars);
    text_free(&value);
  }
  fact_file(r, "load", "/proc/loadavg");
  fact_file(r, "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled");
  fact_file(r, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  build_facts_of(r, build_facts);
}

char *time_now(void) {
  char chars[32];
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(chars, sizeof chars, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return copy_text(chars);
}
