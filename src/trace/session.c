/* trace/session.c - a trace from its start to its end: the thread that writes the file,
 * when it looks at the rings, and what happens if the process ends before.
 *
 * Any thread starts and stops; one at a time, under a lock. The reader is a thread of its
 * own from start to stop. It takes no lock that another thread can hold for long and
 * allocates nothing, so that it still writes what is left when another thread has
 * crashed.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include "../core/lock.h"

/* How often the reader looks if nobody hurries it, how often it samples the statistics,
 * and how long a thread that is about to die waits for it; choices. A look at idle tracks
 * costs some microseconds: 50 of them a second are 0.02 % of a CPU. */
enum { LOOK_NS = 20000000, LOOKS_PER_STATS = 50 };
#define LAST_WAIT_NS UINT64_C(2000000000)

enum { RUNNING = 0, STOPPING = 1, DYING = 2 };

static wf_lock session_lock; /* starting, stopping, freeing tracks */
static struct session {
  bool is_active; /* under the lock */
  uint32_t number;
  wf_thread reader;
  wf_file out;
  uint64_t start_ns;
  const char *reason; /* why it ends; constant */
  wf_sampler_fn *sampler;
} session;

/* Shared with the reader, and with whoever hurries or ends it. */
static wf_u32 x_hurry;  /* 1: a ring is half full, or the end has come */
static wf_u32 x_ending; /* RUNNING, STOPPING, or DYING */
static wf_u32 x_signal; /* by which the process dies */
static wf_u32 x_ended;  /* 1: the file is complete */

void wf_trace_lock(void) {
  wf_lock_lock(&session_lock);
}

void wf_trace_unlock(void) {
  wf_lock_unlock(&session_lock);
}

void wf_trace_hurry(void) {
  /* Relaxed: only a hint; the reader looks by itself soon. */
  if (wf_u32_load_relaxed(&x_hurry) != 0) return;
  wf_u32_store_relaxed(&x_hurry, 1);
  wf_sys_wake_one(&x_hurry);
}

/* ---- the reader ---- */

static void read_all(uint64_t now_ns) {
  for (wf_track *track = wf_track_first(); track != NULL; track = track->next) {
    /* Acquire: pairs with the release in wf_track_close: nothing comes after it.
     * explorer: relaxed suffices; the last slices would only seem to be open. */
    bool is_closed = wf_u32_load_acquire(&track->x_closed) != 0;
    wf_export_track(track);
    if (is_closed)
      wf_export_close_track(track, wf_sys_now_ns()); /* not before its records */
    else
      wf_export_announce(track, now_ns);
  }
  /* The thread that stops the trace has the lock, or one that has crashed. */
  if (!wf_lock_try(&session_lock)) return;
  wf_track_reap();
  wf_lock_unlock(&session_lock);
}

static const char *signal_reason(void) {
  static wf_text text;
  text.length = 0;
  wf_text_put(&text, "signal ");
  wf_text_number(&text, wf_u32_load_relaxed(&x_signal)); /* written before x_ending */
  text.data[text.length] = '\0';
  return text.data;
}

static void read_the_rest(const char *reason) {
  read_all(wf_sys_now_ns());
  /* Threads may have gone on since: what they have ended lies inside what is still open,
   * so the end is later than all records that were read. */
  uint64_t now_ns = wf_sys_now_ns();
  for (wf_track *track = wf_track_first(); track != NULL; track = track->next)
    wf_export_close_track(track, now_ns);
  wf_export_last();
  session.sampler(true);
  wf_export_end(reason, now_ns);
  wf_file_flush(&session.out);
}

static void read_until_the_end(void *unused) {
  (void)unused;
  uint32_t ending = RUNNING;
  for (unsigned looks = 1; ending == RUNNING; looks++) {
    /* Relaxed: if it was set since, the wait returns at once. */
    if (wf_u32_load_relaxed(&x_hurry) == 0) (void)wf_sys_wait_for(&x_hurry, 0, LOOK_NS);
    wf_u32_store_relaxed(&x_hurry, 0); /* relaxed: before the look at the rings */
    /* Acquire: pairs with the release in end_reader and in on_signal. */
    ending = wf_u32_load_acquire(&x_ending);
    if (ending != RUNNING) break;
    read_all(wf_sys_now_ns());
    session.sampler(looks % LOOKS_PER_STATS == 0);
    wf_file_flush(&session.out);
  }
  read_the_rest(ending == DYING ? signal_reason() : session.reason);
  /* Release: pairs with the acquire in on_signal. explorer: relaxed suffices; the handler
   * looks at nothing else. */
  wf_u32_store_release(&x_ended, 1);
  wf_sys_wake_all(&x_ended);
}

/* ---- the end of the process by a signal ---- */

/* Runs in a signal handler, on a thread that may hold any lock: asks the reader to come
 * to an end, and waits for it. */
static void on_signal(int signal) {
  uint32_t expected = RUNNING;
  wf_u32_store_relaxed(&x_signal, (uint32_t)signal); /* published by the CAS */
  /* seq_cst: pairs with the acquire in read_until_the_end. explorer: release suffices;
   * the process ends here, so it costs nothing. */
  if (!wf_u32_cas_seq_cst(&x_ending, &expected, DYING) && expected != DYING) return;
  wf_u32_store_relaxed(&x_hurry, 1); /* relaxed: a hint */
  wf_sys_wake_all(&x_hurry);
  uint64_t start_ns = wf_sys_now_ns();
  /* Acquire: pairs with the release in read_until_the_end. explorer: relaxed suffices, as
   * said there. */
  while (wf_u32_load_acquire(&x_ended) == 0) {
    uint64_t waited_ns = wf_sys_now_ns() - start_ns;
    if (waited_ns >= LAST_WAIT_NS) return;
    (void)wf_sys_wait_for(&x_ended, 0, LAST_WAIT_NS - waited_ns);
  }
}

/* ---- start and stop ---- */

uint32_t wf_trace_session(void) {
  return session.number;
}

static void make_head(wf_text *head) {
  char date[WF_DATE_SIZE];
  wf_sys_date(date);
  head->length = 0;
  wf_text_put(head, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"weft\":");
  wf_text_string(head, weft_version());
  wf_text_put(head, ",\"format\":1,\"program\":");
  wf_text_string(head, wf_sys_program_name());
  wf_text_put(head, ",\"pid\":");
  wf_text_number(head, wf_sys_process_id());
  wf_text_put(head, ",\"started\":");
  wf_text_string(head, date);
  wf_text_put(head, ",\"cpus\":");
  wf_text_number(head, wf_sys_cpu_count(""));
  wf_text_put(head, "},\n\"traceEvents\":[");
}

/* The word that everybody looks at: on with the number of the session, or off. */
static void set_watch(bool is_on) {
  uint32_t word = wf_u32_load_relaxed(&wf_trace_x_watch);
  uint32_t others, next;
  do {
    others = word & (WF_WATCH_OBSERVER | WF_WATCH_TIMES);
    next = others | session.number << WF_WATCH_SESSION_SHIFT;
    if (is_on) next |= WF_WATCH_TRACE;
    /* seq_cst: pairs with nothing; the rings publish the records.
     * explorer: relaxed suffices; it happens twice in a trace. */
  } while (!wf_u32_cas_seq_cst(&wf_trace_x_watch, &word, next));
}

/* Where the environment asks for a trace, it begins with the first pool. The call that
 * makes this pool is to be in it, and has looked at the word before: so the word says at
 * once that something is recorded. Nothing is, until the trace begins; the number of the
 * session is 0 until then. */
#if defined(__GNUC__)
__attribute__((constructor)) static void expect_trace(void) {
  const char *path = wf_sys_variable("WEFT_TRACE");
  if (path != NULL && path[0] != '\0') set_watch(true);
}
#endif

/* [locked] The file is open. */
static int start_reader(int file, uint64_t limit_bytes) {
  static wf_text head;
  make_head(&head);
  /* Linux takes 10 ms to prepare it in a process with several threads, and the reader
   * makes it one: that would be the beginning of each trace. */
  (void)wf_sys_barrier_prepare();
  if (!wf_file_open(&session.out, file, &head)) return WEFT_EIO;
  session.number = (session.number + 1) & 0xFFFFFF;
  session.start_ns = wf_sys_now_ns();
  session.reason = "stop";
  wf_export_begin(&session.out, session.number, session.start_ns, limit_bytes);
  wf_u32_store_relaxed(&x_ended, 0); /* all published by the start of the thread */
  wf_u32_store_relaxed(&x_hurry, 0);
  wf_u32_store_relaxed(&x_ending, RUNNING);
  return wf_sys_thread_start(&session.reader, "weft-trace", 0, read_until_the_end, NULL);
}

int wf_trace_start(const char *path, uint64_t limit_bytes, wf_sampler_fn *sampler,
                   int *error) {
  int status = WEFT_EBUSY;
  *error = 0;
  wf_lock_lock(&session_lock);
  if (!session.is_active) {
    int file = wf_sys_file_create(path, error);
    session.sampler = sampler;
    status = file < 0 ? file : start_reader(file, limit_bytes);
    if (file >= 0 && status != 0) wf_sys_file_close(file);
    if (status == 0) {
      session.is_active = true;
      wf_sys_on_fatal_signal(on_signal);
      set_watch(true);
    } else {
      set_watch(false); /* nobody needs to expect it */
    }
  }
  wf_lock_unlock(&session_lock);
  if (status == 0) wf_sys_threads_await();
  return status;
}

void wf_trace_stop(const char *reason) {
  bool has_failed = false;
  wf_lock_lock(&session_lock);
  if (session.is_active) {
    uint32_t expected = RUNNING;
    set_watch(false);
    session.reason = reason;
    /* seq_cst: pairs with the acquire in read_until_the_end. It fails if a signal ends
     * the process just now. explorer: release suffices; it happens once in a trace. */
    (void)wf_u32_cas_seq_cst(&x_ending, &expected, STOPPING);
    wf_u32_store_relaxed(&x_hurry, 1); /* relaxed: a hint */
    wf_sys_wake_all(&x_hurry);
    wf_sys_thread_join(session.reader);
    wf_sys_on_fatal_signal(NULL);
    wf_file_close(&session.out);
    has_failed = session.out.has_failed;
    session.is_active = false;
    wf_track_reap();
  }
  wf_lock_unlock(&session_lock);
  if (has_failed)
    wf_sys_print_line(
        "weft: the end of the trace could not be written: is the disk full?");
}

void wf_track_close(wf_track *track) {
  if (track == NULL) return;
  wf_lock_lock(&session_lock);
  if (!session.is_active) {
    track->depth = 0; /* nobody reads: it is forgotten at once */
    uint64_t tail;
    wf_rec_ring_give_back(&track->ring, wf_rec_ring_read(&track->ring, &tail));
  }
  /* Release: pairs with the acquire in read_all. explorer: relaxed suffices, as there. */
  wf_u32_store_release(&track->x_closed, 1);
  if (!session.is_active) wf_track_reap();
  wf_lock_unlock(&session_lock);
}

/* ---- fork ---- */

void wf_trace_after_fork(void) {
  session_lock = (wf_lock){{WF_LOCK_FREE}};
  wf_track_after_fork();
  if (!session.is_active) return;
  /* The file is the parent's, and the reader does not exist here. */
  session.is_active = false;
  set_watch(false);
  wf_sys_on_fatal_signal(NULL);
  wf_file_abandon(&session.out);
}
