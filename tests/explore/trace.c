/* The ring of records, and the removal of an observer, under the explorer.
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
  static const wf_pool_facts facts = {.number = 1};
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
