/* report/page.c - writes report.html: head, pictures, tables of goals and of all numbers.
 *
 * SPDX-License-Identifier: MIT */
#include "page.h"
#include "../harness/stats.h"
#include "../harness/tables.h"
#include "plots.h"
#include "standing.h"
#include "style.h"
#include "svg.h"
#include <math.h>
#include <string.h>

/* ---- parts ---- */

static void heading(text *out, const char *title, const char *explanation) {
  text_print(out, "<h2>%s</h2>\n<p class=\"soft\">%s</p>\n", title, explanation);
}

/* A picture with a heading of its own; nothing if there is none. */
static void card(text *out, const char *title, const char *note, bool drawn, text *svg) {
  if (drawn) {
    text_add(out, "<figure class=\"card\"><h3>");
    add_escaped(out, title);
    text_add(out, "</h3>\n");
    text_add(out, svg->chars);
    if (note != NULL) {
      text_add(out, "<p class=\"soft\">");
      add_escaped(out, note);
      text_add(out, "</p>");
    }
    text_add(out, "</figure>\n");
  }
  text_free(svg);
  *svg = (text){0};
}

static const char *title_of(const row *its) {
  return its->title != NULL && its->title[0] != 0 ? its->title : its->id;
}

/* ---- the goals ---- */

static const char *mark_of(verdict v) {
  switch (v) {
  case GOAL_MET:
    return "\u2713";
  case GOAL_BEST:
    return "\u25d1";
  case GOAL_MACHINE:
    return "\u2013";
  case GOAL_UNKNOWN:
    return "\u2013";
  case GOAL_MISSED:
    return "\u2717";
  }
  return "";
}

static void goal_line(const goal *g, const results *r, text *out) {
  outcome o = goal_outcome(g, r);
  if (o.verdict == GOAL_UNKNOWN) return;
  text_print(out, "<tr%s><td>", o.verdict == GOAL_MISSED ? " class=\"missed\"" : "");
  add_escaped(out, g->row);
  text_add(out, "</td><td>");
  add_escaped(out, g->what);
  text_print(out, "</td><td class=\"n\">%s %g</td><td class=\"n\">",
             g->at_least ? "\u2265" : "\u2264", g->limit);
  add_figure(out, o.median);
  text_add(out, "</td><td class=\"n wide\">");
  if (isnan(o.best))
    text_add(out, "\u2013");
  else
    add_figure(out, o.best);
  text_add(out, "</td><td class=\"n wide\">");
  if (isnan(o.sure))
    text_add(out, "\u2013");
  else
    text_print(out, "%.0f %%", floor(100 * o.sure));
  text_print(out, "</td><td class=\"v\">%s ", mark_of(o.verdict));
  add_escaped(out, verdict_words(o.verdict));
  text_add(out, "</td></tr>\n");
}

static void goals_table(const results *r, const goals *g, text *out) {
  text_add(out, "<div class=\"scroll\"><table><thead><tr><th>row</th><th>what</th>"
                "<th class=\"n\">goal</th><th class=\"n\">median</th>"
                "<th class=\"n wide\">best</th><th class=\"n wide\">sure</th>"
                "<th>met</th></tr></thead><tbody>\n");
  for (size_t i = 0; i < g->count; i++) goal_line(&g->items[i], r, out);
  text_add(out, "</tbody></table></div>\n");
}

/* How many of the goals that were measured are met. */
static void goals_sentence(const results *r, const goals *g, text *out) {
  size_t met = 0, measured = 0, machine = 0;
  for (size_t i = 0; i < g->count; i++) {
    verdict v = goal_outcome(&g->items[i], r).verdict;
    if (v == GOAL_UNKNOWN) continue;
    measured++;
    met += v == GOAL_MET;
    machine += v == GOAL_MACHINE;
  }
  text_print(out, "<p class=\"big\"><strong>%zu of %zu goals met</strong> by the medians",
             met, measured);
  if (machine > 0)
    text_print(out, "; %zu do not count because this machine gave too little", machine);
  text_add(out, ".</p>\n");
}

/* ---- all numbers ---- */

static void case_table(const bench_case *c, text *out) {
  const contestant *weft = find_contestant(c, "weft");
  const series *ours = find_series(weft, "median_ns");
  text_add(out, "<div class=\"scroll\"><table><thead><tr><th>");
  add_escaped(out, c->name);
  text_add(out, "</th><th class=\"n\">median</th><th class=\"n\">best</th>"
                "<th class=\"n wide\">spread</th><th class=\"n\">\u00d7 weft</th>"
                "<th class=\"n wide\">p</th><th class=\"n wide\">CPU s</th>"
                "<th class=\"n wide\">switches</th><th class=\"n wide\">peak MiB</th>"
                "</tr></thead><tbody>\n");
  for (size_t i = 0; i < c->count; i++) {
    const contestant *who = &c->contestants[i];
    text_add(out, "<tr><td>");
    add_escaped(out, who->name);
    text_add(out, "</td><td class=\"n\">");
    if (time_of(who) > 0) add_time(out, time_of(who));
    text_add(out, "</td><td class=\"n\">");
    if (find_series(who, "best_ns") != NULL)
      add_time(out, contestant_value(who, "best_ns"));
    const series *times = find_series(who, "median_ns");
    text_add(out, "</td><td class=\"n wide\">");
    if (times != NULL)
      text_print(out, "%.1f %%", 100 * spread(times->values, times->count));
    text_add(out, "</td><td class=\"n\">");
    if (time_of(who) / time_of(weft) > 0) add_figure(out, time_of(who) / time_of(weft));
    text_add(out, "</td><td class=\"n wide\">");
    if (times != NULL && ours != NULL && times != ours)
      text_print(
          out, "%.3f",
          mann_whitney(times->values, times->count, ours->values, ours->count).differ);
    const char *const uses[] = {"process_cpu_s", "process_switches", "process_peak_kib"};
    for (size_t k = 0; k < 3; k++) {
      text_add(out, "</td><td class=\"n wide\">");
      if (find_series(who, uses[k]) != NULL)
        add_figure(out, contestant_value(who, uses[k]) / (k == 2 ? 1024 : 1));
    }
    text_add(out, "</td></tr>\n");
  }
  text_add(out, "</tbody></table></div>\n");
}

static void all_numbers(const results *r, text *out) {
  for (size_t i = 0; i < r->count; i++) {
    text_add(out, "<details><summary><strong>");
    add_escaped(out, r->rows[i].id);
    text_add(out, "</strong> ");
    add_escaped(out, title_of(&r->rows[i]));
    text_add(out, "</summary>\n");
    for (size_t k = 0; k < r->rows[i].count; k++) case_table(&r->rows[i].cases[k], out);
    text_add(out, "</details>\n");
  }
}

static void machine(const results *r, text *out) {
  text_add(out, "<dl>\n");
  for (size_t i = 0; i < r->fact_count; i++) {
    text_add(out, "<dt>");
    add_escaped(out, r->facts[i].key);
    text_add(out, "</dt><dd>");
    add_escaped(out, r->facts[i].value);
    text_add(out, "</dd>\n");
  }
  text_add(out, "</dl>\n");
  const words *const lists[] = {&r->missing, &r->failed};
  const char *const names[] = {
      "Not built here (what they need is not installed), so left out: ", "Failed: "};
  for (size_t i = 0; i < 2; i++) {
    if (lists[i]->count == 0) continue;
    text_print(out, "<p>%s", names[i]);
    for (size_t k = 0; k < lists[i]->count; k++) {
      text_add(out, k > 0 ? ", " : "");
      add_escaped(out, lists[i]->items[k]);
    }
    text_add(out, ".</p>\n");
  }
}

/* ---- the page ---- */

/* Rows that have a form of their own below. */
static bool is_curve(const row *its) {
  curves list = curves_of(its);
  bool any = list.count > 0;
  curves_free(&list);
  return any;
}

/* "P8: sorting ..."; a title that begins with the name of the row says it already. */
static void row_title(const row *its, text *out) {
  if (strncmp(title_of(its), its->id, strlen(its->id)) != 0)
    text_print(out, "%s: ", its->id);
  text_add(out, title_of(its));
}

static void peer_cards(const results *r, const goals *g, text *out) {
  text svg = {0};
  heading(out, "Row by row",
          "How many times as long other libraries take. The upright mark is the goal; a "
          "hollow bar misses it. Where no goal is about the fastest one, it is shown, "
          "too.");
  text_add(out, "<div class=\"cards\">\n");
  for (size_t i = 0; i < r->count; i++) {
    if (is_curve(&r->rows[i])) continue;
    text title = {0};
    row_title(&r->rows[i], &title);
    card(out, title.chars, NULL, plot_row(r, g, &r->rows[i], &svg), &svg);
    text_free(&title);
  }
  text_add(out, "</div>\n");
}

static void curve_cards(const row *its, text *out) {
  curves list = curves_of(its);
  for (size_t i = 0; i < list.count; i++) {
    const curve *c = &list.items[i];
    text svg = {0}, title = {0};
    if (c->kind == CURVE_THREADS)
      text_print(&title, "Scaling: %s", c->work);
    else
      text_print(&title, "Granularity: the same work in bodies of 10 ns to 1 ms, %s",
                 c->kind == CURVE_TREE ? "forked as a tree" : "as a loop");
    card(out, title.chars, NULL, plot_curve(c, &svg), &svg);
    text_free(&title);
  }
  curves_free(&list);
}

static void other_cards(const results *r, text *out) {
  text svg = {0};
  heading(out, "Scaling, granularity, latency",
          "All axes are logarithmic. Speed-up is over the plain sequential program.");
  text_add(out, "<div class=\"cards\">\n");
  for (size_t i = 0; i < r->count; i++) curve_cards(&r->rows[i], out);
  card(out, "More threads than CPUs (P14)", "weft's goal is 1.15.",
       plot_oversubscribed(find_row(r, "P14"), &svg), &svg);
  card(out, "From asleep to running (P12)", "A bare futex is the least that is possible.",
       plot_latency(find_row(r, "P12"), "wake", &svg), &svg);
  card(out, "A burst of 20 \u00b5s every millisecond (P13)", NULL,
       plot_latency(find_row(r, "P13"), "ticks", &svg), &svg);
  card(out, "600 \u00b5s of work after 20 ms of rest (burst)", NULL,
       plot_latency(find_row(r, "burst"), "burst", &svg), &svg);
  text_add(out, "</div>\n");
}

/* A median over processes would hide that there are two kinds of them. */
static void process_cards(const results *r, text *out) {
  static const struct {
    const char *row, *title;
  } cards[] = {{"P4", "Two tasks after a rest (P4)"},
               {"P12", "From asleep to running (P12)"},
               {"P17", "A loop in every frame (P17)"}};
  text svg = {0};
  heading(
      out, "Process by process",
      "Where threads are woken stays the same for the life of a process. Every dot is "
      "one process; hollow in P4: two bare threads.");
  text_add(out, "<div class=\"cards\">\n");
  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
    card(out, cards[i].title, NULL, plot_processes(find_row(r, cards[i].row), &svg),
         &svg);
  text_add(out, "</div>\n");
}

void page_html(const results *r, const goals *g, text *out) {
  text svg = {0};
  text_add(out,
           "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<title>weft: benchmarks</title>\n<style>\n");
  text_add(out, PICTURE_STYLE);
  text_add(out, PAGE_STYLE);
  text_print(out,
             "</style></head><body>\n<h1>weft against the field</h1>\n"
             "<p class=\"soft\">%s \u00b7 %d rounds, contestants in turn, a process each "
             "\u00b7 %d threads \u00b7 size %s \u00b7 medians</p>\n",
             r->started, r->rounds, r->threads, r->size);
  goals_sentence(r, g, out);
  text_add(out, "<div class=\"cards\">\n");
  card(out, "Against other libraries",
       "Each dot is a comparison; touch it for its name. Upright marks are goals.",
       plot_overview(r, g, &svg), &svg);
  card(out, "What a fork and a join cost", "fib without cut-off on one thread.",
       plot_fork(r, &svg), &svg);
  card(out, "CPU time for the same work",
       "Of whole processes; threads that wait in a loop are in it.", plot_cpu(r, &svg),
       &svg);
  text_add(out, "</div>\n");
  peer_cards(r, g, out);
  other_cards(r, out);
  process_cards(r, out);
  heading(out, "Goals",
          "What was to be reached, and what was measured. Sure: how unlikely such rounds "
          "would be if the ratio were on the other side of the goal (test of Mann and "
          "Whitney).");
  goals_table(r, g, out);
  heading(
      out, "All numbers",
      "Median over the rounds, best of all; spread of the middle half of the rounds; p: "
      "that the difference to weft is chance (test of Mann and Whitney).");
  all_numbers(r, out);
  heading(out, "Machine", "Where and with what this was measured.");
  machine(r, out);
  text_add(out, "</body></html>\n");
}

void page_picture(const char *svg, text *out) {
  const char *content = strchr(svg, '>');
  if (content == NULL) return;
  text_add_bytes(out, svg, (size_t)(content - svg) + 1);
  text_add(out, "<style>");
  text_add(out, PICTURE_STYLE);
  text_add(out, "</style><rect class=\"ground\" width=\"100%\" height=\"100%\" "
                "rx=\"6\"/>");
  text_add(out, content + 1);
}
