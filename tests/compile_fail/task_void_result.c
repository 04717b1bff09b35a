/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK(void, clear, int *, to) {
  *to = 0;
}

int use(void) {
  int a = 1;
  clear_task t;
  clear_fork(&t, &a);
#ifdef RIGHT
  clear_join(&t);
#else
  a = clear_join(&t);
#endif
  return a;
}
