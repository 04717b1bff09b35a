/* expect: not a structure|not a structure or union|member reference|request for member */
#include <weft.h>

typedef struct point {
  double x, y;
} point;

#ifdef RIGHT
WEFT_KERNEL_FILTER(left_ones, point, x.x < 0)
#else
WEFT_KERNEL_FILTER(left_ones, double, x.x < 0)
#endif

void use(weft_iter *it) {
  weft_iter_apply(it, &left_ones, NULL);
}
