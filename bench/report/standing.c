/* report/standing.c - who is a peer, who is the fastest of them, and which goal that
 * meets; see plots.h.
 *
 * SPDX-License-Identifier: MIT */
#include "standing.h"
#include <math.h>
#include <string.h>

static bool starts_with(const char *chars, const char *start) {
  return strncmp(chars, start, strlen(start)) == 0;
}

bool is_peer(const char *name) {
  static const char *const peers[] = {"rayon", "tbb", "omp", "ips4o", "pthreadpool"};
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

/* Does a term of a goal, case:list, name this contestant of this case? */
static bool term_names(const char *term, const bench_case *c, const char *name) {
  const char *colon = strchr(term, ':');
  if (colon == NULL || (size_t)(colon - term) != strlen(c->name) ||
      strncmp(term, c->name, strlen(c->name)) != 0)
    return false;
  words patterns = split(colon + 1, ",");
  bool found = false;
  for (size_t i = 0; i < patterns.count; i++) found |= matches(patterns.items[i], name);
  words_free(&patterns);
  return found;
}

/* The limit of a goal of the form "peer's time / weft's time", or NAN. */
static double limit_of(const goals *g, const row *its, const bench_case *c,
                       const char *peer, const char *ours) {
  double limit = NAN;
  for (size_t i = 0; i < g->count; i++) {
    const goal *item = &g->items[i];
    if (strcmp(item->row, its->id) != 0 || !item->at_least) continue;
    words terms = split(item->expression, " ");
    if (terms.count == 3 && strcmp(terms.items[2], "/") == 0 &&
        term_names(terms.items[0], c, peer) && term_names(terms.items[1], c, ours))
      limit = item->limit;
    words_free(&terms);
  }
  return limit;
}

bool case_standing(const goals *g, const row *its, const bench_case *c, standing *out) {
  const contestant *peer = fastest(c, is_peer), *ours = find_contestant(c, "weft");
  if (!(time_of(ours) > 0)) ours = fastest(c, is_ours);
  if (peer == NULL || ours == NULL) return false;
  out->ratio = time_of(peer) / time_of(ours);
  out->peer = peer->name;
  out->limit = limit_of(g, its, c, peer->name, ours->name);
  out->met = isnan(out->limit) || out->ratio >= out->limit;
  return true;
}
