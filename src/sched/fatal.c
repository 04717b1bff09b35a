/* sched/fatal.c - telling of misuse.
 *
 * SPDX-License-Identifier: MIT */
#include "pool.h"

#include <stdio.h>
#include <stdlib.h>

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
