/* app.c - a program as a user of the installed library would write it: adds the numbers
 * below 1000000 by halving, and fails if the sum or the library's version is wrong.
 * Compiles as C11 and, under another name, as C++17.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <weft.h>

typedef struct range {
  int64_t begin, end, sum;
} range;

static void add(void *ctx) {
  range *r = (range *)ctx;
  if (r->end - r->begin <= 1000) {
    r->sum = 0;
    for (int64_t i = r->begin; i < r->end; i++) r->sum += i;
    return;
  }
  int64_t middle = r->begin + (r->end - r->begin) / 2;
  range left = {r->begin, middle, 0}, right = {middle, r->end, 0};
  weft_join(add, &left, add, &right);
  r->sum = left.sum + right.sum;
}

int main(void) {
  char version[32];
  snprintf(version, sizeof version, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
           WEFT_VERSION_PATCH);
  range all = {0, 1000000, 0};
  add(&all);
  printf("weft %s: sum %lld\n", weft_version(), (long long)all.sum);
  return all.sum == 499999500000 && strcmp(weft_version(), version) == 0 ? 0 : 1;
}
