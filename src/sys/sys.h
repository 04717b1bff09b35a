/* sys.h - what weft needs from the operating system and the CPU: the whole contract.
 *
 * One file per system implements it: linux.c (futex, membarrier), posix.c (mutex and
 * condition variable, for every other POSIX system and for testing), darwin.c (wait by
 * address, no barrier), and windows.c with windows_cpu.c and windows_file.c
 * (WaitOnAddress, FlushProcessWriteBuffers). What linux.c, posix.c and darwin.c share is
 * in unix.c and file.c; affinity.c has the CPU masks of Linux and does nothing on other
 * systems of that kind. Which CPUs share what is in topology.h.
 *
 * Who calls: core, sched and par. Everything may be called from any thread unless noted.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_SYS_H
#define WF_SYS_SYS_H

#include <weft/base.h>
#include <weft/detail/atomic.h>

/* ---- threads ---- */

typedef struct wf_thread {
  uintptr_t handle; /* meaningful only to the implementation */
} wf_thread;

typedef void wf_thread_fn(void *arg);

/* The longest thread name that every supported system takes, without the final NUL. */
#define WF_THREAD_NAME_MAX 15

/* Starts a thread that runs fn(arg) with every signal blocked except those that a fault
 * of the thread itself raises: signals meant for the program go to the program's own
 * threads, and crash handlers work. As long as it runs, dlclose does not unload the
 * object that this code is in (where the C library supports that). stack_size 0 means
 * the system's default; smaller values than PTHREAD_STACK_MIN are refused, others are
 * rounded up to what the system accepts. name is copied and cut to WF_THREAD_NAME_MAX
 * bytes; NULL or "" keeps the system's name. Returns 0, WEFT_EAGAIN (no more threads),
 * WEFT_ENOMEM or WEFT_EINVAL. */
int wf_sys_thread_start(wf_thread *out, const char *name, size_t stack_size,
                        wf_thread_fn *fn, void *arg);

/* Returns when all threads that were started have registered, so that dlclose knows of
 * them; at once in a program that this code is linked into. */
void wf_sys_threads_await(void);

/* Waits until the thread has ended and releases it. Each started thread is joined once.
 */
void wf_sys_thread_join(wf_thread thread);

/* Lets another runnable thread have the CPU. */
void wf_sys_thread_yield(void);

/* The stack of the calling thread: its lowest address, and its size. Slow, and may
 * allocate: ask once per thread. False if the system does not say. */
bool wf_sys_thread_stack(uintptr_t *low, size_t *size);

/* Thread-local variables of the library on Windows, where gcc emulates them: it asks
 * malloc for their memory when a thread first uses one, and ends the program if there is
 * none. A call here returns where the variable is; it is 0 at first, and at most as large
 * as a pointer. */
#if defined(_WIN32)
typedef enum wf_local {
  WF_LOCAL_HAS_ENDED,
  WF_LOCAL_REGION,
  WF_LOCAL_FORK_PLACE,
  WF_LOCAL_STACK_LOW,
  WF_LOCAL_STACK_SIZE,
  WF_LOCALS
} wf_local;
void *wf_sys_local(wf_local which);
#endif

/* From now on calls *fn in the child of each fork, on the only thread that it has, before
 * fork returns there. Any thread may call this any number of times, always with the same
 * fn: it is registered once, and it is registered when any of the calls returns. */
void wf_sys_on_fork(void (*const *fn)(void));

/* ---- waiting on a word ---- */

/* Blocks while *word == expected, until a wake on the same address. May return at any
 * time without reason: callers loop on their own condition. Never blocks if *word differs
 * from expected when the call looks at it, and a wake that happens after that look is not
 * lost. */
void wf_sys_wait(wf_u32 *word, uint32_t expected);

/* Wakes one, or all, of the threads that wait on the address. The memory behind it is not
 * accessed and may be gone already: waking an address that nobody waits on, or that other
 * code has reused, is a spurious return at worst. */
void wf_sys_wake_one(wf_u32 *word);
void wf_sys_wake_all(wf_u32 *word);

/* The same, for at most timeout_ns. False if the time is over; true if something else
 * ended the wait: a wake, another value of the word, or nothing at all. Where the kernel
 * refuses to wait it returns false after a short pause, so a caller that looks again
 * when the time is over still does. The system may take some time more: 50 us of timer
 * slack on Linux, unless the thread has set its own. */
bool wf_sys_wait_for(wf_u32 *word, uint32_t expected, uint64_t timeout_ns);

/* ---- process-wide barrier ---- */

/* Finds out, once per process, whether wf_sys_barrier works here and prepares it.
 * Called before the first worker starts; later calls return the first answer, unless
 * wf_sys_barrier was refused since. False where the kernel has no such barrier or refuses
 * it. */
bool wf_sys_barrier_prepare(void);

/* Returns only after every running thread of this process has executed a full memory
 * barrier between the call and the return; also a full barrier for the caller. To be
 * called only after wf_sys_barrier_prepare returned true. False if the system has refused
 * it, because the program has entered a sandbox since: then no other thread has executed
 * anything. The next call may succeed, as a filter of system calls may hold for some
 * threads only. */
bool wf_sys_barrier(void);

/* ---- which CPU a thread runs on, and may run on ---- */

/* The CPU that the caller runs on, counted from 0; -1 if the system does not tell. It may
 * be another one by the time this returns. No system call on the usual machines: the C
 * library reads it from the thread's rseq area or through the vDSO. */
int wf_sys_cpu_now(void);

/* By this number another thread of the process can steer the caller: see wf_sys_mask_set.
 * It is valid until the thread ends; then the kernel may give it to a stranger, so only
 * threads that are known to be there are steered. In a child of fork the caller has
 * another number. 0 where there are no such numbers. A system call: ask once per thread.
 */
uint32_t wf_sys_thread_self(void);

/* The CPUs that a thread may run on, for any number of CPUs. One mask is used by one
 * thread at a time. All masks of a process have the same size. */
typedef struct wf_cpu_mask wf_cpu_mask;

/* Empty masks in one block; NULL without memory, or if the system has no masks or does
 * not let this process read its own. The block is freed by wf_sys_mask_destroy. */
wf_cpu_mask *wf_sys_masks_create(unsigned count);
wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i);
static inline wf_cpu_mask *wf_sys_mask_create(void) {
  return wf_sys_masks_create(1);
}
void wf_sys_mask_destroy(wf_cpu_mask *mask); /* may be NULL */

/* Reads and sets the CPUs of a thread of this process; 0 is the caller. A mask may name
 * CPUs that the thread's cpuset does not have: the kernel leaves them out. The thread may
 * be asleep; then nothing happens to it until it is woken, and it wakes on a CPU of its
 * mask. False, with nothing changed, if the system refuses (a sandbox, a thread that
 * has ended, a mask of which the cpuset has no CPU), or if it has no masks. */
bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread);
bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread);

void wf_sys_mask_fill(wf_cpu_mask *mask); /* every CPU, also those that do not exist */
void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from);
/* A CPU beyond the size of the mask is in no mask. */
void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu);
void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu);
bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu);
unsigned wf_sys_mask_count(const wf_cpu_mask *mask);
bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b);
bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole);

/* Reads the caller's mask into *own, and says in *follows whether that is merely the one
 * of its cpuset. Such a thread is restored by wf_sys_mask_fill and not by *own; why is
 * in affinity.c. The caller's CPUs are the same afterwards. scratch is another mask; its
 * content is lost. False, and the CPUs are as they were, if the system refuses. */
bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows);

/* ---- telling a file descriptor ---- */

/* Can the descriptor be written to, as far as the system knows without trying? */
bool wf_sys_fd_is_writable(int fd);

/* Writes the eight bytes of the number 1, as an eventfd wants them, in one go. There is
 * nobody to tell if that fails: a descriptor that does not block and is full has
 * something to read already; one that was closed gets nothing. Never raises SIGPIPE. */
void wf_sys_fd_notify(int fd);

/* ---- CPUs, time, memory, environment ---- */

/* How many CPUs this process may use: the smaller of its affinity mask and the tightest
 * cgroup (v1 or v2) CPU quota among its group and the ancestors, rounded down; at
 * least 1. root is prefixed to "/proc" and "/sys" paths: "" for the real system, a
 * fixture folder in tests. Unreadable or nonsensical files count as no limit. */
unsigned wf_sys_cpu_count(const char *root);

/* Nanoseconds of a clock that never jumps and never goes back. Where the system's clock
 * fails it stands still, at 0: a loop that must end also counts its rounds. */
uint64_t wf_sys_now_ns(void);

/* The CPU's cycle (or tick) counter: cheaper than the clock, of unknown but constant
 * frequency, not comparable between machines. Where there is none, the clock. */
uint64_t wf_sys_ticks(void);

/* About how many ticks a microsecond has; at least 1. */
uint64_t wf_sys_ticks_per_us(void);

/* Tells the CPU that this is a spin loop. */
void wf_sys_relax(void);

/* Zeroed memory straight from the system, in whole pages, at a page boundary; NULL if
 * there is none. wf_sys_unmap gives it back; size as in the call that made it. */
void *wf_sys_map(size_t size);
void wf_sys_unmap(void *memory, size_t size);

/* A hint that this memory, of any origin and not yet touched, profits from large pages.
 * Does nothing where there are none, or if it is small. */
void wf_sys_prefer_large_pages(void *memory, size_t size);

/* The environment of the process: strings NAME=VALUE, and NULL behind the last; NULL if
 * there is none. */
char **wf_sys_environment(void);

/* ---- the terminal (terminal.c): for progress ---- */

/* Standard error, if that is a terminal. */
typedef struct wf_terminal {
  unsigned columns, rows;
  bool is_utf8; /* it shows UTF-8, as far as the environment says */
} wf_terminal;

/* False if standard error is no terminal, one that cannot move its cursor, or one in the
 * foreground of which another program is. Ask each time: users change the size. */
bool wf_sys_terminal_look(wf_terminal *out);

/* Writes all of it, or gives up if the terminal is gone. */
void wf_sys_terminal_write(const char *text, size_t length);

/* ---- files, and the end of the process (file.c): for traces ---- */

/* Opens a file for writing, or makes it, empties it, and keeps other processes and other
 * descriptors from opening it in this way. It is closed when the process starts another
 * program. Returns a number of 0 or more, or a status: WEFT_EBUSY if somebody else writes
 * it, WEFT_EIO if it cannot be written; *error is then the system's number for why. */
int wf_sys_file_create(const char *path, int *error);

/* Writes at an offset; bytes of one page of the file are there all or not at all if the
 * process is killed meanwhile. False if not all of it could be written. */
bool wf_sys_file_write(int file, const void *data, size_t size, uint64_t offset);

/* A part of a file as memory that both show at once; NULL if the system has none. The
 * offset is a multiple of a page. */
void *wf_sys_file_map(int file, uint64_t offset, size_t size);

/* Makes a file shorter. */
bool wf_sys_file_cut(int file, uint64_t size);

void wf_sys_file_close(int file);

/* Gives the file at `path` this content in one step: readers see the old one, or the new
 * one. False if that failed. */
bool wf_sys_file_replace(const char *path, const void *data, size_t size);
void wf_sys_file_remove(const char *path);

/* Writes into `out` the path of a file for this process in a folder that belongs to the
 * user alone; false if there is none. */
bool wf_sys_private_path(char *out, size_t size, const char *name);

/* The system's text for one of its numbers, and a line on standard error. */
const char *wf_sys_error_text(int error);
void wf_sys_print_line(const char *line);

/* An environment variable; NULL also in a program with more rights than its user. */
const char *wf_sys_variable(const char *name);

uint32_t wf_sys_process_id(void);

/* What the process has used since it began. Allocates nothing. */
typedef struct wf_usage {
  uint64_t cpu_ns;      /* of all its threads */
  uint64_t starved_ns;  /* its present threads were ready to run and had no CPU; 0 where
                         * the  system does not say */
  uint64_t waits;       /* how often a thread stopped to wait */
  uint64_t preemptions; /* how often the system took its CPU away */
} wf_usage;
wf_usage wf_sys_usage(void);

/* The name of the program without its folder; never NULL. */
const char *wf_sys_program_name(void);
/* The date and time, as in "2026-11-17T05:40:00Z". */
enum { WF_DATE_SIZE = 32 };
void wf_sys_date(char out[WF_DATE_SIZE]);

/* From now on calls fn(signal) when a signal is about to end the process, on the thread
 * that got it, before the process ends as it would have without. Only signals that the
 * program does not handle itself, and that it can still do something about. fn may call
 * only wf_sys_wait_for, wf_sys_wake_all and atomics. NULL: no more. One thread at a time.
 */
void wf_sys_on_fatal_signal(void (*fn)(int signal));

#endif
