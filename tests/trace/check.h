/* check.h - reads a trace and checks what holds for each one: strict JSON, slices that
 * are nested on each track, arrows with two ends, known names of tracks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_TRACE_CHECK_H
#define TESTS_TRACE_CHECK_H

#include "harness/harness.h"
#include "json.h"

#include <unistd.h>

typedef struct trace_slice {
  double tid, begin, end;
  const char *name; /* of a pair */
} trace_slice;

typedef struct trace {
  json *whole;
  const json *events;
  size_t count;
} trace;

static inline void trace_path(char out[256], const char *name) {
  const char *folder = getenv("TMPDIR");
  int length = snprintf(out, 256, "%s/weft-%ld-%s.json", folder != NULL ? folder : "/tmp",
                        (long)getpid(), name);
  REQUIRE(length > 0 && length < 256);
}

static inline char *read_whole(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return NULL;
  size_t size = 1 << 16;
  char *text = (char *)malloc(size);
  *length = 0;
  for (size_t got; (got = fread(text + *length, 1, size - *length, file)) > 0;) {
    *length += got;
    if (*length == size) text = (char *)realloc(text, size *= 2);
  }
  fclose(file);
  return text;
}

static inline int compare_slices(const void *a, const void *b) {
  const trace_slice *x = (const trace_slice *)a, *y = (const trace_slice *)b;
  if (x->tid != y->tid) return x->tid < y->tid ? -1 : 1;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end == y->end ? 0 : x->end > y->end ? -1 : 1;
}

/* Sorted by track and beginning, each slice ends before the one around it does. */
static inline void check_nesting(trace_slice *slices, size_t count) {
  trace_slice *stack = (trace_slice *)malloc((count + 1) * sizeof *stack);
  size_t depth = 0;
  qsort(slices, count, sizeof *slices, compare_slices);
  for (size_t i = 0; i < count; i++) {
    while (depth > 0 && (stack[depth - 1].tid != slices[i].tid ||
                         stack[depth - 1].end <= slices[i].begin))
      depth--;
    /* Half a nanosecond for the decimals. */
    if (depth > 0 && !CHECK_MSG(slices[i].end <= stack[depth - 1].end + 0.0005,
                                "track %.0f: [%.3f, %.3f) is not inside [%.3f, %.3f)",
                                slices[i].tid, slices[i].begin, slices[i].end,
                                stack[depth - 1].begin, stack[depth - 1].end))
      break;
    stack[depth++] = slices[i];
  }
  free(stack);
}

/* Numbers in ascending order: each twice, once as the start of an arrow and once as its
 * end. */
typedef struct arrow_end {
  double id;
  char phase;
  double ts;
} arrow_end;

static inline int compare_arrows(const void *a, const void *b) {
  const arrow_end *x = (const arrow_end *)a, *y = (const arrow_end *)b;
  if (x->id != y->id) return x->id < y->id ? -1 : 1;
  return (x->phase == 'f') - (y->phase == 'f');
}

static inline void check_arrows(arrow_end *arrows, size_t count) {
  qsort(arrows, count, sizeof *arrows, compare_arrows);
  CHECK_EQ(count % 2, 0);
  for (size_t i = 0; i + 1 < count; i += 2) {
    if (!CHECK_MSG(arrows[i].id == arrows[i + 1].id && arrows[i].phase == 's' &&
                       arrows[i + 1].phase == 'f' && arrows[i].ts <= arrows[i + 1].ts,
                   "arrow %.0f", arrows[i].id))
      return;
  }
}

/* Pairs of B and E, which have the same name, become slices. A B without E, in the file
 * of a process that was killed, lasts for ever. */
static inline size_t collect_pairs(const trace *t, trace_slice *out) {
  enum { OPEN_MOST = 4096 };
  static trace_slice open[OPEN_MOST];
  size_t depth = 0, count = 0;
  for (const json *e = t->events->first; e != NULL; e = e->next) {
    const char phase = json_get_string(e, "ph")[0];
    double tid = json_get_number(e, "tid", -1), ts = json_get_number(e, "ts", -1);
    if (phase == 'B' && depth < OPEN_MOST) {
      open[depth++] = (trace_slice){tid, ts, 1e300, json_get_string(e, "name")};
    } else if (phase == 'E') {
      size_t i = depth;
      while (i > 0 && open[i - 1].tid != tid) i--;
      if (!CHECK_MSG(i > 0, "an end at %.3f on track %.0f has no beginning", ts, tid))
        continue;
      CHECK(strcmp(open[i - 1].name, json_get_string(e, "name")) == 0);
      open[i - 1].end = ts;
      out[count++] = open[i - 1];
      memmove(&open[i - 1], &open[i], (depth - i) * sizeof *open);
      depth--;
    }
  }
  for (size_t i = 0; i < depth; i++) out[count++] = open[i];
  return count;
}

static inline void check_event(const json *e) {
  const char *phase = json_get_string(e, "ph");
  CHECK(strlen(phase) == 1 && strchr("MXBEisfC", phase[0]) != NULL);
  CHECK(json_get_number(e, "pid", -1) > 0 && json_get_number(e, "tid", -1) >= 0);
  CHECK(json_get_string(e, "name")[0] != '\0');
  if (phase[0] != 'M') CHECK(json_get_number(e, "ts", -1) >= 0);
  if (phase[0] == 'X') CHECK(json_get_number(e, "dur", -1) >= 0);
}

/* Reads the file and checks it. What is wrong with it is a failed check. */
static inline trace read_trace(const char *path) {
  trace t = {NULL, NULL, 0};
  size_t length = 0, where = 0;
  const char *error = "cannot be read";
  char *text = read_whole(path, &length);
  if (text != NULL) t.whole = json_parse(text, length, &error, &where);
  if (!CHECK_MSG(t.whole != NULL, "%s: %s at byte %zu of %zu: %.60s", path, error, where,
                 length, text != NULL ? text + where : "")) {
    free(text);
    return t;
  }
  free(text);
  t.events = json_get(t.whole, "traceEvents");
  REQUIRE(t.events != NULL && t.events->kind == JSON_ARRAY);
  t.count = t.events->count;
  trace_slice *slices = (trace_slice *)malloc((t.count + 1) * sizeof *slices);
  arrow_end *arrows = (arrow_end *)malloc((t.count + 1) * sizeof *arrows);
  size_t slice_count = collect_pairs(&t, slices), arrow_count = 0;
  for (const json *e = t.events->first; e != NULL; e = e->next) {
    const char phase = json_get_string(e, "ph")[0];
    double tid = json_get_number(e, "tid", -1), ts = json_get_number(e, "ts", -1);
    check_event(e);
    if (phase == 'X')
      slices[slice_count++] =
          (trace_slice){tid, ts, ts + json_get_number(e, "dur", -1), NULL};
    if (phase == 's' || phase == 'f')
      arrows[arrow_count++] = (arrow_end){json_get_number(e, "id", -1), phase, ts};
  }
  check_nesting(slices, slice_count);
  check_arrows(arrows, arrow_count);
  free(slices);
  free(arrows);
  return t;
}

/* The same by the parser of Python, where that is installed. */
static inline void check_by_python(const char *path) {
  static int is_there = -1;
  char command[700];
  if (is_there < 0) is_there = system("python3 -c 'import json' 2>/dev/null") == 0;
  if (!is_there) {
    printf("no Python here: %s is not read by a second parser\n", path);
    return;
  }
  snprintf(command, sizeof command, "python3 '%s/trace/strict.py' '%s' >/dev/null",
           TESTS_FOLDER, path);
  int status = system(command);
  CHECK_MSG(status == 0, "%s: %d", command, status);
}

static inline void drop_trace(trace *t, const char *path) {
  json_free(t->whole);
  t->whole = NULL;
  if (path != NULL) unlink(path);
}

static inline bool has_part(const char *text, const char *part) {
  return part == NULL || strstr(text, part) != NULL;
}

/* How many events have this category; NULL: any. And this name, or a part of it. A slice
 * that was announced has two events of the same name, which count as one. If a task was
 * named after that, its name is an argument of the end, and counts instead. */
static inline size_t count_events(const trace *t, const char *category,
                                  const char *name) {
  size_t count = 0;
  if (t->whole == NULL) return 0;
  for (const json *e = t->events->first; e != NULL; e = e->next) {
    if (category != NULL && strcmp(json_get_string(e, "cat"), category) != 0) continue;
    const char *its_name = json_get_string(e, "name");
    const char *late_name = json_get_string(json_get(e, "args"), "name");
    if (json_get_string(e, "ph")[0] != 'E')
      count += has_part(its_name, name);
    else if (late_name[0] != '\0')
      count = count + has_part(late_name, name) - has_part(its_name, name);
  }
  return count;
}

/* The last event, which says why the trace has ended; "" if it has not. */
static inline const char *end_reason(const trace *t) {
  const char *reason = "";
  if (t->whole == NULL) return reason;
  for (const json *e = t->events->first; e != NULL; e = e->next)
    if (strcmp(json_get_string(e, "name"), "weft_end") == 0)
      reason = json_get_string(json_get(e, "args"), "reason");
  return reason;
}

static inline double end_number(const trace *t, const char *key) {
  if (t->whole == NULL) return -1;
  for (const json *e = t->events->first; e != NULL; e = e->next)
    if (strcmp(json_get_string(e, "name"), "weft_end") == 0)
      return json_get_number(json_get(e, "args"), key, -1);
  return -1;
}

#endif
