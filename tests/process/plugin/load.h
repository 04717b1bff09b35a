/* load.h - loading and unloading the plugins.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PROCESS_LOAD_H
#define TESTS_PROCESS_LOAD_H

#include "harness/harness.h"
#include "plugin.h"

#include <dlfcn.h>
#include <stdio.h>

/* One is linked against the shared libweft, which is loaded with it; the other has a copy
 * of weft inside. The build says where they are. */
static const char *const plugin_paths[] = {PLUGIN_SHARED, PLUGIN_ONEFILE};

enum { WITH_LIBWEFT, WITH_COPY, PLUGIN_KINDS };

typedef struct loaded {
  void *library;
  const plugin *calls;
} loaded;

static inline loaded load_plugin(unsigned kind) {
  loaded l = {dlopen(plugin_paths[kind], RTLD_NOW | RTLD_LOCAL), NULL};
  if (l.library == NULL) fprintf(stderr, "%s\n", dlerror());
  REQUIRE(l.library != NULL);
  l.calls = dlsym(l.library, PLUGIN_SYMBOL);
  REQUIRE(l.calls != NULL);
  return l;
}

static inline void unload_plugin(loaded *l) {
  CHECK_EQ(dlclose(l->library), 0);
  l->calls = NULL;
}

/* Is it still there, though nobody has it open? */
static inline bool plugin_is_there(unsigned kind) {
  void *library = dlopen(plugin_paths[kind], RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) return false;
  dlclose(library);
  return true;
}

#endif
