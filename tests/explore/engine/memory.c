/* memory.c - the shared words of the explored code, under three models.
 *
 * SC and RA are one machine. Each word has its stores in modification order; each thread
 * has a view: the stamp of the newest store that it knows of, for each word, and a
 * happens-before clock. A store carries the view of its thread if it is a release, a load
 * that is an acquire takes it over; relaxed accesses leave that to fences. A load may
 * return any store that is not older than the view. In SC mode only the newest. TSO is in
 * tso.c.
 *
 * Words that one thread alone uses are no steps: nobody can notice when they are read or
 * written. Which words are shared is learned: an execution that finds a new one ends the
 * search, which then starts again with what it knows (`discovered`).
 *
 * SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  TABLE_SIZE = 1 << 13, /* words of one execution */
  STAMP_GAP = 1 << 10,
  /* A thread sees an old store at most so often: stores become visible in the end. */
  STALE_READS_OF_ONE = 3,
  ARENA_WORDS = 1 << 22
};

typedef struct thread_view {
  uint32_t current[XP_VIEW_WORDS];
  uint32_t acquired[XP_VIEW_WORDS]; /* what an acquire fence would add */
  uint32_t released[XP_VIEW_WORDS]; /* as it was at the last release fence */
} thread_view;

static xp_location table[TABLE_SIZE];
static xp_location *known[TABLE_SIZE]; /* of this execution */
static unsigned known_count;
static unsigned phase; /* counts the times when a thread alone became several */
static thread_view views[XP_MAX_THREADS + 1];
static uint32_t sc_view[XP_VIEW_WORDS]; /* of all seq_cst fences and accesses so far */
static unsigned view_words;             /* in use, in this execution */

static uint32_t arena[ARENA_WORDS]; /* stores and their views, of one execution */
static size_t arena_used;

/* ---- words that are known to be shared ---- */

static struct {
  uintptr_t address;
  int id;
} shared[4 * XP_MAX_SHARED];
static int shared_count, shared_at_begin;

static unsigned hash(uintptr_t address) {
  return (unsigned)((address >> 2) * 0x9E3779B97F4A7C15u >> 40);
}

static int shared_find(uintptr_t address) {
  for (unsigned i = hash(address);; i++) {
    unsigned slot = i % (4 * XP_MAX_SHARED);
    if (shared[slot].address == address) return shared[slot].id;
    if (shared[slot].address == 0) return -1;
  }
}

static void shared_add(uintptr_t address) {
  if (shared_count == XP_MAX_SHARED) abort();
  unsigned i = hash(address);
  while (shared[i % (4 * XP_MAX_SHARED)].address != 0) i++;
  shared[i % (4 * XP_MAX_SHARED)].address = address;
  shared[i % (4 * XP_MAX_SHARED)].id = shared_count++;
}

/* ---- life ---- */

void xp_memory_reset_search(void) {
  memset(shared, 0, sizeof shared);
  shared_count = 0;
}

void xp_memory_begin(void) {
  shared_at_begin = shared_count;
  view_words = XP_CLOCKS + (xp_now.mode == XP_RA ? (unsigned)shared_count : 0);
  arena_used = 0;
  memset(sc_view, 0, view_words * sizeof sc_view[0]);
  for (unsigned i = 0; i <= XP_MAX_THREADS; i++) {
    memset(views[i].current, 0, view_words * sizeof sc_view[0]);
    memset(views[i].acquired, 0, view_words * sizeof sc_view[0]);
    memset(views[i].released, 0, view_words * sizeof sc_view[0]);
    views[i].current[i] = 1;
  }
  xp_tso_begin();
}

void xp_memory_forget_touches(void) {
  phase++;
}

uint64_t xp_raw_read(const xp_location *location) {
  if (location->size == 4) return *(const uint32_t *)location->address;
  return *(const uint64_t *)location->address;
}

void xp_raw_write(xp_location *location, uint64_t value) {
  if (location->size == 4)
    *(uint32_t *)location->address = (uint32_t)value;
  else
    *(uint64_t *)location->address = value;
  location->last_raw = xp_raw_read(location);
}

void xp_memory_end(void) {
  for (unsigned i = 0; i < known_count; i++)
    if (!xp_heap_owns(known[i]->address) && !xp_on_stack(known[i]->address))
      xp_raw_write(known[i], known[i]->first_raw);
  known_count = 0;
}

static void join(uint32_t *into, const uint32_t *from) {
  for (unsigned i = 0; i < view_words; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

static void join_stamps(uint32_t *into, const uint32_t *from) {
  for (unsigned i = XP_CLOCKS; i < view_words; i++)
    if (from[i] > into[i]) into[i] = from[i];
}

void xp_memory_thread_start(unsigned parent, unsigned child) {
  join(views[child].current, views[parent].current);
  join(views[child].released, views[parent].current);
  views[child].current[child]++;
  views[parent].current[parent]++;
}

void xp_memory_thread_join(unsigned joiner, unsigned ended) {
  if (xp_now.mode == XP_TSO) xp_memory_drain(ended);
  join(views[joiner].current, views[ended].current);
}

const uint32_t *xp_memory_clock(unsigned thread) {
  return views[thread].current;
}

/* ---- locations ---- */

static xp_location *find(const void *p, unsigned size) {
  uintptr_t address = (uintptr_t)p;
  unsigned i = hash(address) % TABLE_SIZE;
  unsigned looked = 0;
  while (table[i].execution == xp_now.number && table[i].address != address) {
    i = (i + 1) % TABLE_SIZE;
    if (++looked == TABLE_SIZE) abort();
  }
  xp_location *location = &table[i];
  if (location->execution == xp_now.number) return location;
  memset(location, 0, offsetof(xp_location, stores));
  location->address = address;
  location->execution = xp_now.number;
  location->size = size;
  location->id = shared_find(address);
  if (location->id >= shared_at_begin) location->id = -1;
  location->first_raw = xp_raw_read(location);
  known[known_count++] = location;
  location->last_raw = location->first_raw;
  return location;
}

/* Is the memory that the word is in alive? */
static void check_alive(uintptr_t address) {
  if (xp_heap_is_dead(address) || xp_declared_dead(address))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "access to memory that is freed or dead");
  if (xp_in_dead_frame(address))
    xp_fail(XP_DEAD, __FILE__, __LINE__, "access to a frame that its thread has left");
}

/* The word starts a new life, with the value that is there. */
static void restart(xp_location *location) {
  location->count = 0;
  location->touched = location->written = 0;
  location->last_raw = xp_raw_read(location);
}

static void note_touch(xp_location *location, bool write) {
  uint32_t me = (uint32_t)1 << xp_current;
  if (location->phase != phase) location->touched = location->written = 0;
  location->phase = phase;
  location->touched |= me;
  if (write) location->written |= me;
  bool is_shared =
      location->written != 0 && ((location->touched & ~location->written) != 0 ||
                                 (location->written & (location->written - 1)) != 0);
  if (!is_shared || location->id >= 0 || shared_find(location->address) >= 0) return;
  shared_add(location->address);
  xp_now.discovered = true;
}

void xp_memory_before_free(const void *memory, size_t size) {
  bool is_shared = false;
  if (xp_now.alone || !xp_threads_concurrent()) return;
  for (unsigned i = 0; i < known_count; i++) {
    if (known[i]->address - (uintptr_t)memory >= size) continue;
    note_touch(known[i], true);
    if (known[i]->id >= 0) is_shared = true;
  }
  xp_tso_free((uintptr_t)memory, size);
  if (!is_shared) return;
  xp_count_step();
  xp_schedule(XP_OP_OTHER, memory);
}

/* Before each access: NULL if nobody else can notice it now, which goes straight to
 * memory. Otherwise others may run first. */
typedef enum access { LOAD, STORE, UPDATE } access;

static xp_location *begin(const void *p, unsigned size, access kind, const char *frame) {
  bool write = kind != LOAD;
  xp_threads[xp_current].live_sp = (uintptr_t)frame;
  if (xp_now.alone) return NULL;
  xp_count_step();
  check_alive((uintptr_t)p);
  xp_location *location = find(p, size);
  if (!xp_threads_concurrent()) {
    restart(location);
    return NULL;
  }
  note_touch(location, write);
  if (!write) xp_spin_note(p);
  if (location->id < 0) return NULL;
  /* A store into the thread's own buffer is nothing that others can notice. */
  if (xp_now.mode != XP_TSO || kind != STORE)
    xp_schedule(write ? XP_OP_WRITE : XP_OP_READ, p);
  check_alive((uintptr_t)p);
  if (xp_raw_read(location) != location->last_raw) restart(location);
  return location;
}

#define FRAME ((const char *)__builtin_frame_address(0) + 2 * sizeof(void *))

static uint64_t direct_read(const void *p, unsigned size) {
  return size == 4 ? *(const uint32_t *)p : *(const uint64_t *)p;
}

static void direct_write(void *p, unsigned size, uint64_t value) {
  if (size == 4)
    *(uint32_t *)p = (uint32_t)value;
  else
    *(uint64_t *)p = value;
}

/* After a write that went straight to memory. */
static void direct_written(const void *p, unsigned size) {
  if (xp_now.alone) return;
  xp_location *location = find(p, size);
  location->last_raw = xp_raw_read(location);
  xp_written(p, xp_current);
}

uint64_t xp_memory_newest(const void *p, unsigned size) {
  return direct_read(p, size);
}

/* ---- stores in modification order ---- */

static void *arena_take(size_t words) {
  words = (words + 1) & ~(size_t)1;
  if (arena_used + words > ARENA_WORDS)
    xp_fail(XP_LIVELOCK, __FILE__, __LINE__, "too many stores in one execution");
  void *memory = &arena[arena_used];
  arena_used += words;
  return memory;
}

static xp_stored *make_store(uint64_t value) {
  xp_stored *stored = (xp_stored *)arena_take(sizeof *stored / sizeof(uint32_t));
  memset(stored, 0, sizeof *stored);
  stored->value = value;
  return stored;
}

/* The value that is there when the word is first seen is known to all. */
static void ensure_first(xp_location *location) {
  if (location->count > 0) return;
  location->stores[0] = make_store(xp_raw_read(location));
  location->stores[0]->stamp = location->newest_stamp;
  location->count = 1;
}

static void insert(xp_location *location, unsigned at, xp_stored *stored) {
  if (location->count == XP_HISTORY) {
    memmove(location->stores, location->stores + 1,
            (XP_HISTORY - 1) * sizeof location->stores[0]);
    location->count--;
    at--;
  }
  if (at == location->count) {
    location->newest_stamp += STAMP_GAP;
    stored->stamp = location->newest_stamp;
    xp_raw_write(location, stored->value);
  } else {
    stored->stamp = (location->stores[at - 1]->stamp + location->stores[at]->stamp) / 2;
    memmove(location->stores + at + 1, location->stores + at,
            (location->count - at) * sizeof location->stores[0]);
  }
  location->stores[at] = stored;
  location->count++;
}

static bool may_be_stale(void) {
  return xp_now.mode == XP_RA &&
         (xp_now.stale_bound == XP_UNBOUNDED || xp_now.stale_reads < xp_now.stale_bound);
}

static uint32_t *stamp_of(uint32_t *view, const xp_location *location) {
  return &view[XP_CLOCKS + location->id];
}

/* The oldest stamp that an access may know nothing of. */
static uint32_t lower_stamp(const xp_location *location, xp_order order) {
  if (xp_now.mode != XP_RA) return location->newest_stamp;
  uint32_t lower = *stamp_of(views[xp_current].current, location);
  uint32_t sc = *stamp_of(sc_view, location);
  return order == XP_SEQ_CST && sc > lower ? sc : lower;
}

/* Chooses among the stores for which usable() says yes; the newest always is one. */
typedef bool usable_fn(const xp_location *location, unsigned index, uint64_t arg);

static unsigned pick(xp_location *location, uint32_t lower, usable_fn *usable,
                     uint64_t arg) {
  unsigned newest = location->count - 1;
  unsigned options[XP_HISTORY] = {newest}, n = 1;
  for (unsigned i = newest; i-- > 0 && may_be_stale();) {
    const xp_stored *stored = location->stores[i];
    if (stored->stamp < lower) break;
    if (stored->stale_reads[xp_current] < STALE_READS_OF_ONE && usable(location, i, arg))
      options[n++] = i;
  }
  unsigned chosen = n > 1 ? xp_choose(XP_CHOOSE_STORE, n) : 0;
  if (chosen > 0) {
    xp_now.stale_reads++;
    location->stores[options[chosen]]->stale_reads[xp_current]++;
    /* Who spins on an old value need not wait for another store: the newer one is there.
     */
    xp_threads[xp_current].written_for = true;
  }
  return options[chosen];
}

/* ---- what an access does to views ---- */

static bool acquires(xp_order order) {
  return order == XP_ACQUIRE || order == XP_ACQ_REL || order == XP_SEQ_CST;
}

static bool releases(xp_order order) {
  return order == XP_RELEASE || order == XP_ACQ_REL || order == XP_SEQ_CST;
}

static void know(xp_location *location, const xp_stored *stored) {
  if (xp_now.mode != XP_RA) return;
  uint32_t *mine = stamp_of(views[xp_current].current, location);
  if (stored->stamp > *mine) *mine = stored->stamp;
}

/* All later seq_cst accesses know of a seq_cst store. A seq_cst load does not make such a
 * store of what it reads. The text of C++20 says so, but RC11 does not, nor does x86,
 * where a thread finds its own store in its store buffer before others see it. */
static void note_seq_cst(xp_location *location, const xp_stored *stored, xp_order order) {
  if (xp_now.mode != XP_RA || order != XP_SEQ_CST) return;
  uint32_t *sc = stamp_of(sc_view, location);
  if (stored->stamp > *sc) *sc = stored->stamp;
}

static void take_over(const xp_stored *stored, xp_order order) {
  if (stored->view == NULL) return;
  join(views[xp_current].acquired, stored->view);
  if (acquires(order)) join(views[xp_current].current, stored->view);
}

/* Adds a store at an index; `read` is what it replaces, if it is a read-modify-write. */
static void add_store(xp_location *location, unsigned at, uint64_t value, xp_order order,
                      const xp_stored *read) {
  thread_view *mine = &views[xp_current];
  xp_stored *stored = make_store(value);
  stored->by_rmw = read != NULL;
  insert(location, at, stored);
  know(location, stored);
  note_seq_cst(location, stored, order);
  stored->view = (uint32_t *)arena_take(view_words);
  const uint32_t *base = releases(order) ? mine->current : mine->released;
  memcpy(stored->view, base, view_words * sizeof *base);
  if (read != NULL && read->view != NULL) join(stored->view, read->view);
  if (xp_now.mode == XP_RA) *stamp_of(stored->view, location) = stored->stamp;
  if (releases(order)) mine->current[xp_current]++;
  xp_written((const void *)location->address, xp_current);
}

/* ---- accesses ---- */

static bool any_store(const xp_location *location, unsigned index, uint64_t arg) {
  (void)location, (void)index, (void)arg;
  return true;
}

/* A read-modify-write comes right after what it reads. */
static bool can_follow(const xp_location *location, unsigned index, uint64_t arg) {
  (void)arg;
  const xp_stored *next = location->stores[index + 1];
  return !next->by_rmw && next->stamp - location->stores[index]->stamp > 1;
}

static bool can_be_compared(const xp_location *location, unsigned index, uint64_t arg) {
  return location->stores[index]->value != arg || can_follow(location, index, arg);
}

uint64_t xp_peek(const void *p, unsigned size) {
  uint64_t value;
  if (xp_now.mode == XP_TSO && xp_tso_peek((uintptr_t)p, &value)) return value;
  return direct_read(p, size);
}

uint64_t xp_load(const void *p, unsigned size, xp_order order) {
  xp_location *location = begin(p, size, LOAD, FRAME);
  uint64_t value;
  if (location == NULL) {
    value = direct_read(p, size);
  } else if (xp_now.mode == XP_TSO) {
    value = xp_tso_load(location);
  } else {
    ensure_first(location);
    unsigned at = pick(location, lower_stamp(location, order), any_store, 0);
    const xp_stored *stored = location->stores[at];
    value = stored->value;
    know(location, stored);
    take_over(stored, order);
  }
  if (location != NULL) xp_cover(__builtin_return_address(0));
  xp_trace_access("load", p, order, value, __builtin_return_address(0));
  xp_after_step();
  return value;
}

void xp_store(void *p, unsigned size, uint64_t value, xp_order order) {
  xp_location *location = begin(p, size, STORE, FRAME);
  if (location != NULL) xp_cover(__builtin_return_address(0));
  xp_trace_access("store", p, order, value, __builtin_return_address(0));
  if (location == NULL) {
    direct_write(p, size, value);
    direct_written(p, size);
  } else if (xp_now.mode == XP_TSO) {
    xp_tso_store(location, value);
    if (order == XP_SEQ_CST) xp_fence(XP_SEQ_CST);
  } else {
    ensure_first(location);
    /* Where it goes in the order of stores: last, or before some that the thread does not
     * know of. */
    uint32_t lower = lower_stamp(location, order);
    unsigned n = 1, at = location->count;
    while (n < location->count && may_be_stale() &&
           location->stores[at - n]->stamp > lower && !location->stores[at - n]->by_rmw &&
           location->stores[at - n]->stamp - location->stores[at - n - 1]->stamp > 1)
      n++;
    unsigned chosen = n > 1 ? xp_choose(XP_CHOOSE_STORE, n) : 0;
    if (chosen > 0) xp_now.stale_reads++;
    add_store(location, at - chosen, value, order, NULL);
  }
  xp_after_step();
}

void xp_init(void *p, unsigned size, uint64_t value) {
  xp_threads[xp_current].live_sp = (uintptr_t)FRAME;
  direct_write(p, size, value);
  if (xp_now.alone) return;
  xp_location *location = find(p, size);
  xp_tso_forget(location);
  restart(location);
}

static uint64_t combined(xp_rmw_kind kind, uint64_t old, uint64_t operand) {
  switch (kind) {
  case XP_EXCHANGE:
    return operand;
  case XP_ADD:
    return old + operand;
  case XP_SUB:
    return old - operand;
  case XP_OR:
    return old | operand;
  case XP_AND:
    return old & operand;
  }
  return 0;
}

static uint64_t cut(uint64_t value, unsigned size) {
  return size == 4 ? (uint32_t)value : value;
}

uint64_t xp_rmw(void *p, unsigned size, xp_rmw_kind kind, uint64_t operand,
                xp_order order) {
  xp_location *location = begin(p, size, UPDATE, FRAME);
  uint64_t old;
  if (location == NULL || xp_now.mode == XP_TSO) {
    if (xp_now.mode == XP_TSO) xp_tso_rmw(location);
    old = direct_read(p, size);
    direct_write(p, size, combined(kind, old, operand));
    direct_written(p, size);
  } else {
    ensure_first(location);
    unsigned at = pick(location, lower_stamp(location, order), can_follow, 0);
    const xp_stored *read = location->stores[at];
    old = read->value;
    know(location, read);
    take_over(read, order);
    add_store(location, at + 1, cut(combined(kind, old, operand), size), order, read);
  }
  if (location != NULL) xp_cover(__builtin_return_address(0));
  xp_trace_access("rmw, was", p, order, old, __builtin_return_address(0));
  xp_after_step();
  return old;
}

bool xp_cas(void *p, unsigned size, uint64_t *expected, uint64_t desired, xp_order order,
            bool weak) {
  xp_location *location = begin(p, size, UPDATE, FRAME);
  uint64_t old;
  bool done;
  if (location == NULL || xp_now.mode == XP_TSO) {
    if (xp_now.mode == XP_TSO) xp_tso_rmw(location);
    old = direct_read(p, size);
    done = old == *expected && !(weak && xp_choose(XP_CHOOSE_FAULT, 2) == 1);
    if (done) {
      direct_write(p, size, desired);
      direct_written(p, size);
    }
  } else {
    ensure_first(location);
    uint32_t lower = lower_stamp(location, order);
    unsigned at = pick(location, lower, can_be_compared, *expected);
    const xp_stored *read = location->stores[at];
    old = read->value;
    done = old == *expected && !(weak && xp_choose(XP_CHOOSE_FAULT, 2) == 1);
    know(location, read);
    take_over(read, done ? order : XP_RELAXED);
    if (done) add_store(location, at + 1, desired, order, read);
  }
  if (!done && !xp_now.alone) xp_spin_note(p);
  if (location != NULL) xp_cover(__builtin_return_address(0));
  xp_trace_access(done ? "cas done, was" : "cas failed, is", p, order, old,
                  __builtin_return_address(0));
  *expected = old;
  xp_after_step();
  return done;
}

static void fence_views(unsigned thread, xp_order order) {
  thread_view *view = &views[thread];
  if (acquires(order)) join(view->current, view->acquired);
  if (order == XP_SEQ_CST) {
    join_stamps(view->current, sc_view);
    join_stamps(sc_view, view->current);
  }
  if (releases(order)) {
    join(view->released, view->current);
    view->current[thread]++;
  }
}

void xp_fence(xp_order order) {
  xp_threads[xp_current].live_sp = (uintptr_t)FRAME;
  if (xp_now.alone || !xp_threads_concurrent()) return;
  xp_count_step();
  if (xp_now.mode == XP_RA && order == XP_SEQ_CST) xp_schedule(XP_OP_FENCE, NULL);
  if (xp_now.mode == XP_TSO) {
    if (order == XP_SEQ_CST) xp_tso_fence();
  } else {
    fence_views(xp_current, order);
  }
  xp_cover(__builtin_return_address(0));
  xp_trace("fence");
  xp_after_step();
}

void xp_memory_barrier_all(void) {
  if (xp_now.mode == XP_TSO) {
    xp_memory_drain_all();
    return;
  }
  /* Twice: what one thread contributes in the first round, all know after the second. A
   * thread that has ended has executed a fence then. */
  for (int round = 0; round < 2; round++)
    for (unsigned i = 1; i < xp_thread_count; i++) fence_views(i, XP_SEQ_CST);
}

uint64_t xp_memory_look(const void *p, unsigned size) {
  xp_location *location = find(p, size);
  note_touch(location, false);
  if (xp_now.mode == XP_RA && location->id >= 0) {
    if (xp_raw_read(location) != location->last_raw) restart(location);
    ensure_first(location);
    know(location, location->stores[location->count - 1]);
  }
  return xp_raw_read(location);
}
