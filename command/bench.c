/* bench.c - `weft bench`: fork, wake-up, loop and sort on this machine, in a minute.
 *
 * A short look, not the comparison with other libraries: that is `make bench` in the
 * source tree. Each row is measured again and again until its share of the time is over;
 * the median counts.
 *
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"
#include "core/atomic.h"
#include "sys/sys.h"
#include "view/embedded.h"

#include <weft.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void help(void) {
  printf(
      "Usage: weft bench [--seconds N] [row...]\n\n"
      "Measures fork, wake, loop and sort on this machine, all rows or those that are\n"
      "named, and compares with recorded machines. Keep the machine quiet meanwhile.\n\n"
      "      --seconds N    for each row (1 to 600); 12 unless you say otherwise, so "
      "that\n"
      "                     all take about a minute\n"
      "      --quick        a tenth of a second for each row: a smoke test\n"
      "      --json         print JSON for programs\n"
      "      --record NAME  print a line for command/machines.txt as well\n"
      "      --color WHEN   auto, always or never\n"
      "  -h, --help         this text\n");
}

enum { OPTION_SECONDS, OPTION_QUICK, OPTION_JSON, OPTION_RECORD };
static const option OPTIONS[] = {{"seconds", 0, true},
                                 {"quick", 0, false},
                                 {"json", 0, false},
                                 {"record", 0, true},
                                 {NULL, 0, false}};

/* ---- what is measured ---- */

typedef struct result {
  double figure;  /* in the unit of the row */
  double speedup; /* over one thread; 0: does not apply */
  unsigned repetitions;
} result;

/* Times that were measured, until the row's time is over. */
typedef struct sample {
  double *values;
  size_t count, capacity;
  uint64_t until;
} sample;

static sample sample_begin(double seconds) {
  sample s = {NULL, 0, 0, wf_sys_now_ns() + (uint64_t)(seconds * 1e9)};
  return s;
}

/* At least three, whatever the time. */
static bool sample_wants_more(const sample *s) {
  return s->count < 3 || wf_sys_now_ns() < s->until;
}

static void sample_add(sample *s, double value) {
  ARRAY_GROW(s->values, s->count, s->capacity);
  s->values[s->count++] = value;
}

static int compare_doubles(const void *a, const void *b) {
  const double *x = a, *y = b;
  return *x < *y ? -1 : *x > *y;
}

static double sample_end(sample *s) {
  qsort(s->values, s->count, sizeof *s->values, compare_doubles);
  double median = s->values[s->count / 2];
  free(s->values);
  s->values = NULL;
  return median;
}

/* A pool of one thread, for what one thread takes; NULL without memory. */
static weft_pool *single_pool(void) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 1;
  weft_pool *pool = NULL;
  return weft_pool_create(&pool, &config) == 0 ? pool : NULL;
}

static double time_of(weft_pool *pool, weft_fn *fn, void *ctx) {
  uint64_t begin = wf_sys_now_ns();
  weft_pool_run(pool, fn, ctx);
  return (double)(wf_sys_now_ns() - begin);
}

/* Runs fn in turn on one thread and on all; returns the median times. */
static unsigned both(weft_fn *fn, void *ctx, weft_fn *before, double seconds,
                     double *one_ns, double *all_ns) {
  weft_pool *single = single_pool();
  sample one = sample_begin(seconds), all = one;
  do {
    if (before != NULL) before(ctx);
    sample_add(&one, time_of(single, fn, ctx));
    if (before != NULL) before(ctx);
    sample_add(&all, time_of(NULL, fn, ctx));
  } while (sample_wants_more(&one));
  unsigned count = (unsigned)one.count;
  *one_ns = sample_end(&one);
  *all_ns = sample_end(&all);
  weft_pool_destroy(single);
  return count;
}

/* ---- fork: the recursion that does nothing else ---- */

WEFT_TASK(long, fib, long, n) {
  if (n < 2) return n;
  fib_task left;
  fib_fork(&left, n - 1);
  long right = fib(n - 2);
  return fib_join(&left) + right;
}

enum { FIB = 27, FIB_FORKS = 317810 }; /* fib(n) forks fib(n + 1) - 1 times */

static void run_fib(void *ctx) {
  *(long *)ctx = fib(FIB);
}

static result measure_fork(double seconds) {
  long value = 0;
  double one, all;
  unsigned count = both(run_fib, &value, NULL, seconds, &one, &all);
  return (result){one / FIB_FORKS, one / all, count};
}

/* ---- wake: from a call into a sleeping pool until a thread of it runs ---- */

typedef struct wake {
  wf_u32 x_done;
  uint64_t ran_ns;
} wake;

static void note_time(void *ctx) {
  wake *w = ctx;
  w->ran_ns = wf_sys_now_ns();
  /* Release: pairs with the acquire in measure_wake. */
  wf_u32_store_release(&w->x_done, 1);
  wf_sys_wake_all(&w->x_done);
}

static result measure_wake(double seconds) {
  static wake w; /* a late thread may still touch it */
  sample s = sample_begin(seconds);
  do {
    /* Idle threads sleep after at most half a millisecond. */
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    wf_u32_store_relaxed(&w.x_done, 0); /* the call below publishes it */
    uint64_t begin = wf_sys_now_ns();
    if (weft_pool_detach(NULL, note_time, &w) != 0) break;
    /* Acquire: pairs with the release in note_time. */
    while (wf_u32_load_acquire(&w.x_done) == 0) wf_sys_wait(&w.x_done, 0);
    sample_add(&s, (double)(w.ran_ns - begin) / 1000);
  } while (sample_wants_more(&s));
  unsigned count = (unsigned)s.count;
  return (result){count > 0 ? sample_end(&s) : NAN, 0, count};
}

/* ---- loop: pixels of the Mandelbrot set, which take between 1 and 200 rounds ---- */

enum { WIDTH = 640, HEIGHT = 400, ROUNDS = 200 };

static void pixels(size_t begin, size_t end, void *ctx) {
  unsigned char *image = ctx;
  for (size_t i = begin; i < end; i++) {
    double cx = (double)(i % WIDTH) / WIDTH * 3 - 2.2,
           cy = (double)(i / WIDTH) / HEIGHT * 2 - 1;
    double x = 0, y = 0;
    int round = 0;
    for (; round < ROUNDS && x * x + y * y < 4; round++) {
      double next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
    }
    image[i] = (unsigned char)round;
  }
}

static void run_loop(void *ctx) {
  weft_for((size_t)WIDTH * HEIGHT, pixels, ctx);
}

static result measure_loop(double seconds) {
  unsigned char *image = memory_resize(NULL, (size_t)WIDTH * HEIGHT, 1);
  double one, all;
  unsigned count = both(run_loop, image, NULL, seconds, &one, &all);
  free(image);
  return (result){(double)WIDTH * HEIGHT / all * 1000, one / all, count};
}

/* ---- sort: random 64-bit keys ---- */

typedef struct keys {
  uint64_t *values;
  size_t count;
  uint64_t state;
} keys;

static void shuffle(void *ctx) {
  keys *k = ctx;
  for (size_t i = 0; i < k->count; i++) {
    k->state ^= k->state << 13;
    k->state ^= k->state >> 7;
    k->state ^= k->state << 17;
    k->values[i] = k->state;
  }
}

static void run_sort(void *ctx) {
  keys *k = ctx;
  weft_sort_u64(k->values, k->count);
}

static result measure_sort(double seconds) {
  keys k = {.count = seconds < 1 ? 200000 : 4000000, .state = 88172645463325252u};
  k.values = memory_resize(NULL, k.count, sizeof *k.values);
  double one, all;
  unsigned count = both(run_sort, &k, shuffle, seconds, &one, &all);
  free(k.values);
  return (result){(double)k.count / all * 1000, one / all, count};
}

/* ---- rows ---- */

static const struct row {
  const char *name, *unit, *what;
  bool more_is_better;
  result (*measure)(double seconds);
} ROWS[] = {
    {"fork", "ns", "a fork and its join, on one thread", false, measure_fork},
    {"wake", "us", "from a call until a sleeping thread runs it", false, measure_wake},
    {"loop", "M/s", "pixels of the Mandelbrot set, on all threads", true, measure_loop},
    {"sort", "M/s", "64-bit keys sorted, on all threads", true, measure_sort},
};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

/* ---- recorded machines: the table machines.txt ---- */

typedef struct recorded {
  char name[48], date[16];
  unsigned threads;
  double figures[ROW_COUNT];
} recorded;

static size_t read_recorded(recorded *list, size_t most) {
  size_t count = 0;
  const char *at = (const char *)machines_table, *end = at + machines_table_length;
  while (at < end && count < most) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    size_t length = newline != NULL ? (size_t)(newline - at) : (size_t)(end - at);
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)(length < 255 ? length : 255), at);
    recorded r;
    if (line[0] != '#' &&
        sscanf(line, "%u %15s %lf %lf %lf %lf %47[^\n]", &r.threads, r.date,
               &r.figures[0], &r.figures[1], &r.figures[2], &r.figures[3], r.name) == 7)
      list[count++] = r;
    at += length + 1;
  }
  return count;
}

/* ---- output ---- */

static void show_figure(double figure) {
  int digits = figure < 10 ? 2 : figure < 100 ? 1 : 0;
  printf("%8.*f", digits, figure);
}

static void print_line(const char *name, double figure, const char *unit, double longest,
                       style s, const char *more) {
  int columns = terminal_width() - 52;
  if (columns > 50) columns = 50;
  if (columns < 10) columns = 10;
  printf("  %-22.22s ", name);
  print_bar(figure / longest, columns, s);
  show_figure(figure);
  printf(" %-3s %s\n", strcmp(unit, "us") == 0 && terminal_has_unicode() ? "µs" : unit,
         more);
}

static void print_row(int row, const result *r, const char *here, const recorded *list,
                      size_t count) {
  const char *better = ROWS[row].more_is_better ? "more is better" : "less is better";
  printf("\n%s%s%s  %s (%s)\n", on(STYLE_BOLD), ROWS[row].name, on(STYLE_PLAIN),
         ROWS[row].what, better);
  double longest = r->figure;
  for (size_t i = 0; i < count; i++)
    if (list[i].figures[row] > longest) longest = list[i].figures[row];
  char more[64] = "";
  if (r->speedup > 0) snprintf(more, sizeof more, "%.2f x one thread", r->speedup);
  print_line(here, r->figure, ROWS[row].unit, longest, STYLE_GREEN, more);
  for (size_t i = 0; i < count; i++)
    print_line(list[i].name, list[i].figures[row], ROWS[row].unit, longest, STYLE_BLUE,
               "");
}

static void print_json(const result *results, const bool *wanted) {
  json_writer w = {.depth = 0};
  json_begin(&w, NULL, '{');
  json_put_text(&w, "weft", weft_version());
  json_put_number(&w, "threads", weft_thread_count());
  json_begin(&w, "rows", '[');
  for (int i = 0; i < ROW_COUNT; i++) {
    if (!wanted[i]) continue;
    json_begin(&w, NULL, '{');
    json_put_text(&w, "name", ROWS[i].name);
    json_put_number(&w, "figure", results[i].figure);
    json_put_text(&w, "unit", ROWS[i].unit);
    json_put_text(&w, "what", ROWS[i].what);
    json_put_bool(&w, "more_is_better", ROWS[i].more_is_better);
    if (results[i].speedup > 0) json_put_number(&w, "speedup", results[i].speedup);
    json_put_number(&w, "repetitions", results[i].repetitions);
    json_finish(&w, '}');
  }
  json_finish(&w, ']');
  recorded list[32];
  size_t count = read_recorded(list, 32);
  json_begin(&w, "recorded", '[');
  for (size_t i = 0; i < count; i++) {
    json_begin(&w, NULL, '{');
    json_put_text(&w, "name", list[i].name);
    json_put_text(&w, "date", list[i].date);
    json_put_number(&w, "threads", list[i].threads);
    for (int row = 0; row < ROW_COUNT; row++)
      json_put_number(&w, ROWS[row].name, list[i].figures[row]);
    json_finish(&w, '}');
  }
  json_finish(&w, ']');
  json_finish(&w, '}');
  json_print(&w);
}

static void print_record(const result *results, const char *name) {
  char date[16];
  time_t now = time(NULL);
  struct tm parts;
  gmtime_r(&now, &parts);
  strftime(date, sizeof date, "%Y-%m-%d", &parts);
  printf("\nFor command/machines.txt:\n%u %s %.3g %.3g %.3g %.3g %s\n",
         weft_thread_count(), date, results[0].figure, results[1].figure,
         results[2].figure, results[3].figure, name);
}

/* Which rows; false after a message. */
static bool choose_rows(int count, char **names, bool *wanted) {
  for (int i = 0; i < ROW_COUNT; i++) wanted[i] = count == 0;
  for (int j = 0; j < count; j++) {
    int i = 0;
    while (i < ROW_COUNT && strcmp(ROWS[i].name, names[j]) != 0) i++;
    if (i == ROW_COUNT) {
      usage_error("bench", "there is no row '%s'; there are fork, wake, loop and sort",
                  names[j]);
      return false;
    }
    wanted[i] = true;
  }
  return true;
}

/* A line on the terminal with the time that is left, drawn once a second: that does not
 * disturb what is measured. */
static weft_progress *begin_row(const char *name, double seconds, bool is_quiet) {
  weft_progress *progress;
  weft_progress_opts o = WEFT_PROGRESS_OPTS_INIT;
  text title = {0};
  o.interval_ms = 1000;
  o.vanishes = true;
  o.is_quiet = is_quiet || !terminal_is_interactive();
  text_format(&title, "measuring %s", name);
  weft_progress_begin_with(&o, &progress, title.chars, 0);
  weft_progress_set_left(progress, (uint64_t)(seconds * 1e9));
  text_free(&title);
  return progress;
}

int command_bench(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv};
  const char *record = NULL;
  bool json = false, wanted[ROW_COUNT];
  long whole;
  double seconds = 12;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_JSON) json = true;
    if (found == OPTION_RECORD) record = o.value;
    if (found == OPTION_QUICK) seconds = 0.1;
    if (found == OPTION_SECONDS) {
      if (!parse_number(o.value, 1, 600, &whole))
        return usage_error("bench", "--seconds is a number from 1 to 600, not '%s'",
                           o.value);
      seconds = (double)whole;
    }
  }
  if (!choose_rows(o.operands, argv + 1, wanted)) return COMMAND_USAGE;
  if (record != NULL && o.operands > 0)
    return usage_error("bench", "--record needs all rows");

  recorded list[32];
  size_t count = read_recorded(list, 32);
  char here[64];
  unsigned threads = weft_thread_count(); /* starts the pool */
  snprintf(here, sizeof here, "this machine (%u)", threads);
  result results[ROW_COUNT] = {{0, 0, 0}};
  if (!json)
    printf("%sweft %s%s, %u thread%s, about %.0f s\n", on(STYLE_BOLD), weft_version(),
           on(STYLE_PLAIN), threads, threads == 1 ? "" : "s", seconds * 4);
  for (int i = 0; i < ROW_COUNT; i++) {
    if (!wanted[i]) continue;
    weft_progress *progress = begin_row(ROWS[i].name, seconds, json);
    results[i] = ROWS[i].measure(seconds);
    weft_progress_end(progress);
    if (!json) print_row(i, &results[i], here, list, count);
    fflush(stdout);
  }
  if (json) print_json(results, wanted);
  if (record != NULL && !json) print_record(results, record);
  weft_shutdown();
  return COMMAND_OK;
}
