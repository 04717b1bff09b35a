/* sched/report.c - the pools of the process, and what is said about them.
 *
 * All pools are in a list under a lock. Who reads it: the thread that writes a trace, the
 * one that writes live statistics, and the end of the process. Nothing here waits for a
 * pool, and numbers are read while the pools work.
 *
 * SPDX-License-Identifier: MIT */
#include "report.h"

#include "../trace/trace.h"
#include "stats.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static wf_lock list_lock;
static weft_pool *first_pool;    /* the rest under the lock */
static unsigned last_number;     /* of a pool */
static unsigned tables_of_ended; /* that were printed */
static wf_u32 x_prints_table;    /* WEFT_STATS=1; set once */

/* Tables of pools that end before the process does are printed up to this number; a
 * choice. */
enum { MOST_TABLES = 8 };

/* ---- the list ---- */

void wf_report_add(weft_pool *pool) {
  wf_lock_lock(&list_lock);
  pool->number = ++last_number;
  pool->next_known = first_pool;
  first_pool = pool;
  wf_lock_unlock(&list_lock);
}

static void print_table(const weft_pool *pool);

void wf_report_remove(weft_pool *pool) {
  wf_lock_lock(&list_lock);
  weft_pool **link = &first_pool;
  while (*link != NULL && *link != pool) link = &(*link)->next_known;
  if (*link != NULL) *link = pool->next_known;
  /* Relaxed: set before the first pool was made. */
  if (wf_u32_load_relaxed(&x_prints_table) != 0 && !wf_fork_is_stale(pool) &&
      tables_of_ended++ < MOST_TABLES)
    print_table(pool);
  wf_lock_unlock(&list_lock);
}

/* ---- what a pool looks like from outside ---- */

static bool is_started_place(const weft_pool *pool, unsigned index) {
  return index >= 1 && index <= wf_pool_started(pool);
}

static bool is_stand_in_place(const weft_pool *pool, unsigned index) {
  return index >= pool->stand_in_first;
}

/* Does the worker have anything to tell? */
static bool is_worth_a_line(const weft_pool *pool, unsigned index,
                            const weft_stats *stats) {
  return is_started_place(pool, index) || stats->tasks + stats->exposes > 0 ||
         stats->working_ns + stats->searching_ns + stats->asleep_ns > 0;
}

static uint64_t queued_in(const wf_injector *injector) {
  /* Relaxed: numbers for people; the second is at least as new as the first. */
  uint64_t taken = wf_u64_load_relaxed(&injector->x_taken);
  uint64_t pushed = wf_u64_load_relaxed(&injector->x_pushed);
  return pushed > taken ? pushed - taken : 0;
}

/* Tasks of a deque that thieves can take. */
static uint64_t public_in(const wf_deque *deque) {
  /* Relaxed, both: as above. */
  int64_t count = (int64_t)(wf_u64_load_relaxed(&deque->x_split) -
                            wf_u64_load_relaxed(&deque->x_top));
  return count > 0 ? (uint64_t)count : 0;
}

/* ---- samples for the trace ---- */

static void sample_workers(const weft_pool *pool) {
  uint64_t now_ns = wf_sys_now_ns();
  for (unsigned i = 0; i < pool->slots; i++) {
    weft_stats stats;
    wf_stats_of_worker(&pool->workers[i], now_ns, &stats);
    if (is_worth_a_line(pool, i, &stats)) wf_trace_sample_worker(pool->number, i, &stats);
  }
}

static void sample_pool(const weft_pool *pool) {
  unsigned sleeping = wf_sleep_sleeping(pool);
  unsigned searching = wf_sleep_searching_beside(pool, sleeping);
  unsigned started = wf_pool_started(pool);
  unsigned idle = sleeping + searching;
  wf_trace_sample_pool(pool->number, started > idle ? started - idle : 0, searching,
                       sleeping,
                       queued_in(&pool->injector) + queued_in(&pool->background));
}

void wf_report_sample(bool with_stats) {
  /* When the process dies, the lock may be in the hands of the thread that dies. */
  if (!wf_lock_try(&list_lock)) return;
  for (const weft_pool *pool = first_pool; pool != NULL; pool = pool->next_known) {
    if (wf_fork_is_stale(pool)) continue;
    sample_pool(pool);
    if (with_stats) sample_workers(pool);
  }
  wf_lock_unlock(&list_lock);
}

/* ---- the table ---- */

static void worker_name(char *out, size_t size, const weft_pool *pool, unsigned index) {
  if (is_stand_in_place(pool, index))
    (void)snprintf(out, size, "stand-in %u", index);
  else if (index >= 1 && index <= pool->thread_places)
    (void)snprintf(out, size, "%s-%u", pool->options.name, index);
  else
    (void)snprintf(out, size, "caller %u", index);
}

static double seconds(uint64_t ns) {
  return (double)ns / 1e9;
}

static void print_row(const char *name, const weft_stats *s) {
  char row[400];
  (void)snprintf(
      row, sizeof row,
      "  %-15s %9llu %9llu %9llu %8llu %8llu %8llu %8llu %8llu %8llu %6llu %7llu %4llu "
      "%9.3f %9.3f %9.3f",
      name, (unsigned long long)s->tasks, (unsigned long long)s->steals,
      (unsigned long long)s->failed_steals, (unsigned long long)s->exposes,
      (unsigned long long)s->takeovers, (unsigned long long)s->injected,
      (unsigned long long)s->sleeps, (unsigned long long)s->wakes,
      (unsigned long long)s->futile, (unsigned long long)s->misplaced,
      (unsigned long long)s->steered, (unsigned long long)s->deepest,
      seconds(s->working_ns), seconds(s->searching_ns), seconds(s->asleep_ns));
  wf_sys_print_line(row);
}

static void print_table(const weft_pool *pool) {
  char text[200];
  uint64_t now_ns = wf_sys_now_ns();
  (void)snprintf(text, sizeof text, "weft: pool %u \"%s\": %u threads, %u CPUs",
                 pool->number, pool->options.name, pool->options.threads,
                 pool->options.cpus);
  wf_sys_print_line(text);
  wf_sys_print_line("  worker              tasks    steals    failed  exposes takeover "
                    "injected   sleeps    wakes   futile misplc steered deep "
                    "working/s search/s  asleep/s");
  weft_stats stats;
  for (unsigned i = 0; i < pool->slots; i++) {
    char name[32];
    wf_stats_of_worker(&pool->workers[i], now_ns, &stats);
    if (!is_started_place(pool, i) && !is_worth_a_line(pool, i, &stats)) continue;
    worker_name(name, sizeof name, pool, i);
    print_row(name, &stats);
  }
  wf_stats_of_pool(pool, &stats);
  print_row("total", &stats);
}

static void print_tables_at_exit(void) {
  wf_lock_lock(&list_lock);
  for (const weft_pool *pool = first_pool; pool != NULL; pool = pool->next_known)
    if (!wf_fork_is_stale(pool)) print_table(pool);
  if (tables_of_ended > MOST_TABLES) {
    char text[100];
    (void)snprintf(text, sizeof text, "weft: %u more pools have ended before",
                   tables_of_ended - MOST_TABLES);
    wf_sys_print_line(text);
  }
  wf_lock_unlock(&list_lock);
}

/* ---- live statistics ---- */

/* How often the file is written; a choice: what a person can follow. */
enum { LIVE_NS = 100000000 };

static struct live {
  char path[256]; /* "" if there is none */
  char *text;     /* of the file, grown as needed */
  size_t size, length;
  uint64_t start_ns;
} live;
static wf_u32 x_live_end; /* 1: the file is not to be written any more */
static wf_thread live_thread;

static void live_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void live_put(const char *format, ...) {
  va_list args;
  if (live.size - live.length < 1024) {
    char *larger = (char *)realloc(live.text, live.size * 2 + 4096);
    if (larger == NULL) return;
    live.text = larger;
    live.size = live.size * 2 + 4096;
  }
  va_start(args, format);
  int added = vsnprintf(live.text + live.length, live.size - live.length, format, args);
  va_end(args);
  if (added > 0) live.length += (size_t)added;
}

static const char *state_of(const wf_worker *worker) {
  static const char *const states[] = {[WF_STATE_WORKING] = "working",
                                       [WF_STATE_SEARCHING] = "searching",
                                       [WF_STATE_BLOCKED] = "blocked"};
  /* Relaxed, both: for people. A timer that runs is negative. */
  if ((int64_t)wf_u64_load_relaxed(&worker->x_asleep) < 0) return "asleep";
  uint32_t state = wf_u32_load_relaxed(&worker->x_state);
  return states[state <= WF_STATE_BLOCKED ? state : WF_STATE_WORKING];
}

static void live_worker(const weft_pool *pool, unsigned i, const weft_stats *s,
                        bool first) {
  const wf_worker *worker = &pool->workers[i];
  bool is_started = i >= 1 && i <= pool->thread_places;
  live_put("%s\n{\"worker\":%u,\"role\":\"%s\",\"state\":\"%s\",\"queue\":%llu",
           first ? "" : ",", i,
           is_stand_in_place(pool, i) ? "stand-in"
           : is_started               ? "started"
                                      : "caller",
           wf_bitset_has(pool->x_present, i) ? state_of(worker) : "away",
           (unsigned long long)(public_in(&worker->deque) + public_in(&worker->spawned)));
  live_put(",\"tasks\":%llu,\"steals\":%llu,\"failed_steals\":%llu,\"exposes\":%llu,"
           "\"takeovers\":%llu,\"injected\":%llu,\"sleeps\":%llu,\"wakes\":%llu,"
           "\"futile\":%llu,\"misplaced\":%llu,\"steered\":%llu,\"deepest\":%llu,"
           "\"working_ns\":%llu,\"searching_ns\":%llu,\"asleep_ns\":%llu}",
           (unsigned long long)s->tasks, (unsigned long long)s->steals,
           (unsigned long long)s->failed_steals, (unsigned long long)s->exposes,
           (unsigned long long)s->takeovers, (unsigned long long)s->injected,
           (unsigned long long)s->sleeps, (unsigned long long)s->wakes,
           (unsigned long long)s->futile, (unsigned long long)s->misplaced,
           (unsigned long long)s->steered, (unsigned long long)s->deepest,
           (unsigned long long)s->working_ns, (unsigned long long)s->searching_ns,
           (unsigned long long)s->asleep_ns);
}

/* The name of a program or a pool, as JSON. */
static void live_string(const char *text) {
  live_put("\"");
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      live_put("\\%c", c);
    else if (c < 0x20 || c >= 0x7F)
      live_put("?");
    else
      live_put("%c", c);
  }
  live_put("\"");
}

static void live_pool(const weft_pool *pool, bool first) {
  uint64_t now_ns = wf_sys_now_ns();
  bool first_worker = true;
  live_put("%s\n{\"pool\":%u,\"name\":", first ? "" : ",", pool->number);
  live_string(pool->options.name);
  live_put(",\"threads\":%u,\"cpus\":%u,\"queued\":%llu,\"background\":%llu,"
           "\"workers\":[",
           pool->options.threads, pool->options.cpus,
           (unsigned long long)queued_in(&pool->injector),
           (unsigned long long)queued_in(&pool->background));
  for (unsigned i = 0; i < pool->slots; i++) {
    weft_stats stats;
    wf_stats_of_worker(&pool->workers[i], now_ns, &stats);
    if (!is_worth_a_line(pool, i, &stats)) continue;
    live_worker(pool, i, &stats, first_worker);
    first_worker = false;
  }
  live_put("]}");
}

static void write_live(void) {
  bool first = true;
  live.length = 0;
  live_put("{\"weft\":\"%s\",\"pid\":%lu,\"program\":", weft_version(),
           (unsigned long)wf_sys_process_id());
  live_string(wf_sys_program_name());
  live_put(",\"uptime_ns\":%llu,\"pools\":[",
           (unsigned long long)(wf_sys_now_ns() - live.start_ns));
  wf_lock_lock(&list_lock);
  for (const weft_pool *pool = first_pool; pool != NULL; pool = pool->next_known) {
    if (wf_fork_is_stale(pool)) continue;
    live_pool(pool, first);
    first = false;
  }
  wf_lock_unlock(&list_lock);
  live_put("\n]}\n");
  if (live.text != NULL) (void)wf_sys_file_replace(live.path, live.text, live.length);
}

static void write_live_until_the_end(void *unused) {
  (void)unused;
  /* Acquire: pairs with the release in end_live. */
  while (wf_u32_load_acquire(&x_live_end) == 0) {
    write_live();
    (void)wf_sys_wait_for(&x_live_end, 0, LIVE_NS);
  }
}

static void end_live(void) {
  if (live.path[0] == '\0') return;
  wf_u32_store_release(&x_live_end, 1); /* pairs with the acquire in the thread */
  wf_sys_wake_all(&x_live_end);
  wf_sys_thread_join(live_thread);
  wf_sys_file_remove(live.path);
  free(live.text);
  live.text = NULL;
  live.path[0] = '\0';
}

static void start_live(void) {
  char name[64];
  (void)snprintf(name, sizeof name, "weft-%lu.json", (unsigned long)wf_sys_process_id());
  live.start_ns = wf_sys_now_ns();
  if (wf_sys_private_path(live.path, sizeof live.path, name) &&
      wf_sys_thread_start(&live_thread, "weft-live", 0, write_live_until_the_end, NULL) ==
          0) {
    (void)atexit(end_live);
    return;
  }
  live.path[0] = '\0';
  wf_sys_print_line("weft: WEFT_STATS=live: no place for the file of the statistics");
}

/* ---- the environment ---- */

void wf_report_prepare(wf_stats_wish wish) {
  if (wish == WF_STATS_NONE) return;
  wf_trace_time_callers(true);
  if (wish == WF_STATS_LIVE) {
    start_live();
    return;
  }
  wf_u32_store_relaxed(&x_prints_table, 1); /* relaxed: before the first pool */
  (void)atexit(print_tables_at_exit);
}

void wf_report_after_fork(void) {
  list_lock = (wf_lock){{WF_LOCK_FREE}};
  live.path[0] = '\0'; /* the file is the parent's, and so is the thread */
}
