/* plugin_smooth.c - a plugin that uses weft; see plugin.c for how it is built and loaded.
 *
 * It has a pool of its own instead of the global one: two plugins of the same program
 * then do not have to agree on a size, and ending one does not disturb the other.
 *
 * SPDX-License-Identifier: MIT */
#include "plugin.h"

#include <weft.h>

static weft_pool *pool;

/* void smooth_with(const weft_opts *, size_t n, double *to, const double *from, ...). */
WEFT_LOOP(smooth, i, double *, to, const double *, from, size_t, n) {
  double left = from[i > 0 ? i - 1 : 0], right = from[i + 1 < n ? i + 1 : n - 1];
  to[i] = (left + 2 * from[i] + right) / 4;
}

static int start(void) {
  weft_config config = WEFT_CONFIG_INIT;
  config.name = "smooth"; /* its threads are smooth-1, smooth-2 ... */
  return weft_pool_create(&pool, &config);
}

static void run(double *to, const double *from, size_t n) {
  weft_opts o = WEFT_OPTS_INIT;
  o.pool = pool;
  smooth_with(&o, n, to, from, n);
}

static const char *describe(void) {
  return "smooth: three neighbours, on a pool of its own";
}

/* Joins the threads of the pool, so that none is inside code that is unloaded. */
static void stop(void) {
  weft_pool_destroy(pool);
}

extern const plugin example_plugin;
const plugin example_plugin = {PLUGIN_VERSION, start, run, describe, stop};
