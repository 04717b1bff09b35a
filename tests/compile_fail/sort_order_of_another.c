/* expect: incompatible|no matching|cannot convert|invalid conversion */
#include <weft.h>

typedef struct person {
  unsigned age;
} person;

static inline bool is_younger(const person *a, const person *b, void *ctx) {
  (void)ctx;
  return a->age < b->age;
}

#ifdef RIGHT
WEFT_SORT(sort_people, person, is_younger)
#else
WEFT_SORT(sort_people, unsigned, is_younger)
#endif

void use(person *a) {
#ifdef RIGHT
  sort_people(a, 3, NULL);
#else
  (void)a;
#endif
}
