/* trace/read.c - reads a trace in Chrome's JSON format into memory.
 *
 * Events come in any order. Slices are complete ("X") in traces of weft; pairs of begin
 * and end ("B", "E") of other programs are read too. A file that ends too early is read
 * as far as it goes, and the trace says so.
 *
 * SPDX-License-Identifier: MIT */
#include "event.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names and lanes ---- */

static uint32_t hash_of(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
  return hash ^ hash >> 15;
}

static void grow_name_table(trace *t) {
  size_t size = t->name_table_size == 0 ? 256 : t->name_table_size * 2;
  free(t->name_table);
  t->name_table = memory_resize(NULL, size, sizeof *t->name_table);
  memset(t->name_table, 0, size * sizeof *t->name_table);
  t->name_table_size = size;
  for (uint32_t i = 0; i < t->name_count; i++) {
    size_t at = hash_of(t->names[i]) & (size - 1);
    while (t->name_table[at] != 0) at = (at + 1) & (size - 1);
    t->name_table[at] = i + 1;
  }
}

static uint32_t intern(trace *t, const char *name) {
  if (t->name_count * 2 >= t->name_table_size) grow_name_table(t);
  size_t at = hash_of(name) & (t->name_table_size - 1);
  for (; t->name_table[at] != 0; at = (at + 1) & (t->name_table_size - 1))
    if (strcmp(t->names[t->name_table[at] - 1], name) == 0) return t->name_table[at] - 1;
  ARRAY_GROW(t->names, t->name_count, t->name_capacity);
  char *copy = memory_resize(NULL, strlen(name) + 1, 1);
  strcpy(copy, name);
  t->names[t->name_count] = copy;
  t->name_table[at] = (uint32_t)++t->name_count;
  return (uint32_t)t->name_count - 1;
}

static uint64_t to_natural(double value) {
  return value > 0 ? (uint64_t)value : 0;
}

/* What one reading carries along. */
typedef struct trace_reading {
  trace *trace;
  uint32_t last_lane;
  /* Halves of arrows, and slices that have begun, until their partners come. */
  struct half {
    double id;
    uint64_t time;
    uint32_t lane;
    uint8_t kind;
    bool end;
  } * halves;
  size_t half_count, half_capacity;
  slice *begins;
  size_t begin_count, begin_capacity;
  double first_us; /* the earliest event; traces of others count from anywhere */
  uint64_t last_ns;
  double end_us; /* as the trace itself says; -1 */
} trace_reading;

static uint32_t lane_of(trace_reading *reading, double pid, double tid) {
  trace *t = reading->trace;
  uint64_t p = to_natural(pid), id = to_natural(tid);
  if (reading->last_lane < t->lane_count && t->lanes[reading->last_lane].tid == id &&
      t->lanes[reading->last_lane].pid == p)
    return reading->last_lane;
  uint32_t i = 0;
  while (i < t->lane_count && (t->lanes[i].tid != id || t->lanes[i].pid != p)) i++;
  if (i == t->lane_count) {
    ARRAY_GROW(t->lanes, t->lane_count, t->lane_capacity);
    lane *l = &t->lanes[t->lane_count++];
    memset(l, 0, sizeof *l);
    l->pid = p;
    l->tid = id;
    l->pool = l->worker = -1;
    snprintf(l->name, sizeof l->name, "thread %llu", (unsigned long long)id);
  }
  reading->last_lane = i;
  return i;
}

/* ---- events become parts of the trace ---- */

static slice_kind kind_of(const event *e) {
  static const char *const names[SLICE_KINDS] = {"task", "call",     "block", "scope",
                                                 "wait", "blocking", "idle",  "sleep"};
  for (int kind = 0; kind < SLICE_KINDS; kind++)
    if (strcmp(e->category, names[kind]) == 0) return (slice_kind)kind;
  return SLICE_TASK;
}

static uint64_t to_ns(double us) {
  return us > 0 ? (uint64_t)llround(us * 1000) : 0;
}

/* WEFT_HERE is the path that the compiler was given: "blur, ../../src/main.c:57" becomes
 * "blur, main.c:57". */
static void strip_folders(char *name) {
  char *colon = strrchr(name, ':');
  if (colon == NULL || colon[1] < '0' || colon[1] > '9') return;
  char *path = colon, *file = NULL;
  for (; path > name && path[-1] != ' '; path--)
    if (path[-1] == '/' && file == NULL) file = path;
  if (file != NULL) memmove(path, file, strlen(file) + 1);
}

/* "weft_for [0, 100)" without its range, which is kept as two numbers. */
static void strip_range(char *name) {
  size_t length = strlen(name);
  char *bracket = strrchr(name, '[');
  if (length > 0 && name[length - 1] == ')' && bracket != NULL && bracket > name &&
      bracket[-1] == ' ')
    bracket[-1] = '\0';
}

static void keep_slice(trace *t, slice s) {
  ARRAY_GROW(t->slices, t->slice_count, t->slice_capacity);
  s.order = (uint32_t)t->slice_count;
  t->slices[t->slice_count++] = s;
}

/* The slice that an event describes; it ends where the event says, or at once. */
static slice make_slice(trace_reading *reading, event *e) {
  slice s = {.other = -1, .open = e->open};
  s.lane = lane_of(reading, e->pid, e->tid);
  s.kind = (uint8_t)kind_of(e);
  s.begin = to_ns(e->time_us);
  s.end = s.begin + to_ns(e->duration_us);
  if (s.kind == SLICE_BLOCK && e->first >= 0 && e->last >= e->first) {
    s.has_range = true;
    s.first = to_natural(e->first);
    s.last = to_natural(e->last);
  } else if (s.kind == SLICE_CALL && e->n >= 0) {
    s.has_range = true;
    s.last = to_natural(e->n);
  }
  if (s.has_range) strip_range(e->name);
  if (reading->trace->from_weft) strip_folders(e->name);
  s.name = intern(reading->trace, e->name[0] != '\0' ? e->name : "(no name)");
  if (s.kind == SLICE_SLEEP) {
    s.late = to_ns(e->late_us);
    if (e->woken_by >= 0) s.other = (int32_t)lane_of(reading, e->pid, e->woken_by);
  }
  if (s.kind == SLICE_TASK && e->from >= 0) {
    double pool = floor(e->tid / 10000);
    s.other = (int32_t)lane_of(reading, e->pid, pool * 10000 + e->from);
  }
  return s;
}

static void add_slice(trace_reading *reading, event *e) {
  slice s = make_slice(reading, e);
  keep_slice(reading->trace, s);
  if (s.end > reading->last_ns) reading->last_ns = s.end;
}

static void begin_slice(trace_reading *reading, event *e) {
  ARRAY_GROW(reading->begins, reading->begin_count, reading->begin_capacity);
  reading->begins[reading->begin_count++] = make_slice(reading, e);
}

/* The newest open slice of the lane ends. In traces of weft the end has the arguments
 * that count, and among them the name of a task that was named late; other programs write
 * neither there. */
static void end_slice(trace_reading *reading, event *e) {
  bool named = e->name[0] != '\0';
  if (reading->trace->from_weft && e->text_name[0] != '\0')
    memcpy(e->name, e->text_name, sizeof e->name);
  slice end = make_slice(reading, e);
  for (size_t i = reading->begin_count; i-- > 0;) {
    slice s = reading->begins[i];
    if (s.lane != end.lane || (named && e->category[0] != '\0' && s.kind != end.kind))
      continue;
    memmove(&reading->begins[i], &reading->begins[i + 1],
            (reading->begin_count - i - 1) * sizeof *reading->begins);
    reading->begin_count--;
    uint64_t begin = s.begin, time = end.begin;
    if (named) s = end;
    s.begin = begin;
    s.end = time > begin ? time : begin;
    keep_slice(reading->trace, s);
    return;
  }
}

static void add_half(trace_reading *reading, const event *e) {
  ARRAY_GROW(reading->halves, reading->half_count, reading->half_capacity);
  reading->halves[reading->half_count++] =
      (struct half){.id = e->id,
                    .time = to_ns(e->time_us),
                    .lane = lane_of(reading, e->pid, e->tid),
                    .kind = strcmp(e->category, "wake") == 0 ? ARROW_WAKE : ARROW_STEAL,
                    .end = e->phase[0] == 'f'};
}

static void add_mark(trace_reading *reading, const event *e) {
  static const char *const names[MARK_KINDS] = {"frame", "expose", "takeover", "inject",
                                                "note"};
  trace *t = reading->trace;
  int kind = 0;
  while (kind < MARK_KINDS && strcmp(e->category, names[kind]) != 0) kind++;
  if (kind == MARK_KINDS) return; /* steals and wakes are arrows */
  ARRAY_GROW(t->marks, t->mark_count, t->mark_capacity);
  double number = kind == MARK_FRAME  ? e->number
                  : kind == MARK_NOTE ? e->records
                                      : e->tasks;
  t->marks[t->mark_count++] = (mark){.time = to_ns(e->time_us),
                                     .lane = lane_of(reading, e->pid, e->tid),
                                     .name = intern(t, e->name),
                                     .number = number,
                                     .kind = (uint8_t)kind};
}

static lane *lane_named(trace_reading *reading, const event *e) {
  uint32_t number = lane_of(reading, e->pid, e->tid); /* may move the lanes */
  return &reading->trace->lanes[number];
}

static void set_metadata(trace_reading *reading, const event *e) {
  trace *t = reading->trace;
  if (strcmp(e->name, "process_name") == 0) {
    if (t->program[0] == '\0')
      snprintf(t->program, sizeof t->program, "%s", e->text_name);
  } else if (strcmp(e->name, "weft_pool") == 0) {
    if (e->threads > 0) t->threads += e->threads;
    if (e->cpus > 0) t->cpus = e->cpus;
  } else if (strcmp(e->name, "weft_end") == 0) {
    t->complete = e->complete;
    snprintf(t->reason, sizeof t->reason, "%s", e->reason);
    t->dropped = e->dropped > 0 ? e->dropped : 0;
    t->dropped_short = e->dropped_short > 0 ? e->dropped_short : 0;
    t->shortest_ns = e->shortest_us > 0 ? e->shortest_us * 1000 : 0;
    reading->end_us = e->duration_end_us;
    t->cpu_ns = e->cpu_us > 0 ? e->cpu_us * 1000 : 0;
    t->starved_ns = e->starved_us > 0 ? e->starved_us * 1000 : 0;
    t->waits = e->waits > 0 ? e->waits : 0;
    t->preemptions = e->preemptions > 0 ? e->preemptions : 0;
  } else if (strcmp(e->name, "thread_name") == 0 && e->text_name[0] != '\0') {
    lane *l = lane_named(reading, e);
    snprintf(l->name, sizeof l->name, "%.47s", e->text_name);
  } else if (strcmp(e->name, "weft_worker") == 0) {
    lane *l = lane_named(reading, e);
    l->pool = (int)e->pool;
    l->worker = (int)e->worker;
    l->started = strcmp(e->role, "started") == 0;
  } else if (strcmp(e->name, "weft_stats") == 0) {
    lane *l = lane_named(reading, e);
    l->has_stats = true;
    l->stats = e->stats;
    l->stats.tasks = e->tasks;
  }
}

static void take_event(trace_reading *reading, event *e) {
  trace *t = reading->trace;
  t->events++;
  uint64_t time = to_ns(e->time_us);
  if (e->phase[0] != 'M') {
    if (e->time_us < reading->first_us) reading->first_us = e->time_us;
    if (time > reading->last_ns) reading->last_ns = time;
  }
  switch (e->phase[0]) {
  case 'X':
    add_slice(reading, e);
    break;
  case 'B':
    begin_slice(reading, e);
    break;
  case 'E':
    end_slice(reading, e);
    break;
  case 's':
  case 'f':
    add_half(reading, e);
    break;
  case 'i':
  case 'I':
    add_mark(reading, e);
    break;
  case 'M':
    set_metadata(reading, e);
    break;
  default:
    break; /* counters: the stretches of the lanes say more */
  }
}

/* ---- arrows ---- */

static int compare_halves(const void *a, const void *b) {
  const struct half *x = a, *y = b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  return (int)x->end - (int)y->end;
}

static int compare_arrows(const void *a, const void *b) {
  const arrow *x = a, *y = b;
  return x->to_time < y->to_time ? -1 : x->to_time > y->to_time;
}

static void pair_arrows(trace_reading *reading) {
  trace *t = reading->trace;
  if (reading->half_count == 0) return;
  qsort(reading->halves, reading->half_count, sizeof *reading->halves, compare_halves);
  for (size_t i = 0; i + 1 < reading->half_count; i++) {
    const struct half *from = &reading->halves[i], *to = from + 1;
    if (from->end || !to->end || from->id != to->id || from->kind != to->kind) continue;
    ARRAY_GROW(t->arrows, t->arrow_count, t->arrow_capacity);
    t->arrows[t->arrow_count++] =
        (arrow){from->time, to->time, from->lane, to->lane, from->kind};
    i++;
  }
  if (t->arrow_count > 0)
    qsort(t->arrows, t->arrow_count, sizeof *t->arrows, compare_arrows);
}

/* ---- lanes in order, slices in order ---- */

static int compare_lanes(const void *a, const void *b) {
  const lane *x = a, *y = b;
  if (x->pid != y->pid) return x->pid < y->pid ? -1 : 1;
  return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int compare_slices(const void *a, const void *b) {
  const slice *x = a, *y = b;
  if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  if (x->end != y->end) return x->end > y->end ? -1 : 1;
  /* Of two slices at the same place the inner one was written first. */
  return x->order > y->order ? -1 : x->order < y->order;
}

static int compare_marks(const void *a, const void *b) {
  const mark *x = a, *y = b;
  return x->time < y->time ? -1 : x->time > y->time;
}

/* Sorts the lanes, and renumbers what refers to them. */
static void sort_lanes(trace *t) {
  if (t->lane_count == 0) return;
  lane *before = memory_resize(NULL, t->lane_count, sizeof *before);
  uint32_t *place = memory_resize(NULL, t->lane_count, sizeof *place);
  memcpy(before, t->lanes, t->lane_count * sizeof *before);
  qsort(t->lanes, t->lane_count, sizeof *t->lanes, compare_lanes);
  for (uint32_t i = 0; i < t->lane_count; i++)
    for (uint32_t j = 0; j < t->lane_count; j++)
      if (before[i].tid == t->lanes[j].tid && before[i].pid == t->lanes[j].pid)
        place[i] = j;
  for (size_t i = 0; i < t->slice_count; i++) {
    t->slices[i].lane = place[t->slices[i].lane];
    if (t->slices[i].other >= 0) t->slices[i].other = (int32_t)place[t->slices[i].other];
  }
  for (size_t i = 0; i < t->arrow_count; i++) {
    t->arrows[i].from_lane = place[t->arrows[i].from_lane];
    t->arrows[i].to_lane = place[t->arrows[i].to_lane];
  }
  for (size_t i = 0; i < t->mark_count; i++) t->marks[i].lane = place[t->marks[i].lane];
  free(before);
  free(place);
}

/* Times count from the first event, for programs whose clocks began elsewhere. */
static void move_to_zero(trace_reading *reading) {
  trace *t = reading->trace;
  uint64_t zero = to_ns(reading->first_us);
  for (size_t i = 0; i < t->slice_count; i++) {
    t->slices[i].begin -= zero;
    t->slices[i].end -= zero;
  }
  for (size_t i = 0; i < t->arrow_count; i++) {
    t->arrows[i].from_time -= zero;
    t->arrows[i].to_time -= zero;
  }
  for (size_t i = 0; i < t->mark_count; i++) t->marks[i].time -= zero;
  reading->last_ns -= zero;
}

/* A slice that crosses the end of the one around it is cut there, and counted. */
static void repair_nesting(trace *t) {
  enum { DEEPEST = 512 };
  uint64_t ends[DEEPEST];
  int depth = 0;
  uint32_t number = UINT32_MAX;
  for (size_t i = 0; i < t->slice_count; i++) {
    slice *s = &t->slices[i];
    if (s->lane != number) {
      number = s->lane;
      depth = 0;
    }
    while (depth > 0 && ends[depth - 1] <= s->begin) depth--;
    if (depth > 0 && s->end > ends[depth - 1]) {
      s->end = ends[depth - 1];
      t->repaired++;
    }
    if (depth < DEEPEST) ends[depth++] = s->end;
  }
}

static void finish(trace_reading *reading) {
  trace *t = reading->trace;
  for (size_t i = 0; i < reading->begin_count; i++) {
    slice s = reading->begins[i];
    s.end = reading->last_ns > s.begin ? reading->last_ns : s.begin;
    s.open = true;
    keep_slice(t, s);
  }
  pair_arrows(reading);
  sort_lanes(t);
  if (!t->from_weft && reading->first_us < HUGE_VAL) move_to_zero(reading);
  if (t->slice_count > 0)
    qsort(t->slices, t->slice_count, sizeof *t->slices, compare_slices);
  if (t->mark_count > 0) qsort(t->marks, t->mark_count, sizeof *t->marks, compare_marks);
  repair_nesting(t);
  for (size_t i = 0; i < t->slice_count; i++) {
    lane *l = &t->lanes[t->slices[i].lane];
    if (l->slice_count++ == 0) l->slice_first = i;
  }
  t->duration_ns = (double)reading->last_ns;
  if (reading->end_us * 1000 > t->duration_ns)
    t->duration_ns = (double)to_ns(reading->end_us);
}

/* ---- the file ---- */

static bool read_other_data(json_reader *r, trace *t) {
  char key[24];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_STRING && strcmp(key, "weft") == 0) {
      json_copy_text(t->version, sizeof t->version, r);
      t->from_weft = true;
    } else if (token == JSON_STRING && strcmp(key, "program") == 0) {
      json_copy_text(t->program, sizeof t->program, r);
    } else if (token == JSON_STRING && strcmp(key, "started") == 0) {
      json_copy_text(t->started, sizeof t->started, r);
    } else if (token == JSON_NUMBER && strcmp(key, "pid") == 0) {
      t->pid = r->number;
    } else if (token == JSON_NUMBER && strcmp(key, "cpus") == 0) {
      t->cpus = r->number;
    } else if (!json_skip(r, token)) {
      return false;
    }
  }
  return true;
}

static bool read_events(json_reader *r, trace_reading *reading) {
  event *e = memory_resize(NULL, 1, sizeof *e);
  json_token token;
  while ((token = json_next(r)) == JSON_OBJECT) {
    if (!event_read(r, e)) {
      token = JSON_ERROR;
      break;
    }
    take_event(reading, e);
  }
  free(e);
  return token == JSON_LIST_END;
}

/* The members of the outer object; *found says whether one of them was the events. */
static bool read_members(json_reader *r, trace_reading *reading, bool *found) {
  char key[24];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_LIST && strcmp(key, "traceEvents") == 0) {
      *found = true;
      if (!read_events(r, reading)) return false;
    } else if (token == JSON_OBJECT && strcmp(key, "otherData") == 0) {
      if (!read_other_data(r, reading->trace)) return false;
    } else if (!json_skip(r, token)) {
      return false;
    }
  }
  return true;
}

bool trace_parse(trace *t, const char *chars, size_t length, char *problem) {
  memset(t, 0, sizeof *t);
  trace_reading reading = {
      .trace = t, .first_us = HUGE_VAL, .end_us = -1, .last_lane = UINT32_MAX};
  json_reader r;
  json_open(&r, chars, length);
  json_token token = json_next(&r);
  bool found = false, whole = false;
  if (token == JSON_OBJECT) {
    whole = read_members(&r, &reading, &found) && json_next(&r) == JSON_END;
  } else if (token == JSON_LIST) {
    found = true;
    whole = read_events(&r, &reading) && json_next(&r) == JSON_END;
  }
  t->cut_short = !whole && r.cut_short && t->events > 0;
  bool good = (whole || t->cut_short) && found;
  if (!good) {
    if (r.problem[0] != '\0')
      snprintf(problem, 200, "not valid JSON: %s", r.problem);
    else
      snprintf(problem, 200, "%s",
               found ? "an event is no object"
                     : "no trace: it has no list \"traceEvents\"");
  } else {
    finish(&reading);
    if (t->slice_count == 0) {
      snprintf(problem, 200, "the trace has no tasks: did the program use weft?");
      good = false;
    }
  }
  json_close(&r);
  free(reading.halves);
  free(reading.begins);
  return good;
}

bool trace_read(trace *t, const char *path, char *problem) {
  text content = {0};
  memset(t, 0, sizeof *t);
  if (!file_read(path, &content)) {
    snprintf(problem, 200, "%s", strerror(errno));
    text_free(&content);
    return false;
  }
  bool good = content.length > 0;
  if (!good) snprintf(problem, 200, "the file is empty");
  if (good) good = trace_parse(t, content.chars, content.length, problem);
  text_free(&content);
  return good;
}

void trace_free(trace *t) {
  for (size_t i = 0; i < t->name_count; i++) free(t->names[i]);
  for (size_t i = 0; i < t->lane_count; i++) free(t->lanes[i].stretches);
  for (size_t i = 0; i < t->finding_count; i++) {
    free(t->findings[i].title);
    free(t->findings[i].words);
    free(t->findings[i].advice);
  }
  free(t->names);
  free(t->name_table);
  free(t->lanes);
  free(t->slices);
  free(t->arrows);
  free(t->marks);
  free(t->totals);
  free(t->longest);
  free(t->steals);
  free(t->levels);
  free(t->search_levels);
  free(t->slack);
  free(t->worked);
  free(t->findings);
  memset(t, 0, sizeof *t);
}
