/* expect: incompatible|conver|no viable|assign */
#include <weft.h>

typedef struct point {
  double x, y;
} point;

#ifdef RIGHT
WEFT_KERNEL_FILTER_MAP(heights, point, double, x.x < 0, x.y)
#else
WEFT_KERNEL_FILTER_MAP(heights, point, point, x.x < 0, x.y)
#endif

void use(weft_iter *it) {
  weft_iter_apply(it, &heights, NULL);
}
