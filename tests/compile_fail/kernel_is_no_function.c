/* expect: incompatible|no matching|cannot convert|invalid conversion */
#include <weft.h>

#ifdef RIGHT
WEFT_KERNEL_MAP(twice, double, double, x * 2)
#else
static double twice(double x) {
  return x * 2;
}
#endif

void use(weft_iter *it) {
  weft_iter_apply(it, &twice, NULL);
}
