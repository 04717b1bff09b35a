/* cgroup.c - finds and reads the CPU quota of cgroup v1 and v2.
 *
 * Three kinds of files make the answer:
 *   /proc/self/mountinfo  where the hierarchies are mounted, and which group of the
 *                         hierarchy appears at the mount point (not "/" in containers)
 *   /proc/self/cgroup     the group of this process in each hierarchy
 *   cpu.max               the quota in v2: "150000 100000" or "max 100000"
 *   cpu.cfs_quota_us and cpu.cfs_period_us, the same in v1: -1 means none
 *
 * Machines may have v1 and v2 mounted at once, or one hierarchy at several places. Every
 * mount that shows an ancestor of our group shows a part of the same chain of limits, and
 * all limits of the chain hold together. So there is nothing to choose: all mounts are
 * walked from our group up to the mount point, and the smallest limit wins.
 *
 * All files are read into fixed buffers (lines.h); what does not fit is skipped.
 *
 * Who calls: cpu_count.c. Keeps no state; any thread.
 *
 * SPDX-License-Identifier: MIT */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* the one-file build wants the same in every file */
#endif

#include "cgroup.h"

#if defined(__linux__)

#include "lines.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- limits ---- */

/* What one walk over the mounts carries along. */
struct cgroup_search {
  const char *root;
  unsigned limit; /* the tightest so far; 0: none */
  wf_lines mounts, groups, values;
  char path[WF_PATH_SIZE];
};

/* Reads a positive decimal number that ends at a blank or at the end, and steps over it.
 * False for anything else: "max", "-1", 0, garbage, more than 64 bits. */
static bool number_read(const char **text, uint64_t *out) {
  const char *at = *text;
  while (*at == ' ' || *at == '\t') at++;
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (value > (UINT64_MAX - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (*at != '\0' && *at != ' ' && *at != '\t') return false;
  *text = at;
  *out = value;
  return value > 0;
}

static void limit_note(struct cgroup_search *search, uint64_t quota, uint64_t period) {
  uint64_t cpus = quota / period;
  if (cpus < 1) cpus = 1;
  if (cpus > UINT_MAX) cpus = UINT_MAX;
  if (search->limit == 0 || cpus < search->limit) search->limit = (unsigned)cpus;
}

/* Reads the first line of the file name in the folder search->path, which is left as it
 * was. Returns the line, or NULL. */
static const char *value_read(struct cgroup_search *search, const char *name) {
  const size_t folder = strlen(search->path);
  const size_t length = strlen(name);
  if (folder + length >= WF_PATH_SIZE) return NULL;
  memcpy(search->path + folder, name, length + 1);
  const bool opened = wf_lines_open(&search->values, search->path);
  search->path[folder] = '\0';
  if (!opened) return NULL;
  const bool found = wf_lines_next(&search->values);
  wf_lines_close(&search->values);
  return found ? search->values.line : NULL;
}

static bool value_read_number(struct cgroup_search *search, const char *name,
                              uint64_t *out) {
  const char *text = value_read(search, name);
  return text != NULL && number_read(&text, out);
}

/* Notes the quota of the group whose folder is search->path. */
static void limit_read(struct cgroup_search *search, bool v2) {
  uint64_t quota, period;
  if (v2) {
    const char *text = value_read(search, "/cpu.max");
    if (text == NULL || !number_read(&text, &quota)) return;
    if (!number_read(&text, &period)) return;
  } else {
    if (!value_read_number(search, "/cpu.cfs_quota_us", &quota)) return;
    if (!value_read_number(search, "/cpu.cfs_period_us", &period)) return;
  }
  limit_note(search, quota, period);
}

/* ---- groups and mounts ---- */

/* Is word one of the comma-separated words of the list, which ends at end? */
static bool list_has(const char *list, const char *end, const char *word) {
  const size_t length = strlen(word);
  while (list < end) {
    const char *comma = memchr(list, ',', (size_t)(end - list));
    const char *stop = comma != NULL ? comma : end;
    if ((size_t)(stop - list) == length && memcmp(list, word, length) == 0) return true;
    list = stop + 1;
  }
  return false;
}

/* If line, of /proc/self/cgroup, is the one of the hierarchy we look for, returns the
 * group's path in it, else NULL. The lines are "0::/path" in v2 and "4:cpu,cpuacct:/path"
 * in v1; the path may hold colons of its own. */
static const char *group_path(const char *line, bool v2) {
  const char *first = strchr(line, ':');
  const char *second = first != NULL ? strchr(first + 1, ':') : NULL;
  if (second == NULL || second[1] != '/') return NULL;
  const bool is_v2 = first - line == 1 && line[0] == '0' && second == first + 1;
  const bool wanted = v2 ? is_v2 : list_has(first + 1, second, "cpu");
  return wanted ? second + 1 : NULL;
}

/* Returns what follows after the folder in path: "" or "/rest". NULL if path is not in
 * it. */
static const char *path_below(const char *path, const char *folder) {
  size_t length = strlen(folder);
  while (length > 0 && folder[length - 1] == '/') length--;
  if (strncmp(path, folder, length) != 0) return NULL;
  if (path[length] != '\0' && path[length] != '/') return NULL;
  return path + length;
}

static bool path_climbs(const char *path) {
  for (const char *at = path; (at = strstr(at, "/..")) != NULL; at += 3) {
    if (at[3] == '\0' || at[3] == '/') return true;
  }
  return false;
}

/* Reads the limits from the group at path up to the mount point. mount_root is the group
 * that appears at the mount point; if ours is not below it, this mount says nothing about
 * us. Neither does a path that climbs: such is the path of a process that was moved out
 * of its cgroup namespace. */
static void limits_walk(struct cgroup_search *search, const char *mount_root,
                        const char *mount_point, const char *path, bool v2) {
  const char *below = path_below(path, mount_root);
  if (below == NULL || path_climbs(below)) return;
  if (!wf_path_join(search->path, search->root, mount_point, below)) return;
  const size_t top = strlen(search->root) + strlen(mount_point);
  for (;;) {
    limit_read(search, v2);
    size_t length = strlen(search->path);
    if (length <= top) return;
    while (length > top && search->path[length - 1] != '/') length--;
    while (length > top && search->path[length - 1] == '/') length--;
    search->path[length] = '\0';
  }
}

/* Reads the limits that hold for us in the hierarchy of one mount. */
static void mount_walk(struct cgroup_search *search, const char *mount_root,
                       const char *mount_point, bool v2) {
  if (!wf_path_join(search->path, search->root, "/proc/self/cgroup", "")) return;
  if (!wf_lines_open(&search->groups, search->path)) return;
  while (wf_lines_next(&search->groups)) {
    const char *path = group_path(search->groups.line, v2);
    if (path != NULL) limits_walk(search, mount_root, mount_point, path, v2);
  }
  wf_lines_close(&search->groups);
}

/* Cuts the next blank-separated field off the line and undoes the kernel's escapes in it:
 * blanks, tabs, newlines and backslashes are written as three octal digits. Returns the
 * field, "" past the end. */
static char *field_cut(char **line) {
  char *field = *line;
  char *to = field;
  const char *from = field;
  while (*from != '\0' && *from != ' ') {
    if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
        from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
      *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
      from += 4;
    } else {
      *to++ = *from++;
    }
  }
  *line += from - field;
  if (**line == ' ') (*line)++;
  *to = '\0';
  return field;
}

/* Takes a line of /proc/self/mountinfo apart:
 *   36 35 98:0 ROOT POINT options [more ...] - TYPE source OPTIONS
 * and walks the mount if it is a cgroup hierarchy that can hold CPU quotas. */
static void mount_read(struct cgroup_search *search, char *line) {
  for (int i = 0; i < 3; i++) field_cut(&line);
  char *mount_root = field_cut(&line);
  char *mount_point = field_cut(&line);
  const char *field;
  do {
    field = field_cut(&line);
    if (field[0] == '\0') return;
  } while (strcmp(field, "-") != 0);
  const char *type = field_cut(&line);
  field_cut(&line);
  const char *options = field_cut(&line);
  if (mount_root[0] != '/' || mount_point[0] != '/') return;
  if (strcmp(type, "cgroup2") == 0) {
    mount_walk(search, mount_root, mount_point, true);
  } else if (strcmp(type, "cgroup") == 0 &&
             list_has(options, options + strlen(options), "cpu")) {
    mount_walk(search, mount_root, mount_point, false);
  }
}

unsigned wf_cgroup_cpu_limit(const char *root) {
  struct cgroup_search search;
  search.root = root;
  search.limit = 0;
  if (!wf_path_join(search.path, root, "/proc/self/mountinfo", "")) return 0;
  if (!wf_lines_open(&search.mounts, search.path)) return 0;
  while (wf_lines_next(&search.mounts)) mount_read(&search, search.mounts.line);
  wf_lines_close(&search.mounts);
  return search.limit;
}

#else

unsigned wf_cgroup_cpu_limit(const char *root) {
  (void)root;
  return 0;
}

#endif
