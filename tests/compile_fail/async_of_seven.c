/* expect: WEFT_ASYNC takes at most 6 pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_ASYNC(int, f, int, a, int, b, int, c, int, d, int, e, int, g) {
  return a + b + c + d + e + g;
}

int use(void) {
  return f(1, 2, 3, 4, 5, 6);
}
#else
WEFT_ASYNC(int, f, int, a, int, b, int, c, int, d, int, e, int, g, int, h) {
  return 1;
}
#endif
