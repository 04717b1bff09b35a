/* par/iter/plan.c - what a sink decides before it runs an iterator: how many positions
 * each stage has (which is how a chain is split), where each stage has its batch, and
 * where take_while stages end.
 *
 * Called by the sinks, on their calling thread. Only the search for the leaves of a split
 * source and that for the end of a take_while call functions, with all threads.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* ---- where batches are ---- */

/* Sets of slots are bits. A slot is given out again when the stage that reads it has run,
 * as a compiler does it with registers: a chain of maps needs two, however long it is. */
typedef struct layout {
  wf_iter_plan *plan;
  unsigned kept; /* slots that a flat map reads while the stages behind it run */
} layout;

/* Gives stage k the first slot that is not used. */
static unsigned take_slot(const layout *l, unsigned k, unsigned used) {
  unsigned slot = 0;
  used |= l->kept;
  while ((used >> slot & 1) != 0) slot++;
  WF_ASSERT(slot < WF_ITER_STAGES); /* a stage takes one at most */
  l->plan->slot[k] = (unsigned char)slot;
  if (slot >= l->plan->slots) l->plan->slots = slot + 1;
  return 1u << slot;
}

static unsigned lay_out_stage(layout *l, unsigned k, unsigned used);

static unsigned lay_out_both(layout *l, unsigned k, unsigned used) {
  const wf_stage *stages = l->plan->it->stages;
  unsigned left = wf_stage_left(stages, k), right = k - 1;
  l->plan->parent[left] = l->plan->parent[right] = (unsigned char)k;
  if (stages[k].kind < WF_CHAIN) {
    unsigned left_in = lay_out_stage(l, left, used);
    unsigned right_in = lay_out_stage(l, right, used | left_in);
    WF_ASSERT((left_in & right_in) == 0); /* both are read at the same time */
    return take_slot(l, k, used | left_in | right_in);
  }
  /* Chain and interleave: parts of both sides are put together here in several fetches,
   * or handed on as they are. So the slot is chosen before those of the sides. */
  unsigned own = take_slot(l, k, used);
  unsigned sides = lay_out_stage(l, left, used | own);
  return own | sides | lay_out_stage(l, right, used | own);
}

/* Gives stage k and its operands slots that are not used. Returns the slots that its
 * elements may be in. */
static unsigned lay_out_stage(layout *l, unsigned k, unsigned used) {
  wf_iter_plan *plan = l->plan;
  const wf_stage *s = &plan->it->stages[k];
  unsigned own, in;
  if (s->size > plan->widest) plan->widest = s->size;
  if (s->kind < WF_MAP) return take_slot(l, k, used);
  if (s->kind >= WF_ZIP) return lay_out_both(l, k, used);
  plan->parent[k - 1] = (unsigned char)k;
  switch ((wf_iter_kind)s->kind) {
  case WF_CHUNK:
    own = take_slot(l, k, used); /* filled in several fetches, too */
    lay_out_stage(l, k - 1, used | own);
    /* Each chunk at a multiple of 16, malloc's alignment. The bound is more than there is
     * memory: such chunks are refused when they are allocated. */
    if (s[-1].size > SIZE_MAX / 64 / s->as.chunk.length)
      plan->extra[k] = SIZE_MAX / 64;
    else
      plan->extra[k] = s[-1].size * s->as.chunk.length;
    plan->extra[k] = (plan->extra[k] + 15) & ~(size_t)15;
    plan->all_extra += plan->extra[k];
    return own;
  case WF_INSPECT:
  case WF_TAKE_WHILE:
  case WF_STEP:
  case WF_SKIP:
  case WF_TAKE:
  case WF_REVERSE:
    return lay_out_stage(l, k - 1, used);
  default:
    in = lay_out_stage(l, k - 1, used);
    if (wf_stage_is_flat_map(s)) l->kept |= in;
    return take_slot(l, k, used | in);
  }
}

static void lay_out_all(wf_iter_plan *plan) {
  layout l = {plan, 0};
  plan->slots = 0;
  plan->widest = 1;
  plan->all_extra = 0;
  memset(plan->extra, 0, sizeof plan->extra);
  memset(plan->parent, WF_ITER_NONE, sizeof plan->parent);
  lay_out_stage(&l, plan->root, 0);
  if (plan->sink_slot) plan->slots++;
}

/* ---- where take_while ends ---- */

/* A search for the first element that a take_while refuses. */
typedef struct end_search {
  const wf_stage *stage;
  wf_word x_lowest; /* the key of the lowest block that has the end so far */
  wf_lock lock;
  size_t base, next; /* under the lock: positions of the lowest batch that has it */
} end_search;

static bool is_behind_end(size_t key, const void *state) {
  /* Relaxed: the number only goes down; a thread that sees it late runs a block more. */
  return key > wf_word_load_relaxed(&((const end_search *)state)->x_lowest);
}

static void note_end(end_search *e, const wf_iter_run *run, size_t base, size_t next) {
  wf_lock_lock(&e->lock);
  if (base < e->base) {
    e->base = base;
    e->next = next;
    wf_word_store_relaxed(&e->x_lowest, run->key); /* under the lock, it only goes down */
  }
  wf_lock_unlock(&e->lock);
}

static bool find_end(wf_iter_run *run, const char *elems, size_t n) {
  end_search *e = (end_search *)run->state;
  const wf_stage *s = e->stage;
  for (size_t j = 0; j < n; j++) {
    if (s->as.test.fn(elems + j * s->size, s->as.test.ctx)) continue;
    if (wf_stage_is(s - 1, WF_ITER_KNOWN))
      note_end(e, run, run->base + j, run->base + j + 1);
    else
      note_end(e, run, run->base, run->next);
    return false;
  }
  return true;
}

/* Sets the positions of stage k, a take_while, to those up to its end. */
static void cut_at_end(const wf_iter_plan *plan, unsigned k, wf_iter_plan *out) {
  wf_iter_plan front = *plan;
  end_search e = {.stage = wf_plan_stage(plan, k),
                  .x_lowest = {SIZE_MAX},
                  .base = SIZE_MAX,
                  .next = SIZE_MAX};
  wf_iter_sink sink = {
      .take = find_end, .state = &e, .is_over = is_behind_end, .from_front = true};
  front.root = k - 1;
  front.sink_slot = false;
  lay_out_all(&front);
  wf_iter_run_all(&front, &sink);
  if (e.base == SIZE_MAX) return;
  WF_ASSERT(e.base < e.next && e.next <= plan->positions[k - 1]);
  /* Among the positions of the batch: the first that makes an element which ends it. */
  size_t low = e.base, high = e.next;
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    end_search part = {.stage = e.stage, .x_lowest = {SIZE_MAX}, .base = SIZE_MAX};
    wf_iter_run run = {.plan = &front, .take = find_end, .state = &part};
    wf_iter_eval(&run, low, middle);
    if (part.base == SIZE_MAX)
      low = middle;
    else
      high = middle;
  }
  out->is_cut[k] = !wf_stage_is(e.stage - 1, WF_ITER_KNOWN);
  out->positions[k] = out->is_cut[k] ? low + 1 : low;
}

/* ---- the plan ---- */

/* A bit for each stage that stage k is made of. */
static unsigned parts_of(const wf_stage *stages, unsigned k) {
  unsigned parts = 1u << k;
  if (stages[k].kind >= WF_MAP) parts |= parts_of(stages, k - 1);
  if (stages[k].kind >= WF_ZIP) parts |= parts_of(stages, wf_stage_left(stages, k));
  return parts;
}

/* How a chain is split: sinks cut the positions of the root into blocks. Stages whose
 * length is known have one for each element; lines one for each byte of the text; a split
 * source one for each leaf; behind a filter or flat map the positions stay those of its
 * operand, and a block has whatever elements come from them. */
static void count_positions(wf_iter_plan *plan, unsigned k) {
  const wf_stage *stages = plan->it->stages, *s = &stages[k];
  size_t *positions = plan->positions;
  if (wf_stage_is(s, WF_ITER_KNOWN)) {
    positions[k] = s->len;
  } else if (s->kind == WF_LINES) {
    positions[k] = s->as.lines.length;
  } else if (s->kind == WF_PULL) {
    positions[k] = 0; /* batches are numbered as they are pulled: drive.c */
  } else if (s->kind == WF_SPLIT) {
    positions[k] = wf_iter_split_tree(plan, k);
  } else if (s->kind == WF_CHAIN) {
    size_t left = positions[wf_stage_left(stages, k)];
    if (left > SIZE_MAX - 1 - positions[k - 1])
      wf_fatal(plan->call, "there are too many elements to count");
    positions[k] = left + positions[k - 1];
  } else {
    positions[k] = positions[k - 1];
    if (s->kind == WF_TAKE_WHILE && !wf_stage_is(s, WF_ITER_PULLS))
      cut_at_end(plan, k, plan);
  }
}

void wf_iter_plan_make(wf_iter_plan *plan, const weft_iter *it, unsigned root,
                       bool sink_slot, const char *call) {
  WF_ASSERT(root < it->count);
  unsigned parts = parts_of(it->stages, root);
  memset(plan, 0, sizeof *plan);
  plan->it = it;
  plan->call = call;
  plan->root = root;
  plan->sink_slot = sink_slot;
  wf_par_options(&plan->opts, &it->opts, call);
  for (unsigned k = 0; k <= root; k++)
    if ((parts >> k & 1) != 0) count_positions(plan, k);
  lay_out_all(plan);
  WF_ASSERT(plan->slots >= 1 && plan->slots <= WF_ITER_STAGES + 1);
  WF_ASSERT(plan->parent[root] == WF_ITER_NONE);
}

void wf_iter_plan_all(wf_iter_plan *plan, const weft_iter *it, const char *call) {
  wf_iter_check(it, call);
  wf_iter_plan_make(plan, it, it->count - 1, false, call);
}
