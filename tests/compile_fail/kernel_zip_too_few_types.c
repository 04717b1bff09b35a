/* expect: requires 5 arguments|too few arguments */
#include <weft.h>

#ifdef RIGHT
WEFT_KERNEL_ZIP(products, double, double, double, x *y)
#else
WEFT_KERNEL_ZIP(products, double, double, x *y)
#endif

void use(weft_iter *left, weft_iter *right) {
#ifdef RIGHT
  weft_iter_zip_apply(left, right, &products, NULL);
#else
  (void)left, (void)right;
#endif
}
