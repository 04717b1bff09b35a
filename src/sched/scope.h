/* sched/scope.h - what scope.c and spawn.c share.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_SCOPE_H
#define WF_SCHED_SCOPE_H

#include "scoped.h"

#include <weft/scope.h>

/* Numbers that memory which was never a scope is unlikely to hold. */
enum { WF_SCOPE_OPEN = 0x5c09e0be, WF_SCOPE_ENDED = 0x5c09e1ed };

/* Ends the program if the scope is not open. */
void wf_scope_check_open(const weft_scope *s, const char *call);

/* Runs what the worker, which is in the scope's own region, has spawned there. */
void wf_scope_run_spawned(weft_scope *s, wf_worker *worker);

#endif
