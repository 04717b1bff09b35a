/* What is said about environment variables that make no sense: each bad value of each
 * variable in a process of its own, how often it is said, and when not.
 *
 * tests/sched/options.c tests what the values mean.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTPUT = 4096 };

/* What a child has printed about its environment: the lines of the library. */
typedef struct said {
  unsigned lines;
  char text[OUTPUT];
} said;

/* The environment of the tests themselves must not count. */
#define CLEAN                                                                            \
  "env -u WEFT_NUM_THREADS -u WEFT_IDLE -u WEFT_STEER -u WEFT_QUEUE_LIMIT "              \
  "-u WEFT_TRACE -u WEFT_TRACE_LIMIT -u WEFT_STATS "

static said run_child(const char *env, const char *test) {
  static char output[OUTPUT];
  char assignments[256];
  said result = {0};
  snprintf(assignments, sizeof assignments, CLEAN "%s", env);
  int status = harness_run_self(assignments, test, output, sizeof output);
  CHECK_MSG(status == 0, "%s with %s ended with %d: %s", test, env, status, output);
  for (char *line = strtok(output, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (strncmp(line, "weft: ", 6) != 0) continue;
    result.lines++;
    strcat(result.text, line);
    strcat(result.text, "\n");
  }
  return result;
}

/* One line, with all of these in it; the last one may be NULL. */
static void check_line(const char *env, const char *test, const char *name,
                       const char *value, const char *used) {
  said child = run_child(env, test);
  bool held = child.lines == 1 && strstr(child.text, name) != NULL &&
              strstr(child.text, value) != NULL && strstr(child.text, used) != NULL;
  CHECK_MSG(held, "%s: %u lines: %s", env, child.lines, child.text);
}

static void check_silence(const char *env, const char *test) {
  said child = run_child(env, test);
  CHECK_MSG(child.lines == 0, "%s: %s", env, child.text);
}

/* ---- the children ---- */

static weft_pool *made(const weft_config *config) {
  weft_pool *pool = NULL;
  REQUIRE(weft_pool_create(&pool, config) == 0);
  return pool;
}

static void make_and_end(unsigned index, void *config) {
  (void)index;
  weft_pool_destroy(made(config));
}

TEST_BY_NAME(use_the_global_pool) {
  CHECK_EQ(weft_thread_count(), wf_sys_cpu_count(""));
  CHECK_EQ((int)weft_pool_current()->options.idle, (int)WEFT_IDLE_BALANCED);
  CHECK_EQ((int)weft_pool_current()->options.steer, (int)WEFT_STEER_AUTO);
  weft_shutdown();
}

TEST_BY_NAME(use_many_pools) {
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(weft_thread_count(), wf_sys_cpu_count(""));
    weft_shutdown();
    make_and_end(0, NULL);
  }
  harness_run_threads(4, make_and_end, NULL);
}

TEST_BY_NAME(set_everything) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  config.idle = WEFT_IDLE_POWER_SAVING;
  config.steer = WEFT_STEER_OFF;
  config.queue_limit = 5;
  make_and_end(0, &config);
}

TEST_BY_NAME(set_only_the_threads) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 2;
  make_and_end(0, &config);
}

TEST_BY_NAME(make_no_pool) {
  CHECK_EQ(weft_worker_index(), -1);
}

/* ---- values ---- */

TEST(every_bad_number_of_threads_is_reported) {
  static const char *const values[] = {"abc", "0",         "-1",   "+4",
                                       "2x",  "100000",    "1025", "4.0",
                                       "0x4", "' 4'",      "'4 '", "99999999999999999999",
                                       "' '", "4294967297"};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char env[64], quoted[128], used[64], plain[64];
    snprintf(plain, sizeof plain, "%s", values[i]);
    if (plain[0] == '\'') /* quotes of the shell */
      snprintf(plain, sizeof plain, "%.*s", (int)strlen(values[i]) - 2, values[i] + 1);
    snprintf(env, sizeof env, "WEFT_NUM_THREADS=%s", values[i]);
    snprintf(quoted, sizeof quoted, ": \"%s\" is not a number from 1 to 1024", plain);
    snprintf(used, sizeof used, "using %u, the number of usable CPUs\n",
             wf_sys_cpu_count(""));
    check_line(env, "use_the_global_pool", "weft: WEFT_NUM_THREADS", quoted, used);
  }
}

TEST(every_bad_word_is_reported) {
  static const struct {
    const char *env, *name, *value, *used;
  } table[] = {
      {"WEFT_IDLE=abc", "WEFT_IDLE", "\"abc\" is not low_latency, balanced or",
       "using balanced"},
      {"WEFT_IDLE=0", "WEFT_IDLE", "\"0\"", "using balanced"},
      {"WEFT_IDLE=-1", "WEFT_IDLE", "\"-1\"", "using balanced"},
      {"WEFT_IDLE=BALANCED", "WEFT_IDLE", "\"BALANCED\"", "using balanced"},
      {"WEFT_IDLE='balanced '", "WEFT_IDLE", "\"balanced \"", "using balanced"},
      {"WEFT_IDLE=low-latency", "WEFT_IDLE", "\"low-latency\"", "using balanced"},
      {"WEFT_QUEUE_LIMIT=abc", "WEFT_QUEUE_LIMIT",
       "\"abc\" is not a number from 1 to 100000000", "using no limit"},
      {"WEFT_QUEUE_LIMIT=0", "WEFT_QUEUE_LIMIT", "\"0\"", "using no limit"},
      {"WEFT_QUEUE_LIMIT=-1", "WEFT_QUEUE_LIMIT", "\"-1\"", "using no limit"},
      {"WEFT_QUEUE_LIMIT=2x", "WEFT_QUEUE_LIMIT", "\"2x\"", "using no limit"},
      {"WEFT_QUEUE_LIMIT='5 '", "WEFT_QUEUE_LIMIT", "\"5 \"", "using no limit"},
      {"WEFT_QUEUE_LIMIT=100000001", "WEFT_QUEUE_LIMIT", "\"100000001\"",
       "using no limit"},
      {"WEFT_STEER=abc", "WEFT_STEER", "\"abc\" is not auto, on or off", "using auto"},
      {"WEFT_STEER=1", "WEFT_STEER", "\"1\"", "using auto"},
      {"WEFT_STEER=ON", "WEFT_STEER", "\"ON\"", "using auto"},
      {"WEFT_STEER=' on'", "WEFT_STEER", "\" on\"", "using auto"},
      {"WEFT_STATS=abc", "WEFT_STATS", "\"abc\" is not 0, 1 or live", "using 0"},
      {"WEFT_STATS=2", "WEFT_STATS", "\"2\"", "using 0"},
      {"WEFT_STATS=Live", "WEFT_STATS", "\"Live\"", "using 0"},
      {"WEFT_TRACE=/dev/null/no/trace", "WEFT_TRACE", "'/dev/null/no/trace'", "cannot"},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    check_line(table[i].env, "use_the_global_pool", table[i].name, table[i].value,
               table[i].used);
}

TEST(good_and_empty_values_are_not_reported) {
  static const char *const good[] = {
      "",
      "WEFT_NUM_THREADS= WEFT_IDLE= WEFT_STEER= WEFT_QUEUE_LIMIT=",
      "WEFT_IDLE=balanced",
      "WEFT_STEER=auto",
      "WEFT_TRACE= WEFT_TRACE_LIMIT= WEFT_STATS=",
      "WEFT_STATS=0",
      "WEFT_TRACE_LIMIT=abc"}; /* not used without a trace */
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    check_silence(good[i], "use_the_global_pool");
  check_silence("WEFT_NUM_THREADS=1024 WEFT_STEER=on", "make_no_pool");
}

TEST(a_long_or_strange_value_stays_one_line) {
  char number[128];
  check_line("WEFT_IDLE='a\nb\033[31m\377'", "use_the_global_pool", "WEFT_IDLE",
             "\"a?b?[31m?\"", "using balanced");
  snprintf(number, sizeof number, "WEFT_NUM_THREADS=%0100dx", 7);
  check_line(number, "use_the_global_pool", "WEFT_NUM_THREADS",
             "\"000000000000000000000000000000000000000000000000000000000000...\"",
             "using ");
}

TEST(every_bad_limit_of_a_trace_is_reported) {
  static const char *const values[] = {"abc", "0", "-1", "2x", "1048577", "' 4'"};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char env[128];
    snprintf(env, sizeof env, "WEFT_TRACE=/dev/null WEFT_TRACE_LIMIT=%s", values[i]);
    said child = run_child(env, "use_the_global_pool");
    CHECK_MSG(strstr(child.text, "weft: WEFT_TRACE_LIMIT: \"") != NULL &&
                  strstr(child.text, "is not a number from 1 to 1048576; using 512\n"),
              "%s: %s", env, child.text);
  }
}

/* ---- once, and only if it matters ---- */

TEST(each_variable_is_reported_once) {
  check_line("WEFT_NUM_THREADS=abc", "use_many_pools", "WEFT_NUM_THREADS", "\"abc\"",
             "using");
  said all = run_child("WEFT_NUM_THREADS=abc WEFT_IDLE=x WEFT_STEER=y WEFT_IDLES=z",
                       "use_many_pools");
  CHECK_MSG(all.lines == 4, "%s", all.text);
}

TEST(nothing_is_said_about_variables_that_are_not_used) {
  check_silence("WEFT_NUM_THREADS=abc WEFT_IDLE=x WEFT_STEER=y WEFT_QUEUE_LIMIT=z",
                "set_everything");
  check_silence("WEFT_NUM_THREADS=abc WEFT_IDLE=x WEFT_IDLES=z", "make_no_pool");
  check_line("WEFT_NUM_THREADS=abc WEFT_IDLE=x", "set_only_the_threads", "WEFT_IDLE",
             "\"x\"", "balanced");
}

/* ---- names ---- */

TEST(names_with_a_typing_mistake) {
  static const struct {
    const char *name, *meant;
  } table[] = {
      {"WEFT_NUM_THREADS", NULL},
      {"WEFT_IDLE", NULL},
      {"WEFT_STEER", NULL},
      {"WEFT_NUM_THREAD", "WEFT_NUM_THREADS"},
      {"WEFT_NUMTHREADS", "WEFT_NUM_THREADS"},
      {"WEFT_NUM_THREDAS", "WEFT_NUM_THREADS"},
      {"WEFT_NUN_THREDS", "WEFT_NUM_THREADS"},
      {"WEFT_THREADS", "WEFT_NUM_THREADS"},
      {"weft_num_threads", "WEFT_NUM_THREADS"},
      {"Weft_Idle", "WEFT_IDLE"},
      {"WEFT_IDEL", "WEFT_IDLE"},
      {"WEFT_IDLES", "WEFT_IDLE"},
      {"WEFT_DLE", "WEFT_IDLE"},
      {"WEFT_STEAR", "WEFT_STEER"},
      {"WEFT_STEERING", NULL},
      {"WEFT_QUEUE_LIMIT", NULL},
      {"WEFT_QEUE_LIMIT", "WEFT_QUEUE_LIMIT"},
      {"WEFT_TRACE", NULL},
      {"WEFT_TRACE_LIMIT", NULL},
      {"WEFT_STATS", NULL},
      {"WEFT_TRACES", "WEFT_TRACE"},
      {"WEFT_TARCE", "WEFT_TRACE"},
      {"WEFT_TRACE_LIMITS", "WEFT_TRACE_LIMIT"},
      {"WEFT_TRACELIMIT", "WEFT_TRACE_LIMIT"},
      {"WEFT_STAT", "WEFT_STATS"},
      {"WEFT_TRACE_FILE", NULL},
      {"WEFT_FILE", NULL},
      {"WEFT_TEST_TIMEOUT", NULL},
      {"WEFT_", NULL},
      {"WEFT", NULL},
      {"", NULL},
      {"IDLE", NULL},
      {"OMP_NUM_THREADS", NULL},
      {"XEFT_IDLE", NULL},
      {"WEFT_NUM_THREADS_OF_A_NAME_THAT_IS_LONGER_THAN_ANY", NULL},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    const char *meant = wf_environment_meant(table[i].name, strlen(table[i].name));
    CHECK_STR_EQ(meant != NULL ? meant : "",
                 table[i].meant != NULL ? table[i].meant : "");
  }
}

TEST(a_wrong_name_is_reported) {
  check_line("WEFT_NUM_THREAD=4", "use_the_global_pool", "weft: WEFT_NUM_THREAD is no",
             "is not used", "did you mean WEFT_NUM_THREADS?");
  check_line("weft_idle=low_latency", "set_everything", "weft: weft_idle is no",
             "is not used", "did you mean WEFT_IDLE?");
  check_silence("WEFT_OTHER=4 WEFTY=3", "use_the_global_pool");
}
