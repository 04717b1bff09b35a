/* harness.h - what a test program needs: tests, checks, seeds, threads, a watchdog.
 *
 *     #include <harness/harness.h>
 *
 *     TEST(addition_works) {
 *       CHECK_EQ(1 + 1, 2);
 *     }
 *
 * The harness provides main. It runs the tests in the order of the file, or those whose
 * name contains one of the arguments:
 *
 *     test_core_deque [--list] [--seed N] [--repeat N] [name...]
 *
 * Everything here may be called from any thread of a test. Checks do not stop the test,
 * REQUIRE ends the program. A test that runs longer than its limit is reported with the
 * stacks of all threads, and the program ends with exit code 124.
 *
 * Environment: WEFT_TEST_SEED is the seed if --seed is not given, WEFT_TEST_TIMEOUT the
 * limit in seconds of every test, whatever the test and the build say.
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

/* Seconds that a test may run unless it says otherwise. This limit and those of single
 * tests are multiplied by harness_slowdown(). */
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

/* A test with a limit of its own, for those that are long on purpose. */
#define TEST_LIMIT(name, seconds) HARNESS_TEST(name, seconds, false)

/* A test that is not part of the ordinary run: the program to be watched by another test,
 * which starts it through harness_run_self. It may crash, hang or fail. */
#define TEST_BY_NAME(name) HARNESS_TEST(name, HARNESS_DEFAULT_LIMIT, true)

/* Registering before main keeps the list of tests where the tests are. */
#define HARNESS_TEST(name, seconds, by_name)                                             \
  static void test_##name(void);                                                         \
  __attribute__((constructor)) static void harness_add_##name(void) {                    \
    static harness_test entry = {#name, test_##name, seconds, by_name, NULL};            \
    harness_add(&entry);                                                                 \
  }                                                                                      \
  static void test_##name(void)

void harness_add(harness_test *entry);

/* ---- checks: each returns whether it held ---- */

#define CHECK(cond) harness_check(!!(cond), __FILE__, __LINE__, #cond)

/* With a message in the manner of printf, for what the condition does not show. */
#define CHECK_MSG(cond, ...)                                                             \
  harness_check_msg(!!(cond), __FILE__, __LINE__, #cond, __VA_ARGS__)

/* Compares numbers of any integer type by their mathematical value, or doubles, or
 * pointers, and prints both sides if they differ. */
#define CHECK_EQ(a, b)                                                                   \
  harness_check_eq(HARNESS_VALUE(a), HARNESS_VALUE(b), __FILE__, __LINE__, #a, #b)

#define CHECK_STR_EQ(a, b) harness_check_str_eq((a), (b), __FILE__, __LINE__, #a, #b)

/* Prints the condition and ends the program: for what the rest of a test stands on. */
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
} /* overloaded names are C++ */
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

/* The seed of the running test: from the seed of the run, printed at its start, and the
 * test's name. So a test sees the same seed whichever others run with it. */
uint64_t harness_seed(void);

/* The next number of the sequence that *state stands for; start from harness_seed(),
 * plus the thread's index where several draw. */
uint64_t harness_random(uint64_t *state);

/* ---- threads and processes ---- */

/* Runs fn(0, arg) to fn(count - 1, arg), each on a thread of its own. They leave a common
 * barrier together; the call returns when all have ended. */
void harness_run_threads(unsigned count, void (*fn)(unsigned index, void *arg),
                         void *arg);

/* The number of threads of this process that have not ended, without those of the harness
 * and of a sanitizer. A thread that was joined is never counted. */
unsigned harness_thread_count(void);

/* How much slower than usual this build runs: 1, or more with a sanitizer, valgrind or
 * delays.
 * Tests divide their amount of work by it. */
unsigned harness_slowdown(void);

/* Runs this same program with the given arguments (as in a shell, may start with
 * assignments to environment variables if env is not NULL) and keeps the first size - 1
 * bytes of what it prints. Returns its exit code, or 128 plus the signal that ended it.
 */
int harness_run_self(const char *env, const char *args, char *output, size_t size);

#ifdef __cplusplus
}
#endif

#endif
