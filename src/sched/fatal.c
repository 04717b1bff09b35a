/* sched/fatal.c - what the library says about errors: status codes, misuse, its version.
 *
 * Errors that a caller can handle are negative status codes from one table (weft/base.h).
 * Misuse that is cheap to see ends the program with a message, through the handler that
 * the program has set. Any thread; the handler is set before threads use the library.
 *
 * SPDX-License-Identifier: MIT */
#include "sched.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- version and status codes ---- */

#define TEXT_OF(number)          TEXT_OF_EXPANDED(number)
#define TEXT_OF_EXPANDED(number) #number

const char *weft_version(void) {
  return TEXT_OF(WEFT_VERSION_MAJOR) "." TEXT_OF(WEFT_VERSION_MINOR) "." TEXT_OF(
      WEFT_VERSION_PATCH);
}

const char *weft_strerror(int status) {
  switch (status) {
#define STATUS_CASE(name, value, text)                                                   \
  case name:                                                                             \
    return text;
    WEFT_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  case WEFT_OK:
    return "success";
  default:
    return "unknown status";
  }
}

/* ---- misuse ---- */

static weft_fatal_fn *fatal_handler;
static void *fatal_ctx;

void weft_set_fatal_handler(weft_fatal_fn *fn, void *ctx) {
  fatal_handler = fn;
  fatal_ctx = ctx;
}

_Noreturn void wf_fatal(const char *call, const char *problem) {
  char message[256];
  (void)snprintf(message, sizeof message, "%s: %s", call, problem);
  if (fatal_handler != NULL)
    fatal_handler(message, fatal_ctx);
  else
    (void)fprintf(stderr, "weft: %s\n", message);
  abort();
}
