/* sys/lines.h - reads small text files of the system line by line, into fixed buffers.
 *
 * Who calls: cgroup.c and topology.c, on Linux. A reader belongs to the thread that uses
 * it. Nothing is allocated.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_LINES_H
#define WF_SYS_LINES_H

#include <stdbool.h>
#include <stddef.h>

enum {
  WF_PATH_SIZE = 4096, /* the kernel's own limit for one path */
  /* Choices. Longer lines are skipped: those of interest have one or two paths, or a list
   * of CPUs, which the kernel limits to a page. Most files are read in one chunk. */
  WF_LINE_ROOM = 4096,
  WF_CHUNK_SIZE = 512
};

typedef struct wf_lines {
  int fd;
  size_t used, filled; /* chunk[used .. filled) is not consumed yet */
  char chunk[WF_CHUNK_SIZE];
  char line[WF_LINE_ROOM];
} wf_lines;

/* `path`, of WF_PATH_SIZE bytes, becomes first + second + third; false if it does not
 * fit. */
bool wf_path_join(char *path, const char *first, const char *second, const char *third);

/* False if the file cannot be opened; then there is nothing to close. */
bool wf_lines_open(wf_lines *reader, const char *path);
void wf_lines_close(wf_lines *reader);

/* Puts the next line that fits into reader->line, without its end ("\n" or "\r\n" or the
 * end of the file). Returns false when there is none left. */
bool wf_lines_next(wf_lines *reader);

#endif
