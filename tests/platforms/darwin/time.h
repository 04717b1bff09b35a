/* time.h - of macOS, as far as the library uses it; for the check of syntax alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
struct timespec {
  time_t tv_sec;
  long tv_nsec;
};
struct tm {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  char *tm_zone;
};
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6, CLOCK_UPTIME_RAW = 8 } clockid_t;
int clock_gettime(clockid_t clock, struct timespec *out);
int nanosleep(const struct timespec *wanted, struct timespec *left);
time_t time(time_t *out);
struct tm *gmtime_r(const time_t *time, struct tm *out);
size_t strftime(char *out, size_t size, const char *format, const struct tm *time);
