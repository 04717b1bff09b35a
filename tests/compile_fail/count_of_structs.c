/* expect: incompatible|conver|no viable|cannot convert */
#include <weft.h>

typedef struct point {
  double x, y;
} point;

static inline bool is_left(point p, void *ctx) {
  (void)ctx;
  return p.x < 0;
}

#ifdef RIGHT
WEFT_COUNT(left_ones, point, is_left)
#else
WEFT_COUNT(left_ones, double, is_left)
#endif

size_t use(const point *a) {
#ifdef RIGHT
  return left_ones(a, 3, NULL);
#else
  return a != NULL;
#endif
}
