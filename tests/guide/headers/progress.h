/* What the examples of weft/progress.h use; see tools/check-examples.
 *
 * SPDX-License-Identifier: MIT */
// skip: top 3: a line on a terminal
#include <assert.h>
#include <weft.h>

static size_t rows = 100, files = 10;
static uint64_t bytes = 1000;
static struct scene { int drawn[100]; } scene;

static void render_rows(size_t begin, size_t end, void *ctx) {
  for (size_t r = begin; r < end; r++) ((struct scene *)ctx)->drawn[r] = 1;
}

static int job;
static void read_files(size_t begin, size_t end, void *ctx) {
  (void)begin, (void)end, (void)ctx;
}

#define AT_END assert(scene.drawn[99] == 1)
