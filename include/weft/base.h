/* weft/base.h - what every other public header needs: export marks, version, status
 * codes.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/* WEFT_API marks what the shared library exports; everything else is hidden. A plugin
 * that has weft compiled in can define it as nothing and compile with
 * -fvisibility=hidden, to keep its copy to itself. */
#if defined(WEFT_API)
#elif defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Status: set-up calls return 0 or one of these. Compute calls cannot fail and return
 * their result or nothing. The list is the one place where codes and texts are kept. */
#define WEFT_STATUS_LIST(ENTRY)                                                          \
  ENTRY(WEFT_EINVAL, -1, "invalid argument")                                             \
  ENTRY(WEFT_ENOMEM, -2, "out of memory")                                                \
  ENTRY(WEFT_EAGAIN, -3, "a system resource is temporarily exhausted")                   \
  ENTRY(WEFT_EBUSY, -4, "already running or in use")                                     \
  ENTRY(WEFT_ECANCELED, -5, "cancelled")                                                 \
  ENTRY(WEFT_EDEADLK, -6, "the call would wait for itself")

#define WEFT_STATUS_ENUM(name, value, text) name = value,
typedef enum weft_status { WEFT_OK = 0, WEFT_STATUS_LIST(WEFT_STATUS_ENUM) } weft_status;
#undef WEFT_STATUS_ENUM

/* Returns a short English sentence for a status; never NULL, also for unknown numbers.
 * The text is constant and may be kept. Any thread, no cost to speak of.
 *
 *     int status = weft_pool_create(&pool, NULL);
 *     if (status != 0) fprintf(stderr, "no pool: %s\n", weft_strerror(status)); */
WEFT_API const char *weft_strerror(int status);

/* Returns the version of the library that runs, "0.1.0"; the macros above give the
 * version of the header that was compiled. */
WEFT_API const char *weft_version(void);

/* Misuse that cannot be returned as an error, such as ending a scope twice, is told in
 * one sentence that starts with the name of the call, and ends the program.
 * weft_set_fatal_handler sets the function that is told; without one, or with NULL, the
 * sentence is written to standard error. The handler may write it elsewhere, or leave by
 * exit or longjmp (the pool concerned is then not to be used again); if it returns, the
 * program is aborted. It runs on the thread that made the mistake; set it before other
 * threads use weft. */
typedef void weft_fatal_fn(const char *message, void *ctx);
WEFT_API void weft_set_fatal_handler(weft_fatal_fn *fn, void *ctx);

/* What a task runs: a function and the one pointer it is given. */
typedef void weft_fn(void *ctx);

/* What a loop runs: the half-open range of indices [begin, end) and the pointer. */
typedef void weft_range_fn(size_t begin, size_t end, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
