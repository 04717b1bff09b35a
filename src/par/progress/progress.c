/* par/progress/progress.c - weft_progress: counters for each thread, the rate over the
 * last seconds, and what follows from both.
 *
 * Called by programs, on any thread. What threads add goes to a counter of their own
 * (core/per_thread.c); whoever wants to know the sum goes through all of them. The rate
 * and the title are under the lock of the progress, which is held for some nanoseconds.
 *
 * SPDX-License-Identifier: MIT */
#include "progress.h"
#include "../../core/per_thread.h"
#include "../base/call.h"
#include "../shared/shared.h"

#include <stdlib.h>
#include <string.h>
#include <weft/loop.h>

/* The rate is that of the last SAMPLES * SAMPLE_NS, four seconds; a choice: long enough
 * for blocks of a second, short enough to follow a loop whose elements become harder. */
enum { SAMPLES = 16 };
#define SAMPLE_NS UINT64_C(250000000)

typedef struct progress_sample {
  uint64_t ns, done;
} progress_sample;

struct weft_progress {
  /* What weft_progress_add reads. */
  wf_per_thread counts; /* of one wf_u64 each, written by its thread, read by any */
  wf_u64 x_uncounted;   /* added by threads that there was no memory for */
  char apart[WF_CACHE_LINE];
  /* What others write. */
  wf_screen_entry entry;
  wf_u64 x_total;
  uint32_t process; /* in which it began: a child of fork does not take its lock */
  uint64_t begin_ns;
  bool vanishes;
  char unit[WF_UNIT_SIZE];
  /* Under the lock. Samples are older the further they are from `newest`, and all are the
   * first one at the beginning. */
  wf_lock lock;
  char title[WF_TITLE_SIZE];
  progress_sample samples[SAMPLES];
  unsigned newest;
  uint64_t left_ns, left_since_ns; /* what the program has said; UINT64_MAX: nothing */
};

/* ---- counting ---- */

void weft_progress_add(weft_progress *p, uint64_t n) {
  if (p == NULL) return;
  wf_u64 *x_count = (wf_u64 *)wf_per_thread_get(&p->counts, wf_thread_key());
  if (WF_LIKELY(x_count != NULL))
    wf_u64_count(x_count, n);
  else
    wf_u64_fetch_add_relaxed(&p->x_uncounted, n); /* relaxed: a sum, nothing else */
}

static uint64_t sum_counts(const weft_progress *p) {
  uint64_t sum = wf_u64_load_relaxed(&p->x_uncounted); /* any recent number will do */
  const wf_thread_slot *slot = wf_per_thread_first(&p->counts);
  for (; slot != NULL; slot = slot->next) {
    const wf_u64 *x_count = (const wf_u64 *)wf_slot_memory(slot);
    sum += wf_u64_load_relaxed(x_count); /* any recent number will do */
  }
  return sum;
}

/* ---- rate and time left, under the lock ---- */

static double rate_now(weft_progress *p, uint64_t now_ns, uint64_t done) {
  const progress_sample *oldest = &p->samples[(p->newest + 1) % SAMPLES];
  double seconds = (double)(now_ns - oldest->ns) * 1e-9;
  double rate =
      seconds > 0 && done > oldest->done ? (double)(done - oldest->done) / seconds : 0;
  if (now_ns - p->samples[p->newest].ns >= SAMPLE_NS) {
    p->newest = (p->newest + 1) % SAMPLES;
    p->samples[p->newest] = (progress_sample){now_ns, done};
  }
  return rate;
}

static uint64_t left_now(const weft_progress *p, uint64_t now_ns,
                         const weft_progress_state *s) {
  if (s->total > 0 && s->done >= s->total) return 0;
  if (p->left_ns != UINT64_MAX) {
    uint64_t since_ns = now_ns - p->left_since_ns;
    return p->left_ns > since_ns ? p->left_ns - since_ns : 0;
  }
  if (s->total == 0 || !(s->rate > 0)) return UINT64_MAX;
  double left_ns = (double)(s->total - s->done) / s->rate * 1e9;
  return left_ns < 1e18 ? (uint64_t)left_ns : UINT64_MAX; /* 30 years are unknown */
}

/* Locks the progress, unless this is a child of fork: another thread of the parent may
 * have held the lock, and there is no other thread here that could. */
static bool lock_progress(weft_progress *p) {
  if (p->process != wf_sys_process_id()) return false;
  wf_lock_lock(&p->lock);
  return true;
}

static void unlock_progress(weft_progress *p, bool is_locked) {
  if (is_locked) wf_lock_unlock(&p->lock);
}

/* The clock is read under the lock, so that samples do not go back in time. */
static weft_progress_state look_at(weft_progress *p, char title[WF_TITLE_SIZE]) {
  weft_progress_state s = WEFT_PROGRESS_STATE_INIT;
  bool is_locked = lock_progress(p);
  uint64_t now_ns = wf_sys_now_ns();
  s.done = sum_counts(p);
  s.total = wf_u64_load_relaxed(&p->x_total); /* any recent number will do */
  s.elapsed_ns = now_ns - p->begin_ns;
  s.rate = rate_now(p, now_ns, s.done);
  s.left_ns = left_now(p, now_ns, &s);
  if (title != NULL) memcpy(title, p->title, WF_TITLE_SIZE);
  unlock_progress(p, is_locked);
  return s;
}

static weft_progress *progress_of(wf_screen_entry *entry) {
  return (weft_progress *)(void *)((char *)entry - offsetof(struct weft_progress, entry));
}

static void look_for_screen(wf_screen_entry *entry, wf_progress_view *out) {
  weft_progress *p = progress_of(entry);
  out->state = look_at(p, out->title);
  memcpy(out->unit, p->unit, sizeof out->unit);
}

/* ---- begin and end ---- */

/* Does a structure of this size end inside the member? */
static bool ends_within(size_t size, size_t offset, size_t member) {
  return size > offset && size < offset + member;
}

static int read_progress_opts(weft_progress_opts *out, const weft_progress_opts *given) {
  *out = (weft_progress_opts)WEFT_PROGRESS_OPTS_INIT;
  if (given == NULL) return 0;
  size_t size = given->struct_size;
  if (size < sizeof(size_t) ||
      ends_within(size, offsetof(weft_progress_opts, unit), sizeof out->unit) ||
      ends_within(size, offsetof(weft_progress_opts, interval_ms),
                  sizeof out->interval_ms))
    return WEFT_EINVAL;
  if (size > sizeof *out) size = sizeof *out;
  memcpy(out, given, size);
  return 0;
}

static void fill_progress(weft_progress *p, const weft_progress_opts *o,
                          const char *title, uint64_t total) {
  wf_u64_store_relaxed(&p->x_total, total); /* nobody else knows of it yet */
  wf_progress_copy_text(p->title, sizeof p->title, title);
  wf_progress_copy_text(p->unit, sizeof p->unit, o->unit);
  p->vanishes = o->vanishes;
  p->process = wf_sys_process_id();
  p->left_ns = UINT64_MAX;
  p->begin_ns = wf_sys_now_ns();
  for (unsigned i = 0; i < SAMPLES; i++) p->samples[i].ns = p->begin_ns;
  p->entry.interval_ms = o->interval_ms;
  p->entry.look = look_for_screen;
}

int weft_progress_begin_with(const weft_progress_opts *o, weft_progress **out,
                             const char *title, uint64_t total) {
  weft_progress_opts opts;
  if (out == NULL) return WEFT_EINVAL;
  *out = NULL;
  int status = read_progress_opts(&opts, o);
  if (status != 0) return status;
  weft_progress *p = (weft_progress *)malloc(sizeof *p);
  if (p == NULL) return WEFT_ENOMEM;
  memset(p, 0, sizeof *p);
  status =
      wf_per_thread_init(&p->counts, sizeof(wf_u64), WF_FIRST_ENTRIES_LOG2, NULL, NULL);
  if (status != 0) {
    free(p);
    return status;
  }
  fill_progress(p, &opts, title, total);
  if (!opts.is_quiet) wf_screen_add(&p->entry);
  *out = p;
  return 0;
}

int weft_progress_begin(weft_progress **out, const char *title, uint64_t total) {
  return weft_progress_begin_with(NULL, out, title, total);
}

void weft_progress_end(weft_progress *p) {
  if (p == NULL) return;
  /* A child of fork has inherited an entry that is in no list of its own. */
  if (p->process == wf_sys_process_id()) wf_screen_remove(&p->entry, !p->vanishes);
  wf_per_thread_destroy(&p->counts);
  free(p);
}

/* ---- the rest ---- */

void weft_progress_set_total(weft_progress *p, uint64_t total) {
  if (p != NULL) wf_u64_store_relaxed(&p->x_total, total); /* a number, nothing else */
}

void weft_progress_set_title(weft_progress *p, const char *title) {
  char copy[WF_TITLE_SIZE];
  if (p == NULL) return;
  wf_progress_copy_text(copy, sizeof copy, title);
  bool is_locked = lock_progress(p);
  memcpy(p->title, copy, sizeof copy);
  unlock_progress(p, is_locked);
}

void weft_progress_set_left(weft_progress *p, uint64_t left_ns) {
  if (p == NULL) return;
  bool is_locked = lock_progress(p);
  p->left_ns = left_ns;
  p->left_since_ns = wf_sys_now_ns();
  unlock_progress(p, is_locked);
}

/* An older header may end anywhere: only whole numbers are copied. */
void weft_progress_get(weft_progress *p, weft_progress_state *state) {
  wf_refuse_if(state == NULL, "weft_progress_get", "the state is NULL");
  size_t given = state->struct_size;
  wf_refuse_if(given < sizeof(size_t), "weft_progress_get", "the state has no size");
  weft_progress_state now = WEFT_PROGRESS_STATE_INIT;
  now.left_ns = UINT64_MAX;
  if (p != NULL) now = look_at(p, NULL);
  size_t size = given < sizeof now ? given : sizeof now;
  size -= (size - offsetof(weft_progress_state, done)) % sizeof now.done;
  memcpy(state, &now, size);
  state->struct_size = given;
}

void weft_progress_draw(void) {
  wf_screen_draw();
}

void weft_progress_print(const char *line) {
  wf_refuse_if(line == NULL, "weft_progress_print", "the line is NULL");
  wf_screen_print(line);
}

/* ---- a loop ---- */

typedef struct counted_loop {
  weft_progress *progress;
  weft_range_fn *body;
  void *ctx;
} counted_loop;

static void run_counted(size_t begin, size_t end, void *ctx) {
  const counted_loop *loop = (const counted_loop *)ctx;
  loop->body(begin, end, loop->ctx);
  weft_progress_add(loop->progress, end - begin);
}

void weft_progress_for_with(const weft_opts *o, const char *title, size_t n,
                            weft_range_fn *body, void *ctx) {
  wf_refuse_if(body == NULL && n > 0, "weft_progress_for", "the function is NULL");
  if (n == 0) return;
  weft_opts opts;
  wf_par_options(&opts, o, "weft_progress_for");
  counted_loop loop = {NULL, body, ctx};
  (void)weft_progress_begin(&loop.progress, title, n);
  weft_for_with(&opts, n, run_counted, &loop);
  weft_progress_end(loop.progress);
}

void weft_progress_for(const char *title, size_t n, weft_range_fn *body, void *ctx) {
  weft_progress_for_with(NULL, title, n, body, ctx);
}
