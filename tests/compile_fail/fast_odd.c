/* expect: WEFT_TASK takes a result type, a name, and pairs of type and name */
#include <weft.h>

#ifdef RIGHT
WEFT_TASK_FAST(long, add, long, a, long, b) {
  return a + b;
}
#else
WEFT_TASK_FAST(long, add, long, a, b) {
  return 1;
}
#endif

#ifdef RIGHT
long use(void) {
  return add(1, 2);
}
#endif
