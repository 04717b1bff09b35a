/* fixture.h - a folder that looks like /proc and /sys of another machine.
 *
 * The including file defines _GNU_SOURCE first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_SYS_FIXTURE_H
#define TESTS_SYS_FIXTURE_H

#include "harness/harness.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static inline void fixture_begin(void) {
  strcpy(root, "/tmp/weft-test-XXXXXX");
  REQUIRE(mkdtemp(root) != NULL);
}

static inline int remove_entry(const char *path, const struct stat *info, int flag,
                               struct FTW *at) {
  (void)info, (void)flag, (void)at;
  return remove(path);
}

static inline void fixture_end(void) {
  CHECK_EQ(nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* Returns root + path, after making the folders above it. */
static inline const char *fixture_path(const char *path) {
  static char full[8192];
  REQUIRE(strlen(root) + strlen(path) < sizeof full);
  strcpy(full, root);
  strcat(full, path);
  for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; at++) {
    *at = '\0';
    mkdir(full, 0755);
    *at = '/';
  }
  return full;
}

static inline void put_bytes(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(fixture_path(path), "wb");
  REQUIRE(file != NULL);
  REQUIRE(fwrite(bytes, 1, size, file) == size);
  REQUIRE(fclose(file) == 0);
}

static inline void put(const char *path, const char *text) {
  put_bytes(path, text, strlen(text));
}

#endif
