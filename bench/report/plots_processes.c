/* report/plots_processes.c - rows whose figures depend on the process: every process as a
 * dot; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "../harness/stats.h"
#include "plots.h"
#include "standing.h"
#include "svg.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 8, RIGHT = SVG_WIDTH - 14, LEFT = 10, LINE = 30, MANY_CASES = 4 };

/* A line of the picture: one contestant; or in a row of many cases one case, with weft
 * and beside it two bare threads, which are the most that the machine gives. */
typedef struct strip {
  char name[64];
  const series *ours, *bare; /* each may be NULL */
  const char *class;
} strip;

typedef struct strips {
  strip *items;
  size_t count;
  double *values; /* of all of them */
  size_t value_count;
} strips;

static void add_values(strips *all, const series *s) {
  for (size_t i = 0; s != NULL && i < s->count; i++) {
    GROW(all->values, all->value_count);
    all->values[all->value_count++] = s->values[i];
  }
}

static void add_strip(strips *all, strip s) {
  if (s.ours == NULL) return;
  GROW(all->items, all->count);
  all->items[all->count++] = s;
  add_values(all, s.ours);
  add_values(all, s.bare);
}

static const series *series_of(const contestant *who, const char *metric) {
  return who != NULL ? find_series(who, metric) : NULL;
}

static void add_case(strips *all, const bench_case *c, const char *metric, bool many) {
  if (many) {
    strip s = {.ours = series_of(find_contestant(c, "weft"), metric),
               .bare = series_of(find_contestant(c, "pthreads"), metric),
               .class = class_of("weft")};
    snprintf(s.name, sizeof s.name, "%s", c->name);
    add_strip(all, s);
    return;
  }
  for (size_t i = 0; i < c->count; i++) {
    const contestant *who = &c->contestants[i];
    strip s = {.ours = series_of(who, metric), .class = class_of(who->name)};
    snprintf(s.name, sizeof s.name, "%s: %s", c->name, who->name);
    add_strip(all, s);
  }
}

static void draw_dots(const series *s, const char *class, const char *who, const scale *x,
                      double y, text *out) {
  for (size_t i = 0; s != NULL && i < s->count; i++) {
    text tip = {0};
    text_print(&tip, "%s, process %zu: %.4g", who, i + 1, s->values[i]);
    svg_dot(out, class, scale_at(x, s->values[i]), y, 3.5, tip.chars);
    text_free(&tip);
  }
}

static void draw(const strips *all, const char *title, void (*label)(text *, double),
                 text *out) {
  scale x = scale_over(all->values, all->value_count, all->values[0], all->values[0] * 2,
                       LEFT, RIGHT);
  double bottom = TOP + (double)all->count * LINE;
  svg_begin(out, bottom + 36, title, "Every dot is the median of one process.");
  svg_axis_x(out, &x, TOP, bottom, label);
  for (size_t i = 0; i < all->count; i++) {
    const strip *s = &all->items[i];
    double y = TOP + (double)i * LINE;
    char class[32];
    snprintf(class, sizeof class, "dot %s", s->class);
    svg_text(out, "name", AT_START, LEFT, y + 10, "%s", s->name);
    draw_dots(s->bare, "dot serial missed", "two bare threads", &x, y + 18, out);
    draw_dots(s->ours, class, s->name, &x, y + 18, out);
  }
  svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30, "%s", title);
  svg_end(out);
}

bool plot_processes(const row *its, text *out) {
  bool is_wake = its != NULL && strcmp(its->id, "P12") == 0;
  strips all = {0};
  for (size_t k = 0; its != NULL && k < its->count; k++)
    add_case(&all, &its->cases[k], is_wake ? "median_ns" : "speedup_x",
             its->count > MANY_CASES);
  if (all.value_count > 0)
    draw(&all, is_wake ? "median latency of each process" : "speed-up in each process",
         is_wake ? label_time : label_ratio, out);
  free(all.items);
  free(all.values);
  return all.value_count > 0;
}
