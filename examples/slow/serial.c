/* serial.c - slow because of a serial part: readings are parsed by one thread, and only
 * what is computed from them is parallel. docs/guide/tuning.md shows how that is found.
 *
 *     serial slow       one thread parses
 *     serial mended     all threads parse
 *     serial            both, and whether they agree
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* A line is "1234567.891\n": the parser does not know where a number ends before it has
 * read it, but lines are equally long. */
enum { LINE = 12, READINGS = 300000, FILES = 4 };

static char log_text[(size_t)READINGS * LINE + 1];
static double readings[READINGS];

/* Stands for reading a file. */
WEFT_LOOP(invent, i, char *, text, unsigned, file) {
  char *line = text + i * LINE;
  uint64_t digits = (i * 2654435761u + file * 40503u) % 10000000000u;
  for (int k = LINE - 2; k >= 0; k--) {
    if (k == 7) {
      line[k] = '.';
    } else {
      line[k] = (char)('0' + digits % 10);
      digits /= 10;
    }
  }
  line[LINE - 1] = '\n';
}

WEFT_SUM_LOOP(energy, double, i, const double *, values) {
  return sqrt(values[i]) * cos(values[i]);
}

/* One line after the other. */
static void parse_serially(const char *text, double *values) {
  char *end;
  for (size_t i = 0; i < READINGS; i++, text = end + 1) values[i] = strtod(text, &end);
}

/* Each line by itself: where it begins is known. */
WEFT_LOOP(parse, i, const char *, text, double *, values) {
  values[i] = strtod(text + i * LINE, NULL);
}

static double run(bool slow) {
  weft_opts inventing = WEFT_OPTS_INIT, parsing = WEFT_OPTS_INIT, adding = WEFT_OPTS_INIT;
  inventing.name = "invent, " WEFT_HERE;
  parsing.name = "parse, " WEFT_HERE;
  adding.name = "energy, " WEFT_HERE;
  double total = 0;
  for (unsigned file = 0; file < FILES; file++) {
    invent_with(&inventing, READINGS, log_text, file);
    if (slow)
      parse_serially(log_text, readings);
    else
      parse_with(&parsing, READINGS, log_text, readings);
    total += energy_with(&adding, READINGS, readings);
  }
  return total;
}

int main(int argc, char **argv) {
  bool both = argc == 1, slow = argc == 2 && strcmp(argv[1], "slow") == 0;
  if (!both && !slow && (argc != 2 || strcmp(argv[1], "mended") != 0)) {
    fprintf(stderr, "usage: serial [slow | mended]\n");
    return 2;
  }
  double total = run(slow);
  printf("%s: %.6f\n", slow ? "slow" : "mended", total);
  if (!both) return 0;
  double other = run(true);
  printf("slow: %.6f\n", other);
  /* A sum has the same bits on any number of threads. */
  return total == other ? 0 : 1;
}
