/* words/serial.c - counts words with one table.
 *
 * Usage: words_serial [threads [bytes]]
 *
 * SPDX-License-Identifier: MIT */
#include "words.h"

static long count(long unused) {
  words w = {0, 0, 0};
  (void)unused;
  words_add(&w, text, text_length, 0, text_length);
  long answer = words_answer(&w);
  words_free(&w);
  return answer;
}

int main(int argc, char **argv) {
  words_start(argc, argv);
  words_measure("serial", count);
  return 0;
}
