/* trace/findings_time.c - rules about where the time went: no worker was at work, one
 * was, or threads had no CPU.
 *
 * SPDX-License-Identifier: MIT */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

/* ---- looking ---- */

/* The innermost slice of a lane at a time, or NULL. */
static const slice *slice_at(const trace *t, const lane *l, uint64_t time) {
  const slice *found = NULL;
  size_t low = 0, high = l->slice_count;
  while (low < high) { /* the first slice that begins behind the time */
    size_t middle = (low + high) / 2;
    if (t->slices[l->slice_first + middle].begin <= time)
      low = middle + 1;
    else
      high = middle;
  }
  /* Outer slices begin earlier; the first that still covers the time is the innermost. A
   * call of a million blocks is not searched to its begin. */
  for (size_t i = low, looks = 0; i-- > 0 && looks < 4096; looks++) {
    const slice *s = &t->slices[l->slice_first + i];
    if (s->end > time) {
      found = s;
      break;
    }
  }
  return found;
}

static lane_state state_at(const lane *l, uint64_t time) {
  size_t low = 0, high = l->stretch_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (l->stretches[middle].end <= time)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == l->stretch_count || l->stretches[low].begin > time) return STATE_OUTSIDE;
  return (lane_state)l->stretches[low].state;
}

/* Interruptions of a stretch that are shorter do not end it. */
enum { IGNORED_NS = 10000 };

/* The longest of those that are given one after the other. */
typedef struct longest_stretch {
  stretch now, best;
} longest_stretch;

static void lengthen(longest_stretch *l, const stretch *next) {
  if (l->now.end == 0 || next->begin - l->now.end > IGNORED_NS)
    l->now.begin = next->begin;
  l->now.end = next->end;
  if (l->now.end - l->now.begin > l->best.end - l->best.begin) l->best = l->now;
}

/* The longest stretch with no lane at work. */
static stretch longest_gap(const trace *t) {
  longest_stretch longest = {{0, 0, 0}, {0, 0, 0}};
  for (size_t i = 0; i < t->level_count; i++)
    if (t->levels[i].state == 0) lengthen(&longest, &t->levels[i]);
  return longest.best;
}

/* The lane that is at work at a time, or -1. */
static int lane_at_work(const trace *t, uint64_t time) {
  for (size_t i = 0; i < t->lane_count; i++)
    if (state_at(&t->lanes[i], time) == STATE_WORKING) return (int)i;
  return -1;
}

/* The started lane that is idle for the largest share of the trace, or -1. */
static int idlest_lane(const trace *t, double *idle) {
  int found = -1;
  *idle = 0;
  for (size_t i = 0; i < t->lane_count; i++) {
    const lane *l = &t->lanes[i];
    double time = l->state_ns[STATE_SEARCHING] + l->state_ns[STATE_ASLEEP];
    if (l->started && finding_share(time, t->duration_ns) > *idle) {
      *idle = finding_share(time, t->duration_ns);
      found = (int)i;
    }
  }
  return found;
}

/* ---- threads without a CPU ---- */

/* Of the time in which threads of the program could have run, the share in which they had
 * no CPU. */
static double starved_share(const trace *t) {
  return finding_share(t->starved_ns, t->cpu_ns + t->starved_ns);
}

bool trace_is_starved(const trace *t) {
  return t->starved_ns >= 5e6 && starved_share(t) >= 0.15;
}

void find_starved(trace *t) {
  if (!trace_is_starved(t)) return;
  double lost = starved_share(t);
  finding *f = finding_add(t, finding_grade(lost, 0.15, 0.5), "starved");
  finding_title(f, "Threads were ready to run, but had no CPU for %s of that time",
                show_share(lost));
  finding_words(
      f,
      "They waited %s for a CPU and used %s. %s, so single tasks look longer than they "
      "are, and threads wake up late.",
      show_ns(t->starved_ns), show_ns(t->cpu_ns),
      trace_is_oversubscribed(t) ? "There are more threads than CPUs"
                                 : "Other programs used the CPUs");
  finding_advice(
      f, trace_is_oversubscribed(t)
             ? "Use as many threads as there are CPUs."
             : "Measure on a free machine, or with fewer threads (WEFT_NUM_THREADS). "
               "`weft doctor` shows the load and the quota.");
}

/* ---- serial parts ---- */

/* What the program did while no worker was at work, as far as its CPU time tells. */
typedef enum outside_use {
  OUTSIDE_UNKNOWN,
  OUTSIDE_COMPUTED,
  OUTSIDE_WAITED
} outside_use;

static outside_use use_of_outside(const trace *t) {
  if (t->cpu_ns <= 0) return OUTSIDE_UNKNOWN;
  /* All that threads did, or would have done with a CPU, less what is in the trace. */
  double most = t->cpu_ns + t->starved_ns - t->work_ns;
  double least = most - t->state_ns[STATE_SEARCHING];
  if (least > 0.4 * t->nobody_ns) return OUTSIDE_COMPUTED;
  return most < 0.2 * t->nobody_ns ? OUTSIDE_WAITED : OUTSIDE_UNKNOWN;
}

/* Of the slices of this kind on callers' lanes the one that ended last before a stretch,
 * and the one that began first behind it; NULL where there is none. */
static void slices_around(const trace *t, stretch gap, slice_kind kind,
                          const slice **before, const slice **behind) {
  /* At the end of a call its thread may wait for the last block of another one. */
  uint64_t tolerance = (gap.end - gap.begin) / 10;
  *before = *behind = NULL;
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (t->lanes[s->lane].started || s->kind != kind) continue;
    if (s->end <= gap.begin + tolerance && (*before == NULL || s->end > (*before)->end))
      *before = s;
    if (s->begin + tolerance >= gap.end &&
        (*behind == NULL || s->begin < (*behind)->begin))
      *behind = s;
  }
}

/* Parallel calls, or else tasks, which seldom have a name of their own. */
static void calls_around(const trace *t, stretch gap, const slice **before,
                         const slice **behind) {
  const slice *task_before, *task_behind;
  slices_around(t, gap, SLICE_CALL, before, behind);
  slices_around(t, gap, SLICE_TASK, &task_before, &task_behind);
  if (*before == NULL) *before = task_before;
  if (*behind == NULL) *behind = task_behind;
}

static void describe_gap(const trace *t, stretch gap, text *out) {
  const slice *before, *behind;
  calls_around(t, gap, &before, &behind);
  text_format(out, "That is %s in all; the longest stretch took %s, from %s on",
              show_ns(t->nobody_ns), show_ns((double)(gap.end - gap.begin)),
              show_ns((double)gap.begin));
  if (before != NULL) text_format(out, ", after \"%s\"", trace_slice_name(t, before));
  if (behind != NULL)
    text_format(out, "%s before \"%s\"", before != NULL ? " and" : ",",
                trace_slice_name(t, behind));
  text_add_string(out, ".");
}

void find_nobody(trace *t) {
  double lost = finding_share(t->nobody_ns, t->duration_ns);
  if (lost < 0.10 || t->nobody_ns < 1e6) return;
  stretch gap = longest_gap(t);
  finding *f = finding_add(t, finding_grade(lost, 0.2, 0.5), "outside");
  text where = {0};
  describe_gap(t, gap, &where);
  switch (use_of_outside(t)) {
  case OUTSIDE_COMPUTED:
    finding_title(f, "For %s of the time only serial code outside weft ran",
                  show_share(lost));
    finding_words(f,
                  "%s The program used the CPU there, and no worker had anything to do.",
                  where.chars);
    break;
  case OUTSIDE_WAITED:
    finding_title(f, "For %s of the time the program waited outside weft",
                  show_share(lost));
    finding_words(
        f,
        "%s The program hardly used the CPU there: it slept, or waited for input, "
        "output or a lock.",
        where.chars);
    break;
  default:
    finding_title(f, "For %s of the time no worker had anything to do", show_share(lost));
    finding_words(f, "%s There the program ran its own code outside weft, or waited.",
                  where.chars);
  }
  text_free(&where);
  finding_advice(
      f,
      "What is serial limits the whole program: at most %.1f times faster than one "
      "thread, with any number of CPUs. Make it parallel, or let it overlap with "
      "other work (weft_async, weft_pipeline).",
      t->speedup_max);
  f->begin = gap.begin;
  f->end = gap.end;
}

/* The trace begins with the first call of weft. */
void find_before(trace *t) {
  double missing = t->run_ns - t->duration_ns, cpu = t->run_cpu_ns - t->cpu_ns;
  double lost = finding_share(missing, t->run_ns);
  if (t->cpu_ns <= 0 || lost < 0.2 || cpu < 20e6) return;
  finding *f = finding_add(t, finding_grade(lost, 0.2, 0.5), "before-weft");
  finding_title(f, "For %s of its run the program did not use weft yet",
                show_share(lost));
  finding_words(
      f,
      "It ran for %s, and the trace covers %s of that. Before its first call of weft, "
      "or behind its last, it used %s of CPU time: serial code, which the trace cannot "
      "show.",
      show_ns(t->run_ns), show_ns(t->duration_ns), show_ns(cpu));
  finding_advice(
      f, "Make that part parallel, or let it overlap with other work. `perf record` "
         "shows which functions it is.");
}

/* ---- one thread at work, and blocks that are too large ---- */

/* A block of a loop that takes long. */
static bool is_large_block(const slice *s) {
  return s->kind == SLICE_BLOCK && s->end - s->begin >= 500000;
}

/* Only loops have a min_len that somebody can change. */
static void advise_on_blocks(finding *f, const char *name) {
  bool algorithm = strncmp(name, "weft_", 5) == 0 && strncmp(name, "weft_for", 8) != 0 &&
                   strncmp(name, "weft_chunks", 11) != 0 &&
                   strncmp(name, "weft_try_for", 12) != 0;
  if (algorithm)
    finding_advice(f,
                   "The blocks of this algorithm are short unless its array is: did its "
                   "thread lose the "
                   "CPU to another program? `weft doctor` looks for that.");
  else
    finding_advice(
        f, "Lower min_len of this loop, or leave it out: weft divides a loop as long as "
           "somebody is idle. If one element alone takes that long, make its body "
           "parallel.");
}

static uint64_t count_of(const trace *t, uint32_t name, slice_kind kind) {
  for (size_t i = 0; i < t->total_count; i++)
    if (t->totals[i].name == name && t->totals[i].kind == kind) return t->totals[i].count;
  return 0;
}

/* " Its 4 calls ran as 4 blocks.", or "" if that says nothing. */
static const char *count_blocks(const trace *t, uint32_t name) {
  static char sentence[80];
  uint64_t calls = count_of(t, name, SLICE_CALL), blocks = count_of(t, name, SLICE_BLOCK);
  sentence[0] = '\0';
  if (calls > 1 && blocks > 0)
    snprintf(sentence, sizeof sentence, " Its %s calls ran as %s blocks.",
             show_count((double)calls), show_count((double)blocks));
  return sentence;
}

/* Blocks of this name take much less for an element: this one was interrupted, or its
 * elements are not like the others. */
static bool is_unlike_others(const trace *t, const slice *block) {
  double *paces = NULL;
  size_t count = 0, capacity = 0;
  if (!block->has_range || block->last <= block->first) return false;
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind != block->kind || s->name != block->name || s->last <= s->first) continue;
    ARRAY_GROW(paces, count, capacity);
    paces[count++] = (double)(s->end - s->begin) / (double)(s->last - s->first);
  }
  double pace =
      (double)(block->end - block->begin) / (double)(block->last - block->first);
  bool unlike = count >= 5 && pace > 4 * median_of(paces, count);
  free(paces);
  return unlike;
}

static int compare_stretches(const void *a, const void *b) {
  const stretch *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* When threads had been woken and were not there yet, by their beginnings. */
static size_t late_stretches(const trace *t, stretch **out) {
  stretch *late = NULL;
  size_t count = 0, capacity = 0;
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind != SLICE_SLEEP || s->late < LATE_NS || s->late > s->end) continue;
    ARRAY_GROW(late, count, capacity);
    late[count++] = (stretch){s->end - s->late, s->end, 0};
  }
  if (count > 0) qsort(late, count, sizeof *late, compare_stretches);
  *out = late;
  return count;
}

/* The longest stretch in which one lane was at work, and how long all of them are
 * together; without those in which another one was on its way (find_late tells of it). */
static stretch longest_alone(const trace *t, double *total) {
  longest_stretch longest = {{0, 0, 0}, {0, 0, 0}};
  stretch *late;
  size_t late_count = late_stretches(t, &late), next = 0;
  uint64_t late_until = 0;
  *total = 0;
  for (size_t i = 0; i < t->level_count; i++) {
    const stretch *level = &t->levels[i];
    uint64_t middle = level->begin + (level->end - level->begin) / 2;
    if (level->state != 1) continue;
    for (; next < late_count && late[next].begin <= middle; next++)
      if (late[next].end > late_until) late_until = late[next].end;
    if (late_until > middle) continue;
    *total += (double)(level->end - level->begin);
    lengthen(&longest, level);
  }
  free(late);
  return longest.best;
}

void find_alone(trace *t) {
  double alone_ns;
  stretch alone = longest_alone(t, &alone_ns);
  double lost = finding_share(alone_ns, t->duration_ns);
  if (t->threads < 2 || alone_ns < 0.5e6) return;
  if (lost < (trace_is_starved(t) ? 0.15 : 0.08)) return; /* the other may have no CPU */
  uint64_t middle = alone.begin + (alone.end - alone.begin) / 2;
  int who = lane_at_work(t, middle);
  const slice *what = who >= 0 ? slice_at(t, &t->lanes[who], middle) : NULL;
  double idle;
  int idler = idlest_lane(t, &idle);
  const char *idle_name = idler >= 0 ? t->lanes[idler].name : "the other threads";
  const char *name =
      what != NULL ? trace_slice_name(t, what) : "something without a name";
  const char *lane_name = who >= 0 ? t->lanes[who].name : "one thread";
  bool block = what != NULL && is_large_block(what);
  if (block && trace_is_starved(t) && is_unlike_others(t, what)) return;
  finding *f = finding_add(t, finding_grade(lost, 0.15, 0.35), "serial");
  if (block) {
    f->id = "large-blocks";
    finding_title(f, "%s idle %s: \"%s\" ran as one block of %s", idle_name,
                  show_share(idle), t->names[what->name],
                  show_ns((double)(what->end - what->begin)));
    finding_words(
        f,
        "\"%s\" was one block of %s on %s, too large to leave anything for the others."
        "%s For %s of the time exactly one thread was at work.",
        name, show_ns((double)(what->end - what->begin)), lane_name,
        count_blocks(t, what->name), show_share(lost));
    advise_on_blocks(f, t->names[what->name]);
  } else {
    finding_title(f, "For %s of the time only one thread was at work", show_share(lost));
    finding_words(
        f,
        "The longest such stretch took %s, from %s on: \"%s\" on %s. %s was idle for "
        "%s of "
        "the trace.",
        show_ns((double)(alone.end - alone.begin)), show_ns((double)alone.begin), name,
        lane_name, idle_name, show_share(idle));
    finding_advice(
        f,
        "Nothing there could be stolen. Divide that part (weft_join, weft_for), start it "
        "earlier, or let it overlap with other work.");
  }
  f->begin = alone.begin;
  f->end = alone.end;
  f->lane = who;
}

/* Blocks of a loop during which others had nothing to do, though several were at work. */
void find_large_blocks(trace *t) {
  for (size_t i = 0; i < t->finding_count; i++)
    if (strcmp(t->findings[i].id, "large-blocks") == 0) return;
  if (t->threads < 3) return; /* with two threads, one idle is one alone */
  double worst = 0;
  const name_total *found = NULL;
  for (size_t i = 0; i < t->total_count; i++) {
    const name_total *total = &t->totals[i];
    if (total->kind != SLICE_BLOCK || total->longest < 500000) continue;
    const slice *s = &t->slices[total->longest_slice];
    if (trace_is_starved(t) && is_unlike_others(t, s)) continue;
    double slack = trace_slack_before(t, s->end) - trace_slack_before(t, s->begin);
    if (slack * (double)total->count > worst && slack > 0.5 * (double)total->longest) {
      worst = slack * (double)total->count;
      found = total;
    }
  }
  if (found == NULL || finding_share((double)found->longest, t->duration_ns) < 0.05)
    return;
  const slice *s = &t->slices[found->longest_slice];
  double idle;
  int idler = idlest_lane(t, &idle);
  finding *f = finding_add(t, finding_grade(idle, 0.2, 0.5), "large-blocks");
  finding_title(f, "%s idle %s: \"%s\" ran in blocks of up to %s",
                idler >= 0 ? t->lanes[idler].name : "a worker", show_share(idle),
                t->names[found->name], show_ns((double)found->longest));
  finding_words(
      f,
      "\"%s\" ran as %s blocks for %.0f threads; the longest took %s, and others had "
      "nothing to do meanwhile.",
      t->names[found->name], show_count((double)found->count), t->threads,
      show_ns((double)found->longest));
  advise_on_blocks(f, t->names[found->name]);
  f->begin = s->begin;
  f->end = s->end;
  f->lane = (int)s->lane;
}
