/* trace/analyse.c - what a trace adds up to: who was in which state when, how many were
 * at work, totals by name, who stole from whom, and the estimates of work and span.
 *
 * The span is the time that the program would take with any number of threads. A trace
 * does not hold the graph of all forks (most of them never leave their thread), so it is
 * estimated from what ran:
 *
 *   - time in which one lane was at work counts in full: nothing was offered to others;
 *   - of a stretch in which several were, the longest block of a loop counts, or the part
 *     of a task in which others had nothing to do and took nothing from it;
 *   - time in which nobody was at work counts in full, as serial code outside weft.
 *
 * SPDX-License-Identifier: MIT */
#include "trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 512, LONGEST_KEPT = 100 };

/* A started thread between two slices is in the scheduler. If that takes longer than
 * this, records are missing and nobody knows what it did. A choice. */
enum { LONGEST_GAP_NS = 100000 };

const char *state_name(lane_state state) {
  static const char *const names[STATE_COUNT] = {"outside", "working", "searching",
                                                 "asleep", "blocked"};
  return names[state];
}

const char *kind_name(slice_kind kind) {
  static const char *const names[SLICE_KINDS] = {"task", "call",     "block", "scope",
                                                 "wait", "blocking", "idle",  "sleep"};
  return names[kind];
}

/* ---- states of a lane ---- */

static lane_state state_in(const slice *s) {
  switch (s->kind) {
  case SLICE_WAIT:
  case SLICE_IDLE:
    return STATE_SEARCHING;
  case SLICE_SLEEP:
    return STATE_ASLEEP;
  case SLICE_BLOCKING:
    return STATE_BLOCKED;
  default:
    return STATE_WORKING;
  }
}

static void add_stretch(lane *l, lane_state state, uint64_t begin, uint64_t end) {
  if (end <= begin || state == STATE_OUTSIDE) return;
  l->state_ns[state] += (double)(end - begin);
  if (l->stretch_count > 0) {
    stretch *last = &l->stretches[l->stretch_count - 1];
    if (last->state == state && last->end == begin) {
      last->end = end;
      return;
    }
  }
  ARRAY_GROW(l->stretches, l->stretch_count, l->stretch_capacity);
  l->stretches[l->stretch_count++] = (stretch){begin, end, (uint16_t)state};
}

/* Between two outermost slices of the lane. */
static lane_state state_between(const lane *l, uint64_t begin, uint64_t end) {
  return l->started && end - begin <= LONGEST_GAP_NS ? STATE_WORKING : STATE_OUTSIDE;
}

/* Walks over the slices with a stack of those that are open. */
static void walk_lane(trace *t, lane *l) {
  slice *open[DEEPEST];
  int depth = 0;
  uint64_t now = 0;
  for (size_t i = 0; i <= l->slice_count; i++) {
    slice *s = i < l->slice_count ? &t->slices[l->slice_first + i] : NULL;
    uint64_t begin = s != NULL ? s->begin : UINT64_MAX;
    while (depth > 0 && open[depth - 1]->end <= begin) {
      add_stretch(l, state_in(open[depth - 1]), now, open[depth - 1]->end);
      now = open[depth - 1]->end > now ? open[depth - 1]->end : now;
      depth--;
    }
    if (s == NULL) break;
    if (depth > 0) {
      add_stretch(l, state_in(open[depth - 1]), now, begin);
      uint64_t length = s->end - s->begin;
      open[depth - 1]->self -=
          length < open[depth - 1]->self ? length : open[depth - 1]->self;
    } else if (i > 0) {
      add_stretch(l, state_between(l, now, begin), now, begin);
    } else {
      l->begin = begin;
    }
    now = begin;
    s->self = s->end - s->begin;
    if (depth < DEEPEST) open[depth++] = s;
    if (s->end > l->end) l->end = s->end;
  }
}

/* ---- how many are at work ---- */

typedef struct change {
  uint64_t time;
  int by;
} change;

static int compare_changes(const void *a, const void *b) {
  const change *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return x->by - y->by;
}

typedef struct level_list {
  stretch *levels;
  size_t count, capacity;
} level_list;

static void add_level(level_list *list, uint64_t begin, uint64_t end, int lanes) {
  if (end <= begin) return;
  uint16_t level = (uint16_t)lanes; /* a trace has fewer lanes than that */
  if (list->count > 0 && list->levels[list->count - 1].state == level) {
    list->levels[list->count - 1].end = end;
    return;
  }
  ARRAY_GROW(list->levels, list->count, list->capacity);
  list->levels[list->count++] = (stretch){begin, end, level};
}

/* How many lanes are in a state, over the whole time. */
static level_list count_lanes(const trace *t, lane_state state) {
  change *changes = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < t->lane_count; i++)
    for (size_t j = 0; j < t->lanes[i].stretch_count; j++) {
      const stretch *s = &t->lanes[i].stretches[j];
      if (s->state != state) continue;
      ARRAY_GROW(changes, count, capacity);
      changes[count++] = (change){s->begin, 1};
      ARRAY_GROW(changes, count, capacity);
      changes[count++] = (change){s->end, -1};
    }
  if (count > 0) qsort(changes, count, sizeof *changes, compare_changes);
  level_list list = {NULL, 0, 0};
  uint64_t now = 0;
  int lanes = 0;
  for (size_t i = 0; i < count; i++) {
    add_level(&list, now, changes[i].time, lanes);
    now = changes[i].time;
    lanes += changes[i].by;
  }
  add_level(&list, now, (uint64_t)t->duration_ns, 0);
  free(changes);
  return list;
}

static void make_levels(trace *t) {
  level_list working = count_lanes(t, STATE_WORKING);
  level_list searching = count_lanes(t, STATE_SEARCHING);
  t->levels = working.levels;
  t->level_count = working.count;
  t->search_levels = searching.levels;
  t->search_level_count = searching.count;
  t->slack = memory_resize(NULL, t->level_count + 1, sizeof *t->slack);
  t->worked = memory_resize(NULL, t->level_count + 1, sizeof *t->worked);
  t->slack[0] = t->worked[0] = 0;
  for (size_t i = 0; i < t->level_count; i++) {
    const stretch *level = &t->levels[i];
    double length = (double)(level->end - level->begin);
    t->slack[i + 1] = t->slack[i] + (level->state < t->threads ? length : 0);
    t->worked[i + 1] = t->worked[i] + level->state * length;
    if (level->state == 0) t->nobody_ns += length;
    if (level->state == 1) t->alone_ns += length;
  }
}

/* The level at a time. */
static size_t level_at(const trace *t, uint64_t time) {
  size_t low = 0, high = t->level_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (t->levels[middle].begin <= time)
      low = middle;
    else
      high = middle;
  }
  return low;
}

double trace_slack_before(const trace *t, uint64_t time) {
  if (t->level_count == 0) return 0;
  size_t i = level_at(t, time);
  const stretch *level = &t->levels[i];
  double inside = time > level->begin ? (double)(time - level->begin) : 0;
  return t->slack[i] + (level->state < t->threads ? inside : 0);
}

double trace_work_before(const trace *t, uint64_t time) {
  if (t->level_count == 0) return 0;
  size_t i = level_at(t, time);
  const stretch *level = &t->levels[i];
  double inside = time > level->begin ? (double)(time - level->begin) : 0;
  return t->worked[i] + level->state * inside;
}

/* ---- work and span ---- */

/* A stretch in which at least two lanes were at work all the time. */
typedef struct phase {
  uint64_t begin, end;
  double longest; /* piece that could not be divided */
} phase;

static size_t find_phases(const trace *t, phase **out) {
  phase *phases = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < t->level_count; i++) {
    const stretch *level = &t->levels[i];
    if (level->state < 2) continue;
    if (count > 0 && phases[count - 1].end == level->begin) {
      phases[count - 1].end = level->end;
      continue;
    }
    ARRAY_GROW(phases, count, capacity);
    phases[count++] = (phase){level->begin, level->end, 0};
  }
  *out = phases;
  return count;
}

static void note_piece(const trace *t, phase *phases, size_t count, const slice *s) {
  size_t low = 0, high = count; /* the first phase that ends behind the slice's begin */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (phases[middle].end <= s->begin)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t i = low; i < count && phases[i].begin < s->end; i++) {
    uint64_t begin = s->begin > phases[i].begin ? s->begin : phases[i].begin;
    uint64_t end = s->end < phases[i].end ? s->end : phases[i].end;
    double piece = s->kind == SLICE_BLOCK
                       ? (double)(end - begin)
                       : trace_slack_before(t, end) - trace_slack_before(t, begin);
    if (piece > (double)s->self) piece = (double)s->self;
    if (piece > phases[i].longest) phases[i].longest = piece;
  }
}

static void estimate_span(trace *t) {
  phase *phases;
  size_t count = find_phases(t, &phases);
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind <= SLICE_BLOCK && s->self > 0) note_piece(t, phases, count, s);
  }
  t->span_ns = t->alone_ns;
  for (size_t i = 0; i < count; i++) t->span_ns += phases[i].longest;
  free(phases);
  double serial = t->work_ns + t->nobody_ns, shortest = t->span_ns;
  t->speedup = t->duration_ns > 0 ? serial / t->duration_ns : 1;
  t->speedup_max = shortest + t->nobody_ns > 0 ? serial / (shortest + t->nobody_ns) : 1;
  if (shortest < t->work_ns / t->threads) shortest = t->work_ns / t->threads;
  t->speedup_here = shortest + t->nobody_ns > 0 ? serial / (shortest + t->nobody_ns) : 1;
  /* An estimate: what was reached was possible. */
  if (t->speedup_here < t->speedup) t->speedup_here = t->speedup;
  if (t->speedup_max < t->speedup_here) t->speedup_max = t->speedup_here;
}

/* ---- totals ---- */

static int compare_totals(const void *a, const void *b) {
  const name_total *x = a, *y = b;
  return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

static void make_totals(trace *t) {
  uint32_t *place = memory_resize(NULL, t->name_count * SLICE_KINDS, sizeof *place);
  memset(place, 0, t->name_count * SLICE_KINDS * sizeof *place);
  size_t capacity = 0;
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind == SLICE_IDLE || s->kind == SLICE_SLEEP) continue;
    uint32_t *at = &place[s->name * SLICE_KINDS + s->kind];
    if (*at == 0) {
      ARRAY_GROW(t->totals, t->total_count, capacity);
      t->totals[t->total_count] = (name_total){.name = s->name, .kind = s->kind};
      *at = (uint32_t)++t->total_count;
    }
    name_total *total = &t->totals[*at - 1];
    /* Of a call the whole time counts: its blocks have lines of their own. */
    uint64_t length = s->kind == SLICE_CALL ? s->end - s->begin : s->self;
    total->count++;
    total->total_ns += (double)length;
    if (length > total->longest || total->count == 1) {
      total->longest = length;
      total->longest_slice = i;
    }
  }
  if (t->total_count > 0)
    qsort(t->totals, t->total_count, sizeof *t->totals, compare_totals);
  free(place);
}

/* The longest pieces of work, in a heap whose root is the shortest of them. */
static void sift_down(const trace *t, uint32_t *heap, size_t count, size_t i) {
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= count) return;
    if (child + 1 < count &&
        t->slices[heap[child + 1]].self < t->slices[heap[child]].self)
      child++;
    if (t->slices[heap[i]].self <= t->slices[heap[child]].self) return;
    uint32_t swap = heap[i];
    heap[i] = heap[child];
    heap[child] = swap;
    i = child;
  }
}

static void find_longest(trace *t) {
  uint32_t *heap = memory_resize(NULL, LONGEST_KEPT, sizeof *heap);
  size_t count = 0;
  for (uint32_t i = 0; i < t->slice_count; i++) {
    if (t->slices[i].kind > SLICE_BLOCK) continue;
    if (count < LONGEST_KEPT) {
      heap[count++] = i;
      if (count == LONGEST_KEPT)
        for (size_t j = count / 2; j-- > 0;) sift_down(t, heap, count, j);
    } else if (t->slices[i].self > t->slices[heap[0]].self) {
      heap[0] = i;
      sift_down(t, heap, count, 0);
    }
  }
  /* Few of them: sorted by insertion. */
  for (size_t i = 1; i < count; i++)
    for (size_t j = i; j > 0 && t->slices[heap[j]].self > t->slices[heap[j - 1]].self;
         j--) {
      uint32_t swap = heap[j];
      heap[j] = heap[j - 1];
      heap[j - 1] = swap;
    }
  t->longest = heap;
  t->longest_count = count;
}

static void count_steals(trace *t) {
  t->steals = memory_resize(NULL, t->lane_count * t->lane_count, sizeof *t->steals);
  memset(t->steals, 0, t->lane_count * t->lane_count * sizeof *t->steals);
  for (size_t i = 0; i < t->arrow_count; i++) {
    const arrow *a = &t->arrows[i];
    if (a->kind != ARROW_STEAL) continue;
    t->steals[a->to_lane * t->lane_count + a->from_lane]++;
    t->steal_count++;
  }
}

/* ---- everything ---- */

static double count_threads(const trace *t) {
  double started = 0, callers = 0;
  for (size_t i = 0; i < t->lane_count; i++) {
    if (t->lanes[i].started)
      started++;
    else if (t->lanes[i].state_ns[STATE_WORKING] > 0)
      callers++;
  }
  if (started == 0) return callers > 0 ? callers : 1; /* a trace of another program */
  return started + (callers > 0);
}

void trace_analyse(trace *t) {
  for (size_t i = 0; i < t->lane_count; i++) {
    walk_lane(t, &t->lanes[i]);
    for (int state = 0; state < STATE_COUNT; state++)
      t->state_ns[state] += t->lanes[i].state_ns[state];
  }
  if (t->threads < 1) t->threads = count_threads(t);
  t->work_ns = t->state_ns[STATE_WORKING];
  make_levels(t);
  estimate_span(t);
  make_totals(t);
  find_longest(t);
  count_steals(t);
}

const char *trace_slice_name(const trace *t, const slice *s) {
  static char buffers[2][340];
  static unsigned turn;
  char *out = buffers[turn++ % 2];
  if (s->has_range)
    snprintf(out, sizeof buffers[0], "%s [%llu, %llu)", t->names[s->name],
             (unsigned long long)s->first, (unsigned long long)s->last);
  else
    snprintf(out, sizeof buffers[0], "%s", t->names[s->name]);
  return out;
}

/* ---- the summary ---- */

static void write_lane(const trace *t, const lane *l, json_writer *w) {
  json_begin(w, NULL, '{');
  json_put_text(w, "name", l->name);
  json_put_number(w, "tid", (double)l->tid);
  if (l->pool >= 0) json_put_number(w, "pool", l->pool);
  if (l->worker >= 0) json_put_number(w, "worker", l->worker);
  json_put_bool(w, "started", l->started);
  json_put_number(w, "slices", (double)l->slice_count);
  for (int state = STATE_WORKING; state < STATE_COUNT; state++) {
    char key[24];
    snprintf(key, sizeof key, "%s_ns", state_name((lane_state)state));
    json_put_number(w, key, l->state_ns[state]);
  }
  if (l->has_stats) {
    json_put_number(w, "tasks", l->stats.tasks);
    json_put_number(w, "steals", l->stats.steals);
    json_put_number(w, "failed_steals", l->stats.failed_steals);
    json_put_number(w, "sleeps", l->stats.sleeps);
    json_put_number(w, "wakes", l->stats.wakes);
    json_put_number(w, "futile", l->stats.futile);
  }
  json_finish(w, '}');
  (void)t;
}

static void write_lists(const trace *t, json_writer *w) {
  json_begin(w, "names", '[');
  for (size_t i = 0; i < t->total_count && i < 50; i++) {
    const name_total *total = &t->totals[i];
    json_begin(w, NULL, '{');
    json_put_text(w, "name", t->names[total->name]);
    json_put_text(w, "kind", kind_name((slice_kind)total->kind));
    json_put_number(w, "count", (double)total->count);
    json_put_number(w, "total_ns", total->total_ns);
    json_put_number(w, "longest_ns", (double)total->longest);
    json_put_number(w, "longest_lane", t->slices[total->longest_slice].lane);
    json_put_number(w, "longest_begin_ns", (double)t->slices[total->longest_slice].begin);
    json_put_number(w, "longest_end_ns", (double)t->slices[total->longest_slice].end);
    json_finish(w, '}');
  }
  json_finish(w, ']');
  json_begin(w, "longest", '[');
  for (size_t i = 0; i < t->longest_count && i < 25; i++) {
    const slice *s = &t->slices[t->longest[i]];
    json_begin(w, NULL, '{');
    json_put_text(w, "name", trace_slice_name(t, s));
    json_put_text(w, "kind", kind_name((slice_kind)s->kind));
    json_put_number(w, "lane", s->lane);
    json_put_number(w, "begin_ns", (double)s->begin);
    json_put_number(w, "end_ns", (double)s->end);
    json_put_number(w, "self_ns", (double)s->self);
    json_finish(w, '}');
  }
  json_finish(w, ']');
  json_begin(w, "steal_matrix", '[');
  for (size_t i = 0; i < t->lane_count; i++)
    for (size_t j = 0; j < t->lane_count; j++) {
      double count = t->steals[i * t->lane_count + j];
      if (count == 0) continue;
      json_begin(w, NULL, '{');
      json_put_number(w, "thief", (double)i);
      json_put_number(w, "victim", (double)j);
      json_put_number(w, "count", count);
      json_finish(w, '}');
    }
  json_finish(w, ']');
}

static void write_findings(const trace *t, json_writer *w) {
  static const char *const severities[] = {"good", "note", "warning", "bad"};
  json_begin(w, "findings", '[');
  for (size_t i = 0; i < t->finding_count; i++) {
    const finding *f = &t->findings[i];
    json_begin(w, NULL, '{');
    json_put_text(w, "severity", severities[f->severity]);
    json_put_text(w, "id", f->id);
    json_put_text(w, "title", f->title);
    json_put_text(w, "words", f->words);
    json_put_text(w, "advice", f->advice);
    json_put_number(w, "begin_ns", (double)f->begin);
    json_put_number(w, "end_ns", (double)f->end);
    json_put_number(w, "lane", f->lane);
    json_finish(w, '}');
  }
  json_finish(w, ']');
}

void trace_write_summary(const trace *t, json_writer *w) {
  json_begin(w, NULL, '{');
  json_put_text(w, "program", t->program);
  json_put_text(w, "weft", t->from_weft ? t->version : NULL);
  json_put_text(w, "started", t->started);
  json_put_number(w, "pid", t->pid);
  json_put_number(w, "cpus", t->cpus);
  json_put_text(w, "reason", t->reason);
  json_put_bool(w, "complete", t->complete);
  json_put_bool(w, "cut_short", t->cut_short);
  json_put_number(w, "events", (double)t->events);
  json_put_number(w, "slices", (double)t->slice_count);
  json_put_number(w, "dropped", t->dropped);
  json_put_number(w, "dropped_short", t->dropped_short);
  json_put_number(w, "repaired", (double)t->repaired);
  json_put_number(w, "duration_ns", t->duration_ns);
  json_put_number(w, "threads", t->threads);
  json_put_number(w, "steals", (double)t->steal_count);
  if (t->cpu_ns > 0) {
    json_put_number(w, "cpu_ns", t->cpu_ns);
    json_put_number(w, "starved_ns", t->starved_ns);
  }
  json_put_number(w, "work_ns", t->work_ns);
  json_put_number(w, "span_ns", t->span_ns);
  json_put_number(w, "nobody_ns", t->nobody_ns);
  json_put_number(w, "alone_ns", t->alone_ns);
  json_put_number(w, "speedup", t->speedup);
  json_put_number(w, "speedup_here", t->speedup_here);
  json_put_number(w, "speedup_max", t->speedup_max);
  for (int state = STATE_WORKING; state < STATE_COUNT; state++) {
    char key[24];
    snprintf(key, sizeof key, "%s_ns", state_name((lane_state)state));
    json_put_number(w, key, t->state_ns[state]);
  }
  json_begin(w, "lanes", '[');
  for (size_t i = 0; i < t->lane_count; i++) write_lane(t, &t->lanes[i], w);
  json_finish(w, ']');
  write_lists(t, w);
  write_findings(t, w);
  json_finish(w, '}');
}
