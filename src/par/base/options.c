/* par/base/options.c - reads the options of a parallel call. Every call of src/par goes
 * through here first; the calling thread owns what is read.
 *
 * SPDX-License-Identifier: MIT */
#include "options.h"

/* Names the option that is wrong. All fields were copied if the struct's size is valid.
 */
static void refuse_options(const weft_opts *o, const char *call) {
  if ((unsigned)o->split > WEFT_SPLIT_RECURSIVE)
    wf_fatal(call, "the options are not valid: unknown split");
  if ((unsigned)o->lane > WEFT_LANE_BACKGROUND)
    wf_fatal(call, "the options are not valid: unknown lane");
  if ((unsigned)o->order > WEFT_ORDER_FIFO)
    wf_fatal(call, "the options are not valid: unknown order");
  wf_fatal(call, "the options are not valid, start from WEFT_OPTS_INIT");
}

void wf_par_options(weft_opts *out, const weft_opts *given, const char *call) {
  if (WF_UNLIKELY(wf_opts_read(out, given) != 0)) refuse_options(out, call);
}
