/* harness/docs.c - writes the recorded figures into the marked places of Markdown pages.
 * docs.h lists the parts; `weft-bench docs` calls this, one page at a time.
 *
 * SPDX-License-Identifier: MIT */
#include "docs.h"
#include "tables.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- causes ---- */

char *causes_read(causes *c, const char *content) {
  text problem = {0};
  words lines = split(content, "\n");
  for (size_t i = 0; i < lines.count && problem.length == 0; i++) {
    if (lines.items[i][0] == '#') continue;
    words parts = split(lines.items[i], "|");
    if (parts.count != 3) {
      text_print(&problem, "not row|goal|cause: %s", lines.items[i]);
    } else {
      GROW(c->items, c->count);
      c->items[c->count++] = (cause){copy_text(parts.items[0]), copy_text(parts.items[1]),
                                     copy_text(parts.items[2])};
    }
    words_free(&parts);
  }
  words_free(&lines);
  return problem.chars;
}

causes causes_load(const char *path) {
  causes c = {0};
  char *content = read_file(path);
  if (content == NULL) die("cannot read %s", path);
  char *problem = causes_read(&c, content);
  if (problem != NULL) die("%s: %s", path, problem);
  free(content);
  return c;
}

void causes_free(causes *c) {
  for (size_t i = 0; i < c->count; i++) {
    free(c->items[i].row);
    free(c->items[i].what);
    free(c->items[i].why);
  }
  free(c->items);
  *c = (causes){0};
}

static const cause *cause_of(const causes *c, const goal *g) {
  for (size_t i = 0; i < c->count; i++)
    if (strcmp(c->items[i].row, g->row) == 0 && matches(c->items[i].what, g->what))
      return &c->items[i];
  return NULL;
}

static bool is_missed(const recorded *r) {
  return r != NULL &&
         (r->outcome.verdict == GOAL_MISSED || r->outcome.verdict == GOAL_BEST);
}

words goals_without_cause(const record *kept, const goals *g, const causes *c) {
  words alone = {0};
  for (size_t i = 0; i < g->count; i++) {
    if (!is_missed(find_recorded(kept, &g->items[i])) ||
        cause_of(c, &g->items[i]) != NULL)
      continue;
    text line = {0};
    text_print(&line, "%s: %s", g->items[i].row, g->items[i].what);
    words_add(&alone, line.chars, line.length);
    text_free(&line);
  }
  return alone;
}

/* ---- the parts ---- */

typedef struct writing {
  const record *kept;
  const goals *goals;
  const causes *causes;
} writing;

static const char *fact_of(const results *r, const char *key) {
  const char *value = find_fact(r, key);
  return value != NULL ? value : "?";
}

/* The lowest and the highest figure of the goals that match, in words. */
static void add_range(const writing *w, const char *row_id, const char *what,
                      const char *name, text *out) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < w->kept->count; i++) {
    const recorded *r = &w->kept->items[i];
    if (strcmp(r->row, row_id) != 0 || !matches(what, r->what)) continue;
    low = fmin(low, r->outcome.median);
    high = fmax(high, r->outcome.median);
  }
  if (low > high) return;
  text_print(out, "; %s ", name);
  if (low < high) text_print(out, "%.1f to ", low);
  text_print(out, "%.1f", high);
}

static void write_figures(const writing *w, text *out) {
  /* What users ask for first. Goals in which weft is slower are among them. */
  static const struct {
    const char *row, *what, *name;
  } figures[] = {{"P8", "*Rayon / weft", "sorting numbers"},
                 {"P9", "*Rayon / weft", "sorting records"},
                 {"P10", "filter*Rayon*", "filtering an array"},
                 {"P11", "2 threads*Rayon*", "spawning tasks"},
                 {"iter", "*kernel stages*Rayon*", "lazy chains with kernel stages"},
                 {"iter", "*element functions*Rayon*", "with element functions"}};
  const results *r = &w->kept->run;
  text all = {0}, ratios = {0};
  double ours = fork_cost_ns(r, "weft"), rayons = fork_cost_ns(r, "rayon-install");
  if (ours > 0 && rayons > 0)
    text_print(&all, "A fork and a join add **%.1f ns** to a call; with Rayon %.1f ns. ",
               ours, rayons);
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    add_range(w, figures[i].row, figures[i].what, figures[i].name, &ratios);
  if (ratios.length > 0)
    text_print(&all, "Speed on %d threads, Rayon's being 1: %s. ", r->threads,
               ratios.chars + strlen("; "));
  text_print(&all, "Measured on %.10s: %s with %s CPUs, gcc -O2, medians of %d rounds.",
             r->started, fact_of(r, "cpu"), fact_of(r, "cpus"), r->rounds);
  text_wrap(out, "", "", all.chars);
  text_free(&all);
  text_free(&ratios);
}

static void write_run(const writing *w, text *out) {
  const results *r = &w->kept->run;
  size_t met = 0, close = 0, machine = 0;
  for (size_t i = 0; i < w->kept->count; i++) {
    met += w->kept->items[i].outcome.verdict == GOAL_MET;
    close += w->kept->items[i].outcome.verdict == GOAL_BEST;
    machine += w->kept->items[i].outcome.verdict == GOAL_MACHINE;
  }
  text all = {0};
  text_print(&all, "Measured on %.10s in one run", r->started);
  if (r->pieces > 1) text_print(&all, ", made in %d pieces", r->pieces);
  text_print(
      &all, ": %s with %s CPUs, gcc -O2, %s sizes, %d rounds. %zu of %zu goals met",
      fact_of(r, "cpu"), fact_of(r, "cpus"), r->size, r->rounds, met, w->kept->count);
  if (close > 0) text_print(&all, ", %zu more by the best rounds", close);
  if (machine > 0) text_print(&all, ", %zu where the machine gave too little", machine);
  text_add(&all, ".");
  text_wrap(out, "", "", all.chars);
  text_free(&all);
}

static void write_machine(const writing *w, text *out) {
  const results *r = &w->kept->run;
  text_add(out, "| | |\n|---|---|\n");
  for (size_t i = 0; i < r->fact_count; i++)
    text_print(out, "| %s | %s |\n", r->facts[i].key, r->facts[i].value);
  text_print(out, "| run | %s, %.0f minutes", r->started, r->seconds / 60);
  if (r->pieces > 1) text_print(out, " in %d pieces", r->pieces);
  text_print(out, ", %d threads |\n", r->threads);
}

static void add_limit(text *out, const goal *g) {
  text_add(out, g->at_least ? "≥ " : "≤ ");
  add_figure(out, g->limit);
}

static void add_or_dash(text *out, double value) {
  if (isfinite(value))
    add_figure(out, value);
  else
    text_add(out, "–");
}

static void write_goals(const writing *w, text *out) {
  text_add(out, "| row | goal | | median | best rounds | sure | met |\n"
                "|---|---|---:|---:|---:|---:|---|\n");
  for (size_t i = 0; i < w->goals->count; i++) {
    const goal *g = &w->goals->items[i];
    const recorded *r = find_recorded(w->kept, g);
    text_print(out, "| %s | %s | ", g->row, g->what);
    add_limit(out, g);
    text_add(out, " | ");
    if (r == NULL) {
      text_add(out, "– | – | – | not measured |\n");
      continue;
    }
    add_or_dash(out, r->outcome.median);
    text_add(out, " | ");
    add_or_dash(out, r->outcome.best);
    if (isfinite(r->outcome.sure))
      text_print(out, " | %.0f %% | ", floor(100 * r->outcome.sure));
    else
      text_add(out, " | – | ");
    bool yes = r->outcome.verdict == GOAL_MET;
    text_print(out, yes ? "%s" : "**%s**", verdict_words(r->outcome.verdict));
    if (r->outcome.fastest[0] != 0) text_print(out, " (%s)", r->outcome.fastest);
    if (r->outcome.worst[0] != 0) text_print(out, " (worst: %s)", r->outcome.worst);
    text_add(out, " |\n");
  }
}

/* All missed goals of one cause (NULL: of none) in one item of the list. */
static void missed_for(const writing *w, const cause *why, text *out) {
  size_t count = 0;
  text item = {0};
  for (size_t i = 0; i < w->goals->count; i++) {
    const goal *g = &w->goals->items[i];
    const recorded *r = find_recorded(w->kept, g);
    if (!is_missed(r) || cause_of(w->causes, g) != why) continue;
    if (count++ == 0)
      text_print(&item, "**%s**, ", why != NULL ? why->row : "cause not known");
    else
      text_add(&item, "; ");
    if (why == NULL) text_print(&item, "%s ", g->row);
    text_print(&item, "%s: ", g->what);
    add_figure(&item, r->outcome.median);
    text_add(&item, " (");
    add_limit(&item, g);
    text_add(&item, ")");
  }
  if (count > 0) {
    text_add(&item, ".");
    text_wrap(out, "* ", "  ", item.chars);
    if (why != NULL) text_wrap(out, "  ", "  ", why->why);
  }
  text_free(&item);
}

static void write_missed(const writing *w, text *out) {
  for (size_t i = 0; i < w->causes->count; i++) missed_for(w, &w->causes->items[i], out);
  missed_for(w, NULL, out);
}

/* ---- rows without goals ---- */

static void add_cell(text *out, const contestant *who, const char *metric) {
  text_add(out, " | ");
  if (find_series(who, metric) != NULL)
    add_figure(out, contestant_value(who, metric));
  else
    text_add(out, "–");
}

/* A case is a step: weft, and its limit. */
static void write_primitives(const writing *w, text *out) {
  const row *its = find_row(&w->kept->run, "primitives");
  if (its == NULL) {
    text_add(out, "Not recorded yet.\n");
    return;
  }
  text_add(out, "| step | ns | limit | its ns | times |\n|---|---:|---|---:|---:|\n");
  for (size_t k = 0; k < its->count; k++) {
    const contestant *ours = find_contestant(&its->cases[k], "weft"), *least = NULL;
    for (size_t i = 0; i < its->cases[k].count; i++)
      if (&its->cases[k].contestants[i] != ours) least = &its->cases[k].contestants[i];
    if (ours == NULL || least == NULL) continue;
    text_print(out, "| %s", its->cases[k].name);
    add_cell(out, ours, "median_ns");
    text_print(out, " | %s", least->name);
    add_cell(out, least, "median_ns");
    text_add(out, " | ");
    add_figure(out, contestant_value(ours, "median_ns") /
                        contestant_value(least, "median_ns"));
    text_add(out, " |\n");
  }
}

/* The pictures of rows whose figures depend on the process. */
static void write_processes(const writing *w, text *out) {
  static const char *const rows[][2] = {{"P4", "two tasks after a rest"},
                                        {"P12", "from asleep to running"},
                                        {"P17", "a loop in every frame"}};
  size_t before = out->length;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (find_row(&w->kept->run, rows[i][0]) != NULL)
      text_print(out, "![%s: %s](pictures/processes-%s.svg)\n", rows[i][0], rows[i][1],
                 rows[i][0]);
  if (out->length == before) text_add(out, "Not recorded yet.\n");
}

/* The times of all contestants; with the CPU that they use where that was measured. */
static void write_row(const writing *w, const char *id, text *out) {
  const row *its = find_row(&w->kept->run, id);
  if (its == NULL) {
    text_add(out, "Not recorded yet.\n");
    return;
  }
  text_add(out,
           "| case | who | median, ns | the waker's, ns | CPU at rest, % | CPU, ms/s "
           "|\n|---|---|---:|---:|---:|---:|\n");
  for (size_t k = 0; k < its->count; k++)
    for (size_t i = 0; i < its->cases[k].count; i++) {
      const contestant *who = &its->cases[k].contestants[i];
      text_print(out, "| %s | %s", its->cases[k].name, who->name);
      add_cell(out, who, "median_ns");
      add_cell(out, who, "call_ns");
      add_cell(out, who, "cpu_percent");
      add_cell(out, who, "cpu_ms_per_s");
      text_add(out, " |\n");
    }
}

/* ---- the page ---- */

static bool write_part(const writing *w, const char *name, text *out) {
  static const struct {
    const char *name;
    void (*write)(const writing *w, text *out);
  } parts[] = {{"figures", write_figures},    {"run", write_run},
               {"machine", write_machine},    {"goals", write_goals},
               {"missed", write_missed},      {"primitives", write_primitives},
               {"processes", write_processes}};
  if (strncmp(name, "row ", 4) == 0) {
    write_row(w, name + 4, out);
    return true;
  }
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (strcmp(parts[i].name, name) == 0) {
      parts[i].write(w, out);
      return true;
    }
  return false;
}

char *docs_fill(const char *page, const record *kept, const goals *g, const causes *c,
                text *out) {
  static const char begin[] = "<!-- measured: ", end[] = "<!-- end -->\n";
  writing w = {kept, g, c};
  text problem = {0};
  const char *place;
  while (problem.length == 0 && (place = strstr(page, begin)) != NULL) {
    const char *name = place + strlen(begin), *content = strstr(name, " -->\n");
    const char *rest = content != NULL ? strstr(content, end) : NULL;
    if (rest == NULL) {
      text_print(&problem, "no end of a place for what was measured");
      break;
    }
    char *part = copy_bytes(name, (size_t)(content - name));
    text_add_bytes(out, page, (size_t)(content - page) + strlen(" -->\n"));
    if (!write_part(&w, part, out)) text_print(&problem, "there is no part %s", part);
    free(part);
    page = rest;
  }
  text_add(out, page);
  return problem.chars;
}
