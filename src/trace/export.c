/* trace/export.c - from records to the lines of a trace: the format of Chrome and
 * Perfetto, as docs/guide/tracing.md describes it.
 *
 * Everything runs on the reader, the thread that writes the file, which owns the state
 * below and the reader's part of each track. A slice is written when it ends, in one
 * line; one that stays open for long gets a line for its beginning and one for its end.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

/* ---- state ---- */

/* Pools that were introduced, and kinds of frames that are counted; choices. Pools beyond
 * are introduced with each of their workers, frames beyond have no number. */
enum { POOLS_KNOWN = 256, FRAMES_KNOWN = 64 };

/* What has been open for this long is announced, so that it is in the file of a process
 * that is killed. */
#define ANNOUNCE_NS UINT64_C(100000000)

typedef struct frames_of_name {
  const char *name;
  uint64_t count;
} frames_of_name;

static struct exporter {
  wf_file *out;
  uint32_t session;
  uint32_t process;
  uint64_t start_ns;
  wf_usage usage; /* of the process, when the trace began */
  uint64_t limit; /* bytes of the file */
  uint64_t events;
  uint64_t arrows;      /* of which each has a number */
  uint64_t dropped;     /* records that did not fit into a ring */
  uint64_t left_out;    /* slices, and what else, because the file is long */
  uint64_t shortest_ns; /* slices that are shorter are left out */
  bool is_ending;       /* what is written now is the end, also beyond the limit */
  unsigned pools[POOLS_KNOWN];
  unsigned pool_count;
  frames_of_name frames[FRAMES_KNOWN];
  unsigned frame_kinds;
} ex;

/* The longer the file, the longer a slice must be to be written: half of the limit is for
 * all of them, and half of what is left for those ten times as long as before. */
static void adapt_shortest(void) {
  uint64_t left = ex.limit > ex.out->end ? ex.limit - ex.out->end : 0;
  uint64_t part = ex.limit / 2;
  ex.shortest_ns = 0;
  for (uint64_t ns = 10000; left < part && ns <= UINT64_C(10000000000); ns *= 10) {
    ex.shortest_ns = ns;
    part /= 2;
  }
  if (left == 0) ex.shortest_ns = UINT64_MAX;
}

/* Whether something short, or a moment, is left out. */
static bool is_left_out(uint64_t duration_ns) {
  if (duration_ns >= ex.shortest_ns) return false;
  ex.left_out++;
  return true;
}

/* Beyond the limit only the end is written: ends of what was announced, the last
 * statistics, the totals. However long the program runs, that stays small. */
static bool is_file_full(void) {
  return ex.shortest_ns == UINT64_MAX && !ex.is_ending;
}

static uint64_t track_tid(const wf_track *track) {
  return track->is_outside ? 0 : wf_trace_tid(track->pool.number, track->worker);
}

static uint64_t since_start(uint64_t ns) {
  return ns > ex.start_ns ? ns - ex.start_ns : 0;
}

/* ---- lines ---- */

/* A line is built here, and by nobody else at the same time. */
static wf_text ex_line;

static void line_number(const char *key, uint64_t value) {
  wf_text_put(&ex_line, key);
  wf_text_number(&ex_line, value);
}

/* Starts an event: its phase, process and thread. */
static void line_start(const char *phase, uint64_t tid) {
  wf_text_put(&ex_line, "{\"ph\":\"");
  wf_text_put(&ex_line, phase);
  line_number("\",\"pid\":", ex.process);
  line_number(",\"tid\":", tid);
}

static void line_start_at(const char *phase, uint64_t tid, uint64_t ns) {
  line_start(phase, tid);
  wf_text_put(&ex_line, ",\"ts\":");
  wf_text_us(&ex_line, since_start(ns));
}

/* Ends an event, after which another one follows in the same line: the file has both or
 * none, wherever it ends. */
static void line_and(void) {
  wf_text_put(&ex_line, "},\n");
  ex.events++;
}

static void line_end(void) {
  wf_text_put(&ex_line, "}");
  ex.events++;
  wf_file_line(ex.out, &ex_line);
  ex_line.length = 0;
  adapt_shortest();
}

static void line_meta(const char *name, uint64_t tid) {
  line_start("M", tid);
  wf_text_put(&ex_line, ",\"name\":\"");
  wf_text_put(&ex_line, name);
  wf_text_put(&ex_line, "\",\"args\":{");
}

static void line_meta_end(void) {
  wf_text_put(&ex_line, "}");
  line_end();
}

/* ---- who is who ---- */

static bool is_new_pool(unsigned number) {
  for (unsigned i = 0; i < ex.pool_count; i++)
    if (ex.pools[i] == number) return false;
  if (ex.pool_count < POOLS_KNOWN) ex.pools[ex.pool_count++] = number;
  return true;
}

static void introduce_pool(const wf_pool_facts *pool) {
  if (!is_new_pool(pool->number)) return;
  line_meta("weft_pool", 0);
  line_number("\"pool\":", pool->number);
  wf_text_put(&ex_line, ",\"name\":");
  wf_text_string(&ex_line, pool->name);
  line_number(",\"threads\":", pool->threads);
  line_number(",\"cpus\":", pool->cpus);
  wf_text_put(&ex_line, ",\"idle\":");
  wf_text_string(&ex_line, pool->idle);
  wf_text_put(&ex_line, ",\"steer\":");
  wf_text_string(&ex_line, pool->steer);
  line_meta_end();
}

static void put_track_name(const wf_track *track) {
  static const char *const before[] = {
      [WF_ROLE_CALLER] = "caller ", [WF_ROLE_STAND_IN] = "stand-in "};
  if (track->is_outside) {
    wf_text_put(&ex_line, "\"outside");
  } else if (track->role == WF_ROLE_STARTED) {
    wf_text_string_open(&ex_line, track->pool.name);
    line_number("-", track->worker);
  } else {
    wf_text_put(&ex_line, "\"");
    line_number(before[track->role], track->worker);
  }
  wf_text_put(&ex_line, "\"");
}

static void introduce(wf_track *track) {
  static const char *const roles[] = {[WF_ROLE_STARTED] = "started",
                                      [WF_ROLE_CALLER] = "caller",
                                      [WF_ROLE_STAND_IN] = "stand-in"};
  uint64_t tid = track_tid(track);
  track->session = ex.session;
  track->depth = track->too_deep = 0;
  track->steal_ns = 0;
  track->reported = 0;
  if (is_file_full()) return; /* nothing of it will be in the file */
  if (!track->is_outside) introduce_pool(&track->pool);
  line_meta("thread_name", tid);
  wf_text_put(&ex_line, "\"name\":");
  put_track_name(track);
  line_meta_end();
  line_meta("thread_sort_index", tid);
  line_number("\"sort_index\":", tid);
  line_meta_end();
  if (track->is_outside) return;
  line_meta("weft_worker", tid);
  line_number("\"pool\":", track->pool.number);
  line_number(",\"worker\":", track->worker);
  wf_text_put(&ex_line, ",\"role\":\"");
  wf_text_put(&ex_line, roles[track->role]);
  wf_text_put(&ex_line, "\"");
  line_meta_end();
}

/* ---- slices ---- */

static const char *const TASK_KINDS[] = {
    [WF_TASK_STOLEN] = "stolen",       [WF_TASK_SPAWNED] = "spawned",
    [WF_TASK_INJECTED] = "injected",   [WF_TASK_ASYNC] = "async",
    [WF_TASK_BROADCAST] = "broadcast", [WF_TASK_RUN] = "run",
    [WF_TASK_NODE] = "node",           [WF_TASK_STAGE] = "stage"};
static const char *const TASK_NAMES[] = {
    [WF_TASK_STOLEN] = "stolen task",     [WF_TASK_SPAWNED] = "spawned task",
    [WF_TASK_INJECTED] = "injected task", [WF_TASK_ASYNC] = "async",
    [WF_TASK_BROADCAST] = "broadcast",    [WF_TASK_RUN] = "call from outside",
    [WF_TASK_NODE] = "graph node",        [WF_TASK_STAGE] = "pipeline stage"};
static const char *const SLEEP_KINDS[] = {[WF_SLEEP_IDLE] = "idle",
                                          [WF_SLEEP_HELPER] = "helper",
                                          [WF_SLEEP_CLOSED] = "closed",
                                          [WF_SLEEP_STAND_IN] = "stand-in"};
static const char *const SLICE_CATEGORIES[] = {
    [WF_REC_TASK] = "task",   [WF_REC_CALL] = "call",  [WF_REC_BLOCK] = "block",
    [WF_REC_SCOPE] = "scope", [WF_REC_WAIT] = "wait",  [WF_REC_BLOCKING] = "blocking",
    [WF_REC_IDLE] = "idle",   [WF_REC_SLEEP] = "sleep"};

static const char *word_text(uint64_t word) {
  const char *text = (const char *)(uintptr_t)word;
  return text != NULL ? text : "?";
}

static unsigned task_kind_of(const wf_record *begin) {
  unsigned kind = (unsigned)(begin->c >> 32);
  return kind <= WF_TASK_STAGE ? kind : WF_TASK_RUN;
}

static void put_range(uint64_t first, uint64_t last) {
  line_number(" [", first);
  line_number(", ", last);
  wf_text_put(&ex_line, ")\"");
}

static const char *task_name(const wf_open *slice) {
  const wf_record *begin = &slice->begin;
  if (slice->name != NULL) return slice->name;
  return begin->a != 0 ? word_text(begin->a) : TASK_NAMES[task_kind_of(begin)];
}

/* ,"cat":"block","name":"weft_for [0, 100)" */
static void put_slice_name(const wf_open *slice) {
  const wf_record *begin = &slice->begin;
  unsigned kind = wf_stamp_kind(begin->stamp);
  wf_text_put(&ex_line, ",\"cat\":\"");
  wf_text_put(&ex_line, SLICE_CATEGORIES[kind]);
  wf_text_put(&ex_line, "\",\"name\":");
  if (kind == WF_REC_TASK) {
    /* Perfetto ends the slice that has the name of the end: so that is the name of the
     * beginning, whatever the task has been called since. */
    wf_text_string(&ex_line,
                   slice->announced != NULL ? slice->announced : task_name(slice));
  } else if (kind == WF_REC_CALL || kind == WF_REC_BLOCK) {
    wf_text_string_open(&ex_line, word_text(begin->a));
    if (kind == WF_REC_BLOCK || begin->c > 0)
      put_range(begin->b, begin->c);
    else
      wf_text_put(&ex_line, "\"");
  } else if (kind == WF_REC_WAIT) {
    wf_text_put(&ex_line, "\"wait: ");
    wf_text_put(&ex_line, word_text(begin->a)); /* a name of weft's own */
    wf_text_put(&ex_line, "\"");
  } else {
    wf_text_string(&ex_line, SLICE_CATEGORIES[kind]);
  }
}

static void put_task_args(const wf_open *slice) {
  const wf_record *begin = &slice->begin;
  if (slice->announced != NULL && slice->announced != task_name(slice)) {
    wf_text_put(&ex_line, "\"name\":");
    wf_text_string(&ex_line, task_name(slice));
    wf_text_put(&ex_line, ",");
  }
  wf_text_put(&ex_line, "\"kind\":\"");
  wf_text_put(&ex_line, TASK_KINDS[task_kind_of(begin)]);
  wf_text_put(&ex_line, "\",\"fn\":");
  wf_text_address(&ex_line, begin->b);
  if ((uint32_t)begin->c > 0) line_number(",\"from\":", (uint32_t)begin->c - 1);
}

/* What the end of a sleep says about the waker. */
static void put_waker(const wf_record *end) {
  uint64_t ns = wf_stamp_ns(end->stamp);
  line_number(",\"woken_by\":", end->a);
  wf_text_put(&ex_line, ",\"late_us\":");
  wf_text_us(&ex_line, ns > end->b ? ns - end->b : 0);
}

/* ,"args":{...} and the end of the line. `end` is NULL for a slice that is still open. */
static void put_slice_args(const wf_open *slice, const wf_record *end) {
  const wf_record *begin = &slice->begin;
  unsigned kind = wf_stamp_kind(begin->stamp);
  wf_text_put(&ex_line, ",\"args\":{");
  size_t before = ex_line.length;
  if (kind == WF_REC_TASK) put_task_args(slice);
  if (kind == WF_REC_CALL || kind == WF_REC_BLOCK || kind == WF_REC_WAIT) {
    wf_text_put(&ex_line, "\"call\":");
    wf_text_string(&ex_line, word_text(begin->a));
  }
  if (kind == WF_REC_CALL && begin->c > 0) line_number(",\"n\":", begin->c);
  if (kind == WF_REC_BLOCK) {
    line_number(",\"begin\":", begin->b);
    line_number(",\"end\":", begin->c);
  }
  if (kind == WF_REC_SLEEP) {
    wf_text_put(&ex_line, "\"kind\":\"");
    wf_text_put(&ex_line, SLEEP_KINDS[begin->b <= WF_SLEEP_STAND_IN ? begin->b : 0]);
    wf_text_put(&ex_line, "\"");
    if (end != NULL && end->b != 0) put_waker(end);
  }
  if (end == NULL)
    wf_text_put(&ex_line, ex_line.length > before ? ",\"open\":true" : "\"open\":true");
  wf_text_put(&ex_line, "}");
}

/* A slice has ended, or is open when the trace ends (`end` is NULL). */
static void write_slice(const wf_track *track, const wf_open *slice, const wf_record *end,
                        uint64_t end_ns) {
  uint64_t begin_ns = wf_stamp_ns(slice->begin.stamp);
  if (end_ns < begin_ns) end_ns = begin_ns;
  if (slice->is_announced) {
    line_start_at("E", track_tid(track), end_ns);
    put_slice_name(slice);
    put_slice_args(slice, end);
    line_end();
    return;
  }
  if (is_left_out(end_ns - begin_ns)) return;
  line_start_at("X", track_tid(track), begin_ns);
  wf_text_put(&ex_line, ",\"dur\":");
  wf_text_us(&ex_line, end_ns - begin_ns);
  put_slice_name(slice);
  put_slice_args(slice, end);
  line_end();
}

static void announce(const wf_track *track, wf_open *slice) {
  line_start_at("B", track_tid(track), wf_stamp_ns(slice->begin.stamp));
  put_slice_name(slice);
  wf_text_put(&ex_line, ",\"args\":{}");
  line_end();
  slice->is_announced = true;
  if (wf_stamp_kind(slice->begin.stamp) == WF_REC_TASK)
    slice->announced = task_name(slice);
}

/* ---- arrows and moments ---- */

static void line_arrow_end(const char *phase, uint64_t tid, uint64_t ns,
                           const char *category, uint64_t id) {
  line_start_at(phase, tid, ns);
  wf_text_put(&ex_line, ",\"cat\":\"");
  wf_text_put(&ex_line, category);
  wf_text_put(&ex_line, "\",\"name\":\"");
  wf_text_put(&ex_line, category);
  wf_text_put(&ex_line, "\"");
  line_number(",\"id\":", id);
}

static void write_arrow(const char *category, uint64_t id, uint64_t from_tid,
                        uint64_t from_ns, uint64_t to_tid, uint64_t to_ns) {
  line_arrow_end("s", from_tid, from_ns, category, id);
  line_and();
  line_arrow_end("f", to_tid, to_ns, category, id);
  wf_text_put(&ex_line, ",\"bp\":\"e\"");
  line_end();
}

/* Starts a moment, up to its args. `name` is any string. */
static void line_moment(const char *scope, uint64_t tid, uint64_t ns,
                        const char *category, const char *name) {
  line_start_at("i", tid, ns);
  wf_text_put(&ex_line, ",\"s\":\"");
  wf_text_put(&ex_line, scope);
  wf_text_put(&ex_line, "\",\"cat\":\"");
  wf_text_put(&ex_line, category);
  wf_text_put(&ex_line, "\",\"name\":");
  wf_text_string(&ex_line, name);
  wf_text_put(&ex_line, ",\"args\":{");
}

/* The task of a steal begins, or something else happens on the track: the arrow ends
 * here. */
static void finish_steal(wf_track *track, uint64_t ns) {
  if (track->steal_ns == 0) return;
  uint64_t steal_ns = track->steal_ns;
  track->steal_ns = 0;
  if (is_left_out(0)) return;
  uint64_t id = ++ex.arrows;
  line_moment("t", track_tid(track), steal_ns, "steal", "steal");
  line_number("\"from\":", track->steal_from);
  line_number(",\"id\":", id);
  line_meta_end();
  write_arrow("steal", id, wf_trace_tid(track->pool.number, (unsigned)track->steal_from),
              steal_ns, track_tid(track), ns);
}

static void write_wake(const wf_track *track, const wf_record *end) {
  if (end->b == 0 || end->b < ex.start_ns || is_left_out(0)) return;
  uint64_t id = ++ex.arrows;
  line_moment("t", end->a, end->b, "wake", "wake");
  line_number("\"worker\":", track->worker);
  line_number(",\"id\":", id);
  line_meta_end();
  write_arrow("wake", id, end->a, end->b, track_tid(track), wf_stamp_ns(end->stamp));
}

static uint64_t count_frame(const char *name) {
  for (unsigned i = 0; i < ex.frame_kinds; i++)
    if (strcmp(ex.frames[i].name, name) == 0) return ++ex.frames[i].count;
  if (ex.frame_kinds == FRAMES_KNOWN) return 0;
  ex.frames[ex.frame_kinds] = (frames_of_name){name, 1};
  ex.frame_kinds++;
  return 1;
}

static void write_frame(const wf_track *track, const wf_record *r) {
  const char *name = r->a != 0 ? word_text(r->a) : "frame";
  uint64_t number = count_frame(name);
  if (ex.shortest_ns == UINT64_MAX && is_left_out(0)) return; /* frames stay for long */
  line_moment("g", track_tid(track), wf_stamp_ns(r->stamp), "frame", name);
  line_number("\"number\":", number);
  line_meta_end();
}

static void write_moment(const wf_track *track, const wf_record *r) {
  uint64_t ns = wf_stamp_ns(r->stamp);
  uint64_t tid = track_tid(track);
  unsigned kind = wf_stamp_kind(r->stamp);
  if (kind == WF_REC_FRAME) {
    write_frame(track, r);
    return;
  }
  if (is_left_out(0)) return;
  if (kind == WF_REC_INJECT) {
    line_moment("t", tid, ns, "inject", "inject");
    wf_text_put(&ex_line, "\"background\":");
    wf_text_put(&ex_line, r->c != 0 ? "true" : "false");
  } else {
    bool is_expose = kind == WF_REC_EXPOSE;
    line_moment("t", tid, ns, is_expose ? "expose" : "takeover",
                is_expose ? "expose" : "take-over");
    line_number("\"tasks\":", r->c);
    if (r->b > 0) line_number(",\"from\":", r->b - 1);
  }
  line_meta_end();
}

/* ---- tracks ---- */

static void open_slice(wf_track *track, const wf_record *r) {
  if (track->depth == WF_TRACK_DEPTH || track->too_deep > 0) {
    track->too_deep++;
    ex.dropped++;
    return;
  }
  track->open[track->depth++] = (wf_open){.begin = *r};
}

static void close_slice(wf_track *track, const wf_record *r) {
  if (track->too_deep > 0) {
    track->too_deep--;
    return;
  }
  if (track->depth == 0) return; /* the ring has seen to it that this cannot be */
  wf_open *slice = &track->open[--track->depth];
  bool is_sleep = wf_stamp_kind(r->stamp) == WF_REC_END_SLEEP &&
                  wf_stamp_kind(slice->begin.stamp) == WF_REC_SLEEP;
  if (is_sleep) write_wake(track, r);
  static const wf_record plain;
  write_slice(track, slice, is_sleep ? r : &plain, wf_stamp_ns(r->stamp));
}

/* weft_name: the innermost task. */
static void name_task(wf_track *track, const wf_record *r) {
  for (uint64_t i = track->depth; i > 0; i--) {
    if (wf_stamp_kind(track->open[i - 1].begin.stamp) != WF_REC_TASK) continue;
    track->open[i - 1].name = (const char *)(uintptr_t)r->a;
    return;
  }
}

static void change_task(wf_track *track, const wf_record *r) {
  if (track->depth == 0 || track->too_deep > 0) return;
  wf_record *begin = &track->open[track->depth - 1].begin;
  if (wf_stamp_kind(begin->stamp) != WF_REC_TASK) return;
  begin->b = r->b;
  begin->c = r->c;
}

static void export_record(wf_track *track, const wf_record *r) {
  unsigned kind = wf_stamp_kind(r->stamp);
  if (wf_stamp_session(r->stamp) != (ex.session & 7)) return; /* of an earlier trace */
  if (track->session != ex.session) introduce(track);
  if (kind < WF_REC_STEAL || kind == WF_REC_END || kind == WF_REC_END_SLEEP)
    finish_steal(track, wf_stamp_ns(r->stamp));
  if (kind < WF_REC_STEAL) {
    open_slice(track, r);
  } else if (kind == WF_REC_END || kind == WF_REC_END_SLEEP) {
    close_slice(track, r);
  } else if (kind == WF_REC_NAME) {
    name_task(track, r);
  } else if (kind == WF_REC_RETASK) {
    change_task(track, r);
  } else if (kind == WF_REC_STEAL) {
    track->steal_ns = wf_stamp_ns(r->stamp);
    track->steal_from = r->b > 0 ? r->b - 1 : 0;
  } else {
    write_moment(track, r);
  }
}

/* Says where records are missing. */
static void note_dropped(wf_track *track) {
  uint64_t dropped = wf_rec_ring_dropped(&track->ring);
  if (dropped <= track->reported) return;
  uint64_t more = dropped - track->reported;
  track->reported = dropped;
  ex.dropped += more;
  if (is_file_full()) return;
  line_start_at("i", track_tid(track), wf_sys_now_ns());
  line_number(",\"s\":\"t\",\"cat\":\"note\",\"name\":\"dropped ", more);
  line_number(" records\",\"args\":{\"records\":", more);
  line_meta_end();
}

void wf_export_track(wf_track *track) {
  uint64_t tail, head = wf_rec_ring_read(&track->ring, &tail);
  for (; tail != head; tail++) {
    export_record(track, wf_rec_ring_at(&track->ring, tail));
    /* The writer may have the first half back before the second is written. */
    if ((tail + 1) % (WF_RING_RECORDS / 8) == 0)
      wf_rec_ring_give_back(&track->ring, tail + 1);
  }
  wf_rec_ring_give_back(&track->ring, head);
  if (track->session == ex.session) note_dropped(track);
}

void wf_export_announce(wf_track *track, uint64_t now_ns) {
  if (track->session != ex.session || is_file_full()) return;
  uint64_t oldest_ns = ex.shortest_ns > ANNOUNCE_NS ? ex.shortest_ns : ANNOUNCE_NS;
  for (uint64_t i = 0; i < track->depth; i++) {
    wf_open *slice = &track->open[i];
    if (slice->is_announced) continue;
    if (wf_stamp_ns(slice->begin.stamp) + oldest_ns > now_ns) return;
    announce(track, slice);
  }
}

void wf_export_close_track(wf_track *track, uint64_t now_ns) {
  if (track->session != ex.session) {
    track->depth = 0; /* of an earlier trace */
    return;
  }
  finish_steal(track, now_ns);
  while (track->depth > 0) write_slice(track, &track->open[--track->depth], NULL, now_ns);
  track->too_deep = 0;
}

/* ---- samples ---- */

void wf_trace_sample_pool(unsigned pool, unsigned working, unsigned searching,
                          unsigned asleep, uint64_t queued) {
  if (is_left_out(0)) return;
  line_start_at("C", 0, wf_sys_now_ns());
  line_number(",\"name\":\"pool ", pool);
  line_number("\",\"args\":{\"working\":", working);
  line_number(",\"searching\":", searching);
  line_number(",\"asleep\":", asleep);
  line_number(",\"queued\":", queued);
  line_meta_end();
}

/* They are sums, so the last ones say all. Earlier ones, which show how the program went
 * on, are left out like short slices. */
void wf_trace_sample_worker(unsigned pool, unsigned worker, const weft_stats *stats) {
  if (ex.shortest_ns > 0 && !ex.is_ending) return;
  line_meta("weft_stats", wf_trace_tid(pool, worker));
  line_number("\"tasks\":", stats->tasks);
  line_number(",\"steals\":", stats->steals);
  line_number(",\"failed_steals\":", stats->failed_steals);
  line_number(",\"exposes\":", stats->exposes);
  line_number(",\"takeovers\":", stats->takeovers);
  line_number(",\"injected\":", stats->injected);
  line_number(",\"sleeps\":", stats->sleeps);
  line_number(",\"wakes\":", stats->wakes);
  line_number(",\"futile\":", stats->futile);
  line_number(",\"misplaced\":", stats->misplaced);
  line_number(",\"steered\":", stats->steered);
  line_number(",\"deepest\":", stats->deepest);
  line_number(",\"working_ns\":", stats->working_ns);
  line_number(",\"searching_ns\":", stats->searching_ns);
  line_number(",\"asleep_ns\":", stats->asleep_ns);
  line_meta_end();
}

/* ---- the beginning and the end ---- */

void wf_export_begin(wf_file *out, uint32_t session, uint64_t start_ns, uint64_t limit) {
  memset(&ex, 0, sizeof ex);
  ex_line.length = 0;
  ex.out = out;
  ex.session = session;
  ex.start_ns = start_ns;
  ex.limit = limit;
  ex.usage = wf_sys_usage();
  ex.process = wf_sys_process_id();
  line_meta("process_name", 0);
  wf_text_put(&ex_line, "\"name\":");
  wf_text_string(&ex_line, wf_sys_program_name());
  line_meta_end();
}

void wf_export_last(void) {
  ex.is_ending = true;
}

/* What the process has used since the beginning of the trace. A task that took longer
 * than its CPU time has waited inside. */
static void put_usage(void) {
  wf_usage now = wf_sys_usage();
  /* Threads that have ended are no longer part of it. */
  uint64_t starved_ns =
      now.starved_ns > ex.usage.starved_ns ? now.starved_ns - ex.usage.starved_ns : 0;
  wf_text_put(&ex_line, ",\"cpu_us\":");
  wf_text_us(&ex_line, now.cpu_ns - ex.usage.cpu_ns);
  wf_text_put(&ex_line, ",\"starved_us\":");
  wf_text_us(&ex_line, starved_ns);
  line_number(",\"waits\":", now.waits - ex.usage.waits);
  line_number(",\"preemptions\":", now.preemptions - ex.usage.preemptions);
}

void wf_export_end(const char *reason, uint64_t now_ns) {
  line_meta("weft_end", 0);
  wf_text_put(&ex_line, "\"complete\":true,\"reason\":");
  wf_text_string(&ex_line, reason);
  line_number(",\"events\":", ex.events);
  wf_text_put(&ex_line, ",\"duration_us\":");
  wf_text_us(&ex_line, since_start(now_ns));
  line_number(",\"dropped\":", ex.dropped);
  line_number(",\"dropped_short\":", ex.left_out);
  wf_text_put(&ex_line, ",\"shortest_us\":");
  wf_text_us(&ex_line, ex.shortest_ns == UINT64_MAX ? 0 : ex.shortest_ns);
  put_usage();
  line_meta_end();
}
