/* profile.c - where the time of all CPUs goes, in total and over time.
 *
 * Every part of the engine that lets time pass says what for. Times are kept in bins of a
 * microsecond each, so that a report can show how many CPUs did what at which time.
 *
 * SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BINS = 1 << 16 };
#define BIN (1000 * SM_NS)

bool sm_profiles;
bool (*sm_searches)(void);
static sm_time profile_start;
static sm_time (*bins)[SM_SPENT_KINDS];

void sm_profile_begin(void) {
  sm_profiles = true;
  if (bins == NULL) bins = calloc(MOST_BINS, sizeof *bins);
  if (bins == NULL) abort();
  memset(bins, 0, MOST_BINS * sizeof *bins);
  profile_start = sm_clock;
}

void sm_profile_add(sm_spent what, sm_time from, sm_time to) {
  if (from < profile_start) from = profile_start;
  while (from < to) {
    size_t bin = (from - profile_start) / BIN;
    if (bin >= MOST_BINS) return;
    sm_time end = profile_start + (bin + 1) * BIN;
    if (end > to) end = to;
    bins[bin][what] += end - from;
    from = end;
  }
}

sm_time sm_profile_sum(sm_spent what, sm_time from, sm_time to) {
  sm_time sum = 0;
  for (size_t bin = from / BIN; bin < MOST_BINS && bin * BIN < to; bin++)
    sum += bins[bin][what];
  return sum;
}
