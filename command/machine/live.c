/* machine/live.c - reads the statistics of a running program; see live.h.
 *
 * SPDX-License-Identifier: MIT */
#include "live.h"

#include "../base/json.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- JSON ---- */

static const struct {
  const char *key;
  size_t offset;
} WORKER_NUMBERS[] = {
#define NUMBER(name)                                                                     \
  { #name, offsetof(live_worker, name) }
    NUMBER(queue),      NUMBER(tasks),        NUMBER(steals),    NUMBER(failed_steals),
    NUMBER(exposes),    NUMBER(takeovers),    NUMBER(sleeps),    NUMBER(wakes),
    NUMBER(futile),     NUMBER(misplaced),    NUMBER(steered),   NUMBER(deepest),
    NUMBER(working_ns), NUMBER(searching_ns), NUMBER(asleep_ns),
#undef NUMBER
};

static void set_worker_number(live_worker *w, const char *key, double value) {
  if (strcmp(key, "worker") == 0) w->worker = (int)value;
  for (size_t i = 0; i < sizeof WORKER_NUMBERS / sizeof WORKER_NUMBERS[0]; i++)
    if (strcmp(key, WORKER_NUMBERS[i].key) == 0)
      memcpy((char *)w + WORKER_NUMBERS[i].offset, &value, sizeof value);
}

static bool read_worker(json_reader *r, live_worker *w) {
  char key[32];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_NUMBER)
      set_worker_number(w, key, r->number);
    else if (token == JSON_STRING && strcmp(key, "role") == 0)
      json_copy_text(w->role, sizeof w->role, r);
    else if (token == JSON_STRING && strcmp(key, "state") == 0)
      json_copy_text(w->state, sizeof w->state, r);
    else if (!json_skip(r, token))
      return false;
  }
  return true;
}

static bool read_workers(json_reader *r, live *l, int pool) {
  json_token token;
  while ((token = json_next(r)) == JSON_OBJECT) {
    ARRAY_GROW(l->workers, l->worker_count, l->worker_capacity);
    live_worker *w = &l->workers[l->worker_count++];
    memset(w, 0, sizeof *w);
    w->pool = pool;
    if (!read_worker(r, w)) return false;
  }
  return token == JSON_LIST_END;
}

static bool read_pool(json_reader *r, live *l) {
  ARRAY_GROW(l->pools, l->pool_count, l->pool_capacity);
  size_t index = l->pool_count++;
  memset(&l->pools[index], 0, sizeof *l->pools);
  size_t first_worker = l->worker_count;
  char key[32];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    live_pool *p = &l->pools[index];
    if (token == JSON_NUMBER) {
      if (strcmp(key, "pool") == 0) p->pool = (int)r->number;
      if (strcmp(key, "threads") == 0) p->threads = r->number;
      if (strcmp(key, "cpus") == 0) p->cpus = r->number;
      if (strcmp(key, "queued") == 0) p->queued = r->number;
      if (strcmp(key, "background") == 0) p->background = r->number;
    } else if (token == JSON_STRING && strcmp(key, "name") == 0) {
      json_copy_text(p->name, sizeof p->name, r);
    } else if (token == JSON_LIST && strcmp(key, "workers") == 0) {
      if (!read_workers(r, l, p->pool)) return false;
    } else if (!json_skip(r, token)) {
      return false;
    }
  }
  /* The number of the pool may stand behind its workers. */
  for (size_t i = first_worker; i < l->worker_count; i++)
    l->workers[i].pool = l->pools[index].pool;
  return true;
}

static bool read_members(json_reader *r, live *l) {
  char key[32];
  json_token token;
  while ((token = json_next_member(r, key, sizeof key)) != JSON_OBJECT_END) {
    if (token == JSON_STRING && strcmp(key, "weft") == 0) {
      json_copy_text(l->version, sizeof l->version, r);
    } else if (token == JSON_STRING && strcmp(key, "program") == 0) {
      json_copy_text(l->program, sizeof l->program, r);
    } else if (token == JSON_NUMBER) {
      if (strcmp(key, "pid") == 0) l->pid = r->number;
      if (strcmp(key, "uptime_ns") == 0) l->uptime_ns = r->number;
    } else if (token == JSON_LIST && strcmp(key, "pools") == 0) {
      while ((token = json_next(r)) == JSON_OBJECT)
        if (!read_pool(r, l)) return false;
      if (token != JSON_LIST_END) return false;
    } else if (!json_skip(r, token)) {
      return false;
    }
  }
  return true;
}

bool live_parse(live *l, const char *chars, size_t length, char *problem) {
  json_reader r;
  json_open(&r, chars, length);
  bool good =
      json_next(&r) == JSON_OBJECT && read_members(&r, l) && json_next(&r) == JSON_END;
  if (!good)
    snprintf(problem, 300, "its statistics are not valid: %s",
             r.problem[0] != '\0' ? r.problem : "not the format that is expected");
  json_close(&r);
  return good;
}

/* ---- files ---- */

enum { PATH_SIZE = 512 };

static void folder_of(int which, char *folder) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  folder[0] = '\0';
  if (which == 0 && runtime != NULL && runtime[0] == '/')
    snprintf(folder, PATH_SIZE, "%s", runtime);
  if (which == 1) snprintf(folder, PATH_SIZE, "/tmp/weft-%lu", (unsigned long)getuid());
}

/* Has the process ended, and its parent has not asked for its exit code yet? */
static bool is_zombie(long pid) {
  char path[64];
  text stat = {0};
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  /* The state stands behind the name, which is in parentheses and may have some. */
  const char *name_end =
      file_read(path, &stat) && stat.length > 0 ? strrchr(stat.chars, ')') : NULL;
  bool is_one = name_end != NULL && name_end[1] == ' ' && name_end[2] == 'Z';
  text_free(&stat);
  return is_one;
}

static bool is_alive(long pid) {
  return (kill((pid_t)pid, 0) == 0 || errno == EPERM) && !is_zombie(pid);
}

bool live_read(live *l, long pid, char *problem) {
  memset(l, 0, sizeof *l);
  for (int which = 0; which < 2; which++) {
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    folder_of(which, folder);
    if (folder[0] == '\0') continue;
    snprintf(path, sizeof path, "%s/weft-%ld.json", folder, pid);
    if (access(path, F_OK) != 0) continue;
    if (!is_alive(pid)) break; /* it could not tidy up */
    if (file_read(path, &l->content))
      return live_parse(l, l->content.chars, l->content.length, problem);
    text_free(&l->content);
    if (errno != ENOENT) { /* else it has just ended */
      snprintf(problem, 300, "%.200s: %s", path, strerror(errno));
      return false;
    }
  }
  if (!is_alive(pid))
    snprintf(problem, 300, "there is no process %ld", pid);
  else
    snprintf(problem, 300,
             "process %ld shows no statistics. Start it by: weft run --live -- program",
             pid);
  return false;
}

void live_free(live *l) {
  text_free(&l->content);
  free(l->pools);
  free(l->workers);
  memset(l, 0, sizeof *l);
}

size_t live_list(long **pids) {
  size_t count = 0, capacity = 0;
  *pids = NULL;
  for (int which = 0; which < 2; which++) {
    char folder[PATH_SIZE];
    folder_of(which, folder);
    DIR *entries = folder[0] != '\0' ? opendir(folder) : NULL;
    if (entries == NULL) continue;
    static const char prefix[] = "weft-";
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
      const char *name = entry->d_name;
      if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
      char *end;
      long pid = strtol(name + strlen(prefix), &end, 10);
      if (pid <= 0 || strcmp(end, ".json") != 0 || !is_alive(pid)) continue;
      ARRAY_GROW(*pids, count, capacity);
      (*pids)[count++] = pid;
    }
    closedir(entries);
  }
  return count;
}
