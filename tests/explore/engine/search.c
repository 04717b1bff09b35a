/* search.c - which schedules are run: all within a bound, random ones, or a given one.
 *
 * An execution is a sequence of choices. The search keeps those of the last execution on
 * a stack; the next one repeats all but the last that has an alternative left, takes
 * that, and goes on in the ordinary course. Nothing else is remembered of a state.
 *
 * The text of a schedule names only what is out of the ordinary, by the number of the
 * step: "17t2" means that at step 17 thread 2 runs, "20s1" that the second newest store
 * is read. So it does not depend on what the search knew when it found it.
 *
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "engine.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_CHOICES = 1 << 16, MAX_NOTES = 1 << 14, MAX_OUTCOMES = 4096 };

xp_run xp_now;

typedef struct choice {
  uint16_t options, chosen;
} choice;

/* Something out of the ordinary. */
typedef struct note {
  unsigned step;
  char kind; /* a letter of KIND_LETTERS */
  unsigned ordinal, value;
} note;

static const char KIND_LETTERS[] = "tsfwxa"; /* as xp_choice */

static choice stack[MAX_CHOICES];
static unsigned depth, length; /* choices made in this execution; known from before */
static note notes[MAX_NOTES];
static unsigned note_count;
static note given[MAX_NOTES]; /* a schedule to replay */
static unsigned given_count;
static unsigned ordinal_step[XP_CHOICE_KINDS], ordinals[XP_CHOICE_KINDS];
static xp_search_kinds kind_now;
static jmp_buf main_jump;

/* ---- random numbers, for PCT ---- */

static uint64_t random_state;
static uint32_t priorities[XP_MAX_THREADS + 1];
static unsigned change_points[16], change_count;
static unsigned longest; /* steps of an execution so far */

static uint64_t next_random(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state * 0x2545F4914F6CDD1Du >> 11;
}

static void begin_random(unsigned pct_depth) {
  change_count = pct_depth > 1 ? pct_depth - 1 : 0;
  if (change_count > 16) change_count = 16;
  for (unsigned i = 0; i <= XP_MAX_THREADS; i++)
    priorities[i] = 1000 + (uint32_t)(next_random() % 1000000);
  for (unsigned i = 0; i < change_count; i++)
    change_points[i] = (unsigned)(next_random() % (longest + 1));
}

/* ---- choices ---- */

xp_search_kinds xp_search_kind(void) {
  return kind_now;
}

static unsigned next_ordinal(xp_choice kind) {
  if (ordinal_step[kind] != xp_now.steps) {
    ordinal_step[kind] = xp_now.steps;
    ordinals[kind] = 0;
  }
  return ordinals[kind]++;
}

static void add_note(xp_choice kind, unsigned ordinal, unsigned value) {
  if (note_count == MAX_NOTES) abort();
  notes[note_count++] = (note){xp_now.steps, KIND_LETTERS[kind], ordinal, value};
}

/* What the given schedule says here; `ordinary` if nothing. */
static unsigned from_given(xp_choice kind, unsigned ordinal, unsigned ordinary) {
  for (unsigned i = 0; i < given_count; i++)
    if (given[i].step == xp_now.steps && given[i].kind == KIND_LETTERS[kind] &&
        given[i].ordinal == ordinal)
      return given[i].value;
  return ordinary;
}

/* ---- how large a search is ---- */

/* While this is not 0, new choices are drawn: anything out of the ordinary with this
 * probability. The product of 1 / probability over the choices of an execution is, on
 * average, the number of all executions (Knuth 1975). */
static double stray;
static double sample_weight;

static unsigned draw_choice(unsigned n) {
  if (n == 1) return 0;
  if ((double)(next_random() >> 1) / (double)((uint64_t)1 << 52) >= stray) {
    sample_weight /= 1 - stray;
    return 0;
  }
  sample_weight *= (n - 1) / stray;
  return 1 + (unsigned)(next_random() % (n - 1));
}

static unsigned from_stack(unsigned n) {
  if (depth == MAX_CHOICES) {
    fprintf(stderr, "explorer: too many choices in one execution\n");
    exit(2);
  }
  if (depth == length)
    stack[length++] = (choice){(uint16_t)n, (uint16_t)(stray > 0 ? draw_choice(n) : 0)};
  if (stack[depth].options != n) {
    fprintf(stderr, "explorer: %s does not do the same twice (%u options, not %u)\n",
            xp_now.scenario->name, n, stack[depth].options);
    exit(2);
  }
  return stack[depth++].chosen;
}

unsigned xp_choose(xp_choice kind, unsigned n) {
  if (kind == XP_CHOOSE_THREAD) return from_stack(n);
  unsigned ordinal = next_ordinal(kind), chosen;
  if (kind_now == XP_SEARCH_REPLAY)
    chosen = from_given(kind, ordinal, 0);
  else if (kind_now == XP_SEARCH_RANDOM)
    chosen = next_random() % 4 == 0 ? (unsigned)(next_random() % n) : 0;
  else
    chosen = from_stack(n);
  if (chosen >= n) chosen = 0;
  if (chosen != 0) add_note(kind, ordinal, chosen);
  return chosen;
}

void xp_note_thread(unsigned thread) {
  add_note(XP_CHOOSE_THREAD, next_ordinal(XP_CHOOSE_THREAD), thread);
}

static unsigned by_priority(const unsigned *threads, unsigned n) {
  for (unsigned i = 0; i < change_count; i++)
    if (change_points[i] == xp_now.steps) priorities[xp_current] = i;
  unsigned best = 0;
  for (unsigned i = 1; i < n; i++)
    if (priorities[threads[i]] > priorities[threads[best]]) best = i;
  return threads[best];
}

unsigned xp_choose_thread(const unsigned *threads, unsigned n) {
  if (kind_now == XP_SEARCH_RANDOM) {
    unsigned thread = by_priority(threads, n);
    if (thread != threads[0])
      xp_note_thread(thread);
    else
      next_ordinal(XP_CHOOSE_THREAD);
    return thread;
  }
  unsigned wanted =
      from_given(XP_CHOOSE_THREAD, next_ordinal(XP_CHOOSE_THREAD), threads[0]);
  for (unsigned i = 0; i < n; i++)
    if (threads[i] == wanted) return wanted;
  return threads[0];
}

unsigned xp_any(unsigned n) {
  return n > 1 ? xp_choose(XP_CHOOSE_SCENARIO, n) : 0;
}

const char *xp_schedule_text(void) {
  static char text[MAX_NOTES];
  size_t used = 0;
  text[0] = '\0';
  for (unsigned i = 0; i < note_count && used + 40 < sizeof text; i++) {
    used +=
        (size_t)snprintf(text + used, sizeof text - used, "%s%u%c%u", i > 0 ? "," : "",
                         notes[i].step, notes[i].kind, notes[i].value);
    if (notes[i].ordinal > 0)
      used += (size_t)snprintf(text + used, sizeof text - used, ".%u", notes[i].ordinal);
  }
  return text;
}

static bool read_schedule(const char *text) {
  given_count = 0;
  while (*text != '\0') {
    note *one = &given[given_count];
    int used = 0;
    one->ordinal = 0;
    if (sscanf(text, "%u%c%u%n", &one->step, &one->kind, &one->value, &used) < 3)
      return false;
    text += used;
    if (*text == '.') {
      if (sscanf(text, ".%u%n", &one->ordinal, &used) < 1) return false;
      text += used;
    }
    if (*text == ',') text++;
    if (++given_count == MAX_NOTES) return false;
  }
  return true;
}

/* ---- outcomes of litmus tests ---- */

static uint32_t outcomes[MAX_OUTCOMES];
static size_t outcome_count;
static uint32_t outcome_now;
static bool has_outcome;

void xp_outcome(uint32_t outcome) {
  outcome_now = outcome;
  has_outcome = true;
}

size_t xp_outcomes(const uint32_t **out) {
  *out = outcomes;
  return outcome_count;
}

static void keep_outcome(void) {
  size_t at = 0;
  while (at < outcome_count && outcomes[at] < outcome_now) at++;
  if (at < outcome_count && outcomes[at] == outcome_now) return;
  if (outcome_count == MAX_OUTCOMES) abort();
  memmove(outcomes + at + 1, outcomes + at, (outcome_count - at) * sizeof outcomes[0]);
  outcomes[at] = outcome_now;
  outcome_count++;
}

/* ---- one execution ---- */

_Noreturn void xp_leave(void) {
  if (xp_current != 0) {
    xp_context dropped = {NULL};
    xp_current = 0;
    xp_switch(&dropped, &xp_threads[0].context);
  }
  longjmp(main_jump, 1);
}

_Noreturn void xp_fail(xp_failure kind, const char *file, int line, const char *text) {
  const char *base = strrchr(file, '/');
  xp_now.failure = kind;
  snprintf(xp_now.message, sizeof xp_now.message, "%s: %s (%s:%d, thread %u, step %u)",
           xp_failure_name(kind), text, base != NULL ? base + 1 : file, line, xp_current,
           xp_now.steps);
  xp_leave();
}

static void call_thread(void *fn) {
  (*(xp_fn **)fn)();
}

static void run_body(const xp_scenario *scenario) {
  xp_now.alone = true;
  if (scenario->setup != NULL) scenario->setup();
  xp_now.alone = false;
  for (unsigned i = 0; i < XP_MAX_THREADS && scenario->threads[i] != NULL; i++)
    xp_thread_add(call_thread, (void *)(uintptr_t)&scenario->threads[i]);
  xp_threads_run();
  if (xp_now.failure != XP_NOTHING || xp_now.pruned) return;
  for (unsigned i = 1; i < xp_thread_count; i++) xp_memory_thread_join(0, i);
  xp_now.alone = true;
  if (scenario->check != NULL) scenario->check();
  xp_heap_check_leaks();
  if (has_outcome) keep_outcome();
}

static void execute(void) {
  const xp_scenario *scenario = xp_now.scenario;
  static uint64_t number;
  xp_now.number = ++number;
  xp_now.preemptions = xp_now.stale_reads = 0;
  xp_now.steps = 0;
  xp_now.spurious_left = scenario->spurious;
  xp_now.allocations_left = scenario->failing_allocations;
  xp_now.threads_left = scenario->failing_threads;
  xp_now.masks_left = scenario->failing_masks;
  xp_now.refuses_barrier = false;
  xp_now.timeouts_left = scenario->timeouts == 0  ? 1
                         : scenario->timeouts > 0 ? (unsigned)scenario->timeouts
                                                  : 0;
  xp_now.discovered = xp_now.pruned = false;
  xp_now.failure = XP_NOTHING;
  depth = 0;
  note_count = 0;
  has_outcome = false;
  memset(ordinal_step, 0xff, sizeof ordinal_step);
  xp_heap_begin();
  xp_memory_begin();
  xp_threads_begin();
  xp_races_begin();
  xp_trace_begin();
  if (setjmp(main_jump) == 0) run_body(scenario);
  xp_now.alone = true;
  xp_memory_end();
}

/* ---- searches ---- */

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void begin_search(const xp_scenario *scenario, xp_mode mode,
                         xp_search_kinds kind) {
  extern int xp_lock_spins;
  kind_now = kind;
  xp_now.scenario = scenario;
  xp_now.mode = mode;
  xp_now.bound = XP_UNBOUNDED;
  xp_now.stale_bound = XP_UNBOUNDED;
  xp_now.sleep_sets = false;
  xp_now.tracing = false;
  xp_lock_spins = (int)scenario->lock_spins;
  length = 0;
  outcome_count = 0;
  longest = 0;
  xp_memory_reset_search();
}

/* To the next alternative; false if there is none. */
static bool advance(void) {
  length = depth;
  while (length > 0 && stack[length - 1].chosen + 1 >= stack[length - 1].options)
    length--;
  if (length == 0) return false;
  stack[length - 1].chosen++;
  return true;
}

static void count(xp_result *result) {
  result->executions++;
  if (xp_now.pruned) result->pruned++;
  if (xp_now.steps > result->max_depth) result->max_depth = xp_now.steps;
  if (xp_now.steps > longest) longest = xp_now.steps;
}

static void set_bounds(const xp_scenario *scenario, xp_mode mode, int bound) {
  xp_now.bound = bound;
  if (bound != XP_UNBOUNDED)
    xp_now.stale_bound = scenario->stale_bound != 0 ? scenario->stale_bound : bound + 1;
  /* Sleep sets leave out states in between, which an invariant wants to see, and take
   * faults to be independent, which they are not: their number is limited. */
  xp_now.sleep_sets = bound == XP_UNBOUNDED && mode != XP_TSO &&
                      scenario->invariant == NULL && scenario->spurious == 0 &&
                      scenario->failing_allocations == 0 &&
                      scenario->failing_threads == 0;
}

xp_result xp_search(const xp_scenario *scenario, xp_mode mode, int bound) {
  enum { DEFAULT_EXECUTIONS = 200000 };
  xp_result result = {0};
  double start = seconds_now();
  uint64_t limit = scenario->max_executions;
  if (limit == 0) limit = scenario->incomplete != NULL ? DEFAULT_EXECUTIONS : UINT64_MAX;
  begin_search(scenario, mode, XP_SEARCH_ALL);
  set_bounds(scenario, mode, bound);
  while (result.executions < limit) {
    execute();
    count(&result);
    if (xp_now.discovered) { /* from the beginning, with what is known now */
      length = 0;
      outcome_count = 0;
      continue;
    }
    if (xp_now.failure != XP_NOTHING) {
      result.failure = xp_now.failure;
      break;
    }
    if (!advance()) {
      result.complete = true;
      break;
    }
  }
  result.seconds = seconds_now() - start;
  return result;
}

xp_result xp_search_random(const xp_scenario *scenario, xp_mode mode, uint64_t executions,
                           unsigned pct_depth, uint64_t seed) {
  xp_result result = {0};
  double start = seconds_now();
  begin_search(scenario, mode, XP_SEARCH_RANDOM);
  random_state = seed * 0x9E3779B97F4A7C15u + 1;
  while (result.executions < executions && result.failure == XP_NOTHING) {
    begin_random(pct_depth);
    execute();
    count(&result);
    if (!xp_now.discovered) result.failure = xp_now.failure;
  }
  result.seconds = seconds_now() - start;
  return result;
}

double xp_estimate(const xp_scenario *scenario, xp_mode mode, int bound, uint64_t samples,
                   uint64_t seed, xp_result *result) {
  double sum = 0, start = seconds_now();
  *result = (xp_result){0};
  begin_search(scenario, mode, XP_SEARCH_ALL);
  set_bounds(scenario, mode, bound);
  random_state = seed * 0x9E3779B97F4A7C15u + 1;
  stray = 0.02;
  while (result->executions < samples && result->failure == XP_NOTHING) {
    length = 0;
    sample_weight = 1;
    execute();
    if (xp_now.discovered) {
      sum = 0; /* what was counted before is of another tree */
      result->executions = 0;
      continue;
    }
    count(result);
    sum += sample_weight;
    result->failure = xp_now.failure;
    /* As many strays on average as the bound allows. */
    stray = (double)(bound + 2) / (double)(depth + 8 * (unsigned)(bound + 2));
  }
  stray = 0;
  result->seconds = seconds_now() - start;
  return sum / (double)result->executions;
}

bool xp_replay(const xp_scenario *scenario, xp_mode mode, const char *text, bool tracing,
               xp_result *result) {
  *result = (xp_result){0};
  begin_search(scenario, mode, XP_SEARCH_REPLAY);
  if (!read_schedule(text)) return false;
  do { /* again until it is known which words are shared */
    execute();
    count(result);
  } while (xp_now.discovered);
  xp_now.tracing = tracing;
  execute();
  result->failure = xp_now.failure;
  return true;
}
