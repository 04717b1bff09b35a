/* pipeline/weft.c - pipeline: weft_pipeline.
 *
 * Usage: pipeline_weft opo|parallel|serial|mixed [threads]     needs: weft_pipeline
 *
 * SPDX-License-Identifier: MIT */
#include "../common/weft_start.h"
#include "pipeline.h"

typedef struct stage_state {
  pipe_kind kind;
  int stage;
  uint64_t next, wrong; /* of an ordered stage */
} stage_state;

static int stage(void *item, size_t number, void *ctx) {
  stage_state *s = (stage_state *)ctx;
  uint64_t *value = (uint64_t *)item;
  if (s->stage == 0) {
    if (number >= PIPE_ITEMS) return WEFT_END;
    *value = number;
  }
  if (s->kind == PIPE_ORDERED) s->wrong += number != s->next++;
  *value = pipe_work(*value, s->stage);
  return 0;
}

typedef struct last_state {
  stage_state own;
  uint64_t sum; /* one item at a time, or by atomic additions */
} last_state;

static int last(void *item, size_t number, void *ctx) {
  last_state *s = (last_state *)ctx;
  int error = stage(item, number, &s->own);
  __atomic_fetch_add(&s->sum, *(uint64_t *)item, __ATOMIC_RELAXED);
  return error;
}

static pipe_result run(const pipe_mixture *mixture) {
  stage_state states[PIPE_MOST_STAGES];
  weft_stage stages[PIPE_MOST_STAGES];
  pipe_result result = {0, 0};
  int end = mixture->count - 1;
  for (int i = 0; i < end; i++) {
    states[i] = (stage_state){mixture->kinds[i], i, 0, 0};
    stages[i] = (weft_stage){(weft_stage_kind)mixture->kinds[i], stage, &states[i]};
  }
  last_state of_last = {{mixture->kinds[end], end, 0, 0}, 0};
  stages[end] = (weft_stage){(weft_stage_kind)mixture->kinds[end], last, &of_last};
  weft_pipeline(sizeof(uint64_t), PIPE_IN_FLIGHT, stages, (size_t)mixture->count);
  for (int i = 0; i < end; i++) result.wrong += states[i].wrong;
  result.wrong += of_last.own.wrong;
  result.sum = of_last.sum;
  return result;
}

int main(int argc, char **argv) {
  bench_weft_start(bench_arg(argc, argv, 2, 2));
  pipe_measure("weft", run, argc, argv);
  weft_shutdown();
  return 0;
}
