/* redirect.h - read before every file of the library that is compiled for the explorer,
 * and of the scenarios: memory comes from the explorer's heap, shared words from its
 * memory model, and thread-local variables lie in a section whose content is exchanged
 * when another coroutine runs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef EXPLORE_REDIRECT_H
#define EXPLORE_REDIRECT_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WF_ATOMIC_HEADER "explore/engine/atomic.h"
#define WEFT_NO_ASM      1

#define __thread __attribute__((section("weft_tls")))
#define tls_model(model) section("weft_tls")

void *xp_malloc(size_t size);
void *xp_calloc(size_t count, size_t size);
void *xp_aligned_alloc(size_t alignment, size_t size);
void *xp_realloc(void *memory, size_t size);
void xp_free(void *memory);
_Noreturn void xp_abort(void);

/* An assertion of the library fails: the explorer reports it with the schedule. */
_Noreturn void xp_assertion_failed(const char *file, int line, const char *condition);
#define WF_ASSERT_FAILED(condition) xp_assertion_failed(__FILE__, __LINE__, condition)

#define malloc(size)                   xp_malloc(size)
#define calloc(count, size)            xp_calloc(count, size)
#define aligned_alloc(alignment, size) xp_aligned_alloc(alignment, size)
#define realloc(memory, size)          xp_realloc(memory, size)
#define free(memory)                   xp_free(memory)
#define abort()                        xp_abort()
#define exit(code)                     xp_abort()
#define getenv(name)                   NULL

/* How often the library's lock looks before it blocks. */
extern int xp_lock_spins;
#define WF_LOCK_SPINS xp_lock_spins

#endif
