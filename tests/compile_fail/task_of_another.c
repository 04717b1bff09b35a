/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK(long, one, long, a) {
  return a;
}
WEFT_TASK(long, two, long, a) {
  return 2 * a;
}

long use(void) {
  one_task t;
  one_fork(&t, 1);
#ifdef RIGHT
  return one_join(&t) + two(1);
#else
  return two_join(&t);
#endif
}
