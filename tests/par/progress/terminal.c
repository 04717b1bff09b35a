/* weft_progress on a terminal: a child draws on a pseudo-terminal, the test reads what it
 * writes, and a small terminal of the test's own shows what a user would see.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "par/support.h"
#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* ---- a terminal: what its lines show, from the first that was written ---- */

enum { ROWS = 400, COLUMNS = 120 };

static struct shown {
  char cell[ROWS][COLUMNS + 1];
  unsigned row, column;
  char escape[16]; /* a sequence that has begun */
  unsigned escaped;
  size_t bytes; /* that were written in all */
} shown;

static void clear_terminal(void) {
  memset(&shown, 0, sizeof shown);
  for (unsigned r = 0; r < ROWS; r++) memset(shown.cell[r], ' ', COLUMNS);
}

static void obey_escape(char last) {
  unsigned number = (unsigned)atoi(shown.escape + 1);
  if (last == 'A') {
    CHECK(number <= shown.row); /* never above the first line of its own */
    shown.row -= number < shown.row ? number : shown.row;
  } else if (last == 'K' || last == 'J') {
    memset(&shown.cell[shown.row][shown.column], ' ', COLUMNS - shown.column);
    for (unsigned r = shown.row + 1; last == 'J' && r < ROWS; r++)
      memset(shown.cell[r], ' ', COLUMNS);
  } else {
    CHECK_MSG(false, "an unknown sequence ends in %c", last);
  }
}

static void show_byte(char c) {
  shown.bytes++;
  if (shown.escaped > 0) {
    if (c >= '@' && c != '[') {
      obey_escape(c);
      shown.escaped = 0;
    } else if (shown.escaped < sizeof shown.escape - 1) {
      shown.escape[shown.escaped - 1] = c;
      shown.escape[shown.escaped++] = '\0';
    }
  } else if (c == '\033') {
    memset(shown.escape, 0, sizeof shown.escape);
    shown.escaped = 1;
  } else if (c == '\r') {
    shown.column = 0;
  } else if (c == '\n') {
    REQUIRE(++shown.row < ROWS);
  } else if (((unsigned char)c & 0xC0) != 0x80) { /* one column for a character */
    CHECK(shown.column < COLUMNS - 1);            /* the last column would wrap */
    shown.cell[shown.row][shown.column++] = (char)((unsigned char)c < 0x80 ? c : '~');
  }
}

/* Does one of the lines show the text? */
static bool sees(const char *text) {
  for (unsigned r = 0; r < ROWS; r++)
    if (strstr(shown.cell[r], text) != NULL) return true;
  return false;
}

static bool line_has(unsigned row, const char *text) {
  bool has = strstr(shown.cell[row], text) != NULL;
  if (!has) fprintf(stderr, "line %u: %s\n", row, shown.cell[row]);
  return has;
}

/* ---- a child on that terminal ---- */

/* The child is this program again, with the name of one of the tests below that run only
 * by name: not every tool lets a forked child start threads. */

enum { LINE = 9 }; /* where the child finds its side of the terminal */

static int terminal, go_on; /* the child waits for a byte from `go_on` */
static pid_t child;

/* Returns the child's side. */
static int open_terminal(unsigned short rows) {
  terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
  struct winsize size = {rows, COLUMNS, 0, 0};
  REQUIRE(ioctl(terminal, TIOCSWINSZ, &size) == 0);
  const char *name = ptsname(terminal);
  REQUIRE(name != NULL);
  int line = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(line >= 0);
  clear_terminal();
  return line;
}

static void start_child(const char *test, const char *kind, const char *locale,
                        unsigned short rows) {
  int pipes[2], line = open_terminal(rows);
  setenv("TERM", kind, 1);
  setenv("LC_ALL", locale, 1);
  REQUIRE(pipe2(pipes, O_CLOEXEC) == 0);
  child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    setsid();
    dup2(pipes[0], STDIN_FILENO);
    dup2(line, LINE);
    exec_self(test);
    _exit(127);
  }
  close(line);
  close(pipes[0]);
  go_on = pipes[1];
}

/* In the child: standard error is the terminal, until detach. */
static int usual_stderr;

static void attach(void) {
  usual_stderr = dup(STDERR_FILENO);
  REQUIRE(usual_stderr >= 0 && dup2(LINE, STDERR_FILENO) >= 0);
}

static void detach(void) {
  dup2(usual_stderr, STDERR_FILENO);
  close(usual_stderr);
}

#define CHILD(name)                                                                      \
  static void name(void);                                                                \
  TEST_BY_NAME(child_##name) {                                                           \
    attach();                                                                            \
    name();                                                                              \
    detach();                                                                            \
  }                                                                                      \
  static void name(void)

/* In the child. */
static void await_go(void) {
  char byte;
  ssize_t got;
  do got = read(STDIN_FILENO, &byte, 1);
  while (got < 0 && errno == EINTR);
}

static bool read_more(void) {
  char bytes[4096];
  ssize_t got = read(terminal, bytes, sizeof bytes);
  for (ssize_t i = 0; i < got; i++) show_byte(bytes[i]);
  return got > 0; /* else the child has closed its side */
}

static void await_text(const char *text) {
  while (!sees(text)) REQUIRE(read_more());
}

static void let_go(void) {
  REQUIRE(write(go_on, "g", 1) == 1);
}

/* Reads the rest; the child's exit code. */
static int end_child(void) {
  while (read_more()) {
  }
  close(terminal);
  close(go_on);
  int status;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- one line ---- */

CHILD(one_line) {
  weft_progress *p;
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.unit = "keys";
  opts.interval_ms = 1;
  REQUIRE(weft_progress_begin_with(&opts, &p, "sorting", 1000) == 0);
  await_go();
  weft_progress_add(p, 500);
  await_go();
  weft_progress_set_title(p, "merging");
  weft_progress_add(p, 500);
  weft_progress_end(p);
}

TEST(a_bar_moves_and_its_last_line_stays) {
  start_child("child_one_line", "xterm", "C", 24);
  await_text("[........................]   0 %, 0:0");
  CHECK(line_has(0, "sorting  0 of 1.00 k keys"));
  let_go();
  await_text("[############............]  50 %, ");
  CHECK(line_has(0, "sorting  500 of 1.00 k keys, "));
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "[########################] 100 %, in "));
  CHECK(line_has(0, "merging  1.00 k keys, "));
  CHECK(!sees("sorting"));
  CHECK_EQ(shown.row, 1); /* what follows begins in a line of its own */
  CHECK_EQ(shown.column, 0);
}

TEST(a_terminal_with_utf8_gets_finer_bars) {
  start_child("child_one_line", "xterm", "C.UTF-8", 24);
  await_text("~~~~~~~~~~~~~~~~~~~~~~~~   0 %, ");
  let_go();
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "~~~~~~~~~~~~~~~~~~~~~~~~ 100 %, "));
}

TEST(a_dumb_terminal_gets_nothing) {
  start_child("child_one_line", "dumb", "C", 24);
  let_go();
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK_EQ(shown.bytes, 0);
}

CHILD(quiet_line) {
  weft_progress *p;
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.is_quiet = true;
  weft_progress_begin_with(&opts, &p, "sorting", 1000);
  weft_progress_end(p);
}

TEST(a_quiet_one_draws_nothing) {
  start_child("child_quiet_line", "xterm", "C", 24);
  CHECK_EQ(end_child(), 0);
  CHECK_EQ(shown.bytes, 0);
}

CHILD(stopped_line) {
  weft_progress *p;
  weft_progress_begin(&p, "searching", 1000);
  weft_progress_add(p, 370);
  weft_progress_end(p);
}

TEST(work_that_was_stopped_says_so) {
  start_child("child_stopped_line", "xterm", "C", 24);
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "[########................]  37 %, stopped after "));
  CHECK(line_has(0, "searching  370 of 1.00 k"));
}

/* Drawn when the program says so, and never in between. */
CHILD(drawn_by_hand) {
  weft_progress *p;
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.interval_ms = UINT_MAX;
  weft_progress_draw(); /* nothing yet */
  REQUIRE(weft_progress_begin_with(&opts, &p, "measuring", 4) == 0);
  await_go();
  for (unsigned i = 0; i < 4; i++) {
    weft_progress_add(p, 1);
    weft_progress_draw();
  }
  await_go();
  weft_progress_end(p);
}

TEST(a_program_may_draw_by_itself) {
  start_child("child_drawn_by_hand", "xterm", "C", 24);
  await_text("0 of 4");
  let_go();
  await_text("100 %, 0:00 left  measuring");
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "100 %, in "));
}

/* ---- several lines ---- */

enum { MANY = 3 };

CHILD(several_lines) {
  static const char *const TITLES[MANY] = {"first", "second", "third"};
  weft_progress *all[MANY];
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.interval_ms = 1;
  for (unsigned i = 0; i < MANY; i++) {
    opts.vanishes = i == 2;
    weft_progress_begin_with(&opts, &all[i], TITLES[i], 10);
  }
  await_go();
  weft_progress_print("a note");
  await_go();
  for (unsigned i = 0; i < MANY; i++) weft_progress_add(all[i], 10);
  weft_progress_end(all[1]);
  await_go();
  weft_progress_end(all[0]);
  await_go();
  weft_progress_end(all[2]);
}

TEST(several_have_a_line_each) {
  start_child("child_several_lines", "xterm", "C", 24);
  await_text("third");
  CHECK(line_has(0, "first") && line_has(1, "second") && line_has(2, "third"));
  let_go();
  await_text("a note");
  while (!line_has(3, "third")) REQUIRE(read_more());
  CHECK(line_has(0, "a note") && line_has(1, "first") && line_has(2, "second"));
  let_go();
  await_text("100 %, in "); /* the second one has ended: it goes up, the others follow */
  /* The third was there before: the lines are complete when the first has moved. */
  while (!line_has(2, "first") || !line_has(3, "third")) REQUIRE(read_more());
  CHECK(line_has(1, "second"));
  let_go();
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "a note") && line_has(1, "second") && line_has(2, "first"));
  CHECK(!sees("third")); /* it has vanished */
  CHECK_EQ(shown.row, 3);
}

TEST(a_low_terminal_shows_what_fits) {
  start_child("child_several_lines", "xterm", "C", 2);
  await_text("first");
  for (unsigned i = 0; i < 4; i++) let_go();
  CHECK_EQ(end_child(), 0);
  CHECK(!sees("third"));
}

/* ---- many threads begin, add, print and end ---- */

static void churn(unsigned index, void *arg) {
  (void)arg;
  weft_progress_opts opts = WEFT_PROGRESS_OPTS_INIT;
  opts.interval_ms = 1;
  opts.vanishes = true;
  for (unsigned i = 0; i < 40 / harness_slowdown() + 2; i++) {
    weft_progress *p;
    REQUIRE(weft_progress_begin_with(&opts, &p, "churning", 100) == 0);
    weft_progress_add(p, 50);
    if (index == 0 && i % 8 == 0) weft_progress_print("still there");
    weft_progress_set_title(p, "churned");
    weft_progress_end(p);
  }
}

CHILD(churn_on_threads) {
  unsigned before = harness_thread_count();
  harness_run_threads(4, churn, NULL);
  CHECK_EQ(harness_thread_count(), before); /* the drawing thread has ended */
}

TEST(threads_come_and_go) {
  start_child("child_churn_on_threads", "xterm", "C", 24);
  CHECK_EQ(end_child(), 0);
  CHECK(!sees("churn"));
  CHECK(sees("still there"));
}

static void add_block(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}

CHILD(loop_on_terminal) {
  weft_progress_for("looping", 100000, add_block, NULL);
}

TEST(a_loop_shows_itself) {
  start_child("child_loop_on_terminal", "xterm", "C", 24);
  CHECK_EQ(end_child(), 0);
  CHECK(line_has(0, "] 100 %, in "));
  CHECK(line_has(0, "looping  100 k, "));
}

/* ---- fork: the lines are the parent's ---- */

CHILD(fork_below_a_line) {
  weft_progress *p, *own;
  weft_progress_begin(&p, "parent", 100);
  weft_progress_add(p, 100);
  pid_t grandchild = fork();
  if (grandchild == 0) {
    weft_progress_end(p); /* frees, draws nothing */
    if (weft_progress_begin(&own, "child", 5) != 0) _exit(2);
    weft_progress_add(own, 5);
    weft_progress_end(own);
    _exit(0);
  }
  int status;
  REQUIRE(waitpid(grandchild, &status, 0) == grandchild);
  CHECK_EQ(status, 0);
  weft_progress_end(p);
}

TEST(a_child_of_fork_has_lines_of_its_own) {
  if (!FORKS_FREELY) return;
  start_child("child_fork_below_a_line", "xterm", "C", 24);
  CHECK_EQ(end_child(), 0);
  CHECK(sees("parent"));
}

/* ---- in the background nothing is drawn ---- */

CHILD(in_background) {
  /* Takes the terminal, and gives its foreground to a process that only waits. */
  ioctl(STDERR_FILENO, TIOCSCTTY, 0);
  pid_t other = fork();
  if (other == 0) {
    setpgid(0, 0);
    pause();
    _exit(0);
  }
  setpgid(other, other);
  REQUIRE(tcsetpgrp(STDERR_FILENO, other) == 0);
  one_line();
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
}

TEST(in_the_background_nothing_is_drawn) {
  start_child("child_in_background", "xterm", "C", 24);
  let_go();
  let_go();
  CHECK_EQ(end_child(), 0);
  CHECK_EQ(shown.bytes, 0);
}
