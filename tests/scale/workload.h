/* workload.h - what a workload needs: the same code runs on the simulated machine and on
 * the real one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SCALE_WORKLOAD_H
#define SCALE_WORKLOAD_H

#include <sys/sys.h>
#include <weft.h>

/* A run: how many threads, and how large. */
typedef struct scale_run {
  unsigned threads;
  weft_pool *pool;
  double size;    /* 1: as in the plots; smaller for quick checks */
  double work_ns; /* work done, all threads together: set by the workload */
  double extra;   /* what else the workload measures, in nanoseconds; < 0: nothing */
} scale_run;

typedef void scale_fn(scale_run *run);

typedef struct scale_workload {
  const char *name;
  const char *about;
  scale_fn *fn;
  struct scale_workload *next;
} scale_workload;

#define WORKLOAD(id, text)                                                               \
  static void run_##id(scale_run *run);                                                  \
  __attribute__((constructor)) static void add_##id(void) {                              \
    static scale_workload entry = {#id, text, run_##id, NULL};                           \
    scale_add(&entry);                                                                   \
  }                                                                                      \
  static void run_##id(scale_run *run)

void scale_add(scale_workload *workload);
const scale_workload *scale_find(const char *name);
extern scale_workload *scale_first;

/* Work that touches no memory. */
void scale_work(double ns);
double scale_now_ns(void);
/* The measured part; what comes before warms up. */
void scale_begin(void);
void scale_end(void);
/* Waits for a time without a CPU. */
void scale_pause(double ns);

/* A number that depends on nothing but its argument. */
static inline uint64_t scale_mix(uint64_t z) {
  z += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

#endif
