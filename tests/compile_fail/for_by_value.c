/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

#ifdef RIGHT
static inline void negate(int *x, size_t i, void *ctx) {
  (void)i, (void)ctx;
  *x = -*x;
}
#else
static inline void negate(int x, size_t i, void *ctx) {
  (void)x, (void)i, (void)ctx;
}
#endif
WEFT_FOR(negate_all, int, negate)

void use(int *a) {
  negate_all(a, 3, NULL);
}
