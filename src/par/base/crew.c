/* par/base/crew.c - see stream.h. Blocks double in length until one takes some ten
 * microseconds, as in loop.c.
 *
 * SPDX-License-Identifier: MIT */
#include "crew.h"

#include "../../sched/join.h"

enum { STREAM_MICROSECONDS = 10 };

typedef struct stream_job {
  const wf_stream *stream;
  const weft_opts *opts;
  size_t n, max_len;
  unsigned crew;
  wf_word x_next; /* blocks up to here were handed out */
} stream_job;

static size_t stream_length(size_t length, uint64_t ticks, size_t max_len) {
  uint64_t wanted = STREAM_MICROSECONDS * wf_sys_ticks_per_us();
  if (ticks > 2 * wanted) return length > 1 ? length / 2 : 1;
  if (ticks > wanted / 2) return length;
  return length <= max_len / 2 ? 2 * length : max_len;
}

static void stream_member(stream_job *j) {
  const wf_stream *s = j->stream;
  void *own = NULL;
  size_t length = j->opts->min_len != 0 ? j->opts->min_len : 1;
  if (length > j->max_len) length = j->max_len;
  /* Relaxed, here and below: the word only hands out numbers; what blocks do is published
   * by the end of the tasks, or by their own means. */
  uintptr_t begin = wf_word_load_relaxed(&j->x_next);
  while (begin < j->n && !wf_par_cancelled(j->opts)) {
    /* A member takes no block before it can run it. */
    if (own == NULL && (own = s->enter(s->ctx)) == NULL) return;
    size_t most = (j->n - begin) / (2 * (size_t)j->crew) + 1;
    size_t next = begin + (length < most ? length : most);
    if (!wf_word_cas_relaxed(&j->x_next, &begin, next)) continue;
    uint64_t start = wf_sys_ticks();
    own = s->block(own, begin, next, s->ctx);
    if (own == NULL) return;
    length = stream_length(next - begin, wf_sys_ticks() - start, j->max_len);
    begin = wf_word_load_relaxed(&j->x_next);
  }
  if (own != NULL) s->leave(own, s->ctx);
}

typedef struct stream_part {
  stream_job *job;
  unsigned members;
} stream_part;

static void stream_members(void *ctx) {
  const stream_part *part = (const stream_part *)ctx;
  if (part->members == 1) {
    stream_member(part->job);
    return;
  }
  unsigned half = part->members / 2;
  stream_part mine = {part->job, part->members - half}, other = {part->job, half};
  wf_task task;
  wf_offer(wf_self, &task, stream_members, &other);
  stream_members(&mine);
  if (wf_take_back(wf_self, &task)) stream_members(&other);
}

size_t wf_stream_run(const weft_opts *opts, size_t n, const wf_stream *stream) {
  stream_job j = {stream, opts, n, stream->max_len, wf_par_crew(opts), {0}};
  if (opts->max_len != 0 && opts->max_len < j.max_len) j.max_len = opts->max_len;
  if (j.crew > n) j.crew = n > 0 ? (unsigned)n : 1;
  stream_part all = {&j, j.crew};
  stream_members(&all);
  return wf_word_load_relaxed(&j.x_next);
}
