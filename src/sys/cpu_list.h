/* sys/cpu_list.h - lists of CPUs as text, "0-7,16-23": the form of the system's files, of
 * taskset, and of weft_config.cpus.
 *
 * Who calls: topology.c, and sched for what a program has configured. No state.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_CPU_LIST_H
#define WF_SYS_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* CPUs have numbers below this one. A choice: eight times what the largest kernels of
 * today are built for, and small enough that a list never takes much memory. */
enum { WF_CPU_LIMIT = 1 << 16 };

/* A decimal number below WF_CPU_LIMIT; *text moves behind it. */
static inline bool wf_cpu_number(const char **text, unsigned *out) {
  const char *at = *text;
  unsigned value = 0;
  if (*at < '0' || *at > '9') return false;
  for (; *at >= '0' && *at <= '9'; at++) {
    value = value * 10 + (unsigned)(*at - '0');
    if (value >= WF_CPU_LIMIT) return false;
  }
  *text = at;
  *out = value;
  return true;
}

typedef enum wf_cpu_range_is { WF_RANGE_WRONG, WF_RANGE_FOUND, WF_RANGE_END } wf_range_is;

/* Reads the range at the front of a list, "3" or "0-7", and the comma behind it; *text
 * moves behind both. WRONG, and *text stays, for anything else, also for "7-0" and for a
 * comma with nothing behind it. */
static inline wf_range_is wf_cpu_range(const char **text, unsigned *first,
                                       unsigned *last) {
  const char *at = *text;
  if (*at == '\0') return WF_RANGE_END;
  if (!wf_cpu_number(&at, first)) return WF_RANGE_WRONG;
  *last = *first;
  if (*at == '-') {
    at++;
    if (!wf_cpu_number(&at, last) || *last < *first) return WF_RANGE_WRONG;
  }
  if (*at == ',' && at[1] != '\0')
    at++;
  else if (*at != '\0')
    return WF_RANGE_WRONG;
  *text = at;
  return WF_RANGE_FOUND;
}

/* Writes an ascending array as a list, cut with "..." where there is no room for all. */
static inline void wf_cpu_list_write(char *out, size_t size, const unsigned *cpus,
                                     unsigned count) {
  size_t used = 0;
  if (size == 0) return;
  *out = '\0';
  for (unsigned i = 0; i < count;) {
    unsigned last = i;
    while (last + 1 < count && cpus[last + 1] == cpus[last] + 1) last++;
    char range[32];
    int length = cpus[last] > cpus[i]
                     ? snprintf(range, sizeof range, "%s%u-%u", i > 0 ? "," : "", cpus[i],
                                cpus[last])
                     : snprintf(range, sizeof range, "%s%u", i > 0 ? "," : "", cpus[i]);
    size_t room = last + 1 < count ? size - used - 4 : size - used; /* for "..." */
    if (length < 0 || size - used < 4 || (size_t)length >= room) {
      size_t dots = size - used > 3 ? 3 : size - used - 1;
      memset(out + used, '.', dots);
      out[used + dots] = '\0';
      return;
    }
    (void)snprintf(out + used, size - used, "%s", range);
    used += (size_t)length;
    i = last + 1;
  }
}

/* Where a CPU is in an ascending array, or `count`. */
static inline unsigned wf_cpu_find(const unsigned *cpus, unsigned count, unsigned cpu) {
  unsigned low = 0, high = count;
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (cpus[middle] < cpu)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && cpus[low] == cpu ? low : count;
}

#endif
