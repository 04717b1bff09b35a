/* report/plots_peers.c - pictures that hold weft against its fastest peer; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "plots.h"
#include "standing.h"
#include "svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 26, TOP = 8, LEFT = 84, RIGHT = SVG_WIDTH - 14 };

/* ---- overview ---- */

static size_t standings_of(const results *r, const goals *g, double **ratios) {
  size_t count = 0;
  *ratios = NULL;
  for (size_t i = 0; i < r->count; i++)
    for (size_t k = 0; k < r->rows[i].count; k++) {
      standing s;
      if (!case_standing(g, &r->rows[i], &r->rows[i].cases[k], &s)) continue;
      GROW(*ratios, count);
      (*ratios)[count++] = s.ratio;
    }
  return count;
}

/* The dots of a row; false if it has none. */
static bool overview_line(const goals *g, const row *its, const scale *x, double y,
                          text *out) {
  bool any = false;
  for (size_t k = 0; k < its->count; k++) {
    standing s;
    if (!case_standing(g, its, &its->cases[k], &s)) continue;
    text tip = {0};
    text_print(&tip, "%s %s: %.2f\u00d7 %s", its->id, its->cases[k].name, s.ratio,
               s.peer);
    if (!isnan(s.limit)) text_print(&tip, ", goal %g\u00d7", s.limit);
    svg_dot(out, s.met ? "dot weft" : "dot missed", scale_at(x, s.ratio), y, 5,
            tip.chars);
    text_free(&tip);
    any = true;
  }
  return any;
}

bool plot_overview(const results *r, const goals *g, text *out) {
  double *ratios;
  size_t count = standings_of(r, g, &ratios);
  if (count == 0) return false;
  scale x = scale_over(ratios, count, 0.5, 5, LEFT, RIGHT);
  free(ratios);
  text lines = {0};
  double y = TOP + LINE / 2.0;
  for (size_t i = 0; i < r->count; i++) {
    if (!overview_line(g, &r->rows[i], &x, y, &lines)) continue;
    svg_text(&lines, "name", AT_END, LEFT - 8, y + 4, "%s", r->rows[i].id);
    y += LINE;
  }
  double bottom = y - LINE / 2.0;
  svg_begin(out, bottom + 58, "Against the fastest peer",
            "For each row of the benchmark, how many times as long as weft the fastest "
            "other library takes. Each dot is a case; dots to the right of 1 are faster. "
            "Hollow dots miss their goal.");
  svg_axis_x(out, &x, TOP, bottom, label_ratio);
  svg_line(out, "even", scale_at(&x, 1), TOP, scale_at(&x, 1), bottom);
  text_add(out, lines.chars);
  svg_text(out, "axis", AT_START, LEFT, bottom + 30, "\u2190 peer is faster");
  svg_text(out, "axis", AT_END, RIGHT, bottom + 30, "weft is faster \u2192");
  svg_dot(out, "dot weft", LEFT + 5, bottom + 44, 5, NULL);
  svg_text(out, "axis", AT_START, LEFT + 15, bottom + 48, "goal met, or none");
  svg_dot(out, "dot missed", LEFT + 150, bottom + 44, 5, NULL);
  svg_text(out, "axis", AT_START, LEFT + 160, bottom + 48, "goal missed");
  svg_end(out);
  text_free(&lines);
  return true;
}

/* ---- one row ---- */

enum { BAR = 12, BAR_LINE = 36, BAR_LEFT = 10 };

static void bar(const standing *s, const char *name, const scale *x, double y,
                text *out) {
  double one = scale_at(x, 1);
  svg_text(out, "name", AT_START, BAR_LEFT, y + 10, "%s", name);
  svg_text(out, "value", AT_END, RIGHT, y + 10, "%.2f\u00d7 %s", s->ratio, s->peer);
  svg_rect(out, s->met ? "bar weft" : "bar missed", one, y + 15,
           scale_at(x, s->ratio) - one, BAR);
  if (!isnan(s->limit)) {
    double at = scale_at(x, s->limit);
    svg_line(out, "goal", at, y + 12, at, y + 15 + BAR + 3);
  }
}

bool plot_row(const goals *g, const row *its, text *out) {
  standing *all = NULL;
  double *values = NULL;
  size_t count = 0, value_count = 0;
  const char **names = NULL;
  for (size_t k = 0; k < its->count; k++) {
    standing s;
    if (!case_standing(g, its, &its->cases[k], &s)) continue;
    GROW(values, value_count);
    values[value_count++] = s.ratio;
    GROW(values, value_count);
    values[value_count++] = s.limit;
    GROW(names, count);
    names[count] = its->cases[k].name;
    GROW(all, count);
    all[count++] = s;
  }
  if (count > 0) {
    scale x = scale_over(values, value_count, 0.5, 2, BAR_LEFT, RIGHT);
    double bottom = TOP + (double)count * BAR_LINE;
    svg_begin(out, bottom + 36, its->id,
              "Time of the fastest other library divided by the time of weft, for each "
              "case; the mark is the goal.");
    svg_axis_x(out, &x, TOP, bottom, label_ratio);
    for (size_t k = 0; k < count; k++)
      bar(&all[k], names[k], &x, TOP + (double)k * BAR_LINE, out);
    svg_line(out, "even", scale_at(&x, 1), TOP, scale_at(&x, 1), bottom);
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30,
             "fastest peer / weft (right of 1: weft is faster); \u258f goal");
    svg_end(out);
  }
  free(all);
  free(values);
  free(names);
  return count > 0;
}
