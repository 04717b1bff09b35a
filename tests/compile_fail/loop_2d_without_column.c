/* expect: WEFT_LOOP_2D takes a name, a row, a column, and pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_LOOP_2D(clear, r, c, double *, a) {
  a[r * 9 + c] = 0;
}

void use(double *a) {
  clear(9, 9, a);
}
#else
WEFT_LOOP_2D(clear, r, double *, a) {}
#endif
