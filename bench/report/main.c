/* report/main.c - makes the report of a result file:
 *
 *     report RESULTS.json GOALS.txt PAGE.html [FOLDER for SVG files]
 *
 * SPDX-License-Identifier: MIT */
#include "page.h"
#include "plots.h"
#include <stdio.h>

static void save(const char *path, const text *content) {
  if (!write_file(path, content->chars, content->length)) die("cannot write %s", path);
  printf("%s\n", path);
}

/* One picture as a file; nothing if it could not be drawn. */
static void save_picture(const char *folder, const char *name, bool drawn, text *svg) {
  if (drawn) {
    text path = {0}, file = {0};
    text_print(&path, "%s/%s.svg", folder, name);
    page_picture(svg->chars, &file);
    save(path.chars, &file);
    text_free(&path);
    text_free(&file);
  }
  text_free(svg);
  *svg = (text){0};
}

static void save_pictures(const results *r, const goals *g, const char *folder) {
  text svg = {0};
  save_picture(folder, "overview", plot_overview(r, g, &svg), &svg);
  save_picture(folder, "fork", plot_fork(r, &svg), &svg);
  save_picture(folder, "cpu", plot_cpu(r, &svg), &svg);
  save_picture(folder, "latency", plot_latency(find_row(r, "P12"), "wake", &svg), &svg);
  save_picture(folder, "ticks", plot_latency(find_row(r, "P13"), "ticks", &svg), &svg);
  for (size_t i = 0; i < r->count; i++) {
    const row *its = &r->rows[i];
    bool by_time = matches("granularity*", its->id);
    bool curve = by_time || matches("scaling*", its->id);
    bool drawn = curve ? plot_speedup(its, by_time, &svg) : plot_row(g, its, &svg);
    save_picture(folder, its->id, drawn, &svg);
  }
}

int main(int count, char **arguments) {
  if (count != 4 && count != 5)
    die("usage: report RESULTS.json GOALS.txt PAGE.html [FOLDER for SVG files]");
  results r = results_load(arguments[1]);
  goals g = goals_load(arguments[2]);
  text page = {0};
  page_html(&r, &g, &page);
  save(arguments[3], &page);
  if (count == 5) save_pictures(&r, &g, arguments[4]);
  text_free(&page);
  goals_free(&g);
  results_free(&r);
  return 0;
}
