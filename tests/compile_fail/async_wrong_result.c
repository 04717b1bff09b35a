/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

typedef struct pair {
  int a, b;
} pair;

WEFT_ASYNC(pair, twice, int, a) {
  return (pair){a, a};
}

int use(void) {
  twice_handle t;
  twice_async(&t, 1);
#ifdef RIGHT
  pair p = twice_wait(t);
  return p.a;
#else
  int p = twice_wait(t);
  return p;
#endif
}
