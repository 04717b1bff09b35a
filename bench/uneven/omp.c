/* uneven/omp.c - P6: OpenMP with every schedule that one might choose by hand; built once
 * by gcc (libgomp) and once by clang (libomp). Each schedule is a contestant. They are
 * fixed when the loop is compiled, as a programmer would write them: schedule(runtime)
 * is a little slower.
 *
 * Usage: uneven_omp_gcc|uneven_omp_clang triangular|mandelbrot|pareto|heavy threads
 *        schedule
 *
 * SPDX-License-Identifier: MIT */
#include "uneven.h"

static int threads;

#define PRAGMA(text) _Pragma(#text)
#define LOOP(name, ...)                                                                  \
  static void name(uneven_body *body, uint64_t *out, size_t n) {                         \
    PRAGMA(omp parallel for num_threads(threads) schedule(__VA_ARGS__))                  \
    for (size_t i = 0; i < n; i++) out[i] += body(i);                                    \
  }

LOOP(static_blocks, static)
LOOP(static_1, static, 1)
LOOP(static_16, static, 16)
LOOP(dynamic_1, dynamic, 1)
LOOP(dynamic_4, dynamic, 4)
LOOP(dynamic_16, dynamic, 16)
LOOP(dynamic_64, dynamic, 64)
LOOP(dynamic_256, dynamic, 256)
LOOP(dynamic_1024, dynamic, 1024)
LOOP(dynamic_4096, dynamic, 4096)
LOOP(guided_1, guided)
LOOP(guided_64, guided, 64)

int main(int argc, char **argv) {
  static const char *const schedules[] = {"static",       "static-1",    "static-16",
                                          "dynamic-1",    "dynamic-4",   "dynamic-16",
                                          "dynamic-64",   "dynamic-256", "dynamic-1024",
                                          "dynamic-4096", "guided",      "guided-64"};
  static uneven_loop *const loops[] = {
      static_blocks, static_1,    static_16,    dynamic_1,    dynamic_4, dynamic_16,
      dynamic_64,    dynamic_256, dynamic_1024, dynamic_4096, guided_1,  guided_64};
#ifdef __clang__
  const char *compiler = "omp-clang";
#else
  const char *compiler = "omp-gcc";
#endif
  int which = bench_choose(argc, argv, 3, schedules, 12);
  char who[64];
  snprintf(who, sizeof who, "%s-%s", compiler, schedules[which]);
  threads = (int)bench_arg(argc, argv, 2, 2);
  uneven_measure(who, loops[which], argc, argv);
  return 0;
}
