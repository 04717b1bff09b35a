/* slow.c - the programs of examples/slow, as docs/guide/tuning.md looks at them: the
 * trace of each slow form has the shape of its cause, and `weft view` and `weft doctor`
 * name the cause and the place. What they say of times is not looked at: the machine may
 * be busy.
 *
 * SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "trace/trace.h"

#include <harness/harness.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[1 << 20];
static char trace_path[64];

static int run(const char *command) {
  FILE *pipe = popen(command, "r");
  REQUIRE(pipe != NULL);
  size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = '\0';
  int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Runs a program with a trace, and reads it. */
static void trace_of(trace *t, const char *program) {
  char command[400], problem[200] = "";
  snprintf(trace_path, sizeof trace_path, "/tmp/weft-slow-%ld.json", (long)getpid());
  snprintf(command, sizeof command, "WEFT_NUM_THREADS=2 WEFT_TRACE=%s %s/%s 2>&1",
           trace_path, SLOW_EXAMPLES, program);
  int code = run(command);
  REQUIRE(CHECK_MSG(code == 0, "%s: %d, %s", program, code, output));
  REQUIRE(CHECK_MSG(trace_read(t, trace_path, problem), "%s", problem));
  trace_analyse(t);
  trace_find(t);
}

static void forget(trace *t) {
  trace_free(t);
  unlink(trace_path);
}

static const finding *found(const trace *t, const char *id) {
  for (size_t i = 0; i < t->finding_count; i++)
    if (strcmp(t->findings[i].id, id) == 0) return &t->findings[i];
  return NULL;
}

static bool says(const finding *f, const char *words) {
  return f != NULL &&
         (strstr(f->title, words) != NULL || strstr(f->words, words) != NULL ||
          strstr(f->advice, words) != NULL);
}

static size_t count(const trace *t, slice_kind kind, const char *name) {
  size_t slices = 0;
  for (size_t i = 0; i < t->slice_count; i++)
    slices += t->slices[i].kind == kind &&
              strncmp(t->names[t->slices[i].name], name, strlen(name)) == 0;
  return slices;
}

/* `weft doctor` has a finding of this id with these words, and asks for action. */
static bool doctor_says(const char *program, const char *id, const char *words) {
  char command[400], key[60];
  snprintf(command, sizeof command,
           "WEFT_NUM_THREADS=2 %s doctor --json -- %s/%s 2>/dev/null", WEFT_COMMAND,
           SLOW_EXAMPLES, program);
  int code = run(command);
  char problem[160];
  CHECK_MSG(json_is_valid(output, strlen(output), problem), "%s: %s", problem, output);
  snprintf(key, sizeof key, "\"%s\"", id);
  const char *at = strstr(output, key);
  const char *end = at != NULL ? strchr(at, '}') : NULL;
  const char *said = at != NULL ? strstr(at, words) : NULL;
  return code == 3 && said != NULL && end != NULL && said < end;
}

/* A busy machine may hide a cause in a run; not in all of them. */
enum { RUNS = 10 };

/* ---- a serial part ---- */

TEST_LIMIT(a_serial_part_is_named, 120) {
  bool named = false, by_doctor = false;
  for (int i = 0; i < RUNS && !named; i++) {
    trace t;
    trace_of(&t, "serial slow");
    CHECK_EQ(count(&t, SLICE_CALL, "invent, serial.c:"), 4u); /* also the very first */
    CHECK_EQ(count(&t, SLICE_CALL, "parse"), 0u);
    const finding *f = found(&t, "outside");
    named = says(f, "before \"energy, serial.c:") && f->severity >= SEVERITY_WARNING &&
            f->end > f->begin;
    forget(&t);
  }
  CHECK(named);
  for (int i = 0; i < RUNS && !by_doctor; i++)
    by_doctor = doctor_says("serial slow", "outside", "energy, serial.c:");
  CHECK_MSG(by_doctor, "%s", output);

  trace t;
  trace_of(&t, "serial mended");
  CHECK_EQ(count(&t, SLICE_CALL, "parse, serial.c:"), 4u);
  CHECK(count(&t, SLICE_BLOCK, "parse, serial.c:") > 8);
  forget(&t);
}

/* ---- a lock ---- */

TEST_LIMIT(a_lock_is_named, 120) {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) < 2) {
    printf("skipped: on one CPU nobody waits for the lock\n");
    return;
  }
  bool named = false, by_doctor = false;
  int calm = 0;
  for (int i = 0; i < RUNS && !named; i++) {
    trace t;
    trace_of(&t, "lock slow");
    const finding *f = found(&t, "waits-inside");
    CHECK(t.cpu_ns > 0);
    calm += found(&t, "starved") == NULL;
    named = says(f, "for a lock") && says(f, "\"count, lock.c:") &&
            says(f, "weft_reduce_local") && f->severity >= SEVERITY_WARNING;
    forget(&t);
  }
  CHECK(named || calm == 0);
  calm = 0;
  for (int i = 0; i < RUNS / 3 && !by_doctor; i++) {
    by_doctor = doctor_says("lock slow", "waits-inside", "for a lock");
    calm += strstr(output, "\"starved\"") == NULL;
  }
  CHECK_MSG(by_doctor || calm == 0, "%s", output);
  if (!named || !by_doctor)
    printf(
        "skipped: other programs have the CPUs, and threads seldom meet at the lock\n");
}

/* ---- blocks that are too large ---- */

TEST_LIMIT(large_blocks_are_named, 120) {
  bool named = false, by_doctor = false;
  for (int i = 0; i < RUNS && !named; i++) {
    trace t;
    trace_of(&t, "blocks slow");
    CHECK_EQ(count(&t, SLICE_CALL, "shade, blocks.c:"), 4u);
    CHECK_EQ(count(&t, SLICE_BLOCK, "shade, blocks.c:"), 4u);
    const finding *f = found(&t, "large-blocks");
    named = says(f, "\"shade, blocks.c:") && says(f, "ran as one block of ") &&
            says(f, "[0, 300)") && says(f, "min_len") && says(f, "idle ") &&
            says(f, "Its 4 calls ran as 4 blocks.");
    forget(&t);
  }
  CHECK(named);
  for (int i = 0; i < RUNS && !by_doctor; i++)
    by_doctor = doctor_says("blocks slow", "large-blocks", "ran as one block of ");
  CHECK_MSG(by_doctor, "%s", output);

  trace t;
  trace_of(&t, "blocks mended");
  CHECK(count(&t, SLICE_BLOCK, "shade, blocks.c:") >= 8);
  CHECK(!says(found(&t, "large-blocks"), "[0, 300)"));
  forget(&t);
}

/* ---- what a trace cannot show ---- */

/* A program that computes before it uses weft: the doctor sees how long it ran. */
TEST(what_ran_before_weft_is_named) {
  char command[600];
  bool named = false;
  for (int i = 0; i < RUNS && !named; i++) {
    snprintf(
        command, sizeof command,
        "WEFT_NUM_THREADS=2 %s doctor --json -- sh -c 'i=0; while [ $i -lt 300000 ]; "
        "do i=$((i+1)); done; exec %s/blocks mended' 2>/dev/null",
        WEFT_COMMAND, SLOW_EXAMPLES);
    (void)run(command);
    named = strstr(output, "\"before-weft\"") != NULL;
  }
  CHECK_MSG(named, "%s", output);
}
