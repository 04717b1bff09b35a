/* info.c - `weft info`: the machine as weft sees it, and the defaults it would choose.
 *
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "base/options.h"
#include "base/terminal.h"
#include "command.h"
#include "machine/machine.h"
#include "sched/options.h"
#include "sched/topology_print.h"

#include <weft.h>

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void help(void) {
  printf("Usage: weft info [--json | --topology]\n\n"
         "Shows the CPUs, their topology, what this process may use of them, what the "
         "kernel\n"
         "offers, and which defaults weft would choose here, and why.\n\n"
         "      --json         print JSON for programs\n"
         "      --topology     only which CPUs share a core, a cache and a memory node\n"
         "      --root FOLDER  read /proc and /sys below this folder (copies of another\n"
         "                     machine's)\n"
         "      --color WHEN   auto, always or never\n"
         "  -h, --help         this text\n");
}

enum { OPTION_JSON, OPTION_ROOT, OPTION_TOPOLOGY };
static const option OPTIONS[] = {
    {"json", 0, false}, {"root", 0, true}, {"topology", 0, false}, {NULL, 0, false}};

static const char *idle_name(weft_idle idle) {
  static const char *const names[] = {"low_latency", "balanced", "power_saving"};
  return (unsigned)idle < 3 ? names[idle] : "balanced";
}

static const char *steer_name(weft_steer steer) {
  return steer == WEFT_STEER_ON ? "on" : steer == WEFT_STEER_OFF ? "off" : "auto";
}

/* Was the variable set, and obeyed? */
static void say_why_threads(const machine *m, const wf_environment *env, char *why,
                            size_t size) {
  long number;
  if (env->num_threads != NULL) {
    if (parse_number(env->num_threads, 1, WEFT_MAX_THREADS, &number)) {
      snprintf(why, size, "WEFT_NUM_THREADS says so");
      return;
    }
    snprintf(why, size,
             "WEFT_NUM_THREADS is '%.20s', which is no number from 1 to %d; so as many "
             "as CPUs",
             env->num_threads, WEFT_MAX_THREADS);
    return;
  }
  if (m->quota_cpus > 0 && m->quota_cpus < m->allowed_count)
    snprintf(why, size, "the CPU quota is %.2f CPUs", m->quota_cpus);
  else if (m->allowed_count > 0 && m->allowed_count < m->online_count)
    snprintf(why, size, "the affinity mask allows %u of %u CPUs", m->allowed_count,
             m->online_count);
  else
    snprintf(why, size, "one for each CPU");
}

static const char *why_choice(const char *variable, const char *value,
                              const char *chosen) {
  static char why[2][160];
  static unsigned turn;
  char *out = why[turn++ % 2];
  if (value == NULL)
    snprintf(out, 160, "the default");
  else if (strcmp(value, chosen) == 0)
    snprintf(out, 160, "%s says so", variable);
  else
    snprintf(out, 160, "the default, because %s is '%.40s', which means nothing",
             variable, value);
  return out;
}

/* ---- for people ---- */

static void heading(const char *words) {
  printf("\n%s%s%s\n", on(STYLE_BOLD), words, on(STYLE_PLAIN));
}

__attribute__((format(printf, 2, 3))) static void line(const char *name,
                                                       const char *format, ...) {
  char words[800];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  printf("  %s%-12s%s ", on(STYLE_DIM), name, on(STYLE_PLAIN));
  print_wrapped(words, 15);
}

static void print_machine(const machine *m) {
  printf("%sweft %s%s on %s\n", on(STYLE_BOLD), weft_version(), on(STYLE_PLAIN),
         m->system);
  heading("CPUs");
  if (m->model[0] != '\0')
    line("model", "%s%s", m->model, m->virtual_machine ? " (virtual machine)" : "");
  if (m->online_count > 0) line("online", "%u (%s)", m->online_count, m->online);
  if (m->cores > 0)
    line("topology", "%u package%s, %u core%s%s%s", m->packages,
         m->packages == 1 ? "" : "s", m->cores, m->cores == 1 ? "" : "s",
         m->online_count > m->cores ? ", several threads each" : ", one thread each",
         m->nodes > 1 ? ", several memory nodes" : "");
  for (unsigned i = 0; i < m->cache_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "L%d cache", m->caches[i].level);
    line(name, "%s%s%s", m->caches[i].size,
         m->caches[i].shared[0] != '\0' ? ", CPU 0 shares it with: " : "",
         m->caches[i].shared);
  }
  if (m->memory_bytes > 0) line("memory", "%.1f GiB", m->memory_bytes / 1073741824.0);
  heading("What this process may use");
  if (m->allowed_count > 0)
    line("affinity", "%u of %u CPUs (%s)", m->allowed_count, m->online_count, m->allowed);
  if (m->quota_cpus > 0)
    line("quota", "%.2f CPUs, from %s", m->quota_cpus, m->quota_file);
  else
    line("quota", "none");
  line("usable", "%u CPU%s", m->usable, m->usable == 1 ? "" : "s");
}

static void print_kernel(const machine *m, const abilities *a) {
  heading("What the kernel offers");
  line("futex", "%s",
       a->futex ? "yes: threads sleep on a word"
                : "no: mutexes and condition variables instead, which are slower");
  line("barrier", "%s",
       a->barrier
           ? "yes (membarrier): a fork costs no fence"
           : "no (membarrier is missing or refused): thieves see only what owners make "
             "public by themselves");
  line("affinity", "%s",
       a->affinity ? "yes: woken threads can be steered"
                   : "no: woken threads run where the kernel puts them");
  line("clock", "%s per reading%s%s", show_ns(a->clock_ns),
       m->clock[0] != '\0' ? ", " : "", m->clock);
  if (m->huge_pages[0] != '\0') line("huge pages", "%s", m->huge_pages);
  if (m->governor[0] != '\0') line("governor", "%s", m->governor);
}

static void print_defaults(const wf_options *chosen, const wf_environment *env,
                           const char *why_threads) {
  heading("What weft would choose");
  line("threads", "%u: %s", chosen->threads, why_threads);
  line("idle", "%s: %s", idle_name(chosen->idle),
       why_choice("WEFT_IDLE", env->idle, idle_name(chosen->idle)));
  line("steer", "%s: %s", steer_name(chosen->steer),
       why_choice("WEFT_STEER", env->steer, steer_name(chosen->steer)));
  line("callers", "%u threads from outside at once: the default", chosen->guests);
  line("stand-ins", "%u, for threads in blocking sections: as many as threads",
       chosen->stand_ins);
  if (chosen->queue_limit == 0)
    line("queue", "no limit: the default");
  else
    line("queue", "at most %zu functions wait: WEFT_QUEUE_LIMIT says so",
         chosen->queue_limit);
  if (chosen->stack_size == 0) line("stack", "of each thread: the system's default");
}

/* ---- for programs ---- */

static void print_json(const machine *m, const abilities *a, const wf_options *chosen,
                       const wf_environment *env, const char *why_threads) {
  json_writer w = {.depth = 0};
  json_begin(&w, NULL, '{');
  json_put_text(&w, "weft", weft_version());
  json_put_text(&w, "system", m->system);
  json_begin(&w, "cpus", '{');
  json_put_text(&w, "model", m->model);
  json_put_bool(&w, "virtual_machine", m->virtual_machine);
  json_put_number(&w, "online", m->online_count);
  json_put_text(&w, "online_list", m->online);
  json_put_number(&w, "packages", m->packages);
  json_put_number(&w, "cores", m->cores);
  json_put_number(&w, "nodes", m->nodes);
  json_begin(&w, "caches", '[');
  for (unsigned i = 0; i < m->cache_count; i++) {
    json_begin(&w, NULL, '{');
    json_put_number(&w, "level", m->caches[i].level);
    json_put_text(&w, "kind", m->caches[i].kind);
    json_put_text(&w, "size", m->caches[i].size);
    json_put_text(&w, "shared_with", m->caches[i].shared);
    json_finish(&w, '}');
  }
  json_finish(&w, ']');
  json_finish(&w, '}');
  json_put_number(&w, "memory_bytes", m->memory_bytes);
  json_begin(&w, "usable", '{');
  json_put_number(&w, "affinity", m->allowed_count);
  json_put_text(&w, "affinity_list", m->allowed);
  json_put_number(&w, "quota_cpus", m->quota_cpus > 0 ? m->quota_cpus : NAN);
  json_put_text(&w, "quota_file", m->quota_cpus > 0 ? m->quota_file : NULL);
  json_put_number(&w, "cpus", m->usable);
  json_finish(&w, '}');
  json_begin(&w, "kernel", '{');
  json_put_bool(&w, "futex", a->futex);
  json_put_bool(&w, "barrier", a->barrier);
  json_put_bool(&w, "affinity", a->affinity);
  json_put_number(&w, "clock_ns", a->clock_ns);
  json_put_text(&w, "clock", m->clock);
  json_put_text(&w, "huge_pages", m->huge_pages);
  json_put_text(&w, "governor", m->governor);
  json_finish(&w, '}');
  json_begin(&w, "defaults", '{');
  json_put_number(&w, "threads", chosen->threads);
  json_put_text(&w, "threads_why", why_threads);
  json_put_text(&w, "idle", idle_name(chosen->idle));
  json_put_text(&w, "idle_why",
                why_choice("WEFT_IDLE", env->idle, idle_name(chosen->idle)));
  json_put_text(&w, "steer", steer_name(chosen->steer));
  json_put_text(&w, "steer_why",
                why_choice("WEFT_STEER", env->steer, steer_name(chosen->steer)));
  json_put_number(&w, "callers", chosen->guests);
  json_put_number(&w, "stand_ins", chosen->stand_ins);
  json_put_number(&w, "queue_limit", (double)chosen->queue_limit);
  json_finish(&w, '}');
  json_finish(&w, '}');
  json_print(&w);
}

int command_info(int argc, char **argv) {
  options o = {.argc = argc, .argv = argv};
  const char *root = "";
  bool json = false, topology = false;
  for (int found; (found = options_next(&o, OPTIONS)) != OPTIONS_END;) {
    if (found == OPTIONS_WRONG) return COMMAND_USAGE;
    if (found == OPTIONS_HELP) return help(), COMMAND_OK;
    if (found == OPTION_JSON) json = true;
    if (found == OPTION_ROOT) root = o.value;
    if (found == OPTION_TOPOLOGY) topology = true;
  }
  if (o.operands != 0)
    return usage_error("info", "takes no operand, but '%s' was given", argv[1]);

  if (*root != '\0' && access(root, R_OK | X_OK) != 0)
    return failure("info", "%s: %s", root, strerror(errno));
  if (topology && json)
    return usage_error("info", "--topology is for people, and --json is not");
  if (topology)
    return wf_topology_print(stdout, root) == 0 ? COMMAND_OK
                                                : failure("info", "out of memory");
  machine *m = malloc(sizeof *m);
  abilities a;
  wf_options chosen;
  wf_environment env = wf_environment_read();
  if (m == NULL || wf_options_resolve(&chosen, NULL, env) != 0) {
    free(m);
    return failure("info", "out of memory");
  }
  machine_read(m, root);
  abilities_try(&a);
  char why[200];
  say_why_threads(m, &env, why, sizeof why);
  if (json) {
    print_json(m, &a, &chosen, &env, why);
  } else {
    print_machine(m);
    print_kernel(m, &a);
    print_defaults(&chosen, &env, why);
  }
  free(m);
  return COMMAND_OK;
}
