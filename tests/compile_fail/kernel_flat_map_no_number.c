/* expect: integer|aggregate value|conver|operand|cast */
#include <weft.h>

typedef struct span {
  unsigned from, count;
} span;

#ifdef RIGHT
WEFT_KERNEL_FLAT_MAP(members, span, unsigned, x.count, x.from + (unsigned)j)
#else
WEFT_KERNEL_FLAT_MAP(members, span, unsigned, x, x.from + (unsigned)j)
#endif

void use(weft_iter *it) {
  weft_iter_apply(it, &members, NULL);
}
