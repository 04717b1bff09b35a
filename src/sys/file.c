/* file.c - files, signals that end the process, and what a trace says about it.
 *
 * Who calls: trace, and the statistics of sched. Everything may be called from any thread
 * unless sys.h says otherwise.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* secure_getenv, program_invocation_short_name */
#endif

#include "sys.h"

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

/* ---- files ---- */

/* Readable too where that is allowed, because mapping wants it. O_NONBLOCK: a pipe that
 * nobody reads is an error at once, and no file minds. */
static int file_open(const char *path) {
  const int flags = O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  int file = open(path, O_RDWR | flags, (mode_t)0666);
  if (file < 0 && errno == EACCES) file = open(path, O_WRONLY | flags, (mode_t)0666);
  return file;
}

int wf_sys_file_create(const char *path, int *error) {
  int file = file_open(path);
  if (file < 0) {
    *error = errno;
    return WEFT_EIO;
  }
  /* Devices, and some networks, know no locks: then nobody is kept out. */
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    *error = errno;
    (void)close(file);
    return WEFT_EBUSY;
  }
  /* Fails for devices, which have nothing to cut off: that is no reason for anything. */
  int cut = ftruncate(file, 0);
  (void)cut;
  return file;
}

bool wf_sys_file_write(int file, const void *data, size_t size, uint64_t offset) {
  const char *from = (const char *)data;
  while (size > 0) {
    ssize_t written = pwrite(file, from, size, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    offset += (uint64_t)written;
    size -= (size_t)written;
  }
  return true;
}

void *wf_sys_file_map(int file, uint64_t offset, size_t size) {
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
  return memory != MAP_FAILED ? memory : NULL;
}

bool wf_sys_file_cut(int file, uint64_t size) {
  return ftruncate(file, (off_t)size) == 0;
}

void wf_sys_file_close(int file) {
  (void)close(file);
}

bool wf_sys_file_replace(const char *path, const void *data, size_t size) {
  char other[256];
  int length = snprintf(other, sizeof other, "%s.new", path);
  if (length < 0 || (size_t)length >= sizeof other) return false;
  (void)unlink(other);
  int file = open(other, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  bool written = wf_sys_file_write(file, data, size, 0);
  (void)close(file);
  if (written && rename(other, path) == 0) return true;
  (void)unlink(other);
  return false;
}

void wf_sys_file_remove(const char *path) {
  (void)unlink(path);
}

/* Is it a folder of this user that nobody else may write to? */
static bool folder_is_private(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) &&
         found.st_uid == geteuid() && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool wf_sys_private_path(char *out, size_t size, const char *name) {
  char made[64];
  const char *folder = wf_sys_variable("XDG_RUNTIME_DIR");
  if (folder == NULL || !folder_is_private(folder)) {
    (void)snprintf(made, sizeof made, "/tmp/weft-%lu", (unsigned long)geteuid());
    (void)mkdir(made, 0700);
    folder = made;
    if (!folder_is_private(folder)) return false;
  }
  int length = snprintf(out, size, "%s/%s", folder, name);
  return length > 0 && (size_t)length < size;
}

/* ---- the process ---- */

const char *wf_sys_error_text(int error) {
  return strerror(error); /* NOLINT(concurrency-mt-unsafe): known numbers are constant */
}

void wf_sys_print_line(const char *line) {
  (void)fprintf(stderr, "%s\n", line);
}

const char *wf_sys_variable(const char *name) {
#if defined(__linux__)
  return secure_getenv(name);
#else
  /* NOLINTNEXTLINE(concurrency-mt-unsafe): as in sched/options.c */
  return getuid() == geteuid() && getgid() == getegid() ? getenv(name) : NULL;
#endif
}

uint32_t wf_sys_process_id(void) {
  return (uint32_t)getpid();
}

static uint64_t time_ns(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

#if defined(__linux__)
/* The second number of a thread's schedstat: nanoseconds in the queue of a CPU. */
static uint64_t starved_in(int folder, const char *thread) {
  char path[64], content[64];
  (void)snprintf(path, sizeof path, "%.30s/schedstat", thread);
  int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, content, sizeof content - 1);
  (void)close(file);
  content[length > 0 ? length : 0] = '\0';
  const char *second = strchr(content, ' ');
  return second != NULL ? strtoull(second, NULL, 10) : 0;
}

/* What getdents64 fills in, as its manual page says. opendir would allocate. */
typedef struct folder_entry {
  uint64_t number;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
} folder_entry;

static uint64_t starved_ns(void) {
  _Alignas(folder_entry) char entries[2048];
  uint64_t sum = 0;
  long length;
  int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;
  while ((length = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0)
    for (long at = 0; at < length;) {
      const folder_entry *entry = (const folder_entry *)(const void *)(entries + at);
      if (entry->name[0] != '.') sum += starved_in(folder, entry->name);
      at += entry->size;
    }
  (void)close(folder);
  return sum;
}
#else
static uint64_t starved_ns(void) {
  return 0;
}
#endif

wf_usage wf_sys_usage(void) {
  struct rusage used;
  memset(&used, 0, sizeof used);
  (void)getrusage(RUSAGE_SELF, &used);
  return (wf_usage){time_ns(used.ru_utime) + time_ns(used.ru_stime), starved_ns(),
                    (uint64_t)used.ru_nvcsw, (uint64_t)used.ru_nivcsw};
}

const char *wf_sys_program_name(void) {
#if defined(__linux__)
  return program_invocation_short_name;
#elif defined(__APPLE__) || defined(__FreeBSD__) || defined(__NetBSD__) ||               \
    defined(__OpenBSD__)
  const char *name = getprogname();
  return name != NULL ? name : "program";
#else
  return "program";
#endif
}

void wf_sys_date(char out[WF_DATE_SIZE]) {
  struct tm date;
  time_t now = time(NULL);
  if (gmtime_r(&now, &date) == NULL) memset(&date, 0, sizeof date);
  size_t length = strftime(out, WF_DATE_SIZE, "%Y-%m-%dT%H:%M:%SZ", &date);
  out[length] = '\0';
}

/* ---- signals that end the process ---- */

static const int FATAL_SIGNALS[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE, SIGABRT,
                                    SIGINT,  SIGTERM, SIGQUIT, SIGHUP, SIGPIPE};
enum { FATAL_COUNT = sizeof FATAL_SIGNALS / sizeof FATAL_SIGNALS[0] };
enum { FAULT_COUNT = 4 }; /* the first ones may come from what a thread does */

static wf_ptr x_on_fatal; /* points at the function pointer, or NULL */
static void (*on_fatal)(int signal);
static bool fatal_is_ours[FATAL_COUNT];

/* Has the system raised the signal because of what the thread did? That a signal comes
 * from the system does not suffice: Ctrl-C does, too. */
static bool is_fault(int signal_number, const siginfo_t *info) {
  bool can_be = false;
  for (int i = 0; i < FAULT_COUNT; i++)
    can_be = can_be || FATAL_SIGNALS[i] == signal_number;
  return can_be && info->si_code > 0;
}

/* The signal gets its default meaning back. A fault comes again when the thread goes on;
 * any other signal is raised again. */
static void handle_fatal_signal(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  int saved = errno;
  /* Relaxed: what it points to is constant, and written before the handler is there. */
  void (**fn)(int) = (void (**)(int))wf_ptr_load_relaxed(&x_on_fatal);
  if (fn != NULL) (*fn)(signal_number);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  (void)sigemptyset(&action.sa_mask);
  (void)sigaction(signal_number, &action, NULL);
  if (!is_fault(signal_number, info)) (void)raise(signal_number);
  errno = saved;
}

static bool handles_fatal(int signal_number, struct sigaction *now) {
  return sigaction(signal_number, NULL, now) == 0 && (now->sa_flags & SA_SIGINFO) != 0 &&
         now->sa_sigaction == handle_fatal_signal;
}

static void take_fatal_signals(void) {
  struct sigaction ours, now;
  memset(&ours, 0, sizeof ours);
  ours.sa_sigaction = handle_fatal_signal;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  (void)sigfillset(&ours.sa_mask);
  for (int i = 0; i < FATAL_COUNT; i++) {
    fatal_is_ours[i] = sigaction(FATAL_SIGNALS[i], NULL, &now) == 0 &&
                       (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL &&
                       sigaction(FATAL_SIGNALS[i], &ours, NULL) == 0;
  }
}

static void give_fatal_signals_back(void) {
  struct sigaction before, now;
  memset(&before, 0, sizeof before);
  before.sa_handler = SIG_DFL;
  (void)sigemptyset(&before.sa_mask);
  for (int i = 0; i < FATAL_COUNT; i++)
    if (fatal_is_ours[i] && handles_fatal(FATAL_SIGNALS[i], &now))
      (void)sigaction(FATAL_SIGNALS[i], &before, NULL);
}

void wf_sys_on_fatal_signal(void (*fn)(int signal)) {
  if (fn != NULL) {
    on_fatal = fn;
    wf_ptr_store_release(&x_on_fatal, &on_fatal); /* pairs with the load in the handler */
    take_fatal_signals();
  } else {
    give_fatal_signals_back();
    wf_ptr_store_release(&x_on_fatal, NULL); /* pairs with the load in the handler */
  }
}

#endif
