/* plugin.h - what plugin.c and its plugins agree on: a plugin exports a variable
 * `const plugin example_plugin`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXAMPLE_PLUGIN_H
#define EXAMPLE_PLUGIN_H

#include <stddef.h>

enum { PLUGIN_VERSION = 1 };

typedef struct plugin {
  int version;        /* PLUGIN_VERSION */
  int (*start)(void); /* before everything else: 0, or an error */
  void (*run)(double *to, const double *from, size_t n);
  const char *(*describe)(void);
  void (*stop)(void); /* after everything else: the library may then be unloaded */
} plugin;

#endif
