/* unix.c - threads, clock, memory and environment: what linux.c and posix.c share.
 *
 * Who calls: sched starts and joins threads; core, sched and par spin, measure time and
 * map memory. A thread's start record is made by the starting thread and belongs to the
 * new thread from the moment pthread_create succeeds.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pthread_setname_np, MAP_ANONYMOUS */
#endif

#include "sys.h"

#if !defined(_WIN32)

#include "die.h"
#if defined(__APPLE__)
#include "darwin.h"
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#if defined(__linux__)
#include <link.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- threads ---- */

_Static_assert(sizeof(pthread_t) <= sizeof(uintptr_t), "wf_thread holds a pthread_t");

struct thread_start {
  wf_thread_fn *fn;
  void *arg;
  char name[WF_THREAD_NAME_MAX + 1];
};

/* The name is set from inside, where it needs no handle and no permission, and before fn
 * runs, so that fn sees it. A name is for people; failing to set it changes nothing. */
static void thread_take_name(const char *name) {
#if defined(__linux__)
  if (name[0] != '\0') pthread_setname_np(pthread_self(), name);
#elif defined(__APPLE__)
  if (name[0] != '\0') pthread_setname_np(name);
#else
  (void)name;
#endif
}

/* ---- dlclose ---- */

/* A thread-local variable with a destructor keeps the object that holds its code from
 * being unloaded until the thread has ended. C++ uses this call of the C library for
 * that, and so do started threads: without it, dlclose of a library that uses weft would
 * take the code away under them. A thread can register only itself, so the thread that
 * starts some waits until all of them have registered. */
#if defined(__linux__)
extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *dso)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void thread_destroy_nothing(void *object) {
  (void)object;
}

/* Threads that were started and have not registered yet. */
static unsigned unregistered;
static pthread_mutex_t unregistered_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_registered = PTHREAD_COND_INITIALIZER;

/* Is this code in an object that can be unloaded? Not if it is part of the program, which
 * the loader names first. */
static bool code_may_go;
static pthread_once_t code_may_go_once = PTHREAD_ONCE_INIT;

static int look_at_program(struct dl_phdr_info *program, size_t size, void *arg) {
  uintptr_t here = (uintptr_t)&__dso_handle;
  bool *inside = (bool *)arg;
  (void)size;
  for (int i = 0; i < program->dlpi_phnum; i++) {
    uintptr_t start = program->dlpi_addr + program->dlpi_phdr[i].p_vaddr;
    if (program->dlpi_phdr[i].p_type == PT_LOAD &&
        here - start < program->dlpi_phdr[i].p_memsz)
      *inside = true;
  }
  return 1; /* enough */
}

static void find_whether_code_may_go(void) {
  bool inside = false;
  dl_iterate_phdr(look_at_program, &inside);
  code_may_go = !inside && __cxa_thread_atexit_impl != NULL;
}

static bool thread_code_may_go(void) {
  pthread_once(&code_may_go_once, find_whether_code_may_go);
  return code_may_go;
}

static void thread_will_register(void) {
  if (!thread_code_may_go()) return;
  pthread_mutex_lock(&unregistered_lock);
  unregistered++;
  pthread_mutex_unlock(&unregistered_lock);
}

static void thread_registered(void) {
  if (!thread_code_may_go()) return;
  pthread_mutex_lock(&unregistered_lock);
  unregistered--;
  if (unregistered == 0) pthread_cond_broadcast(&all_registered);
  pthread_mutex_unlock(&unregistered_lock);
}

static void thread_keep_code_loaded(void) {
  if (thread_code_may_go())
    __cxa_thread_atexit_impl(thread_destroy_nothing, NULL, &__dso_handle);
  thread_registered();
}

void wf_sys_threads_await(void) {
  if (!thread_code_may_go()) return;
  pthread_mutex_lock(&unregistered_lock);
  while (unregistered > 0) pthread_cond_wait(&all_registered, &unregistered_lock);
  pthread_mutex_unlock(&unregistered_lock);
}

/* In a child of fork, which has none of the threads. */
static void thread_forget_unregistered(void) {
  unregistered = 0;
  pthread_mutex_init(&unregistered_lock, NULL);
  pthread_cond_init(&all_registered, NULL);
}
#else
static void thread_will_register(void) {}
static void thread_registered(void) {}
static void thread_keep_code_loaded(void) {}
static void thread_forget_unregistered(void) {}
void wf_sys_threads_await(void) {}
#endif

static void *thread_main(void *memory) {
  struct thread_start start;
  memcpy(&start, memory, sizeof start);
  free(memory);
  thread_take_name(start.name);
  thread_keep_code_loaded();
  start.fn(start.arg);
  return NULL;
}

/* ---- starting ---- */

static int thread_status(int error) {
  switch (error) {
  case 0:
    return WEFT_OK;
  case ENOMEM:
    return WEFT_ENOMEM;
  case EINVAL:
    return WEFT_EINVAL;
  default: /* EAGAIN, a sandbox's EPERM, whatever else keeps a system from making one */
    return WEFT_EAGAIN;
  }
}

/* The smallest stack that is accepted: what the C library names. That of musl, 2 KiB, has
 * no room for the frames of a worker. */
static size_t least_stack(void) {
  const size_t named = (size_t)PTHREAD_STACK_MIN;
#if defined(__GLIBC__)
  return named;
#else
  const size_t needed = (size_t)16 * 1024;
  return named > needed ? named : needed;
#endif
}

/* Creates the thread with a stack of at least stack_size bytes. The C library keeps the
 * program's thread-local variables on the same stack and answers EINVAL when they leave
 * too little of it. No call says how much they take, so the size is doubled until it
 * fits. The bound, 1 GiB, only makes the loop finite. */
static int thread_create(pthread_t *thread, pthread_attr_t *attributes, size_t stack_size,
                         struct thread_start *start) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t least = least_stack();
  const size_t doubling_end = (size_t)1 << 30;
  if (stack_size == 0) return pthread_create(thread, attributes, thread_main, start);
  if (stack_size < least || stack_size > SIZE_MAX - (page - 1)) return EINVAL;
  stack_size = (stack_size + page - 1) / page * page;
  for (;;) {
    int error = pthread_attr_setstacksize(attributes, stack_size);
    if (error == 0) error = pthread_create(thread, attributes, thread_main, start);
    if (error != EINVAL || stack_size >= doubling_end) return error;
    stack_size *= 2;
  }
}

/* Blocks every signal while the thread is made: the new thread inherits the mask and has
 * no moment in which a handler of the program could run on it. Signals sent to the
 * process go to the program's own threads, and one for this thread waits until the mask
 * is back. */
static int thread_create_masked(pthread_t *thread, size_t stack_size,
                                struct thread_start *start) {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
#if defined(__APPLE__)
  wf_darwin_prepare_thread(&attributes);
#endif
  /* A fault of the thread itself must still reach the program's handler, or a crash
   * reporter or sanitizer would stay silent. */
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    sigdelset(&blocked, faults[i]);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  error = thread_create(thread, &attributes, stack_size, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return error;
}

int wf_sys_thread_start(wf_thread *out, const char *name, size_t stack_size,
                        wf_thread_fn *fn, void *arg) {
  struct thread_start *start = malloc(sizeof *start);
  if (start == NULL) return WEFT_ENOMEM;
  memset(start, 0, sizeof *start);
  start->fn = fn;
  start->arg = arg;
  for (size_t i = 0; name != NULL && name[i] != '\0' && i < WF_THREAD_NAME_MAX; i++) {
    start->name[i] = name[i];
  }
  pthread_t thread;
  thread_will_register();
  int error = thread_create_masked(&thread, stack_size, start);
  if (error != 0) {
    thread_registered();
    free(start);
    return thread_status(error);
  }
  out->handle = (uintptr_t)thread;
  return WEFT_OK;
}

void wf_sys_thread_join(wf_thread thread) {
  /* To go on as if the thread had ended would free what it still uses. */
  if (pthread_join((pthread_t)thread.handle, NULL) != 0) {
    wf_sys_die("weft: fatal: a thread could not be joined: it joined itself, or it was "
               "joined or detached before.\n");
  }
}

void wf_sys_thread_yield(void) {
  sched_yield();
}

bool wf_sys_thread_stack(uintptr_t *low, size_t *size) {
#if defined(__linux__)
  pthread_attr_t attributes;
  void *address;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return false;
  bool known = pthread_attr_getstack(&attributes, &address, size) == 0;
  pthread_attr_destroy(&attributes);
  *low = (uintptr_t)address;
  return known;
#elif defined(__APPLE__)
  *size = pthread_get_stacksize_np(pthread_self());
  *low = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - *size; /* from the top */
  return *size > 0;
#else
  (void)low;
  (void)size;
  return false;
#endif
}

static wf_ptr x_on_fork; /* points at the function pointer of the first caller */
static pthread_once_t on_fork_once = PTHREAD_ONCE_INIT;

static void register_on_fork(void) {
  /* Relaxed: the thread that is first wrote it before, and all write the same. */
  void (*const *fn)(void) = (void (*const *)(void))wf_ptr_load_relaxed(&x_on_fork);
  /* If there is no memory for the handlers, pools do not work in forked processes. */
  (void)pthread_atfork(NULL, NULL, thread_forget_unregistered);
  (void)pthread_atfork(NULL, NULL, *fn);
}

void wf_sys_on_fork(void (*const *fn)(void)) {
  wf_ptr_store_relaxed(&x_on_fork, (void *)(uintptr_t)fn); /* the once orders it */
  pthread_once(&on_fork_once, register_on_fork);
}

/* ---- telling a file descriptor ---- */

bool wf_sys_fd_is_writable(int fd) {
  int flags = fcntl(fd, F_GETFL); /* fails for a number that is no open descriptor */
  return flags != -1 && (flags & O_ACCMODE) != O_RDONLY;
}

static bool sigpipe_is_pending(void) {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

/* Writing to a pipe that nobody reads raises SIGPIPE in the thread that writes, which
 * ends a program that has not said otherwise. The thread may be the program's own. So the
 * signal is blocked meanwhile, and taken back if it came. */
void wf_sys_fd_notify(int fd) {
  const uint64_t one = 1;
  sigset_t pipe_only, before;
  int raised;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  bool was_pending = sigpipe_is_pending();
  if (pthread_sigmask(SIG_BLOCK, &pipe_only, &before) != 0) return;
  ssize_t written;
  do {
    written = write(fd, &one, sizeof one);
  } while (written == -1 && errno == EINTR);
  if (written == -1 && errno == EPIPE && !was_pending && sigpipe_is_pending())
    sigwait(&pipe_only, &raised);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- time ---- */

uint64_t wf_sys_now_ns(void) {
  struct timespec now = {0, 0}; /* a clock that fails is one that stands still */
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t wf_sys_ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return wf_sys_now_ns();
#endif
}

uint64_t wf_sys_ticks_per_us(void) {
#if defined(__x86_64__) || defined(__i386__)
  return 3000; /* CPUs have 2 to 4 GHz, and no instruction that every one has says it */
#elif defined(__aarch64__)
  uint64_t per_second; /* the architecture allows 1 MHz to 1 GHz */
  __asm__("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second > 1000000 ? per_second / 1000000 : 1;
#else
  return 1000;
#endif
}

void wf_sys_relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
  __asm__ __volatile__("yield" ::: "memory");
#else
  __asm__ __volatile__("" ::: "memory");
#endif
}

/* ---- memory ---- */

#if !defined(MAP_ANONYMOUS)
#define MAP_ANONYMOUS MAP_ANON
#endif

void *wf_sys_map(size_t size) {
  void *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void wf_sys_unmap(void *memory, size_t size) {
  if (memory != NULL) munmap(memory, size);
}

void wf_sys_prefer_large_pages(void *memory, size_t size) {
#if defined(MADV_HUGEPAGE)
  const uintptr_t large = (uintptr_t)2 << 20; /* the usual size; the kernel rounds */
  uintptr_t begin = ((uintptr_t)memory + large - 1) / large * large;
  uintptr_t end = ((uintptr_t)memory + size) / large * large;
  /* For fewer than three large pages the call costs more than it saves; the number is a
   * choice. If the kernel refuses, the memory is as usable as before. */
  if (begin < end && end - begin >= 3 * large)
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
  (void)memory;
  (void)size;
#endif
}

/* ---- environment ---- */

#if !defined(__APPLE__) /* there: darwin.c */
extern char **environ;

char **wf_sys_environment(void) {
  return environ;
}
#endif

#endif
