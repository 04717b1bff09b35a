/* memory/rss.h - resident memory of the process while a scope runs, without allocating.
 *
 * /proc/self/smaps_rollup is the sum of all mappings of /proc/self/smaps, counted page by
 * page, in a few lines: they fit into a buffer on the stack. Reading through a FILE would
 * make the C library set up an arena for each thread that asks, and the figure would
 * count it. The peak is the kernel's own, VmHWM; recent kernels keep it with less care,
 * so it is shown and not judged.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_MEMORY_RSS_H
#define BENCH_MEMORY_RSS_H

#include "../common/bench.h"
#include <fcntl.h>

/* The number that follows the label in a file of /proc. */
BENCH_HELPER double rss_read_kib(const char *path, const char *label) {
  char text[4096];
  size_t length = 0;
  ssize_t got = -1;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    while (length < sizeof text - 1 &&
           (got = read(file, text + length, sizeof text - 1 - length)) > 0)
      length += (size_t)got;
    close(file);
  }
  text[length] = '\0';
  const char *found = strstr(text, label);
  if (found == NULL) {
    fprintf(stderr, "memory: no %s in %s\n", label, path);
    exit(2);
  }
  return strtod(found + strlen(label), NULL);
}

BENCH_HELPER double rss_now_kib(void) {
  return rss_read_kib("/proc/self/smaps_rollup", "\nRss:");
}

BENCH_HELPER double rss_peak_kib(void) {
  return rss_read_kib("/proc/self/status", "\nVmHWM:");
}

#endif
