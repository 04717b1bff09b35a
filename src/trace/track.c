/* trace/track.c - tracks: where workers record what they do, and who else hears of it.
 *
 * Called by the layers above when something is watched. A track belongs to the thread in
 * the worker's place; the list of all tracks is added to by any thread and otherwise used
 * by the reader, the thread that writes the file. Tracks are freed under the lock of
 * session.c.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include "../core/lock.h"

#include <string.h>

wf_u32 wf_trace_x_watch;

/* ---- the list ---- */

static wf_ptr x_tracks; /* the newest one */

static struct wf_track outside_track;
static wf_lock outside_lock;
static wf_record outside_records[256]; /* few events happen outside of pools */
static bool outside_is_listed;         /* under the lock */

wf_track *wf_track_first(void) {
  /* Acquire: pairs with the release in track_add. */
  return (wf_track *)wf_ptr_load_acquire(&x_tracks);
}

static void track_add(wf_track *track) {
  void *first = wf_ptr_load_relaxed(&x_tracks); /* relaxed: the CAS decides */
  do {
    track->next = (wf_track *)first;
    /* Release: pairs with the acquire in wf_track_first. */
  } while (!wf_ptr_cas_release(&x_tracks, &first, track));
}

wf_track *wf_track_create(const wf_pool_facts *pool, unsigned worker, wf_role role) {
  size_t records = WF_RING_RECORDS * sizeof(wf_record);
  wf_track *track = (wf_track *)wf_sys_map(sizeof *track + records);
  if (track == NULL) return NULL;
  wf_rec_ring_init(&track->ring, (wf_record *)(void *)(track + 1), WF_RING_RECORDS);
  track->pool = *pool;
  track->worker = worker;
  track->role = role;
  track_add(track);
  return track;
}

/* Takes a track, which is there, out of the list. */
static void track_unlink(wf_track *track) {
  void *first = track;
  /* Release: pairs with the acquire in wf_track_first, by way of the value. explorer:
   * relaxed suffices, as part of the release sequence of the thread that has added it. */
  if (wf_ptr_cas_release(&x_tracks, &first, track->next)) return;
  wf_track *before = wf_track_first();
  while (before->next != track) before = before->next;
  before->next = track->next;
}

void wf_track_reap(void) {
  wf_track *next;
  for (wf_track *track = wf_track_first(); track != NULL; track = next) {
    next = track->next;
    /* Acquire: pairs with the release in wf_track_close (session.c): all is written.
     * explorer: relaxed suffices; both are under the lock. */
    if (wf_u32_load_acquire(&track->x_closed) == 0) continue;
    uint64_t tail;
    bool is_empty = wf_rec_ring_read(&track->ring, &tail) == tail;
    if (!is_empty || track->depth > 0) continue; /* the reader comes back to it */
    track_unlink(track);
    wf_sys_unmap(track, sizeof *track + WF_RING_RECORDS * sizeof(wf_record));
  }
}

/* ---- threads that are in no pool ---- */

wf_track *wf_track_lock_outside(void) {
  wf_lock_lock(&outside_lock);
  if (!outside_is_listed) {
    outside_is_listed = true;
    outside_track.is_outside = true;
    wf_rec_ring_init(&outside_track.ring, outside_records,
                     sizeof outside_records / sizeof outside_records[0]);
    track_add(&outside_track);
  }
  return &outside_track;
}

void wf_track_unlock_outside(void) {
  wf_lock_unlock(&outside_lock);
}

/* ---- the observer ---- */

static wf_ptr x_observer;          /* points at the_observer, or NULL */
static weft_observer the_observer; /* written while x_observer is NULL */
static wf_lock observer_lock;      /* setting and removing it */

static bool anybody_observes(void) {
  bool any = false;
  wf_trace_lock(); /* no track is freed meanwhile */
  for (wf_track *track = wf_track_first(); track != NULL; track = track->next)
    /* Acquire: pairs with the release in track_observe: the callback has returned. */
    any = any || wf_u32_load_acquire(&track->x_observing) != 0;
  wf_trace_unlock();
  return any;
}

typedef enum event_phase { PHASE_BEGIN, PHASE_END, PHASE_MOMENT } event_phase;

static void call_observer(const weft_observer *o, event_phase when,
                          const weft_event *event) {
  weft_event_fn *fn = when == PHASE_BEGIN ? o->begin : when == PHASE_END ? o->end : NULL;
  if (when == PHASE_MOMENT) fn = o->moment;
  if (fn != NULL) fn(event, o->ctx);
}

static __attribute__((noinline)) void track_observe(wf_track *track, event_phase when,
                                                    weft_event event) {
  event.struct_size = sizeof event;
  event.pool = track->pool.number;
  event.worker = track->is_outside ? -1 : (int)track->worker;
  /* Relaxed: the fence orders it. explorer: a store would do, as one thread at a time
   * writes it; the subtraction below wants to be like it. */
  wf_u32_fetch_add_relaxed(&track->x_observing, 1);
  /* Pairs with the fence in drop_observer: either this thread sees that there is no
   * observer any more, or the one that removes it sees that it is called. */
  wf_fence_seq_cst();
  /* Acquire: pairs with the release in take_observer. */
  const weft_observer *o = (const weft_observer *)wf_ptr_load_acquire(&x_observer);
  if (o != NULL) call_observer(o, when, &event);
  /* Release: pairs with the acquire in anybody_observes. */
  wf_u32_fetch_sub_release(&track->x_observing, 1);
}

static void set_watch_bit(uint32_t bit, bool wanted) {
  uint32_t word = wf_u32_load_relaxed(&wf_trace_x_watch);
  uint32_t next;
  do {
    next = wanted ? word | bit : word & ~bit;
    /* seq_cst: pairs with nothing; what the bits stand for has its own protocols.
     * explorer: relaxed suffices; it is rare. */
  } while (!wf_u32_cas_seq_cst(&wf_trace_x_watch, &word, next));
}

static int take_observer(const weft_observer *given) {
  if (given->struct_size < sizeof(weft_observer)) return WEFT_EINVAL;
  if (wf_ptr_load_relaxed(&x_observer) != NULL) return WEFT_EBUSY; /* under the lock */
  the_observer = *given;
  wf_ptr_store_release(&x_observer,
                       &the_observer); /* pairs with the acquire in track_observe */
  set_watch_bit(WF_WATCH_OBSERVER, true);
  return 0;
}

static void drop_observer(void) {
  set_watch_bit(WF_WATCH_OBSERVER, false);
  wf_ptr_store_relaxed(&x_observer, NULL); /* relaxed: the fence orders it */
  wf_fence_seq_cst();                      /* pairs with the one in track_observe */
  while (anybody_observes()) wf_sys_thread_yield();
}

int wf_trace_observe(const weft_observer *given) {
  int status = 0;
  wf_lock_lock(&observer_lock);
  if (given != NULL)
    status = take_observer(given);
  else
    drop_observer();
  wf_lock_unlock(&observer_lock);
  return status;
}

void wf_trace_time_callers(bool wanted) {
  set_watch_bit(WF_WATCH_TIMES, wanted);
}

/* ---- recording ---- */

/* Fills a record and hands it to the reader. */
static void track_publish(wf_track *track, wf_record *record, uint32_t watch,
                          unsigned kind, wf_record content) {
  *record = content;
  record->stamp = wf_stamp(wf_sys_now_ns(), kind, watch >> WF_WATCH_SESSION_SHIFT);
  if (wf_rec_ring_publish(&track->ring)) wf_trace_hurry();
}

static void track_put_begin(wf_track *track, uint32_t watch, unsigned kind,
                            wf_record content) {
  wf_record *record = wf_rec_ring_begin(&track->ring, watch >> WF_WATCH_SESSION_SHIFT);
  if (record != NULL) track_publish(track, record, watch, kind, content);
}

static void track_put_end(wf_track *track, uint32_t watch, unsigned kind,
                          wf_record content) {
  wf_record *record = wf_rec_ring_end(&track->ring, watch >> WF_WATCH_SESSION_SHIFT);
  if (record != NULL) track_publish(track, record, watch, kind, content);
}

static void track_put_moment(wf_track *track, uint32_t watch, unsigned kind,
                             wf_record content) {
  wf_record *record = wf_rec_ring_moment(&track->ring, watch >> WF_WATCH_SESSION_SHIFT);
  if (record != NULL) track_publish(track, record, watch, kind, content);
}

/* Something begins: for the observer, and for the file. */
static void track_begin(wf_track *track, const weft_event *event, wf_record content) {
  if (track == NULL) return;
  uint32_t watch = wf_trace_watch();
  if (watch & WF_WATCH_OBSERVER) track_observe(track, PHASE_BEGIN, *event);
  if (watch & WF_WATCH_TRACE)
    track_put_begin(track, watch, (unsigned)event->kind, content);
}

static uint64_t pointer_word(const void *pointer) {
  return (uint64_t)(uintptr_t)pointer;
}

static wf_record task_record(wf_task_kind kind, uintptr_t fn, int from) {
  return (wf_record){0, 0, fn, (uint64_t)kind << 32 | (uint32_t)(from + 1)};
}

void wf_trace_begin_task(wf_track *track, wf_task_kind kind, uintptr_t fn, int from) {
  weft_event event = {.kind = WEFT_EVENT_TASK, .from = from, .fn = fn};
  track_begin(track, &event, task_record(kind, fn, from));
}

void wf_trace_begin_named(wf_track *track, wf_task_kind kind, uintptr_t fn,
                          const char *name) {
  weft_event event = {.kind = WEFT_EVENT_TASK, .from = -1, .name = name, .fn = fn};
  wf_record content = task_record(kind, fn, -1);
  content.a = pointer_word(name);
  track_begin(track, &event, content);
}

void wf_trace_begin_call(wf_track *track, const char *name, uint64_t n) {
  weft_event event = {.kind = WEFT_EVENT_CALL, .from = -1, .name = name, .last = n};
  track_begin(track, &event, (wf_record){0, pointer_word(name), 0, n});
}

void wf_trace_begin_block(wf_track *track, const char *name, uint64_t first,
                          uint64_t last) {
  weft_event event = {
      .kind = WEFT_EVENT_BLOCK, .from = -1, .name = name, .first = first, .last = last};
  track_begin(track, &event, (wf_record){0, pointer_word(name), first, last});
}

void wf_trace_begin(wf_track *track, weft_event_kind kind, const char *name) {
  weft_event event = {.kind = kind, .from = -1, .name = name};
  track_begin(track, &event, (wf_record){0, pointer_word(name), 0, 0});
}

void wf_trace_begin_sleep(wf_track *track, wf_sleep_kind kind) {
  weft_event event = {.kind = WEFT_EVENT_SLEEP, .from = -1};
  track_begin(track, &event, (wf_record){0, 0, (uint64_t)kind, 0});
}

static void track_end(wf_track *track, weft_event_kind kind, unsigned record,
                      wf_record content) {
  if (track == NULL) return;
  uint32_t watch = wf_trace_watch();
  if (watch & WF_WATCH_OBSERVER)
    track_observe(track, PHASE_END, (weft_event){.kind = kind, .from = -1});
  if (watch & WF_WATCH_TRACE) track_put_end(track, watch, record, content);
}

void wf_trace_end(wf_track *track, weft_event_kind kind) {
  track_end(track, kind, WF_REC_END, (wf_record){0, 0, 0, 0});
}

void wf_trace_end_sleep(wf_track *track, uint64_t waker, uint64_t wake_ns) {
  track_end(track, WEFT_EVENT_SLEEP, WF_REC_END_SLEEP, (wf_record){0, waker, wake_ns, 0});
}

void wf_trace_retask(wf_track *track, wf_task_kind kind, uintptr_t fn) {
  uint32_t watch = wf_trace_watch();
  if (track == NULL || (watch & WF_WATCH_TRACE) == 0) return;
  track_put_moment(track, watch, WF_REC_RETASK, task_record(kind, fn, -1));
}

void wf_trace_name(wf_track *track, const char *name) {
  uint32_t watch = wf_trace_watch();
  if (track == NULL) return;
  if (watch & WF_WATCH_OBSERVER)
    track_observe(track, PHASE_MOMENT,
                  (weft_event){.kind = WEFT_EVENT_NAME, .from = -1, .name = name});
  if (watch & WF_WATCH_TRACE)
    track_put_moment(track, watch, WF_REC_NAME, (wf_record){0, pointer_word(name), 0, 0});
}

static void moment_on(wf_track *track, const weft_event *event) {
  uint32_t watch = wf_trace_watch();
  if (watch & WF_WATCH_OBSERVER) track_observe(track, PHASE_MOMENT, *event);
  /* A wake-up is recorded by the one that was woken: then its two ends are in the file
   * together, or neither is. */
  if ((watch & WF_WATCH_TRACE) == 0 || event->kind == WEFT_EVENT_WAKE) return;
  uint64_t number = event->kind == WEFT_EVENT_INJECT ? event->first : event->last;
  track_put_moment(
      track, watch, (unsigned)event->kind,
      (wf_record){0, pointer_word(event->name), (uint64_t)(event->from + 1), number});
}

void wf_trace_moment(wf_track *track, weft_event_kind kind, int from, uint64_t first,
                     uint64_t last, const char *name) {
  weft_event event = {
      .kind = kind, .from = from, .name = name, .first = first, .last = last};
  if (track != NULL) {
    moment_on(track, &event);
    return;
  }
  moment_on(wf_track_lock_outside(), &event);
  wf_track_unlock_outside();
}

/* ---- fork ---- */

/* The tracks are left where they are: other threads may have been in the middle of them,
 * and the only thread gets a new one when it records (keep_alone in guest.c). */
void wf_track_after_fork(void) {
  outside_lock = (wf_lock){{WF_LOCK_FREE}};
  observer_lock = (wf_lock){{WF_LOCK_FREE}};
  wf_ptr_store_relaxed(&x_tracks, NULL); /* relaxed: there is one thread */
  memset(&outside_track, 0, sizeof outside_track);
  outside_is_listed = false;
}
