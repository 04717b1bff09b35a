/* par/iter/plan.c - how an iterator will run: where each stage has its batch, how many
 * positions there are, and where take_while stages end.
 *
 * SPDX-License-Identifier: MIT */
#include "iter.h"

/* ---- where batches are ---- */

typedef struct layout {
  wf_iter_plan *plan;
  unsigned kept; /* slots that a flat map reads while the stages behind it run */
} layout;

static unsigned take_slot(const layout *l, unsigned k, unsigned used) {
  unsigned slot = 0;
  used |= l->kept;
  while ((used >> slot & 1) != 0) slot++;
  l->plan->slot[k] = (unsigned char)slot;
  if (slot >= l->plan->slots) l->plan->slots = slot + 1;
  return 1u << slot;
}

static bool is_flat_map(const wf_stage *s) {
  return s->kind == WF_FLAT_MAP ||
         (s->kind == WF_KERNEL && wf_stage_kernel(s)->kind == WEFT_ITER_KERNEL_FLAT_MAP);
}

static unsigned lay_out_stage(layout *l, unsigned k, unsigned used);

static unsigned lay_out_both(layout *l, unsigned k, unsigned used) {
  const wf_stage *stages = l->plan->it->stages;
  unsigned left = wf_stage_left(stages, k), right = k - 1;
  l->plan->parent[left] = l->plan->parent[right] = (unsigned char)k;
  if (stages[k].kind == WF_ZIP || stages[k].kind == WF_ZIP_MAP) {
    used |= lay_out_stage(l, left, used);
    used |= lay_out_stage(l, right, used);
    return take_slot(l, k, used);
  }
  /* Parts of both sides are put together here, or handed on as they are. */
  unsigned own = take_slot(l, k, used);
  unsigned sides = lay_out_stage(l, left, used | own);
  return own | sides | lay_out_stage(l, right, used | own);
}

/* Gives stage k, and what it works on, slots that are not used. Returns those that its
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
    own = take_slot(l, k, used); /* filled while the elements come one after the other */
    lay_out_stage(l, k - 1, used | own);
    plan->extra[k] =
        s[-1].size > SIZE_MAX / 64 / s->a ? SIZE_MAX / 64 : s[-1].size * s->a;
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
    if (is_flat_map(s)) l->kept |= in;
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
  if (plan->spare) plan->slots++;
}

/* ---- where take_while ends ---- */

typedef struct end_search {
  const wf_stage *stage;
  wf_word x_lowest; /* the key of the lowest block that has the end so far */
  wf_lock lock;
  size_t base, next; /* under the lock: positions of the lowest batch that has it */
} end_search;

static bool is_behind_end(size_t key, const void *state) {
  /* Relaxed: a number that goes down; seen late: a block too many. */
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
  weft_pred_fn *pred = (weft_pred_fn *)s->fn;
  for (size_t j = 0; j < n; j++) {
    if (pred(elems + j * s->size, s->ctx)) continue;
    if (wf_stage_is(s - 1, WF_ITER_KNOWN))
      note_end(e, run, run->base + j, run->base + j + 1);
    else
      note_end(e, run, run->base, run->next);
    return false;
  }
  return true;
}

/* Sets positions of stage k, which is a take_while, to those up to its end. */
static void cut_at_end(const wf_iter_plan *plan, unsigned k, wf_iter_plan *out) {
  wf_iter_plan front = *plan;
  end_search e = {.stage = wf_plan_stage(plan, k),
                  .x_lowest = {SIZE_MAX},
                  .base = SIZE_MAX,
                  .next = SIZE_MAX};
  wf_iter_sink sink = {
      .take = find_end, .state = &e, .is_over = is_behind_end, .from_front = true};
  front.root = k - 1;
  front.spare = false;
  lay_out_all(&front);
  wf_iter_run_all(&front, &sink);
  if (e.base == SIZE_MAX) return;
  /* Among the positions of the batch: the first that makes an element that ends it. */
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

/* A bit for each stage that the root is made of. */
static unsigned parts_of(const wf_stage *stages, unsigned k) {
  unsigned parts = 1u << k;
  if (stages[k].kind >= WF_MAP) parts |= parts_of(stages, k - 1);
  if (stages[k].kind >= WF_ZIP) parts |= parts_of(stages, wf_stage_left(stages, k));
  return parts;
}

static void count_positions(wf_iter_plan *plan, unsigned k) {
  const wf_stage *stages = plan->it->stages, *s = &stages[k];
  size_t *positions = plan->positions;
  if (wf_stage_is(s, WF_ITER_KNOWN)) {
    positions[k] = s->len;
  } else if (s->kind == WF_LINES) {
    positions[k] = s->a;
  } else if (s->kind == WF_PULL) {
    positions[k] = 0;
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

void wf_iter_plan_make(wf_iter_plan *plan, const weft_iter *it, unsigned root, bool spare,
                       const char *call) {
  unsigned parts = parts_of(it->stages, root);
  memset(plan, 0, sizeof *plan);
  plan->it = it;
  plan->call = call;
  plan->root = root;
  plan->spare = spare;
  wf_par_options(&plan->opts, &it->opts, call);
  for (unsigned k = 0; k <= root; k++)
    if ((parts >> k & 1) != 0) count_positions(plan, k);
  lay_out_all(plan);
}

void wf_iter_plan_all(wf_iter_plan *plan, const weft_iter *it, const char *call) {
  wf_iter_check(it, call);
  wf_iter_plan_make(plan, it, it->count - 1, false, call);
}

void wf_iter_check(const weft_iter *it, const char *call) {
  if (it == NULL) wf_fatal(call, "the iterator is NULL");
  if (it->count == 0 || it->count > WF_ITER_STAGES)
    wf_fatal(call, "the iterator has no source");
}
