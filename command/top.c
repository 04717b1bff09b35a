/* top.c - `weft top`: the workers of a running program in the terminal, or a trace summed
 * up.
 *
 * SPDX-License-Identifier: MIT */
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"
#include "machine/live.h"
#include "trace/trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static void help(void) {
  printf("Usage: weft top [PID]\n"
         "       weft top TRACE.json\n\n"
         "Shows the workers of a program that runs with WEFT_STATS=live (weft run "
         "--live): what\n"
         "each does, its queue, its shares of time. Without a PID: the program that does "
         "so, or\n"
         "a list if there are several. On a terminal the view stays until q; otherwise "
         "one look\n"
         "is printed. Of a trace: the same figures over its whole time, and the busiest "
         "names.\n\n"
         "      --once          one look, also on a terminal\n"
         "  -c, --count N       end after N looks\n"
         "  -i, --interval MS   time between looks (100 to 60000); 500 unless you say "
         "otherwise\n"
         "      --json          print JSON for programs, one object for each look\n"
         "      --color WHEN    auto, always or never\n"
         "  -h, --help          this text\n\n"
         "Keys: q ends.\n");
}

enum { OPTION_ONCE, OPTION_COUNT, OPTION_INTERVAL, OPTION_JSON };
static const option OPTIONS[] = {{"once", 0, false},
                                 {"count", 'c', true},
                                 {"interval", 'i', true},
                                 {"json", 0, false},
                                 {NULL, 0, false}};

/* ---- the terminal while it is watched ---- */

static struct termios terminal_before;
static bool terminal_is_raw;
static volatile sig_atomic_t interrupted;

static void note_interrupt(int number) {
  (void)number;
  interrupted = 1;
}

/* Is there a terminal that can show one look in the place of the other? */
static bool can_watch(void) {
  const char *kind = getenv("TERM");
  return terminal_is_interactive() && kind != NULL && strcmp(kind, "dumb") != 0;
}

static void watch_begin(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (tcgetattr(STDIN_FILENO, &terminal_before) == 0) {
    struct termios raw = terminal_before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    terminal_is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  printf("\033[?1049h\033[?25l\033[?7l"); /* another screen, no cursor, no long lines */
}

static void watch_end(void) {
  printf("\033[?7h\033[?25h\033[?1049l");
  fflush(stdout);
  if (terminal_is_raw) tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before);
}

/* Waits for the interval, or a key; false if the watching ends. */
static bool pause_or_key(long interval_ms, bool interactive) {
  fflush(stdout);
  if (!interactive) {
    poll(NULL, 0, (int)interval_ms);
    return interrupted == 0;
  }
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  if (poll(&input, 1, (int)interval_ms) > 0 && (input.revents & POLLIN) != 0) {
    char key;
    if (read(STDIN_FILENO, &key, 1) == 1 && (key == 'q' || key == 'Q' || key == 27))
      return false;
  }
  return interrupted == 0;
}

/* ---- one look ---- */

static style style_of(const char *state) {
  if (strcmp(state, "working") == 0) return STYLE_GREEN;
  if (strcmp(state, "searching") == 0) return STYLE_YELLOW;
  if (strcmp(state, "blocked") == 0) return STYLE_RED;
  return STYLE_DIM;
}

/* Places of callers and stand-ins that nobody is in, and that nobody has used. */
static bool is_shown(const live_worker *w) {
  return strcmp(w->state, "away") != 0 || strcmp(w->role, "started") == 0 ||
         w->working_ns > 0;
}

static const live_worker *same_worker(const live *l, const live_worker *w) {
  for (size_t i = 0; l != NULL && i < l->worker_count; i++)
    if (l->workers[i].pool == w->pool && l->workers[i].worker == w->worker)
      return &l->workers[i];
  return NULL;
}

/* What is left of a line for the bar, besides 75 columns of figures. */
static int bar_columns(void) {
  int columns = terminal_width() - 75;
  return columns < 5 ? 5 : columns > 20 ? 20 : columns;
}

/* Shares since the look before, or since the start of the pool. */
static void print_worker(const live_worker *w, const live_worker *before,
                         double seconds) {
  static const live_worker zero;
  if (before == NULL) before = &zero;
  double working = w->working_ns - before->working_ns;
  double searching = w->searching_ns - before->searching_ns;
  double asleep = w->asleep_ns - before->asleep_ns, all = working + searching + asleep;
  if (all <= 0) all = 1;
  printf("%3d %-8.8s %s%-9.9s%s %5.0f  ", w->worker, w->role, on(style_of(w->state)),
         w->state, on(STYLE_PLAIN), w->queue);
  print_bar(working / all, bar_columns(), STYLE_GREEN);
  printf(" %5s %6s %6s", show_share(working / all), show_share(searching / all),
         show_share(asleep / all));
  printf(" %7s %8s %7s\n", show_count((w->tasks - before->tasks) / seconds),
         show_count((w->steals - before->steals) / seconds),
         show_count((w->wakes - before->wakes) / seconds));
}

static void print_look(const live *l, const live *before, int lines) {
  double seconds =
      before != NULL ? (l->uptime_ns - before->uptime_ns) / 1e9 : l->uptime_ns / 1e9;
  if (seconds <= 0) seconds = 1;
  printf("%s%s%s (%.0f)  weft %s  up %s  %s\n", on(STYLE_BOLD), l->program,
         on(STYLE_PLAIN), l->pid, l->version, show_ns(l->uptime_ns),
         before != NULL ? "figures of the last interval" : "figures since the start");
  lines -= 2;
  for (size_t p = 0; p < l->pool_count; p++) {
    const live_pool *pool = &l->pools[p];
    unsigned working = 0, workers = 0;
    for (size_t i = 0; i < l->worker_count; i++)
      if (l->workers[i].pool == pool->pool && is_shown(&l->workers[i])) {
        workers++;
        working += strcmp(l->workers[i].state, "working") == 0;
      }
    printf("\npool %d %s%s%s: %u of %.0f threads at work on %.0f CPUs; waiting: %.0f "
           "injected, %.0f background\n",
           pool->pool, on(STYLE_BOLD), pool->name, on(STYLE_PLAIN), working,
           pool->threads, pool->cpus, pool->queued, pool->background);
    printf("%s  # role     state     queue  %-*s search asleep tasks/s steals/s "
           "wakes/s%s\n",
           on(STYLE_DIM), bar_columns() + 6, "working", on(STYLE_PLAIN));
    lines -= 3;
    unsigned shown = 0;
    for (size_t i = 0; i < l->worker_count && lines > 1; i++) {
      if (l->workers[i].pool != pool->pool || !is_shown(&l->workers[i])) continue;
      print_worker(&l->workers[i], same_worker(before, &l->workers[i]), seconds);
      shown++;
      lines--;
    }
    if (shown < workers) printf("    and %u more\n", workers - shown);
  }
}

/* Looks at the process again and again. */
static int watch(long pid, long looks, long interval_ms, bool json) {
  bool interactive = can_watch() && !json && looks != 1;
  live before, now;
  bool has_before = false, has_ended = false;
  char problem[300];
  int status = COMMAND_OK;
  if (interactive) watch_begin();
  for (long look = 0; looks == 0 || look < looks; look++) {
    if (look > 0 && !pause_or_key(interval_ms, interactive)) break;
    if (!live_read(&now, pid, problem)) {
      live_free(&now);
      if (look == 0) status = COMMAND_FAILED;
      has_ended = look > 0;
      break;
    }
    if (json) {
      fwrite(now.content.chars, 1, now.content.length, stdout);
      if (now.content.length == 0 || now.content.chars[now.content.length - 1] != '\n')
        putchar('\n');
    } else {
      if (interactive) printf("\033[H\033[J");
      if (!interactive && look > 0) putchar('\n');
      print_look(&now, has_before ? &before : NULL,
                 interactive ? terminal_height() : 1 << 20);
      if (interactive) printf("\n%sq ends%s", on(STYLE_DIM), on(STYLE_PLAIN));
    }
    fflush(stdout);
    if (has_before) live_free(&before);
    before = now;
    has_before = true;
  }
  if (has_before) live_free(&before);
  if (interactive) watch_end();
  if (has_ended && !json) printf("the program has ended\n");
  return status == COMMAND_OK ? status : failure("top", "%s", problem);
}

static int find_and_watch(long looks, long interval_ms, bool json) {
  long *pids;
  size_t count = live_list(&pids);
  int status;
  if (count == 1) {
    status = watch(pids[0], looks, interval_ms, json);
  } else if (count == 0) {
    status = failure("top", "no program runs with WEFT_STATS=live. Start one by: "
                            "weft run --live -- program");
  } else {
    for (size_t i = 0; i < count; i++) {
      live l;
      char problem[300];
      if (live_read(&l, pids[i], problem))
        printf("%8ld  %s, up %s\n", pids[i], l.program, show_ns(l.uptime_ns));
      live_free(&l);
    }
    status =
        usage_error("top", "several programs can be watched: name one by its number");
  }
  free(pids);
  return status;
}

/* ---- a trace ---- */

static void sum_lane(const trace *t, const lane *l, double *shares, int columns) {
  double step = t->duration_ns / columns;
  for (int i = 0; i < columns; i++) shares[i] = 0;
  for (size_t i = 0; i < l->stretch_count; i++) {
    const stretch *s = &l->stretches[i];
    if (s->state != STATE_WORKING) continue;
    double begin = (double)s->begin / step, end = (double)s->end / step;
    for (int column = (int)begin; column < columns && column < end; column++) {
      double from = begin > column ? begin : column,
             to = end < column + 1 ? end : column + 1;
      if (to > from) shares[column] += to - from;
    }
  }
}

static void print_trace(const trace *t) {
  printf("%s%s%s: %s, %.0f thread%s, %s slices, %s steals\n", on(STYLE_BOLD),
         t->program[0] != '\0' ? t->program : "trace", on(STYLE_PLAIN),
         show_ns(t->duration_ns), t->threads, t->threads == 1 ? "" : "s",
         show_count((double)t->slice_count), show_count((double)t->steal_count));
  printf(
      "%.2f times as fast as one thread; at most %.2f times with any number of CPUs\n\n",
      t->speedup, t->speedup_max);
  int columns = terminal_width() - 52;
  if (columns > 60) columns = 60;
  if (columns < 10) columns = 10;
  double shares[60];
  printf("%s%-14s %7s %7s %7s %8s  %s%s\n", on(STYLE_DIM), "thread", "working", "search",
         "asleep", "slices", "at work over time", on(STYLE_PLAIN));
  for (size_t i = 0; i < t->lane_count; i++) {
    const lane *l = &t->lanes[i];
    if (l->slice_count == 0) continue;
    double all = 0;
    for (int state = STATE_WORKING; state < STATE_COUNT; state++)
      all += l->state_ns[state];
    if (!l->started) all = t->duration_ns;
    if (all <= 0) all = 1;
    printf("%-14.14s %7s %7s %7s %8s  ", l->name,
           show_share(l->state_ns[STATE_WORKING] / all),
           show_share(l->state_ns[STATE_SEARCHING] / all),
           show_share(l->state_ns[STATE_ASLEEP] / all),
           show_count((double)l->slice_count));
    sum_lane(t, l, shares, columns);
    fputs(on(STYLE_GREEN), stdout);
    print_sparkline(shares, columns);
    printf("%s\n", on(STYLE_PLAIN));
  }
  printf("\n%s%-28s %-8s %8s %9s %9s %9s%s\n", on(STYLE_DIM), "name", "kind", "times",
         "in all", "mean", "longest", on(STYLE_PLAIN));
  for (size_t i = 0; i < t->total_count && i < 10; i++) {
    const name_total *n = &t->totals[i];
    printf("%-28.28s %-8s %8s", t->names[n->name], kind_name((slice_kind)n->kind),
           show_count((double)n->count));
    print_right(show_ns(n->total_ns), 10);
    print_right(show_ns(n->total_ns / (double)n->count), 10);
    print_right(show_ns((double)n->longest), 10);
    putchar('\n');
  }
}

static int sum_up(const char *path, bool json) {
  trace t;
  char problem[200];
  int status = COMMAND_OK;
  if (!trace_read(&t, path, problem)) {
    status = failure("top", "%s: %s", path, problem);
  } else {
    trace_analyse(&t);
    trace_find(&t);
    if (json) {
      json_writer w = {.depth = 0};
      trace_write_summary(&t, &w);
      json_print(&w);
    } else {
      print_trace(&t);
    }
  }
  trace_free(&t);
  return status;
}

int command_top(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv};
  long looks = 0, interval_ms = 500, pid;
  bool json = false;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_ONCE) looks = 1;
    if (found == OPTION_JSON) json = true;
    if (found == OPTION_COUNT && !parse_number(o.value, 1, 1000000, &looks))
      return usage_error("top", "--count is a number from 1 on, not '%s'", o.value);
    if (found == OPTION_INTERVAL && !parse_number(o.value, 100, 60000, &interval_ms))
      return usage_error("top", "--interval is a number from 100 to 60000, not '%s'",
                         o.value);
  }
  if (o.operands > 1) return usage_error("top", "give one process, or one trace");
  if (looks == 0 && (json || !can_watch())) looks = 1;
  if (o.operands == 0) return find_and_watch(looks, interval_ms, json);
  if (parse_number(argv[1], 1, 1L << 30, &pid))
    return watch(pid, looks, interval_ms, json);
  return sum_up(argv[1], json);
}
