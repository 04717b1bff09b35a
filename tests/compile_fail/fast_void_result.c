/* expect: incompatible|conver|initializ|makes integer|void|no member */
#include <weft.h>

WEFT_TASK_FAST(void, clear, int *, to) {
  *to = 0;
}

WEFT_TASK_FAST(int, both, int *, to) {
#ifdef RIGHT
  WEFT_BOTH_VOID((clear, to), (clear, to + 1));
  return 0;
#else
  int a, b;
  WEFT_BOTH(a, (clear, to), b, (clear, to + 1));
  return a + b;
#endif
}

int use(int *to) {
  return both(to);
}
