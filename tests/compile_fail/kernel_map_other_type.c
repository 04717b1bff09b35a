/* expect: incompatible|conver|no viable|assign */
#include <weft.h>

typedef struct point {
  double x, y;
} point;

#ifdef RIGHT
WEFT_KERNEL_MAP(lengths, point, double, x.x + x.y)
#else
WEFT_KERNEL_MAP(lengths, point, double, x)
#endif

int use(weft_iter *it) {
  weft_iter_apply(it, &lengths, NULL);
  return 0;
}
