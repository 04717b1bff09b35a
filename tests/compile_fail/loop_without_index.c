/* expect: WEFT_LOOP takes a name, an index, and pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_LOOP(nothing, i) {
  (void)i;
}

void use(void) {
  nothing(9);
}
#else
WEFT_LOOP(nothing) {}
#endif
