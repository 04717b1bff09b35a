/* expect: incompatible|conver|initializ|makes integer|invalid operands|no matching */
#include <weft.h>

#ifdef RIGHT
typedef unsigned piece;
#else
typedef const char *piece;
#endif

static inline unsigned either(piece a, piece b) {
  (void)b;
  return a != 0;
}

WEFT_REDUCE_LOOP(bits, unsigned, 0, either, i, const unsigned *, a) {
  return a[i];
}

unsigned use(const unsigned *a) {
  return bits(9, a);
}
