/* What the examples of weft/task.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>

static int level;
static void load(void *ctx) {
  *(int *)ctx = 1;
}
static void show_progress(void) {}
static void use(int result) {
  assert(result == 1);
}
static void recompute_all(void *ctx) {
  (void)ctx;
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

struct page {
  int read, indexed;
};
static struct page *page = &(struct page){0, 0};
static void read_page(void *ctx) {
  ((struct page *)ctx)->read = 1;
}
static void index_page(void *ctx) {
  ((struct page *)ctx)->indexed = ((struct page *)ctx)->read;
}

static void with_handle(int (*example)(weft_handle *)) {
  weft_handle *made = NULL;
  int done = 0;
  assert(weft_async(&made, load, &done) == 0);
  example(made);
  assert(done == 1);
}
#define PARAMETERS_weft_handle_wait_for_1 weft_handle *handle
#define RUN_weft_handle_wait_for_1        with_handle

static void with_handles(int (*example)(weft_handle **, int *, size_t)) {
  weft_handle *made[5];
  int results[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < 5; i++) assert(weft_async(&made[i], load, &results[i]) == 0);
  example(made, results, 5);
}
#define PARAMETERS_weft_handle_wait_any_1 weft_handle **handles, int *results, size_t n
#define RUN_weft_handle_wait_any_1        with_handles

static weft_handle *handle;
static char buffer[10];
static size_t size = sizeof buffer;

static void with_file(int (*example)(FILE *)) {
  FILE *made = tmpfile();
  assert(made != NULL);
  example(made);
  fclose(made);
}
#define PARAMETERS_weft_blocking_begin_1 FILE *file
#define RUN_weft_blocking_begin_1        with_file

static void at_end(void) {
  weft_pool_wait_idle(NULL);
  assert(level == 1 && page->indexed == 1);
}
#define AT_END at_end()
