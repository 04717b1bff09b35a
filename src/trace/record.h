/* trace/record.h - what the files of this layer share: tracks, kinds of records, and the
 * text of the file.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_TRACE_RECORD_H
#define WF_TRACE_RECORD_H

#include "ring.h"
#include "trace.h"

/* ---- records ---- */

/* What a record's a, b, c are. The first eight numbers are those of weft_event_kind. */
enum {
  WF_REC_TASK = WEFT_EVENT_TASK,   /* b: fn, c: wf_task_kind << 32 | from + 1 */
  WF_REC_CALL = WEFT_EVENT_CALL,   /* a: name, c: n */
  WF_REC_BLOCK = WEFT_EVENT_BLOCK, /* a: name, b: first, c: last */
  WF_REC_SCOPE = WEFT_EVENT_SCOPE,
  WF_REC_WAIT = WEFT_EVENT_WAIT, /* a: name of the call */
  WF_REC_BLOCKING = WEFT_EVENT_BLOCKING,
  WF_REC_IDLE = WEFT_EVENT_IDLE,
  WF_REC_SLEEP = WEFT_EVENT_SLEEP, /* b: wf_sleep_kind */
  WF_REC_STEAL = WEFT_EVENT_STEAL, /* from here on: a: name, b: from + 1, c: a number */
  WF_REC_EXPOSE = WEFT_EVENT_EXPOSE,
  WF_REC_TAKEOVER = WEFT_EVENT_TAKEOVER,
  WF_REC_WAKE = WEFT_EVENT_WAKE, /* never written: the sleeper records it */
  WF_REC_INJECT = WEFT_EVENT_INJECT,
  WF_REC_FRAME = WEFT_EVENT_FRAME,
  WF_REC_NAME = WEFT_EVENT_NAME, /* a: name */
  WF_REC_END,                    /* of the newest that has begun */
  WF_REC_END_SLEEP,              /* a: tid of the waker, b: when it woke, or 0 */
  WF_REC_RETASK                  /* as WF_REC_TASK */
};

#define WF_STAMP_NS_BITS      56
#define WF_STAMP_SESSION_BITS 3

static inline uint64_t wf_stamp(uint64_t ns, unsigned kind, uint32_t session) {
  uint64_t top = (uint64_t)(session & 7) << 5 | kind;
  return (ns & ((UINT64_C(1) << WF_STAMP_NS_BITS) - 1)) | top << WF_STAMP_NS_BITS;
}
static inline uint64_t wf_stamp_ns(uint64_t stamp) {
  return stamp & ((UINT64_C(1) << WF_STAMP_NS_BITS) - 1);
}
static inline unsigned wf_stamp_kind(uint64_t stamp) {
  return (unsigned)(stamp >> WF_STAMP_NS_BITS) & 31;
}
static inline uint32_t wf_stamp_session(uint64_t stamp) {
  return (uint32_t)(stamp >> (WF_STAMP_NS_BITS + 5)) & 7;
}

/* ---- tracks ---- */

/* Records of one ring, and how deep what is open may be nested for the reader; choices.
 * 8192 records are 256 KiB: a loop whose blocks take 10 us fills that in 40 ms, twice the
 * time between two looks of the reader. 64 tasks of others may lie on one stack
 * (WF_HELP_THIEF_DEPTH), each with a call, a block, a scope and a wait. */
enum { WF_RING_RECORDS = 8192, WF_TRACK_DEPTH = 512 };

/* Something that has begun, as the reader knows it. */
typedef struct wf_open {
  wf_record begin;
  const char *name;      /* by weft_name, or NULL */
  const char *announced; /* a task's name in the file, if its beginning is there */
  bool is_announced;     /* its beginning is in the file */
} wf_open;

struct wf_track {
  wf_rec_ring ring;
  /* Constant. */
  wf_pool_facts pool;
  unsigned worker;
  wf_role role;
  bool is_outside;       /* of all threads that are in no pool; written under a lock */
  struct wf_track *next; /* the reader's once the track is in the list */
  /* Written by the owner, read by wf_trace_observe. */
  wf_u32 x_observing; /* 1: the owner is in a callback, or about to call one */
  wf_u32 x_closed;    /* 1: nobody writes any more */
  /* The reader's. */
  uint32_t session;         /* in which the track was introduced */
  uint64_t reported;        /* dropped records, of those that the file knows of */
  uint64_t depth, too_deep; /* open ones, and how many are beyond the last of them */
  uint64_t steal_ns;        /* of a steal whose task has not begun; 0: none */
  uint64_t steal_from;      /* the tid of the victim */
  wf_open open[WF_TRACK_DEPTH];
};

/* [any] The track of threads that are in no pool, locked until wf_track_unlock. */
wf_track *wf_track_lock_outside(void);
void wf_track_unlock_outside(void);

/* The reader: all tracks, also those that threads add meanwhile. */
wf_track *wf_track_first(void);
/* The reader, or nobody; [locked]: frees tracks that are closed and were read to the end.
 */
void wf_track_reap(void);

/* [any] The lock under which traces start and stop, and tracks are freed. */
void wf_trace_lock(void);
void wf_trace_unlock(void);
void wf_track_after_fork(void);

/* The number of the session that records are of. */
uint32_t wf_trace_session(void);

/* A ring is half full: the reader should come. [any] */
void wf_trace_hurry(void);

/* ---- text ---- */

/* A line of the file, at most this long: it fits into a page with what ends the file. */
enum { WF_LINE_MAX = 3072, WF_NAME_MAX = 200 };

typedef struct wf_text {
  char data[WF_LINE_MAX];
  size_t length; /* <= WF_LINE_MAX; what does not fit is left out */
} wf_text;

void wf_text_put(wf_text *text, const char *string);
void wf_text_number(wf_text *text, uint64_t value);
/* Nanoseconds as microseconds with three decimals. */
void wf_text_us(wf_text *text, uint64_t ns);
void wf_text_address(wf_text *text, uint64_t address);
/* A string in quotes: escaped, cut to WF_NAME_MAX bytes, bytes that are no UTF-8
 * replaced. */
void wf_text_string(wf_text *text, const char *string);
void wf_text_string_open(wf_text *text, const char *string); /* without the last quote */

/* ---- the file ---- */

/* A file that is strict JSON after each step, whatever happens to the process. One thread
 * uses it. See README.md, "The file". */
enum { WF_PAGE = 4096 };

typedef struct wf_file {
  int file;
  bool has_failed; /* to write: nothing more is written */
  bool has_lines;  /* a comma is needed before the next */
  uint64_t end;    /* where the tail is in the file */
  size_t pending;  /* bytes of `page` that are to be written there */
  char *window;    /* a part of the file as memory, or NULL */
  uint64_t window_at;
  char page[WF_PAGE];
} wf_file;

bool wf_file_open(wf_file *out, int file, const wf_text *head);
void wf_file_line(wf_file *out, const wf_text *line);
void wf_file_flush(wf_file *out);
void wf_file_close(wf_file *out);
void wf_file_abandon(wf_file *out); /* closes it as it is */

/* ---- from records to lines (export.c) ---- */

/* Everything is called by the reader. */
void wf_export_begin(wf_file *out, uint32_t session, uint64_t start_ns, uint64_t limit);
void wf_export_track(wf_track *track);
/* Writes the beginnings of what has been open for long. */
void wf_export_announce(wf_track *track, uint64_t now_ns);
/* Ends what is open. */
void wf_export_close_track(wf_track *track, uint64_t now_ns);
/* The samples that follow are the last ones; then the end. */
void wf_export_last(void);
void wf_export_end(const char *reason, uint64_t now_ns);

#endif
