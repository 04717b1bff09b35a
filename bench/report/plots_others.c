/* report/plots_others.c - forks, latency and CPU use; see plots.h.
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
    label(&t, three_digits(items[i].value));
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

bool plot_fork(const results *r, text *out) {
  const row *p1 = find_row(r, "P1");
  const bench_case *c = p1 != NULL ? find_case(p1, "t1") : NULL;
  if (c == NULL) return false;
  item *items = NULL;
  size_t count = 0;
  for (size_t i = 0; i < c->count; i++) {
    const contestant *who = &c->contestants[i];
    double cost = fork_cost_ns(r, who->name);
    if ((!is_ours(who->name) && !is_peer(who->name)) || !(cost > 0)) continue;
    GROW(items, count);
    items[count++] = (item){who->name, cost};
  }
  if (count > 0)
    plot_bars(items, count, 0.5, "cost of one fork and join beyond a call",
              "Nanoseconds that a fork and a join add to a function call, on one thread.",
              label_time, out);
  free(items);
  return count > 0;
}

/* ---- more threads than CPUs ---- */

enum { MOST_WORKS = 32, NAME_ROOM = 48 };

/* "weft fib" from case sum-t64 of row P14; cases of fib are called t2 and t64. */
static void name_work(char *name, const char *who, const char *kase) {
  const char *end = strrchr(kase, '-');
  int length = end != NULL ? (int)(end - kase) : 3;
  snprintf(name, NAME_ROOM, "%s %.*s", who, length, end != NULL ? kase : "fib");
}

/* The case of the same work with 2 threads. */
static const bench_case *with_two_threads(const row *its, const char *kase) {
  const char *end = strrchr(kase, 't');
  text name = {0};
  text_print(&name, "%.*st2", (int)(end - kase), kase);
  const bench_case *found = find_case(its, name.chars);
  text_free(&name);
  return found;
}

bool plot_oversubscribed(const row *its, text *out) {
  char names[MOST_WORKS][NAME_ROOM];
  item items[MOST_WORKS];
  size_t count = 0;
  for (size_t k = 0; its != NULL && k < its->count; k++) {
    const bench_case *many = &its->cases[k];
    if (!matches("*t64", many->name)) continue;
    for (size_t i = 0; i < many->count && count < MOST_WORKS; i++) {
      const char *who = many->contestants[i].name;
      double two = time_of(find_contestant(with_two_threads(its, many->name), who));
      double ratio = time_of(&many->contestants[i]) / two;
      if (!(ratio > 0)) continue;
      name_work(names[count], who, many->name);
      items[count] = (item){names[count], ratio};
      count++;
    }
  }
  if (count > 0)
    plot_bars(items, count, 0.5, "time with 64 threads / time with 2, on 2 CPUs",
              "How much longer the same work takes with many more threads than CPUs.",
              label_ratio, out);
  return count > 0;
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

static void latency_range(const char *kind, const contestant *who, const char *from,
                          const char *to, const scale *x, double y, text *out) {
  char class[32];
  if (find_series(who, from) == NULL || find_series(who, to) == NULL) return;
  snprintf(class, sizeof class, "%s %s", kind, class_of(who->name));
  svg_line(out, class, scale_at(x, contestant_value(who, from)), y,
           scale_at(x, contestant_value(who, to)), y);
}

static void latency_line(const contestant *who, const scale *x, double y, text *out) {
  char dot[32];
  text t = {0};
  snprintf(dot, sizeof dot, "dot %s", class_of(who->name));
  svg_text(out, "name", AT_START, BAR_LEFT, y + 10, "%s", who->name);
  label_time(&t, three_digits(time_of(who)));
  text_add(&t, " \u2026 ");
  label_time(&t, three_digits(largest_of(who)));
  svg_text(out, "value", AT_END, RIGHT, y + 10, "%s", t.chars);
  latency_range("whisker", who, "best_ns", "p99_ns", x, y + 21, out);
  latency_range("range", who, "p10_ns", "p90_ns", x, y + 21, out);
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
    svg_begin(
        out, bottom + 36, its->title != NULL ? its->title : its->id,
        "From the best to the 99th percentile, thick from the 10th to the 90th; the "
        "dot is the median.");
    svg_axis_x(out, &x, TOP, bottom, label_time);
    for (size_t i = 0; i < c->count; i++)
      if (time_of(&c->contestants[i]) > 0)
        latency_line(&c->contestants[i], &x, TOP + (double)shown++ * BAR_LINE, out);
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30,
             "\u25cf median; thick: 10 to 90 %%; thin: best to 99 %%");
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
  static const char *const libraries[] = {"rayon", "tbb",         "omp-gcc",  "omp-clang",
                                          "ips4o", "pthreadpool", "taskflow", "lace"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
    if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) return libraries[i];
  return NULL;
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
