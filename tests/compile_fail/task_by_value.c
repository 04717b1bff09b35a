/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK(long, one, long, a) {
  return a;
}

long use(void) {
  one_task t;
#ifdef RIGHT
  one_fork(&t, 1);
#else
  one_fork(t, 1);
#endif
  return one_join(&t);
}
