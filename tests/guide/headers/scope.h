/* What the examples of weft/scope.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdatomic.h>
#include <weft.h>

static int files = 10, file[10];
static void parse(void *ctx) {
  ++*(int *)ctx;
}

struct node {
  struct node *first, *next;
  weft_scope *scope;
};
static void work(struct node *node) {
  (void)node;
}

struct tile {
  int x, y;
  void *image;
};
static int x, y;
static void *image;
static atomic_int rendered;
static void render(void *ctx) {
  (void)ctx;
  atomic_fetch_add(&rendered, 1);
}

static weft_scope scope;
static void in_scope(int (*example)(void)) {
  weft_scope_begin(&scope);
  example();
  weft_scope_end(&scope);
}
#define RUN_weft_spawn_copy_1 in_scope
#define AT_END                assert(file[9] == 1 && atomic_load(&rendered) == 1)
