/* trace/event.h - one event of a trace in Chrome's JSON format.
 *
 * SPDX-License-Identifier: MIT */
#ifndef COMMAND_TRACE_EVENT_H
#define COMMAND_TRACE_EVENT_H

#include "trace.h"

typedef struct event {
  char phase[4], category[24], name[256];
  double pid, tid, time_us, duration_us, id;
  /* Those of its arguments that anybody uses; -1 and "" where they are missing. */
  char text_name[256], call[256], role[16], kind[16], reason[40];
  double from, first, last, n, woken_by, late_us, worker, pool, threads, cpus, tasks;
  double number, records, dropped, dropped_short, shortest_us, duration_end_us;
  double cpu_us, starved_us, waits, preemptions;
  bool complete, open;
  lane_stats stats;
} event;

/* Reads an event whose opening brace was read. False on an error. */
bool event_read(json_reader *r, event *e);

#endif
