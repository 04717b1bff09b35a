/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK(double, first, const double *, a) {
  return a[0];
}

double use(const double *a, const float *b) {
  first_task t;
  (void)b;
#ifdef RIGHT
  first_fork(&t, a);
#else
  first_fork(&t, b);
#endif
  return first_join(&t);
}
