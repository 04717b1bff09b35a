/* expect: WEFT_REDUCE_LOOP takes a name, a result type, an identity */
#include <weft.h>

#ifdef RIGHT
#define BITS(a, b) ((a) | (b))
WEFT_REDUCE_LOOP(bits, unsigned, 0, BITS, i, const unsigned *, a) {
  return a[i];
}

unsigned use(const unsigned *a) {
  return bits(9, a);
}
#else
WEFT_REDUCE_LOOP(bits, unsigned, BITS, i, const unsigned *, a) {}
#endif
