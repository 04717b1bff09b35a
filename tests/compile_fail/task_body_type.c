/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

WEFT_TASK(int, f, const char *, text) {
#ifdef RIGHT
  return text[0];
#else
  return text;
#endif
}

int use(void) {
  return f("x");
}
