/* main.c - runs the scenarios of a program, and prints a line for each.
 *
 *     test_explore_NAME [--quick] [--stop] [--list] [--mode sc|tso|ra] [--bound N]
 *                       [--random N [--depth D] [--seed S]] [--estimate N]
 *                       [--cover FILE] [--only SCENARIO] [scenario...]
 *     test_explore_NAME --replay SCENARIO/MODE:SCHEDULE
 *
 * --quick takes the smaller bounds of `make test`, --stop ends with the first failure.
 * --estimate runs nothing to its end: it says about how many executions each search has,
 * from N samples, and how long that would take. --cover writes which accesses the
 * scenarios reach, for tools/atomics. EXPLORE_REPLAY in the environment does the same as
 * --replay.
 *
 * SPDX-License-Identifier: MIT */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BOUND = 2, DEFAULT_DEPTH = 3, NOT_QUICK = -2 };

static xp_scenario *first, **last = &first;

void xp_add(xp_scenario *scenario) {
  *last = scenario;
  last = &scenario->next;
}

static struct {
  bool quick, list, stop;
  unsigned mode; /* 0: as the scenario says */
  int bound;     /* -2: as the scenario says */
  uint64_t random, seed, estimate;
  unsigned depth;
  const char *replay, *only;
  int name_count;
  char **names;
} options = {.bound = -2, .seed = 1, .depth = DEFAULT_DEPTH};

static bool is_wanted(const xp_scenario *scenario) {
  if (options.quick && scenario->quick_bound == NOT_QUICK) return false;
  if (options.only != NULL) return strcmp(scenario->name, options.only) == 0;
  if (options.name_count == 0) return true;
  for (int i = 0; i < options.name_count; i++)
    if (strstr(scenario->name, options.names[i]) != NULL) return true;
  return false;
}

static int bound_of(const xp_scenario *scenario, xp_mode mode) {
  if (options.bound != -2) return options.bound;
  if (options.quick && scenario->quick_bound != 0) return scenario->quick_bound;
  if (mode == XP_SC && scenario->sc_bound != 0) return scenario->sc_bound;
  if (mode == XP_RA && scenario->ra_bound != 0) return scenario->ra_bound;
  return scenario->bound != 0 ? scenario->bound : DEFAULT_BOUND;
}

/* Prints the failure, the schedule, and the trace of a replay. */
static void explain(const xp_scenario *scenario, xp_mode mode) {
  static char text[1 << 14];
  xp_result again;
  snprintf(text, sizeof text, "%s", xp_schedule_text());
  printf("  %s\n", xp_now.message);
  printf("  schedule: --replay '%s/%s:%s'\n", scenario->name, xp_mode_name(mode), text);
  if (xp_replay(scenario, mode, text, true, &again)) xp_trace_print();
  if (again.failure == XP_NOTHING) printf("  (the replay does not fail)\n");
}

/* Are the outcomes of a litmus test those of its table? */
static bool outcomes_match(const xp_scenario *scenario, xp_mode mode) {
  const char *expected = scenario->outcomes[mode == XP_SC ? 0 : mode == XP_TSO ? 1 : 2];
  if (expected == NULL) return true;
  char text[1024] = "";
  const uint32_t *outcomes;
  size_t n = xp_outcomes(&outcomes), used = 0;
  for (size_t i = 0; i < n && used + 16 < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", i > 0 ? " " : "",
                             outcomes[i]);
  if (strcmp(text, expected) == 0) return true;
  printf("  outcomes %s\n  expected %s\n", text, expected);
  return false;
}

static bool is_as_expected(const xp_scenario *scenario, const xp_result *result) {
  if (scenario->expect != XP_NOTHING) return result->failure == scenario->expect;
  if (result->failure != XP_NOTHING) return false;
  return result->complete || scenario->incomplete != NULL || options.random > 0;
}

static bool estimate_mode(const xp_scenario *scenario, xp_mode mode) {
  xp_result result;
  int bound = bound_of(scenario, mode);
  if (bound == XP_UNBOUNDED || scenario->random != 0) return true;
  double all =
      xp_estimate(scenario, mode, bound, options.estimate, options.seed, &result);
  double seconds = result.seconds / (double)result.executions * all;
  printf("%-40s %-3s %4d about %12.0f executions, %9.0f s%s\n", scenario->name,
         xp_mode_name(mode), bound, all, seconds,
         result.failure != XP_NOTHING ? "  FAILED" : "");
  fflush(stdout);
  return result.failure == XP_NOTHING;
}

static bool run_mode(const xp_scenario *scenario, xp_mode mode) {
  xp_result result;
  char bound[32];
  if (options.estimate > 0) return estimate_mode(scenario, mode);
  uint64_t random = options.random != 0 ? options.random : scenario->random;
  if (random != 0) {
    snprintf(bound, sizeof bound, "pct%u", options.depth);
    result = xp_search_random(scenario, mode, random, options.depth, options.seed);
  } else {
    int preemptions = bound_of(scenario, mode);
    snprintf(bound, sizeof bound, preemptions == XP_UNBOUNDED ? "all" : "%d",
             preemptions);
    result = xp_search(scenario, mode, preemptions);
  }
  bool good = is_as_expected(scenario, &result) ||
              (scenario->random != 0 && result.failure == XP_NOTHING);
  if (good && !outcomes_match(scenario, mode)) good = false;
  printf(
      "%-40s %-3s %4s %10llu executions %8llu pruned %5u steps  complete %-3s %7.2f s%s",
      scenario->name, xp_mode_name(mode), bound, (unsigned long long)result.executions,
      (unsigned long long)result.pruned, result.max_depth, result.complete ? "yes" : "no",
      result.seconds, good ? "" : "  FAILED");
  if (scenario->expect != XP_NOTHING && good)
    printf("  found: %s", xp_failure_name(result.failure));
  printf("\n");
  if (!good && result.failure != XP_NOTHING) explain(scenario, mode);
  if (!good && result.failure == XP_NOTHING && !result.complete)
    printf("  %s\n", scenario->expect != XP_NOTHING
                         ? "the defect was not found"
                         : "the search did not come to its end");
  fflush(stdout);
  return good;
}

/* With `expect`, a defect must be found in each of the scenario's modes. */
static bool run_scenario(const xp_scenario *scenario) {
  static const xp_mode modes[] = {XP_SC, XP_TSO, XP_RA};
  unsigned wanted = scenario->modes != 0 ? scenario->modes : XP_ALL_MODES;
  bool good = true;
  if (options.mode != 0) wanted &= options.mode;
  for (int i = 0; i < 3; i++)
    if ((wanted & modes[i]) != 0 && !run_mode(scenario, modes[i])) good = false;
  return good;
}

static unsigned read_mode(const char *text) {
  if (strcmp(text, "sc") == 0) return XP_SC;
  if (strcmp(text, "tso") == 0) return XP_TSO;
  return strcmp(text, "ra") == 0 ? XP_RA : 0;
}

static int replay(const char *text) {
  char name[128], mode[8];
  int used = 0;
  if (sscanf(text, "%127[^/]/%7[^:]:%n", name, mode, &used) < 2 || used == 0) return 2;
  for (const xp_scenario *scenario = first; scenario != NULL; scenario = scenario->next) {
    xp_result result;
    if (strcmp(scenario->name, name) != 0) continue;
    if (!xp_replay(scenario, (xp_mode)read_mode(mode), text + used, true, &result))
      return 2;
    xp_trace_print();
    printf("%s\n", result.failure != XP_NOTHING ? xp_now.message : "no failure");
    return result.failure != XP_NOTHING ? 1 : 0;
  }
  fprintf(stderr, "no scenario %s\n", name);
  return 2;
}

static void read_options(int argc, char **argv) {
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--quick") == 0) {
      options.quick = true;
      continue;
    }
    if (strcmp(argv[i], "--stop") == 0) {
      options.stop = true;
      continue;
    }
    if (strcmp(argv[i], "--list") == 0) {
      options.list = true;
      continue;
    }
    i++;
    if (strcmp(argv[i - 1], "--mode") == 0)
      options.mode = read_mode(value);
    else if (strcmp(argv[i - 1], "--bound") == 0)
      options.bound = strcmp(value, "all") == 0 ? XP_UNBOUNDED : atoi(value);
    else if (strcmp(argv[i - 1], "--random") == 0)
      options.random = strtoull(value, NULL, 0);
    else if (strcmp(argv[i - 1], "--estimate") == 0)
      options.estimate = strtoull(value, NULL, 0);
    else if (strcmp(argv[i - 1], "--seed") == 0)
      options.seed = strtoull(value, NULL, 0);
    else if (strcmp(argv[i - 1], "--depth") == 0)
      options.depth = (unsigned)atoi(value);
    else if (strcmp(argv[i - 1], "--replay") == 0)
      options.replay = value;
    else if (strcmp(argv[i - 1], "--only") == 0)
      options.only = value;
    else if (strcmp(argv[i - 1], "--cover") == 0)
      xp_cover_open(value);
    else {
      fprintf(stderr, "unknown option %s\n", argv[i - 1]);
      exit(2);
    }
  }
  options.names = argv + i;
  options.name_count = argc - i;
}

int main(int argc, char **argv) {
  read_options(argc, argv);
  xp_heap_init();
  xp_threads_init();
  xp_report_signals();
  if (options.replay == NULL) options.replay = getenv("EXPLORE_REPLAY");
  if (options.replay != NULL) return replay(options.replay);
  unsigned run = 0, failed = 0;
  for (const xp_scenario *scenario = first; scenario != NULL; scenario = scenario->next) {
    if (!is_wanted(scenario)) continue;
    if (options.list) {
      printf("%s\n", scenario->name);
      continue;
    }
    run++;
    if (!run_scenario(scenario)) failed++;
    xp_cover_end(scenario);
    if (failed > 0 && options.stop) break;
  }
  if (!options.list) printf("%u scenarios, %u failed\n", run, failed);
  return failed > 0 ? 1 : 0;
}
