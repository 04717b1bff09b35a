/* nbody.c - bodies that attract each other: a WEFT_LOOP computes the acceleration of each
 * body, another one moves them, and WEFT_SUM_LOOP adds up their energy. The sum has the
 * same bits on any number of threads, so a simulation can be repeated exactly.
 *
 *     cc -O2 nbody.c -o nbody $(pkg-config --cflags --libs weft) -lm
 *     ./nbody [bodies [threads [steps]]]
 *
 * Prints the energy before and after, which should hardly change, and the times.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft.h>

typedef struct body {
  double x, y, z, vx, vy, vz, ax, ay, az, mass;
} body;

static const double STEP = 1e-4, SOFT = 1e-3; /* SOFT: nobody comes closer than that */

static void attract(body *b, const body *all, size_t n) {
  double ax = 0, ay = 0, az = 0;
  for (size_t j = 0; j < n; j++) {
    double dx = all[j].x - b->x, dy = all[j].y - b->y, dz = all[j].z - b->z;
    double square = dx * dx + dy * dy + dz * dz + SOFT;
    double pull = all[j].mass / (square * sqrt(square));
    ax += dx * pull;
    ay += dy * pull;
    az += dz * pull;
  }
  b->ax = ax, b->ay = ay, b->az = az;
}

static void move(body *b) {
  b->vx += STEP * b->ax, b->vy += STEP * b->ay, b->vz += STEP * b->az;
  b->x += STEP * b->vx, b->y += STEP * b->vy, b->z += STEP * b->vz;
}

/* The first loop writes only accelerations and reads only places and masses; so all
 * bodies can be attracted at the same time. Then all can be moved. */
WEFT_LOOP(attract_all, i, body *, bodies, size_t, n) {
  attract(&bodies[i], bodies, n);
}

WEFT_LOOP(move_all, i, body *, bodies) {
  move(&bodies[i]);
}

/* Kinetic and potential energy; each pair of bodies counts once. */
WEFT_SUM_LOOP(energy, double, i, const body *, bodies) {
  const body *b = &bodies[i];
  double sum = b->mass * (b->vx * b->vx + b->vy * b->vy + b->vz * b->vz) / 2;
  for (size_t j = 0; j < i; j++) {
    double dx = b->x - bodies[j].x, dy = b->y - bodies[j].y, dz = b->z - bodies[j].z;
    sum -= b->mass * bodies[j].mass / sqrt(dx * dx + dy * dy + dz * dz + SOFT);
  }
  return sum;
}

/* ---- the program around it ---- */

static double now_ms(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double random_number(uint32_t *state) { /* from -1 to 1 */
  *state = *state * 1664525u + 1013904223u;
  return (double)(*state >> 8) / (1 << 23) - 1;
}

static void invent(body *bodies, size_t n) {
  uint32_t state = 1;
  memset(bodies, 0, n * sizeof *bodies);
  for (body *b = bodies; b < bodies + n; b++) {
    b->x = random_number(&state), b->y = random_number(&state);
    b->z = random_number(&state), b->mass = 1.0 / (double)n;
    b->vx = -b->y / 2, b->vy = b->x / 2; /* they turn around the middle */
  }
}

int main(int argc, char **argv) {
  size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 800;
  size_t steps = argc > 3 ? strtoul(argv[3], NULL, 10) : 20;
  weft_config config = WEFT_CONFIG_INIT;
  config.threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (n == 0 || n > 1000000 || steps == 0 || steps > 1000000 || weft_init(&config) != 0) {
    fprintf(stderr, "usage: nbody [bodies up to 10^6 [threads [steps]]]\n");
    return 2;
  }
  body *bodies = malloc(n * sizeof *bodies), *expected = malloc(n * sizeof *expected);
  if (bodies == NULL || expected == NULL) return perror("nbody"), 1;
  invent(bodies, n);
  invent(expected, n);

  double start = now_ms();
  for (size_t s = 0; s < steps; s++) {
    for (size_t i = 0; i < n; i++) attract(&expected[i], expected, n);
    for (size_t i = 0; i < n; i++) move(&expected[i]);
  }
  double middle = now_ms(), before = energy(n, bodies), begin = now_ms();
  for (size_t s = 0; s < steps; s++) {
    attract_all(n, bodies, n);
    move_all(n, bodies);
  }
  double end = now_ms();

  bool right = memcmp(bodies, expected, n * sizeof *bodies) == 0; /* the same bits */
  printf("%zu bodies, %zu steps: energy %.6f, then %.6f\n", n, steps, before,
         energy(n, bodies));
  printf("serial %.1f ms, weft %.1f ms on %u threads: %s\n", middle - start, end - begin,
         weft_thread_count(), right ? "same" : "WRONG");
  free(bodies);
  free(expected);
  return right ? 0 : 1;
}
