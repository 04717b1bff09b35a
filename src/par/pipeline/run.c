/* par/pipeline/run.c - what the threads of a pipeline do: take an item from stage to
 * stage, find the next one, come and go.
 *
 * A member looks for a token to go on with: one that is ready, else an idle one for which
 * the first stage makes an item. It takes that token through the stages until the item is
 * through or has to wait. When it finds nothing, it leaves. A member that makes more work
 * available than it can do itself brings another one, if fewer than `limit` are active.
 * So members never wait for each other; why none is missing: pipeline.md, "Coming and
 * going".
 *
 * SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include <string.h>
#include <weft/task.h>

void wf_pipe_init(wf_pipe *p, wf_seat *seats) {
  WF_ASSERT(p->count >= 1 && p->tokens_count >= 1 && p->limit >= 1);
  WF_ASSERT(p->seats_mask + 1 >= p->tokens_count);
  for (uint32_t i = 0; i < p->count; i++) {
    wf_pipe_stage *s = &p->stages[i];
    wf_word_init(&s->door.x_state, WF_DOOR_FREE);
    s->door.first = NULL;
    s->seats = NULL;
    if (s->kind != WEFT_STAGE_ORDERED || i == 0) continue;
    s->seats = seats;
    wf_turn_init(seats, p->seats_mask + 1);
    seats += p->seats_mask + 1;
    p->has_order = true;
  }
  /* Relaxed, all: nobody else sees them yet. */
  wf_u32_store_relaxed(&p->source.x_state, WF_DOOR_FREE);
  wf_u32_store_relaxed(&p->source.x_fresh, 0);
  wf_word_init(&p->source.x_idle, 0);
  p->source.next_number = 0;
  wf_u64_store_relaxed(&p->ready.x_top, 0);
  wf_u32_store_relaxed(&p->x_active, 1);
  wf_word_init(&p->x_next_number, 0);
  wf_u32_store_relaxed(&p->x_ended, 0);
  wf_word_init(&p->x_failed, SIZE_MAX);
  p->error = 0;
}

/* ---- when to stop ---- */

static bool is_first_parallel(const wf_pipe *p) {
  return p->stages[0].kind == WEFT_STAGE_PARALLEL;
}

static bool pipe_is_cancelled(const wf_pipe *p) {
  return (p->scope != NULL && wf_scope_is_cancelled(p->scope)) ||
         wf_par_cancelled(p->opts);
}

/* Does the item with this number go through no further stage? Once true it stays so. */
static bool is_stopped(const wf_pipe *p, size_t number) {
  /* Relaxed: if it is seen late, a stage runs for nothing. Where it must be seen, behind
   * the failed item in an ordered stage, no turn is passed on. */
  return number > wf_word_load_relaxed(&p->x_failed) || pipe_is_cancelled(p);
}

static void fail_item(wf_pipe *p, const wf_token *token, int error) {
  if (error == WEFT_END) wf_pipe_refuse_end();
  wf_lock_lock(&p->lock);
  /* Relaxed: written under the lock; others only compare it. */
  if (token->number < wf_word_load_relaxed(&p->x_failed)) {
    wf_word_store_relaxed(&p->x_failed, token->number);
    p->error = error;
  }
  wf_lock_unlock(&p->lock);
}

/* ---- members come and go ---- */

/* Is there something to do for one more thread? */
static bool pipe_has_work(const wf_pipe *p) {
  if (wf_ready_any(&p->ready)) return true;
  if (!is_first_parallel(p)) return wf_source_is_ready(&p->source, p->tokens_count);
  /* Relaxed: fresh tokens are there from the beginning, and are only taken away. */
  return wf_u32_load_relaxed(&p->source.x_fresh) < p->tokens_count &&
         wf_u32_load_relaxed(&p->x_ended) == 0 &&
         wf_word_load_relaxed(&p->x_failed) == SIZE_MAX && !pipe_is_cancelled(p);
}

/* Counts one more active member, unless there are enough. */
static bool count_in(wf_pipe *p) {
  /* seq_cst: pairs with the subtraction in leave_pipe. A member that leaves is not
   * counted here, or it sees the work that the caller has made before. */
  uint32_t active = wf_u32_load_seq_cst(&p->x_active);
  while (active < p->limit)
    /* seq_cst: pairs with itself. explorer: relaxed suffices, it is one word. */
    if (wf_u32_cas_seq_cst(&p->x_active, &active, active + 1)) return true;
  return false;
}

/* There is work that the calling member will not do at once. */
static void bring_member(wf_pipe *p) {
  if (p->shares && count_in(p)) p->bring_member(p);
}

/* A member has found nothing. True: it has left. False: something has come meanwhile, and
 * it is a member again. */
static bool leave_pipe(wf_pipe *p) {
  /* seq_cst: pairs with the load in count_in. */
  uint32_t active = wf_u32_fetch_sub_seq_cst(&p->x_active, 1);
  WF_ASSERT(active > 0);
  (void)active;
  /* If enough others are active, each of them looks again before it leaves. */
  return !pipe_has_work(p) || !count_in(p);
}

/* Are more members active than may be, because some have come back from blocking stages?
 * True: the calling one is not counted any more. */
static bool made_way(wf_pipe *p) {
  uint32_t active = wf_u32_load_relaxed(&p->x_active); /* the CAS decides */
  while (active > p->limit)
    /* seq_cst: pairs with itself. explorer: relaxed suffices: `limit` others are active.
     */
    if (wf_u32_cas_seq_cst(&p->x_active, &active, active - 1)) return true;
  return false;
}

/* ---- calling a stage ---- */

typedef struct stage_call {
  const wf_pipe_stage *stage;
  void *item;
  size_t number;
  int result;
} stage_call;

static void call_stage(void *ctx) {
  stage_call *c = (stage_call *)ctx;
  c->result = c->stage->fn(c->item, c->number, c->stage->ctx);
}

/* While a stage waits inside weft, its thread may not become a member once more: it would
 * run other items on top, one stack frame for each, and the item below would wait for
 * them. So stages run isolated. */
static int call_in_isolation(const wf_pipe *p, const wf_pipe_stage *s, void *item,
                             size_t number) {
  if (!p->isolates) return s->fn(item, number, s->ctx);
  stage_call call = {s, item, number, 0};
  weft_isolate(call_stage, &call);
  return call.result;
}

/* While the thread is in a blocking stage, it does not count as active. Without memory
 * the member that it brings runs on top of this one, before the stage does, and so may
 * come to the stage in its turn, once for each item. So there must be room on the stack.
 */
static int call_in_section(wf_pipe *p, const wf_pipe_stage *s, void *item,
                           size_t number) {
  if (p->shares) {
    /* seq_cst: pairs with the load in count_in, as in leave_pipe. */
    wf_u32_fetch_sub_seq_cst(&p->x_active, 1);
    if (pipe_has_work(p) && wf_stack_is_half_free()) bring_member(p);
  }
  weft_blocking_begin();
  int error = call_in_isolation(p, s, item, number);
  weft_blocking_end();
  if (p->shares) wf_u32_fetch_add_relaxed(&p->x_active, 1); /* a count; see made_way */
  return error;
}

static int run_stage(wf_pipe *p, const wf_pipe_stage *s, const wf_token *token) {
  void *item = p->items + token->index * p->item_stride;
  if (WF_UNLIKELY(p->is_traced))
    wf_sched_part_begins(WF_TASK_STAGE, s->name, (uintptr_t)s->fn);
  int error = WF_UNLIKELY(s->blocks) ? call_in_section(p, s, item, token->number)
                                     : call_in_isolation(p, s, item, token->number);
  if (WF_UNLIKELY(p->is_traced)) wf_sched_part_ends();
  return error;
}

/* ---- the first stage ---- */

/* The token is at the first stage, and has the source, if there is one. True: it has an
 * item. False: there are no more, and the token is not needed any more. Then the source
 * is not released: nothing is started again. */
static bool make_item_alone(wf_pipe *p, wf_token *token) {
  token->number = p->source.next_number;
  if (is_stopped(p, token->number)) return false;
  int error = run_stage(p, &p->stages[0], token);
  if (WF_UNLIKELY(error != 0)) {
    if (error != WEFT_END) fail_item(p, token, error);
    return false;
  }
  p->source.next_number++;
  wf_source_leave(&p->source);
  if (p->shares && wf_source_is_ready(&p->source, p->tokens_count)) bring_member(p);
  return true;
}

/* As above; also true for a number without an item, if others wait for its turns. */
static bool make_item_among_others(wf_pipe *p, wf_token *token) {
  /* Relaxed: if it is seen late, the first stage says it again. */
  if (wf_u32_load_relaxed(&p->x_ended) != 0) return false;
  if (p->shares && pipe_has_work(p)) bring_member(p);
  token->number = wf_word_fetch_add_relaxed(&p->x_next_number, 1); /* only a number */
  if (is_stopped(p, token->number)) return false;
  int error = run_stage(p, &p->stages[0], token);
  if (WF_LIKELY(error == 0)) return true;
  if (error != WEFT_END) {
    fail_item(p, token, error);
    return false;
  }
  wf_u32_store_relaxed(&p->x_ended, 1); /* as above */
  token->is_void = true;
  return p->has_order;
}

static bool make_item(wf_pipe *p, wf_token *token) {
  WF_ASSERT(token->stage == 0 && !token->is_void);
  if (token->is_fresh) {
    token->is_fresh = false;
    memset(p->items + token->index * p->item_stride, 0, p->item_size);
  }
  token->admitted = false;
  bool made =
      is_first_parallel(p) ? make_item_among_others(p, token) : make_item_alone(p, token);
  token->stage = 1;
  return made;
}

/* ---- the other stages ---- */

/* True: the token may enter. False: it waits, and is given away. */
static bool enter_stage(const wf_pipe *p, wf_pipe_stage *s, wf_token *token) {
  if (s->kind == WEFT_STAGE_PARALLEL) return true;
  if (token->admitted) {
    token->admitted = false;
    return true;
  }
  return s->kind == WEFT_STAGE_ORDERED ? wf_turn_enter(s->seats, p->seats_mask, token)
                                       : wf_door_enter(&s->door, token);
}

/* The item leaves the stage; `stopped`: it goes no further. Returns the token that has
 * waited for the stage and is admitted now, or NULL. */
static wf_token *leave_stage(const wf_pipe *p, wf_pipe_stage *s, const wf_token *token,
                             bool stopped) {
  if (s->kind == WEFT_STAGE_SERIAL) return wf_door_leave(&s->door);
  /* The items behind a stopped one are stopped too: none of them gets a turn. */
  if (s->kind == WEFT_STAGE_PARALLEL || stopped) return NULL;
  return wf_turn_leave(s->seats, p->seats_mask, token->number);
}

static void make_ready(wf_pipe *p, wf_token *token) {
  wf_ready_push(&p->ready, p->tokens, token);
  bring_member(p);
}

/* The item is through all stages. Returns the token to go on with, or NULL; `handed` is
 * one that the caller could go on with, or NULL. Older items come first. */
static wf_token *finish_item(wf_pipe *p, wf_token *token, wf_token *handed) {
  token->stage = 0;
  if (is_first_parallel(p)) {
    if (token->is_void) return handed; /* its work is done, and there are no more items */
    if (handed == NULL) return token;
    make_ready(p, token);
    return handed;
  }
  if (handed == NULL && wf_source_take(&p->source)) return token;
  wf_source_put_idle(&p->source, token);
  if (handed != NULL && p->shares && wf_source_is_ready(&p->source, p->tokens_count))
    bring_member(p);
  return handed;
}

/* Takes a token from where it stands through its next stage. Returns the token to go on
 * with, or NULL. */
static wf_token *advance(wf_pipe *p, wf_token *token) {
  if (token->stage == 0) {
    if (!make_item(p, token)) return NULL;
    return p->count > 1 ? token : finish_item(p, token, NULL);
  }
  wf_pipe_stage *s = &p->stages[token->stage];
  wf_token *handed = NULL;
  if (!token->is_void || s->kind == WEFT_STAGE_ORDERED) {
    if (!enter_stage(p, s, token)) return NULL;
    bool stopped = is_stopped(p, token->number);
    if (!stopped && !token->is_void) {
      int error = run_stage(p, s, token);
      if (WF_UNLIKELY(error != 0)) {
        fail_item(p, token, error);
        stopped = true;
      }
    }
    handed = leave_stage(p, s, token, stopped);
    if (stopped) return handed;
  }
  if (++token->stage == p->count) return finish_item(p, token, handed);
  if (handed != NULL) make_ready(p, handed);
  return token;
}

/* ---- a member ---- */

/* A token that no item has been in, for a parallel first stage. */
static wf_token *take_fresh(wf_pipe *p) {
  if (!pipe_has_work(p)) return NULL;
  /* Relaxed: it hands out tokens, each of which is used by its taker first. */
  uint32_t fresh = wf_u32_fetch_add_relaxed(&p->source.x_fresh, 1);
  if (fresh < p->tokens_count) return wf_token_init(p->tokens, fresh);
  wf_u32_fetch_sub_relaxed(&p->source.x_fresh, 1); /* so that it does not wrap */
  return NULL;
}

static wf_token *find_token(wf_pipe *p) {
  wf_token *token = wf_ready_pop(&p->ready, p->tokens);
  if (token != NULL) return token;
  return is_first_parallel(p) ? take_fresh(p)
                              : wf_source_start(&p->source, p->tokens, p->tokens_count);
}

/* Other members may have something soon: looks for a while, so that it need not leave and
 * be brought again. */
static wf_token *find_token_soon(wf_pipe *p) {
  wf_token *token = find_token(p);
  for (unsigned i = 0; token == NULL && i < p->spins; i++) {
    /* Relaxed: only whether it is worth the time. */
    if (wf_u32_load_relaxed(&p->x_active) <= 1) break;
    wf_sys_relax();
    token = find_token(p);
  }
  return token;
}

/* The member has come back from a blocking stage with a token to go on with, perhaps when
 * enough others are active: then these go on with it. True: the member has left. */
static bool gave_way(wf_pipe *p, wf_token **token) {
  if (!made_way(p)) return false;
  wf_ready_push(&p->ready, p->tokens, *token);
  *token = NULL;
  /* They may have left before the push: as in leave_pipe. */
  return !count_in(p);
}

void wf_pipe_join(wf_pipe *p, bool is_caller) {
  for (;;) {
    wf_token *token = find_token_soon(p);
    if (token == NULL && leave_pipe(p)) return;
    while (token != NULL) {
      bool was_away = p->is_strict && p->stages[token->stage].blocks;
      token = advance(p, token);
      if (WF_UNLIKELY(was_away) && token != NULL && gave_way(p, &token)) return;
    }
    if ((!is_caller || p->is_strict) && made_way(p)) return;
  }
}
