/* sched/broadcast.c - a call on every thread of a pool.
 *
 * The first half is how a broadcast reaches the threads: the list that it hangs in, who
 * takes it up, who is woken (sleep.md, "Broadcasts"). The second half is weft_broadcast
 * itself. Functions marked [locked] want the pool's broadcast_lock to be held; a worker
 * takes up and runs broadcasts on its own thread.
 *
 * SPDX-License-Identifier: MIT */
#include "broadcast.h"

#include "record.h"

#include <string.h>
#include <weft/task.h>

/* ---- invariants ---- */

static bool is_taken_up(const wf_broadcast *broadcast) {
  for (unsigned i = 0; i < WF_BROADCAST_WORDS; i++)
    if (broadcast->not_taken[i] != 0) return false;
  return true;
}

static inline __attribute__((unused)) bool is_under_way(const weft_pool *pool,
                                                        const wf_broadcast *broadcast) {
  const wf_broadcast *it = pool->broadcasts_under_way;
  while (it != NULL && it != broadcast) it = it->next_under_way;
  return it != NULL;
}

/* [locked] What the comment of wf_broadcast states about the lists. */
static inline void check_lists(const weft_pool *pool) {
  wf_lock_assert_held(&pool->broadcast_lock);
  for (const wf_broadcast *it = pool->broadcasts_due; it != NULL; it = it->next) {
    WF_ASSERT_SLOW(!is_taken_up(it));
    WF_ASSERT_SLOW(is_under_way(pool, it));
  }
}

/* ---- posting ---- */

/* Puts a broadcast into the lists, for the `started` threads of the pool except worker
 * `except` (0 for none), and wakes them. The caller has set fn, ctx, count, first_index,
 * region, waiter and blocks. False if the pool takes no more broadcasts. */
static bool post(weft_pool *pool, wf_broadcast *broadcast, unsigned started,
                 unsigned except) {
  broadcast->next = NULL;
  memset(broadcast->not_taken, 0, sizeof broadcast->not_taken);
  uint32_t addressees = 0;
  for (unsigned i = 1; i <= started; i++) {
    if (i == except) continue;
    broadcast->not_taken[i / WF_BITSET_WORD_BITS] |= wf_bitset_bit(i);
    addressees++;
  }
  wf_once_latch_init(&broadcast->done_outside);
  wf_count_latch_init(&broadcast->done, addressees + 1); /* one for the caller */
  WF_ASSERT(broadcast->count == addressees + 1);

  if (addressees == 0) return true; /* nobody would take it out of the list again */
  wf_lock_lock(&pool->broadcast_lock);
  if (pool->broadcasts_closed) {
    wf_lock_unlock(&pool->broadcast_lock);
    return false;
  }
  wf_broadcast **last = &pool->broadcasts_due;
  while (*last != NULL) last = &(*last)->next;
  *last = broadcast;
  broadcast->next_under_way = pool->broadcasts_under_way;
  pool->broadcasts_under_way = broadcast;
  for (unsigned i = 1; i <= started; i++)
    /* seq_cst: pairs with the fence in park (sleep.c): either the worker sees this, or it
     * is woken below. explorer: this and the fence below could be weaker, because waking
     * begins with a read-modify-write of the set that the sleeper is in or will add
     * itself to after it. */
    if (i != except) wf_u32_fetch_add_seq_cst(&pool->workers[i].x_broadcasts, 1);
  check_lists(pool);
  wf_lock_unlock(&pool->broadcast_lock);
  wf_fence_seq_cst(); /* pairs with the fence in park */
  for (unsigned i = 1; i <= started; i++)
    if (i != except) wf_sleep_wake_worker(pool, i);
  return true;
}

/* All calls of a broadcast that was posted have been made. */
static void unlist(weft_pool *pool, const wf_broadcast *broadcast) {
  if (wf_fork_is_stale(pool)) return; /* both lists are the parent process's */
  wf_lock_lock(&pool->broadcast_lock);
  check_lists(pool);
  WF_ASSERT(is_taken_up(broadcast)); /* all calls were made */
  wf_broadcast **link = &pool->broadcasts_under_way;
  while (*link != NULL && *link != broadcast) link = &(*link)->next_under_way;
  if (*link != NULL) *link = broadcast->next_under_way; /* else nobody was addressed */
  wf_lock_unlock(&pool->broadcast_lock);
}

/* A thread whose terminate latch is set later sees every broadcast posted before. */
void wf_broadcast_close(weft_pool *pool) {
  wf_lock_lock(&pool->broadcast_lock);
  pool->broadcasts_closed = true;
  wf_lock_unlock(&pool->broadcast_lock);
}

/* ---- taking up ---- */

/* [locked] Does `isolation` wait, perhaps through others, for what is in `other`? An
 * isolation exists as long as what it waits for. */
static bool waits_for(const wf_region *isolation, const wf_region *other) {
  if (other == NULL || other == isolation) return other != NULL;
  for (int i = 0; i < WF_WAITED_BY; i++) /* Relaxed: under the lock. */
    if (waits_for(isolation,
                  (const wf_region *)wf_ptr_load_relaxed(&other->waited_by[i])))
      return true;
  return false;
}

/* [locked] May the worker run broadcasts where it is now? Inside weft_isolate only while
 * the isolated code, or something that it waits for, broadcasts too. Then it runs all
 * broadcasts: if it ran only those, several isolations could wait for each other. */
static bool may_run(const wf_worker *worker) {
  wf_lock_assert_held(&worker->pool->broadcast_lock);
  const wf_region *isolation = wf_isolation(worker);
  if (isolation == NULL || worker->broadcast_waits > 0) return true;
  const wf_broadcast *it = worker->pool->broadcasts_under_way;
  while (it != NULL &&
         (it->region == NULL || !waits_for(isolation, it->region->isolation)))
    it = it->next_under_way;
  return it != NULL;
}

void wf_broadcast_remind(weft_pool *pool) {
  /* The lock makes what the caller noted visible to later looks. */
  wf_lock_lock(&pool->broadcast_lock);
  const bool any = pool->broadcasts_due != NULL;
  wf_lock_unlock(&pool->broadcast_lock);
  if (!any) return; /* the next broadcast wakes its addressees itself */
  /* Pairs with the fence in park. explorer: as in post. */
  wf_fence_seq_cst();
  for (unsigned i = 1; i <= wf_pool_started(pool); i++) wf_sleep_wake_worker(pool, i);
}

/* [locked] The oldest broadcast for this worker. */
static wf_broadcast *find_due(const wf_worker *worker) {
  unsigned word = worker->index / WF_BITSET_WORD_BITS;
  WF_ASSERT(worker->index >= 1 && word < WF_BROADCAST_WORDS); /* a started thread */
  wf_broadcast *it = may_run(worker) ? worker->pool->broadcasts_due : NULL;
  while (it != NULL && (it->not_taken[word] & wf_bitset_bit(worker->index)) == 0)
    it = it->next;
  return it;
}

/* [locked] Takes a broadcast off the list of those due if everybody has taken it up. */
static void unlink_if_taken(weft_pool *pool, const wf_broadcast *broadcast) {
  if (!is_taken_up(broadcast)) return;
  wf_broadcast **link = &pool->broadcasts_due;
  while (*link != broadcast) {
    WF_ASSERT(*link != NULL);
    link = &(*link)->next;
  }
  *link = broadcast->next;
}

wf_broadcast *wf_broadcast_take(wf_worker *worker) {
  /* Relaxed: only a look, the lock decides. A worker on its way to sleep comes here after
   * a fence. */
  if (wf_u32_load_relaxed(&worker->x_broadcasts) == 0) return NULL;
  weft_pool *pool = worker->pool;
  wf_lock_lock(&pool->broadcast_lock);
  wf_broadcast *found = find_due(worker);
  if (found != NULL) {
    found->not_taken[worker->index / WF_BITSET_WORD_BITS] &=
        ~wf_bitset_bit(worker->index);
    /* seq_cst: pairs with the one in post. explorer: relaxed suffices under the lock. */
    uint32_t due = wf_u32_fetch_sub_seq_cst(&worker->x_broadcasts, 1);
    WF_ASSERT(due > 0);
    unlink_if_taken(pool, found);
    check_lists(pool);
  }
  wf_lock_unlock(&pool->broadcast_lock);
  return found;
}

bool wf_broadcast_any(wf_worker *worker) {
  if (wf_u32_load_relaxed(&worker->x_broadcasts) == 0)
    return false; /* ordered by a fence */
  wf_lock_lock(&worker->pool->broadcast_lock);
  bool any = find_due(worker) != NULL;
  wf_lock_unlock(&worker->pool->broadcast_lock);
  return any;
}

void wf_broadcast_run(wf_worker *worker, wf_broadcast *broadcast) {
  weft_pool *pool = worker->pool;
  unsigned waiter = broadcast->waiter;
  bool blocks = broadcast->blocks;
  unsigned index = worker->index - 1 + broadcast->first_index;
  WF_ASSERT(index < broadcast->count);
  WF_ASSERT(blocks || waiter < pool->slots);
  wf_frame outer;
  wf_frame_enter(worker, &outer, broadcast->region);
  wf_record_task(worker, WF_TASK_BROADCAST, (weft_fn *)(void (*)(void))broadcast->fn, -1);
  broadcast->fn(index, broadcast->count, broadcast->ctx);
  wf_record_task_end(worker);
  wf_frame_leave_task(worker, &outer);
  /* The broadcast may be gone once its latch is set. A caller without a place waits on
   * done_outside, which the last thread sets instead. */
  if (!blocks) {
    if (wf_count_latch_done(&broadcast->done)) wf_sleep_wake_worker(pool, waiter);
  } else if (wf_count_latch_count_off(&broadcast->done)) {
    wf_once_latch_set(&broadcast->done_outside);
  }
}

/* ---- weft_broadcast ---- */

/* Is the worker one of the threads that the pool has started, other than stand-ins? */
static bool is_started(const wf_worker *worker) {
  return worker->index >= 1 && worker->index <= worker->pool->thread_places;
}

static void await_calls(wf_worker *worker, wf_broadcast *broadcast) {
  if (broadcast->blocks) {
    wf_once_latch_wait(&broadcast->done_outside);
    return;
  }
  worker->broadcast_waits++;
  wf_worker_wait(worker, &broadcast->done.latch, NULL, "weft_broadcast");
  worker->broadcast_waits--;
}

/* The call on this thread itself. A scope that it leaves open is reported now: the wait
 * that follows looks at the scope around it, which would be gone. */
static void call_here(wf_worker *worker, const wf_broadcast *broadcast, unsigned index) {
  unsigned frames = worker != NULL ? worker->frames : 0;
  broadcast->fn(index, broadcast->count, broadcast->ctx);
  if (worker != NULL && worker->frames != frames)
    wf_fatal("weft_scope_begin", "a function has ended and left its scope open");
}

/* `worker` is the calling thread; NULL if it came from outside and there was no memory
 * for a context. */
static void broadcast_from(weft_pool *pool, wf_worker *worker, wf_broadcast_fn *fn,
                           void *ctx) {
  /* Read once: a stand-in's hook may come here while the pool ends, when it becomes 0. */
  unsigned started = wf_pool_started(pool);
  bool is_one = worker != NULL && !worker->alone && is_started(worker);
  wf_broadcast broadcast = {.fn = fn, .ctx = ctx, .region = wf_guest_region()};
  broadcast.count = started + (is_one ? 0 : 1);
  broadcast.first_index = is_one ? 0 : 1;
  broadcast.blocks = worker == NULL || worker->serial || worker->alone;
  broadcast.waiter = broadcast.blocks ? 0 : worker->index;
  if (!post(pool, &broadcast, started, is_one ? worker->index : 0)) {
    fn(0, 1, ctx); /* in a hook at the end of the pool */
    return;
  }
  call_here(worker, &broadcast, is_one ? worker->index - 1 : 0);
  if (!wf_count_latch_count_off(&broadcast.done)) await_calls(worker, &broadcast);
  unlist(pool, &broadcast);
}

void weft_broadcast_with(const weft_opts *o, wf_broadcast_fn *fn, void *ctx) {
  weft_opts opts;
  if (wf_opts_read(&opts, o) != 0)
    wf_fatal("weft_broadcast_with", "invalid options; start from WEFT_OPTS_INIT");
  if (fn == NULL) wf_fatal("weft_broadcast", "fn is NULL");
  weft_pool *pool = wf_pool_or_current(opts.pool);
  if (pool == NULL) { /* no memory for a pool: this thread is the only one */
    fn(0, 1, ctx);
    return;
  }
  wf_entry entry;
  wf_worker *worker = wf_guest_enter(&entry, pool);
  broadcast_from(pool, worker, fn, ctx);
  if (worker != NULL) wf_guest_leave(&entry, "weft_broadcast");
}

void weft_broadcast(wf_broadcast_fn *fn, void *ctx) {
  weft_broadcast_with(NULL, fn, ctx);
}
