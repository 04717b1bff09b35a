/* Everything at once for a long time, while another process makes life hard. The program
 * is started a second time, as the victim: sixteen threads call every feature of the
 * library (soak_work.h). Meanwhile this process stops and continues it, moves its threads
 * between CPUs, changes the limits of its cgroup, lets memory and threads run out, and
 * kills it. All results must be right, every caller must go on, and when the victim rests
 * it has the threads and the memory that it had at first.
 *
 * Runs for ten seconds, or for as many as WEFT_TEST_SECONDS says. What the machine does
 * not let us do is printed and left out.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "soak_work.h"

#if defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { CALLERS = 16, NOBODY = 65534 };

/* The two processes share this. The victim writes all but `stop`. */
typedef struct board {
  atomic_ulong rounds[CALLERS];
  atomic_ulong refused;
  atomic_ulong rests;      /* how often it has rested */
  atomic_long first_bytes; /* of memory, at an early rest */
  atomic_long last_bytes;  /* at the newest rest */
  atomic_bool ready, stop;
} board;

static board *shared;

/* ---- the victim ---- */

static caller callers[CALLERS];
static pthread_barrier_t resting, rested;
static atomic_bool rest_is_due, over;

static void *play(void *arg) {
  caller *self = arg;
  while (!atomic_load(&over)) {
    play_round(self);
    atomic_fetch_add(&shared->rounds[self->index], 1);
    if (!atomic_load(&rest_is_due)) continue;
    pthread_barrier_wait(&resting);
    pthread_barrier_wait(&rested);
  }
  return NULL;
}

/* Memory may be refused now and be there later. */
static void make_pools(void) {
  for (unsigned i = 0; i + 1 < POOLS; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    unsigned round = 0;
    config.threads = 2 + 3 * i;
    config.guests = CALLERS;
    int status;
    while ((status = weft_pool_create(&shared_pools[i], &config)) != 0) {
      REQUIRE(status == WEFT_ENOMEM || status == WEFT_EAGAIN);
      harness_pause(&round);
    }
  }
}

/* Everything that was handed over has run when the pools have ended. */
static void end_pools(void) {
  for (unsigned i = 0; i + 1 < POOLS; i++) weft_pool_destroy(shared_pools[i]);
  weft_shutdown();
  unsigned long refused = 0;
  for (unsigned i = 0; i < CALLERS; i++) {
    CHECK_EQ(atomic_load(&callers[i].done), atomic_load(&callers[i].detached));
    refused += callers[i].refused;
  }
  atomic_store(&shared->refused, refused);
}

/* The number behind a word of /proc/self/status; without memory of its own. */
static long own_status(const char *word) {
  char text[4096];
  int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  ssize_t length = read(file, text, sizeof text - 1);
  REQUIRE(length > 0);
  close(file);
  text[length] = '\0';
  const char *line = strstr(text, word);
  REQUIRE(line != NULL);
  return strtol(line + strlen(word), NULL, 10);
}

/* No caller is in the library: no pool is left, nor a thread but these. */
static void rest(long threads) {
  enum { EARLY = 3 }; /* by then caches are filled and arenas of malloc are made */
  atomic_store(&rest_is_due, true);
  pthread_barrier_wait(&resting);
  end_pools();
  AWAIT(own_status("\nThreads:") == threads); /* the kernel forgets one a little later */
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  long bytes = 1024 * own_status("\nVmRSS:");
  unsigned long rests = atomic_fetch_add(&shared->rests, 1) + 1;
  if (rests <= EARLY) atomic_store(&shared->first_bytes, bytes);
  atomic_store(&shared->last_bytes, bytes);
  make_pools();
  atomic_store(&rest_is_due, false);
  pthread_barrier_wait(&rested);
}

/* As another user, so that the limit of threads holds; root is exempt from it. */
static void become_nobody(void) {
  if (getenv("SOAK_AS_NOBODY") == NULL || geteuid() != 0) return;
  REQUIRE(setuid(NOBODY) == 0);
  prctl(PR_SET_DUMPABLE, 1); /* its own files in /proc are its own again */
}

TEST_BY_NAME(victim) {
  const char *number = getenv("SOAK_BOARD");
  REQUIRE(number != NULL);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED,
                (int)strtol(number, NULL, 10), 0);
  REQUIRE(shared != MAP_FAILED);
  become_nobody();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  long threads = own_status("\nThreads:") + CALLERS;
  pthread_t ids[CALLERS];
  pthread_barrier_init(&resting, NULL, CALLERS + 1);
  pthread_barrier_init(&rested, NULL, CALLERS + 1);
  make_pools();
  for (unsigned i = 0; i < CALLERS; i++) {
    callers[i].random = harness_seed() + i;
    callers[i].index = i;
    REQUIRE(pthread_create(&ids[i], NULL, play, &callers[i]) == 0);
  }
  atomic_store(&shared->ready, true);
  while (!atomic_load(&shared->stop)) {
    harness_linger(300000);
    rest(threads);
  }
  atomic_store(&over, true);
  for (unsigned i = 0; i < CALLERS; i++) pthread_join(ids[i], NULL);
  end_pools();
  AWAIT(own_status("\nThreads:") == threads - CALLERS);
}

/* ---- its tormentor ---- */

typedef struct torment {
  pid_t victim;
  uint64_t random;
  char cpu_group[128], pids_group[128]; /* "": there is none */
  bool as_nobody;
  unsigned long faults, stops, moves, kills, squeezes, starvings, quotas;
} torment;

static uint64_t pick(torment *self, uint64_t below) {
  return harness_random(&self->random) % below;
}

static bool is_dead(const torment *self) {
  siginfo_t found = {0};
  return waitid(P_PID, (id_t)self->victim, &found, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         found.si_pid == self->victim;
}

/* Calls fn for each thread of the victim. */
static void each_thread(const torment *self, void (*fn)(pid_t, const cpu_set_t *),
                        const cpu_set_t *set) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)self->victim);
  DIR *tasks = opendir(path);
  if (tasks == NULL) return;
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;)
    if (entry->d_name[0] != '.') fn((pid_t)strtol(entry->d_name, NULL, 10), set);
  closedir(tasks);
}

static void move_thread(pid_t thread, const cpu_set_t *set) {
  (void)sched_setaffinity(thread, sizeof *set, set); /* it may have ended */
}

static bool write_to(const char *folder, const char *file, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  return close(fd) == 0 && written;
}

/* ---- faults: each has its end, which takes it back ---- */

static void stop_it(torment *self) {
  kill(self->victim, SIGSTOP);
  harness_linger((unsigned)pick(self, 20000));
  kill(self->victim, SIGCONT);
  self->stops++;
}

static void move_it(torment *self) {
  cpu_set_t all, some;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  CPU_ZERO(&some);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && pick(self, 2) == 0) CPU_SET(cpu, &some);
  if (CPU_COUNT(&some) > 0) each_thread(self, move_thread, &some);
  harness_linger((unsigned)pick(self, 20000));
  each_thread(self, move_thread, &all);
  self->moves++;
}

/* The time that a group gets: with quotas of cgroup 1 or 2. */
static void set_quota(const torment *self, unsigned percent) {
  char quota[32], both[64];
  snprintf(quota, sizeof quota, "%d", percent == 0 ? -1 : (int)percent * 1000);
  snprintf(both, sizeof both, percent == 0 ? "max 100000" : "%u 100000", percent * 1000);
  if (!write_to(self->cpu_group, "cpu.max", both))
    (void)write_to(self->cpu_group, "cpu.cfs_quota_us", quota);
}

static void throttle_it(torment *self) {
  if (self->cpu_group[0] == '\0') return;
  set_quota(self, 10 + (unsigned)pick(self, 150));
  harness_linger((unsigned)pick(self, 200000));
  set_quota(self, 0);
  self->quotas++;
}

/* No further thread, by the group or by the limit of the user. */
static void take_threads(torment *self) {
  const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
  if (self->pids_group[0] != '\0' && (!self->as_nobody || pick(self, 2) == 0)) {
    (void)write_to(self->pids_group, "pids.max", "1");
    harness_linger((unsigned)pick(self, 50000));
    (void)write_to(self->pids_group, "pids.max", "max");
  } else if (self->as_nobody) {
    (void)prlimit(self->victim, RLIMIT_NPROC, &none, NULL);
    harness_linger((unsigned)pick(self, 50000));
    (void)prlimit(self->victim, RLIMIT_NPROC, &all, NULL);
  } else {
    return;
  }
  self->starvings++;
}

/* Memory is full: the process gets no new page of addresses. Sanitizers end a program
 * then. */
static void take_memory(torment *self) {
  const struct rlimit none = {1, RLIM_INFINITY}, all = {RLIM_INFINITY, RLIM_INFINITY};
  if (THREAD_SANITIZED || ADDRESS_SANITIZED || harness_slowdown() > 1) return;
  (void)prlimit(self->victim, RLIMIT_AS, &none, NULL);
  harness_linger((unsigned)pick(self, 50000));
  (void)prlimit(self->victim, RLIMIT_AS, &all, NULL);
  self->squeezes++;
}

static void torment_once(torment *self) {
  static void (*const FAULTS[])(torment *) = {stop_it, move_it, throttle_it, take_threads,
                                              take_memory};
  FAULTS[pick(self, sizeof FAULTS / sizeof *FAULTS)](self);
  self->faults++;
  harness_linger((unsigned)pick(self, 5000));
}

/* With all limits lifted every caller goes on. One that does not is a hang: the watchdog
 * of the victim ends it and prints its stacks. */
static void check_progress(torment *self) {
  unsigned long before[CALLERS];
  for (unsigned i = 0; i < CALLERS; i++) before[i] = atomic_load(&shared->rounds[i]);
  for (unsigned i = 0; i < CALLERS; i++) {
    unsigned round = 0;
    while (atomic_load(&shared->rounds[i]) == before[i] && !is_dead(self))
      harness_pause(&round);
  }
}

/* ---- lives of a victim ---- */

/* The folder of a new group that has this file, of cgroup 1 or 2; "": there can be none.
 */
static void make_group(char *out, size_t size, const char *controller, const char *file) {
  const char *const parents[] = {controller, "."};
  char path[256];
  for (unsigned i = 0; i < 2; i++) {
    snprintf(out, size, "/sys/fs/cgroup/%s/weft-soak-%d", parents[i], (int)getpid());
    if (mkdir(out, 0755) != 0 && errno != EEXIST) continue;
    snprintf(path, sizeof path, "%s/%s", out, file);
    if (access(path, W_OK) == 0) return;
    rmdir(out);
  }
  out[0] = '\0';
}

static void make_groups(torment *self) {
  make_group(self->cpu_group, sizeof self->cpu_group, "cpu", "cpu.cfs_quota_us");
  if (self->cpu_group[0] == '\0')
    make_group(self->cpu_group, sizeof self->cpu_group, "cpu", "cpu.max");
  make_group(self->pids_group, sizeof self->pids_group, "pids", "pids.max");
  if (self->cpu_group[0] == '\0')
    printf("skipped: no group whose share of the CPUs could be changed\n");
  if (self->pids_group[0] == '\0')
    printf("skipped: no group whose number of threads could be changed\n");
}

static void remove_groups(const torment *self) {
  if (self->cpu_group[0] != '\0') rmdir(self->cpu_group);
  if (self->pids_group[0] != '\0') rmdir(self->pids_group);
}

static void become_victim(const torment *self, int file, uint64_t seconds) {
  char text[32], *arguments[] = {"soak", "victim", NULL};
  if (self->cpu_group[0] != '\0') (void)write_to(self->cpu_group, "cgroup.procs", "0");
  if (self->pids_group[0] != '\0') (void)write_to(self->pids_group, "cgroup.procs", "0");
  snprintf(text, sizeof text, "%d", file);
  setenv("SOAK_BOARD", text, 1);
  if (self->as_nobody) setenv("SOAK_AS_NOBODY", "1", 1);
  snprintf(text, sizeof text, "%u",
           (unsigned)seconds + 2 * HARNESS_DEFAULT_LIMIT * harness_slowdown());
  setenv("WEFT_TEST_TIMEOUT", text, 1);
  snprintf(text, sizeof text, "%llu", (unsigned long long)self->random);
  setenv("WEFT_TEST_SEED", text, 1);
  execv("/proc/self/exe", arguments);
  _exit(127);
}

static void start_victim(torment *self, int file, uint64_t seconds) {
  memset(shared, 0, sizeof *shared);
  fflush(NULL);
  self->victim = fork();
  REQUIRE(self->victim >= 0);
  if (self->victim == 0) become_victim(self, file, seconds);
  AWAIT(atomic_load(&shared->ready) || is_dead(self));
}

static unsigned long rounds_so_far(void) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < CALLERS; i++) sum += atomic_load(&shared->rounds[i]);
  return sum;
}

static void check_flat(void) {
  enum { MOST_GROWN = 16 << 20 };
  long grown = atomic_load(&shared->last_bytes) - atomic_load(&shared->first_bytes);
  printf("  %lu rests; memory grew by %ld KiB to %ld KiB\n", atomic_load(&shared->rests),
         grown > 0 ? grown / 1024 : 0, atomic_load(&shared->last_bytes) / 1024);
  /* Sanitizers keep what is freed, to find its use; leaks they find themselves. */
  if (harness_slowdown() == 1)
    CHECK_MSG(grown < MOST_GROWN, "memory grew by %ld bytes", grown);
}

/* Torments a victim for a while; then kills it, or lets it come to its end. */
static void one_life(torment *self, int file, uint64_t seconds, bool kills) {
  const time_t end = time(NULL) + (time_t)seconds;
  start_victim(self, file, seconds);
  for (unsigned i = 1; time(NULL) < end && !is_dead(self); i++) {
    torment_once(self);
    if (i % 16 == 0) check_progress(self);
  }
  check_progress(self);
  if (kills && !is_dead(self)) {
    kill(self->victim, SIGKILL);
    self->kills++;
    CHECK_EQ(wait_for_child(self->victim), 128 + SIGKILL);
  } else {
    atomic_store(&shared->stop, true);
    CHECK_EQ(wait_for_child(self->victim), 0);
    check_flat();
  }
  char path[64];
  snprintf(path, sizeof path, "/tmp/weft-soak-%ld.json", (long)self->victim);
  unlink(path); /* of a victim that was killed while it wrote it */
  printf("  %lu rounds, %lu calls were refused memory or threads\n", rounds_so_far(),
         atomic_load(&shared->refused));
}

TEST_LIMIT(all_features_under_torment, 4000) {
  const char *wish = getenv("WEFT_TEST_SECONDS");
  uint64_t seconds = wish != NULL ? strtoull(wish, NULL, 10) : 10;
  if (wish == NULL && harness_slowdown() > 1) seconds = 4;
  torment self = {.random = harness_seed()};
  int file = memfd_create("soak", 0); /* the victim inherits it */
  REQUIRE(file >= 0 && ftruncate(file, sizeof *shared) == 0);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(shared != MAP_FAILED);
  /* The leak detector of a sanitizer may not look into a program that has changed its
   * user. */
  self.as_nobody = geteuid() == 0 && !ADDRESS_SANITIZED && !THREAD_SANITIZED;
  make_groups(&self);
  unsigned early = seconds > 60 ? 5 : 1; /* lives that end early */
  for (unsigned i = 0; i < early; i++) one_life(&self, file, seconds / 20 + 1, true);
  one_life(&self, file, seconds - early * (seconds / 20 + 1), false);
  remove_groups(&self);
  close(file);
  munmap(shared, sizeof *shared);
  printf(
      "  %lu faults: %lu stops, %lu moves, %lu quotas, %lu without threads, %lu without "
      "memory; %lu kills\n",
      self.faults, self.stops, self.moves, self.quotas, self.starvings, self.squeezes,
      self.kills);
}

#endif
