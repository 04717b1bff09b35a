/* expect: WEFT_LOOP takes a name, an index, and pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_LOOP(scale, i, double *, a, double, by) {
  a[i] *= by;
}

void use(double *a) {
  scale(9, a, 2);
}
#else
WEFT_LOOP(scale, i, double *, a, by) {}
#endif
