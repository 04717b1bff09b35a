/* walk.c - walks a folder and all folders below it: a scope, and a task for each folder
 * that spawns further ones into it. Each thread counts in a slot of its own (weft_local),
 * and the first error cancels the scope.
 *
 *     cc -O2 -D_GNU_SOURCE walk.c -o walk $(pkg-config --cflags --libs weft)
 *     ./walk [folder [threads]]
 *
 * Prints how many files and folders there are, and their bytes.
 *
 * SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <weft.h>

typedef struct totals {
  size_t files, folders, bytes;
} totals;

static weft_local *counts; /* a `totals` for each thread */

static void walk(void *ctx);

/* Counts a file, or spawns a task for a folder, with a copy of its path. */
static int visit(const char *path) {
  struct stat about;
  if (lstat(path, &about) != 0) return errno == ENOENT ? 0 : errno;
  if (S_ISDIR(about.st_mode))
    weft_spawn_copy(weft_scope_current(), path, strlen(path) + 1, walk);
  totals *mine = weft_local_get(counts); /* after the spawn: nothing of weft follows */
  if (mine == NULL) return ENOMEM;
  mine->folders += S_ISDIR(about.st_mode);
  mine->files += S_ISREG(about.st_mode);
  mine->bytes += S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
  return 0;
}

/* A task: one folder. While it waits for the disk, another thread stands in for it. */
static void walk(void *ctx) {
  const char *path = ctx;
  char below[PATH_MAX];
  weft_blocking_begin();
  DIR *dir = opendir(path);
  int error = dir == NULL && errno != EACCES && errno != ENOENT ? errno : 0;
  for (struct dirent *entry; dir != NULL && error == 0 && (entry = readdir(dir));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    int length = snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
    error = length < (int)sizeof below ? visit(below) : ENAMETOOLONG;
    if (weft_scope_cancelled(weft_scope_current())) break;
  }
  if (dir != NULL) closedir(dir);
  weft_blocking_end();
  if (error != 0) weft_scope_cancel(weft_scope_current(), error);
}

static void add(void *slot, void *ctx) {
  totals *sum = ctx, *part = slot;
  sum->files += part->files;
  sum->folders += part->folders;
  sum->bytes += part->bytes;
}

static int walk_all(const char *path, totals *sum) {
  if (weft_local_create(&counts, sizeof(totals), NULL, NULL) != 0) return ENOMEM;
  weft_scope scope;
  weft_scope_begin(&scope);
  int error = visit(path);
  if (error != 0) weft_scope_cancel(&scope, error);
  error = weft_scope_end(&scope); /* all folders were walked */
  weft_local_each(counts, add, sum);
  weft_local_destroy(counts);
  return error;
}

/* ---- the program around it: the same with nftw ---- */

static totals serial;

static int count_serially(const char *path, const struct stat *about, int type,
                          struct FTW *where) {
  (void)path, (void)where;
  serial.folders += type == FTW_D || type == FTW_DNR;
  serial.files += type == FTW_F && S_ISREG(about->st_mode);
  serial.bytes += type == FTW_F && S_ISREG(about->st_mode) ? (size_t)about->st_size : 0;
  return 0;
}

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int main(int argc, char **argv) {
  const char *path = argc > 1 ? argv[1] : ".";
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (argc > 3 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: walk [folder [threads]]\n");
    return 2;
  }
  totals sum = {0, 0, 0};
  double start = now_ms();
  if (nftw(path, count_serially, 20, FTW_PHYS) != 0) return perror(path), 1;
  double middle = now_ms();
  int error = walk_all(path, &sum);
  double end = now_ms();
  if (error != 0) return fprintf(stderr, "%s: %s\n", path, strerror(error)), 1;

  bool right = memcmp(&sum, &serial, sizeof sum) == 0;
  printf("%zu files, %zu folders, %zu bytes: serial %.1f ms, weft %.1f ms on %u threads: "
         "%s\n",
         sum.files, sum.folders, sum.bytes, middle - start, end - middle,
         weft_thread_count(), right ? "same" : "DIFFERENT (did the folder change?)");
  return right ? 0 : 1;
}
