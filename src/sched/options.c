/* sched/options.c - reads what callers set: the configuration of a pool, the options of a
 * call.
 *
 * What a program configures wins; then the environment (environment.c); then the default.
 * Nonsense in the configuration is an error, because a programmer is there to read it;
 * nonsense in the environment is reported and counts as not set. Structures of older
 * headers are shorter: members that they lack have their defaults. Called by the thread
 * that makes the pool, or makes the call.
 *
 * SPDX-License-Identifier: MIT */
#include "options.h"

#include "../sys/cpu_list.h"
#include "sched.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Choices. 64 threads from outside that are in a pool at once are more than most programs
 * have, and an unused place costs less than 1 KiB. A ring of 1024 tasks (8 KiB) grows in
 * few programs: forks are as deep as the recursion, and weft_spawn does not queue more
 * than fits (spawn.c). */
enum { DEFAULT_GUESTS = 64, DEFAULT_DEQUE_CAPACITY = 1024 };
/* 2^30 tasks, far more than any recursion holds. */
#define LARGEST_DEQUE_CAPACITY ((size_t)1 << 30)

bool wf_size_is_possible(size_t size, const wf_member *members, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (size > members[i].begin && size < members[i].end) return false;
  return true;
}

static const wf_member CONFIG_MEMBERS[] = {
    WF_MEMBER(weft_config, struct_size), WF_MEMBER(weft_config, threads),
    WF_MEMBER(weft_config, stack_size),  WF_MEMBER(weft_config, idle),
    WF_MEMBER(weft_config, name),        WF_MEMBER(weft_config, on_start),
    WF_MEMBER(weft_config, on_exit),     WF_MEMBER(weft_config, hook_ctx),
    WF_MEMBER(weft_config, guests),      WF_MEMBER(weft_config, deque_capacity),
    WF_MEMBER(weft_config, blocking),    WF_MEMBER(weft_config, steer),
    WF_MEMBER(weft_config, queue_limit), WF_MEMBER(weft_config, cpus),
    WF_MEMBER(weft_config, bind)};

/* Notes why a configuration is refused. */
static __attribute__((format(printf, 2, 3))) int refuse_config(const wf_reason *why,
                                                               const char *format, ...) {
  if (why->text == NULL || why->size == 0) return WEFT_EINVAL;
  va_list values;
  va_start(values, format);
  (void)vsnprintf(why->text, why->size, format, values);
  va_end(values);
  return WEFT_EINVAL;
}

static int check_values(const weft_config *c, const wf_reason *why) {
  if (c->threads > WEFT_MAX_THREADS)
    return refuse_config(why, "weft_config.threads: %u is more than %d", c->threads,
                         WEFT_MAX_THREADS);
  if (c->guests > WEFT_MAX_GUESTS)
    return refuse_config(why, "weft_config.guests: %u is more than %d", c->guests,
                         WEFT_MAX_GUESTS);
  if (c->blocking > WEFT_MAX_BLOCKING && c->blocking != WEFT_NO_BLOCKING)
    return refuse_config(why, "weft_config.blocking: %u is more than %d", c->blocking,
                         WEFT_MAX_BLOCKING);
  if (c->deque_capacity > LARGEST_DEQUE_CAPACITY)
    return refuse_config(why, "weft_config.deque_capacity: it is more than 2^30");
  if ((unsigned)c->idle > WEFT_IDLE_DEFAULT)
    return refuse_config(why, "weft_config.idle: %u is no idle mode", (unsigned)c->idle);
  if ((unsigned)c->steer > WEFT_STEER_OFF)
    return refuse_config(why, "weft_config.steer: %u means nothing", (unsigned)c->steer);
  if ((unsigned)c->bind > WEFT_BIND_THREADS)
    return refuse_config(why, "weft_config.bind: %u means nothing", (unsigned)c->bind);
  return 0;
}

/* Copies the caller's configuration, with defaults for what its header did not know. */
static int read_config(weft_config *out, const weft_config *config,
                       const wf_reason *why) {
  *out = (weft_config)WEFT_CONFIG_INIT;
  if (config == NULL) return 0;
  size_t size = config->struct_size;
  if (size < offsetof(weft_config, threads) + sizeof config->threads ||
      !wf_size_is_possible(size, CONFIG_MEMBERS,
                           sizeof CONFIG_MEMBERS / sizeof CONFIG_MEMBERS[0]))
    return refuse_config(why,
                         "weft_config.struct_size: %u is the size of no version; "
                         "start from WEFT_CONFIG_INIT",
                         (unsigned)size);
  memcpy(out, config, size < sizeof *out ? size : sizeof *out);
  return check_values(out, why);
}

/* ---- the CPUs of a pool ---- */

/* Reads a list of CPUs, in any order, into `chosen`: a flag for each of the `count` CPUs
 * that the process may use. */
static int choose_cpus(const char *text, const unsigned *allowed, unsigned count,
                       bool *chosen, const wf_reason *why) {
  enum { SHOWN = 60 }; /* characters of a list in messages */
  const char *at = text;
  unsigned first, last;
  wf_range_is is;
  while ((is = wf_cpu_range(&at, &first, &last)) == WF_RANGE_FOUND) {
    for (unsigned cpu = first; cpu <= last; cpu++) {
      unsigned i = wf_cpu_find(allowed, count, cpu);
      if (i < count) {
        chosen[i] = true;
        continue;
      }
      char list[SHOWN + 1];
      wf_cpu_list_write(list, sizeof list, allowed, count);
      return refuse_config(why,
                           "weft_config.cpus: \"%.*s\": this process may not use CPU %u "
                           "(it may use %s)",
                           SHOWN, text, cpu, list);
    }
  }
  if (is == WF_RANGE_END && at != text) return 0;
  return refuse_config(why,
                       "weft_config.cpus: \"%.*s\" is no list of CPUs such as 0-7,16-23: "
                       "wrong from \"%.*s\" on",
                       SHOWN, text, SHOWN, at);
}

/* The CPUs that the configuration names, or all, and what they share. */
static int read_cpus(wf_topology *out, const weft_config *config, const wf_reason *why) {
  unsigned *cpus;
  unsigned count = wf_topology_allowed(&cpus, ""), kept = 0;
  if (count == 0) return WEFT_ENOMEM;
  int status = 0;
  if (config->cpus != NULL) {
    bool *chosen = calloc(count, sizeof *chosen);
    status = chosen == NULL ? WEFT_ENOMEM
                            : choose_cpus(config->cpus, cpus, count, chosen, why);
    for (unsigned i = 0; status == 0 && i < count; i++)
      if (chosen[i]) cpus[kept++] = cpus[i];
    count = kept;
    free(chosen);
  }
  if (status == 0 && !wf_topology_read(out, "", cpus, count)) status = WEFT_ENOMEM;
  free(cpus);
  return status;
}

void wf_options_free(wf_options *options) {
  wf_topology_free(&options->topology);
}

/* ---- all of it ---- */

/* How many threads there are if nobody says: as many as CPUs, or as cores. */
static unsigned usual_threads(const wf_options *options) {
  if (options->bind != WEFT_BIND_CORES) return options->cpus;
  unsigned cores = options->topology.groups[WF_CORE];
  return cores < options->cpus ? cores : options->cpus;
}

static void fill_options(wf_options *out, const weft_config *given, wf_environment env) {
  out->threads = given->threads;
  if (out->threads == 0)
    out->threads = wf_environment_threads(env.num_threads, usual_threads(out));
  out->guests = given->guests != 0 ? given->guests : DEFAULT_GUESTS;
  out->stand_ins = given->blocking != 0 ? given->blocking : out->threads;
  if (given->blocking == WEFT_NO_BLOCKING) out->stand_ins = 0;
  out->stack_size = given->stack_size;
  out->deque_capacity =
      given->deque_capacity != 0 ? given->deque_capacity : DEFAULT_DEQUE_CAPACITY;
  out->queue_limit = given->queue_limit;
  if (out->queue_limit == 0)
    out->queue_limit = wf_environment_queue_limit(env.queue_limit);
  if (out->queue_limit == WEFT_NO_QUEUE_LIMIT) out->queue_limit = 0;
  out->idle =
      given->idle != WEFT_IDLE_DEFAULT ? given->idle : wf_environment_idle(env.idle);
  out->steer =
      given->steer != WEFT_STEER_DEFAULT ? given->steer : wf_environment_steer(env.steer);
  const char *name = given->name != NULL ? given->name : "weft";
  strncpy(out->name, name, sizeof out->name - 1);
  out->on_start = given->on_start;
  out->on_exit = given->on_exit;
  out->hook_ctx = given->hook_ctx;
  WF_ASSERT(out->cpus >= 1 && out->threads >= 1 && out->threads <= WEFT_MAX_THREADS);
  WF_ASSERT(out->guests >= 1 && out->guests <= WEFT_MAX_GUESTS);
  WF_ASSERT(out->stand_ins <= WEFT_MAX_BLOCKING && out->deque_capacity >= 1);
  WF_ASSERT((unsigned)out->idle < WEFT_IDLE_DEFAULT);
}

static int resolve(wf_options *out, const weft_config *config, wf_environment env,
                   const wf_reason *why) {
  weft_config given;
  int status = read_config(&given, config, why);
  if (status != 0) return status;
  memset(out, 0, sizeof *out);
  out->bind = given.bind;
  if (given.cpus != NULL || given.bind != WEFT_BIND_NONE)
    status = read_cpus(&out->topology, &given, why);
  if (status != 0) return status;
  out->cpus = wf_sys_cpu_count("");
  if (out->topology.count > 0 && out->topology.count < out->cpus)
    out->cpus = out->topology.count;
  fill_options(out, &given, env);
  return 0;
}

int wf_options_resolve(wf_options *out, const weft_config *config, wf_environment env) {
  const wf_reason nowhere = {NULL, 0};
  return resolve(out, config, env, &nowhere);
}

int weft_config_check(const weft_config *config, char *why, size_t size) {
  wf_options options;
  const wf_reason reason = {why, size};
  if (why != NULL && size > 0) *why = '\0';
  int status =
      resolve(&options, config, (wf_environment){NULL, NULL, NULL, NULL}, &reason);
  if (status == WEFT_ENOMEM && why != NULL && size > 0)
    (void)snprintf(why, size, "there is no memory");
  if (status == 0) wf_options_free(&options);
  return status;
}

/* ---- the options of a call ---- */

static const wf_member OPTS_MEMBERS[] = {
    WF_MEMBER(weft_opts, struct_size), WF_MEMBER(weft_opts, pool),
    WF_MEMBER(weft_opts, min_len),     WF_MEMBER(weft_opts, max_len),
    WF_MEMBER(weft_opts, split),       WF_MEMBER(weft_opts, target_chunks),
    WF_MEMBER(weft_opts, max_workers), WF_MEMBER(weft_opts, cancel),
    WF_MEMBER(weft_opts, lane),        WF_MEMBER(weft_opts, order),
    WF_MEMBER(weft_opts, name)};

int wf_opts_read(weft_opts *out, const weft_opts *given) {
  *out = (weft_opts)WEFT_OPTS_INIT;
  if (given == NULL) return 0;
  size_t size = given->struct_size;
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the pointer itself is meant */
  if (size != sizeof *out && /* the usual one needs no look at the members */
      (size < offsetof(weft_opts, pool) + sizeof given->pool ||
       !wf_size_is_possible(size, OPTS_MEMBERS,
                            sizeof OPTS_MEMBERS / sizeof OPTS_MEMBERS[0])))
    return WEFT_EINVAL;
  memcpy(out, given, size < sizeof *out ? size : sizeof *out);
  bool valid = (unsigned)out->lane <= WEFT_LANE_BACKGROUND &&
               (unsigned)out->order <= WEFT_ORDER_FIFO &&
               (unsigned)out->split <= WEFT_SPLIT_HOME;
  return valid ? 0 : WEFT_EINVAL;
}
