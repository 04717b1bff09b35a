/* par/iter/iter.h - iterators inside: the kinds of stages, the plan that a sink makes,
 * and the ways to run it. README.md has the way of a chain through these files, iter.md
 * the model and why it is right.
 *
 * Included by the files of this folder only. A plan is made by one call of a sink; the
 * threads that run it only read it. A run belongs to one thread and one block.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_ITER_H
#define WF_PAR_ITER_H

#include "../base/bytes.h"
#include "../fold/reduce.h"
#include "../fold/simd.h"
#include "../loop/loop.h"

#include <weft/iter.h>

/* What a wf_stage (weft/detail/iter.h) is, and in brackets which member of `as` it uses.
 * The order matters: sources, stages of one operand, stages of two. */
typedef enum wf_iter_kind {
  WF_SLICE,      /* slice */
  WF_REFS,       /* refs */
  WF_RANGE,      /* range */
  WF_CHUNKS,     /* parts */
  WF_WINDOWS,    /* parts */
  WF_TILES,      /* tiles */
  WF_REPEAT,     /* repeat */
  WF_FROM,       /* from */
  WF_SPLIT,      /* split */
  WF_PULL,       /* pull */
  WF_LINES,      /* lines */
  WF_MAP,        /* map; from here on stages */
  WF_INSPECT,    /* inspect */
  WF_KERNEL,     /* kernel */
  WF_ENUMERATE,  /* enumerate */
  WF_FILTER,     /* test */
  WF_FILTER_MAP, /* filter_map */
  WF_FLAT_MAP,   /* flat_map */
  WF_TAKE_WHILE, /* test */
  WF_STEP,       /* step */
  WF_SKIP,       /* skip */
  WF_TAKE,       /* - */
  WF_REVERSE,    /* - */
  WF_CHUNK,      /* chunk */
  WF_ZIP,        /* zip; from here on two operands */
  WF_ZIP_MAP,    /* zip_map */
  WF_ZIP_KERNEL, /* kernel */
  WF_CHAIN,      /* - */
  WF_INTERLEAVE  /* - */
} wf_iter_kind;

/* Flags of a stage. */
enum {
  WF_ITER_KNOWN = 1,   /* the number of elements is known: `len` */
  WF_ITER_GROWS = 2,   /* there may be more elements than positions */
  WF_ITER_PULLS = 4,   /* the source is a pull */
  WF_ITER_LOOKS = 8,   /* there is an inspect */
  WF_ITER_CHUNKED = 16 /* elements point to a batch: there is a chunk stage */
};

static inline bool wf_stage_is(const wf_stage *s, unsigned flag) {
  return (s->flags & flag) != 0;
}

static inline const weft_iter_kernel *wf_stage_kernel(const wf_stage *s) {
  WF_ASSERT(s->kind == WF_KERNEL || s->kind == WF_ZIP_KERNEL);
  return s->as.kernel.loops;
}

static inline bool wf_stage_is_kernel_of(const wf_stage *s, weft_iter_kernel_kind kind) {
  return s->kind == WF_KERNEL && s->as.kernel.loops->kind == kind;
}

static inline bool wf_stage_is_flat_map(const wf_stage *s) {
  return s->kind == WF_FLAT_MAP || wf_stage_is_kernel_of(s, WEFT_ITER_KERNEL_FLAT_MAP);
}

/* The place of the left operand of stage k. */
static inline unsigned wf_stage_left(const wf_stage *stages, unsigned k) {
  WF_ASSERT(stages[k].kind >= WF_ZIP && stages[k].left >= 2 && stages[k].left <= k);
  return k - stages[k].left;
}

/* ---- checks: build.c ---- */

/* Each ends the program with a message that begins with `call` unless ... */

/* ... `it` is an iterator that this library made. */
void wf_iter_check(const weft_iter *it, const char *call);

/* ... the elements of the iterator have this size; checks the iterator, too. */
void wf_iter_need_size(const weft_iter *it, size_t size, const char *call);

/* ... the stage knows its length. */
void wf_iter_need_length(const wf_stage *s, const char *call);

/* For assertions: kinds, operands and flags of all stages go together. */
bool wf_iter_is_sound(const weft_iter *it);

/* ---- the plan: plan.c ---- */

enum { WF_ITER_NONE = 255 };

/* The leaves of the tree of a split source, side by side, behind this head at the next
 * cache line. While split.c looks for them there are several such pages; count <= room.
 */
typedef struct wf_iter_leaves {
  struct wf_iter_leaves *next;
  wf_scratch memory; /* of the page itself */
  size_t count, room;
  unsigned stage; /* whose leaves they are */
} wf_iter_leaves;

enum {
  WF_ITER_LEAVES_HEAD =
      (sizeof(wf_iter_leaves) + WF_CACHE_LINE - 1) / WF_CACHE_LINE * WF_CACHE_LINE
};

static inline char *wf_iter_leaves_data(wf_iter_leaves *leaves) {
  return (char *)leaves + WF_ITER_LEAVES_HEAD;
}

/* How an iterator is run. A stage has positions, which can be worked on one by one: those
 * of its elements if their number is known, else those of its operand.
 *
 * Invariants: slot[k] < slots; a stage's slot differs from those that hold its operands'
 * elements while it runs; positions[k] == stages[k].len where the length is known. */
typedef struct wf_iter_plan {
  const weft_iter *it;
  const char *call;
  weft_opts opts;
  unsigned root;                        /* the stage whose elements the sink takes */
  bool sink_slot;                       /* the last slot belongs to the sink */
  size_t positions[WF_ITER_STAGES];     /* of each stage */
  bool is_cut[WF_ITER_STAGES];          /* take_while: the last position has the end */
  unsigned char parent[WF_ITER_STAGES]; /* the stage behind each; NONE behind the root */
  unsigned char slot[WF_ITER_STAGES];   /* where each has its batch */
  size_t extra[WF_ITER_STAGES];         /* chunk stages: bytes of one chunk, else 0 */
  unsigned slots;
  size_t widest;          /* bytes of the largest element */
  size_t all_extra;       /* bytes for the chunks of one element of a batch */
  wf_iter_leaves *leaves; /* of split sources, one for each that has any */
} wf_iter_plan;

/* Makes the plan for the stages up to `root`. Finds the leaves of split sources, and the
 * ends of take_while stages, for which it runs what comes before them. `sink_slot`: each
 * run has a slot for its sink. wf_iter_plan_end gives back what a plan holds. */
void wf_iter_plan_make(wf_iter_plan *plan, const weft_iter *it, unsigned root,
                       bool sink_slot, const char *call);

/* The same for all stages, after wf_iter_check. */
void wf_iter_plan_all(wf_iter_plan *plan, const weft_iter *it, const char *call);

void wf_iter_plan_end(wf_iter_plan *plan); /* split.c */

/* Finds the leaves of stage k, a split source, and adds them to the plan. Returns how
 * many there are. (split.c) */
size_t wf_iter_split_tree(wf_iter_plan *plan, unsigned k);

static inline const wf_stage *wf_plan_stage(const wf_iter_plan *plan, unsigned k) {
  WF_ASSERT(k <= plan->root);
  return &plan->it->stages[k];
}

static inline const wf_stage *wf_plan_root(const wf_iter_plan *plan) {
  return &plan->it->stages[plan->root];
}

static inline size_t wf_plan_positions(const wf_iter_plan *plan) {
  return plan->positions[plan->root];
}

static inline bool wf_plan_is_known(const wf_iter_plan *plan) {
  return wf_stage_is(wf_plan_root(plan), WF_ITER_KNOWN);
}

static inline bool wf_plan_pulls(const wf_iter_plan *plan) {
  return wf_stage_is(wf_plan_root(plan), WF_ITER_PULLS);
}

/* Is there a stage of this kind? */
static inline bool wf_plan_has(const wf_iter_plan *plan, wf_iter_kind kind) {
  for (unsigned k = 0; k <= plan->root; k++)
    if (plan->it->stages[k].kind == kind) return true;
  return false;
}

/* ---- a run: run.c ---- */

typedef struct wf_iter_run wf_iter_run;

/* Takes a batch of n > 0 elements. False: no more is wanted. */
typedef bool wf_iter_take(wf_iter_run *run, const char *elems, size_t n);

/* One thread's way through one block. The memory of a run is `slots` slots of slot_bytes,
 * one behind the other, and behind them the chunks of each chunk stage.
 *
 * Invariants while it runs: 1 <= batch <= capacity, capacity * widest <= slot_bytes. */
struct wf_iter_run {
  const wf_iter_plan *plan;
  wf_iter_take *take;
  void *state;       /* of the sink */
  size_t key;        /* searches: blocks with lower keys have precedence */
  size_t begin, end; /* positions of the block */
  size_t offset;     /* positions before the side of a chain that runs now */
  size_t base, next; /* positions of the batch that is under way */
  size_t tally;      /* for the sink; 0 at first */
  char *target;      /* NULL, or where the root puts its batch instead of its slot */
  char *slots;       /* memory of the batches */
  char *extra;       /* memory of chunks */
  size_t capacity, slot_bytes; /* elements that fit into a slot, its bytes */
  size_t batch;                /* elements to work on at a time */
  unsigned cuts;    /* bits of the take_while stages whose end is in the part that runs */
  unsigned ended;   /* a take_while that came to its end, or NONE */
  bool stopped;     /* the sink wants no more */
  bool only_counts; /* the sink does not look at the elements, which may be NULL */
  bool takes_long;  /* batches of an array may be longer than a slot */
  bool fused;       /* the sink has the loop of the stage behind the root */
  bool pairs;       /* the sink has the loop of the root, a zip, and takes pairs: */
  const char *right; /* the right sides; the batch has the left ones */
};

/* Calls fn(run) with a run that has memory. */
typedef void wf_iter_run_fn(wf_iter_run *run);
void wf_iter_with_memory(wf_iter_run *run, wf_iter_run_fn *fn);

/* Runs the positions [begin, end) of the root, in order, and gives the batches to the
 * sink, run->take. Starts from a run with plan, take, state and zeros. */
void wf_iter_eval(wf_iter_run *run, size_t begin, size_t end);

/* Hands elements of stage k on to the stages behind it, and in the end to the sink.
 * False: no more elements of stage k are wanted. */
bool wf_iter_push(wf_iter_run *run, unsigned k, const char *elems, size_t n);

/* What the kernel stage s, not a flat map, makes of n elements, or of n pairs for a zip:
 * returns how many. And how many a filter or flat map would make. */
size_t wf_iter_kernel_run(const wf_stage *s, char *out, const char *in, const char *right,
                          size_t n);
size_t wf_iter_kernel_count(const wf_stage *s, const char *in, size_t n);

/* The memory of stage k for a batch. */
static inline char *wf_iter_slot(const wf_iter_run *run, unsigned k) {
  if (run->target != NULL && k == run->plan->root) return run->target;
  WF_ASSERT(run->plan->slot[k] < run->plan->slots);
  return run->slots + run->plan->slot[k] * run->slot_bytes;
}

/* The slot that the plan has for the sink. */
static inline char *wf_iter_sink_slot(const wf_iter_run *run) {
  WF_ASSERT(run->plan->sink_slot);
  return run->slots + (run->plan->slots - 1) * run->slot_bytes;
}

/* ---- elements by position: fetch.c ---- */

/* Elements i, i + stride, ... of stage k, whose length is known: n of them, at most
 * run->capacity. Strides wrap around: SIZE_MAX is -1. `at`: elements of the batch that
 * the caller has fetched before, which must stay valid. */
const char *wf_iter_fetch(wf_iter_run *run, unsigned k, size_t i, size_t n, size_t stride,
                          size_t at);

/* What stage k makes of a batch: a map, an inspect, or a kernel stage that is a map. */
const char *wf_iter_map_batch(wf_iter_run *run, unsigned k, const char *in, size_t n);

/* ---- all blocks: drive.c ---- */

/* A sink that does not depend on the order. */
typedef struct wf_iter_sink {
  wf_iter_take *take;
  void *state;
  void (*done)(wf_iter_run *run); /* NULL, or called at the end of each block */
  /* NULL, or: is nothing from this position on wanted any more? */
  bool (*is_over)(size_t begin, const void *state);
  bool from_front, from_back; /* threads take blocks from there */
  bool only_counts;           /* `take` does not look at the elements */
  bool takes_long;            /* batches of an array may be longer than a slot */
} wf_iter_sink;

void wf_iter_run_all(const wf_iter_plan *plan, const wf_iter_sink *sink);

/* How the batches of a pull are worked on. */
typedef struct wf_iter_pulling {
  const wf_iter_plan *plan;
  /* What a thread works with, called before it pulls; NULL: it takes no part. May be
   * absent: ctx. */
  void *(*enter)(void *ctx);
  /* Works on a batch, the number of which is run->key. Returns what the thread goes on
   * with; NULL: it takes no further part. */
  void *(*batch)(void *own, wf_iter_run *run, const char *elems, size_t n, void *ctx);
  void (*leave)(void *own, void *ctx); /* with what is not NULL; may be absent */
  /* NULL, or: is nothing more wanted? */
  bool (*is_over)(size_t key, const void *ctx);
  void *ctx;
  wf_lock lock; /* around the function of the pull and what follows */
  size_t key;   /* of the next batch; changes */
  bool ended;   /* result: there is no more, or nobody wants it */
} wf_iter_pulling;

/* Pulls and works on batches, with all threads or with the calling one `alone`, until the
 * end or until all have left. Inside the pool only. */
void wf_iter_pull_all(wf_iter_pulling *pulling, bool alone);

/* ---- folds: sink_fold.c, sink_sum.c ---- */

typedef struct wf_iter_leaf wf_iter_leaf;

/* A fold: each leaf is a run with an accumulator that `init` has made. */
typedef struct wf_iter_folding {
  size_t size; /* of an accumulator */
  void (*init)(void *acc, void *ctx);
  wf_iter_take *take; /* run->state: a wf_iter_leaf */
  /* NULL, or called when the leaf from position `begin` on has seen all elements. */
  void (*finish)(wf_iter_leaf *leaf, size_t begin);
  void (*merge)(void *acc, const void *right, void *ctx);
  void *ctx;
  bool fused, pairs; /* of the runs */
} wf_iter_folding;

/* A fold that is under way. wf_iter_fold_start sets all of it, wf_iter_fold_run runs it;
 * in between sums of floats change `fold`, `group` and `parts`. */
typedef struct wf_iter_fold_call {
  const wf_iter_plan *plan;
  const wf_iter_folding *folding;
  void *result;
  wf_fold fold;
  size_t group;    /* of leaves, for sums of floats; else 1 */
  weft_opts parts; /* for sums of floats: how a leaf is cut itself, if it is */
} wf_iter_fold_call;

void wf_iter_fold_start(wf_iter_fold_call *call, const wf_iter_plan *plan, void *result,
                        const wf_iter_folding *f);
void wf_iter_fold_run(const wf_iter_fold_call *call);

/* A sum of floats that is under way: columns of complete groups, and elements of a group
 * that is not complete. WF_SUM_LEVELS: a leaf has at most 128 groups, of floats, and what
 * waits stands for different powers of two below that. */
enum { WF_SUM_LEVELS = 8 };

typedef struct wf_sum_tree {
  double columns[WF_SUM_LEVELS][8]; /* the first `waiting` are set */
  double tail[WF_SUM_GROUP];        /* the first `in_tail` are set */
  size_t waiting, in_tail;
  size_t groups; /* complete ones of the leaf of fold/numbers.c that is under way */
  double number; /* the sum of complete leaves, if there are any */
  bool has_number;
} wf_sum_tree;

/* The state of a run that folds. */
struct wf_iter_leaf {
  void *acc;
  void *ctx; /* of the folding */
  wf_sum_tree
      sum; /* for sums of floats: not part of what is merged, and too large for it */
};

/* Sets up the leaf, its accumulator and the run; and finishes it. */
void wf_iter_leaf_begin(wf_iter_leaf *leaf, const wf_iter_folding *f, void *acc,
                        wf_iter_run *run);
void wf_iter_leaf_end(wf_iter_leaf *leaf, const wf_iter_folding *f, size_t begin);

/* ---- in order: ordered.c ---- */

typedef struct wf_iter_order wf_iter_order;

/* Gives a batch to the outputs by wf_iter_put. False: no memory, or stopped. */
typedef bool wf_iter_route(wf_iter_order *order, wf_iter_run *run, const char *elems,
                           size_t n);

/* One of the places that elements go to. */
typedef struct wf_iter_output {
  size_t size;  /* of an element */
  char *dst;    /* NULL: they are kept for the buffer */
  size_t room;  /* elements of dst */
  size_t count; /* result: how many came */
} wf_iter_output;

struct wf_iter_order {
  const wf_iter_plan *plan;
  unsigned outputs; /* 1 or 2; 0 for a fold */
  wf_iter_output output[2];
  wf_iter_route *route;
  void *state;                    /* of the sink */
  weft_buffer *buffer;            /* of output 0 if its dst is NULL */
  const wf_iter_folding *folding; /* not NULL: batches are folded and merged in order */
  void *result;                   /* of the fold */
  bool no_memory;                 /* result: for the buffer */
};

/* Runs all blocks and places, keeps or merges what they give in the order of the
 * sequence.
 */
void wf_iter_run_ordered(wf_iter_order *order);

/* Room for `more` elements of that size behind those of the buffer; unless `exactly`, for
 * some more, so that growing step by step is linear. False: no memory. */
bool wf_iter_reserve(weft_buffer *b, size_t more, size_t size, bool exactly);

/* Appends elements to what the block has for an output. */
bool wf_iter_put(wf_iter_order *order, wf_iter_run *run, unsigned output,
                 const char *elems, size_t n);

#endif
