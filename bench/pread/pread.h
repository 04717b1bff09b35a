/* pread/pread.h - a loop over `pread`: a file that is in the system's cache, read and
 * added up in blocks of 64 KiB. Half of the time is the system's copy, none is waiting.
 *
 * SPDX-License-Identifier: MIT */
#ifndef BENCH_PREAD_PREAD_H
#define BENCH_PREAD_PREAD_H

#include "../common/bench.h"

enum { PREAD_BLOCK = 65536 };

#ifdef __cplusplus
extern "C" {
#endif

/* kernel.c: reads block i of the file and adds up its words. Ends the process if there is
 * less of it. */
uint64_t pread_block(int file, long i);

/* kernel.c: a file of n blocks that has no name; the sum of its words is *expected. */
int pread_make_file(long n, uint64_t *expected);

#ifdef __cplusplus
}
#endif

static int pread_file;

/* Arguments of every contestant: threads, blocks. */
BENCH_HELPER void pread_measure(const char *who, bench_work *loop, int argc,
                                char **argv) {
  long n = bench_arg(argc, argv, 2, 1024);
  uint64_t expected;
  pread_file = pread_make_file(n, &expected);
  bench_measure(who, loop, n, n, (long)expected);
  close(pread_file);
}

#endif
