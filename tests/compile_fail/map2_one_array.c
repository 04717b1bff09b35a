/* expect: too few arguments|no matching|requires . arguments */
#include <weft.h>

static inline double product(double x, double y, void *ctx) {
  (void)ctx;
  return x * y;
}
WEFT_MAP2(products, double, double, double, product)

void use(double *to, const double *a) {
#ifdef RIGHT
  products(to, a, a, 3, NULL);
#else
  products(to, a, 3, NULL);
#endif
}
