/* expect: only_in_WEFT_TASK_FAST */
#include <weft.h>

WEFT_TASK_FAST(long, fib, long, n) {
  long a, b;
  if (n < 2) return n;
  WEFT_BOTH(a, (fib, n - 2), b, (fib, n - 1));
  return a + b;
}

long use(void) {
#ifdef RIGHT
  return fib(5);
#else
  return WEFT_CALL(fib, 5);
#endif
}
