/* fuzz/options.c - libFuzzer target: the structs by which a program configures pools and
 * calls, and the environment variables.
 *
 * The input is cut into the fields of weft_config and weft_opts, any bytes, and into
 * texts for all variables. Each struct lies at the end of memory of exactly struct_size
 * bytes, so that AddressSanitizer sees a read of what an older header does not have.
 * Whatever they hold, the answer is a refusal, or values in their range, a loop that runs
 * each index once, and a pool that works.
 *
 * SPDX-License-Identifier: MIT */
#include "sched/options.h"
#include "sched/environment.h"
#include "sched/sched.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define EXPECT(condition)                                                                \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);     \
      abort();                                                                           \
    }                                                                                    \
  } while (0)

typedef struct input {
  const uint8_t *data;
  size_t left;
} input;

static unsigned take(input *in) {
  if (in->left == 0) return 0;
  in->left--;
  return *in->data++;
}

static void take_bytes(input *in, void *out, size_t size) {
  size_t n = size < in->left ? size : in->left;
  memset(out, 0, size);
  memcpy(out, in->data, n);
  in->data += n;
  in->left -= n;
}

/* A number of any width; small ones are likely. */
static size_t take_number(input *in) {
  size_t value = 0;
  unsigned kind = take(in);
  take_bytes(in, &value, kind % 4 == 3 ? sizeof value : kind % 4);
  return kind >= 250 ? SIZE_MAX - value : value;
}

/* The first struct_size bytes in memory of their own, or all of it and more behind it. */
static void *exactly(const void *object, size_t size, size_t struct_size) {
  unsigned char *memory = malloc(struct_size > size ? struct_size : struct_size + 1);
  EXPECT(memory != NULL);
  memset(memory, 0x5a, struct_size);
  memcpy(memory, object, struct_size < size ? struct_size : size);
  if (struct_size >= sizeof struct_size) memcpy(memory, &struct_size, sizeof struct_size);
  return memory;
}

/* At most some hundreds of bytes: it is allocated. At least the size itself. */
static size_t take_struct_size(input *in, size_t usual) {
  unsigned kind = take(in);
  return kind < 128 ? usual : sizeof(size_t) + kind - 128;
}

/* ---- pools ---- */

/* None in most cases; else what looks like a list. */
static const char *take_cpus(input *in) {
  static const char letters[] = "0123,--,0,1 x9";
  static char text[24];
  if (take(in) % 8 != 7) return NULL;
  size_t length = take(in) % sizeof text;
  for (size_t i = 0; i < length; i++) text[i] = letters[take(in) % (sizeof letters - 1)];
  text[length] = '\0';
  return text;
}

static weft_config take_config(input *in) {
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = (unsigned)take_number(in);
  config.stack_size = take_number(in);
  config.idle = (weft_idle)take_number(in);
  config.guests = (unsigned)take_number(in);
  config.deque_capacity = take_number(in);
  config.blocking = (unsigned)take_number(in);
  config.steer = (weft_steer)take_number(in);
  config.queue_limit = take_number(in);
  if (take(in) % 8 == 7) config.bind = (weft_bind)take_number(in);
  config.cpus = take_cpus(in);
  if (take(in) % 4 == 0) config.name = "a name that is longer than a thread's can be";
  return config;
}

static void check_options(const wf_options *o) {
  EXPECT(o->threads >= 1 && o->threads <= WEFT_MAX_THREADS);
  EXPECT(o->guests >= 1 && o->guests <= WEFT_MAX_GUESTS);
  EXPECT(o->stand_ins <= WEFT_MAX_BLOCKING);
  EXPECT(o->deque_capacity >= 1 && o->deque_capacity <= (size_t)1 << 30);
  EXPECT((unsigned)o->idle < WEFT_IDLE_DEFAULT);
  EXPECT((unsigned)o->steer > WEFT_STEER_DEFAULT && (unsigned)o->steer <= WEFT_STEER_OFF);
  EXPECT((unsigned)o->bind <= WEFT_BIND_THREADS);
  EXPECT(o->cpus >= 1 && memchr(o->name, 0, sizeof o->name) != NULL);
}

static void nothing(void *ctx) {
  ++*(int *)ctx;
}

/* A pool that is not too large to be made often. */
static void check_pool(const weft_config *config) {
  weft_config small = *config;
  weft_pool *pool = NULL;
  int ran = 0;
  if (small.threads > 4) small.threads = 4;
  if (small.guests > 4) small.guests = 4;
  if (small.deque_capacity > 64) small.deque_capacity = 64;
  small.stack_size = 0;
  int status = weft_pool_create(&pool, &small);
  EXPECT((status == 0) == (pool != NULL));
  EXPECT(status == 0 || status == WEFT_EINVAL || status == WEFT_EAGAIN);
  if (pool == NULL) return;
  weft_pool_run(pool, nothing, &ran);
  EXPECT(ran == 1);
  weft_pool_destroy(pool);
}

static void check_config(input *in, wf_environment environment) {
  weft_config config = take_config(in);
  size_t size = take_struct_size(in, sizeof config);
  weft_config *given = exactly(&config, sizeof config, size);
  wf_options options;
  int status = wf_options_resolve(&options, given, environment);
  EXPECT(status == 0 || status == WEFT_EINVAL);
  if (status == 0) {
    check_options(&options);
    wf_options_free(&options);
  }
  char why[100];
  EXPECT((weft_config_check(given, why, sizeof why) == 0) == (status == 0));
  EXPECT((why[0] == '\0') == (status == 0));
  /* The oracle for a whole struct. */
  if (size == sizeof config) {
    bool valid =
        config.threads <= WEFT_MAX_THREADS && config.guests <= WEFT_MAX_GUESTS &&
        (unsigned)config.idle <= WEFT_IDLE_DEFAULT &&
        (unsigned)config.steer <= WEFT_STEER_OFF &&
        (config.blocking <= WEFT_MAX_BLOCKING || config.blocking == WEFT_NO_BLOCKING) &&
        (unsigned)config.bind <= WEFT_BIND_THREADS &&
        config.deque_capacity <= (size_t)1 << 30;
    EXPECT(valid || status != 0);
    if (config.cpus == NULL) EXPECT(valid == (status == 0));
    if (take(in) % 16 == 0) check_pool(&config);
  }
  free(given);
}

/* ---- calls ---- */

static jmp_buf way_out;
static char message[256];

static void leave(const char *text, void *ctx) {
  (void)ctx;
  snprintf(message, sizeof message, "%s", text);
  longjmp(way_out, 1);
}

enum { MOST = 300 };
static unsigned char marks[MOST];

static void mark(size_t begin, size_t end, void *ctx) {
  (void)ctx;
  EXPECT(begin < end && end <= MOST);
  for (size_t i = begin; i < end; i++) __atomic_fetch_add(&marks[i], 1, __ATOMIC_RELAXED);
}

static weft_opts take_opts(input *in) {
  weft_opts opts = WEFT_OPTS_INIT;
  opts.min_len = take_number(in);
  opts.max_len = take_number(in);
  opts.split = (weft_split)take_number(in);
  opts.target_chunks = take_number(in);
  opts.max_workers = (unsigned)take_number(in);
  opts.lane = (weft_lane)take_number(in);
  opts.order = (weft_order)take_number(in);
  return opts;
}

/* Misuse is noticed before anything runs, so the handler may leave by a jump. */
static void check_call(input *in) {
  weft_opts opts = take_opts(in), read;
  size_t size = take_struct_size(in, sizeof opts), n = take_number(in) % (MOST + 1);
  weft_opts *given = exactly(&opts, sizeof opts, size);
  bool valid = wf_opts_read(&read, given) == 0;
  if (size == sizeof opts)
    EXPECT(valid == ((unsigned)opts.split <= WEFT_SPLIT_RECURSIVE &&
                     (unsigned)opts.lane <= WEFT_LANE_BACKGROUND &&
                     (unsigned)opts.order <= WEFT_ORDER_FIFO));
  memset(marks, 0, sizeof marks);
  weft_set_fatal_handler(leave, NULL);
  if (setjmp(way_out) == 0) {
    weft_for_with(given, n, mark, NULL);
    EXPECT(valid);
    for (size_t i = 0; i < MOST; i++) EXPECT(marks[i] == (i < n));
  } else {
    EXPECT(!valid && strstr(message, "weft_for: the options are not valid") == message);
  }
  weft_set_fatal_handler(NULL, NULL);
  free(given);
}

/* ---- the environment ---- */

/* The next part of the input, up to a 0, in memory of its own with a 0 behind it. */
static char *next_text(input *in) {
  const uint8_t *end = in->left > 0 ? memchr(in->data, 0, in->left) : NULL;
  size_t length = end != NULL ? (size_t)(end - in->data) : in->left;
  char *text = malloc(length + 1);
  EXPECT(text != NULL);
  if (length > 0) memcpy(text, in->data, length);
  text[length] = '\0';
  size_t used = end != NULL ? length + 1 : length;
  if (used > 0) in->data += used;
  in->left -= used;
  return text;
}

static void check_variables(input *in) {
  char *text = next_text(in), *name = next_text(in);
  unsigned threads = wf_environment_threads(text, 3);
  unsigned limit = wf_environment_trace_limit(text);
  EXPECT(threads >= 1 && threads <= WEFT_MAX_THREADS);
  EXPECT(limit >= 1 && limit <= 1 << 20);
  EXPECT(wf_environment_queue_limit(text) <= 100000000);
  EXPECT((unsigned)wf_environment_idle(text) < WEFT_IDLE_DEFAULT);
  EXPECT((unsigned)wf_environment_steer(text) <= WEFT_STEER_OFF);
  EXPECT((unsigned)wf_environment_stats(text) <= WF_STATS_LIVE);
  const char *meant = wf_environment_meant(name, strlen(name));
  EXPECT(meant == NULL || (strncmp(meant, "WEFT_", 5) == 0 && strcmp(meant, name) != 0));
  free(text);
  free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input in = {data, size};
  check_variables(&in);
  char *texts[4] = {next_text(&in), next_text(&in), next_text(&in), next_text(&in)};
  check_config(&in, (wf_environment){texts[0], texts[1], texts[2], texts[3]});
  for (int i = 0; i < 4; i++) free(texts[i]);
  check_call(&in);
  return 0;
}
