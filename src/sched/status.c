/* sched/status.c - version and texts of status codes.
 *
 * SPDX-License-Identifier: MIT */
#include <weft/base.h>

#define TEXT_OF(number)          TEXT_OF_EXPANDED(number)
#define TEXT_OF_EXPANDED(number) #number

const char *weft_version(void) {
  return TEXT_OF(WEFT_VERSION_MAJOR) "." TEXT_OF(WEFT_VERSION_MINOR) "." TEXT_OF(
      WEFT_VERSION_PATCH);
}

const char *weft_strerror(int status) {
  switch (status) {
#define STATUS_CASE(name, value, text)                                                   \
  case name:                                                                             \
    return text;
    WEFT_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  case WEFT_OK:
    return "success";
  default:
    return "unknown status";
  }
}
