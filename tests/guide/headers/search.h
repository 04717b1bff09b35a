/* What the examples of weft/search.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <weft.h>

struct user {
  const char *name;
  int greeted;
};
static struct user users[2] = {{"alan", 0}, {"ada", 0}};
static size_t n = 2;

static bool is_named(const void *elem, void *ctx) {
  return strcmp(((const struct user *)elem)->name, ctx) == 0;
}
static void greet(struct user *user) {
  user->greeted = 1;
}
#define AT_END assert(users[1].greeted)
