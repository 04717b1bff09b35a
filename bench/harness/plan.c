/* harness/plan.c - reads the workload.txt of every folder and expands its variables and
 * loops into a list of runs. plan.h has the grammar.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "plan.h"
#include "results.h"
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_VARIABLES = 64, DEEPEST_LOOP = 8 };

typedef struct variable {
  char *name, *value;
} variable;

/* The state while one file is read. */
typedef struct planner {
  plan *p;
  const plan_options *options;
  const char *workload;
  words lines;
  variable variables[MOST_VARIABLES];
  size_t variable_count;
  char *row, *kase;
  int most, least, cpus, depth;
  text problem;
} planner;

static bool fail(planner *s, size_t line, const char *message) {
  if (s->problem.length == 0)
    text_print(&s->problem, "%s/workload.txt, line %zu: %s", s->workload, line + 1,
               message);
  return false;
}

/* ---- variables ---- */

static bool set_variable(planner *s, size_t line, const char *name, const char *value) {
  for (size_t i = 0; i < s->variable_count; i++)
    if (strcmp(s->variables[i].name, name) == 0) {
      char *old = s->variables[i].value;
      s->variables[i].value = copy_text(value);
      free(old);
      return true;
    }
  if (s->variable_count == MOST_VARIABLES) return fail(s, line, "too many variables");
  s->variables[s->variable_count++] = (variable){copy_text(name), copy_text(value)};
  return true;
}

/* Replaces each $name by its value. A name is made of letters and _, so a digit ends it.
 */
static bool expand(planner *s, size_t line, const char *chars, text *out) {
  text_add(out, "");
  while (*chars != 0) {
    if (*chars != '$') {
      text_add_bytes(out, chars++, 1);
      continue;
    }
    size_t length = 0;
    while (isalpha((unsigned char)chars[1 + length]) || chars[1 + length] == '_')
      length++;
    const char *value = NULL;
    for (size_t i = 0; i < s->variable_count; i++)
      if (strlen(s->variables[i].name) == length &&
          strncmp(s->variables[i].name, chars + 1, length) == 0)
        value = s->variables[i].value;
    if (value == NULL) return fail(s, line, "a variable that is not set");
    text_add(out, value);
    chars += 1 + length;
  }
  return true;
}

/* set NAME full | quick | tiny: the last of the lists that the size may use. */
static bool read_set(planner *s, size_t line, const char *rest) {
  size_t name_length = strcspn(rest, " ");
  char *name = copy_bytes(rest, name_length);
  words lists = split(rest + name_length, "|");
  bool ok = lists.count > 0;
  size_t which = (size_t)s->options->size;
  if (!ok)
    fail(s, line, "set wants a name and a value");
  else
    ok = set_variable(s, line, name,
                      lists.items[which < lists.count ? which : lists.count - 1]);
  words_free(&lists);
  free(name);
  return ok;
}

/* ---- instructions ---- */

static void start_row(planner *s, const char *rest) {
  size_t id_length = strcspn(rest, " ");
  const char *title = rest + id_length + strspn(rest + id_length, " ");
  free(s->row);
  free(s->kase);
  s->row = copy_bytes(rest, id_length);
  s->kase = NULL;
  s->most = s->least = s->cpus = 0;
  plan_row *found = NULL;
  for (size_t i = 0; i < s->p->row_count; i++)
    if (strcmp(s->p->rows[i].id, s->row) == 0) found = &s->p->rows[i];
  if (found == NULL) {
    GROW(s->p->rows, s->p->row_count);
    found = &s->p->rows[s->p->row_count++];
    *found = (plan_row){copy_text(s->row), copy_text("")};
  }
  if (found->title[0] != 0 || *title == 0) return;
  free(found->title);
  found->title = copy_text(title);
}

const char *kind_of_program(const char *name) {
  static const char *const kinds[] = {"serial", "rayon",       "tbb",      "omp", "ips4o",
                                      "vqsort", "pthreadpool", "taskflow", "lace"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    size_t length = strlen(kinds[i]);
    if (strncmp(name, kinds[i], length) != 0) continue;
    if (name[length] == 0 || name[length] == '_') return kinds[i];
  }
  return "weft";
}

/* fib/omp for omp_gcc of fib: some files make two programs. */
static char *source_of(const char *workload, const char *name) {
  static const char *const endings[] = {"omp_gcc", "omp_clang", "ips4o_native"};
  const char *kind = kind_of_program(name), *end = strrchr(name, '_');
  size_t length = strlen(name);
  for (size_t i = 0; end != NULL && i < sizeof endings / sizeof *endings; i++)
    if (strncmp(endings[i], kind, strlen(kind)) == 0 &&
        strcmp(strrchr(endings[i], '_'), end) == 0)
      length = (size_t)(end - name);
  text source = {0};
  text_print(&source, "%s/%.*s", workload, (int)length, name);
  return source.chars;
}

bool run_has_source(const char *folder, const plan_run *run) {
  static const char *const endings[] = {"c", "cpp", "rs"};
  bool found = false;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
    text path = {0};
    text_print(&path, "%s/%s.%s", folder, run->source, endings[i]);
    found |= access(path.chars, R_OK) == 0;
    text_free(&path);
  }
  return found;
}

static bool add_run(planner *s, size_t line, const char *rest) {
  if (s->kase == NULL) return fail(s, line, "run without a row and a case before it");
  words parts = split(rest, " ");
  if (parts.count == 0) return fail(s, line, "run wants a program");
  text program = {0};
  text_print(&program, "%s_%s", s->workload, parts.items[0]);
  plan_run run = {.row = copy_text(s->row),
                  .kase = copy_text(s->kase),
                  .program = program.chars,
                  .source = source_of(s->workload, parts.items[0]),
                  .kind = copy_text(kind_of_program(parts.items[0])),
                  .most = s->most,
                  .least = s->least,
                  .cpus = s->cpus};
  for (size_t i = 1; i < parts.count; i++)
    words_add(&run.args, parts.items[i], strlen(parts.items[i]));
  words_free(&parts);
  GROW(s->p->runs, s->p->count);
  s->p->runs[s->p->count++] = run;
  return true;
}

static bool read_lines(planner *s, size_t from, size_t to);

/* for NAME in word...: runs the lines behind it; *line becomes that of its end. */
static bool read_for(planner *s, size_t *line, size_t to, const char *rest) {
  size_t first = *line + 1, end = first, open = 1;
  for (; end < to; end++) {
    const char *text_of = s->lines.items[end];
    if (strncmp(text_of, "for ", 4) == 0) open++;
    if (strcmp(text_of, "end") == 0 && --open == 0) break;
  }
  if (open != 0) return fail(s, *line, "for without its end");
  words parts = split(rest, " ");
  bool ok = parts.count >= 3 && strcmp(parts.items[1], "in") == 0;
  if (!ok) fail(s, *line, "usage: for NAME in word...");
  if (ok && ++s->depth > DEEPEST_LOOP) ok = fail(s, *line, "too many loops");
  for (size_t i = 2; ok && i < parts.count; i++)
    ok = set_variable(s, *line, parts.items[0], parts.items[i]) &&
         read_lines(s, first, end);
  s->depth--;
  words_free(&parts);
  *line = end;
  return ok;
}

static bool read_line(planner *s, size_t *line, size_t to, const char *chars) {
  size_t length = strcspn(chars, " ");
  const char *rest = chars + length + strspn(chars + length, " ");
  char *word = copy_bytes(chars, length);
  bool ok = true;
  if (strcmp(word, "row") == 0) {
    start_row(s, rest);
  } else if (strcmp(word, "case") == 0) {
    if (s->row == NULL || *rest == 0) ok = fail(s, *line, "case wants a row and a name");
    free(s->kase);
    s->kase = ok ? copy_text(rest) : NULL;
  } else if (strcmp(word, "run") == 0) {
    ok = add_run(s, *line, rest);
  } else if (strcmp(word, "most") == 0) {
    s->most = atoi(rest);
  } else if (strcmp(word, "least") == 0) {
    s->least = atoi(rest);
  } else if (strcmp(word, "cpus") == 0) {
    s->cpus = atoi(rest);
  } else if (strcmp(word, "set") == 0) {
    ok = read_set(s, *line, rest);
  } else if (strcmp(word, "for") == 0) {
    ok = read_for(s, line, to, rest);
  } else {
    ok = fail(s, *line, "unknown instruction");
  }
  free(word);
  return ok;
}

static bool read_lines(planner *s, size_t from, size_t to) {
  bool ok = true;
  for (size_t line = from; ok && line < to; line++) {
    if (s->lines.items[line][0] == 0) continue;
    text expanded = {0};
    ok = expand(s, line, s->lines.items[line], &expanded) &&
         read_line(s, &line, to, expanded.chars);
    text_free(&expanded);
  }
  return ok;
}

/* The lines without comments and without space around; empty ones stay, for the count. */
static words lines_of(const char *content) {
  words lines = {0};
  while (*content != 0) {
    size_t all = strcspn(content, "\n"), length = strcspn(content, "#\n");
    while (length > 0 && isspace((unsigned char)content[length - 1])) length--;
    size_t first = strspn(content, " \t");
    words_add(&lines, content + (first < length ? first : length),
              first < length ? length - first : 0);
    content += all + (content[all] != 0);
  }
  return lines;
}

static void set_standard(planner *s) {
  text number = {0}, counts = {0};
  text_print(&number, "%d", s->options->threads);
  for (int n = 1; n < s->options->cpus; n *= 2) text_print(&counts, "%d ", n);
  text_print(&counts, "%d", s->options->cpus);
  set_variable(s, 0, "threads", number.chars);
  set_variable(s, 0, "counts", counts.chars);
  text_free(&number);
  text_free(&counts);
}

char *plan_read(plan *p, const plan_options *options, const char *workload,
                const char *content) {
  planner s = {.p = p, .options = options, .workload = workload};
  s.lines = lines_of(content);
  set_standard(&s);
  read_lines(&s, 0, s.lines.count);
  for (size_t i = 0; i < s.variable_count; i++) {
    free(s.variables[i].name);
    free(s.variables[i].value);
  }
  words_free(&s.lines);
  free(s.row);
  free(s.kase);
  return s.problem.chars;
}

/* ---- all folders ---- */

static int compare_plan_rows(const void *a, const void *b) {
  return compare_row_ids(((const plan_row *)a)->id, ((const plan_row *)b)->id);
}

void plan_sort(plan *p) {
  if (p->count == 0) return;
  qsort(p->rows, p->row_count, sizeof *p->rows, compare_plan_rows);
  /* Stable, so by hand: the runs of each row in turn. */
  plan_run *sorted = must_realloc(NULL, p->count * sizeof *sorted);
  size_t count = 0;
  for (size_t r = 0; r < p->row_count; r++)
    for (size_t i = 0; i < p->count; i++)
      if (strcmp(p->runs[i].row, p->rows[r].id) == 0) sorted[count++] = p->runs[i];
  free(p->runs);
  p->runs = sorted;
}

plan plan_load(const plan_options *options) {
  plan p = {0};
  struct dirent **entries = NULL;
  int count = scandir(options->folder, &entries, NULL, alphasort);
  if (count < 0) die("no folder %s", options->folder);
  for (int i = 0; i < count; i++) {
    text path = {0};
    text_print(&path, "%s/%s/workload.txt", options->folder, entries[i]->d_name);
    char *content = entries[i]->d_name[0] != '.' ? read_file(path.chars) : NULL;
    if (content != NULL) {
      char *problem = plan_read(&p, options, entries[i]->d_name, content);
      if (problem != NULL) die("%s", problem);
    }
    free(content);
    text_free(&path);
    free(entries[i]);
  }
  free(entries);
  if (p.count == 0) die("no workload.txt below %s", options->folder);
  plan_sort(&p);
  return p;
}

void plan_free(plan *p) {
  for (size_t i = 0; i < p->count; i++) {
    free(p->runs[i].row);
    free(p->runs[i].kase);
    free(p->runs[i].program);
    free(p->runs[i].source);
    free(p->runs[i].kind);
    words_free(&p->runs[i].args);
  }
  for (size_t i = 0; i < p->row_count; i++) {
    free(p->rows[i].id);
    free(p->rows[i].title);
  }
  free(p->runs);
  free(p->rows);
  *p = (plan){0};
}
