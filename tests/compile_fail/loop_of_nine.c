/* expect: WEFT_LOOP takes a name, an index, and at most 8 pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_LOOP(f, i, int *, a, int, b, int, c, int, d, int, e, int, g, int, h, int, j) {
  a[i] = b + c + d + e + g + h + j;
}

void use(int *a) {
  f(9, a, 1, 2, 3, 4, 5, 6, 7);
}
#else
WEFT_LOOP(f, i, int *, a, int, b, int, c, int, d, int, e, int, g, int, h, int, j, int,
          k) {}
#endif
