/* forms.c - every call of pthreadpool.h, made from the table in forms.h.
 *
 * A call has ranges and tiles, and its function gets as many indices and lengths, so one
 * number says how long both lists are. A call packs its sizes into a grid; wfp_run calls
 * back with the arguments for one tile as an array; `invoke` spreads the array over the
 * arguments of the function, in its true type.
 *
 * SPDX-License-Identifier: MIT */
#include "run.h"

/* size_t s1, ..., size_t sN: parameters; s1, ..., sN: the same as values. */
#define SIZES_1 size_t s1
#define SIZES_2 SIZES_1, size_t s2
#define SIZES_3 SIZES_2, size_t s3
#define SIZES_4 SIZES_3, size_t s4
#define SIZES_5 SIZES_4, size_t s5
#define SIZES_6 SIZES_5, size_t s6
#define SIZES_7 SIZES_6, size_t s7
#define SIZES_8 SIZES_7, size_t s8
#define NAMES_1 s1
#define NAMES_2 NAMES_1, s2
#define NAMES_3 NAMES_2, s3
#define NAMES_4 NAMES_3, s4
#define NAMES_5 NAMES_4, s5
#define NAMES_6 NAMES_5, s6
#define NAMES_7 NAMES_6, s7
#define NAMES_8 NAMES_7, s8
/* v[0], ..., v[N - 1]: arguments. */
#define VALUES_1 v[0]
#define VALUES_2 VALUES_1, v[1]
#define VALUES_3 VALUES_2, v[2]
#define VALUES_4 VALUES_3, v[3]
#define VALUES_5 VALUES_4, v[4]
#define VALUES_6 VALUES_5, v[5]
#define VALUES_7 VALUES_6, v[6]
#define VALUES_8 VALUES_7, v[7]

/* The numbers of CPU kind and thread: arguments of the function, parameters of the call,
 * and the value for the job. Some functions take the thread as uint32_t; it is below
 * WEFT_MAX_THREADS, and the conversion is the compiler's. */
#define IDS_NONE
#define IDS_THREAD THREAD_ID,
#define IDS_UARCH  job->uarch,
#define IDS_BOTH   job->uarch, THREAD_ID,
#define THREAD_ID  (uint32_t) thread
#define KINDS_NONE
#define KINDS_THREAD
#define KINDS_UARCH  uint32_t uarch, uint32_t max_uarch,
#define KINDS_BOTH   KINDS_UARCH
#define UARCH_NONE   0
#define UARCH_THREAD 0
#define UARCH_UARCH  ((void)max_uarch, uarch)
#define UARCH_BOTH   UARCH_UARCH

static void start(pthreadpool_t pool, const char *name, const size_t *sizes,
                  unsigned dims, unsigned tiled, bool dynamic, struct job *job) {
  const char *mistake = wfp_grid_init(&job->grid, dims, tiled, dynamic, sizes);
  if (job->function == NULL) mistake = "a NULL function";
  if (mistake != NULL) wfp_misuse(name, mistake);
  wfp_run(pool, job);
}

/* The two functions of one form. `call` is the name that programs use. */
#define DEFINE(call, task_type, dims, tiled, sizes, ids, dynamic, flag_parameter,        \
               flag_value)                                                               \
  static void invoke_##call(const struct job *job, size_t thread, const size_t *v) {     \
    (void)thread;                                                                        \
    ((task_type)job->function)(job->context, IDS_##ids VALUES_##sizes);                  \
  }                                                                                      \
  void call(pthreadpool_t pool, task_type function, void *context,                       \
            KINDS_##ids SIZES_##sizes flag_parameter) {                                  \
    _Static_assert(sizes == dims + tiled, "forms.h: " #call);                            \
    struct job job = {.invoke = invoke_##call,                                           \
                      .function = (job_function *)function,                              \
                      .context = context,                                                \
                      .uarch = UARCH_##ids,                                              \
                      .flags = flag_value};                                              \
    start(pool, #call, (const size_t[]){NAMES_##sizes}, dims, tiled, dynamic, &job);     \
  }

#define COMMA ,
#define FORM(name, task, dims, tiled, sizes, ids, dynamic)                               \
  DEFINE(pthreadpool_parallelize_##name, pthreadpool_task_##task##_t, dims, tiled,       \
         sizes, ids, dynamic, COMMA uint32_t flags, flags)

#include "forms.h"

/* The names of the first versions, which take no flags. */
#define OLD_FORM(name, dims, tiled, sizes)                                               \
  DEFINE(pthreadpool_compute_##name, pthreadpool_function_##name##_t, dims, tiled,       \
         sizes, NONE, false, , 0)

OLD_FORM(1d, 1, 0, 1)
OLD_FORM(1d_tiled, 1, 1, 2)
OLD_FORM(2d, 2, 0, 2)
OLD_FORM(2d_tiled, 2, 2, 4)
OLD_FORM(3d_tiled, 3, 3, 6)
OLD_FORM(4d_tiled, 4, 4, 8)
