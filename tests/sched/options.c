/* From configuration and environment to options: what wins, and what nonsense does.
 *
 * SPDX-License-Identifier: MIT */
#include "support.h"

#include <limits.h>
#include <string.h>

static wf_options resolved(const weft_config *config, const char *num_threads,
                           const char *idle) {
  wf_options options;
  memset(&options, 0xff, sizeof options);
  CHECK_EQ(wf_options_resolve(&options, config,
                              (wf_environment){.num_threads = num_threads, .idle = idle}),
           0);
  return options;
}

/* ---- WEFT_NUM_THREADS ---- */

TEST(v11_number_of_threads_from_the_environment) {
  enum { IGNORED = 0 };
  static const struct {
    const char *text;
    unsigned threads;
  } table[] = {
      {NULL, IGNORED},
      {"", IGNORED},
      {"0", IGNORED},
      {"-1", IGNORED},
      {"+4", IGNORED},
      {"abc", IGNORED},
      {"4x", IGNORED},
      {" 4", IGNORED},
      {"4 ", IGNORED},
      {"0x4", IGNORED},
      {"4.0", IGNORED},
      {"1025", IGNORED},
      {"4294967297", IGNORED}, /* 1 in 32 bits */
      {"99999999999999", IGNORED},
      {"18446744073709551617", IGNORED}, /* 1 in 64 bits */
      {"1", 1},
      {"4", 4},
      {"04", 4},
      {"1023", 1023},
      {"1024", 1024},
  };
  unsigned cpus = wf_sys_cpu_count("");
  unsigned by_default = cpus < WEFT_MAX_THREADS ? cpus : WEFT_MAX_THREADS;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    unsigned threads = resolved(NULL, table[i].text, NULL).threads;
    unsigned expected = table[i].threads != IGNORED ? table[i].threads : by_default;
    CHECK_MSG(threads == expected, "\"%s\" gave %u threads",
              table[i].text != NULL ? table[i].text : "(null)", threads);
  }
}

/* ---- WEFT_IDLE ---- */

TEST(v11_idle_mode_from_the_environment) {
  static const struct {
    const char *text;
    weft_idle idle;
  } table[] = {
      {NULL, WEFT_IDLE_BALANCED},
      {"", WEFT_IDLE_BALANCED},
      {"nonsense", WEFT_IDLE_BALANCED},
      {"LOW_LATENCY", WEFT_IDLE_BALANCED},
      {"low_latency ", WEFT_IDLE_BALANCED},
      {"default", WEFT_IDLE_BALANCED},
      {"2", WEFT_IDLE_BALANCED},
      {"low_latency", WEFT_IDLE_LOW_LATENCY},
      {"balanced", WEFT_IDLE_BALANCED},
      {"power_saving", WEFT_IDLE_POWER_SAVING},
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    weft_idle idle = resolved(NULL, NULL, table[i].text).idle;
    CHECK_MSG(idle == table[i].idle, "\"%s\" gave %d",
              table[i].text != NULL ? table[i].text : "(null)", (int)idle);
  }
}

/* ---- the configuration ---- */

static void hook(unsigned worker, void *ctx) {
  (void)worker;
  (void)ctx;
}

TEST(v11_configuration_beats_environment) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = 7;
  config.idle = WEFT_IDLE_LOW_LATENCY;
  wf_options options = resolved(&config, "4", "power_saving");
  CHECK_EQ(options.threads, 7);
  CHECK_EQ((int)options.idle, (int)WEFT_IDLE_LOW_LATENCY);
  /* What is not configured comes from the environment. */
  config = (weft_config)WEFT_CONFIG_INIT;
  options = resolved(&config, "4", "power_saving");
  CHECK_EQ(options.threads, 4);
  CHECK_EQ((int)options.idle, (int)WEFT_IDLE_POWER_SAVING);
}

TEST(v11_defaults) {
  weft_config config = WEFT_CONFIG_INIT;
  for (int with_config = 0; with_config <= 1; with_config++) {
    wf_options options = resolved(with_config ? &config : NULL, NULL, NULL);
    CHECK_EQ(options.cpus, wf_sys_cpu_count(""));
    CHECK_EQ(options.guests, 64);
    CHECK_EQ(options.stand_ins, options.threads);
    CHECK_EQ(options.stack_size, 0);
    CHECK_EQ(options.deque_capacity, 1024);
    CHECK_EQ(options.queue_limit, 0);
    CHECK_STR_EQ(options.name, "weft");
    CHECK(options.on_start == NULL && options.on_exit == NULL);
    CHECK(options.hook_ctx == NULL);
  }
}

TEST(v11_everything_configured) {
  weft_config config = {sizeof config,
                        WEFT_MAX_THREADS,
                        123456,
                        WEFT_IDLE_POWER_SAVING,
                        "a name that is longer than a thread may have",
                        hook,
                        hook,
                        &config,
                        WEFT_MAX_GUESTS,
                        2,
                        7,
                        WEFT_STEER_ON,
                        1234567890,
                        NULL,
                        WEFT_BIND_NONE};
  wf_options options = resolved(&config, "4", "low_latency");
  CHECK_EQ(options.stand_ins, 7);
  CHECK_EQ(options.threads, WEFT_MAX_THREADS);
  CHECK_EQ(options.stack_size, 123456);
  CHECK_EQ((int)options.idle, (int)WEFT_IDLE_POWER_SAVING);
  CHECK_EQ(strlen(options.name), WF_THREAD_NAME_MAX);
  CHECK_EQ(strncmp(options.name, config.name, WF_THREAD_NAME_MAX), 0);
  CHECK(options.on_start == hook && options.on_exit == hook);
  CHECK(options.hook_ctx == &config);
  CHECK_EQ(options.guests, WEFT_MAX_GUESTS);
  CHECK_EQ(options.deque_capacity, 2);
  CHECK_EQ((int)options.steer, (int)WEFT_STEER_ON);
  CHECK_EQ(options.queue_limit, 1234567890);
}

TEST(queue_limit_by_configuration_and_environment) {
  static const struct {
    const char *text;
    size_t expected;
  } texts[] = {{NULL, 0},        {"", 0},           {"0", 0},  {"1", 1},
               {"1000", 1000},   {"-1", 0},         {"2x", 0}, {"100000000", 100000000},
               {"100000001", 0}, {"4294967297", 0}, {"abc", 0}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    wf_options options;
    weft_config config = WEFT_CONFIG_INIT;
    wf_environment env = {.queue_limit = texts[i].text};
    CHECK_EQ(wf_options_resolve(&options, &config, env), 0);
    CHECK_EQ(options.queue_limit, texts[i].expected);
    config.queue_limit = 7; /* the program wins */
    CHECK_EQ(wf_options_resolve(&options, &config, env), 0);
    CHECK_EQ(options.queue_limit, 7);
    config.queue_limit = WEFT_NO_QUEUE_LIMIT;
    CHECK_EQ(wf_options_resolve(&options, &config, env), 0);
    CHECK_EQ(options.queue_limit, 0);
  }
}

TEST(steering_by_configuration_and_environment) {
  static const struct {
    const char *text;
    weft_steer expected;
  } texts[] = {{NULL, WEFT_STEER_AUTO},  {"auto", WEFT_STEER_AUTO},
               {"on", WEFT_STEER_ON},    {"off", WEFT_STEER_OFF},
               {"", WEFT_STEER_AUTO},    {"ON", WEFT_STEER_AUTO},
               {"on ", WEFT_STEER_AUTO}, {"2", WEFT_STEER_AUTO}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    wf_options options;
    weft_config config = WEFT_CONFIG_INIT;
    wf_environment env = {.steer = texts[i].text};
    CHECK_EQ(wf_options_resolve(&options, &config, env), 0);
    CHECK_EQ((int)options.steer, (int)texts[i].expected);
    config.steer = WEFT_STEER_OFF; /* the program wins */
    CHECK_EQ(wf_options_resolve(&options, &config, env), 0);
    CHECK_EQ((int)options.steer, (int)WEFT_STEER_OFF);
  }
}

TEST(v11_nonsense_is_refused) {
  static const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(size_t) + 1};
  wf_options options;
  wf_environment none = {0};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    config.struct_size = sizes[i];
    CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
  }
  /* Older headers end with a member, and with the gap behind it; not within one. */
  static const size_t whole[] = {12, 16, 24, 28, 32, 40, 48,  56,  64,
                                 68, 72, 80, 84, 88, 96, 104, 108, 112};
  weft_config small = WEFT_CONFIG_INIT;
  size_t next = 0;
  for (size_t size = 1; sizeof(void *) == 8 && size <= sizeof small; size++) {
    bool fits = size == whole[next] || (size > 12 && size < 16) ||
                (size > 28 && size < 32) || (size > 68 && size < 72) ||
                (size > 108 && size < 112);
    small.struct_size = size;
    CHECK_MSG(wf_options_resolve(&options, &small, none) == (fits ? 0 : WEFT_EINVAL),
              "%zu bytes", size);
    if (size == whole[next]) next++;
  }
  static const int modes[] = {WEFT_IDLE_DEFAULT + 1, 99, -1, INT_MIN, INT_MAX};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    weft_config config = WEFT_CONFIG_INIT;
    memcpy(&config.idle, &modes[i], sizeof config.idle); /* no such value of the enum */
    CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
  }
  for (int steer = -1; steer <= WEFT_STEER_OFF + 1; steer += WEFT_STEER_OFF + 2) {
    weft_config config = WEFT_CONFIG_INIT;
    memcpy(&config.steer, &steer, sizeof config.steer);
    CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
  }
  for (int bind = -1; bind <= WEFT_BIND_THREADS + 1; bind += WEFT_BIND_THREADS + 2) {
    weft_config config = WEFT_CONFIG_INIT;
    memcpy(&config.bind, &bind, sizeof config.bind);
    CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
  }
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = UINT_MAX;
  CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
  config = (weft_config)WEFT_CONFIG_INIT;
  config.guests = UINT_MAX;
  CHECK_EQ(wf_options_resolve(&options, &config, none), WEFT_EINVAL);
}

/* ---- the real environment ---- */

TEST_BY_NAME(expect_3_threads_and_power_saving) {
  CHECK_EQ(weft_thread_count(), 3);
  CHECK_EQ((int)weft_pool_current()->options.idle, (int)WEFT_IDLE_POWER_SAVING);
  weft_shutdown();
  weft_pool *pool = pool_of(2);
  CHECK_EQ(pool->options.threads, 2);
  CHECK_EQ((int)pool->options.idle, (int)WEFT_IDLE_POWER_SAVING);
  weft_pool_destroy(pool);
}

TEST_BY_NAME(expect_the_defaults) {
  CHECK_EQ(weft_thread_count(), wf_sys_cpu_count(""));
  CHECK_EQ((int)weft_pool_current()->options.idle, (int)WEFT_IDLE_BALANCED);
  weft_shutdown();
}

static void check_child(const char *env, const char *test) {
  char output[4096];
  int status = harness_run_self(env, test, output, sizeof output);
  CHECK_MSG(status == 0, "%s with %s ended with %d: %s", test, env, status, output);
}

TEST(v11_the_real_environment) {
  check_child("WEFT_NUM_THREADS=3 WEFT_IDLE=power_saving",
              "expect_3_threads_and_power_saving");
  check_child("WEFT_NUM_THREADS=none WEFT_IDLE=never", "expect_the_defaults");
  check_child("WEFT_NUM_THREADS= WEFT_IDLE=", "expect_the_defaults");
}
