/* expect: too few arguments|no matching function */
#include <weft.h>

WEFT_LOOP(scale, i, double *, a, double, by) {
  a[i] *= by;
}

void use(double *a) {
#ifdef RIGHT
  scale_range(1, 9, a, 2);
#else
  scale_range(9, a, 2);
#endif
}
