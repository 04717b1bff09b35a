/* sched/environment.h - the environment variables of the library, and what is said about
 * values that make no sense.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_ENVIRONMENT_H
#define WF_SCHED_ENVIRONMENT_H

#include <weft/pool.h>

/* The variables of pools, as strings or NULL, so that tests can play them. */
typedef struct wf_environment {
  const char *num_threads; /* WEFT_NUM_THREADS */
  const char *idle;        /* WEFT_IDLE */
  const char *steer;       /* WEFT_STEER */
  const char *queue_limit; /* WEFT_QUEUE_LIMIT */
} wf_environment;

/* Reads these variables. The first call of a process also reports names that look like
 * one the library's with a typing mistake. */
wf_environment wf_environment_read(void);

/* The meaning of a variable's value. A value that is not set or empty is the default; one
 * that is not understood is the default too, and is reported: one line on standard error,
 * once per variable and process. Ask only for what the configuration leaves open, so that
 * nothing is said about a variable that is not used. */
unsigned wf_environment_threads(const char *text, unsigned usable_cpus);
weft_idle wf_environment_idle(const char *text);
weft_steer wf_environment_steer(const char *text);
unsigned wf_environment_queue_limit(const char *text); /* 0: none */

/* The same for what record.c reads when something is recorded: WEFT_STATS, and
 * WEFT_TRACE_LIMIT in MiB. WEFT_TRACE is a path, and every path makes sense. */
typedef enum wf_stats_wish { WF_STATS_NONE, WF_STATS_TABLE, WF_STATS_LIVE } wf_stats_wish;
wf_stats_wish wf_environment_stats(const char *text);
unsigned wf_environment_trace_limit(const char *text);

/* Does `name` look like one of the library's variables with a typing mistake? Returns
 * that variable's name, or NULL, also if `name` is exactly right. `length` is that of
 * `name`, which need not end there. */
const char *wf_environment_meant(const char *name, size_t length);

#endif
