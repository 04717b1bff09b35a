/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

static inline long add(long acc, long x, void *ctx) {
  (void)ctx;
  return acc + x;
}
WEFT_SCAN(sums, long, 0, add)

void use(long *to, double *other, const long *a) {
  (void)to, (void)other;
#ifdef RIGHT
  sums(to, a, 3, NULL);
#else
  sums(other, a, 3, NULL);
#endif
}
