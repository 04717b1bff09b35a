/* report/plots_others.c - forks, scaling, granularity, latency and CPU use; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "../harness/stats.h"
#include "plots.h"
#include "standing.h"
#include "svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 8, RIGHT = SVG_WIDTH - 14, BAR = 12, BAR_LINE = 36, BAR_LEFT = 10 };

/* ---- bars: a name, a value, a length ---- */

typedef struct item {
  const char *name;
  double value;
} item;

static int by_value(const void *a, const void *b) {
  double x = ((const item *)a)->value, y = ((const item *)b)->value;
  return (x > y) - (x < y);
}

static void plot_bars(item *items, size_t count, double low, const char *title,
                      const char *description, void (*label)(text *out, double value),
                      text *out) {
  double *values = NULL;
  qsort(items, count, sizeof *items, by_value);
  for (size_t i = 0; i < count; i++) {
    GROW(values, i);
    values[i] = items[i].value;
  }
  scale x = scale_over(values, count, low, low * 4, BAR_LEFT, RIGHT);
  x.low = low * 0.8;
  double bottom = TOP + (double)count * BAR_LINE;
  svg_begin(out, bottom + 36, title, description);
  svg_axis_x(out, &x, TOP, bottom, label);
  for (size_t i = 0; i < count; i++) {
    double y = TOP + (double)i * BAR_LINE;
    text t = {0};
    char class[32];
    label(&t, items[i].value >= 100 ? round(items[i].value)
                                    : round(items[i].value * 100) / 100);
    snprintf(class, sizeof class, "bar %s", class_of(items[i].name));
    svg_text(out, "name", AT_START, BAR_LEFT, y + 10, "%s", items[i].name);
    svg_text(out, "value", AT_END, RIGHT, y + 10, "%s", t.chars);
    svg_rect(out, class, BAR_LEFT, y + 15, scale_at(&x, items[i].value) - BAR_LEFT, BAR);
    text_free(&t);
  }
  svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30, "%s", title);
  svg_end(out);
  free(values);
}

/* ---- forks ---- */

/* How often fib(n), the last argument of the command, forks. */
static double forks_of(const char *command) {
  const char *last = strrchr(command, ' ');
  long n = last != NULL ? strtol(last, NULL, 10) : 0;
  double a = 0, b = 1;
  for (long i = 0; i < n; i++) {
    double next = a + b;
    a = b;
    b = next;
  }
  return b - 1; /* fib(n + 1) - 1 calls are no leaves */
}

bool plot_fork(const results *r, text *out) {
  const row *p1 = find_row(r, "P1");
  const bench_case *c = p1 != NULL ? find_case(p1, "t1") : NULL;
  const contestant *serial = c != NULL ? find_contestant(c, "serial-noinline") : NULL;
  if (!(time_of(serial) > 0)) return false;
  item *items = NULL;
  size_t count = 0;
  for (size_t i = 0; i < c->count; i++) {
    const contestant *who = &c->contestants[i];
    double beyond = (time_of(who) - time_of(serial)) / forks_of(who->command);
    if ((!is_ours(who->name) && !is_peer(who->name)) || !(beyond > 0)) continue;
    GROW(items, count);
    items[count++] = (item){who->name, beyond};
  }
  if (count > 0)
    plot_bars(items, count, 0.5, "cost of one fork and join beyond a call",
              "Nanoseconds that a fork and a join add to a function call, on one thread.",
              label_time, out);
  free(items);
  return count > 0;
}

/* ---- lines: speed-up by threads or by length of a body ---- */

enum { CHART_LEFT = 46, CHART_HEIGHT = 220, MOST_CASES = 32, LEGEND_LINE = 18 };

/* The first number in the name, in nanoseconds if it has a unit. */
static double number_in(const char *name) {
  const char *digits = strpbrk(name, "0123456789");
  char *end;
  if (digits == NULL) return NAN;
  double value = strtod(digits, &end);
  if (strncmp(end, "us", 2) == 0) return value * 1e3;
  if (strncmp(end, "ms", 2) == 0) return value * 1e6;
  return value;
}

static bool is_serial(const char *name) {
  return strcmp(class_of(name), "serial") == 0;
}

/* Times of the sequential program: of the case, or of the first one. */
static double serial_time(const row *its, size_t k) {
  const contestant *serial = fastest(&its->cases[k], is_serial);
  if (serial == NULL && its->count > 0) serial = fastest(&its->cases[0], is_serial);
  return time_of(serial);
}

static double speedup(const row *its, size_t k, const char *name) {
  return serial_time(its, k) / time_of(find_contestant(&its->cases[k], name));
}

/* All contestants of the row but the sequential ones, once each. */
static words contestants_of(const row *its) {
  words names = {0};
  for (size_t k = 0; k < its->count; k++)
    for (size_t i = 0; i < its->cases[k].count; i++) {
      const char *name = its->cases[k].contestants[i].name;
      if (!is_serial(name) && !words_have(&names, name))
        words_add(&names, name, strlen(name));
    }
  return names;
}

static void one_line(const row *its, const char *name, size_t number, const scale *x,
                     const scale *y, double legend_y, text *out) {
  double xy[2 * MOST_CASES];
  size_t points = 0;
  char line[48], dot[48];
  snprintf(line, sizeof line, "line %s dash%zu", class_of(name), number % 4);
  snprintf(dot, sizeof dot, "dot %s", class_of(name));
  for (size_t k = 0; k < its->count && points < MOST_CASES; k++) {
    double value = speedup(its, k, name);
    if (!(value > 0)) continue;
    xy[2 * points] = scale_at(x, number_in(its->cases[k].name));
    xy[2 * points + 1] = scale_at(y, value);
    points++;
  }
  svg_path(out, line, xy, points);
  for (size_t i = 0; i < points; i++)
    svg_dot(out, dot, xy[2 * i], xy[2 * i + 1], 3, name);
  const double legend[] = {CHART_LEFT, legend_y - 4, CHART_LEFT + 28, legend_y - 4};
  svg_path(out, line, legend, 2);
  svg_text(out, "name", AT_START, CHART_LEFT + 36, legend_y, "%s", name);
}

bool plot_speedup(const row *its, bool by_time, text *out) {
  double places[MOST_CASES], values[MOST_CASES * 16];
  size_t place_count = 0, value_count = 0;
  if (its == NULL) return false;
  words names = contestants_of(its);
  for (size_t k = 0; k < its->count && k < MOST_CASES; k++) {
    places[place_count++] = number_in(its->cases[k].name);
    for (size_t i = 0; i < names.count && i < 16; i++)
      values[value_count++] = speedup(its, k, names.items[i]);
  }
  bool any = false;
  for (size_t i = 0; i < value_count; i++) any |= values[i] > 0;
  if (any) {
    scale x =
        scale_over(places, place_count, places[0], places[0] * 2, CHART_LEFT, RIGHT);
    scale y = scale_over(values, value_count, 0.5, 2, CHART_HEIGHT, TOP);
    double height = CHART_HEIGHT + 40 + (double)names.count * LEGEND_LINE;
    svg_begin(out, height + 6, its->title != NULL ? its->title : its->id,
              "Speed-up over the sequential program, one line for each library.");
    svg_axis_y(out, &y, CHART_LEFT, RIGHT, label_ratio);
    svg_axis_x(out, &x, TOP, CHART_HEIGHT, by_time ? label_time : label_plain);
    svg_line(out, "even", CHART_LEFT, scale_at(&y, 1), RIGHT, scale_at(&y, 1));
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, CHART_HEIGHT + 30, "%s",
             by_time ? "length of one body" : "threads");
    for (size_t i = 0; i < names.count; i++)
      one_line(its, names.items[i], i, &x, &y,
               CHART_HEIGHT + 50 + (double)i * LEGEND_LINE, out);
    svg_end(out);
  }
  words_free(&names);
  return any;
}

/* ---- latency ---- */

static double largest_of(const contestant *c) {
  const char *const metrics[] = {"p99_ns", "p90_ns", "median_ns"};
  for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
    if (find_series(c, metrics[i]) != NULL) return contestant_value(c, metrics[i]);
  return NAN;
}

static double smallest_of(const contestant *c) {
  return find_series(c, "best_ns") != NULL ? contestant_value(c, "best_ns") : time_of(c);
}

static void latency_line(const contestant *who, const scale *x, double y, text *out) {
  char line[32], dot[32];
  text t = {0};
  snprintf(line, sizeof line, "range %s", class_of(who->name));
  snprintf(dot, sizeof dot, "dot %s", class_of(who->name));
  svg_text(out, "name", AT_START, BAR_LEFT, y + 10, "%s", who->name);
  label_time(&t, round(time_of(who)));
  text_add(&t, " \u2026 ");
  label_time(&t, round(largest_of(who)));
  svg_text(out, "value", AT_END, RIGHT, y + 10, "%s", t.chars);
  svg_line(out, line, scale_at(x, smallest_of(who)), y + 21, scale_at(x, largest_of(who)),
           y + 21);
  svg_dot(out, dot, scale_at(x, time_of(who)), y + 21, 5, NULL);
  text_free(&t);
}

bool plot_latency(const row *its, const char *case_name, text *out) {
  const bench_case *c = its != NULL ? find_case(its, case_name) : NULL;
  double *values = NULL;
  size_t count = 0, shown = 0;
  for (size_t i = 0; c != NULL && i < c->count; i++) {
    if (!(time_of(&c->contestants[i]) > 0)) continue;
    GROW(values, count);
    values[count++] = smallest_of(&c->contestants[i]);
    GROW(values, count);
    values[count++] = largest_of(&c->contestants[i]);
  }
  if (count > 0) {
    scale x = scale_over(values, count, values[0], values[0] * 2, BAR_LEFT, RIGHT);
    double bottom = TOP + (double)(count / 2) * BAR_LINE;
    svg_begin(out, bottom + 36, its->title != NULL ? its->title : its->id,
              "From the best to the slowest measured; the dot is the median.");
    svg_axis_x(out, &x, TOP, bottom, label_time);
    for (size_t i = 0; i < c->count; i++)
      if (time_of(&c->contestants[i]) > 0)
        latency_line(&c->contestants[i], &x, TOP + (double)shown++ * BAR_LINE, out);
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30,
             "best \u2014 median \u25cf \u2014 99th percentile");
    svg_end(out);
  }
  free(values);
  return count > 0;
}

/* ---- CPU use ---- */

/* The geometric mean over all cases of (CPU seconds of the library / those of weft), for
 * each library that took part in at least two cases. */
typedef struct cpu_sum {
  const char *name;
  double logs;
  size_t cases;
} cpu_sum;

static double cpu_of(const contestant *c) {
  return c != NULL && find_series(c, "process_cpu_s") != NULL
             ? contestant_value(c, "process_cpu_s")
             : NAN;
}

/* rayon-install and rayon-outside are one library. */
static const char *library_of(const char *name) {
  return is_peer(name) ? class_of(name) : NULL;
}

static void add_cpu_use(cpu_sum *sums, size_t *count, const bench_case *c) {
  double ours = cpu_of(find_contestant(c, "weft"));
  if (!(ours > 0)) return;
  for (size_t i = 0; i < c->count; i++) {
    const char *library = library_of(c->contestants[i].name);
    double theirs = cpu_of(&c->contestants[i]);
    if (library == NULL || !(theirs > 0)) continue;
    size_t k = 0;
    while (k < *count && strcmp(sums[k].name, library) != 0) k++;
    if (k == *count) sums[(*count)++] = (cpu_sum){library, 0, 0};
    sums[k].logs += log(theirs / ours);
    sums[k].cases++;
  }
}

bool plot_cpu(const results *r, text *out) {
  cpu_sum sums[8];
  item items[9];
  size_t count = 0, shown = 0;
  for (size_t i = 0; i < r->count; i++)
    for (size_t k = 0; k < r->rows[i].count; k++)
      add_cpu_use(sums, &count, &r->rows[i].cases[k]);
  for (size_t k = 0; k < count; k++)
    if (sums[k].cases >= 2)
      items[shown++] = (item){sums[k].name, exp(sums[k].logs / (double)sums[k].cases)};
  if (shown == 0) return false;
  items[shown++] = (item){"weft", 1};
  plot_bars(items, shown, 0.5, "CPU time, weft = 1 (geometric mean over shared cases)",
            "CPU seconds of whole processes relative to weft.", label_ratio, out);
  return true;
}
