/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

static inline double product(double x, float y, void *ctx) {
  (void)ctx;
  return x * (double)y;
}
WEFT_MAP2(products, double, float, double, product)

void use(double *to, const double *a, const float *b) {
#ifdef RIGHT
  products(to, a, b, 3, NULL);
#else
  products(to, b, a, 3, NULL);
#endif
}
