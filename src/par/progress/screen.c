/* par/progress/screen.c - the lines of progress at the lower end of the terminal.
 *
 * There is one screen, standard error. Each progress that is shown has an entry in a
 * list; a thread draws all of them now and then, for as long as the list has entries. The
 * lock of the screen protects the list and what is drawn; it is held while the terminal
 * is written to, so only calls that draw take it, never weft_progress_add.
 *
 * After drawing, the cursor is at the end of the last line. The next drawing goes up to
 * the first one and writes over them. The cursor is never hidden, so a program that
 * crashes leaves a usable terminal.
 *
 * SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_INTERVAL_MS = 100 };

static struct screen {
  wf_lock lock;
  wf_screen_entry *first; /* in the order in which they were added */
  unsigned lines;         /* that are drawn now */
  bool has_thread;
  wf_thread thread;
  size_t used; /* of `pending` */
  char pending[4096];
} screen;

/* The thread that was started as number n goes on while this is n. */
static wf_u32 x_round;

/* The process that the screen belongs to, or BEING_RESET. */
static wf_u32 x_process;
#define BEING_RESET UINT32_MAX

/* A child of fork has neither the thread nor the lines, and perhaps a lock that a thread
 * of its parent held. The first call in it starts afresh. */
static void own_screen(void) {
  uint32_t process = wf_sys_process_id();
  /* Acquire: pairs with the release below. */
  uint32_t owner = wf_u32_load_acquire(&x_process);
  while (owner != process) {
    /* The CAS pairs with the release of another process. explorer: relaxed suffices; a
     * forked process has one thread, which sees all of its own past. */
    if (owner == BEING_RESET) {
      wf_sys_thread_yield();
    } else if (wf_u32_cas_acquire(&x_process, &owner, BEING_RESET)) {
      memset(&screen, 0, sizeof screen);
      /* Release: pairs with the acquires above. */
      wf_u32_store_release(&x_process, process);
      return;
    }
    /* Acquire: pairs with the release above. Also after the CAS: one that fails orders
     * nothing. */
    owner = wf_u32_load_acquire(&x_process);
  }
}

/* ---- drawing, all under the lock ---- */

static void flush_pending(void) {
  if (screen.used > 0) wf_sys_terminal_write(screen.pending, screen.used);
  screen.used = 0;
}

static void put_text(const char *text, size_t length) {
  while (length > 0) {
    size_t room = sizeof screen.pending - screen.used;
    size_t part = length < room ? length : room;
    memcpy(screen.pending + screen.used, text, part);
    screen.used += part;
    text += part;
    length -= part;
    if (screen.used == sizeof screen.pending) flush_pending();
  }
}

static void put(const char *text) {
  put_text(text, strlen(text));
}

/* To the beginning of the first line that is drawn. */
static void go_up(void) {
  char move[32];
  if (screen.lines > 1) {
    (void)snprintf(move, sizeof move, "\033[%uA", screen.lines - 1);
    put(move);
  }
  put("\r");
  screen.lines = 0;
}

/* The rest of the line, which an earlier drawing may have left, is cleared. */
static void put_line_of(wf_screen_entry *entry, const wf_terminal *terminal,
                        bool is_ended) {
  wf_progress_view view;
  char line[WF_LINE_SIZE];
  entry->look(entry, &view);
  view.is_ended = is_ended;
  view.is_utf8 = terminal->is_utf8;
  view.columns = terminal->columns;
  put_text(line, wf_progress_line(line, &view));
  put("\033[K");
}

/* Draws the entries from the beginning of a line on; those that would not fit onto the
 * terminal are left out. */
static void put_entries(const wf_terminal *terminal) {
  for (wf_screen_entry *e = screen.first; e != NULL; e = e->next) {
    if (screen.lines + 1 >= terminal->rows && screen.lines > 0) break;
    if (screen.lines > 0) put("\n\r");
    put_line_of(e, terminal, false);
    screen.lines++;
  }
  put("\033[J"); /* what there was further down */
  flush_pending();
}

static void draw(void) {
  wf_terminal terminal;
  if (screen.first == NULL || !wf_sys_terminal_look(&terminal)) return;
  go_up();
  put_entries(&terminal);
}

/* ---- the thread ---- */

static uint64_t shortest_interval_ns(void) {
  uint64_t shortest_ms = UINT32_MAX;
  for (const wf_screen_entry *e = screen.first; e != NULL; e = e->next) {
    uint64_t interval_ms = e->interval_ms == 0 ? DEFAULT_INTERVAL_MS : e->interval_ms;
    if (interval_ms < shortest_ms) shortest_ms = interval_ms;
  }
  return shortest_ms * 1000000;
}

static void draw_until_stopped(void *number) {
  uint32_t round = (uint32_t)(uintptr_t)number;
  /* Relaxed: the join of this thread orders all else. */
  while (wf_u32_load_relaxed(&x_round) == round) {
    wf_lock_lock(&screen.lock);
    draw();
    uint64_t interval_ns = shortest_interval_ns();
    wf_lock_unlock(&screen.lock);
    (void)wf_sys_wait_for(&x_round, round, interval_ns);
  }
}

/* [locked] Without a thread the lines are drawn when something else draws. */
static void start_thread(void) {
  /* Relaxed: the start of the thread publishes it. explorer: a store would do, under the
   * lock. */
  uint32_t round = wf_u32_fetch_add_relaxed(&x_round, 1) + 1;
  screen.has_thread =
      wf_sys_thread_start(&screen.thread, "weft-progress", 0, draw_until_stopped,
                          (void *)(uintptr_t)round) == 0;
  if (!screen.has_thread) draw();
}

/* ---- entries ---- */

void wf_screen_add(wf_screen_entry *entry) {
  wf_terminal terminal;
  entry->is_listed = false;
  if (!wf_sys_terminal_look(&terminal)) return;
  own_screen();
  wf_lock_lock(&screen.lock);
  wf_screen_entry **end = &screen.first;
  while (*end != NULL) end = &(*end)->next;
  entry->next = NULL;
  entry->is_listed = true;
  *end = entry;
  bool is_first = !screen.has_thread;
  if (is_first) start_thread();
  wf_lock_unlock(&screen.lock);
  if (is_first) wf_sys_threads_await();
}

static bool take_out(const wf_screen_entry *entry) {
  for (wf_screen_entry **at = &screen.first; *at != NULL; at = &(*at)->next)
    if (*at == entry) {
      *at = entry->next;
      return true;
    }
  return false;
}

/* [locked] The line of an entry that is no longer listed, and the others below it. */
static void draw_last_time(wf_screen_entry *entry, bool stays) {
  wf_terminal terminal;
  if (!wf_sys_terminal_look(&terminal)) return;
  go_up();
  if (stays) {
    put_line_of(entry, &terminal, true);
    put("\n\r");
  }
  put_entries(&terminal);
}

void wf_screen_remove(wf_screen_entry *entry, bool stays) {
  if (!entry->is_listed) return;
  own_screen();
  bool ends = false;
  wf_thread thread = {0};
  wf_lock_lock(&screen.lock);
  if (take_out(entry)) { /* else this is a child, whose list was empty */
    draw_last_time(entry, stays);
    ends = screen.first == NULL && screen.has_thread;
    if (ends) {
      thread = screen.thread;
      screen.has_thread = false;
      /* relaxed: see draw_until_stopped; explorer: a store would do, under the lock */
      wf_u32_fetch_add_relaxed(&x_round, 1);
    }
  }
  wf_lock_unlock(&screen.lock);
  if (!ends) return;
  wf_sys_wake_all(&x_round);
  wf_sys_thread_join(thread);
}

void wf_screen_draw(void) {
  own_screen();
  wf_lock_lock(&screen.lock);
  draw();
  wf_lock_unlock(&screen.lock);
}

void wf_screen_print(const char *line) {
  wf_terminal terminal;
  own_screen();
  wf_lock_lock(&screen.lock);
  if (screen.first != NULL && wf_sys_terminal_look(&terminal)) {
    go_up();
    put("\033[J");
    put(line);
    put("\n\r");
    put_entries(&terminal);
  } else {
    wf_sys_print_line(line);
  }
  wf_lock_unlock(&screen.lock);
}
