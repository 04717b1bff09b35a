/* expect: only_in_WEFT_TASK_FAST */
#include <weft.h>

WEFT_TASK_FAST(long, fib, long, n) {
  long a, b;
  if (n < 2) return n;
  WEFT_BOTH(a, (fib, n - 2), b, (fib, n - 1));
  return a + b;
}

#ifdef RIGHT
WEFT_TASK_FAST(long, twice, long, n) {
#else
WEFT_TASK(long, twice, long, n) {
#endif
  long a, b;
  WEFT_BOTH(a, (fib, n), b, (fib, n));
  return a + b;
}

long use(void) {
  return twice(5);
}
