/* expect: incompatible|conver|initializ|no matching function */
#include <weft.h>

WEFT_LOOP(scale, i, double *, a, double, by) {
  a[i] *= by;
}

void use(double *a, const float *b) {
  (void)b;
#ifdef RIGHT
  scale(9, a, 2);
#else
  scale(9, b, 2);
#endif
}
