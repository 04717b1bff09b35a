/* sched/mail.c - see mail.h. Who wakes whom: sleep.md, "Mail".
 *
 * SPDX-License-Identifier: MIT */
#include "mail.h"

#include <string.h>

bool wf_mail_post(weft_pool *pool, wf_broadcast *broadcast, unsigned except) {
  unsigned started = wf_pool_started(pool);
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

  if (addressees == 0) return true; /* nobody would take it out of the list again */
  wf_lock_lock(&pool->mail_lock);
  if (pool->ending) {
    wf_lock_unlock(&pool->mail_lock);
    return false;
  }
  wf_broadcast **last = &pool->mail;
  while (*last != NULL) last = &(*last)->next;
  *last = broadcast;
  broadcast->next_under_way = pool->under_way;
  pool->under_way = broadcast;
  for (unsigned i = 1; i <= started; i++)
    /* seq_cst: pairs with the fence in park (sleep.c): either the worker sees its mail,
     * or it is woken below. explorer: this and the fence below could be weaker, because
     * waking begins with a read-modify-write of the set that the sleeper is in or will
     * add itself to after it. */
    if (i != except) wf_u32_fetch_add_seq_cst(&pool->workers[i].x_mail, 1);
  wf_lock_unlock(&pool->mail_lock);
  wf_fence_seq_cst(); /* pairs with the fence in park */
  for (unsigned i = 1; i <= started; i++)
    if (i != except) wf_sleep_wake_worker(pool, i);
  return true;
}

void wf_mail_end(weft_pool *pool, const wf_broadcast *broadcast) {
  if (wf_fork_is_stale(pool)) return; /* both lists are the parent process's */
  wf_lock_lock(&pool->mail_lock);
  wf_broadcast **link = &pool->under_way;
  while (*link != NULL && *link != broadcast) link = &(*link)->next_under_way;
  if (*link != NULL) *link = broadcast->next_under_way; /* else it had no addressees */
  wf_lock_unlock(&pool->mail_lock);
}

/* A thread that is told to end later sees all mail that was posted before. */
void wf_mail_close(weft_pool *pool) {
  wf_lock_lock(&pool->mail_lock);
  pool->ending = true;
  wf_lock_unlock(&pool->mail_lock);
}

/* [locked] Does one isolation wait, perhaps through others, for what is in the other?
 * Each of them is there as long as what it waits for is. */
static bool waits_for(const wf_region *isolation, const wf_region *other) {
  if (other == NULL || other == isolation) return other != NULL;
  for (int i = 0; i < WF_WAITED_BY; i++) /* Relaxed: under the lock. */
    if (waits_for(isolation,
                  (const wf_region *)wf_ptr_load_relaxed(&other->waited_by[i])))
      return true;
  return false;
}

/* [locked] May the worker run broadcasts where it is now? Inside weft_isolate only while
 * what it is a part of, or waits for, broadcasts too: then all of them, or several such
 * would wait for each other. */
static bool may_run(const wf_worker *worker) {
  const wf_region *isolation = wf_isolation(worker);
  if (isolation == NULL || worker->broadcasts > 0) return true;
  const wf_broadcast *it = worker->pool->under_way;
  while (it != NULL &&
         (it->region == NULL || !waits_for(isolation, it->region->isolation)))
    it = it->next_under_way;
  return it != NULL;
}

void wf_mail_remind(weft_pool *pool) {
  wf_lock_lock(&pool->mail_lock); /* what the caller noted is seen by later looks */
  const bool any = pool->mail != NULL;
  wf_lock_unlock(&pool->mail_lock);
  if (!any) return; /* the next one wakes its addressees itself */
  /* Pairs with the fence in park. explorer: as in wf_mail_post. */
  wf_fence_seq_cst();
  for (unsigned i = 1; i <= wf_pool_started(pool); i++) wf_sleep_wake_worker(pool, i);
}

/* [locked] The oldest broadcast for this worker. */
static wf_broadcast *find_mail(const wf_worker *worker) {
  unsigned word = worker->index / WF_BITSET_WORD_BITS;
  wf_broadcast *it = may_run(worker) ? worker->pool->mail : NULL;
  while (it != NULL && (it->not_taken[word] & wf_bitset_bit(worker->index)) == 0)
    it = it->next;
  return it;
}

/* [locked] Takes a broadcast out of the list if nobody else is to take it up. */
static void unlink_if_taken(weft_pool *pool, const wf_broadcast *broadcast) {
  for (unsigned i = 0; i < WF_MAIL_WORDS; i++)
    if (broadcast->not_taken[i] != 0) return;
  wf_broadcast **link = &pool->mail;
  while (*link != broadcast) link = &(*link)->next;
  *link = broadcast->next;
}

wf_broadcast *wf_mail_take(wf_worker *worker) {
  /* Relaxed: a look; the lock decides. A worker that goes to sleep looks after a fence.
   */
  if (wf_u32_load_relaxed(&worker->x_mail) == 0) return NULL;
  weft_pool *pool = worker->pool;
  wf_lock_lock(&pool->mail_lock);
  wf_broadcast *found = find_mail(worker);
  if (found != NULL) {
    found->not_taken[worker->index / WF_BITSET_WORD_BITS] &=
        ~wf_bitset_bit(worker->index);
    /* seq_cst: pairs with the one in wf_mail_post. explorer: relaxed would do, under the
     * lock. */
    wf_u32_fetch_sub_seq_cst(&worker->x_mail, 1);
    unlink_if_taken(pool, found);
  }
  wf_lock_unlock(&pool->mail_lock);
  return found;
}

bool wf_mail_any(wf_worker *worker) {
  if (wf_u32_load_relaxed(&worker->x_mail) == 0) return false; /* ordered by a fence */
  wf_lock_lock(&worker->pool->mail_lock);
  bool any = find_mail(worker) != NULL;
  wf_lock_unlock(&worker->pool->mail_lock);
  return any;
}

void wf_mail_deliver(wf_worker *worker, wf_broadcast *broadcast) {
  weft_pool *pool = worker->pool;
  unsigned waiter = broadcast->waiter;
  bool blocks = broadcast->blocks;
  unsigned index = worker->index - 1 + broadcast->first_index;
  wf_frame outer;
  wf_frame_enter(worker, &outer, broadcast->region);
  broadcast->fn(index, broadcast->count, broadcast->ctx);
  wf_frame_leave_task(worker, &outer);
  /* The broadcast may be gone once its latch is set. A caller without a place waits on
   * the other latch, which the last one sets instead. */
  if (!blocks) {
    if (wf_count_latch_done(&broadcast->done)) wf_sleep_wake_worker(pool, waiter);
  } else if (wf_count_latch_count_off(&broadcast->done)) {
    wf_once_latch_set(&broadcast->done_outside);
  }
}
