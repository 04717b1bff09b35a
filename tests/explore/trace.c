/* Traces under the explorer: the ring of records, the removal of an observer, names that
 * are kept, and a session from its start to its end, also by a signal.
 *
 * SPDX-License-Identifier: MIT */
#include <explore/engine/explore.h>

#include <stdlib.h>
#include <string.h>
#include <trace/record.h>
#include <trace/trace.h>

/* ---- the ring ---- */

enum { CAPACITY = 4, KIND_BEGIN = 1, KIND_END = 2, KIND_MOMENT = 3 };

static wf_rec_ring ring;
static wf_record *records; /* on the heap: its plain accesses are checked */
static unsigned put, got, depth;
static uint64_t last; /* the number of the newest record that was read */

static void ring_setup(void) {
  memset(&ring, 0, sizeof ring);
  records = (wf_record *)calloc(CAPACITY, sizeof *records);
  XP_CHECK(records != NULL);
  wf_rec_ring_init(&ring, records, CAPACITY);
  put = got = depth = 0;
  last = 0;
}

static void write_record(wf_record *record, unsigned kind, uint64_t number) {
  if (record == NULL) return;
  *record = (wf_record){kind, number, ~number, 0};
  put++;
  wf_rec_ring_publish(&ring);
}

/* Nested twice, so that beginnings find the ring full, and their ends must be left out
 * with them. */
static void ring_writer(void) {
  uint64_t number = 0;
  for (int i = 0; i < 2; i++) {
    write_record(wf_rec_ring_begin(&ring, 1), KIND_BEGIN, ++number);
    write_record(wf_rec_ring_moment(&ring, 1), KIND_MOMENT, ++number);
    write_record(wf_rec_ring_begin(&ring, 1), KIND_BEGIN, ++number);
    write_record(wf_rec_ring_end(&ring, 1), KIND_END, ++number);
    write_record(wf_rec_ring_end(&ring, 1), KIND_END, ++number);
  }
}

static void read_ring(void) {
  uint64_t tail, head = wf_rec_ring_read(&ring, &tail);
  XP_CHECK(head - tail <= CAPACITY);
  for (; tail != head; tail++) {
    const wf_record *record = wf_rec_ring_at(&ring, tail);
    XP_CHECK(record->b == ~record->a && record->a > last);
    last = record->a;
    if (record->stamp == KIND_BEGIN) depth++;
    if (record->stamp == KIND_END) XP_CHECK(depth-- > 0);
    got++;
  }
  wf_rec_ring_give_back(&ring, head);
}

static void ring_reader(void) {
  read_ring();
  XP_CHECK(wf_rec_ring_dropped(&ring) <= 10);
  read_ring();
}

static void ring_check(void) {
  read_ring();
  XP_CHECK(got == put && depth == 0);
  XP_CHECK(put + wf_rec_ring_dropped(&ring) == 10);
  free(records);
}

SCENARIO(ring, .setup = ring_setup, .threads = {ring_writer, ring_reader},
         .check = ring_check, .bound = 3, .quick_bound = 2)

/* The ring is full when the writer wants the next place: it looks whether the reader has
 * given some back, and may write there only what was read before. */
static void fill_and_go_on(void) {
  for (uint64_t number = 1; number <= 6; number++)
    write_record(wf_rec_ring_moment(&ring, 1), KIND_MOMENT, number);
}

static void full_ring_check(void) {
  read_ring();
  XP_CHECK(got == put && put + wf_rec_ring_dropped(&ring) == 6);
  free(records);
}

SCENARIO(ring_full, .setup = ring_setup, .threads = {fill_and_go_on, ring_reader},
         .check = full_ring_check, .bound = 3, .quick_bound = 2)

/* The session changes while something is open: its end is left out. */
static void session_writer(void) {
  write_record(wf_rec_ring_begin(&ring, 1), KIND_BEGIN, 1);
  write_record(wf_rec_ring_begin(&ring, 2), KIND_BEGIN, 2);
  write_record(wf_rec_ring_end(&ring, 2), KIND_END, 3);
  write_record(wf_rec_ring_end(&ring, 2), KIND_END, 4);
}

static void session_check(void) {
  read_ring();
  XP_CHECK(got == put && put == 3 && depth == 1); /* the one of the old session */
  free(records);
}

SCENARIO(ring_sessions, .setup = ring_setup, .threads = {session_writer, ring_reader},
         .check = session_check)

/* ---- the observer ---- */

static wf_track *track;
static unsigned *alive; /* what the callback uses; freed when it is removed */

static void on_moment(const weft_event *event, void *ctx) {
  XP_CHECK(event->kind == WEFT_EVENT_EXPOSE && event->last == 7);
  XP_CHECK(*(unsigned *)ctx == 1);
}

static void observer_setup(void) {
  static const wf_pool_facts facts = {.number = 1, .idle = "", .steer = ""};
  wf_trace_after_fork();                 /* tracks of an execution that was given up */
  XP_CHECK(wf_trace_observe(NULL) == 0); /* and its observer */
  track = wf_track_create(&facts, 1, WF_ROLE_STARTED);
  alive = (unsigned *)calloc(1, sizeof *alive);
  XP_CHECK(track != NULL && alive != NULL);
  *alive = 1;
  weft_observer observer = WEFT_OBSERVER_INIT;
  observer.ctx = alive;
  observer.moment = on_moment;
  XP_CHECK(wf_trace_observe(&observer) == 0);
  XP_CHECK(wf_trace_observe(&observer) == WEFT_EBUSY);
}

static void observed(void) {
  wf_trace_moment(track, WEFT_EVENT_EXPOSE, -1, 0, 7, NULL);
}

static void remover(void) {
  XP_CHECK(wf_trace_observe(NULL) == 0);
  *alive = 0;
  free(alive);
}

static void observer_check(void) {
  wf_track_close(track);
}

SCENARIO(observer, .setup = observer_setup, .threads = {observed, remover},
         .check = observer_check, .bound = 3, .quick_bound = 2)

/* The observer is set while a worker records: if it is called, it sees what was written
 * before it was set. */
static void no_observer_yet(void) {
  static const wf_pool_facts facts = {.number = 1, .idle = "", .steer = ""};
  wf_trace_after_fork();
  XP_CHECK(wf_trace_observe(NULL) == 0);
  track = wf_track_create(&facts, 1, WF_ROLE_STARTED);
  XP_CHECK(track != NULL);
}

static void set_observer(void) {
  weft_observer observer = WEFT_OBSERVER_INIT;
  alive = (unsigned *)calloc(1, sizeof *alive);
  XP_CHECK(alive != NULL);
  *alive = 1;
  observer.ctx = alive;
  observer.moment = on_moment;
  XP_CHECK(wf_trace_observe(&observer) == 0);
}

static void observer_is_set(void) {
  XP_CHECK(wf_trace_observe(NULL) == 0);
  free(alive);
  wf_track_close(track);
}

SCENARIO(observer_set_meanwhile, .setup = no_observer_yet,
         .threads = {set_observer, observed}, .check = observer_is_set, .bound = 3,
         .quick_bound = 2)

/* ---- names that are kept ---- */

static const char *kept[2];

static void keep_name(void) {
  const char *name = wf_trace_keep("node");
  XP_CHECK(name != NULL);
  XP_CHECK(name[4] == '\0' && strcmp(name, "node") == 0); /* the copy is written */
  kept[xp_self() - 1] = name;
}
static void names_are_shared(void) {
  XP_CHECK(kept[0] == kept[1]);
}
/* The copy stays until the process ends. */
SCENARIO(name_kept_by_two, .threads = {keep_name, keep_name}, .check = names_are_shared,
         .may_leak = true, .bound = XP_UNBOUNDED)

/* ---- a session ---- */

static unsigned samples; /* the sampler's calls */

static void sample(bool with_stats) {
  (void)with_stats;
  samples++;
}
static void session_begins(void) {
  static const wf_pool_facts facts = {.number = 1, .idle = "", .steer = ""};
  wf_trace_after_fork();                 /* tracks of an execution that was given up, */
  XP_CHECK(wf_trace_observe(NULL) == 0); /* and the observer of another scenario */
  sim_has_file = true;
  sim_on_write = NULL;
  samples = 0;
  track = wf_track_create(&facts, 1, WF_ROLE_STARTED);
  XP_CHECK(track != NULL);
}
/* The reason is on the heap, so that the reader's look at it is checked. */
static void start_and_stop(void) {
  int error;
  XP_CHECK(wf_trace_start("trace.json", UINT64_MAX, sample, &error) == 0);
  XP_CHECK(wf_trace_start("again.json", UINT64_MAX, sample, &error) == WEFT_EBUSY);
  char *reason = (char *)malloc(2);
  XP_CHECK(reason != NULL);
  reason[0] = 's';
  reason[1] = '\0';
  wf_trace_stop(reason);
  free(reason);
}
/* The last look is taken after the end was asked for. */
static void session_has_ended(void) {
  XP_CHECK(samples >= 1 && !wf_trace_is_on());
  sim_has_file = false;
}

/* A worker that records, and another thread outside of pools. */
static void record_some(void) {
  wf_trace_begin(track, WEFT_EVENT_IDLE, NULL);
  wf_trace_end(track, WEFT_EVENT_IDLE);
}
static void record_and_leave(void) {
  record_some();
  wf_track_close(track);
}
static void record_outside(void) {
  wf_trace_moment(NULL, WEFT_EVENT_FRAME, -1, 0, 1, "frame");
}
static void close_and_check(void) {
  wf_track_close(track);
  XP_CHECK(wf_track_first() == NULL);
  session_has_ended();
}
static void all_reaped(void) {
  XP_CHECK(wf_track_first() == NULL); /* and the track is freed: else it is a leak */
  session_has_ended();
}
SCENARIO(session_of_a_worker, .setup = session_begins,
         .threads = {start_and_stop, record_some}, .check = close_and_check,
         .quick_bound = 1)
SCENARIO(session_and_a_worker_that_ends, .setup = session_begins,
         .threads = {start_and_stop, record_and_leave}, .check = all_reaped,
         .modes = XP_SC | XP_TSO, .quick_bound = 1)
/* In this mode each record of a track that is freed is a plain access to be checked. */
SCENARIO(session_and_a_worker_that_ends_ra, .setup = session_begins,
         .threads = {start_and_stop, record_and_leave}, .check = all_reaped,
         .modes = XP_RA, .bound = 1, .quick_bound = -2)

/* A worker that comes while the reader goes through the tracks. */
static wf_track *late;

static void come_late(void) {
  static const wf_pool_facts facts = {.number = 1, .idle = "", .steer = ""};
  late = wf_track_create(&facts, 2, WF_ROLE_CALLER);
  XP_CHECK(late != NULL);
  wf_trace_moment(late, WEFT_EVENT_EXPOSE, -1, 0, 7, NULL);
}
static void close_both(void) {
  wf_track_close(late);
  close_and_check();
}
SCENARIO(session_and_a_worker_that_comes, .setup = session_begins,
         .threads = {start_and_stop, come_late}, .check = close_both, .quick_bound = 1)

static void check_outside(void) {
  wf_track_close(track);
  XP_CHECK(wf_track_first() == NULL || wf_track_first()->next == NULL);
  session_has_ended();
}
SCENARIO(session_and_a_thread_outside, .setup = session_begins,
         .threads = {start_and_stop, record_outside}, .check = check_outside, .bound = 1)

/* A ring is half full, and a thread hurries the reader. */
static void hurry(void) {
  wf_trace_hurry();
}
SCENARIO(session_is_hurried, .setup = session_begins, .threads = {start_and_stop, hurry},
         .check = close_and_check, .quick_bound = 1)

/* An observer comes and goes meanwhile: both change the word that says who is
 * interested, and neither loses what the other has set. */
static void observe_for_a_while(void) {
  weft_observer observer = WEFT_OBSERVER_INIT;
  XP_CHECK(wf_trace_observe(&observer) == 0);
  XP_CHECK((wf_trace_watch() & WF_WATCH_OBSERVER) != 0);
  XP_CHECK(wf_trace_observe(NULL) == 0);
}
SCENARIO(session_and_an_observer, .setup = session_begins,
         .threads = {start_and_stop, observe_for_a_while}, .check = close_and_check,
         .quick_bound = 1)

/* A signal ends the process while the trace runs, or while it is being stopped. Nothing
 * may hang: the handler has a time limit. The file says which signal it was. */
static void check_signal(const void *data, size_t size) {
  const char *text = (const char *)data;
  for (size_t i = 0; i + 8 <= size; i++) XP_CHECK(memcmp(text + i, "signal 0", 8) != 0);
}
static void signalled_session_begins(void) {
  session_begins();
  sim_on_write = check_signal;
}
static void die_by_signal(void) {
  void (*handler)(int) = sim_on_fatal_signal;
  if (handler != NULL) handler(11);
}
static void check_after_signal(void) {
  sim_on_write = NULL;
  session_has_ended();
  wf_track_close(track);
}
SCENARIO(session_and_a_signal, .setup = signalled_session_begins,
         .threads = {start_and_stop, die_by_signal}, .check = check_after_signal,
         .quick_bound = 1)
