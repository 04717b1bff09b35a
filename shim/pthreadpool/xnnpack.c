/* xnnpack.c - runs operators of XNNPACK on libweft-pthreadpool and compares the results
 * with plain loops. tools/check-pthreadpool builds it where XNNPACK is installed.
 *
 * The library of the shim is linked before XNNPACK, which brings pthreadpool along; the
 * dynamic linker then binds XNNPACK to the shim.
 *
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <math.h>
#include <pthreadpool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xnnpack.h>

#define BATCH 61
#define IN    96
#define OUT   130

static float input[BATCH * IN], kernel[OUT * IN], bias[OUT];
static float expected[BATCH * OUT], got[BATCH * OUT];

static void must(int condition, const char *what) {
  if (condition) return;
  printf("xnnpack: failed: %s\n", what);
  exit(1);
}

static void fill(float *a, size_t n) {
  static unsigned state = 1;
  for (size_t i = 0; i < n; i++) {
    state = state * 1103515245U + 12345U;
    a[i] = (float)(state >> 16 & 1023) / 1024.0F - 0.5F;
  }
}

static void compare(const char *what) {
  for (size_t i = 0; i < BATCH * OUT; i++) {
    must(fabsf(got[i] - expected[i]) < 1e-3F, what);
  }
  memset(got, 0, sizeof got);
}

/* A layer: expected = input * kernel^T + bias. */
static void fully_connected(pthreadpool_t pool) {
  xnn_operator_t op = NULL;
  must(xnn_create_fully_connected_nc_f32(IN, OUT, IN, OUT, kernel, bias, -INFINITY,
                                         INFINITY, 0, &op) == xnn_status_success,
       "create a layer");
  for (int i = 0; i < 50; i++) {
    must(xnn_setup_fully_connected_nc_f32(op, BATCH, input, got, pool) ==
             xnn_status_success,
         "set up a layer");
    must(xnn_run_operator(op, pool) == xnn_status_success, "run a layer");
    compare("the result of a layer");
  }
  (void)xnn_delete_operator(op);
}

int main(void) {
  Dl_info info;
  must(dladdr((void *)(size_t)pthreadpool_parallelize_2d_tile_2d, &info) != 0 &&
           strstr(info.dli_fname, "libweft-pthreadpool") != NULL,
       "the program is bound to libweft-pthreadpool");
  void *xnnpack = dlopen("libXNNPACK.so.0", RTLD_NOW | RTLD_NOLOAD);
  must(xnnpack != NULL, "XNNPACK is loaded");

  fill(input, BATCH * IN);
  fill(kernel, OUT * IN);
  fill(bias, OUT);
  for (size_t b = 0; b < BATCH; b++) {
    for (size_t o = 0; o < OUT; o++) {
      double sum = bias[o];
      for (size_t i = 0; i < IN; i++)
        sum += (double)input[b * IN + i] * kernel[o * IN + i];
      expected[b * OUT + o] = (float)sum;
    }
  }
  must(xnn_initialize(NULL) == xnn_status_success, "initialise XNNPACK");
  for (size_t threads = 1; threads <= 4; threads++) {
    pthreadpool_t pool = pthreadpool_create(threads);
    must(pool != NULL, "create a pool");
    fully_connected(pool);
    pthreadpool_destroy(pool);
  }
  fully_connected(NULL);
  (void)xnn_deinitialize();
  printf("xnnpack: layers on 1 to 4 threads of weft are right\n");
  return 0;
}
