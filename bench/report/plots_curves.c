/* report/plots_curves.c - speed-up over the sequential program, by the number of threads
 * or by the length of a body; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "plots.h"
#include "standing.h"
#include "svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 8, RIGHT = SVG_WIDTH - 14, CHART_LEFT = 46, CHART_HEIGHT = 220 };
enum { MOST_CASES = 32, MOST_NAMES = 16, LEGEND_LINE = 18 };

/* ---- which curves there are ---- */

static bool ends_with(const char *chars, const char *end) {
  size_t length = strlen(chars), part = strlen(end);
  return length >= part && strcmp(chars + length - part, end) == 0;
}

static void add_curve(curves *list, const row *its, curve_kind kind, const char *work,
                      size_t length) {
  curve c = {.its = its, .kind = kind};
  snprintf(c.work, sizeof c.work, "%.*s", (int)length, work);
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->items[i].work, c.work) == 0) return;
  GROW(list->items, list->count);
  list->items[list->count++] = c;
}

curves curves_of(const row *its) {
  curves list = {0};
  if (strcmp(its->id, "granularity") == 0) {
    add_curve(&list, its, CURVE_TREE, "tree", 4);
    add_curve(&list, its, CURVE_LOOP, "loop", 4);
  }
  /* fib-t1, fib-t2, uts-t1: each work for itself */
  for (size_t k = 0; strcmp(its->id, "scaling") == 0 && k < its->count; k++) {
    const char *end = strrchr(its->cases[k].name, '-');
    if (end != NULL)
      add_curve(&list, its, CURVE_THREADS, its->cases[k].name,
                (size_t)(end - its->cases[k].name));
  }
  return list;
}

void curves_free(curves *list) {
  free(list->items);
  *list = (curves){0};
}

/* ---- points ---- */

static bool is_serial(const char *name) {
  return strcmp(class_of(name), "serial") == 0;
}

static bool has_case(const curve *c, const bench_case *k) {
  size_t length = strlen(c->work);
  return c->kind != CURVE_THREADS ||
         (strncmp(k->name, c->work, length) == 0 && k->name[length] == '-');
}

static bool has_name(const curve *c, const char *name) {
  if (is_serial(name)) return false;
  return c->kind == CURVE_THREADS || (c->kind == CURVE_LOOP) == ends_with(name, "-loop");
}

/* Threads are in the name of the case, the length of a body is what serial takes. */
static double place_of(const curve *c, const bench_case *k) {
  if (c->kind == CURVE_THREADS) return strtod(strrchr(k->name, '-') + 2, NULL);
  const contestant *serial = fastest(k, is_serial);
  return serial != NULL ? contestant_value(serial, "ns_per_task") : NAN;
}

static double speedup(const bench_case *k, const char *name) {
  return time_of(fastest(k, is_serial)) / time_of(find_contestant(k, name));
}

static words names_of(const curve *c) {
  words names = {0};
  for (size_t k = 0; k < c->its->count; k++)
    for (size_t i = 0; has_case(c, &c->its->cases[k]) && i < c->its->cases[k].count;
         i++) {
      const char *name = c->its->cases[k].contestants[i].name;
      if (has_name(c, name) && !words_have(&names, name) && names.count < MOST_NAMES)
        words_add(&names, name, strlen(name));
    }
  return names;
}

/* ---- drawing ---- */

static void one_line(const curve *c, const char *name, size_t number, const scale *x,
                     const scale *y, double legend_y, text *out) {
  double xy[2 * MOST_CASES];
  size_t points = 0;
  char line[48], dot[48];
  snprintf(line, sizeof line, "line %s dash%zu", class_of(name), number % 4);
  snprintf(dot, sizeof dot, "dot %s", class_of(name));
  for (size_t k = 0; k < c->its->count && points < MOST_CASES; k++) {
    const bench_case *it = &c->its->cases[k];
    if (!has_case(c, it) || !(speedup(it, name) > 0) || !(place_of(c, it) > 0)) continue;
    xy[2 * points] = scale_at(x, place_of(c, it));
    xy[2 * points + 1] = scale_at(y, speedup(it, name));
    points++;
  }
  svg_path(out, line, xy, points);
  for (size_t i = 0; i < points; i++)
    svg_dot(out, dot, xy[2 * i], xy[2 * i + 1], 3, name);
  const double legend[] = {CHART_LEFT, legend_y - 4, CHART_LEFT + 28, legend_y - 4};
  svg_path(out, line, legend, 2);
  svg_text(out, "name", AT_START, CHART_LEFT + 36, legend_y, "%s", name);
}

static void draw(const curve *c, const words *names, const scale *x, const scale *y,
                 text *out) {
  double height = CHART_HEIGHT + 46 + (double)names->count * LEGEND_LINE;
  svg_begin(out, height, c->work,
            "Speed-up over the sequential program, one line for each library.");
  svg_axis_y(out, y, CHART_LEFT, RIGHT, label_ratio);
  svg_axis_x(out, x, TOP, CHART_HEIGHT,
             c->kind == CURVE_THREADS ? label_plain : label_time);
  svg_line(out, "even", CHART_LEFT, scale_at(y, 1), RIGHT, scale_at(y, 1));
  svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, CHART_HEIGHT + 30, "%s",
           c->kind == CURVE_THREADS ? "threads" : "length of one body");
  for (size_t i = 0; i < names->count; i++)
    one_line(c, names->items[i], i, x, y, CHART_HEIGHT + 50 + (double)i * LEGEND_LINE,
             out);
  svg_end(out);
}

bool plot_curve(const curve *c, text *out) {
  double places[MOST_CASES], values[MOST_CASES * MOST_NAMES], first = INFINITY;
  size_t place_count = 0, value_count = 0;
  bool any = false;
  words names = names_of(c);
  for (size_t k = 0; k < c->its->count && place_count < MOST_CASES; k++) {
    if (!has_case(c, &c->its->cases[k])) continue;
    double place = place_of(c, &c->its->cases[k]);
    places[place_count++] = place;
    if (place > 0) first = fmin(first, place);
    for (size_t i = 0; i < names.count; i++) {
      double value = speedup(&c->its->cases[k], names.items[i]);
      any |= value > 0 && place > 0;
      values[value_count++] = value;
    }
  }
  if (any) {
    scale x = scale_over(places, place_count, first, first * 2, CHART_LEFT, RIGHT);
    scale y = scale_over(values, value_count, 0.5, 2, CHART_HEIGHT, TOP);
    draw(c, &names, &x, &y, out);
  }
  words_free(&names);
  return any;
}
