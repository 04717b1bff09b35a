/* misuse/rows.h - each public function of C with each of its arguments wrong, in turn:
 * the program ends with a message that names the call, or the call has the documented
 * result. The rows are made from the headers by tests/misuse/generate, so a new function
 * has its rows at once; values.txt says what is wrong with a parameter and what happens
 * then.
 *
 * A row is a process: it may crash or hang where it should not. Environment:
 * MISUSE_SHOW=1 prints all that differs and not only the first twenty.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_MISUSE_ROWS_H
#define TESTS_MISUSE_ROWS_H

#include "misuse/run.h"

/* ---- the rows ---- */

#define ROW_DIES(number, shown, base, text, ...)                                         \
  static bool row_##number(void) {                                                       \
    (void)(__VA_ARGS__);                                                                 \
    return true;                                                                         \
  }
#define ROW_WORKS(number, shown, base, ...)                                              \
  ROW_DIES(number, shown, base, NULL, __VA_ARGS__)
#define ROW_GIVES(number, shown, base, ...)                                              \
  static bool row_##number(void) {                                                       \
    return __VA_ARGS__;                                                                  \
  }
#include "misuse_rows.h"
#undef ROW_DIES
#undef ROW_WORKS
#undef ROW_GIVES

static const row ROWS[] = {
#define ROW_DIES(number, shown, base, text, ...) {shown, base, text, row_##number},
#define ROW_WORKS(number, shown, base, ...)      {shown, base, NULL, row_##number},
#define ROW_GIVES(number, shown, base, ...)      {shown, base, NULL, row_##number},
#include "misuse_rows.h"
};

enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

static void check_rows(place where, size_t first, size_t step) {
  check_table(ROWS, ROW_COUNT, where, first, step);
}

#endif
