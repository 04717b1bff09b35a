/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK_FAST(double, first, const double *, a) {
  return a[0];
}

WEFT_TASK_FAST(double, both, const double *, a, const float *, b) {
  double x, y;
  (void)b;
#ifdef RIGHT
  WEFT_BOTH(x, (first, a), y, (first, a));
#else
  WEFT_BOTH(x, (first, a), y, (first, b));
#endif
  return x + y;
}

double use(const double *a, const float *b) {
  return both(a, b);
}
