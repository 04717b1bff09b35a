/* Work conservation, read from traces: no worker sleeps beside work that waits for longer
 * than the bound of src/sched/sleep.md, "The bound on waiting work".
 *
 * Work waits from the moment when it is handed in, or forked by a thread that then
 * computes, to the moment when its task begins: the trace has both. A worker sleeps from
 * the begin of its sleep to the moment when somebody wakes it; how long the kernel then
 * takes to run it is not the library's. Nor is time in which threads of this process
 * waited for a CPU: it is measured beside the trace, and does not count.
 *
 * Runs for two seconds, or for as many as WEFT_TEST_SECONDS says.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "sched/support.h"
#include "trace/check.h"

#include <dirent.h>
#include <time.h>
#include <weft.h>

/* What sleep.md promises, in microseconds. */
#define BOUND_US 50000.0

/* ---- time that threads of this process waited for a CPU ---- */

/* Every millisecond or so: the time that the newest look came late, and the largest time
 * that a single thread has waited for a CPU since the look before. */
enum { MOST_LOOKS = 200000 };

typedef struct look {
  uint64_t ns;
  double excused_us;
} look;

typedef struct waiting_thread {
  long id;
  unsigned long long ns;
} waiting_thread;

static struct {
  pthread_t thread;
  atomic_bool stop;
  size_t count;
  look looks[MOST_LOOKS];
} meter;

/* The nanoseconds that a thread has waited for a CPU since it was there at the look
 * before. */
static double waited_since(const char *id, waiting_thread *threads, unsigned most) {
  char path[64];
  unsigned long long ran = 0, waited = 0;
  snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", id);
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  bool is_right = fscanf(file, "%llu %llu", &ran, &waited) == 2;
  fclose(file);
  if (!is_right) return 0;
  for (unsigned i = 0; i < most; i++) {
    if (threads[i].id != 0 && threads[i].id != strtol(id, NULL, 10)) continue;
    double since = threads[i].id == 0 ? 0 : (double)(waited - threads[i].ns);
    threads[i] = (waiting_thread){strtol(id, NULL, 10), waited};
    return since;
  }
  return 0;
}

static double most_waited(waiting_thread *threads, unsigned most) {
  double longest = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return 0;
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    double waited = waited_since(entry->d_name, threads, most);
    if (waited > longest) longest = waited;
  }
  closedir(tasks);
  return longest;
}

static void *measure_waits(void *unused) {
  static waiting_thread threads[256];
  const struct timespec pause = {0, 1000000};
  uint64_t before = wf_sys_now_ns();
  (void)unused;
  while (!atomic_load(&meter.stop) && meter.count < MOST_LOOKS) {
    nanosleep(&pause, NULL);
    double waited = most_waited(threads, 256);
    uint64_t now = wf_sys_now_ns();
    double late = (double)(now - before) - 1e6;
    meter.looks[meter.count++] = (look){now, (late > waited ? late : waited) / 1000};
    before = now;
  }
  return NULL;
}

static void start_meter(void) {
  meter.count = 0;
  atomic_store(&meter.stop, false);
  REQUIRE(pthread_create(&meter.thread, NULL, measure_waits, NULL) == 0);
}

static void stop_meter(void) {
  atomic_store(&meter.stop, true);
  pthread_join(meter.thread, NULL);
}

/* What does not count of an interval; looks just outside of it may tell of it. */
static double excused_us(uint64_t start_ns, double begin_us, double end_us) {
  const double margin_us = 10000;
  double sum = 0;
  for (size_t i = 0; i < meter.count; i++) {
    double at = (double)(meter.looks[i].ns - start_ns) / 1000;
    if (at >= begin_us - margin_us && at <= end_us + margin_us)
      sum += meter.looks[i].excused_us;
  }
  return sum;
}

/* ---- what the trace says ---- */

/* One more or one less task waits; or a worker falls asleep or is woken. */
typedef struct step {
  double ts;
  int waiting, asleep;
} step;

typedef struct steps {
  step *list;
  size_t count, posts, wakes;
} steps;

static int by_time(const void *a, const void *b) {
  const step *x = a, *y = b;
  if (x->ts != y->ts) return x->ts < y->ts ? -1 : 1;
  return x->waiting - y->waiting; /* what begins comes first: it then waited no time */
}

static void add_step(steps *all, double ts, int waiting, int asleep) {
  all->list[all->count++] = (step){ts, waiting, asleep};
}

static bool is_text(const json *e, const char *key, const char *text) {
  return strcmp(json_get_string(e, key), text) == 0;
}

static void add_sleep(steps *all, double begin, double end, const json *args) {
  double late = json_get_number(args, "late_us", -1);
  if (!is_text(args, "kind", "idle")) return;
  if (late >= 0) all->wakes++;
  if (late > end - begin) late = end - begin;
  add_step(all, begin, 0, 1);
  add_step(all, late > 0 ? end - late : end, 0, -1);
}

static void add_task(steps *all, double begin, const json *args) {
  if (is_text(args, "kind", "injected") || is_text(args, "kind", "async") ||
      is_text(args, "kind", "stolen"))
    add_step(all, begin, -1, 0);
}

/* Slices of more than 100 ms are pairs of B and E; the arguments are at the E. */
static double begin_of(const trace *t, const json *end) {
  double begin = -1;
  for (const json *e = t->events->first; e != end; e = e->next)
    if (is_text(e, "ph", "B") && is_text(e, "cat", json_get_string(end, "cat")) &&
        json_get_number(e, "tid", -1) == json_get_number(end, "tid", -2))
      begin = json_get_number(e, "ts", -1);
  return begin;
}

static steps read_steps(const trace *t) {
  steps all = {malloc((2 * t->count + 1) * sizeof(step)), 0, 0, 0};
  REQUIRE(all.list != NULL);
  for (const json *e = t->events->first; e != NULL; e = e->next) {
    const char phase = json_get_string(e, "ph")[0];
    const json *args = json_get(e, "args");
    double ts = json_get_number(e, "ts", -1), end = ts;
    if (phase == 'i' && (is_text(e, "cat", "inject") || is_text(e, "name", "post"))) {
      add_step(&all, ts, 1, 0);
      all.posts++;
    }
    if (phase != 'X' && phase != 'E') continue;
    if (phase == 'E') ts = begin_of(t, e);
    if (phase == 'X') end = ts + json_get_number(e, "dur", 0);
    if (is_text(e, "cat", "sleep")) add_sleep(&all, ts, end, args);
    if (is_text(e, "cat", "task")) add_task(&all, ts, args);
  }
  qsort(all.list, all.count, sizeof *all.list, by_time);
  return all;
}

/* The longest time in which work waited and a worker slept, less what is excused. */
static double longest_beside(const steps *all, uint64_t start_ns) {
  int waiting = 0, asleep = 0;
  double since = -1, longest = 0;
  for (size_t i = 0; i < all->count; i++) {
    const step *s = &all->list[i];
    waiting += s->waiting;
    asleep += s->asleep;
    bool both = waiting > 0 && asleep > 0;
    if (both && since < 0) since = s->ts;
    if (both || since < 0) continue;
    double length = s->ts - since;
    if (length > longest) length -= excused_us(start_ns, since, s->ts);
    if (length > longest) longest = length;
    since = -1;
  }
  return longest;
}

/* ---- work ---- */

static atomic_ulong handed_in, ended;

static void compute_and_count(void *ctx) {
  spin((unsigned)(uintptr_t)ctx);
  atomic_fetch_add(&ended, 1);
}

/* Handed in from outside, alone and in bursts, with pauses in which workers fall asleep.
 */
static void post_work(weft_pool *pool, uint64_t *random) {
  unsigned burst = harness_random(random) % 4 == 0 ? 20 : 1;
  for (unsigned i = 0; i < burst; i++) {
    uintptr_t length = (uintptr_t)(harness_random(random) % 5000);
    REQUIRE(weft_pool_detach(pool, compute_and_count, (void *)length) == 0);
    atomic_fetch_add(&handed_in, 1);
  }
  harness_linger((unsigned)(harness_random(random) % 300));
}

/* Forked by a worker that then computes until another one has begun with it. */
static void fork_work(void *ctx) {
  pairing pair = {.a_thread = pthread_self()};
  (void)ctx;
  weft_frame_mark("post");
  weft_join(a_until_b, &pair, b_begins, &pair);
  atomic_fetch_add(&ended, 1);
}

static void work_for_a_while(weft_pool *pool, uint64_t *random, bool forks) {
  enum { ROUNDS = 1000 };
  for (unsigned i = 0; i < scaled(ROUNDS); i++) {
    if (!forks) {
      post_work(pool, random);
      continue;
    }
    REQUIRE(weft_pool_detach(pool, fork_work, NULL) == 0);
    atomic_fetch_add(&handed_in, 1);
    /* One at a time: if every worker waited for another one, none could begin. */
    AWAIT(atomic_load(&ended) == atomic_load(&handed_in));
    harness_linger((unsigned)(harness_random(random) % 300));
  }
  AWAIT(atomic_load(&ended) == atomic_load(&handed_in));
}

/* ---- the probe ---- */

typedef struct result {
  size_t posts, wakes;
  double longest_us;
} result;

/* The pool is made after the trace has begun, so that it has every sleep from its begin.
 */
static void probe(unsigned threads, weft_idle idle, bool forks, uint64_t *random,
                  result *out) {
  char path[256];
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = threads;
  config.idle = idle;
  trace_path(path, "conserve");
  REQUIRE(weft_trace_start(path) == 0);
  uint64_t start_ns = wf_sys_now_ns();
  start_meter();
  weft_pool *pool = pool_with(&config);
  work_for_a_while(pool, random, forks);
  weft_pool_destroy(pool);
  stop_meter();
  weft_trace_stop();
  trace t = read_trace(path);
  if (end_number(&t, "dropped") + end_number(&t, "dropped_short") > 0) {
    printf("skipped: a trace is not complete: this machine is too busy\n");
  } else {
    steps all = read_steps(&t);
    double longest_us = longest_beside(&all, start_ns);
    CHECK_MSG(longest_us <= BOUND_US,
              "%u threads%s: work waited beside a sleeper for %.0f us", threads,
              forks ? ", forks" : "", longest_us);
    out->posts += all.posts;
    out->wakes += all.wakes;
    if (longest_us > out->longest_us) out->longest_us = longest_us;
    free(all.list);
  }
  drop_trace(&t, path);
}

TEST_LIMIT(no_sleeper_beside_waiting_work, 2000) {
  const char *wish = getenv("WEFT_TEST_SECONDS");
  const uint64_t end_ns =
      wf_sys_now_ns() + (wish != NULL ? strtoull(wish, NULL, 10) : 2) * 1000000000;
  const unsigned sizes[] = {3, 4, 8}; /* few CPUs: also more threads than CPUs */
  uint64_t random = harness_seed();
  result sum = {0, 0, 0};
  do {
    unsigned threads = sizes[harness_random(&random) % 3];
    weft_idle idle =
        harness_random(&random) % 2 == 0 ? WEFT_IDLE_POWER_SAVING : WEFT_IDLE_BALANCED;
    probe(threads, idle, false, &random, &sum);
    probe(threads, idle, true, &random, &sum);
  } while (wf_sys_now_ns() < end_ns);
  CHECK(sum.posts > 0 && sum.wakes > 0);
  printf("  %zu moments with waiting work, %zu wakes, longest %.0f us beside a sleeper\n",
         sum.posts, sum.wakes, sum.longest_us);
}

/* ---- does the probe see? ---- */

static step invented(double ts, int waiting, int asleep) {
  return (step){ts, waiting, asleep};
}

TEST(the_probe_finds_a_sleeper_beside_work) {
  step list[] = {invented(100, 0, 1),    invented(200, 1, 0),    invented(300, -1, 0),
                 invented(1000, 1, 0),   invented(61500, 0, -1), invented(70000, 0, 1),
                 invented(90000, 0, -1), invented(200000, -1, 0)};
  steps all = {list, sizeof list / sizeof *list, 2, 2};
  meter.count = 0;
  CHECK_EQ(longest_beside(&all, 0), 60500.0);
  /* A thread waited for a CPU for most of the time. */
  meter.looks[0] = (look){30000000, 40000};
  meter.count = 1;
  CHECK_EQ(longest_beside(&all, 0), 20500.0);
  meter.count = 0;
}
