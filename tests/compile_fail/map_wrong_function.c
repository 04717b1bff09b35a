/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

typedef struct point {
  double x, y;
} point;

static inline double length_of(point p, void *ctx) {
  (void)ctx;
  return p.x + p.y;
}

#ifdef RIGHT
WEFT_MAP(lengths, point, double, length_of)
#else
WEFT_MAP(lengths, double, double, length_of)
#endif

void use(double *to, const point *a) {
#ifdef RIGHT
  lengths(to, a, 3, NULL);
#else
  (void)to, (void)a;
#endif
}
