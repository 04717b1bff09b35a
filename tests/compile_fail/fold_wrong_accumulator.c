/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

typedef struct stats {
  double sum, count;
} stats;

static const stats NONE = {0, 0};

static inline stats add(stats s, double x, void *ctx) {
  (void)ctx;
  s.sum += x;
  s.count++;
  return s;
}

static inline stats merge(stats l, stats r, void *ctx) {
  (void)ctx;
  l.sum += r.sum;
  l.count += r.count;
  return l;
}

#ifdef RIGHT
WEFT_FOLD(stats_of, stats, double, NONE, add, merge)
#else
WEFT_FOLD(stats_of, double, double, 0, add, merge)
#endif

double use(const double *a) {
#ifdef RIGHT
  return stats_of(a, 3, NULL).sum;
#else
  return a[0] + NONE.sum;
#endif
}
