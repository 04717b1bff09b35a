/* filehash.c - hashes a large file in parallel: WEFT_TRY_LOOP reads its blocks with
 * pread, which needs no shared position, and the hash of the file is the hash of the
 * hashes of its blocks. It does not depend on the number of threads.
 *
 *     cc -O2 -D_GNU_SOURCE filehash.c -o filehash $(pkg-config --cflags --libs weft)
 *     ./filehash [file [threads]]
 *
 * Without a file it hashes one of 32 MiB that it makes. Prints the hash and the times.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <weft.h>

enum { BLOCK = 64 * 1024 };

/* FNV by words of eight bytes: fast, and good enough to notice accidents. Against
 * forgery use BLAKE3 or SHA-256. */
static uint64_t hash_bytes(const unsigned char *bytes, size_t size) {
  uint64_t hash = 14695981039346656037u, word = 0;
  for (; size >= 8; bytes += 8, size -= 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  for (; size > 0; size--) hash = (hash ^ *bytes++) * 1099511628211u;
  return hash;
}

/* Reads a whole block; a read may return less than it was asked for. Returns the number
 * of bytes, or -1. */
static ssize_t read_block(int fd, unsigned char *to, size_t size, off_t at) {
  size_t have = 0;
  while (have < size) {
    ssize_t got = pread(fd, to + have, size - have, at + (off_t)have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    have += (size_t)got;
  }
  return (ssize_t)have;
}

/* int hash_blocks(size_t n, int fd, uint64_t *hashes): 0, or the error of the first block
 * that could not be read. Where reads take long, as from a network, put the read between
 * weft_blocking_begin() and weft_blocking_end(): then another thread computes meanwhile.
 */
WEFT_TRY_LOOP(hash_blocks, i, int, fd, uint64_t *, hashes) {
  unsigned char block[BLOCK];
  ssize_t size = read_block(fd, block, BLOCK, (off_t)i * BLOCK);
  if (size < 0) return errno;
  hashes[i] = hash_bytes(block, (size_t)size);
  return 0;
}

static int hash_serially(size_t n, int fd, uint64_t *hashes) {
  static unsigned char block[BLOCK];
  for (size_t i = 0; i < n; i++) {
    ssize_t size = read_block(fd, block, BLOCK, (off_t)i * BLOCK);
    if (size < 0) return errno;
    hashes[i] = hash_bytes(block, (size_t)size);
  }
  return 0;
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A file that is gone when it is closed. */
static FILE *invent(void) {
  FILE *file = tmpfile();
  for (uint64_t i = 0; file != NULL && i < 4 * 1024 * 1024; i++) {
    uint64_t word = i * 0x9e3779b97f4a7c15u;
    if (fwrite(&word, 8, 1, file) != 1) return NULL;
  }
  return file != NULL && fflush(file) == 0 ? file : NULL;
}

int main(int argc, char **argv) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (argc > 3 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: filehash [file [threads]]\n");
    return 2;
  }
  const char *name = argc > 1 ? argv[1] : "a file of its own";
  FILE *file = argc > 1 ? fopen(name, "rb") : invent();
  struct stat about;
  if (file == NULL || fstat(fileno(file), &about) != 0) return perror(name), 1;
  size_t n = ((size_t)about.st_size + BLOCK - 1) / BLOCK;
  uint64_t *hashes = malloc((n + 1) * 8), *expected = malloc((n + 1) * 8);
  if (hashes == NULL || expected == NULL) return perror("filehash"), 1;

  double start = now_ms();
  int error = hash_serially(n, fileno(file), expected);
  double middle = now_ms();
  if (error == 0) error = hash_blocks(n, fileno(file), hashes);
  double end = now_ms();
  if (error != 0) return fprintf(stderr, "%s: %s\n", name, strerror(error)), 1;

  uint64_t hash = hash_bytes((unsigned char *)hashes, n * 8);
  bool right = memcmp(hashes, expected, n * 8) == 0;
  printf("%016llx  %s\n", (unsigned long long)hash, name);
  printf("%lld bytes: serial %.1f ms, weft %.1f ms on %u threads: %s\n",
         (long long)about.st_size, middle - start, end - middle, weft_thread_count(),
         right ? "same" : "WRONG");
  fclose(file);
  free(hashes);
  free(expected);
  return right ? 0 : 1;
}
