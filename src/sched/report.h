/* sched/report.h - the pools of the process, and what is said about them: samples for
 * traces, the table of WEFT_STATS=1, the file of WEFT_STATS=live.
 *
 * [any], all of it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_REPORT_H
#define WF_SCHED_REPORT_H

#include "environment.h"
#include "pool.h"

/* A pool was made: it gets its number. A pool is about to be freed; its threads have
 * ended. */
void wf_report_add(weft_pool *pool);
void wf_report_remove(weft_pool *pool);

/* Hands samples of all pools to the trace (wf_trace_start). */
void wf_report_sample(bool with_stats);

/* Does what WEFT_STATS says; called once. */
void wf_report_prepare(wf_stats_wish wish);
void wf_report_after_fork(void);

#endif
