/* expect: too many arguments|no matching */
#include <weft.h>

#ifdef RIGHT
static inline bool is_big(int x, void *ctx) {
  (void)ctx;
  return x > 9;
}
#else
static inline bool is_big(int x) {
  return x > 9;
}
#endif
WEFT_FILTER(big_ones, int, is_big)

size_t use(int *to, const int *a) {
  return big_ones(to, a, 3, NULL);
}
