/* weft/base.h - what every other public header needs: export marks, version, status
 * codes, reports of misuse.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft/fn.h>

/* The version of this header; weft_version gives that of the library that runs. */
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0

/* Marks what the shared library exports; everything else is hidden. A plugin that has
 * weft compiled in can define WEFT_API as nothing and compile with -fvisibility=hidden:
 * then its copy stays private. */
#if defined(WEFT_API)
#elif defined(_WIN32) && defined(WEFT_DLL_EXPORT) /* while the DLL is compiled */
#define WEFT_API __attribute__((dllexport))
#elif defined(_WIN32) && defined(WEFT_DLL) /* for programs that link with the DLL */
#define WEFT_API __attribute__((dllimport))
#elif defined(_WIN32)
#define WEFT_API
#elif defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

/* For code that is C and C++ at once: a conversion that C++ writes as static_cast, and
 * the marks around inline functions that convert in the way of C, for users who compile
 * C++ with -Wold-style-cast. (g++ does not warn inside extern "C".) Not API. */
#ifdef __cplusplus
#define WF_CAST(T, x) static_cast<T>(x)
#else
#define WF_CAST(T, x) ((T)(x))
#endif
#if defined(__cplusplus) && defined(__clang__)
#define WF_C_BEGIN                                                                       \
  _Pragma("clang diagnostic push")                                                       \
      _Pragma("clang diagnostic ignored \"-Wold-style-cast\"")
#define WF_C_END _Pragma("clang diagnostic pop")
#else
#define WF_C_BEGIN
#define WF_C_END
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What all calls of this header share.
 *
 * Serial: none: they compute nothing, unless the call says otherwise. Threads: any,
 * unless the call says otherwise. Errors: none, unless the call says otherwise. Cost: a
 * few instructions, unless the call says otherwise. */

/* All status codes with their texts. Calls that set something up return 0 or one of
 * these. Calls that compute cannot fail; they return their result or nothing. Codes and
 * texts are kept in this list only. */
#define WEFT_STATUS_LIST(ENTRY)                                                          \
  ENTRY(WEFT_EINVAL, -1, "invalid argument")                                             \
  ENTRY(WEFT_ENOMEM, -2, "out of memory")                                                \
  ENTRY(WEFT_EAGAIN, -3, "a system resource is temporarily exhausted")                   \
  ENTRY(WEFT_EBUSY, -4, "already running or in use")                                     \
  ENTRY(WEFT_ECANCELED, -5, "cancelled")                                                 \
  ENTRY(WEFT_EDEADLK, -6, "the call would wait for itself")                              \
  ENTRY(WEFT_EIO, -8, "a file cannot be written")

/* The status codes, as an enum: WEFT_OK is success, errors are negative. */
#define WEFT_STATUS_ENUM(name, value, text) name = value,
typedef enum weft_status { WEFT_OK = 0, WEFT_STATUS_LIST(WEFT_STATUS_ENUM) } weft_status;
#undef WEFT_STATUS_ENUM

/* Returns a short English text for a status; never NULL, also for unknown numbers. The
 * text is constant and may be kept.
 *
 * Threads: any. Cost: a table lookup.
 *
 *     int status = weft_pool_create(&pool, NULL);
 *     if (status != 0) fprintf(stderr, "no pool: %s\n", weft_strerror(status));
 *
 * Errors: none; the text for an unknown number says so. */
WEFT_API const char *weft_strerror(int status);

/* Returns the version of the library that runs, such as "0.1.0". The macros above give
 * the version of the header that was compiled. Threads: any. */
WEFT_API const char *weft_version(void);

/* Sets the function that gets the message about misuse.
 *
 * Misuse that cannot be returned as an error, such as ending a scope twice, ends the
 * program with one sentence that starts with the name of the call. Without a handler, or
 * with NULL, that sentence goes to standard error. A handler may write it elsewhere, or
 * leave by exit or longjmp; after a longjmp do not use that pool again. If the handler
 * returns, the program is aborted. A handler that makes a mistake itself is called again,
 * without end.
 *
 * Threads: the handler runs on the thread that made the mistake. Set it before other
 * threads use weft. */
typedef void weft_fatal_fn(const char *message, void *ctx);
WEFT_API void weft_set_fatal_handler(weft_fatal_fn *fn, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
