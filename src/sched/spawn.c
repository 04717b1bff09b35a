/* sched/spawn.c - tasks of scopes: made, queued, run, recycled.
 *
 * A task is a cell of the spawning worker's arena. It goes into that worker's deque of
 * spawned tasks, or, from a thread that has none in the scope's pool, into the pool's
 * queue. In a FIFO scope the entry in the deque is only a ticket: the thread that draws
 * it runs the oldest task of the scope. There are as many tickets as tasks, so each draw
 * finds one; and a cell is recycled when its ticket was drawn and its task has run.
 *
 * weft_spawn runs on any thread; a task runs on a worker of the scope's pool. Counting is
 * in scope.h, waiting for the end in scope.c and worker.c.
 *
 * SPDX-License-Identifier: MIT */
#include "record.h"
#include "scope.h"

#include "../core/lock.h"

#include <limits.h>
#include <string.h>

/* When a worker has come to the end of its ring, and at least 512 tasks are there that
 * nobody takes, weft_spawn queues no more: it runs what it was given before it returns,
 * so that memory stays bounded; on one thread at most WF_SPAWN_DEPTH times one inside the
 * other. 512 is half of the ring's usual size: when thieves come, the next tasks go into
 * the ring in one go, and not one for each that was stolen. A million empty tasks: 18.0
 * ns each before, 8.8 ns with this. */
enum { SPAWN_ENOUGH = 512 };

/* Every 64th spawn checks how many tasks are queued: thieves write that cache line all
 * the time. A thief that finds nothing asks, which is seen at once. A million empty
 * tasks: 8.8 ns each with a check every time, 8.1 ns with this. Both are measured in
 * docs/investigations/spawned-and-detached-tasks.md. */
enum { SPAWN_LOOK_EVERY = 64 };

/* Without memory, copies of up to this size are made on the stack: a page, a choice that
 * fits any stack which has half of its space left. */
enum { STACK_COPY = 4096 };

/* A spawned task: 64 bytes with the smallest payload. */
typedef struct wf_spawned {
  wf_cell cell; /* .next links the tasks of a FIFO scope */
  wf_task task; /* execute(&task), context and the scope in `completion` */
  weft_fn *fn;
  _Alignas(16) unsigned char payload[16]; /* the copy; starts with x_uses if FIFO */
} wf_spawned;

_Static_assert(sizeof(void *) != 8 || sizeof(wf_spawned) == WF_ARENA_SMALLEST,
               "a small task is one cache line");

static wf_spawned *spawned_of(wf_task *task) {
  return (wf_spawned *)(void *)((char *)task - offsetof(wf_spawned, task));
}

/* ---- running ---- */

static void recycle(wf_spawned *spawned) {
  wf_worker *worker = wf_worker_now();
  wf_cell_give_back(&spawned->cell, worker != NULL ? &worker->arena : NULL);
}

/* Calls the function, unless the scope is cancelled, in the region of the scope. */
static void call(wf_worker *worker, weft_scope *s, weft_fn *fn, void *ctx) {
  wf_frame outer;
  wf_frame_enter(worker, &outer, &s->region);
  if (!wf_scope_is_cancelled(s)) wf_record_call(worker, WF_TASK_SPAWNED, fn, ctx, -1);
  wf_frame_leave_task(worker, &outer);
}

/* Is the code that runs now in the scope's own region? False in a scope inside it, and
 * where isolated code lies below. */
static inline bool runs_inside(const wf_worker *worker, const weft_scope *s) {
  return worker->deque.owner.region == &s->region;
}

/* As `call`, for a worker that is inside: no isolation begins or ends. */
static inline void call_inside(wf_worker *worker, weft_scope *s, weft_fn *fn, void *ctx) {
  wf_frame outer;
  wf_frame_open(worker, &outer, &s->region);
  if (!wf_scope_is_cancelled(s)) fn(ctx);
  wf_frame_expect_closed(worker, &outer);
  wf_frame_leave(worker, &outer);
}

static void run_task(void *ctx) {
  wf_spawned *spawned = spawned_of((wf_task *)ctx);
  weft_scope *s = wf_scope_of_task(&spawned->task);
  wf_worker *worker = wf_worker_of(wf_self);
  WF_ASSERT(s->state == WF_SCOPE_OPEN && !s->fifo && spawned->fn != NULL);
  WF_ASSERT(worker->pool == s->pool);
  /* The task may take long: no other scope may be kept waiting for credits. */
  if (worker->credit_scope != s) wf_worker_settle(worker);
  call(worker, s, spawned->fn, spawned->task.context);
  recycle(spawned);
  wf_scope_give_credit(s, worker);
}

void wf_scope_run_recorded(const weft_scope *s, wf_worker *worker) {
  wf_task *task;
  while ((task = wf_worker_take_spawned(worker, worker->mark)) != NULL)
    wf_worker_run_newest(worker, task, s);
}

void wf_scope_run_spawned(weft_scope *s, wf_worker *worker) {
  wf_task *task;
  while ((task = wf_worker_take_spawned(worker, worker->mark)) != NULL) {
    if (WF_UNLIKELY(task->execute != run_task || wf_scope_of_task(task) != s)) {
      wf_worker_run_newest(worker, task, s);
      continue;
    }
    wf_spawned *spawned = spawned_of(task);
    if (worker->credit_scope != s) wf_worker_settle(worker);
    call_inside(worker, s, spawned->fn, task->context);
    wf_cell_give_back(&spawned->cell, &worker->arena);
    wf_scope_give_credit(s, worker);
  }
}

/* ---- FIFO ---- */

static wf_u32 *uses_of(wf_spawned *spawned) {
  return (wf_u32 *)(void *)spawned->payload;
}

static void give_up_use(wf_spawned *spawned) {
  /* acq_rel: pairs with itself, so that the last user has seen the other's end. */
  uint32_t uses = wf_u32_fetch_sub_acq_rel(uses_of(spawned), 1);
  WF_ASSERT(uses == 1 || uses == 2);
  if (uses == 1) recycle(spawned);
}

/* [locked] The list is empty at both ends or at none. */
static void check_fifo(const weft_scope *s) {
  WF_ASSERT(s->fifo);
  wf_lock_assert_held((const wf_lock *)&s->x_fifo_lock);
  WF_ASSERT((s->fifo_first == NULL) == (s->fifo_last == NULL));
  WF_ASSERT(s->fifo_last == NULL || s->fifo_last->cell.next == NULL);
}

/* Puts a task, with a ticket for it or without, at the end of the scope's list. */
static void append(weft_scope *s, wf_spawned *spawned, bool has_ticket) {
  /* Relaxed: the lock publishes it. */
  wf_u32_store_relaxed(uses_of(spawned), has_ticket ? 2 : 1);
  spawned->cell.next = NULL;
  wf_lock_lock((wf_lock *)&s->x_fifo_lock);
  if (s->fifo_last != NULL)
    s->fifo_last->cell.next = &spawned->cell;
  else
    s->fifo_first = spawned;
  s->fifo_last = spawned;
  check_fifo(s);
  wf_lock_unlock((wf_lock *)&s->x_fifo_lock);
}

static wf_spawned *take_oldest(weft_scope *s) {
  wf_lock_lock((wf_lock *)&s->x_fifo_lock);
  wf_spawned *oldest = s->fifo_first;
  WF_ASSERT(oldest != NULL); /* there are at least as many tasks as tickets */
  s->fifo_first = (wf_spawned *)(void *)oldest->cell.next; /* the cell comes first */
  if (s->fifo_first == NULL) s->fifo_last = NULL;
  check_fifo(s);
  wf_lock_unlock((wf_lock *)&s->x_fifo_lock);
  return oldest;
}

static void run_oldest(wf_worker *worker, weft_scope *s) {
  if (worker->credit_scope != s) wf_worker_settle(worker);
  wf_spawned *oldest = take_oldest(s);
  call(worker, s, oldest->fn, oldest->task.context);
  give_up_use(oldest);
  wf_scope_give_credit(s, worker);
}

static void draw_ticket(void *ctx) {
  wf_spawned *ticket = spawned_of((wf_task *)ctx);
  weft_scope *s = wf_scope_of_task(&ticket->task);
  give_up_use(ticket);
  run_oldest(wf_worker_of(wf_self), s);
}

/* ---- who takes tasks ---- */

/* Thieves that keep tasks have to look at each task of this worker from now on. */
static void note_isolated(wf_worker *worker) {
  /* Relaxed: its own store. It comes before the push of the task, and the thief acquires
   * that (may_keep in search.c). */
  if (wf_u32_load_relaxed(&worker->x_isolates) == 0)
    wf_u32_store_relaxed(&worker->x_isolates, 1);
}

/* The worker of this thread, if its deque is of use for this scope, else NULL. It is if
 * it is in the scope's pool, where the thread looks while it waits, and others too. There
 * are three exceptions. In a pool of one thread nobody looks into the deques of others.
 * Threads that wait do not look into the deque of a worker at background work. And tasks
 * of isolated code stay with threads that are in the isolation: others may block on a
 * lock that it holds. */
static inline wf_worker *worker_in(const weft_scope *s) {
  wf_worker *worker = wf_worker_now();
  if (worker == NULL || worker->pool != s->pool || worker->serial) return NULL;
  if (worker->alone) return worker;
  if (WF_UNLIKELY(!worker->pool->steals) && worker != s->worker) return NULL;
  if (WF_UNLIKELY(worker->background) && !s->region.background) return NULL;
  if (WF_UNLIKELY(s->region.isolation != NULL)) {
    if (s->region.isolation != wf_isolation(worker)) return NULL;
    note_isolated(worker);
  }
  return worker;
}

/* Has the worker a ring for spawned tasks, or can it get one? */
static bool can_push(wf_worker *worker) {
  return WF_LIKELY(worker->spawned.slots != NULL) || wf_worker_prepare_spawned(worker);
}

/* Is there a thread that would take a task from the queue, and one that waits for it? */
static bool has_takers(const weft_scope *s) {
  return s->worker != NULL && wf_pool_started(s->pool) > 0;
}

/* ---- making ---- */

/* Where the copy of the arguments begins: a FIFO task has its count of uses first. */
static inline size_t payload_offset(const weft_scope *s) {
  return offsetof(wf_spawned, payload) + (s->fifo ? 16 : 0);
}

static wf_spawned *make_slow(weft_scope *s, wf_worker *worker, size_t size) {
  size_t offset = payload_offset(s);
  if (worker != NULL ? !can_push(worker) : !has_takers(s)) return NULL;
  if (size > SIZE_MAX - offset) return NULL;
  size_t total = offset + size;
  wf_cell *cell;
  if (worker != NULL && total <= WF_ARENA_LARGEST)
    cell = wf_arena_take(&worker->arena, wf_arena_class(total));
  else
    cell = wf_cell_allocate(total > sizeof(wf_spawned) ? total : sizeof(wf_spawned));
  return (wf_spawned *)(void *)cell;
}

/* A task with room for `size` bytes; NULL if there is no memory, or nobody would take the
 * task. worker may be NULL. */
static inline wf_spawned *make(weft_scope *s, wf_worker *worker, size_t size) {
  if (WF_LIKELY(worker != NULL && worker->spawned.slots != NULL &&
                size <= WF_ARENA_SMALLEST - payload_offset(s)))
    return (wf_spawned *)(void *)wf_arena_take(&worker->arena, 0);
  return make_slow(s, worker, size);
}

static inline void fill(wf_spawned *spawned, weft_scope *s, weft_fn *fn, void *ctx) {
  spawned->task.execute = s->fifo ? draw_ticket : run_task;
  spawned->task.context = ctx;
  wf_latch_init_scope(&spawned->task.completion, s);
  spawned->fn = fn;
}

/* Counts one more task. Only code that is in the scope itself keeps credits: others might
 * go on for long after the scope could have ended. */
static inline void count_task(weft_scope *s, wf_worker *worker) {
  const wf_region *region = worker->deque.owner.region;
  WF_ASSERT(wf_word_peek(&s->x_pending) > 0); /* or the scope could end meanwhile */
  if (WF_LIKELY(region != NULL && region->scope == s))
    wf_scope_take_credit(s, worker);
  else
    wf_word_fetch_add_relaxed(&s->x_pending, 1); /* the caller knows that it is open */
}

/* Wakes others for spawned tasks that have become public. Where thieves take batches, two
 * sleepers are enough: each one that finds some wakes others. A sleeper for each task
 * would find nothing. */
static void tell_spawned(wf_worker *worker, wf_deque_news news) {
  if (news.exposed > 0)
    wf_worker_tell_some(worker, news, worker->pool->steals_batches ? 2 : UINT_MAX);
}

/* The slow half of a push: it has come to the end of the ring, or somebody wants work. */
static void push_slow(wf_worker *worker) {
  wf_deque_news news;
  wf_task *left_over = wf_deque_fork_slow(&worker->spawned, &news);
  tell_spawned(worker, news);
  if (left_over == NULL) return;
  left_over->execute(left_over); /* the ring is full and cannot grow */
  wf_worker_settle_outside(worker);
}

/* ---- running instead of queueing ---- */

/* The worker's deque is at its limit. Are there enough tasks in it? A thread that asks
 * for some is answered, and then perhaps the deque is not at its limit any more. */
static bool has_many(wf_worker *worker) {
  if (wf_deque_count(&worker->spawned) < SPAWN_ENOUGH) return false;
  if (!wf_deque_is_asked(&worker->spawned)) return true;
  push_slow(worker); /* nothing was pushed, so there is a free slot: it only answers */
  return wf_deque_is_at_limit(&worker->spawned);
}

/* Are there enough, and is there room on the stack to run one more? */
static inline bool has_enough(wf_worker *worker) {
  if (worker->spawn_looks == 0 || wf_deque_is_asked(&worker->spawned)) {
    worker->spawn_looks = has_many(worker) ? SPAWN_LOOK_EVERY : 0;
    if (worker->spawn_looks == 0) return false;
  }
  WF_ASSERT(worker->spawn_looks <= SPAWN_LOOK_EVERY);
  worker->spawn_looks--;
  return worker->spawn_depth < WF_SPAWN_DEPTH && wf_stack_is_half_free();
}

/* Is the next task of a scope that is not FIFO to be run instead of queued? */
static inline bool runs_in_place(const weft_scope *s, wf_worker *worker) {
  return worker != NULL && wf_deque_is_at_limit(&worker->spawned) && !s->fifo &&
         has_enough(worker);
}

/* Runs a task without counting it: the code that spawns it keeps the scope open
 * meanwhile, and also the scope whose credits the worker holds. */
static void run_in_place(weft_scope *s, wf_worker *worker, weft_fn *fn, void *ctx) {
  worker->spawn_depth++;
  wf_worker_check(worker);
  if (WF_LIKELY(runs_inside(worker, s) && !wf_trace_is_on()))
    call_inside(worker, s, fn, ctx);
  else
    call(worker, s, fn, ctx);
  worker->spawn_depth--;
  wf_worker_settle_outside(worker);
}

/* The same for a FIFO scope, where the oldest task is run instead, which any thread may
 * have made. There must be room for it; and unless the code around is in this scope, it
 * counts as a stranger's (see wf_worker_draw_ticket). */
static bool runs_oldest_in_place(const weft_scope *s, wf_worker *worker) {
  return wf_deque_is_at_limit(&worker->spawned) && has_enough(worker) &&
         (runs_inside(worker, s) ? wf_worker_has_room(worker)
                                 : wf_worker_may_help(worker));
}

static void run_oldest_in_place(weft_scope *s, wf_worker *worker) {
  worker->spawn_depth++;
  worker->help_depth++;
  wf_worker_check(worker);
  run_oldest(worker, s);
  worker->help_depth--;
  worker->spawn_depth--;
  wf_worker_settle_outside(worker);
}

/* ---- without memory ---- */

/* There is no memory, or nobody else: runs the task now, on this thread, in the scope's
 * pool. */
static void run_at_once(weft_scope *s, weft_fn *fn, void *ctx) {
  wf_entry entry;
  wf_worker *worker = s->pool != NULL ? wf_guest_enter(&entry, s->pool) : NULL;
  if (worker != NULL) {
    call(worker, s, fn, ctx);
    wf_guest_leave(&entry, "weft_spawn");
  } else if (!wf_scope_is_cancelled(s)) {
    fn(ctx);
  }
}

/* The queue had no memory: runs the task now and counts it as finished. */
static void run_not_queued(weft_scope *s, wf_spawned *spawned) {
  wf_spawned *oldest = s->fifo ? take_oldest(s) : spawned;
  run_at_once(s, oldest->fn, oldest->task.context);
  if (s->fifo) {
    give_up_use(oldest);
    give_up_use(spawned);
  } else {
    recycle(spawned);
  }
  wf_scope_finish(s, 1);
}

/* There is no memory for the task: runs it now. The copy is made on the stack if it is
 * not too large. */
static void run_copy_at_once(weft_scope *s, const void *args, size_t size, weft_fn *fn) {
  _Alignas(16) unsigned char copy[STACK_COPY];
  void *own = (void *)(uintptr_t)args;
  if (size <= STACK_COPY) {
    if (size > 0) memcpy(copy, args, size);
    own = copy;
  }
  run_at_once(s, fn, own);
}

/* ---- spawning ---- */

/* Queues a task of a thread that has no deque in the scope's pool. */
static void enqueue(weft_scope *s, wf_spawned *spawned) {
  wf_word_fetch_add_relaxed(&s->x_pending, 1); /* the caller knows that it is open */
  if (s->fifo) append(s, spawned, true);
  if (wf_scope_enqueue(s, &spawned->task) != 0) run_not_queued(s, spawned);
}

static void push_fifo(weft_scope *s, wf_worker *worker, wf_spawned *spawned) {
  bool here = runs_oldest_in_place(s, worker);
  count_task(s, worker);
  append(s, spawned, !here);
  if (here)
    run_oldest_in_place(s, worker);
  else if (wf_deque_push(&worker->spawned, &spawned->task))
    push_slow(worker);
}

/* Hands a task on: into the worker's own deque, or, from a thread that has none in the
 * scope's pool, into the queue. */
static inline void hand_on(weft_scope *s, wf_worker *worker, wf_spawned *spawned,
                           weft_fn *fn, void *ctx) {
  fill(spawned, s, fn, ctx);
  WF_ASSERT(worker == NULL || (worker->pool == s->pool && !worker->serial));
  if (WF_UNLIKELY(worker == NULL)) {
    enqueue(s, spawned);
  } else if (WF_UNLIKELY(s->fifo)) {
    push_fifo(s, worker, spawned);
  } else {
    count_task(s, worker);
    if (WF_UNLIKELY(wf_deque_push(&worker->spawned, &spawned->task))) push_slow(worker);
  }
}

static inline void check_call(const weft_scope *s, weft_fn *fn, const char *name) {
  if (WF_UNLIKELY(s == NULL || s->state != WF_SCOPE_OPEN)) wf_scope_expect_open(s, name);
  if (WF_UNLIKELY(fn == NULL)) wf_fatal(name, "fn is NULL");
}

void weft_spawn(weft_scope *s, weft_fn *fn, void *ctx) {
  check_call(s, fn, "weft_spawn");
  wf_worker *worker = worker_in(s);
  if (runs_in_place(s, worker)) {
    run_in_place(s, worker, fn, ctx);
    return;
  }
  wf_spawned *spawned = make(s, worker, 0);
  if (WF_UNLIKELY(spawned == NULL))
    run_at_once(s, fn, ctx);
  else
    hand_on(s, worker, spawned, fn, ctx);
}

void weft_spawn_copy(weft_scope *s, const void *args, size_t size, weft_fn *fn) {
  check_call(s, fn, "weft_spawn_copy");
  if (WF_UNLIKELY(args == NULL && size > 0)) wf_fatal("weft_spawn_copy", "args is NULL");
  wf_worker *worker = worker_in(s);
  wf_spawned *spawned = make(s, worker, size);
  if (WF_UNLIKELY(spawned == NULL)) {
    run_copy_at_once(s, args, size, fn);
    return;
  }
  unsigned char *copy = (unsigned char *)spawned + payload_offset(s);
  if (size > 0) memcpy(copy, args, size);
  if (runs_in_place(s, worker)) {
    run_in_place(s, worker, fn, copy);
    recycle(spawned);
  } else {
    hand_on(s, worker, spawned, fn, copy);
  }
}

/* ---- tasks in memory of the caller ---- */

/* The slow half of a push. False: the ring is full and cannot grow, and the task was
 * taken out again. */
static bool push_placed_slow(weft_scope *s, wf_worker *worker, const wf_task *task) {
  wf_deque_news news;
  const wf_task *left_over = wf_deque_fork_slow(&worker->spawned, &news);
  wf_worker_tell(worker, news);
  if (left_over == NULL) return true;
  WF_ASSERT(left_over == task); /* the newest one */
  (void)task;
  wf_scope_give_credit(s, worker);
  return false;
}

/* Credits are right here, though the innermost scope may be another one: the caller is
 * counted in this scope, so that it cannot end before the caller does. */
bool wf_placed_push(weft_scope *s, wf_task *task) {
  WF_ASSERT(s->state == WF_SCOPE_OPEN && !s->fifo && task->execute != NULL);
  wf_worker *worker = worker_in(s);
  if (WF_UNLIKELY(worker == NULL || !can_push(worker))) return false;
  if (WF_UNLIKELY(wf_deque_is_at_limit(&worker->spawned)) && has_many(worker))
    return false;
  wf_latch_init_scope(&task->completion, s);
  wf_scope_take_credit(s, worker);
  return WF_LIKELY(!wf_deque_push(&worker->spawned, task)) ||
         push_placed_slow(s, worker, task);
}

wf_task *wf_placed_take(weft_scope *s, weft_fn *execute) {
  wf_worker *worker = wf_worker_now();
  wf_task *task;
  if (WF_UNLIKELY(worker == NULL)) return NULL;
  while ((task = wf_worker_take_spawned(worker, worker->mark)) != NULL) {
    if (WF_LIKELY(task->execute == execute && wf_scope_of_task(task) == s)) {
      wf_scope_give_credit(s, worker); /* the caller is counted instead */
      return task;
    }
    wf_worker_run_newest(worker, task, s);
    if (worker->credit_scope != s) wf_worker_settle(worker);
  }
  return NULL;
}

void wf_placed_run(wf_task *task, weft_fn *fn, void *ctx) {
  weft_scope *s = wf_scope_of_task(task);
  wf_worker *worker = wf_worker_of(wf_self);
  WF_ASSERT(s->state == WF_SCOPE_OPEN && worker->pool == s->pool);
  if (worker->credit_scope != s) wf_worker_settle(worker);
  call(worker, s, fn, ctx);
  wf_scope_give_credit(s, worker);
}

bool wf_placed_may_stay(const weft_scope *s) {
  const wf_worker *worker = wf_worker_now();
  return worker == NULL || worker->help_depth == 0 || worker->waits_for == s;
}
