/* sched/parcel.h - the taker's side of parcels. What parcels are for is in sched.h, why
 * they hold in parcel.md.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SCHED_PARCEL_H
#define WF_SCHED_PARCEL_H

#include "search.h"

/* [the thief] work->task is the task of a parcel and was stolen from work->owner. Copies
 * it, and tells the thread that made the offer. */
void wf_parcel_copy(wf_worker *worker, wf_work *work);

/* [any worker of the waiter's pool] A part of the work has ended. Nothing of it is
 * touched afterwards. */
void wf_shared_take_off(wf_worker *worker, wf_shared_work *work, uintptr_t amount);

#endif
