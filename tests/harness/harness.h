/* harness/harness.h - everything a test program needs: tests, checks, seeds, threads, a
 * watchdog.
 *
 *     #include <harness/harness.h>
 *
 *     TEST(addition_works) {
 *       CHECK_EQ(1 + 1, 2);
 *     }
 *
 * The harness provides main. It runs all tests in the order of the file, or those whose
 * name contains one of the arguments:
 *
 *     test_core_deque [--list] [--seed N] [--repeat N] [name...]
 *
 * Any thread of a test may call everything here. A failed check does not stop the test; a
 * failed REQUIRE ends the program. If a test runs longer than its limit, the harness
 * prints the stacks of all threads and ends the program with exit code 124.
 *
 * Environment: WEFT_TEST_SEED is the seed if --seed is not given. WEFT_TEST_TIMEOUT is
 * the limit in seconds for every test, and overrides what the test and the build say.
 *
 * SPDX-License-Identifier: MIT */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <type_traits>
#define HARNESS_NORETURN [[noreturn]]
extern "C" {
#else
#define HARNESS_NORETURN _Noreturn
#endif

/* ---- tests ---- */

/* Seconds that a test may run unless it has a limit of its own: far more than any test
 * needs on a busy machine. All limits are multiplied by harness_slowdown(). */
#define HARNESS_DEFAULT_LIMIT 60

typedef void harness_fn(void);

typedef struct harness_test {
  const char *name;
  harness_fn *fn;
  unsigned limit_seconds;
  bool by_name; /* runs only if an argument is exactly its name */
  struct harness_test *next;
} harness_test;

#define TEST(name) HARNESS_TEST(name, HARNESS_DEFAULT_LIMIT, false)

/* A test with a limit of its own, for tests that are long on purpose. */
#define TEST_LIMIT(name, seconds) HARNESS_TEST(name, seconds, false)

/* A test that is not part of the ordinary run. Another test starts it through
 * harness_run_self and watches it. It may crash, hang or fail. */
#define TEST_BY_NAME(name) HARNESS_TEST(name, HARNESS_DEFAULT_LIMIT, true)

/* Tests register themselves before main, so there is no separate list of them. */
#define HARNESS_TEST(name, seconds, by_name)                                             \
  static void test_##name(void);                                                         \
  __attribute__((constructor)) static void harness_add_##name(void) {                    \
    static harness_test entry = {#name, test_##name, seconds, by_name, NULL};            \
    harness_add(&entry);                                                                 \
  }                                                                                      \
  static void test_##name(void)

void harness_add(harness_test *entry);

/* ---- checks: each returns true if it held ---- */

#define CHECK(cond) harness_check(!!(cond), __FILE__, __LINE__, #cond)

/* With a message as for printf, for what the condition does not show. */
#define CHECK_MSG(cond, ...)                                                             \
  harness_check_msg(!!(cond), __FILE__, __LINE__, #cond, __VA_ARGS__)

/* Compares two integers of any types by their mathematical value, or two doubles, or two
 * pointers. Prints both sides if they differ. */
#define CHECK_EQ(a, b)                                                                   \
  harness_check_eq(HARNESS_VALUE(a), HARNESS_VALUE(b), __FILE__, __LINE__, #a, #b)

#define CHECK_STR_EQ(a, b) harness_check_str_eq((a), (b), __FILE__, __LINE__, #a, #b)

/* Prints the condition and ends the program: for what the rest of a test relies on. */
#define REQUIRE(cond) ((cond) ? (void)0 : harness_require(__FILE__, __LINE__, #cond))

bool harness_check(bool held, const char *file, int line, const char *text);

__attribute__((format(printf, 5, 6))) bool harness_check_msg(bool held, const char *file,
                                                             int line, const char *text,
                                                             const char *format, ...);

bool harness_check_str_eq(const char *a, const char *b, const char *file, int line,
                          const char *a_text, const char *b_text);

HARNESS_NORETURN void harness_require(const char *file, int line, const char *text);

typedef struct harness_value {
  enum { HARNESS_SIGNED, HARNESS_UNSIGNED, HARNESS_DOUBLE, HARNESS_POINTER } kind;
  union {
    long long number;
    unsigned long long natural;
    double real;
    const void *pointer;
  };
} harness_value;

bool harness_check_eq(harness_value a, harness_value b, const char *file, int line,
                      const char *a_text, const char *b_text);

harness_value harness_signed(long long value);
harness_value harness_unsigned(unsigned long long value);
harness_value harness_double(double value);
harness_value harness_pointer(const void *value);

#ifdef __cplusplus
} /* overloaded functions need C++ linkage */
template <class T> inline harness_value harness_value_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return harness_double((double)value);
  else if constexpr (std::is_signed_v<T> || std::is_enum_v<T>)
    return harness_signed((long long)value);
  else
    return harness_unsigned((unsigned long long)value);
}
template <class T> inline harness_value harness_value_of(T *value) {
  return harness_pointer(value);
}
#define HARNESS_VALUE(x) harness_value_of(x)
extern "C" {
#else
/* clang-format off */
#define HARNESS_VALUE(x)                                                                 \
  _Generic((x),                                                                          \
    bool: harness_unsigned, unsigned char: harness_unsigned,                             \
    unsigned short: harness_unsigned, unsigned: harness_unsigned,                        \
    unsigned long: harness_unsigned, unsigned long long: harness_unsigned,               \
    char: harness_signed, signed char: harness_signed, short: harness_signed,            \
    int: harness_signed, long: harness_signed, long long: harness_signed,                \
    float: harness_double, double: harness_double,                                       \
    default: harness_pointer)(x)
/* clang-format on */
#endif

/* ---- randomness that can be replayed ---- */

/* The seed of the running test. It depends on the seed of the run, which is printed at
 * the start, and on the test's name. So a test gets the same seed whichever other tests
 * run.
 */
uint64_t harness_seed(void);

/* Moves *state on and returns the next number of its sequence. Start from harness_seed(),
 * plus the thread's index where several threads draw numbers. */
uint64_t harness_random(uint64_t *state);

/* ---- threads and processes ---- */

/* Runs fn(0, arg) to fn(count - 1, arg), each on its own thread. All threads start from a
 * common barrier. The call returns when all have ended. */
void harness_run_threads(unsigned count, void (*fn)(unsigned index, void *arg),
                         void *arg);

/* The number of threads of this process that have not ended, without the threads of the
 * harness and of a sanitizer. A thread that was joined is never counted. */
unsigned harness_thread_count(void);

/* Between two looks at something that other threads bring about; *round counts them and
 * is 0 at first. Gives the CPU away at first, because it is often there at once, and then
 * sleeps for longer and longer, up to half a millisecond: a test that waits takes no CPU
 * time from those it waits for. */
void harness_pause(unsigned *round);

/* Lets other threads run for about this long. Never needed for a test to pass: it gives a
 * defect the chance to show. */
void harness_linger(unsigned microseconds);

/* How many times slower than usual this build runs: 1, or more with a sanitizer, valgrind
 * or delays. Tests divide their amount of work by it. */
unsigned harness_slowdown(void);

/* Runs this same program with the given arguments, as a shell would. env may be NULL, or
 * assignments to environment variables. Keeps the first size - 1 bytes of what the
 * program prints. Returns its exit code, or 128 plus the signal that ended it. */
int harness_run_self(const char *env, const char *args, char *output, size_t size);

#ifdef __cplusplus
}
#endif

#endif
