/* link: -Wl,--wrap=syscall */
/* CPU masks on a machine with 5,000 CPUs: the kernel that answers here takes no mask of
 * fewer, and remembers what one thread may use.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "harness/harness.h"
#include "sys/sys.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

enum { CPUS = 5000, WORD_BITS = sizeof(long) * 8, WORDS = CPUS / WORD_BITS + 1 };
enum { THREAD = 4711 };

static unsigned long cpuset[WORDS], given[WORDS];
static unsigned too_small; /* calls with a mask that was */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static long refuse(int error) {
  errno = error;
  return -1;
}

/* Fewer bytes than the caller has are filled: the rest of its mask is its own affair. */
static long answer_get(size_t size, unsigned long *bits) {
  if (size < sizeof given || size % sizeof(long) != 0) {
    too_small++;
    return refuse(EINVAL);
  }
  memcpy(bits, given, sizeof given);
  return sizeof given;
}

/* Of what is asked for, the cpuset's; what is not asked for is not given. */
static long answer_set(size_t size, const unsigned long *bits) {
  unsigned long next[WORDS] = {0}, any = 0;
  memcpy(next, bits, size < sizeof next ? size : sizeof next);
  for (size_t i = 0; i < WORDS; i++) any |= next[i] &= cpuset[i];
  if (any == 0) return refuse(EINVAL);
  memcpy(given, next, sizeof given);
  return 0;
}

long __wrap_syscall(long number, ...) {
  long a[6] = {0};
  va_list list;
  va_start(list, number);
  for (int i = 0; i < (number == SYS_futex ? 6 : 3); i++) a[i] = va_arg(list, long);
  va_end(list);
  const bool get = number == SYS_sched_getaffinity, set = number == SYS_sched_setaffinity;
  if ((get || set) && a[0] != 0 && a[0] != THREAD) return refuse(ESRCH);
  if (get) return answer_get((size_t)a[1], (unsigned long *)a[2]);
  if (set) return answer_set((size_t)a[1], (const unsigned long *)a[2]);
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void allow(unsigned long *bits, unsigned from, unsigned to) {
  for (unsigned cpu = from; cpu < to; cpu++)
    bits[cpu / WORD_BITS] |= 1ul << cpu % WORD_BITS;
}

TEST(masks_grow_until_the_kernel_takes_them) {
  allow(cpuset, 0, CPUS);
  allow(given, 0, CPUS);
  wf_cpu_mask *mask = wf_sys_mask_create();
  REQUIRE(mask != NULL);
#if defined(__linux__)
  CHECK(too_small > 0);
#endif
  const unsigned asked = too_small;
  REQUIRE(wf_sys_mask_read(mask, 0));
  CHECK_EQ(wf_sys_mask_count(mask), CPUS);
  CHECK(wf_sys_mask_has(mask, CPUS - 1));
  CHECK(!wf_sys_mask_has(mask, CPUS));
  CHECK_EQ(wf_sys_cpu_count("/no/such/folder"), CPUS);
  CHECK_EQ(too_small, asked); /* once per process */
  wf_sys_mask_destroy(mask);
}

#if !defined(WF_SYS_POSIX)

TEST(a_high_cpu_is_cleared_and_found_again) {
  wf_cpu_mask *mask = wf_sys_mask_create(), *back = wf_sys_mask_create();
  REQUIRE(mask != NULL && back != NULL);
  REQUIRE(wf_sys_mask_read(mask, THREAD));
  wf_sys_mask_clear(mask, 4999);
  CHECK(wf_sys_mask_set(mask, THREAD));
  CHECK(wf_sys_mask_read(back, THREAD));
  CHECK(wf_sys_mask_equal(mask, back));
  CHECK(!wf_sys_mask_has(back, 4999));
  CHECK_EQ(wf_sys_mask_count(back), CPUS - 1);
  CHECK(!wf_sys_mask_set(mask, THREAD + 1));
  wf_sys_mask_fill(mask);
  CHECK(wf_sys_mask_set(mask, THREAD));
  wf_sys_mask_destroy(mask);
  wf_sys_mask_destroy(back);
}

/* The cpuset gains CPUs: the kernel gives a thread that follows it those too, and here
 * the test does it in its place. */
TEST(a_cpuset_of_high_cpus_is_followed) {
  wf_cpu_mask *own = wf_sys_mask_create(), *scratch = wf_sys_mask_create();
  REQUIRE(own != NULL && scratch != NULL);
  bool follows = false;
  memset(cpuset, 0, sizeof cpuset);
  memset(given, 0, sizeof given);
  allow(cpuset, 3000, 4000);
  allow(given, 3000, 4000);
  CHECK(wf_sys_mask_origin(own, scratch, &follows));
  CHECK(follows);
  CHECK_EQ(wf_sys_mask_count(own), 1000);

  memset(given, 0, sizeof given);
  allow(given, 3000, 3500); /* by taskset */
  CHECK(wf_sys_mask_origin(own, scratch, &follows));
  CHECK(!follows);
  CHECK_EQ(wf_sys_mask_count(own), 500);
  CHECK(wf_sys_mask_read(scratch, 0));
  CHECK(wf_sys_mask_equal(own, scratch));
  wf_sys_mask_destroy(own);
  wf_sys_mask_destroy(scratch);
}

#endif
