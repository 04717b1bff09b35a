// pipeline/tbb.cpp - pipeline: oneTBB's parallel_pipeline with the same stages.
//
// Usage: pipeline_tbb opo|parallel|serial|mixed [threads]
//
// SPDX-License-Identifier: MIT
#include "pipeline.h"
#include <atomic>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>

// Numbers travel with the items, so that ordered stages can check them as weft's do.
struct item {
  uint32_t number, unused;
  uint64_t value;
};

struct stage_state {
  pipe_kind kind;
  int stage;
  uint64_t next, wrong;
};

static tbb::filter_mode mode_of(pipe_kind kind) {
  if (kind == PIPE_ORDERED) return tbb::filter_mode::serial_in_order;
  return kind == PIPE_SERIAL ? tbb::filter_mode::serial_out_of_order
                             : tbb::filter_mode::parallel;
}

static uint64_t work(stage_state *s, uint64_t number, uint64_t value) {
  if (s->kind == PIPE_ORDERED) s->wrong += number != s->next++;
  return pipe_work(value, s->stage);
}

// oneTBB keeps items that fit a pointer in place and allocates for larger ones; so the
// items are in an array, and pointers to them are passed.
static item items[PIPE_ITEMS];

static pipe_result run(const pipe_mixture *mixture) {
  stage_state states[PIPE_MOST_STAGES];
  for (int i = 0; i < mixture->count; i++) states[i] = {mixture->kinds[i], i, 0, 0};
  int end = mixture->count - 1;
  std::atomic<uint32_t> made{0};
  std::atomic<uint64_t> sum{0};
  tbb::filter<void, item *> chain = tbb::make_filter<void, item *>(
      mode_of(mixture->kinds[0]), [&](tbb::flow_control &control) -> item * {
        uint32_t number = made.fetch_add(1, std::memory_order_relaxed);
        if (number >= PIPE_ITEMS) {
          control.stop();
          return nullptr;
        }
        items[number] = {number, 0, work(&states[0], number, number)};
        return &items[number];
      });
  for (int i = 1; i < end; i++)
    chain = chain & tbb::make_filter<item *, item *>(
                        mode_of(mixture->kinds[i]), [state = &states[i]](item *it) {
                          it->value = work(state, it->number, it->value);
                          return it;
                        });
  tbb::parallel_pipeline(PIPE_IN_FLIGHT,
                         chain & tbb::make_filter<item *, void>(
                                     mode_of(mixture->kinds[end]), [&](item *it) {
                                       sum += work(&states[end], it->number, it->value);
                                     }));
  pipe_result result = {sum, 0};
  for (int i = 0; i < mixture->count; i++) result.wrong += states[i].wrong;
  return result;
}

int main(int argc, char **argv) {
  long threads = bench_arg(argc, argv, 2, 2);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(static_cast<int>(threads));
  arena.execute([=] { pipe_measure("tbb", run, argc, argv); });
  return 0;
}
