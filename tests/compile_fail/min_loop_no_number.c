/* expect: WEFT_MIN_LOOP: the result must be a number */
#include <weft.h>

#ifdef RIGHT
typedef int size;
#else
typedef struct size {
  int width;
} size;
#endif

WEFT_MIN_LOOP(least, size, i, const size *, sizes) {
  return sizes[i];
}

size use(const size *sizes) {
  return least(9, sizes);
}
