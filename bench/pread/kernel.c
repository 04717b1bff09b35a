/* pread/kernel.c - the file and its blocks, shared by all contestants.
 *
 * SPDX-License-Identifier: MIT */
#include "pread.h"

enum { WORDS = PREAD_BLOCK / sizeof(uint64_t) };

uint64_t pread_block(int file, long i) {
  uint64_t words[WORDS], sum = 0;
  if (pread(file, words, sizeof words, (off_t)i * PREAD_BLOCK) != PREAD_BLOCK) {
    perror("bench: pread");
    exit(2);
  }
  for (int w = 0; w < WORDS; w++) sum += words[w];
  return sum;
}

int pread_make_file(long n, uint64_t *expected) {
  char path[4096];
  const char *folder = getenv("TMPDIR");
  snprintf(path, sizeof path, "%s/weft-bench-XXXXXX", folder != NULL ? folder : "/tmp");
  int file = mkstemp(path);
  if (file < 0 || unlink(path) != 0) {
    perror(path);
    exit(2);
  }
  *expected = 0;
  for (long i = 0; i < n; i++) {
    uint64_t words[WORDS];
    for (int w = 0; w < WORDS; w++)
      *expected += words[w] = bench_mix((uint64_t)(i * WORDS + w));
    if (write(file, words, sizeof words) != PREAD_BLOCK) {
      perror(path);
      exit(2);
    }
  }
  return file;
}
