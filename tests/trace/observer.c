/* Observers: what they are told, and when they are not called any more. Static probes.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
#include "harness/harness.h"
#include "sched/support.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <weft.h>

enum { WORKERS = 100, KINDS = WEFT_EVENT_KINDS };

/* One for each worker, which alone writes it; the last is for threads in no pool. */
typedef struct seen {
  int depth, deepest;
  int kinds[64]; /* of what is open */
  unsigned counts[KINDS];
  uint64_t elements; /* of blocks */
  bool is_wrong;
} seen;

static seen seen_by[WORKERS + 1];

static seen *seen_of(const weft_event *event) {
  REQUIRE(event->struct_size == sizeof *event && event->worker < WORKERS);
  return &seen_by[event->worker >= 0 ? event->worker : WORKERS];
}

static void on_begin(const weft_event *event, void *ctx) {
  seen *s = seen_of(event);
  CHECK(ctx == seen_by && event->kind <= WEFT_EVENT_SLEEP);
  s->counts[event->kind]++;
  if (event->kind == WEFT_EVENT_BLOCK) s->elements += event->last - event->first;
  REQUIRE(s->depth < 64);
  s->kinds[s->depth++] = (int)event->kind;
}

static void on_end(const weft_event *event, void *ctx) {
  seen *s = seen_of(event);
  (void)ctx;
  if (s->depth == 0) return; /* it began before the observer came */
  s->depth--;
  if (s->kinds[s->depth] != (int)event->kind) s->is_wrong = true;
}

static void on_moment(const weft_event *event, void *ctx) {
  (void)ctx;
  CHECK(event->kind > WEFT_EVENT_SLEEP && event->kind < WEFT_EVENT_KINDS);
  seen_of(event)->counts[event->kind]++;
}

static weft_observer full_observer(void) {
  weft_observer observer = WEFT_OBSERVER_INIT;
  memset(seen_by, 0, sizeof seen_by);
  observer.ctx = seen_by;
  observer.begin = on_begin;
  observer.end = on_end;
  observer.moment = on_moment;
  return observer;
}

static void smooth(size_t begin, size_t end, void *ctx) {
  double *v = (double *)ctx;
  for (size_t i = begin; i < end; i++)
    for (int k = 0; k < 20; k++) v[i] = v[i] * 1.0001 + 1;
}

static double values[3][5000];

static void use_weft(void *ctx) {
  weft_scope scope;
  weft_name("named");
  weft_for(5000, smooth, ctx);
  weft_scope_begin(&scope);
  for (int i = 0; i < 50; i++) weft_spawn(&scope, do_nothing, NULL);
  weft_scope_end(&scope);
  weft_frame_mark("frame");
}

static unsigned count_of(weft_event_kind kind) {
  unsigned count = 0;
  for (int i = 0; i <= WORKERS; i++) count += seen_by[i].counts[kind];
  return count;
}

TEST(an_observer_sees_what_happens) {
  weft_pool *pool = pool_of(3);
  weft_observer observer = full_observer();
  REQUIRE(weft_observe(&observer) == 0);
  weft_pool_run(pool, use_weft, values[0]);
  weft_pool_detach(pool, do_nothing, NULL);
  weft_frame_mark(NULL); /* in no pool */
  weft_pool_destroy(pool);
  CHECK_EQ(weft_observe(NULL), 0);
  uint64_t elements = 0;
  for (int i = 0; i <= WORKERS; i++) {
    elements += seen_by[i].elements;
    CHECK(!seen_by[i].is_wrong && seen_by[i].depth == 0);
  }
  CHECK_EQ(elements, 5000);
  CHECK_EQ(count_of(WEFT_EVENT_CALL), 1);
  CHECK_EQ(count_of(WEFT_EVENT_SCOPE), 1);
  CHECK_EQ(count_of(WEFT_EVENT_NAME), 1);
  CHECK_EQ(count_of(WEFT_EVENT_FRAME), 2);
  CHECK_EQ(count_of(WEFT_EVENT_INJECT), 1);
  CHECK(count_of(WEFT_EVENT_TASK) >= 50 + 1 + 1);
  CHECK(count_of(WEFT_EVENT_IDLE) >= 1);
}

TEST(observers_that_cannot_be) {
  weft_observer observer = WEFT_OBSERVER_INIT;
  CHECK_EQ(weft_observe(NULL), 0); /* there is none */
  observer.struct_size = 8;
  CHECK_EQ(weft_observe(&observer), WEFT_EINVAL);
  observer.struct_size = sizeof observer; /* no callback at all */
  CHECK_EQ(weft_observe(&observer), 0);
  CHECK_EQ(weft_observe(&observer), WEFT_EBUSY);
  weft_pool *pool = pool_of(2);
  weft_pool_run(pool, use_weft, values[0]);
  weft_pool_destroy(pool);
  CHECK_EQ(weft_observe(NULL), 0);
}

/* ---- removed while threads work ---- */

static atomic_int work_ends;
static atomic_ulong calls;

static void count_call(const weft_event *event, void *ctx) {
  (void)event;
  CHECK_EQ(*(int *)ctx, 17);
  atomic_fetch_add(&calls, 1);
}

static void come_and_go(unsigned index, void *arg) {
  weft_pool *pool = (weft_pool *)arg;
  if (index > 0) {
    while (!atomic_load(&work_ends)) weft_pool_run(pool, use_weft, values[index]);
    return;
  }
  for (unsigned long i = 0; i < scaled(100); i++) {
    int *used = (int *)malloc(sizeof *used);
    weft_observer observer = WEFT_OBSERVER_INIT;
    *used = 17;
    observer.ctx = used;
    observer.begin = observer.end = observer.moment = count_call;
    unsigned long before = atomic_load(&calls);
    REQUIRE(weft_observe(&observer) == 0);
    AWAIT(atomic_load(&calls) > before);
    REQUIRE(weft_observe(NULL) == 0);
    *used = 0; /* nobody looks at it any more */
    free(used);
  }
  atomic_store(&work_ends, 1);
}

TEST(an_observer_is_gone_when_it_is_removed) {
  weft_pool *pool = pool_of(3);
  atomic_store(&work_ends, 0);
  harness_run_threads(3, come_and_go, pool);
  weft_pool_destroy(pool);
}

/* ---- static probes ---- */

#if defined(__linux__) && defined(__has_include)
#if __has_include(<sys/sdt.h>) && !defined(WEFT_NO_PROBES)
#define HAS_PROBES 1
#endif
#endif

#ifdef HAS_PROBES
/* The note of a probe holds its provider and its name, each with a byte 0. */
static bool has_probe(const char *file, size_t length, const char *name) {
  char note[64];
  int size = snprintf(note, sizeof note, "weft%c%s", 0, name) + 1;
  return memmem(file, length, note, (size_t)size) != NULL;
}

TEST(probes_are_in_the_program) {
  static const char *const names[] = {"task__begin", "task__end", "sleep__begin",
                                      "sleep__end",  "wake",      "steal",
                                      "expose",      "takeover",  "inject"};
  size_t length = 0;
  char *file = read_whole("/proc/self/exe", &length);
  REQUIRE(file != NULL);
  CHECK(!has_probe(file, length, "no__such__probe"));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    CHECK_MSG(has_probe(file, length, names[i]), "%s is missing", names[i]);
  free(file);
}
#endif
