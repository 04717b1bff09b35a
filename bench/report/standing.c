/* report/standing.c - finds the ratios of peers to weft in the results, and knows which
 * contestants are weft and which are peers.
 *
 * SPDX-License-Identifier: MIT */
#include "standing.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *chars, const char *start) {
  return strncmp(chars, start, strlen(start)) == 0;
}

bool is_peer(const char *name) {
  static const char *const peers[] = {"rayon",  "tbb",         "omp",      "ips4o",
                                      "vqsort", "pthreadpool", "taskflow", "lace"};
  for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++)
    if (starts_with(name, peers[i])) return true;
  return false;
}

bool is_ours(const char *name) {
  return starts_with(name, "weft");
}

const char *class_of(const char *name) {
  if (is_ours(name)) return "weft";
  if (starts_with(name, "rayon")) return "rayon";
  if (starts_with(name, "tbb")) return "tbb";
  if (starts_with(name, "omp")) return "omp";
  if (is_peer(name)) return "peer";
  return "serial";
}

double time_of(const contestant *c) {
  return c == NULL || find_series(c, "median_ns") == NULL
             ? NAN
             : contestant_value(c, "median_ns");
}

const contestant *fastest(const bench_case *c, bool (*counts)(const char *name)) {
  const contestant *best = NULL;
  for (size_t i = 0; i < c->count; i++) {
    double time = time_of(&c->contestants[i]);
    if (!counts(c->contestants[i].name) || !(time > 0)) continue;
    if (best == NULL || time < time_of(best)) best = &c->contestants[i];
  }
  return best;
}

/* ---- goals about peers ---- */

static bool all_are(const char *list, bool (*what)(const char *name)) {
  words names = split(list, ",");
  bool all = names.count > 0;
  for (size_t i = 0; i < names.count; i++) all &= what(names.items[i]);
  words_free(&names);
  return all;
}

static bool term_is(const char *chars, bool (*what)(const char *name)) {
  words parts = split(chars, ":");
  bool is = parts.count >= 2 && all_are(parts.items[1], what);
  words_free(&parts);
  return is;
}

/* 1 for "peer ours /" that is to be large, -1 for "ours peer /" that is to be small, 0
 * for all other goals. */
static int direction_of(const goal *g) {
  words terms = split(g->expression, " ");
  int direction = 0;
  if (terms.count == 3 && strcmp(terms.items[2], "/") == 0) {
    if (g->at_least && term_is(terms.items[0], is_peer) &&
        term_is(terms.items[1], is_ours))
      direction = 1;
    if (!g->at_least && term_is(terms.items[0], is_ours) &&
        term_is(terms.items[1], is_peer))
      direction = -1;
  }
  words_free(&terms);
  return direction;
}

/* Is it about the time of this peer in this case? */
static bool goal_names(const goal *g, const row *its, const bench_case *c,
                       const char *peer) {
  if (strcmp(g->row, its->id) != 0 || direction_of(g) == 0) return false;
  words terms = split(g->expression, " ");
  bool named = false;
  for (size_t i = 0; i < 2; i++) {
    words parts = split(terms.items[i], ":"), patterns = split(parts.items[1], ",");
    for (size_t k = 0; parts.count == 2 && k < patterns.count; k++)
      named |= matches(parts.items[0], c->name) && matches(patterns.items[k], peer);
    words_free(&patterns);
    words_free(&parts);
  }
  words_free(&terms);
  return named;
}

/* ---- standings ---- */

/* "count: Rayon / weft" becomes "count: Rayon", "ticks: CPU, weft / Rayon" without weft.
 */
static void name_of_goal(char *name, size_t room, const char *what) {
  static const char ours[] = "weft / ", behind[] = " / weft";
  const char *found = strstr(what, ours);
  size_t length = strlen(what);
  if (found != NULL)
    snprintf(name, room, "%.*s%s", (int)(found - what), what, found + strlen(ours));
  else if (length > strlen(behind) && strcmp(what + length - strlen(behind), behind) == 0)
    snprintf(name, room, "%.*s", (int)(length - strlen(behind)), what);
  else
    snprintf(name, room, "%s", what);
}

static void add_goal(standings *s, const goal *g, const outcome *o) {
  int direction = direction_of(g);
  if (direction == 0 || o->verdict == GOAL_UNKNOWN || !(o->median > 0)) return;
  GROW(s->items, s->count);
  standing *it = &s->items[s->count++];
  *it = (standing){.row = g->row,
                   .ratio = direction > 0 ? o->median : 1 / o->median,
                   .limit = direction > 0 ? g->limit : 1 / g->limit,
                   .met = o->verdict == GOAL_MET};
  name_of_goal(it->name, sizeof it->name, g->what);
  snprintf(it->peer, sizeof it->peer, "%s", o->fastest);
}

static void add_fastest(standings *s, const goals *g, const row *its,
                        const bench_case *c) {
  const contestant *peer = fastest(c, is_peer), *ours = find_contestant(c, "weft");
  if (!(time_of(ours) > 0)) ours = fastest(c, is_ours);
  if (peer == NULL || ours == NULL) return;
  for (size_t i = 0; i < g->count; i++)
    if (goal_names(&g->items[i], its, c, peer->name)) return;
  GROW(s->items, s->count);
  standing *it = &s->items[s->count++];
  *it = (standing){
      .row = its->id, .ratio = time_of(peer) / time_of(ours), .limit = NAN, .met = true};
  snprintf(it->name, sizeof it->name, "%s: fastest", c->name);
  snprintf(it->peer, sizeof it->peer, "%s", peer->name);
}

standings standings_of(const results *r, const goals *g) {
  standings s = {0};
  for (size_t i = 0; i < r->count; i++) {
    const row *its = &r->rows[i];
    for (size_t k = 0; k < g->count; k++) {
      if (strcmp(g->items[k].row, its->id) != 0) continue;
      outcome o = goal_outcome(&g->items[k], r);
      add_goal(&s, &g->items[k], &o);
    }
    for (size_t k = 0; k < its->count; k++) add_fastest(&s, g, its, &its->cases[k]);
  }
  return s;
}

standings recorded_standings(const record *kept, const goals *g) {
  standings s = {0};
  for (size_t i = 0; i < g->count; i++) {
    const recorded *r = find_recorded(kept, &g->items[i]);
    if (r != NULL) add_goal(&s, &g->items[i], &r->outcome);
  }
  return s;
}

void standings_free(standings *s) {
  free(s->items);
  *s = (standings){0};
}
