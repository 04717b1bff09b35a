/* par/base/checks.h - the checks of arguments with which public calls begin. A call whose
 * arguments cannot work ends the program with "weft: NAME: message", in every build.
 *
 * Arguments that are not used are not checked: with n == 0, arrays and functions may be
 * NULL.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_PAR_CHECKS_H
#define WF_PAR_CHECKS_H

#include "options.h"

/* Ends the program with the message if the argument is wrong. */
static inline void wf_refuse_if(bool is_wrong, const char *call, const char *message) {
  if (WF_UNLIKELY(is_wrong)) wf_fatal(call, message);
}

/* For n > 0 elements of `size` bytes there must be a size, a function and arrays. */
static inline void wf_check_elements(bool no_array, bool no_fn, size_t n, size_t size,
                                     const char *call) {
  if (WF_LIKELY(n == 0 || (!no_array && !no_fn && size != 0))) return;
  wf_refuse_if(size == 0, call, "the element size is 0");
  wf_fatal(call, no_fn ? "the function is NULL" : "an array is NULL");
}

/* For calls on arrays of numbers: checks the arrays and reads the options. */
static inline void wf_par_start(weft_opts *out, const weft_opts *given, bool no_array,
                                size_t n, const char *call) {
  wf_refuse_if(no_array && n > 0, call, "an array is NULL");
  wf_par_options(out, given, call);
}

#endif
