/* trace/event.c - reads one event of a trace.
 *
 * SPDX-License-Identifier: MIT */
#include "event.h"

#include <stdlib.h>
#include <string.h>

/* Where the numbers of args go. */
static const struct {
  const char *key;
  size_t offset;
} NUMBERS[] = {
#define NUMBER(key, member)                                                              \
  { key, offsetof(event, member) }
    NUMBER("from", from),
    NUMBER("begin", first),
    NUMBER("end", last),
    NUMBER("n", n),
    NUMBER("woken_by", woken_by),
    NUMBER("late_us", late_us),
    NUMBER("worker", worker),
    NUMBER("pool", pool),
    NUMBER("threads", threads),
    NUMBER("cpus", cpus),
    NUMBER("tasks", tasks),
    NUMBER("number", number),
    NUMBER("records", records),
    NUMBER("dropped", dropped),
    NUMBER("dropped_short", dropped_short),
    NUMBER("shortest_us", shortest_us),
    NUMBER("duration_us", duration_end_us),
    NUMBER("cpu_us", cpu_us),
    NUMBER("starved_us", starved_us),
    NUMBER("waits", waits),
    NUMBER("preemptions", preemptions),
    NUMBER("steals", stats.steals),
    NUMBER("failed_steals", stats.failed_steals),
    NUMBER("exposes", stats.exposes),
    NUMBER("takeovers", stats.takeovers),
    NUMBER("injected", stats.injected),
    NUMBER("sleeps", stats.sleeps),
    NUMBER("wakes", stats.wakes),
    NUMBER("futile", stats.futile),
    NUMBER("misplaced", stats.misplaced),
    NUMBER("steered", stats.steered),
    NUMBER("deepest", stats.deepest),
    NUMBER("working_ns", stats.working_ns),
    NUMBER("searching_ns", stats.searching_ns),
    NUMBER("asleep_ns", stats.asleep_ns),
#undef NUMBER
};

enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };

static void set_argument_number(event *e, const char *key, double value) {
  for (int i = 0; i < NUMBER_COUNT; i++)
    if (strcmp(NUMBERS[i].key, key) == 0)
      memcpy((char *)e + NUMBERS[i].offset, &value, sizeof value);
}

static void set_argument_text(event *e, const char *key, const json_reader *r) {
  if (strcmp(key, "name") == 0) json_copy_text(e->text_name, sizeof e->text_name, r);
  if (strcmp(key, "call") == 0) json_copy_text(e->call, sizeof e->call, r);
  if (strcmp(key, "role") == 0) json_copy_text(e->role, sizeof e->role, r);
  if (strcmp(key, "kind") == 0) json_copy_text(e->kind, sizeof e->kind, r);
  if (strcmp(key, "reason") == 0) json_copy_text(e->reason, sizeof e->reason, r);
}

static bool read_arguments(json_reader *r, event *e) {
  char key[24];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_NUMBER)
      set_argument_number(e, key, r->number);
    else if (token == JSON_STRING)
      set_argument_text(e, key, r);
    else if (token == JSON_TRUE && strcmp(key, "complete") == 0)
      e->complete = true;
    else if (token == JSON_TRUE && strcmp(key, "open") == 0)
      e->open = true;
    else if (!json_skip(r, token))
      return false;
  }
  return true;
}

static void set_number(event *e, const char *key, double value) {
  if (strcmp(key, "ts") == 0) e->time_us = value;
  if (strcmp(key, "dur") == 0) e->duration_us = value;
  if (strcmp(key, "tid") == 0) e->tid = value;
  if (strcmp(key, "pid") == 0) e->pid = value;
  if (strcmp(key, "id") == 0) e->id = value;
}

/* Numbers as text: ids of other programs may be "0x1f", or words. */
static double text_as_number(const char *string) {
  char *end;
  double value = strtod(string, &end);
  if (*string != '\0' && *end == '\0') return value;
  uint32_t hash = 2166136261u;
  for (; *string != '\0'; string++) hash = (hash ^ (unsigned char)*string) * 16777619u;
  return (double)hash;
}

static void set_member_text(event *e, const char *key, const json_reader *r) {
  if (strcmp(key, "ph") == 0) json_copy_text(e->phase, sizeof e->phase, r);
  if (strcmp(key, "cat") == 0) json_copy_text(e->category, sizeof e->category, r);
  if (strcmp(key, "name") == 0) json_copy_text(e->name, sizeof e->name, r);
  if (strcmp(key, "id") == 0) e->id = text_as_number(r->string);
  if (strcmp(key, "tid") == 0) e->tid = text_as_number(r->string);
  if (strcmp(key, "pid") == 0) e->pid = text_as_number(r->string);
}

bool event_read(json_reader *r, event *e) {
  memset(e, 0, sizeof *e);
  for (int i = 0; i < NUMBER_COUNT; i++) {
    double missing = -1;
    memcpy((char *)e + NUMBERS[i].offset, &missing, sizeof missing);
  }
  e->id = -1;
  char key[24];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_OBJECT && strcmp(key, "args") == 0) {
      if (!read_arguments(r, e)) return false;
    } else if (token == JSON_NUMBER) {
      set_number(e, key, r->number);
    } else if (token == JSON_STRING) {
      set_member_text(e, key, r);
    } else if (!json_skip(r, token)) {
      return false;
    }
  }
  return true;
}
