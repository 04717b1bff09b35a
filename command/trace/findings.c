/* trace/findings.c - says in plain words what stands out in a trace, and what to do.
 *
 * Each rule is one function that looks at one thing. The limits are choices: below them
 * the loss is not worth anybody's time, or is noise on a machine with other work.
 *
 * SPDX-License-Identifier: MIT */
#include "findings.h"

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

finding *finding_add(trace *t, severity grade, const char *id) {
  ARRAY_GROW(t->findings, t->finding_count, t->finding_capacity);
  finding *f = &t->findings[t->finding_count++];
  *f = (finding){.severity = grade, .id = id, .lane = -1};
  return f;
}

void finding_title(finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  f->title = copy_text(format, arguments);
  va_end(arguments);
}

void finding_words(finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  f->words = copy_text(format, arguments);
  va_end(arguments);
}

void finding_advice(finding *f, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  f->advice = copy_text(format, arguments);
  va_end(arguments);
}

double finding_share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

severity finding_grade(double lost, double warning, double bad) {
  return lost >= bad ? SEVERITY_BAD : lost >= warning ? SEVERITY_WARNING : SEVERITY_NOTE;
}

int compare_doubles(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

double median_of(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare_doubles);
  return values[count / 2];
}

/* ---- rules about the file ---- */

static void find_end(trace *t) {
  if (t->cut_short) {
    finding *f = finding_add(t, SEVERITY_NOTE, "cut-short");
    finding_title(f, "The file ends too early");
    finding_words(f, "What was read until there is shown: %zu events.", t->events);
    finding_advice(f, "Was the disk full, or is the program still running?");
  } else if (strncmp(t->reason, "signal", 6) == 0) {
    finding *f = finding_add(t, SEVERITY_WARNING, "signal");
    finding_title(f, "The program was ended by %s", t->reason);
    finding_words(
        f,
        "The trace shows everything until then. Slices that were open are cut off at the "
        "end.");
    finding_advice(
        f,
        "Look at the right end of the lanes: what ran there was running at the crash.");
    f->end = (uint64_t)t->duration_ns;
    f->begin = (uint64_t)(t->duration_ns * 0.95);
  } else if (t->from_weft && !t->complete) {
    finding *f = finding_add(t, SEVERITY_NOTE, "running");
    finding_title(f, "The trace was not ended in order");
    finding_words(
        f,
        "The program was killed, or still ran when the file was read. The last moments "
        "may be missing.");
    finding_advice(f, "End the program by exit, or call weft_trace_stop.");
  }
  if (t->dropped > 0 || t->dropped_short > 0) {
    finding *f = finding_add(t, SEVERITY_NOTE, "dropped");
    finding_title(f, "%s records are missing", show_count(t->dropped + t->dropped_short));
    if (t->dropped_short > 0)
      finding_words(
          f,
          "The file came near its limit, so slices shorter than %s were left out at the "
          "end (%s of them); %s records did not fit into a ring.",
          show_ns(t->shortest_ns), show_count(t->dropped_short), show_count(t->dropped));
    else
      finding_words(
          f,
          "Events came faster than they could be written; %s did not fit into a ring. "
          "Times and shares are lower bounds.",
          show_count(t->dropped));
    finding_advice(
        f, "Raise WEFT_TRACE_LIMIT, trace a shorter part with weft_trace_start and "
           "weft_trace_stop, or make tasks larger.");
  }
}

bool trace_is_oversubscribed(const trace *t) {
  return t->cpus >= 1 && t->threads > t->cpus;
}

static void find_threads(trace *t) {
  if (!trace_is_oversubscribed(t)) return;
  severity grade = t->threads >= 2 * t->cpus ? SEVERITY_BAD : SEVERITY_WARNING;
  finding *f = finding_add(t, grade, "oversubscribed");
  finding_title(f, "%.0f threads share %.0f CPU%s", t->threads, t->cpus,
                t->cpus > 1 ? "s" : "");
  finding_words(
      f, "Threads wait for each other's CPU, so tasks look longer, and the speed-up "
         "larger, than they are, and a sleeping thread may be woken late.");
  finding_advice(
      f,
      "Unless tasks block, leave the number of threads to weft: unset WEFT_NUM_THREADS "
      "and weft_config.threads.");
}

/* ---- rules about waking and searching ---- */

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
  if (count >= 3 || finding_share(total, t->duration_ns) > 0.02) {
    qsort(late, count, sizeof *late, compare_doubles);
    double lost = finding_share(total, t->duration_ns);
    finding *f = finding_add(t, finding_grade(lost, 0.01, 0.1), "late-wakes");
    if (count == 1)
      finding_title(f, "Woken %s late, once", show_ns(late[0]));
    else
      finding_title(f, "Woken %s late, %s times", show_ns(late[count / 2]),
                    show_count((double)count));
    finding_words(
        f,
        "Of %s wake-ups, %s took longer than %s from the call until the thread ran; the "
        "latest %s, on %s.",
        show_count((double)wakes), show_count((double)count), show_ns(LATE_NS),
        show_ns((double)worst->late), t->lanes[worst->lane].name);
    finding_advice(
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
  double lost = finding_share(t->state_ns[STATE_SEARCHING], t->threads * t->duration_ns);
  if (lost < 0.2 || t->threads < 2) return;
  finding *f = finding_add(t, finding_grade(lost, 0.3, 0.6), "searching");
  finding_title(f, "%s of the time went into looking for work", show_share(lost));
  finding_words(
      f,
      "Threads searched for %s in all. They do so for some microseconds whenever work "
      "runs out: here it runs out often, or threads wait for a task that others run.",
      show_ns(t->state_ns[STATE_SEARCHING]));
  finding_advice(
      f, "Offer larger pieces at once: one loop over all instead of many short ones. If "
         "work comes seldom and CPU time matters, use --idle power_saving.");
}

static void find_small(trace *t) {
  for (size_t i = 0; i < t->total_count; i++) {
    const name_total *total = &t->totals[i];
    if (total->kind != SLICE_TASK && total->kind != SLICE_BLOCK) continue;
    double mean = total->total_ns / (double)total->count;
    if (total->count < 2000 || mean > 1000) continue;
    finding *f = finding_add(t, SEVERITY_WARNING, "small-tasks");
    finding_title(f, "%s times \"%s\", of %s each", show_count((double)total->count),
                  t->names[total->name], show_ns(mean));
    finding_words(
        f, "To hand a task to another thread costs some hundred nanoseconds, about as "
           "much as "
           "these do. (The trace itself adds to it.)");
    finding_advice(
        f, "Let each task do more: raise min_len of the loop, spawn one task for several "
           "elements, or fork with weft_join, which is free while nobody steals.");
    f->begin = t->slices[total->longest_slice].begin;
    f->end = t->slices[total->longest_slice].end;
    f->lane = (int)t->slices[total->longest_slice].lane;
    return;
  }
}

static void find_blocked(trace *t) {
  double lost = finding_share(t->state_ns[STATE_BLOCKED], t->threads * t->duration_ns);
  if (lost < 0.05) return;
  finding *f = finding_add(t, SEVERITY_NOTE, "blocked");
  finding_title(f, "%s of the time in blocking sections", show_share(lost));
  finding_words(f, "Threads were blocked for %s; stand-ins work meanwhile.",
                show_ns(t->state_ns[STATE_BLOCKED]));
  finding_advice(f, "If the lanes of stand-ins are empty, raise weft_config.blocking.");
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

/* Of sorted values: how many times larger the upper ones are than the lower ones. */
static double spread_of(const double *values, size_t count) {
  return values[count * 4 / 5] / values[count / 5];
}

/* The finding about one loop, if there is one. */
static bool find_contention_in(trace *t, const name_total *total) {
  pace p = pace_of(t, total->name);
  bool enough =
      p.alone_count >= FEWEST_PACED && p.crowd_count >= FEWEST_PACED && p.crowd_ns >= 1e6;
  double alone = enough ? median_of(p.alone, p.alone_count) : 1;
  double crowd = enough ? median_of(p.crowd, p.crowd_count) : 1;
  double level = enough ? p.crowd_level / p.crowd_ns : 1, slower = crowd / alone;
  /* Elements that differ as much among themselves tell nothing. */
  if (enough && (spread_of(p.alone, p.alone_count) > slower ||
                 spread_of(p.crowd, p.crowd_count) > slower))
    slower = 1;
  free(p.alone);
  free(p.crowd);
  if (slower < 1.5) return false;
  finding *f = finding_add(t, finding_grade(slower / level, 0.4, 0.75), "contention");
  finding_title(f, "\"%s\" is %.1f times slower while %.1f threads run it",
                t->names[total->name], slower, level);
  finding_words(
      f,
      "An element took %s while one thread was at work and %s while several were "
      "(medians of "
      "blocks). The threads hinder each other.",
      show_ns(alone), show_ns(crowd));
  finding_advice(
      f,
      "Look for a lock, an atomic counter or a cache line that all of them write, or for "
      "memory bandwidth. Let each thread add up on its own: weft_reduce, weft_local.");
  f->begin = t->slices[total->longest_slice].begin;
  f->end = t->slices[total->longest_slice].end;
  return true;
}

static void find_contention(trace *t) {
  if (trace_is_oversubscribed(t) || trace_is_starved(t)) return;
  for (size_t i = 0; i < t->total_count && i < 20; i++)
    if (t->totals[i].kind == SLICE_BLOCK && find_contention_in(t, &t->totals[i])) return;
}

/* The blocks or tasks of one name in which most of the time at work was spent. */
static const name_total *most_of_the_work(const trace *t) {
  for (size_t i = 0; i < t->total_count; i++)
    if (t->totals[i].kind == SLICE_BLOCK || t->totals[i].kind == SLICE_TASK)
      return &t->totals[i];
  return NULL;
}

/* How often threads stopped to wait in tasks: besides their sleeps, and those of the
 * thread that writes the trace, which looks every 20 ms. */
static double waits_inside(const trace *t) {
  double sleeps = t->duration_ns / 20e6;
  for (size_t i = 0; i < t->slice_count; i++) sleeps += t->slices[i].kind == SLICE_SLEEP;
  return t->waits > sleeps ? t->waits - sleeps : 0;
}

/* A thread that waits for a lock stops at each turn, and one that computes does not. 500
 * stops in a second of CPU time are a choice. In a program whose workers are idle for
 * most of the time they are stops of other threads. */
static bool stops_often(const trace *t) {
  return waits_inside(t) >= 50 && waits_inside(t) >= 500 * t->cpu_ns / 1e9 &&
         t->work_ns >= 0.5 * t->threads * t->duration_ns;
}

static void describe_waits(const trace *t, finding *f, double inside) {
  const name_total *most = most_of_the_work(t);
  finding_words(f,
                "Threads were inside tasks for %s, most of it in \"%s\" (%s), and used "
                "%s of CPU time. They stopped to wait %s times, once in %s of that, and "
                "the system took their CPU away %s times.",
                show_ns(inside), most != NULL ? t->names[most->name] : "nameless tasks",
                show_share(most != NULL ? finding_share(most->total_ns, t->work_ns) : 1),
                show_ns(t->cpu_ns), show_count(t->waits),
                show_ns(finding_share(t->cpu_ns, t->waits)), show_count(t->preemptions));
  if (most == NULL) return;
  f->begin = t->slices[most->longest_slice].begin;
  f->end = t->slices[most->longest_slice].end;
  f->lane = (int)t->slices[most->longest_slice].lane;
}

static void find_waiting_inside(trace *t) {
  /* Without the time in which they waited for a CPU. */
  double inside = t->work_ns - t->starved_ns, lost = inside - t->cpu_ns;
  bool waited = lost >= 5e6 && lost >= 0.2 * inside;
  if (t->cpu_ns <= 0 || (!waited && !stops_often(t))) return;
  /* Where the system does not say how long they had no CPU. */
  bool lost_cpu = waited && t->starved_ns <= 0 && t->preemptions > 2 * t->waits;
  severity grade = waited ? finding_grade(lost / inside, 0.2, 0.5) : SEVERITY_WARNING;
  finding *f = finding_add(t, grade, "waits-inside");
  if (waited)
    finding_title(f, "Tasks waited for %s of their time%s", show_share(lost / inside),
                  lost_cpu ? ", for a CPU" : ": for a lock, or for input and output");
  else
    finding_title(f,
                  "Tasks stopped to wait %s times: for a lock, or for input and output",
                  show_count(waits_inside(t)));
  describe_waits(t, f, waited ? inside : t->work_ns);
  if (lost_cpu)
    finding_advice(f, "Other programs, or too many threads, use the CPUs: run on a free "
                      "machine, or with fewer threads.");
  else
    finding_advice(
        f, "Hold locks for a shorter time, or use none: let each thread add up on "
           "its own (weft_reduce_local, weft_local). Put calls that block between "
           "weft_blocking_begin and weft_blocking_end.");
}

static void find_uneven(trace *t) {
  if (trace_is_oversubscribed(t)) return;
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
  if (count < 2 || least > 0.5 * most || finding_share(most, t->duration_ns) < 0.2)
    return;
  finding *f = finding_add(t, SEVERITY_NOTE, "uneven");
  finding_title(f, "%s worked %s, the busiest thread %s", t->lanes[who].name,
                show_ns(least), show_ns(most));
  finding_words(f, "The work was not spread evenly over the started threads.");
  finding_advice(
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
      finding *f = finding_add(t, SEVERITY_NOTE, "frames");
      finding_title(f, "The longest frame took %s, the median %s", show_ns(longest),
                    show_ns(median));
      finding_words(f, "%s frames; number %.0f was the longest.",
                    show_count((double)count), worst->number);
      finding_advice(f, "See in the lanes what ran in it.");
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
  find_starved(t);
  find_alone(t);
  find_large_blocks(t);
  find_contention(t);
  find_waiting_inside(t);
  find_nobody(t);
  find_before(t);
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
  double working = finding_share(t->work_ns, t->threads * t->duration_ns);
  finding *f = finding_add(t, SEVERITY_GOOD, "good");
  finding_title(f, "Nothing stands out");
  finding_words(
      f,
      "Threads were at work %s of the time; the program ran %.1f times as fast as one "
      "thread would.",
      show_share(working), t->speedup);
  finding_advice(f, "To go further, make the longest tasks faster.");
}
