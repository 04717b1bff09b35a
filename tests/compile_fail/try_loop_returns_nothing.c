/* expect: return.*no value|non-void function|should return a value */
#include <weft.h>

WEFT_TRY_LOOP(check, i, const int *, a) {
#ifdef RIGHT
  return a[i];
#else
  if (a[i] == 0) return;
  return 0;
#endif
}

int use(const int *a) {
  return check(9, a);
}
