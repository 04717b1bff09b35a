/* sys/darwin.h - what unix.c needs from darwin.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef WF_SYS_DARWIN_H
#define WF_SYS_DARWIN_H

#include <pthread.h>

/* Gives a thread that is about to start the quality of service of the caller. */
void wf_darwin_prepare_thread(pthread_attr_t *attributes);

#endif
