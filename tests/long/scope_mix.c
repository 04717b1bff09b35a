/* A minute of everything that tasks can do. Two dozen outside threads play random scripts
 * on pools of 1, 2, 3, 8 and 64 threads: joins, scopes of both orders, nested, cancelled
 * and with copied arguments, handles, detached work of both lanes, broadcasts, yields,
 * isolated work under locks, blocking sections, calls from pool to pool. What a thread
 * does follows from the seed alone, so a failure can be replayed; every sum is exact.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/support.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { POOLS = 5, CALLERS = 24, RUN_SECONDS = 60, DEEPEST = 3 };

static const unsigned SIZES[POOLS] = {1, 2, 3, 8, 64};

/* What the script can do, for the summary at the end. */
#define ACTION_LIST(ENTRY)                                                               \
  ENTRY(joins)                                                                           \
  ENTRY(scopes)                                                                          \
  ENTRY(copies)                                                                          \
  ENTRY(cancelled)                                                                       \
  ENTRY(handles)                                                                         \
  ENTRY(detached)                                                                        \
  ENTRY(broadcasts)                                                                      \
  ENTRY(yields)                                                                          \
  ENTRY(isolated)                                                                        \
  ENTRY(blocking)                                                                        \
  ENTRY(visits)

typedef enum action {
#define ACTION_ENUM(name) ACT_##name,
  ACTION_LIST(ACTION_ENUM)
#undef ACTION_ENUM
      ACTIONS
} action;

static const char *const ACTION_NAMES[ACTIONS] = {
#define ACTION_NAME(name) #name,
    ACTION_LIST(ACTION_NAME)
#undef ACTION_NAME
};

static struct {
  weft_pool *pools[POOLS];
  unsigned started[POOLS];
  pthread_mutex_t locks[POOLS]; /* taken by tasks of that pool only, never two at once */
  unsigned long locked[POOLS];  /* guarded by its lock */
  atomic_ulong locked_tasks[POOLS];
  time_t end;
  atomic_ulong detached, done; /* functions handed over, functions run */
  atomic_ulong times[ACTIONS];
} scene;

/* Thread-local: isolated work is on this thread's stack. */
static _Thread_local unsigned isolated;

/* One step of a script, in the pool of that number. */
typedef struct call {
  uint64_t random;
  unsigned pool, depth;
} call;

static void act(call *self);

static uint64_t draw(call *self, uint64_t below) {
  return harness_random(&self->random) % below;
}

static call child_of(call *self) {
  return (call){harness_random(&self->random), self->pool, self->depth + 1};
}

/* As a task: goes on with the script, then counts itself. */
typedef struct counted {
  call script;
  atomic_ulong *ran;
} counted;

static void run_counted(void *ctx) {
  counted *self = ctx;
  CHECK_EQ(weft_pool_current(), scene.pools[self->script.pool]);
  act(&self->script);
  atomic_fetch_add(self->ran, 1);
}

/* ---- actions ---- */

/* A tree of random shape; the result is the number of its nodes. */
typedef struct wild {
  uint64_t seed;
  unsigned size, counted;
  bool blocks;
} wild;

static void wild_run(void *ctx) {
  wild *self = ctx;
  self->counted = self->size == 0 ? 0 : 1;
  if (self->size < 2) return;
  uint64_t random = self->seed;
  for (uint64_t i = harness_random(&random) % 32; i > 0; i--) wf_sys_relax();
  if (self->blocks && harness_random(&random) % 16 == 0) {
    weft_blocking_begin();
    sched_yield();
    weft_blocking_end();
  }
  unsigned rest = self->size - 1;
  unsigned left_size = (unsigned)(harness_random(&random) % (rest + 1));
  wild left = {harness_random(&random), left_size, 0, self->blocks};
  wild right = {harness_random(&random), rest - left_size, 0, self->blocks};
  weft_join(wild_run, &left, wild_run, &right);
  self->counted += left.counted + right.counted;
}

static void join_tree(call *self, bool blocks) {
  wild root = {harness_random(&self->random), (unsigned)draw(self, 500), 0, blocks};
  wild_run(&root);
  CHECK_EQ(root.counted, root.size);
}

/* Tasks that each go on with the script; one in three copied. */
static void open_scope(call *self) {
  enum { MOST = 12 };
  counted tasks[MOST];
  atomic_ulong ran = 0;
  weft_opts opts = WEFT_OPTS_INIT;
  weft_scope scope;
  unsigned count = (unsigned)draw(self, MOST + 1);
  opts.order = draw(self, 2) == 0 ? WEFT_ORDER_LIFO : WEFT_ORDER_FIFO;
  weft_scope_begin_with(&opts, &scope);
  CHECK_EQ(weft_scope_current(), &scope);
  for (unsigned i = 0; i < count; i++) {
    tasks[i] = (counted){child_of(self), &ran};
    if (draw(self, 3) == 0)
      weft_spawn_copy(&scope, &tasks[i], sizeof tasks[i], run_counted);
    else
      weft_spawn(&scope, run_counted, &tasks[i]);
  }
  if (draw(self, 4) == 0) join_tree(self, false);
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&ran), count);
}

/* Copies of many sizes; each says how long it is. */
typedef struct parcel {
  size_t size;
  atomic_ulong *bytes;
} parcel;

static void open_parcel(void *ctx) {
  unsigned char *bytes = ctx;
  parcel p;
  memcpy(&p, bytes, sizeof p);
  for (size_t i = sizeof p; i < p.size; i++)
    if (bytes[i] != (unsigned char)(p.size + i)) {
      CHECK_MSG(false, "byte %zu of %zu", i, p.size);
      break;
    }
  memset(bytes, 0xee, p.size);
  atomic_fetch_add(p.bytes, p.size);
}

static void send_copies(call *self) {
  static const size_t most[] = {64, 64, 64, 300, 300, 3000, 6000, 100000};
  unsigned char *buffer = malloc(100000);
  atomic_ulong bytes = 0;
  unsigned long expected = 0;
  weft_scope scope;
  REQUIRE(buffer != NULL);
  weft_scope_begin(&scope);
  for (uint64_t i = draw(self, 40); i > 0; i--) {
    size_t limit = most[draw(self, 8)];
    parcel p = {sizeof p + draw(self, limit - sizeof p + 1), &bytes};
    for (size_t b = sizeof p; b < p.size; b++) buffer[b] = (unsigned char)(p.size + b);
    memcpy(buffer, &p, sizeof p);
    weft_spawn_copy(&scope, buffer, p.size, open_parcel);
    expected += p.size;
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  CHECK_EQ(atomic_load(&bytes), expected);
  free(buffer);
}

/* A scope inside a scope; the outer or the inner one is cancelled at some task. */
typedef struct doomed {
  weft_scope outer, inner;
  weft_scope *victim;
  unsigned long at;
  atomic_ulong ran;
} doomed;

static void doomed_run(void *ctx) {
  doomed *d = ctx;
  if (atomic_fetch_add(&d->ran, 1) == d->at) {
    weft_scope_cancel(d->victim, 17);
    weft_scope_cancel(d->victim, 18);
  }
}

static void cancel_scopes(call *self) {
  doomed d = {.at = draw(self, 40)};
  d.victim = draw(self, 2) == 0 ? &d.outer : &d.inner;
  weft_scope_begin(&d.outer);
  weft_scope_begin(&d.inner);
  for (int i = 0; i < 30; i++) weft_spawn(&d.inner, doomed_run, &d);
  int inner = weft_scope_end(&d.inner);
  unsigned long ran = atomic_load(&d.ran);
  CHECK_EQ(inner, d.at < 30 ? 17 : 0);
  CHECK(d.at < 30 ? ran > d.at && ran <= 30 : ran == 30);
  CHECK_EQ(weft_scope_end(&d.outer), d.victim == &d.outer ? inner : 0);
}

/* Handles that are waited for, the last one first. */
static void use_handles(call *self) {
  enum { MOST = 6 };
  counted jobs[MOST];
  weft_handle *handles[MOST];
  atomic_ulong ran = 0;
  unsigned count = (unsigned)draw(self, MOST + 1);
  for (unsigned i = 0; i < count; i++) {
    weft_opts opts = WEFT_OPTS_INIT;
    jobs[i] = (counted){child_of(self), &ran};
    if (draw(self, 4) == 0) opts.lane = WEFT_LANE_BACKGROUND;
    REQUIRE(weft_async_with(&opts, &handles[i], run_counted, &jobs[i]) == 0);
  }
  for (unsigned i = count; i > 0; i--) CHECK_EQ(weft_handle_wait(handles[i - 1]), 0);
  CHECK_EQ(atomic_load(&ran), count);
}

/* Nobody waits for these, so their context is no more than a number. */
static void run_dropped(void *ctx) {
  call self = {(uint64_t)(uintptr_t)ctx, 0, DEEPEST};
  join_tree(&self, false);
  atomic_fetch_add(&scene.done, 1);
}

static void detach_or_drop(call *self) {
  weft_opts opts = WEFT_OPTS_INIT;
  void *ctx = (void *)(uintptr_t)harness_random(&self->random);
  opts.pool = scene.pools[draw(self, POOLS)];
  if (draw(self, 3) == 0) opts.lane = WEFT_LANE_BACKGROUND;
  atomic_fetch_add(&scene.detached, 1);
  if (draw(self, 2) == 0) {
    CHECK_EQ(weft_detach_with(&opts, run_dropped, ctx), 0);
  } else {
    weft_handle *handle;
    REQUIRE(weft_async_with(&opts, &handle, run_dropped, ctx) == 0);
    weft_handle_drop(handle);
  }
}

static void count_call(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  count_one(ctx);
}

/* Only from outside, where the number of threads is known. */
static void broadcast(call *self) {
  atomic_ulong calls = 0;
  weft_opts opts = opts_on(scene.pools[self->pool]);
  weft_broadcast_with(&opts, count_call, &calls);
  CHECK_EQ(atomic_load(&calls), scene.started[self->pool] + 1);
}

/* Tasks that hold the lock of their pool around parallel work. */
static void run_isolated(void *ctx) {
  call *self = ctx;
  isolated++;
  join_tree(self, false);
  send_copies(self);
  isolated--;
}

static void run_locked(void *ctx) {
  call *self = ctx;
  REQUIRE(isolated == 0); /* else the lock may be held below */
  REQUIRE(pthread_mutex_lock(&scene.locks[self->pool]) == 0);
  weft_isolate(run_isolated, self);
  scene.locked[self->pool]++;
  REQUIRE(pthread_mutex_unlock(&scene.locks[self->pool]) == 0);
}

static void lock_in_tasks(call *self) {
  call scripts[4];
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 4; i++) {
    scripts[i] = child_of(self);
    weft_spawn(&scope, run_locked, &scripts[i]);
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
  atomic_fetch_add(&scene.locked_tasks[self->pool], 4);
}

static void act_there(void *ctx) {
  act(ctx);
}

static void visit(call *self) {
  call next = child_of(self);
  next.pool = (unsigned)draw(self, POOLS);
  weft_pool_run(scene.pools[next.pool], act_there, &next);
}

/* ---- the script ---- */

static void act(call *self) {
  action chosen = (action)draw(self, ACTIONS);
  if (chosen == ACT_broadcasts) chosen = ACT_visits; /* those are made by play */
  if (self->depth >= DEEPEST && chosen != ACT_yields) chosen = ACT_joins;
  atomic_fetch_add(&scene.times[chosen], 1);
  switch (chosen) {
  case ACT_joins:
    join_tree(self, false);
    break;
  case ACT_scopes:
    open_scope(self);
    break;
  case ACT_copies:
    send_copies(self);
    break;
  case ACT_cancelled:
    cancel_scopes(self);
    break;
  case ACT_handles:
    use_handles(self);
    break;
  case ACT_detached:
    detach_or_drop(self);
    break;
  case ACT_yields:
    weft_yield();
    break;
  case ACT_isolated:
    lock_in_tasks(self);
    break;
  case ACT_blocking:
    join_tree(self, true);
    break;
  case ACT_visits:
    visit(self);
    break;
  case ACT_broadcasts:
  case ACTIONS:
    break;
  }
}

static void play(unsigned index, void *arg) {
  call self = {harness_seed() + index, 0, 0};
  (void)arg;
  while (time(NULL) < scene.end) {
    self.pool = (unsigned)draw(&self, POOLS);
    call next = child_of(&self);
    next.depth = 0;
    if (draw(&self, 100) == 0) {
      atomic_fetch_add(&scene.times[ACT_broadcasts], 1);
      broadcast(&self);
    } else {
      weft_pool_run(scene.pools[self.pool], act_there, &next);
    }
    /* Do not let the queues grow without end. */
    AWAIT(atomic_load(&scene.detached) - atomic_load(&scene.done) < 1000);
  }
}

static void open_scene(void) {
  for (unsigned i = 0; i < POOLS; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = SIZES[i];
    config.guests = i % 2 == 0 ? 3 : 64;
    config.deque_capacity = i % 2 == 0 ? 2 : 0;
    config.blocking = i == 1 ? WEFT_NO_BLOCKING : i;
    scene.pools[i] = pool_with(&config);
    scene.started[i] = wf_pool_started(scene.pools[i]);
    REQUIRE(pthread_mutex_init(&scene.locks[i], NULL) == 0);
  }
  scene.end = time(NULL) + RUN_SECONDS;
}

static void close_scene(void) {
  /* Functions of one pool go into others, so all must have run before the first ends. */
  AWAIT(atomic_load(&scene.done) == atomic_load(&scene.detached));
  for (unsigned i = 0; i < POOLS; i++) {
    CHECK_EQ(scene.locked[i], atomic_load(&scene.locked_tasks[i]));
    AWAIT(all_asleep(scene.pools[i]));
    weft_pool_destroy(scene.pools[i]);
    pthread_mutex_destroy(&scene.locks[i]);
  }
}

TEST_LIMIT(a_minute_of_all_tasks, 600) {
  unsigned baseline = harness_thread_count();
  printf("  seed of the scripts: %llu\n", (unsigned long long)harness_seed());
  open_scene();
  harness_run_threads(CALLERS, play, NULL);
  close_scene();
  CHECK_EQ(harness_thread_count(), baseline);
  for (int i = 0; i < ACTIONS; i++)
    printf("  %s: %lu\n", ACTION_NAMES[i], atomic_load(&scene.times[i]));
}
