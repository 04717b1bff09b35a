/* par/pipeline/hand_over.c - stages that admit one item at a time, and items that wait.
 * Called by run.c on every thread that works on a pipeline; hand_over.h says who owns a
 * token when, pipeline.md why none is forgotten.
 *
 * SPDX-License-Identifier: MIT */
#include "hand_over.h"

/* Tokens begin at cache lines, so their addresses differ from all states. */
static wf_token *token_at(uintptr_t word) {
  WF_ASSERT(word > WF_SEAT_TURN && word % WF_CACHE_LINE == 0);
  return (wf_token *)word; /* NOLINT(performance-no-int-to-ptr) */
}

wf_token *wf_token_init(wf_token *tokens, uint32_t index) {
  wf_token *token = &tokens[index];
  token->index = index; /* x_below is set when the token is put on the stack */
  token->number = token->stage = 0;
  token->next = NULL;
  token->admitted = token->is_void = false;
  token->is_fresh = true;
  return token;
}

static wf_token *admit(wf_token *token) {
  WF_ASSERT(!token->admitted);
  token->admitted = true;
  return token;
}

/* ---- ordered stages ---- */

void wf_turn_init(wf_seat *seats, size_t count) {
  WF_ASSERT(count >= 1 && (count & (count - 1)) == 0);
  for (size_t i = 0; i < count; i++)
    wf_word_init(&seats[i].x_state, i == 0 ? WF_SEAT_TURN : WF_SEAT_EMPTY);
}

bool wf_turn_enter(wf_seat *seats, size_t mask, wf_token *token) {
  wf_word *seat = &seats[token->number & mask].x_state;
  /* Acquire: pairs with the exchange in wf_turn_leave: what earlier items did in the
   * stage is visible. */
  uintptr_t there = wf_word_load_acquire(seat);
  /* seq_cst: pairs with the exchange in wf_turn_leave: one of the two comes second.
   * explorer: acq_rel suffices, it is one word. */
  if (there != WF_SEAT_TURN) there = wf_word_exchange_seq_cst(seat, (uintptr_t)token);
  if (there != WF_SEAT_TURN) {
    WF_ASSERT(there == WF_SEAT_EMPTY);
    return false;
  }
  /* Relaxed: the seat is used again by items that come behind this one, which see this
   * store because they have seen it leave. */
  wf_word_store_relaxed(seat, WF_SEAT_EMPTY);
  return true;
}

wf_token *wf_turn_leave(wf_seat *seats, size_t mask, size_t number) {
  wf_word *seat = &seats[(number + 1) & mask].x_state;
  /* seq_cst: pairs with the exchange and the load in wf_turn_enter. explorer: acq_rel
   * suffices, it is one word. */
  uintptr_t there = wf_word_exchange_seq_cst(seat, WF_SEAT_TURN);
  if (there == WF_SEAT_EMPTY) return NULL;
  wf_token *next = token_at(there);
  WF_ASSERT(next->number == number + 1);
  wf_word_store_relaxed(seat, WF_SEAT_EMPTY); /* as in wf_turn_enter */
  return admit(next);
}

/* ---- serial stages ---- */

bool wf_door_enter(wf_door *door, wf_token *token) {
  uintptr_t there = WF_DOOR_FREE;
  for (;;) {
    /* seq_cst: pairs with the CAS and the exchange in wf_door_leave: what earlier items
     * did in the stage is visible, and the leaver sees a token that waits. explorer:
     * acq_rel suffices, it is one word. */
    if (there == WF_DOOR_FREE) {
      if (wf_word_cas_seq_cst(&door->x_state, &there, WF_DOOR_BUSY)) return true;
    } else {
      token->next = there == WF_DOOR_BUSY ? NULL : token_at(there);
      /* seq_cst: pairs with wf_door_leave, as above. explorer: release suffices. */
      if (wf_word_cas_seq_cst(&door->x_state, &there, (uintptr_t)token)) return false;
    }
  }
}

/* Those that have come, the last one first, become the list of the one who is inside, the
 * first one first. */
static wf_token *take_waiting(wf_door *door) {
  /* seq_cst: pairs with the CAS in wf_door_enter, which has left `next` of each.
   * explorer: acquire suffices, the stage is handed over by wf_ready_push or stays. */
  uintptr_t last = wf_word_exchange_seq_cst(&door->x_state, WF_DOOR_BUSY);
  wf_token *first = NULL;
  for (wf_token *it = token_at(last), *before; it != NULL; it = before) {
    before = it->next;
    it->next = first;
    first = it;
  }
  return first;
}

wf_token *wf_door_leave(wf_door *door) {
  WF_ASSERT(wf_word_peek(&door->x_state) != WF_DOOR_FREE);
  if (door->first == NULL) {
    uintptr_t there = WF_DOOR_BUSY;
    /* seq_cst: pairs with the CAS in wf_door_enter. explorer: acq_rel suffices, it is one
     * word. */
    if (wf_word_cas_seq_cst(&door->x_state, &there, WF_DOOR_FREE)) return NULL;
    door->first = take_waiting(door);
  }
  wf_token *next = door->first;
  door->first = next->next;
  return admit(next);
}

/* ---- the source ---- */

bool wf_source_take(wf_source *source) {
  /* Relaxed: only saves the CAS. */
  if (wf_u32_load_relaxed(&source->x_state) != WF_DOOR_FREE) return false;
  uint32_t there = WF_DOOR_FREE;
  /* seq_cst: pairs with the exchange in wf_source_leave: what the first stage did is
   * visible. explorer: acquire suffices. */
  return wf_u32_cas_seq_cst(&source->x_state, &there, WF_DOOR_BUSY);
}

void wf_source_leave(wf_source *source) {
  WF_ASSERT(wf_u32_peek(&source->x_state) == WF_DOOR_BUSY);
  uint32_t there = WF_DOOR_BUSY;
  /* seq_cst: pairs with the loads in wf_source_is_ready, as wf_source_put_idle does: of
   * two threads, one of which releases the source while the other puts a token away, at
   * least one finds that an item can be started. */
  wf_u32_cas_seq_cst(&source->x_state, &there, WF_DOOR_FREE);
}

void wf_source_put_idle(wf_source *source, wf_token *token) {
  uintptr_t there = wf_word_load_relaxed(&source->x_idle); /* the CAS decides */
  do token->next = there == 0 ? NULL : token_at(there);
  /* seq_cst: pairs with wf_source_leave, and with the CAS in pop_idle. */
  while (!wf_word_cas_seq_cst(&source->x_idle, &there, (uintptr_t)token));
}

bool wf_source_is_ready(const wf_source *source, uint32_t tokens) {
  /* seq_cst, all: each pairs with wf_source_leave and wf_source_put_idle.
   * explorer: relaxed suffices for x_fresh, which only grows. */
  return wf_u32_load_seq_cst(&source->x_state) == WF_DOOR_FREE &&
         (wf_u32_load_seq_cst(&source->x_fresh) < tokens ||
          wf_word_load_seq_cst(&source->x_idle) != 0);
}

/* The one who has the source: nobody else takes tokens away, so the token below the top
 * one stays below it for as long as that is on top. */
static wf_token *pop_idle(wf_source *source) {
  for (;;) {
    /* Acquire: pairs with the CAS in wf_source_put_idle, which has published `next`. */
    uintptr_t there = wf_word_load_acquire(&source->x_idle);
    if (there == 0) return NULL;
    wf_token *token = token_at(there);
    /* seq_cst: pairs with the CAS in wf_source_put_idle. explorer: relaxed suffices, the
     * load above has acquired the token. */
    if (wf_word_cas_seq_cst(&source->x_idle, &there, (uintptr_t)token->next))
      return token;
  }
}

wf_token *wf_source_start(wf_source *source, wf_token *tokens, uint32_t count) {
  while (wf_source_is_ready(source, count)) {
    if (!wf_source_take(source)) return NULL;
    wf_token *token = pop_idle(source);
    if (token != NULL) return token;
    uint32_t fresh = wf_u32_load_relaxed(&source->x_fresh); /* its own */
    if (fresh < count) {
      wf_u32_store_relaxed(&source->x_fresh, fresh + 1); /* the release publishes it */
      return wf_token_init(tokens, fresh);
    }
    /* Another thread was faster. It may have put a token back since, and have seen that
     * the source was busy: look again. */
    wf_source_leave(source);
  }
  return NULL;
}

/* ---- ready tokens ---- */

enum { CHANGE_SHIFT = 32 };

static uint64_t next_change(uint64_t top) {
  return ((top >> CHANGE_SHIFT) + 1) << CHANGE_SHIFT;
}

void wf_ready_push(wf_ready *ready, wf_token *tokens, wf_token *token) {
  uint64_t top = wf_u64_load_relaxed(&ready->x_top); /* the CAS decides */
  WF_ASSERT(&tokens[token->index] == token);
  (void)tokens;
  do /* Relaxed: the CAS publishes it; a pop that reads it later fails. */
    wf_u32_store_relaxed(&token->x_below, (uint32_t)top);
  /* seq_cst: pairs with the CAS in wf_ready_pop, which gets the token and the stage; and
   * with the load in wf_ready_any: members that leave see the token (run.c). */
  while (!wf_u64_cas_seq_cst(&ready->x_top, &top, next_change(top) | (token->index + 1)));
}

wf_token *wf_ready_pop(wf_ready *ready, wf_token *tokens) {
  for (;;) {
    /* Acquire: pairs with the CAS in wf_ready_push, for x_below and all of the token. */
    uint64_t top = wf_u64_load_acquire(&ready->x_top);
    if ((uint32_t)top == 0) return NULL;
    wf_token *token = &tokens[(uint32_t)top - 1];
    uint32_t below = wf_u32_load_relaxed(&token->x_below); /* the CAS decides */
    /* seq_cst: pairs with the CAS in wf_ready_push. explorer: relaxed suffices, the load
     * above has acquired the token. */
    if (wf_u64_cas_seq_cst(&ready->x_top, &top, next_change(top) | below)) return token;
  }
}

bool wf_ready_any(const wf_ready *ready) {
  /* seq_cst: pairs with the CAS in wf_ready_push. */
  return (uint32_t)wf_u64_load_seq_cst(&ready->x_top) != 0;
}
