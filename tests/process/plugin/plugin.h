/* plugin.h - what the plugin of these tests offers: uses of the copy of weft that it is
 * linked with. Knows nothing of weft, so that a program without weft can load it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_PLUGIN_H
#define TESTS_PROCESS_PLUGIN_H

#include <stdint.h>

typedef void plugin_fn(void *ctx);

typedef struct plugin {
  /* A tree of joins; returns its leaves, 2 to the power of depth. */
  uint64_t (*tree)(unsigned depth);
  /* Runs a scope with this number of tasks. Returns how many have run. */
  unsigned long (*scope)(unsigned tasks);
  /* weft calls, with the program's functions. */
  void (*join)(plugin_fn *a, void *a_ctx, plugin_fn *b, void *b_ctx);
  void (*spawn_all)(unsigned count, plugin_fn *fn, void *ctx); /* a scope of that many */
  int (*detach)(plugin_fn *fn, void *ctx);
  int (*init)(unsigned threads);
  void (*shutdown)(void);
  int (*worker_index)(void);
  unsigned (*thread_count)(void);
  const void *(*pool)(void); /* the current one */
  /* Detaches a function of the plugin itself that never returns. */
  int (*detach_endless)(void);
} plugin;

/* The one symbol that the plugin exports. Data, because C has no conversion from what
 * dlsym returns to a pointer to a function. */
#define PLUGIN_SYMBOL "weft_test_plugin"
extern const plugin weft_test_plugin;

#endif
