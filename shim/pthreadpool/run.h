/* run.h - one call of pthreadpool: what it runs, and on which pool.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WFP_RUN_H
#define WFP_RUN_H

#include <pthreadpool.h>
#include <stdint.h>

#include "grid.h"

typedef void job_function(void);

/* One call. It lives on the stack of the caller and does not change while it runs. */
struct job {
  /* Calls job->function with its true type. */
  void (*invoke)(const struct job *job, size_t thread, const size_t *values);
  job_function *function; /* of the program, in a type that fits all */
  void *context;
  uint32_t uarch;
  uint32_t flags;
  struct grid grid;
  const struct part *outer; /* what the caller was doing, see run.c */
};

/* Runs a call to its end. */
void wfp_run(pthreadpool_t pool, struct job *job);

/* Ends the program: `name` was called with a mistake. */
_Noreturn void wfp_misuse(const char *name, const char *mistake);

#endif
