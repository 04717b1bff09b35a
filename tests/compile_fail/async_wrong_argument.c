/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_ASYNC(double, first, const double *, a) {
  return a[0];
}

double use(const double *a, const float *b) {
  first_handle t;
  (void)b;
#ifdef RIGHT
  first_async(&t, a);
#else
  first_async(&t, b);
#endif
  return first_wait(t);
}
