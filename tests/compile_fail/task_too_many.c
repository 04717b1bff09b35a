/* expect: too many arguments|requires . arguments */
#include <weft.h>

WEFT_TASK(long, add, long, a, long, b) {
  return a + b;
}

long use(void) {
  add_task t;
#ifdef RIGHT
  add_fork(&t, 1, 2);
#else
  add_fork(&t, 1, 2, 3);
#endif
  return add_join(&t);
}
