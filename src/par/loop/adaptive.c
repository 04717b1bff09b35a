/* par/loop/adaptive.c - the loop that all others are made of: cuts a range by demand.
 *
 * A thread runs its range block by block. While it runs a block, the rest of the range is
 * offered, as a parcel. Nobody sees it while nobody looks for work, and then it costs a
 * few nanoseconds; but a thread that finds nothing else can take the rest over even if
 * the block never ends. Before each block the thread checks whether somebody asked for
 * work, and if so it offers the upper half of its range first. So a range is cut only as
 * often as there are threads without work, whatever the elements cost.
 *
 * Blocks start at one element and grow until one takes about ten microseconds
 * (base/crew.h). A thread that takes a part over starts at one element again: that it had
 * to ask shows that something takes longer than it seemed.
 *
 * Called by wf_loop_run, from everywhere in src/par. The job lives in the frame of the
 * calling thread, the leader; its x_ words are shared, everything else is only read once
 * the loop has started. A piece belongs to the thread that runs it. README.md proves that
 * each index runs once.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/crew.h"
#include "loop.h"

/* A thread is woken for at least this much work: waking costs the waker about 4 us, and a
 * woken thread that finds nothing searches for about 15 us before it sleeps again
 * (README.md, "Waking in one go"). */
enum { MICROSECONDS_PER_WAKE = 20 };

/* In a crew larger than this, the parts that a loop makes for idle threads are public at
 * once. A thread that finds one does not have to ask, and a busy owner does not have to
 * answer. A choice: the width of a search (src/sched/search.c). */
enum { WIDE_CREW = 8 };

typedef struct job {
  const wf_loop *loop;
  const weft_opts *opts;
  size_t n;                /* at least 1 */
  unsigned crew;           /* threads that may take part, at least 1 */
  size_t min_len, max_len; /* of a block: 1 <= min_len <= max_len */
  uint64_t ticks_wanted;   /* for a block */
  bool is_limited;         /* the options restrict block lengths */
  bool may_stop;           /* before the end of the range */
  bool from_front;         /* all threads take their blocks from there */
  bool is_wide;            /* the crew is larger than WIDE_CREW */
  const wf_owner *leader;  /* the thread that has started the loop */
  wf_word x_decided;       /* 1: others were woken, or nobody needs to be */
  wf_word x_done;          /* elements that the leader has run until then; it writes */
  wf_u64 x_start; /* when the leader began its first block; it writes; 0: not yet */
  wf_shared_work *elements; /* those that have not ended; only in loops by demand */
  const wf_region *region;  /* the leader's; all parts run in it */
} job;

static bool must_stop(const job *j, size_t begin) {
  return (j->loop->is_over != NULL && j->loop->is_over(begin, j->loop->ctx)) ||
         wf_par_cancelled(j->opts);
}

static inline bool is_over(const job *j, size_t begin) {
  return WF_UNLIKELY(j->may_stop) && must_stop(j, begin);
}

/* ---- blocks ---- */

/* WEFT_SPLIT_RECURSIVE: a range is cut only if both halves have min_len elements. */
static bool is_leaf(const job *j, size_t length) {
  return length / 2 < j->min_len && length <= j->max_len;
}

/* The end of the leaf that starts at `begin`, found from the top. */
static size_t leaf_end(const job *j, size_t begin) {
  size_t from = 0, to = j->n;
  while (!is_leaf(j, to - from)) {
    size_t mid = from + (to - from) / 2;
    if (begin < mid)
      to = mid;
    else
      from = mid;
  }
  return to;
}

/* The end of a block of about `len` elements, where the options restrict lengths: ranges
 * start at multiples of min_len and end there or at the end of the loop. */
static size_t limited_block_end(const job *j, size_t begin, size_t end, size_t len) {
  size_t left = end - begin;
  if (j->opts->split == WEFT_SPLIT_RECURSIVE) return leaf_end(j, begin);
  if (len > j->max_len) len = j->max_len;
  len = len > j->min_len ? len - len % j->min_len : j->min_len;
  if (len >= left) return end;
  if (left - len >= j->min_len) return begin + len;
  /* The rest would be too short for a block of its own. */
  if (left <= j->max_len) return end;
  return begin + (len > j->min_len ? len - j->min_len : len);
}

/* The end of a block of about `len` elements at the front of [begin, end). */
static inline size_t block_end(const job *j, size_t begin, size_t end, size_t len) {
  WF_ASSERT(begin < end && end <= j->n && len >= 1);
  if (WF_UNLIKELY(j->is_limited)) return limited_block_end(j, begin, end, len);
  return len < end - begin ? begin + len : end;
}

/* The end of the lower half of a range, or 0 if it cannot be cut. */
static size_t middle(const job *j, size_t begin, size_t end) {
  size_t units = (end - begin) / j->min_len;
  if (units < 2) {
    /* Only a rest that is longer than max_len can be cut. */
    return end - begin > j->max_len ? begin + j->min_len : 0;
  }
  return begin + units / 2 * j->min_len;
}

/* ---- waking others ---- */

/* How many sleeping threads could use a part of what is left, `ticks` after the leader
 * has begun its first block. `done`: the elements that the leader has run in that time.
 */
static unsigned wakes_worth(const job *j, size_t done, uint64_t ticks, bool leads) {
  wf_load load = wf_sched_load();
  size_t left = (j->n - done) / j->min_len;
  size_t most = j->crew < load.cpus ? j->crew : load.cpus;
  if (left < most) most = left;
  most -= most > 0; /* the leader's part */
  if (done > 0) {
    double each = (double)ticks / (double)done;
    double per_wake = (double)MICROSECONDS_PER_WAKE * (double)wf_sys_ticks_per_us();
    double worth = each * (double)(j->n - done) / per_wake;
    if (worth < (double)most) most = (size_t)worth;
  }
  /* Threads that are here, or on the way. */
  size_t here = (size_t)load.searching + (leads ? 0 : 1);
  most = most > here ? most - here : 0;
  return most < load.sleeping ? (unsigned)most : load.sleeping;
}

/* When the time for a block is over, the leader decides after its block; or a thread that
 * comes to help, if the leader is still in one. */
static __attribute__((noinline)) unsigned wake_others_slow(job *j, size_t ran) {
  bool leads = wf_self == j->leader;
  /* Relaxed, as all in this section: the numbers only decide about speed. */
  uint64_t start = wf_u64_load_relaxed(&j->x_start);
  uint64_t ticks = wf_sys_ticks() - start;
  size_t done = wf_word_load_relaxed(&j->x_done);
  if (leads) wf_word_store_relaxed(&j->x_done, done += ran);
  if (start == 0 || ticks < j->ticks_wanted) return 0; /* too soon to tell */
  uintptr_t undecided = 0;
  /* explorer: a load and a store would do; two threads would wake others instead of one.
   */
  if (!wf_word_cas_relaxed(&j->x_decided, &undecided, 1)) return 0;
  WF_ASSERT(done <= j->n);
  unsigned wakes = wakes_worth(j, done, ticks, leads);
  return wakes > 0 ? wf_sched_wake(wakes) : 0;
}

static __attribute__((noinline)) void note_start_slow(job *j) {
  if (wf_self != j->leader || wf_u64_load_relaxed(&j->x_start) != 0) return;
  wf_u64_store_relaxed(&j->x_start, wf_sys_ticks()); /* relaxed: as above */
}

/* Called before a block: the first offer has been made, during which the system may have
 * run the woken thread in the place of this one. */
static inline void note_start(job *j) {
  if (WF_UNLIKELY(wf_word_load_relaxed(&j->x_decided) == 0)) note_start_slow(j);
}

/* Called after a block of `ran` elements, or with 0 when a thread comes to help: wakes as
 * many sleepers as the loop can use, at once, as soon as it is known to be a long one.
 * Returns how many. */
static inline unsigned wake_others(job *j, size_t ran) {
  if (WF_LIKELY(wf_word_load_relaxed(&j->x_decided) != 0)) return 0;
  return wake_others_slow(j, ran);
}

/* If nobody sleeps, nobody needs to be woken. */
static void start_watching(job *j, wf_idlers idlers) {
  j->leader = wf_self;
  if (!idlers.any_asleep)
    wf_word_store_relaxed(&j->x_decided, 1); /* nobody else sees it yet */
}

/* ---- ranges that are cut by demand ---- */

/* Invariant: begin < end <= job->n while the piece is run or on offer. */
typedef struct piece {
  job *job;
  size_t begin, end;
  size_t length;   /* of the next block, at least 1 */
  unsigned spread; /* this many other threads are idle and could use a part */
  size_t *own;     /* how many elements the calling thread is responsible for */
} piece;

static void check_piece(const piece *p) {
  WF_ASSERT(p->begin < p->end && p->end <= p->job->n);
  WF_ASSERT(p->length >= 1);
  WF_ASSERT(p->spread < p->job->crew);
  WF_ASSERT(p->end - p->begin <= *p->own);
}

static void run_piece(piece *p);

/* A crew of `crew` can use no more than that. */
static unsigned spread_of(const job *j, unsigned idle) {
  return idle < j->crew ? idle : j->crew - 1;
}

/* What a thread runs that has taken a piece over: a copy of the parcel. */
static void run_taken_piece(void *ctx) {
  wf_parcel *parcel = (wf_parcel *)ctx;
  job *j = (job *)parcel->content[0];
  size_t begin = parcel->content[1], own = parcel->amount;
  piece p = {j, begin, begin + own, 1, (unsigned)parcel->content[2], &own};
  unsigned woken = wake_others(j, 0);
  if (woken > p.spread) p.spread = spread_of(j, woken);
  run_piece(&p);
  parcel->amount = own;
}

/* Offers the range [begin, end) of a loop to others, of which `spread` are idle. */
static inline void offer_piece(wf_parcel *parcel, job *j, size_t begin, size_t end,
                               unsigned spread) {
  WF_ASSERT(begin < end);
  parcel->fn = run_taken_piece;
  parcel->work = j->elements;
  parcel->amount = end - begin;
  parcel->content[0] = (uintptr_t)j;
  parcel->content[1] = begin;
  parcel->content[2] = spread;
  wf_parcel_offer(wf_self, parcel, j->region);
}

/* Offers the upper half and runs the lower one. Blocks of half a range get half the
 * length, so that they too leave a rest. */
static void run_halves(piece *p, size_t mid) {
  WF_ASSERT(p->begin < mid && mid < p->end);
  size_t length = p->length > 1 ? p->length / 2 : 1;
  unsigned others = p->spread > 0 ? p->spread - 1 : 0;
  piece lower = {p->job, p->begin, mid, length, others / 2, p->own};
  piece upper = {p->job, mid, p->end, length, 0, p->own};
  wf_parcel parcel;
  offer_piece(&parcel, p->job, mid, p->end, others - others / 2);
  if (p->spread > 0 && p->job->is_wide) wf_offers_show(wf_self);
  run_piece(&lower);
  if (!wf_parcel_take_back(wf_self, &parcel)) {
    *p->own -= p->end - mid;
    return;
  }
  run_piece(&upper); /* nobody came: it is not spread */
}

/* Runs the block [p->begin, next) while the rest is on offer. Returns false if the rest
 * was taken. *clock is when the block begins, and is set to when it ends. */
static bool run_block(piece *p, size_t next, uint64_t *clock) {
  WF_ASSERT(p->begin < next && next < p->end);
  const wf_loop *loop = p->job->loop;
  wf_parcel rest;
  offer_piece(&rest, p->job, next, p->end, 0);
  note_start(p->job);
  loop->body(p->begin, next, loop->ctx);
  uint64_t start = *clock;
  *clock = wf_sys_ticks();
  unsigned woken = wake_others(p->job, next - p->begin);
  if (!wf_parcel_take_back(wf_self, &rest)) {
    *p->own -= p->end - next;
    return false;
  }
  if (woken > 0) p->spread = spread_of(p->job, woken);
  p->length = wf_block_next_length(p->job->ticks_wanted, next - p->begin, *clock - start,
                                   p->end - next);
  p->begin = next;
  return true;
}

static void run_piece(piece *p) {
  const wf_loop *loop = p->job->loop;
  const wf_owner *self = wf_self;
  uint64_t clock = 0;
  for (;;) {
    check_piece(p);
    if (is_over(p->job, p->begin)) return;
    if (p->spread > 0 || wf_is_asked(self)) {
      size_t mid = middle(p->job, p->begin, p->end);
      if (mid != 0) {
        run_halves(p, mid);
        return;
      }
    }
    size_t next = block_end(p->job, p->begin, p->end, p->length);
    if (next == p->end) break;
    if (clock == 0) clock = wf_sys_ticks();
    if (!run_block(p, next, &clock)) return;
  }
  note_start(p->job);
  loop->body(p->begin, p->end, loop->ctx);
}

static void run_by_demand(job *j, wf_idlers idlers) {
  /* In no cache line with anything else: each thread that has taken a part writes it, and
   * all of them read the job. */
  struct {
    char apart[WF_CACHE_LINE];
    wf_shared_work work;
    char apart_too[WF_CACHE_LINE];
  } elements;
  size_t own = j->n;
  piece whole = {j, 0, j->n, 1, spread_of(j, idlers.count), &own};
  j->is_wide = j->crew > WIDE_CREW;
  j->elements = &elements.work;
  j->region = wf_self->region;
  wf_shared_begin(j->elements, j->n);
  run_piece(&whole);
  wf_shared_end(&elements.work, own, "weft_for");
}

/* ---- ranges that are halved to the end ---- */

static void run_recursive(void *ctx) {
  const piece *p = (const piece *)ctx;
  const wf_loop *loop = p->job->loop;
  size_t length = p->end - p->begin;
  if (wf_self != p->job->leader) wake_others(p->job, 0);
  if (is_over(p->job, p->begin)) return;
  if (is_leaf(p->job, length)) {
    note_start(p->job);
    loop->body(p->begin, p->end, loop->ctx);
    wake_others(p->job, length);
    return;
  }
  size_t mid = p->begin + length / 2;
  piece lower = {p->job, p->begin, mid, 0, 0, NULL};
  piece upper = {p->job, mid, p->end, 0, 0, NULL};
  wf_task task;
  wf_offer(wf_self, &task, run_recursive, &upper);
  run_recursive(&lower);
  if (wf_take_back(wf_self, &task)) run_recursive(&upper);
}

/* ---- a limited crew ---- */

/* All members take blocks from the front of the range (base/crew.h). Isolated code uses
 * this too, with all threads in the crew: there a thread that has run its half could not
 * help with the other one. */
static void *enter_loop(void *ctx) {
  job *j = (job *)ctx;
  if (wf_self != j->leader) wake_others(j, 0);
  return j;
}

static void *run_crew_block(void *own, size_t begin, size_t end, void *ctx) {
  job *j = (job *)ctx;
  note_start(j);
  j->loop->body(begin, end, j->loop->ctx);
  wake_others(j, end - begin);
  return own;
}

static size_t end_crew_block(size_t begin, size_t length, const void *ctx) {
  const job *j = (const job *)ctx;
  return is_over(j, begin) ? begin : block_end(j, begin, j->n, length);
}

static __attribute__((noinline)) void run_crew(job *j) {
  wf_crew crew = {.enter = enter_loop,
                  .block = run_crew_block,
                  .ctx = j,
                  .max_len = SIZE_MAX,
                  .end = end_crew_block,
                  .records_blocks = true};
  wf_crew_run(j->opts, j->n, &crew);
}

/* ---- blocks that have a home ---- */

/* The blocks of one thread: those that nobody has begun are [x_next, end). */
typedef struct home_share {
  _Alignas(WF_CACHE_LINE) wf_word x_next;
  size_t end;
} home_share;

/* Shares in the frame of the leader; a choice: 4 KiB. Where there is no memory for more,
 * several threads have one together. */
enum { SHARES_ON_STACK = 64 };

/* Invariant: the shares' blocks are all blocks of the loop, in order. */
typedef struct homely {
  job *job;
  wf_homes homes;
  unsigned count; /* of shares */
  home_share *shares;
} homely;

static void divide_blocks(homely *h) {
  size_t blocks = h->job->n / h->job->min_len + (h->job->n % h->job->min_len != 0);
  size_t each = blocks / h->count, more = blocks % h->count, begin = 0;
  for (unsigned i = 0; i < h->count; i++) {
    wf_word_store_relaxed(&h->shares[i].x_next, begin); /* nobody else sees it yet */
    begin += each + (i < more);
    h->shares[i].end = begin;
  }
  WF_ASSERT(begin == blocks);
}

/* Runs what is left of a share. Relaxed: the word only hands out numbers, as that of a
 * crew does. */
static void run_share(homely *h, home_share *s) {
  job *j = h->job;
  uintptr_t block = wf_word_load_relaxed(&s->x_next);
  while (block < s->end) {
    size_t begin = block * j->min_len;
    if (is_over(j, begin)) return;
    if (!wf_word_cas_relaxed(&s->x_next, &block, block + 1)) continue;
    size_t end = j->n - begin > j->min_len ? begin + j->min_len : j->n;
    note_start(j);
    j->loop->body(begin, end, j->loop->ctx);
    wake_others(j, end - begin);
    block = wf_word_load_relaxed(&s->x_next);
  }
}

/* Begins with the thread's own share, and goes on with those of its neighbours. */
static void run_home_member(void *ctx) {
  homely *h = (homely *)ctx;
  if (wf_self != h->job->leader) wake_others(h->job, 0);
  unsigned own = wf_sched_home(h->homes) % h->count;
  for (unsigned i = 0; i < h->count; i++) {
    unsigned at = own + i < h->count ? own + i : own + i - h->count;
    run_share(h, &h->shares[at]);
  }
}

static __attribute__((noinline)) void run_at_home(job *j) {
  home_share few[SHARES_ON_STACK];
  homely h = {j, wf_sched_homes(), 0, few};
  wf_scratch scratch = {NULL, NULL, 0};
  h.count = h.homes.count;
  if (j->opts->max_workers != 0 && j->opts->max_workers < h.count)
    h.count = j->opts->max_workers;
  unsigned members = h.count;
  if (h.count > SHARES_ON_STACK) {
    scratch = wf_scratch_get(h.count * sizeof(home_share));
    if (scratch.memory != NULL)
      h.shares = (home_share *)scratch.memory;
    else
      h.count = SHARES_ON_STACK;
  }
  divide_blocks(&h);
  wf_members_run(members, run_home_member, &h);
  wf_scratch_put(scratch);
}

/* ---- one thread ---- */

static __attribute__((noinline)) void run_alone(job *j) {
  const wf_loop *loop = j->loop;
  size_t length = j->may_stop ? 1 : SIZE_MAX;
  for (size_t begin = 0; begin < j->n;) {
    size_t next = block_end(j, begin, j->n, length);
    if (is_over(j, begin)) return;
    uint64_t start = j->may_stop ? wf_sys_ticks() : 0;
    loop->body(begin, next, loop->ctx);
    if (j->may_stop)
      length = wf_block_next_length(j->ticks_wanted, next - begin, wf_sys_ticks() - start,
                                    j->n - next);
    begin = next;
  }
}

/* ---- the choice ---- */

static size_t divide_up(size_t n, size_t by) {
  return n / by + (n % by != 0);
}

static void set_lengths(job *j) {
  const weft_opts *o = j->opts;
  size_t chunks = o->target_chunks;
  j->max_len = o->max_len != 0 ? o->max_len : SIZE_MAX;
  j->min_len = o->min_len != 0 ? o->min_len : 1;
  if (chunks == 0 && o->split != WEFT_SPLIT_ADAPTIVE) chunks = 2 * (size_t)j->crew;
  if (chunks != 0) {
    size_t length =
        o->split == WEFT_SPLIT_RECURSIVE ? j->n / chunks : divide_up(j->n, chunks);
    if (length > j->min_len) j->min_len = length;
  }
  if (j->min_len > j->max_len) j->min_len = j->max_len;
  if (o->split == WEFT_SPLIT_FIXED || o->split == WEFT_SPLIT_HOME)
    j->max_len = j->min_len;
  WF_ASSERT(1 <= j->min_len && j->min_len <= j->max_len);
  j->is_limited =
      o->split == WEFT_SPLIT_RECURSIVE || j->min_len > 1 || j->max_len < SIZE_MAX;
}

static void run_job(void *ctx) {
  job *j = (job *)ctx;
  j->crew = wf_par_crew(j->opts);
  set_lengths(j);
  if (j->crew == 1) {
    run_alone(j);
    return;
  }
  wf_idlers idlers = wf_sched_idlers();
  start_watching(j, idlers);
  if (j->opts->split == WEFT_SPLIT_HOME && !j->from_front) {
    run_at_home(j);
  } else if (j->from_front || j->opts->max_workers != 0 || wf_sched_is_isolated()) {
    run_crew(j);
  } else if (j->opts->split == WEFT_SPLIT_RECURSIVE) {
    piece whole = {j, 0, j->n, 1, 0, NULL};
    run_recursive(&whole);
  } else {
    run_by_demand(j, idlers);
  }
}

static inline job job_of(const weft_opts *opts, size_t n, const wf_loop *loop,
                         bool from_front) {
  job j = {.loop = loop, .opts = opts, .n = n, .from_front = from_front};
  j.may_stop = loop->is_over != NULL || opts->cancel != NULL;
  j.ticks_wanted = wf_block_ticks();
  return j;
}

/* ---- in a trace ---- */

typedef struct traced_loop {
  const wf_loop *loop;
  const char *name;
} traced_loop;

static void traced_body(size_t begin, size_t end, void *ctx) {
  const traced_loop *t = (const traced_loop *)ctx;
  wf_sched_block_begins(t->name, begin, end);
  t->loop->body(begin, end, t->loop->ctx);
  wf_sched_call_ends(true);
}

static bool traced_is_over(size_t begin, const void *ctx) {
  const wf_loop *loop = ((const traced_loop *)ctx)->loop;
  return loop->is_over(begin, loop->ctx);
}

/* The loop says which blocks it runs; without a trace it knows nothing of all this. */
static __attribute__((noinline)) void start_traced(const weft_opts *opts, size_t n,
                                                   const wf_loop *loop, bool from_front) {
  traced_loop t = {loop, opts->name != NULL ? opts->name : "weft"};
  wf_loop outer = {traced_body, &t, loop->is_over != NULL ? traced_is_over : NULL};
  job j = job_of(opts, n, &outer, from_front);
  if (n > 0) wf_par_run_traced(opts, n, run_job, &j);
}

static inline void start_loop(const weft_opts *opts, size_t n, const wf_loop *loop,
                              bool from_front) {
  if (WF_UNLIKELY(wf_trace_is_on())) {
    start_traced(opts, n, loop, from_front);
    return;
  }
  job j = job_of(opts, n, loop, from_front);
  if (n > 0) wf_par_run_untraced(opts, run_job, &j);
}

void wf_loop_run(const weft_opts *opts, size_t n, const wf_loop *loop) {
  start_loop(opts, n, loop, false);
}

void wf_loop_run_from_front(const weft_opts *opts, size_t n, const wf_loop *loop) {
  start_loop(opts, n, loop, true);
}
