/* report/main.c - makes the report of a result file, and the pictures of recorded ratios:
 *
 *     report RESULTS.json GOALS.txt PAGE.html [FOLDER for SVG files]
 *     report recorded RECORDED.json GOALS.txt FOLDER
 *
 * SPDX-License-Identifier: MIT */
#include "page.h"
#include "plots.h"
#include <stdio.h>
#include <string.h>

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

static void save_curves(const row *its, const char *folder) {
  curves list = curves_of(its);
  for (size_t i = 0; i < list.count; i++) {
    text svg = {0}, name = {0};
    text_print(&name, "%s-%s", its->id, list.items[i].work);
    save_picture(folder, name.chars, plot_curve(&list.items[i], &svg), &svg);
    text_free(&name);
  }
  curves_free(&list);
}

/* The rows whose figures depend on the process. */
static void save_processes(const results *r, const char *folder) {
  static const char *const ids[] = {"P4", "P12", "P17"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    text svg = {0}, name = {0};
    text_print(&name, "processes-%s", ids[i]);
    save_picture(folder, name.chars, plot_processes(find_row(r, ids[i]), &svg), &svg);
    text_free(&name);
  }
}

static void save_pictures(const results *r, const goals *g, const char *folder) {
  text svg = {0};
  save_picture(folder, "overview", plot_overview(r, g, &svg), &svg);
  save_picture(folder, "fork", plot_fork(r, &svg), &svg);
  save_picture(folder, "cpu", plot_cpu(r, &svg), &svg);
  save_picture(folder, "latency", plot_latency(find_row(r, "P12"), "wake", &svg), &svg);
  save_picture(folder, "ticks", plot_latency(find_row(r, "P13"), "ticks", &svg), &svg);
  save_picture(folder, "bursts", plot_latency(find_row(r, "burst"), "burst", &svg), &svg);
  save_picture(folder, "threads", plot_oversubscribed(find_row(r, "P14"), &svg), &svg);
  save_processes(r, folder);
  for (size_t i = 0; i < r->count; i++) {
    save_curves(&r->rows[i], folder);
    save_picture(folder, r->rows[i].id, plot_row(r, g, &r->rows[i], &svg), &svg);
  }
}

static void make_report(char **arguments, const char *folder) {
  results r = results_load(arguments[0]);
  goals g = goals_load(arguments[1]);
  text page = {0};
  page_html(&r, &g, &page);
  save(arguments[2], &page);
  if (folder != NULL) save_pictures(&r, &g, folder);
  text_free(&page);
  goals_free(&g);
  results_free(&r);
}

static void make_recorded(char **arguments) {
  record kept = record_load(arguments[0]);
  goals g = goals_load(arguments[1]);
  text svg = {0};
  save_picture(arguments[2], "ratios", plot_recorded(&kept, &g, &svg), &svg);
  save_picture(arguments[2], "fork", plot_fork(&kept.run, &svg), &svg);
  save_processes(&kept.run, arguments[2]);
  goals_free(&g);
  record_free(&kept);
}

int main(int count, char **arguments) {
  if (count == 5 && strcmp(arguments[1], "recorded") == 0)
    make_recorded(arguments + 2);
  else if (count == 4 || count == 5)
    make_report(arguments + 1, arguments[4]);
  else
    die("usage: report [recorded] RESULTS.json GOALS.txt PAGE.html [FOLDER]");
  return 0;
}
