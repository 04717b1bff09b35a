/* expect: incompatible|no matching|cannot convert */
#include <weft.h>

static inline bool is_negative(double x, void *ctx) {
  (void)ctx;
  return x < 0;
}
WEFT_FIND(first_negative, double, is_negative)

size_t use(const double *a, const int *b) {
  (void)b;
#ifdef RIGHT
  return first_negative(a, 3, NULL);
#else
  return first_negative(b, 3, NULL);
#endif
}
