/* expect: WEFT_SUM_LOOP takes a name, a result type, an index, and pairs */
#include <weft.h>

#ifdef RIGHT
WEFT_SUM_LOOP(dot, double, i, const double *, x, const double *, y) {
  return x[i] * y[i];
}

double use(const double *a) {
  return dot(9, a, a);
}
#else
WEFT_SUM_LOOP(dot, i, const double *, x, const double *, y) {}
#endif
