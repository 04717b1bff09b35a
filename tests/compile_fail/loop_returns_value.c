/* expect: return.*value|should not return a value */
#include <weft.h>

WEFT_LOOP(scale, i, double *, a) {
#ifdef RIGHT
  a[i] *= 2;
#else
  return a[i] * 2;
#endif
}

void use(double *a) {
  scale(9, a);
}
