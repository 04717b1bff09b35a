/* reference/task.c - examples of weft/join.h, weft/scope.h, weft/task.h,
 * weft/typed_task.h, weft/typed_async.h.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe, getpid */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft.h>

#include "example.h"

/* example: weft_join */
struct fib {
  long n, result;
};

static void fib(void *ctx) {
  struct fib *f = ctx;
  if (f->n < 2) {
    f->result = f->n;
    return;
  }
  struct fib left = {f->n - 1, 0}, right = {f->n - 2, 0};
  weft_join(fib, &left, fib, &right);
  f->result = left.result + right.result;
}

EXAMPLE(join_fib) {
  struct fib f = {20, 0};
  fib(&f);
  assert(f.result == 6765);
}

/* example: weft_invoke, WEFT_INVOKE, weft_call */
static void load(void *ctx) {
  *(int *)ctx = 1;
}

static void connect_server(void *ctx) {
  *(int *)ctx = 2;
}

EXAMPLE(join_invoke) {
  int table = 0, server = 0;
  weft_call calls[] = {{load, &table}, {connect_server, &server}};
  weft_invoke(calls, 2);
  assert(table == 1 && server == 2);
  WEFT_INVOKE({load, &server}, {connect_server, &table}); /* the same in one line */
  assert(table == 2 && server == 1);
}

/* example: WEFT_TASK */
WEFT_TASK(long, nfib, long, n) {
  if (n < 2) return 1;
  nfib_task left; /* on the stack */
  nfib_fork(&left, n - 1);
  long right = nfib(n - 2);
  return nfib_join(&left) + right;
}

EXAMPLE(typed_task) {
  assert(nfib(20) == 10946);
}

/* example: WEFT_TASK_DECLARE */
static WEFT_TASK_DECLARE(bool, is_odd, unsigned, n)

    static bool is_even(unsigned n) {
  if (n == 0) return true;
  is_odd_task t;
  is_odd_fork(&t, n - 1);
  return is_odd_join(&t);
}

static bool is_odd(unsigned n) {
  return n != 0 && is_even(n - 1);
}

EXAMPLE(typed_task_declare) {
  assert(is_even(10) && !is_even(7));
}

/* example: WEFT_TASK_FAST, WEFT_BOTH */
WEFT_TASK_FAST(long, pairs, long, n) {
  long a, b;
  if (n < 2) return n;
  WEFT_BOTH(a, (pairs, n - 2), b, (pairs, n - 1)); /* a = pairs(n - 2), b = ... */
  return a + b;
}

EXAMPLE(typed_task_fast) {
  assert(pairs(20) == 6765); /* called, forked and joined as any typed task */
}

/* example: WEFT_BOTH_VOID */
WEFT_TASK_FAST(void, fill, int *, a, size_t, n, int, value) {
  if (n == 1) a[0] = value;
  if (n < 2) return;
  WEFT_BOTH_VOID((fill, a, n / 2, value), (fill, a + n / 2, n - n / 2, value));
}

EXAMPLE(typed_task_both_void) {
  int a[100];
  fill(a, 100, 7);
  assert(a[0] == 7 && a[99] == 7);
}

/* example: WEFT_CALL, WEFT_FORK, WEFT_JOIN */
WEFT_TASK_FAST(long, leaves_of, unsigned, depth) {
  leaves_of_task child[2]; /* or any number, joined in reverse order */
  long sum;
  if (depth == 0) return 1;
  WEFT_FORK(leaves_of, &child[0], depth - 1);
  WEFT_FORK(leaves_of, &child[1], depth - 1);
  sum = WEFT_CALL(leaves_of, depth - 1);
  sum += WEFT_JOIN(leaves_of, &child[1]);
  return sum + WEFT_JOIN(leaves_of, &child[0]);
}

EXAMPLE(typed_task_fork) {
  assert(leaves_of(5) == 243);
}

/* example: weft_scope, weft_scope_begin, weft_spawn, weft_scope_end */
struct node {
  int value;
  struct node *left, *right;
  weft_scope *scope;
  _Atomic int *sum;
};

static void visit(void *ctx) {
  struct node *node = ctx;
  struct node *children[2] = {node->left, node->right};
  for (int i = 0; i < 2; i++) {
    if (children[i] == NULL) continue;
    children[i]->scope = node->scope, children[i]->sum = node->sum;
    weft_spawn(node->scope, visit, children[i]); /* tasks may spawn into their scope */
  }
  atomic_fetch_add(node->sum, node->value);
}

EXAMPLE(scope_tree) {
  weft_scope scope;
  _Atomic int sum = 0;
  struct node leaf = {4, NULL, NULL, NULL, NULL}, other = {2, NULL, NULL, NULL, NULL};
  struct node root = {1, &leaf, &other, &scope, &sum};
  weft_scope_begin(&scope);
  weft_spawn(&scope, visit, &root);
  int status = weft_scope_end(&scope); /* all tasks have ended */
  assert(status == 0 && sum == 7);
}

/* example: weft_spawn_copy */
struct tile {
  int x, y;
  _Atomic int *painted;
};

static void paint(void *ctx) {
  struct tile *tile = ctx; /* a copy of its own */
  atomic_fetch_add(tile->painted, tile->x * tile->y);
}

EXAMPLE(scope_spawn_copy) {
  weft_scope scope;
  _Atomic int painted = 0;
  weft_scope_begin(&scope);
  for (int x = 0; x < 4; x++) {
    struct tile tile = {x, 10, &painted}; /* gone when the task runs */
    weft_spawn_copy(&scope, &tile, sizeof tile, paint);
  }
  weft_scope_end(&scope);
  assert(painted == 60);
}

/* example: weft_scope_cancel, weft_scope_cancelled, weft_scope_current */
static void search(void *ctx) {
  const int *number = ctx;
  if (weft_scope_cancelled(weft_scope_current())) return; /* another task was faster */
  if (*number == 42) weft_scope_cancel(weft_scope_current(), 42);
}

EXAMPLE(scope_cancel) {
  int numbers[100];
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 100; i++) {
    numbers[i] = i;
    weft_spawn(&scope, search, &numbers[i]);
  }
  assert(weft_scope_end(&scope) == 42); /* the error of the scope; 0 if there was none */
}

/* example: weft_async, weft_handle, weft_handle_wait, weft_handle_done */
static void load_level(void *ctx) {
  *(int *)ctx = 3;
}

EXAMPLE(async_load) {
  int level = 0;
  weft_handle *handle;
  if (weft_async(&handle, load_level, &level) != 0) {
    load_level(&level); /* no memory, or the queue is full */
    return;
  }
  bool done = weft_handle_done(handle); /* perhaps */
  (void)done;
  weft_handle_wait(handle);
  assert(level == 3);
}

/* example: weft_async_copy, weft_handle_args */
struct sum {
  int a, b, result;
};

static void add(void *ctx) {
  struct sum *s = ctx;
  s->result = s->a + s->b;
}

EXAMPLE(async_copy) {
  struct sum s = {1, 2, 0};
  weft_handle *handle;
  if (weft_async_copy(&handle, &s, sizeof s, add) != 0) return;
  while (weft_handle_wait_for(handle, 0) == WEFT_EBUSY) weft_yield();
  /* The handle is free now. To read the copy, ask before that: */
  if (weft_async_copy(&handle, &s, sizeof s, add) != 0) return;
  while (!weft_handle_done(handle)) weft_yield();
  assert(((struct sum *)weft_handle_args(handle))->result == 3);
  weft_handle_drop(handle);
}

/* example: weft_handle_wait_for, weft_handle_drop */
static void slow(void *ctx) {
  while (atomic_load((atomic_bool *)ctx)) weft_yield();
}

EXAMPLE(async_wait_for) {
  atomic_bool runs = true;
  weft_handle *handle;
  if (weft_async(&handle, slow, &runs) != 0) return;
  int rounds = 0;
  while (weft_handle_wait_for(handle, 1000 * 1000) == WEFT_EBUSY) /* a millisecond */
    if (++rounds == 3) runs = false;
  assert(rounds >= 3 || !runs);
}

/* example: weft_handle_wait_any, weft_handle_wait_any_for, weft_handle_wait_all */
static void square(void *ctx) {
  int *x = ctx;
  *x *= *x;
}

EXAMPLE(async_wait_any) {
  int x[3] = {2, 3, 4};
  weft_handle *handles[3];
  for (int i = 0; i < 3; i++)
    if (weft_async(&handles[i], square, &x[i]) != 0) abort();
  size_t first = weft_handle_wait_any(handles, 3); /* whichever is done first */
  assert(x[first] == (int)((first + 2) * (first + 2)));
  size_t some = weft_handle_wait_any_for(handles, 3, 1000 * 1000); /* or SIZE_MAX */
  assert(some < 3 || some == SIZE_MAX);
  weft_handle_wait_all(handles, 3); /* frees all */
  assert(x[0] == 4 && x[1] == 9 && x[2] == 16);
}

/* example: weft_handle_then */
static void read_page(void *ctx) {
  *(_Atomic int *)ctx = 1;
}

static void index_page(void *ctx) {
  *(_Atomic int *)ctx += 10; /* read_page has returned */
}

EXAMPLE(async_then) {
  _Atomic int page = 0;
  weft_handle *handle;
  if (weft_async(&handle, read_page, &page) != 0) return;
  weft_handle_then(handle, index_page, &page);
  weft_handle_drop(handle);  /* nobody waits for it */
  weft_pool_wait_idle(NULL); /* until everything has run */
  assert(page == 11);
}

/* example: weft_handle_notify */
static void compute(void *ctx) {
  *(double *)ctx = 1.5;
}

EXAMPLE(async_notify) {
  int ends[2];
  double result = 0;
  uint64_t one = 0;
  weft_handle *handle;
  if (pipe(ends) != 0) return; /* or an eventfd that epoll watches */
  if (weft_async(&handle, compute, &result) != 0) return;
  weft_handle_notify(handle, ends[1]);
  assert(read(ends[0], &one, sizeof one) == sizeof one && one == 1);
  weft_handle_wait(handle);
  assert(result == 1.5);
  close(ends[0]), close(ends[1]);
}

/* example: weft_handle_on_done */
static void render(void *ctx) {
  (void)ctx;
}

static void post_to_event_loop(void *ctx) {
  atomic_fetch_add((_Atomic int *)ctx, 1); /* short, and does not wait */
}

EXAMPLE(async_on_done) {
  _Atomic int events = 0;
  weft_handle *handle;
  if (weft_async(&handle, render, NULL) != 0) return;
  weft_handle_on_done(handle, post_to_event_loop, &events);
  weft_handle_wait(handle);
  assert(events == 1);
}

/* example: weft_detach, weft_yield */
static void warm_up(void *ctx) {
  atomic_fetch_add((_Atomic int *)ctx, 1);
}

EXAMPLE(detach) {
  _Atomic int warm = 0;
  for (int i = 0; i < 10; i++)
    if (weft_detach(warm_up, &warm) != 0) warm_up(&warm);
  while (weft_yield()) continue; /* runs what waits, if anything does */
  weft_pool_wait_idle(NULL);
  assert(warm == 10);
}

/* example: weft_broadcast */
static void count_me(unsigned index, unsigned count, void *ctx) {
  assert(index < count);
  atomic_fetch_add((_Atomic unsigned *)ctx, 1);
}

EXAMPLE(broadcast) {
  _Atomic unsigned threads = 0;
  weft_broadcast(count_me, &threads);
  assert(threads >= 1);
}

/* example: weft_isolate */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void add_block(size_t begin, size_t end, void *ctx) {
  atomic_fetch_add((_Atomic size_t *)ctx, end - begin);
}

static void recompute(void *ctx) {
  weft_for(1000, add_block, ctx);
}

static void update(void *ctx) { /* a task */
  pthread_mutex_lock(&mutex);
  weft_isolate(recompute, ctx); /* while it waits, it starts no other update */
  pthread_mutex_unlock(&mutex);
}

EXAMPLE(isolate) {
  _Atomic size_t total = 0;
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 4; i++) weft_spawn(&scope, update, &total);
  weft_scope_end(&scope);
  assert(total == 4000);
}

/* example: weft_blocking_begin, weft_blocking_end */
static void read_file(void *ctx) {
  char *first = ctx;
  weft_blocking_begin(); /* another thread stands in */
  FILE *file = fopen("/dev/zero", "r");
  if (file != NULL && fread(first, 1, 1, file) != 1) *first = 'e';
  if (file != NULL) fclose(file);
  weft_blocking_end();
}

EXAMPLE(blocking_section) {
  char first[8];
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 8; i++) {
    first[i] = 0;
    weft_spawn(&scope, read_file, &first[i]);
  }
  weft_scope_end(&scope);
  assert(first[7] == 0);
}

/* example: WEFT_ASYNC */
WEFT_ASYNC(double, power, double, x, int, n) {
  double result = 1;
  for (int i = 0; i < n; i++) result *= x;
  return result;
}

EXAMPLE(typed_async) {
  power_handle pending;
  if (power_async(&pending, 2, 10) != 0) return;
  assert(power_wait(pending) == 1024);
}

/* example: WEFT_ASYNC_DECLARE */
static WEFT_ASYNC_DECLARE(int, twice, int, x)

    static int twice(int x) {
  return 2 * x;
}

EXAMPLE(typed_async_declare) {
  twice_handle pending;
  if (twice_async(&pending, 21) != 0) return;
  assert(twice_wait(pending) == 42);
}
