/* report/plots_peers.c - pictures that compare weft with its peers; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "plots.h"
#include "standing.h"
#include "svg.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 24, TOP = 8, LEFT = 118, RIGHT = SVG_WIDTH - 14 };

static scale scale_of(const standings *s, const char *row_id, double low, double high,
                      double from, double to) {
  double *values = NULL;
  size_t count = 0;
  for (size_t i = 0; i < s->count; i++) {
    if (row_id != NULL && strcmp(s->items[i].row, row_id) != 0) continue;
    GROW(values, count);
    values[count++] = s->items[i].ratio;
    GROW(values, count);
    values[count++] = s->items[i].limit;
  }
  scale x = scale_over(values, count, low, high, from, to);
  free(values);
  return x;
}

/* ---- overview ---- */

/* What a row is about, for those who do not know the rows. */
static const char *subject_of(const char *row_id) {
  static const char *const subjects[][2] = {
      {"P1", "fork"},          {"P1t", "typed fork"},   {"P1p", "fork, 2 threads"},
      {"P2", "tree of joins"}, {"P4", "two tasks"},     {"P5", "streams"},
      {"P6", "uneven loops"},  {"P7", "empty loop"},    {"P8", "sort numbers"},
      {"P9", "sort records"},  {"P10", "filter, find"}, {"P11", "many tasks"},
      {"P12", "wake-up"},      {"P13", "ticks"},        {"P14", "64 threads"},
      {"P16", "programs"},     {"P17", "frames"},       {"P18", "short calls"},
      {"iter", "iterators"}};
  for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
    if (strcmp(subjects[i][0], row_id) == 0) return subjects[i][1];
  return "";
}

static bool is_first_of_row(const standings *s, size_t i) {
  return i == 0 || strcmp(s->items[i].row, s->items[i - 1].row) != 0;
}

static void overview_point(const standing *s, const scale *x, double y, text *out) {
  text tip = {0};
  text_print(&tip, "%s %s %s: %.2f\u00d7", s->row, s->name, s->peer, s->ratio);
  if (!isnan(s->limit)) text_print(&tip, ", goal %.3g\u00d7", s->limit);
  svg_dot(out, s->met ? "dot weft" : "dot missed", scale_at(x, s->ratio), y, 4.5,
          tip.chars);
  text_free(&tip);
}

static void overview_legend(double y, text *out) {
  svg_text(out, "axis", AT_START, LEFT, y, "\u2190 peer is faster");
  svg_text(out, "axis", AT_END, RIGHT, y, "weft is faster \u2192");
  svg_dot(out, "dot weft", LEFT + 5, y + 14, 4.5, NULL);
  svg_text(out, "axis", AT_START, LEFT + 14, y + 18, "goal met or none");
  svg_dot(out, "dot missed", LEFT + 130, y + 14, 4.5, NULL);
  svg_text(out, "axis", AT_START, LEFT + 139, y + 18, "goal missed");
  svg_line(out, "goal", LEFT + 228, y + 8, LEFT + 228, y + 20);
  svg_text(out, "axis", AT_START, LEFT + 235, y + 18, "goal");
}

static bool overview(const standings *s, const char *foot, text *out) {
  if (s->count == 0) return false;
  scale x = scale_of(s, NULL, 0.5, 5, LEFT, RIGHT);
  text goals_drawn = {0}, dots = {0};
  double y = TOP - LINE / 2.0;
  for (size_t i = 0; i < s->count; i++) {
    if (is_first_of_row(s, i)) {
      y += LINE;
      svg_text(&dots, "name", AT_END, LEFT - 8, y + 4, "%s %s",
               subject_of(s->items[i].row), s->items[i].row);
    }
    if (!isnan(s->items[i].limit)) {
      double at = scale_at(&x, s->items[i].limit);
      svg_line(&goals_drawn, "goal", at, y - 8, at, y + 8);
    }
    overview_point(&s->items[i], &x, y, &dots);
  }
  double bottom = y + LINE / 2.0;
  svg_begin(
      out, bottom + (foot != NULL ? 72 : 56), "Against other libraries",
      "For each row of the benchmark, how many times as long as weft other libraries "
      "take. Each dot is a comparison; dots to the right of 1 are faster. "
      "Upright marks are goals, hollow dots miss theirs.");
  svg_axis_x(out, &x, TOP, bottom, label_ratio);
  svg_line(out, "even", scale_at(&x, 1), TOP, scale_at(&x, 1), bottom);
  text_add(out, goals_drawn.chars != NULL ? goals_drawn.chars : "");
  text_add(out, dots.chars);
  overview_legend(bottom + 30, out);
  if (foot != NULL)
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 66, "%s", foot);
  svg_end(out);
  text_free(&goals_drawn);
  text_free(&dots);
  return true;
}

/* Rows without any goal have their place further down on the page. */
static void keep_rows_with_goals(standings *s, const goals *g) {
  size_t kept = 0;
  for (size_t i = 0; i < s->count; i++) {
    bool has_goal = false;
    for (size_t k = 0; k < g->count; k++)
      has_goal |= strcmp(g->items[k].row, s->items[i].row) == 0;
    if (has_goal) s->items[kept++] = s->items[i];
  }
  s->count = kept;
}

bool plot_overview(const results *r, const goals *g, text *out) {
  standings s = standings_of(r, g);
  keep_rows_with_goals(&s, g);
  bool drawn = overview(&s, NULL, out);
  standings_free(&s);
  return drawn;
}

bool plot_recorded(const record *kept, const goals *g, text *out) {
  standings s = recorded_standings(kept, g);
  text foot = {0};
  text_print(&foot, "times of peer / weft \u00b7 %.10s", kept->run.started);
  bool drawn = overview(&s, foot.chars, out);
  text_free(&foot);
  standings_free(&s);
  return drawn;
}

/* ---- one row ---- */

enum { BAR = 12, BAR_LINE = 36, BAR_LEFT = 10 };

static void bar(const standing *s, const scale *x, double y, text *out) {
  double one = scale_at(x, 1);
  text value = {0};
  label_ratio(&value, three_digits(s->ratio));
  if (!isnan(s->limit))
    text_print(&value, ", goal %.3g\u00d7", s->limit);
  else
    text_print(&value, " %s", s->peer);
  svg_text(out, "name", AT_START, BAR_LEFT, y + 10, "%s", s->name);
  svg_text(out, "value", AT_END, RIGHT, y + 10, "%s", value.chars);
  text_free(&value);
  svg_rect(out, s->met ? "bar weft" : "bar missed", one, y + 15,
           scale_at(x, s->ratio) - one, BAR);
  if (!isnan(s->limit)) {
    double at = scale_at(x, s->limit);
    svg_line(out, "goal", at, y + 12, at, y + 15 + BAR + 3);
  }
}

bool plot_row(const results *r, const goals *g, const row *its, text *out) {
  standings s = standings_of(r, g);
  size_t count = 0, shown = 0;
  for (size_t i = 0; i < s.count; i++) count += strcmp(s.items[i].row, its->id) == 0;
  if (count > 0) {
    scale x = scale_of(&s, its->id, 0.5, 2, BAR_LEFT, RIGHT);
    double bottom = TOP + (double)count * BAR_LINE;
    svg_begin(out, bottom + 36, its->id,
              "What other libraries take divided by what weft takes; the mark is the "
              "goal.");
    svg_axis_x(out, &x, TOP, bottom, label_ratio);
    svg_line(out, "even", scale_at(&x, 1), TOP, scale_at(&x, 1), bottom);
    for (size_t i = 0; i < s.count; i++)
      if (strcmp(s.items[i].row, its->id) == 0)
        bar(&s.items[i], &x, TOP + (double)shown++ * BAR_LINE, out);
    svg_text(out, "axis", AT_MIDDLE, SVG_WIDTH / 2.0, bottom + 30,
             "peer / weft: right of 1 weft is faster");
    svg_end(out);
  }
  standings_free(&s);
  return count > 0;
}
