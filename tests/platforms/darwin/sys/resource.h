/* sys/resource.h - of macOS, as far as the library uses it; for the check of syntax
 * alone.
 *
 * SPDX-License-Identifier: MIT */
#pragma once
#include <sys/types.h>
struct timeval {
  time_t tv_sec;
  int tv_usec;
};
struct rusage {
  struct timeval ru_utime, ru_stime;
  long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap,
      ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw;
};
#define RUSAGE_SELF 0
int getrusage(int who, struct rusage *out);
