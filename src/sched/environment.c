/* sched/environment.c - reads the environment, and reports what it does not understand.
 *
 * A library must not stop a program for a mistake in the environment, and must not hide
 * it either: somebody who sets WEFT_NUM_THREADS=2x wants to know that it has no effect.
 * So nonsense counts as not set, and is reported on standard error, as libgomp does: one
 * line with the variable, its value and what is used instead. Each variable is reported
 * once per process, however many pools are made. Called by threads that make a pool.
 *
 * A new variable needs an entry in VARIABLES, a row in docs/guide/pools.md, and a member
 * of wf_environment if it is one of pools.
 *
 * SPDX-License-Identifier: MIT */
#include "environment.h"

#include "sched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUM_THREADS, IDLE, STEER, QUEUE_LIMIT, TRACE, TRACE_LIMIT, STATS, VARIABLE_COUNT };

static const char *const VARIABLES[VARIABLE_COUNT] = {[NUM_THREADS] = "WEFT_NUM_THREADS",
                                                      [IDLE] = "WEFT_IDLE",
                                                      [STEER] = "WEFT_STEER",
                                                      [QUEUE_LIMIT] = "WEFT_QUEUE_LIMIT",
                                                      [TRACE] = "WEFT_TRACE",
                                                      [TRACE_LIMIT] = "WEFT_TRACE_LIMIT",
                                                      [STATS] = "WEFT_STATS"};

/* How often each variable was found wrong, and how often names were looked at. */
static wf_u32 x_reported[VARIABLE_COUNT];
static wf_u32 x_names_checked;

/* True for the first caller of a process. Relaxed: nothing else depends on who is first.
 * The load keeps the count from running over. */
static bool is_first_time(wf_u32 *x_count) {
  return wf_u32_load_relaxed(x_count) == 0 && wf_u32_fetch_add_relaxed(x_count, 1) == 0;
}

/* ---- values ---- */

/* 60 bytes show any value that was meant seriously, and the line stays a line. */
enum { LONGEST_SHOWN = 60 };

/* Copies text for a message: one line, printable, and cut where it is too long. */
static void make_printable(char out[LONGEST_SHOWN + 4], const char *text, size_t length) {
  size_t shown = length < LONGEST_SHOWN ? length : LONGEST_SHOWN;
  for (size_t i = 0; i < shown; i++)
    out[i] = (char)(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?');
  strcpy(out + shown, shown < length ? "..." : "");
}

/* The line is written by one call, so that lines of several threads do not mix. */
static void report_value(unsigned variable, const char *value, const char *expected,
                         const char *used) {
  char shown[LONGEST_SHOWN + 4];
  if (!is_first_time(&x_reported[variable])) return;
  make_printable(shown, value, strlen(value));
  (void)fprintf(stderr, "weft: %s: \"%s\" is not %s; using %s\n", VARIABLES[variable],
                shown, expected, used);
}

/* `WEFT_IDLE= command` is how a shell takes a variable away for one command. */
static bool is_set(const char *text) {
  return text != NULL && *text != '\0';
}

/* A plain decimal number from 1 to max, with nothing around it; else 0. */
static unsigned parse_count(const char *text, unsigned max) {
  unsigned value = 0;
  for (; *text != '\0'; text++) {
    if (*text < '0' || *text > '9') return 0;
    value = value * 10 + (unsigned)(*text - '0');
    if (value > max) return 0;
  }
  return value;
}

unsigned wf_environment_threads(const char *text, unsigned usable_cpus) {
  unsigned used = usable_cpus < WEFT_MAX_THREADS ? usable_cpus : WEFT_MAX_THREADS;
  if (!is_set(text)) return used;
  unsigned count = parse_count(text, WEFT_MAX_THREADS);
  if (count != 0) return count;
  char expected[40], instead[48];
  (void)snprintf(expected, sizeof expected, "a number from 1 to %d", WEFT_MAX_THREADS);
  (void)snprintf(instead, sizeof instead, "%u, the number of usable CPUs", used);
  report_value(NUM_THREADS, text, expected, instead);
  return used;
}

weft_idle wf_environment_idle(const char *text) {
  static const char *const names[] = {"low_latency", "balanced", "power_saving"};
  if (!is_set(text)) return WEFT_IDLE_BALANCED;
  for (int mode = WEFT_IDLE_LOW_LATENCY; mode < WEFT_IDLE_DEFAULT; mode++)
    if (strcmp(text, names[mode]) == 0) return (weft_idle)mode;
  report_value(IDLE, text, "low_latency, balanced or power_saving", "balanced");
  return WEFT_IDLE_BALANCED;
}

weft_steer wf_environment_steer(const char *text) {
  if (!is_set(text) || strcmp(text, "auto") == 0) return WEFT_STEER_AUTO;
  if (strcmp(text, "on") == 0) return WEFT_STEER_ON;
  if (strcmp(text, "off") == 0) return WEFT_STEER_OFF;
  report_value(STEER, text, "auto, on or off", "auto");
  return WEFT_STEER_AUTO;
}

/* Of the environment; a program may configure more. A choice: 10^8 functions that wait
 * take 1.6 GB. */
enum { LARGEST_QUEUE_LIMIT = 100000000 };

unsigned wf_environment_queue_limit(const char *text) {
  if (!is_set(text)) return 0;
  unsigned limit = parse_count(text, LARGEST_QUEUE_LIMIT);
  if (limit == 0)
    report_value(QUEUE_LIMIT, text, "a number from 1 to 100000000", "no limit");
  return limit;
}

wf_stats_wish wf_environment_stats(const char *text) {
  if (!is_set(text) || strcmp(text, "0") == 0) return WF_STATS_NONE;
  if (strcmp(text, "1") == 0) return WF_STATS_TABLE;
  if (strcmp(text, "live") == 0) return WF_STATS_LIVE;
  report_value(STATS, text, "0, 1 or live", "0");
  return WF_STATS_NONE;
}

/* Choices, in MiB: browsers still open files of the first size; the second is 1 TiB. */
enum { DEFAULT_TRACE_LIMIT = 512, LARGEST_TRACE_LIMIT = 1 << 20 };

unsigned wf_environment_trace_limit(const char *text) {
  if (!is_set(text)) return DEFAULT_TRACE_LIMIT;
  unsigned limit = parse_count(text, LARGEST_TRACE_LIMIT);
  if (limit != 0) return limit;
  report_value(TRACE_LIMIT, text, "a number from 1 to 1048576", "512");
  return DEFAULT_TRACE_LIMIT;
}

/* ---- names ---- */

enum { PREFIX_LENGTH = 5, LONGEST_NAME = 32 }; /* "WEFT_"; more than any variable has */

static char to_upper(char c) {
  return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

/* How many characters must be added, removed, replaced or swapped with their neighbour to
 * make b of a (Damerau's distance, restricted: no character is touched twice). Both are
 * in upper case and at most LONGEST_NAME long. */
static size_t typing_mistakes(const char *a, size_t a_length, const char *b,
                              size_t b_length) {
  size_t rows[3][LONGEST_NAME + 1]; /* of the last three prefixes of a, in turn */
  for (size_t j = 0; j <= b_length; j++) rows[0][j] = j;
  for (size_t i = 1; i <= a_length; i++) {
    size_t *now = rows[i % 3], *before = rows[(i + 2) % 3];
    const size_t *two_before = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t best = before[j - 1] + (a[i - 1] != b[j - 1]);
      best = smaller(best, smaller(before[j], now[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = smaller(best, two_before[j - 2] + 1);
      now[j] = best;
    }
  }
  return rows[a_length % 3][b_length];
}

/* One mistake in a short word and two in a longer one: with more, words become alike that
 * mean something else, such as WEFT_FILE and WEFT_IDLE. WEFT_THREADS is no typing mistake
 * but what people write from memory. */
static bool look_alike(const char *tail, size_t length, const char *known) {
  size_t known_length = strlen(known);
  size_t allowed = known_length < 6 ? 1 : 2;
  if (length >= 4 && length < known_length &&
      memcmp(tail, known + known_length - length, length) == 0)
    return true;
  return typing_mistakes(tail, length, known, known_length) <= allowed;
}

const char *wf_environment_meant(const char *name, size_t length) {
  char upper[LONGEST_NAME];
  if (length <= PREFIX_LENGTH || length > LONGEST_NAME) return NULL;
  for (size_t i = 0; i < length; i++) upper[i] = to_upper(name[i]);
  if (memcmp(upper, "WEFT_", PREFIX_LENGTH) != 0) return NULL;
  const char *meant = NULL;
  for (unsigned i = 0; i < VARIABLE_COUNT; i++) {
    if (strlen(VARIABLES[i]) == length && memcmp(name, VARIABLES[i], length) == 0)
      return NULL;
    if (meant == NULL && look_alike(upper + PREFIX_LENGTH, length - PREFIX_LENGTH,
                                    VARIABLES[i] + PREFIX_LENGTH))
      meant = VARIABLES[i];
  }
  return meant;
}

/* A wrong name is no error that a program notices otherwise, as other libraries of the
 * process may have variables that begin alike. A pass over the environment takes some
 * microseconds, once. */
static void check_names(void) {
  for (char **entry = wf_sys_environment(); entry != NULL && *entry != NULL; entry++) {
    const char *equals = strchr(*entry, '=');
    if (equals == NULL) continue;
    size_t length = (size_t)(equals - *entry);
    const char *meant = wf_environment_meant(*entry, length);
    if (meant == NULL) continue;
    char shown[LONGEST_SHOWN + 4];
    make_printable(shown, *entry, length);
    (void)fprintf(stderr,
                  "weft: %s is no variable of weft and is not used; did you mean %s?\n",
                  shown, meant);
  }
}

wf_environment wf_environment_read(void) {
  if (is_first_time(&x_names_checked)) check_names();
  /* A program that changes its environment while it creates a pool has a race of its own.
   * NOLINTNEXTLINE(concurrency-mt-unsafe) */
  return (wf_environment){getenv(VARIABLES[NUM_THREADS]), getenv(VARIABLES[IDLE]),
                          getenv(VARIABLES[STEER]), getenv(VARIABLES[QUEUE_LIMIT])};
}
