/* expect: incompatible|conver|initializ|makes integer|void value */
#include <weft.h>

static inline bool less(const int *a, const int *b, void *ctx) {
  (void)ctx;
  return *a < *b;
}
WEFT_SORT_BY_KEY(sort_rows, int, double, less)

void use(int *keys, double *rows) {
#ifdef RIGHT
  sort_rows(keys, 3, rows, NULL);
#else
  sort_rows(rows, 3, keys, NULL);
#endif
}
