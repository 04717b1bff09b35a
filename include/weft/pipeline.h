/* weft/pipeline.h - pipelines: items that go through stages one after the other, several
 * items at a time.
 *
 *     weft_stage stages[] = {{WEFT_STAGE_ORDERED, read_block, in},
 *                            {WEFT_STAGE_PARALLEL, compress, NULL},
 *                            {WEFT_STAGE_ORDERED, write_block, out}};
 *     int error = weft_pipeline(sizeof(struct block), 0, stages, 3);
 *
 * SPDX-License-Identifier: MIT */
#ifndef WEFT_PIPELINE_H
#define WEFT_PIPELINE_H

#include <weft/opts.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How many items may be in a stage at a time, and in which order. */
typedef enum weft_stage_kind {
  WEFT_STAGE_ORDERED,  /* one, in the order of the items' numbers */
  WEFT_STAGE_SERIAL,   /* one, in any order */
  WEFT_STAGE_PARALLEL, /* any number */
  /* The same, for stages that may block, such as input and output: another thread stands
   * in meanwhile, as between weft_blocking_begin and weft_blocking_end. */
  WEFT_STAGE_ORDERED_BLOCKING = 4,
  WEFT_STAGE_SERIAL_BLOCKING,
  WEFT_STAGE_PARALLEL_BLOCKING
} weft_stage_kind;

/* What the first stage returns when there are no more items. It is INT_MIN, which no
 * system and no status of weft uses for an error. */
#define WEFT_END (-2147483647 - 1)

/* One step of an item. Items are numbered 0, 1, 2, ... in the order in which the first
 * stage is called. Returns 0, or an error of your own, or, from the first stage,
 * WEFT_END. */
typedef int weft_stage_fn(void *item, size_t number, void *ctx);

/* A stage of a pipeline: its function, with what ctx it is called, and its kind. */
typedef struct weft_stage {
  weft_stage_kind kind;
  weft_stage_fn *fn;
  void *ctx;
} weft_stage;

/* Takes items through stages, several items at a time.
 *
 * Replaces
 *
 *     for (size_t number = 0;; number++)
 *       for (size_t s = 0; s < count; s++) {
 *         int error = stages[s].fn(item, number, stages[s].ctx);
 *         if (error == WEFT_END) return 0;
 *         if (error != 0) return error;
 *       }
 *
 * Meaning: each item goes through all stages in their order, and several items are on
 * their way at the same time, at most in_flight of them, and at most 65,536. in_flight of
 * 0 means 4 for each thread that may take part and for each blocking stage, or 1 if only
 * one thread can. An
 * item is item_size bytes in a ring; it begins at a cache line. The bytes are zero when
 * its place is used for the first time, and later what the previous item in that place
 * has left there; item_size may be 0. What one stage did to an item is visible to the
 * next one, and what one call of an ordered or serial stage did is visible to the next
 * call of that stage.
 *
 * The first stage makes the items. With every kind but PARALLEL it is called by one
 * thread at a time, with the numbers in order, until it returns WEFT_END. A PARALLEL
 * first stage is called by several threads at once, so several may return WEFT_END, and a
 * call with a higher number may have begun by then. Every item whose call returned 0 goes
 * through the other stages, and soon no more are begun. So return WEFT_END for all
 * numbers from a certain one on. WEFT_END
 * from another stage than the first ends the program with a message.
 *
 * Errors: the result is 0 or the error of the lowest item that failed, as in the serial
 * loop. Items with lower numbers go through all stages; those with higher numbers go
 * through no further one. So an ordered stage behind the one that failed has got exactly
 * the items before the failed one, and how many items the first stage has made is all
 * that depends on the threads. WEFT_ENOMEM: no memory for even one item, and nothing has
 * run. With less memory than in_flight items need there are fewer of them. A NULL
 * function, an unknown kind, no stages or bad options end the program with a message.
 *
 * Cancellation: inside a stage, weft_scope_current() is a scope of the pipeline. When it
 * is cancelled, or a scope around the call, no further stage is started, and the result
 * is the error of that scope, if no item has failed. What a stage spawns into this scope
 * has ended when the call returns. The twin takes options: pool, max_workers (the most
 * threads in stages at a time, without those in blocking ones), cancel (the result is
 * WEFT_ECANCELED). Other options mean nothing here.
 *
 * Threads: any. The call returns when all stages have returned. A thread takes an item
 * from stage to stage for as long as it can; where the next stage is not free, the item
 * waits and the thread goes on with another one. Nobody blocks. A stage may call
 * everything: while it waits inside weft, its thread runs only what the stage has made,
 * as in weft_isolate, never another stage of the same pipeline. Stages must not be left
 * by longjmp or a C++ exception.
 *
 * Cost: one allocation for the call, none for items. On one thread it is the serial loop
 * with about 5 ns for each stage. On two, an item costs about 35 ns and 25 ns more for
 * each further stage (empty stages, a Xeon with 2 CPUs); a blocking stage some tens of
 * nanoseconds more. Stages of less than a microsecond profit from larger items. */
WEFT_API int weft_pipeline(size_t item_size, size_t in_flight, const weft_stage *stages,
                           size_t count);
WEFT_API int weft_pipeline_with(const weft_opts *o, size_t item_size, size_t in_flight,
                                const weft_stage *stages, size_t count);

#ifdef __cplusplus
}
#endif

#endif
