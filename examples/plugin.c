/* plugin.c - a program that loads plugins with dlopen; the plugins use weft, the program
 * does not. It can unload them at any time: weft ends its threads before its code goes.
 *
 *     cc -O2 plugin.c -o plugin -ldl
 *     cc -O2 -shared -fPIC plugin_smooth.c -o plugin_smooth.so \
 *       $(pkg-config --cflags --libs weft)
 *     ./plugin [./plugin_smooth.so [numbers]]
 *
 * Loads the plugin, lets it smooth an array, compares that with a serial loop, unloads
 * it, and does all of it again. Prints what the plugin says about itself.
 *
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

static void smooth_serially(double *to, const double *from, size_t n) {
  for (size_t i = 0; i < n; i++) {
    double left = from[i > 0 ? i - 1 : 0], right = from[i + 1 < n ? i + 1 : n - 1];
    to[i] = (left + 2 * from[i] + right) / 4;
  }
}

/* Loads the plugin, uses it once and unloads it. */
static bool use_plugin(const char *name, double *to, const double *from, size_t n) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const plugin *p = library != NULL ? dlsym(library, "example_plugin") : NULL;
  if (p == NULL) {
    fprintf(stderr, "plugin: %s\n", dlerror());
    return false;
  }
  bool right = p->version == PLUGIN_VERSION && p->start() == 0;
  if (right) {
    p->run(to, from, n);
    printf("%s\n", p->describe());
    p->stop();
  }
  return dlclose(library) == 0 && right;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "./plugin_smooth.so";
  size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000000;
  if (n == 0 || n > 100000000) {
    fprintf(stderr, "usage: plugin [library [numbers up to 10^8]]\n");
    return 2;
  }
  double *from = malloc(n * sizeof *from), *to = malloc(n * sizeof *to),
         *expected = malloc(n * sizeof *expected);
  if (from == NULL || to == NULL || expected == NULL) return perror("plugin"), 1;
  for (size_t i = 0; i < n; i++) from[i] = (double)(i * 7919 % 1000);
  smooth_serially(expected, from, n);

  bool right = true;
  for (int round = 0; right && round < 3; round++) {
    memset(to, 0, n * sizeof *to);
    right = use_plugin(name, to, from, n) && memcmp(to, expected, n * sizeof *to) == 0;
  }
  printf("%zu numbers, loaded and unloaded 3 times: %s\n", n, right ? "same" : "WRONG");
  free(from);
  free(to);
  free(expected);
  return right ? 0 : 1;
}
