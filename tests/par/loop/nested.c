/* Loops inside everything, and everything inside loops: joins, scopes, other pools,
 * yields, isolation, blocking sections, cancellation, small stacks, forks.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "process/child.h"

#include "par/loop/blocks.h"

#include "sched/stack_use.h"

/* ---- loops in loops ---- */

enum { ROWS = 60, COLS = 50 };

typedef struct grid {
  unsigned char cells[ROWS * COLS];
  size_t row;
} grid;

typedef struct row_of {
  grid *grid;
  size_t row;
} row_of;

static void fill_row(size_t begin, size_t end, void *ctx) {
  const row_of *r = ctx;
  for (size_t c = begin; c < end; c++) r->grid->cells[r->row * COLS + c]++;
}

static void fill_rows(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    row_of row = {ctx, i};
    weft_for(COLS, fill_row, &row);
  }
}

static void check_grid(grid *g) {
  check_marks(g->cells, ROWS * COLS, 1);
}

static void loops_in_loops(void *ctx) {
  grid *g = calloc(1, sizeof *g);
  (void)ctx;
  REQUIRE(g != NULL);
  for (unsigned long i = 0; i < scaled(200); i++) {
    weft_for(ROWS, fill_rows, g);
    check_grid(g);
  }
  free(g);
}

TEST(loops_inside_loops) {
  in_each_pool(loops_in_loops, NULL);
}

/* A tree of loops, as deep as it goes. */
typedef struct level {
  unsigned depth;
  atomic_ulong *leaves;
} level;

static void go_deeper(size_t begin, size_t end, void *ctx) {
  const level *l = ctx;
  level below = {l->depth - 1, l->leaves};
  for (size_t i = begin; i < end; i++) {
    if (below.depth == 0)
      atomic_fetch_add(l->leaves, 1);
    else
      weft_for(3, go_deeper, &below);
  }
}

static void check_depth(void *ctx) {
  atomic_ulong leaves = 0;
  level top = {7, &leaves};
  (void)ctx;
  weft_for(3, go_deeper, &top);
  CHECK_EQ(atomic_load(&leaves), 2187);
}

TEST(a_tree_of_loops) {
  for (unsigned long i = 0; i < scaled(30); i++) in_each_pool(check_depth, NULL);
}

/* ---- everything in everything ---- */

/* Each node does one thing, at random, that calls nodes below; the number of leaves is
 * known from the seed alone. */
typedef struct node {
  uint64_t seed;
  unsigned depth;
  atomic_ulong *leaves;
} node;

static weft_pool *other_pools[2];

static void run_node(void *ctx);

/* The child number i of a node. */
static node child_of(const node *parent, size_t i) {
  uint64_t state = parent->seed + i;
  return (node){harness_random(&state), parent->depth - 1, parent->leaves};
}

enum { CHILDREN = 3 };

static void run_child_nodes(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) {
    node child = child_of(ctx, i);
    run_node(&child);
  }
}

static int try_child_nodes(size_t begin, size_t end, void *ctx) {
  run_child_nodes(begin, end, ctx);
  return 0;
}

static void run_child_tile(size_t r0, size_t r1, size_t c0, size_t c1, void *ctx) {
  (void)c0, (void)c1;
  run_child_nodes(r0, r1, ctx);
}

static void run_all_children(void *ctx) {
  run_child_nodes(0, CHILDREN, ctx);
}

static void run_spawned_node(void *ctx) {
  run_node(ctx);
}

static void run_scope_of_children(node *self) {
  weft_scope scope;
  weft_scope_begin(&scope);
  for (size_t i = 0; i < CHILDREN; i++) {
    node child = child_of(self, i);
    weft_spawn_copy(&scope, &child, sizeof child, run_spawned_node);
  }
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void run_join_of_children(node *self) {
  node a = child_of(self, 0), b = child_of(self, 1), c = child_of(self, 2);
  weft_join(run_node, &a, run_node, &b);
  run_node(&c);
}

static void run_loop_of_children(node *self, uint64_t choice) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.split = (weft_split)(choice % 3);
  opts.max_workers = (unsigned)(choice / 3 % 3);
  if (choice / 9 % 4 == 0) opts.pool = other_pools[choice % 2];
  switch (choice / 36 % 3) {
  case 0:
    weft_for_with(&opts, CHILDREN, run_child_nodes, self);
    break;
  case 1:
    CHECK_EQ(weft_try_for_with(&opts, CHILDREN, try_child_nodes, self), 0);
    break;
  default:
    weft_for_2d_with(&opts, CHILDREN, 5, 1, 0, run_child_tile, self);
    break;
  }
}

static void run_blocking_children(node *self) {
  weft_blocking_begin();
  if (self->seed % 2 == 0) run_all_children(self);
  sched_yield();
  weft_blocking_end();
  if (self->seed % 2 != 0) run_all_children(self);
}

static void run_node(void *ctx) {
  node *self = ctx;
  uint64_t state = self->seed, choice = harness_random(&state);
  if (self->depth == 0) {
    atomic_fetch_add(self->leaves, 1);
    if (choice % 5 == 0) weft_yield();
    return;
  }
  switch (choice % 10) {
  case 0:
    run_scope_of_children(self);
    break;
  case 1:
    run_join_of_children(self);
    break;
  case 2:
    weft_isolate(run_all_children, self);
    break;
  case 3:
    weft_pool_run(other_pools[choice / 10 % 2], run_all_children, self);
    break;
  case 4:
    run_blocking_children(self);
    break;
  default:
    run_loop_of_children(self, choice / 10);
  }
}

typedef struct mixed_case {
  uint64_t seed;
} mixed_case;

static void run_mixed(void *ctx) {
  atomic_ulong leaves = 0;
  node top = {((mixed_case *)ctx)->seed, 5, &leaves};
  run_node(&top);
  CHECK_EQ(atomic_load(&leaves), 243);
}

static void run_mixed_on_thread(unsigned index, void *arg) {
  weft_pool *pool = arg;
  for (unsigned long i = 0; i < scaled(60); i++) {
    mixed_case c = {harness_seed() + 1000 * index + i};
    weft_pool_run(pool, run_mixed, &c);
  }
}

TEST_LIMIT(everything_inside_everything, 120) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    other_pools[0] = pool_of(2);
    other_pools[1] = pool_of(3);
    run_mixed_on_thread(0, pool);
    harness_run_threads(3, run_mixed_on_thread, pool);
    weft_pool_destroy(pool);
    weft_pool_destroy(other_pools[0]);
    weft_pool_destroy(other_pools[1]);
  }
}

/* ---- loops in every kind of task ---- */

static void loop_once(void *ctx) {
  unsigned char marks[300] = {0};
  weft_for(sizeof marks, mark_block, marks);
  check_marks(marks, sizeof marks, 1);
  check_depth(NULL);
  count_one(ctx);
}

static void loop_in_broadcast(unsigned index, unsigned count, void *ctx) {
  CHECK(index < count);
  loop_once(ctx);
}

static void loops_in_handles(weft_lane lane, atomic_ulong *ran) {
  enum { HANDLES = 5 };
  weft_handle *handles[HANDLES];
  weft_opts opts = WEFT_OPTS_INIT;
  opts.lane = lane;
  for (int i = 0; i < HANDLES; i++)
    CHECK_EQ(weft_async_with(&opts, &handles[i], loop_once, ran), 0);
  loop_once(ran);
  for (int i = 0; i < HANDLES; i++) CHECK_EQ(weft_handle_wait(handles[i]), 0);
  CHECK_EQ(weft_detach_with(&opts, loop_once, ran), 0);
}

static void loops_in_scope(weft_order order, atomic_ulong *ran) {
  weft_scope scope;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.order = order;
  weft_scope_begin_with(&opts, &scope);
  for (int i = 0; i < 5; i++) weft_spawn(&scope, loop_once, ran);
  loop_once(ran);
  CHECK_EQ(weft_scope_end(&scope), 0);
}

static void loops_in_tasks(void *ctx) {
  atomic_ulong *ran = ctx;
  loops_in_handles(WEFT_LANE_NORMAL, ran);
  loops_in_handles(WEFT_LANE_BACKGROUND, ran);
  loops_in_scope(WEFT_ORDER_LIFO, ran);
  loops_in_scope(WEFT_ORDER_FIFO, ran);
  weft_broadcast(loop_in_broadcast, ran);
}

TEST(loops_in_tasks_of_every_kind) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_pool *pool = pool_of(THREADS[i]);
    unsigned long rounds = scaled(5), count = 4 * 6 + 2 + 1 + wf_pool_started(pool);
    atomic_ulong ran = 0;
    for (unsigned long round = 0; round < rounds; round++)
      weft_pool_run(pool, loops_in_tasks, &ran);
    weft_pool_destroy(pool); /* waits for what was detached */
    CHECK_EQ(atomic_load(&ran), rounds * count);
  }
}

/* ---- a lock around a loop ---- */

/* Isolated, a waiting thread takes only work of this loop, so that it does not come upon
 * another loop which takes the lock it holds. */
typedef struct locked {
  pthread_mutex_t mutex;
  size_t count; /* under the mutex */
} locked;

static void do_little(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  for (size_t i = begin; i < end; i++) spin(5);
}

static void loop_under_lock(void *ctx) {
  locked *l = ctx;
  pthread_mutex_lock(&l->mutex);
  size_t before = l->count;
  weft_for(100, do_little, NULL);
  l->count = before + 1;
  pthread_mutex_unlock(&l->mutex);
}

static void lock_each(size_t begin, size_t end, void *ctx) {
  for (size_t i = begin; i < end; i++) weft_isolate(loop_under_lock, ctx);
}

static void check_locked(void *ctx) {
  locked l = {.mutex = PTHREAD_MUTEX_INITIALIZER};
  (void)ctx;
  weft_for(scaled(1000), lock_each, &l);
  CHECK_EQ(l.count, scaled(1000));
}

TEST(a_lock_around_an_isolated_loop) {
  in_each_pool(check_locked, NULL);
}

/* ---- cancellation from inside ---- */

typedef struct inner_stop {
  weft_scope *outer;
  atomic_ulong ran;
} inner_stop;

static void cancel_within(size_t begin, size_t end, void *ctx) {
  inner_stop *s = ctx;
  (void)begin, (void)end;
  if (atomic_fetch_add(&s->ran, 1) == 50) weft_scope_cancel(s->outer, 6);
}

static void loop_within(size_t begin, size_t end, void *ctx) {
  inner_stop *s = ctx;
  weft_scope scope;
  weft_opts opts = WEFT_OPTS_INIT;
  for (size_t i = begin; i < end; i++) {
    weft_scope_begin(&scope);
    opts.cancel = &scope; /* is inside the outer one */
    opts.max_len = 2;
    weft_for_with(&opts, SIZE_MAX, cancel_within, s);
    CHECK_EQ(weft_scope_end(&scope), 6);
  }
}

static void check_inner_stop(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(100); i++) {
    weft_scope outer;
    inner_stop s = {.outer = &outer};
    weft_opts opts = WEFT_OPTS_INIT;
    weft_scope_begin(&outer);
    opts.cancel = &outer;
    weft_for_with(&opts, SIZE_MAX, loop_within, &s);
    CHECK_EQ(weft_scope_end(&outer), 6);
    CHECK(atomic_load(&s.ran) > 50);
  }
}

TEST(endless_loops_inside_an_endless_loop) {
  in_each_pool(check_inner_stop, NULL);
}

/* A loop in a task of the scope that it watches. */
static void loop_in_task(void *ctx) {
  inner_stop *s = ctx;
  weft_opts opts = WEFT_OPTS_INIT;
  opts.cancel = weft_scope_current();
  opts.max_len = 3;
  weft_for_with(&opts, SIZE_MAX, cancel_within, s);
}

static void check_tasks_with_loops(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(100); i++) {
    weft_scope scope;
    inner_stop s = {.outer = &scope};
    weft_scope_begin(&scope);
    for (int task = 0; task < 4; task++) weft_spawn(&scope, loop_in_task, &s);
    CHECK_EQ(weft_scope_end(&scope), 6);
  }
}

TEST(endless_loops_in_tasks) {
  in_each_pool(check_tasks_with_loops, NULL);
}

/* ---- small stacks ---- */

static void loops_on_small_stack(void *ctx) {
  (void)ctx;
  for (unsigned long i = 0; i < scaled(50); i++) {
    unsigned char marks[2000] = {0};
    weft_for(sizeof marks, mark_block, marks);
    check_marks(marks, sizeof marks, 1);
    check_depth(NULL);
  }
}

static void run_on_small_stack(void *ctx) {
  weft_pool_run(ctx, loops_on_small_stack, NULL);
}

TEST(loops_on_stacks_of_64_KiB) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = THREADS[i];
    config.stack_size = thread_stack(64 << 10);
    weft_pool *pool = pool_with(&config);
    loops_on_small_stack(NULL);
    weft_pool_run(pool, loops_on_small_stack, NULL);
    run_on_started(pool, loops_on_small_stack, NULL);
    run_with_stack(scaled_stack(64 << 10), run_on_small_stack, pool);
    weft_pool_destroy(pool);
  }
  weft_shutdown();
}

/* A yield may run another block of the same loop on top, and that one yields again. */
static void yield_and_mark(size_t begin, size_t end, void *ctx) {
  unsigned char *marks = ctx;
  for (size_t i = begin; i < end; i++) {
    weft_yield();
    marks[i]++;
    weft_yield();
  }
}

static void yield_in_loops(void *ctx) {
  unsigned char *marks = marks_of(3000);
  (void)ctx;
  for (unsigned way = 0; way < 6; way++) {
    weft_opts opts = WEFT_OPTS_INIT;
    opts.max_len = 1 + way % 2;
    opts.split = (weft_split)(way / 2);
    if (way % 2 == 1) opts.target_chunks = 3000;
    weft_for_with(&opts, 3000, yield_and_mark, marks);
    check_marks(marks, 3000, 1);
  }
  free(marks);
}

TEST(yields_on_stacks_of_64_KiB) {
  for (unsigned i = 0; i < THREADS_COUNT; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.threads = THREADS[i];
    config.stack_size = thread_stack(64 << 10);
    weft_pool *pool = pool_with(&config);
    weft_pool_run(pool, yield_in_loops, NULL);
    run_on_started(pool, yield_in_loops, NULL);
    weft_pool_destroy(pool);
  }
}

/* A huge range with a body of nothing, asked for work by many: the deepest recursion. */
static _Thread_local own_stack mine;
static atomic_ulong deepest;

static void tally_and_measure(size_t begin, size_t end, void *ctx) {
  if (mine.top == NULL) mine = find_own_stack();
  keep_largest(&deepest, stack_used(&mine));
  tally_block(begin, end, ctx);
}

static void tally_deep(void *ctx) {
  tally t = {0};
  (void)ctx;
  for (unsigned long i = 0; i < scaled(200); i++) {
    weft_opts opts = WEFT_OPTS_INIT;
    weft_for(SIZE_MAX, tally_and_measure, &t);
    tally_is(&t, SIZE_MAX);
    opts.split = WEFT_SPLIT_RECURSIVE;
    opts.target_chunks = 300;
    weft_for_with(&opts, SIZE_MAX, tally_and_measure, &t);
    tally_is(&t, SIZE_MAX);
  }
}

TEST(huge_ranges_on_stacks_of_64_KiB) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 8;
  config.stack_size = thread_stack(64 << 10);
  config.idle = WEFT_IDLE_LOW_LATENCY;
  weft_pool *pool = pool_with(&config);
  weft_pool_run(pool, tally_deep, NULL);
  atomic_store(&deepest, 0); /* the caller's stack is none of these */
  run_on_started(pool, tally_deep, NULL);
  printf("  %lu bytes of stack\n", atomic_load(&deepest));
  CHECK(atomic_load(&deepest) <= config.stack_size * 3 / 4);
  weft_pool_destroy(pool);
}

/* ---- forks inside a loop ---- */

/* The child has the block that forked, and what its thread has not handed out; it leaves
 * the loop with exit. */
static void fork_in_block(size_t begin, size_t end, void *ctx) {
  unsigned char *marks = ctx;
  mark_block(begin, end, marks);
  if (begin <= 20 && 20 < end) {
    pid_t child = fork_here();
    if (child == 0) {
      unsigned char own[500] = {0};
      weft_for(sizeof own, mark_block, own); /* alone, inside the block */
      for (size_t i = 0; i < sizeof own; i++)
        if (own[i] != 1) child_ends(false);
      child_ends(true);
    }
    CHECK_EQ(wait_for_child(child), 0);
  }
}

static void check_fork_in_loop(void *ctx) {
  unsigned char marks[50] = {0};
  (void)ctx;
  weft_for(sizeof marks, fork_in_block, marks);
  check_marks(marks, sizeof marks, 1);
}

TEST(a_fork_inside_a_loop) {
  if (!children_may_start_threads()) return;
  for (int i = 0; i < 10; i++) in_each_pool(check_fork_in_loop, NULL);
}

/* With nobody to take anything, the child ends the whole loop. */
typedef struct forked_loop {
  unsigned char marks[300];
  pid_t child;
} forked_loop;

static void fork_and_go_on(size_t begin, size_t end, void *ctx) {
  forked_loop *f = ctx;
  mark_block(begin, end, f->marks);
  if (begin <= 20 && 20 < end) f->child = fork_here();
}

static void check_child_ends_loop(void *ctx) {
  for (unsigned way = 0; way < 6; way++) {
    forked_loop f = {.child = -1};
    weft_opts opts = WEFT_OPTS_INIT;
    opts.split = (weft_split)(way % 3);
    opts.max_workers = way / 3 * 2;
    opts.max_len = 7;
    (void)ctx;
    weft_for_with(&opts, sizeof f.marks, fork_and_go_on, &f);
    bool right = true;
    for (size_t i = 0; i < sizeof f.marks; i++) right = right && f.marks[i] == 1;
    if (f.child == 0) child_ends(right);
    CHECK(right);
    CHECK_EQ(wait_for_child(f.child), 0);
  }
}

TEST(a_child_goes_on_with_the_loop) {
  if (!children_may_start_threads()) return;
  weft_pool *alone = pool_of(1), *pool = pool_of(3);
  gate plug = {0};
  weft_pool_run(alone, check_child_ends_loop, NULL);
  plug_threads(&plug, pool);
  weft_pool_run(pool, check_child_ends_loop, NULL);
  unplug(&plug);
  weft_pool_destroy(alone);
  weft_pool_destroy(pool);
}
