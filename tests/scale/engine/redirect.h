/* redirect.h - read before every file of the library that is compiled for the simulated
 * machine, and of the workloads: shared words and memory are the machine's, and
 * thread-local variables lie in a section whose content is exchanged when another thread
 * runs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef SCALE_REDIRECT_H
#define SCALE_REDIRECT_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCALE_SIMULATED  1
#define WF_ATOMIC_HEADER "scale/engine/atomic.h"
#define WEFT_NO_ASM      1

#define __thread __attribute__((section("weft_tls")))
#define tls_model(model) section("weft_tls")

void *sm_malloc(size_t size);
void *sm_calloc(size_t count, size_t size);
void *sm_aligned_alloc(size_t alignment, size_t size);
void *sm_realloc(void *memory, size_t size);
void sm_free(void *memory);

#define malloc(size)                   sm_malloc(size)
#define calloc(count, size)            sm_calloc(count, size)
#define aligned_alloc(alignment, size) sm_aligned_alloc(alignment, size)
#define realloc(memory, size)          sm_realloc(memory, size)
#define free(memory)                   sm_free(memory)
#define getenv(name)                   NULL

#endif
