/* par/iter/iter.h - iterators inside: the kinds of stages, the plan that a sink makes,
 * and the ways to run it. The model is explained in iter.md.
 *
 * Who calls: the iter_*.c files only. A plan is made and used by one call of a sink; the
 * threads that run it only read it. A run belongs to one thread and one block.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ITER_H
#define WF_PAR_ITER_H

#include "../base/checks.h"
#include "../base/scratch.h"
#include "../loop/loop.h"

#include <weft/iter.h>

typedef enum wf_iter_kind {
  WF_SLICE,   /* p: array */
  WF_REFS,    /* p: array, a: element size */
  WF_RANGE,   /* a: begin, b: step, their low 32 bits; c, d: the high ones */
  WF_CHUNKS,  /* p: array, a: its length, b: element size, c: chunk */
  WF_WINDOWS, /* the same, c: window */
  WF_TILES,   /* a, b: rows and columns, c, d: of a tile */
  WF_REPEAT,  /* p: value */
  WF_PULL,    /* fn */
  WF_LINES,   /* p: text, a: length */
  WF_MAP,     /* fn; from here on stages */
  WF_INSPECT,
  WF_KERNEL,    /* p: weft_iter_kernel */
  WF_ENUMERATE, /* a: offset of the value */
  WF_FILTER,
  WF_FILTER_MAP,
  WF_FLAT_MAP,
  WF_TAKE_WHILE,
  WF_STEP, /* a */
  WF_SKIP, /* a */
  WF_TAKE,
  WF_REVERSE,
  WF_CHUNK,   /* a: chunk */
  WF_ZIP,     /* a: offset of the right part; from here on two operands */
  WF_ZIP_MAP, /* fn, or p: weft_iter_kernel */
  WF_CHAIN,
  WF_INTERLEAVE
} wf_iter_kind;

/* Flags of a stage. */
enum {
  WF_ITER_KNOWN = 1,   /* how many elements there are: `len` */
  WF_ITER_GROWS = 2,   /* there may be more elements than positions */
  WF_ITER_PULLS = 4,   /* the source is a pull */
  WF_ITER_LOOKS = 8,   /* there is an inspect */
  WF_ITER_CHUNKED = 16 /* elements point to a batch: there is a chunk stage */
};

static inline bool wf_stage_is(const wf_stage *s, unsigned flag) {
  return (s->flags & flag) != 0;
}

static inline const weft_iter_kernel *wf_stage_kernel(const wf_stage *s) {
  return (const weft_iter_kernel *)s->p;
}

/* ---- the plan ---- */

enum { WF_ITER_NONE = 255 };

/* How an iterator is run. A stage has positions, which can be worked on one by one: those
 * of its elements if their number is known, else those of what is in front of it. */
typedef struct wf_iter_plan {
  const weft_iter *it;
  const char *call;
  weft_opts opts;
  unsigned root;                        /* the stage whose elements the sink takes */
  bool spare;                           /* the sink needs a slot, too: the last one */
  size_t positions[WF_ITER_STAGES];     /* of each stage */
  bool is_cut[WF_ITER_STAGES];          /* take_while: the last position has the end */
  unsigned char parent[WF_ITER_STAGES]; /* the stage behind each; NONE behind the root */
  unsigned char slot[WF_ITER_STAGES];   /* where each has its batch */
  size_t extra[WF_ITER_STAGES];         /* chunks: bytes for each, or 0 */
  unsigned slots;
  size_t widest;    /* bytes of the largest element */
  size_t all_extra; /* bytes for the chunks of one element of a batch */
} wf_iter_plan;

/* For the stages up to `root`; the options must be right. Finds the ends of take_while
 * stages, for which it runs what is in front of them. `spare`: each run has a slot for
 * its sink. */
void wf_iter_plan_make(wf_iter_plan *plan, const weft_iter *it, unsigned root, bool spare,
                       const char *call);

/* The same for all stages, or ends the program if there are none. */
void wf_iter_plan_all(wf_iter_plan *plan, const weft_iter *it, const char *call);

/* Ends the program if it is none. */
void wf_iter_check(const weft_iter *it, const char *call);

static inline const wf_stage *wf_plan_stage(const wf_iter_plan *plan, unsigned k) {
  return &plan->it->stages[k];
}

static inline const wf_stage *wf_plan_root(const wf_iter_plan *plan) {
  return &plan->it->stages[plan->root];
}

static inline size_t wf_plan_positions(const wf_iter_plan *plan) {
  return plan->positions[plan->root];
}

static inline unsigned wf_stage_left(const wf_stage *stages, unsigned k) {
  return k - stages[k].left;
}

/* ---- a run ---- */

typedef struct wf_iter_run wf_iter_run;

/* Takes a batch; n > 0. False: no more is wanted. */
typedef bool wf_iter_take(wf_iter_run *run, const char *elems, size_t n);

struct wf_iter_run {
  const wf_iter_plan *plan;
  wf_iter_take *take;
  void *state;       /* of the sink */
  size_t key;        /* blocks with lower ones come first in what the sink looks for */
  size_t begin, end; /* of the block */
  size_t offset;     /* of what is left of the part that runs, in a chain */
  size_t base, next; /* the positions of the batch that is under way */
  size_t tally;      /* for the sink: 0 at first */
  char *target;      /* NULL, or where the root puts its batch instead of its slot */
  char *slots;       /* memory of the batches */
  char *extra;       /* memory of chunks, behind each other by stage */
  size_t capacity, slot_bytes; /* elements and bytes of a slot */
  size_t batch;                /* so many elements at a time */
  unsigned cuts;    /* bits of the take_while stages whose end is in the part that runs */
  unsigned ended;   /* a take_while that came to its end, or NONE */
  bool stopped;     /* the sink wants no more */
  bool only_counts; /* it does not look at the elements, which may be NULL */
};

/* Calls fn(run) with a run that has memory. */
typedef void wf_iter_run_fn(wf_iter_run *run);
void wf_iter_with_memory(wf_iter_run *run, wf_iter_run_fn *fn);

/* Runs the positions [begin, end) of the root, in order, and gives the batches to the
 * sink, run->take. The other way starts from a run with plan, take, state and zeros. */
void wf_iter_eval(wf_iter_run *run, size_t begin, size_t end);

/* Hands elements of stage k on to the stages behind it, and in the end to the sink.
 * False: no more elements of stage k are wanted. */
bool wf_iter_push(wf_iter_run *run, unsigned k, const char *elems, size_t n);

/* Elements i, i + stride, ... of stage k, whose length is known: n of them, not more than
 * fit into a slot. `at`: how many of the batch the caller had before. */
const char *wf_iter_fetch(wf_iter_run *run, unsigned k, size_t i, size_t n, size_t stride,
                          size_t at);

/* What stage k, one of map, inspect and kernels of maps, makes of a batch. */
const char *wf_iter_map_batch(wf_iter_run *run, unsigned k, const char *in, size_t n);

/* What the kernel of stage s, not one of a flat map, makes of n elements, of the zip of n
 * of each side: returns how many. And how many the kernel of a filter or flat map would
 * make. */
size_t wf_iter_kernel_run(const wf_stage *s, char *out, const char *in, const char *right,
                          size_t n);
size_t wf_iter_kernel_count(const wf_stage *s, const char *in, size_t n);

/* The memory of stage k for a batch. */
static inline char *wf_iter_slot(const wf_iter_run *run, unsigned k) {
  if (run->target != NULL && k == run->plan->root) return run->target;
  return run->slots + run->plan->slot[k] * run->slot_bytes;
}

/* The memory that the plan has for the sink. */
static inline char *wf_iter_spare(const wf_iter_run *run) {
  return run->slots + (run->plan->slots - 1) * run->slot_bytes;
}

/* Copies an element; the compiler makes a move of it for the usual sizes. */
static inline void wf_iter_copy(void *to, const void *from, size_t size) {
  if (size == 8)
    memcpy(to, from, 8);
  else if (size == 4)
    memcpy(to, from, 4);
  else if (size == 16)
    memcpy(to, from, 16);
  else
    memcpy(to, from, size);
}

/* ---- ways to run all of it ---- */

/* Ends the program if the iterator's elements have another size. */
void wf_iter_need_size(const weft_iter *it, size_t size, const char *call);

/* A sink that does not mind the order. */
typedef struct wf_iter_sink {
  wf_iter_take *take;
  void *state;
  void (*done)(wf_iter_run *run); /* NULL, or called at the end of each block */
  /* NULL, or: is nothing from this position on wanted any more? */
  bool (*is_over)(size_t begin, const void *state);
  bool from_front, from_back; /* threads take blocks from there */
  bool only_counts;           /* `take` does not look at the elements */
} wf_iter_sink;

void wf_iter_run_all(const wf_iter_plan *plan, const wf_iter_sink *sink);

/* A fold: each leaf is a run whose state is an accumulator that `init` has made. */
typedef struct wf_iter_folding {
  size_t size; /* of an accumulator */
  void (*init)(void *acc, void *ctx);
  wf_iter_take *take; /* run->state: accumulator; run->plan: that of the call */
  void (*merge)(void *acc, const void *right, void *ctx);
  void *ctx;
} wf_iter_folding;

void wf_iter_fold_all(const wf_iter_plan *plan, void *result, const wf_iter_folding *f);

/* What a take function of a fold needs beside the accumulator: the state of its run. */
typedef struct wf_iter_leaf {
  void *acc;
  void *ctx;
} wf_iter_leaf;

/* ---- in order: iter_order.c ---- */

typedef struct wf_iter_order wf_iter_order;

/* Gives a batch to the lanes by wf_iter_put. False: no memory, or stopped. */
typedef bool wf_iter_route(wf_iter_order *order, wf_iter_run *run, const char *elems,
                           size_t n);

/* Elements of a lane that are ready. */
typedef struct wf_iter_lane {
  size_t size;
  char *dst;    /* NULL: keep them */
  size_t room;  /* elements of dst */
  size_t count; /* result: how many came */
} wf_iter_lane;

struct wf_iter_order {
  const wf_iter_plan *plan;
  unsigned lanes; /* 1 or 2 */
  wf_iter_lane lane[2];
  wf_iter_route *route;
  void *state;                    /* of the sink */
  weft_buffer *buffer;            /* of lane 0 if its dst is NULL */
  const wf_iter_folding *folding; /* not NULL: blocks are folded and merged in order */
  void *result;                   /* of the fold */
  bool no_memory;                 /* result: for the buffer */
};

/* Runs all blocks and places, keeps or merges what they give in the order of the
 * sequence. */
void wf_iter_run_ordered(wf_iter_order *order);

/* Appends elements to what the block has in a lane. */
bool wf_iter_put(wf_iter_order *order, wf_iter_run *run, unsigned lane, const char *elems,
                 size_t n);

/* ---- pull sources: iter_pull.c ---- */

/* How the batches of a pull are worked on. */
typedef struct wf_iter_pulling {
  const wf_iter_plan *plan;
  /* What a thread works with; NULL: it takes no part. */
  void *(*enter)(void *ctx);
  /* Takes a batch, the number of which is run->key. Returns what the thread goes on with;
   * NULL: it takes no further part. */
  void *(*batch)(void *own, wf_iter_run *run, const char *elems, size_t n, void *ctx);
  void (*leave)(void *own, void *ctx); /* with what is not NULL */
  /* NULL, or: is nothing more wanted? */
  bool (*is_over)(size_t key, const void *ctx);
  void *ctx;
  size_t key; /* of the next batch; changes */
  bool ended; /* result: there is no more, or nobody wants it */
} wf_iter_pulling;

/* Pulls and works on batches, with all threads, until the end or until all have left.
 * Inside the pool only. */
void wf_iter_pull_all(wf_iter_pulling *pulling);

/* The same with the calling thread only. */
void wf_iter_pull_serially(wf_iter_pulling *pulling);

#endif
