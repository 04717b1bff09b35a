/* trace/findings.c - says in plain words what stands out in a trace, and what to do.
 *
 * Each rule is one function that looks at one thing. The limits are choices: below them
 * the loss is not worth anybody's time, or is noise on a machine with other work.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/terminal.h"
#include "trace.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- making one ---- */

static char *copy_text(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *copy = memory_resize(NULL, (size_t)length + 1, 1);
  vsnprintf(copy, (size_t)length + 1, format, arguments);
  return copy;
}

static finding *add_finding(trace *t, severity grade, const char *id) {
  ARRAY_GROW(t->findings, t->finding_count, t->finding_capacity);
  finding *f = &t->findings[t->finding_count++];
  *f = (finding){.severity = grade, .id = id, .lane = -1};
  return f;
}

__attribute__((format(printf, 2, 3))) static void title(finding *f, const char *format,
                                                        ...) {
  va_list arguments;
  va_start(arguments, format);
  f->title = copy_text(format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void words(finding *f, const char *format,
                                                        ...) {
  va_list arguments;
  va_start(arguments, format);
  f->words = copy_text(format, arguments);
  va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void advice(finding *f, const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  f->advice = copy_text(format, arguments);
  va_end(arguments);
}

static double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

static severity grade_of(double lost, double warning, double bad) {
  return lost >= bad ? SEVERITY_BAD : lost >= warning ? SEVERITY_WARNING : SEVERITY_NOTE;
}

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

/* The longest stretch with this many lanes at work. Interruptions that are shorter than
 * `ignored` do not end it. */
static stretch longest_level(const trace *t, unsigned working, uint64_t ignored) {
  stretch best = {0, 0, 0}, now = {0, 0, 0};
  for (size_t i = 0; i < t->level_count; i++) {
    const stretch *level = &t->levels[i];
    if (level->state == working) {
      if (now.end == 0 || level->begin - now.end > ignored) now.begin = level->begin;
      now.end = level->end;
      if (now.end - now.begin > best.end - best.begin) best = now;
    }
  }
  return best;
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
    if (l->started && share(time, t->duration_ns) > *idle) {
      *idle = share(time, t->duration_ns);
      found = (int)i;
    }
  }
  return found;
}

/* ---- rules about the file ---- */

static void find_end(trace *t) {
  if (t->cut_short) {
    finding *f = add_finding(t, SEVERITY_NOTE, "cut-short");
    title(f, "The file ends too early");
    words(f, "What was read until there is shown: %zu events.", t->events);
    advice(f, "Was the disk full, or is the program still running?");
  } else if (strncmp(t->reason, "signal", 6) == 0) {
    finding *f = add_finding(t, SEVERITY_WARNING, "signal");
    title(f, "The program was ended by %s", t->reason);
    words(
        f,
        "The trace shows everything until then. Slices that were open are cut off at the "
        "end.");
    advice(
        f,
        "Look at the right end of the lanes: what ran there was running at the crash.");
    f->end = (uint64_t)t->duration_ns;
    f->begin = (uint64_t)(t->duration_ns * 0.95);
  } else if (t->from_weft && !t->complete) {
    finding *f = add_finding(t, SEVERITY_NOTE, "running");
    title(f, "The trace was not ended in order");
    words(f,
          "The program was killed, or still ran when the file was read. The last moments "
          "may be missing.");
    advice(f, "End the program by exit, or call weft_trace_stop.");
  }
  if (t->dropped > 0 || t->dropped_short > 0) {
    finding *f = add_finding(t, SEVERITY_NOTE, "dropped");
    title(f, "%s records are missing", show_count(t->dropped + t->dropped_short));
    if (t->dropped_short > 0)
      words(
          f,
          "The file came near its limit, so slices shorter than %s were left out at the "
          "end (%s of them); %s records did not fit into a ring.",
          show_ns(t->shortest_ns), show_count(t->dropped_short), show_count(t->dropped));
    else
      words(f,
            "Events came faster than they could be written; %s did not fit into a ring. "
            "Times and shares are lower bounds.",
            show_count(t->dropped));
    advice(f, "Raise WEFT_TRACE_LIMIT, trace a shorter part with weft_trace_start and "
              "weft_trace_stop, or make tasks larger.");
  }
}

/* Then threads take turns, and the times of single tasks say little. */
static bool is_oversubscribed(const trace *t) {
  return t->cpus >= 1 && t->threads > t->cpus;
}

static void find_threads(trace *t) {
  if (!is_oversubscribed(t)) return;
  severity grade = t->threads >= 2 * t->cpus ? SEVERITY_BAD : SEVERITY_WARNING;
  finding *f = add_finding(t, grade, "oversubscribed");
  title(f, "%.0f threads share %.0f CPU%s", t->threads, t->cpus, t->cpus > 1 ? "s" : "");
  words(f, "Threads wait for each other's CPU, so tasks look longer, and the speed-up "
           "larger, than they are, and a sleeping thread may be woken late.");
  advice(
      f,
      "Unless tasks block, leave the number of threads to weft: unset WEFT_NUM_THREADS "
      "and weft_config.threads.");
}

/* ---- rules about time ---- */

static void find_nobody(trace *t) {
  double lost = share(t->nobody_ns, t->duration_ns);
  if (lost < 0.10 || t->nobody_ns < 1e6) return;
  stretch gap = longest_level(t, 0, 10000);
  finding *f = add_finding(t, grade_of(lost, 0.2, 0.5), "outside");
  title(f, "For %s of the time no worker had anything to do", show_share(lost));
  words(
      f,
      "That is %s in all; the longest stretch took %s, from %s on. There the program ran "
      "its own code outside weft, or waited.",
      show_ns(t->nobody_ns), show_ns((double)(gap.end - gap.begin)),
      show_ns((double)gap.begin));
  advice(f,
         "If the code there is serial, it limits the whole program: at most %.1f times "
         "faster than one thread, with any number of CPUs. Make it parallel, or let it "
         "overlap with other work (weft_async, weft_pipeline).",
         t->speedup_max);
  f->begin = gap.begin;
  f->end = gap.end;
}

/* A block of a loop that takes long, or a loop that was not divided at all. */
static bool is_one_block(const slice *s) {
  uint64_t length = s->end - s->begin;
  if (length < 500000) return false;
  return s->kind == SLICE_BLOCK ||
         (s->kind == SLICE_CALL && s->has_range && s->self >= length / 2);
}

/* Only loops have a min_len that somebody can change. */
static void advise_on_blocks(finding *f, const char *name) {
  bool algorithm = strncmp(name, "weft_", 5) == 0 && strncmp(name, "weft_for", 8) != 0 &&
                   strncmp(name, "weft_chunks", 11) != 0 &&
                   strncmp(name, "weft_try_for", 12) != 0;
  if (algorithm)
    advice(f, "The blocks of this algorithm are short unless its array is: did its "
              "thread lose the "
              "CPU to another program? `weft doctor` looks for that.");
  else
    advice(f,
           "Lower min_len of this loop, or leave it out: weft divides a loop as long as "
           "somebody is idle. If one element alone takes that long, make its body "
           "parallel.");
}

static void find_alone(trace *t) {
  double lost = share(t->alone_ns, t->duration_ns);
  if (t->threads < 2 || lost < 0.08 || t->alone_ns < 0.5e6) return;
  stretch alone = longest_level(t, 1, 10000);
  uint64_t middle = alone.begin + (alone.end - alone.begin) / 2;
  int who = lane_at_work(t, middle);
  const slice *what = who >= 0 ? slice_at(t, &t->lanes[who], middle) : NULL;
  double idle;
  int idler = idlest_lane(t, &idle);
  const char *idle_name = idler >= 0 ? t->lanes[idler].name : "the other threads";
  const char *name =
      what != NULL ? trace_slice_name(t, what) : "something without a name";
  const char *lane_name = who >= 0 ? t->lanes[who].name : "one thread";
  finding *f = add_finding(t, grade_of(lost, 0.15, 0.35), "serial");
  bool block = what != NULL && is_one_block(what);
  if (block) {
    f->id = "large-blocks";
    title(f, "%s idle %s: a loop ran in blocks that are too large", idle_name,
          show_share(idle));
    words(f,
          "\"%s\" ran as one block of %s on %s, and nothing was left for the others. For "
          "%s "
          "of the time exactly one thread was at work.",
          name, show_ns((double)(what->end - what->begin)), lane_name, show_share(lost));
    advice(f,
           "Lower min_len of this loop, or leave it out: weft divides a loop as long as "
           "somebody is idle. If one element alone takes that long, make its body "
           "parallel.");
  } else {
    title(f, "For %s of the time only one thread was at work", show_share(lost));
    words(f,
          "The longest such stretch took %s, from %s on: \"%s\" on %s. %s was idle for "
          "%s of "
          "the trace.",
          show_ns((double)(alone.end - alone.begin)), show_ns((double)alone.begin), name,
          lane_name, idle_name, show_share(idle));
    advice(
        f,
        "Nothing there could be stolen. Divide that part (weft_join, weft_for), start it "
        "earlier, or let it overlap with other work.");
  }
  f->begin = alone.begin;
  f->end = alone.end;
  f->lane = who;
}

/* Blocks of a loop during which others had nothing to do, though several were at work. */
static void find_large_blocks(trace *t) {
  for (size_t i = 0; i < t->finding_count; i++)
    if (strcmp(t->findings[i].id, "large-blocks") == 0) return;
  if (t->threads < 3) return; /* with two threads, one idle is one alone */
  double worst = 0;
  const name_total *found = NULL;
  for (size_t i = 0; i < t->total_count; i++) {
    const name_total *total = &t->totals[i];
    if (total->kind != SLICE_BLOCK || total->longest < 500000) continue;
    const slice *s = &t->slices[total->longest_slice];
    double slack = trace_slack_before(t, s->end) - trace_slack_before(t, s->begin);
    if (slack * (double)total->count > worst && slack > 0.5 * (double)total->longest) {
      worst = slack * (double)total->count;
      found = total;
    }
  }
  if (found == NULL || share((double)found->longest, t->duration_ns) < 0.05) return;
  const slice *s = &t->slices[found->longest_slice];
  double idle;
  int idler = idlest_lane(t, &idle);
  finding *f = add_finding(t, grade_of(idle, 0.2, 0.5), "large-blocks");
  title(f, "%s idle %s: a loop ran in blocks that are too large",
        idler >= 0 ? t->lanes[idler].name : "a worker", show_share(idle));
  words(f,
        "\"%s\" ran as %s blocks for %.0f threads; the longest took %s, and others had "
        "nothing to do meanwhile.",
        t->names[found->name], show_count((double)found->count), t->threads,
        show_ns((double)found->longest));
  advise_on_blocks(f, t->names[found->name]);
  f->begin = s->begin;
  f->end = s->end;
  f->lane = (int)s->lane;
}

/* ---- rules about waking and searching ---- */

static int compare_doubles(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

/* A wake-up takes 5 to 50 us on an idle machine; 200 us are not the kernel's own. */
enum { LATE_NS = 200000 };

static void find_late(trace *t) {
  double *late = NULL, total = 0;
  size_t count = 0, capacity = 0, wakes = 0;
  const slice *worst = NULL;
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind != SLICE_SLEEP || s->late == 0) continue;
    wakes++;
    if (s->late < LATE_NS) continue;
    ARRAY_GROW(late, count, capacity);
    late[count++] = (double)s->late;
    total += (double)s->late;
    if (worst == NULL || s->late > worst->late) worst = s;
  }
  if (count >= 3 || share(total, t->duration_ns) > 0.02) {
    qsort(late, count, sizeof *late, compare_doubles);
    double lost = share(total, t->duration_ns);
    finding *f = add_finding(t, grade_of(lost, 0.01, 0.1), "late-wakes");
    title(f, "Woken %s late, %s times", show_ns(late[count / 2]),
          show_count((double)count));
    words(
        f,
        "Of %s wake-ups, %s took longer than %s from the call until the thread ran; the "
        "latest %s, on %s.",
        show_count((double)wakes), show_count((double)count), show_ns(LATE_NS),
        show_ns((double)worst->late), t->lanes[worst->lane].name);
    advice(
        f,
        "Other programs use the CPUs, the quota of a container is used up, or the kernel "
        "queues woken threads on a busy CPU: `weft doctor` checks each. WEFT_STEER=on "
        "and "
        "--idle low_latency help against the last.");
    f->begin = worst->end > worst->late * 2 ? worst->end - worst->late * 2 : 0;
    f->end = worst->end + worst->late;
    f->lane = (int)worst->lane;
  }
  free(late);
}

static void find_searching(trace *t) {
  double lost = share(t->state_ns[STATE_SEARCHING], t->threads * t->duration_ns);
  if (lost < 0.2 || t->threads < 2) return;
  finding *f = add_finding(t, grade_of(lost, 0.3, 0.6), "searching");
  title(f, "%s of the time went into looking for work", show_share(lost));
  words(f,
        "Threads searched for %s in all. They do so for some microseconds whenever work "
        "runs out: here it runs out often, or threads wait for a task that others run.",
        show_ns(t->state_ns[STATE_SEARCHING]));
  advice(f,
         "Offer larger pieces at once: one loop over all instead of many short ones. If "
         "work comes seldom and CPU time matters, use --idle power_saving.");
}

static void find_small(trace *t) {
  for (size_t i = 0; i < t->total_count; i++) {
    const name_total *total = &t->totals[i];
    if (total->kind != SLICE_TASK && total->kind != SLICE_BLOCK) continue;
    double mean = total->total_ns / (double)total->count;
    if (total->count < 2000 || mean > 1000) continue;
    finding *f = add_finding(t, SEVERITY_WARNING, "small-tasks");
    title(f, "%s times \"%s\", of %s each", show_count((double)total->count),
          t->names[total->name], show_ns(mean));
    words(f, "To hand a task to another thread costs some hundred nanoseconds, about as "
             "much as "
             "these do. (The trace itself adds to it.)");
    advice(f,
           "Let each task do more: raise min_len of the loop, spawn one task for several "
           "elements, or fork with weft_join, which is free while nobody steals.");
    f->begin = t->slices[total->longest_slice].begin;
    f->end = t->slices[total->longest_slice].end;
    f->lane = (int)t->slices[total->longest_slice].lane;
    return;
  }
}

static void find_blocked(trace *t) {
  double lost = share(t->state_ns[STATE_BLOCKED], t->threads * t->duration_ns);
  if (lost < 0.05) return;
  finding *f = add_finding(t, SEVERITY_NOTE, "blocked");
  title(f, "%s of the time in blocking sections", show_share(lost));
  words(f, "Threads were blocked for %s; stand-ins work meanwhile.",
        show_ns(t->state_ns[STATE_BLOCKED]));
  advice(f, "If the lanes of stand-ins are empty, raise weft_config.blocking.");
}

/* ---- rules about tasks that hinder each other ---- */

/* The times for an element of a loop, block by block, while one lane was at work and
 * while several were. Medians are compared: a thread that loses its CPU to another
 * program makes single blocks long. */
typedef struct pace {
  double *alone, *crowd;
  size_t alone_count, alone_capacity, crowd_count, crowd_capacity;
  double crowd_ns, crowd_level;
} pace;

/* Shorter blocks are as long as the clock is coarse. */
enum { SHORTEST_PACED_NS = 2000, FEWEST_PACED = 5 };

static pace pace_of(const trace *t, uint32_t name) {
  pace p = {0};
  for (size_t i = 0; i < t->slice_count; i++) {
    const slice *s = &t->slices[i];
    if (s->kind != SLICE_BLOCK || s->name != name || !s->has_range || s->last <= s->first)
      continue;
    double length = (double)(s->end - s->begin), elements = (double)(s->last - s->first);
    if (length < SHORTEST_PACED_NS) continue;
    double level =
        (trace_work_before(t, s->end) - trace_work_before(t, s->begin)) / length;
    if (level < 1.25) {
      ARRAY_GROW(p.alone, p.alone_count, p.alone_capacity);
      p.alone[p.alone_count++] = length / elements;
    } else if (level > 1.75) {
      ARRAY_GROW(p.crowd, p.crowd_count, p.crowd_capacity);
      p.crowd[p.crowd_count++] = length / elements;
      p.crowd_ns += length;
      p.crowd_level += level * length;
    }
  }
  return p;
}

static double median_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare_doubles);
  return values[count / 2];
}

/* The finding about one loop, if there is one. */
static bool find_contention_in(trace *t, const name_total *total) {
  pace p = pace_of(t, total->name);
  bool enough =
      p.alone_count >= FEWEST_PACED && p.crowd_count >= FEWEST_PACED && p.crowd_ns >= 1e6;
  double alone = enough ? median_of(p.alone, p.alone_count) : 1;
  double crowd = enough ? median_of(p.crowd, p.crowd_count) : 1;
  double level = enough ? p.crowd_level / p.crowd_ns : 1, slower = crowd / alone;
  free(p.alone);
  free(p.crowd);
  if (slower < 1.5) return false;
  finding *f = add_finding(t, grade_of(slower / level, 0.4, 0.75), "contention");
  title(f, "\"%s\" is %.1f times slower while %.1f threads run it", t->names[total->name],
        slower, level);
  words(f,
        "An element took %s while one thread was at work and %s while several were "
        "(medians of "
        "blocks). The threads hinder each other.",
        show_ns(alone), show_ns(crowd));
  advice(
      f,
      "Look for a lock, an atomic counter or a cache line that all of them write, or for "
      "memory bandwidth. Let each thread add up on its own: weft_reduce, weft_local.");
  f->begin = t->slices[total->longest_slice].begin;
  f->end = t->slices[total->longest_slice].end;
  return true;
}

static void find_contention(trace *t) {
  if (is_oversubscribed(t)) return;
  for (size_t i = 0; i < t->total_count && i < 20; i++)
    if (t->totals[i].kind == SLICE_BLOCK && find_contention_in(t, &t->totals[i])) return;
}

static void find_waiting_inside(trace *t) {
  double lost = t->work_ns - t->cpu_ns;
  if (t->cpu_ns <= 0 || lost < 5e6 || lost < 0.25 * t->work_ns) return;
  finding *f = add_finding(t, grade_of(lost / t->work_ns, 0.25, 0.5), "waits-inside");
  title(f, "Tasks waited for %s of their time", show_share(lost / t->work_ns));
  words(f,
        "Threads were inside tasks for %s, but the program used only %s of CPU time. It "
        "gave its "
        "CPU away %s times, and the kernel took it away %s times.",
        show_ns(t->work_ns), show_ns(t->cpu_ns), show_count(t->given_away),
        show_count(t->taken_away));
  if (t->taken_away > 2 * t->given_away)
    advice(f, "Other programs, or too many threads, use the CPUs: run on a free machine, "
              "or with "
              "fewer threads.");
  else
    advice(f, "Tasks wait for a lock, or for input and output. Hold locks for a shorter "
              "time or "
              "not at all (weft_reduce, weft_local); put calls that block between "
              "weft_blocking_begin and weft_blocking_end.");
}

static void find_uneven(trace *t) {
  if (is_oversubscribed(t)) return;
  double most = 0, least = HUGE_VAL;
  int who = -1;
  unsigned count = 0;
  for (size_t i = 0; i < t->lane_count; i++) {
    const lane *l = &t->lanes[i];
    if (!l->started) continue;
    double working = l->state_ns[STATE_WORKING];
    count++;
    if (working > most) most = working;
    if (working < least) {
      least = working;
      who = (int)i;
    }
  }
  if (count < 2 || least > 0.5 * most || share(most, t->duration_ns) < 0.2) return;
  finding *f = add_finding(t, SEVERITY_NOTE, "uneven");
  title(f, "%s worked %s, the busiest thread %s", t->lanes[who].name, show_ns(least),
        show_ns(most));
  words(f, "The work was not spread evenly over the started threads.");
  advice(
      f,
      "See in its lane what it waited for. A thread that is woken late, or blocks that "
      "are too large, are the usual reasons.");
  f->lane = who;
}

/* ---- frames ---- */

static void find_frames(trace *t) {
  double *lengths = NULL;
  size_t count = 0, capacity = 0;
  const mark *last = NULL, *worst = NULL;
  double longest = 0;
  for (size_t i = 0; i < t->mark_count; i++) {
    const mark *m = &t->marks[i];
    if (m->kind != MARK_FRAME) continue;
    if (last != NULL && last->name == m->name) {
      ARRAY_GROW(lengths, count, capacity);
      lengths[count++] = (double)(m->time - last->time);
      if (lengths[count - 1] > longest) {
        longest = lengths[count - 1];
        worst = m;
      }
    }
    last = m;
  }
  if (count >= 4) {
    qsort(lengths, count, sizeof *lengths, compare_doubles);
    double median = lengths[count / 2];
    if (longest > 1.5 * median) {
      finding *f = add_finding(t, SEVERITY_NOTE, "frames");
      title(f, "The longest frame took %s, the median %s", show_ns(longest),
            show_ns(median));
      words(f, "%s frames; number %.0f was the longest.", show_count((double)count),
            worst->number);
      advice(f, "See in the lanes what ran in it.");
      f->begin = worst->time - (uint64_t)longest;
      f->end = worst->time;
    }
  }
  free(lengths);
}

/* ---- all ---- */

static int compare_findings(const void *a, const void *b) {
  const finding *x = a, *y = b;
  return (int)y->severity - (int)x->severity;
}

void trace_find(trace *t) {
  find_threads(t);
  find_alone(t);
  find_large_blocks(t);
  find_contention(t);
  find_waiting_inside(t);
  find_nobody(t);
  find_late(t);
  find_small(t);
  find_searching(t);
  find_blocked(t);
  find_uneven(t);
  find_frames(t);
  find_end(t);
  /* The order of the rules stays among equals. */
  for (size_t i = 1; i < t->finding_count; i++)
    for (size_t j = i;
         j > 0 && compare_findings(&t->findings[j], &t->findings[j - 1]) < 0; j--) {
      finding swap = t->findings[j];
      t->findings[j] = t->findings[j - 1];
      t->findings[j - 1] = swap;
    }
  if (t->finding_count > 0 && t->findings[0].severity >= SEVERITY_WARNING) return;
  double working = share(t->work_ns, t->threads * t->duration_ns);
  finding *f = add_finding(t, SEVERITY_GOOD, "good");
  title(f, "Nothing stands out");
  words(f,
        "Threads were at work %s of the time; the program ran %.1f times as fast as one "
        "thread would.",
        show_share(working), t->speedup);
  advice(f, "To go further, make the longest tasks faster.");
}
