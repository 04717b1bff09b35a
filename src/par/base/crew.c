/* par/base/crew.c - members that work on one call at the same time, and the blocks that
 * they take. Called by loops with a limited crew, by searches, histograms, compactions,
 * scans and iterators.
 *
 * The job lives in the frame of the thread that calls; members share one word of it,
 * x_next, and own what they have entered with.
 *
 * SPDX-License-Identifier: MIT */
#include "crew.h"

/* ---- members ---- */

typedef struct members_part {
  unsigned count; /* at least 1 */
  weft_fn *member;
  void *ctx;
} members_part;

/* Forks half of the members until one is left. */
static void run_members(void *ctx) {
  const members_part *part = (const members_part *)ctx;
  if (part->count == 1) {
    part->member(part->ctx);
    return;
  }
  members_part mine = *part, other = *part;
  other.count = part->count / 2;
  mine.count = part->count - other.count;
  wf_task task;
  wf_offer(wf_self, &task, run_members, &other);
  run_members(&mine);
  if (wf_take_back(wf_self, &task)) run_members(&other);
}

void wf_members_run(unsigned count, weft_fn *member, void *ctx) {
  WF_ASSERT(count >= 1);
  WF_ASSERT(count == 1 || wf_self != NULL);
  members_part all = {count, member, ctx};
  run_members(&all);
}

/* ---- members that take blocks ---- */

/* Invariant: 0 <= x_next <= n; blocks that were taken cover [0, x_next). */
typedef struct crew_job {
  const wf_crew *crew;
  const weft_opts *opts;
  size_t n;
  unsigned members;        /* 1 <= members <= n */
  size_t min_len, max_len; /* of a block: 1 <= min_len <= max_len */
  uint64_t ticks_wanted;   /* for a block */
  wf_word x_next;          /* where the next block begins */
} crew_job;

/* The end of a block of about `length` elements, where the options set lengths: it has at
 * least min_len of them, and so has what is left behind it, as far as max_len allows. */
static size_t crew_limited_end(const crew_job *j, size_t begin, size_t length) {
  size_t left = j->n - begin;
  if (length < j->min_len) length = j->min_len;
  if (length >= left || (left - length < j->min_len && left <= j->max_len)) return j->n;
  if (left - length < j->min_len && left - j->min_len >= j->min_len)
    length = left - j->min_len;
  return begin + length;
}

/* The end of the next block, or `begin`: there is no more to do. At most a
 * 2 * members-th of what is left, so that all members end at about the same time. */
static size_t crew_block_end(const crew_job *j, size_t begin, size_t length) {
  size_t most = (j->n - begin) / (2 * (size_t)j->members) + 1;
  if (length > most) length = most;
  if (length > j->max_len) length = j->max_len;
  if (j->crew->end != NULL) return j->crew->end(begin, length, j->crew->ctx);
  return wf_par_cancelled(j->opts) ? begin : crew_limited_end(j, begin, length);
}

static void crew_member(void *ctx) {
  crew_job *j = (crew_job *)ctx;
  const wf_crew *c = j->crew;
  void *own = NULL;
  size_t length = j->min_len;
  /* Relaxed, here and below: the word only hands out numbers. What blocks write is
   * published by the end of the tasks, or by the blocks' own means. */
  uintptr_t begin = wf_word_load_relaxed(&j->x_next);
  while (begin < j->n) {
    size_t end = crew_block_end(j, begin, length);
    WF_ASSERT(begin <= end && end <= j->n);
    if (end == begin) break;
    /* A member takes no block before it can run it. */
    if (own == NULL) own = c->enter != NULL ? c->enter(c->ctx) : c->ctx;
    if (own == NULL) return;
    if (!wf_word_cas_relaxed(&j->x_next, &begin, end)) continue;
    uint64_t start = wf_sys_ticks();
    own = c->block(own, begin, end, c->ctx);
    if (own == NULL) return;
    length = wf_block_next_length(j->ticks_wanted, end - begin, wf_sys_ticks() - start,
                                  j->n - end);
    begin = wf_word_load_relaxed(&j->x_next);
    WF_ASSERT(end <= begin && begin <= j->n);
  }
  if (own != NULL && c->leave != NULL) c->leave(own, c->ctx);
}

/* ---- in a trace ---- */

typedef struct traced_crew {
  const wf_crew *crew;
  const char *name;
} traced_crew;

static void *enter_traced(void *ctx) {
  const wf_crew *crew = ((const traced_crew *)ctx)->crew;
  return crew->enter != NULL ? crew->enter(crew->ctx) : crew->ctx;
}

static void *run_traced_block(void *own, size_t begin, size_t end, void *ctx) {
  const traced_crew *t = (const traced_crew *)ctx;
  wf_sched_block_begins(t->name, begin, end);
  own = t->crew->block(own, begin, end, t->crew->ctx);
  wf_sched_call_ends(true);
  return own;
}

static void leave_traced(void *own, void *ctx) {
  const wf_crew *crew = ((const traced_crew *)ctx)->crew;
  if (crew->leave != NULL) crew->leave(own, crew->ctx);
}

static size_t end_traced(size_t begin, size_t length, const void *ctx) {
  const wf_crew *crew = ((const traced_crew *)ctx)->crew;
  return crew->end(begin, length, crew->ctx);
}

/* Lets a crew say which blocks it runs. */
static size_t run_traced_crew(const weft_opts *opts, size_t n, const wf_crew *crew) {
  traced_crew t = {crew, opts->name != NULL ? opts->name : "weft"};
  wf_crew outer = {.enter = enter_traced,
                   .block = run_traced_block,
                   .leave = leave_traced,
                   .ctx = &t,
                   .max_len = crew->max_len,
                   .end = crew->end != NULL ? end_traced : NULL,
                   .records_blocks = true};
  return wf_crew_run(opts, n, &outer);
}

size_t wf_crew_run(const weft_opts *opts, size_t n, const wf_crew *crew) {
  if (n == 0) return 0;
  if (WF_UNLIKELY(wf_trace_is_on()) && !crew->records_blocks)
    return run_traced_crew(opts, n, crew);
  WF_ASSERT(crew->max_len >= 1);
  crew_job j = {.crew = crew, .opts = opts, .n = n};
  j.members = wf_par_crew(opts);
  if (j.members > n) j.members = (unsigned)n;
  j.max_len = crew->max_len;
  if (opts->max_len != 0 && opts->max_len < j.max_len) j.max_len = opts->max_len;
  j.min_len = opts->min_len != 0 ? opts->min_len : 1;
  if (j.min_len > j.max_len) j.min_len = j.max_len;
  j.ticks_wanted = wf_block_ticks();
  wf_members_run(j.members, crew_member, &j);
  return wf_word_load_relaxed(&j.x_next);
}
