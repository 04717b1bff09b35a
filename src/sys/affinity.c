/* affinity.c - on which CPU a thread runs, and on which ones it may run.
 *
 * Linux only. With WF_SYS_POSIX, and on other systems, nobody can be steered: there is no
 * CPU number, no thread number, and every call that sets a mask returns false.
 *
 * Who calls: sched, to keep a woken worker off the CPU of its waker, and cpu_count.c. A
 * mask belongs to the thread that uses it. The only state here is the size of a mask,
 * written once under pthread_once.
 *
 * The calls go to the kernel directly: they take the thread's number, which glibc's
 * pthread_setaffinity_np does not, and tests answer them in the kernel's place.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* syscall(), sched_getcpu() */
#endif

#include "sys.h"

#if defined(__linux__)

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- masks ---- */

/* The kernel counts in words of its own, and takes and gives whole ones only. */
enum { WORD_BITS = sizeof(unsigned long) * CHAR_BIT };

struct wf_cpu_mask {
  size_t words;
  unsigned long bits[];
};

static size_t mask_words; /* 0: no masks; written by mask_probe alone, under the once */
static pthread_once_t mask_once = PTHREAD_ONCE_INIT;

/* How large the kernel's masks are depends on the number of CPUs that it is built or
 * booted for. It answers EINVAL to a buffer that is too small, and else the number of
 * bytes that it has filled. The first size is that of glibc's cpu_set_t, the bound is 64
 * times what the largest kernels of today are built for (8192 CPUs). */
static void mask_probe(void) {
  for (size_t cpus = 1024; cpus <= 512 * 1024; cpus *= 2) {
    unsigned long *bits = calloc(cpus / WORD_BITS, sizeof *bits);
    if (bits == NULL) return;
    const long filled = syscall(SYS_sched_getaffinity, 0, cpus / CHAR_BIT, bits);
    const int error = errno;
    free(bits);
    if (filled > 0) mask_words = (size_t)filled / sizeof *bits;
    if (filled >= 0 || error != EINVAL) return;
  }
}

static size_t mask_stride(void) {
  return sizeof(wf_cpu_mask) + mask_words * sizeof(unsigned long);
}

wf_cpu_mask *wf_sys_masks_create(unsigned count) {
  pthread_once(&mask_once, mask_probe);
  if (mask_words == 0) return NULL;
  wf_cpu_mask *masks = calloc(count, mask_stride());
  for (unsigned i = 0; masks != NULL && i < count; i++)
    wf_sys_mask_at(masks, i)->words = mask_words;
  return masks;
}

wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i) {
  return (wf_cpu_mask *)(void *)((char *)masks + i * mask_stride());
}

void wf_sys_mask_destroy(wf_cpu_mask *mask) {
  free(mask);
}

void wf_sys_mask_fill(wf_cpu_mask *mask) {
  memset(mask->bits, 0xff, mask->words * sizeof mask->bits[0]);
}

void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from) {
  memcpy(to->bits, from->bits, to->words * sizeof to->bits[0]);
}

void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu) {
  if (cpu / WORD_BITS < mask->words)
    mask->bits[cpu / WORD_BITS] |= 1ul << cpu % WORD_BITS;
}

void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu) {
  if (cpu / WORD_BITS < mask->words)
    mask->bits[cpu / WORD_BITS] &= ~(1ul << cpu % WORD_BITS);
}

bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu) {
  return cpu / WORD_BITS < mask->words &&
         (mask->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) != 0;
}

bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole) {
  for (size_t i = 0; i < part->words; i++)
    if ((part->bits[i] & ~whole->bits[i]) != 0) return false;
  return true;
}

unsigned wf_sys_mask_count(const wf_cpu_mask *mask) {
  unsigned count = 0;
  for (size_t i = 0; i < mask->words; i++)
    count += (unsigned)__builtin_popcountl(mask->bits[i]);
  return count;
}

bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b) {
  return memcmp(a->bits, b->bits, a->words * sizeof a->bits[0]) == 0;
}

/* ---- of threads ---- */

bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  const size_t size = mask->words * sizeof mask->bits[0];
  const long filled =
      syscall(SYS_sched_getaffinity, (long)thread, (long)size, mask->bits);
  if (filled <= 0 || (size_t)filled > size) return false;
  memset((char *)mask->bits + filled, 0, size - (size_t)filled);
  return true;
}

#if !defined(WF_SYS_POSIX)

int wf_sys_cpu_now(void) {
  return sched_getcpu();
}

uint32_t wf_sys_thread_self(void) {
  return (uint32_t)syscall(SYS_gettid);
}

bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  const size_t size = mask->words * sizeof mask->bits[0];
  return syscall(SYS_sched_setaffinity, (long)thread, (long)size, mask->bits) == 0;
}

#endif

#elif !defined(_WIN32) /* there: windows_cpu.c */

/* ---- systems without masks: create says so, and the rest has nothing to work on ---- */

wf_cpu_mask *wf_sys_masks_create(unsigned count) {
  (void)count;
  return NULL;
}

wf_cpu_mask *wf_sys_mask_at(wf_cpu_mask *masks, unsigned i) {
  (void)i;
  return masks;
}

void wf_sys_mask_destroy(wf_cpu_mask *mask) {
  (void)mask;
}

void wf_sys_mask_fill(wf_cpu_mask *mask) {
  (void)mask;
}

void wf_sys_mask_copy(wf_cpu_mask *to, const wf_cpu_mask *from) {
  (void)to, (void)from;
}

void wf_sys_mask_add(wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
}

void wf_sys_mask_clear(wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
}

bool wf_sys_mask_has(const wf_cpu_mask *mask, unsigned cpu) {
  (void)mask, (void)cpu;
  return false;
}

bool wf_sys_mask_is_part(const wf_cpu_mask *part, const wf_cpu_mask *whole) {
  (void)part, (void)whole;
  return false;
}

unsigned wf_sys_mask_count(const wf_cpu_mask *mask) {
  (void)mask;
  return 0;
}

bool wf_sys_mask_equal(const wf_cpu_mask *a, const wf_cpu_mask *b) {
  return a == b;
}

bool wf_sys_mask_read(wf_cpu_mask *mask, uint32_t thread) {
  (void)mask, (void)thread;
  return false;
}

#endif

#if (!defined(__linux__) || defined(WF_SYS_POSIX)) && !defined(_WIN32)

int wf_sys_cpu_now(void) {
  return -1;
}

uint32_t wf_sys_thread_self(void) {
  return 0;
}

bool wf_sys_mask_set(const wf_cpu_mask *mask, uint32_t thread) {
  (void)mask, (void)thread;
  return false;
}

#endif

#if !defined(_WIN32)

/* Why it matters whether a mask merely follows the cpuset.
 *
 * Since Linux 6.2 the kernel remembers the mask that was last asked for, as it was asked
 * for (user_cpus_ptr), and gives the thread what its cpuset has of it. When the cpuset
 * changes, it applies the remembered mask to the new one. A thread for which nobody has
 * asked gets the cpuset, whatever it is. So, if such a thread is narrowed and then given
 * back exactly the CPUs that it had, it is kept for ever from those that its cpuset
 * gains later. Asked for all CPUs instead, existing or not, it follows its cpuset
 * again. (Before 6.2 a change of the cpuset replaces the masks of all its threads, and
 * both ways of restoring lead to the same.)
 *
 * There is no call that tells what was asked for. But the answer to "all CPUs" is the
 * cpuset, and a thread that had just these before follows it, or was asked for at least
 * those. (The second kind, `taskset` with CPUs beyond the cpuset, cannot be told from the
 * first; it will follow the cpuset to CPUs that the user did not name.) Every other
 * thread has been given fewer on purpose, and gets exactly those back.
 *
 * To be given more CPUs moves nobody, so between the two calls the thread runs elsewhere
 * only if the kernel balances its load just then. A mask that is set from outside between
 * them is lost. So threads ask once, when they start. */
bool wf_sys_mask_origin(wf_cpu_mask *own, wf_cpu_mask *scratch, bool *follows) {
  if (!wf_sys_mask_read(own, 0)) return false;
  wf_sys_mask_fill(scratch);
  if (!wf_sys_mask_set(scratch, 0)) return false;
  const bool known = wf_sys_mask_read(scratch, 0);
  *follows = known && wf_sys_mask_equal(own, scratch);
  /* If the last reading was refused, the thread had better have the CPUs that it had. */
  return *follows || (wf_sys_mask_set(own, 0) && known);
}

#endif
