/* par/fold/scan.c - weft_scan, for elements and operations that are not known here.
 *
 * The array is cut into blocks whose length follows from n alone. The carry of a block is
 * what all elements in front of it give: the combination of the totals of the blocks
 * before it, from left to right, where each total starts from the identity. Several
 * threads compute the totals first, then one computes the carries, then all the results.
 * A single thread, or one for which there is no memory, does everything in one pass. Both
 * combine the same in the same order.
 *
 * Called by programs and by the functions that WEFT_SCAN makes. The job lives in the
 * frame of the call; the element of a carry belongs to the thread that runs its block.
 *
 * SPDX-License-Identifier: MIT */
#include "../base/bytes.h"
#include "../loop/loop.h"

#include <weft/detail/typed_function.h>
#include <weft/reduce.h>

/* At most SCAN_BLOCKS blocks, of at least SCAN_BLOCK_MIN elements: enough to balance
 * uneven work, few enough for one thread to combine. Choices, and fixed: results of
 * floats depend on them. Elements of up to SCAN_SMALL bytes need no allocation when one
 * thread works alone. */
enum { SCAN_BLOCKS = 512, SCAN_BLOCK_MIN = 64, SCAN_SMALL = 128 };

typedef struct scan_job {
  char *dst;
  const char *src;
  size_t n, size, block;
  const void *identity;
  bool inclusive;
  weft_op_fn *op;                   /* NULL: a typed function, with these loops */
  const wf_typed_scan_loops *typed; /* over elements of its type */
  void *ctx;
  const weft_opts *opts;
  char *carries; /* the carry of each block; first the total of the block before */
} scan_job;

/* Bytes from one element of scratch memory to the next: all are aligned as malloc's are.
 */
static size_t scan_step(const scan_job *j) {
  return (j->size + 15) & ~(size_t)15;
}

static size_t scan_block_end(const scan_job *j, size_t b) {
  size_t begin = b * j->block;
  WF_ASSERT(begin < j->n);
  return j->n - begin < j->block ? j->n : begin + j->block;
}

static size_t scan_block_count(const scan_job *j) {
  return j->n / j->block + (j->n % j->block != 0);
}

/* Combines n elements with acc, in order. */
WF_ALIGN_LOOPS static void scan_fold(const scan_job *j, void *acc, const char *src,
                                     size_t n) {
  if (j->typed != NULL)
    j->typed->fold(acc, src, n, j->ctx);
  else
    for (size_t i = 0; i < n; i++) j->op(acc, src + i * j->size, j->ctx);
}

/* The loop of scan_block for an operation on single elements. */
WF_INLINE void scan_elements(const scan_job *j, size_t begin, size_t end, char *acc,
                             char *next, char *total, size_t size) {
  weft_op_fn *op = j->op;
  void *ctx = j->ctx;
  const char *x = j->src + begin * size;
  char *to = j->dst + begin * size;
  for (size_t left = end - begin; left > 0; left--, x += size, to += size) {
    if (total != NULL) op(total, x, ctx);
    if (j->inclusive) {
      op(acc, x, ctx);
      memcpy(to, acc, size);
    } else {
      memcpy(next, acc, size);
      op(next, x, ctx); /* before dst, which may be src, is written */
      memcpy(to, acc, size);
      memcpy(acc, next, size);
    }
  }
}

/* Writes the results of block b. acc is the carry of the block, and is changed. total, if
 * it is not NULL, is set to the total of the block. next is memory for an element. */
WF_ALIGN_LOOPS static void scan_block(const scan_job *j, size_t b, char *acc, char *next,
                                      char *total) {
  size_t size = j->size, begin = b * j->block, end = scan_block_end(j, b);
  if (total != NULL) memcpy(total, j->identity, size);
  if (j->typed != NULL)
    j->typed->scan(j->dst + begin * size, j->src + begin * size, end - begin, acc, total,
                   j->inclusive, j->ctx);
  else
    WF_BY_SIZE(size, scan_elements, j, begin, end, acc, next, total);
}

/* ---- one thread ---- */

/* memory has room for four elements, each at a multiple of 16 bytes. */
static void scan_serially(const scan_job *j, char *memory) {
  WF_ASSERT((uintptr_t)memory % 16 == 0);
  size_t step = scan_step(j);
  char *acc = memory, *next = acc + step, *total = next + step, *carry = total + step;
  memcpy(carry, j->identity, j->size);
  for (size_t b = 0; b * j->block < j->n; b++) {
    bool last = scan_block_end(j, b) == j->n;
    if (wf_par_cancelled(j->opts)) return;
    memcpy(acc, carry, j->size);
    scan_block(j, b, acc, next, last ? NULL : total);
    if (!last) scan_fold(j, carry, total, 1);
  }
}

static __attribute__((noinline)) void scan_on_stack(const scan_job *j) {
  _Alignas(16) char memory[WF_SCRATCH_STACK];
  scan_serially(j, memory);
}

static void scan_alone(const scan_job *j) {
  _Alignas(16) char memory[4 * SCAN_SMALL];
  size_t bytes = 4 * scan_step(j);
  if (bytes <= sizeof memory) {
    scan_serially(j, memory);
  } else if (bytes <= WF_SCRATCH_STACK && wf_stack_is_half_free()) {
    scan_on_stack(j);
  } else {
    wf_scratch scratch = wf_scratch_need(bytes, "weft_scan");
    scan_serially(j, (char *)scratch.memory);
    wf_scratch_put(scratch);
  }
}

/* ---- several threads ---- */

/* The carry of block b; behind those of all blocks there is as much memory again. */
static char *scan_carry(const scan_job *j, size_t b) {
  WF_ASSERT(b < 2 * scan_block_count(j));
  return j->carries + b * scan_step(j);
}

/* Puts the total of block b where the carry of b + 1 will be. */
static void scan_totals(size_t begin, size_t end, void *ctx) {
  const scan_job *j = (const scan_job *)ctx;
  for (size_t b = begin; b < end; b++) {
    size_t first = b * j->block;
    char *total = scan_carry(j, b + 1);
    memcpy(total, j->identity, j->size);
    scan_fold(j, total, j->src + first * j->size, scan_block_end(j, b) - first);
  }
}

/* Turns totals to carries: that of b is that of b - 1 combined with the total of b - 1.
 */
static void scan_carries(const scan_job *j, size_t blocks, char *next) {
  memcpy(scan_carry(j, 0), j->identity, j->size);
  for (size_t b = 1; b < blocks; b++) {
    memcpy(next, scan_carry(j, b - 1), j->size);
    scan_fold(j, next, scan_carry(j, b), 1);
    memcpy(scan_carry(j, b), next, j->size);
  }
}

static void scan_results(size_t begin, size_t end, void *ctx) {
  const scan_job *j = (const scan_job *)ctx;
  size_t blocks = scan_block_count(j);
  /* Each block has memory for an element behind the carries. */
  for (size_t b = begin; b < end; b++)
    scan_block(j, b, scan_carry(j, b), scan_carry(j, blocks + b), NULL);
}

static void scan_inside(void *ctx) {
  scan_job *j = (scan_job *)ctx;
  size_t blocks = scan_block_count(j);
  weft_opts opts = {.struct_size = sizeof opts,
                    .pool = j->opts->pool,
                    .max_workers = j->opts->max_workers,
                    .cancel = j->opts->cancel};
  wf_loop totals = {scan_totals, j, NULL}, results = {scan_results, j, NULL};
  wf_scratch scratch = {NULL, NULL, 0};
  if (blocks > 1 && wf_par_crew(j->opts) > 1)
    scratch = wf_scratch_get(2 * blocks * scan_step(j));
  j->carries = (char *)scratch.memory;
  if (j->carries == NULL) {
    scan_alone(j);
    return;
  }
  wf_loop_run(&opts, blocks - 1, &totals);
  if (!wf_par_cancelled(j->opts)) {
    scan_carries(j, blocks, scan_carry(j, blocks));
    wf_loop_run(&opts, blocks, &results);
  }
  wf_scratch_put(scratch);
}

/* Sets the length of blocks and runs the job, which has everything else but the options.
 */
static void scan_start(scan_job *j, const weft_opts *opts) {
  j->opts = opts;
  j->block = j->n / SCAN_BLOCKS + (j->n % SCAN_BLOCKS != 0);
  if (j->block < SCAN_BLOCK_MIN) j->block = SCAN_BLOCK_MIN;
  wf_par_run_over(opts, j->n, scan_inside, j);
}

void weft_scan_with(const weft_opts *o, void *dst, const void *src, size_t n, size_t size,
                    const void *identity, bool inclusive, weft_op_fn *op, void *ctx) {
  const char *call = "weft_scan";
  weft_opts opts;
  wf_par_options(&opts, o, call);
  if (n == 0) return;
  wf_refuse_if(op == NULL, call, "the operation is NULL");
  wf_refuse_if(size == 0, call, "the size of an element is 0");
  wf_refuse_if(dst == NULL || src == NULL, call, "an array is NULL");
  wf_refuse_if(identity == NULL, call, "the identity is NULL");
  wf_refuse_if(wf_is_too_large(n, size), call, WF_TOO_LARGE);
  scan_job j = {.dst = (char *)dst, .src = (const char *)src, .n = n, .size = size};
  j.identity = identity;
  j.inclusive = inclusive;
  j.op = op;
  j.ctx = ctx;
  scan_start(&j, &opts);
}
WF_PLAIN(weft_scan,
         (void *dst, const void *src, size_t n, size_t size, const void *identity,
          bool inclusive, weft_op_fn *op, void *ctx),
         dst, src, n, size, identity, inclusive, op, ctx)

void wf_typed_scan(const wf_typed *k, void *dst, const void *src, const void *identity,
                   const wf_typed_scan_loops *scan) {
  weft_opts opts;
  wf_par_options(&opts, k->opts, k->name);
  if (k->n == 0) return;
  scan_job j = {.dst = (char *)dst, .src = (const char *)src, .n = k->n};
  j.size = scan->size;
  j.identity = identity;
  j.inclusive = scan->inclusive;
  j.typed = scan;
  j.ctx = k->ctx;
  scan_start(&j, &opts);
}
