/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc */
/* link: -Wl,--wrap=free,--wrap=pthread_create,--wrap=mmap,--wrap=pwrite */
/* link: -Wl,--wrap=pwrite64,--wrap=mmap64 */
/* Traces when the system fails: no memory, no thread, a full disk, files that cannot be
 * written; fork at any moment; starts and stops that race. The program computes what it
 * would without a trace, and a file that is there is strict JSON.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "process/child.h"

#include "check.h"
#include "harness/memory_faults.h"
#include "harness/thread_limit.h"
#include "sched/support.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <weft.h>

/* ---- a system that fails ---- */

/* Mappings are refused like memory while this is true. */
static atomic_bool maps_fail;
/* Bytes that may still be written to files; negative: any number. A write that does not
 * fit is done in part, as on a disk whose blocks are small; or not at all. */
static atomic_long disk_left = -1;
static atomic_bool disk_writes_parts;

void *__real_mmap(void *address, size_t size, int protection, int flags, int file,
                  off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file,
                  off_t offset);
void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file,
                    off_t offset);
ssize_t __real_pwrite(int file, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int file, const void *data, size_t size, off_t offset);

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file,
                  off_t offset) {
  if (atomic_load(&maps_fail) && memory_is_refused(size)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return __real_mmap(address, size, protection, flags, file, offset);
}

void *__wrap_mmap64(void *address, size_t size, int protection, int flags, int file,
                    off_t offset) {
  return __wrap_mmap(address, size, protection, flags, file, offset);
}

ssize_t __wrap_pwrite(int file, const void *data, size_t size, off_t offset) {
  struct stat found;
  long left = atomic_load(&disk_left);
  if (left < 0 || fstat(file, &found) != 0)
    return __real_pwrite(file, data, size, offset);
  /* What is there already can be written again. */
  size_t fits = left > offset ? (size_t)(left - offset) : 0;
  if (fits >= size) return __real_pwrite(file, data, size, offset);
  if (fits > 0 && atomic_load(&disk_writes_parts))
    return __real_pwrite(file, data, fits, offset);
  errno = ENOSPC;
  return -1;
}

ssize_t __wrap_pwrite64(int file, const void *data, size_t size, off_t offset) {
  return __wrap_pwrite(file, data, size, offset);
}

/* ---- a program with all that allocates for a trace ---- */

enum { ELEMENTS = 3000 };

static void add_one(size_t begin, size_t end, void *ctx) {
  unsigned *numbers = ctx;
  for (size_t i = begin; i < end; i++) numbers[i]++;
}

static void add_a_million(void *ctx) {
  weft_name("a million");
  atomic_fetch_add((atomic_ulong *)ctx, 1000000);
}

typedef struct program {
  unsigned numbers[ELEMENTS];
  atomic_ulong sum;
  bool right;
} program;

static void run_program(void *ctx) {
  program *p = ctx;
  memset(p->numbers, 0, sizeof p->numbers);
  atomic_store(&p->sum, 0);
  weft_for(ELEMENTS, add_one, p->numbers);
  weft_scope scope;
  weft_scope_begin(&scope);
  for (int i = 0; i < 20; i++) weft_spawn(&scope, add_a_million, &p->sum);
  weft_scope_end(&scope);
  weft_graph *g; /* its names are copied */
  if (weft_graph_create(&g) == 0) {
    weft_graph_add(g, "a node with a name", add_a_million, &p->sum);
    if (weft_graph_run(g) != 0) atomic_fetch_add(&p->sum, 1000000);
    weft_graph_destroy(g);
  } else {
    atomic_fetch_add(&p->sum, 1000000);
  }
  weft_frame_mark(NULL);
  p->right = atomic_load(&p->sum) % 1000000 == 0;
  for (size_t i = 0; i < ELEMENTS; i++) p->right = p->right && p->numbers[i] == 1;
}

static void check_program_runs(weft_pool *pool, unsigned long number) {
  static program p;
  p.right = false;
  weft_pool_run(pool, run_program, &p);
  CHECK_MSG(p.right, "fault %lu: a wrong result", number);
}

/* Nothing fails any more: a whole trace can be made. */
static void check_good_trace(weft_pool *pool) {
  char path[256];
  trace_path(path, "good");
  REQUIRE(weft_trace_start(path) == 0);
  check_program_runs(pool, 0);
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK(count_events(&t, "task", "a million") == 21); /* and the node */
  CHECK_EQ(count_events(&t, "frame", NULL), 1);
  CHECK(strcmp(end_reason(&t), "stop") == 0);
  drop_trace(&t, path);
}

/* ---- memory and threads ---- */

static void trace_without_memory(refusal what, bool with_maps) {
  bool complete = false;
  for (unsigned long k = 1; !complete && k < 200; k++) {
    char path[256];
    trace_path(path, "memory");
    unlink(path);
    weft_pool *pool = pool_of(3); /* a new one has no tracks yet */
    unsigned threads = harness_thread_count();
    atomic_store(&maps_fail, with_maps);
    refuse_memory(what, k);
    int status = weft_trace_start(path);
    check_program_runs(pool, k);
    weft_trace_stop();
    complete = allow_memory() == 0;
    atomic_store(&maps_fail, false);
    CHECK_MSG(status == 0 || status == WEFT_ENOMEM || status == WEFT_EAGAIN, "%d",
              status);
    if (status == 0) {
      trace t = read_trace(path);
      CHECK(strcmp(end_reason(&t), "stop") == 0);
      drop_trace(&t, path);
    }
    CHECK_EQ(harness_thread_count(), threads);
    weft_pool_destroy(pool);
    unlink(path);
  }
  CHECK(complete || what == REFUSE_FROM);
}

TEST_LIMIT(each_request_for_memory_is_refused, 120) {
  trace_without_memory(REFUSE_ONE, false);
  trace_without_memory(REFUSE_ONE, true);
  weft_pool *pool = pool_of(3);
  check_good_trace(pool);
  weft_pool_destroy(pool);
}

TEST_LIMIT(no_memory_at_all_from_some_request_on, 120) {
  trace_without_memory(REFUSE_FROM, true);
  weft_pool *pool = pool_of(3);
  check_good_trace(pool);
  weft_pool_destroy(pool);
}

TEST(no_thread_for_the_trace) {
  char path[256];
  trace_path(path, "no-thread");
  weft_pool *pool = pool_of(2);
  atomic_store(&allowed, 0);
  CHECK_EQ(weft_trace_start(path), WEFT_EAGAIN);
  atomic_store(&allowed, -1);
  check_program_runs(pool, 0);
  weft_trace_stop(); /* there is none */
  check_good_trace(pool);
  weft_pool_destroy(pool);
  unlink(path);
}

/* ---- files ---- */

TEST(devices_and_other_files_that_are_none) {
  char path[256];
  CHECK_EQ(weft_trace_start("/dev/full"), WEFT_EIO);
  trace_path(path, "pipe");
  REQUIRE(mkfifo(path, 0600) == 0);
  CHECK_EQ(weft_trace_start(path), WEFT_EIO); /* and does not wait for a reader */
  unlink(path);
  REQUIRE(symlink(path, path) == 0);
  CHECK_EQ(weft_trace_start(path), WEFT_EIO);
  unlink(path);
  CHECK_EQ(weft_trace_start("/dev/null"), 0); /* of no use, but it works */
  weft_pool *pool = pool_of(2);
  check_program_runs(pool, 0);
  weft_trace_stop();
  check_good_trace(pool);
  weft_pool_destroy(pool);
}

/* The disk is full after so many bytes: the file is whole, and shorter. */
static void trace_on_a_disk_of(weft_pool *pool, long bytes, bool in_parts) {
  char path[256];
  trace_path(path, "disk");
  unlink(path);
  atomic_store(&disk_writes_parts, in_parts);
  atomic_store(&disk_left, bytes);
  int status = weft_trace_start(path);
  check_program_runs(pool, (unsigned long)bytes);
  weft_trace_stop();
  atomic_store(&disk_left, -1);
  struct stat found;
  REQUIRE(stat(path, &found) == 0);
  CHECK_MSG(found.st_size <= bytes, "%ld of %ld bytes", (long)found.st_size, bytes);
  if (status == 0) {
    trace t = read_trace(path);
    CHECK(strcmp(end_reason(&t), "") == 0 || found.st_size < bytes);
    drop_trace(&t, path);
  } else {
    CHECK_EQ(status, WEFT_EIO);
    CHECK_EQ(found.st_size, 0);
  }
  unlink(path);
}

TEST_LIMIT(a_disk_that_is_full_after_any_number_of_bytes, 120) {
  weft_pool *pool = pool_of(3);
  long step = harness_slowdown() == 1 ? 211 : 1501;
  for (long bytes = 0; bytes < 16000; bytes += step) {
    trace_on_a_disk_of(pool, bytes, false);
    trace_on_a_disk_of(pool, bytes, true);
  }
  check_good_trace(pool);
  weft_pool_destroy(pool);
}

TEST_BY_NAME(program_on_a_full_disk) {
  atomic_store(&disk_left, 6000);
  weft_pool *pool = pool_of(2);
  for (int i = 0; i < 20; i++) check_program_runs(pool, 0);
  weft_pool_destroy(pool);
}

TEST(a_full_disk_is_reported_once) {
  static char output[1 << 16];
  char path[256], env[400];
  trace_path(path, "full");
  snprintf(env, sizeof env, "WEFT_TRACE='%s'", path);
  CHECK_EQ(harness_run_self(env, "program_on_a_full_disk", output, sizeof output), 0);
  CHECK_EQ(occurrences(output, "weft: the end of the trace could not be written"), 1u);
  trace t = read_trace(path);
  drop_trace(&t, path);
}

/* ---- fork ---- */

static atomic_bool forks_end;

static void keep_recording(unsigned index, void *arg) {
  weft_pool *pool = arg;
  if (index == 0) {
    for (int i = 0; i < 20; i++) {
      pid_t child = fork_here();
      if (child == 0) {
        weft_frame_mark("in a child");
        weft_trace_stop(); /* of the parent: not here */
        if (i % 2 == 0) exit(0);
        _exit(0);
      }
      CHECK_EQ(wait_for_child(child), 0);
    }
    atomic_store(&forks_end, true);
    return;
  }
  while (!atomic_load(&forks_end)) check_program_runs(pool, 0);
}

/* Children that come and go while other threads record, and while the file is written. */
TEST(forks_while_a_trace_is_written) {
  char path[256];
  if (!children_may_start_threads()) return;
  trace_path(path, "forks");
  atomic_store(&forks_end, false);
  weft_pool *pool = pool_of(2);
  REQUIRE(weft_trace_start(path) == 0);
  harness_run_threads(2, keep_recording, pool);
  weft_frame_mark("in the parent");
  weft_trace_stop();
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "frame", "in the parent"), 1);
  CHECK_EQ(count_events(&t, "frame", "in a child"), 0);
  CHECK(strcmp(end_reason(&t), "stop") == 0);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

static void fork_in_task(void *ctx) {
  pid_t child = fork_here();
  if (child == 0) _exit(0);
  *(int *)ctx = wait_for_child(child);
}

TEST(a_fork_in_a_task_that_is_traced) {
  char path[256];
  int code = -1;
  if (!children_may_start_threads()) return;
  trace_path(path, "task-forks");
  weft_pool *pool = pool_of(2);
  REQUIRE(weft_trace_start(path) == 0);
  weft_pool_run(pool, fork_in_task, &code);
  weft_trace_stop();
  CHECK_EQ(code, 0);
  trace t = read_trace(path);
  CHECK_EQ(count_events(&t, "task", "call from outside"), 1);
  drop_trace(&t, path);
  weft_pool_destroy(pool);
}

/* ---- starts and stops that race ---- */

enum { RACERS = 4 };
static atomic_uint racers_left;

static void race(unsigned index, void *arg) {
  unsigned rounds = (unsigned)scaled(60), started = 0;
  char path[256], name[32];
  snprintf(name, sizeof name, "race-%u", index % 2); /* two share one path */
  trace_path(path, name);
  if (index == RACERS) { /* pools come and go meanwhile */
    while (atomic_load(&racers_left) > 0) {
      weft_pool *pool = pool_of(2);
      check_program_runs(pool, 0);
      weft_pool_destroy(pool);
    }
    return;
  }
  for (unsigned i = 0; i < rounds; i++) {
    int status = weft_trace_start(path);
    CHECK_MSG(status == 0 || status == WEFT_EBUSY, "%d", status);
    started += status == 0;
    weft_pool_run(arg, do_nothing, NULL);
    weft_frame_mark(path);
    weft_trace_stop();
  }
  atomic_fetch_sub(&racers_left, 1);
  (void)started;
}

TEST_LIMIT(starts_and_stops_by_many_threads, 120) {
  atomic_store(&racers_left, RACERS);
  weft_pool *pool = pool_of(2);
  harness_run_threads(RACERS + 1, race, pool);
  weft_trace_stop();
  /* What the last ones have written is whole. */
  for (int i = 0; i < 2; i++) {
    char path[256], name[32];
    snprintf(name, sizeof name, "race-%d", i);
    trace_path(path, name);
    if (access(path, F_OK) != 0) continue;
    trace t = read_trace(path);
    CHECK(strcmp(end_reason(&t), "stop") == 0);
    drop_trace(&t, path);
  }
  check_good_trace(pool);
  weft_pool_destroy(pool);
}
