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

#include "sched.h"

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
    WF_MEMBER(weft_config, queue_limit)};

/* Copies the caller's configuration, with defaults for what its header did not know. */
static int read_config(weft_config *out, const weft_config *config) {
  *out = (weft_config)WEFT_CONFIG_INIT;
  if (config == NULL) return 0;
  size_t size = config->struct_size;
  if (size < offsetof(weft_config, threads) + sizeof config->threads ||
      !wf_size_is_possible(size, CONFIG_MEMBERS,
                           sizeof CONFIG_MEMBERS / sizeof CONFIG_MEMBERS[0]))
    return WEFT_EINVAL;
  memcpy(out, config, size < sizeof *out ? size : sizeof *out);
  if (out->threads > WEFT_MAX_THREADS || out->guests > WEFT_MAX_GUESTS ||
      (unsigned)out->idle > WEFT_IDLE_DEFAULT || (unsigned)out->steer > WEFT_STEER_OFF ||
      (out->blocking > WEFT_MAX_BLOCKING && out->blocking != WEFT_NO_BLOCKING) ||
      out->deque_capacity > LARGEST_DEQUE_CAPACITY)
    return WEFT_EINVAL;
  return 0;
}

int wf_options_resolve(wf_options *out, const weft_config *config, wf_environment env) {
  weft_config given;
  int status = read_config(&given, config);
  if (status != 0) return status;

  memset(out, 0, sizeof *out);
  out->cpus = wf_sys_cpu_count("");
  out->threads = given.threads;
  if (out->threads == 0)
    out->threads = wf_environment_threads(env.num_threads, out->cpus);
  out->guests = given.guests != 0 ? given.guests : DEFAULT_GUESTS;
  out->stand_ins = given.blocking != 0 ? given.blocking : out->threads;
  if (given.blocking == WEFT_NO_BLOCKING) out->stand_ins = 0;
  out->stack_size = given.stack_size;
  out->deque_capacity =
      given.deque_capacity != 0 ? given.deque_capacity : DEFAULT_DEQUE_CAPACITY;
  out->queue_limit = given.queue_limit;
  if (out->queue_limit == 0)
    out->queue_limit = wf_environment_queue_limit(env.queue_limit);
  if (out->queue_limit == WEFT_NO_QUEUE_LIMIT) out->queue_limit = 0;
  out->idle =
      given.idle != WEFT_IDLE_DEFAULT ? given.idle : wf_environment_idle(env.idle);
  out->steer =
      given.steer != WEFT_STEER_DEFAULT ? given.steer : wf_environment_steer(env.steer);
  const char *name = given.name != NULL ? given.name : "weft";
  strncpy(out->name, name, sizeof out->name - 1);
  out->on_start = given.on_start;
  out->on_exit = given.on_exit;
  out->hook_ctx = given.hook_ctx;
  WF_ASSERT(out->cpus >= 1 && out->threads >= 1 && out->threads <= WEFT_MAX_THREADS);
  WF_ASSERT(out->guests >= 1 && out->guests <= WEFT_MAX_GUESTS);
  WF_ASSERT(out->stand_ins <= WEFT_MAX_BLOCKING && out->deque_capacity >= 1);
  WF_ASSERT((unsigned)out->idle < WEFT_IDLE_DEFAULT);
  return 0;
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
               (unsigned)out->split <= WEFT_SPLIT_RECURSIVE;
  return valid ? 0 : WEFT_EINVAL;
}
