/* What the examples of weft/join.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <weft.h>

static int input, tables, server;
static void parse(void *ctx) {
  ++*(int *)ctx;
}
static void load(void *ctx) {
  ++*(int *)ctx;
}
static void connect(void *ctx) {
  ++*(int *)ctx;
}
#define AT_END assert(input == 2 && tables == 2 && server == 2)
