/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

typedef struct pair {
  int a, b;
} pair;

WEFT_TASK(pair, twice, int, a) {
  return (pair){a, a};
}

int use(void) {
  twice_task t;
  twice_fork(&t, 1);
#ifdef RIGHT
  pair p = twice_join(&t);
  return p.a;
#else
  int p = twice_join(&t);
  return p;
#endif
}
