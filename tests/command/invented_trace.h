/* invented_trace.h - traces that no program has written, in the format of weft, for the
 * tests of what reads them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_COMMAND_INVENTED_TRACE_H
#define TESTS_COMMAND_INVENTED_TRACE_H

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct invented {
  text out;
  unsigned workers; /* lane 0 is the caller */
  uint64_t random, arrows;
  double end_us;
} invented;

static inline uint64_t invented_random(invented *t) {
  t->random ^= t->random << 13;
  t->random ^= t->random >> 7;
  t->random ^= t->random << 17;
  return t->random;
}

/* From 0 to 1. */
static inline double invented_share(invented *t) {
  return (double)(invented_random(t) >> 11) / 9007199254740992.0;
}

static inline void invented_begin(invented *t, const char *program, unsigned workers,
                                  unsigned cpus) {
  *t = (invented){.workers = workers, .random = 88172645463325252u};
  text_format(
      &t->out,
      "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"weft\":\"0.2.0\",\"format\":1,"
      "\"program\":\"%s\",\"pid\":4711,\"started\":\"2026-11-17T05:40:00Z\","
      "\"cpus\":%u},\n\"traceEvents\":[\n",
      program, cpus);
  text_format(
      &t->out,
      "{\"ph\":\"M\",\"pid\":4711,\"tid\":0,\"name\":\"weft_pool\",\"args\":{\"pool\":1,"
      "\"name\":\"weft\",\"threads\":%u,\"cpus\":%u,\"idle\":\"balanced\","
      "\"steer\":\"auto\"}}",
      workers, cpus);
  for (unsigned i = 0; i < workers; i++) {
    char name[24];
    snprintf(name, sizeof name, i == 0 ? "caller 0" : "weft-%u", i);
    text_format(
        &t->out,
        ",\n{\"ph\":\"M\",\"pid\":4711,\"tid\":%u,\"name\":\"thread_name\",\"args\":{"
        "\"name\":\"%s\"}},\n{\"ph\":\"M\",\"pid\":4711,\"tid\":%u,\"name\":"
        "\"weft_worker\",\"args\":{\"pool\":1,\"worker\":%u,\"role\":\"%s\"}}",
        10000 + i, name, 10000 + i, i, i == 0 ? "caller" : "started");
  }
}

static inline void invented_slice(invented *t, unsigned worker, double begin,
                                  double length, const char *category, const char *name,
                                  const char *arguments) {
  if (begin + length > t->end_us) t->end_us = begin + length;
  text_format(
      &t->out,
      ",\n{\"ph\":\"X\",\"pid\":4711,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\","
      "\"name\":\"%s\",\"args\":{%s}}",
      10000 + worker, begin, length, category, name, arguments);
}

static inline void invented_block(invented *t, unsigned worker, double begin,
                                  double length, const char *call, size_t first,
                                  size_t last) {
  char name[160], arguments[160];
  snprintf(name, sizeof name, "%s [%zu, %zu)", call, first, last);
  snprintf(arguments, sizeof arguments, "\"call\":\"%s\",\"begin\":%zu,\"end\":%zu", call,
           first, last);
  invented_slice(t, worker, begin, length, "block", name, arguments);
}

static inline void invented_arrow(invented *t, const char *category, unsigned from,
                                  double from_time, unsigned to, double to_time) {
  t->arrows++;
  text_format(
      &t->out,
      ",\n{\"ph\":\"s\",\"pid\":4711,\"tid\":%u,\"ts\":%.3f,\"cat\":\"%s\",\"name\":\"%"
      "s\","
      "\"id\":%llu},\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":4711,\"tid\":%u,\"ts\":%.3f,"
      "\"cat\":\"%s\",\"name\":\"%s\",\"id\":%llu}",
      10000 + from, from_time, category, category, (unsigned long long)t->arrows,
      10000 + to, to_time, category, category, (unsigned long long)t->arrows);
}

static inline void invented_sleep(invented *t, unsigned worker, double begin,
                                  double length, unsigned waker, double late_us) {
  char arguments[96];
  snprintf(arguments, sizeof arguments,
           "\"kind\":\"idle\",\"woken_by\":%u,\"late_us\":%.3f", 10000 + waker, late_us);
  invented_slice(t, worker, begin, length, "sleep", "sleep", arguments);
  invented_arrow(t, "wake", waker, begin + length - late_us, worker, begin + length);
}

static inline void invented_mark(invented *t, unsigned worker, double time,
                                 const char *category, const char *name,
                                 const char *arguments) {
  text_format(
      &t->out,
      ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":4711,\"tid\":%u,\"ts\":%.3f,\"cat\":\"%s\","
      "\"name\":\"%s\",\"args\":{%s}}",
      10000 + worker, time, category, name, arguments);
}

static inline void invented_end(invented *t, const char *reason) {
  text_format(
      &t->out,
      ",\n{\"ph\":\"M\",\"pid\":4711,\"tid\":0,\"name\":\"weft_end\",\"args\":{"
      "\"complete\":%s,\"reason\":\"%s\",\"events\":1,\"duration_us\":%.3f,\"dropped\":0,"
      "\"dropped_short\":0,\"shortest_us\":0}}\n]}\n",
      strcmp(reason, "running") == 0 ? "false" : "true", reason, t->end_us);
}

/* A program of some phases that looks like one: serial parts, loops, sorts, recursion,
 * and about `slices` slices. */
static inline void invented_program(invented *t, const char *program, unsigned workers,
                                    size_t slices) {
  static const char *const loops[] = {"blur rows", "weft_for",  "weft_sort",
                                      "histogram", "integrate", "shade"};
  invented_begin(t, program, workers, workers);
  double now = 40;
  double free_at[1024];
  for (unsigned i = 0; i < workers; i++) free_at[i] = 0;
  size_t made = 0;
  for (unsigned phase = 0; made < slices; phase++) {
    const char *loop = loops[phase % 6];
    size_t blocks = slices / 24 < 2 * workers ? 2 * workers : slices / 24;
    double start = now + (phase % 3 == 0 ? 60 : 15) + 80 * invented_share(t);
    double block_us = phase % 4 == 3 ? 14 : 3 + 5 * invented_share(t);
    double at[1024], latest = 0;
    size_t next = 0;
    for (unsigned w = 0; w < workers; w++) {
      double late = 4 + 30 * invented_share(t) + (phase % 7 == 2 && w == 2 ? 700 : 0);
      at[w] = w == 0 ? start : start + late;
      if (w == 0) continue;
      double idle = at[w] - free_at[w];
      if (idle > 25) invented_sleep(t, w, free_at[w] + 15, idle - 16, 0, late - 2);
      invented_slice(t, w, free_at[w] + 0.2, idle - 0.4, "idle", "idle", "");
      invented_mark(t, 0, start + 0.3 * w, "expose", "expose", "\"tasks\":1");
      invented_arrow(t, "steal", 0, at[w], w, at[w]);
    }
    double task_begin[1024];
    for (unsigned w = 0; w < workers; w++) task_begin[w] = at[w];
    for (size_t b = 0; b < blocks; b++) {
      unsigned w = 0; /* the thread that is free first takes the next block */
      for (unsigned i = 1; i < workers; i++)
        if (at[i] < at[w]) w = i;
      double length = block_us * (0.5 + invented_share(t));
      invented_block(t, w, at[w] + 0.2, length, loop, next, next + 256);
      next += 256;
      at[w] += length + 0.3;
      made++;
    }
    for (unsigned w = 0; w < workers; w++)
      if (at[w] > latest) latest = at[w];
    for (unsigned w = 1; w < workers; w++) {
      char arguments[64];
      snprintf(arguments, sizeof arguments, "\"kind\":\"stolen\",\"from\":0");
      invented_slice(t, w, task_begin[w], at[w] - task_begin[w] + 0.1, "task",
                     "stolen task", arguments);
      free_at[w] = at[w] + 0.1;
      made += 2;
    }
    char name[96], arguments[64];
    snprintf(name, sizeof name, "%s [0, %zu)", loop, next);
    snprintf(arguments, sizeof arguments, "\"call\":\"%s\",\"n\":%zu", loop, next);
    if (latest > at[0] + 0.2)
      invented_slice(t, 0, at[0] + 0.1, latest - at[0], "wait", "wait: weft_join", "");
    invented_slice(t, 0, start - 0.5, latest - start + 1, "call", name, arguments);
    invented_slice(t, 0, start - 1, latest - start + 2, "task", "call from outside",
                   "\"kind\":\"run\"");
    now = latest + 2;
    char number[32];
    snprintf(number, sizeof number, "\"number\":%u", phase + 1);
    invented_mark(t, 0, now, "frame", "frame", number);
    made += 3;
  }
  for (unsigned w = 1; w < workers; w++)
    invented_slice(t, w, free_at[w] + 0.1, now - free_at[w], "idle", "idle",
                   "\"open\":true");
  invented_end(t, "exit");
}

#endif
