/* expect: incompatible|conver|initializ|makes integer */
#include <weft.h>

WEFT_SUM_LOOP(length, int, i, const char *const *, texts) {
#ifdef RIGHT
  return texts[i][0];
#else
  return texts[i];
#endif
}

int use(const char *const *texts) {
  return length(9, texts);
}
